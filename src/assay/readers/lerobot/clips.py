"""Which pictures of a shared video file are whose (v3), counted in whole pictures.

``from_timestamp`` is a running sum of floats and drifts off the pictures after some dozen episodes
(huggingface/lerobot#3177). So an episode's first picture is the sum of the lengths of the episodes before it
in the file, wherever that meets the stored start of the file's last episode; else (pictures of a discarded
take, holes, several episodes on one place) the sum of the stored steps, each rounded to whole pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["Shares", "share"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Per row of the episode table, in pictures; NaN where it cannot be told.

    Attributes:
        first, count: the episode's pictures in its file.
        last: no later episode shares the file.
        drift: stored start minus first picture, where that is more than half a picture, else 0.
        gap: pictures to the next stored start that no episode has; negative where episodes overlap.
        mates: episodes in the file.
    """

    first: Floats
    count: Floats
    last: NDArray[np.bool_]
    drift: Floats
    gap: Floats
    mates: NDArray[np.int64]


def share(places: Floats, length: Floats, fps: Fraction | None) -> Shares:
    """Deal out the pictures of one camera.

    Args:
        places: (rows, 4) chunk, file, from and to in seconds; NaN unknown.
        length: (rows,) frames of each episode; NaN unknown.
        fps: the declared rate.
    """
    n = len(length)
    out = Shares(
        np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, bool), np.full(n, np.nan), np.full(n, np.nan),
        np.zeros(n, np.int64),
    )  # fmt: skip
    rate = float(fps) if fps else np.nan
    known = np.flatnonzero(np.isfinite(places[:, :2]).all(axis=1))
    order = known[np.lexsort((known, places[known, 2], places[known, 1], places[known, 0]))]
    file = places[order, :2]
    edges = np.flatnonzero((np.diff(file, axis=0) != 0).any(axis=1)) + 1
    for rows in np.split(order, edges):
        if len(rows):
            _one_file(out, rows, places[rows, 2] * rate, places[rows, 3] * rate, length[rows])
    return out


def _one_file(out: Shares, rows: NDArray[np.intp], begin: Floats, end: Floats, length: Floats) -> None:
    """Fill the rows of one file, in order of their stored starts (in pictures)."""
    span = np.rint(end - begin)
    step = np.rint(np.diff(begin))
    n = np.where(np.isfinite(length), length, span)
    anchor = np.rint(begin[0]) if np.isfinite(begin[0]) else 0.0
    counted = anchor + np.concatenate([[0.0], np.cumsum(n[:-1])])
    stepped = anchor + np.concatenate([[0.0], np.cumsum(step)])
    by_count = not np.isfinite(stepped[-1]) or counted[-1] == stepped[-1]
    first = counted if by_count else stepped
    count = n if by_count else np.where(np.isfinite(span), span, n)
    off = begin - first
    gap = np.zeros(len(rows))
    gap[:-1] = np.rint(begin[1:] - end[:-1])
    gap[1:] = np.where(gap[:-1] < 0, np.minimum(gap[:-1], gap[1:]), gap[1:])  # both sides overlap
    out.first[rows], out.count[rows] = first, count
    out.last[rows] = (
        first == first[-1] if by_count or len(rows) == 1 else first + count >= np.max(first + count)
    )
    out.drift[rows] = np.where(np.abs(off) > 0.5, off, np.where(np.isnan(off), np.nan, 0.0))
    out.gap[rows], out.mates[rows] = gap, len(rows)
