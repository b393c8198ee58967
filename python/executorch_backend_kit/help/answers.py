"""Finds what a code, an error number or an error text means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from executorch_backend_kit.help import data

SCHEMA = "etbk.help/1"
_SURE = ("certain", "likely", "possible")
_LONGEST = 200_000  # characters of a log that are looked at, from its end

_CODE = re.compile(r"\b[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+\b")
_NUMBER = re.compile(
    r"\b0x:?(?P<hex>[0-9a-f]{1,2})\b|\berror(?: code)?[ :=]*(?P<dec>\d{1,2})\b", re.IGNORECASE
)
# Without one of these words a number may be anybody's, as in "make: *** Error 1".
_RUNTIME = re.compile(
    r"executorch|runtime|program|method|delegate|backend|load|execute|\.pte?\b|\w+\.cpp:", re.I
)
_WHOLE_NUMBER = re.compile(r"(?:error\s*)?(?:0x:?(?P<hex>[0-9a-f]{1,2})|(?P<dec>\d{1,2}))", re.I)


@dataclass(frozen=True)
class Answer:
    """One explanation."""

    kind: str  # "code", "error number" or "text"
    id: str
    meaning: str
    cause: str
    sure: str
    next: str
    matched: str = ""

    def to_json(self) -> dict[str, str]:
        """One element of `answers`."""
        return dict(vars(self))


@dataclass(frozen=True)
class Explanation:
    """All that is known of a text, the surest first."""

    query: str
    answers: tuple[Answer, ...]
    nearest: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The document `etbk.help/1`."""
        return {
            "schema": SCHEMA,
            "query": self.query,
            "known": bool(self.answers),
            "answers": [answer.to_json() for answer in self.answers],
            "nearest": list(self.nearest),
        }


def explain(text: str) -> Explanation:
    """What `text` means; no answers if that is unknown."""
    known = data.load()
    query = text.strip()
    word = query.strip("[]'\"`. ").removeprefix("Error::")
    if (page := known["codes"].get(word.upper())) is not None:
        return Explanation(query, (_code(word.upper(), page, word),))
    if (number := _as_number(word, known)) is not None:
        return Explanation(query, tuple(_contexts(number, known, None, word)))
    answers = list(_of_text(query[-_LONGEST:], known))
    nearest: tuple[str, ...] = ()
    if not answers and re.fullmatch(r"[\w-]+", word):
        nearest = tuple(get_close_matches(word.upper(), known["codes"], n=3, cutoff=0.6))
    return Explanation(query, tuple(answers), nearest)


def _of_text(text: str, known: dict[str, Any]) -> Iterator[Answer]:
    """Codes and rules; error numbers if there is no rule."""
    seen = set()
    for code in _CODE.findall(text):
        if code in known["codes"] and code not in seen:
            seen.add(code)
            yield _code(code, known["codes"][code], code)
    rules = sorted(_rules(text, known), key=lambda answer: _SURE.index(answer.sure))
    yield from rules
    if seen or rules:
        return
    for number, matched in dict.fromkeys(_numbers(text)):
        yield from _contexts(number, known, text, matched)


def _rules(text: str, known: dict[str, Any]) -> Iterator[Answer]:
    for rule in known["rules"]:
        found = re.search(rule["pattern"], text, re.IGNORECASE)
        if found:
            names = {name: value or "?" for name, value in found.groupdict().items()}
            yield Answer(
                kind="text",
                id=rule["id"],
                meaning="",
                cause=_filled(rule["cause"], names),
                sure=rule["sure"],
                next=_filled(rule["next"], names),
                matched=found[0].strip(),
            )


def _numbers(text: str) -> Iterator[tuple[int, str]]:
    if not _RUNTIME.search(text):
        return
    for found in _NUMBER.finditer(text):
        yield int(found["hex"], 16) if found["hex"] else int(found["dec"]), found[0]


def _as_number(word: str, known: dict[str, Any]) -> int | None:
    """The number that a whole query means: 0x20, 32, "error 0x:20", NotFound."""
    names = {error["name"].lower(): error["number"] for error in known["errors"]}
    if word.lower() in names:
        return int(names[word.lower()])
    if not (found := _WHOLE_NUMBER.fullmatch(word)):
        return None
    number = int(found["hex"], 16) if found["hex"] else int(found["dec"])
    return number if number in names.values() else None


def _contexts(
    number: int, known: dict[str, Any], text: str | None, matched: str
) -> Iterator[Answer]:
    """What a number means where it appears; in every context if there is no text around it."""
    error = next((e for e in known["errors"] if e["number"] == number), None)
    if error is None or (number == 0 and text):
        return
    title = f"0x{number:02x} ({number}) {error['name']}"
    contexts = error.get("contexts", ())
    if text is not None:
        fitting = [c for c in contexts if re.search(c.get("pattern", ""), text, re.I)]
        contexts = fitting[:1] or contexts
    for context in contexts:
        yield Answer(
            "error number",
            title,
            f"{error['meaning']} Here: {context['when']}.",
            context["cause"],
            context["sure"],
            context["next"],
            matched,
        )
    if not contexts:
        yield Answer("error number", title, error["meaning"], "", "certain", "nothing", matched)


def _code(code: str, page: dict[str, str], matched: str) -> Answer:
    return Answer("code", code, page["meaning"], page["cause"], "certain", page["next"], matched)


def _filled(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace("{" + name + "}", value)
    return text
