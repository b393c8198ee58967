"""Looks for the SDKs of a backend: variable, folder, the files that prove it, version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion

from executorch_backend_kit.doctor.libraries import lacking
from executorch_backend_kit.report.finding import Finding, Severity

_TOOL_TIME_LIMIT = 10.0


@dataclass(frozen=True)
class Sdk:
    """An SDK, found or not."""

    name: str
    path: str | None
    version: str | None
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        """Without the findings, which the backend carries."""
        found = self.path is not None and not any(
            f.code != "SDK-VERSION" for f in self.findings if f.severity is not Severity.INFO
        )
        return {"name": self.name, "found": found, "path": self.path, "version": self.version}


def look_up(fact: Mapping[str, Any]) -> Sdk:
    """What this machine has of the SDK that a knowledge file describes."""
    severity = Severity.ERROR if fact.get("needed_to") == "lower" else Severity.INFO
    for variable in fact["variables"]:
        value = os.environ.get(variable)
        if value:
            folder = Path(value).expanduser()
            problems = tuple(_problems(fact, variable, folder))
            version = _version(fact, folder)
            tools = [folder / "bin" / tool for tool in fact.get("tools", ())]
            for tool in (t for t in tools if t.is_file()):
                said, more = _ask(fact, str(tool))
                version, problems = version or said, (*problems, *more)
            return Sdk(fact["name"], str(folder), version, (*problems, *_range(fact, version)))
    for tool in fact.get("tools", ()):
        if path := shutil.which(tool):
            version, more = _ask(fact, path)
            return Sdk(fact["name"], path, version, (*more, *_range(fact, version)))
        if path := _not_executable(tool):
            problem = Finding(
                "SDK-TOOL-NOT-EXECUTABLE",
                f"{tool} of {fact['name']} is in PATH but may not be executed.",
                evidence=path,
                fix=f"chmod +x {path}",
            )
            return Sdk(fact["name"], path, None, (problem,))
    looked = [f"${v} is not set" for v in fact["variables"]]
    looked += [f"{tool} is not in PATH" for tool in fact.get("tools", ())]
    missing = Finding(
        "SDK-MISSING",
        f"{fact['name']} was not found; it is needed for {fact['for']}.",
        evidence="; ".join(looked),
        fix=fact["fix"],
        severity=severity,
    )
    return Sdk(fact["name"], None, None, (missing,))


def _problems(fact: Mapping[str, Any], variable: str, folder: Path) -> Iterator[Finding]:
    if not folder.is_dir():
        yield Finding(
            "SDK-FOLDER-MISSING",
            f"{variable} names a folder that does not exist.",
            evidence=f"{variable}={folder}",
            fix=fact["fix"],
        )
        return
    for name in fact["files"]:
        if not (folder / name).exists():
            yield Finding(
                "SDK-FILE-MISSING",
                f"The folder that {variable} names is not a complete {fact['name']}: "
                f"{name} is missing.",
                evidence=f"{variable}={folder}; no {name}",
                fix=fact["fix"],
            )
        elif name.endswith(".so"):
            yield from _lacking(fact, folder / name)


def _lacking(fact: Mapping[str, Any], library: Path) -> Iterator[Finding]:
    for missing in lacking(library):
        yield Finding(
            "SDK-DEPENDENCY-MISSING",
            f"{missing.name} is not found, and {missing.chain[-1]} of {fact['name']} needs it.",
            evidence=" needs ".join((*missing.chain, missing.name)),
            fix=missing.install,
        )


def _ask(fact: Mapping[str, Any], tool: str) -> tuple[str | None, tuple[Finding, ...]]:
    """The version that a tool tells, and a finding if it cannot do what is asked of it."""
    if "tool_arguments" not in fact:
        return None, ()
    try:
        done = subprocess.run(
            [tool, *fact["tool_arguments"]],
            input=fact.get("tool_input", "").encode(),
            capture_output=True,
            timeout=_TOOL_TIME_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, (_too_old(fact, tool, str(error)),)
    said = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode != 0:
        lines = said.strip().splitlines()
        return None, (_too_old(fact, tool, lines[-1] if lines else f"status {done.returncode}"),)
    found = re.search(fact["tool_pattern"], said) if "tool_pattern" in fact else None
    return found[1] if found else None, ()


def _too_old(fact: Mapping[str, Any], tool: str, said: str) -> Finding:
    return Finding(
        "SDK-TOOL-TOO-OLD",
        f"{Path(tool).name} cannot do what is needed for {fact['for']}: it is too old, or broken.",
        evidence=f"{tool}: {said[:300]}",
        fix=fact["fix"],
        severity=Severity.ERROR if fact.get("needed_to") == "lower" else Severity.WARNING,
    )


def _version(fact: Mapping[str, Any], folder: Path) -> str | None:
    if "version_file" not in fact:
        return None
    try:
        text = (folder / fact["version_file"]).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = re.search(fact["version_pattern"], text)
    return found[1] if found else None


def _range(fact: Mapping[str, Any], version: str | None) -> Iterator[Finding]:
    wanted = fact.get("range")
    if not version or not wanted:
        return
    try:
        fits = SpecifierSet(wanted).contains(version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return
    if not fits:
        yield Finding(
            "SDK-VERSION",
            f"{fact['name']} {version} is outside of the range that is known to work.",
            evidence=f"found: {version}; wanted: {wanted}",
            fix=fact["fix"],
            severity=Severity.WARNING,
        )


def _not_executable(tool: str) -> str | None:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        candidate = Path(folder) / tool
        if folder and candidate.is_file() and not os.access(candidate, os.X_OK):
            return str(candidate)
    return None
