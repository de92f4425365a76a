"""Robot motion as npz: BeyondMimic, holosoma (training and retargeting), loco-mujoco, Isaac Lab AMP.

Layouts, told apart by their keys.
``beyondmimic``: joint_pos and joint_vel (n, 29), body_pos_w and body_quat_w (n, B, 4, wxyz), fps; no names.
Written in Isaac Lab's order by its own exporter, in the model's by others: the limits of the body decide.
``holosoma``: the same with joint_names and body_names; joint_pos (n, 7 + 29) begins with xyz and wxyz,
joint_vel with 6 of the base; object_pos_w and object_quat_w where an object is moved.
``holosoma-retarget``: qpos (n, 7 + joints [+ 7]), fps, perhaps human_joints. OmniRetarget stores the
quaternion first: unit norm tells the two apart.
``loco-mujoco``: one key per joint, q_<joint> and dq_<joint>; no rate (the velocities give it where they
belong to the positions). The base is three slides and three hinges whose axes and zero the file does not
state: its frame is ``unresolved-axes``.
``amp``: dof_names, dof_positions, dof_velocities, body_names, body_positions, body_rotations (wxyz), fps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from assay.arrays import Archive, open_archive
from assay.errors import UnreadableError
from assay.model import Channel, Episode, Listing, Ref, Role, StreamDecl
from assay.motion.poses import euler_to_wxyz, rate_by_velocity
from assay.motion.take import POSE, Body, Pose, Signal, Take, episode, matrix, rate_of
from assay.motion.walk import Peek, list_clips, share_of
from assay.reader import Probe, reader
from assay.sheet import Sheet

__all__ = ["READER"]

NAME: Final = "robot-npz"
SUFFIXES: Final = (".npz",)
BASE: Final = ("pelvis_tx", "pelvis_tz", "pelvis_ty", "pelvis_tilt", "pelvis_list", "pelvis_rotation")
ISAAC: Final = "Isaac Lab's exporter"
MUJOCO: Final = "MuJoCo's free joint"


def _layout(keys: tuple[str, ...]) -> str:
    there = set(keys)
    if {"joint_pos", "body_pos_w", "body_quat_w"} <= there:
        return "holosoma" if "joint_names" in there else "beyondmimic"
    if {"dof_positions", "dof_names", "body_rotations"} <= there:
        return "amp"
    if "qpos" in there:
        return "holosoma-retarget"
    if sum(k.startswith("q_") for k in keys) >= 6 and f"q_{BASE[0]}" in there:
        return "loco-mujoco"
    return ""


def peek(root: Path, file: str) -> list[Peek]:
    """One clip if the keys are those of a known layout; only headers and names are read."""
    with open_archive(root, file) as archive:
        layout = _layout(archive.keys)
        if not layout:
            return []
        names, frames = _names(archive, layout)
        fps = rate_of(archive.array("fps"), file) if "fps" in archive.keys else None
    channels = tuple(Channel(n, "rad", Role.JOINT_POSITION) for n in names)
    streams = (
        StreamDecl(_KEYS[layout][0], Role.JOINT_POSITION, channels),
        StreamDecl("root", Role.BASE_POSE, POSE),
    )
    return [Peek(layout, frames, len(names), fps=fps, streams=streams)]


_KEYS: Final = {
    "beyondmimic": ("joint_pos", "joint_vel"), "holosoma": ("joint_pos", "joint_vel"),
    "holosoma-retarget": ("qpos", ""), "amp": ("dof_positions", "dof_velocities"), "loco-mujoco": ("q", "dq"),
}  # fmt: skip


def _names(archive: Archive, layout: str) -> tuple[tuple[str, ...], int]:
    if layout == "loco-mujoco":
        names = tuple(k[2:] for k in archive.keys if k.startswith("q_") and k[2:] not in BASE)
        return names, _count(archive.header(f"q_{BASE[0]}").shape)
    shape = archive.header(_KEYS[layout][0]).shape
    if len(shape) != 2:
        raise UnreadableError(
            "an array has another shape", where=archive.where, found=str(shape), expected="n x joints"
        )
    if layout == "holosoma":
        return _text(archive, "joint_names"), shape[0]
    if layout == "amp":
        return _text(archive, "dof_names"), shape[0]
    width = shape[1] if layout == "beyondmimic" else shape[1] - 7
    return tuple(f"joint_{i}" for i in range(max(0, min(width, 200)))), shape[0]


def _count(shape: tuple[int, ...]) -> int:
    return shape[0] if shape else 0


def _text(archive: Archive, key: str) -> tuple[str, ...]:
    names = archive.array(key)
    if names.dtype.kind not in "US" or names.ndim != 1 or len(names) > 1000:
        raise UnreadableError(
            "the names are no list of text", where=f"{archive.where}: {key}", found=str(names.dtype)
        )
    return tuple(n.decode("utf-8", "replace") if isinstance(n, bytes) else str(n) for n in names.tolist())


def probe(path: Path) -> Probe:
    """How many of the first npz files are robot motion."""
    return Probe(*share_of(path, SUFFIXES, peek, "robot motion"))


def discover(path: Path) -> Listing:
    """Every such file below the folder; one episode each."""
    return list_clips(NAME, path, SUFFIXES, peek, "retargeted-motion")


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open a clip.

    Raises:
        UnreadableError: if an array is missing, broken, or of another shape.
    """
    file = ref.parts[0].path
    with open_archive(listing.root, file) as archive:
        layout = _layout(archive.keys)
        if not layout:
            raise UnreadableError(
                "the file is no robot motion", where=file, found=", ".join(archive.keys)[:120]
            )
        take = _TAKES[layout](archive, want)
        if "fps" in archive.keys:
            take.fps, take.fps_why = rate_of(archive.array("fps"), file), "stated in the file"
    return episode(NAME, listing, ref, want, sheet, take)


