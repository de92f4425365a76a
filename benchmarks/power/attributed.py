"""Clips whose fault is known to be the solver's, or the body's: each draw gives one, or None without room.

*Solver*: the joints of one limb are turned away from a clip whose hand or foot is where it should be. The
clip as it was is the witness that the body reaches the place, from the same pelvis and within its limits.

*Body*: the human's arm grows, the body's limits shrink, or the pelvis leaves a foot behind, until SciPy's
bounded least squares, from several starts and with more freedom than the reference has (feet may go anywhere
for a hand), stay outside the limit by a margin. What the clip then holds is that solver's best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from benchmarks.power.clips import Base
from benchmarks.power.hands import learnt
from benchmarks.power.trials import Rng
from numpy.typing import NDArray
from scipy.optimize import least_squares

from assay import plugs
from assay.embodiment import Tree
from assay.embodiment.kinematics import points
from assay.embodiment.rotation import rotate
from assay.feature import Features
from assay.features.hands import group_of
from assay.model import Episode, Role, Span
from assay.signals.reach import HandMap, mapped, off
from assay.signals.reference import SLACK
from assay.signals.stance import edges

__all__ = ["PLANTS", "Faulty", "features_of", "grown", "handled", "mirrored", "models"]

Floats = NDArray[np.float64]
Plant = Callable[[Sequence[Base], Rng], "Faulty | None"]
SIDES: Final = ("left", "right")
SURE: Final = 0.012
"""m beyond the limit: what the independent solver must miss before a target counts as unreachable."""
FRAMES: Final = 6
"""Frames of a clip on which the independent solver is asked."""
STARTS: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class Faulty:
    """A clip with its fault: who is to blame, by which gate and channel, and how large it is (m)."""

    ep: Episode
    models: dict[str, Any]
    blame: str
    gate: str
    channel: str
    size: float


def handled(ep: Episode) -> Episode:
    """The clip with all of it declared manipulation."""
    t = ep.by_role(Role.JOINT_POSITION)[0].t
    return replace(ep, spans=(Span("manipulation", int(t[0]), int(t[-1]) + 1, "declared"),))


def models(base: Base, bases: Sequence[Base]) -> dict[str, Any]:
    """The map that calibration gives a real clip; the known one of a made-up clip."""
    if base.set == "synth":
        from assay.synth.reaches import known_map

        return dict(known_map())
    return learnt("RTG002", base, bases)


def features_of(ep: Episode, known: dict[str, Any]) -> Features:
    """All features, nothing computed yet."""
    return Features(ep, plugs.features(), known)


# ------------------------------------------------------------------------------------------- the human's


def grown(ep: Episode, factor: float) -> Episode:
    """The human is larger by a factor in everything; the robot's clip stays what it was."""
    s = ep.by_role(Role.HUMAN_BODY)[0]
    return ep.with_stream(replace(s, x=factor * np.asarray(s.x)))


def mirrored(ep: Episode) -> Episode:
    """The human's joints under the names of the other side."""
    s = ep.by_role(Role.HUMAN_BODY)[0]
    other = {"left": "right", "right": "left"}
    words = [n.partition("_") for n in s.names]
    names = [f"{other.get(side, side)}{mark}{rest}" for side, mark, rest in words]
    return ep.with_stream(replace(s, x=np.asarray(s.x)[:, [s.names.index(n) for n in names]]))


# ---------------------------------------------------------------------------------------- the solver's


def arm_turned(bases: Sequence[Base], rng: Rng) -> Faulty | None:
    """The joints of one arm stay turned away by as much as puts its hand 3 to 8 cm off in the mean."""
    base = bases[int(rng.integers(len(bases)))]
    side, dose = SIDES[int(rng.integers(2))], float(rng.uniform(0.03, 0.08))
    known = models(base, bases)
    ep, off_ = handled(base.ep), _errors(base, known)
    if off_ is None or max(off_.values()) > 0.017:  # no witness
        return None
    way = _limb(ep, side, "arm", rng)
    made = _doubled(lambda size: _turned(ep, way * size), lambda new: _hand_error(new, known, side), dose)
    return None if made is None else Faulty(made, known, "solver", "RTG002", side, dose)


