"""The rows of a comparison while they are being made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from executorch_backend_kit.aot import configuration as configurations
from executorch_backend_kit.aot.configuration import Configuration
from executorch_backend_kit.aot.discovery import Candidate, discover
from executorch_backend_kit.aot.errors import ConfigurationError, UnusableBackendError
from executorch_backend_kit.compare.running import Run
from executorch_backend_kit.report.comparison import Row
from executorch_backend_kit.report.finding import KitError


@dataclass(eq=False)
class Line:
    """A row while it is being made."""

    row: Row
    configuration: Configuration | None
    run: Run | None = None

    def fail(self, error: KitError) -> None:
        finding = error.finding
        self.row = replace(self.row, reason=finding.message, findings=(*self.row.findings, finding))


def make_lines(
    backends: Sequence[str] | None,
    baseline: str | None,
    options: Mapping[str, Mapping[str, str]],
) -> tuple[list[Line], int]:
    """One line for each configuration, and which one is the baseline."""
    candidates = discover()
    texts = list(backends) if backends is not None else configurations.every_usable(candidates)
    lines = [_line(text, candidates, options) for text in texts]
    reference = 0
    if baseline is not None:
        line = _line(baseline, candidates, options)
        names = [line.row.configuration for line in lines]
        if line.row.configuration not in names:
            lines.insert(0, line)
        else:
            reference = names.index(line.row.configuration)
    used = {b.name for line in lines if line.configuration for b in line.configuration.backends}
    for name in options:
        if name not in used:
            raise ConfigurationError(
                "BACKEND-OPTION-UNKNOWN",
                f"Options are given for {name!r}, which no configuration uses.",
                evidence="backends in use: " + (", ".join(sorted(used)) or "none"),
                fix="Add the backend to --backends or remove its options.",
            )
    return lines, reference


def _line(
    text: str, candidates: Sequence[Candidate], options: Mapping[str, Mapping[str, str]]
) -> Line:
    try:
        configuration = configurations.parse(text, candidates, options)
    except UnusableBackendError as error:
        line = Line(Row(text), None)
        line.fail(error)
        return line
    return Line(Row(configuration.name), configuration)
