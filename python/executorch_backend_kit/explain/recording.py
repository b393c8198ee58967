"""Records what each backend of a lowering first saw, what it chose and what it said.

The lowering itself stays the kit's only one, `aot.lower`: the partitioners that it makes are
watched, not replaced.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from executorch_backend_kit.aot.descriptor import BackendDescriptor
from executorch_backend_kit.aot.errors import LoweringError
from executorch_backend_kit.explain.nodes import constants, graphs, operator_name
from executorch_backend_kit.explain.time_limit import TookTooLong, time_limit
from executorch_backend_kit.explain.words import (
    Listener,
    Said,
    listening,
    package_of,
    refusals,
)

PARTITION_LIMIT = 120.0  # seconds that one choice may take


@dataclass
class Turn:
    """One backend's turn.

    program: a copy of the edge program as the partitioner first saw it, weights left out
    tags:    the delegate of each node that it chose, by the node's name
    said:    its words in choosing; `kept` are its words about whole operators, before
             decomposition: (operator, place, text)
    """

    descriptor: BackendDescriptor
    options: Mapping[str, Any]
    partitioner: Any = None
    program: Any = None
    tags: dict[str, str] = field(default_factory=dict)
    said: tuple[Said, ...] = ()
    kept: tuple[Said, ...] = ()
    whole: dict[str, str] = field(default_factory=dict)  # node before decomposition: its place
    kept_whole: set[str] = field(default_factory=set)  # operators that it asked not to decompose
    rules: frozenset[str] | None = None
    seconds: float = 0.0
    chose: bool = False  # its choice came to an end and can be used

    @property
    def name(self) -> str:
        """The backend's name."""
        return self.descriptor.name


class Recorder:
    """Watches the partitioners of one lowering."""

    def __init__(self, backends: Sequence[BackendDescriptor], options: Mapping[str, Any]) -> None:
        self.listener = Listener()
        self.turns = [Turn(b, options.get(b.name, {})) for b in backends]

    def descriptors(self) -> list[BackendDescriptor]:
        """The backends, with partitioners that are watched."""
        return [replace(turn.descriptor, partitioner=self._maker(turn)) for turn in self.turns]

    def release(self) -> None:
        """Ends the watching: the partitioners are again what they were."""
        for turn in self.turns:
            for name in ("partition", "ops_to_not_decompose"):
                getattr(turn.partitioner, "__dict__", {}).pop(name, None)

    def _maker(self, turn: Turn) -> Any:
        def make(**options: Any) -> Any:
            turn.partitioner = turn.descriptor.partitioner(**options)
            turn.rules = rules_of(turn.partitioner)
            choose = turn.partitioner.partition
            keep = turn.partitioner.ops_to_not_decompose
            package = package_of(turn.partitioner)

            def watched_keep(program: Any) -> Any:
                if turn.program is not None:  # asked again in the end, about what was left
                    return keep(program)
                turn.whole |= {n.name: place_key(n) for n in program.graph.nodes}
                with listening(package, self.listener):
                    whole, fits = keep(program)
                turn.kept_whole |= {operator_name(op) for op in whole}
                return whole, fits and self._heard(fits, package)

            def watched_choose(program: Any) -> Any:
                turn.kept = self.listener.take()
                with listening(package, self.listener):
                    result = self._watch(turn, choose, program)
                turn.said = (*self.listener.take(), *refusals(turn.partitioner))
                turn.chose = True
                return result

            turn.partitioner.partition = watched_choose
            turn.partitioner.ops_to_not_decompose = watched_keep
            return turn.partitioner

        return make

    def _heard(self, fits: Any, package: str) -> Any:
        def heard(node: Any) -> Any:
            with listening(package, self.listener):
                return fits(node)

        return heard

    def _watch(self, turn: Turn, choose: Any, program: Any) -> Any:
        from executorch.exir.program._fake_program import get_fake_program

        turn.program = get_fake_program(program)
        before = _shape_of(program)
        name = turn.name
        begin = time.monotonic()
        try:
            with time_limit(PARTITION_LIMIT):
                result = choose(program)
        except TookTooLong:
            raise LoweringError(
                "PARTITIONER-HUNG",
                f"Backend {name} did not finish choosing its part of the model.",
                evidence=f"ended after {PARTITION_LIMIT:.0f} s",
                fix=f"Leave out {name}, or report this to {turn.descriptor.package}.",
            ) from None
        turn.seconds = time.monotonic() - begin
        if _shape_of(program) != before:
            raise LoweringError(
                "PARTITIONER-CHANGED-GRAPH",
                f"Backend {name} changed the graph while it chose its part of the model.",
                evidence=_difference(before, _shape_of(program)),
                fix=f"A partitioner may only tag nodes: report this to {turn.descriptor.package}.",
            )
        tagged = result.tagged_exported_program
        known = set(result.partition_tags or ())
        for prefix, module in graphs(tagged.graph_module):
            for node in module.graph.nodes:
                tag = node.meta.get("delegation_tag")
                if tag in known and node.op == "call_function":
                    turn.tags[prefix + node.name] = tag
        self._refuse_cycles(turn, tagged)
        return result

    @staticmethod
    def _refuse_cycles(turn: Turn, program: Any) -> None:
        for tag, path in cycles(program, turn.tags):
            raise LoweringError(
                "PARTITIONER-CYCLE",
                f"Backend {turn.name} put operators into one delegate that need, between them, "
                "an operator outside of it.",
                evidence=f"delegate {tag!r}: {' -> '.join(path)}",
                fix=f"This cannot be compiled: report it to {turn.descriptor.package}.",
            )


