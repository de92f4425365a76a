"""The same faults of pictures through real video files: is planting into decoded ones true to life?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import av
import numpy as np
from benchmarks.power.clips import Base
from benchmarks.power.films import freeze, slow, splice, truth
from benchmarks.power.trials import Planted, Rng
from numpy.typing import NDArray

from assay import plugs
from assay.feature import Features
from assay.media import luma
from assay.model import Clip

__all__ = ["frozen_file", "leaked_file", "slowed_file"]

Film = NDArray[np.uint8]

os.environ.setdefault("SVT_LOG", "1")  # errors only
_CODECS: Final = (
    ("libx264", {"crf": "23", "preset": "veryfast"}, 30),
    ("libsvtav1", {"crf": "30", "preset": "10", "svtav1-params": "lp=1"}, 2),
)
"""What recordings of today are written with: H.264, and AV1 with two pictures from key to key."""


class _Keep:
    """A tap that keeps every picture's luma."""

    def __init__(self) -> None:
        self.kept: list[Film] = []

    def feed(self, luma: Film, t: NDArray[np.int64], which: NDArray[np.intp]) -> None:
        self.kept.append(luma[which])

    def value(self) -> Film:
        return np.concatenate(self.kept)


def frozen_file(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """Pictures frozen before encoding."""
    found = freeze(bases, dose, rng)
    if found is None:
        return None
    base, order, _, a = found
    return _filed(base, _luma(base)[order], rng, a, a + round(dose), "pictures")


def slowed_file(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """A slower camera before encoding."""
    base, order = slow(bases, dose, rng)
    return _filed(base, _luma(base)[order], rng, 0, base.rows - 1, "pictures")


def leaked_file(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """Another take's pictures at the end before encoding."""
    base, tail = splice(bases, dose, rng)
    at = base.rows - tail.rows
    return _filed(base, np.concatenate((_luma(base)[:at], _luma(tail))), rng, at - 1, at, "cut")


def _luma(base: Base) -> Film:
    camera = base.ep.stream(base.camera)
    assert camera is not None
    assert camera.clip is not None
    tap = _Keep()
    luma(Clip(camera.clip.root, camera.clip.path, base.start, base.rows, False), (tap,))
    return tap.value()


def _filed(base: Base, film: Film, rng: Rng, first: int, end: int, channel: str) -> Planted:
    """The clip with this film in a real file, indexed and decoded as any other."""
    camera = base.ep.stream(base.camera)
    assert camera is not None
    with TemporaryDirectory() as folder:
        path = Path(folder, "film.mp4")
        _encode(path, film, camera.rate or Fraction(30), int(rng.integers(len(_CODECS))))
        ep = base.ep.with_stream(replace(camera, clip=Clip(Path(folder), path.name)))
        features = Features(ep, plugs.features(), {}, {})
        given = {name: features.get(name) for name in ("containers", "pictures")}
    return truth(replace(base, ep=ep), first, end, channel, **given)


def _encode(path: Path, film: Film, rate: Fraction, number: int) -> None:
    codec, options, distance = _CODECS[number]
    with av.open(str(path), "w") as out:
        stream: Any = out.add_stream(codec, rate=rate, options=dict(options))
        stream.height, stream.width = film.shape[1:]
        stream.pix_fmt, stream.codec_context.thread_count = "yuv420p", 1
        stream.codec_context.gop_size = distance
        grey = np.full((film.shape[1] // 2, film.shape[2]), 128, np.uint8)
        for at, picture in enumerate(film):
            frame = av.VideoFrame.from_ndarray(np.concatenate((picture, grey)), format="yuv420p")
            frame.pts, frame.time_base = at, 1 / rate
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
