"""When a foot stands: from the feet of the human source, or from the robot's own soles, graded lower.

Judging a robot's feet by its own soles lets every foot escape that floats, sinks or slides at once. Where
the human that the motion came from is there, stance is hers (METHODS 1). The variant that survived on real
clips (REAL-CLIPS) is strict: a foot stands once its toe or heel moves less than 4 mm in 1/30 s and until
both move more than 7.5 mm, and 67 ms are trimmed at both ends, where alarms are about timing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled
from assay.signals.feet import displaced, length, noise, runs_of, strides, within
from assay.signals.intervals import period
from assay.signals.loops import ready, whole

__all__ = ["SHAKY", "SIDES", "Phases", "Stance", "drifting", "edges", "human_stance", "sole_stance"]

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

SIDES: Final = ("left", "right")
ENTER: Final = 0.004
LEAVE: Final = 0.0075
"""m in 1/30 s: the published 1 cm let the swing's slow ends in (14 of 16 real clips alarmed)."""
RAISED: Final = 0.06
"""m; a foot that is still and this far above where feet are at rest nearby in time is held, not put down."""
NEARBY: Final = 1.0
"""s; capture drifts by up to 13 cm within a clip, so that rest heights are compared over no longer."""
TRIM: Final = 0.067
SHORTEST: Final = 0.1
SHAKY: Final = 0.0025
"""m of white jitter beyond which stillness cannot be seen: at 3 mm a fifth of still frames exceeds LEAVE."""


@dataclass(frozen=True, slots=True, eq=False)
class Phases:
    """The stances of one foot.

    Attributes:
        t0, t1: (k,) int64 ns, trimmed.
        drift: (k, 2) m, how far the source's least-moving foot point went from start to end, horizontally.
    """

    t0: Int64
    t1: Int64
    drift: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Stance:
    """When each foot stands, on the robot's clock.

    Attributes:
        t: (n,) int64 ns.
        state: side → (n,) int8: 1 stands, 0 does not, -1 cannot be told.
        phases: side → its stances; grade: ``source`` from the human source, ``robot`` from its own soles.
        stream: what it was taken from; noise: m of white jitter in it.
    """

    t: Int64
    state: dict[str, NDArray[np.int8]]
    phases: dict[str, Phases]
    grade: Literal["source", "robot"]
    stream: str
    noise: float = field(default=0.0)


def human_stance(t: Int64, points: Floats, on: Int64, stream: str) -> Stance:
    """Stance of the human source.

    Args:
        t: (m,) int64 ns, the source's clock.
        points: (m, 2, p, 3) m, z up: for left and right foot p points, as toe and heel.
        on: (n,) int64 ns, the clock on which stance is wanted, same origin.
        stream: the source's name.
    """
    m, _, p, _ = points.shape
    moved = strides(t, points.reshape(m, 2 * p, 3), level=True).reshape(m, 2, p)
    half = max(1, round(NEARBY * 1e9 / max(period(t), 1.0)))
    still, blind = np.empty((2, m)), np.zeros((2, m), bool)
    signature = "void(float64[:,:,:,::1], float64[:,:,::1], int64, float64, float64[:,::1], boolean[:,::1])"
    compiled(_stillness, signature)[0](ready(points), moved, half, RAISED, still, blind)
    state: dict[str, NDArray[np.int8]] = {}
    phases: dict[str, Phases] = {}
    for i, side in enumerate(SIDES):
        phases[side] = _phases(t, still[i], (ENTER, LEAVE), points[:, i])
        state[side] = within(on, phases[side].t0, phases[side].t1).astype(np.int8)
        state[side][_untold(t, blind[i], on)] = -1
    return Stance(on, state, phases, "source", stream, _jitter(points, moved))


# For each foot the way of whichever point moves least (of those not raised over where either foot's rests
# within ``half`` samples, as far as heights are known); NaN where a point is not known.
def _stillness(points, moved, half, raised, still, blind):  # type: ignore[no-untyped-def]  # noqa: C901
    m, rest = len(points), np.empty(len(points))
    for side in range(2):
        for i in range(m):
            still[side, i] = math.inf
            for k in range(points.shape[2]):
                for e in range(3):
                    blind[side, i] |= not math.isfinite(points[i, side, k, e])
    for k in range(points.shape[2]):
        for i in range(m):
            left, right = points[i, 0, k, 2], points[i, 1, k, 2]
            low = left if left < right or math.isnan(left) else right
            rest[i] = low if math.isfinite(low) else math.inf
        at = -1
        for i in range(m):
            first, last = max(i - half, 0), min(i + half, m - 1)
            new = last if at >= first else first
            at = first if at < first else at
            for j in range(new, last + 1):
                at = j if rest[j] <= rest[at] else at
            for side in range(2):
                low = points[i, side, k, 2] - rest[at] < raised
                way = moved[i, side, k] if low else math.inf
                if way < still[side, i] or math.isnan(way):
                    still[side, i] = way
    for side in range(2):
        for i in range(m):
            still[side, i] = math.nan if blind[side, i] else still[side, i]


