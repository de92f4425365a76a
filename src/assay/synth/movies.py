"""Video files of synthetic corpora: bytes copied where they can be, packets joined exactly, else encoded.

Only MP4 is looked into, and as nothing else: a stranger's playlist under that name opens no other file.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any, Final

import av
import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.synth.takes import Movie

__all__ = ["Part", "Track", "copy", "encode", "join", "look", "make", "pictures"]

_X264: Final = {"crf": "20", "preset": "veryfast"}
_ONLY_FILE: Final = {"protocol_whitelist": "file"}


@dataclass(frozen=True, slots=True)
class Track:
    """The packets of a file: what decides whether two files may share one, and where decoding may begin.

    Attributes:
        codec, header, size: of the stream; header are the codec's own bytes.
        count: pictures; delay: pictures by which presentation runs behind decoding.
        key: per picture in presentation order, whether decoding may begin there.
    """

    codec: str
    header: bytes
    size: tuple[int, int]
    count: int
    delay: int
    key: tuple[bool, ...]

    @property
    def kind(self) -> tuple[object, ...]:
        """Equal for files whose packets may be joined."""
        return self.codec, self.header, self.size


@dataclass(frozen=True, slots=True)
class Part:
    """Pictures ``first`` to ``first + count`` of a file, as packets."""

    file: Path
    first: int
    count: int


@contextmanager
def _opened(file: Path) -> Iterator[tuple[Any, list[Any], NDArray[np.intp]]]:
    """The video stream, its packets in stored order, and the place of each in presentation order."""
    with av.open(str(file), format="mp4", options=dict(_ONLY_FILE)) as box:
        stream = box.streams.video[0]
        packets = [p for p in box.demux(stream) if p.size]
        stamps = np.array([p.dts if p.pts is None else p.pts for p in packets], np.int64)
        yield stream, packets, np.argsort(np.argsort(stamps, kind="stable"))


def look(file: Path) -> Track | None:
    """The video track of a file; None where it cannot be read."""
    try:
        with _opened(file) as (stream, packets, place):
            context = stream.codec_context
            key = np.zeros(len(packets), np.bool_)
            key[place] = [p.is_keyframe for p in packets]
            delay = int(np.max(np.arange(len(place)) - place, initial=0))
            return Track(
                str(context.codec.canonical_name), bytes(context.extradata or b""),
                (context.width, context.height), len(packets), delay, tuple(key.tolist()),
            )  # fmt: skip
    except (av.FFmpegError, IndexError, OSError, ValueError, TypeError):
        return None


def copy(file: Path, to: Path, *, link: bool = False, kept: float = 1.0) -> None:
    """Copy a file, or the first ``kept`` share of its bytes; ``link`` shares the bytes where possible."""
    to.parent.mkdir(parents=True, exist_ok=True)
    if kept < 1.0:
        data = file.read_bytes()
        to.write_bytes(data[: int(len(data) * kept)])
        return
    if link:
        try:
            os.link(file.resolve(), to)
        except OSError:  # another file system, or one without links
            shutil.copyfile(file, to)
    else:
        shutil.copyfile(file, to)


def join(to: Path, parts: Sequence[Part], fps: Fraction) -> None:
    """Put the packets of the parts into one file; picture i of all stands at exactly i / fps.

    Every part begins at a key picture and is of one `Track.kind`.

    Raises:
        UnreadableError: if a part does not begin at a key picture.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    delay = max(t.delay for p in parts if (t := look(p.file)) is not None)
    with av.open(str(to), "w") as out:
        track: Any = None
        shown = 0
        for part in parts:
            with _opened(part.file) as (stream, packets, place):
                if track is None:
                    track = out.add_stream_from_template(stream, opaque=True)
                    track.time_base = 1 / fps
                shown += _send(out, track, packets, place - part.first, part, (shown, delay, fps))


