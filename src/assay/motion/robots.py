"""Hints and orders of known robots: what a folder's name says, and in which order writers store joints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, cards, load
from assay.embodiment.body import normalise

__all__ = ["joint_axes", "name_joints", "robot_in"]

Floats = NDArray[np.float64]
Orders = Mapping[str, tuple[str, ...]]
Named = tuple[tuple[str, ...] | None, str]

_ROBOT: Final = re.compile(r"(?<![a-z0-9])(?:unitree_?)?(h1_2|g1|h1|gr1t?[12]?|talos|atlas)(?![0-9a-z])")

ISAAC_G1: Final = (
    "left_hip_pitch", "right_hip_pitch", "waist_yaw", "left_hip_roll", "right_hip_roll", "waist_roll",
    "left_hip_yaw", "right_hip_yaw", "waist_pitch", "left_knee", "right_knee", "left_shoulder_pitch",
    "right_shoulder_pitch", "left_ankle_pitch", "right_ankle_pitch", "left_shoulder_roll",
    "right_shoulder_roll", "left_ankle_roll", "right_ankle_roll", "left_shoulder_yaw", "right_shoulder_yaw",
    "left_elbow", "right_elbow", "left_wrist_roll", "right_wrist_roll", "left_wrist_pitch",
    "right_wrist_pitch", "left_wrist_yaw", "right_wrist_yaw",
)  # fmt: skip
"""Breadth-first order of Isaac Lab (NVlabs/GR00T-WholeBodyControl, gear_sonic env_utils/joint_utils.py)."""

_AXES: Final = {"roll": "x", "pitch": "y", "yaw": "z", "knee": "y", "elbow": "y", "torso": "z"}
NEAR: Final = 0.02
"""rad; a value this far beyond a limit does not count against an order."""


def robot_in(path: Path) -> str | None:
    """The one robot that the steps of a path name, last step first, e.g. ``g1``; else None."""
    for text in reversed(path.parts):
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower()
        found = set(_ROBOT.findall(re.sub(r"[-_.]", " ", words).replace("h1 2", "h1_2")))
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def joint_axes(names: Sequence[str]) -> str:
    """The axis that each joint's name states: ``x`` roll, ``y`` pitch, ``z`` yaw, ``?`` none."""
    return "".join(next((a for w, a in _AXES.items() if w in n), "?") for n in names)


def name_joints(q: NDArray[np.float64], body: Embodiment | None, usual: str, axes: str = "") -> Named:
    """Names for unnamed joint columns, and on what evidence.

    Args:
        q: (n, c) rad.
        body: the body that the sheet names.
        usual: the order that the format's writer is known for, ``model`` or ``any``.
        axes: the axis of each column where the file tells it.

    Returns:
        (c names, evidence), or (None, what would decide it).
    """
    if body is None:
        return None, "the file has no names and no body is declared" + _of_these_axes(axes)
    fitting = {k: v for k, v in _candidates(body, q.shape[1]).items() if _fits(v, axes)}
    if not fitting:
        on = f" on these axes{_of_these_axes(axes)}" if axes else ""
        return None, f"no known order of {body.name} has {q.shape[1]} joints{on}"
    beyond = {order: _beyond(q, body, names) for order, names in fitting.items()}
    told = ", ".join(f"{order} {share:.1%}" for order, share in beyond.items())
    best, *others = sorted(fitting, key=lambda order: beyond[order])
    if beyond[best] > _FEW and (read := _in_units(q, body, fitting, usual)):
        return read
    text = f"joints of {body.name} in {best} order; values beyond limits: {told}"
    if axes:
        text += f"; axes {axes} agree"
    if others and beyond[others[0]] - beyond[best] < _CLEAR:
        fallback = next((o for o in fitting if o.startswith("model")), None)
        if usual != "model" or fallback is None:
            return None, f"the limits of {body.name} do not tell the orders apart ({told})"
        return fitting[fallback], f"joints of {body.name} in {fallback} order, its writers' own ({told})"
    return (fitting[best], text) if beyond[best] <= _FEW else (None, _misfit(q, body, fitting, told))


