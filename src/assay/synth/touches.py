"""A G1 that bends its left forearm into its own trunk, by a known depth and for a known time."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import load
from assay.embodiment.capsules import deepest, pairs
from assay.model import Episode
from assay.synth.walks import walk

__all__ = ["pressed"]

Floats = NDArray[np.float64]

_ARMS: Final = {"left_shoulder_roll_joint": 0.35, "right_shoulder_roll_joint": -0.35,
                "left_elbow_joint": 0.0, "right_elbow_joint": 0.6}  # fmt: skip
_TURN: Final = "left_shoulder_yaw_joint"  # towards -1.5 the bent forearm comes in
_FORWARD: Final = ("left_shoulder_pitch_joint", -0.2)


def pressed(depth: float, first: float = 3.0, last: float = 3.5, rate: float = 30) -> Episode:
    """A walk with the arms held out, whose left forearm lies ``depth`` m in the trunk from first to last s.

    The depth is that of the body's capsules less their bias; negative leaves a gap.
    """
    ep = walk(rate=rate)
    joints = ep.stream("joints")
    assert joints is not None
    x = np.array(joints.x)
    names = joints.names
    for name, value in (*_ARMS.items(), _FORWARD):
        x[:, names.index(name)] = value
    t = joints.t * 1e-9
    x[:, names.index(_TURN)] = np.where((t >= first) & (t < last), _turned(depth), 0.0)
    return ep.with_stream(replace(joints, x=x))


@cache
def _turned(depth: float) -> float:
    """The turn of the upper arm at which forearm or hand first lies that deep in the trunk, rad."""
    body = load("unitree_g1_29")
    assert body.tree is not None
    assert body.capsules is not None
    turns = np.linspace(0.0, -2.6, 5201)
    q = np.zeros((len(turns), len(body.joints)))
    names = [j.name for j in body.joints]
    for name, value in (*_ARMS.items(), _FORWARD):
        q[:, names.index(name)] = value
    q[:, names.index(_TURN)] = turns
    arm = ("left_elbow_link", "left_wrist_roll_link", "left_wrist_pitch_link", "left_wrist_yaw_link")
    of = [(a, b) for a, b in pairs(body.tree, body.capsules) if {a, b} & set(arm) and "torso_link" in (a, b)]
    found = deepest(body.tree, body.capsules, q, of)[0] - body.capsules.bias
    reached = np.flatnonzero(found >= depth)
    if not len(reached):
        raise ValueError(f"the forearm gets {found.max():.3f} m deep at most")
    return float(turns[reached[0]])
