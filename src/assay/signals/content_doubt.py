"""Stretches that speak against an episode's lag: pictures show too little of what joints predict there.

A lag or foreign pictures for a second or two are outvoted where the episode is summed up. Every window of 1
and 3 s is therefore held to what the corpus's episodes usually show of the predicted motion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.signals.content_lag import Estimate, Windows
from assay.signals.content_map import Map
from assay.signals.content_usual import SIZES, deviations, sums

__all__ = ["doubts"]

Floats = NDArray[np.float64]


def doubts(known: Map, seen: Windows, ends: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """A silent estimate for each stretch that contradicts the ``ends``; none where those are silent."""
    if not len(seen.t) or any(e.why for e in ends):
        return ()
    inner, ours = _at_lag(known, seen, ends)
    against = np.zeros(len(inner), bool)
    for size, row in zip(SIZES, known.usual, strict=True):
        beyond = deviations(sums(inner, size), sums(ours, size), row) > row[3]
        for i in range(size):
            against[i : i + len(beyond)] |= beyond
    edges = np.flatnonzero(np.diff(np.concatenate(([False], against, [False])).astype(np.int8)))
    stretches = edges.reshape(-1, 2).tolist()
    return tuple(_doubt(known, seen, inner[a:b].sum() / ours[a:b].sum(), a, b) for a, b in stretches)


def _at_lag(known: Map, seen: Windows, ends: Sequence[Estimate]) -> tuple[Floats, Floats]:
    """(b,) (b,) the blocks' sums at the episode's lag, along a straight line between its ends."""
    rows = np.arange(len(seen.inner))
    t = (rows + 0.5) * known.rows * known.step
    late = np.interp(t, [(e.t0 + e.t1) / 2 for e in ends], [e.seconds for e in ends])
    fall = (seen.course[-1] - seen.course[0]) / max(seen.t[-1] - seen.t[0], known.step)
    off = late - seen.course[0] - fall * (t - seen.t[0])
    at = np.clip(known.reach + np.rint(off / known.step), 0, 2 * known.reach).astype(np.intp)
    return seen.inner[rows, at], seen.ours[rows, at]


def _doubt(known: Map, seen: Windows, share: float, first: int, end: int) -> Estimate:
    block = known.rows * known.step
    t0, t1 = first * block, seen.length if end == len(seen.inner) else end * block
    part = f"{100 * max(share, 0.0):.0f} % of the motion that the joints predict"
    detail = f"{t0:.1f} to {t1:.1f} s: pictures show {part}"
    return Estimate(np.nan, np.nan, "undecided", detail, t0=t0, t1=t1)
