"""Containers and decoding: an index without bytes of pictures, one luma pass that feeds all taps.

Files come from strangers. They are opened only through `assay.inside` and handed to FFmpeg as a file
object with a fixed container format, so that no playlist, reference or network protocol opens anything
else; one thread; pictures and packet counts are bounded. Whatever is broken is an `UnreadableError`.

Sources: ISO/IEC 14496-12 (boxes, edit lists), FFmpeg through PyAV. Packets come in decoding order:
presentation times of H.264 with B-frames have to be sorted.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

import av
import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.inside import open_inside, path_inside
from assay.model import Clip
from assay.packets import BROKEN, MOST_PIXELS, STRICT, drained, frames_of, said

__all__ = ["Container", "Decoded", "Tap", "contents", "index", "luma"]

MOST_PACKETS: Final = 10_000_000
"""Packets beyond which a file is refused: 92 hours at 30 Hz."""

MOST_SAMPLES: Final = 50_000_000
"""Samples of sound in one piece: 17 minutes at 48 kHz."""

_CHUNK_BYTES: Final = 5_000_000  # 16 pictures of 640 x 480: few calls, and still in the cache
_PLANAR: Final = ("yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p", "nv12", "nv21", "gray")
# Only what is in the file itself: no other protocol, no external data references.
_OPTIONS: Final = {"protocol_whitelist": "none", "enable_drefs": "0", "use_absolute_path": "0"}


class Tap(Protocol):
    """What looks at pictures while they pass."""

    def feed(self, luma: NDArray[np.uint8], t: NDArray[np.int64], /) -> None:
        """Take (k, h, w) uint8 luma and (k,) int64 ns; the array is overwritten afterwards."""

    def value(self) -> Any:
        """What was gathered."""


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


def index(root: Path, path: str) -> Container:
    """Read a container's index: all packets, no pictures.

    Episodes that share a file share the work: the last few indices are kept.

    Raises:
        UnreadableError: if the file is absent, outside ``root``, or not a video that can be indexed.
    """
    state = open_inside(root, path)
    with state:
        stat = os.fstat(state.fileno())
    return _index(root, path, str(path_inside(root, path)), stat.st_size, stat.st_mtime_ns)


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


def luma(clip: Clip, taps: Sequence[Tap]) -> Decoded:
    """Decode a clip once, in presentation order, and feed its luma to all ``taps`` in chunks.

    Pictures are chosen by their presentation stamps, exactly, also where episodes share one file. After a
    picture that cannot be decoded, decoding goes on at the next key picture.

    Raises:
        UnreadableError: if the container cannot be indexed.
    """
    found = contents(clip)
    wanted = _wanted(clip, found)
    seen = np.zeros(len(wanted), np.bool_)
    complaints: list[str] = []
    t = found.t[clip.first : clip.first + len(wanted)]
    t = t - (t[0] if len(t) else 0)
    chunk = np.empty((0, 0, 0), np.uint8)
    at: list[int] = []
    frames = (
        _decode(clip, found, wanted, complaints)
        if clip.packets is None
        else frames_of(clip.packets, complaints)
    )
    for position, frame in frames:
        plane = _luma(frame)
        if chunk.shape[1:] != plane.shape:
            if chunk.size:
                complaints.append(f"the picture's size changes to {plane.shape[1]} x {plane.shape[0]}")
                break
            chunk = np.empty((max(1, _CHUNK_BYTES // plane.size), *plane.shape), np.uint8)
        chunk[len(at)] = plane
        at.append(position)
        seen[position] = True
        if len(at) == len(chunk):
            _feed(taps, chunk, t, at)
    _feed(taps, chunk, t, at)
    key = found.key[clip.first : clip.first + len(wanted)]
    return Decoded(t[seen], key[seen], len(wanted), t[~seen], complaints[0] if complaints else "")


@dataclass(frozen=True, slots=True, eq=False)
class Sound:
    """A piece of sound.

    Attributes:
        t0: int64 ns of the first sample, on the container's time line (that of `Container.t`).
        rate: samples per second.
        x: (n,) float32, all channels averaged, full scale 1; NaN where nothing could be decoded.
    """

    t0: int
    rate: int
    x: NDArray[np.float32]


def sound(root: Path, path: str, t0: int, t1: int) -> Sound | None:
    """The first sound track of a file between two times of its time line, ns; None where it has none.

    At the rate at which it was recorded, so that no resampling moves an onset.

    Raises:
        UnreadableError: if the file is absent, outside ``root``, or no container that is read here.
    """
    with _container(root, path) as source:
        if not source.streams.audio:
            return None
        stream = source.streams.audio[0]
        rate = int(stream.rate or 0)
        n = round(max(t1 - t0, 0) * rate * 1e-9)
        if not 1000 <= rate <= 768_000 or n > MOST_SAMPLES:
            raise UnreadableError(
                "the sound track is not one of a microphone", where=path, found=f"{rate} Hz, {n} samples"
            )
        stream.codec_context.thread_count = 1
        x = np.full(n, np.nan, np.float32)
        with suppress(*BROKEN):  # what could not be decoded stays NaN
            _fill(source, stream, x, t0, rate)
        return Sound(t0, rate, x)


def _fill(source: Any, stream: Any, x: NDArray[np.float32], t0: int, rate: int) -> None:
    """Put decoded frames where their presentation stamps say."""
    mono = av.AudioResampler(format="flt", layout="mono", rate=rate)
    source.seek(max(t0 // 1000 - 200_000, 0), backward=True)  # 0.2 s early: codecs need a run-up
    following = None
    for frame in source.decode(stream):
        if frame.pts is None:
            continue
        first = round(float(frame.pts * frame.time_base - Fraction(t0, 10**9)) * rate)
        if following is not None and abs(first - following) < rate // 400:
            first = following  # Matroska rounds stamps to whole milliseconds: the samples themselves go on
        if first >= len(x):
            return
        frame.pts = None
        part = np.concatenate(
            [f.to_ndarray().ravel() for f in mono.resample(frame)] or [np.empty(0, x.dtype)]
        )
        following = first + len(part)
        skip = min(max(-first, 0), len(part))
        kept = part[skip : max(len(x) - first, skip)]
        x[first + skip : first + skip + len(kept)] = kept


# ------------------------------------------------------------------------------------------- the index


@lru_cache(maxsize=8)
def _index(root: Path, path: str, real: str, size: int, mtime: int) -> Container:
    with _opened(root, path) as (source, stream):
        pts, flags = array("q"), bytearray()
        error = _collect(source, stream, pts, flags, path)
        stamps, flag = np.array(pts, np.int64), np.frombuffer(bytes(flags), np.uint8)
        order = np.argsort(stamps, kind="stable")
        order = order[(flag[order] & 2) == 0]
        base = Fraction(stream.time_base or Fraction(1, 1000))
        rate = Fraction(stream.average_rate or 0)
        shown = stamps[order]
        t = _nanoseconds(shown, base)
        last = float(1 / rate) if rate else 0.0
        return Container(
            codec=_codec(stream), width=stream.width, height=stream.height, rate=rate, time_base=base,
            pts=shown, t=t, key=(flag[order] & 1) == 1, packets=len(stamps), header=int(stream.frames or 0),
            duration=float(t[-1] - t[0]) * 1e-9 + last if len(t) else 0.0, error=error,
        )  # fmt: skip


def _collect(source: Any, stream: Any, pts: array[int], flags: bytearray, path: str) -> str:
    """Append every packet's stamp and flags (1 key, 2 hidden); returns why it ended early, if it did."""
    try:
        for packet in source.demux(stream):
            stamp = packet.pts if packet.pts is not None else packet.dts
            if not packet.size or stamp is None:
                continue
            pts.append(stamp)
            flags.append(packet.is_keyframe + 2 * packet.is_discard)
            if len(pts) > MOST_PACKETS:
                raise UnreadableError(
                    "the video has too many packets", where=path, found=f"over {len(pts) - 1}"
                )
    except BROKEN as error:
        return said(error)
    return ""


