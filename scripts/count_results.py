"""Sums the results that a part of scripts/test left in a folder: JUnit files and checks.txt.

Prints "passed failed skipped". Standard library only.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree


def count_junit(file: Path) -> tuple[int, int, int]:
    passed = failed = skipped = 0
    # The file was written a moment ago by the test runner that we started.
    for suite in ElementTree.parse(file).getroot().iter("testsuite"):  # noqa: S314
        number = {
            key: int(suite.get(key) or 0)
            for key in ("tests", "failures", "errors", "skipped", "disabled")
        }
        bad = number["failures"] + number["errors"]
        idle = number["skipped"] + number["disabled"]
        passed += number["tests"] - bad - idle
        failed += bad
        skipped += idle
    return passed, failed, skipped


def count_checks(file: Path) -> tuple[int, int, int]:
    words = [line.split(" ", 1)[0] for line in file.read_text().splitlines()]
    return words.count("pass"), words.count("fail"), words.count("skip")


def main() -> None:
    folder = Path(sys.argv[1])
    counts = [count_junit(file) for file in sorted(folder.glob("*.xml"))]
    counts += [count_checks(file) for file in sorted(folder.glob("checks.txt"))]
    print(*(sum(column) for column in zip((0, 0, 0), *counts, strict=True)))


if __name__ == "__main__":
    main()