def leg_turned(bases: Sequence[Base], rng: Rng) -> Faulty | None:
    """The joints of a standing leg turn within one stance, so that its foot ends 4 to 10 cm off."""
    base = bases[int(rng.integers(len(bases)))]
    side, dose = SIDES[int(rng.integers(2))], float(rng.uniform(0.04, 0.10))
    found = _stance(base, side, rng)
    if found is None:
        return None
    a, b = found
    ep, n = base.ep, len(base.state)
    ramp = np.interp(np.arange(n), [a, b, min(b + 6, n)], [0.0, 1.0, 0.0])[:, None]
    way = _limb(ep, side, "leg", rng)
    made = _doubled(lambda size: _turned(ep, ramp * way * size), lambda new: _way(new, side, a, b), dose)
    return None if made is None else Faulty(made, {}, "solver", "RTG004", side, dose)


# ------------------------------------------------------------------------------------------ the body's


def arm_too_short(bases: Sequence[Base], rng: Rng) -> Faulty | None:
    """The human's arms are longer, so that one hand or both cannot follow."""
    base = bases[int(rng.integers(len(bases)))]
    known = models(base, bases)
    for factor in np.linspace(1.1, 2.6, 11) * rng.uniform(0.97, 1.03):
        ep = _longer(handled(base.ep), float(factor))
        made = _unreachable_hand(ep, known, rng)
        if made is not None:
            return made
    return None


def arm_stopped(bases: Sequence[Base], rng: Rng) -> Faulty | None:
    """The body's arm and waist may turn less than the motion needs."""
    base = bases[int(rng.integers(len(bases)))]
    known, seed = models(base, bases), int(rng.integers(1 << 30))
    for share in np.linspace(0.5, 0.02, 9) * rng.uniform(0.9, 1.1):
        made = _unreachable_hand(_stopped(handled(base.ep), float(share), seed), known, rng)
        if made is not None:
            return made
    return None


def leg_too_short(bases: Sequence[Base], rng: Rng) -> Faulty | None:
    """The pelvis goes on within one stance until the leg cannot keep the foot where it stood."""
    base = bases[int(rng.integers(len(bases)))]
    side = SIDES[int(rng.integers(2))]
    found = _stance(base, side, rng)
    if found is None:
        return None
    a, b = found
    angle = rng.uniform(0, 2 * np.pi)
    for far in np.arange(0.3, 1.3, 0.1):
        shift = np.zeros((len(base.state), 3))
        ramp = np.interp(np.arange(len(shift)), [a, b], [0.0, 1.0])
        shift[:, :2] = (ramp * far)[:, None] * [np.cos(angle), np.sin(angle)]
        ep = _shifted(base.ep, shift)
        best = _least_way(ep, side, a, b, rng)
        if best > 0.03 + SURE:
            return Faulty(_dragged(ep, side, a, b), {}, "body", "RTG004", side, best)
    return None


PLANTS: Final[dict[str, tuple[str, Plant]]] = {
    "arm turned away, 3 to 8 cm at the hand": ("hands", arm_turned),
    "leg turned away in stance, 4 to 10 cm at the foot": ("feet", leg_turned),
    "target beyond the arm's length": ("hands", arm_too_short),
    "target beyond the arm's and waist's limits": ("hands", arm_stopped),
    "pelvis beyond the standing leg's length": ("feet", leg_too_short),
}


# ------------------------------------------------------------------------------------------------ arms


def _errors(base: Base, known: dict[str, Any]) -> dict[str, float] | None:
    found = {side: _hand_error(handled(base.ep), known, side) for side in SIDES}
    return found if np.isfinite(list(found.values())).all() else None


def _hand_error(ep: Episode, known: dict[str, Any], side: str) -> float:
    f = features_of(ep, known)
    map_ = HandMap.of(known["hand_map"][group_of(ep)]["map"])
    return float(np.linalg.norm(off(map_, f.get("source_hands"), f.get("grips"), side), axis=1).mean())


def _limb(ep: Episode, side: str, part: str, rng: Rng) -> Floats:
    """(c,) a random direction of the joints of one limb."""
    body, names = ep.embodiment, ep.by_role(Role.JOINT_POSITION)[0].names
    assert body is not None
    where = body.resolve(names)
    mine = [body.joints[i].part == part and body.joints[i].side == side for i in where]
    mine = [m and "ankle" not in n for m, n in zip(mine, names, strict=True)]
    way = rng.normal(size=len(names)) * mine
    return np.asarray(way / np.linalg.norm(way))


