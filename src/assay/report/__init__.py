"""Reports of a run: one self-contained page, and the verdicts in formats for machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.report.tables import RunTables

__all__ = ["write_report"]


def write_report(run: RunTables, to: Path) -> Path:
    """Write the page of a run.

    Args:
        run: a finished run (`assay.store.Run`).
        to: the file, or a folder that gets ``report.html``.

    Returns:
        The file that was written.

    Raises:
        RunError: if it cannot be written.
    """
    from assay import plugs
    from assay.errors import RunError
    from assay.report.page import render

    path = to / "report.html" if to.is_dir() else to
    text = render(run, plugs.gates())
    draft = path.with_name(path.name + ".part")
    try:
        draft.write_text(text, "utf-8")
        draft.replace(path)
    except OSError as error:
        raise RunError("the report cannot be written", where=str(path), found=error.strerror or str(error),
                       remedy="make room or name another place") from error  # fmt: skip
    return path
