"""Each rule that the header names is in RULES.md, each rule there is named by the header."""

from __future__ import annotations

import re

from abi_header import ABI, Header

RULES = ABI / "RULES.md"
_ROW = re.compile(r"^\| (ABI-\d{3}) \| (.*) \|$", re.M)
SIDES = {"both", "plugin", "host", "caller"}


def rows() -> list[tuple[str, list[str]]]:
    text = RULES.read_text(encoding="utf-8")
    return [
        (rule, [cell.strip() for cell in rest.split(" | ")]) for rule, rest in _ROW.findall(text)
    ]


def named_in_header(text: str) -> set[str]:
    """Rule numbers in a text; `ABI-060 to ABI-063` names those between as well."""
    named = set(re.findall(r"ABI-\d{3}", text))
    for first, last in re.findall(r"ABI-(\d{3}) to ABI-(\d{3})", text):
        named |= {f"ABI-{number:03}" for number in range(int(first), int(last) + 1)}
    return named


def test_header_and_rules_name_the_same_rules(header: Header) -> None:
    listed = {rule for rule, _ in rows()}
    named = named_in_header(header.text)
    assert listed == named, (
        f"only in the header: {named - listed}; only in RULES.md: {listed - named}"
    )


def test_each_rule_is_complete_and_in_order() -> None:
    numbers = [rule for rule, _ in rows()]
    assert numbers == sorted(set(numbers))
    for rule, cells in rows():
        assert len(cells) == 4, f"{rule}: want binds, rule, reason, kept by; got {cells}"
        assert cells[0] in SIDES, rule
        assert all(cells), rule


def test_every_test_that_a_rule_names_exists() -> None:
    for rule, cells in rows():
        for path, name in re.findall(r"`([\w/.]+/[\w.]+)(?:::(\w+))?`", cells[3]):
            text = (ABI.parent / path).read_text(encoding="utf-8")
            assert name in text, f"{rule} names {name}, which is not in {path}"
