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

from dataclasses import dataclass, field, fields, replace
from functools import reduce
from typing import Final, Self

import numpy as np

from assay.signals.loops import all_of_two, any_of_two, latch, told
from assay.signals.segmentation import NO, UNKNOWN, YES, Flags, Floats, hold, rest

__all__ = ["BOTH", "IDLE", "LABELS", "LOCOMOTION", "MANIPULATION", "NOT_KNOWN", "STEP", "Signals",
           "Thresholds", "any_of", "decide"]  # fmt: skip

LABELS: Final = ("unknown", "idle", "locomotion", "manipulation", "both")
NOT_KNOWN, IDLE, LOCOMOTION, MANIPULATION, BOTH = range(5)
_CODES: Final = np.arange(5, dtype=np.int8)

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
    moves = _locomotion(seen, p, count)
    acts = _manipulation(seen, p, moves)
    still = np.zeros(count, bool) if seen.motion is None else seen.motion < p.still
    label = told(moves, acts, still, _CODES)
    if seen.travel is None and seen.legs is None:
        # Nothing of a base or leg is in the data: the label speaks of what is.
        label[acts == YES] = MANIPULATION
        label[(acts == NO) & still] = IDLE
    return moves, acts, label


def _locomotion(seen: Signals, p: Thresholds, count: int) -> Flags:
    if seen.travel is None:
        moves = np.full(count, UNKNOWN)
        if seen.legs is not None:
            moves[rest(seen.legs, 1.0) < p.still] = NO
        return moves
    turns = np.full(count, UNKNOWN) if seen.turn is None else latch(seen.turn, p.turn, p.turn / 2)
    moves = any_of(latch(seen.travel, p.travel, p.travel / 2), turns)
    if seen.feet is not None:
        moves = all_of_two(moves, latch(seen.feet, p.step, p.step / 2))
    return hold(moves, GAP, SHORTEST)


def _manipulation(seen: Signals, p: Thresholds, moves: Flags) -> Flags:
    parts = [
        latch(v, limit, limit / 2)
        for v, limit in ((seen.fingers, p.fingers), (seen.thing, p.thing)) if v is not None
    ]  # fmt: skip
    if seen.contact is not None:
        parts.append(seen.contact)
    if seen.hand is None or seen.front is None:
        # Fingers, objects and contacts can say yes; that nothing is handled only hands can tell.
        parts.append(np.full(len(moves), UNKNOWN))
    else:
        parts += [_hand(seen, i, p, moves) for i in range(seen.hand.shape[1])]
    return hold(any_of(*parts), GAP, SHORTEST)


def _hand(seen: Signals, hand: int, p: Thresholds, moves: Flags) -> Flags:
    assert seen.hand is not None
    assert seen.front is not None
    if seen.kept is None:
        seen.kept = [-rest(-column, 1.0) for column in seen.front.T]
    working = all_of_two(
        latch(seen.hand[:, hand], p.hand, p.hand / 2), latch(seen.front[:, hand], p.front, 0.9 * p.front)
    )
    carrying = latch(seen.kept[hand], p.carry, 0.9 * p.carry)
    return np.where(moves == YES, carrying, working)
