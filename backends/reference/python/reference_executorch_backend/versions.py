"""The ExecuTorch releases that this package was tested with."""

from importlib.metadata import version

OLDEST, FIRST_UNSUPPORTED = (1, 4), (1, 6)
SUPPORTED = ">=1.4,<1.6"


class UnsupportedExecuTorchError(RuntimeError):
    """The installed ExecuTorch is none that this package was tested with."""


def require_supported_executorch() -> None:
    """Raises UnsupportedExecuTorchError with the cure unless a supported release is installed."""
    installed = version("executorch")
    release = tuple(int(part) for part in installed.split(".")[:2] if part.isdigit())
    if not OLDEST <= release < FIRST_UNSUPPORTED:
        raise UnsupportedExecuTorchError(
            f"REFERENCE-EXECUTORCH: this backend works with executorch {SUPPORTED}, found "
            f'{installed}. Run: pip install "executorch{SUPPORTED}"'
        )
