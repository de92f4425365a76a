"""A rig as an MJCF model: the upper body of a packaged card, a table, clutter, people, cameras."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import load

__all__ = ["CLASSES", "Rig", "mjcf", "rig"]

CLASSES: Final = {
    "fixed": 40, "head": 30, "clutter": 26, "passers-by": 26, "light": 20, "moving": 26, "wrist": 16,
    "periodic": 14, "still": 10,
}  # fmt: skip
"""Kind of rig → how many of them: 208."""

_BODY: Final = "unitree_g1_29"
_PELVIS: Final = (0.0, 0.0, 0.79)
_RADIUS: Final = {"torso": 0.11, "shoulder": 0.05, "elbow": 0.04, "wrist": 0.035}


@dataclass(frozen=True, slots=True)
class Rig:
    """One simulated rig.

    Attributes:
        number: which; kind: of `CLASSES`; camera: ``fixed``, ``head`` or ``wrist``.
        fps: of the camera, Hz; its file always says 30.
        seed: of all its random numbers.
        clutter, people: things on the table, passers-by.
        noise: grey per thumbnail cell.
        arms: which arms move.
        task: whether every episode goes between the same places; else anywhere ("play").
    """

    number: int
    kind: str
    camera: str
    fps: int
    seed: int
    clutter: int
    people: int
    noise: float
    arms: str
    task: bool


def rig(number: int) -> Rig:
    """Rig ``number`` of the 208; classes are interleaved, so that the first hundred hold all of them."""
    places = [((i + 0.5) / n, kind) for kind, n in CLASSES.items() for i in range(n)]
    kind = sorted(places)[number][1]
    rng = np.random.default_rng([5, number])
    camera = {"fixed": "fixed", "head": "head", "moving": "head", "wrist": "wrist"}.get(kind) or str(
        rng.choice(["fixed", "head"])
    )
    return Rig(
        number, kind, camera, 30 if number % 5 == 4 else 15, number,
        int(rng.integers(14, 25)) if kind == "clutter" else int(rng.integers(2, 7)),
        int(rng.integers(1, 4)) if kind == "passers-by" else 0,
        float(rng.uniform(0.2, 0.8)), str(rng.choice(["both", "both", "left", "right"])), number % 3 != 2,
    )  # fmt: skip


def mjcf(one: Rig) -> str:
    """The model: joints of `motion.JOINTS`, ``base_x`` to ``base_yaw``, ``person{i}_x`` and ``_y``."""
    rng = np.random.default_rng([6, one.seed])
    return f"""<mujoco>
<compiler angle="radian" boundmass=".1" boundinertia=".001"/>
<visual><global offwidth="80" offheight="60" fovy="58"/><quality offsamples="0" shadowsize="0" numslices="4"
numstacks="2" numquads="1"/><headlight ambient=".35 .35 .35" diffuse=".35 .35 .35" specular="0 0 0"/></visual>
<asset>{_textures(rng)}</asset>
<worldbody>
<light name="lamp" pos="{rng.uniform(-1, 2):.2f} {rng.uniform(-2, 2):.2f} 3" diffuse=".5 .5 .5"
 specular="0 0 0" castshadow="false"/>
