"""Motion as npy: HumanPlus joint targets, PHUMA robot and human poses, keypoints with contact flags.

Layouts, told apart by shape.
``targets``: (n, joints) rad, nothing else (HumanPlus; the rate is at most in the name, ``walk_10fps.npy``).
``phuma``: an object array of one dict {root_trans (n, 3), root_ori (n, 4) xyzw, dof_pos (n, joints), fps},
read through the restricted unpickler.
``phuma-human``: (n, 69) = translation, global orientation, 63 of the body; y up.
``keypoints``: (n, J, 3) positions in m with J of 10 or more; ``left_foot_contact.npy`` and
``right_foot_contact.npy`` beside them (booleans) become the same episode's contact flags.

Other arrays (height maps, lone flags) are not listed. No file states joint names; SMPL's are taken where
the file is called so and the count fits.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

import numpy as np

from assay.arrays import Header, npy_header, read_npy
from assay.errors import UnreadableError
from assay.inside import path_inside
from assay.model import Channel, Episode, Listing, Ref, Role, StreamDecl
from assay.motion.skeletons import smpl_names
from assay.motion.take import POSE, Body, Pose, Signal, Take, body_channels, episode, matrix, rate_of
from assay.motion.walk import Peek, list_clips, share_of
from assay.reader import Probe, reader
from assay.sheet import Sheet

__all__ = ["READER"]

NAME: Final = "motion-npy"
SUFFIXES: Final = (".npy",)
PHUMA: Final = frozenset({"root_trans", "root_ori", "dof_pos"})
FLAGS: Final[tuple[Literal["left", "right"], ...]] = ("left", "right")
FEWEST: Final = 12
MOST_ANGLE: Final = 13.0
"""rad, two turns; what goes beyond is no array of joint angles."""


def _layout(header: Header, file: str) -> str:
    shape, kind = header.shape, header.dtype.kind
    if header.dtype == np.dtype(object):
        return "phuma" if shape in ((), (1,)) else ""
    if kind != "f":
        return ""
    if len(shape) == 3 and shape[2] == 3 and shape[1] >= 10:
        return "keypoints"
    if len(shape) != 2:
        return ""
    if shape[1] == 69:
        return "phuma-human"
    named = any(word in file.lower() for word in ("height", "terrain", "contact", "map"))
    return "targets" if FEWEST <= shape[1] < 69 and not named else ""


def peek(root: Path, file: str) -> list[Peek]:
    """One clip if the array has the shape of one."""
    header = npy_header(root, file)
    layout = _layout(header, file)
    if layout == "phuma":
        return _peek_phuma(root, file)
    if not layout:
        return []
    frames = header.shape[0]
    if layout == "targets":
        sure = _angles(read_npy(root, file))
        channels = tuple(Channel(f"joint_{i}", "rad", Role.JOINT_POSITION) for i in range(header.shape[1]))
        streams = (StreamDecl("targets", Role.JOINT_POSITION, channels),)
        return [Peek(layout, frames, header.shape[1], streams=streams, sure=sure)]
    if layout == "phuma-human":
        names = smpl_names(22)
        return [
            Peek(
                layout, frames, streams=(StreamDecl("pose", Role.HUMAN_BODY, body_channels(names, "rotvec")),)
            )
        ]
    channels = body_channels(_names(file, header.shape[1]), "position")
    return [Peek(layout, frames, streams=(StreamDecl("keypoints", Role.HUMAN_BODY, channels),))]


def _peek_phuma(root: Path, file: str) -> list[Peek]:
    data = read_npy(root, file)
    if not isinstance(data, dict) or not data.keys() >= PHUMA:
        return []
    q = matrix(data["dof_pos"], f"{file}: dof_pos", (None, None))
    channels = tuple(Channel(f"joint_{i}", "rad", Role.JOINT_POSITION) for i in range(q.shape[1]))
    streams = (StreamDecl("dof_pos", Role.JOINT_POSITION, channels), StreamDecl("root", Role.BASE_POSE, POSE))
    return [Peek("phuma", len(q), q.shape[1], fps=rate_of(data.get("fps"), file), streams=streams)]


def _angles(x: Any) -> bool:
    return bool(x.size) and not bool((np.abs(x) > MOST_ANGLE).any())


def _names(file: str, count: int) -> tuple[str, ...]:
    if "smpl" in file.rpartition("/")[2].lower() and count in (22, 24, 45, 52, 55):
        return smpl_names(count)
    return tuple(f"joint_{i}" for i in range(min(count, 1000)))


def probe(path: Path) -> Probe:
    """How many of the first npy files are motion; shapes say little, so it scores low."""
    score, reason, weight = share_of(path, SUFFIXES, peek, "motion")
    return Probe(score * 0.6, reason, weight)


def discover(path: Path) -> Listing:
    """Every such array below the folder; one episode each."""
    return list_clips(NAME, path, SUFFIXES, peek)


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open a clip.

    Raises:
        UnreadableError: if the array is broken or of another shape.
    """
    file = ref.parts[0].path
    layout = _layout(npy_header(listing.root, file), file)
    x = read_npy(listing.root, file)
    if layout == "phuma":
        take = _phuma(x, file)
    elif layout == "targets":
        take = Take("targets", matrix(x, file, (None, None)), joint_key="targets", usual="model")
    elif layout == "phuma-human":
        take = _phuma_human(matrix(x, file, (None, 69)))
    elif layout == "keypoints":
        take = _keypoints(listing.root, file, matrix(x, file, (None, None, 3)))
    else:
        raise UnreadableError(
            "the array is no motion", where=file, found=str(getattr(x, "shape", type(x).__name__))
        )
    return episode(NAME, listing, ref, want, sheet, take)


