"""Retargeted robot motion as pickles: ASAP, human2humanoid and OmniH2O, PHC, SONIC; GMR and TWIST.

Layouts. ``clips``: {clip: {root_trans_offset (n, 3), root_rot (n, 4), dof (n, joints), pose_aa (n, J, 3),
smpl_joints (n, 24, 3), fps}}, joblib or plain, one episode per clip; PHC's human variant has pose_aa and
trans_orig and no dof. ``flat``: {root_pos, root_rot, dof_pos, fps, local_body_pos, link_body_list} (GMR,
TWIST), one episode per file.

Every pickle goes through the restricted unpickler (`assay.unpickle`): nothing in it runs.

Traps met. ``root_rot`` is xyzw with ASAP, PHC and H2O and wxyz with SONIC under the same key: decided by
the stored root rotation vector ``pose_aa[:, 0]``, else by which order leaves the pelvis upright. ``dof`` has
no names: ASAP's 23 are a G1's 29 without the wrists and not Unitree's own 23; the axes of ``pose_aa`` (each
joint is its angle about one axis) tell these apart. ``smpl_joints`` are scaled to the robot by the producer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from assay.errors import UnreadableError
from assay.inside import path_inside
from assay.model import Channel, Episode, Listing, Ref, Role, StreamDecl
from assay.motion.skeletons import smpl_names
from assay.motion.take import POSE, Body, Floats, Pose, Signal, Take, body_channels, episode, matrix, rate_of
from assay.motion.walk import Peek, list_clips, share_of
from assay.reader import Probe, reader
from assay.sheet import Sheet
from assay.unpickle import read_pickle

__all__ = ["READER"]

NAME: Final = "motion-pickle"
SUFFIXES: Final = (".pkl", ".pickle", ".joblib")
ROBOT: Final = frozenset({"root_trans_offset", "root_rot", "dof"})
HUMAN: Final = frozenset({"pose_aa", "root_trans_offset"})
FLAT: Final = frozenset({"root_pos", "root_rot", "dof_pos"})


def _clips(data: Any, file: str) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Clip → (layout, its arrays); empty where the pickle holds something else. Raises `UnreadableError`."""
    if not isinstance(data, dict):
        return {}
    if data.keys() >= FLAT:
        return {"": ("flat", data)}
    if data.keys() >= ROBOT or data.keys() >= HUMAN:
        return {"": (_kind(data), data)}
    clips = [(str(k), v) for k, v in data.items() if isinstance(v, dict)]
    found = [(k, v) for k, v in clips if v.keys() >= HUMAN]
    found += [(k, v) for k, v in clips if v.keys() >= ROBOT and not v.keys() >= HUMAN]
    alike = sorted(k for k, many in Counter(k for k, _ in found).items() if many > 1)
    if alike:
        raise UnreadableError("two clips of the pickle have one name", where=file,
                              found=f"a number and a text that read {alike[0]!r}",
                              remedy="write it again with names that differ as text")  # fmt: skip
    return {k: (_kind(v), v) for k, v in found}


def _kind(clip: Mapping[str, Any]) -> str:
    return "clips" if clip.keys() >= ROBOT else "human clips"


def _load(root: Path, file: str) -> dict[str, tuple[str, Mapping[str, Any]]]:
    state = path_inside(root, file).stat() if path_inside(root, file).is_file() else None
    stamp = (state.st_mtime_ns, state.st_size) if state else (0, 0)
    found = _cached(root, file, stamp)
    if isinstance(found, UnreadableError):
        raise found.with_traceback(None)
    return found


@lru_cache(maxsize=1)
def _cached(
    root: Path, file: str, stamp: tuple[int, int]
) -> dict[str, tuple[str, Mapping[str, Any]]] | UnreadableError:
    """The last file opened, or why not: a pickle of many clips is read once, not once per clip."""
    del stamp
    try:
        return _clips(read_pickle(root, file), file)
    except UnreadableError as error:
        return error


def peek(root: Path, file: str) -> list[Peek]:
    """The clips of a pickle."""
    return [_peek(key, layout, clip, file) for key, (layout, clip) in _load(root, file).items()]


def _peek(key: str, layout: str, clip: Mapping[str, Any], file: str) -> Peek:
    streams: list[StreamDecl] = []
    joints = frames = None
    q = clip.get("dof_pos" if layout == "flat" else "dof")
    if isinstance(q, np.ndarray) and q.ndim >= 2:
        frames, joints = q.shape[:2]
        channels = tuple(Channel(f"joint_{i}", "rad", Role.JOINT_POSITION) for i in range(min(joints, 500)))
        name = "dof_pos" if layout == "flat" else "dof"
        streams += [StreamDecl(name, Role.JOINT_POSITION, channels), StreamDecl("root", Role.BASE_POSE, POSE)]
    human = clip.get("smpl_joints")
    if isinstance(human, np.ndarray) and human.ndim == 3:
        names = smpl_names(min(human.shape[1], 500))
        streams.append(StreamDecl("smpl_joints", Role.HUMAN_BODY, body_channels(names, "position")))
    try:
        fps = rate_of(clip.get("fps"), file)
    except UnreadableError:  # said when this clip is opened; the file's other clips are none the worse
        fps = None
    return Peek(layout, frames, joints, key, fps, tuple(streams))


