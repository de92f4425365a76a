"""Video files alone: one file is one episode with one camera; or a part that a sheet adds to another corpus.

Layout. MP4, MOV, MKV, WebM or AVI with one stream of pictures; nothing else is known of them.

Clock. The presentation times of the container, read without decoding. Where they leave the grid of the
average rate (phones write what the sensor did) they are stamps, made on receipt as far as anybody can tell;
where they lie on it they were counted, and are nominal.

Traps met. MKV rounds times to milliseconds, MP4 to its time base: that much off the grid is rounding.
Pictures that an encoder dropped leave holes in a grid that is still counted. Any other corpus has videos too:
this reader takes only what no other claims.
"""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.media import Container, index
from assay.model import Claim, Clip, Clock, Episode, Listing, Part, Ref, Role, Source, Stream, StreamDecl
from assay.motion.walk import Peek, files_of, share_of
from assay.reader import Probe, reader
from assay.sheet import Sheet

__all__ = ["READER", "clock_of"]

NAME: Final = "video"
SUFFIXES: Final = (".mp4", ".mov", ".mkv", ".webm", ".avi")
CAMERA: Final = "camera"
_BOXES: Final = (b"ftyp", b"moov", b"mdat", b"free", b"wide", b"skip", b"pnot")
_SHARE: Final = 0.3
"""Of what a reader of a format that has videos scores."""
_GRID: Final = 0.01
"""Periods off the grid beyond which, with the rounding of the time base, times were not counted."""


def peek(root: Path, file: str) -> list[Peek]:
    """One clip if the file begins as a video does."""
    with open_inside(root, file) as stream:
        head = stream.read(12)
    known = head[4:8] in _BOXES or head[:4] in (b"\x1aE\xdf\xa3", b"RIFF")
    return [Peek("video")] if known else []


def probe(path: Path) -> Probe:
    """How many of the first video files begin as videos do; a weak claim."""
    score, reason, weight = share_of(path, SUFFIXES, peek, "videos")
    return Probe(_SHARE * score, reason, weight)


def discover(path: Path) -> Listing:
    """Every video file below the folder; one episode each."""
    root = path.parent if path.is_file() else path
    names = [file for _, file in files_of(path, SUFFIXES)]
    stems = [file.rpartition(".")[0] for file in names]
    ids = [s if stems.count(s) == 1 else f for s, f in zip(stems, names, strict=True)]
    refs = tuple(Ref(i, (Part(CAMERA, NAME, file),)) for i, file in zip(ids, names, strict=True))
    return Listing(NAME, root, refs, None, {"format": "video"}, (StreamDecl(CAMERA, Role.CAMERA),))


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open a video.

    Raises:
        UnreadableError: if it cannot be indexed, or its index ends early.
    """
    file = ref.parts[0].path
    _complete(listing.root, file)
    found = index(listing.root, file)
    if found.error or not len(found):
        raise UnreadableError("the video ends early", where=file, found=found.error or "no picture",
                              remedy="deliver the whole file")  # fmt: skip
    promised = float(abs(found.header - len(found))) if found.header else 0.0
    said = str(found.header or "not said")
    claim = Claim("declared", "pictures", said, str(len(found)), promised, CAMERA, file)
    stream = Stream(
        CAMERA, Role.CAMERA, found.t - found.t[0], np.empty((len(found), 0)), clock=clock_of(found),
        rate=found.rate or None, clip=Clip(listing.root, file),
    )  # fmt: skip
    return Episode(
        ref.id, (stream,) if want is None or Role.CAMERA in want else (),
        source=Source(NAME, listing.root, (file,), ("times: since the first picture",),
                      ("file", "pointer", "boundary")),
        claims=(claim,), declared=listing.streams, meta={"format": "video", "rows": len(found)},
    )  # fmt: skip


def _complete(root: Path, file: str) -> None:
    """The boxes of an MP4 file end where the file does; FFmpeg forgives a last one that is cut."""
    with open_inside(root, file) as stream:
        size, at = stream.seek(0, os.SEEK_END), 0
        while at + 8 <= size:
            stream.seek(at)
            head = stream.read(16)
            if at == 0 and head[4:8] not in _BOXES:
                return
            length = int.from_bytes(head[:4], "big")
            length = int.from_bytes(head[8:], "big") if length == 1 else length or size - at
            at += max(length, 8)
    if at != size:
        raise UnreadableError("the video was cut", where=file, found=f"{size} bytes", expected=str(at),
                              remedy="deliver the whole file")  # fmt: skip


def clock_of(found: Container) -> Clock:
    """Whether presentation times were counted from a rate or stamped."""
    if len(found) < 3 or not found.rate:
        return Clock.NOMINAL
    return Clock.NOMINAL if _counted(found.pts, found.time_base) else Clock.RECEIVE


def _counted(pts: NDArray[np.int64], base: Fraction) -> bool:
    """Whether all times lie on a grid of their commonest step, up to the rounding of the time base."""
    since = (pts - pts[0]).astype(np.float64)
    step = float(np.median(np.diff(since)))
    if step <= 0:
        return False
    index_ = np.rint(since / step)
    period = float(np.polyfit(index_, since, 1)[0])
    off = np.abs(since - index_ * period)
    return bool(off.max() <= 1.0 + _GRID * period)


READER: Final = reader(
    name=NAME, version=2,
    title="Video files alone (MP4, MOV, MKV, WebM, AVI), with their presentation times",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
