"""Arm motion of teleoperation character, as functions of time: reaches, pauses, waving, hardly any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["JOINTS", "POSE", "Motion", "moving", "reaching", "waving"]

Floats = NDArray[np.float64]

_ARM: Final = (
    "shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll", "wrist_pitch", "wrist_yaw",
)  # fmt: skip
JOINTS: Final = (
    *(f"waist_{a}_joint" for a in ("yaw", "roll", "pitch")),
    *(f"{side}_{joint}_joint" for side in ("left", "right") for joint in _ARM),
)
POSE: Final = np.array([0, 0, 0, -0.5, 0.2, 0, 0.4, 0, 0, 0, -0.5, -0.2, 0, 0.4, 0, 0, 0], np.float64)
_SPAN: Final = np.array([0.4, 0.2, 0.3, 0.5, 0.35, 0.25, 0.3])
"""rad to either side of the working pose that reaches go: real teleoperation of a G1 ranges over as much."""


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Joint positions at any time.

    Attributes:
        limbs: per limb its columns, the times at which reaches begin, how long they last, and (k + 1, c)
            poses between which they go.
        wave: (17,) rad, frequency (Hz) and (17,) phase of a motion that repeats itself; zero for none.
        fine: (k,) Hz, (k, 17) rad and (k, 17) phases of small movements while an arm reaches.
    """

    limbs: tuple[tuple[slice, Floats, Floats, Floats], ...]
    wave: tuple[Floats, float, Floats]
    fine: tuple[Floats, Floats, Floats]

    def __call__(self, t: Floats) -> Floats:
        """(n, 17) rad at t (n,) s."""
        q, busy = np.tile(POSE, (len(t), 1)), np.zeros((len(t), len(POSE)))
        for columns, start, lasting, poses in self.limbs:
            at = np.clip(np.searchsorted(start, t, side="right") - 1, 0, len(start) - 1)
            s = np.clip((t - start[at]) / lasting[at], 0.0, 1.0)[:, None]
            eased = s**3 * (10 - 15 * s + 6 * s**2)  # least jerk (Flash and Hogan 1985)
            q[:, columns] = poses[at] + (poses[at + 1] - poses[at]) * eased
            busy[:, columns] = 0.25 + 3 * s * (1 - s)
        for rate, size, phase in zip(*self.fine, strict=True):
            q += busy * size * np.sin(2 * np.pi * rate * t[:, None] + phase)
        size, rate, phase = self.wave
        return q + size * np.sin(2 * np.pi * rate * t[:, None] + phase)


def reaching(
    rng: np.random.Generator, seconds: float, *, places: np.random.Generator | None, waist: float,
    size: float, arms: str,
) -> Motion:  # fmt: skip
    """Random reaches of 1 to 2.8 s with pauses in between, each arm for itself.

    The fastest joint moves at 0.25 rad/s in the median and 0.7 at the 95th percentile, and a tenth of the
    power of velocities lies above 1 Hz, in movements within movements: both as in 24 real episodes of a G1.

    Args:
        rng: generator.
        seconds: length.
        places: makes the five places between which each arm goes, the same in every episode of a task,
            give or take 0.1 rad; None to go anywhere.
        waist: rad that the waist turns to either side; 0 holds it.
        size: 1 for reaches over the whole working space.
        arms: ``both``, ``left`` or ``right``.
    """
    sides = {"left": slice(3, 10), "right": slice(10, 17)}
    limbs = [(columns, _SPAN * size) for side, columns in sides.items() if arms in ("both", side)]
    if waist:
        limbs.append((slice(0, 3), np.array([1.0, 0.3, 0.6]) * waist))
    none = np.zeros(17)
    reaches = tuple(_reaches(rng, seconds, c, span, places) for c, span in limbs)
    return Motion(reaches, (none, 1.0, none), _within(rng, size))


def _within(rng: np.random.Generator, size: float) -> tuple[Floats, Floats, Floats]:
    """Four movements of each band, so large that velocities have the share of power of the real G1's."""
    bands = ((1.0, 2.0, 0.055), (2.0, 3.0, 0.02), (3.0, 5.0, 0.016))
    rate = np.concatenate([rng.uniform(low, high, 4) for low, high, _ in bands])
    power = np.repeat([share for _, _, share in bands], 4)
    speed = 0.5 * size * np.concatenate((np.zeros(3), _SPAN, _SPAN))  # rad/s, root mean square
    reach = np.sqrt(2 * power / 4 / 0.6)[:, None] * speed / (2 * np.pi * rate[:, None])
    return rate, reach, rng.uniform(0, 2 * np.pi, reach.shape)


def _reaches(
    rng: np.random.Generator, seconds: float, columns: slice, span: Floats, places: np.random.Generator | None
) -> Any:
    k = int(seconds) + 2
    lasting = rng.uniform(1.0, 2.8, k)
    pause = np.where(rng.random(k) < 0.25, rng.uniform(0.2, 1.5, k), 0.0)
    start = np.concatenate(([0.0], np.cumsum(lasting + pause)[:-1])) - rng.uniform(0, 1.0)
    if places is None:
        where = rng.uniform(-1, 1, (k + 1, len(span)))
    else:
        known = places.uniform(-1, 1, (5, len(span)))
        turns = np.cumsum(rng.integers(1, 5, k + 1)) % 5  # never the same place twice
        where = known[turns] + rng.normal(0.0, 0.2, (k + 1, len(span)))
    poses = POSE[columns] + where * span
    return columns, start, lasting, poses


def waving(rng: np.random.Generator, rate: float) -> Motion:
    """Both arms swing at one rate (Hz): every period looks like every other."""
    size = np.concatenate((np.zeros(3), _SPAN, _SPAN)) * rng.uniform(0.2, 0.5, 17)
    return Motion((), (size, rate, rng.uniform(0, 2 * np.pi, 17)), _within(rng, 0.0))


def moving(motion: Motion, t0: float, t1: float) -> float:
    """Seconds between t0 and t1 in which an arm joint turns faster than 0.05 rad/s."""
    t = np.arange(t0, t1, 0.02)
    speed = np.abs(np.diff(motion(t)[:, 3:], axis=0)).max(1) / 0.02
    return float((speed > 0.05).sum() * 0.02)
