"""Asks a partitioner the same question with one property changed: what would it take?

Each distinct unit is tried once, on a copy cut out of the graph that the partitioner first saw. It
counts as taken only if its own operator is tagged. An answer is confirmed by really lowering the
changed unit.
"""

from __future__ import annotations

import inspect
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from executorch_backend_kit.explain.changes import Change, changes, copied, describe
from executorch_backend_kit.explain.nodes import operator_name
from executorch_backend_kit.explain.recording import Turn, has_rule
from executorch_backend_kit.explain.specimen import Draft, MalformedError, Specimen, build, draft
from executorch_backend_kit.explain.time_limit import TookTooLong, time_limit
from executorch_backend_kit.explain.units import Unit
from executorch_backend_kit.explain.words import (
    Listener,
    Said,
    listening,
    package_of,
    refusals,
)

ONE_LIMIT = 20.0  # seconds that one choice may take in an experiment
LOWERINGS = 3  # of one property that may fail before the next is looked at
PAIRS = 40  # two changes together, if no single one was accepted


@dataclass(frozen=True)
class Answer:
    """A change that was accepted.

    confirmed: "lowered" if a real lowering of the changed unit delegated it, "partitioned" if it
               was only chosen
    """

    changes: tuple[Change, ...]
    confirmed: str

    def to_text(self) -> str:
        """As the end of "it would be delegated if"."""
        return " and ".join(change.to_text() for change in self.changes)


@dataclass
class Findings:
    """What the experiments on one unit gave.

    control: "refused", "taken" (alone the unit is taken as it is), or why it could not be tried
    answers: changes after which it is taken
    options: settings of the backend with which it is taken as it is: (name, value)
    words:   what the backend says of the unit when it is alone
    tried:   how many changed units were well-formed; `by_property` says of which kind
    """

    control: str = "refused"
    answers: list[Answer] = field(default_factory=list)
    options: list[tuple[str, Any]] = field(default_factory=list)
    words: tuple[str, ...] = ()
    tried: int = 0
    by_property: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    cut_short: bool = False


