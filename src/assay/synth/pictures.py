"""Synthetic pictures with known truth: what a decoding pass would keep, without any file."""

from __future__ import annotations

import zlib
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from assay.media import Container
from assay.signals.pictures import GREY, Pictures

__all__ = ["container", "film", "render"]

_HEIGHT, _WIDTH = 60, 80


def film(
    n: int = 300,
    rate: int = 30,
    *,
    order: NDArray[np.intp] | None = None,
    noise: float = 0.05,
    scene: NDArray[np.intp] | None = None,
    missing: tuple[int, ...] = (),
    error: str = "",
) -> Pictures:
    """A textured table over which two hands move without pause, as `Pictures`.

    Args:
        n: pictures that the file promises.
        rate: Hz.
        order: (n,) which moment each picture shows; ``arange`` is a camera that works, equal neighbours are
            repeats.
        noise: grey levels of coding noise per thumbnail cell and picture; 0 makes repeats identical.
        scene: (n,) number of the table that each picture shows; a change is a hard cut.
        missing: pictures that cannot be decoded.
        error: what the decoder says of them.
    """
    order = np.arange(n) if order is None else order
    thumbs = render(order / rate, np.zeros(n, np.intp) if scene is None else scene)
    rng = np.random.default_rng(5)
    thumbs += rng.normal(0.0, noise, thumbs.shape) if noise else 0.0
    kept = np.setdiff1d(np.arange(n), np.array(missing, np.intp))
    small = np.rint(np.clip(thumbs[kept], 0, 255) * GREY).astype(np.uint16)
    t = np.rint(np.arange(n) * 1e9 / rate).astype(np.int64)
    digest = np.array([zlib.crc32(picture) for picture in small], np.uint32)
    mean = (small.mean((1, 2)) / GREY).astype(np.float32) if len(small) else np.zeros(0, np.float32)
    key = np.arange(n) % 30 == 0
    return Pictures(t[kept], key[kept], mean, digest, small, n, t[list(missing)], error)


def render(seconds: NDArray[np.float64], scene: NDArray[np.intp]) -> NDArray[np.float64]:
    """(n, 60, 80) grey: table number ``scene`` (n,), with two hands where they are at ``seconds`` (n,)."""
    y, x = np.mgrid[:_HEIGHT, :_WIDTH]
    tables = np.array([_table(int(i), y, x) for i in range(int(scene.max(initial=0)) + 1)])
    picture = tables[scene]
    for phase, level in ((0.0, 70.0), (2.0, -50.0)):
        cx = 40 + 22 * np.sin(1.7 * seconds + phase)[:, None, None]
        cy = 30 + 14 * np.cos(1.7 * seconds + phase)[:, None, None]
        picture += level * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 40.0)
    return picture


def _table(number: int, y: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.float64]:
    wave = np.sin((0.11 + 0.05 * number) * x + number) * np.cos(0.13 * y - 2 * number)
    return np.asarray(110 + 40 * wave, np.float64)


def container(
    n: int = 300, rate: Fraction | int = 30, *, header: int | None = None, hidden: int = 0
) -> Container:
    """The index of a file with ``n`` pictures at ``rate`` Hz.

    Args:
        n: pictures that are shown.
        rate: Hz.
        header: pictures that the header promises, if others than are there.
        hidden: pictures that an edit list hides.
    """
    t = np.rint(np.arange(n) * 1e9 / float(rate)).astype(np.int64)
    return Container(
        codec="h264", width=640, height=480, rate=Fraction(rate), time_base=1 / Fraction(rate),
        pts=np.arange(n, dtype=np.int64), t=t, key=np.arange(n) % 30 == 0, packets=n + hidden,
        header=n + hidden if header is None else header, duration=float(n / Fraction(rate)),
    )  # fmt: skip
