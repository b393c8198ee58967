"""`etbk help`: every rule is met by its own examples, every code of ours has a page."""

from __future__ import annotations

import re
from importlib import util
from pathlib import Path

import pytest
from executorch_backend_kit.help import data, explain

REPOSITORY = Path(__file__).parents[2]
KNOWN = data.load()
EXAMPLES = [(rule["id"], text) for rule in KNOWN["rules"] for text in rule["examples"]]
CODE = re.compile(r'"([A-Z][A-Z0-9]+(?:-[A-Z0-9]+)+)"')
# In quotes, all capitals, and no code of ours.
NO_CODES = {"UTF-8", "CODE"}


@pytest.mark.parametrize(
    ("rule", "text"), EXAMPLES, ids=[f"{r}-{i}" for i, (r, _) in enumerate(EXAMPLES)]
)
def test_rule_explains_its_examples(rule: str, text: str) -> None:
    answers = explain(text).answers
    assert answers[0].id == rule
    assert answers[0].cause
    assert "{" not in answers[0].cause
    assert answers[0].next
    without = {**KNOWN, "rules": [r for r in KNOWN["rules"] if r["id"] != rule]}
    with pytest.MonkeyPatch.context() as patch:  # the rule is needed: nothing else says the same
        patch.setattr(data, "load", lambda: without)
        assert rule not in [answer.id for answer in explain(text).answers]


def test_every_rule_has_an_example_and_one_name() -> None:
    assert all(rule["examples"] for rule in KNOWN["rules"])
    names = [rule["id"] for rule in KNOWN["rules"]]
    assert len(names) == len(set(names))


def codes_in_use() -> set[str]:
    """Codes that the sources write out, and those of the C++ lists."""
    codes: set[str] = set()
    for path in (REPOSITORY / "python" / "executorch_backend_kit").rglob("*.py"):
        codes.update(CODE.findall(path.read_text(encoding="utf-8")))
    header = REPOSITORY / "host/include/executorch_backend_kit/finding_codes.hpp"
    codes.update(re.findall(r'X\(\w+,\s*"([A-Z0-9-]+)"', header.read_text(encoding="utf-8")))
    rules = (REPOSITORY / "pte/src/rules.inc").read_text(encoding="utf-8")
    sources = [*(REPOSITORY / "pte/src").glob("*.cpp"), *(REPOSITORY / "runner/src").glob("*.cpp")]
    for path in sources:
        codes.update(CODE.findall(path.read_text(encoding="utf-8")))
    codes.update(f"PTE-{int(number):03d}" for number in re.findall(r"^X\((\d+),", rules, re.M))
    return codes - NO_CODES


def test_every_code_has_a_page() -> None:
    assert codes_in_use() - set(KNOWN["codes"]) == set()


def test_every_page_has_a_code() -> None:
    """A page for a code that nothing raises any more is stale."""
    made = {"BACKEND-DUPLICATE-NAME"}  # put together from two parts
    assert set(KNOWN["codes"]) - codes_in_use() - made == set()


@pytest.mark.parametrize("code", sorted(KNOWN["codes"]))
def test_page_is_found_by_its_code(code: str) -> None:
    for query in (code, code.lower(), f"[{code}]"):
        (answer,) = explain(query).answers
        assert answer.kind == "code"
        assert answer.meaning
        assert answer.cause
        assert answer.next


def test_codes_are_found_inside_a_log() -> None:
    text = "error[PLUGIN-DAMAGED]: The library is cut off.\n  seen: size=10"
    assert explain(text).answers[0].id == "PLUGIN-DAMAGED"


def test_error_numbers_are_those_of_executorch() -> None:
    spec = util.find_spec("executorch")
    assert spec
    assert spec.submodule_search_locations
    (folder,) = spec.submodule_search_locations
    header = Path(folder) / "include/executorch/runtime/core/error.h"
    enum = header.read_text().partition("enum class Error")[2].partition("};")[0]
    numbers = {n: int(v, 16) for n, v in re.findall(r"^\s*(\w+) = (0x[0-9a-fA-F]+),", enum, re.M)}
    assert {e["name"]: e["number"] for e in KNOWN["errors"]} == numbers


@pytest.mark.parametrize(
    "query", ["0x20", "0x:20", "32", "NotFound", "Error::NotFound", "error 32"]
)
def test_a_number_is_understood_however_it_is_written(query: str) -> None:
    answers = explain(query).answers
    assert answers
    assert {answer.id for answer in answers} == {"0x20 (32) NotFound"}
    assert "backend is not registered" in answers[0].cause


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("load_method of a program with a delegate returned 0x20", "not registered"),
        ("execute: kernel returned 0x12", "another shape"),
        ("load_program returned error 0x12", "cut off"),
        ("register_backend returned 0x12", "registered already"),
        ("Backend failed in load, error code 48", "older or newer"),
    ],
)
def test_a_number_is_explained_in_its_context(text: str, part: str) -> None:
    answers = explain(text).answers
    assert len(answers) == 1
    assert part in answers[0].cause


@pytest.mark.parametrize(
    "text",
    [
        "the weather is fine today",
        "make: *** [all] Error 1",
        "collect2: error: ld returned 1 exit status",
        "HTTP error 404",
        "0x7f3a5c00",
        "error 99 in loading a method",
    ],
)
def test_unknown_is_an_answer(text: str) -> None:
    explanation = explain(text)
    assert explanation.answers == ()
    assert explanation.to_json()["known"] is False


def test_a_mistyped_code_gets_the_nearest() -> None:
    assert "REGISTRY-FULL" in explain("registry-ful").nearest


def test_a_long_log_is_read_from_its_end() -> None:
    log = "INFO nothing\n" * 100_000 + "Backend XnnpackBackend is not registered.\n"
    assert explain(log).answers[0].id == "backend-not-registered"
