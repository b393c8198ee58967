"""What is installed here, found without importing any of it, and what speaks against it."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from executorch_backend_kit.report.finding import Finding, Severity

SUPPORTED = ">=1.4,<1.6"
SYSTEMS = {"Linux": "linux", "Darwin": "macos", "Windows": "windows"}
MACHINES = {"x86_64": "x86-64", "AMD64": "x86-64", "aarch64": "aarch64", "arm64": "arm64"}


@dataclass(frozen=True)
class Environment:
    """The machine and the installed packages."""

    platform: str  # "linux-x86-64", as the knowledge base names platforms
    python: str
    executorch: str | None  # "1.5.1"
    packages: dict[str, str]  # canonical name -> version

    def version(self, package: str) -> str | None:
        """Version of an installed package."""
        return self.packages.get(canonicalize_name(package))

    def is_one_of(self, platforms: tuple[str, ...]) -> bool:
        """True if this platform is among those; no platforms, or "any", means all."""
        return not platforms or "any" in platforms or self.platform in platforms


def read() -> Environment:
    """The environment of this process."""
    packages: dict[str, str] = {}
    for distribution in metadata.distributions():
        name, release = _name_and_version(distribution)
        if name:  # the first on the path is the one that is imported
            packages.setdefault(canonicalize_name(name), release)
    version = packages.get("executorch")
    return Environment(
        platform=platform_name(),
        python=platform.python_version(),
        executorch=version.partition("+")[0] if version else None,
        packages=packages,
    )


def _name_and_version(distribution: metadata.Distribution) -> tuple[str | None, str]:
    """From the folder's name, name-version.dist-info, where it tells: reading and parsing the
    metadata of some hundred packages takes longer than all the rest."""
    folder = getattr(distribution, "_path", None)
    stem, dot, kind = getattr(folder, "name", "").rpartition(".")
    name, dash, version = stem.partition("-")
    if dot and dash and kind == "dist-info" and "-" not in version:
        return name, version
    return distribution.name, distribution.version


def platform_name() -> str:
    """This machine, as the knowledge base names platforms."""
    system = SYSTEMS.get(platform.system(), platform.system().lower())
    machine = MACHINES.get(platform.machine(), platform.machine())
    return f"{system}-{machine}"


def findings(environment: Environment) -> Iterator[Finding]:
    """What is wrong with the installation as a whole."""
    if environment.executorch is None:
        yield Finding(
            "EXECUTORCH-MISSING",
            "ExecuTorch is not installed in this Python.",
            evidence=f"python {environment.python}, {sys.prefix}",
            fix=f"pip install 'executorch{SUPPORTED}'",
        )
    elif not SpecifierSet(SUPPORTED).contains(environment.executorch, prereleases=True):
        yield Finding(
            "EXECUTORCH-UNSUPPORTED",
            f"ExecuTorch {environment.executorch} is outside of the releases that this kit knows.",
            evidence=f"known: {SUPPORTED}",
            fix=f"pip install 'executorch{SUPPORTED}'",
            severity=Severity.WARNING,
        )
    yield from _shadowing(environment)
    if environment.executorch is not None:
        yield from _own_pins(environment)


def _shadowing(environment: Environment) -> Iterator[Finding]:
    try:
        spec = util.find_spec("executorch")
    except (ImportError, ValueError):
        spec = None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    strangers = [f for f in folders if not (Path(f) / "version.py").is_file()]
    here = Path.cwd() / "executorch"
    if strangers:
        yield Finding(
            "EXECUTORCH-SHADOWED",
            "Another folder named executorch is found beside or before the installed package.",
            evidence=f"import executorch looks into: {', '.join(folders)}",
            fix="Run from another folder, or take that folder out of PYTHONPATH.",
        )
    elif environment.executorch and here.is_dir() and str(here) not in folders:
        yield Finding(
            "EXECUTORCH-SHADOWED",
            "The folder executorch in the working directory shadows the installed package for "
            "every script that is started here.",
            evidence=str(here),
            fix="Start scripts from another folder, or rename this one.",
            severity=Severity.WARNING,
        )


def _own_pins(environment: Environment) -> Iterator[Finding]:
    """The requirements that the executorch wheel itself declares, extras left out."""
    for text in metadata.requires("executorch") or ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        yield from requirement_findings(
            environment,
            requirement.name,
            str(requirement.specifier),
            f"executorch {environment.executorch}",
            f"pip install '{requirement.name}{requirement.specifier}'",
        )


def requirement_findings(
    environment: Environment, package: str, wanted: str, owner: str, install: str
) -> Iterator[Finding]:
    """A finding if a package is absent or outside of a range."""
    version = environment.version(package)
    if version is None:
        yield Finding(
            "DEPENDENCY-MISSING",
            f"{package} is not installed, and {owner} needs it.",
            evidence=f"wanted: {package}{wanted}",
            fix=install,
        )
    elif wanted and not SpecifierSet(wanted).contains(version, prereleases=True):
        yield Finding(
            "DEPENDENCY-VERSION",
            f"{package} {version} is installed, and {owner} needs {package}{wanted}.",
            evidence=f"installed: {package} {version}; wanted: {wanted}",
            fix=install,
        )
