"""What clipping leaves behind in a body: how much was cut off, and what it cost the standing foot.

Gate RTG008 says it; how each was measured on real clips is in its file. The rests themselves are found in
`assay.signals.rests`.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled
from assay.signals.feet import runs_of
from assay.signals.loops import ready
from assay.signals.quantile import median
from assay.signals.rests import EXACT, Columns, Rests

__all__ = ["overshoot", "rise", "tilt", "traces"]

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

CREDIBLE: Final = 0.3
"""s; of longer rests the speed at their edges says nothing (REAL-CLIPS)."""


def traces(of: Columns, found: Rests, counted: Rests) -> list[str]:
    """In words: whether the file was cut before delivery, by ``found``, and how much, by what ``counted``.

    It was where nothing is ever beyond a limit and several joints stand exactly on theirs for three frames.
    """
    said = []
    beyond = np.nanmax(np.maximum(of.high - of.upper, of.lower - of.low), initial=-np.inf)
    if beyond <= EXACT:
        column = np.unique(found.column)
        x = of.x[:, column]
        exact = (np.abs(x - of.lower[column]) <= EXACT) | (np.abs(x - of.upper[column]) <= EXACT)
        many = int(np.count_nonzero(np.count_nonzero(exact, axis=0) >= 3))
        if many >= 2:
            said.append(f"cut before delivery: {many} joints exactly on a bound, none beyond any")
    cut = overshoot(of.x, counted, of.t0)
    if np.isfinite(cut).any():
        said.append(f"up to {np.nanmax(cut):.2f} rad cut off")
    return said


def overshoot(x: Floats, found: Rests, t0: Int64) -> Floats:
    """(k,) rad that each rest cut off: (v_in + v_out) / 2 times a quarter of its length; NaN where untold.

    v is taken one step outside. REAL-CLIPS: the median ratio to the truth is 1.04 over 783 clips made from
    real joints, and nothing can be told beyond 0.3 s.
    """
    n, a, b = len(x), found.first, found.end
    told = (a >= 2) & (b + 1 < n) & (found.seconds <= CREDIBLE)
    a, b = np.where(told, a, 2), np.where(told, b, 0)
    if n < 3:
        return np.full(len(a), np.nan)
    c = found.column
    speed_in = np.abs(x[a - 1, c] - x[a - 2, c]) / np.maximum(t0[a - 1] - t0[a - 2], 1)
    speed_out = np.abs(x[b + 1, c] - x[b, c]) / np.maximum(t0[b + 1] - t0[b], 1)
    made: Floats = np.where(told, (speed_in + speed_out) * 1e9 / 2 * found.seconds / 4, np.nan)
    return made


def tilt(sole: Floats, wanted: Bools) -> Floats:
    """(n,) rad between the plane of a sole (n, k, 3) m and the floor, in the wanted frames (n,).

    NaN in the others, and with fewer than three points.
    """
    made = np.full(len(sole), np.nan)
    if sole.shape[1] >= 3:
        signature = "void(float64[:,:,::1], boolean[::1], float64[::1])"
        compiled(_tilted, signature)[0](ready(sole), wanted, made)
    return made


def _tilted(sole, wanted, made):  # type: ignore[no-untyped-def]
    last = sole.shape[1] - 1
    for i in range(len(sole)):
        if not wanted[i]:
            continue
        a, b, c = sole[i, 1, 0] - sole[i, 0, 0], sole[i, 1, 1] - sole[i, 0, 1], sole[i, 1, 2] - sole[i, 0, 2]
        d, e = sole[i, last, 0] - sole[i, 0, 0], sole[i, last, 1] - sole[i, 0, 1]
        f = sole[i, last, 2] - sole[i, 0, 2]
        x, y, z = b * f - c * e, c * d - a * f, a * e - b * d
        share = abs(z) / math.sqrt(x * x + y * y + z * z)
        made[i] = math.acos(1.0 if share > 1.0 else share)


def rise(value: Floats, on: Bools, off: Bools) -> tuple[float, float]:
    """How much higher value (n,) is on some frames than on others, and its standard uncertainty.

    Medians are compared within each stretch of ``on`` and ``off`` frames, since stretches differ by
    themselves; the median of their differences counts. Where no stretch has three frames of both, all are
    compared at once. NaN with fewer than three frames of either.
    """
    known = np.isfinite(value)
    on, off = on & known, off & known
    ons, offs = (np.concatenate(([0], np.cumsum(mask))) for mask in (on, off))
    if ons[-1] < 3 or offs[-1] < 3:
        return float("nan"), 0.0
    first, last = runs_of(on | off)
    end = last + 1
    enough = (ons[end] - ons[first] >= 3) & (offs[end] - offs[first] >= 3)
    both = list(zip(first[enough].tolist(), end[enough].tolist(), strict=True)) or [(0, len(value))]
    pairs = [(value[a:b][on[a:b]], value[a:b][off[a:b]]) for a, b in both]
    more = np.array([median(x) - median(y) for x, y in pairs])
    middle = median(more)
    if len(more) >= 3:
        return middle, 1.4826 * median(np.abs(more - middle)) / math.sqrt(len(more))
    around = np.concatenate([np.abs(y - median(y)) for _, y in pairs])
    return middle, 1.4826 * median(around) / math.sqrt(len(more))
