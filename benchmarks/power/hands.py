"""Faults of hands in real retargeted clips: each takes (clips, dose, generator) and gives a planted clip.

Where a hand should be is told by the map learnt from all clips; the gate is given the one that a run would
give it, learnt from the clips of the other folds. The robot's hand is put where the first says it should be,
plus the clip's own error, plus the fault, so that the mean distance is the dose: the clip's own error is
counted in, and shrunk where it is more than half of the dose.
The whole clip counts as manipulation, which ASAP's clips hardly hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from benchmarks.power.clips import Base
from benchmarks.power.trials import Planted, Rng
from numpy.typing import NDArray

from assay import calibrate, plugs
from assay.embodiment.rotation import rotate
from assay.feature import Features
from assay.features.hands import group_of
from assay.model import Episode, Span
from assay.signals.reach import Grips, HandMap, Sources, mapped, off

__all__ = ["aside", "finger", "from_object", "learnt", "reached"]

Float = NDArray[np.float64]
SIDES = ("left", "right")
SHAKE = 0.002
"""m; white noise of what real clips do not hold and is made up here: fingertips and boxes."""


def learnt(code: str, base: Base, bases: Sequence[Base]) -> dict[str, Any]:
    """What calibration gives the gate for one clip of a set; nothing for other gates."""
    if code != "RTG002":
        return {}
    return {"hand_map": _calibrated(tuple(b for b in bases if b.set == base.set)).get(base.ep.id)}


def aside(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """One hand stays off in a constant direction of the torso, ``dose`` m in the mean."""
    base, side = _drawn(bases, rng)
    way = rng.normal(size=3)
    torso = seen(base)[1].torso
    return _planted(base, side, dose, rotate(torso, way / np.linalg.norm(way)), bases)


def reached(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """One arm reaches too far or too short by a factor, ``dose`` m off in the mean."""
    base, side = _drawn(bases, rng)
    source = seen(base)[2]
    way = source.wrist[side] - source.shoulder[side]
    return _planted(base, side, dose, way * (1 if rng.integers(2) else -1), bases)


def finger(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """A fingertip, made up 10 cm ahead of each grip, is ``dose`` m off in the mean, the wrist as it was."""
    base, side = _drawn(bases, rng)
    ep, grips, source = seen(base)
    model = _model(base, bases)
    map_ = _truth(base, bases)
    hand = grips.hands[side]
    ahead = hand.p + (map_.grip + 0.1) * hand.axis
    noise = rng.normal(0.0, SHAKE, ahead.shape)
    human = source.wrist[side] + (0.1 * hand.axis + noise) / map_.arm
    own = off(map_, source, grips, side) - noise
    way = rotate(hand.quat, _unit(rng))
    tip = ahead - own + _of_size(own, way, dose)
    fingers = {f"{side} index": (map_.arm, map_.grip, 0.0, 0.0, 0.0)}  # of a finger that is made up
    hands = {**grips.hands, side: replace(hand, tips={"index": (tip, hand.quat)})}
    given = {
        "grips": replace(grips, hands=hands),
        "source_hands": replace(source, tips={side: {"index": human}}),
        "hand_map": {group_of(ep): {**model, "map": {**model["map"], "fingers": fingers}}},
    }
    return Planted(ep, int(_t(ep)[0]), int(_t(ep)[-1]), channels=(f"{side} index",), given=given)


def from_object(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """A box, made up 20 cm beside each hand, is held ``dose`` m too near or too far in the mean."""
    base, side = _drawn(bases, rng)
    ep, grips, source = seen(base)
    map_ = _truth(base, bases)
    way = 0.2 * rotate(grips.torso, _unit(rng)) + rng.normal(0.0, SHAKE, grips.root.shape)
    gate = HandMap.of(_model(base, bases)["map"])
    apart = np.linalg.norm(way, axis=1, keepdims=True)
    hand = grips.hands[side]
    size = dose * (1 if rng.integers(2) else -1)
    given = {
        "grips": replace(grips, thing=hand.p + map_.grip * hand.axis + way * (1 + size / apart)),
        "source_hands": replace(source, thing=source.wrist[side] + way,
                                touch={s: np.full(len(way), np.int8(s == side)) for s in SIDES}),
        "hand_map": {group_of(ep): {"map": None, "held": {"grip": gate.grip, "u": gate.u, "hands": 20}}},
    }  # fmt: skip
    return Planted(ep, int(_t(ep)[0]), int(_t(ep)[-1]), channels=(f"{side} to object",), given=given)


@cache
def seen(base: Base) -> tuple[Episode, Grips, Sources]:
    """The clip with all of it declared manipulation, and its hands."""
    t = _t(base.ep)
    ep = replace(base.ep, spans=(Span("manipulation", int(t[0]), int(t[-1]) + 1, "declared"),))
    features = Features(ep, plugs.features())
    return ep, features.get("grips"), features.get("source_hands")


@cache
def _calibrated(bases: tuple[Base, ...]) -> Mapping[str, Any]:
    """Clip → the map by which a run would judge it."""
    statistic = plugs.statistics()["hand_map"]
    rows = {}
    for base in bases:
        features = Features(base.ep, plugs.features())
        rows[base.ep.id] = statistic.summarise(base.ep, *(features.get(n) for n in statistic.needs))
    made = calibrate.Calibration({"hand_map": calibrate.fit(statistic, rows)}, {"hand_map": sorted(rows)})
    return {"": made.models["hand_map"]["full"], **{n: made.for_episode(n)["hand_map"] for n in rows}}


def _model(base: Base, bases: Sequence[Base]) -> dict[str, Any]:
    found: dict[str, Any] = learnt("RTG002", base, bases)["hand_map"][group_of(base.ep)]
    return found


def _truth(base: Base, bases: Sequence[Base]) -> HandMap:
    made = _calibrated(tuple(b for b in bases if b.set == base.set))[""]
    return HandMap.of(made[group_of(base.ep)]["map"])


def _drawn(bases: Sequence[Base], rng: Rng) -> tuple[Base, str]:
    """A clip whose hands are both sure to be within the limit, and one of its hands."""
    fit = [b for b in bases if _sound(b, tuple(bases))]
    return fit[int(rng.integers(len(fit)))], SIDES[int(rng.integers(2))]


@cache
def _sound(base: Base, bases: tuple[Base, ...]) -> bool:
    _, grips, source = seen(base)
    map_ = HandMap.of(_model(base, bases)["map"])
    return all(_mean(off(map_, source, grips, s)) + 2.5 * map_.u < 0.02 for s in SIDES)


def _planted(base: Base, side: str, dose: float, way: Float, bases: Sequence[Base]) -> Planted | None:
    ep, grips, source = seen(base)
    model = _model(base, bases)
    map_ = _truth(base, bases)
    hand = grips.hands[side]
    error = _of_size(off(map_, source, grips, side), way, dose)
    p = mapped(map_, source, side, grips.root) + error - map_.grip * hand.axis
    given = {"grips": replace(grips, hands={**grips.hands, side: replace(hand, p=p)}),
             "source_hands": source, "hand_map": {group_of(ep): model}}  # fmt: skip
    return Planted(ep, int(_t(ep)[0]), int(_t(ep)[-1]), channels=(side,), given=given)


def _of_size(own: Float, way: Float, dose: float) -> Float:
    """The clip's own error (n, 3) and as much of ``way`` as makes the mean length ``dose``."""
    own = own * min(1.0, 0.5 * dose / _mean(own))
    low, high = 0.0, 1.0
    while _mean(own + high * way) < dose:
        high *= 2
    for _ in range(40):
        half = 0.5 * (low + high)
        low, high = (half, high) if _mean(own + half * way) < dose else (low, half)
    return np.asarray(own + low * way)


def _mean(x: Float) -> float:
    return float(np.linalg.norm(x, axis=1).mean())


def _unit(rng: Rng) -> Float:
    way = rng.normal(size=3)
    return np.asarray(way / np.linalg.norm(way))


def _t(ep: Episode) -> NDArray[np.int64]:
    return ep.streams[0].t
