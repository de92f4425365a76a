"""Small clips with known truth whose violations were laundered: cut, held, smoothed, or rightly at rest.

A G1 hangs by its pelvis and moves all its joints at up to 12 Hz; the human has its joints where the robot's
would be, had nobody touched them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import load
from assay.embodiment.kinematics import link_poses
from assay.embodiment.rotation import about, compose
from assay.model import Channel, Clock, Episode, Kind, Role, Stream, StreamDecl
from assay.synth.episodes import edit, teleop
from assay.synth.walks import walk

__all__ = [
    "at_the_stop", "blocked", "clipped", "end_stop", "followed_by", "held", "parked", "smoothed", "tilted",
    "untimed",
]  # fmt: skip

Floats = NDArray[np.float64]

KNEE: Final = "left_knee_joint"
STRAIGHT: Final = -0.087267
"""rad, the G1's knee at its end stop (g1_29dof_rev_1_0.urdf)."""
ELBOW_UPPER: Final = 2.0944  # g1_29dof_rev_1_0.urdf
_JOINTS: Final = {"hip": "hip_pitch_link", "knee": "knee_link", "ankle": "ankle_pitch_link",
                  "shoulder": "shoulder_pitch_link", "elbow": "elbow_link",
                  "wrist": "wrist_yaw_link"}  # fmt: skip
_POSE: Final = tuple(Channel(n, "m" if n in "xyz" else "1") for n in ("x", "y", "z", "qw", "qx", "qy", "qz"))


def followed_by(
    change: Callable[[Floats, Floats, tuple[str, ...]], Floats] | None = None, seconds: float = 8.0,
    rate: float = 30, *, human: Callable[[Floats, Floats, tuple[str, ...]], Floats] | None = None,
) -> Episode:  # fmt: skip
    """A robot beside its human, streams ``joints``, ``root`` and ``smpl_joints``.

    Args:
        change: (t (n,) s, q (n, 29) rad, names) → the robot's joints; None leaves them as the human's.
        seconds: length.
        rate: Hz of every stream.
        human: the same for the human's own joints, before the robot follows.
    """
    body = load("unitree_g1_29")
    tree = body.tree
    assert tree is not None
    t: Floats = np.arange(round(seconds * rate)) / rate
    hers = _motion(t, tree.joints)
    hers = hers if human is None else human(t, hers, tree.joints)
    q = hers if change is None else change(t, hers.copy(), tree.joints)
    base = np.tile([0.0, 0.0, 0.9, 1.0, 0.0, 0.0, 0.0], (len(t), 1))
    links = {"pelvis": "pelvis"} | {
        f"{s}_{k}": f"{s}_{v}" for s in ("left", "right") for k, v in _JOINTS.items()
    }
    p, _ = link_poses(tree, hers, base[:, :3], base[:, 3:], list(links.values()))
    about_it: dict[str, Any] = {"t": np.rint(t * 1e9).astype(np.int64), "clock": Clock.NOMINAL,
                                "rate": Fraction(rate).limit_denominator(1000)}  # fmt: skip
    streams = (
        Stream("joints", Role.JOINT_POSITION, x=q,
               channels=tuple(Channel(j, "rad", Role.JOINT_POSITION) for j in tree.joints), **about_it),
        Stream("root", Role.BASE_POSE, x=base, channels=_POSE, frame="world", **about_it),
        Stream("smpl_joints", Role.HUMAN_BODY, x=p.reshape(len(t), -1), frame="world",
               channels=tuple(Channel(f"{n}.{e}", "m", Role.HUMAN_BODY) for n in links for e in "xyz"),
               **about_it),
    )  # fmt: skip
    declared = tuple(StreamDecl(s.name, s.role, s.channels, s.rate, s.clock) for s in streams)
    return Episode("followed", streams, body, Kind.RETARGETED, declared=declared)


def smoothed(hertz: float, rate: float = 30) -> Episode:
    """All joints through a second-order Butterworth filter of ``hertz``, forwards and backwards."""
    from scipy.signal import butter, sosfiltfilt

    def low(t: Floats, q: Floats, names: tuple[str, ...]) -> Floats:
        return np.asarray(sosfiltfilt(butter(2, hertz, fs=rate, output="sos"), q, axis=0))

    return followed_by(low, rate=rate)


def held(frames: int, joint: str = "left_elbow_joint", first: int = 121, rate: float = 30) -> Episode:
    """One joint repeats its value until it was there ``frames`` frames of 30 Hz, then goes on as before."""

    def hold(t: Floats, q: Floats, names: tuple[str, ...]) -> Floats:
        a = round(first * rate / 30)
        b = a + round(frames * rate / 30)
        q[a:b, names.index(joint)] = q[a, names.index(joint)]
        return q

    return followed_by(hold, rate=rate)


