"""Pictures of rigs by MuJoCo: 80 x 60, two moments of each exposure, shifted by half a cell.

What one rendering costs without a graphics card: 57 ms with MuJoCo's defaults on a busy machine (shadow maps
of 4096, four samples, reflections, sky, haze, fine meshes), 1 ms of processor time without them, half of it
for textures. Two moments a quarter of a cell to either side smooth edges as well as motion.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from benchmarks.rigs.motion import JOINTS, Motion, reaching, waving
from benchmarks.rigs.scene import Rig, mjcf
from numpy.typing import NDArray

__all__ = ["LENGTHS", "Shot", "motion_of", "shots"]

LENGTHS: Final = (7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0, 28.0)
"""Seconds of a rig's episodes."""

_VERSION: Final = 5
_CELLS: Final = (80, 60)
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """One rendered episode.

    Attributes:
        t: (n,) s of true time, the middle of each exposure.
        luma: (n, 60, 80) uint8.
        motion: what the joints did at any true time.
    """

    t: Floats
    luma: NDArray[np.uint8]
    motion: Motion


def motion_of(one: Rig, episode: int) -> Motion:
    """What the robot does in an episode of a rig."""
    rng = np.random.default_rng([7, one.seed, episode])
    if one.kind == "periodic":
        return waving(rng, float(np.random.default_rng([8, one.seed]).uniform(0.7, 1.6)))
    size = 0.02 if one.kind == "still" else 1.0
    waist = 0.25 if one.kind == "moving" else 0.0
    places = np.random.default_rng([18, one.seed]) if one.task else None
    return reaching(rng, LENGTHS[episode], places=places, waist=waist, size=size, arms=one.arms)


def shots(one: Rig, lengths: tuple[float, ...] = LENGTHS) -> list[Shot]:
    """All episodes of a rig, rendered once and kept in a temporary folder."""
    stamp = zlib.crc32(f"{_VERSION} {lengths} {one} {mjcf(one)}".encode())
    kept = Path(tempfile.gettempdir(), "assay-rigs", f"{one.number:03d}-{stamp:08x}.npz")
    motions = [motion_of(one, e) for e in range(len(lengths))]
    if not kept.is_file():
        drawn = _drawn(one, motions, lengths)
        kept.parent.mkdir(exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}.npz")
        np.savez_compressed(
            part, **{f"{k}{e}": v for e, tv in enumerate(drawn) for k, v in zip("tl", tv, strict=True)}
        )
        part.rename(kept)
    with np.load(kept) as held:
        return [Shot(held[f"t{e}"], held[f"l{e}"], motion) for e, motion in enumerate(motions)]


def _drawn(
    one: Rig, motions: list[Motion], lengths: tuple[float, ...]
) -> list[tuple[Floats, NDArray[np.uint8]]]:
    os.environ.setdefault("LP_NUM_THREADS", "0")  # threads that wait for each other cost more than they give
    import mujoco
    from mujoco.egl import GLContext  # whatever MUJOCO_GL said when mujoco was first imported

    model = mujoco.MjModel.from_xml_string(mjcf(one))
    context = GLContext(*_CELLS)
    context.make_current()
    try:
        eye = _Eye(mujoco, model, one)
        return [_episode(eye, one, e, motion, lengths[e]) for e, motion in enumerate(motions)]
    finally:
        context.free()


