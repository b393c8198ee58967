"""Progress on stderr, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from executorch_backend_kit.compare.progress import Progress, Silent


@contextmanager
def progress_on_terminal() -> Iterator[Progress]:
    """A progress bar that vanishes at the end; silent if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:>10}"),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[note]}"),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Bars(bars)


class _Bars:
    """One bar for each stage."""

    def __init__(self, bars: object) -> None:
        from rich.progress import Progress as Bars
        from rich.progress import TaskID

        assert isinstance(bars, Bars)
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def update(self, stage: str, share: float, note: str = "") -> None:
        if stage not in self._tasks:
            for task in self._tasks.values():
                self._bars.update(task, completed=1.0, note="")
                self._bars.stop_task(task)
            self._tasks[stage] = self._bars.add_task(stage, total=1.0, note=note)
        self._bars.update(self._tasks[stage], completed=share, note=note)
