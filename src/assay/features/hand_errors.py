"""What the errors of hands come to: means that decide, and figures that are read beside them (no feature)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.rotation import rotate
from assay.gate import IN, OUT, UNKNOWN, Abstain, Evidence, Outcome
from assay.signals.feet import length
from assay.signals.intervals import ends, period
from assay.signals.reach import Grips, HandMap, Sources, finger_off, mapped, off

__all__ = ["Part", "Seen", "beside", "deciding", "mean_of"]

Floats = NDArray[np.float64]
Flags = NDArray[np.int8]

ANGLE: Final = 0.35
"""rad, 20 degrees: no limit, a scale to read angles on."""
LAGS: Final = 0.5
"""s; a source further off in time than this is not looked for."""


@dataclass(frozen=True, eq=False)
class Seen:
    """One clip with its source and the map that it is judged by.

    Attributes:
        t: (n,) ns; handled: (n,) whether something is handled, 1, 0 or -1.
        held: what clips that move objects taught: ``grip`` (m, wrist to grip) and its ``u`` (m), or None.
        limit: m, against which noise counts.
    """

    t: NDArray[np.int64]
    stream: str
    grips: Grips
    source: Sources
    map: HandMap
    held: Mapping[str, Any] | None
    handled: Flags
    limit: float

    @cached_property
    def ways(self) -> dict[str, Floats]:
        """Side → (n, 3) m in the world, from where the grip should be to where it is."""
        sides = [s for s in self.grips.hands if s in self.source.wrist]
        return {s: off(self.map, self.source, self.grips, s) for s in sides}

    @cached_property
    def constants(self) -> dict[str, Floats]:
        """Side → (3,) m in the torso's frame: the median of that, over manipulation where there is any."""
        back = self.grips.torso * np.array([1.0, -1.0, -1.0, -1.0])
        handled = self.handled == IN
        found = {}
        for side, way in self.ways.items():
            use = np.isfinite(way).all(axis=1) & (handled if handled.any() else True)
            found[side] = np.median(rotate(back[use], way[use]), axis=0) if use.any() else np.full(3, np.nan)
        return found

    @property
    def moves_object(self) -> bool:
        """Whether hands are held to an object instead of to the scaled human."""
        return self.grips.thing is not None and self.source.thing is not None

    @property
    def noise(self) -> float:
        """What the source's own noise, in the robot's size, adds to the uncertainty of a mean, m."""
        size = 1.0 if self.moves_object else self.map.arm
        stated, jitter = size * self.source.noise, size * self.source.jitter
        return float(np.hypot(stated, jitter**2 / self.limit))

    @property
    def u(self) -> float:
        """Standard uncertainty of a mean, m."""
        return float(np.hypot(self.learnt, self.noise))

    @property
    def learnt(self) -> float:
        """What calibration leaves open of a mean, m."""
        return float(self.held["u"] if self.moves_object and self.held is not None else self.map.u)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The error of a hand or fingertip in each frame, (n,) m, and in which frames it counts (1, 0, -1)."""

    channel: str
    value: Floats
    use: Flags
    note: str = ""


def deciding(seen: Seen) -> Iterator[Part]:
    """Per hand and fingertip: distance from where it should be, or difference of distances to the object."""
    for side in (s for s in seen.grips.hands if s in seen.source.wrist):
        fingers = [f for f in seen.grips.hands[side].tips if f"{side} {f}" in seen.map.fingers]
        fingers = [f for f in fingers if f in seen.source.tips.get(side, {})]
        if not seen.moves_object:
            yield Part(side, length(seen.ways[side]), seen.handled, _told(seen, side))
            for f in fingers:
                way = length(finger_off(seen.map, seen.source, seen.grips, side, f))
                yield Part(f"{side} {f}", way, seen.handled)
            continue
        use = _touching(seen, side)
        yield Part(f"{side} to object", _apart(seen, _grip(seen, side), seen.source.wrist[side]), use)
        for f in fingers:
            tip, own = seen.grips.hands[side].tips[f], np.array(seen.map.fingers[f"{side} {f}"][2:])
            place = tip[0] + rotate(tip[1], np.broadcast_to(own, tip[0].shape))
            yield Part(f"{side} {f} to object", _apart(seen, place, seen.source.tips[side][f]), use)


def mean_of(part: Part, seen: Seen, shortest: float, missing: float) -> Outcome:
    """The mean of a part over the frames that count.

    Args:
        part: as `deciding` gives them.
        seen: the clip.
        shortest: s; less than this is n/a by measurement, or abstains where it is not known.
        missing: share of the frames that may be without a value.
    """
    step = period(seen.t) * 1e-9
    sure, unsure = (float(np.count_nonzero(part.use == k)) * step for k in (IN, UNKNOWN))
    where = {"stream": seen.stream, "channel": part.channel}
    if sure < shortest <= sure + unsure:
        return Abstain("scope-unknown", "nothing tells when the hand handles something", **where)
    among = np.flatnonzero(part.use == IN) if sure >= shortest else np.arange(len(seen.t))
    value, known = part.value[among], np.isfinite(part.value[among])
    whole = known.mean() >= 1.0 - missing if len(known) else False
    mean = float(value[known].mean()) if whole else float("nan")
    first, last = (int(seen.t[among[0]]), int(seen.t[among[-1]])) if len(among) else (0, 0)
    scope = np.array([IN if sure >= shortest else OUT], np.int8)
    noisy = seen.noise > seen.learnt
    return Evidence.single(
        mean, first, last + round(step * 1e9), unit="m", limit=seen.limit, u=seen.u, scope=scope,
        against=seen.source.stream, **where,
        reason="reference-noisy" if noisy else "undecided" if whole else "not-finite",
        doubt=f"{mean * 100:.1f} cm, known to {2 * seen.u * 100:.1f} cm" if whole else "", note=part.note,
    )  # fmt: skip


def beside(seen: Seen) -> Iterator[Evidence]:
    """Figures that decide nothing: raw, scaled, constant part, rest, angle, in contact, hand to hand, all."""
    both = []
    for side in (s for s in seen.grips.hands if s in seen.source.wrist):
        way, handled, touch = seen.ways[side], seen.handled, _touching(seen, side)
        error, constant = length(way), seen.constants[side]
        raw = length(seen.grips.hands[side].p - seen.source.wrist[side])
        yield _figure(seen, f"{side} raw", raw, handled)
        yield _figure(seen, f"{side} scaled", error, handled)
        yield _figure(seen, f"{side} residual", length(way - rotate(seen.grips.torso, constant)), handled)
        yield _figure(seen, f"{side} angle", _angle(seen, side), handled, "rad")
        yield _figure(seen, f"{side} in contact", error, touch)
        yield _number(seen, f"{side} bias", float(np.linalg.norm(constant)))
        yield _number(seen, f"{side} in all frames", _mean(error))
        both.append(touch)
    if len(both) > 1:
        use = np.min(both, axis=0).astype(np.int8)
        yield _figure(seen, "hand to hand", _between(seen), use)


def _grip(seen: Seen, side: str) -> Floats:
    hand = seen.grips.hands[side]
    grip = seen.held["grip"] if seen.moves_object and seen.held is not None else seen.map.grip
    return np.asarray(hand.p + grip * hand.axis)


def _touching(seen: Seen, side: str) -> Flags:
    return seen.source.touch.get(side, np.full(len(seen.t), UNKNOWN, np.int8))


def _apart(seen: Seen, robot: Floats, human: Floats) -> Floats:
    """|robot's distance from its object less the human's from hers|, (n,) m."""
    assert seen.grips.thing is not None
    assert seen.source.thing is not None
    return np.abs(length(robot - seen.grips.thing) - length(human - seen.source.thing))


def _between(seen: Seen) -> Floats:
    """|distance between the robot's hands less that between the human's|, (n,) m; scaled without objects."""
    left, right = (_grip(seen, s) for s in ("left", "right"))
    if seen.moves_object:
        ends_ = [seen.source.wrist[s] for s in ("left", "right")]
    else:
        ends_ = [mapped(seen.map, seen.source, s, seen.grips.root) for s in ("left", "right")]
    return np.abs(length(left - right) - length(ends_[0] - ends_[1]))


def _angle(seen: Seen, side: str) -> Floats:
    """(n,) rad between the robot's forearm and the human's hand, or forearm where her hand is not known."""
    wrist, knuckle = seen.source.wrist[side], seen.source.knuckle[side]
    hand = knuckle - wrist if np.isfinite(knuckle).any() else wrist - seen.source.elbow[side]
    size = length(hand)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = (hand * seen.grips.hands[side].axis).sum(axis=1) / np.where(size > 1e-6, size, np.nan)
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _told(seen: Seen, side: str) -> str:
    """Why a hand is off, in a few words: what is constant, what is not, whether another time fits."""
    way = seen.ways[side]
    use = (seen.handled == IN) & np.isfinite(way).all(axis=1)
    if not use.any() or length(way[use]).mean() <= seen.limit:
        return ""
    constant = seen.constants[side]
    rest = length(way - rotate(seen.grips.torso, constant))[use].mean()
    said = f"{np.linalg.norm(constant) * 100:.1f} cm are constant, {rest * 100:.1f} cm are not"
    late = _lag(seen, side, way, use)
    return f"{said}; the source fits {abs(late):.2f} s {'later' if late > 0 else 'earlier'}" if late else said


def _lag(seen: Seen, side: str, way: Floats, use: NDArray[np.bool_]) -> float:
    """Seconds by which the source should be later to fit half as badly; 0 where no shift does that."""
    step = period(seen.t) * 1e-9
    hand = seen.grips.hands[side].p + seen.map.grip * seen.grips.hands[side].axis
    goal = hand - way
    n, best, shift = len(hand), 0.5 * float(length(way[use]).mean()), 0
    for k in range(-round(LAGS / step), round(LAGS / step) + 1) if step > 0 else ():
        a, b = max(0, k), min(n, n + k)
        there = use[a:b]
        error = length(hand[a:b] - goal[a - k : b - k])[there]
        if np.count_nonzero(there) >= 0.5 * np.count_nonzero(use) and error.mean() < best:
            best, shift = float(error.mean()), k
    return shift * step


def _figure(seen: Seen, channel: str, value: Floats, use: Flags, unit: str = "m") -> Evidence:
    rest: dict[str, Any] = {"against": seen.source.stream, "channel": channel, "decides": False}
    limit = ANGLE if unit == "rad" else seen.limit
    return Evidence(value, seen.t, ends(seen.t), unit, limit, scope=use, stream=seen.stream, **rest)


def _number(seen: Seen, channel: str, value: float) -> Evidence:
    return Evidence.single(
        value, int(seen.t[0]), int(seen.t[-1]), unit="m", limit=seen.limit, stream=seen.stream,
        against=seen.source.stream, channel=channel, decides=False,
    )  # fmt: skip


def _mean(value: Floats) -> float:
    known = value[np.isfinite(value)]
    return float(known.mean()) if len(known) else float("nan")
