"""The result of `compare` as data, in the fields of `etbk.compare/1`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from executorch_backend_kit.report.finding import Finding

SCHEMA = "etbk.compare/1"


@dataclass(frozen=True)
class Latency:
    """Steady time of one run, and how it compares with the baseline's.

    The ratio is time over baseline time; it, its interval and the verdict are None when the
    baseline, or this row, gave too few rounds.
    """

    median_ms: float
    minimum_ms: float
    ratio_to_baseline: float | None
    interval: tuple[float, float] | None
    verdict: str | None
    rounds: int
    runs: int
    warm_up_runs: int

    def to_json(self) -> dict[str, Any]:
        """The fields of `latency`."""
        return {**vars(self), "interval": None if self.interval is None else list(self.interval)}


@dataclass(frozen=True)
class Row:
    """One configuration. What could not be found out is None."""

    configuration: str
    reason: str = ""  # why it failed; empty if it did not
    findings: tuple[Finding, ...] = ()
    delegates: tuple[dict[str, Any], ...] = ()
    operators_left: dict[str, int] = field(default_factory=dict)
    node_share: float | None = None
    pte_bytes: int | None = None
    lowering_seconds: float | None = None
    cached: bool | None = None
    numerics: dict[str, Any] | None = None
    bisect: dict[str, Any] | None = None  # where wrong numbers begin
    described: dict[str, str] | None = None
    worker: str | None = None  # what the program ran in: "etbk-run" or "python"
    threads: int | None = None
    load_mode: str | None = None
    load_ms: float | None = None
    first_ms: float | None = None
    rss_mib: float | None = None
    anon_rss_mib: float | None = None
    file_rss_mib: float | None = None
    planned_bytes: list[int] | None = None
    shares: dict[str, Any] | None = None  # of the delegates, as observed
    latency: Latency | None = None

    @property
    def failed(self) -> bool:
        """True if it did not run to the end."""
        return bool(self.reason)

    @property
    def right(self) -> bool:
        """True if it ran and its numbers are within the tolerance."""
        return not self.failed and self.numerics is not None and bool(self.numerics["pass"])

    def to_json(self) -> dict[str, Any]:
        """The row's fields of `etbk.compare/1`."""
        return {
            "configuration": self.configuration,
            "status": "failed" if self.failed else "ok",
            "reason": self.reason,
            "findings": [f.to_json() for f in self.findings],
            "delegates": list(self.delegates),
            "delegated": {"arithmetic": None, "bytes": None, "nodes": self.node_share},
            "operators_left": self.operators_left,
            "accelerator": {
                "calls": self.shares["calls"] if self.shares else None,
                "time_share": self.shares["time_share"] if self.shares else None,
                "device": None,
                "evidence": "event trace" if self.shares else "none",
            },
            "pte_bytes": self.pte_bytes,
            "lowering": {"seconds": self.lowering_seconds, "cached": self.cached},
            "numerics": self.numerics,
            "bisect": self.bisect,
            "described": self.described,
            "worker": self.worker,
            "threads": self.threads,
            "load_mode": self.load_mode,
            "load_ms": self.load_ms,
            "first_ms": self.first_ms,
            "rss_mib": self.rss_mib,
            "anon_rss_mib": self.anon_rss_mib,
            "file_rss_mib": self.file_rss_mib,
            "planned_bytes": self.planned_bytes,
            "latency": None if self.latency is None else self.latency.to_json(),
        }


@dataclass(frozen=True)
class Comparison:
    """All rows, what they are measured against, and where."""

    model: str
    baseline_row: int
    rows: tuple[Row, ...]
    inputs: tuple[tuple[dict[str, Any], ...], ...]
    described: dict[str, str] | None  # of the eager model
    environment: dict[str, Any]
    seconds: dict[str, float]
    findings: tuple[Finding, ...] = ()
    checked: bool = True  # numbers were held against a reference
    interrupted: bool = False  # by Ctrl-C: the rest is missing

    @property
    def exit_code(self) -> int:
        """0 all right, 1 a row wrong or failed, 3 nothing could run, 130 interrupted."""
        if self.interrupted:
            return 130
        if all(row.failed for row in self.rows):
            return 3
        good = (row.right if self.checked else not row.failed for row in self.rows)
        return 0 if all(good) else 1

    def to_json(self) -> dict[str, Any]:
        """The whole document."""
        return {
            "schema": SCHEMA,
            "model": self.model,
            "inputs": [list(values) for values in self.inputs],
            "baseline": self.rows[self.baseline_row].configuration,
            "baseline_row": self.baseline_row,
            "rows": [row.to_json() for row in self.rows],
            "described": self.described,
            "findings": [f.to_json() for f in self.findings],
            "seconds": self.seconds,
            "environment": self.environment,
        }
