"""Human bodies as npz: SMPL parameters (with smpl_joints or without) and AMASS.

Layouts. ``amass``: poses (n, 156 or 165), trans (n, 3) m, betas, gender, and the rate as
``mocap_framerate`` or, with SMPL-X, ``mocap_frame_rate``; z up. ``smpl``: pose_aa or poses (n, 72), transl
or trans, perhaps smpl_joints (n, 24, 3), fps. Rotations stay rotation vectors of each joint against its
parent; they wrap at a full turn, which is no jump. The up axis of ``smpl_joints`` is decided from the data
(head above feet); ``transl`` of the same file may have another one and is left unresolved.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from assay.arrays import Archive, open_archive
from assay.errors import UnreadableError
from assay.model import Episode, Listing, Ref, Role, StreamDecl
from assay.motion.skeletons import smpl_names
from assay.motion.take import Body, Take, body_channels, episode, matrix, rate_of
from assay.motion.walk import Peek, list_clips, share_of
from assay.reader import Probe, reader
from assay.sheet import Sheet

__all__ = ["READER"]

NAME: Final = "human-npz"
SUFFIXES: Final = (".npz",)
RATES: Final = ("mocap_framerate", "mocap_frame_rate", "fps")
POSES: Final = ("poses", "pose_aa")
PLACES: Final = ("trans", "transl")


def _layout(keys: tuple[str, ...]) -> str:
    there = set(keys)
    if "poses" in there and "trans" in there and there & {"mocap_framerate", "mocap_frame_rate", "betas"}:
        return "amass"
    return "smpl" if "smpl_joints" in there or there & set(POSES) else ""


def _keys(archive: Archive) -> list[tuple[str, str]]:
    """(key, what it is) of the bodies in the file."""
    found = [("smpl_joints", "position")] if "smpl_joints" in archive.keys else []
    found += [(k, "rotvec") for k in POSES if k in archive.keys][:1]
    return found + [(k, "place") for k in PLACES if k in archive.keys][:1]


def peek(root: Path, file: str) -> list[Peek]:
    """One clip if the keys are those of a human body."""
    with open_archive(root, file) as archive:
        layout = _layout(archive.keys)
        if not layout:
            return []
        shapes = {key: (what, archive.header(key).shape) for key, what in _keys(archive)}
        fps = _rate(archive)
    if any(not shape or np.prod(shape[1:]) % 3 for _, shape in shapes.values()):
        return []
    streams = tuple(
        StreamDecl(
            key, Role.HUMAN_BODY, body_channels(_named(what, int(np.prod(shape[1:])) // 3, key), _what(what))
        )
        for key, (what, shape) in shapes.items()
    )
    return [Peek(layout, max(shape[0] for _, shape in shapes.values()), None, fps=fps, streams=streams)]


def _what(what: str) -> str:
    return "rotvec" if what == "rotvec" else "position"


def _named(what: str, count: int, key: str) -> tuple[str, ...]:
    return (key,) if what == "place" and count == 1 else smpl_names(min(count, 500))


def _rate(archive: Archive) -> float | None:
    key = next((k for k in RATES if k in archive.keys), None)
    return None if key is None else rate_of(archive.array(key), f"{archive.where}: {key}")


def probe(path: Path) -> Probe:
    """How many of the first npz files are human bodies."""
    return Probe(*share_of(path, SUFFIXES, peek, "human bodies", human=True))


def discover(path: Path) -> Listing:
    """Every such file below the folder; one episode each."""
    return list_clips(NAME, path, SUFFIXES, peek)


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
                "the file is no human body", where=file, found=", ".join(archive.keys)[:120]
            )
        take = Take(layout, fps=_rate(archive), fps_why="stated in the file")
        take.bodies = tuple(_body(archive, layout, key, what) for key, what in _keys(archive))
        if take.fps is None:
            take.fps_why = "the file states no rate"
        if "gender" in archive.keys and archive.array("gender").dtype.kind in "US":
            gender = archive.array("gender").reshape(-1)[:1].tolist()
            take.meta["gender"] = (
                gender[0].decode("latin1") if gender and isinstance(gender[0], bytes) else gender
            )
    return episode(NAME, listing, ref, want, sheet, take)


def _body(archive: Archive, layout: str, key: str, what: str) -> Body:
    x = archive.array(key)
    flat = x.reshape(len(x), int(np.prod(x.shape[1:]))) if x.ndim >= 2 else x
    x = matrix(flat, f"{archive.where}: {key}", (None, None))
    if x.shape[1] % 3:
        raise UnreadableError(
            "a body is no list of triples", where=f"{archive.where}: {key}", found=str(x.shape)
        )
    names = _named(what, x.shape[1] // 3, key)
    x = x.reshape(len(x), x.shape[1] // 3, 3)
    if what == "rotvec":
        return Body(key, x, names, "rotvec", "none")
    if layout == "amass":
        return Body(key, x, names, "position", "z", "AMASS is z up")
    return Body(key, x, names, "position", "?")


READER: Final = reader(
    name=NAME, version=1,
    title="Human bodies as npz (SMPL parameters and joints, AMASS)",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