def _turned(ep: Episode, by: Floats) -> Episode:
    """The clip with its joints turned by (c,) or (n, c) rad, within the limits."""
    s = ep.by_role(Role.JOINT_POSITION)[0]
    lower, upper = _bounds(ep)
    x = np.array(s.x, np.float64)
    turned = np.clip(x + by, np.minimum(lower, x), np.maximum(upper, x))
    return ep.with_stream(replace(s, x=np.where(np.broadcast_to(by, x.shape) != 0, turned, x)))


def _bounds(ep: Episode) -> tuple[Floats, Floats]:
    """Limits of the columns of the joints' stream."""
    body = ep.embodiment
    assert body is not None
    where = body.resolve(ep.by_role(Role.JOINT_POSITION)[0].names)
    limits = body.limit_set(ep.limit_set or None)
    return limits.lower[where], limits.upper[where]


def _doubled(
    make: Callable[[float], Episode], size_of: Callable[[Episode], float], dose: float
) -> Episode | None:
    """The clip whose fault is ``dose`` large, by bisection; None where the limb does not go that far."""
    low, high = 0.0, 0.05
    while size_of(make(high)) < dose:
        low, high = high, 2 * high
        if high > 1.7:
            return None
    for _ in range(12):
        half = 0.5 * (low + high)
        low, high = (half, high) if size_of(make(half)) < dose else (low, half)
    return make(high)


def _longer(ep: Episode, factor: float) -> Episode:
    """The human's elbows, wrists and hands further from her shoulders by a factor."""
    s = ep.by_role(Role.HUMAN_BODY)[0]
    names = {n.rpartition(".")[0]: i for i, n in enumerate(s.names) if n.endswith(".x")}
    x = np.array(s.x, np.float64)
    for side in SIDES:
        start = next(i for n, i in names.items() if _of(n, side) and "shoulder" in n.lower())
        for n, i in names.items():
            if _of(n, side) and any(w in n.lower() for w in ("elbow", "wrist", "hand")):
                x[:, i : i + 3] += (factor - 1.0) * (x[:, i : i + 3] - x[:, start : start + 3])
    return ep.with_stream(replace(s, x=x))


def _of(name: str, side: str) -> bool:
    return name.lower().startswith((side, f"{side[0]}_"))


def _stopped(ep: Episode, share: float, seed: int) -> Episode:
    """A body whose arms and waist turn by ``share`` of their range, about a posture within it."""
    body = ep.embodiment
    assert body is not None
    which = np.array([j.part in ("arm", "waist") for j in body.joints])
    sets = []
    for s in body.limits:
        span = s.upper - s.lower
        middle = s.lower + span * np.random.default_rng(seed).uniform(0.3, 0.7, len(span))
        half = 0.5 * share * span
        lower = np.where(which, np.maximum(middle - half, s.lower), s.lower)
        upper = np.where(which, np.minimum(middle + half, s.upper), s.upper)
        sets.append(replace(s, lower=lower, upper=upper))
    return replace(ep, embodiment=replace(body, limits=tuple(sets)))


@dataclass(frozen=True, slots=True, eq=False)
class _Arms:
    """What the independent solver needs: the tree, its free columns, both grips and where they should be."""

    tree: Tree
    q: Floats
    place: Floats
    free: NDArray[np.intp]
    lower: Floats
    upper: Floats
    links: list[str]
    local: Floats
    at: Floats

    def off(self, x: Floats, k: int) -> Floats:
        """(m, 2, 3) m, both grips from where they should be in frame k, for x (m, 3 + free)."""
        q = np.repeat(self.q[k][None], len(x), axis=0)
        q[:, self.free] = x[:, 3:]
        p = self.place[k, :3] + x[:, :3]
        made = points(
            self.tree, q, p, np.repeat(self.place[k, 3:][None], len(x), axis=0), self.links, self.local
        )
        return np.asarray(made - self.at[k])

    def best(self, k: int, start: Floats, room: float) -> tuple[Floats, float]:
        """Pelvis and posture with the least sum of squares from one start, and that sum's root (m)."""
        low = np.concatenate([np.full(3, -room - 1e-5), self.lower])
        high = np.concatenate([np.full(3, room + 1e-5), self.upper])
        return least(lambda x: self.off(x, k).reshape(len(x), -1), np.append(np.zeros(3), start), low, high)