class Laboratory:
    """Runs the experiments of one backend's turn, within a time."""

    def __init__(self, turn: Turn, real: Mapping[str, Any], deadline: float) -> None:
        self._turn = turn
        self._real = real
        self._deadline = deadline
        self._listener = Listener()
        self.known: dict[str, Findings] = {}
        self.partitions = 0
        self.lowerings = 0
        self._not_tried: set[str] = set()

    @property
    def not_tried(self) -> int:
        """Distinct units for which no time was left."""
        return len(self._not_tried)

    @property
    def late(self) -> bool:
        """True when the time is up."""
        return time.monotonic() > self._deadline

    def examine(self, unit: Unit) -> Findings:
        """All experiments on a unit; those of an equal unit if there was one.

        Units of an operator that the backend's list lacks are equal if their dtypes are.
        """
        start = draft(unit, self._turn.program, self._real)
        name = operator_name(unit.main.target)
        if has_rule(self._turn.rules, name) is False:
            key = f"{name} {sorted(str(one.dtype) for one in start.inputs.values())}"
        else:
            key = describe(start)
        if key not in self.known:
            found = Findings()
            if self.late:
                found.cut_short = True
                self._not_tried.add(key)
                return found
            self.known[key] = found
            with _quick_stack():
                self._examine(start, found)
        return self.known[key]

    def _examine(self, start: Draft, found: Findings) -> None:
        try:
            control = build(copied(start), self._turn.program)
            taken, words = self._ask(control)
        except MalformedError as error:
            found.control = str(error)
            return
        except Exception as error:  # a partitioner may raise anything
            found.control = f"the partitioner failed: {type(error).__name__}: {error}"[:300]
            return
        found.words = tuple(dict.fromkeys(said.text for said in words))
        if taken:
            found.control = "taken"
            return
        if has_rule(self._turn.rules, operator_name(start.unit.main.target)) is not False:
            self._options(start, found)
        accepted: list[tuple[Change, ...]] = []
        moved: list[Change] = []  # refused still, but with other words: a step on the way
        for change in changes(start):
            if self.late:
                found.cut_short = True
                break
            outcome = self._try(start, (change,), found)
            if outcome is True:
                accepted.append((change,))
            elif outcome is not None and outcome != found.words:
                moved.append(change)
        if not accepted and not found.cut_short:
            accepted = self._pairs(start, moved, found)
        found.answers = self._confirmed(start, accepted)

    def _pairs(
        self, start: Draft, moved: list[Change], found: Findings
    ) -> list[tuple[Change, ...]]:
        """Two changes together, of which the first already changed the backend's words."""
        accepted: list[tuple[Change, ...]] = []
        tried = 0
        for first in moved[:4]:
            for second in changes(start):
                if second.argument == first.argument or tried >= PAIRS or self.late:
                    continue
                tried += 1
                if self._try(start, (first, second), found) is True:
                    accepted.append((first, second))
                    return accepted
        return accepted

    def _try(
        self, start: Draft, together: tuple[Change, ...], found: Findings
    ) -> bool | tuple[str, ...] | None:
        """True if taken, the words if refused, None if the change makes no program."""
        changed = copied(start)
        try:
            for change in together:
                change.apply(changed)
            specimen = build(changed, self._turn.program)
        except MalformedError:
            return None
        except Exception:  # a change that does not fit this unit's form
            return None
        try:
            taken, words = self._ask(specimen)
        except Exception:  # a partitioner that fails on it does not take it
            found.failed += 1
            return None
        found.tried += 1
        name = together[0].property
        found.by_property[name] = found.by_property.get(name, 0) + 1
        return True if taken else tuple(dict.fromkeys(said.text for said in words))

    def _ask(self, specimen: Specimen, partitioner: Any = None) -> tuple[bool, tuple[Said, ...]]:
        """Whether the operator is tagged, and what the backend says of it."""
        partitioner = partitioner or self._partitioner()
        self._listener.take()
        self.partitions += 1
        # Only its choosing is heard: XNNPACK that compiles at log level DEBUG leaves files behind.
        heard = listening(package_of(self._turn.partitioner), self._listener)
        try:
            with heard, time_limit(ONE_LIMIT):
                result = partitioner.partition(specimen.program)
        except TookTooLong:
            raise TimeoutError(f"no answer within {ONE_LIMIT:.0f} s") from None
        tags = set(result.partition_tags or ())
        taken = any(
            node.name == specimen.operator and node.meta.get("delegation_tag") in tags
            for node in result.tagged_exported_program.graph.nodes
        )
        words = (*self._listener.take(), *refusals(partitioner))
        return taken, tuple(said for said in words if said.node == specimen.operator)

    def _partitioner(self, **other: Any) -> Any:
        return self._turn.descriptor.partitioner(**{**self._turn.options, **other})

    def _options(self, start: Draft, found: Findings) -> None:
        """Settings of the backend, one at a time, with the unit as it is."""
        for name, option in self._turn.descriptor.options.items():
            now = self._turn.options.get(name, option.default)
            others = option.choices or ((True, False) if option.type is bool else ())
            for value in others:
                if value == now or self.late:
                    continue
                try:
                    control = build(copied(start), self._turn.program)
                    taken, _ = self._ask(control, self._partitioner(**{name: value}))
                    if taken:
                        control = build(copied(start), self._turn.program, real=True)
                        self.lowerings += 1
                        taken = _delegates(control, self._partitioner(**{name: value}))
                except Exception:  # a setting that does not work here is no answer
                    taken = False
                if taken:
                    found.options.append((name, value))

    def _confirmed(self, start: Draft, accepted: list[tuple[Change, ...]]) -> list[Answer]:
        """The answers, the first of each kind really lowered."""
        answers: list[Answer] = []
        seen: set[tuple[str, str]] = set()
        failed: Counter[str] = Counter()
        for together in accepted:
            kind = (together[0].property, together[0].argument)
            if kind in seen or failed[together[0].property] >= LOWERINGS:
                continue
            if self.late:
                answers.append(Answer(together, "partitioned"))
                seen.add(kind)
            elif self.lower(start, together):
                answers.append(Answer(together, "lowered"))
                seen.add(kind)
            else:
                failed[together[0].property] += 1
        return answers

    def lower(self, start: Draft, together: tuple[Change, ...]) -> bool:
        """Really lowers the changed unit; True if its operator ends up inside a delegate."""
        changed = copied(start)
        self.lowerings += 1
        try:
            for change in together:
                change.apply(changed)
            specimen = build(changed, self._turn.program, real=True)
            return _delegates(specimen, self._partitioner())
        except TookTooLong:
            return False
        except Exception:  # a backend that cannot compile it does not take it
            return False


@contextmanager
def _quick_stack() -> Iterator[None]:
    """Some partitioners look at the stack at each call; without source lines that is quick."""
    slow = inspect.stack
    inspect.stack = partial(slow, 0)
    try:
        yield
    finally:
        inspect.stack = slow


def _delegates(specimen: Specimen, partitioner: Any) -> bool:
    from executorch.exir.backend.backend_api import to_backend

    with time_limit(ONE_LIMIT * 3):
        lowered = to_backend(specimen.program, partitioner)
    left = [n.target for n in lowered.graph.nodes if n.op == "call_function"]
    inside = [
        node.target
        for module in delegates_of(lowered.graph_module)
        for node in module.original_module.graph.nodes
        if node.op == "call_function"
    ]
    return specimen.target in inside and specimen.target not in left


def delegates_of(graph_module: Any) -> Iterator[Any]:
    """The lowered modules of a graph."""
    from executorch.exir.lowered_backend_module import executorch_call_delegate

    for node in graph_module.graph.nodes:
        if node.op == "call_function" and node.target is executorch_call_delegate:
            yield getattr(graph_module, node.args[0].target)
