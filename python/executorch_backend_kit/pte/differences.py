"""What changed between two files: methods, operators, delegates, versions, sizes, weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from executorch_backend_kit.pte.program_file import ProgramFile

SCHEMA = "etbk.diff/1"
Change = dict[str, Any]


def diff(before: ProgramFile, after: ProgramFile) -> dict[str, Any]:
    """The differences as `etbk.diff/1`; payloads are compared by hash.

    `equal` is None, and `findings` says why, if one of them cannot be read as a program.
    """
    findings = [
        {**finding.to_json(), "message": f"the {which} file: {finding.message}"}
        for which, file in (("first", before), ("second", after))
        if not file.is_sound
        for finding in file.verify(level="structure").findings
    ]
    if findings:
        return {"schema": SCHEMA, "equal": None, "changes": [], "findings": findings}
    old, new = before.inspect(hash=True), after.inspect(hash=True)
    changes = [*_file(old, new), *_methods(old, new), *_payloads(old, new)]
    return {"schema": SCHEMA, "equal": not changes, "changes": changes, "findings": []}


def _change(what: str, where: str, old: object, new: object) -> Change:
    return {"what": what, "where": where, "before": old, "after": new}


def _file(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    for key in ("kind", "schema_version", "bytes"):
        a, b = (old["file"] or {}).get(key), (new["file"] or {}).get(key)
        if a != b:
            yield _change("size" if key == "bytes" else key, "file", a, b)
    a, b = (document.get("sizes", {}).get("segments", {}) for document in (old, new))
    for use in sorted(a.keys() | b.keys()):
        if a.get(use, 0) != b.get(use, 0):
            yield _change("size", f"segments for {use}", a.get(use, 0), b.get(use, 0))


def _methods(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    a = {method["name"]: method for method in old["methods"]}
    b = {method["name"]: method for method in new["methods"]}
    for name in sorted(a.keys() | b.keys()):
        if name not in a or name not in b:
            yield _change("method", name, name if name in a else None, name if name in b else None)
        else:
            yield from _method(name, a[name], b[name])


def _method(name: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    for key in ("inputs", "outputs"):
        a, b = ([_signature(end) for end in method[key]] for method in (old, new))
        if a != b:
            yield _change(key, name, a, b)
    yield from _counts("operator", name, _operators(old), _operators(new))
    planned = [sum(row["bytes"] for row in method["memory_plan"]) for method in (old, new)]
    if planned[0] != planned[1]:
        yield _change("memory planned", name, *planned)
    yield from _delegates(name, old["delegates"], new["delegates"])


def _signature(end: dict[str, Any]) -> str:
    if "dtype" not in end:
        return str(end["kind"])
    return f"{end['dtype']}{end['shape']} {end['dynamism']} {end['dim_order']}"


def _operators(method: dict[str, Any]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in method["operators"]:
        name = f"{row['name']}.{row['overload']}" if row["overload"] else row["name"]
        counts[name] += row["calls"]
    return counts


def _counts(what: str, where: str, old: Counter[str], new: Counter[str]) -> Iterator[Change]:
    for name in sorted(old.keys() | new.keys()):
        if old[name] != new[name]:
            yield _change(what, f"{where}, {name}", old[name], new[name])


def _delegates(name: str, old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Iterator[Change]:
    counts = [Counter(row["id"] for row in rows) for rows in (old, new)]
    yield from _counts("delegates", name, *counts)
    if counts[0] != counts[1]:
        return
    for index, (a, b) in enumerate(zip(old, new, strict=True)):
        where = f"{name}, delegate {index} {b['id']}"
        if a["hash"] != b["hash"]:
            yield _change("blob", where, a["hash"], b["hash"])
        if a["bytes"] != b["bytes"]:
            yield _change("size", where, a["bytes"], b["bytes"])
        if a["compile_specs"] != b["compile_specs"]:
            yield _change("compile specs", where, a["compile_specs"], b["compile_specs"])
        ea, eb = a["envelope"] or {}, b["envelope"] or {}
        for key in ("backend_version", "package", "executorch", "torch", "blob_format", "target"):
            if ea.get(key) != eb.get(key):
                yield _change(key, where, ea.get(key), eb.get(key))


def _payloads(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    a, b = (dict(_named(document)) for document in (old, new))
    for key in sorted(a.keys() | b.keys()):
        if a.get(key) != b.get(key):
            yield _change("weights", f"named data {key}", a.get(key), b.get(key))
    for use in ("constants", "initial data"):
        hashes = [
            [row["hash"] for row in document["segments"] if row["use"] == use]
            for document in (old, new)
        ]
        if hashes[0] != hashes[1]:
            yield _change("weights", use, *hashes)


def _named(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for row in document["named_data"]:
        if row["segment"] < len(document["segments"]):
            yield row["key"], document["segments"][row["segment"]]["hash"]
