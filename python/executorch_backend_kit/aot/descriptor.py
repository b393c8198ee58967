"""How a backend describes itself, once, without importing torch.

A vendor's package offers a function without arguments that returns a `BackendDescriptor` and names
it in the entry-point group `executorch_backend_kit.backends`.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from executorch_backend_kit.aot.errors import ConfigurationError, DescriptorError

ENTRY_POINT_GROUP = "executorch_backend_kit.backends"

OptionValue = bool | int | float | str

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_RESERVED_NAMES = frozenset({"portable"})
_TRUTH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True)
class Option:
    """One option of a backend's partitioner."""

    type: type[bool] | type[int] | type[float] | type[str]
    default: OptionValue | None = None
    help: str = ""
    choices: tuple[OptionValue, ...] = ()

    def parse(self, text: str) -> OptionValue:
        """The value that `text` from a command line means; raises ValueError."""
        if self.type is bool:
            if text.lower() not in _TRUTH:
                raise ValueError(f"{text!r} is neither true nor false")
            return _TRUTH[text.lower()]
        return self.type(text)

    def accepts(self, value: object) -> bool:
        """True if `value` has the option's type and is one of its choices."""
        exact = type(value) is self.type or (self.type is float and type(value) is int)
        return exact and (not self.choices or value in self.choices)


@dataclass(frozen=True)
class BackendDescriptor:
    """Everything the kit needs to know of one backend.

    name:            what people write: `reference`
    id:              what the program file and the runtime call it: `ReferenceBackend`
    package:         the distribution that provides it, for messages and versions
    version:         of that distribution
    executorch:      releases of ExecuTorch it supports, as a version range: ">=1.4,<1.6"
    partitioner:     called with the options, returns an ExecuTorch `Partitioner`; torch and
                     executorch are imported inside it, not before
    runtime_library: the plugin to load into the runtime; None if the runtime has the backend
    quantizer:       called without arguments, returns a quantizer; None if there is none
    options:         what `partitioner` takes, by name
    recipes:         names of ready-made settings, each with its options
    targets:         devices it is made for, as `etbk select` names them
    requires:        modules that must be importable to lower for it
    fallback:        backends, by name, that take what this one leaves when nobody chose
    """

    name: str
    id: str
    package: str
    version: str
    executorch: str
    partitioner: Callable[..., Any]
    runtime_library: Path | None = None
    quantizer: Callable[[], Any] | None = None
    options: Mapping[str, Option] = field(default_factory=dict)
    recipes: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ("xnnpack",)

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise DescriptorError(
                "DESCRIPTOR-INVALID",
                f"The descriptor of backend {self.name!r} is invalid: {problem}.",
                evidence=f"package {self.package} {self.version}",
                fix=f"Correct the descriptor in {self.package}.",
            )

    def _problems(self) -> list[str]:
        problems = []
        partitioner: object = self.partitioner  # a vendor's code may pass anything
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            problems.append("its name must be 1 to 32 of a-z, 0-9, - and _, a letter first")
        elif self.name in _RESERVED_NAMES:
            problems.append(f"the name {self.name!r} is reserved")
        if not isinstance(self.id, str) or not self.id.isidentifier() or keyword.iskeyword(self.id):
            problems.append(
                f"its id {self.id!r} must be a Python class name, because ExecuTorch looks up the "
                "backend's class by it"
            )
        if not callable(partitioner):
            problems.append("its partitioner is not callable")
        try:
            SpecifierSet(self.executorch)
        except (InvalidSpecifier, TypeError, AttributeError):
            problems.append(f"its executorch range {self.executorch!r} is not a version range")
        return problems

    def supports(self, executorch_version: str) -> bool:
        """True if this release of ExecuTorch, pre-releases included, is in the range."""
        return SpecifierSet(self.executorch).contains(executorch_version, prereleases=True)

    def check_options(self, given: Mapping[str, object]) -> dict[str, OptionValue]:
        """`given`, checked against the schema; raises ConfigurationError."""
        checked: dict[str, OptionValue] = {}
        for key, value in given.items():
            option = self.options.get(key)
            if option is None:
                known = ", ".join(sorted(self.options)) or "none"
                raise ConfigurationError(
                    "BACKEND-OPTION-UNKNOWN",
                    f"Backend {self.name} has no option {key!r}.",
                    evidence=f"options of {self.package} {self.version}: {known}",
                    fix="Remove the option or correct its name.",
                )
            if not option.accepts(value):
                expected = option.type.__name__
                if option.choices:
                    expected += " out of " + ", ".join(repr(c) for c in option.choices)
                raise ConfigurationError(
                    "BACKEND-OPTION-INVALID",
                    f"Option {key!r} of backend {self.name} cannot be {value!r}.",
                    evidence=f"expected: {expected}",
                    fix="Give a value of that kind.",
                )
            assert isinstance(value, (bool, int, float, str))
            checked[key] = value
        return checked

    def parse_options(self, given: Mapping[str, str]) -> dict[str, OptionValue]:
        """Options written as text on a command line, checked."""
        parsed: dict[str, object] = {}
        for key, text in given.items():
            option = self.options.get(key)
            try:
                parsed[key] = text if option is None else option.parse(text)
            except ValueError:
                parsed[key] = text
        return self.check_options(parsed)
