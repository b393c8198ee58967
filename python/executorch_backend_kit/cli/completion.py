"""What the shell offers while a value of `etbk select` or `etbk export` is typed."""

from __future__ import annotations

from collections.abc import Iterable


def targets(incomplete: str) -> list[str]:
    """Targets and their aliases."""
    from executorch_backend_kit.knowledge import load

    words = (word for t in load().targets.values() for word in (t.name, *t.aliases))
    return _beginning(words, incomplete)


def backends(incomplete: str) -> list[str]:
    """Backends by name."""
    from executorch_backend_kit.knowledge import load

    return _beginning(load().backends, incomplete)


def policies(incomplete: str) -> list[str]:
    """What --policy takes."""
    from executorch_backend_kit.select.request import POLICIES

    return _beginning(POLICIES, incomplete)


def recipes(incomplete: str) -> list[str]:
    """What --quantize takes, also behind TARGET=."""
    from executorch_backend_kit.select.request import QUANTIZATIONS

    target, equals, _ = incomplete.rpartition("=")
    return _beginning((f"{target}{equals}{recipe}" for recipe in QUANTIZATIONS), incomplete)


def _beginning(words: Iterable[str], incomplete: str) -> list[str]:
    return sorted(word for word in words if word.startswith(incomplete))
