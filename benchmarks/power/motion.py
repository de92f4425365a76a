"""Faults of retargeted motion: each takes (clips, dose, generator) and gives a planted clip.

The dose is what results, the clip's own motion counted in: it is computed plainly from the planted clip, and
a draw that misses it by more than 5 % is drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np
from benchmarks.power.clips import Base
from benchmarks.power.motion_clips import clean, joined_motion, seen
from benchmarks.power.rows import pick, with_column
from benchmarks.power.trials import Planted, Rng
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from assay.model import Episode, Role, Stream
from assay.signals.posture import Poses
from assay.signals.stance import SIDES, Stance

__all__ = [
    "drifted",
    "floated",
    "hung",
    "leapt",
    "offset",
    "overspeed",
    "skated",
    "skated_share",
    "sunk",
    "sunk_share",
    "turned",
]

Float = NDArray[np.float64]
NEAR: Final = 0.05
LONG: Final = 2000
FRAME: Final = 1 / 30


def skated(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """The standing foot slides for 0.2 s, its least-moving sole point ``dose`` m in 1/30 s."""
    base = _clean(bases, "RTG003", rng)
    poses, stance, _ = seen(base)
    assert stance is not None
    rate, side = _rate(poses), SIDES[int(rng.integers(2))]
    stretch = _in_a_stance(poses, stance, side, 0.2 + FRAME, rng)
    if stretch is None:
        return None
    a, b = stretch
    x = poses.soles[side][..., :2]
    least = np.linalg.norm(np.diff(x[a : b + 1], axis=0), axis=2).sum(axis=0).argmin()
    way = _direction(rng) * dose / FRAME * np.arange(b - a + 1)[:, None] / rate
    shift = np.zeros((len(x), 2))
    shift[a : b + 1] = x[a, least] + way - x[a : b + 1, least]
    shift[b:] = shift[b]
    if not _near(_skate(poses, stance, shift), dose):
        return None
    return Planted(_moved(base, shift), int(poses.t[a]), int(poses.t[b]), channels=(side,))


def skated_share(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """``dose`` per cent of one foot's standing frames slide by 2 cm in 1/30 s, in runs of three."""
    base = joined_motion([b for b in bases if abs(_rate(seen(b)[0]) - 30) < 1], "RTG003", LONG, rng)
    if base is None or not clean(base, "RTG003"):
        return None
    poses, stance, _ = seen(base)
    assert stance is not None
    side = SIDES[int(rng.integers(2))]
    x, standing = poses.soles[side][..., :2], stance.state[side] == 1
    runs = round(dose / 100 * int(standing.sum()) / 3)
    whole = np.flatnonzero(np.lib.stride_tricks.sliding_window_view(standing, 8).all(axis=1)) + 3
    if runs < 1 or len(whole) < 20 * runs:
        return None
    at = whole[np.linspace(0, len(whole) - 1, runs + 2).astype(int)[1:-1] + rng.integers(-3, 4, runs)]
    step = np.zeros((len(x), 2))
    for k in (0, 1, 2):
        step[at + k] = _direction(rng) * 0.02
    return Planted(_moved(base, np.cumsum(step, axis=0)), 0, int(poses.t[-1]), channels=(side,))


