"""`python -m executorch_backend_kit`: `etbk`, or with --cmake-prefix where the C++ SDK lies."""

import sys


def main() -> None:
    """Chooses by the first argument."""
    if sys.argv[1:] == ["--cmake-prefix"]:
        from executorch_backend_kit.report.finding import KitError
        from executorch_backend_kit.sdk import cmake_prefix

        try:
            print(cmake_prefix())
        except KitError as error:
            sys.exit(str(error))
        return
    from executorch_backend_kit.cli import main as etbk

    etbk()


main()
