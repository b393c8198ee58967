"""The blob: what `preprocess` writes and the runtime reads (runtime/blob.hpp mirrors it).

Little-endian records in this order: header, symbols, values, inputs, outputs, operations, the key
of the named data, padding, weights (absent if they are named data). Nothing in it depends on when
or where it was made, so equal graphs give equal bytes.
"""

import hashlib
import struct
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

MAGIC = b"REFBLOB\0"
FORMAT = 1  # grows when a reader of the format before could misread a blob
OLDEST_READER = 1
ALIGNMENT = 64  # of weights; the device uses such memory in place
MAX_RANK = 6
MAX_SYMBOLS = 255
MAX_DEGREE = 4  # symbols in one size
NONE = 0xFFFFFFFF

HEADER = struct.Struct("<8sIIQQQIIIIIIII")
OPERATION = struct.Struct("<6I6BBB32s")


class Opcode(IntEnum):
    """What the device can do."""

    MATMUL, ADD, MUL, RELU, SOFTMAX, PERMUTE = range(6)


class Size(NamedTuple):
    """A number times some symbols, given by their indexes."""

    coefficient: int
    symbols: tuple[int, ...]

    def pack(self) -> bytes:
        return struct.pack("<I", self.coefficient) + bytes(self.symbols).ljust(MAX_DEGREE, b"\xff")


class Symbol(NamedTuple):
    """A size known at run time: dimension `axis` of an input (NONE: the int `input`) over
    `divisor`, which may lie between `minimum` and `maximum`."""

    input: int
    axis: int
    divisor: int
    minimum: int
    maximum: int


class Value(NamedTuple):
    """A tensor in a register (place = its number) or among the weights (place = byte offset)."""

    is_weight: bool
    place: int
    sizes: tuple[Size, ...]

    def pack(self) -> bytes:
        sizes = b"".join(size.pack() for size in self.sizes)
        return struct.pack("<IIQ48s", self.is_weight, len(self.sizes), self.place, sizes)


class Operation(NamedTuple):
    opcode: Opcode
    name: str  # in profiles
    inputs: tuple[int, ...]  # values
    output: int
    order: tuple[int, ...] = ()  # PERMUTE
    axis: int = 0  # SOFTMAX
    zero_if_masked: bool = False  # SOFTMAX: a row of -inf gives 0 and not NaN

    def pack(self) -> bytes:
        inputs = (*self.inputs, NONE, NONE)[:3]
        order = (*self.order, *[0] * MAX_RANK)[:MAX_RANK]
        details = (self.output, *order, self.axis, self.zero_if_masked, self.name.encode()[:31])
        return OPERATION.pack(self.opcode, len(self.inputs), *inputs, *details)


@dataclass
class Program:
    registers: int = 0
    symbols: list[Symbol] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)  # values; NONE: an int
    outputs: list[int] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


def weights_key(weights: bytes) -> str:
    """The name of weights kept outside the blob; equal weights have equal names."""
    return f"reference/{FORMAT}/{hashlib.sha256(weights).hexdigest()}"


def encode(program: Program, weights: bytes, key: str = "") -> bytes:
    """Writes a blob; with a `key` the weights stay outside, as named data of that name."""
    p = program
    body = b"".join(struct.pack("<IIIii", *symbol) for symbol in p.symbols)
    body += b"".join(value.pack() for value in p.values)
    body += struct.pack(f"<{len(p.inputs) + len(p.outputs)}I", *p.inputs, *p.outputs)
    body += b"".join(operation.pack() for operation in p.operations)
    body += key.encode()
    if not key:
        body += bytes(-(HEADER.size + len(body)) % ALIGNMENT)
    offset = 0 if key else HEADER.size + len(body)
    total = HEADER.size + len(body) + (0 if key else len(weights))
    counts = [len(part) for part in (p.symbols, p.values, p.inputs, p.outputs, p.operations, key)]
    versions = (MAGIC, FORMAT, OLDEST_READER)
    header = HEADER.pack(*versions, total, offset, len(weights), ALIGNMENT, p.registers, *counts)
    return header + body + (b"" if key else weights)
