"""Small retargeted reaches with known truth: a G1 that stands and works with both hands, beside its human.

The human is 4/3 of the robot in everything, and her wrist lies 2 cm inward of the robot's grip: `known_map`
says so exactly. With fingers the robot has one more joint a hand; with a box both hands carry it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, LimitSet, Tree, load
from assay.embodiment.body import Joint
from assay.embodiment.ends import hands
from assay.embodiment.kinematics import link_poses
from assay.embodiment.rotation import rotate
from assay.embodiment.tree import FIXED, HINGE
from assay.model import Channel, Clock, Episode, Kind, Role, Stream

__all__ = ["BODY", "FINGERED", "hanging", "known_map", "moved", "reach", "scaled", "shaken"]

Floats = NDArray[np.float64]

BODY: Final = "unitree_g1_29"
FINGERED: Final = "unitree_g1_29 with an index finger"
SIDES: Final = ("left", "right")
SIZE: Final = 0.75
GRIP: Final = 0.02
_TIP: Final = 0.08
_POSE: Final = ("x", "y", "z", "qw", "qx", "qy", "qz")


def known_map(body: str = BODY, u: float = 0.001) -> Mapping[str, Any]:
    """The fitted models that belong to `reach`, with a stated uncertainty (m)."""
    fingers = {f"{s} index": [SIZE, GRIP, 0.0, 0.0, 0.0] for s in SIDES}
    learnt = {"shared": True, "root": SIZE, "trunk": SIZE, "arm": SIZE, "grip": GRIP, "rise": 0.0, "u": u,
              "clips": 10, "fingers": fingers}  # fmt: skip
    return {
        "hand_map": {f"any subject on {body}": {"map": learnt, "held": {"grip": GRIP, "u": u, "hands": 20}}}
    }


def reach(
    seconds: float = 6.0, rate: float = 30, *, still: bool = False, human: bool = True, fingers: bool = False,
    box: bool = False,
) -> Episode:  # fmt: skip
    """Hands that work in front of the chest, streams ``joints``, ``root`` and ``human/…``.

    Args:
        seconds: length.
        rate: Hz of every stream.
        still: arms that hang and move nothing.
        human: whether the source is there.
        fingers: a body with a finger on each hand, and its tip in the source.
        box: both hands carry a box, as big for the robot as for the human.
    """
    body = _fingered() if fingers else load(BODY)
    tree = body.tree
    assert tree is not None
    t: Floats = np.arange(round(seconds * rate)) / rate
    q = np.zeros((len(t), len(tree.joints))) if still else _work(t, tree.joints)
    root = np.zeros((len(t), 7))
    root[:, 2:4] = 0.78, 1.0
    ns = np.rint(t * 1e9).astype(np.int64)
    about: dict[str, Any] = {"t": ns, "clock": Clock.NOMINAL, "rate": Fraction(rate).limit_denominator(1000)}
    streams = [
        Stream("joints", Role.JOINT_POSITION, x=q,
               channels=tuple(Channel(n, "rad") for n in tree.joints), **about),
        _posed("root", Role.BASE_POSE, root[:, :3], about),
    ]  # fmt: skip
    places = _places(tree, q, root, fingers=fingers)
    if box:
        middle = 0.5 * (places["left_wrist"] + places["right_wrist"])
        streams.append(_posed("object", Role.OBJECT_POSE, middle, about))
    if human:
        streams += _human(places, about, box=box)
    meta = {"parts/human/offset": 0.0} if human else {}
    return Episode("reach", tuple(streams), body, Kind.RETARGETED, meta=meta)


def moved(
    by: tuple[float, float, float], link: str = "left_wrist_yaw_link", ep: Episode | None = None
) -> Episode:
    """A body on which one link, with all that hangs on it, sits elsewhere by (3,) m in its parent's frame."""

    def shift(tree: Tree, p: Floats) -> None:
        p[tree.index(link)] += by

    return _rebuilt(ep, shift)