def _get(archive: Archive, key: str, *shape: int | None) -> Any:
    return matrix(archive.array(key), f"{archive.where}: {key}", shape)


def _root(archive: Archive, key: str, rotation: str, at: int) -> Pose:
    xyz, q = _get(archive, key, None, None, 3), _get(archive, rotation, None, None, 4)
    if at >= xyz.shape[1] or at >= q.shape[1]:
        raise UnreadableError("the file has no base body", where=archive.where)
    return Pose("root", Role.BASE_POSE, xyz[:, at], q[:, at], "wxyz", ISAAC)


def _bodies(
    archive: Archive, key: str, names: tuple[str, ...], want: frozenset[Role] | None
) -> tuple[Signal, ...]:
    if want is not None and Role.OTHER not in want:
        return ()
    x = _get(archive, key, None, None, 3)
    if len(names) != x.shape[1]:
        names = tuple(f"body_{i}" for i in range(x.shape[1]))
    channels = tuple(Channel(f"{n}.{e}", "m") for n in names for e in "xyz")
    return (Signal(key, Role.OTHER, x.reshape(len(x), x.shape[1] * 3), channels, frame="world"),)


def _beyondmimic(archive: Archive, want: frozenset[Role] | None) -> Take:
    q, dq = _get(archive, "joint_pos", None, None), _get(archive, "joint_vel", None, None)
    return Take("beyondmimic", q, dq, joint_key="joint_pos", velocity_key="joint_vel",
                poses=(_root(archive, "body_pos_w", "body_quat_w", 0),),
                signals=_bodies(archive, "body_pos_w", (), want))  # fmt: skip


def _holosoma(archive: Archive, want: frozenset[Role] | None) -> Take:
    names = _text(archive, "joint_names")
    q, dq = _get(archive, "joint_pos", None, None), _get(archive, "joint_vel", None, None)
    if q.shape[1] not in (len(names), 7 + len(names)) or dq.shape[1] not in (len(names), 6 + len(names)):
        found = f"{q.shape[1]} and {dq.shape[1]} columns"
        raise UnreadableError("joint_names and columns do not agree", where=archive.where, found=found,
                              expected=f"{len(names)}, or with the base 7 and 6 more")  # fmt: skip
    wide = q.shape[1] > len(names)
    root = Pose("root", Role.BASE_POSE, q[:, :3], q[:, 3:7], "wxyz", MUJOCO) if wide else _root(
        archive, "body_pos_w", "body_quat_w", 1)  # fmt: skip
    poses: tuple[Pose, ...] = (root,)
    if "object_pos_w" in archive.keys and "object_quat_w" in archive.keys:
        xyz, quat = _get(archive, "object_pos_w", None, 3), _get(archive, "object_quat_w", None, 4)
        poses += (Pose("object", Role.OBJECT_POSE, xyz, quat, "wxyz", ISAAC, upright=False),)
    bodies = _bodies(archive, "body_pos_w", _text(archive, "body_names"), want)
    q, dq = q[:, q.shape[1] - len(names) :], dq[:, dq.shape[1] - len(names) :]
    return Take("holosoma", q, dq, names, "joint_pos", "joint_vel", poses=poses, signals=bodies)


