"""Writes a report without home folders, user and host names, tokens and addresses."""

from __future__ import annotations

import getpass
import json
import platform
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from executorch_backend_kit.report.output_file import write_whole

_SECRETS = (
    (
        re.compile(r"\b(?:hf|ghp|gho|ghs|ghu|github_pat|glpat|pypi|xox[abp]|sk|npm)[-_][\w-]{10,}"),
        "<token>",
    ),
    (re.compile(r"\bAKIA[0-9A-Z]{16}\b"), "<token>"),
    (re.compile(r"\beyJ[\w-]{10,}\.[\w-]+\.[\w-]+"), "<token>"),
    (re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"), "<login>"),
    (
        re.compile(
            r"(?i)\b((?:[\w-]*(?:token|secret|password|passwd|api[-_]?key))\s*[=:]\s*)[^\s,;\"']+"
        ),
        r"\1<secret>",
    ),
    (re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]+\b"), "<address>"),
    (re.compile(r"\b(?!127\.)(?:\d{1,3}\.){3}\d{1,3}\b(?!\.)"), "<ip>"),
    (re.compile(r"(?<![\w/])/(?:home|Users)/[^/\s\"',:;]+"), "~"),
)


def write(document: dict[str, Any], file: Path) -> None:
    """Writes `document` to `file`, whole or not at all; raises KitError."""
    text = json.dumps(cleaned(document), indent=2) + "\n"
    write_whole(file, text)


def cleaned(value: Any) -> Any:
    """`value` with personal data replaced in every text of it, keys included."""
    if isinstance(value, dict):
        return {cleaned(key): cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    return _cleaned_text(value) if isinstance(value, str) else value


def _cleaned_text(text: str) -> str:
    for secret, name in _own_names():
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(secret)}(?![A-Za-z0-9])", name, text)
    for pattern, name in _SECRETS:
        text = pattern.sub(name, text)
    return text


def _own_names() -> Iterator[tuple[str, str]]:
    """What names this person and this machine, the longest first."""
    names = []
    with suppress(RuntimeError):
        names.append((str(Path.home()), "~"))
    host = platform.node()
    names += [(host, "<host>"), (host.partition(".")[0], "<host>")]
    with suppress(OSError, KeyError, ImportError):
        names.append((getpass.getuser(), "<user>"))
    for name, replacement in sorted(names, key=lambda pair: -len(pair[0])):
        if len(name) > 1:
            yield name, replacement