def least(miss: Callable[[Floats], Floats], start: Floats, low: Floats, high: Floats) -> tuple[Floats, float]:
    """SciPy's bounded least squares; ``miss`` takes many points at once, so that a Jacobian is one call."""

    def slope(x: Floats) -> Floats:
        step = np.where(x + 1e-6 < high, 1e-6, -1e-6)
        made = miss(np.vstack([x, x + np.diag(step)]))
        return np.asarray(((made[1:] - made[0]) / step[:, None]).T)

    x0 = np.clip(start, low + 1e-6, high - 1e-6)
    done = least_squares(lambda x: miss(x[None])[0], x0, slope, bounds=(low, high), xtol=1e-6, ftol=1e-6,
                         max_nfev=60)  # fmt: skip
    return np.asarray(done.x), float(np.sqrt(2 * done.cost))


def _arms(ep: Episode, known: dict[str, Any]) -> _Arms:
    f = features_of(ep, known)
    poses, grips, source = f.get("poses"), f.get("grips"), f.get("source_hands")
    body = ep.embodiment
    assert body is not None
    map_ = HandMap.of(known["hand_map"][group_of(ep)]["map"])
    free = np.array([i for i, j in enumerate(body.joints) if j.part in ("arm", "waist")], np.intp)
    limits = body.limit_set(ep.limit_set or None)
    local, links, at = [], [], []
    for hand in body.hands:
        mine = grips.hands[hand.side]
        back = mine.quat[0] * np.array([1.0, -1.0, -1.0, -1.0])
        local.append(map_.grip * rotate(back, mine.axis[0]))
        links.append(hand.link)
        at.append(mapped(map_, source, hand.side, grips.root))
    place = np.array(poses.place)
    place[:, 3:] /= np.linalg.norm(place[:, 3:], axis=1)[:, None]
    return _Arms(poses.tree, np.array(poses.q), place, free, limits.lower[free], limits.upper[free], links,
                 np.array(local), np.stack(at, axis=1))  # fmt: skip


def _unreachable_hand(ep: Episode, known: dict[str, Any], rng: Rng) -> Faulty | None:
    """The clip at its best, if one hand misses its targets by a margin from every start."""
    arms = _arms(ep, known)
    frames = np.unique(np.linspace(0, len(arms.q) - 1, FRAMES).astype(int))
    quick = [arms.best(int(k), arms.q[k, arms.free], SLACK)[1] for k in frames[::2]]
    if np.mean(quick) < 0.02 + SURE:
        return None
    least = np.array([_surely(arms, int(k), rng) for k in frames])  # (f, 2)
    mean = least.mean(axis=0)
    worst = int(mean.argmax())
    if mean[worst] < 0.02 + SURE:
        return None
    made = _at_best(ep, arms)
    body = ep.embodiment
    assert body is not None
    return Faulty(made, known, "body", "RTG002", str(body.hands[worst].side), float(mean[worst]))


def _surely(arms: _Arms, k: int, rng: Rng) -> Floats:
    """(2,) m, each grip's distance at the best of several starts."""
    starts = [arms.q[k, arms.free], *(rng.uniform(arms.lower, arms.upper) for _ in range(STARTS - 1))]
    x, _ = min((arms.best(k, s, SLACK) for s in starts), key=lambda end: end[1])
    return np.linalg.norm(arms.off(x[None], k)[0], axis=1)


def _at_best(ep: Episode, arms: _Arms) -> Episode:
    """The clip with arms and waist as near as they come from the clip's own pelvis, solved at 5 Hz."""
    s = ep.by_role(Role.JOINT_POSITION)[0]
    n = len(arms.q)
    frames = np.unique(np.append(np.arange(0, n, max(1, round(float(s.rate or 30) / 5))), n - 1))
    solved, last = [], arms.q[0, arms.free]
    for k in frames:
        last = arms.best(int(k), last, 0.0)[0][3:]
        solved.append(last)
    body = ep.embodiment
    assert body is not None
    where = body.resolve(s.names)
    x = np.array(s.x, np.float64)
    for column, values in zip(arms.free, np.array(solved).T, strict=True):
        x[:, int(np.flatnonzero(where == column)[0])] = np.interp(np.arange(n), frames, values)
    return ep.with_stream(replace(s, x=x))


# ------------------------------------------------------------------------------------------------ legs


def _stance(base: Base, side: str, rng: Rng) -> tuple[int, int] | None:
    """First and last frame of one stance in which both the source and the robot's foot stay."""
    f = features_of(base.ep, {})
    poses, stance = f.get("poses"), f.get("stance")
    phases = stance.phases[side]
    first, last = edges(poses.t, phases)
    x = poses.soles[side][..., :2]
    moved = np.linalg.norm(x[last] - x[first], axis=2).min(axis=1) if len(first) else np.zeros(0)
    steady = np.linalg.norm(phases.drift, axis=1) < 0.02
    room = np.flatnonzero((moved < 0.015) & steady & (last - first >= 8))
    if not len(room):
        return None
    k = int(rng.choice(room))
    return int(first[k]), int(last[k])


