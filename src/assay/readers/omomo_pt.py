"""Human-object motion as a PyTorch file: InterMimic's 591 columns, as holosoma ships OMOMO with.

Layout (InterMimic ``intermimic.py``, holosoma's retargeting loader). One tensor (n, 591): root position
0:3 and quaternion 3:7 (xyzw), 153 joint angles 9:162, 52 body positions 162:318, object position 318:321 and
quaternion 321:325 (xyzw), contact of the object 330, of the 52 bodies 331:383, 52 body quaternions 383:591.
Bodies are SMPL-H depth-first, world z up, m. The file states no rate.

The archive is read without PyTorch, and nothing in it runs (`assay.torch_archive`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from assay.errors import UnreadableError
from assay.model import Channel, Episode, Listing, Ref, Role, StreamDecl
from assay.motion.skeletons import SMPLH_MUJOCO52
from assay.motion.take import POSE, Body, Pose, Signal, Take, body_channels, episode, matrix
from assay.motion.walk import Peek, list_clips, share_of
from assay.reader import Probe, reader
from assay.sheet import Sheet
from assay.torch_archive import read_torch

__all__ = ["READER"]

NAME: Final = "omomo-pt"
SUFFIXES: Final = (".pt",)
COLUMNS: Final = 591
BODIES: Final = len(SMPLH_MUJOCO52)


def peek(root: Path, file: str) -> list[Peek]:
    """One clip if the tensor has 591 columns."""
    x = read_torch(root, file)
    if not isinstance(x, np.ndarray) or x.ndim != 2 or x.shape[1] != COLUMNS:
        return []
    streams = (
        StreamDecl("body_pos", Role.HUMAN_BODY, body_channels(SMPLH_MUJOCO52, "position")),
        StreamDecl("object", Role.OBJECT_POSE, POSE),
    )
    return [Peek("intermimic", len(x), streams=streams)]


def probe(path: Path) -> Probe:
    """How many of the first PyTorch files are such motion."""
    return Probe(*share_of(path, SUFFIXES, peek, "human-object motion", human=True))


def discover(path: Path) -> Listing:
    """Every such file below the folder; one episode each."""
    return list_clips(NAME, path, SUFFIXES, peek)


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open a clip.

    Raises:
        UnreadableError: if the archive is broken, holds code, or another tensor.
    """
    file = ref.parts[0].path
    x: Any = read_torch(listing.root, file)
    if not isinstance(x, np.ndarray):
        raise UnreadableError("the file holds no tensor", where=file, found=type(x).__name__)
    x = matrix(x, file, (None, COLUMNS))
    why = "InterMimic's layout"
    body = Body("body_pos", x[:, 162:318].reshape(len(x), BODIES, 3), SMPLH_MUJOCO52)
    pose = Pose("object", Role.OBJECT_POSE, x[:, 318:321], x[:, 321:325], "xyzw", why, upright=False)
    names = ("object_contact", *(f"{n}.contact" for n in SMPLH_MUJOCO52))
    channels = tuple(Channel(n, "1", Role.EVENT) for n in names)
    contact = Signal("contact", Role.EVENT, x[:, 330:383], channels)
    take = Take("intermimic", bodies=(body,), poses=(pose,), signals=(contact,))
    take.decided["joints of body_pos"] = ("SMPL-H, depth-first", why)
    return episode(NAME, listing, ref, want, sheet, take)


READER: Final = reader(
    name=NAME, version=1,
    title="Human-object motion as a PyTorch archive (OMOMO, InterMimic)",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