def drifted(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """A foot creeps through a whole stance, ``dose`` m further than its source."""
    base = _clean(bases, "RTG004", rng)
    poses, stance, _ = seen(base)
    assert stance is not None
    side = SIDES[int(rng.integers(2))]
    phases = stance.phases[side]
    if not len(phases.t0):
        return None
    k = int(rng.integers(len(phases.t0)))
    a, b = np.searchsorted(poses.t, phases.t0[k]), np.searchsorted(poses.t, phases.t1[k], "right") - 1
    # Slower than skate: what only this gate can see.
    if b - a < 3 or dose > 0.3 * (b - a) / _rate(poses):
        return None
    ramp = np.clip((np.arange(len(poses.t)) - a) / (b - a), 0, 1)[:, None] * _direction(rng)
    size = dose
    for _ in range(6):
        size *= dose / max(_ways(poses, stance, side, ramp * size)[k], 1e-6)
    if size > 3 * dose or not _near(_drift(poses, stance, ramp * size), dose):
        return None
    return Planted(_moved(base, ramp * size), int(phases.t0[k]), int(phases.t1[k]), channels=(side,))


def sunk(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """The lowest sole is ``dose`` m under the ground for 0.3 s."""
    base = _clean(bases, "RTG005", rng)
    low = _lowest(seen(base)[0])
    a, b = _stretch(seen(base)[0], 0.3, rng)
    shift = np.zeros((len(low), 3))
    shift[a:b, 2] = -dose - low[a:b]
    if not _near(-float((low + shift[:, 2]).min()), dose):
        return None
    t = seen(base)[0].t
    return Planted(_moved(base, shift), int(t[a]), int(t[b]))


def sunk_share(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """``dose`` per cent of 2,000 frames and more have a sole 2 cm under the ground."""
    base = joined_motion(bases, "RTG005", LONG, rng)
    if base is None or not clean(base, "RTG005"):
        return None
    poses = seen(base)[0]
    low = _lowest(poses)
    most = int((low < -0.01).sum())
    wanted = round(dose / 100 * len(low)) - most
    if wanted < 1:
        return None
    at = rng.choice(np.flatnonzero(low >= -0.01), wanted, replace=False)
    shift = np.zeros((len(low), 3))
    shift[at, 2] = -0.02 - low[at]
    return Planted(_moved(base, shift), 0, int(poses.t[-1]))


def floated(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """The standing foot's lowest point is ``dose`` m above the ground for 0.2 s."""
    base = _clean(bases, "RTG006", rng)
    poses, stance, _ = seen(base)
    assert stance is not None
    side = SIDES[int(rng.integers(2))]
    stretch = _in_a_stance(poses, stance, side, 0.2, rng)
    if stretch is None:
        return None
    a, b = stretch
    shift = np.zeros((len(poses.t), 3))
    shift[a:b, 2] = dose - poses.lowest(side)[a:b]
    total = max(float((poses.lowest(s) + shift[:, 2])[stance.state[s] == 1].max()) for s in SIDES)
    if not _near(total, dose):
        return None
    return Planted(_moved(base, shift), int(poses.t[a]), int(poses.t[b]))


def offset(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """The whole clip stands ``dose`` m above or below its declared ground."""
    base = _clean(bases, "RTG013", rng)
    ground = seen(base)[2]
    assert ground is not None
    shift = np.zeros((base.rows, 3))
    shift[:, 2] = dose * (1 if rng.integers(2) else -1) - ground.offset
    return Planted(_moved(base, shift), 0, int(seen(base)[0].t[-1]))


def hung(bases: Sequence[Base], dose: float, rng: Rng, share: float) -> Planted | None:
    """For a share of the clip (1), 0.4 s at least, its lowest sole is ``dose`` m above where soles rest."""
    base = _clean(bases, "RTG013", rng)
    poses, _, ground = seen(base)
    assert ground is not None
    n, rate = len(poses.t), _rate(poses)
    frames, edge = max(round(share * n), round(0.4 * rate)), round(0.2 * rate)
    a = int(rng.integers(edge, n - frames - edge))
    rise = np.clip(np.minimum(np.arange(n) - a + edge, a + frames + edge - np.arange(n)) / edge, 0, 1)
    shift = np.zeros((n, 3))
    shift[:, 2] = rise * (dose + ground.offset - _lowest(poses))
    return Planted(_moved(base, shift), int(poses.t[a]), int(poses.t[a + frames]))


def overspeed(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """An arm's joint reaches ``dose`` of its rated speed over one frame, and returns within a second."""
    base = _clean(bases, "RTG007", rng)
    body, s = base.ep.embodiment, base.state
    assert body is not None
    where = body.resolve(s.names)
    arms = [i for i, j in enumerate(where) if j >= 0 and body.joints[j].part == "arm"]
    column = int(rng.choice(arms))
    rated = min(ls.speed[where[column]] for ls in body.limits if ls.grade != "soft")
    if not np.isfinite(rated):
        return None
    q, rate = np.asarray(s.x, np.float64)[:, column].copy(), _rate(seen(base)[0])
    frames = max(1, round(rate / 60))
    k = int(rng.integers(5, len(q) - round(rate) - 6))
    jump = dose * rated * frames / rate * (1 if rng.integers(2) else -1) - (q[k + frames - 1] - q[k - 1])
    decay = np.clip(1 - (np.arange(len(q)) - k) / rate, 0, 1)
    q[k:] += jump * decay[k:]
    return Planted(with_column(base, s, column, q), int(s.t[k - 2]), int(s.t[k + frames + 1]), s.name,
                   (s.names[column],))  # fmt: skip


def leapt(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """The base is elsewhere from one frame on: ``dose`` m in 1/30 s beyond both of its neighbouring moves."""
    base = _clean(bases, "RTG007", rng)
    root, k = _root(base, rng)
    x = np.array(root.x, np.float64)
    way = rng.normal(size=3)
    x[k:, :3] += dose * way / np.linalg.norm(way)
    return _jumped(base, root, x, k) if _near(_beyond(root.t, x)[0], dose) else None


def turned(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """The base is turned about the vertical from one frame on: ``dose`` rad beyond its neighbouring turns."""
    base = _clean(bases, "RTG007", rng)
    root, k = _root(base, rng)
    x = np.array(root.x, np.float64)
    by = Rotation.from_euler("z", dose * (1 if rng.integers(2) else -1))
    x[k:, 3:] = (by * Rotation.from_quat(x[k:, 3:], scalar_first=True)).as_quat(scalar_first=True)
    return _jumped(base, root, x, k) if _near(_beyond(root.t, x)[1], dose) else None


# -------------------------------------------------------------------------------------- plain arithmetic


def _root(base: Base, rng: Rng) -> tuple[Stream, int]:
    """The base pose, and a row at which it may jump."""
    root = base.ep.by_role(Role.BASE_POSE)[0]
    edge = len(root) // 10
    return root, int(rng.integers(edge, len(root) - edge))


def _jumped(base: Base, root: Stream, x: Float, k: int) -> Planted:
    ep = base.ep.with_stream(replace(root, x=x))
    return Planted(ep, int(root.t[k - 1]), int(root.t[k]), root.name, ("base",))


def _beyond(t: NDArray[np.int64], x: Float) -> tuple[float, float]:
    """The most that a base moves (m) and turns (rad) in 1/30 s beyond both the 1/30 s before and after."""
    at = t * 1e-9
    use = at[(at > at[0] + 2 * FRAME) & (at < at[-1] - FRAME)]
    whole = Slerp(at, Rotation.from_quat(x[:, 3:], scalar_first=True))
    when = [use + k * FRAME for k in (-2, -1, 0, 1)]
    places = [np.stack([np.interp(w, at, c) for c in x[:, :3].T], axis=1) for w in when]
    moves = [b - a for a, b in pairwise(places)]
    turns = [whole(b) * whole(a).inv() for a, b in pairwise(when)]
    metres = [np.linalg.norm(moves[1] - moves[k], axis=1) for k in (0, 2)]
    radians = [(turns[1] * turns[k].inv()).magnitude() for k in (0, 2)]
    return float(np.minimum(*metres).max()), float(np.minimum(*radians).max())


def _skate(poses: Poses, stance: Stance, shift: Float) -> float:
    """The most that a standing foot moves in 1/30 s throughout 66 ms."""
    lag = max(1, round(_rate(poses) * FRAME))
    worst = 0.0
    for side in SIDES:
        x = poses.soles[side][..., :2] + shift[:, None]
        moved = np.zeros(len(x))
        moved[lag:] = np.linalg.norm(x[lag:] - x[:-lag], axis=2).min(axis=1)
        moved[stance.state[side] != 1] = 0
        run = np.lib.stride_tricks.sliding_window_view(moved, max(1, round(_rate(poses) * 0.066)))
        worst = max(worst, float(run.min(axis=1).max()))
    return worst


def _ways(poses: Poses, stance: Stance, side: str, shift: Float) -> Float:
    """How far the sole goes in each stance, by itself or beyond its source, whichever is less."""
    phases, x = stance.phases[side], poses.soles[side][..., :2] + shift[:, None]
    a = np.searchsorted(poses.t, phases.t0)
    b = np.searchsorted(poses.t, phases.t1, "right") - 1
    way = x[b] - x[a]
    beyond = way - phases.drift[:, None]
    return np.asarray(np.minimum(np.linalg.norm(way, axis=2), np.linalg.norm(beyond, axis=2)).min(axis=1))


def _drift(poses: Poses, stance: Stance, shift: Float) -> float:
    found = []
    for side in SIDES:
        steady = np.linalg.norm(stance.phases[side].drift, axis=1) <= 0.03
        found.append(float(_ways(poses, stance, side, shift)[steady].max(initial=0)))
    return max(found)


def _lowest(poses: Poses) -> Float:
    return np.asarray(np.minimum.reduce([poses.lowest(side) for side in poses.soles]))


# ---------------------------------------------------------------------------------------------- places


def _clean(bases: Sequence[Base], code: str, rng: Rng) -> Base:
    return pick([b for b in bases if clean(b, code)], rng)


def _rate(poses: Poses) -> float:
    return (len(poses.t) - 1) * 1e9 / float(poses.t[-1] - poses.t[0])


def _stretch(poses: Poses, seconds: float, rng: Rng) -> tuple[int, int]:
    frames = round(seconds * _rate(poses))
    a = int(rng.integers(2, len(poses.t) - frames - 2))
    return a, a + frames


def _in_a_stance(poses: Poses, stance: Stance, side: str, seconds: float, rng: Rng) -> tuple[int, int] | None:
    """First and last frame of a stretch inside one stance of a source that stays where it is."""
    phases, frames = stance.phases[side], round(seconds * _rate(poses))
    steady = np.linalg.norm(phases.drift, axis=1) <= 0.03
    a = np.searchsorted(poses.t, phases.t0[steady])
    b = np.searchsorted(poses.t, phases.t1[steady], "right") - 1
    room = np.flatnonzero(b - a > frames)
    if not len(room):
        return None
    k = int(rng.choice(room))
    first = int(rng.integers(a[k], b[k] - frames + 1))
    return first, first + frames


def _direction(rng: Rng) -> Float:
    angle = rng.uniform(0, 2 * np.pi)
    return np.array([np.cos(angle), np.sin(angle)])


def _near(total: float, dose: float) -> bool:
    return abs(total / dose - 1) <= NEAR


def _moved(base: Base, shift: Float) -> Episode:
    """The clip with its base moved by (n, 2) or (n, 3) m."""
    root = base.ep.by_role(Role.BASE_POSE)[0]
    x = np.array(root.x, np.float64)
    x[:, : shift.shape[1]] += shift
    return base.ep.with_stream(replace(root, x=x))
