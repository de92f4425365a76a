"""The contract of a reader: one file with `probe`, `discover` and `open`, bound together by `reader`.

A reader reports; it never repairs. It may rename, transpose and convert units, and lists that it did in
`Source.conversions`. It never drops, fills, clips, resamples or reorders. Every file is opened through
`assay.inside`. Whatever the metadata says that the files contradict becomes a `Claim`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assay.model import Episode, Listing, Ref, Role
from assay.sheet import Sheet

__all__ = ["Probe", "Reader", "reader"]


@dataclass(frozen=True, slots=True)
class Probe:
    """How sure a reader is that a folder or file is its own: 0 (not at all) to 1, and why.

    ``weight`` counts among readers that are as sure: how many files each recognised.
    ``lacks``: the extra that is not installed and without which files of its own cannot be read; score 0.
    """

    score: float
    reason: str
    weight: float = 0.0
    lacks: str = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """A format that Assay can open.

    Attributes:
        name: e.g. ``lerobot``; what ``Part.reader`` holds.
        version: rises when what it yields for the same files changes.
        title: one line for lists.
        probe: (path) → `Probe`, looking at names and small metadata only; never raises.
        discover: (root) → `Listing`, reading metadata only.
            Raises `UnreadableError` if the corpus as a whole cannot be listed.
        open: (listing, ref, want, sheet) → `Episode`. ``want`` names the roles that will be looked at
            (None: all); bytes of others need not be read. Raises `UnreadableError` for a broken file.
        doc: the file's docstring: layout, versions, traps.
    """

    name: str
    version: int
    title: str
    probe: Callable[[Path], Probe]
    discover: Callable[[Path], Listing]
    open: Callable[[Listing, Ref, frozenset[Role] | None, Sheet], Episode]
    doc: str


def reader(
    *,
    name: str,
    version: int,
    title: str,
    probe: Callable[[Path], Probe],
    discover: Callable[[Path], Listing],
    open_: Callable[[Listing, Ref, frozenset[Role] | None, Sheet], Episode],
    doc: str | None,
) -> Reader:
    """Bind the three functions of a reader's file; refuses a file without a docstring."""
    if not doc or not doc.strip():
        raise TypeError(f"reader {name}: its file needs a docstring (layout, versions, traps)")
    return Reader(name, version, title, probe, discover, open_, doc.strip())
