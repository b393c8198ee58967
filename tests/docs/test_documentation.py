"""The documentation is true: its links lead somewhere and its commands run.

A fenced block `sh runnable` is run in the repository root with the installed kit on PATH, `sh
runnable elsewhere` in an empty folder that all such blocks of one page share, with the checkout
named by $CHECKOUT. A block `text output` after it must appear in what the command printed, line by
line; `...` in a line matches anything. A block `LANGUAGE excerpt FILE` must be part of that file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SECONDS_PER_BLOCK = 120


@dataclass(frozen=True)
class Block:
    info: str
    text: str

    @property
    def runs(self) -> bool:
        return self.info.split()[:2] == ["sh", "runnable"]


def blocks(page: Path) -> list[Block]:
    return [Block(m["info"].strip(), m["text"]) for m in FENCE.finditer(page.read_text())]


def name(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


def anchors(page: Path) -> set[str]:
    """The fragments of a page's headings, as a web view makes them."""
    prose = FENCE.sub("", page.read_text())
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {word.strip().replace(" ", "-") for word in words}


def runnable_pages() -> list[Path]:
    return [page for page in PAGES if any(block.runs for block in blocks(page))]


def leads_somewhere(page: Path, target: str) -> bool:
    if target.startswith(("https://", "mailto:")):
        return True
    path, _, fragment = unquote(target).partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists() or not file.is_relative_to(REPOSITORY):
        return False
    return not fragment or fragment in anchors(file)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    links = LINK.findall(FENCE.sub("", page.read_text()))
    assert [target for target in links if not leads_somewhere(page, target)] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_fences_are_closed_and_named(page: Path) -> None:
    text = page.read_text()
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(blocks(page))
    assert all(block.info for block in blocks(page)), "a fenced block has no language"


@pytest.mark.parametrize("page", runnable_pages(), ids=name)
def test_commands_run_as_printed(page: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "CHECKOUT": str(REPOSITORY),
    }
    printed = ""
    for block in blocks(page):
        if block.runs:
            folder = tmp_path if block.info.endswith(" elsewhere") else REPOSITORY
            result = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block.text],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SECONDS_PER_BLOCK,
                check=False,
            )
            printed = result.stdout + result.stderr
            assert result.returncode == 0, f"{block.text}\n{printed}"
        elif block.info == "text output":
            for line in filter(None, map(str.strip, block.text.splitlines())):
                pattern = ".*".join(re.escape(part) for part in line.split("..."))
                assert re.search(pattern, printed), f"{line!r} is not in:\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_excerpts_are_what_the_tests_use(page: Path) -> None:
    for block in blocks(page):
        words = block.info.split()
        if words[1:2] == ["excerpt"]:
            assert block.text in (REPOSITORY / words[2]).read_text(), f"{words[2]} differs"


def test_readme_is_short() -> None:
    assert len((REPOSITORY / "README.md").read_text().splitlines()) < 150


def test_every_page_has_a_way_to_it() -> None:
    """From the README, by links."""
    reached: set[Path] = set()
    pending = [REPOSITORY / "README.md"]
    while pending:
        page = pending.pop()
        reached.add(page)
        for target in LINK.findall(FENCE.sub("", page.read_text())):
            file = (page.parent / target.partition("#")[0]).resolve()
            if file.suffix == ".md" and file.is_file() and file not in reached:
                pending.append(file)
    assert [name(page) for page in PAGES if page not in reached] == []


def test_every_promise_names_a_test_that_is_there() -> None:
    rows = re.findall(
        r"^\|[^|]+\|\s*`([^`]+)`\s*\|$", (REPOSITORY / "docs/promises.md").read_text(), re.M
    )
    assert rows
    assert [row for row in rows if not (REPOSITORY / row.partition("::")[0]).exists()] == []
    for row in rows:
        file, _, test = row.partition("::")
        if test:
            assert test in (REPOSITORY / file).read_text(), row