class _Eye:
    """MuJoCo's renderer, with everything off that costs and does not move."""

    def __init__(self, mujoco: Any, model: Any, one: Rig) -> None:
        self.mj, self.model, self.data = mujoco, model, mujoco.MjData(model)
        self.context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_50)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self.context)
        self.scene, self.option, self.camera = (
            mujoco.MjvScene(model, 400),
            mujoco.MjvOption(),
            mujoco.MjvCamera(),
        )
        name = one.camera if one.camera != "wrist" else f"{'right' if one.arms == 'right' else 'left'}_wrist"
        self.camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self.camera.fixedcamid = model.camera(name).id
        for flag in ("SHADOW", "REFLECTION", "SKYBOX", "HAZE", "FOG"):
            self.scene.flags[getattr(mujoco.mjtRndFlag, f"mjRND_{flag}")] = False
        self.rect = mujoco.MjrRect(0, 0, *_CELLS)
        self.rgb = np.empty((_CELLS[1], _CELLS[0], 3), np.uint8)
        self.lamp = model.light_diffuse.copy(), np.array(model.vis.headlight.diffuse)

    def columns(self, names: list[str]) -> NDArray[np.intp]:
        return np.array([self.model.joint(name).qposadr[0] for name in names], np.intp)

    def look(self, qpos: Floats, light: float, shift: float) -> Floats:
        """(60, 80) grey with the frustum moved by ``shift`` cells both ways."""
        mj = self.mj
        self.data.qpos[:] = qpos
        self.model.light_diffuse[:] = self.lamp[0] * light
        self.model.vis.headlight.diffuse[:] = self.lamp[1] * light
        mj.mj_kinematics(self.model, self.data)
        mj.mj_camlight(self.model, self.data)
        mj.mjv_updateScene(
            self.model, self.data, self.option, None, self.camera, mj.mjtCatBit.mjCAT_ALL, self.scene
        )
        for eye in self.scene.camera:
            cell = (eye.frustum_top - eye.frustum_bottom) / _CELLS[1]
            eye.frustum_center += shift * cell
            eye.frustum_top += shift * cell
            eye.frustum_bottom += shift * cell
        mj.mjr_render(self.rect, self.scene, self.context)
        mj.mjr_readPixels(self.rgb, None, self.rect, self.context)
        return self.rgb[::-1, :, 1].astype(np.float64)  # nothing here has a colour


def _episode(eye: _Eye, one: Rig, episode: int, motion: Motion, seconds: float) -> tuple[Floats, Any]:
    rng = np.random.default_rng([9, one.seed, episode])
    t = 0.5 + np.arange(round(seconds * one.fps)) / one.fps
    exposed = rng.uniform(0.005, 0.02)
    luma = np.zeros((len(t), _CELLS[1], _CELLS[0]))
    for moment in (-0.25, 0.25):
        when = t + moment * exposed
        poses, light = _poses(eye, one, episode, motion(when), when), _light(one, episode, when)
        for i in range(len(t)):
            luma[i] += 0.5 * eye.look(poses[i], light[i], moment)
    return t, np.rint(luma).astype(np.uint8)


def _poses(eye: _Eye, one: Rig, episode: int, q: Floats, t: Floats) -> Floats:
    """(n, nq): joints, a base that sways where the robot walks on the spot, people who pass."""
    rng = np.random.default_rng([10, one.seed, episode])
    poses = np.zeros((len(t), eye.model.nq))
    poses[:, eye.columns(list(JOINTS))] = q
    if one.kind == "moving" and one.seed % 2:
        step = 2 * np.pi * rng.uniform(0.7, 1.0) * t
        sway = [
            0.01 * np.sin(2 * step),
            0.03 * np.sin(step),
            0.012 * np.cos(2 * step),
            0.05 * np.sin(step + 1),
        ]
        poses[:, eye.columns([f"base_{a}" for a in ("x", "y", "z", "yaw")])] = np.transpose(sway)
    for i in range(one.people):
        behind = rng.uniform(-1.4, -0.6) if one.camera == "fixed" else rng.uniform(1.1, 1.8)
        speed, first = rng.choice([-1, 1]) * rng.uniform(0.4, 1.3), rng.uniform(-2, 2)
        y = (first + speed * t + 2.5) % 10 - 2.5  # half of the time in the room
        poses[:, eye.columns([f"person{i}_x", f"person{i}_y"])] = np.transpose(
            [behind + 0.1 * np.sin(t * 3), np.minimum(y, 2.4) + np.where(y > 2.4, 5.0, 0.0)]
        )
    return poses


def _light(one: Rig, episode: int, t: Floats) -> Floats:
    """(n,) share of the usual light: a little different every time, and unsteady where that is the point."""
    rng = np.random.default_rng([11, one.seed, episode])
    base = rng.uniform(0.85, 1.1)
    if one.kind != "light":
        return np.full(len(t), base)
    cloud = 0.2 * np.sin(2 * np.pi * t / rng.uniform(4, 12) + rng.uniform(0, 6))
    return np.asarray(base * (0.8 + cloud + np.where(t > rng.uniform(2, t[-1]), rng.uniform(-0.2, 0.2), 0.0)))
