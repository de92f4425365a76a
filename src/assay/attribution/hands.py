"""A hand or fingertip that RTG002 finds off, held to the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.attribution.rule import (
    EXACT,
    KEPT,
    Attribution,
    recorded_links,
    said,
    solved,
    spread,
    told,
    upright,
)
from assay.embodiment.kinematics import points
from assay.embodiment.rotation import rotate
from assay.feature import Features
from assay.features.hand_errors import Seen, deciding
from assay.features.hands import group_of
from assay.gate import IN, UNKNOWN
from assay.signals.feet import length
from assay.signals.posture import Poses
from assay.signals.reach import HandMap, mapped
from assay.signals.reference import Goal, held

__all__ = ["hands"]

Floats = NDArray[np.float64]
Picked = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """What is asked of one point of a link.

    Attributes:
        channel: as RTG002 calls it; link: its name; point: (3,) m in the link's frame.
        at: (n, 3) m where it should be or, with ``apart`` (n,) m, what it should be so far away from.
    """

    channel: str
    link: str
    point: Floats
    at: Floats
    apart: Floats | None = None

    def goal(self, near: Floats) -> Goal:
        """The wanted place; of a distance, the place at that distance that is nearest to ``near`` (n, 3)."""
        if self.apart is None:
            return Goal(self.link, self.point, self.at)
        way = near - self.at
        return Goal(self.link, self.point, self.at + way * (self.apart / length(way))[:, None])

    def off(self, place: Floats) -> Floats:
        """(n,) m, as RTG002 measures it."""
        away = length(place - self.at)
        return away if self.apart is None else np.asarray(np.abs(away - self.apart))


def hands(found: Sequence[Attribution], features: Features, p: Any) -> list[Attribution]:
    """Both hands, and the fingers in question, solved in frames of manipulation; standing feet stay.

    Held to the scaled human all are solved at once; held to an object each in the frames of its own contact.
    """
    if not found:
        return []
    seen = _seen(features, p)
    if not seen.moves_object:
        return _together(found, features, seen)
    return [made for one in found for made in _together([one], features, seen)]


def _together(found: Sequence[Attribution], features: Features, seen: Seen) -> list[Attribution]:
    poses, channels = features.get("poses"), [a.channel for a in found]
    parts = [part for part in deciding(seen) if part.channel in channels]
    counts = np.logical_and.reduce([(part.use == IN) & np.isfinite(part.value) for part in parts])
    use = spread(np.flatnonzero(counts), poses.t)
    wanted = list(_wanted(seen, features, channels, use))
    feet = _feet(features, poses, use)
    q, place = poses.q[use], upright(poses.place[use])
    for _ in range(2 if seen.moves_object else 1):
        # Of a distance the nearest place is told by where the hand is: better by the first solution.
        goals = [w.goal(_where(poses, q, place, w)) for w in wanted]
        done = solved(features, poses, use, [*goals, *feet])
        q, place = done.q, done.place
    stepped = np.nan_to_num(done.error[len(wanted) :]).max(initial=0.0)
    u = float(np.hypot(seen.u, EXACT))
    made = []
    for a in found:
        mine = next(w for w in wanted if w.channel == a.channel)
        value = mine.off(_where(poses, q, place, mine))
        low = float(np.where(done.twice, value, 0.0).mean())
        why = told(features, poses, done, use, mine.link)
        made.append(said(a, done, low, float(value.mean()), u, kept=bool(stepped <= KEPT), why=why))
    return made


def _where(poses: Poses, q: Floats, place: Floats, w: Wanted) -> Floats:
    return points(poses.tree, q, place[:, :3], place[:, 3:], [w.link], w.point[None])[:, 0]


def _seen(features: Features, p: Any) -> Seen:
    """What RTG002 measured on: the same map, which was never fitted on this clip."""
    poses, segments = features.get("poses"), features.get("segments")
    model = features.get("hand_map")[group_of(features.ep)]
    handled = segments.handled if segments is not None else np.full(len(poses.t), UNKNOWN)
    return Seen(poses.t, poses.stream, features.get("grips"), features.get("source_hands"),
                HandMap.of(model["map"]), model["held"], handled, p.limit)  # fmt: skip


def _wanted(seen: Seen, features: Features, channels: Sequence[str], use: Picked) -> Iterator[Wanted]:
    """Both grips, and the tips of the fingers that channels name, in the frames ``use``."""
    body = features.ep.embodiment
    assert body is not None
    for end in body.hands:
        side = end.side or "left"
        grip = seen.held["grip"] if seen.moves_object and seen.held is not None else seen.map.grip
        mine = seen.grips.hands[side]
        local = _seen_from(mine.quat[use[0]], grip * mine.axis[use[0]])
        at = None if seen.moves_object else mapped(seen.map, seen.source, side, seen.grips.root)
        yield _one(seen, side, end.link, local, at, seen.source.wrist[side], use)
        for finger in (f for f in mine.tips if any(c.startswith(f"{side} {f}") for c in channels)):
            scale, _, *tip = seen.map.fingers[f"{side} {finger}"]
            human = seen.source.tips[side][finger]
            link = next(name for name in end.ends if finger in name)
            to = None if at is None else at + scale * (human - seen.source.wrist[side])
            yield _one(seen, f"{side} {finger}", link, np.array(tip), to, human, use)


def _one(
    seen: Seen, name: str, link: str, point: Floats, at: Floats | None, human: Floats, use: Picked
) -> Wanted:
    if at is not None:
        return Wanted(name, link, point, at[use])
    assert seen.grips.thing is not None
    assert seen.source.thing is not None
    return Wanted(f"{name} to object", link, point, seen.grips.thing[use],
                  length(human - seen.source.thing)[use])  # fmt: skip


def _seen_from(quat: Floats, way: Floats) -> Floats:
    return rotate(quat * np.array([1.0, -1.0, -1.0, -1.0]), way)


def _feet(features: Features, poses: Poses, use: Picked) -> list[Goal]:
    """Feet that must stay where the clip has them: those on which the source stands, all where none tells."""
    body, stance = features.ep.embodiment, features.get("stance")
    assert body is not None
    assert poses.place is not None
    feet = [s for s in body.soles if s.link in recorded_links(poses, [s.link])]
    goals = held(poses.tree, poses.q[use], poses.place[use], [s.link for s in feet])
    if stance is None or stance.grade != "source":
        return goals
    for sole, goal in zip(feet, goals, strict=True):
        goal.at[stance.state[sole.side][use] != 1] = np.nan
    return [goal for goal in goals if np.isfinite(goal.at).any()]
