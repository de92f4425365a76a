"""What a joint's name says: which part of the body it moves, and on which side."""

from __future__ import annotations

import re
from typing import Final, Literal

__all__ = ["JointPart", "Side", "part", "side"]

JointPart = Literal["arm", "leg", "waist", "head", "hand", "gripper", "other"]
Side = Literal["left", "right", ""]

# The first row with a word of the name decides, so that a hand's thumb is not taken for its carrier.
_WORDS: Final[tuple[tuple[JointPart, frozenset[str]], ...]] = (
    ("gripper", frozenset({"gripper", "jaw"})),
    ("hand", frozenset({"thumb", "index", "middle", "ring", "pinky", "little", "finger", "palm", "hand"})),
    ("leg", frozenset({"hip", "knee", "ankle", "leg", "foot"})),
    ("waist", frozenset({"waist", "torso", "spine"})),
    ("head", frozenset({"head", "neck"})),
    ("arm", frozenset({"shoulder", "elbow", "wrist", "arm", "clavicle"})),
)


def part(name: str) -> JointPart:
    """The part of the body that a joint of this name moves; ``other`` where no word says."""
    words = _split(name)
    if "panda" in words:
        return "gripper" if "finger" in words else "arm"
    return next((p for p, known in _WORDS if known.intersection(words)), "other")


def side(name: str) -> Side:
    """left, right or neither: the word anywhere in the name, or a first or last ``l`` or ``r``."""
    words = _split(name)
    if "left" in words or "l" in (words[0], words[-1]):
        return "left"
    return "right" if "right" in words or "r" in (words[0], words[-1]) else ""


def _split(name: str) -> list[str]:
    words = re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())
    return [word for word in words if word not in ("joint", "link")] or [""]
