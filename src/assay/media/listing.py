"""A container's index: every packet listed, no picture decoded; the packets wait a while for a decoder."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.media.opening import opened
from assay.model import Clip
from assay.packets import BROKEN, said

__all__ = ["Container", "Demuxed", "contents", "index", "taken"]

MOST_PACKETS: Final = 10_000_000
"""Packets beyond which a file is refused: 92 hours at 30 Hz."""

MOST_WAITING: Final = 16_000_000
"""Bytes of packets that wait for a decoder, of all files: four cameras for a minute. What would take more is
read again, which such a file's decoding outlasts by far."""

_FILES: Final = 8
_OVERHEAD: Final = 1000  # bytes that a packet takes beside its own


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """What a video file says of itself, in presentation order, without decoding.

    Attributes:
        codec, width, height: of its first video stream; width and height in pixels.
        rate: its average rate in Hz.
        time_base: seconds per unit of ``pts``.
        pts: (n,) int64 presentation stamps of the pictures that are shown, sorted.
        t: (n,) the same in int64 ns.
        key: (n,) bool, whether decoding can start there.
        packets: pictures in the file, also those that an edit list hides.
        header: pictures that the header promises; 0 where it does not say.
        duration: seconds, from the first picture to the end of the last at ``rate``.
        error: why indexing ended before the file's end; empty if it did not.
    """

    codec: str
    width: int
    height: int
    rate: Fraction
    time_base: Fraction
    pts: NDArray[np.int64]
    t: NDArray[np.int64]
    key: NDArray[np.bool_]
    packets: int
    header: int
    duration: float
    error: str = ""

    def __len__(self) -> int:
        return len(self.pts)

    def available(self, clip: Clip) -> int:
        """Pictures of the file that are the clip's: up to the file's end where nothing else follows."""
        rest = max(len(self) - clip.first, 0)
        return rest if clip.count is None or clip.last else min(rest, clip.count)


@dataclass(frozen=True, slots=True, eq=False)
class Demuxed:
    """The packets of a file's first video stream, read once, and a decoder that has seen none of them.

    Attributes:
        packets: all of them in stored order, the empty last one included.
        context: PyAV's decoder; it needs the file no more.
        size: bytes in memory.
        error: why reading ended before the file's end; empty if it did not.
        real: the file's real path; state: what it was like when it had been read.
    """

    packets: list[Any]
    context: Any
    size: int
    error: str
    real: str
    state: tuple[int, ...]

    def __iter__(self) -> Iterator[Any]:
        """The packets, then the error."""
        yield from self.packets
        if self.error:
            raise ValueError(self.error)


def index(root: Path, path: str) -> Container:
    """Read a container's index: all packets, no pictures.

    Episodes that share a file share the work: the last few indices are kept.

    Raises:
        UnreadableError: if the file is absent, outside ``root``, or not a video that can be indexed.
    """
    with open_inside(root, path) as file:
        key = (root, path, str(file.name), _state(os.fstat(file.fileno())))
        found = _known.pop(key, None)
        if found is None:
            found = _listed(file, path)
    _known[key] = found
    if len(_known) > _FILES:
        del _known[next(iter(_known))]
    return found


def taken(clip: Clip, found: Container | None) -> Demuxed | None:
    """The packets that an index left, once, for a clip from the file's first picture on; else None.

    None as well where the file has changed or vanished since.
    """
    if found is None or clip.first:
        return None
    read = _waiting.pop(found, None)
    with suppress(OSError):
        if read is not None and read.state == _state(Path(read.real).stat()):
            return read
    return None


def contents(clip: Clip) -> Container:
    """What a clip's file says of its pictures, or the messages of a recording do.

    Raises:
        UnreadableError: as `index` does.
    """
    stored = clip.packets
    if stored is None:
        return index(clip.root, clip.path)
    t, count = stored.t, len(stored.t)
    length = float(t[-1] - t[0]) * 1e-9 if count else 0.0
    return Container(
        codec=stored.codec, width=0, height=0, rate=Fraction(0), time_base=Fraction(1, 1_000_000_000),
        pts=t, t=t, key=stored.key, packets=count, header=0, duration=length,
    )  # fmt: skip


_known: dict[tuple[Path, str, str, tuple[int, ...]], Container] = {}
_waiting: dict[Container, Demuxed] = {}


def _state(stat: os.stat_result) -> tuple[int, ...]:
    """What tells one state of a file from another."""
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _listed(file: BinaryIO, path: str) -> Container:
    with opened(file, path) as (source, stream):
        pts, flags = array("q"), bytearray()
        read = _read(source, stream, pts, flags, file, path)
        stamps, flag = np.array(pts, np.int64), np.frombuffer(bytes(flags), np.uint8)
        order = np.argsort(stamps, kind="stable")
        order = order[(flag[order] & 2) == 0]
        base = Fraction(stream.time_base or Fraction(1, 1000))
        rate = Fraction(stream.average_rate or 0)
        shown = stamps[order]
        t = _nanoseconds(shown, base)
        last = float(1 / rate) if rate else 0.0
        found = Container(
            codec=_codec(stream), width=stream.width, height=stream.height, rate=rate, time_base=base,
            pts=shown, t=t, key=(flag[order] & 1) == 1, packets=len(stamps), header=int(stream.frames or 0),
            duration=float(t[-1] - t[0]) * 1e-9 + last if len(t) else 0.0, error=read.error,
        )  # fmt: skip
    _wait(found, read)
    return found


def _read(source: Any, stream: Any, pts: array[int], flags: bytearray, file: BinaryIO, path: str) -> Demuxed:
    """All packets; appends each one's stamp and flags (1 key, 2 hidden). Too many are not held."""
    packets: list[Any] = []
    size, error = 0, ""
    try:
        for packet in source.demux(stream):
            length = packet.size
            size += length + _OVERHEAD
            if size <= MOST_WAITING:
                packets.append(packet)
            else:
                packets.clear()
            stamp = packet.pts
            if stamp is None:
                stamp = packet.dts
            if not length or stamp is None:
                continue
            pts.append(stamp)
            flags.append(packet.is_keyframe + 2 * packet.is_discard)
            if len(pts) > MOST_PACKETS:
                raise UnreadableError(
                    "the video has too many packets", where=path, found=f"over {len(pts) - 1}"
                )
    except BROKEN as broken:
        error = said(broken)
    state = _state(os.fstat(file.fileno()))
    return Demuxed(packets, stream.codec_context, size, error, str(file.name), state)


def _wait(found: Container, read: Demuxed) -> None:
    """Hold packets for a decoder; the oldest make room."""
    if read.size > MOST_WAITING:
        return
    _waiting[found] = read
    while len(_waiting) > _FILES or sum(one.size for one in _waiting.values()) > MOST_WAITING:
        del _waiting[next(iter(_waiting))]


def _nanoseconds(pts: NDArray[np.int64], base: Fraction) -> NDArray[np.int64]:
    """Exact while it fits; hostile stamps saturate in floating point instead of wrapping round."""
    step = base * 1_000_000_000
    most = int(np.abs(pts).max()) if len(pts) else 0
    if 0 <= most * step.numerator < 2**62:
        return (pts * step.numerator + step.denominator // 2) // step.denominator
    return np.clip(pts.astype(np.float64) * float(step), -(2.0**62), 2.0**62).astype(np.int64)


def _codec(stream: Any) -> str:
    return str(stream.codec_context.codec.canonical_name or stream.codec_context.name)
