"""The files of the skill `backend-selection`, written from the facts and the rules of `select`."""

from __future__ import annotations

import json
import pprint
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import executorch_backend_kit
from executorch_backend_kit.knowledge import Backend, Knowledge, Target
from executorch_backend_kit.select import Decision, Request, choose
from executorch_backend_kit.select.exclusions import EXCLUSIONS
from executorch_backend_kit.select.order import POLICIES
from executorch_backend_kit.select.plan import plans
from executorch_backend_kit.select.questions import KNOWN_RELEASE

HOST = "linux-x86-64"  # the machine that the skill's tables assume
_NOTICE = "<!-- Written by `etbk skill DIR`; do not edit. -->"
_SCRIPT = Path(__file__).with_name("check_backend_imports.py")
_SLOT = "BACKENDS: list[dict[str, Any]] = []\n"
_EXCLUDED_BY = {
    "not-offered": "a fixture of ExecuTorch's tests",
    "removed": "this release no longer has it",
    "release": "it does not fit this release of ExecuTorch",
    "no-runtime": "no runtime that loads its programs is published",
    "os": "it does not run on the device's system",
    "device": "the device has not what it needs",
    "os-version": "the oldest system that must run it is too old",
    "host": "the machine that exports cannot lower for it",
    "vendor-sdk": "no vendor's SDK may be used, and lowering needs one",
    "dtype": "it does not take what the model computes in",
    "dynamic-shapes": "the model has dynamic shapes, and it takes static ones",
    "control-flow": "the model has branches, and they can stop its lowering",
    "quantization-required": "it takes quantized models, and quantization was ruled out",
    "quantization-offered": "it does not offer the quantization that was asked for",
    "lowering-failed": "lowering the model for it failed",
    "took-nothing": "it takes no part of the model",
}
_BEFORE = {
    "required": "the backend that is required",
    "measured": "what was measured faster on the target itself",
    "covers": "what takes at least half of the nodes",
    "delegate-first": "anything before the portable kernels",
    "made-for": "what is made for the kind of model (`--kind llm`)",
    "every-device": "what every device of the target has",
    "mature-here": "what is not experimental or unverified on this kind of device",
    "unit": "NPU, then GPU or DSP, then CPU: a guess until it is measured",
    "status": "what its makers support before what they call experimental",
    "needs-least": "what needs no package, then what needs no SDK",
    "serves-most": "programs that serve any CPU, then one kind of unit, then one chip",
    "program-bytes": "the smallest program, measured",
    "weight-bits": "the fewest bits for a weight",
    "computes-float32": "what computes float32 models in float32",
}


def files(knowledge: Knowledge) -> Iterator[tuple[Path, str]]:
    """Each file: its path below the skill's folder, and its text."""
    backends = [
        b.for_release(KNOWN_RELEASE)
        for b in knowledge.backends.values()
        if b.get("kind") != "example" and not b.removed_from(KNOWN_RELEASE)
    ]
    yield Path("SKILL.md"), _skill()
    references = Path("references")
    yield references / "backend-matrix.md", _page(_matrix(knowledge, backends))
    yield references / "backend-export-patterns.md", _page(_patterns(knowledge, backends))
    yield references / "setup-build.md", _page(_setup(backends))
    yield references / "export-runtime.md", _page(_export_runtime())
    yield references / "qualcomm.md", _page(_qualcomm(knowledge))
    yield references / "cortex-m.md", _page(_cortex_m(knowledge))
    yield references / "llm-workflows.md", _page(_llm(knowledge, backends))
    yield Path("scripts") / "check_backend_imports.py", _import_checker(backends)


def _page(parts: Iterable[str]) -> str:
    return _NOTICE + "\n\n" + "\n\n".join(p.strip("\n") for p in parts if p) + "\n"


