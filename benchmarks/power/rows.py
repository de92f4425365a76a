"""Faults of rows: each takes (clips, dose, generator) and gives a planted clip, or None for no room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from benchmarks.power.clips import Base, joined
from benchmarks.power.trials import Planted, Rng
from numpy.typing import NDArray

from assay.model import Episode, Stream
from assay.synth.faults import FAULTS
from assay.synth.planting import limbs_of, place_of

__all__ = [
    "LONG",
    "copied_action",
    "copied_columns",
    "dead",
    "edged",
    "held",
    "kept_still",
    "large",
    "not_finite",
    "one_statistic",
    "over",
    "over_finger",
    "over_share",
    "plateau",
    "rough_plateau",
    "shifted",
    "short_plateaus",
    "short_range",
    "wrong_count",
]  # fmt: skip

LONG: Final = 2000
"""Rows of a joined clip: a quota of 0.5 % is 10 of them, and every dose on the ladder a whole number."""

Float = NDArray[np.float64]


def pick(bases: Sequence[Base], rng: Rng) -> Base:
    return bases[int(rng.integers(len(bases)))]


def stream_of(base: Base, rng: Rng) -> Stream:
    """The state or the action, either as likely."""
    return (base.state, base.action)[int(rng.integers(2))]


def planted(ep: Episode, s: Stream, first: int, end: int, *channels: str, **given: Any) -> Planted:
    """The truth of rows ``first`` up to ``end`` of a stream."""
    return Planted(ep, int(s.t[first]), int(s.t[min(end, len(s.t)) - 1]), s.name, channels, given)


def with_column(base: Base, s: Stream, column: int, x: Float) -> Episode:
    values = np.array(s.x, np.float64)
    values[:, column] = x
    return base.ep.with_stream(replace(s, x=values))


def arm(base: Base, s: Stream, rng: Rng) -> int:
    """A column of an arm; any column where the body is unknown."""
    return int(rng.choice(limbs_of(base.ep, s)))


def finger(base: Base, s: Stream, rng: Rng) -> int:
    return int(rng.choice(np.setdiff1d(np.arange(s.x.shape[1]), limbs_of(base.ep, s))))


# ------------------------------------------------------------------------------------ joints and limits


def over(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """A joint driven to ``dose`` rad beyond its limit for 3 % of the frames."""
    base = pick(bases, rng)
    ep, truth = FAULTS["over-limit"].apply(base.ep, dose, int(rng.integers(1 << 30)))
    return Planted(ep, truth.t0, truth.t1, truth.stream, (truth.channel,))


def over_share(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """A joint 1e-3 rad beyond its limit for ``dose`` per cent of 2,000 frames."""
    return edged(joined(bases, LONG, rng), round(dose * LONG / 100), 1e-3, rng)


def over_finger(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """A finger at ``dose`` of its range beyond either end for 3 % of the frames."""
    base = pick(bases, rng)
    s, k = base.state, round(0.03 * base.rows)
    column, a = finger(base, s, rng), int(rng.integers(0, base.rows - k))
    x = np.array(s.x[:, column], np.float64)
    x[a : a + k] = 1.0 + dose if rng.integers(2) else -dose
    return planted(with_column(base, s, column, x), s, a, a + k, s.names[column])


def plateau(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """One plateau on a limit that lasts ``dose`` per cent of 2,000 frames."""
    return edged(joined(bases, LONG, rng), round(dose * LONG / 100), 0.0, rng)


def short_plateaus(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """4 % of 2,000 frames on a limit, in plateaus of ``dose`` frames each."""
    return edged(joined(bases, LONG, rng), round(0.04 * LONG), 0.0, rng, each=round(dose))


def rough_plateau(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """A plateau of 4 % of 2,000 frames under sensor noise of ``dose`` rad."""
    return edged(joined(bases, LONG, rng), round(0.04 * LONG), 0.0, rng, noise=dose)


def edged(base: Base, rows: int, excess: float, rng: Rng, *, each: int = 0, noise: float = 0.0) -> Planted:
    """``rows`` rows of one arm joint at ``excess`` rad beyond a limit, in stretches of ``each`` rows.

    Flanks of eight rows lead there in equal steps, so that no other row is near the limit.
    """
    s, body = base.state, base.ep.embodiment
    assert body is not None
    column = arm(base, s, rng)
    joint = int(body.resolve(s.names)[column])
    limits = body.limit_set(None)
    upper = bool(rng.integers(2))
    bound = float(limits.upper[joint] + excess if upper else limits.lower[joint] - excess)
    each = each or rows
    count, n, flank = rows // each, base.rows, 8
    slot = n // count
    starts = np.arange(count) * slot + rng.integers(flank, slot - each - flank, count)
    on = (starts[:, None] + np.arange(each)).ravel()
    away = np.full(n, flank + 1.0)
    for step in range(-flank, each + flank):
        at = starts + step
        away[at] = np.minimum(away[at], max(-step, step - each + 1, 0))
    x = np.array(s.x[:, column], np.float64)
    x += (1 - away / (flank + 1)) * (bound - x)
    x[on] = bound + (rng.normal(0.0, noise, len(on)) if noise else 0.0)
    return planted(with_column(base, s, column, x), s, int(on[0]), int(on[-1]) + 1, s.names[column])


def kept_still(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """A stretch of 4 s or more in which the most active joint ranges over ``dose`` and the rest over less."""
    base = pick(bases, rng)
    n = int(rng.integers(120, base.rows))
    a, s = int(rng.integers(0, base.rows - n + 1)), base.state
    x = np.array(s.x[a : a + n], np.float64)
    most = arm(base, s, rng)
    if np.ptp(x[:, most]) < 1e-9:
        x[:, most] = np.linspace(0, 1, n)
    size = dose * rng.uniform(0.0, 0.8, x.shape[1])
    size[most] = dose
    wide = np.maximum(np.ptp(x, axis=0), 1e-12)
    x = x[0] + (x - x[0]) * np.where(wide > 1e-11, size / wide, 0.0)
    small = replace(s, x=x, t=s.t[a : a + n])
    ep = replace(base.ep, streams=(small,), declared=(), task="put the can on the plate")
    return planted(ep, small, 0, n, s.names[most])


# ------------------------------------------------------------------------------------ request and state


def copied_action(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """On ``dose`` of the moving rows one joint's request is its state, of this row or a neighbouring one."""
    base = pick(bases, rng)
    state, action = base.state, base.action
    column, shift = arm(base, state, rng), int(rng.integers(-1, 2))
    s, a = np.asarray(state.x[:, column], np.float64), np.array(action.x[:, column], np.float64)
    moving = np.flatnonzero(np.abs(np.diff(s[:-1])) > 1e-4) + 1
    target = round(dose * len(moving))
    if len(moving) < 100 or state.names[column] not in action.names:
        return None
    source = s[moving + shift]
    own = np.abs(a[moving] - source) <= 1e-6
    first = int(rng.integers(0, len(moving) - target + 1))
    own[first : first + target] = False
    count = target - int(own.sum())  # what is equal by itself counts as well
    a[moving[first : first + count]] = source[first : first + count]
    ep = with_column(base, action, action.names.index(state.names[column]), a)
    return planted(ep, action, 0, base.rows, state.names[column])


