"""Laundered motion: each takes (clips, dose, generator) and gives a planted clip, or None for no room.

The dose is what results; it is computed plainly from the planted clip, without the gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from benchmarks.power.clips import Base, joined
from benchmarks.power.motion_clips import clean, joined_motion, seen
from benchmarks.power.rows import LONG, arm, pick, planted, with_column
from benchmarks.power.trials import Planted, Rng
from numpy.typing import NDArray

from assay.embodiment.rotation import about, compose
from assay.model import Episode, Role, Stream
from assay.synth.planting import limbs_of

__all__ = ["bounded", "held_joint", "low_passed", "tilted_foot"]

Float = NDArray[np.float64]
LIVELY: Final = 0.1
"""rad/s of the joint before and after a hold, and of its limb meanwhile: twice what the gate asks for."""
FLANK: Final = 8


def held_joint(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """A joint in motion keeps one value for ``dose`` frames of 30 Hz, and goes on as if nothing had been."""
    base = pick([b for b in bases if clean(b, "RTG008")], rng)
    s = base.state
    rate, column = float(s.rate or 30), arm(base, s, rng)
    q = np.array(s.x[:, column], np.float64)
    frames = round(dose * rate / 30)
    if len(q) < frames + 12:
        return None
    a = int(rng.integers(3, len(q) - frames - 4))
    b = a + frames
    q[a:b] = q[a]
    others = np.asarray(s.x, np.float64)[a:b, _beside(base, s, column)]
    edges = np.abs([q[a] - q[a - 1], q[b] - q[b - 1]]) * rate
    limb = np.abs(np.diff(others, axis=0)).max(axis=1, initial=0.0).mean() * rate if frames > 1 else LIVELY
    if edges.min() < LIVELY or limb < LIVELY:
        return None
    return planted(with_column(base, s, column, q), s, a, b, s.names[column])


def bounded(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """A joint rests ``dose`` per cent of 2,000 frames at a round value beyond its motion, no limit."""
    base = joined([b for b in bases if clean(b, "RTG008")], LONG, rng)
    s, body = base.state, base.ep.embodiment
    assert body is not None
    column, rows = arm(base, s, rng), round(dose * LONG / 100)
    limits = body.limit_set(None)
    joint = int(body.resolve(s.names)[column])
    q = np.array(s.x[:, column], np.float64)
    bound = float(np.ceil(q.max() * 100 + 1) / 100)
    if bound > limits.upper[joint] - 0.01 or abs(bound) < 1e-3:
        return None
    a = int(rng.integers(FLANK + 1, len(q) - rows - FLANK - 1))
    others = np.asarray(s.x, np.float64)[a : a + rows, _beside(base, s, column)]
    if np.abs(np.diff(others, axis=0)).max(axis=1).mean() * float(s.rate or 30) < LIVELY:
        return None
    at = np.arange(len(q))
    away = np.maximum(np.maximum(a - at, at - (a + rows - 1)), 0)
    share = np.clip(1 - away / (FLANK + 1), 0, 1)
    q = q + share * (bound - q)
    q[a : a + rows] = bound
    return planted(with_column(base, s, column, q), s, a, a + rows, s.names[column])


def low_passed(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """Three seconds and more of a clip, smoothed: half of the amplitude is left at ``dose`` Hz.

    All joints and the base, by a Gaussian, or a Butterworth of the first, second or fourth order, forwards
    and backwards.
    """
    base = pick([b for b in bases if clean(b, "RTG008") and _has_hands(b)], rng)
    ep = _cropped(base.ep, base.state, rng)
    kind = int(rng.integers(4))
    for role in (Role.JOINT_POSITION, Role.BASE_POSE):
        s = ep.by_role(role)[0]
        x = _smooth(_continuous(s), dose, float(s.rate or 30), kind)
        if role is Role.BASE_POSE:
            x[:, 3:] /= np.linalg.norm(x[:, 3:], axis=1, keepdims=True)
        ep = ep.with_stream(replace(s, x=x))
    s = ep.by_role(Role.JOINT_POSITION)[0]
    return Planted(ep, int(s.t[0]), int(s.t[-1]), s.name, ("low-pass",))


def tilted_foot(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """The left ankle is at a limit in six stances; there the sole tilts ``dose`` rad more than beside it."""
    base = joined_motion([b for b in bases if _stands(b)], "RTG008", LONG, rng)
    if base is None or not clean(base, "RTG008"):
        return None
    poses, stance, _ = seen(base)
    assert stance is not None
    s, body = base.state, base.ep.embodiment
    assert body is not None
    column = s.names.index("left_ankle_pitch_joint")
    joint = int(body.resolve(s.names)[column])
    whole = np.lib.stride_tricks.sliding_window_view(stance.state["left"] == 1, 6).all(axis=1)
    starts = np.flatnonzero(whole)
    if len(starts) < 200:
        return None
    starts = starts[np.linspace(0, len(starts) - 1, 8).astype(int)[1:-1] + rng.integers(-3, 4, 6)]
    on = np.zeros(base.rows, bool)
    on[(starts[:, None] + np.arange(6)).ravel()] = True
    q = np.array(s.x[:, column], np.float64)
    q[on] = body.limit_set(None).lower[joint]
    ep = with_column(base, s, column, q)
    bent = replace(base, ep=ep)
    standing = stance.state["left"] == 1
    level = _level(_tilt(poses.soles["left"]), standing, on)
    if level is None:
        return None
    ep = _leant(ep, seen(bent)[0].soles["left"], on, level + dose)
    more = (_tilt(seen(replace(base, ep=ep))[0].soles["left"]) - level)[on]
    if np.abs(more / dose - 1).max() > 0.05:
        return None
    t = poses.t
    return Planted(ep, int(t[on][0]), int(t[on][-1]), s.name, ("left",))


# ---------------------------------------------------------------------------------------- plain arithmetic


def _beside(base: Base, s: Stream, column: int) -> list[int]:
    """The other columns of the same limb."""
    body = base.ep.embodiment
    assert body is not None
    where = body.resolve(s.names)
    limb = [(body.joints[i].part, body.joints[i].side) if i >= 0 else ("", "") for i in where]
    return [int(i) for i in limbs_of(base.ep, s) if i != column and limb[i] == limb[column]]


def _has_hands(base: Base) -> bool:
    human = base.ep.by_role(Role.HUMAN_BODY)
    return bool(human) and {"pelvis.x", "left_wrist.x", "left_ankle.x"} <= set(human[0].names)


def _stands(base: Base) -> bool:
    stance = seen(base)[1]
    return stance is not None and stance.grade == "source" and "left" in seen(base)[0].soles


def _cropped(ep: Episode, state: Stream, rng: Rng) -> Episode:
    """A stretch of three seconds to all of the clip, from a time that every stream has a sample at."""
    whole = (state.t[-1] - state.t[0]) * 1e-9
    first = round(float(rng.uniform(0, max(whole - 3.1, 0.0))), 1)
    last = float(rng.uniform(min(first + 3.0, whole), whole))
    streams = []
    for s in ep.streams:
        at = (s.t - s.t[0]) / max(1, int(s.t[-1] - s.t[0])) * whole if s.name.startswith("human/") else None
        seconds = (s.t - s.t[0]) * 1e-9 if at is None else at
        keep = (seconds >= first - 1e-3) & (seconds <= last + 1e-3)
        if len(s.x) == len(s.t):
            streams.append(replace(s, t=s.t[keep], x=np.asarray(s.x)[keep]))
    return replace(ep, streams=tuple(streams), declared=())


def _continuous(s: Stream) -> Float:
    """Values in which a quaternion does not change its sign."""
    x = np.array(s.x, np.float64)
    if s.role is Role.BASE_POSE:
        turned = (x[1:, 3:] * x[:-1, 3:]).sum(axis=1) < 0
        x[1:, 3:] *= np.cumprod(np.where(turned, -1.0, 1.0))[:, None]
    return x


def _smooth(x: Float, hertz: float, rate: float, kind: int) -> Float:
    from scipy.ndimage import gaussian_filter1d
    from scipy.signal import butter, sosfiltfilt

    if kind == 3:
        sigma = np.sqrt(np.log(2) / 2) / (np.pi * hertz) * rate
        return np.asarray(gaussian_filter1d(x, sigma, axis=0, mode="nearest"))
    if hertz >= 0.49 * rate:
        return x
    return np.asarray(sosfiltfilt(butter((1, 2, 4)[kind], hertz, fs=rate, output="sos"), x, axis=0))


def _up(sole: Float) -> Float:
    """(n, 3) unit normals of a sole (n, k, 3), upwards."""
    up = np.cross(sole[:, 1] - sole[:, 0], sole[:, -1] - sole[:, 0])
    up *= np.sign(up[:, 2:])
    return np.asarray(up / np.linalg.norm(up, axis=1, keepdims=True))


def _tilt(sole: Float) -> Float:
    return np.asarray(np.arccos(np.clip(_up(sole)[:, 2], -1.0, 1.0)))


def _level(angle: Float, standing: NDArray[np.bool_], on: NDArray[np.bool_]) -> Float | None:
    """(n,) the median of what an angle is in the same stance beside ``on``; None where none is beside."""
    level = np.zeros(len(angle))
    edges = np.flatnonzero(np.diff(np.concatenate(([0], standing.astype(np.int8), [0]))))
    for a, b in edges.reshape(-1, 2):
        if on[a:b].any():
            beside = angle[a:b][~on[a:b]]
            if len(beside) < 3:
                return None
            level[a:b] = np.median(beside)
    return level


def _leant(ep: Episode, sole: Float, on: NDArray[np.bool_], wanted: Float) -> Episode:
    """The base turned on some frames so that a sole is ``wanted`` (n,) rad off flat there."""
    root = ep.by_role(Role.BASE_POSE)[0]
    x = np.array(root.x, np.float64)
    up = _up(sole)
    for k in np.flatnonzero(on):
        axis = np.cross([0.0, 0.0, 1.0], up[k])
        size = np.linalg.norm(axis)
        if size > 1e-9:
            angle = wanted[k] - np.arccos(np.clip(up[k, 2], -1.0, 1.0))
            x[k, 3:] = compose(about(axis / size, angle), x[k, 3:])
    return ep.with_stream(replace(root, x=x))
