"""Puts together what is known of one lowering: all of `etbk.explain/1` that a worker can see."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from executorch_backend_kit.aot.lowering import Lowered
from executorch_backend_kit.explain.arithmetic import arithmetic
from executorch_backend_kit.explain.experiments import Laboratory
from executorch_backend_kit.explain.judgement import Judge
from executorch_backend_kit.explain.nodes import (
    bytes_of,
    graphs,
    is_operator,
    is_scalar,
    operator_name,
)
from executorch_backend_kit.explain.places import place
from executorch_backend_kit.explain.precision import precision
from executorch_backend_kit.explain.reasons import DERIVED, Reason
from executorch_backend_kit.explain.recording import Turn
from executorch_backend_kit.explain.remarks import remarks
from executorch_backend_kit.explain.units import Unit, units_of
from executorch_backend_kit.explain.worth import Map

BLOCKERS = 50  # groups of operators whose gain is calculated; the others are listed without


class Survey:
    """One lowering, with what its backends saw, chose and said."""

    def __init__(
        self,
        *,
        turns: Sequence[Turn],
        lowered: Lowered | None,
        root: Path,
        stages: list[dict[str, Any]],
        findings: list[dict[str, str]],
        seconds: dict[str, float],
    ) -> None:
        self._turns = [t for t in turns if t.program is not None]
        self._backends = [t.descriptor for t in turns]
        self._root = root
        self._stages = stages
        self._findings = findings
        self._seconds = seconds
        self._program = self._first_program(lowered)
        self._delegate_of: dict[str, str] = {}
        for turn in self._turns:
            for name, tag in turn.tags.items():
                self._delegate_of.setdefault(name, f"{turn.name}:{tag}")
        self._units = units_of(self._program) if self._program is not None else {}

    def _first_program(self, lowered: Lowered | None) -> Any:
        if self._turns:
            return self._turns[0].program
        return lowered.edge.exported_program() if lowered is not None else None

    def to_json(self, laboratories: Mapping[str, Laboratory]) -> dict[str, Any]:
        """The document's part that this process knows."""
        if self._program is None:
            return self._nothing()
        judges = {
            turn.name: Judge(
                turn, units_of(turn.program), self._taken_before(turn), laboratories.get(turn.name)
            )
            for turn in self._turns
        }
        seen = {t.name: {n.name: n for n in t.program.graph.nodes} for t in self._turns}
        graph = Map(self._program, self._delegate_of)
        for turn in self._turns:  # the worthiest first, in case that time runs out
            outside = [n for n in seen[turn.name].values() if is_operator(n)]
            outside = [n for n in outside if n.name not in self._delegate_of]
            for node in sorted(outside, key=lambda n: -graph.weight_of(n.name)):
                judges[turn.name].reason(node)
        nodes = [
            self._node(prefix, node, judges, seen)
            for prefix, module in graphs(self._program.graph_module)
            for node in module.graph.nodes
            if is_operator(node)
        ]
        blockers = self._blockers(graph, nodes)
        return {
            "backends": self._backend_rows(),
            "summary": self._summary(graph, nodes),
            "stages": self._stages,
            "nodes": nodes,
            "blockers": blockers,
            "findings": [
                *self._findings,
                *remarks(self._turns, graph, nodes, self._units, self._backends),
            ],
            "experiments": _experiments(laboratories),
            "seconds": self._seconds,
        }

    def _nothing(self) -> dict[str, Any]:
        return {
            "backends": self._backend_rows(),
            "summary": None,
            "stages": self._stages,
            "nodes": [],
            "blockers": [],
            "findings": self._findings,
            "experiments": _experiments({}),
            "seconds": self._seconds,
        }

    def _backend_rows(self) -> list[dict[str, Any]]:
        counts = Counter(d.partition(":")[0] for d in set(self._delegate_of.values()))
        seconds = {t.name: round(t.seconds, 4) for t in self._turns}
        return [
            {
                "name": b.name,
                "id": b.id,
                "package": f"{b.package} {b.version}",
                "delegates": counts.get(b.name, 0),
                "choosing_seconds": seconds.get(b.name),
            }
            for b in self._backends
        ]

    def _taken_before(self, turn: Turn) -> dict[str, str]:
        taken: dict[str, str] = {}
        for other in self._turns:
            if other is turn:
                return taken
            for name in other.tags:
                taken.setdefault(name, other.name)
        return taken

    def _node(
        self,
        prefix: str,
        node: Any,
        judges: Mapping[str, Judge],
        seen: Mapping[str, Mapping[str, Any]],
    ) -> dict[str, Any]:
        name = prefix + node.name
        delegate = self._delegate_of.get(name)
        reasons = [self._in_branch(node, prefix)] if prefix else []
        if not prefix:
            for turn in self._turns:
                if delegate is not None and delegate.startswith(f"{turn.name}:"):
                    break
                if node.name in seen[turn.name]:
                    reasons.append(judges[turn.name].reason(seen[turn.name][node.name]))
        if not self._turns:
            reasons = [
                Reason(
                    "FALLBACK-NO-BACKEND",
                    DERIVED,
                    "The configuration names no backend.",
                    "name one with --backends",
                )
            ]
        unit = None if prefix else self._units.get(node.name)
        return {
            "name": name,
            "op": operator_name(node.target),
            "kind": "scalar" if is_scalar(node) else "tensor",
            "unit": unit.name if unit else node.name,
            "precision": precision(unit or Unit(node, (node,))),
            "delegated": delegate is not None,
            "backend": delegate.partition(":")[0] if delegate else None,
            "delegate": delegate,
            "arithmetic": arithmetic(node),
            "bytes": bytes_of(node) + sum(bytes_of(s) for s in node.all_input_nodes),
            "reason": reasons[0].to_json() if reasons and delegate is None else None,
            "reasons": [r.to_json() for r in reasons],
            "source": place(node, self._root),
        }

    def _in_branch(self, node: Any, prefix: str) -> Reason:
        kept = any(operator_name(node.target) in t.kept_whole for t in self._turns)
        who = ", ".join(t.name for t in self._turns)
        if kept:
            return Reason(
                "FALLBACK-NOT-DECOMPOSED",
                DERIVED,
                f"It is in the control-flow branch {prefix.rstrip('.')}, where {who} asked to keep "
                "it whole and then did not take it.",
                "move the operator out of the branch",
                backend=self._turns[0].name if self._turns else None,
            )
        return Reason(
            "FALLBACK-CONTROL-FLOW",
            DERIVED,
            f"It is in the control-flow branch {prefix.rstrip('.')}, which {who} does not look "
            "into.",
            "move the operator out of the branch, or export each branch as a method of its own",
            backend=self._turns[0].name if self._turns else None,
        )

    def _summary(self, graph: Map, nodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
        tensor_nodes = [n for n in nodes if n["kind"] == "tensor"]
        outside = [n for n in tensor_nodes if not n["delegated"]]
        unknown = sorted({n["op"] for n in tensor_nodes if n["arithmetic"] is None})
        crossings = graph.boundary()
        provenance = Counter(n["reason"]["provenance"] for n in outside if n["reason"])
        return {
            "delegates": len(graph.delegates()),
            "delegated": graph.share(),
            "arithmetic": {
                "total": graph.total_arithmetic(),
                "delegated": graph.total_arithmetic(inside=True),
                "unknown_operators": unknown,
            },
            "nodes": {
                "tensor": len(tensor_nodes),
                "delegated": len(tensor_nodes) - len(outside),
                "undelegated": len(outside),
                "scalar": len(nodes) - len(tensor_nodes),
            },
            "boundary_bytes": sum(c["bytes"] for c in crossings),
            "boundary_tensors": len(crossings),
            "boundary_conversions": sum(c["converted"] for c in crossings),
            "boundary": crossings,
            "reasons": {
                key: provenance.get(key, 0) for key in ("stated", "derived", "inferred", "unknown")
            },
            "precision": dict(
                Counter(n["precision"] for n in tensor_nodes if n["unit"] == n["name"])
            ),
        }

    def _blockers(self, graph: Map, nodes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Operators outside of delegates, equal ones together, the worthiest first."""
        if not self._turns:
            return []
        groups: dict[str, list[str]] = defaultdict(list)
        for node in nodes:
            if not node["delegated"] and node["kind"] == "tensor" and node["name"] in self._units:
                unit = self._units[node["name"]]
                alone = unit.name in self._delegate_of  # the operator that it serves was taken
                op = node["op"] if alone else operator_name(unit.main.target)
                groups[op].append(node["name"])
        members = {
            op: list(dict.fromkeys(n for name in names for n in self._unit_nodes(name)))
            for op, names in groups.items()
        }
        rough = sorted(members, key=lambda op: -sum(graph.weight_of(n) for n in members[op]))
        codes = {n["name"]: n["reason"]["code"] for n in nodes if n["reason"]}
        ranked = []
        for rank, op in enumerate(rough):
            gain = graph.gain(members[op], self._turns[0].name) if rank < BLOCKERS else None
            unit_name = self._units[groups[op][0]].name
            main_name = groups[op][0] if unit_name in self._delegate_of else unit_name
            row = {
                "op": op,
                "node": main_name,
                "count": len({self._units[n].name for n in groups[op]}),
                "nodes": groups[op],
                "gain": gain.to_json() if gain else None,
                "code": codes.get(main_name),
            }
            ranked.append((-gain.score if gain else 0, rank, row))
        return [row for _, _, row in sorted(ranked, key=lambda r: r[:2])]

    def _unit_nodes(self, name: str) -> list[str]:
        unit = self._units[name]
        if unit.name in self._delegate_of:
            return [name]
        return [n.name for n in unit.nodes]


def _experiments(laboratories: Mapping[str, Laboratory]) -> dict[str, Any]:
    rooms = list(laboratories.values())
    return {
        "units": sum(len(room.known) for room in rooms),
        "partitions": sum(room.partitions for room in rooms),
        "lowerings": sum(room.lowerings for room in rooms),
        "not_tried": sum(room.not_tried for room in rooms),
    }
