"""What people see of a comparison, from the same data as the JSON."""

from __future__ import annotations

import io
from collections.abc import Callable

from executorch_backend_kit.report.comparison import Comparison, Latency, Row
from executorch_backend_kit.report.comparison_view import render
from executorch_backend_kit.report.finding import Finding, Severity
from harness import Document
from rich.console import Console

NUMERICS = {
    "pass": True,
    "reason": "",
    "max_abs_error": 2.5e-7,
    "max_rel_error": 1e-6,
    "cosine": 1.0,
    "reference": "eager",
    "tolerance": {"rtol": 1e-3, "atol": 1e-4},
}
WRONG = NUMERICS | {"pass": False, "reason": "3 of 8 elements of output 0 are outside"}


def latency(median: float, ratio: float, low: float, high: float, verdict: str) -> Latency:
    return Latency(median, median * 0.9, ratio, (low, high), verdict, 20, 400, 7)


def row(name: str, time: Latency | None, **changes: object) -> Row:
    values: dict[str, object] = {
        "numerics": NUMERICS,
        "described": {"similarity": "0.69"},
        "delegates": ({"name": "fast", "id": "FastBackend", "count": 2},),
        "node_share": 0.875,
        "pte_bytes": 3 * 2**20,
        "load_mode": "MmapUseMlockIgnoreErrors",
        "load_ms": 1.25,
        "first_ms": 9.5,
        "rss_mib": 12.0,
        "anon_rss_mib": 4.0,
        "shares": {"calls": 2, "time_share": 0.9},
        "latency": time,
    }
    return Row(name, **(values | changes))  # type: ignore[arg-type]


COMPARISON = Comparison(
    model="/somewhere/model.py",
    baseline_row=0,
    rows=(
        row("portable", latency(120.0, 1, 1, 1, "tie"), delegates=(), node_share=0.0, shares=None),
        row("fast", latency(1.5, 0.0125, 0.012, 0.013, "win")),
        row("fast", latency(0.0155, 1.2, 1.1, 1.3, "loss")),
        row("same", latency(119.0, 0.99, 0.97, 1.01, "tie")),
        row("wrong", latency(1.0, 0.1, 0.1, 0.1, "win"), numerics=WRONG),
        Row(
            "broken",
            reason="Backend broken failed.",
            findings=(Finding("BROKEN", "Backend broken failed.", "[brackets]", "Mend it."),),
        ),
    ),
    inputs=(({"kind": "tensor", "dtype": "float32", "sizes": [1]},),),
    described={"similarity": "0.70"},
    environment={
        "system": "Linux", "machine": "x86_64", "processor": "Fast CPU", "cpus": 2,
        "load_average": 0.1, "python": "3.11", "kit": "0.1.0", "torch": "2.13.0",
        "executorch": "1.5.1", "backends": {},
    },
    seconds={"total": 42.0},
    findings=(Finding("SLOW", "All was slow.", severity=Severity.WARNING),),
)  # fmt: skip


def rendered(document: Document, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    render(document, console)
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def test_the_document_is_valid(validate: Callable[[Document], None]) -> None:
    validate(COMPARISON.to_json())


def test_what_people_see() -> None:
    lines = [line.rstrip() for line in rendered(COMPARISON.to_json()).splitlines()]
    assert lines[:17] == [
        "model.py on Fast CPU, ExecuTorch 1.5.1",
        "",
        "configuration  numbers          median  against portable              verdict",
        "portable       ✓ within 2e-07   120 ms                                baseline",
        "fast           ✓ within 2e-07  1.50 ms  80x faster (77 to 83)         win",
        "fast (2)       ✓ within 2e-07  15.5 us  1.20x slower (1.10 to 1.30)   loss",
        "same           ✓ within 2e-07   119 ms  1.03x faster to 1.01x slower  tie",
        "wrong          ✗ wrong         1.00 ms  10x faster (10 to 10)",
        "broken         ✗ failed",
        "",
        "                                       nodes in  time in  .pte  load  first  memory",
        "configuration  delegates                   them     them   MiB    ms     ms     MiB",
        "portable       none                          0%           3.00   1.2    9.5    12.0",
        "fast           2 x fast (FastBackend)       88%      90%  3.00   1.2    9.5    12.0",
        "fast (2)       2 x fast (FastBackend)       88%      90%  3.00   1.2    9.5    12.0",
        "same           2 x fast (FastBackend)       88%      90%  3.00   1.2    9.5    12.0",
        "wrong          2 x fast (FastBackend)       88%      90%  3.00   1.2    9.5    12.0",
    ]
    text = "\n".join(lines)
    assert "what the model says  eager  portable  fast  fast (2)  same  wrong" in text
    assert "similarity            0.70      0.69  0.69      0.69  0.69   0.69" in text
    assert "✗ broken: Backend broken failed. [BROKEN]\n    seen: [brackets]\n    do:   Mend" in text
    assert "! All was slow. [SLOW]" in text
    assert "no proof that an accelerator ran" in text


def test_it_fits_a_narrow_terminal() -> None:
    assert max(map(len, rendered(COMPARISON.to_json(), width=80).splitlines())) <= 80


def test_exit_codes() -> None:
    good, bad = COMPARISON.rows[0], COMPARISON.rows[-1]
    wrong = COMPARISON.rows[-2]

    def code(*rows: Row) -> int:
        from dataclasses import replace

        return replace(COMPARISON, rows=rows).exit_code

    assert code(good) == 0
    assert code(good, bad) == 1
    assert code(good, wrong) == 1
    assert code(bad, bad) == 3
