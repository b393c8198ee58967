"""What a person should be told about a lowering as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from executorch_backend_kit.aot.descriptor import BackendDescriptor
from executorch_backend_kit.explain.nodes import depends_on_data, operator_name
from executorch_backend_kit.explain.recording import Turn
from executorch_backend_kit.explain.units import Unit, is_quantize
from executorch_backend_kit.explain.worth import Map
from executorch_backend_kit.report.finding import Finding, Severity

MANY = 4  # delegates of one operator from which on they are worth a word


def remarks(
    turns: Sequence[Turn],
    graph: Map,
    nodes: Sequence[dict[str, Any]],
    units: Mapping[str, Unit],
    backends: Sequence[BackendDescriptor],
) -> list[dict[str, str]]:
    """The findings, as JSON."""
    found = (
        *_nothing_delegated(turns, nodes),
        *_small_delegates(graph, units),
        *_order(turns, backends),
        *_float_islands(nodes, units),
        *_data_dependent(graph),
    )
    return [finding.to_json() for finding in found]


def _nothing_delegated(turns: Sequence[Turn], nodes: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    names = [t.name for t in turns]
    if not turns or any(n["delegated"] for n in nodes):
        return
    if not nodes:
        yield Finding(
            "EXPLAIN-NOTHING-DELEGATED",
            f"There is nothing for {' and '.join(names)} to take: the model has no operator.",
            severity=Severity.WARNING,
        )
        return
    codes = Counter(n["reason"]["code"] for n in nodes if n["reason"] and n["kind"] == "tensor")
    common = codes.most_common(1)
    yield Finding(
        "EXPLAIN-NOTHING-DELEGATED",
        f"{' and '.join(names)} took no operator of this model: all of it runs on the CPU kernels.",
        evidence=f"{len(nodes)} operators; most often: {common[0][0]}"
        if common
        else "no operators",
        fix=f"etbk help {common[0][0]}" if common else "",
        severity=Severity.WARNING,
    )


def _small_delegates(graph: Map, units: Mapping[str, Unit]) -> Iterator[Finding]:
    sizes: dict[str, set[str]] = {}
    for name, delegate in graph.delegate_of.items():
        if name in units:
            sizes.setdefault(delegate, set()).add(units[name].name)
    small = [delegate for delegate, members in sizes.items() if len(members) == 1]
    if len(small) >= MANY:
        yield Finding(
            "EXPLAIN-SMALL-DELEGATES",
            f"{len(small)} of {len(sizes)} delegates hold a single operator, so that calling them "
            "costs more than it saves.",
            evidence=", ".join(sorted(small)[:6]),
            fix="Remove what stands between them: see the blockers.",
            severity=Severity.WARNING,
        )


def _order(turns: Sequence[Turn], backends: Sequence[BackendDescriptor]) -> Iterator[Finding]:
    """A later backend that got nothing, since an earlier one took what it could have had."""
    for index, turn in enumerate(turns[1:], 1):
        first = turns[0]
        if turn.tags or not first.tags:
            continue
        wanted = _would_take(turn, first)
        if wanted and wanted <= set(first.tags):
            names = "+".join([turn.name, *(b.name for b in backends if b.name != turn.name)])
            yield Finding(
                "EXPLAIN-BACKEND-ORDER",
                f"{turn.name} got nothing: {first.name}, which is named before it, took all of the "
                f"{len(wanted)} operators that {turn.name} would take.",
                evidence=f"place {index + 1} of {len(backends)}",
                fix=f"Name the more special backend first: --backends {names}",
                severity=Severity.WARNING,
            )


def _would_take(turn: Turn, first: Turn) -> set[str]:
    """What a later backend would choose of the graph that the first one saw."""
    from executorch.exir.program._fake_program import get_fake_program

    from executorch_backend_kit.explain.time_limit import TookTooLong, time_limit

    try:
        with time_limit(30.0):
            result = turn.partitioner.partition(get_fake_program(first.program))
    except TookTooLong:
        return set()
    except Exception:  # it may not understand what the first one keeps whole
        return set()
    return {
        n.name
        for n in result.tagged_exported_program.graph.nodes
        if n.op == "call_function" and n.meta.get("delegation_tag") in result.partition_tags
    }


def _float_islands(nodes: Sequence[dict[str, Any]], units: Mapping[str, Unit]) -> Iterator[Finding]:
    """Floating-point operators in a model that is otherwise quantized."""
    if not any(is_quantize(u.main) or u.quantized for u in units.values()):
        return
    floating = [
        n
        for n in nodes
        if n["precision"].startswith(("float", "bfloat"))
        and n["arithmetic"]
        and n["unit"] == n["name"]
        and "quantize" not in n["op"]
    ]
    if floating:
        inside = [n["name"] for n in floating if n["delegated"]]
        yield Finding(
            "EXPLAIN-FLOAT-ISLAND",
            f"{len(floating)} operators of this quantized model calculate with floats: the "
            "quantizer skipped them" + (f", {len(inside)} inside a delegate." if inside else "."),
            evidence=", ".join(f"{n['name']} ({n['op']})" for n in floating[:6]),
            fix="Set the quantizer up for these operators, or accept that they stay in floats.",
            severity=Severity.INFO,
        )


def _data_dependent(graph: Map) -> Iterator[Finding]:
    found = [n for n in graph.nodes if depends_on_data(n)]
    if found:
        yield Finding(
            "EXPLAIN-DATA-DEPENDENT",
            f"{len(found)} operators make tensors whose size depends on the data.",
            evidence=", ".join(f"{n.name} ({operator_name(n.target)})" for n in found[:6]),
            fix="Give them a size that is known beforehand; few backends take anything else.",
            severity=Severity.INFO,
        )
