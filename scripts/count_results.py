"""Sums the results that a part of scripts/test left in a folder: JUnit files and checks.txt.

Prints "passed failed skipped", then a line per failure: its name, and the end of what it said.
Standard library only.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

TELLING = 15
"""Lines shown of a failure."""


@dataclass
class Results:
    """What one or several files of results say."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)


def read_junit(file: Path, results: Results) -> None:
    # The file was written a moment ago by the test runner that we started.
    root = ElementTree.parse(file).getroot()  # noqa: S314
    for suite in root.iter("testsuite"):
        number = {
            key: int(suite.get(key) or 0)
            for key in ("tests", "failures", "errors", "skipped", "disabled")
        }
        bad = number["failures"] + number["errors"]
        idle = number["skipped"] + number["disabled"]
        results.passed += number["tests"] - bad - idle
        results.failed += bad
        results.skipped += idle
    for case in root.iter("testcase"):
        for kind in ("failure", "error"):
            for failure in case.iter(kind):
                # ctest leaves the output beside the failure, pytest in it.
                said = (failure.text or "").strip() or (case.findtext("system-out") or "").strip()
                lines = [line for line in said.splitlines() if line.strip()][-TELLING:]
                name = f"{case.get('classname', '')} {case.get('name', '')}".strip()
                results.failures.append("\n    ".join([f"{kind}: {name}", *lines]))


def read_checks(file: Path, results: Results) -> None:
    for line in file.read_text().splitlines():
        verdict, _, name = line.partition(" ")
        results.passed += verdict == "pass"
        results.failed += verdict == "fail"
        results.skipped += verdict == "skip"
        if verdict == "fail":
            results.failures.append(f"failure: {name}")


def main() -> None:
    folder = Path(sys.argv[1])
    results = Results()
    for file in sorted(folder.glob("*.xml")):
        read_junit(file, results)
    for file in sorted(folder.glob("checks.txt")):
        read_checks(file, results)
    print(results.passed, results.failed, results.skipped)
    for failure in results.failures:
        print(f"  {failure}")


if __name__ == "__main__":
    main()
