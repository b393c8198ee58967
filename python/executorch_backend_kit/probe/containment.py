"""What a child may not do, and what is noted of what it did.

Python code in a child gets no network; where the kernel allows it, nothing else in it does. A child
has a process group and an output file of its own. The state that an import should leave alone is
compared.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import threading
from typing import Any

_NETWORK_EVENTS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname")
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET: a network that holds nothing
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


def forbid_network(attempts: list[str]) -> None:
    """Makes every attempt to reach another machine fail, and adds it to `attempts`."""
    if sys.platform == "linux":
        ctypes.CDLL(None).unshare(_NEW_NETWORK)  # needs privileges; without them only what follows

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _NETWORK_EVENTS:
            return
        if event == "socket.connect":
            address = arguments[1]
            if not isinstance(address, tuple):  # a socket of this machine
                return
            place = str(address[0])
        else:
            place = str(arguments[0])
        if place not in attempts:
            attempts.append(place)
        raise PermissionError(f"the network is switched off in this check ({place})")

    sys.addaudithook(refuse)


def state() -> dict[str, Any]:
    """What an import should leave alone."""
    root = logging.getLogger()
    return {
        "root logger level": logging.getLevelName(root.level),
        "root logger handlers": len(root.handlers),
        "working directory": str(os.path.realpath(".")),
        "signal handlers": [str(signal.getsignal(number)) for number in _SIGNALS],
        "environment": dict(os.environ),
        "threads": threading.active_count(),
    }


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Differences of two states, one sentence part each."""
    found = []
    for name, old in before.items():
        new = after[name]
        if name == "environment":
            changed = sorted(k for k in {*old, *new} if old.get(k) != new.get(k))
            if changed:
                found.append(f"environment variables {', '.join(changed)}")
        elif old != new:
            found.append(f"{name}: {old} to {new}")
    return found