def _phuma(data: Any, where: str) -> Take:
    if not isinstance(data, dict) or not data.keys() >= PHUMA:
        raise UnreadableError(
            "the object array holds no motion", where=where, expected=", ".join(sorted(PHUMA))
        )
    xyz = matrix(data["root_trans"], f"{where}: root_trans", (None, 3))
    q = matrix(data["root_ori"], f"{where}: root_ori", (None, 4))
    pose = Pose("root", Role.BASE_POSE, xyz, q, "xyzw", "PHUMA (scipy)")
    take = Take("phuma", matrix(data["dof_pos"], f"{where}: dof_pos", (None, None)), joint_key="dof_pos",
                usual="model", poses=(pose,))  # fmt: skip
    take.fps = rate_of(data.get("fps"), where)
    if take.fps is not None:
        take.fps_why = "stated in the file"
    return take


def _phuma_human(x: Any) -> Take:
    names = smpl_names(22)
    place = Body("transl", x[:, None, :3], ("transl",), up="y", why="PHUMA's human poses are y up")
    return Take(
        "phuma-human", bodies=(Body("pose", x[:, 3:].reshape(len(x), 22, 3), names, "rotvec", "none"), place)
    )


def _keypoints(root: Path, file: str, x: Any) -> Take:
    names = _names(file, x.shape[1])
    known = not names[0].startswith("joint_")
    take = Take("keypoints", bodies=(Body("keypoints", x, names if known else ()),))
    if known:
        take.decided["joints of keypoints"] = ("SMPL", f"the file's name and {len(names)} joints")
    folder = PurePosixPath(file).parent
    for side in FLAGS:
        beside = (folder / f"{side}_foot_contact.npy").as_posix()
        if not path_inside(root, beside).is_file():
            continue
        flags = read_npy(root, beside)
        if isinstance(flags, np.ndarray) and flags.dtype.kind in "bi" and flags.shape == (len(x),):
            channel = (Channel(f"{side}_foot_contact", "1", Role.EVENT),)
            x1 = flags[:, None].astype(np.float64)
            take.signals += (Signal(f"{side}_foot_contact", Role.EVENT, x1, channel, side, "foot"),)
    return take


READER: Final = reader(
    name=NAME, version=1,
    title="Motion as npy (HumanPlus, PHUMA, keypoints with contact flags)",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
