"""Turns a delegated graph into the device's program and its weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from . import blob
from .blob import Opcode
from .sizes import Size, bind, is_tensor, sizes_of, why_unbound
from .supports import ALIASES, ATTENTION, EXPAND, PERMUTE, argument, operator, supports


@dataclass(eq=False)
class Storage:
    """Memory of a tensor: among the weights if it has data, else in a register."""

    data: torch.Tensor | None = None


class Tensor(NamedTuple):
    storage: Storage
    sizes: tuple[Size, ...]


class Step(NamedTuple):
    """An operation before its operands have numbers."""

    opcode: Opcode
    node: Node
    inputs: tuple[Tensor, ...]
    output: Tensor
    order: tuple[int, ...] = ()
    axis: int = 0
    zero_if_masked: bool = False


class UnsupportedGraphError(RuntimeError):
    """The compiler was given a graph that the partitioner does not make."""


@dataclass
class Compiler:
    """Compiles one delegated graph; `run` fills the results. Equal graphs give equal results."""

    exported: ExportedProgram
    program: blob.Program = field(default_factory=blob.Program)
    weights: bytearray = field(default_factory=bytearray)
    debug_handles: dict[str, tuple[int, ...]] = field(default_factory=dict)  # by operation's name
    _tensors: dict[Node, Tensor] = field(default_factory=dict)
    _steps: list[Step] = field(default_factory=list)

    def run(self) -> None:
        graph, ranges = self.exported.graph, self.exported.range_constraints
        constants = constant_names(self.exported)
        data = {**self.exported.constants, **self.exported.state_dict}
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        inputs = [node for node in placeholders if node.name not in constants]
        calls = [node for node in graph.nodes if node.op == "call_function"]
        problem = why_unbound(calls, inputs, ranges)
        for refusal in filter(None, map(supports, calls)):
            problem = problem or f"{refusal.node}: {refusal.message}"
        if problem:
            raise UnsupportedGraphError(f"REFERENCE-GRAPH: {problem}.")
        for node in filter(is_tensor, placeholders):
            constant = data[constants[node.name]] if node.name in constants else None
            self._new(node, None if constant is None else constant.detach().contiguous())
        for node in calls:
            self._lower(node)
        (results,) = graph.output_node().args
        self._number(inputs, [self._tensors[node] for node in results], ranges)

    def _new(self, node: Node, data: torch.Tensor | None = None) -> Tensor:
        self._tensors[node] = Tensor(Storage(data), sizes_of(node) or ())
        return self._tensors[node]

    def _argument(self, value: object) -> Tensor:
        if isinstance(value, Node):
            return self._tensors[value]
        return Tensor(Storage(torch.tensor(value, dtype=torch.float32)), ())

    def _lower(self, node: Node) -> None:
        name = operator(node)
        args = [self._tensors[a] for a in node.args if isinstance(a, Node) and is_tensor(a)]
        if name in ALIASES or (name == EXPAND and sizes_of(node) == args[0].sizes):
            self._tensors[node] = Tensor(args[0].storage, sizes_of(node) or ())
        elif name == PERMUTE:
            order = [int(axis) % len(args[0].sizes) for axis in node.args[1]]
            self._tensors[node] = self._permute(node, args[0], order)
        elif name == EXPAND:
            self._step(Opcode.MUL, node, args[0], self._argument(1.0))  # it repeats its operands
        elif name == "aten.linear.default":
            args[1] = self._permute(node, args[1], (1, 0))
            self._step(Opcode.MATMUL, node, *args)
        elif name == "aten.addmm.default":
            self._step(Opcode.MATMUL, node, args[1], args[2], args[0])
        elif name in ("aten.mm.default", "aten.bmm.default", "aten.matmul.default"):
            self._step(Opcode.MATMUL, node, *map(self._before_expand, node.args))
        elif name == ATTENTION:
            self._attention(node)
        elif name == "aten._softmax.default":
            axis = int(node.args[1]) % len(args[0].sizes)
            self._steps.append(Step(Opcode.SOFTMAX, node, (args[0],), self._new(node), axis=axis))
        elif name == "aten.relu.default":
            self._step(Opcode.RELU, node, args[0])
        else:
            opcode = Opcode.ADD if name.startswith("aten.add.") else Opcode.MUL
            self._step(opcode, node, *map(self._argument, node.args[:2]))

    def _step(self, opcode: Opcode, node: Node, *inputs: Tensor) -> None:
        self._steps.append(Step(opcode, node, inputs, self._new(node)))

    def _permute(self, node: Node, source: Tensor, order: Sequence[int]) -> Tensor:
        """Weights are permuted here and now, other tensors by the device."""
        sizes, data = tuple(source.sizes[axis] for axis in order), source.storage.data
        if data is not None:
            shape = [size.coefficient for size in source.sizes]
            return Tensor(Storage(data.reshape(shape).permute(*order).contiguous()), sizes)
        output = Tensor(Storage(), sizes)
        self._steps.append(Step(Opcode.PERMUTE, node, (source,), output, tuple(order)))
        return output

    def _before_expand(self, node: Node) -> Tensor:
        """A matrix product repeats its operands over the batch itself: look behind `expand`."""
        while operator(node) in (EXPAND, *ALIASES):
            sizes, source = self._tensors[node].sizes, self._tensors[node.args[0]].sizes
            repeats = operator(node) == EXPAND and len(source) >= 2 and source[-2:] == sizes[-2:]
            if source != sizes and not repeats:
                break
            node = node.args[0]
        return self._tensors[node]

    def _attention(self, node: Node) -> None:
        """softmax(query * scale @ key^T + mask) @ value; a row that is masked whole gives 0."""
        query, key, value = map(self._argument, node.args[:3])
        mask = argument(node, 3, "attn_mask")
        scale = node.kwargs.get("scale") or 1 / math.sqrt(query.sizes[-1].coefficient)
        order = (*range(len(key.sizes) - 2), len(key.sizes) - 1, len(key.sizes) - 2)
        batch = (sizes_of(node) or ())[:-2]
        sizes = (*batch, query.sizes[-2], key.sizes[-2])
        scaled, scores, masked, weights = (
            Tensor(Storage(), size) for size in (query.sizes, sizes, sizes, sizes)
        )
        turned = self._permute(node, key, order)
        self._steps += [
            Step(Opcode.MUL, node, (query, self._argument(scale)), scaled),
            Step(Opcode.MATMUL, node, (scaled, turned), scores),
        ]
        if mask is not None:
            self._steps.append(Step(Opcode.ADD, node, (scores, self._argument(mask)), masked))
        source, axis = scores if mask is None else masked, len(sizes) - 1
        softmax = Step(Opcode.SOFTMAX, node, (source,), weights, axis=axis, zero_if_masked=True)
        self._steps.append(softmax)
        self._step(Opcode.MATMUL, node, weights, value)

    def _number(self, inputs: list[Node], outputs: list[Tensor], ranges: Any) -> None:
        """Gives registers, offsets, symbols and values their numbers and fills the results."""
        steps = _live(self._steps, outputs)
        tensors = [self._tensors[node] for node in inputs if is_tensor(node)]
        places, self.program.registers = _assign_registers(steps, tensors, outputs)
        bindings = bind(inputs)
        numbers = {symbol: number for number, symbol in enumerate(bindings)}
        offsets: dict[bytes, int] = {}
        indexes: dict[Tensor, int] = {}

        def index(tensor: Tensor) -> int:
            if tensor not in indexes:
                data, place = tensor.storage.data, places.get(tensor.storage, 0)
                if data is not None:
                    content = data.numpy().astype("<f4").tobytes()
                    if content not in offsets:
                        self.weights.extend(bytes(-len(self.weights) % blob.ALIGNMENT))
                        offsets[content] = len(self.weights)
                        self.weights.extend(content)
                    place = offsets[content]
                sizes = tuple(
                    blob.Size(s.coefficient, tuple(numbers[symbol] for symbol in s.symbols))
                    for s in tensor.sizes
                )
                indexes[tensor] = len(self.program.values)
                self.program.values.append(blob.Value(data is not None, place, sizes))
            return indexes[tensor]

        for symbol, binding in bindings.items():
            # torch states 2 as the lower bound of every size that it has not fixed to 1.
            lower = int(ranges[symbol].lower) if ranges[symbol].lower > 2 else 1
            self.program.symbols.append(blob.Symbol(*binding, lower, int(ranges[symbol].upper)))
        self.program.inputs = [
            index(self._tensors[node]) if is_tensor(node) else blob.NONE for node in inputs
        ]
        for step in steps:
            name = f"{len(self.program.operations)}:{step.node.name}"[:31]
            operands, output = tuple(map(index, step.inputs)), index(step.output)
            details = (step.order, step.axis, step.zero_if_masked)
            operation = blob.Operation(step.opcode, name, operands, output, *details)
            self.program.operations.append(operation)
            if handle := step.node.meta.get("debug_handle"):
                self.debug_handles[name] = handle if isinstance(handle, tuple) else (handle,)
        self.program.outputs = [index(tensor) for tensor in outputs]


def constant_names(exported: ExportedProgram) -> dict[str, str]:
    """The name of the constant behind a placeholder, for each that is one."""
    signature = exported.graph_signature
    names = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    mutated = set(signature.buffers_to_mutate.values())
    return {placeholder: name for placeholder, name in names.items() if name not in mutated}


def _live(steps: Sequence[Step], outputs: Sequence[Tensor]) -> list[Step]:
    """The steps that some output needs."""
    needed, live = {tensor.storage for tensor in outputs}, []
    for step in reversed(steps):
        if step.output.storage in needed:
            needed.update(tensor.storage for tensor in step.inputs)
            live.append(step)
    return live[::-1]


def _assign_registers(
    steps: Sequence[Step], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> tuple[dict[Storage, int], int]:
    """Gives each storage a register, and a register to the next storage after its last use."""
    last_use = {tensor.storage: i for i, step in enumerate(steps) for tensor in step.inputs}
    last_use.update({tensor.storage: len(steps) for tensor in outputs})
    places = {tensor.storage: register for register, tensor in enumerate(inputs)}
    registers = len(places)
    free: list[int] = []
    for i, step in enumerate(steps):
        if free:
            places[step.output.storage] = free.pop()
        else:
            places[step.output.storage] = registers
            registers += 1
        read = dict.fromkeys(tensor.storage for tensor in step.inputs)
        free += [
            places[storage] for storage in read if storage in places and last_use[storage] == i
        ]
    return places, registers
