"""The one door to a stranger's files: nothing outside the corpus folder is ever opened."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from assay.errors import OutsideCorpusError, UnreadableError

__all__ = ["open_inside", "path_inside"]


def path_inside(root: Path, relative: str) -> Path:
    """The real path of ``relative`` below ``root``, links followed.

    A snapshot of the Hugging Face cache keeps its bytes in ``../../blobs`` beside it; links to there are
    the layout of that cache and are admitted, no other way out is.

    Args:
        root: the corpus folder (or, for a corpus of one file, that file's folder).
        relative: a path as the corpus states it; may be hostile.

    Raises:
        OutsideCorpusError: if the path, or a link in it, leads out of the corpus.
        UnreadableError: if the path cannot be followed (a link to itself, a name that is no text).
    """
    if "\x00" in relative:
        raise OutsideCorpusError("a file name holds a NUL byte", where=repr(relative))
    if not relative.isascii() and any("\ud800" <= c <= "\udfff" for c in relative):
        raise UnreadableError("the file's name is no text in UTF-8", where=ascii(relative)[1:-1],
                              remedy="rename the file")  # fmt: skip
    base = root.resolve()
    try:
        path = (base / relative).resolve()
        path.exists()  # a name that is too long, or a folder closed to us, shows only here
    except (OSError, RuntimeError, ValueError) as error:
        raise UnreadableError(
            "the path cannot be followed", where=ascii(relative)[1:-1], found=type(error).__name__
        ) from error
    if path.is_relative_to(base) or path.is_relative_to(_blobs(base)):
        return path
    raise OutsideCorpusError(
        "the path leads outside the corpus",
        where=relative,
        expected="a file below the corpus folder",
        remedy="copy the file into the corpus or correct the metadata that names it",
    )


def open_inside(root: Path, relative: str) -> BinaryIO:
    """Open a regular file of the corpus for reading.

    Raises:
        OutsideCorpusError: if it is not inside ``root``.
        UnreadableError: if it is absent, not a regular file, or not readable.
    """
    path = path_inside(root, relative)
    try:
        if not path.is_file():  # a device or a pipe could block for ever
            state = "not a regular file" if path.exists() else "absent"
            raise UnreadableError("the file cannot be opened", where=relative, found=state)
        return path.open("rb")
    except OSError as error:
        raise UnreadableError(
            "the file cannot be opened", where=relative, found=error.strerror or str(error)
        ) from error


def _blobs(base: Path) -> Path:
    if base.parent.name == "snapshots" and (base.parent.parent / "blobs").is_dir():
        return base.parent.parent / "blobs"
    return base