def _misfit(q: Floats, body: Embodiment, fitting: Orders, told: str) -> str:
    """Why no order names the columns; the reversed one is only told, since no writer is known for it."""
    turned = [order for order, names in fitting.items() if _beyond(q, body, names[::-1]) <= _FEW]
    why = f"; read from the last column to the first, {turned[0]} order fits" if turned else ""
    return f"no known order keeps {body.name} within its limits ({told}){why}"


def _in_units(q: Floats, body: Embodiment, fitting: Orders, usual: str) -> Named | None:
    """Names, or why none, in the first unit in which an order fits values that fit in none as they are.

    The values stay as they are: they are judged as radians, and found not to be.
    """
    finite = q[np.isfinite(q)]
    if np.abs(finite).max(initial=0.0) <= 2 * np.pi:
        return None
    for unit, scale, shift in _UNITS:
        beyond = {order: _beyond(scale * q + shift, body, names) for order, names in fitting.items()}
        best, *others = sorted(fitting, key=lambda order: beyond[order])
        if beyond[best] > _FEW:
            continue
        told = ", ".join(f"{order} {share:.1%}" for order, share in beyond.items())
        text = f"the values look like {unit}, not radians; beyond limits when read so: {told}"
        if others and beyond[others[0]] - beyond[best] < _CLEAR:
            if usual != "model" or "model" not in fitting:
                return None, f"{text}, which does not tell the orders apart: write radians first"
            best = "model"
        return fitting[best], f"joints of {body.name} in {best} order; {text}"
    return None


_CLEAR: Final = 0.02
_FEW: Final = 0.05
_TICK: Final = 2 * np.pi / 4096
_UNITS: Final = (
    ("degrees", np.pi / 180, 0.0),
    ("ticks of 4096 a turn", _TICK, 0.0),
    ("ticks about 2048", _TICK, -np.pi),
)
"""How joints are written otherwise: times the first number, plus the second, is rad."""


@lru_cache(maxsize=64)  # clips of one corpus share them
def _of_these_axes(axes: str) -> str:
    """Which packaged bodies have as many joints on the same axes, where the file tells its axes."""
    fit = [
        card for card in cards()
        if axes and any(_fits(names, axes) for names in _candidates(load(card), len(axes)).values())
    ]  # fmt: skip
    return f"; its axes are those of {' or '.join(fit)}" if fit else ""


def _candidates(body: Embodiment, count: int) -> dict[str, tuple[str, ...]]:
    whole = [j for j in body.joints if j.part not in ("hand", "gripper")]
    names = tuple(j.name for j in whole)
    found: dict[str, tuple[str, ...]] = {}
    if len(names) == count:
        found["model"] = names
    if len(names) == count == len(ISAAC_G1) and {normalise(n) for n in names} == set(ISAAC_G1):
        by_name = {normalise(n): n for n in names}
        found["Isaac Lab"] = tuple(by_name[n] for n in ISAAC_G1)
    without = tuple(n for n in names if "wrist" not in n)
    if len(without) == count != len(names):
        found["model, wrists left out,"] = without
    return found


def _fits(names: Sequence[str], axes: str) -> bool:
    return not axes or all(a in ("?", b) or b == "?" for a, b in zip(axes, joint_axes(names), strict=True))


def _beyond(q: NDArray[np.float64], body: Embodiment, names: Sequence[str]) -> float:
    """Share of values beyond the widest limits that any set of the body gives."""
    at = body.resolve(names)
    lower = np.min([s.lower for s in body.limits], axis=0)[at] - NEAR
    upper = np.max([s.upper for s in body.limits], axis=0)[at] + NEAR
    return float(((q < lower) | (q > upper)).mean()) if q.size else 0.0
