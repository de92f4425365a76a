"""A robot's body as numbers: joints, and one or more sets of limits that different sources give it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.capsules import Capsules
from assay.embodiment.naming import JointPart, Side
from assay.embodiment.tree import Tree

__all__ = ["Embodiment", "Grade", "Hand", "Joint", "LimitSet", "Site", "Sole", "normalise"]

Grade = Literal["hard", "soft", "simulator"]


@dataclass(frozen=True, slots=True)
class Joint:
    """One joint.

    Attributes:
        name: the model's own name, e.g. ``left_elbow_joint``.
        part: which part of the body it moves.
        side: left, right or neither.
        unit: ``rad``, ``m``, or ``1`` for a drive that reports a share of its range.
        aliases: other names met in public data, beyond what `normalise` maps together.
    """

    name: str
    part: JointPart
    side: Side = ""
    unit: str = "rad"
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LimitSet:
    """Limits of all joints from one source, in the joint's unit; unknown is infinite.

    Attributes:
        source: where the numbers come from, e.g. ``unitree_ros g1_29dof_rev_1_0.urdf``.
        revision: the model's revision or commit.
        grade: ``hard`` (mechanical), ``soft`` (controller) or ``simulator``.
        lower, upper: (n,) position, joint unit.
        speed: (n,) joint unit per second.
        effort: (n,) N*m or N.
        claimed: whether it is the word of a corpus's own model file beside the card of the same body.
    """

    source: str
    revision: str
    grade: Grade
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    speed: NDArray[np.float64]
    effort: NDArray[np.float64]
    claimed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Sole:
    """The underside of one foot, as points (balls of some radius) fixed to its link.

    Attributes:
        side: left or right.
        link: the foot's link.
        points: (k, 3) m, centres in the link's frame: at least heel and toe, in and out.
        radius: (k,) m; the sole lies this far below each centre, 0 for corners.
        origin: ``spheres`` (contact balls that the model's maker put there) or ``primitives`` (corners and
            ends of boxes, cylinders and capsules).
    """

    side: Side
    link: str
    points: NDArray[np.float64]
    radius: NDArray[np.float64]
    origin: Literal["spheres", "primitives"]


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A frame fixed to a link: an end effector, a palm, a sensor.

    Attributes:
        name: the model's own name; p: (3,) m and quat: (4,) wxyz, both in the frame of ``link``.
    """

    name: str
    link: str
    p: NDArray[np.float64]
    quat: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Hand:
    """Where an arm ends.

    Attributes:
        side: left, right, or neither for a single arm.
        link: the last link that the arm's own joints move, e.g. ``left_wrist_yaw_link``.
        links: what hangs on it: palm, fingers, tool frames; ends: those of them that carry nothing more.
    """

    side: Side
    link: str
    links: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Embodiment:
    """A known body.

    Attributes:
        name: the card's name, e.g. ``unitree_g1_29``; ``a+b`` for a body with hands of another maker.
        joints: n joints in the model's order.
        limits: at least one set; the first is the default.
        source, licence: where the numbers come from and under which licence.
        tree: links and joints; None where only limits are known. Its columns are the first of ``joints``.
        soles: one per foot; empty where the model does not show them: what needs a sole then abstains.
        hands: one per arm; sites: frames that the model names.
        capsules: its shape; None where no public meshes were at hand: what needs a shape then abstains.
        card: of a corpus's own model file: the packaged card that it is held to, where one knows the body.
        apart: why the soles and hands of such a file are not taken as known; else empty.
    """

    name: str
    joints: tuple[Joint, ...]
    limits: tuple[LimitSet, ...]
    source: str = ""
    licence: str = ""
    tree: Tree | None = None
    soles: tuple[Sole, ...] = ()
    hands: tuple[Hand, ...] = ()
    sites: tuple[Site, ...] = ()
    capsules: Capsules | None = None
    card: str = ""
    apart: str = ""
    _lookup: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        table: dict[str, int] = {}
        for index, joint in enumerate(self.joints):
            for name in (joint.name, *joint.aliases):
                table.setdefault(normalise(name), index)
        object.__setattr__(self, "_lookup", table)

    def resolve(self, channels: Sequence[str]) -> NDArray[np.intp]:
        """Index of the joint that each channel names, -1 where none does; (c,)."""
        return np.array([self._lookup.get(normalise(c), -1) for c in channels], dtype=np.intp)

    def limit_set(self, source: str | None = None) -> LimitSet:
        """The set whose source starts with ``source``, else the default one."""
        for limits in self.limits:
            if source is not None and limits.source.startswith(source):
                return limits
        return self.limits[0]

    @property
    def unclaimed(self) -> tuple[LimitSet, ...]:
        """The sets that do not rest on a corpus's own word alone."""
        return tuple(s for s in self.limits if not s.claimed)

    @property
    def digest(self) -> str:
        """Identity of the numbers: limits, tree, soles and shape, whatever the body is called."""
        digest = hashlib.sha256("\0".join(j.name for j in self.joints).encode())
        for limits in self.limits:
            for values in (limits.lower, limits.upper, limits.speed, limits.effort):
                digest.update(values.tobytes())
            digest.update(b"claimed" if limits.claimed else b"")
        for sole in self.soles:
            for values in (sole.points, sole.radius):
                digest.update(values.tobytes())
        if self.tree is not None:
            for values in (self.tree.p, self.tree.quat, self.tree.axis):
                digest.update(values.tobytes())
        if self.capsules is not None:
            for values in (self.capsules.a, self.capsules.b, self.capsules.radius):
                digest.update(values.tobytes())
        return digest.hexdigest()[:16]


@cache
def normalise(name: str) -> str:
    """One spelling for a joint's many: ``kLeftElbow``, ``left_elbow_joint`` → ``left_elbow``.

    Camel case is split, a leading ``k``, a trailing ``joint``, ``pos`` or unit (also as a path's last step,
    ``left_elbow.pos``), and any path before the last ``/`` or ``.`` are dropped.
    """
    steps = [step for step in re.split(r"[/.]", name) if step] or [""]
    while len(steps) > 1 and steps[-1].lower() in _SUFFIXES:
        steps.pop()
    last = steps[-1]
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", last).lower()
    words = re.sub(r"^k_", "", re.sub(r"[^a-z0-9]+", "_", words)).strip("_")
    return re.sub(rf"(_({'|'.join(_SUFFIXES)}))+$", "", words)


_SUFFIXES = ("joint", "pos", "position", "qpos", "rad", "deg", "q")
