"""The C API of the .pte library, by ctypes: one library serves every Python."""

from __future__ import annotations

import ctypes
import functools
import json
from pathlib import Path
from typing import Any

from executorch_backend_kit.pte.errors import PteError

_NAME = "libetbk_pte.so"
_TEXT = ctypes.c_void_p  # a text to be freed; c_char_p would lose its address


@functools.cache
def library() -> ctypes.CDLL:
    """The loaded library with the types of its functions."""
    path = Path(__file__).parents[1] / "lib" / _NAME
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise PteError(
            "PTE-LIBRARY-MISSING",
            f"{_NAME} of the kit cannot be loaded.",
            evidence=str(error),
            fix="pip install --force-reinstall executorch-backend-kit",
        ) from None
    size, handle, text = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "open": (handle, [text, text]),
        "open_descriptor": (handle, [ctypes.c_int, text]),
        "open_memory": (handle, [handle, size, text]),
        "close": (None, [handle]),
        "is_sound": (ctypes.c_int, [handle]),
        "inspect": (_TEXT, [handle, text]),
        "verify": (_TEXT, [handle, handle, text]),
        "check": (_TEXT, [handle, handle, text, text]),
        "bytes": (handle, [handle, ctypes.c_uint64, ctypes.c_uint64]),
        "shrank": (ctypes.c_int, [handle]),
        "rules": (_TEXT, []),
        "grade": (_TEXT, [text, size, ctypes.c_uint64, text]),
        "hash": (ctypes.c_uint64, [handle, size]),
        "free": (None, [handle]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(loaded, f"etbk_pte_{name}")
        function.restype = result
        function.argtypes = arguments
    return loaded


def report(address: int | None) -> dict[str, Any]:
    """The document behind a returned text, which is freed."""
    if address is None:
        raise MemoryError("the .pte library had no memory for its report")
    try:
        document: dict[str, Any] = json.loads(ctypes.string_at(address))
    finally:
        library().etbk_pte_free(address)
    return document


def options(values: dict[str, Any]) -> bytes:
    """Options as the library takes them; None values are left out."""
    given = {key: value for key, value in values.items() if value is not None}
    return json.dumps(given).encode()