def scaled(factor: float, side: str = "left", ep: Episode | None = None) -> Episode:
    """A body with one arm longer by a factor from the shoulder on: its reach is scaled wrongly."""

    def stretch(tree: Tree, p: Floats) -> None:
        arm = [i for i, n in enumerate(tree.links) if n.startswith(side) and ("elbow" in n or "wrist" in n)]
        p[arm] *= factor

    return _rebuilt(ep, stretch)


def _rebuilt(ep: Episode | None, change: Callable[[Tree, Floats], None]) -> Episode:
    ep = reach() if ep is None else ep
    body = ep.embodiment
    assert body is not None
    assert body.tree is not None
    p = body.tree.p.copy()
    change(body.tree, p)
    return replace(ep, embodiment=replace(body, tree=replace(body.tree, p=p)))


def hanging() -> Episode:
    """Arms that hang still beside a human whose hands work, and of whom neck and hips are known too."""
    ep = reach()
    joints, human = ep.stream("joints"), ep.stream("human/body_pos")
    assert joints is not None
    assert human is not None
    more = {"neck": (0.0, 0.0, 1.5), "left_hip": (0.0, 0.1, 0.95), "right_hip": (0.0, -0.1, 0.95)}
    channels = tuple(Channel(f"{n}.{e}", "m", Role.HUMAN_BODY) for n in more for e in "xyz")
    x = np.concatenate([human.x, np.tile(np.ravel(list(more.values())), (len(human.t), 1))], axis=1)
    ep = ep.with_stream(replace(human, x=x, channels=(*human.channels, *channels)))
    return ep.with_stream(replace(joints, x=np.zeros_like(joints.x)))


def shaken(sigma: float, ep: Episode | None = None, seed: int = 5) -> Episode:
    """White noise of ``sigma`` m in the robot's measure on each axis of the source's wrists."""
    ep = reach() if ep is None else ep
    stream = ep.stream("human/body_pos")
    assert stream is not None
    wrists = [i for i, n in enumerate(stream.names) if "wrist" in n]
    x = np.array(stream.x)
    x[:, wrists] += np.random.default_rng(seed).normal(0.0, sigma / SIZE, (len(x), len(wrists)))
    return ep.with_stream(replace(stream, x=x))


def _work(t: Floats, names: tuple[str, ...]) -> Floats:
    """Elbows bent, hands in front, moving on all axes with periods that do not fit each other."""
    q = np.zeros((len(t), len(names)))
    for i, side in enumerate(SIDES):
        out = 1.0 - 2.0 * i
        wave = {
            "shoulder_pitch": -0.7 + 0.25 * np.sin(2 * np.pi * 0.41 * t + i),
            "shoulder_roll": out * (0.15 + 0.1 * np.sin(2 * np.pi * 0.53 * t)),
            "shoulder_yaw": out * 0.2 * np.sin(2 * np.pi * 0.31 * t + i),
            "elbow": 0.5 + 0.3 * np.sin(2 * np.pi * 0.47 * t + 2 * i),
            "index": 0.4 + 0.3 * np.sin(2 * np.pi * 0.37 * t),
        }
        for joint, x in wave.items():
            name = f"{side}_{joint}_joint"
            if name in names:
                q[:, names.index(name)] = x
    return q


def _places(tree: Tree, q: Floats, root: Floats, *, fingers: bool) -> dict[str, Floats]:
    """Where the robot has what a human has, (n, 3) m: pelvis, shoulders, elbows, wrists, fingertips."""
    links = {"pelvis": "pelvis"}
    for side in SIDES:
        links |= {f"{side}_shoulder": f"{side}_shoulder_yaw_link", f"{side}_elbow": f"{side}_elbow_link",
                  f"{side}_wrist": f"{side}_wrist_yaw_link"}  # fmt: skip
        if fingers:
            links[f"{side}_index_tip"] = f"{side}_index_tip"
    p, quat = link_poses(tree, q, root[:, :3], root[:, 3:], list(links.values()))
    found = {name: p[:, i] for i, name in enumerate(links)}
    for i, name in enumerate(links):
        if name.endswith("wrist"):
            found[name] = p[:, i] + rotate(quat[:, i], [GRIP, 0.0, 0.0])
    return found


