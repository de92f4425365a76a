"""Progress on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

import typer

from assay.cli.say import say

if TYPE_CHECKING:
    from assay.engine import Progress

__all__ = ["Bar"]


class Bar:
    """Progress on stderr: a bar with time left on a terminal, else a line every ten seconds."""

    def __init__(self) -> None:
        self._live: Any = None
        self._task: Any = None
        self._stage = ""
        self._next = 0.0

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            shown = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}")
            self._live = Progress(*shown, console=Console(stderr=True), transient=True)
            self._live.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
        if isinstance(error, KeyboardInterrupt):  # which typer would turn into an exit without a word
            raise typer.Abort from error

    def show(self, now: Progress) -> None:
        """Show how far it is."""
        from assay.terminal import spent

        left = f", {spent(now.left)} left" if now.left is not None else ""
        said = f"{now.done}/{now.total} episodes{left}"
        new, self._stage = now.stage != self._stage, now.stage
        if self._live is None:
            if new or now.seconds >= self._next:
                self._next = now.seconds + 10.0
                say(f"{now.stage}: {said}")
            return
        if new:
            self._task = self._live.add_task(now.stage, total=max(now.frames_total, 1), said=said)
        self._live.update(self._task, completed=now.frames, said=said)
