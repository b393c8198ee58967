"""The `etbk` command."""


def main() -> None:
    """Entry point of the console script. Ctrl-C during imports ends it without a word."""
    from executorch_backend_kit.cli.surroundings import prepare

    prepare()
    from executorch_backend_kit.cli.app import app

    try:
        app()
    except OSError as error:  # in printing help; what commands meet ends in them
        from executorch_backend_kit.cli.ending import end_with

        raise SystemExit(end_with(error)) from None


__all__ = ["main"]
