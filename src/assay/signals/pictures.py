"""Pictures as numbers: what one decoding pass keeps of a camera, and the taps that gather it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["GREY", "Digests", "Pictures", "Thumbnails", "Thumbs"]

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Thumbs = NDArray[np.uint16]

GREY: Final = 256
"""Units of a thumbnail per grey level."""


@dataclass(frozen=True, slots=True, eq=False)
class Pictures:
    """What one decoding pass kept of one camera.

    Attributes:
        t: (n,) int64 ns since the clip's first picture, of the decoded pictures.
        key: (n,) bool, coded without reference to other pictures.
        mean: (n,) float32 mean luma, grey levels.
        digest: (n,) uint32 CRC of the luma: equal for equal pictures.
        thumbs: (n, h, w) uint16 box means of the luma in 1/256 grey; h, w about 60, 80.
        asked: pictures that the container's index has for this clip.
        missing: (m,) int64 ns of those that could not be decoded.
        error: the decoder's first complaint.
    """

    t: NDArray[np.int64]
    key: Bools
    mean: Floats
    digest: NDArray[np.uint32]
    thumbs: Thumbs
    asked: int
    missing: NDArray[np.int64]
    error: str = ""

    @property
    def decoded(self) -> int:
        """Pictures that were decoded."""
        return len(self.t)


class Thumbnails:
    """A tap that keeps box means of the luma, about 80 x 60: (n, h, w) uint16 in 1/256 grey."""

    def __init__(self) -> None:
        self._kept: list[Thumbs] = []

    def feed(self, luma: NDArray[np.uint8], t: NDArray[np.int64]) -> None:
        """Average boxes of (k, h, w) luma; a remainder at the right and lower edge is left out."""
        k, h, w = luma.shape
        by, bx = max(h // 60, 1), max(w // 80, 1)
        wide = np.uint16 if by * bx <= 257 else np.uint32
        rows = np.add.reduce(luma[:, : h // by * by].reshape(k, h // by, by, w), axis=2, dtype=wide)
        columns = [rows[:, :, x : w // bx * bx : bx] for x in range(bx)]
        total = columns[0].astype(np.uint32)
        for column in columns[1:]:
            total += column
        self._kept.append(((total * GREY + by * bx // 2) // (by * bx)).astype(np.uint16))

    def value(self) -> Thumbs:
        """All thumbnails so far."""
        return np.concatenate(self._kept) if self._kept else np.empty((0, 0, 0), np.uint16)


class Digests:
    """A tap that keeps a CRC-32 of every picture's luma: (n,) uint32."""

    def __init__(self) -> None:
        self._kept: list[int] = []

    def feed(self, luma: NDArray[np.uint8], t: NDArray[np.int64]) -> None:
        """Digest (k, h, w) luma."""
        self._kept += [zlib.crc32(picture) for picture in luma]

    def value(self) -> NDArray[np.uint32]:
        """All digests so far."""
        return np.array(self._kept, np.uint32)
