"""The rows of a comparison while they are being made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from executorch_backend_kit.aot import configuration as configurations
from executorch_backend_kit.aot.configuration import Configuration
from executorch_backend_kit.aot.delegation import DelegateUse, DelegationReport
from executorch_backend_kit.aot.discovery import Candidate, discover
from executorch_backend_kit.aot.errors import ConfigurationError, UnusableBackendError
from executorch_backend_kit.compare.cache import Program
from executorch_backend_kit.compare.errors import ModelError
from executorch_backend_kit.compare.running import Run
from executorch_backend_kit.pte import ProgramFile
from executorch_backend_kit.pte.errors import PteError
from executorch_backend_kit.report.comparison import Row
from executorch_backend_kit.report.finding import KitError


@dataclass(eq=False)
class Line:
    """A row while it is being made."""

    row: Row
    configuration: Configuration | None
    program: Program | None = None
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


def program_line(path: str, backends: Sequence[str] | None) -> tuple[list[Line], int]:
    """The one line of a finished program file; raises ConfigurationError or PteError."""
    if backends is not None:
        raise ConfigurationError(
            "CONFIGURATION-INVALID",
            "A finished program holds its delegates already: --backends cannot change them.",
            evidence=path,
            fix="Leave out --backends, or give the MODEL that the program was made from.",
        )
    file = Path(path)
    try:
        with ProgramFile.open(file) as opened:
            methods = opened.inspect()["methods"]
        size = file.stat().st_size
    except (PteError, OSError) as error:
        raise ModelError(
            "MODEL-FILE-MISSING",
            f"The program file {file.name} cannot be read.",
            evidence=str(error),
            fix="Give the path of a readable .pte file; etbk inspect says what is wrong with it.",
        ) from None
    ids = Counter(d["id"] for method in methods for d in method["delegates"])
    described = [c.descriptor for c in discover() if c.descriptor is not None]
    used = tuple(d for d in described if d.id in ids)
    names = {d.id: d.name for d in used}
    uses = tuple(DelegateUse(names.get(i, i), i, count) for i, count in sorted(ids.items()))
    left = Counter(
        op["name"].removeprefix("aten::") for method in methods for op in method["operators"]
    )
    delegation = DelegationReport(uses, 0, 0, dict(left))
    row = Row(
        file.name,
        delegates=tuple(delegation.to_json()["delegates"]),
        pte_bytes=size,
    )
    program = Program(file, "", size, delegation, 0.0)
    return [Line(row, Configuration(file.name, used), program)], 0


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