def _human(places: Mapping[str, Floats], about: dict[str, Any], *, box: bool) -> list[Stream]:
    x = {name: p / SIZE for name, p in places.items()}
    streams = []
    if box:
        # A box keeps its size: her hands hold it as far apart as the robot's, and are not the scaled ones.
        middle = 0.5 * (places["left_wrist"] + places["right_wrist"])
        for side in SIDES:
            x[f"{side}_wrist"] = middle / SIZE + places[f"{side}_wrist"] - middle
        streams.append(_posed("human/object", Role.OBJECT_POSE, middle / SIZE, about))
        touch = tuple(Channel(f"{side}_wrist.contact", "1", Role.EVENT) for side in SIDES)
        ones = np.ones((len(middle), 2))
        streams.append(Stream("human/contact", Role.EVENT, x=ones, channels=touch, **about))
    channels = tuple(Channel(f"{n}.{e}", "m", Role.HUMAN_BODY) for n in x for e in "xyz")
    body = Stream("human/body_pos", Role.HUMAN_BODY, x=np.concatenate(list(x.values()), axis=1),
                  channels=channels, frame="world", **about)  # fmt: skip
    return [body, *streams]


def _posed(name: str, role: Role, p: Floats, about: dict[str, Any]) -> Stream:
    x = np.concatenate([p, np.tile([1.0, 0.0, 0.0, 0.0], (len(p), 1))], axis=1)
    channels = tuple(Channel(n, "m" if n in "xyz" else "1") for n in _POSE)
    return Stream(name, role, x=x, channels=channels, frame="world", **about)


@cache
def _fingered() -> Embodiment:
    """The G1 with a finger of one joint on each hand, 9 cm ahead of its last wrist link."""
    body = load(BODY)
    tree = body.tree
    assert tree is not None
    parent = [tree.index(f"{s}_wrist_yaw_link") for s in SIDES]
    n, width = len(tree.links), len(tree.joints)
    bones = np.array([[0.09, 0.0, 0.0], [0.09, 0.0, 0.0], [_TIP, 0.0, 0.0], [_TIP, 0.0, 0.0]])
    more = len(bones)
    grown = Tree(
        links=(*tree.links, *_of_both("index_link"), *_of_both("index_tip")),
        joints=(*tree.joints, *_of_both("index_joint")),
        carrier=(*tree.carrier, *_of_both("index_joint"), *_of_both("index_tip_joint")),
        parent=np.append(tree.parent, [*parent, n, n + 1]),
        kind=np.append(tree.kind, [HINGE, HINGE, FIXED, FIXED]),
        p=np.concatenate([tree.p, bones]),
        quat=np.concatenate([tree.quat, np.tile([1.0, 0.0, 0.0, 0.0], (more, 1))]),
        axis=np.concatenate([tree.axis, [[0, 1.0, 0], [0, 1.0, 0], [0, 0, 0], [0, 0, 0]]]),
        column=np.append(tree.column, [width, width + 1, -1, -1]),
        gain=np.append(tree.gain, np.ones(more)), offset=np.append(tree.offset, np.zeros(more)),
        mass=np.append(tree.mass, np.full(more, np.nan)),
        com=np.concatenate([tree.com, np.full((more, 3), np.nan)]),
        inertia=np.concatenate([tree.inertia, np.full((more, 3, 3), np.nan)]),
    )  # fmt: skip
    joints = (*body.joints, *(Joint(f"{s}_index_joint", "hand", s) for s in SIDES))
    return Embodiment(
        FINGERED, joints, tuple(_unbounded(limits) for limits in body.limits), tree=grown, soles=body.soles,
        hands=hands(grown),
    )  # fmt: skip


def _of_both(name: str) -> tuple[str, str]:
    return f"left_{name}", f"right_{name}"


def _unbounded(limits: LimitSet) -> LimitSet:
    lower, upper = (np.append(v, [s * np.inf] * 2) for v, s in ((limits.lower, -1), (limits.upper, 1)))
    speed, effort = (np.append(v, [np.inf] * 2) for v in (limits.speed, limits.effort))
    return replace(limits, lower=lower, upper=upper, speed=speed, effort=effort)
