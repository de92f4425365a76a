"""Faults of stamps: each takes (clips, dose, generator) and gives a planted clip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from benchmarks.power.clips import Base, joined
from benchmarks.power.rows import LONG, pick
from benchmarks.power.trials import Planted, Rng
from numpy.typing import NDArray

from assay.model import Clock, Episode

__all__ = ["back", "hole", "hole_of_a_real_clock", "lost", "rate", "rate_of_a_real_clock", "repeated"]

Int64 = NDArray[np.int64]
JITTER = 3e6
"""ns, standard deviation: stamps by arrival, as a driver makes them."""


def rows_only(base: Base, keep: NDArray[np.intp] | None = None) -> Episode:
    """State and action alone, of these rows."""
    rows = slice(None) if keep is None else keep
    kept = (replace(s, t=s.t[rows], x=np.asarray(s.x)[rows]) for s in (base.state, base.action))
    return replace(base.ep, streams=tuple(kept), declared=())


def restamped(ep: Episode, change: Callable[[Int64], Int64], clock: Clock | None = None) -> Episode:
    """New stamps for all streams, by another kind of clock where one is named."""
    streams = (replace(s, t=change(s.t.copy()), clock=clock or s.clock) for s in ep.streams)
    return replace(ep, streams=tuple(streams))


def real(ep: Episode, rng: Rng) -> Episode:
    """The same stamps with 3 ms of jitter, by a clock that is not made from the rate."""
    noise = rng.normal(0.0, JITTER, len(ep.streams[0].t)).astype(np.int64)
    return restamped(ep, lambda t: np.sort(t + noise), Clock.RECEIVE)


def hole(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """``dose`` rows in a row were never recorded, and the stamps tell."""
    base, k = pick(bases, rng), round(dose)
    a = int(rng.integers(2, base.rows - k - 2))
    ep = rows_only(base, np.delete(np.arange(base.rows), np.s_[a : a + k]))
    return Planted(ep, int(base.state.t[a - 1]), int(base.state.t[a + k]))


def hole_of_a_real_clock(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The same under 3 ms of jitter."""
    found = hole(bases, dose, rng)
    return replace(found, ep=real(found.ep, rng))


def lost(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """``dose`` per cent of 2,000 steps lack a row each."""
    k = round(dose * LONG / 100)
    base = joined(bases, LONG + 1 + k, rng)
    gone = _apart(base.rows, k, rng)
    ep = rows_only(base, np.delete(np.arange(base.rows), gone))
    return Planted(ep, int(base.state.t[gone[0] - 1]), int(base.state.t[gone[-1] + 1]))


def repeated(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """``dose`` per cent of 2,000 steps repeat the stamp before."""
    base = joined(bases, LONG + 1, rng)
    at = _apart(base.rows, round(dose * LONG / 100), rng)

    def repeat(t: Int64) -> Int64:
        t[at] = t[at - 1]
        return t

    ep = restamped(rows_only(base), repeat)
    return Planted(ep, int(base.state.t[at[0] - 1]), int(base.state.t[at[-1]]), channels=("repeated",))


def _apart(n: int, k: int, rng: Rng) -> NDArray[np.intp]:
    """``k`` rows of n, no two of them within four rows."""
    slot = n // k
    return np.asarray(np.arange(k) * slot + rng.integers(2, slot - 2, k), np.intp)


def back(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The clock jumps back by ``dose`` periods between two rows."""
    base = pick(bases, rng)
    a, t = int(rng.integers(2, base.rows - 2)), base.state.t
    size = round(dose * 1e9 / float(base.state.rate or 30))
    late = (np.arange(base.rows) >= a) * size
    ep = restamped(rows_only(base), lambda t: t - late)
    return Planted(
        ep, min(int(t[a - 1]), int(t[a]) - size), int(t[a - 1]), channels=("backwards", "repeated")
    )


def rate(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """Stamps run ``dose`` per cent fast or slow."""
    base, share = pick(bases, rng), dose / 100 * (1 if rng.integers(2) else -1)
    ep = restamped(rows_only(base), lambda t: np.rint(t[0] + (t - t[0]) * (1 + share)).astype(np.int64))
    return Planted(ep, int(base.state.t[0]), int(base.state.t[-1]), channels=("stamps",))


def rate_of_a_real_clock(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The same under 3 ms of jitter."""
    found = rate(bases, dose, rng)
    return replace(found, ep=real(found.ep, rng))
