"""A worker for the tests, without torch: does what it is told, also badly."""

import os
import sys
import time
from typing import Any

from executorch_backend_kit.report.finding import KitError
from executorch_backend_kit.workers.protocol import serve

Request = dict[str, Any]


def echo(request: Request) -> Request:
    return {"echo": request["text"]}


def sleep(request: Request) -> Request:
    time.sleep(request["seconds"])
    return {"slept": True}


def chat(_: Request) -> Request:
    print("noise on stdout")
    os.write(1, b"more noise\n")
    return {"ok": True}


def fail(_: Request) -> Request:
    raise KitError("TOY-FAILED", "It failed as it was told.", evidence="told", fix="Tell it less.")


def raise_error(_: Request) -> Request:
    raise ZeroDivisionError("told to")


def full_disk(_: Request) -> Request:
    raise OSError(28, "No space left on device")


def die(request: Request) -> Request:
    print("last words", file=sys.stderr, flush=True)
    os.kill(os.getpid(), request["signal"])
    return {}


def fork(_: Request) -> Request:
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    return {"forked": True}


def leave(_: Request) -> Request:
    os._exit(7)


serve(
    lambda: {"hello": True},
    {
        "echo": echo,
        "sleep": sleep,
        "chat": chat,
        "fail": fail,
        "raise": raise_error,
        "full": full_disk,
        "die": die,
        "fork": fork,
        "leave": leave,
    },
)
