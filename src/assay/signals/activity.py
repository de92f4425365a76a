"""Locomotion, manipulation, both, idle or unknown: decided from signals on an even grid, three-valued.

*Locomotion.* The base travels over the ground (1 s centred median of its planar speed) or turns, and where
feet are known one of them gets somewhere within a second: a pelvis sways and swings about planted feet. Enter
above 0.20 m/s or 0.5 rad/s, leave below half of that.

*Manipulation.* Any of: fingers or gripper change; a declared contact of a hand; an object moves; a hand moves
in the torso's frame, in front of its shoulder. While the base travels, arms swing: then a hand counts only if
it stays in front for a second, as hands that carry do.

*Idle* is neither, and still. What moves and is neither (a kick, a jump on the spot, a bow) is unknown: the
five labels have no word for it.

Method and thresholds: METHODS section 6, except that a hand enters at 0.03 m/s instead of 0.05, since half of
a real teleoperated reach is slower than 0.02 m/s, and that feet, ``front``, ``carry`` and ``still`` are our
own, set on labelled clips (``tests/labels/segments.toml``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, reduce
from typing import Final, Self

import numpy as np

from assay.embodiment.kinematics import compiled
from assay.signals.loops import any_of_two
from assay.signals.segmentation import GRID, NO, UNKNOWN, YES, Flags, Floats, rest

__all__ = ["BOTH", "IDLE", "LABELS", "LOCOMOTION", "MANIPULATION", "NOT_KNOWN", "STEP", "Signals",
           "Thresholds", "any_of", "decide", "decide_by"]  # fmt: skip

LABELS: Final = ("unknown", "idle", "locomotion", "manipulation", "both")
NOT_KNOWN, IDLE, LOCOMOTION, MANIPULATION, BOTH = range(5)

GAP: Final = 0.5  # s; a pause shorter than this belongs to what is around it
SHORTEST: Final = 0.5  # s; nothing shorter is a segment
STEP: Final = 0.5  # s over which a hand, finger or object must have moved


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where each decision flips; it flips back at half of that (``front`` and ``still`` have no half).

    Attributes:
        travel: m/s, turn: rad/s of the base; step: m/s, a foot's way in a straight line within a second.
        hand: m/s in the torso's frame; front: arm lengths that a hand at work is forward of its
            shoulder; carry: the same for one that carries.
        fingers: shares of their range per second; thing: m/s of an object.
        still: rad/s of any joint, or m/s of any human joint seen from the pelvis.
    """

    travel: float = 0.20
    turn: float = 0.5
    step: float = 0.15
    hand: float = 0.03
    front: float = 0.35
    carry: float = 0.45
    fingers: float = 0.10
    thing: float = 0.05
    still: float = 0.40

    def scaled(self, factor: float) -> Self:
        """All thresholds times a factor."""
        return replace(self, **{f.name: getattr(self, f.name) * factor for f in fields(self)})


@dataclass(slots=True)
class Signals:
    """What decides, on the even grid; None where the data cannot say."""

    travel: Floats | None = None
    turn: Floats | None = None
    hand: Floats | None = None  # (m, k)
    front: Floats | None = None  # (m, k)
    kept: list[Floats] | None = None  # k of (m,): the least front over a second, found when first asked for
    fingers: Floats | None = None
    thing: Floats | None = None
    contact: Flags | None = None
    motion: Floats | None = None
    legs: Floats | None = None
    feet: Floats | None = None
    evidence: list[str] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)


def any_of(*flags: Flags) -> Flags:
    """YES where one is, else UNKNOWN where one is, else NO."""
    return reduce(any_of_two, flags)


def decide(seen: Signals, p: Thresholds, count: int) -> tuple[Flags, Flags, Flags]:
    """(locomotion, manipulation, label) on the grid."""
    moves, acts, label = decide_by(seen, (p,), count)[0]
    return moves, acts, label


def decide_by(seen: Signals, sets: tuple[Thresholds, ...], count: int) -> Flags:
    """(k, 3, m) locomotion, manipulation and label on the grid, by each of k sets of thresholds."""
    rows, roles = _rows(seen, count)
    legs = rest(seen.legs, 1.0) if seen.travel is None and seen.legs is not None else _NONE
    motion = _NONE if seen.motion is None else seen.motion
    contact = np.zeros(0, np.int8) if seen.contact is None else seen.contact
    enter, leave, still = _levels(sets, roles)
    made = np.empty((len(sets), 3, count), np.int8)
    compiled(_decided, _DECIDED)[0](
        rows, np.array(roles, np.int64), enter, leave, still, motion, legs, contact,
        np.array([GAP, SHORTEST]) * GRID - 1e-6, made,
    )  # fmt: skip
    return made


