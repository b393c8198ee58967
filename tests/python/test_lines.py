"""Which rows a command line asks for, and which of them is the baseline."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from executorch_backend_kit.aot import ConfigurationError
from executorch_backend_kit.compare.lines import make_lines


def rows(
    backends: list[str] | None, baseline: str | None = None, **options: dict[str, str]
) -> tuple[list[str], int]:
    lines, reference = make_lines(backends, baseline, options)
    return [line.row.configuration for line in lines], reference


def test_the_first_is_the_baseline() -> None:
    assert rows(["portable", "xnnpack"]) == (["portable", "xnnpack"], 0)


def test_a_baseline_is_found_by_name_and_by_id() -> None:
    for baseline in ("xnnpack", "XnnpackBackend"):
        assert rows(["portable", "xnnpack"], baseline) == (["portable", "xnnpack"], 1)


def test_a_baseline_that_is_not_listed_is_added() -> None:
    assert rows(["xnnpack"], "portable") == (["portable", "xnnpack"], 0)


def test_the_same_configuration_stays_twice() -> None:
    assert rows(["xnnpack", "XnnpackBackend"]) == (["xnnpack", "xnnpack"], 0)


def test_an_unusable_backend_is_a_failed_row(toy_vendor: Callable[..., None]) -> None:
    toy_vendor("old")
    lines, _ = make_lines(["old", "portable"], None, {})
    assert [line.row.failed for line in lines] == [True, False]
    assert "does not support ExecuTorch" in lines[0].row.reason


def test_options_for_nobody_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="no configuration uses"):
        rows(["portable"], xnnpack={"per_op_mode": "true"})


def test_without_a_choice_all_usable_backends_are_rows() -> None:
    names, _ = rows(None)
    assert names[:2] == ["portable", "xnnpack"]