def _skill() -> str:
    return f"""---
name: backend-selection
description: "Choose and configure ExecuTorch backends (delegates) for CPU, mobile, desktop, GPU and
  vendor accelerators: which backend for which device, what it needs, how to export for it, and what
  counts as proof. Use it for questions about partitioners, CMake flags, SDKs, quantizers, and
  fallback to the CPU."
license: BSD-3-Clause
metadata:
  source: written by `etbk skill` of ExecuTorch Backend Kit {executorch_backend_kit.__version__}
  executorch: "{KNOWN_RELEASE}"
---

# Backend selection

Decide in this order. Do not skip a step; say which step a statement comes from.

1. **Identify the target hardware and platform**: system, chip, CPU, GPU, NPU. A program for an NPU
   is compiled for one chip: if the chip is unknown, ask. Find the device in the table of
   [backend matrix](references/backend-matrix.md#targets).
2. **Required or optional?** If acceleration is a must, name the backend and let a missing one fail
   (`--require`). If it is optional, keep a fallback. An export or a run on a CPU is *no* proof of
   how QNN, Core ML, MPS, Vulkan or CUDA behave.
3. **Apply the [hard constraints](references/backend-matrix.md#hard-constraints)**: what excludes a
   backend excludes it, however fast it is said to be.
4. **Choose a fallback strategy**: in a chain `a+b`, b takes what a leaves, and the portable
   kernels take the rest. On phones and computers that is XNNPACK in most chains.
5. **Prove that the model exports and works**, with no delegate or with XNNPACK, before any other.
6. **Add one backend at a time** and look at what it took. A delegate that took nothing, or little,
   is no gain.
7. **Quantize with the backend's own quantizer before lowering**, if it needs that or if size
   matters. Backends that need it and get none take nothing, most of them without a word.
8. **One `.pte` per target**: a file that is right for one device is not the best for another.
9. **Unverified until it ran there**: an accelerator counts as used only after a test on the device,
   its simulator or its SDK. Until then say "compiled", not "works".

## Look things up

What can be imported here, which says something of the Python side only:

```sh
python scripts/check_backend_imports.py --json
```

With ExecuTorch Backend Kit (`pip install executorch-backend-kit`), the same rules as in this skill,
for one device, with a plan: needs, install lines, CMake flags, quantizer, a snippet that runs.

```sh
etbk select --list
etbk select --target android-snapdragon-8-gen-3
etbk select --target ios --require coreml
```

Its answer can be a tie or unknown. Pass that on; do not make up a winner. Open questions in the
answer are for the user.

## With a model

A MODEL is a Python file with two functions:

```python
import torch


def model() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU()).eval()


def example_inputs() -> tuple[torch.Tensor, ...]:
    return (torch.randn(1, 3, 32, 32),)
```

What each backend takes of it, measured by its own partitioner:

```sh
etbk select model.py --target linux-x86-64
```

One file per target, with a manifest that says how each is known to work:

```sh
etbk export model.py --target linux-x86-64 --target android-gpu -o out
etbk inspect out/linux-x86-64.xnnpack.pte
```

Is it right and faster here? (On a device, the same with `--device`.)

```sh
etbk compare model.py --backends portable,xnnpack --budget 2
```

## Answer with

- the backend, its chain, and the rule that decided;
- how it is known: *ran on target*, *simulated*, *ran on host CPU*, *compiled*, *read* or *none*;
- what is missing here: packages, SDKs, licences, a machine of another kind;
- the quantization, if any, and the quantizer;
- the command that would prove it on the device.

## Go on with

- prerequisites of each backend and each device: [backend matrix](references/backend-matrix.md)
- partitioners, quantizers, build flags: [export patterns](references/backend-export-patterns.md)
- installing and building: [set-up and build](references/setup-build.md)
- export steps, and checking `.pte` files: [export and runtime](references/export-runtime.md)
- Snapdragon: [Qualcomm](references/qualcomm.md)
- microcontrollers: [Cortex-M](references/cortex-m.md)
- language models: [LLM workflows](references/llm-workflows.md)
"""


def _matrix(knowledge: Knowledge, backends: Sequence[Backend]) -> Iterator[str]:
    yield "# Backend matrix"
    yield (
        f"For ExecuTorch {KNOWN_RELEASE}, lowering on {HOST}, an unquantized float32 model with "
        "static shapes, and no other wish. A wish changes the choice: see the rules below."
    )
    yield "## Targets"
    yield (
        "*First* is what comes first: `a+b` is a chain, in which b takes what a leaves, and the "
        "portable kernels take the rest. *Then* lists what to choose instead if the first cannot "
        "be used: the hard constraints decide that, also for versions of the system. A backend "
        "that requires quantization comes first because a model can be quantized for it. *Known* "
        "is how "
        "well the first is evidenced for this device. A question must be answered by the user."
    )
    decisions = {
        t.name: choose(knowledge, Request(target=t.name, host=HOST, executorch=KNOWN_RELEASE))
        for t in knowledge.targets.values()
    }
    yield _table(
        ("target", "device (aliases)", "first", "then", "known", "note"),
        (_target_row(t, decisions[t.name], knowledge) for t in knowledge.targets.values()),
    )
    yield "## Hard constraints"
    yield "A backend is out if one of these holds, in this order:"
    yield "\n".join(f"- `{r.name}`: {_EXCLUDED_BY[r.name]}" for r in EXCLUSIONS)
    yield "## Order"
    yield (
        "Of what is left, each rule puts one before another; the first rule that tells two apart "
        "decides. If none does, it is a tie: say so."
    )
    yield _table(
        ("wish", "rules, in order"),
        (
            (policy or "none", ", ".join(f"`{rule.name}`" for rule in rules))
            for policy, rules in POLICIES.items()
        ),
    )
    names = list(dict.fromkeys(rule.name for rules in POLICIES.values() for rule in rules))
    yield "\n".join(f"- `{name}`: {_BEFORE[name]}" for name in names)
    yield "## Backends"
    yield _table(
        ("backend", "runtime id", "status", "runs on", "lowers on", "quantization", "dtypes",
         "computes", "dynamic shapes", "branches", "a program serves", "made for",
         "SDK to lower"),
        (_backend_row(b) for b in backends),
    )  # fmt: skip
    removed = [b for b in knowledge.backends.values() if b.removed_from(KNOWN_RELEASE)]
    yield "\n".join(
        f"`{b.name}` was removed in {b.get('removed_in')}; "
        f"instead: {', '.join(b.texts('instead'))}."
        for b in removed
    )


