"""Standing G1s of a known effort: swung arms, a lean, a fall slower than gravity's, a hover."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import points
from assay.embodiment.rotation import about, compose, rotate
from assay.model import Episode
from assay.synth.squats import squats

__all__ = ["dropped", "leaned", "lifted", "swung"]

Floats = NDArray[np.float64]


def swung(
    amplitude: float, hertz: float = 3.0, rate: int = 100, first: float = 2.0, last: float = 4.0
) -> Episode:
    """A squatting G1 that swings its left arm: shoulder pitch by ``amplitude`` rad at ``hertz``."""
    ep = squats(rate=rate)
    joints = ep.stream("joints")
    assert joints is not None
    x = np.array(joints.x)
    t = joints.t * 1e-9
    swing = np.where((t >= first) & (t < last), np.sin(2 * np.pi * hertz * (t - first)), 0.0)
    ease = np.clip(np.minimum(t - first, last - t) / 0.4, 0.0, 1.0)
    x[:, joints.names.index("left_shoulder_pitch_joint")] += amplitude * swing * ease
    return _alone(ep.with_stream(replace(joints, x=x)))


def leaned(angle: float, rate: int = 50, first: float = 2.0, last: float = 4.0) -> Episode:
    """A squatting G1 that leans ahead as a whole, by ``angle`` rad about its toes, from first to last s."""
    ep = squats(rate=rate)
    root, joints = ep.stream("root"), ep.stream("joints")
    assert root is not None
    assert joints is not None
    t = root.t * 1e-9
    ease = np.clip(np.minimum(t - first, last - t) / 0.6, 0.0, 1.0)
    lean = angle * (0.5 - 0.5 * np.cos(np.pi * ease))
    body = ep.embodiment
    assert body is not None
    assert body.tree is not None
    x = np.array(root.x)
    toes = points(body.tree, joints.x, x[:, :3], x[:, 3:], [body.soles[0].link], body.soles[0].points[2:3])[
        :, 0
    ]
    side = rotate(x[:1, 3:], np.array([0.0, 1.0, 0.0]))
    turn = about(side, lean)
    x[:, :3] = toes + rotate(turn, x[:, :3] - toes)
    x[:, 3:] = compose(turn, x[:, 3:])
    return _alone(ep.with_stream(replace(root, x=x)))


def dropped(missing: float, rate: int = 50, first: float = 3.0, flight: float = 0.8) -> Episode:
    """A jump of ``flight`` s that falls with less than gravity: ``missing`` is the share nothing supplies."""
    ep = squats(rate=rate)
    root = ep.stream("root")
    assert root is not None
    t = np.clip(root.t * 1e-9 - first, 0.0, flight)
    x = np.array(root.x)
    x[:, 2] += (1 - missing) * 9.81 / 2 * t * (flight - t)
    return _alone(ep.with_stream(replace(root, x=x)))


def lifted(height: float, rate: int = 50, first: float = 2.0, last: float = 4.0) -> Episode:
    """A squatting G1 that hovers ``height`` m above where it stands otherwise, from first to last s."""
    ep = squats(rate=rate)
    root = ep.stream("root")
    assert root is not None
    t = root.t * 1e-9
    ease = np.clip(np.minimum(t - first, last - t) / 0.4, 0.0, 1.0)
    x = np.array(root.x)
    x[:, 2] += height * (0.5 - 0.5 * np.cos(np.pi * ease))
    return _alone(ep.with_stream(replace(root, x=x)))


def _alone(ep: Episode) -> Episode:
    """Without the stored velocities, which belong to the motion before."""
    return ep.without_stream("velocities")
