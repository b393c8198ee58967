"""Whether an ELF file defines a symbol, rather than asking another file for it."""

from __future__ import annotations

import struct

_SYMBOL_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM


def defines(content: bytes, symbol: bytes) -> bool:
    """True if one of the file's symbol tables has it with a section of its own."""
    if b"\0" + symbol + b"\0" not in content:
        return False
    try:
        return any(
            _table_defines(content, order, wide, table, strings, symbol)
            for order, wide, table, strings in _tables(content)
        )
    except struct.error:  # cut off, or no ELF
        return False


def _tables(content: bytes) -> list[tuple[str, bool, tuple[int, int], tuple[int, int]]]:
    """Byte order, 64 bit or not, and the ranges of each symbol table and of its strings."""
    wide, order = content[4] == 2, "<" if content[5] == 1 else ">"
    (start,) = struct.unpack_from(f"{order}{'Q' if wide else 'I'}", content, 40 if wide else 32)
    size, count = struct.unpack_from(f"{order}HH", content, 58 if wide else 46)
    sections = []
    for index in range(count):
        at = start + index * size
        _, kind = struct.unpack_from(f"{order}II", content, at)
        offset, length = struct.unpack_from(
            f"{order}{'QQ' if wide else 'II'}", content, at + (24 if wide else 16)
        )
        (link,) = struct.unpack_from(f"{order}I", content, at + (40 if wide else 24))
        sections.append((kind, (offset, length), link))
    return [
        (order, wide, place, sections[link][1])
        for kind, place, link in sections
        if kind in _SYMBOL_TABLES and link < count
    ]


def _table_defines(  # noqa: PLR0917 - what one table is
    content: bytes,
    order: str,
    wide: bool,
    table: tuple[int, int],
    strings: tuple[int, int],
    symbol: bytes,
) -> bool:
    names = content[strings[0] : sum(strings)]
    place = names.find(b"\0" + symbol + b"\0") + 1
    if place == 0:
        return False
    entry = struct.Struct(f"{order}{'IBBHQQ' if wide else 'IIIBBH'}")
    rows = content[table[0] : sum(table)]
    for row in entry.iter_unpack(rows[: len(rows) // entry.size * entry.size]):
        if row[0] == place:
            return bool(row[3] if wide else row[5])
    return False
