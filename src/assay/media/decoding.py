"""One pass over a clip's pictures, in presentation order, that feeds their luma to all taps.

A picture that is the one before to the last bit is found by comparing the two, which is a fraction of what
copying, averaging and digesting it would take; taps see it once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import Kernel, compiled
from assay.inside import open_inside
from assay.media.listing import Container, Demuxed, contents, taken
from assay.media.opening import opened
from assay.model import Clip
from assay.packets import BROKEN, drained, frames_of, said

__all__ = ["Decoded", "Tap", "luma"]

_CHUNK_BYTES: Final = 1_000_000  # 20 pictures of 224 x 224: few calls, and still in the cache
_PLANAR: Final = frozenset(
    ("yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p", "nv12", "nv21", "gray")
)


class Tap(Protocol):
    """What looks at pictures while they pass."""

    def feed(self, luma: NDArray[np.uint8], t: NDArray[np.int64], which: NDArray[np.intp], /) -> None:
        """Take (k, h, w) uint8 luma, (n,) int64 ns, and (n,) which of the k pictures is seen at each time.

        Pictures that repeat come once. The array is the decoder's or overwritten afterwards: read, not kept.
        """

    def value(self) -> Any:
        """What was gathered."""


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """What one pass over a clip gave.

    Attributes:
        t: (n,) int64 ns since the clip's first picture, of the pictures that were decoded.
        key: (n,) bool, whether each was coded without reference to others.
        asked: pictures that the index has for this clip.
        missing: (m,) int64 ns of those that could not be decoded; the first is where it broke.
        error: the decoder's first complaint, empty if it had none.
    """

    t: NDArray[np.int64]
    key: NDArray[np.bool_]
    asked: int
    missing: NDArray[np.int64]
    error: str


def luma(clip: Clip, taps: Sequence[Tap], found: Container | None = None) -> Decoded:
    """Decode a clip once, in presentation order, and feed its luma to all ``taps`` in chunks.

    With the ``found`` contents of the clip's file, packets that still wait from then are decoded without
    another look at the file.

    Pictures are chosen by their presentation stamps, exactly, also where episodes share one file. After a
    picture that cannot be decoded, decoding goes on at the next key picture.

    Raises:
        UnreadableError: if the container cannot be indexed.
    """
    read = taken(clip, found)
    if found is None or read is None:
        found = contents(clip)
        read = taken(clip, found)
    wanted = found.pts[clip.first : None if clip.count is None else clip.first + clip.count]
    t = found.t[clip.first : clip.first + len(wanted)]
    t = t - (t[0] if len(t) else 0)
    complaints: list[str] = []
    chunk = _Chunk(taps, t)
    frames = (
        _decode(clip, found, wanted, complaints, read)
        if clip.packets is None
        else frames_of(clip.packets, complaints)
    )
    for position, frame in frames:
        if not chunk.take(position, frame):
            complaints.append(f"the picture's size changes to {frame.width} x {frame.height}")
            break
    chunk.feed()
    seen = np.zeros(len(wanted), np.bool_)
    seen[chunk.done] = True
    key = found.key[clip.first : clip.first + len(wanted)]
    return Decoded(t[seen], key[seen], len(wanted), t[~seen], complaints[0] if complaints else "")


@dataclass(slots=True, eq=False)
class _Chunk:
    """Different pictures on their way to the taps.

    Attributes:
        luma: (k, h, w) room for them; count: how many there are.
        at: positions of the pictures since the last feed; which: the one of ``luma`` that each is.
        done: positions of all pictures before these.
        again: `_again`, compiled.
    """

    taps: Sequence[Tap]
    t: NDArray[np.int64]
    luma: NDArray[np.uint8] = field(default_factory=lambda: np.empty((0, 0, 0), np.uint8))
    count: int = 0
    at: list[int] = field(default_factory=list)
    which: list[int] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    again: Kernel = field(default_factory=lambda: compiled(_again, _AGAIN)[0])

    def take(self, position: int, frame: Any) -> bool:
        """Keep a picture, unless it is the last one again; False if its size is not that of the others."""
        if frame.format.name not in _PLANAR:
            frame = frame.reformat(format="gray")
        plane = frame.planes[0]
        flat, line = np.frombuffer(plane, np.uint8), plane.line_size
        height, width = frame.height, frame.width
        if self.luma.shape[1:] != (height, width):
            if self.luma.size:
                return False
            self.luma = np.empty((max(1, _CHUNK_BYTES // (height * width)), height, width), np.uint8)
        if not (self.count and self.again(flat, line, self.luma, self.count - 1)):
            if self.count == len(self.luma):
                self.feed()
            rows = flat.reshape(-1, line)[:height, :width]
            if len(self.luma) == 1:  # a large picture is looked at where the decoder put it
                self.luma = np.ascontiguousarray(rows)[np.newaxis]
            else:
                self.luma[self.count] = rows
            self.count += 1
        self.at.append(position)
        self.which.append(self.count - 1)
        return True

    def feed(self) -> None:
        """Give the taps what there is."""
        if self.count:
            luma, t, which = self.luma[: self.count], self.t[self.at], np.array(self.which, np.intp)
            for tap in self.taps:
                tap.feed(luma, t, which)
        self.done += self.at
        self.count = 0
        self.at.clear()
        self.which.clear()


def _again(
    flat: NDArray[np.uint8], line: int, luma: NDArray[np.uint8], at: int
) -> bool:  # pragma: no cover - compiled
    # Row by row, and within a row without a way out, which the compiler then does 64 bytes at a time.
    height, width = luma.shape[1:]
    if line < width or len(flat) < line * (height - 1) + width:
        return False
    for row in range(height):
        there, here = flat[row * line : row * line + width], luma[at, row]
        other = np.uint8(0)
        for c in range(width):
            other = np.uint8(other | np.uint8(there[c] ^ here[c]))
        if other != 0:
            return False
    return True


_AGAIN: Final = "boolean(uint8[::1], int64, uint8[:,:,::1], int64)"


def _decode(
    clip: Clip, found: Container, wanted: NDArray[np.int64], complaints: list[str], read: Demuxed | None
) -> Iterator[tuple[int, Any]]:
    """(position in ``wanted``, frame) for each picture that can be decoded, in presentation order."""
    if not len(wanted):
        return
    if read is not None:
        yield from _matched(_frames(read, read.context, complaints), wanted)
        return
    before = found.pts[: clip.first + 1][found.key[: clip.first + 1]]
    start = int(before[-1]) if clip.first and len(before) else None
    nearest = -1
    for position, frame in _matched(_opened_frames(clip, complaints, start), wanted):
        if nearest < 0 and position and start is not None:
            break  # the seek landed too late: decode from the beginning instead
        nearest = position
        yield position, frame
    else:
        if nearest >= 0 or start is None:
            return
    yield from _matched(_opened_frames(clip, complaints, None), wanted)


def _matched(frames: Iterable[Any], wanted: NDArray[np.int64]) -> Iterator[tuple[int, Any]]:
    """(position in ``wanted``, frame) of the frames that are wanted."""
    done, stamps = -1, wanted.tolist()
    for frame in frames:
        stamp = frame.pts if frame.pts is not None else frame.dts
        if stamp is None or stamp < stamps[0]:
            continue
        if stamp > stamps[-1]:
            return
        at = done + 1  # almost always, a second picture of one stamp included
        if at == len(stamps) or stamps[at] != stamp:
            at = bisect_left(stamps, stamp)
        if at > done and stamps[at] == stamp and not frame.is_corrupt:
            done = at
            yield at, frame


def _opened_frames(clip: Clip, complaints: list[str], start: int | None) -> Iterator[Any]:
    """Frames of the file, opened anew, from the key picture at ``start`` (a stamp) on."""
    with open_inside(clip.root, clip.path) as file, opened(file, clip.path) as (source, stream):
        if start is not None:
            source.seek(start, stream=stream, backward=True)
        yield from _frames(source.demux(stream), stream.codec_context, complaints)


def _frames(demuxed: Iterable[Any], context: Any, complaints: list[str]) -> Iterator[Any]:
    """Frames as the decoder gives them; after an error it starts afresh at the next key picture."""
    packets, lost = iter(demuxed), False
    while True:
        try:
            packet = next(packets, None)
            if packet is None:
                return
            if lost and packet.size and not packet.is_keyframe:
                continue
            lost = False
            ready = context.decode(packet)
        except BROKEN as error:
            complaints.append(said(error))
            ready, lost = drained(context), True
        yield from ready
        if lost:
            context.flush_buffers()
