"""Small retargeted walks with known truth: a G1 that steps on z = 0 beside the human that it follows.

Everything is a function of time, so that one motion can be had at any rate. Faults move the base alone:
what the feet then do is known exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, load
from assay.embodiment.kinematics import points
from assay.embodiment.rotation import compose, rotate
from assay.model import Channel, Clock, Episode, Kind, Role, Stream, StreamDecl

__all__ = ["HALF", "jittered", "pivoted", "raised", "slid", "walk"]

Floats = NDArray[np.float64]

HALF: Final = 0.8
"""s that each foot stands; the left one from 0 on."""
_BEND: Final = 0.301  # the knee rests at twice that, which no one would set as a bound (RTG008)
_STRIDE: Final = 0.15
_LIFT: Final = 0.35
_ENDS: Final = 4  # sole points of a foot: two behind, then two in front


def walk(seconds: float = 8.0, rate: float = 30, *, human: bool = True, ground: bool = True) -> Episode:
    """A clean walk: streams ``joints``, ``root`` and, with ``human``, ``smpl_joints``.

    Args:
        seconds: length.
        rate: Hz of every stream.
        human: whether the source is part of the episode.
        ground: whether z = 0 is declared.
    """
    body = load("unitree_g1_29")
    t: Floats = np.arange(round(seconds * rate)) / rate
    q = _legs(body, t)
    base = _anchored(body, t, q)
    soles = _soles(body, q, base)
    ns = np.rint(t * 1e9).astype(np.int64)
    about: dict[str, Any] = {"t": ns, "clock": Clock.NOMINAL, "rate": Fraction(rate).limit_denominator(1000)}
    pose = zip(("x", "y", "z", "qw", "qx", "qy", "qz"), ("m",) * 3 + ("1",) * 4, strict=True)
    streams = (
        Stream("joints", Role.JOINT_POSITION, x=q,
               channels=tuple(Channel(j.name, "rad", Role.JOINT_POSITION) for j in body.joints), **about),
        Stream("root", Role.BASE_POSE, x=base, channels=tuple(Channel(n, u) for n, u in pose),
               frame="world", **about),
        _human(soles, about),
    )[: 3 if human else 2]  # fmt: skip
    declared = tuple(StreamDecl(s.name, s.role, s.channels, s.rate, s.clock) for s in streams)
    return Episode("walk", streams, body, Kind.RETARGETED, declared=declared,
                   meta={"ground": "z=0"} if ground else {})  # fmt: skip


def slid(speed: float, first: float = 3.4, last: float = 3.8, ep: Episode | None = None) -> Episode:
    """The base glides along y at ``speed`` m/s from ``first`` to ``last`` s (left foot: 3.2 to 4.0)."""
    return _based(ep, lambda t, x: _shift(x, 1, speed * (np.clip(t, first, last) - first)))


def raised(metres: float, first: float = 0.0, last: float = np.inf, ep: Episode | None = None) -> Episode:
    """The base stands ``metres`` higher than it should from ``first`` to ``last`` s (lower if negative)."""
    return _based(ep, lambda t, x: _shift(x, 2, np.where((t >= first) & (t < last), metres, 0.0)))


def jittered(sigma: float, ep: Episode | None = None, seed: int = 3) -> Episode:
    """White noise of ``sigma`` m on each axis of the base's position."""
    rng = np.random.default_rng(seed)

    def shake(t: Floats, x: Floats) -> Floats:
        x[:, :3] += rng.normal(0.0, sigma, (len(t), 3))
        return x

    return _based(ep, shake)


def pivoted(speed: float, first: float = 3.3, last: float = 3.9, ep: Episode | None = None) -> Episode:
    """The body turns at ``speed`` rad/s about a point of the left heel, which stays where it is."""
    ep = walk() if ep is None else ep
    root, joints = ep.stream("root"), ep.stream("joints")
    assert root is not None
    assert joints is not None
    assert ep.embodiment is not None
    t = root.t * 1e-9
    heel = _soles(ep.embodiment, joints.x, root.x)[np.searchsorted(t, first), 0]

    def turn(at: Floats, x: Floats) -> Floats:
        half: Floats = 0.5 * speed * (np.clip(at, first, last) - first)
        yaw = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1)
        x[:, :3] = heel + rotate(yaw, x[:, :3] - heel)
        x[:, 3:] = compose(yaw, x[:, 3:])
        return x

    return _based(ep, turn)


