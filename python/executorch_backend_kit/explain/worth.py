"""What delegation is worth: arithmetic and bytes inside and outside of delegates, what crosses
their boundaries, and what would be gained if an operator were taken too.

All of it is read from the graph and from who took which node, so that a hypothetical choice is
judged exactly like the real one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from executorch_backend_kit.explain.arithmetic import arithmetic
from executorch_backend_kit.explain.nodes import (
    bytes_of,
    constants,
    dtype_name,
    is_operator,
    is_scalar,
    operator_name,
    values,
)
from executorch_backend_kit.explain.specimen import memory_order

# What one of each costs, in operations, when blockers are ranked: rough, and the same for all.
_PER_BYTE = 4
_PER_DELEGATE = 20_000

_CONVERSIONS = ("_to_dim_order_copy", "_clone_dim_order")


@dataclass(frozen=True)
class Gain:
    """What changes if some operators were taken: operations that move into delegates, fewer
    delegates (negative: more), fewer bytes over boundaries."""

    arithmetic: int
    delegates: int
    boundary_bytes: int

    @property
    def score(self) -> int:
        """One number to rank by."""
        return (
            self.arithmetic
            + _PER_BYTE * self.boundary_bytes
            + _PER_DELEGATE * max(self.delegates, 0)
        )

    def to_json(self) -> dict[str, int]:
        """The gain in the fields of `etbk.explain/1`."""
        return {
            "arithmetic": self.arithmetic,
            "delegates": self.delegates,
            "boundary_bytes": self.boundary_bytes,
        }


class Map:
    """A graph with who took which node: `delegate_of` maps node names to delegates."""

    def __init__(self, program: Any, delegate_of: Mapping[str, str]) -> None:
        self.nodes = [n for n in program.graph.nodes if n.op == "call_function"]
        self._fixed = constants(program)
        self.delegate_of = dict(delegate_of)
        self._order = {node.name: index for index, node in enumerate(program.graph.nodes)}
        self._by_name = {node.name: node for node in program.graph.nodes}
        self._reads = {
            node.name: [s.name for s in node.all_input_nodes if s.name not in self._fixed]
            for node in self.nodes
        }
        self._users = {node.name: [u.name for u in node.users] for node in program.graph.nodes}

    def delegates(self) -> list[str]:
        """The delegates, in the order of their first node."""
        return list(dict.fromkeys(d for n in self.nodes if (d := self.delegate_of.get(n.name))))

    def boundary(self) -> list[dict[str, Any]]:
        """Every tensor that goes into or out of a delegate."""
        crossings: dict[tuple[str, str, str], None] = {}
        for node in self.nodes:
            mine = self.delegate_of.get(node.name)
            for source in self._reads[node.name]:
                theirs = self.delegate_of.get(source)
                if theirs == mine:
                    continue
                if mine is not None:
                    crossings.setdefault((mine, "in", source))
                if theirs is not None:
                    crossings.setdefault((theirs, "out", source))
        for name, delegate in self.delegate_of.items():
            if name in self._users and "output" in self._users[name]:
                crossings.setdefault((delegate, "out", name))
        found = [
            self._crossing(delegate, way, name)
            for delegate, way, name in crossings
            if values(self._by_name[name])
        ]
        return sorted(found, key=lambda c: (c["delegate"], c["direction"]))

    def _crossing(self, delegate: str, way: str, name: str) -> dict[str, Any]:
        node = self._by_name[name]
        tensor = values(node)[0]
        neighbours = [self._by_name[u] for u in self._users[name]] if way == "out" else [node]
        return {
            "delegate": delegate,
            "direction": way,
            "tensor": name,
            "bytes": bytes_of(node),
            "dtype": dtype_name(tensor),
            "dim_order": list(memory_order(tensor)),
            "converted": any(
                n.op == "call_function" and any(c in operator_name(n.target) for c in _CONVERSIONS)
                for n in neighbours
            ),
        }

    def boundary_bytes(self) -> int:
        """Bytes over all boundaries, for one run."""
        return sum(crossing["bytes"] for crossing in self.boundary())

    def gain(self, taken: Collection[str], backend: str) -> Gain:
        """What is gained if the nodes named in `taken` were taken by `backend` too."""
        after = self._merged(taken, backend)
        work = sum(
            arithmetic(self._by_name[name]) or 0 for name in taken if name not in self.delegate_of
        )
        return Gain(
            work,
            len(self.delegates()) - len(after.delegates()),
            self.boundary_bytes() - after.boundary_bytes(),
        )

    def _merged(self, taken: Collection[str], backend: str) -> Map:
        """The graph with those nodes taken, and delegates joined where no cycle comes of it."""
        quotient = _Quotient(self)
        for name in sorted(taken, key=self._order.__getitem__):
            quotient.take(name, backend)
        merged = Map.__new__(Map)
        merged.__dict__ = {**self.__dict__, "delegate_of": quotient.delegates()}
        return merged

    def share(self) -> dict[str, float | None]:
        """The delegated part of arithmetic, bytes and nodes, each as a share of all."""
        work, size, count = [0, 0], [0, 0], [0, 0]
        for node in self.nodes:
            if not is_operator(node) or is_scalar(node):
                continue
            inside = node.name in self.delegate_of
            for total, one in (
                (work, arithmetic(node) or 0),
                (size, self.touched_bytes(node)),
                (count, 1),
            ):
                total[0] += one
                total[1] += one if inside else 0
        return {
            "arithmetic": _ratio(work),
            "bytes": _ratio(size),
            "nodes": _ratio(count),
        }

    def weight_of(self, name: str) -> int:
        """A first guess at what a node costs outside: its operations and its bytes."""
        node = self._by_name.get(name)
        if node is None:  # made by an earlier backend
            return 0
        return (arithmetic(node) or 0) + _PER_BYTE * self.touched_bytes(node)

    def touched_bytes(self, node: Any) -> int:
        """Bytes that an operator reads and writes, weights included."""
        return bytes_of(node) + sum(bytes_of(source) for source in node.all_input_nodes)

    def total_arithmetic(self, *, inside: bool | None = None) -> int:
        """Operations of all nodes, or of those inside or outside of delegates."""
        return sum(
            arithmetic(node) or 0
            for node in self.nodes
            if inside is None or (node.name in self.delegate_of) is inside
        )

    def neighbours_of(self, names: Iterable[str]) -> set[str]:
        """The names of what these nodes read and of what reads them."""
        found: set[str] = set()
        for name in names:
            found |= {*self._reads.get(name, ()), *self._users.get(name, ())}
        return found


def _ratio(pair: list[int]) -> float | None:
    return round(pair[1] / pair[0], 6) if pair[0] else None


class _Quotient:
    """The graph with each delegate as one node; delegates of one backend join without cycles."""

    def __init__(self, graph: Map) -> None:
        self._graph = graph
        self._parent: dict[str, str] = {}
        self._members: dict[str, list[str]] = defaultdict(list)
        self._backend: dict[str, str] = {}
        self._low: dict[str, int] = {}  # place in the graph of the first member
        self._high: dict[str, int] = {}
        first: dict[str, str] = {}
        for node in graph.nodes:
            delegate = graph.delegate_of.get(node.name)
            self._parent[node.name] = (
                first.setdefault(delegate, node.name) if delegate else node.name
            )
            root, place = self._parent[node.name], graph._order[node.name]
            self._members[root].append(node.name)
            self._low.setdefault(root, place)
            self._high[root] = place
            if delegate:
                self._backend[self._parent[node.name]] = delegate.partition(":")[0]

    def find(self, name: str) -> str:
        """The node that stands for the delegate of a node, or the node itself."""
        while self._parent[name] != name:
            self._parent[name] = self._parent[self._parent[name]]
            name = self._parent[name]
        return name

    def take(self, name: str, backend: str) -> None:
        """Gives a node to the backend and joins it with what it touches."""
        me = self.find(name)
        self._backend.setdefault(me, backend)
        for other in sorted(
            {self.find(n) for n in self._graph.neighbours_of([name]) if n in self._parent},
            key=self._graph._order.__getitem__,
        ):
            me = self.find(name)
            if other != me and self._backend.get(other) == self._backend[me]:
                self._join(me, other)

    def _join(self, one: str, other: str) -> None:
        if self._leaves_and_returns(one, other) or self._leaves_and_returns(other, one):
            return
        keep, drop = sorted((one, other), key=lambda n: -len(self._members[n]))
        self._parent[drop] = keep
        self._members[keep] += self._members.pop(drop)
        self._low[keep] = min(self._low[keep], self._low[drop])
        self._high[keep] = max(self._high[keep], self._high[drop])

    def _leaves_and_returns(self, start: str, end: str) -> bool:
        """True if a path leads from one to the other through a third."""
        last = self._high[end]
        pending = [s for s in self._successors(start) if s not in (start, end)]
        seen = set(pending)
        while pending:
            here = pending.pop()
            for successor in self._successors(here):
                if successor == end:
                    return True
                if successor not in seen and successor != start:
                    if self._low[successor] > last:
                        continue
                    seen.add(successor)
                    pending.append(successor)
        return False

    def _successors(self, name: str) -> set[str]:
        users = self._graph._users
        return {self.find(u) for m in self._members[name] for u in users[m] if u in self._parent}

    def delegates(self) -> dict[str, str]:
        """The delegate of each node that has one."""
        return {
            name: f"{self._backend[root]}:{root}"
            for name in self._parent
            if (root := self.find(name)) in self._backend
        }