def _nanoseconds(pts: NDArray[np.int64], base: Fraction) -> NDArray[np.int64]:
    """Exact while it fits; hostile stamps saturate in floating point instead of wrapping round."""
    step = base * 1_000_000_000
    most = int(np.abs(pts).max()) if len(pts) else 0
    if 0 <= most * step.numerator < 2**62:
        return (pts * step.numerator + step.denominator // 2) // step.denominator
    return np.clip(pts.astype(np.float64) * float(step), -(2.0**62), 2.0**62).astype(np.int64)


def _codec(stream: Any) -> str:
    return str(stream.codec_context.codec.canonical_name or stream.codec_context.name)


# -------------------------------------------------------------------------------------------- opening


@contextmanager
def _opened(root: Path, path: str) -> Iterator[tuple[Any, Any]]:
    """The container and its first video stream, closed afterwards."""
    with _container(root, path) as source:
        yield source, _video_stream(source, path)


@contextmanager
def _container(root: Path, path: str) -> Iterator[Any]:
    """The container, closed afterwards."""
    with open_inside(root, path) as file:
        kind = _container_format(file, path)
        try:
            source: Any = av.open(file, format=kind, options=dict(_OPTIONS), buffer_size=1 << 18)
        except BROKEN as error:
            raise UnreadableError(
                "the video cannot be opened", where=path, found=_complaint(file, kind, error),
                remedy="deliver the whole file",
            ) from error  # fmt: skip
        with source:
            yield source


def _video_stream(source: Any, path: str) -> Any:
    if not source.streams.video:
        raise UnreadableError("the file holds no video stream", where=path)
    stream = source.streams.video[0]
    context = stream.codec_context
    if context is None or not context.width or not context.height:
        raise UnreadableError("the video's codec or size is unknown", where=path)
    if context.width * context.height > MOST_PIXELS:
        raise UnreadableError(
            "the video's pictures are too large", where=path, found=f"{context.width} x {context.height}",
            expected=f"at most {MOST_PIXELS // 1_000_000} million pixels",
        )  # fmt: skip
    context.thread_count = 1
    context.options = dict(STRICT)
    return stream


def _container_format(file: BinaryIO, path: str) -> str:
    """FFmpeg's name of the format by the first bytes: a closed list, none of which refers to other files."""
    head = file.read(16)
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"free", b"wide", b"skip", b"pnot"):
        _refuse_bomb(file, path)
        kind = "mp4"
    elif head[:4] == b"\x1aE\xdf\xa3":
        kind = "matroska"
    elif head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        kind = "avi"
    elif head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        kind = "wav"
    else:
        raise UnreadableError(
            "the file is not a video", where=path, found="an empty file" if not head else repr(head[:8]),
            expected="MP4, MOV, MKV, WebM or AVI (sound: WAV)",
        )  # fmt: skip
    file.seek(0)
    return kind


