"""Stretches that speak against an episode's lag: pictures show too little of what joints predict there.

A lag or foreign pictures for a second or two are outvoted where the episode is summed up. Every window of 1
and 3 s is therefore held to what the corpus's episodes usually show of the predicted motion. Where two
windows of 1 s apart show as much as usual at one other lag, that lag is told.

Not every such lag is told. Of 40 simulated episodes of 18 s (noise half the signal) with a stretch that is
0.3 s late it is told in 36 where the stretch lasts 3.5 s and the joints move at up to 3.3 Hz, in 23 where
they move at up to 1.3 Hz; in 17 and 6 of 2.5 s; in 16 and 6 of 3.5 s in episodes of 12 s. No lag that was
told is off by more than 0.017 s, and the other episodes stay open: by the stretch, or
because no one lag is told.

Of a corpus with too few windows of 1 or of 3 s amid motion the usual is not known for that size: the other
one alone is used, and no other lag is told without that of 1 s. Where neither is known nothing speaks against
the episode because nothing can, and that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.content_lag import FLOOR, Estimate, Windows
from assay.signals.content_map import Map
from assay.signals.content_usual import SIZES, deviations, sums

__all__ = ["doubts"]

Floats = NDArray[np.float64]

_FITS: Final = 1.5  # errors from the usual share, at most, where another lag explains a window
_APART: Final = 1.5  # units from the episode's lag, at least
_AGREE: Final = 1.0  # units between two windows, at most
_NEAR: Final = 4  # blocks from one to the other, at most


def doubts(known: Map, seen: Windows, ends: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """A silent estimate for each stretch that contradicts the ``ends``; none where those are silent.

    After it stands a second one, of the lag that two windows of the stretch agree on, where they do. Where
    no size of window has a usual, a single ``not-calibrated`` one of the whole episode says so.
    """
    if not len(seen.t) or any(e.why for e in ends):
        return ()
    if np.isnan(known.usual).all():
        count = f"{known.episodes} episode{'' if known.episodes == 1 else 's'}"
        detail = f"too few windows amid motion show what is usual; the map was learnt from {count}"
        return (Estimate(np.nan, np.nan, "not-calibrated", detail, t1=seen.length),)
    rows, at, course = _at_lag(known, seen, ends)
    inner, ours = seen.inner[rows, at], seen.ours[rows, at]
    against = np.zeros(len(inner), bool)
    for size, row in zip(SIZES, known.usual, strict=True):
        beyond = deviations(sums(inner, size), sums(ours, size), row) > row[3]
        for i in range(size):
            against[i : i + len(beyond)] |= beyond
    edges = np.flatnonzero(np.diff(np.concatenate(([False], against, [False])).astype(np.int8)))
    found: list[Estimate] = []
    for a, b in edges.reshape(-1, 2).tolist():
        part = slice(a, b)
        other = _other(known, seen, part, at[part], course[part])
        found.append(_doubt(known, seen, inner[part].sum() / ours[part].sum(), part))
        if other is not None:
            u = float(np.hypot(FLOOR * known.unit, known.step / 2))
            found.append(Estimate(other, u, lag=known.lag + other, t0=found[-1].t0, t1=found[-1].t1))
    return tuple(found)


def _at_lag(
    known: Map, seen: Windows, ends: Sequence[Estimate]
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Blocks, their columns at the episode's lag (a straight line between its ends), and their course, s."""
    rows = np.arange(len(seen.inner))
    t = (rows + 0.5) * known.rows * known.step
    late = np.interp(t, [(e.t0 + e.t1) / 2 for e in ends], [e.seconds for e in ends])
    fall = (seen.course[-1] - seen.course[0]) / max(seen.t[-1] - seen.t[0], known.step)
    course = seen.course[0] + fall * (t - seen.t[0])
    at = np.clip(known.reach + np.rint((late - course) / known.step), 0, 2 * known.reach)
    return rows, at.astype(np.intp), course


def _other(known: Map, seen: Windows, part: slice, usual: NDArray[np.intp], course: Floats) -> float | None:
    """The deviation, s, on which two windows of 1 s agree that show little at the ``usual`` columns."""
    size, row = SIZES[0], known.usual[0]
    inner, ours = sums(seen.inner[part], size), sums(seen.ours[part], size)
    each, own = np.arange(len(inner)), usual[: len(inner)]
    best = (inner / np.sqrt(np.maximum(ours, 1e-12))).argmax(axis=1)
    little = deviations(inner[each, own], ours[each, own], row) > row[3]
    fits = deviations(inner[each, best], ours[each, best], row) < _FITS
    far = np.abs(best - own) * known.step > _APART * known.unit
    ok = little & fits & far & (best > 0) & (best < 2 * known.reach)
    late = (best - known.reach) * known.step + course[: len(inner)]
    away = each - each[:, None]
    same = np.abs(late - late[:, None]) <= _AGREE * known.unit + 1e-9
    pairs = np.argwhere(same & (away >= size) & (away <= _NEAR) & ok & ok[:, None])
    return float(np.median(late[pairs].mean(axis=1))) if len(pairs) else None


def _doubt(known: Map, seen: Windows, share: float, part: slice) -> Estimate:
    block = known.rows * known.step
    t0, t1 = part.start * block, seen.length if part.stop == len(seen.inner) else part.stop * block
    shown = f"{100 * max(share, 0.0):.0f} % of the motion that the joints predict"
    detail = f"{t0:.1f} to {t1:.1f} s: pictures show {shown}"
    return Estimate(np.nan, np.nan, "undecided", detail, t0=t0, t1=t1)
