"""How a command ends: errors as findings on stderr, with the exit codes of the product.

0 answered, 1 something was wrong or failed, 2 bad command line or MODEL, 3 could not decide,
130 and 143 interrupted.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

import typer

from executorch_backend_kit.cli import surroundings
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
        as_json = bool(options.get("json"))
        signal.signal(signal.SIGTERM, _terminate)
        surroundings.audible_interrupt()
        try:
            if surroundings.output_is_closed:
                raise KitError.of(_NO_OUTPUT)
            _run_to_the_end(command, arguments, options)
        except KitError as error:
            _say(error.finding, as_json=as_json)
            raise typer.Exit(exit_code(error)) from None
        except (KeyboardInterrupt, _Terminated) as error:
            sys.stderr.write("\nInterrupted: workers are ended and temporary files are removed.\n")
            number = signal.SIGINT if isinstance(error, KeyboardInterrupt) else signal.SIGTERM
            raise typer.Exit(128 + number) from None
        except OSError as error:
            raise typer.Exit(end_with(error, as_json=as_json)) from None
        except Exception as error:
            if type(error).__module__.split(".")[0] in ("typer", "click"):
                raise
            _say(_of_defect(error), as_json=as_json)
            raise typer.Exit(UNDECIDED) from None
        finally:
            surroundings.quiet_interrupt()

    return ending  # type: ignore[return-value]


def _run_to_the_end(
    command: Callable[..., None], arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """Runs it, and sees to it that what it printed has arrived."""
    try:
        command(*arguments, **options)
    except typer.Exit:
        sys.stdout.flush()
        raise
    sys.stdout.flush()


def end_with(error: OSError, *, as_json: bool = False) -> int:
    """Says what an error of the system means, and gives the exit code."""
    if isinstance(error, BrokenPipeError):  # the reader has gone, as in `etbk ... | head`
        _give_up_output()
        return 1
    _say(_of_surroundings(error) or _of_defect(error), as_json=as_json)
    return UNDECIDED


def print_json(document: dict[str, Any]) -> None:
    """Prints the answer of a command with --json."""
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def exit_code(error: KitError) -> int:
    """The exit code for an error that ended a command."""
    from executorch_backend_kit.aot.errors import ConfigurationError
    from executorch_backend_kit.compare.errors import ModelError
    from executorch_backend_kit.knowledge.errors import UnknownNameError

    bad_requests = (ConfigurationError, ModelError, UnknownNameError)
    return BAD_REQUEST if isinstance(error, bad_requests) else UNDECIDED


_OF_FULL_DEVICES = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
_NO_OUTPUT = Finding(
    "OUTPUT-CLOSED",
    "The command was started without a standard output: there is nowhere to answer.",
    fix="Start it with an open standard output, for example > answer.txt",
)


def _of_surroundings(error: OSError) -> Finding | None:
    """The finding if it is the output or the current directory that is broken."""
    if _output_fails(error):
        _give_up_output()
        return Finding(
            "OUTPUT-FAILED",
            "The answer could not be written to standard output.",
            evidence=error.strerror or str(error),
            fix="Send it to a place that has room: > FILE",
        )
    try:
        os.getcwd()  # noqa: PTH109 - only whether it is there
    except FileNotFoundError:
        return Finding(
            "DIRECTORY-GONE",
            "The current directory has been deleted.",
            evidence=str(error),
            fix='cd "$HOME", then again',
        )
    return None


def _output_fails(error: OSError) -> bool:
    """Whether it was the output that could not be written: the next byte then cannot be either."""
    if error.filename is not None or error.errno not in _OF_FULL_DEVICES:
        return False
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _of_defect(error: Exception) -> Finding:
    """An error that nobody foresaw, as a sentence; the whole of it if ETBK_TRACEBACK is set."""
    if os.environ.get("ETBK_TRACEBACK"):
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = "/".join(last.filename.split("/")[-3:])
    return Finding(
        "INTERNAL-ERROR",
        "The kit met an error that it does not know how to handle.",
        evidence=f"{type(error).__name__}: {error} ({place}:{last.lineno})",
        fix="Report it with what ETBK_TRACEBACK=1 prints, set before the same command.",
    )


def _give_up_output() -> None:
    """Leaves nothing for Python to write, and to complain of, at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _say(finding: Finding, *, as_json: bool) -> None:
    if as_json and finding.code != "OUTPUT-FAILED":
        print_json({"schema": "etbk.error/1", "findings": [finding.to_json()]})
    sys.stderr.write(finding.to_text() + "\n")


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise _Terminated
