"""Forward kinematics by other libraries, for comparison: slow, pose by pose, by names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from defusedxml.ElementTree import parse, tostring

from assay.embodiment import Tree

Array = np.ndarray
DROPPED = {
    "asset", "sensor", "contact", "tendon", "actuator", "keyframe", "visual", "statistic", "equality",
}  # fmt: skip


def random_poses(tree: Tree, frames: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Joint values, base positions and base orientations (wxyz) within a few rad and m."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-2.5, 2.5, (frames, len(tree.joints)))
    base_p, base_q = rng.normal(size=(frames, 3)), rng.normal(size=(frames, 4))
    return q, base_p, base_q / np.linalg.norm(base_q, axis=1, keepdims=True)


def by_pinocchio(
    pin: Any, urdf: Path, tree: Tree, q: Array, base_p: Array, base_q: Array
) -> tuple[Array, Array]:
    """p (T, L, 3) and R (T, L, 3, 3) of the tree's links as Pinocchio reads and moves the file."""
    model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    data = model.createData()
    p, R = np.empty((len(q), len(tree.links), 3)), np.empty((len(q), len(tree.links), 3, 3))
    for t in range(len(q)):
        full = pin.neutral(model)
        full[:7] = [*base_p[t], *base_q[t, [1, 2, 3, 0]]]
        for i in np.flatnonzero(tree.column >= 0):
            value = tree.gain[i] * q[t, tree.column[i]] + tree.offset[i]
            joint = model.joints[model.getJointId(tree.carrier[i])]
            full[joint.idx_q : joint.idx_q + joint.nq] = (
                value if joint.nq == 1 else [np.cos(value), np.sin(value)]
            )
        pin.framesForwardKinematics(model, data, full)
        for i, link in enumerate(tree.links):
            placed = data.oMf[model.getFrameId(link, pin.BODY)]
            p[t, i], R[t, i] = placed.translation, placed.rotation
    return p, R


def by_mujoco(
    mujoco: Any, mjcf: Path, tree: Tree, q: Array, base_p: Array, base_q: Array
) -> tuple[Array, Array, Any]:
    """p (T, L, 3) and quat (T, L, 4) as MuJoCo moves the file (NaN without a name); its model."""
    model = mujoco.MjModel.from_xml_string(without_meshes(mjcf))
    data = mujoco.MjData(model)
    p, quat = np.full((len(q), len(tree.links), 3), np.nan), np.full((len(q), len(tree.links), 4), np.nan)
    bodies = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, link) for link in tree.links]
    for t in range(len(q)):
        data.qpos[:] = [*base_p[t], *base_q[t], *q[t]] if tree.floating else q[t]
        mujoco.mj_kinematics(model, data)
        for i, body in enumerate(bodies):
            if body >= 0:
                p[t, i], quat[t, i] = data.xpos[body], data.xquat[body]
    return p, quat, model


def without_meshes(mjcf: Path) -> str:
    """The model without what needs mesh files; what moves keeps some mass so that it compiles."""
    top = parse(mjcf).getroot()
    for section in [s for s in top if s.tag in DROPPED]:
        top.remove(section)
    for element in list(top.iter()):
        for child in list(element):
            if (element.tag == "body" and child.tag in ("geom", "camera", "light", "site")) or (
                element.tag == "worldbody" and child.tag != "body"
            ):
                element.remove(child)
    compiler = top.find("compiler")
    if compiler is None:
        compiler = top.makeelement("compiler", {})
        top.append(compiler)
    compiler.attrib.update(boundmass="0.01", boundinertia="0.01", balanceinertia="true")
    text = tostring(top)
    return text.decode() if isinstance(text, bytes) else text
