"""How a body goes over the ground: where it heads, how fast it turns, how far its base and its feet get."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled
from assay.signals.loops import ready

__all__ = ["headed", "steady", "walked"]

Floats = NDArray[np.float64]

_NONE: Final = np.zeros(0)
_NO_FEET: Final = np.zeros((0, 0, 3))


def steady(place: Floats) -> Floats:
    """Poses (n, 7) whose quaternions lie on one side, none its neighbour's negative: they interpolate."""
    made = np.array(place[:, :7], np.float64, order="C")
    compiled(_steady, "void(float64[:,::1])")[0](made)
    return made


def _steady(place):  # type: ignore[no-untyped-def]
    sign, before = 1.0, np.empty(4)
    for i in range(len(place)):
        alike = 0.0
        for c in range(4):
            alike += place[i, 3 + c] * before[c] if i else 0.0
            before[c] = place[i, 3 + c]
        sign = -sign if alike < 0 else sign
        for c in range(4):
            place[i, 3 + c] *= sign


def headed(place: Floats, feet: Floats | None) -> tuple[Floats, Floats | None]:
    """Where a base heads, and its feet in the world.

    Args:
        place: (m, 7) m and wxyz of any length.
        feet: (m, f, 3) m seen from the base, or None.

    Returns:
        (m,) rad about z, of the way to the left (which stays level when a body bends forward; the way ahead
        does not) less a quarter turn; (m, f, 3) m. NaN for a quaternion of length 0.
    """
    heading, here = np.empty(len(place)), _NO_FEET if feet is None else ready(feet)
    made = np.empty(here.shape)
    signature = "void(float64[:,::1], float64[:,:,::1], float64[::1], float64[:,:,::1])"
    compiled(_headed, signature)[0](place, here, heading, made)
    return heading, None if feet is None else made


def _headed(place, feet, heading, made):  # type: ignore[no-untyped-def]
    for i in range(len(place)):
        w, x, y, z = place[i, 3], place[i, 4], place[i, 5], place[i, 6]
        size = math.sqrt(w * w + x * x + y * y + z * z)
        w, x, y, z = w / size, x / size, y / size, z / size
        heading[i] = math.atan2(2.0 * (w * z - x * y), 1.0 - 2.0 * (x * x + z * z))
        for k in range(feet.shape[1]):
            a, b, c = feet[i, k, 0], feet[i, k, 1], feet[i, k, 2]
            d, e, f = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
            made[i, k, 0] = a + w * d + (y * f - z * e) + place[i, 0]
            made[i, k, 1] = b + w * e + (z * d - x * f) + place[i, 1]
            made[i, k, 2] = c + w * f + (x * e - y * d) + place[i, 2]


def walked(
    p: Floats, heading: Floats | None, feet: Floats | None, rate: float, halves: tuple[int, int]
) -> tuple[Floats, Floats, Floats]:
    """Speeds over the ground, each in a straight line across some samples on either side.

    Args:
        p: (m, 2 or more) m, a base.
        heading: (m,) rad, turns of it unwrapped where they are finite, or None.
        feet: (m, f, 2 or more) m in the world, or None.
        rate: Hz.
        halves: samples on either side for the base and its heading, and for feet; fewer at the ends.

    Returns:
        (m,) m/s of the base, (m,) rad/s of its heading, (m,) m/s of the foot that gets furthest; NaN where a
        value is, and empty for what was not given.
    """
    turn, foot = np.empty(0 if heading is None else len(p)), np.empty(0 if feet is None else len(p))
    travel = np.empty(len(p))
    signature = (
        "void(float64[:,::1], float64[::1], float64[:,:,::1], float64, int64, int64, float64[::1],"
        " float64[::1], float64[::1])"
    )
    compiled(_walked, signature)[0](
        ready(p), _NONE if heading is None else ready(heading), _NO_FEET if feet is None else ready(feet),
        rate, *halves, travel, turn, foot,
    )  # fmt: skip
    return travel, turn, foot


def _walked(p, heading, feet, rate, near, far, travel, turn, foot):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917
    m = len(p)
    straight, last, drift = np.empty(len(heading)), math.nan, 0.0
    for i in range(len(heading)):
        straight[i] = math.nan
        if math.isfinite(heading[i]):
            change = 0.0 if math.isnan(last) else heading[i] - last
            if abs(change) >= math.pi:
                rest = (change + math.pi) % (2 * math.pi) - math.pi
                rest = math.pi if rest == -math.pi and change > 0 else rest
                drift += rest - change
            last, straight[i] = heading[i], heading[i] + drift
    for i in range(m):
        low, high = max(i - near, 0), min(i + near, m - 1)
        x, y = p[high, 0] - p[low, 0], p[high, 1] - p[low, 1]
        travel[i] = math.sqrt(x * x + y * y) / ((high - low) / rate)
        if len(heading):
            turn[i] = abs(straight[high] - straight[low]) / ((high - low) / rate)
        if len(feet):
            low, high = max(i - far, 0), min(i + far, m - 1)
            most = 0.0
            for k in range(feet.shape[1]):
                x, y = feet[high, k, 0] - feet[low, k, 0], feet[high, k, 1] - feet[low, k, 1]
                way = math.sqrt(x * x + y * y)
                most = way if way > most or math.isnan(way) else most
                if math.isnan(way):
                    break
            foot[i] = most / ((high - low) / rate)