def sole_stance(
    t: Int64, soles: dict[str, Floats], lowest: dict[str, Floats], ground: float, stream: str
) -> Stance:
    """Stance of the robot's own soles: lowest point under 3 cm and rising or falling below 0.15 m/s.

    Graded lower: a foot that floats or slides fast is not seen to stand, a low swing is. By side, ``soles``
    are (n, k, 3) m and ``lowest`` the heights (n,) m of their lowest points.
    """
    state: dict[str, NDArray[np.int8]] = {}
    phases: dict[str, Phases] = {}
    for side, x in soles.items():
        low = lowest[side] - ground
        share = low / 0.03
        vertical = np.abs(displaced(t, low)) / 0.005  # 5 mm in 1/30 s is 0.15 m/s
        unseen = np.isnan(vertical) & np.isfinite(low)
        near = np.where(unseen, share, np.maximum(share, vertical))
        phases[side] = _phases(t, near, (1.0, 1.3), x, trim=0.0)
        state[side] = within(t, phases[side].t0, phases[side].t1).astype(np.int8)
        state[side][~np.isfinite(low)] = -1
    return Stance(t, state, phases, "robot", stream)


def drifting(stance: Stance, side: str, most: float) -> Bools:
    """(n,) frames of stances in which the source's own foot goes further than ``most`` m."""
    phases = stance.phases[side]
    far = length(phases.drift) > most
    return within(stance.t, phases.t0[far], phases.t1[far])


def edges(t: Int64, phases: Phases) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and last of the samples t (n,) within each stance; (k,), (k,)."""
    first = np.minimum(np.searchsorted(t, phases.t0, "left"), max(len(t) - 1, 0))
    return first, np.maximum(np.searchsorted(t, phases.t1, "right") - 1, first)


def _phases(t: Int64, v: Floats, levels: tuple[float, float], x: Floats, trim: float = TRIM) -> Phases:
    """Runs in which v is low, trimmed, with the drift of the foot point that moves least between their ends.

    They begin below the first of ``levels`` and end above the second, or at NaN.
    """
    t0, t1, count = np.empty(len(v), np.int64), np.empty(len(v), np.int64), np.zeros(1, np.int64)
    signature = (
        "void(float64[::1], int64[::1], float64, float64, int64, float64, int64[::1], int64[::1], int64[::1])"
    )
    compiled(_lasting, signature)[0](
        ready(v), whole(t), *levels, round(trim * 1e9), SHORTEST * 1e9 - 1e6, t0, t1, count
    )
    t0, t1 = t0[: count[0]], t1[: count[0]]
    if not len(t0):
        return Phases(t0, t1, np.zeros((0, 2)))
    a, b = edges(t, Phases(t0, t1, np.zeros((len(t0), 2))))
    moved = x[b][..., :2] - x[a][..., :2]
    least = length(moved).argmin(axis=1)
    return Phases(t0, t1, moved[np.arange(len(a)), least])


def _lasting(v, t, enter, leave, trim, shortest, t0, t1, count):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    k, first, n = 0, -1, len(v)
    for i in range(n + 1):
        on = i < n and v[i] <= leave and (first >= 0 or v[i] < enter)
        if on and first < 0:
            first = i
        elif not on and first >= 0:
            begin, end = t[first] + trim, t[i - 1] - trim
            if end - begin >= shortest:
                t0[k], t1[k] = begin, end
                k += 1
            first = -1
    count[0] = k


def _untold(t: Int64, blind: Bools, on: Int64) -> Bools:
    """Where stance cannot be told: outside the source's time, and where it has holes (with the trim)."""
    if not len(t):
        return np.ones(len(on), bool)
    slack = round(period(t))
    out = (on < t[0] - slack) | (on > t[-1] + slack)
    if not blind.any():
        return np.asarray(out)
    first, last = runs_of(blind)
    pad = round((TRIM + SHORTEST) * 1e9) + slack
    return np.asarray(out | within(on, t[first] - pad, t[last] + pad))


def _jitter(points: Floats, moved: Floats) -> float:
    """White jitter of the quieter half of the foot's motion, m: the larger of the two feet's toes."""
    found = []
    for i in range(2):
        slow = moved[:, i].min(axis=1)
        ordered = np.sort(slow[np.isfinite(slow)])
        n = len(ordered)
        if not n:
            return float("nan")
        quiet = slow <= (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
        # Runs of quiet are short in noise: take every second difference whose middle is quiet.
        wide = quiet.copy()
        wide[1:] |= quiet[:-1]
        wide[:-1] |= quiet[1:]
        found.append(noise(points[:, i, 0, :2], wide))
    known = [f for f in found if not math.isnan(f)]
    return max(known) if any(math.isfinite(f) for f in known) else float("nan")