def probe(path: Path) -> Probe:
    """How many of the first pickles are motion."""
    return Probe(*share_of(path, SUFFIXES, peek, "motion"))


def discover(path: Path) -> Listing:
    """Every clip of every such pickle below the folder."""
    return list_clips(NAME, path, SUFFIXES, peek, "retargeted-motion")


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open a clip.

    Raises:
        UnreadableError: if the pickle is broken, holds code, or has arrays of another shape.
    """
    part = ref.parts[0]
    clips = _load(listing.root, part.path)
    found = clips.get(part.key["clip"])
    if found is None:
        there = ", ".join(clips)[:80] or "no motion"
        raise UnreadableError("the pickle holds no such clip", where=part.path, found=there,
                              expected=part.key["clip"] or "motion of a robot")  # fmt: skip
    layout, clip = found
    take = _flat(clip, part.path) if layout == "flat" else _of_clip(layout, clip, part.path)
    take.fps = rate_of(clip.get("fps"), part.path)
    if take.fps is not None:
        take.fps_why = "stated in the file"
    return episode(NAME, listing, ref, want, sheet, take)


def _of_clip(layout: str, clip: Mapping[str, Any], where: str) -> Take:
    aa = _rotations(clip, where)
    take = Take(layout, joint_key="dof", usual="model")
    if layout == "clips":
        take.joints = _dof(clip["dof"], f"{where}: dof")
        xyz = matrix(clip["root_trans_offset"], f"{where}: root_trans_offset", (None, 3))
        q = matrix(clip["root_rot"], f"{where}: root_rot", (None, 4))
        rotvec = aa[:, 0] if aa is not None and len(aa) == len(q) else None
        take.poses = (Pose("root", Role.BASE_POSE, xyz, q, rotvec=rotvec),)
        take.axes = _axes(aa, take.joints)
    elif aa is not None:
        take.bodies = (Body("pose_aa", aa, smpl_names(aa.shape[1]), "rotvec", "none"),)
        place = matrix(clip["root_trans_offset"], f"{where}: root_trans_offset", (None, 3))
        take.bodies += (Body("root_trans_offset", place[:, None], ("pelvis",), up="?"),)
    if isinstance(clip.get("smpl_joints"), np.ndarray):
        human = matrix(clip["smpl_joints"], f"{where}: smpl_joints", (None, None, 3))
        take.bodies += (Body("smpl_joints", human, smpl_names(human.shape[1])),)
    return take


def _dof(x: Any, where: str) -> Floats:
    """(n, joints); also the (n, joints, 1) that some exporters leave."""
    if isinstance(x, np.ndarray) and x.ndim == 3 and x.shape[2] == 1:
        x = x[:, :, 0]
    return matrix(x, where, (None, None))


def _rotations(clip: Mapping[str, Any], where: str) -> Floats | None:
    x = clip.get("pose_aa")
    if not isinstance(x, np.ndarray):
        return None
    if 0 in x.shape[1:]:
        return None
    if x.ndim == 2 and x.shape[1] % 3 == 0:
        x = x.reshape(len(x), x.shape[1] // 3, 3)
    return matrix(x, f"{where}: pose_aa", (None, None, 3))


def _axes(aa: Floats | None, q: Floats) -> str:
    """The axis of each joint where pose_aa holds exactly its angle about one axis; "" where it does not."""
    if aa is None or aa.shape[1] <= q.shape[1] or len(aa) != len(q) or not len(q):
        return ""
    turns = aa[:, 1 : 1 + q.shape[1]]
    if not np.abs(turns.sum(axis=2) - q).max() < 1e-4:
        return ""
    spread = np.abs(turns).max(axis=0)
    axis = spread.argmax(axis=1)
    other = spread.sum(axis=1) - spread.max(axis=1)
    return "".join("?" if m < 1e-6 or o > 1e-6 else "xyz"[a]
                   for a, m, o in zip(axis, spread.max(axis=1), other, strict=True))  # fmt: skip


def _flat(clip: Mapping[str, Any], where: str) -> Take:
    xyz = matrix(clip["root_pos"], f"{where}: root_pos", (None, 3))
    q = matrix(clip["root_rot"], f"{where}: root_rot", (None, 4))
    pose = Pose("root", Role.BASE_POSE, xyz, q, "xyzw", "GMR and TWIST")
    take = Take(
        "flat", _dof(clip["dof_pos"], f"{where}: dof_pos"), joint_key="dof_pos", usual="model", poses=(pose,)
    )
    bodies = clip.get("local_body_pos")
    if isinstance(bodies, np.ndarray) and bodies.ndim == 3:
        x = matrix(bodies, f"{where}: local_body_pos", (None, None, 3))
        links = clip.get("link_body_list")
        names = [str(n) for n in links] if isinstance(links, list) and len(links) == x.shape[1] else None
        channels = tuple(Channel(f"{n}.{e}", "m") for n in names or [f"body_{i}" for i in range(x.shape[1])]
                         for e in "xyz")  # fmt: skip
        take.signals = (
            Signal("local_body_pos", Role.OTHER, x.reshape(len(x), len(channels)), channels, frame="root"),
        )
    return take


READER: Final = reader(
    name=NAME, version=1,
    title="Robot motion as pickles (ASAP, OmniH2O, PHC, SONIC, GMR, TWIST), never run",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
