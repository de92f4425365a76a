"""Joint orders of human body models, as their writers document them."""

from __future__ import annotations

from typing import Final

__all__ = ["SMPL24", "SMPLH_MUJOCO52", "smpl_names"]

SMPL24: Final = (
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle",
    "right_ankle", "spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head",
    "left_shoulder", "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist",
    "left_hand", "right_hand",
)  # fmt: skip
"""SMPL (smpl.is.tue.mpg.de), 24 joints; SMPL-H and SMPL-X have the first 22 alike."""

_FINGERS: Final = ("index", "middle", "pinky", "ring", "thumb")


def _hand(side: str) -> tuple[str, ...]:
    return tuple(f"{side}_{finger}{i}" for finger in _FINGERS for i in (1, 2, 3))


def _leg(side: str) -> tuple[str, ...]:
    return tuple(f"{side}_{part}" for part in ("hip", "knee", "ankle", "foot"))


def _arm(side: str) -> tuple[str, ...]:
    return (*(f"{side}_{part}" for part in ("collar", "shoulder", "elbow", "wrist")), *_hand(side))


SMPLH_MUJOCO52: Final = (
    "pelvis", *_leg("left"), *_leg("right"), "spine1", "spine2", "spine3", "neck", "head",
    *_arm("left"), *_arm("right"),
)  # fmt: skip
"""SMPL-H depth-first, as PHC and InterMimic order its 52 bodies."""

_SMPLH52: Final = (*SMPL24[:22], *_hand("left"), *_hand("right"))
_SMPLX55: Final = (*SMPL24[:22], "jaw", "left_eye", "right_eye", *_hand("left"), *_hand("right"))


def smpl_names(count: int) -> tuple[str, ...]:
    """Names of ``count`` joints of the SMPL family; the rest of larger sets is numbered."""
    for names in (SMPL24[:22], SMPL24, _SMPLH52, _SMPLX55):
        if len(names) == count:
            return names
    return (*SMPL24, *(f"joint_{i}" for i in range(24, count)))[:count]
