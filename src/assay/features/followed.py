"""Feature: the human source's joints beside the robot's, for whoever compares limb by limb."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import numpy as np

from assay.feature import feature
from assay.model import Clock, Episode, Role
from assay.signals.feet import stamps
from assay.signals.followed import Followed
from assay.signals.placing import placed
from assay.signals.posture import Poses

__all__ = ["followed"]

_WORDS: Final = {
    "hip": ("up_leg", "upleg", "thigh", "hip"), "knee": ("leg", "lower_leg", "shin", "knee"),
    "ankle": ("ankle", "foot"), "elbow": ("fore_arm", "forearm", "lower_arm", "elbow"),
    "shoulder": ("arm", "upper_arm", "shoulder"), "wrist": ("wrist", "hand"),
}  # fmt: skip
"""Names of SMPL, BVH and Mixamo; where an arm is named so, the shoulder is a collar."""
_PELVIS: Final = ("pelvis", "hips", "hip", "root")


@feature(reads=(Role.HUMAN_BODY,))
def followed(ep: Episode, poses: Poses | None) -> Followed | None:
    """The joints of the human source on the clock of `poses`, see `Followed`; None without such a source.

    None too where nobody says how the clocks relate (see `assay.signals.placing.placed`), or without known
    times.
    """
    if poses is None or not poses.timed:
        return None
    for stream in ep.by_role(Role.HUMAN_BODY):
        if stream.frame.startswith(("unresolved", "local")) or any(c.unit != "m" for c in stream.channels):
            continue
        rate = float(stream.rate) if stream.rate else None
        t = stamps(stream.t, rate, nominal=stream.clock is Clock.NOMINAL)
        at = None if t is None or len(stream) < 3 else placed(ep, stream, t, poses.t)
        if at is not None:
            x = np.asarray(stream.x, np.float64)
            if stream.valid is not None:
                x = np.where(stream.valid[:, None], x, np.nan)
            return Followed(stream.name, at, poses.t, x, _columns(stream.names))
    return None


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> dict[str, list[int]]:
    at = {name: i for i, name in enumerate(names)}
    joints = {name.rpartition(".")[0] for name in at}
    spelt = {_spelt(j): j for j in sorted(joints) if all(f"{j}.{e}" in at for e in "xyz")}
    words: dict[str, list[str]] = {"pelvis": list(_PELVIS)}
    for side in ("left", "right"):
        for joint, known in _WORDS.items():
            words[f"{side}_{joint}"] = [f"{s}_{w}" for w in known for s in (side, side[0])]
    found = {name: next((spelt[w] for w in known if w in spelt), "") for name, known in words.items()}
    return {name: [at[f"{joint}.{e}"] for e in "xyz"] for name, joint in found.items() if joint}


def _spelt(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).strip("_")
