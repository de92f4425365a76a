"""C3D: labelled marker positions of an optical motion capture.

Layout (c3d.org). Blocks of 512 bytes: a header, parameters in groups (POINT: USED, SCALE, RATE, FRAMES,
UNITS, LABELS, Y_SCREEN), then per frame the points (x, y, z, residual) and analog samples, as floats where
SCALE is negative, else as 16-bit integers times SCALE; byte order and float format of Intel, MIPS or DEC.

Each file is one episode with the stream ``markers``. A negative residual is the format's mark for a point
that was not seen: its coordinates become NaN, which is listed. Units and rate are stated; the up axis is
where Y_SCREEN says so, else from head and foot markers, else unresolved. Analog channels are not read.

Traps met. Frame counts are 16-bit and wrap: LONG_FRAMES or the header are asked too. Labels beyond 255 go
on in LABELS2. Labels may be fewer than points.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.model import Episode, Listing, Ref, Role, StreamDecl
from assay.motion.take import Body, Floats, Take, body_channels, episode, rate_of
from assay.motion.walk import Peek, list_clips, share_of
from assay.reader import Probe, reader
from assay.sheet import Sheet

__all__ = ["READER"]

NAME: Final = "c3d"
SUFFIXES: Final = (".c3d",)
BLOCK: Final = 512
MOST_BYTES: Final = 2 << 30
INTEL, DEC, MIPS = 84, 85, 86
UNITS: Final = {"m": 1.0, "cm": 0.01, "mm": 0.001, "millimeters": 0.001, "meters": 1.0}


@dataclass(frozen=True, slots=True)
class Head:
    """What header and parameters say: counts, rate, scale, labels, and where the data begins."""

    points: int
    analog: int
    frames: int
    rate: float
    scale: float
    start: int
    order: str
    dec: bool
    labels: tuple[str, ...]
    unit: str
    up: str


Parameters = dict[str, Any]


def _head(data: bytes, file: str) -> Head:
    if len(data) < BLOCK or data[1] != 0x50:
        raise UnreadableError("the file has no C3D header", where=file)
    at = (data[0] - 1) * BLOCK
    if at < BLOCK or at + 4 > len(data):
        raise UnreadableError("the parameters lie beyond the file", where=file)
    processor = data[at + 3]
    if processor not in (INTEL, DEC, MIPS):
        raise UnreadableError(
            "the processor type is unknown", where=file, found=str(processor), expected="84, 85, 86"
        )
    order = ">" if processor == MIPS else "<"
    said = _parameters(data[at : at + max(1, data[at + 2]) * BLOCK], order, processor == DEC)
    try:
        return _counted(data, said, order, processor == DEC)
    except (ValueError, OverflowError) as error:  # a count that is no number
        raise UnreadableError("the parameters are not usable", where=file, found=str(error)[:80]) from None


def _counted(data: bytes, said: Parameters, order: str, dec: bool) -> Head:
    words = np.frombuffer(data[:24], f"{order}u2")
    labels = [*_labels(said, "POINT:LABELS"), *_labels(said, "POINT:LABELS2")]
    points = _number(said, "POINT:USED", int(words[1]))
    if not 0 <= points < 65536:
        raise ValueError(f"{points} points")
    return Head(
        points=int(points), analog=int(words[2]), frames=_frames(said, words),
        rate=_number(said, "POINT:RATE", float(_floats(data[20:24], order, dec)[0])),
        scale=_number(said, "POINT:SCALE", float(_floats(data[12:16], order, dec)[0])),
        start=(int(_number(said, "POINT:DATA_START", int(words[8]))) - 1) * BLOCK,
        order=order, dec=dec,
        labels=_unique(labels, int(points)), unit=(_labels(said, "POINT:UNITS") or [""])[0].lower(),
        up=(_labels(said, "POINT:Y_SCREEN") or [""])[0].lower(),
    )  # fmt: skip


def _frames(said: Parameters, words: Any) -> int:
    by_header = (int(words[4]) - int(words[3]) + 1) % 65536
    if "POINT:LONG_FRAMES" in said:
        return int(_number(said, "POINT:LONG_FRAMES", by_header))
    return int(_number(said, "POINT:FRAMES", by_header)) % 65536


def _floats(data: bytes, order: str, dec: bool) -> Floats:
    """4-byte floats; DEC's have their halves swapped and four times the value."""
    if dec:
        halves = np.frombuffer(data, "<u2").reshape(-1, 2)[:, ::-1]
        return np.ascontiguousarray(halves).view("<f4").reshape(-1).astype(np.float64) / 4
    return np.frombuffer(data, f"{order}f4").astype(np.float64)


