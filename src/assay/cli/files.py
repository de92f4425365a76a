"""Files that a command writes because its user named them."""

from __future__ import annotations

from pathlib import Path

from assay.errors import UsageError

__all__ = ["refuse_existing", "write"]


def refuse_existing(path: Path, remedy: str) -> None:
    """Refuse to write over a file.

    Raises:
        UsageError: if it exists.
    """
    if path.exists():
        raise UsageError("the file exists already", where=str(path), remedy=remedy)


def write(path: Path, text: str) -> None:
    """Write a file that a command was asked for.

    Raises:
        UsageError: if it cannot be written.
    """
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError("the file cannot be written", where=str(path), found=error.strerror,
                         remedy="name another place") from error  # fmt: skip