def _way(ep: Episode, side: str, a: int, b: int) -> float:
    """How far the foot goes from frame a to frame b, as RTG004 counts it without the source's drift."""
    x = features_of(ep, {}).get("poses").soles[side][..., :2]
    return float(np.linalg.norm(x[b] - x[a], axis=1).min())


def _shifted(ep: Episode, shift: Floats) -> Episode:
    root = ep.by_role(Role.BASE_POSE)[0]
    x = np.array(root.x, np.float64)
    x[:, :3] += shift
    return ep.with_stream(replace(root, x=x))


@dataclass(frozen=True, slots=True, eq=False)
class _Leg:
    """One leg in a few frames: its free columns and the sole's points."""

    tree: Tree
    q: Floats
    place: Floats
    free: NDArray[np.intp]
    lower: Floats
    upper: Floats
    link: str
    local: Floats

    def sole(self, x: Floats, k: int) -> Floats:
        """(m, p, 3) m with the pelvis moved by x[:, :3] and the joints at x[:, 3:]."""
        q = np.repeat(self.q[k][None], len(x), axis=0)
        q[:, self.free] = x[:, 3:]
        p, turn = self.place[k, :3] + x[:, :3], np.repeat(self.place[k, 3:][None], len(x), axis=0)
        return points(self.tree, q, p, turn, [self.link] * len(self.local), self.local)


def _leg(ep: Episode, side: str) -> _Leg:
    body, poses = ep.embodiment, features_of(ep, {}).get("poses")
    assert body is not None
    sole = next(s for s in body.soles if s.side == side)
    free = np.array([i for i, j in enumerate(body.joints) if j.part == "leg" and j.side == side], np.intp)
    limits = body.limit_set(ep.limit_set or None)
    place = np.array(poses.place)
    place[:, 3:] /= np.linalg.norm(place[:, 3:], axis=1)[:, None]
    return _Leg(poses.tree, np.array(poses.q), place, free, limits.lower[free], limits.upper[free], sole.link,
                sole.points)  # fmt: skip


def _least_way(ep: Episode, side: str, a: int, b: int, rng: Rng) -> float:
    """The least that any sole point can go from frame a to b, at its heights there, wherever it stands."""
    leg = _leg(ep, side)
    n = 3 + len(leg.free)
    low = np.tile(np.append(np.full(3, -SLACK), leg.lower), 2)
    high = np.tile(np.append(np.full(3, SLACK), leg.upper), 2)
    own = np.concatenate([np.zeros(3), leg.q[a, leg.free], np.zeros(3), leg.q[b, leg.free]])
    heights = [leg.sole(x[None], k)[0, :, 2] for x, k in ((own[:n], a), (own[n:], b))]
    found = []
    for k in range(len(leg.local)):

        def miss(x: Floats, k: int = k) -> Floats:
            one, two = leg.sole(x[:, :n], a)[:, k], leg.sole(x[:, n:], b)[:, k]
            up = np.stack([one[:, 2] - heights[0][k], two[:, 2] - heights[1][k]], axis=1)
            return np.concatenate([(two - one)[:, :2], up], axis=1)

        for start in (own, rng.uniform(low, high)):
            found.append(least(miss, start, low, high)[1])
            if found[-1] < 0.03 + SURE:
                return found[-1]
    return min(found)


def _dragged(ep: Episode, side: str, a: int, b: int) -> Episode:
    """The clip whose standing leg stays as near to where it stood as it can, then as it was."""
    leg, s, body = _leg(ep, side), ep.by_role(Role.JOINT_POSITION)[0], ep.embodiment
    assert body is not None
    where, x = body.resolve(s.names), np.array(s.x, np.float64)
    columns = [int(np.flatnonzero(where == c)[0]) for c in leg.free]
    last = np.append(np.zeros(3), leg.q[a, leg.free])
    held = leg.sole(last[None], a)[0]
    low, high = (np.append(np.full(3, side), ends) for side, ends in ((-1e-5, leg.lower), (1e-5, leg.upper)))
    for k in range(a, b + 1):
        last, _ = least(lambda v, k=k: (leg.sole(v, k) - held).reshape(len(v), -1), last, low, high)
        x[k, columns] = last[3:]
    return ep.with_stream(replace(s, x=x))