def _send(
    out: Any,
    track: Any,
    packets: Sequence[Any],
    place: NDArray[Any],
    part: Part,
    at: tuple[int, int, Fraction],
) -> int:
    shown, delay, fps = at
    mine = np.flatnonzero((place >= 0) & (place < part.count)).tolist()
    if not mine or not packets[mine[0]].is_keyframe:
        raise UnreadableError("the pictures do not begin at a key picture", where=part.file.name)
    for sent, i in enumerate(mine):
        packet = packets[i]
        packet.stream, packet.time_base, packet.duration = track, 1 / fps, 1
        packet.pts, packet.dts = shown + int(place[i]), shown + sent - delay
        out.mux(packet)
    return len(mine)


def pictures(movie: Movie) -> Iterator[NDArray[np.uint8]]:
    """Decode the pictures of a movie, (h, w, 3) RGB, each where its order shows it.

    Raises:
        UnreadableError: if there are fewer than are wanted.
    """
    order = _order(movie)
    for stretch in np.split(order, np.flatnonzero(np.diff(order) < 0) + 1):
        wanted, times = (a.tolist() for a in np.unique(stretch, return_counts=True))
        shown = dict(zip(wanted, times, strict=True))
        for at, frame in enumerate(_decoded(movie.file, movie.first, wanted[-1] + 1 if wanted else 0)):
            if at in shown:
                picture = np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)
                for _ in range(shown.pop(at)):
                    yield picture
        if shown:
            raise UnreadableError("the video has fewer pictures than are wanted", where=movie.file.name,
                                  expected=str(wanted[-1] + 1))  # fmt: skip


def _decoded(file: Path, first: int, count: int) -> Iterator[av.VideoFrame]:
    """Pictures ``first`` to ``first + count`` in presentation order, as far as they can be decoded."""
    try:
        with av.open(str(file), format="mp4", options=dict(_ONLY_FILE)) as box:
            yield from islice(box.decode(video=0), first, first + count)
    except (av.FFmpegError, IndexError):
        return


def encode(to: Path, shown: Iterable[NDArray[np.uint8]], fps: Fraction) -> None:
    """Encode (h, w, 3) RGB pictures, even in height and width, as H.264; picture i stands at i / fps."""
    with av.open(str(to), "w") as out:
        track: Any = None
        for at, picture in enumerate(shown):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            if track is None:
                track = out.add_stream("libx264", rate=fps, options=dict(_X264))
                track.width, track.height, track.pix_fmt = frame.width, frame.height, "yuv420p"
                track.codec_context.thread_count = 1  # the same bytes on every machine
            frame.pts, frame.time_base = at, 1 / fps
            out.mux(track.encode(frame))
        if track is not None:
            out.mux(track.encode())


def _order(movie: Movie) -> NDArray[np.int64]:
    """Its order; without one all pictures that the part really has."""
    if movie.order is not None:
        return movie.order
    track = look(movie.file)
    there = 0 if track is None else max(track.count - movie.first, 0)
    return np.arange(there if movie.count is None else min(movie.count, there))


def make(movie: Movie, to: Path, fps: Fraction, *, link: bool = False) -> None:
    """Write the file of a movie: bytes copied, else packets joined, else encoded as H.264; then cut.

    Raises:
        UnreadableError: if pictures that must be encoded cannot be decoded.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    if movie.count is None and movie.order is None and not movie.encode:
        copy(movie.file, to, link=link, kept=movie.kept)
        return
    part = None if movie.encode else _run(movie)
    if part is not None:
        join(to, [part], fps)
    else:
        encode(to, pictures(movie), fps)
    if movie.kept < 1.0:
        copy(to, to, kept=movie.kept)


def _run(movie: Movie) -> Part | None:
    """The movie as packets of its file, where it is one unbroken run that a decoder can begin at."""
    order, track = _order(movie), look(movie.file)
    if track is None or not len(order) or np.any(np.diff(order) != 1):
        return None
    first = movie.first + int(order[0])
    whole = first == 0 and len(order) == track.count
    if not whole and (track.delay or first + len(order) > track.count or not track.key[first]):
        return None
    return Part(movie.file, first, len(order))
