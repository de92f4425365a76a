"""Faults of rows and of their stamps: (episode, size, generator, channel or "") → (episode, truth)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from assay.errors import UsageError
from assay.model import Episode, Role, Stream
from assay.synth.planting import (
    Int64,
    Rng,
    Truth,
    columns_of,
    keep_rows,
    limbs_of,
    place_of,
    rows_in,
    shown,
    state_of,
    stream_of,
    streams_of,
    truth_of,
    with_values,
)


def _drive(ep: Episode, share: float, over: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """One joint driven over a second to ``over`` rad beyond a hard limit, clipped there for the share."""
    if ep.embodiment is None:
        raise UsageError("the body is not known", where=ep.id, remedy="name it in assay.toml: embodiment =")
    s = state_of(ep)
    column, bound, sign = _bounded(ep, s, rng, channel)
    n, m = len(s), max(1, round(share * len(s)))
    reach = min(m / 2 + n / max(float(np.ptp(s.t)) * 1e-9, 1e-9), (n - 1) / 2)  # a second on either side
    a = int(rng.integers(int(reach - m / 2) + 1, max(int(n - m - (reach - m / 2)), int(reach - m / 2) + 2)))
    away = np.abs(np.arange(n) - (a + (m - 1) / 2))
    rise = 1 + np.cos(np.pi * np.minimum(away / reach, 1.0))
    w = np.minimum(rise / (1 + np.cos(np.pi * (m / 2) / reach)), 1.0)
    changed = ep
    for one in (s, *ep.by_role(Role.REQUEST)):
        if s.names[column] in one.names:
            x, c = np.array(one.x, np.float64), one.names.index(s.names[column])
            x[:, c] = np.where(w >= 1, bound + sign * over, x[:, c] + w * (bound + sign * over - x[:, c]))
            changed = with_values(changed, one, x)
    there = np.flatnonzero(sign * (np.asarray(state_of(changed).x)[:, column] - bound) >= 0)
    return changed, truth_of(s, int(there[0]), int(there[-1]) + 1, s.names[column])


def _bounded(ep: Episode, s: Stream, rng: Rng, channel: str) -> tuple[int, float, int]:
    """A column with finite hard limits, the limit that it is nearest to, and its sign."""
    assert ep.embodiment is not None
    joint, limits = ep.embodiment.resolve(s.names), ep.embodiment.limit_set(ep.limit_set or None)
    fit = [c for c in limbs_of(ep, s) if np.isfinite(limits.upper[joint[c]] - limits.lower[joint[c]])]
    if channel:
        fit = [c for c in fit if s.names[c] == channel]
    if not fit:
        raise UsageError("no joint with a known limit", where=s.name, found=channel or None)
    column = int(rng.choice(fit))
    x, lower, upper = np.asarray(s.x)[:, column], limits.lower[joint[column]], limits.upper[joint[column]]
    nearer = float(upper - np.nanmax(x)) <= float(np.nanmin(x) - lower)
    return column, float(upper if nearer else lower), 1 if nearer else -1


def clipped(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """A joint is driven smoothly to its hard limit and clipped there."""
    return _drive(ep, size, 0.0, rng, channel)


def over_limit(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """A joint is driven smoothly to ``size`` beyond its hard limit, for 3 % of the frames."""
    return _drive(ep, 0.03, size, rng, channel)


def not_finite(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """``size`` values in up to three columns are not a number."""
    s, count = state_of(ep), round(size)
    columns = columns_of(ep, s, min(3, count, s.x.shape[1]), rng, channel)
    rows = -(-count // len(columns))
    a, x = place_of(ep, rows, rng), np.array(s.x, np.float64)
    row, which = np.divmod(np.arange(count), len(columns))
    x[a + row, columns[which]] = np.nan
    return with_values(ep, s, x), truth_of(s, a, a + rows, ", ".join(s.names[c] for c in columns))


def frozen(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """The whole state is held while the action moves."""
    s, frames = state_of(ep), rows_in(ep, size)
    a, x = place_of(ep, frames, rng), np.array(s.x, np.float64)
    x[a : a + frames] = x[a]
    return with_values(ep, s, x), truth_of(s, a, a + frames)


def dead(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """Columns of the state never change while their action does."""
    s, x = state_of(ep), np.array(state_of(ep).x, np.float64)
    columns = columns_of(ep, s, round(size), rng, channel)
    x[:, columns] = x[0, columns]
    return with_values(ep, s, x), truth_of(s, 0, len(s), ", ".join(s.names[c] for c in columns))


def copied(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """The action of a stretch is the state of the same row (D17)."""
    s, action = state_of(ep), stream_of(ep, Role.REQUEST)
    if action.x.shape != s.x.shape:
        raise UsageError("action and state differ in shape", where=ep.id, expected="as many columns")
    frames = round(size * len(s))
    a = int(rng.integers(0, len(s) - frames + 1))
    x = np.array(action.x, np.float64)
    x[a : a + frames] = np.asarray(s.x)[a : a + frames]
    return with_values(ep, action, x), truth_of(action, a, a + frames)


def mislabelled(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """Nothing moves further than ``size``, and the pictures stand still, while the task says motion."""
    still = ep
    for s in ep.by_role(Role.JOINT_POSITION, Role.REQUEST):
        x = np.array(s.x, np.float64)
        widest = float(np.max(np.ptp(x, axis=0)))
        still = with_values(still, s, x[0] + (x - x[0]) * min(size / max(widest, 1e-12), 1.0))
    cameras = ep.by_role(Role.CAMERA)
    return shown(still, cameras, np.zeros(len(state_of(ep)), np.int64)), truth_of(
        state_of(ep), 0, len(state_of(ep))
    )


# --------------------------------------------------------------------------------------------- clocks


def _restamped(ep: Episode, change: Callable[[Int64], Int64]) -> Episode:
    changed = ep
    for s in streams_of(ep):
        changed = changed.with_stream(replace(s, t=change(s.t)))
    return changed


def wrong_rate(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """Stamps run ``size`` per cent slow or fast against what happened."""

    def faster(t: Int64) -> Int64:
        late: Int64 = np.rint((t - t[0]) * (1 + size / 100)).astype(np.int64)
        late += t[0]
        return late

    changed = _restamped(ep, faster)
    return changed, truth_of(state_of(changed), 0, len(state_of(ep)))


def stepped(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """The clock jumps by ``size`` within one step (D04); forwards it is a gap to whoever sees the stamps."""
    a = place_of(ep, 1, rng)
    late = (np.arange(len(state_of(ep))) >= a) * np.int64(round(size * 1e9))
    changed, s = _restamped(ep, lambda t: t + late[: len(t)]), state_of(ep)
    t0, t1 = sorted((int(s.t[a - 1]), int(state_of(changed).t[a])))
    return changed, replace(truth_of(s, a - 1, a), t0=t0, t1=t1, gate="SYN005" if size < 0 else "SYN004")


def gap(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """Rows and pictures of a stretch were never recorded; the stamps tell."""
    s, frames = state_of(ep), round(size)
    a = place_of(ep, frames, rng)
    rows = np.delete(np.arange(len(s)), np.s_[a : a + frames])
    return shown(keep_rows(ep, rows), ep.by_role(Role.CAMERA), rows), truth_of(s, a - 1, a + frames)
