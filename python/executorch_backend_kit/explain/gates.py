"""The conditions that a pipeline can set, and whether an explanation meets them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any
from xml.etree import ElementTree

from executorch_backend_kit.aot.errors import ConfigurationError
from executorch_backend_kit.help import data


@dataclass(frozen=True)
class Gate:
    """One condition and how it came out."""

    name: str
    passed: bool
    detail: str

    def to_json(self) -> dict[str, Any]:
        """The gate in the fields of `etbk.explain/1`."""
        return {"name": self.name, "passed": self.passed, "detail": self.detail}


@dataclass(frozen=True)
class Gates:
    """What is asked of an explanation.

    max_fallback: the largest share of arithmetic that may stay outside of delegates
    require:      backends, by name or id, that must have taken something
    forbid:       reasons that no operator may have
    """

    max_fallback: float | None = None
    require: Sequence[str] = ()
    forbid: Sequence[str] = ()

    def judge(self, document: dict[str, Any]) -> list[Gate]:
        """Each gate, held against the document."""
        gates = []
        if self.max_fallback is not None:
            gates.append(_fallback(document, self.max_fallback))
        gates += [_required(document, name) for name in self.require]
        gates += [_forbidden(document, code) for code in self.forbid]
        return gates


def share(text: str) -> float:
    """The share that "5%" or "0.05" means; raises ConfigurationError."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ConfigurationError(
            "EXPLAIN-GATE-INVALID",
            f"--max-fallback cannot be {text!r}.",
            fix="Give a share of the arithmetic: 5% or 0.05.",
        )
    return value


def known_codes(codes: Sequence[str]) -> tuple[str, ...]:
    """The codes, each checked to be one; raises ConfigurationError."""
    known = [code for code in data.load()["codes"] if code.startswith("FALLBACK-")]
    for code in codes:
        if code not in known:
            near = get_close_matches(code.upper(), known, n=1)
            raise ConfigurationError(
                "EXPLAIN-GATE-INVALID",
                f"--forbid cannot be {code!r}: it is no reason for a fallback.",
                evidence="known: " + ", ".join(known),
                fix=f"Did you mean {near[0]}?" if near else "Give one of these.",
            )
    return tuple(codes)


def _fallback(document: dict[str, Any], limit: float) -> Gate:
    name = f"max-fallback {limit:.4g}"
    summary = document["summary"]
    if summary is None or summary["delegated"]["arithmetic"] is None:
        return Gate(name, False, "the delegated share of the arithmetic is not known")
    outside = 1 - summary["delegated"]["arithmetic"]
    unknown = summary["arithmetic"]["unknown_operators"]
    detail = f"{outside:.2%} of the arithmetic is outside of delegates"
    if unknown:
        detail += f"; not counted: {', '.join(unknown)}"
    return Gate(name, outside <= limit, detail)


def _required(document: dict[str, Any], wanted: str) -> Gate:
    rows = [b for b in document["backends"] if wanted in (b["name"], b["id"])]
    count = sum(b["delegates"] for b in rows)
    if not rows:
        return Gate(f"require {wanted}", False, "the configuration does not name it")
    return Gate(f"require {wanted}", count > 0, f"{count} delegates")


def _forbidden(document: dict[str, Any], code: str) -> Gate:
    found = Counter(
        node["op"]
        for node in document["nodes"]
        if any(r["code"] == code for r in node["reasons"]) and not node["delegated"]
    )
    detail = ", ".join(f"{op} x {count}" for op, count in found.items()) or "no operator"
    return Gate(f"forbid {code}", not found, detail)


def junit(document: dict[str, Any]) -> bytes:
    """The stages and gates as JUnit: each is one test."""
    stages = [s for s in document["stages"] if s["status"] != "skipped"]
    cases: list[tuple[str, str | None]] = [
        (f"stage {s['stage']}", s["error"] if s["status"] == "failed" else None) for s in stages
    ]
    cases += [(g["name"], None if g["passed"] else g["detail"]) for g in document["gates"]]
    suite = ElementTree.Element(
        "testsuite",
        name=f"etbk explain {document['configuration']}",
        tests=str(len(cases)),
        failures=str(sum(problem is not None for _, problem in cases)),
    )
    for name, problem in cases:
        case = ElementTree.SubElement(suite, "testcase", classname="etbk.explain", name=name)
        if problem is not None:
            ElementTree.SubElement(case, "failure", message=problem)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite)