def _retarget(archive: Archive, want: frozenset[Role] | None) -> Take:
    del want
    x = _get(archive, "qpos", None, None)
    if x.shape[1] < 7:
        raise UnreadableError("qpos has no floating base", where=archive.where, found=f"{x.shape[1]} columns")
    first = _unit(x[:, :4]) and not _unit(x[:, 3:7])
    xyz, q = (x[:, 4:7], x[:, :4]) if first else (x[:, :3], x[:, 3:7])
    poses: tuple[Pose, ...] = (Pose("root", Role.BASE_POSE, xyz, q, "wxyz", MUJOCO),)
    joints = x[:, 7:]
    if joints.shape[1] > 7 + 12 and _unit(joints[:, -4:]):
        xyz, q, joints = joints[:, -7:-4], joints[:, -4:], joints[:, :-7]
        poses += (Pose("object", Role.OBJECT_POSE, xyz, q, "wxyz", MUJOCO, upright=False),)
    take = Take("holosoma-retarget", joints, joint_key="qpos", usual="model", poses=poses)
    take.decided["base columns"] = (
        "quaternion first" if first else "position first",
        "unit norm of four columns",
    )
    if "human_joints" in archive.keys:
        human = _get(archive, "human_joints", None, None, 3)
        take.bodies = (Body("human_joints", human, (), "position"),)
    return take


def _unit(q: Any) -> bool:
    return bool(len(q)) and bool(np.abs(np.linalg.norm(q, axis=1) - 1).max() < 0.02)


def _amp(archive: Archive, want: frozenset[Role] | None) -> Take:
    names, bodies = _text(archive, "dof_names"), _text(archive, "body_names")
    q = _get(archive, "dof_positions", None, len(names))
    dq = _get(archive, "dof_velocities", None, len(names))
    at = bodies.index("pelvis") if "pelvis" in bodies else 0
    return Take("amp", q, dq, names, "dof_positions", "dof_velocities",
                poses=(_root(archive, "body_positions", "body_rotations", at),),
                signals=_bodies(archive, "body_positions", bodies, want))  # fmt: skip


def _stacked(archive: Archive, start: str, names: tuple[str, ...]) -> Any:
    columns = [_get(archive, start + n, None) for n in names]
    if len({len(c) for c in columns}) > 1:
        raise UnreadableError("joints differ in length", where=f"{archive.where}: {start}*")
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def _loco(archive: Archive, want: frozenset[Role] | None) -> Take:
    del want
    keys = set(archive.keys)
    names = tuple(k[2:] for k in archive.keys if k.startswith("q_") and k[2:] not in BASE)
    if any(f"q_{n}" not in keys for n in BASE):
        raise UnreadableError("a part of the base is missing", where=archive.where, expected=", ".join(BASE))
    q, base = _stacked(archive, "q_", names), _stacked(archive, "q_", BASE)
    pose = Pose("root", Role.BASE_POSE, base[:, :3], euler_to_wxyz("yxz", base[:, 3:]), "wxyz",
                "made from tilt, list and rotation", frame="unresolved-axes")  # fmt: skip
    take = Take("loco-mujoco", q, names=names, joint_key="q", velocity_key="dq", poses=(pose,))
    take.conversions += [
        "q: one array per joint, stacked",
        "root: tilt about y, list about x, rotation about z",
    ]
    if all(f"dq_{n}" in keys for n in names):
        take.velocity = _stacked(archive, "dq_", names)
        take.fps, take.fps_why = rate_by_velocity(q, take.velocity)
    return take


_TAKES: Final = {
    "beyondmimic": _beyondmimic, "holosoma": _holosoma, "holosoma-retarget": _retarget, "amp": _amp,
    "loco-mujoco": _loco,
}  # fmt: skip

READER: Final = reader(
    name=NAME, version=1,
    title="Robot motion as npz (BeyondMimic, holosoma, loco-mujoco, Isaac Lab AMP)",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
