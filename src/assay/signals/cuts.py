"""Hard cuts between pictures; measured on real manipulation, see gate INT008."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from assay.signals.pictures import GREY, Thumbs

__all__ = ["cut_ratio"]

_AROUND: Final = 15  # transitions on either side that a cut is compared with
_WIDE: Final = 0.1  # share of the cells
_LIKE: Final = 0.5  # of two changes that belong together
_CELL: Final = 5  # thumbnail boxes
_BLOCK: Final = 256  # pictures held as float32 at a time


def cut_ratio(thumbs: Thumbs) -> NDArray[np.float64]:
    """(n - 1,) how far each transition stands out of the largest of the 15 before and after it.

    The change is the mean of |mean difference| over cells of 5 x 5; neighbours next to the transition are
    left out; changes below 0.2 grey count as 0.2. Zero where at most a tenth of the cells change by more
    than 8 grey: a cut changes the picture, a quick arm a part of it. A few foreign pictures make two cuts
    close to each other, of like size: such a pair is compared with what is left without either.
    """
    mean, wide = _cell_changes(thumbs)
    if not len(mean):
        return mean
    pad = np.concatenate((np.full(_AROUND, -np.inf), mean, np.full(_AROUND, -np.inf)))
    around = sliding_window_view(pad, 2 * _AROUND + 1).copy()
    around[:, _AROUND - 1 : _AROUND + 2] = -np.inf
    largest = around.max(1)
    other = np.clip(np.arange(len(mean)) - _AROUND + around.argmax(1), 0, len(mean) - 1)
    rest = np.maximum(_without(around).max(1), 0.2)
    pair = (np.minimum(mean, largest) > _LIKE * np.maximum(mean, largest)) & (wide[other] > _WIDE)
    ratio = mean / np.maximum(largest, 0.2)
    paired = np.minimum(mean, np.maximum(largest, 0.0)) / rest
    return np.where(wide > _WIDE, np.where(pair, np.maximum(ratio, paired), ratio), 0.0)


def _without(around: NDArray[np.float64]) -> NDArray[np.float64]:
    """The surroundings (n, k) less the largest of each row and its two neighbours."""
    apart = np.abs(np.arange(around.shape[1]) - around.argmax(1)[:, None])
    return np.where(apart > 1, around, -np.inf)


def _cell_changes(thumbs: Thumbs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean over cells of the absolute change, grey, and share of cells beyond 8 grey; (n-1,), (n-1,)."""
    n, high, broad = max(len(thumbs) - 1, 0), thumbs.shape[1] // _CELL, thumbs.shape[2] // _CELL
    mean, wide = np.zeros(n), np.zeros(n)
    for start in range(0, n if high and broad else 0, _BLOCK):
        part = thumbs[start : start + _BLOCK + 1, : high * _CELL, : broad * _CELL].astype(np.float32)
        cells = np.abs(np.diff(part, axis=0)).reshape(-1, high, _CELL, broad, _CELL).mean((2, 4)) / GREY
        mean[start : start + len(cells)] = cells.mean((1, 2))
        wide[start : start + len(cells)] = (cells > 8).mean((1, 2))
    return mean, wide