def _parameters(data: bytes, order: str, dec: bool) -> Parameters:
    """GROUP:NAME → values, of as much as is whole."""
    groups: dict[int, str] = {}
    found: list[tuple[int, str, Any]] = []
    at = 4
    while at + 4 < len(data):
        length, group = abs(_signed(data[at])), _signed(data[at + 1])
        end = at + 2 + length
        if length == 0 or end + 2 > len(data):
            break
        name = data[at + 2 : end].decode("latin1").strip().upper()
        step = int(np.frombuffer(data[end : end + 2], f"{order}u2")[0])
        if group < 0:
            groups[-group] = name
        elif (value := _value(data[end + 2 :], order, dec)) is not None:
            found.append((group, name, value))
        if step == 0:
            break
        at = end + step
    return {f"{groups.get(group, group)}:{name}": value for group, name, value in found}


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def _value(data: bytes, order: str, dec: bool) -> Any:
    if len(data) < 2:
        return None
    size, count = _signed(data[0]), data[1]
    shape = tuple(data[2 : 2 + count])
    total = int(np.prod(shape, dtype=object)) if shape else 1
    body = data[2 + count : 2 + count + total * abs(size)]
    if size not in (-1, 1, 2, 4) or len(body) != total * abs(size):
        return None
    if size == -1:
        width = shape[0] if shape else 1
        return [
            body[i : i + width].decode("utf-8", "replace").strip() for i in range(0, total, max(1, width))
        ]
    if size == 4:
        return _floats(body, order, dec)
    return np.frombuffer(body, "u1" if size == 1 else f"{order}u2").astype(np.float64)


def _number(said: Parameters, name: str, default: float) -> float:
    value = said.get(name)
    return float(value[0]) if isinstance(value, np.ndarray) and len(value) else float(default)


def _labels(said: Parameters, name: str) -> list[str]:
    value = said.get(name)
    return value if isinstance(value, list) else []


def _unique(labels: list[str], points: int) -> tuple[str, ...]:
    names: list[str] = []
    used: set[str] = set()
    for i in range(points):
        label = labels[i] if i < len(labels) and labels[i] else f"marker_{i}"
        names.append(label if label not in used else f"{label}_{i}")
        used.add(names[-1])
    return tuple(names)


def peek(root: Path, file: str) -> list[Peek]:
    """One clip, from header and parameters."""
    with open_inside(root, file) as stream:
        head = _head(stream.read(257 * BLOCK), file)
    if not head.points:
        return []
    streams = (StreamDecl("markers", Role.HUMAN_BODY, body_channels(head.labels, "position")),)
    return [Peek("markers", head.frames, fps=rate_of(head.rate, file), streams=streams)]


def probe(path: Path) -> Probe:
    """How many of the first C3D files hold markers."""
    return Probe(*share_of(path, SUFFIXES, peek, "marker captures", human=True))


def discover(path: Path) -> Listing:
    """Every C3D file below the folder; one episode each."""
    return list_clips(NAME, path, SUFFIXES, peek)


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open a clip.

    Raises:
        UnreadableError: if the header is broken or the data is cut off.
    """
    file = ref.parts[0].path
    with open_inside(listing.root, file) as stream:
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        data = stream.read(min(size, MOST_BYTES))
    head = _head(data, file)
    x, unseen = _points(head, data, file)
    take = Take("markers", fps=rate_of(head.rate, file), fps_why="POINT:RATE")
    factor = UNITS.get(head.unit)
    if factor is None:
        take.unresolved["unit"] = f"POINT:UNITS is {head.unit[:20]!r}"
    else:
        take.decided["unit"] = (head.unit, "POINT:UNITS")
        if factor != 1.0:
            take.conversions.append(f"markers: {head.unit} to m")
    if unseen.any():
        x = np.where(unseen[..., None], np.nan, x)
        take.conversions.append(f"markers: {int(unseen.sum())} points marked as not seen are NaN")
    up = head.up[1:] if head.up in ("+y", "+z") else "?"
    take.bodies = (
        Body("markers", x * (factor or 1.0), head.labels, up=up, why=f"POINT:Y_SCREEN is {head.up}"),
    )
    return episode(NAME, listing, ref, want, sheet, take)


def _points(head: Head, data: bytes, file: str) -> tuple[Floats, Any]:
    """Positions (n, J, 3) in the file's unit, and which points were not seen (n, J)."""
    width = 4 if head.scale < 0 else 2
    row = (4 * head.points + head.analog) * width
    body = data[head.start : head.start + head.frames * row]
    if head.start < BLOCK or not head.points or len(body) != head.frames * row:
        raise UnreadableError("the data is cut off", where=file, found=f"{len(body)} bytes",
                              expected=f"{head.frames * row} for {head.frames} frames")  # fmt: skip
    rows = np.frombuffer(body, np.uint8).reshape(head.frames, row)[:, : 4 * head.points * width]
    raw = np.ascontiguousarray(rows).tobytes()
    if width == 4:
        x = _floats(raw, head.order, head.dec).reshape(head.frames, head.points, 4)
        return x[..., :3], x[..., 3] < 0
    y = np.frombuffer(raw, f"{head.order}i2").reshape(head.frames, head.points, 4)
    return y[..., :3].astype(np.float64) * head.scale, y[..., 3] < 0


READER: Final = reader(
    name=NAME, version=1,
    title="C3D marker captures",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
