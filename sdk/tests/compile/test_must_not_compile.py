"""Mistakes in a delegate class do not compile, and the compiler says what is missing."""

from __future__ import annotations

import re
import shutil
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("must_not_compile.cpp")
ROOT = SOURCE.parents[3]
MISTAKES = {
    int(number): sentence
    for number, sentence in re.findall(r"MISTAKE == (\d+) +// (.+)", SOURCE.read_text())
}
COMPILERS = [name for name in ("g++", "clang++-14") if shutil.which(name)]


def compile_with(compiler: str, mistake: int) -> subprocess.CompletedProcess[str]:
    includes = [f"-I{ROOT / part / 'include'}" for part in ("abi", "sdk")]
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    return subprocess.run(
        [compiler, *flags, *includes, f"-DMISTAKE={mistake}", SOURCE],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"},
    )


Results = dict[tuple[str, int], "Future[subprocess.CompletedProcess[str]]"]


@pytest.fixture(scope="module")
def results() -> Results:
    """All compilations, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        return {
            (compiler, mistake): pool.submit(compile_with, compiler, mistake)
            for compiler in COMPILERS
            for mistake in (0, *MISTAKES)
        }


def test_the_mistakes_are_numbered_without_a_gap() -> None:
    assert list(MISTAKES) == list(range(1, len(MISTAKES) + 1))


@pytest.mark.parametrize("compiler", COMPILERS)
def test_without_a_mistake_it_compiles(results: Results, compiler: str) -> None:
    result = results[compiler, 0].result()
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_mistake_is_named(results: Results, compiler: str, mistake: int) -> None:
    result = results[compiler, mistake].result()
    assert result.returncode != 0
    first_errors = "".join(re.findall(r".*error:.*\n", result.stderr)[:2])
    assert re.search(MISTAKES[mistake], first_errors), result.stderr
