"""Small video files for tests, encoded on the spot."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

os.environ.setdefault("SVT_LOG", "1")  # errors only
QUIET = {"libsvtav1": {"svtav1-params": "lp=1"}, "libx265": {"x265-params": "log-level=none:pools=1"}}


def encode(
    path: Path,
    pictures: Iterable[NDArray[np.uint8]],
    rate: int = 30,
    codec: str = "libx264",
    options: Mapping[str, str] | None = None,
    container: Mapping[str, str] | None = None,
) -> Path:
    """Write (h, w) uint8 luma pictures; option ``g`` is the distance of key pictures."""
    given = dict(options or {})
    with av.open(str(path), "w", options=dict(container or {})) as out:
        stream: Any = out.add_stream(codec, rate=rate, options={**QUIET.get(codec, {}), **given})
        stream.pix_fmt, stream.codec_context.thread_count = "yuv420p", 1
        for at, picture in enumerate(pictures):
            if not at:
                stream.height, stream.width = picture.shape
                stream.codec_context.gop_size = int(given.get("g", 12))
            grey = np.full((picture.shape[0] // 2, picture.shape[1]), 128, np.uint8)
            frame = av.VideoFrame.from_ndarray(np.concatenate((picture, grey)), format="yuv420p")
            frame.pts, frame.time_base = at, Fraction(1, rate)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path


def numbered(n: int = 60, height: int = 96, width: int = 128) -> NDArray[np.uint8]:
    """(n, h, w): picture i tells its number by which of its 8 x 8 fields are bright."""
    bits = (np.arange(n)[:, None] >> np.arange(12)) & 1
    fields = np.kron(bits.reshape(n, 3, 4), np.ones((1, height // 3, width // 4), np.int64))
    return (60 + 120 * fields).astype(np.uint8)


def number(luma: NDArray[np.uint8]) -> NDArray[np.int64]:
    """(k,) the numbers that (k, h, w) pictures show."""
    k, h, w = luma.shape
    mean = luma.reshape(k, 3, h // 3, 4, w // 4).mean((2, 4)).reshape(k, 12)
    return np.asarray((mean > 120) @ (1 << np.arange(12)))


class Numbers:
    """A tap that reads the numbers, and the times it was given."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.t: list[int] = []

    def feed(self, luma: NDArray[np.uint8], t: NDArray[np.int64], which: NDArray[np.intp]) -> None:
        self.seen += number(luma)[which].tolist()
        self.t += t.tolist()

    def value(self) -> list[int]:
        return self.seen
