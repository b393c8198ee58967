"""What people write after --backends, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from executorch_backend_kit.aot import ConfigurationError, discover
from executorch_backend_kit.aot.configuration import every_usable, parse
from executorch_backend_kit.aot.errors import UnusableBackendError


def code_of(text: str, options: dict[str, dict[str, str]] | None = None) -> str:
    with pytest.raises(ConfigurationError) as caught:
        parse(text, discover(), options)
    return caught.value.finding.code


def test_portable_means_no_backend() -> None:
    assert parse("portable", discover()).backends == ()


def test_names_and_ids_mean_the_same(toy_vendor: Callable[..., None]) -> None:
    toy_vendor("unregistered")
    for text in ("unregistered+xnnpack", "UnregisteredBackend+XnnpackBackend"):
        configuration = parse(text, discover())
        assert configuration.name == "unregistered+xnnpack"
        assert [b.id for b in configuration.backends] == ["UnregisteredBackend", "XnnpackBackend"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "CONFIGURATION-INVALID"),
        ("xnnpack+", "CONFIGURATION-INVALID"),
        ("portable+xnnpack", "CONFIGURATION-INVALID"),
        ("nonsense", "BACKEND-UNKNOWN"),
        ("xnnpack+xnnpack", "BACKEND-DUPLICATE-NAME"),
        ("xnnpack+XnnpackBackend", "BACKEND-DUPLICATE-NAME"),
    ],
)
def test_bad_configurations_are_refused(text: str, code: str) -> None:
    assert code_of(text) == code


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'xnnpack'"):
        parse("xnpack", discover())


def test_a_known_backend_that_cannot_be_used_says_why(toy_vendor: Callable[..., None]) -> None:
    toy_vendor("old")
    with pytest.raises(UnusableBackendError, match="BACKEND-VERSION-UNSUPPORTED"):
        parse("old", discover())


def test_options_are_read_by_their_type() -> None:
    configuration = parse("xnnpack", discover(), {"xnnpack": {"per_op_mode": "true"}})
    assert configuration.options == {"xnnpack": {"per_op_mode": True}}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"per_op_mode": "maybe"}, "BACKEND-OPTION-INVALID"),
        ({"no_such": "1"}, "BACKEND-OPTION-UNKNOWN"),
    ],
)
def test_bad_options_are_refused(options: dict[str, str], code: str) -> None:
    assert code_of("xnnpack", {"xnnpack": options}) == code


def test_without_a_choice_every_usable_backend_is_taken(toy_vendor: Callable[..., None]) -> None:
    toy_vendor("unregistered", "old")
    names = every_usable(discover())
    assert names[:2] == ["portable", "xnnpack"]
    assert "unregistered+xnnpack" in names
    assert not any("old" in name for name in names)