def _target_row(target: Target, decision: Decision, knowledge: Knowledge) -> tuple[str, ...]:
    planned = plans(decision, knowledge)
    first = planned[0]
    c = first.contender
    notes = [f"{c.unit}"]
    if c.quantization_required:
        notes.append("quantization required")
    if decision.verdict != "one":
        notes.append(decision.verdict)
    if target.get("questions"):
        notes += [f"ask: {q['ask']}" for q in target.get("questions")]
    notes += target.texts("limits")
    known = first.to_json()["evidence"]["level"]
    aliases = f" ({', '.join(target.aliases)})" if target.aliases else ""
    then = ", ".join(dict.fromkeys(p.contender.name for p in planned[1:])) or "-"
    return (f"`{target.name}`", target.title + aliases, first.name, then, known, "; ".join(notes))


def _backend_row(b: Backend) -> tuple[str, ...]:
    required = b.get("quantization", "required")
    bits = [str(n) for n in sorted(b.get("quantization", "weight_bits", default=()), reverse=True)]
    offered = f"offers {', '.join(bits)} bit weights" if bits else "offers none"
    sdks = [
        f"{s['name']} ({s.get('licence', 'licence unknown')})"
        for s in b.get("sdk", default=())
        if s.get("needed_to") == "lower"
    ]
    return (
        f"`{b.name}`",
        b.id or "none: kernels",
        str(b.get("status"))
        + (f", ExecuTorch {b.get('executorch')} only" * ("executorch" in b.data)),
        "; ".join(_device(d) for d in b.get("devices", default=())) or "nothing: no runtime",
        ", ".join(b.texts("host", "lowers_on")),
        f"required: {required}; {offered}",
        ", ".join(b.texts("dtypes", "inputs")),
        str(b.get("dtypes", "computes", default="?")),
        str(b.get("shapes", "dynamic")),
        str(b.get("features", "control_flow", default="unknown")),
        str(b.get("serves", default="?")),
        ", ".join(b.texts("made_for")),
        "; ".join(sdks) or "none",
    )


def _device(device: Mapping[str, str]) -> str:
    """Where a backend runs."""
    text = device["os"]
    if "minimum" in device:
        text += f" {device['minimum']} or later"
    if "quantized_minimum" in device:
        text += f" (quantized: {device['quantized_minimum']})"
    return f"{text}: {device['hardware']}"


def _patterns(knowledge: Knowledge, backends: Sequence[Backend]) -> Iterator[str]:
    yield "# Export patterns"
    yield (
        "With `model`, a module in eval mode, and a tuple `inputs`. After the first backend each "
        "next one takes what is left, by a `to_backend` of its own: in one list of partitioners, "
        "operators that the first keeps whole can stop the export. `etbk select --target T` writes "
        "the code for a device, with its settings, chain and quantization."
    )
    for b in backends:
        yield f"## {b.title} (`{b.name}`)"
        yield str(b.get("summary"))
        yield "\n".join(_facts_of(b))
        if snippet := b.get("export", "snippet"):
            yield f"```python\n{str(snippet).strip()}\n```"
            yield _outcome(b)
        traps = [t["text"] for t in b.get("traps", default=()) if t.get("severity") == "warning"]
        if traps:
            yield "\n".join(f"- Beware: {_plain(text)}" for text in traps)
    portable = knowledge.backends["portable"]
    yield f"The last resort of every chain is `portable`: {portable.get('summary')}"


