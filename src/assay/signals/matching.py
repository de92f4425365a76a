"""Which events of two streams are the same ones: by their pattern of intervals, and only if unambiguous."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.events import Onsets

__all__ = ["matched"]

_REACH: Final = 1.0  # s by which two streams may be apart
_LOOSE: Final = 3.0  # standard uncertainties within which two intervals are the same


def matched(a: Onsets, b: Onsets) -> tuple[float, float, int] | None:
    """How much later the events of ``a`` are than those of ``b``: seconds, u, and pairs.

    Every pair of events within ±1 s proposes a shift; the one under which most events meet wins. None where
    nothing meets, or where another shift does as well: one event against two, or a missing one among three
    at even intervals. Several pairs narrow u, as their errors of quantisation differ.
    """
    if not len(a) or not len(b):
        return None
    apart = (a.t[:, None] - b.t[None, :]) * 1e-9
    u = np.hypot(a.u[:, None], b.u[None, :])
    proposed = np.abs(apart) <= _REACH
    if not proposed.any():
        return None
    shifts, loose = apart[proposed], _LOOSE * u[proposed]
    votes = np.array([_meeting(apart, s, w).sum() for s, w in zip(shifts, loose, strict=True)])
    best = int(np.argmax(votes))
    rival = (np.abs(shifts - shifts[best]) > 2 * loose[best]) & (votes >= votes[best])
    if rival.any():
        return None
    mine = _meeting(apart, shifts[best], loose[best])
    return float(np.mean(apart[mine])), float(np.sqrt(np.mean(u[mine] ** 2) / mine.sum())), int(mine.sum())


def _meeting(apart: NDArray[Any], shift: float, loose: float) -> NDArray[np.bool_]:
    """(k, l) the pairs that meet under a shift, each event at most once."""
    off = np.abs(apart - shift)
    near = off <= loose
    return np.asarray(near & (off == off.min(1, keepdims=True)) & (off == off.min(0, keepdims=True)))
