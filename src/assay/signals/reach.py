"""Hands of a robot beside those of the human that it follows, and how one maps to the other.

The map of one subject and one robot is a handful of numbers, linear in what it is fitted on:

    wrist of the human, mapped = a P + b (S - P) + c (W - S) + z up        robot's grip = p + o axis

with the human's pelvis P, shoulder S and wrist W in the world and the robot's last arm link p, whose axis
points along the forearm to the hand. ``a`` scales where the body is, ``b`` the trunk and ``c`` the arm about
its shoulder; ``o`` is the offset from wrist to grip. Where robot and human do not share a world, both are
seen from their pelvis and ``a`` falls away (METHODS 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.rotation import rotate

__all__ = [
    "Grip",
    "Grips",
    "HandMap",
    "Sources",
    "finger_gram",
    "finger_off",
    "gram",
    "mapped",
    "off",
    "size",
]

Floats = NDArray[np.float64]
Flags = NDArray[np.int8]

UP: Final = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True, eq=False)
class Grip:
    """One hand of a robot over time, in its world.

    Attributes:
        p: (n, 3) m and quat: (n, 4) wxyz of the last link that the arm moves.
        axis: (n, 3) unit vector from there along the forearm to the hand.
        tips: finger → (p (n, 3), quat (n, 4)) of its last link.
    """

    p: Floats
    quat: Floats
    axis: Floats
    tips: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Grips:
    """A robot's hands, by side.

    Attributes:
        hands: side → `Grip`; root: (n, 3) m; torso: (n, 4) wxyz, the link that both arms hang on.
        thing: (n, 3) m, the object that the robot's own clip moves, or None.
    """

    hands: Mapping[str, Grip]
    root: Floats
    torso: Floats
    thing: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """The human's arms on the robot's clock, in the human's world.

    Attributes:
        stream: its name; root: (n, 3) m.
        shoulder, elbow, wrist: side → (n, 3) m; NaN where the source says nothing.
        knuckle: side → (n, 3) m, where the source goes beyond the wrist.
        tips: side → finger → (n, 3) m.
        touch: side → (n,) 1 touches, 0 does not, -1 unknown; empty where nothing tells.
        thing: (n, 3) m, the object of the human's own clip, or None.
        noise: m per axis, as stated, else 0.
        jitter: m per axis, as estimated: white jitter of the wrists, or bones that change their length.
    """

    stream: str
    root: Floats
    shoulder: Mapping[str, Floats]
    elbow: Mapping[str, Floats]
    wrist: Mapping[str, Floats]
    knuckle: Mapping[str, Floats]
    tips: Mapping[str, Mapping[str, Floats]]
    touch: Mapping[str, Flags]
    thing: Floats | None
    noise: float
    jitter: float


@dataclass(frozen=True, slots=True)
class HandMap:
    """A fitted map, see the module.

    Attributes:
        shared: whether robot and human share a world; root, trunk, arm: scales; grip: o, m; rise: z, m.
        u: m, standard uncertainty of a clip's mean error that the map itself brings.
        clips: how many it was learnt from.
        fingers: ``left index`` → (scale, o, and the tip's own offset x, y, z in its link).
    """

    shared: bool
    root: float
    trunk: float
    arm: float
    grip: float
    rise: float
    u: float
    clips: int
    fingers: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Mapping[str, Any] | None) -> HandMap:
        """From a calibration's JSON; all NaN where nothing was learnt."""
        if model is None:
            nan = float("nan")
            return cls(True, nan, nan, nan, nan, nan, nan, 0)
        return cls(**{**model, "fingers": {k: tuple(v) for k, v in model["fingers"].items()}})


def mapped(map_: HandMap, source: Sources, side: str, root: Floats) -> Floats:
    """Where the robot's grip should be: the mapped human wrist, (n, 3) m in the robot's world."""
    shoulder, wrist = source.shoulder[side], source.wrist[side]
    start = map_.root * source.root if map_.shared else root
    made: Floats = (
        start + map_.trunk * (shoulder - source.root) + map_.arm * (wrist - shoulder) + map_.rise * UP
    )
    return made


def size(source: Sources) -> tuple[float, float]:
    """How large a human is: across the shoulders, and from pelvis to shoulders, medians in m; NaN unknown."""
    left, right = source.shoulder["left"], source.shoulder["right"]
    found = (left - right, 0.5 * (left + right) - source.root)
    across, up = (x[np.isfinite(x).all(axis=1)] for x in found)
    return tuple(float(np.median(np.linalg.norm(x, axis=1))) if len(x) else np.nan for x in (across, up))  # type: ignore[return-value]


def off(map_: HandMap, source: Sources, grips: Grips, side: str) -> Floats:
    """How far the robot's grip is from where it should be: (n, 3) m in the robot's world."""
    hand = grips.hands[side]
    return np.asarray(hand.p + map_.grip * hand.axis - mapped(map_, source, side, grips.root))


def gram(source: Sources, grips: Grips, side: str) -> tuple[Floats, Floats]:
    """What a fit needs of one hand in one clip, per frame: (7, 7) products and (7, 3) means.

    The seven are P, S - P, W - S, -axis, up, the robot's root and p. Frames with NaN are left out.
    """
    hand = grips.hands[side]
    seven = (
        source.root, source.shoulder[side] - source.root, source.wrist[side] - source.shoulder[side],
        -hand.axis, np.broadcast_to(UP, hand.p.shape), grips.root, hand.p,
    )  # fmt: skip
    return _products(np.stack(seven, axis=1))


def finger_gram(source: Sources, grips: Grips, side: str, finger: str) -> tuple[Floats, Floats]:
    """The same of one fingertip: tip - W, axis, the tip link's x, y and z, its place seen from the hand."""
    hand = grips.hands[side]
    p, quat = hand.tips[finger]
    own = [-rotate(quat, np.broadcast_to(e, p.shape)) for e in np.eye(3)]
    six = (source.tips[side][finger] - source.wrist[side], hand.axis, *own, p - hand.p)
    return _products(np.stack(six, axis=1))


def finger_off(map_: HandMap, source: Sources, grips: Grips, side: str, finger: str) -> Floats:
    """How far a fingertip is from where it should be: (n, 3) m in the robot's world."""
    scale, _, *own = map_.fingers[f"{side} {finger}"]
    p, quat = grips.hands[side].tips[finger]
    tip = p + rotate(quat, np.broadcast_to(np.array(own), p.shape))
    away = source.tips[side][finger] - source.wrist[side]
    return np.asarray(tip - mapped(map_, source, side, grips.root) - scale * away)


def _products(x: Floats) -> tuple[Floats, Floats]:
    """(k, k) and (k, 3) of (n, k, 3)."""
    whole = x[np.isfinite(x).all(axis=(1, 2))]
    if not len(whole):
        return np.full((x.shape[1],) * 2, np.nan), np.full(x.shape[1:], np.nan)
    return np.asarray(np.einsum("nki,nli->kl", whole, whole) / len(whole)), whole.mean(axis=0)