def _facts_of(b: Backend) -> Iterator[str]:
    if partitioner := b.get("partitioner", "class"):
        yield f"- partitioner: `{partitioner}`"
    if quantizer := b.get("quantizer", "class"):
        schemes = "; ".join(b.texts("quantization", "schemes"))
        yield f"- quantizer: `{quantizer}`; {schemes}"
    if note := b.get("quantization", "note"):
        yield f"- quantization: {_plain(note)}"
    for need in b.get("requires", default=()):
        yield f"- needs `{need['package']}{need['range']}`: {need['install']}"
    yield from _build_of(b)
    if chain := b.texts("fallback", "chain"):
        yield f"- what it leaves goes to: {', '.join(chain)}"
    for way in b.get("validate", default=()):
        yield f"- to validate: {_plain(way['how'])} Counts as: *{way['proves']}*."


def _build_of(b: Backend) -> Iterator[str]:
    if flags := b.texts("build", "flags"):
        yield f"- build: {', '.join(f'`-D{flag}`' for flag in flags)}"
    if targets := b.texts("build", "targets"):
        yield f"- link: {', '.join(f'`{target}`' for target in targets)}"
    if component := b.get("build", "wheel_component"):
        platforms = ", ".join(b.texts("build", "wheel_platforms")) or "no wheel on PyPI"
        yield f"- in the wheel: `{component}` ({platforms})"
    if whole := b.get("build", "whole_archive"):
        yield f"- linking whole: {_plain(whole)}"


def _outcome(b: Backend) -> str:
    evidence = b.evidence("export").to_text()
    if error := b.get("export", "error"):
        return f"On the plain wheel: `{error}`. How that is known: {evidence}."
    return f"How that is known: {evidence}."


def _setup(backends: Sequence[Backend]) -> Iterator[str]:
    yield "# Set-up and build"
    yield (
        f"`pip install executorch=={KNOWN_RELEASE}` brings the exporter, the Python runtime and "
        "prebuilt C++ components. What a backend needs beyond that:"
    )
    yield _table(
        ("backend", "packages", "SDKs", "variables"),
        (
            (
                f"`{b.name}`",
                "; ".join(dict.fromkeys(n["install"] for n in b.get("requires", default=())))
                or "none",
                "; ".join(
                    f"{s['name']} to {s.get('needed_to', 'build')}"
                    for s in b.get("sdk", default=())
                )
                or "none",
                ", ".join(
                    dict.fromkeys(v for s in b.get("sdk", default=()) for v in s["variables"])
                )
                or "none",
            )
            for b in backends
        ),
    )
    yield "## The runtime"
    yield (
        "From the wheel, where it has the component: `find_package(executorch CONFIG REQUIRED)` "
        "and `target_link_libraries(app PRIVATE executorch::runtime COMPONENT)`; its targets "
        "need no whole-archive. From source: the flag on, `target_link_libraries(app PRIVATE "
        "executorch TARGET)`, and `executorch_target_link_options_shared_lib(TARGET)` where "
        "linking whole is needed, else the linker drops the registration and loading fails with "
        "0x20."
    )
    yield _table(
        ("backend", "flags", "targets", "component of the wheel"),
        (
            (
                f"`{b.name}`",
                ", ".join(b.texts("build", "flags")) or "none",
                ", ".join(b.texts("build", "targets")) or "none",
                b.get("build", "wheel_component", default="none"),
            )
            for b in backends
        ),
    )
    yield "What works on a machine, and why the rest does not:"
    yield "```sh\netbk doctor --fast\n```"


def _export_runtime() -> Iterator[str]:
    yield "# Export and runtime validation"
    yield (
        "1. `torch.export.export(model, inputs)`. If that fails, no backend helps: change the "
        "model.\n"
        "2. Quantize, if wanted: `prepare_pt2e(exported.module(check_guards=False), quantizer)`, "
        "run it on typical data, `convert_pt2e`, export again. The quantizer is that of the "
        "backend.\n"
        "3. `to_edge_transform_and_lower` with the first partitioner, `.to_backend` with each "
        "next.\n"
        '4. `.to_executorch()`, then write `program.buffer`. "Missing out variants" here: import '
        "`executorch.kernels.quantized` before.\n"
        "5. Look at the file: which delegates, which operators are left.\n"
        "6. Run it and compare the numbers with the eager model; on the device for an accelerator."
    )
    yield "```sh\netbk export model.py --target linux-x86-64 -o out\n```"
    file = "out/linux-x86-64.xnnpack.pte"
    yield f"```sh\netbk inspect {file}\netbk check {file}\n```"
    yield "What an error number or text means:"
    yield "```sh\netbk help 0x20\netbk help 0x14\n```"
    yield (
        "0x20: the runtime has no backend of that name (not linked, or dropped by the linker). "
        "0x14: a kernel is missing. A program that was lowered for a backend runs only where that "
        "backend is."
    )