def _rows(seen: Signals, count: int) -> tuple[Floats, tuple[int, ...]]:
    """Every signal that a threshold is held to, (s, m), and what each is; hands three rows each."""
    found: list[tuple[int, Floats | None]] = [
        (_TRAVEL, seen.travel), (_TURN, seen.turn if seen.travel is not None else None),
        (_FEET, seen.feet if seen.travel is not None else None), (_FINGERS, seen.fingers),
        (_THING, seen.thing),
    ]  # fmt: skip
    if seen.hand is not None and seen.front is not None:
        if seen.kept is None:
            seen.kept = [-rest(-column, 1.0) for column in seen.front.T]
        for i, kept in enumerate(seen.kept):
            found += [(_HAND, seen.hand[:, i]), (_FRONT, seen.front[:, i]), (_KEPT, kept)]
    there = [(role, row) for role, row in found if row is not None]
    rows = np.empty((len(there), count))
    for i, (_, row) in enumerate(there):
        rows[i] = row
    return rows, tuple(role for role, _ in there)


@lru_cache(maxsize=64)
def _levels(sets: tuple[Thresholds, ...], roles: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
    """(k, s) where each signal's decision flips, (k, s) where it flips back, and (k,) ``still``."""
    by = ("travel", "turn", "step", "fingers", "thing", "hand", "front", "carry")
    enter = np.array([[getattr(p, by[role]) for role in roles] for p in sets]).reshape(len(sets), len(roles))
    back = np.array([0.9 if role in (_FRONT, _KEPT) else 0.5 for role in roles])
    return enter, enter * back, np.array([p.still for p in sets])


_NONE: Final = np.zeros(0)
_TRAVEL, _TURN, _FEET, _FINGERS, _THING, _HAND, _FRONT, _KEPT = range(8)
_Y, _N, _U = int(YES), int(NO), int(UNKNOWN)
_DECIDED: Final = (
    "void(float64[:,::1], int64[::1], float64[:,::1], float64[:,::1], float64[::1], float64[::1],"
    " float64[::1], int8[::1], float64[::1], int8[:,:,::1])"
)


# Of some flags any is: yes where one is, else unknown where one is, else no; all are: the other way round.
# Yes above ``enter`` until below ``leave``; unknown from NaN until one of them is passed. Then a no between
# two yes, shorter than the first of ``shortest`` (samples), is bridged, and a yes between two no dropped.
def _decided(rows, roles, enter, leave, still, motion, legs, contact, shortest, made):  # type: ignore[no-untyped-def]  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917  # long: one kernel without calls
    m, travels, hands = made.shape[2], False, False
    flags = np.empty((len(roles), m), np.int8)
    for s in range(len(roles)):
        travels |= roles[s] == _TRAVEL
        hands |= roles[s] == _HAND
    for k in range(len(made)):
        for s in range(len(roles)):
            now = _N
            for i in range(m):
                v = rows[s, i]
                if math.isnan(v):
                    now = _U
                elif v > enter[k, s]:
                    now = _Y
                elif v < leave[k, s]:
                    now = _N
                flags[s, i] = now
        moves, acts, label = made[k, 0], made[k, 1], made[k, 2]
        for i in range(m):
            now, turns = _U, _U
            for s in range(len(roles)):
                if roles[s] == _TRAVEL:
                    now = flags[s, i]
                elif roles[s] == _TURN:
                    turns = flags[s, i]
            if travels:
                now = _Y if max(now, turns) == _Y else min(now, turns)
                for s in range(len(roles)):
                    if roles[s] == _FEET:
                        now = _N if now == _N or flags[s, i] == _N else min(now, flags[s, i])
            elif len(legs) and legs[i] < still[k]:
                now = _N
            moves[i] = now
        for which in range(2):
            flag = made[k, which]
            if which:
                for i in range(m):
                    now = _N if hands else _U
                    if len(contact):
                        now = _Y if max(now, contact[i]) == _Y else min(now, contact[i])
                    for s in range(len(roles)):
                        part = _N
                        if roles[s] == _FINGERS or roles[s] == _THING:
                            part = flags[s, i]
                        elif roles[s] == _HAND and moves[i] == _Y:
                            part = flags[s + 2, i]
                        elif roles[s] == _HAND:
                            there, front = flags[s, i], flags[s + 1, i]
                            part = min(there, front) if there != _N and front != _N else _N  # noqa: PLR1714
                        now = _Y if max(now, part) == _Y else min(now, part)
                    flag[i] = now
            if not which and not travels:
                continue
            for around in (_Y, _N):
                start, end = 0, 0
                while start < m:
                    while end < m and flag[end] == flag[start]:
                        end += 1
                    within = start > 0 and end < m and flag[start] == 1 - around
                    short = end - start < shortest[0 if around == _Y else 1]
                    if within and short and flag[start - 1] == around and flag[end] == around:
                        flag[start:end] = around
                    start = end
        for i in range(m):
            rests = len(motion) > 0 and motion[i] < still[k]
            if moves[i] == _N and acts[i] == _N and rests:
                label[i] = IDLE
            elif moves[i] == _Y and acts[i] != _U:
                label[i] = BOTH if acts[i] == _Y else LOCOMOTION
            elif moves[i] == _N and acts[i] == _Y:
                label[i] = MANIPULATION
            else:
                label[i] = NOT_KNOWN
            if not travels and not len(legs):  # no base or leg is in the data: the label speaks of what is
                if acts[i] == _Y:
                    label[i] = MANIPULATION
                elif acts[i] == _N and rests:
                    label[i] = IDLE
