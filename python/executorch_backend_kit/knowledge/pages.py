"""Writes the documentation pages of backends and targets from the knowledge base."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from executorch_backend_kit.knowledge.entries import Backend, Entry, Target
from executorch_backend_kit.knowledge.store import Knowledge

_NOTICE = "<!-- Written by `etbk knowledge pages`; correct the file that the last line names. -->\n"


def pages(knowledge: Knowledge) -> Iterator[tuple[Path, str]]:
    """Each page: its path below docs/, and its text."""
    for backend in knowledge.backends.values():
        users = [t for t in knowledge.targets.values() if _uses(t, backend)]
        yield Path("backends", f"{backend.name}.md"), _joined(_backend(backend, users))
    for target in knowledge.targets.values():
        yield Path("targets", f"{target.name}.md"), _joined(_target(target, knowledge))
    yield Path("backends", "README.md"), _joined(_backend_list(knowledge))
    yield Path("targets", "README.md"), _joined(_target_list(knowledge))


def _joined(parts: Iterable[str]) -> str:
    return _NOTICE + "\n" + "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _backend_list(knowledge: Knowledge) -> Iterator[str]:
    yield "# Backends"
    yield (
        "What is known of each, with evidence and date. `etbk doctor` says which of them work on "
        "this machine; `etbk knowledge verify` checks the facts."
    )
    yield _table(
        ("backend", "id", "status", "what it is for"),
        (
            (f"[{b.title}]({b.name}.md)", _code(b.id or "-"), b.get("status"), b.get("summary"))
            for b in knowledge.backends.values()
        ),
    )


def _target_list(knowledge: Knowledge) -> Iterator[str]:
    yield "# Targets"
    yield (
        "One page for each device; a class such as `android` leaves questions open. An alias may "
        "be used in place of a name."
    )
    yield _table(
        ("target", "what it is", "aliases", "backends"),
        (
            (
                f"[{t.name}]({t.name}.md)",
                t.title,
                ", ".join(t.aliases),
                ", ".join(dict.fromkeys(b["name"] for b in t.get("backends", default=()))),
            )
            for t in knowledge.targets.values()
        ),
    )


def _backend(backend: Backend, users: Sequence[Target]) -> Iterator[str]:
    yield f"# {backend.title}"
    yield str(backend.get("summary"))
    yield _table(
        ("", ""),
        (
            ("name", _code(backend.name)),
            ("runtime id", _code(backend.id) if backend.id else "none: kernels, no delegate"),
            ("aliases", ", ".join(map(_code, backend.aliases))),
            ("maker", backend.get("vendor")),
            ("status", _status(backend)),
            ("in the wheel's runtime", _list(backend.texts("runtime", "registered_in_wheel"))),
            ("lowers on", _list(backend.texts("host", "lowers_on"), "host", backend)),
            ("quantization", _quantization(backend)),
            ("dtypes", _list(backend.texts("dtypes", "inputs"), "dtypes", backend)),
            ("dynamic shapes", _noted(backend, "shapes", "dynamic")),
        ),
    )
    yield from _section("Where it runs", _devices(backend))
    yield from _section("What it needs", _needs(backend))
    yield from _section("Lowering a model", _lowering(backend))
    yield from _section("Building the runtime", _building(backend))
    yield from _section("Proof", _validation(backend))
    yield from _section("Why nodes fall back", _fallback(backend))
    yield from _section("Known traps", _traps(backend))
    yield from _section(
        "Targets", (f"- [{t.title}](../targets/{t.name}.md)" for t in users), joined="\n"
    )
    yield from _origin(backend, "backends")


def _status(backend: Backend) -> str:
    text = str(backend.get("status"))
    if since := backend.get("since"):
        text += f", since {since}"
    if removed := backend.get("removed_in"):
        text += f" in {removed}; instead: {', '.join(backend.texts('instead'))}"
    return text


def _quantization(backend: Backend) -> str:
    required = backend.get("quantization", "required", default="unknown")
    schemes = "; ".join(backend.texts("quantization", "schemes")) or "none"
    note = backend.get("quantization", "note", default="")
    return f"required: {required}. {schemes}. {note}".strip()


def _devices(backend: Backend) -> Iterator[str]:
    for device in backend.get("devices", default=()):
        minimum = f" {device['minimum']} or later" if "minimum" in device else ""
        yield f"- {device['os']}{minimum}: {device['hardware']}"


def _needs(backend: Backend) -> Iterator[str]:
    for need in backend.get("requires", default=()):
        yield f"- Python package {_code(need['package'] + need['range'])}: `{need['install']}`"
    for sdk in backend.get("sdk", default=()):
        ranged = f" {sdk['range']}" if "range" in sdk else ""
        licence = f", {sdk['licence']}" if "licence" in sdk else ""
        variables = ", ".join(_code("$" + v) for v in sdk["variables"])
        found = f" Found by {variables}." if variables else ""
        yield f"- {sdk['name']}{ranged}{licence}, for {sdk['for']}.{found} {sdk['fix']}"
    if python := backend.get("host", "python"):
        yield f"- Python {python} to lower"


def _lowering(backend: Backend) -> Iterator[str]:
    snippet = backend.get("export", "snippet")
    if snippet:
        yield "With `model` and a tuple `inputs`:"
        yield f"```python\n{snippet.strip()}\n```"
        evidence = backend.evidence("export").to_text()
        if error := backend.get("export", "error"):
            yield f"On the plain wheel this ends with `{error}`; how that is known: {evidence}."
        else:
            yield f"How that is known: {evidence}."
    options = backend.get("options", default=())
    if options:
        yield _table(
            ("option", "type", "where", "default", "what it does"),
            (
                (
                    _code(o["name"]),
                    o["type"],
                    o["where"],
                    str(o.get("default", "")),
                    "; ".join(filter(None, (o.get("help"), ", ".join(o.get("choices", ()))))),
                )
                for o in options
            ),
        )
    if recipes := backend.texts("recipes", "names"):
        yield f"Recipes of `{backend.get('recipes', 'module')}`: {', '.join(map(_code, recipes))}."


def _building(backend: Backend) -> Iterator[str]:
    for name, field in (("Flags", "flags"), ("Variables", "variables"), ("Targets", "targets")):
        if values := backend.texts("build", field):
            yield f"- {name}: {', '.join(map(_code, values))}"
    if component := backend.get("build", "wheel_component"):
        platforms = ", ".join(backend.texts("build", "wheel_platforms"))
        yield f"- In the wheel: `{component}` ({platforms})"
    if whole := backend.get("build", "whole_archive"):
        yield f"- Linking whole: {whole}"
    if note := backend.get("build", "note"):
        yield f"- {note}"


def _validation(backend: Backend) -> Iterator[str]:
    for way in backend.get("validate", default=()):
        needs = f" Needs: {', '.join(way['needs'])}." if "needs" in way else ""
        yield f"- {way['how']} Counts as: *{way['proves']}*.{needs}"


def _fallback(backend: Backend) -> Iterator[str]:
    for reason in backend.texts("fallback", "reasons"):
        yield f"- {_plain(reason)}"
    for way in backend.texts("fallback", "see"):
        yield f"- To see it: {_plain(way)}"
    if chain := backend.texts("fallback", "chain"):
        yield f"- What it leaves goes to: {', '.join(map(_code, chain))}"


def _traps(backend: Backend) -> Iterator[str]:
    for index, trap in enumerate(backend.get("traps", default=())):
        cure = f" **Do:** {_plain(trap['fix'])}" if "fix" in trap else ""
        level = backend.evidence("traps", index).level
        yield f"- {_plain(trap['text'])}{cure} (*{level}*)"


def _target(target: Target, knowledge: Knowledge) -> Iterator[str]:
    yield f"# {target.title}"
    yield str(target.get("description", default=""))
    yield _table(
        ("", ""),
        (
            ("name", _code(target.name)),
            ("aliases", ", ".join(map(_code, target.aliases))),
            ("system", " ".join(filter(None, (target.get("os", "name"), _minimum(target))))),
            (
                "chip",
                " ".join(filter(None, (target.get("soc", "vendor"), target.get("soc", "model")))),
            ),
            (
                "CPU",
                ", ".join(filter(None, (target.get("cpu", "arch"), target.get("cpu", "name")))),
            ),
            ("GPU", str(target.get("gpu", "name", default=""))),
            ("NPU", _unit(target, "npu")),
            ("DSP", _unit(target, "dsp")),
        ),
    )
    for question in target.get("questions", default=()):
        answers = (f"[{a}]({a}.md)" if a in knowledge.targets else a for a in question["answers"])
        yield f"**Open question:** {question['ask']} `{question['flag']}` {', '.join(answers)}"
    rows = []
    for index, use in enumerate(target.get("backends", default=())):
        backend = knowledge.backends[use["name"]]
        settings = ", ".join(f"{_code(k)} = {v}" for k, v in use.get("settings", {}).items())
        evidence = target.evidence("backends", index)
        rows.append(
            (
                f"[{backend.title}](../backends/{backend.name}.md)",
                use["unit"],
                settings,
                use.get("note", ""),
                evidence.level,
            )
        )
    yield "## Backends that can use it"
    yield _table(("backend", "unit", "settings", "note", "known by"), rows)
    yield "\n".join(f"- {limit}" for limit in target.texts("limits"))
    yield from _origin(target, "targets")


def _minimum(target: Target) -> str:
    minimum = target.get("os", "minimum")
    return f"{minimum} or later" if minimum else ""


def _unit(target: Target, unit: str) -> str:
    note = target.get(unit, "note")
    return str(target.get(unit, "name", default="")) + (f" ({note})" if note else "")


def _uses(target: Target, backend: Backend) -> bool:
    return any(use["name"] == backend.name for use in target.get("backends", default=()))


def _origin(entry: Entry, kind: str) -> Iterator[str]:
    yield (
        f"Facts without a remark: {entry.evidence().to_text()}. Source: "
        f"`python/executorch_backend_kit/knowledge/{kind}/{entry.name}.toml`."
    )


def _section(title: str, parts: Iterable[str], joined: str | None = None) -> Iterator[str]:
    lines = list(parts)
    if not lines:
        return
    yield f"## {title}"
    as_list = joined is not None or all(line.startswith("- ") for line in lines)
    if as_list:
        yield "\n".join(lines)
    else:
        yield from lines


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    shown = [[str(cell or "").replace("|", "\\|") for cell in row] for row in rows]
    if head == ("", ""):
        shown = [row for row in shown if row[1]]
    lines = [head, ["---"] * len(head), *shown]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _list(values: Sequence[str], part: str = "", entry: Entry | None = None) -> str:
    note = entry.get(part, "note") if entry else None
    return (", ".join(values) or "none") + (f" ({note})" if note else "")


def _noted(entry: Entry, part: str, field: str) -> str:
    return _list((str(entry.get(part, field, default="unknown")),), part, entry)


def _code(text: Mapping[str, Any] | str) -> str:
    return f"`{text}`"


def _plain(text: str) -> str:
    """A text from a fact, without what Markdown would read into it."""
    return text.replace("<", "\\<").replace("*", "\\*").replace("_", "\\_").replace("[", "\\[")
