"""Hard cuts between pictures; measured on real manipulation, see gate INT008."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from assay.signals.pictures import GREY, Thumbs

__all__ = ["cut_ratio"]

_AROUND: Final = 15  # transitions on either side that a cut is compared with
_CELL: Final = 5  # thumbnail boxes
_BLOCK: Final = 256  # pictures held as float32 at a time


def cut_ratio(thumbs: Thumbs) -> NDArray[np.float64]:
    """(n - 1,) how far each transition stands out of the largest of the 15 before and after it.

    The change is the mean of |mean difference| over cells of 5 x 5; neighbours next to the transition are
    left out; changes below 0.2 grey count as 0.2. Zero where at most a tenth of the cells change by more
    than 8 grey: a cut changes the picture, a quick arm a part of it.
    """
    mean, wide = _cell_changes(thumbs)
    if not len(mean):
        return mean
    pad = np.concatenate((np.full(_AROUND, -np.inf), mean, np.full(_AROUND, -np.inf)))
    around = sliding_window_view(pad, 2 * _AROUND + 1).copy()
    around[:, _AROUND - 1 : _AROUND + 2] = -np.inf
    ratio = mean / np.maximum(around.max(1), 0.2)
    return np.where(wide > 0.1, ratio, 0.0)


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