def _based(ep: Episode | None, change: Callable[[Floats, Floats], Floats]) -> Episode:
    ep = walk() if ep is None else ep
    root = ep.stream("root")
    assert root is not None
    t: Floats = np.asarray(root.t, np.float64) * 1e-9
    return ep.with_stream(replace(root, x=change(t, np.array(root.x))))


def _shift(x: Floats, axis: int, by: Floats) -> Floats:
    x[:, axis] += by
    return x


def _legs(body: Embodiment, t: Floats) -> Floats:
    """Joint angles: feet stay level, legs swing in turn, the foot in the air lifted."""
    q = np.zeros((len(t), len(body.joints)))
    at = {j.name: i for i, j in enumerate(body.joints)}
    for side, shift in (("left", 0.0), ("right", HALF)):
        phase = ((t + shift) % (2 * HALF)) / HALF  # below 1 the foot stands, above it swings
        stands = phase < 1
        ease = 0.5 - 0.5 * np.cos(np.pi * (phase % 1.0))  # no jerk where feet change
        swing = np.where(stands, 1 - 2 * ease, 2 * ease - 1) * _STRIDE
        lift = np.where(stands, 0.0, _LIFT * np.sin(np.pi * (phase % 1.0)) ** 2)
        hip = -_BEND - lift - swing
        knee = 2 * (_BEND + lift)
        q[:, at[f"{side}_hip_pitch_joint"]] = hip
        q[:, at[f"{side}_knee_joint"]] = knee
        q[:, at[f"{side}_ankle_pitch_joint"]] = -(hip + knee)
        q[:, at[f"{side}_elbow_joint"]] = 0.6 + 2 * swing
    return q


def _anchored(body: Embodiment, t: Floats, q: Floats) -> Floats:
    """The base pose that keeps the standing foot where it came down, its sole at z = 0."""
    base = np.zeros((len(t), 7))
    base[:, 3] = 1.0
    soles = _soles(body, q, base)
    mean = soles.reshape(len(t), 2, _ENDS, 3)
    which = ((t % (2 * HALF)) >= HALF).astype(int)
    rows = np.arange(len(t))
    # The foot that comes down is up to 3 mm lower than the one that stands: the lower of both is at z = 0.
    base[:, 2] = -soles[..., 2].min(axis=1)
    steps = np.diff(mean.mean(axis=2)[..., :2], axis=0)
    # Over each step the foot that stood before it stays: its motion in the pelvis is the base's, reversed.
    base[1:, :2] = -np.cumsum(steps[rows[:-1], which[:-1]], axis=0)
    return base


def _soles(body: Embodiment, q: Floats, base: Floats) -> Floats:
    """(n, 8, 3) m: undersides of the left and the right sole."""
    links = [s.link for s in body.soles for _ in s.points]
    local = np.concatenate([s.points for s in body.soles])
    x = points(body.tree, q, base[:, :3], base[:, 3:], links, local) if body.tree else np.zeros((0, 0, 3))
    x[..., 2] -= np.concatenate([s.radius for s in body.soles])
    return x


def _human(soles: Floats, about: dict[str, Any]) -> Stream:
    """The human source: its ankle above the heel, its toe joint above the toes."""
    columns, channels = [], []
    for i, side in enumerate(("left", "right")):
        foot = soles[:, _ENDS * i : _ENDS * (i + 1)]
        for joint, x, up in (
            ("ankle", foot[:, :2].mean(axis=1), 0.08),
            ("foot", foot[:, 2:].mean(axis=1), 0.02),
        ):
            columns.append(x + np.array([0.0, 0.0, up]))
            channels += [Channel(f"{side}_{joint}.{e}", "m", Role.HUMAN_BODY) for e in "xyz"]
    return Stream("smpl_joints", Role.HUMAN_BODY, x=np.concatenate(columns, axis=1),
                  channels=tuple(channels), frame="world", **about)  # fmt: skip