def _boxes(file: BinaryIO, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Name, body start and end of the boxes between two places of an MP4 file, nested tables included."""
    while start + 8 <= end:
        file.seek(start)
        head = file.read(16)
        size, name = int.from_bytes(head[:4], "big"), head[4:8]
        body = 8
        if size == 1 and len(head) == 16:
            size, body = int.from_bytes(head[8:], "big"), 16
        size = end - start if size == 0 else size
        if size < body:
            return
        yield name, start + body, min(start + size, end)
        if name in (b"moov", b"trak", b"mdia", b"minf", b"stbl"):
            yield from _boxes(file, start + body, min(start + size, end))
        start += size


def _refuse_bomb(file: BinaryIO, path: str) -> None:
    # FFmpeg makes room for every sample that a table of equal sizes promises, without looking for its bytes.
    total = file.seek(0, os.SEEK_END)
    for name, start, _ in _boxes(file, 0, total):
        if name == b"stsz":
            file.seek(start + 8)
            count = int.from_bytes(file.read(4), "big")
            if count > total:
                raise UnreadableError(
                    "the video promises more pictures than the file has bytes", where=path,
                    found=f"{count} in {total} bytes",
                )  # fmt: skip


def _complaint(file: BinaryIO, kind: str, error: BaseException) -> str:
    if kind == "mp4":
        names = [name for name, _, _ in _boxes(file, 0, file.seek(0, os.SEEK_END))]
        if b"moov" not in names and b"moof" not in names:
            return "no index (moov): the file was cut, or its recording never ended"
    return said(error)


# ------------------------------------------------------------------------------------------- decoding


def _wanted(clip: Clip, found: Container) -> NDArray[np.int64]:
    return found.pts[clip.first : None if clip.count is None else clip.first + clip.count]


def _decode(
    clip: Clip, found: Container, wanted: NDArray[np.int64], complaints: list[str]
) -> Iterator[tuple[int, Any]]:
    """(position in ``wanted``, frame) for each picture that can be decoded, in presentation order."""
    if not len(wanted):
        return
    before = found.pts[: clip.first + 1][found.key[: clip.first + 1]]
    start = int(before[-1]) if clip.first and len(before) else None
    nearest = -1
    for position, frame in _matched(clip, wanted, complaints, start):
        if nearest < 0 and position and start is not None:
            break  # the seek landed too late: decode from the beginning instead
        nearest = position
        yield position, frame
    else:
        if nearest >= 0 or start is None:
            return
    yield from _matched(clip, wanted, complaints, None)


def _matched(
    clip: Clip, wanted: NDArray[np.int64], complaints: list[str], start: int | None
) -> Iterator[tuple[int, Any]]:
    done, stamps = -1, wanted.tolist()
    with _opened(clip.root, clip.path) as (source, stream):
        if start is not None:
            source.seek(start, stream=stream, backward=True)
        for frame in _all_frames(source, stream, complaints):
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


def _all_frames(source: Any, stream: Any, complaints: list[str]) -> Iterator[Any]:
    """Frames as the decoder gives them; after an error it starts afresh at the next key picture."""
    context, packets, lost = stream.codec_context, source.demux(stream), False
    while True:
        try:
            packet = next(packets, None)
            if packet is None:
                return
            if lost and packet.size and not packet.is_keyframe:
                continue
            lost = False
            ready = packet.decode()
        except BROKEN as error:
            complaints.append(said(error))
            ready, lost = drained(context), True
        yield from ready
        if lost:
            context.flush_buffers()


def _luma(frame: Any) -> NDArray[np.uint8]:
    """(h, w) brightness: the plane itself where there is one of 8 bits, else converted."""
    if frame.format.name not in _PLANAR:
        frame = frame.reformat(format="gray")
    plane = frame.planes[0]
    rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
    return rows[: frame.height, : frame.width]


def _feed(taps: Sequence[Tap], chunk: NDArray[np.uint8], t: NDArray[np.int64], at: list[int]) -> None:
    if at:
        for tap in taps:
            tap.feed(chunk[: len(at)], t[at])
        at.clear()
