"""Small model files for tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.embodiment.rotation import matrix

BOX = '<collision><origin xyz="0.05 0 -0.03"/><geometry><box size="0.2 0.08 0.02"/></geometry></collision>'

URDF = f"""<?xml version="1.0"?>
<robot name="two_legs">
  <link name="pelvis"><inertial><mass value="5"/><origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3"/></inertial></link>
  <link name="left_foot">{BOX}</link><link name="right_foot">{BOX}</link>
  <link name="left_finger"/><link name="left_thumb"/><link name="arm"/>
  <joint name="left_ankle_joint" type="revolute"><parent link="pelvis"/><child link="left_foot"/>
    <origin xyz="0 0.1 -0.5"/><axis xyz="0 2 0"/><limit lower="-1" upper="1" velocity="3" effort="0"/></joint>
  <joint name="right_ankle_joint" type="revolute"><parent link="pelvis"/><child link="right_foot"/>
    <origin xyz="0 -0.1 -0.5"/><axis xyz="0 1 0"/><limit lower="0" upper="0" velocity="0" effort="7"/></joint>
  <joint name="left_shoulder_joint" type="continuous"><parent link="pelvis"/><child link="arm"/></joint>
  <joint name="left_finger_joint" type="prismatic"><parent link="arm"/><child link="left_finger"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="0.04"/></joint>
  <joint name="left_thumb_joint" type="prismatic"><parent link="arm"/><child link="left_thumb"/>
    <axis xyz="0 0 1"/><mimic joint="left_finger_joint" multiplier="-2" offset="0.01"/></joint>
</robot>
"""

MJCF = """<mujoco model="small">
  <compiler angle="degree" eulerseq="XYZ"/>
  <default>
    <geom contype="1"/>
    <motor ctrllimited="true"/>
    <default class="leg"><joint axis="0 1 0" range="-90 45"/>
      <default class="foot"><geom type="sphere" size="0.01"/></default></default>
    <default class="ghost"><geom contype="0" conaffinity="0"/></default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="pelvis" pos="0 0 1">
      <freejoint name="root"/>
      <inertial mass="4" pos="0 0 0" diaginertia="1 2 3"/>
      <body name="left_foot" pos="0 0.1 -0.5" euler="0 0 90" childclass="leg">
        <joint name="left_ankle" pos="0 0 0.1" ref="10"/>
        <geom class="foot" pos="0.1 0.04 -0.03"/><geom class="foot" pos="0.1 -0.04 -0.03"/>
        <geom class="foot" pos="-0.1 0.04 -0.03"/><geom class="foot" pos="-0.1 -0.04 -0.03"/>
        <geom class="ghost" type="box" size="1 1 1"/>
        <site name="left_sole" pos="0 0 -0.04"/>
      </body>
      <frame pos="0 -0.1 -0.5" euler="0 0 90">
        <body name="right_foot" childclass="leg">
          <joint name="right_ankle" range="-0 0"/>
          <joint name="right_ankle_slide" type="slide" axis="1 0 0" range="-0.1 0.2" ref="0.05"/>
          <geom type="capsule" size="0.01" fromto="-0.1 0.04 -0.03 0.1 0.04 -0.03"/>
          <geom type="capsule" size="0.01" fromto="-0.1 -0.04 -0.03 0.1 -0.04 -0.03"/>
        </body>
      </frame>
    </body>
  </worldbody>
  <actuator>
    <motor name="a" joint="left_ankle" gear="2" ctrlrange="-30 30"/>
    <motor name="b" joint="right_ankle" ctrlrange="-20000 20000"/>
    <position name="c" joint="right_ankle_slide" ctrllimited="true" ctrlrange="-1 1" forcerange="-5 5"/>
  </actuator>
</mujoco>
"""


def write(folder: Path, text: str | bytes, name: str = "model.xml") -> str:
    """A file in a folder; its name."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def urdf_of(
    body: Embodiment, *, widen: float = 0.0, lift: float = 0.0, rename: Mapping[str, str] = {}
) -> str:
    """A card as URDF: joint limits ``widen`` rad wider (ratings more), soles ``lift`` m lower."""
    tree, limits = body.tree, body.limits[0]
    assert tree is not None
    out = ['<robot name="body">']
    for link in tree.links:
        out += [f'<link name="{link}">', *_spheres(body, link, lift), "</link>"]
    for i, joint in enumerate(tree.carrier[1:], 1):
        R = matrix(tree.quat[i])
        rpy = np.array([np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(R[2, 0]), np.arctan2(R[1, 0], R[0, 0])])
        kind, name = "revolute" if tree.kind[i] else "fixed", rename.get(joint, joint)
        out.append(f'<joint name="{name}" type="{kind}">'
                   f'<parent link="{tree.links[tree.parent[i]]}"/><child link="{tree.links[i]}"/>'
                   f'<origin xyz="{_row(tree.p[i])}" rpy="{_row(rpy)}"/>')  # fmt: skip
        if tree.kind[i]:
            at = tree.column[i]
            out.append(f'<axis xyz="{_row(tree.axis[i])}"/><limit lower="{limits.lower[at] - widen}"'
                       f' upper="{limits.upper[at] + widen}" velocity="{limits.speed[at] * (1 + widen)}"'
                       f' effort="{limits.effort[at] * (1 + widen)}"/>')  # fmt: skip
        out.append("</joint>")
    return "\n".join([*out, "</robot>"])


def mjcf_of(
    body: Embodiment, *, widen: float = 0.0, lift: float = 0.0, rename: Mapping[str, str] = {}
) -> str:
    """The same as MJCF, which knows no rated speeds."""
    tree, limits = body.tree, body.limits[0]
    assert tree is not None

    def grown(i: int) -> Iterator[str]:
        yield f'<body name="{tree.links[i]}" pos="{_row(tree.p[i])}" quat="{_row(tree.quat[i])}">'
        if i == 0:
            yield "<freejoint/>"
        elif tree.kind[i]:
            at, joint = tree.column[i], tree.carrier[i]
            yield (f'<joint name="{rename.get(joint, joint)}" axis="{_row(tree.axis[i])}"'
                   f' range="{limits.lower[at] - widen} {limits.upper[at] + widen}"/>')  # fmt: skip
        for sole in (s for s in body.soles if s.link == tree.links[i]):
            for p, r in zip(sole.points, sole.radius, strict=True):
                yield f'<geom type="sphere" size="{r}" pos="{_row(p - np.array([0, 0, lift]))}"/>'
        for child in np.flatnonzero(tree.parent == i):
            yield from grown(int(child))
        yield "</body>"

    return "\n".join([
        '<mujoco model="body"><compiler angle="radian"/><worldbody>', *grown(0), "</worldbody></mujoco>",
    ])  # fmt: skip


def _spheres(body: Embodiment, link: str, lift: float) -> Iterator[str]:
    for sole in (s for s in body.soles if s.link == link):
        for p, r in zip(sole.points, sole.radius, strict=True):
            yield (f'<collision><origin xyz="{_row(p - np.array([0, 0, lift]))}"/>'
                   f'<geometry><sphere radius="{r}"/></geometry></collision>')  # fmt: skip


def _row(values: NDArray[np.float64]) -> str:
    return " ".join(f"{v:.12g}" for v in values)