def blocked(bound: float, frames: int, joint: str = "left_shoulder_yaw_joint") -> Episode:
    """One joint rises to ``bound``, a limit of nobody's body, and rests there for ``frames`` frames.

    It lands as softly as joints of a solver do: a square, of 0.03 rad/s at its end.
    """

    def cut(t: Floats, q: Floats, names: tuple[str, ...]) -> Floats:
        column, a, at = names.index(joint), 120, np.arange(len(t))
        away = np.maximum(np.maximum(a - at, at - (a + frames - 1)), 0)
        q[:, column] = np.minimum(q[:, column] - 1.0, bound - 0.2)
        q[:, column] = np.maximum(q[:, column], bound - 0.001 * away**2)
        return q

    return followed_by(cut)


def at_the_stop(bend: float, seconds: float = 1.0) -> Episode:
    """The robot's left knee rests at its end stop while the human's is ``bend`` rad more bent than that."""

    def there(size: float) -> Callable[[Floats, Floats, tuple[str, ...]], Floats]:
        def rest(t: Floats, q: Floats, names: tuple[str, ...]) -> Floats:
            column = names.index(KNEE)
            away = np.maximum(np.abs(t - 4.0) - seconds / 2, 0.0)
            q[:, column] = np.where(away > 0, np.minimum(q[:, column], size + 4.0 * away), size)
            return q

        return rest

    return followed_by(there(STRAIGHT), human=there(STRAIGHT + bend))


def tilted(size: float, frames: int = 4) -> Episode:
    """The left ankle's roll is at its limit for some frames of a stance, its sole ``size`` rad off flat.

    What the ankle does, the base undoes up to ``size``.
    """
    ep = walk()
    joints, root = ep.stream("joints"), ep.stream("root")
    assert joints is not None
    assert root is not None
    limit, first = 0.2618, 106  # 3.53 s; the left foot stands from 3.2 to 4.0 s
    column = joints.names.index("left_ankle_roll_joint")
    at = np.arange(len(joints))
    away = np.maximum(np.maximum(first - at, at - (first + frames - 1)), 0)
    bump: Floats = np.maximum(limit - 0.06 * away, 0.0)
    q, x = np.array(joints.x), np.array(root.x)
    q[:, column] = bump
    on = away == 0
    x[on, 3:] = compose(about([1.0, 0.0, 0.0], size - limit), x[on, 3:])
    return ep.with_stream(replace(joints, x=q)).with_stream(replace(root, x=x))


def clipped(frames: int, *, rate: int = 30, noise: float = 0.0) -> Episode:
    """20 s in which the left elbow rises over its limit at 10 s and is cut there for ``frames`` of 30 Hz."""

    def cut(x: Floats, names: tuple[str, ...]) -> Floats:
        column = names.index("left_elbow")
        t = np.arange(len(x)) / rate
        half = frames / 60
        inside = np.abs(t - 10.0) < half + 1e-9
        # A bump whose flanks are 1 rad/s steep and whose top is beyond the limit only inside.
        bump = ELBOW_UPPER - np.maximum(np.abs(t - 10.0) - half, 0.0)
        x[:, column] = np.where(
            inside, ELBOW_UPPER, np.maximum(x[:, column], np.minimum(bump, ELBOW_UPPER - 0.01))
        )
        x[:, column] += np.where(inside, np.random.default_rng(1).normal(0, noise, len(x)), 0.0)
        return x

    return edit(teleop(20.0, rate), "observation.state", cut)


def parked() -> Episode:
    """The left elbow stands on its limit for the whole episode."""

    def park(x: Floats, names: tuple[str, ...]) -> Floats:
        x[:, names.index("left_elbow")] = ELBOW_UPPER
        return x

    return edit(teleop(), "observation.state", park)


def end_stop() -> Episode:
    """The left little finger rests on its end stop for half of the episode."""

    def rest(x: Floats, names: tuple[str, ...]) -> Floats:
        x[:150, names.index("left_hand_pinky")] = 0.0
        return x

    return edit(teleop(), "observation.state", rest)


def untimed() -> Episode:
    """A clip whose rate nobody states: its stamps count frames."""
    ep = clipped(18)
    state = ep.by_role(Role.JOINT_POSITION)[0]
    return ep.with_stream(replace(state, clock=Clock.NOMINAL, rate=None))


def _motion(t: Floats, names: tuple[str, ...]) -> Floats:
    """Every joint around the middle of its range: sines of 0.4 to 12 Hz that fall with frequency; (n, c)."""
    rng = np.random.default_rng(4)
    f = np.geomspace(0.4, 12.0, 30)
    phase = rng.uniform(0, 2 * np.pi, (len(names), len(f)))
    waves = np.sin(2 * np.pi * f[:, None] * t + phase[..., None]) / (f / f[0])[:, None] ** 1.2
    q: Floats = 0.1 * waves.sum(axis=1).T
    for i, name in enumerate(names):
        if name.endswith(("ankle_roll_joint", "waist_roll_joint", "waist_pitch_joint")):
            q[:, i] *= 0.3
        q[:, i] += {"knee": 0.9, "elbow": 0.6}.get(name.split("_")[1], 0.0)
    return q
