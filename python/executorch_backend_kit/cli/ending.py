"""How a command ends: errors as findings on stderr, with the exit codes of the product.

0 answered, 1 something was wrong or failed, 2 bad command line or MODEL, 3 could not decide,
130 and 143 interrupted.
"""

from __future__ import annotations

import functools
import json
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

import typer

from executorch_backend_kit.report.finding import Finding, KitError

BAD_REQUEST = 2
UNDECIDED = 3

Command = TypeVar("Command", bound=Callable[..., None])


class _Terminated(BaseException):
    """SIGTERM arrived."""


def graceful(command: Command) -> Command:
    """Makes `command` end cleanly on errors, Ctrl-C and SIGTERM."""

    @functools.wraps(command)
    def ending(*arguments: Any, **options: Any) -> None:
        signal.signal(signal.SIGTERM, _terminate)
        try:
            command(*arguments, **options)
        except KitError as error:
            _say(error.finding, as_json=bool(options.get("json")))
            raise typer.Exit(exit_code(error)) from None
        except (KeyboardInterrupt, _Terminated) as error:
            sys.stderr.write("\nInterrupted: workers are ended and temporary files are removed.\n")
            number = signal.SIGINT if isinstance(error, KeyboardInterrupt) else signal.SIGTERM
            raise typer.Exit(128 + number) from None
        except BrokenPipeError:  # the reader of our output has gone, as in `etbk ... | head`
            sys.stderr.close()
            raise typer.Exit(1) from None

    return ending  # type: ignore[return-value]


def exit_code(error: KitError) -> int:
    """The exit code for an error that ended a command."""
    from executorch_backend_kit.aot.errors import ConfigurationError
    from executorch_backend_kit.compare.errors import ModelError
    from executorch_backend_kit.knowledge.errors import UnknownNameError

    bad_requests = (ConfigurationError, ModelError, UnknownNameError)
    return BAD_REQUEST if isinstance(error, bad_requests) else UNDECIDED


def _say(finding: Finding, *, as_json: bool) -> None:
    if as_json:
        document = {"schema": "etbk.error/1", "findings": [finding.to_json()]}
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    sys.stderr.write(finding.to_text() + "\n")


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise _Terminated
