"""Pictures as numbers: what one decoding pass keeps of a camera, and the taps that gather it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled

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
        digest: (n,) uint32 digest of the luma: equal for equal pictures.
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
        by, bx = min(max(h // 60, 1), 257), max(w // 80, 1)  # of 257 rows the sums fit 16 bits
        made = np.empty((k, h // by, w // bx), np.uint16)
        compiled(_boxed, _BOXED)[0](np.ascontiguousarray(luma), by, bx, made)
        self._kept.append(made)

    def value(self) -> Thumbs:
        """All thumbnails so far."""
        return np.concatenate(self._kept) if self._kept else np.empty((0, 0, 0), np.uint16)


def _boxed(luma: NDArray[np.uint8], by: int, bx: int, made: Thumbs) -> None:  # pragma: no cover
    # Rows are added first, in 16 bits and element by element, which the compiler then does 16 at a time.
    pictures, height, width = made.shape
    scale = np.float32(GREY / (by * bx))
    n = width * bx
    column = np.zeros(n, np.uint16)
    for p in range(pictures):
        for i in range(height):
            for c in range(n):
                column[c] = luma[p, i * by, c]
            for y in range(i * by + 1, (i + 1) * by):
                for c in range(n):
                    column[c] = column[c] + luma[p, y, c]
            for j in range(width):
                total = np.uint32(0)
                for c in range(bx):
                    total = total + np.uint32(column[j * bx + c])
                made[p, i, j] = np.uint16(np.float32(total) * scale + np.float32(0.5))


_BOXED: Final = "void(uint8[:,:,::1], int64, int64, uint16[:,:,::1])"


class Digests:
    """A tap that keeps a digest of every picture's luma, equal for equal pictures: (n,) uint32.

    Multiply-shift hashing (Dietzfelbinger 1996): the upper half of the sum of eight-byte words times odd
    weights, a fifth of the time of a CRC. It finds repeats; it does not withstand an attack.
    """

    def __init__(self) -> None:
        self._kept: list[NDArray[np.uint32]] = []
        self._weights = np.zeros(0, np.uint64)

    def feed(self, luma: NDArray[np.uint8], t: NDArray[np.int64]) -> None:
        """Digest (k, h, w) luma."""
        flat = luma.reshape(len(luma), -1)
        if flat.shape[1] % 8:
            flat = np.pad(flat, ((0, 0), (0, -flat.shape[1] % 8)))
        words = np.ascontiguousarray(flat).view(np.uint64)
        if len(self._weights) != words.shape[1]:
            self._weights = _odd_weights(words.shape[1])
        total = np.einsum("ij,j->i", words, self._weights)
        self._kept.append((total >> np.uint64(32)).astype(np.uint32))

    def value(self) -> NDArray[np.uint32]:
        """All digests so far."""
        return np.concatenate(self._kept) if self._kept else np.zeros(0, np.uint32)


def _odd_weights(n: int) -> NDArray[np.uint64]:
    """(n,) odd 64-bit numbers, the same for ever: SplitMix64 (Steele 2014)."""
    z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((z ^ (z >> np.uint64(31))) | np.uint64(1))
