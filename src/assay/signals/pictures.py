"""Pictures as numbers: what one decoding pass keeps of a camera, and the taps that gather it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

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
        self._totals: list[NDArray[np.uint64]] = []
        self._which: list[NDArray[np.intp]] = []

    def feed(self, luma: NDArray[np.uint8], t: NDArray[np.int64], which: NDArray[np.intp]) -> None:
        """Average boxes of (k, h, w) luma; a remainder at the right and lower edge is left out."""
        k, h, w = luma.shape
        by, bx = min(max(h // 60, 1), 257), max(w // 80, 1)  # of 257 rows the sums fit 16 bits
        made, totals = np.empty((k, h // by, w // bx), np.uint16), np.empty(k, np.uint64)
        compiled(_boxed, _BOXED)[0](np.ascontiguousarray(luma), by, bx, made, totals)
        self._kept.append(made)
        self._totals.append(totals)
        self._which.append(which)

    def value(self) -> Thumbs:
        """All thumbnails so far."""
        return _seen(self._kept, self._which) if self._kept else np.empty((0, 0, 0), np.uint16)

    def mean(self) -> Floats:
        """(n,) float32, the mean of each thumbnail in grey levels."""
        if not self._kept:
            return np.zeros(0, np.float32)
        area = self._kept[0][0].size
        return np.asarray(_seen(self._totals, self._which) / area / GREY, np.float32)


def _boxed(
    luma: NDArray[np.uint8], by: int, bx: int, made: Thumbs, totals: NDArray[np.uint64]
) -> None:  # pragma: no cover - compiled
    # Rows are added first, in 16 bits and element by element, which the compiler then does 32 at a time; so
    # it does with columns of boxes whose width it knows.
    pictures, height, width = made.shape
    scale, half = np.float32(GREY / (by * bx)), np.float32(0.5)
    n = width * bx
    column = np.zeros(n, np.uint16)
    sums = np.zeros(width, np.uint32)
    for p in range(pictures):
        whole = np.uint64(0)
        for i in range(height):
            column[:] = 0
            for y in range(i * by, (i + 1) * by):
                for c in range(n):
                    column[c] = column[c] + luma[p, y, c]
            if bx == 2:
                for j in range(width):
                    sums[j] = np.uint32(column[2 * j]) + np.uint32(column[2 * j + 1])
            elif bx == 3:
                for j in range(width):
                    first = np.uint32(column[3 * j]) + np.uint32(column[3 * j + 1])
                    sums[j] = first + np.uint32(column[3 * j + 2])
            else:
                for j in range(width):
                    total = np.uint32(0)
                    for c in range(bx):
                        total = total + np.uint32(column[j * bx + c])
                    sums[j] = total
            for j in range(width):
                mean = np.uint16(np.float32(sums[j]) * scale + half)
                made[p, i, j] = mean
                whole += np.uint64(mean)
        totals[p] = whole


_BOXED: Final = "void(uint8[:,:,::1], int64, int64, uint16[:,:,::1], uint64[::1])"


class Digests:
    """A tap that keeps a digest of every picture's luma, equal for equal pictures: (n,) uint32.

    Multiply-shift hashing (Dietzfelbinger 1996): the upper half of the sum of eight-byte words times odd
    weights, a tenth of the time of a CRC. It finds repeats; it does not withstand an attack.
    """

    def __init__(self) -> None:
        self._kept: list[NDArray[np.uint32]] = []
        self._which: list[NDArray[np.intp]] = []
        self._weights = np.zeros(0, np.uint64)

    def feed(self, luma: NDArray[np.uint8], t: NDArray[np.int64], which: NDArray[np.intp]) -> None:
        """Digest (k, h, w) luma."""
        flat = luma.reshape(len(luma), -1)
        if flat.shape[1] % 8:
            flat = np.pad(flat, ((0, 0), (0, -flat.shape[1] % 8)))
        words = np.ascontiguousarray(flat).view(np.uint64)
        if len(self._weights) != words.shape[1]:
            self._weights = _odd_weights(words.shape[1])
        made = np.empty(len(words), np.uint32)
        compiled(_digested, _DIGESTED)[0](words, self._weights, made)
        self._kept.append(made)
        self._which.append(which)

    def value(self) -> NDArray[np.uint32]:
        """All digests so far."""
        return _seen(self._kept, self._which) if self._kept else np.zeros(0, np.uint32)


def _digested(
    words: NDArray[np.uint64], weights: NDArray[np.uint64], made: NDArray[np.uint32]
) -> None:  # pragma: no cover - compiled
    for p in range(words.shape[0]):
        total = np.uint64(0)
        for i in range(words.shape[1]):
            total += words[p, i] * weights[i]
        made[p] = np.uint32(total >> np.uint64(32))


_DIGESTED: Final = "void(uint64[:,::1], uint64[::1], uint32[::1])"


def _seen(kept: list[NDArray[Any]], which: list[NDArray[np.intp]]) -> NDArray[Any]:
    """(n, ...) what was made of the pictures, each as often as it was seen."""
    made, order = kept[0], which[0]
    if len(kept) > 1:
        first = np.cumsum([0, *(len(part) for part in kept[:-1])])
        made = np.concatenate(kept)
        order = np.concatenate([part + n for part, n in zip(which, first, strict=True)])
    return made if len(order) == len(made) else made[order]


@lru_cache(maxsize=2)
def _odd_weights(n: int) -> NDArray[np.uint64]:
    """(n,) odd 64-bit numbers, the same for ever: SplitMix64 (Steele 2014)."""
    z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((z ^ (z >> np.uint64(31))) | np.uint64(1))