def _qualcomm(knowledge: Knowledge) -> Iterator[str]:
    qnn = knowledge.backends["qnn"].for_release(KNOWN_RELEASE)
    yield "# Qualcomm"
    yield str(qnn.get("summary"))
    rows = [
        (t, b)
        for t in knowledge.targets.values()
        for b in t.get("backends", default=())
        if b["name"] == "qnn" and "settings" in b
    ]
    yield "The chip is part of the program. A file for one does not run on another."
    yield _table(
        ("target", "soc_model", "NPU", "quantization"),
        (
            (
                f"`{t.name}`",
                b["settings"]["soc_model"],
                t.get("npu", "name", default="?"),
                "required" if b.get("computes") == "integers" else "optional: it has float16",
            )
            for t, b in rows
        ),
    )
    yield "\n".join(_facts_of(qnn))
    for sdk in qnn.get("sdk", default=()):
        yield f"- {sdk['name']}, {sdk.get('licence')}, to {sdk.get('needed_to')}: {sdk['fix']}"
    yield "\n".join(f"- Beware: {_plain(t['text'])}" for t in qnn.get("traps", default=()))
    yield "```sh\netbk select --target android-snapdragon-8-elite --quantize int8\n```"


def _cortex_m(knowledge: Knowledge) -> Iterator[str]:
    yield "# Cortex-M and Ethos-U"
    yield (
        "Without an operating system there is no XNNPACK. With an Ethos-U the NPU takes what is "
        "quantized to int8; without one the graph is rewritten to CMSIS-NN operators. What neither "
        "takes runs on the portable kernels."
    )
    for name in ("ethos-u", "cortex-m"):
        b = knowledge.backends[name].for_release(KNOWN_RELEASE)
        yield f"## {b.title}"
        yield str(b.get("summary"))
        yield "\n".join(_facts_of(b))
        yield "\n".join(f"- Beware: {_plain(t['text'])}" for t in b.get("traps", default=()))
    yield "The number of MACs of an Ethos-U is compiled in; another one is a setting:"
    yield (
        "```sh\netbk select --target cortex-m55-ethos-u55 --setting target=ethos-u55-256 "
        "--quantize int8\n```"
    )


def _llm(knowledge: Knowledge, backends: Sequence[Backend]) -> Iterator[str]:
    yield "# LLM workflows"
    yield (
        "A language model is large, has a cache that it writes to, and sequences of any length. "
        "Weights of 4 bits are usual. What that asks of a backend:"
    )
    yield _table(
        ("backend", "4-bit weights", "dynamic shapes", "made for it"),
        (
            (
                f"`{b.name}`",
                "yes" if 4 in b.get("quantization", "weight_bits", default=()) else "no",
                f"{b.get('shapes', 'dynamic')}. {_plain(b.get('shapes', 'note', default=''))}",
                "yes" if "llm" in b.texts("made_for") else "",
            )
            for b in backends
        ),
    )
    yield (
        "Where shapes must be static, the prompt and the single steps become methods or programs "
        "of their own. Freeze the parameters (`requires_grad_(False)`) before exporting a cache "
        "that is written in place, else the last step fails with an error about gradients."
    )
    options = "--host macos-arm64 --kind llm --quantize int4"
    yield f"```sh\netbk select --target macos-arm64 {options}\n```"
    mac = choose(
        knowledge,
        Request(
            target="macos-arm64", host="macos-arm64", executorch=KNOWN_RELEASE, kind="llm",
            quantize="int4",
        ),
    )  # fmt: skip
    yield f"On a Mac that gives: {', '.join(c.name for c in mac.candidates)}."


def _import_checker(backends: Sequence[Backend]) -> str:
    table = [
        {
            "name": b.name,
            "id": b.id,
            "modules": [
                {"module": m["module"], "role": m["role"], "on_the_plain_wheel": m["state"]}
                for m in b.get("modules", default=())
            ],
            "install": list(dict.fromkeys(n["install"] for n in b.get("requires", default=()))),
        }
        for b in backends
        if b.get("modules")
    ]
    literal = pprint.pformat(json.loads(json.dumps(table)), width=100, sort_dicts=False)
    script = _SCRIPT.read_text(encoding="utf-8")
    return script.replace(_SLOT, f"BACKENDS: list[dict[str, Any]] = {literal}\n")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    lines += [f"| {' | '.join(_plain(cell) or '-' for cell in row)} |" for row in rows]
    return "\n".join(lines)


def _plain(text: str) -> str:
    return str(text).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
