"""CMU humanoid motion as HDF5 of dm_control (``locomotion/mocap``), stored (values, frames).

Layout. One group per clip with attributes ``dt`` (s) and ``num_steps``; ``walkers/walker_0`` holds position
(3, n), quaternion (4, n, wxyz as MuJoCo), joints and joints_velocity (56, n); ``props/prop_0`` position and
quaternion of an object. Everything is transposed on reading. A file may hold several clips.

Traps met. The joints have no names. ``num_steps`` is held against the arrays. Bodies are stored flattened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import h5py
import numpy as np

from assay.errors import UnreadableError
from assay.hdf5 import at, numbers, opened
from assay.model import Channel, Claim, Episode, Listing, Ref, Role, StreamDecl
from assay.motion.take import POSE, Floats, Pose, Take, episode, matrix, rate_of
from assay.motion.walk import Peek, list_clips, share_of
from assay.reader import Probe, reader
from assay.sheet import Sheet

__all__ = ["READER"]

NAME: Final = "cmu-hdf5"
SUFFIXES: Final = (".h5", ".hdf5")
WALKER: Final = "walkers/walker_0"
PROP: Final = "props/prop_0"


def _is_clip(group: Any) -> bool:
    return isinstance(at(group, f"{WALKER}/joints"), h5py.Dataset)


def peek(root: Path, file: str) -> list[Peek]:
    """The clips of a file, from shapes and attributes."""
    with opened(root, file) as data:
        return [_peek(at(data, name), name, file) for name in data if _is_clip(at(data, name))]


def _peek(group: Any, name: str, file: str) -> Peek:
    shape = at(group, f"{WALKER}/joints").shape
    if len(shape) != 2:
        raise UnreadableError("an array has another shape", where=f"{file}: {name}", found=str(shape))
    channels = tuple(Channel(f"joint_{i}", "rad", Role.JOINT_POSITION) for i in range(min(shape[0], 500)))
    streams = [StreamDecl("joints", Role.JOINT_POSITION, channels), StreamDecl("root", Role.BASE_POSE, POSE)]
    if at(group, PROP) is not None:
        streams.append(StreamDecl("prop_0", Role.OBJECT_POSE, POSE))
    try:
        fps = rate_of(_dt(group), file)
    except UnreadableError:  # said when this clip is opened; the file's other clips are none the worse
        fps = None
    return Peek("walker", shape[1], shape[0], name, fps, tuple(streams))


def _dt(group: Any) -> float | None:
    """The rate behind ``dt``."""
    dt: Any = group.attrs.get("dt")
    number = isinstance(dt, int | float | np.number)
    return 1.0 / float(dt) if number and dt > 0 else None


def probe(path: Path) -> Probe:
    """How many of the first HDF5 files hold walkers."""
    return Probe(*share_of(path, SUFFIXES, peek, "CMU walkers"))


def discover(path: Path) -> Listing:
    """Every clip of every such file below the folder."""
    return list_clips(NAME, path, SUFFIXES, peek, "retargeted-motion")


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open a clip.

    Raises:
        UnreadableError: if it is absent, broken, or of another shape.
    """
    part = ref.parts[0]
    with opened(listing.root, part.path) as data:
        group = at(data, part.key["clip"])
        if not _is_clip(group):
            raise UnreadableError("the file holds no such clip", where=part.path, expected=part.key["clip"])
        take = _take(group, part.path, part.key["clip"])
    return episode(NAME, listing, ref, want, sheet, take)


def _take(group: Any, file: str, clip: str) -> Take:
    where = f"{file}: {clip}"
    q = _get(group, f"{WALKER}/joints", where, None)
    poses = [_pose(group, WALKER, "root", Role.BASE_POSE, where)]
    if at(group, PROP) is not None:
        poses.append(_pose(group, PROP, "prop_0", Role.OBJECT_POSE, where))
    take = Take("walker", q, poses=tuple(poses), velocity_key="joints_velocity")
    if at(group, f"{WALKER}/joints_velocity") is not None:
        take.velocity = _get(group, f"{WALKER}/joints_velocity", where, q.shape[1])
    take.fps = rate_of(_dt(group), where)
    take.fps_why = "dt of the clip" if take.fps else "the clip states no dt"
    take.conversions.append("every array: transposed from (values, frames)")
    steps: Any = group.attrs.get("num_steps")
    if isinstance(steps, int | np.integer):
        size = float(abs(int(steps) - len(q)))
        take.claims.append(Claim("declared", "num_steps", str(steps), str(len(q)), size, where=file))
    return take


def _pose(group: Any, path: str, name: str, role: Role, where: str) -> Pose:
    xyz, q = _get(group, f"{path}/position", where, 3), _get(group, f"{path}/quaternion", where, 4)
    return Pose(name, role, xyz, q, "wxyz", "MuJoCo", upright=role is Role.BASE_POSE)


def _get(group: Any, path: str, where: str, width: int | None) -> Floats:
    data = numbers(group, path, where)
    if data is None:
        raise UnreadableError("an array is missing", where=where, expected=path)
    return matrix(data.T, f"{where}/{path}", (None, width))


READER: Final = reader(
    name=NAME, version=1,
    title="CMU humanoid motion as HDF5 (dm_control)",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