<geom type="plane" size="4 4 .1" rgba="{_grey(rng)}"/>
{_walls(rng, one.camera == "fixed")}<geom type="box" pos=".55 0 .36" size=".28 .6 .36" material="m"/>
{_clutter(rng, one.clutter)}{_people(rng, one.people)}{_fixed(rng)}
{_robot()}
</worldbody></mujoco>"""


def _textures(rng: np.random.Generator) -> str:
    """A table top with grain: textures are half of what a picture costs, so that nothing else has one."""
    return (
        f'<texture name="t" type="2d" builtin="checker" rgb1="{_grey(rng, 3)}" rgb2="{_grey(rng, 3)}"'
        ' width="64" height="64" mark="random" random=".1"/><material name="m" texture="t"'
        f' texrepeat="{rng.uniform(2, 7):.1f} {rng.uniform(2, 7):.1f}" specular="0" shininess="0"/>'
    )


def _grey(rng: np.random.Generator, channels: int = 4) -> str:
    level = f"{rng.uniform(0.25, 0.75):.2f} "
    return (level * 3 + "1" * (channels - 3)).strip()


def _walls(rng: np.random.Generator, behind: bool) -> str:
    """The wall behind the robot or the one it looks at, side walls, and things that hang there."""
    x, across = (-1.9, 0.08) if behind else (3.2, -0.08)
    found = ""
    for at, size in ((f"{x} 0", ".05 4 1.2"), ("0 2.6", "4 .05 1.2"), ("0 -2.6", "4 .05 1.2")):
        found += f'<geom type="box" pos="{at} 1.2" size="{size}" rgba="{_grey(rng)}"/>'
    for _ in range(4):
        y, z = rng.uniform(-1.5, 1.5), rng.uniform(0.4, 2.0)
        size = f".02 {rng.uniform(0.1, 0.5):.2f} {rng.uniform(0.1, 0.4):.2f}"
        found += f'<geom type="box" pos="{x + across} {y:.2f} {z:.2f}" size="{size}" rgba="{_grey(rng)}"/>'
    return found


def _clutter(rng: np.random.Generator, count: int) -> str:
    found = ""
    for _ in range(count):
        x, y, grey = rng.uniform(0.35, 0.8), rng.uniform(-0.5, 0.5), rng.uniform(0.1, 0.9)
        a, b, c = rng.uniform(0.015, 0.06, 3)
        kind, size = (("box", (a, b, c)), ("cylinder", (a, c)))[rng.integers(2)]
        found += (
            f'<geom type="{kind}" pos="{x:.3f} {y:.3f} {0.72 + c:.3f}" size="{_row(size)}"'
            f' euler="0 0 {rng.uniform(0, 3):.2f}" rgba="{grey:.2f} {grey:.2f} {grey:.2f} 1"/>'
        )
    return found


def _people(rng: np.random.Generator, count: int) -> str:
    found = ""
    for i in range(count):
        grey = rng.uniform(0.1, 0.9)
        found += (
            f'<body name="person{i}"><joint name="person{i}_x" type="slide" axis="1 0 0"/>'
            f'<joint name="person{i}_y" type="slide" axis="0 1 0"/><geom type="capsule"'
            f' fromto="0 0 .9 0 0 1.45" size=".17" rgba="{grey:.2f} {grey:.2f} {grey:.2f} 1"/><geom '
            f'type="capsule" fromto="0 0 .1 0 0 .8" size=".11" rgba="{1 - grey:.2f} {1 - grey:.2f} '
            f'{1 - grey:.2f} 1"/><geom type="sphere" pos="0 0 1.7" size=".11" rgba=".7 .7 .7 1"/></body>'
        )
    return found


def _fixed(rng: np.random.Generator) -> str:
    """A camera that stands opposite or at the side of the robot and looks at its hands."""
    where = np.array([rng.uniform(1.0, 1.5), rng.uniform(-0.9, 0.9), rng.uniform(1.1, 1.5)])
    return _camera("fixed", where, np.array([0.25, 0.0, 0.95]) - where)


def _camera(name: str, where: Any, ahead: NDArray[np.float64]) -> str:
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    up = np.cross(right, ahead)
    axes = " ".join(f"{v:.4f}" for v in (*right / np.linalg.norm(right), *up / np.linalg.norm(up)))
    return f'<camera name="{name}" pos="{" ".join(f"{v:.4f}" for v in where)}" xyaxes="{axes}"/>'


def _robot() -> str:
    """The card's links from the waist up, each a capsule to whatever hangs on it."""
    tree = load(_BODY).tree
    assert tree is not None
    kept = [i for i, name in enumerate(tree.links) if i == 0 or _upper(name)]

    def body(i: int) -> str:
        name, own = tree.links[i], [j for j in kept if tree.parent[j] == i]
        column = int(tree.column[i])
        p = _PELVIS if i == 0 else tree.p[i]
        joint = _base() if i == 0 else ""
        if column >= 0:
            joint = f'<joint name="{tree.joints[column]}" axis="{_row(tree.axis[i])}"/>'
        inside = "".join(body(j) for j in own) + _shape(name, [tree.p[j] for j in own])
        return f'<body name="{name}" pos="{_row(p)}" quat="{_row(tree.quat[i])}">{joint}{inside}</body>'

    return body(0)


def _upper(name: str) -> bool:
    return any(part in name for part in ("waist", "torso", "shoulder", "elbow", "wrist", "rubber_hand"))


def _base() -> str:
    slides = "".join(
        f'<joint name="base_{a}" type="slide" axis="{v}"/>'
        for a, v in (("x", "1 0 0"), ("y", "0 1 0"), ("z", "0 0 1"))
    )
    return slides + '<joint name="base_yaw" axis="0 0 1"/>'


def _shape(name: str, ends: list[NDArray[np.float64]]) -> str:
    if name == "torso_link":
        head = _camera("head", (0.075, 0.0, 0.43), np.array([0.72, 0.0, -0.69]))
        return (
            '<geom type="capsule" fromto="0 0 .02 0 0 .25" size=".1" rgba=".8 .8 .8 1"/>'
            '<geom type="sphere" pos="0 0 .42" size=".06" rgba=".2 .2 .2 1"/>' + head
        )
    if "rubber_hand" in name:
        return (
            '<geom type="box" pos=".05 0 0" size=".05 .018 .035" rgba=".15 .15 .15 1"/>'
            '<geom type="capsule" fromto=".08 0 .02 .15 0 .01" size=".012" rgba=".85 .85 .85 1"/>'
        )
    radius = next((r for part, r in _RADIUS.items() if part in name), 0.05)
    found = "".join(
        f'<geom type="capsule" fromto="0 0 0 {_row(p)}" size="{radius}" rgba=".7 .7 .7 1"/>'
        for p in ends
        if np.linalg.norm(p) > 0.02
    )
    if name.endswith("wrist_yaw_link"):
        found += _camera(f"{name.partition('_')[0]}_wrist", (0.0, 0.0, 0.07), np.array([0.85, 0.0, -0.5]))
    return found


def _row(v: Any) -> str:
    return " ".join(f"{float(x):.6g}" for x in v)
