"""A standing foot that RTG003 or RTG004 finds moving, held to the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.attribution.rule import EXACT, KEPT, Attribution, recorded_links, said, solved, spread, told
from assay.embodiment import Sole
from assay.embodiment.kinematics import link_poses, points
from assay.feature import Features
from assay.signals.feet import WINDOW, displaced, length
from assay.signals.posture import Poses
from assay.signals.reference import Goal, Reached, held
from assay.signals.stance import edges

__all__ = ["drift", "skate"]

Floats = NDArray[np.float64]
Picked = NDArray[np.intp]

PLACES: Final = (0.0, 0.5, 1.0)
"""Where on the clip's own way a foot is held: at its start, in the middle, at its end."""
WIDE: Final = 30
"""Frames solved of one slide, which is measured over 1/30 s."""


def skate(a: Attribution, features: Features) -> Attribution:
    """Every frame of the slide, and 1/30 s before it, with the foot held."""
    poses = features.get("poses")
    before = a.t0 - round(WINDOW * 1e9)
    frames = np.flatnonzero((poses.t >= before - 1000) & (poses.t < a.t1))
    use = spread(frames, poses.t, rate=1 / WINDOW, most=WIDE)

    def value(done: Reached) -> float:
        x = _soles(poses, done, _sole(features, a.channel))
        moved = length(displaced(poses.t[use], x)).min(axis=1)
        return float(np.nanmax(moved, initial=0.0))

    return _best(a, features, use, value, EXACT)


def drift(a: Attribution, features: Features) -> Attribution:
    """The whole stance with the foot held; what counts is its way from start to end."""
    poses, stance = features.get("poses"), features.get("stance")
    phases = stance.phases[a.channel]
    at = int(np.abs(phases.t0 - a.t0).argmin())
    first, last = edges(poses.t, phases)
    use = spread(np.arange(first[at], last[at] + 1), poses.t)

    def value(done: Reached) -> float:
        x = _soles(poses, done, _sole(features, a.channel))
        way = x[-1] - x[0]
        beyond = way - np.append(phases.drift[at], 0.0)
        return float(np.minimum(length(way), length(beyond)).min())

    return _best(a, features, use, value, float(np.hypot(EXACT, np.sqrt(2.0) * stance.noise)))


def _best(
    a: Attribution, features: Features, use: Picked, value: Callable[[Reached], float], u: float
) -> Attribution:
    """The least that the foot moves, held at each of `PLACES` until one is within the limit."""
    poses, sole = features.get("poses"), _sole(features, a.channel)
    others = _others(features, poses, a.channel, use)
    found: list[tuple[float, Reached]] = []
    for part in PLACES:
        done = solved(features, poses, use, [_hold(poses, sole, use, part), *others])
        found.append((value(done), done))
        if found[-1][0] + 2 * u < a.limit:
            break
    least, done = min(found, key=lambda pair: pair[0])
    stepped = np.nan_to_num(done.error[1:]).max(initial=0.0)
    low = least if done.twice.all() else 0.0
    return said(a, done, low, least, u, kept=bool(stepped <= KEPT),
                why=told(features, poses, done, use, sole.link))  # fmt: skip


def _hold(poses: Poses, sole: Sole, use: Picked, part: float) -> Goal:
    """The sole point that moves least stays in one place, as low as it ever is, turned as the clip has it."""
    assert poses.place is not None
    place = poses.place[use]
    n = len(sole.points)
    x = points(poses.tree, poses.q[use], place[:, :3], place[:, 3:], [sole.link] * n, sole.points)
    k = int(length((x[-1] - x[0])[:, :2]).argmin())
    at = np.tile((1.0 - part) * x[0, k] + part * x[-1, k], (len(use), 1))
    at[:, 2] = x[:, k, 2].min()  # a foot that leaves the ground has not been kept where it stood
    _, quat = link_poses(poses.tree, poses.q[use], place[:, :3], place[:, 3:], [sole.link])
    return Goal(sole.link, sole.points[k], at, quat[:, 0])


def _others(features: Features, poses: Poses, side: str, use: Picked) -> list[Goal]:
    """The other foot stays where the clip has it while the source stands on it."""
    body, stance = features.ep.embodiment, features.get("stance")
    assert body is not None
    assert poses.place is not None
    feet = [s for s in body.soles if s.side != side and recorded_links(poses, [s.link])]
    goals = held(poses.tree, poses.q[use], poses.place[use], [s.link for s in feet])
    for sole, goal in zip(feet, goals, strict=True):
        goal.at[stance.state[sole.side][use] != 1] = np.nan
    return [goal for goal in goals if np.isfinite(goal.at).any()]


def _soles(poses: Poses, done: Reached, sole: Sole) -> Floats:
    """(n, k, 3) m, the foot's sole points in the reference's postures: one that is lifted has moved too."""
    place, n = done.place, len(sole.points)
    return points(poses.tree, done.q, place[:, :3], place[:, 3:], [sole.link] * n, sole.points)


def _sole(features: Features, side: str) -> Sole:
    body = features.ep.embodiment
    assert body is not None
    return next(s for s in body.soles if s.side == side)
