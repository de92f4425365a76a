"""Feature: where feet and hands are, by forward kinematics from joints and base pose."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, Tree
from assay.embodiment.kinematics import points
from assay.feature import feature
from assay.model import Clock, Episode, Role, Stream
from assay.signals.feet import stamps
from assay.signals.posture import Poses, recorded

__all__ = ["poses"]

Floats = NDArray[np.float64]
STATES: Final = (Role.JOINT_POSITION,)
POSE: Final = ("x", "y", "z", "qw", "qx", "qy", "qz")


@feature(reads=(*STATES, Role.BASE_POSE))
def poses(ep: Episode, joints: Any) -> Poses | None:
    """Sole points and hand links over time, see `Poses`; None without a body that has a tree, or joints.

    The base pose is the one of the joints' own clock; without it (absent, of an unresolved frame, on
    another clock) soles and world poses are empty and ``why`` says why. A link that hangs on a joint whose
    position nobody recorded is NaN. World: the frame of the base pose, z up, m.
    """
    body = ep.embodiment
    if body is None or body.tree is None or joints is None:
        return None
    tree = body.tree
    q, known = _columns(joints, tree)
    own = next((s for s in ep.by_role(*STATES) if len(s) == len(joints.t)), None)
    nominal = own is not None and own.clock is Clock.NOMINAL
    t = stamps(joints.t, joints.rate, nominal=nominal)
    base, why = _base(ep, joints.t)
    place = None
    if base is not None:
        order = slice(None) if base.names == POSE else [base.names.index(n) for n in POSE]
        place = np.require(base.x[:, order], np.float64, "W")
    return Poses(
        t=joints.t if t is None else t, timed=t is not None, stream=joints.stream,
        base=base.name if base is not None else "", why=why,
        soles={} if place is None else _soles(body, tree, q, place, known),
        hands=tuple(hand.link for hand in body.hands), tree=tree, q=q, known=known, place=place,
    )  # fmt: skip


def _columns(joints: Any, tree: Tree) -> tuple[Floats, NDArray[np.bool_]]:
    """(n, c) positions in the tree's order, 0 where not recorded, and which columns were; (c,)."""
    width = len(tree.joints)
    use = np.flatnonzero(joints.joint < width)
    known = np.zeros(width, bool)
    known[joints.joint[use]] = True
    if len(use) == width and np.array_equal(joints.joint, np.arange(width)):
        return np.require(joints.x, np.float64, "W"), known  # the kernel takes no read-only arrays
    q = np.zeros((len(joints.t), width))
    q[:, joints.joint[use]] = joints.x[:, use]
    return q, known


def _base(ep: Episode, t: NDArray[np.int64]) -> tuple[Stream | None, str]:
    """The base pose that can be used, or why none can."""
    why = "no base pose"
    for stream in ep.by_role(Role.BASE_POSE):
        if stream.frame.startswith("unresolved"):
            why = f"{stream.name}: {stream.frame}"
        elif set(stream.names) != set(POSE) or stream.x.shape[1] != len(POSE):
            why = f"{stream.name}: its channels are no position and quaternion"
        elif any(c.unit != "m" for c in stream.channels if c.name in POSE[:3]):
            why = f"{stream.name}: its unit is not m"
        elif len(stream) != len(t) or not (stream.t is t or np.array_equal(stream.t, t)):
            why = f"{stream.name}: on another clock than the joints"
        else:
            return stream, ""
    return None, why


def _soles(
    body: Embodiment, tree: Tree, q: Floats, base: Floats, known: NDArray[np.bool_]
) -> dict[str, Floats]:
    if not body.soles:
        return {}
    links, local, radius = _sole_points(body)
    x = points(tree, q, base[:, :3], base[:, 3:], links, local)
    x[..., 2] -= radius
    found: dict[str, Floats] = {}
    at = 0
    for sole in body.soles:
        # Each foot for itself, since loops want what lies together.
        found[sole.side] = np.ascontiguousarray(x[:, at : at + len(sole.points)])
        if not recorded(tree, sole.link, known):
            found[sole.side][:] = np.nan
        at += len(sole.points)
    return found


@lru_cache(maxsize=64)
def _sole_points(body: Embodiment) -> tuple[tuple[str, ...], Floats, Floats]:
    """Link, (k, 3) place in it and (k,) radius of each sole point, m."""
    links = tuple(s.link for s in body.soles for _ in s.points)
    local, radius = (np.concatenate([getattr(s, n) for s in body.soles]) for n in ("points", "radius"))
    return links, local, radius
