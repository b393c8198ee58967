"""How well a choice is evidenced: what was seen of a backend, and on which device."""

from __future__ import annotations

from dataclasses import dataclass

from executorch_backend_kit.select.contender import Contender


@dataclass(frozen=True)
class Known:
    """A level of the kit's scale, with where and when."""

    level: str
    where: str
    date: str

    def to_json(self) -> dict[str, str]:
        """As JSON data."""
        return {"level": self.level, "where": self.where, "date": self.date}


def evidence(c: Contender) -> Known:
    """A result recorded on the target, else the target's own word, else what was seen elsewhere.

    A run on another machine stays a run on a host CPU: it proves nothing for this device.
    """
    if recorded := c.measured.results.get(c.name):
        return Known("ran on target", recorded.where, recorded.date)
    if "evidence" in c.entry:
        own = c.entry["evidence"]
        return Known(own["level"], own.get("where", ""), own["date"])
    seen = c.backend.evidence("export")
    if c.backend.get("export") is None or (
        # What was run is the failure; that it lowers where its SDK is was only read.
        "error" in c.backend.get("export")
        and seen.level == "ran on host CPU"
        and not c.backend.get("export", "runs")
    ):
        read = c.backend.evidence()
        return Known("read", read.where, read.date)
    return Known(seen.level, seen.where, seen.date)
