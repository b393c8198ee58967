"""The skill is what the facts say, its commands run, and it leads to the golden decisions."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from executorch_backend_kit.knowledge import load
from executorch_backend_kit.skill import files
from golden import Golden, goldens, kinds
from harness import Document, Etbk

SKILL = Path(__file__).parents[2] / "skill" / "backend-selection"
CNN = Path(__file__).parents[2] / "examples" / "cnn.py"
PAGES = sorted(SKILL.rglob("*.md"))
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SCRIPT = SKILL / "scripts" / "check_backend_imports.py"


def blocks(page: Path, language: str) -> list[str]:
    return [text for name, text in FENCE.findall(page.read_text()) if name == language]


def commands(page: Path) -> list[str]:
    return [line for text in blocks(page, "sh") for line in text.splitlines()]


def test_skill_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails: etbk skill skill/backend-selection."""
    monkeypatch.setenv("ETBK_KNOWLEDGE", "")
    written = {SKILL / path: text for path, text in files(load())}
    for path, text in written.items():
        assert path.read_text(encoding="utf-8") == text, path
    kept = {p for p in SKILL.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert kept == set(written)


def test_the_command_writes_it_and_finds_what_differs(etbk: Etbk, tmp_path: Path) -> None:
    folder = tmp_path / "skill"
    assert etbk("skill", folder).code == 0
    assert (folder / "SKILL.md").read_text() == (SKILL / "SKILL.md").read_text()
    assert etbk("skill", folder, "--check").code == 0
    (folder / "references" / "qualcomm.md").write_text("otherwise")
    differing = etbk("skill", folder, "--check")
    assert differing.code == 1
    assert "qualcomm.md" in differing.out


def test_front_matter_and_length() -> None:
    text = (SKILL / "SKILL.md").read_text()
    assert len(text.splitlines()) <= 150
    front = text.split("---\n")[1]
    for field in ("name: backend-selection", "description: ", "license: ", "metadata:"):
        assert re.search(rf"^{re.escape(field)}", front, re.MULTILINE), field


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_into_the_skill(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        path, _, fragment = target.partition("#")
        file = (page.parent / path).resolve()
        assert file.is_file(), target
        assert file.is_relative_to(SKILL), target
        headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
        assert not fragment or fragment in {h.lower().replace(" ", "-") for h in headings}


def test_every_command_runs(tmp_path: Path, cache: Path) -> None:
    """In a copy of the skill's folder alone, as a new user would."""
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("ETBK_")},
        "ETBK_CACHE": str(cache),
    }
    (tmp_path / "scripts").symlink_to(SKILL / "scripts")
    (tmp_path / "model.py").write_text(CNN.read_text())
    pages = sorted(PAGES, key=lambda p: p.name != "SKILL.md")
    lines = [(page.name, command) for page in pages for command in commands(page)]
    assert len(lines) >= 12

    def follow(some: list[tuple[str, str]]) -> list[str]:
        return [said for page, line in some if (said := failure(page, line))]

    def failure(page: str, command: str) -> str:
        words = shlex.split(command)
        program = [sys.executable, *(["-m", "executorch_backend_kit"] * (words[0] == "etbk"))]
        done = subprocess.run(
            [*program, *words[1:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return "" if done.returncode == 0 else f"{page}: {command}\n{done.stdout}{done.stderr}"

    # Those about files need one another; the others do not.
    about_files = ("export", "inspect", "check")
    files = [line for line in lines if shlex.split(line[1])[1] in about_files]
    rest = [line for line in lines if line not in files]
    with ThreadPoolExecutor(2) as pool:
        assert [*chain.from_iterable(pool.map(follow, (files, rest)))] == []


def test_the_model_that_it_shows_is_one(tmp_path: Path) -> None:
    import torch
    from executorch_backend_kit.compare import model_file

    (text,) = blocks(SKILL / "SKILL.md", "python")
    (tmp_path / "shown.py").write_text(text)
    shown = model_file.load(tmp_path / "shown.py")
    assert isinstance(shown.model()(*shown.input_sets()[0]), torch.Tensor)


def test_import_checker_of_named_backends(
    validate: Callable[[Document], None], tmp_path: Path
) -> None:
    broken = tmp_path / "executorch_hangs.py"
    broken.write_text("import time\ntime.sleep(60)\n")
    (tmp_path / "executorch_crashes.py").write_text("import os\nos.abort()\n")
    script = tmp_path / "check.py"
    table: list[dict[str, Any]] = [
        {
            "name": name,
            "id": "",
            "modules": [{"module": module, "role": "backend", "on_the_plain_wheel": "imports"}],
            "install": [],
        }
        for name, module in (
            ("good", "json"), ("hangs", "executorch_hangs"), ("crashes", "executorch_crashes"),
        )
    ]  # fmt: skip
    source = SCRIPT.read_text()
    begin = source.index("BACKENDS: list[dict[str, Any]] = ")
    end = source.index("\n\n\ndef main")
    script.write_text(
        source[:begin].replace('("torch", "executorch.exir")', "()")
        + f"BACKENDS: list[dict[str, Any]] = {table!r}"
        + source[end:]
    )
    done = subprocess.run(
        [sys.executable, script, "--json", "--timeout", "2"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    document = json.loads(done.stdout)
    validate(document)
    errors = {b["name"]: b["modules"][0]["error"] for b in document["backends"]}
    assert errors["good"] == ""
    assert "2 s" in errors["hangs"]
    assert "status" in errors["crashes"]
    unknown = subprocess.run([sys.executable, script, "nobody"], capture_output=True, check=False)
    assert unknown.returncode == 2


def tables() -> Iterator[dict[str, str]]:
    """The rows of the matrix's tables, by the names of their columns."""
    header: list[str] = []
    for line in (SKILL / "references" / "backend-matrix.md").read_text().splitlines():
        cells = [cell.strip().replace("&lt;", "<") for cell in line.strip("|").split(" | ")]
        if not line.startswith("|"):
            header = []
        elif not header:
            header = cells
        elif not line.startswith("| ---"):
            yield dict(zip(header, cells, strict=True))


def row_of(target: str) -> dict[str, str]:
    """The row of a target, by its name or an alias."""
    for row in tables():
        aliases = re.search(r"\(([^()]*)\)$", row.get("device (aliases)", ""))
        words = [row.get("target", "").strip("`"), *(aliases[1].split(", ") if aliases else [])]
        if target in words:
            return row
    raise KeyError(target)


def offered(row: dict[str, str]) -> list[str]:
    """First and then, as the row says."""
    return [row["first"].partition("+")[0], *row["then"].split(", ")]


def backend(name: str) -> dict[str, str]:
    """The row of a backend."""
    return next(row for row in tables() if row.get("backend") == f"`{name}`")


def follow(golden: Golden) -> str:
    """What a reader of the matrix comes to: the hard constraints, then a policy's own rule."""
    flags = {**kinds()[golden.data["kind"]], **golden.data.get("flags", {})}
    row = row_of(golden.data["target"])

    def fits(name: str) -> bool:
        b = backend(name)
        needed = "required: yes" in b["quantization"] or (
            "on some devices" in b["quantization"] and "quantization required" in row["note"]
        )
        oldest = re.search(r"ios (\d+) or later", b["runs on"])
        dtype = flags.get("dtype", "float32")
        dtypes = [d.split()[0] for d in b["dtypes"].split(", ")]
        return not (
            (flags.get("quantize") == "none" and needed)
            or (flags.get("host", "any") not in b["lowers on"] and b["lowers on"] != "any"
                and "host" in flags)
            or ("dynamic-shapes" in flags.get("needs", ()) and b["dynamic shapes"] == "no")
            or (flags.get("vendor_sdk") is False and b["SDK to lower"] != "none")
            or (oldest and int(flags.get("os_version", "99")) < int(oldest[1]))
            or (not needed and dtype not in dtypes and "all" not in dtypes)
        )  # fmt: skip

    left = [name for name in offered(row) if fits(name)]
    order = {"portability": ["any CPU", "one kind of unit", "one chip"], "quality": ["float32"]}
    column = {"portability": "a program serves", "quality": "computes"}
    if (policy := flags.get("policy")) in order:
        places = order[policy]
        left.sort(
            key=lambda n: (
                n == "portable",
                places.index(v) if (v := backend(n)[column[policy]]) in places else len(places),
            )
        )
    return left[0]


FOLLOWED = (
    "snapdragon-888-unquantized",
    "snapdragon-dynamic-shapes",
    "snapdragon-without-vendor-sdk",
    "snapdragon-portability",
    "dimensity-9300-from-arm-linux",
    "ios-15",
    "iphone-quality",
    "linux-bfloat16",
    "linux-float64",
    "ethos-u55-unquantized",
    "ethos-u55-portability",
    "neutron-unquantized",
)


@pytest.mark.parametrize("golden", [g for g in goldens() if g.name in FOLLOWED],
                         ids=lambda g: g.name)  # fmt: skip
def test_the_matrix_alone_leads_to_decisions_with_wishes(golden: Golden) -> None:
    assert follow(golden) == golden.data["first"], golden.data["because"]


def is_plain(golden: Golden) -> bool:
    return not set(golden.data) & {"flags", "coverage", "failed", "results", "bytes"} and (
        golden.data["kind"] in ("cnn", "transformer", "keyword-spotting")
    )


@pytest.mark.parametrize("golden", [g for g in goldens() if is_plain(g)], ids=lambda g: g.name)
def test_the_matrix_alone_leads_to_the_golden_decision(golden: Golden) -> None:
    assert offered(row_of(golden.data["target"]))[0] == golden.data["first"]


@pytest.mark.parametrize("golden", goldens(), ids=lambda g: g.name)
def test_the_matrix_offers_whatever_a_golden_decision_puts_first(golden: Golden) -> None:
    elsewhere = {"none", "tensorrt", "mlx"}  # another release, another machine: in the rules
    assert golden.data["first"] in {*offered(row_of(golden.data["target"]))} | elsewhere