def cycles(program: Any, tags: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Delegates that a path leaves and comes back to, each with nodes of such a path."""
    # For each node the delegates that it depends on through something outside of them.
    through: dict[str, frozenset[str]] = {}
    within: dict[str, frozenset[str]] = {}
    found = []
    fixed = constants(program)
    for node in program.graph.nodes:
        if node.op != "call_function":
            continue
        tag = tags.get(node.name)
        outside: set[str] = set()
        inside: set[str] = set()
        for source in node.all_input_nodes:
            if source.name in fixed:
                continue
            outside |= through.get(source.name, frozenset())
            inside |= within.get(source.name, frozenset())
        if tag is not None and tag in outside:
            culprit = next(
                s for s in node.all_input_nodes if tag in through.get(s.name, frozenset())
            )
            found.append((tag, [culprit.name, node.name]))
            break
        through[node.name] = frozenset(outside | (inside - {tag}))
        within[node.name] = frozenset((inside & {tag}) | ({tag} if tag else set()))
    return found


def rules_of(partitioner: Any) -> frozenset[str] | None:
    """The operators that a partitioner has rules for, "add.Tensor"; None if it does not say."""
    configs = getattr(partitioner, "target_partitioner_configs", None)
    if isinstance(configs, Mapping) and configs:
        return frozenset(str(name) for name in configs)
    return None


def has_rule(rules: frozenset[str] | None, operator: str) -> bool | None:
    """Whether the backend's list has an operator; None if there is no list."""
    if rules is None:
        return None
    return operator in rules or operator.partition(".")[2] in rules


def place_key(node: Any) -> str:
    """Tells apart where in the model a node comes from, through decomposition."""
    stack = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values()]
    return f"{node.meta.get('torch_fn')}|{stack}|{node.meta.get('stack_trace', '')[-200:]}"


def _shape_of(program: Any) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [
        (n.op, n.name, str(n.target), tuple(i.name for i in n.all_input_nodes))
        for n in program.graph.nodes
    ]


def _difference(before: Sequence[Any], after: Sequence[Any]) -> str:
    pairs = zip(before, after, strict=False)
    first = next((f"{b[1]} became {a[1]}" for b, a in pairs if a != b), "")
    return f"{len(before)} nodes before, {len(after)} after" + (f"; {first}" if first else "")