def dead(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """One side of an arm joint rests for 1.5 s to all of the clip while the other travels ``dose`` rad."""
    base = pick(bases, rng)
    still, moves = (base.action, base.state) if rng.integers(2) else (base.state, base.action)
    n = base.rows if rng.integers(2) else int(rng.integers(45, min(base.rows, 150)))
    a, column = int(rng.integers(0, base.rows - n + 1)), arm(base, base.state, rng)
    settled = slice(a + 15, a + n)  # the first half second does not count
    x, y = np.array(still.x[:, column], np.float64), np.array(moves.x[:, column], np.float64)
    travel = float(np.ptp(y[settled]))
    if travel < 1e-3:
        return None
    x[a : a + n] = x[a]
    y[a : a + n] = y[a] + (y[a : a + n] - y[a]) * dose / travel
    ep = with_column(base, still, column, x)
    ep = with_column(replace(base, ep=ep), moves, column, y)
    return planted(ep, base.action, a, a + n, base.action.names[column])


def held(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """A finger's state rests for ``dose`` of the clip while its request travels through the range."""
    base = pick(bases, rng)
    s, column = base.state, finger(base, base.state, rng)
    n = round(dose * (base.rows - 1)) + 1
    a = int(rng.integers(0, base.rows - n + 1))
    x = np.array(s.x[:, column], np.float64)
    x[a : a + n] = x[a]
    y = np.array(base.action.x[:, column], np.float64)
    y[a : a + n] = 0.5 + 0.4 * np.sin(np.arange(n) / 20)
    around = np.r_[x[a - 1 : a], x[a + n : a + n + 1]]
    if len(around) and np.min(np.abs(around - x[a])) <= 1e-6:
        return None  # rests longer than planted
    ep = with_column(replace(base, ep=with_column(base, s, column, x)), base.action, column, y)
    return planted(ep, base.action, a, a + n, base.action.names[column])


# ------------------------------------------------------------------------------------ numbers


_BAD: Final = (np.nan, np.inf, -np.inf, 2.9e-321, 1e224)


def not_finite(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """``dose`` rows of one column are NaN, infinite, denormal or 1e224."""
    base = pick(bases, rng)
    s, k = stream_of(base, rng), round(dose)
    column, a = arm(base, s, rng), int(rng.integers(0, base.rows - k + 1))
    x = np.array(s.x[:, column], np.float64)
    x[a : a + k] = _BAD[int(rng.integers(len(_BAD)))]
    return planted(with_column(base, s, column, x), s, a, a + k, s.names[column])


def large(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """One value of a joint is ``dose`` rad."""
    base = pick(bases, rng)
    s = stream_of(base, rng)
    column, a = arm(base, s, rng), int(rng.integers(0, base.rows))
    x = np.array(s.x[:, column], np.float64)
    x[a] = dose * (1 if rng.integers(2) else -1)
    return planted(with_column(base, s, column, x), s, a, a + 1, s.names[column])


def one_statistic(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """One stored minimum, maximum, mean or deviation is ``dose`` tolerances off what the rows give."""
    base = pick(bases, rng)
    s, kind = stream_of(base, rng), ("min", "max", "mean", "std")[int(rng.integers(4))]
    c = int(rng.integers(s.x.shape[1]))
    x = np.asarray(s.x[:, c], np.float64)
    true = {"min": x.min(), "max": x.max(), "mean": x.mean(), "std": x.std()}[kind]
    of_sums = 1e-3 * x.std() + 1e-5 * max(1.0, abs(x.mean()))
    tolerance = 1e-6 * max(1.0, abs(true)) if kind in ("min", "max") else of_sums
    stored = {k: np.array(v, np.float64) for k, v in base.ep.statistics[s.name].items()}
    stored[kind].reshape(-1)[c] = true + dose * tolerance * (1 if rng.integers(2) else -1)
    ep = replace(base.ep, statistics={**base.ep.statistics, s.name: stored})
    return planted(ep, s, 0, base.rows, s.names[c])


def wrong_count(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The stored count is ``dose`` rows off."""
    base = pick(bases, rng)
    s = stream_of(base, rng)
    stored = {**base.ep.statistics[s.name]}
    stored["count"] = np.array([base.rows + dose * (1 if rng.integers(2) else -1)])
    ep = replace(base.ep, statistics={**base.ep.statistics, s.name: stored})
    return planted(ep, s, 0, base.rows, "count")


def shifted(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """Half of the rows of one column were moved by ``dose`` of its deviation after statistics were stored."""
    base = pick(bases, rng)
    s = stream_of(base, rng)
    column, n = arm(base, s, rng), base.rows // 2
    a = int(rng.integers(0, base.rows - n + 1))
    x = np.array(s.x[:, column], np.float64)
    if x.std() < 1e-3:
        return None
    x[a : a + n] += dose * x.std() * (1 if rng.integers(2) else -1)
    return planted(with_column(base, s, column, x), s, a, a + n, s.names[column])


def copied_columns(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """``dose`` arm columns are copies of another one."""
    base = pick(bases, rng)
    s = stream_of(base, rng)
    columns = rng.choice(limbs_of(base.ep, s), round(dose) + 1, replace=False)
    return _same(base, s, columns, None)


def short_range(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """An arm column is a copy of another one that ranges over ``dose`` rad."""
    base = pick(bases, rng)
    s = stream_of(base, rng)
    return _same(base, s, rng.choice(limbs_of(base.ep, s), 2, replace=False), dose)


def _same(base: Base, s: Stream, columns: NDArray[np.int64], size: float | None) -> Planted:
    x = np.array(s.x, np.float64)
    one = x[:, columns[0]]
    if size is not None:
        one = one[0] + (one - one[0]) * size / np.ptp(one)
    x[:, columns] = one[:, None]
    ep = base.ep.with_stream(replace(s, x=x))
    return planted(ep, s, 0, base.rows, *(s.names[c] for c in columns))


def frozen_rows(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The whole state or action is held for ``dose`` steps at one of the livelier places."""
    return _frozen(bases, dose, rng, lively=True)


def frozen_anywhere(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The same at any place, also where the robot hardly moves."""
    return _frozen(bases, dose, rng, lively=False)


def _frozen(bases: Sequence[Base], dose: float, rng: Rng, *, lively: bool) -> Planted:
    base, k = pick(bases, rng), round(dose)
    s = stream_of(base, rng)
    a = place_of(base.ep, k + 1, rng) if lively else int(rng.integers(2, base.rows - k - 4))
    x = np.array(s.x, np.float64)
    x[a : a + k + 1] = x[a]
    return planted(base.ep.with_stream(replace(s, x=x)), s, a, a + k + 1, "joints")
