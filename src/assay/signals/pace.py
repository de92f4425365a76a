"""Whether positions move as fast as their measured velocities say, by their stamps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pace", "pace"]

_WINDOW: Final = 0.3  # s: the noise of encoders and a filter's delay weigh little against the way made
_WAYS: Final = 3  # windows that a slope needs; its error grows with fewer


@dataclass(frozen=True, slots=True)
class Pace:
    """The way made by the positions over that of the velocities.

    Attributes:
        ratio: median over the joints that tell; real over stamped period. NaN where none tells.
        u: its standard uncertainty.
        joints: how many tell; moving: how many move by both.
    """

    ratio: float
    u: float
    joints: int
    moving: int


def pace(
    t: NDArray[np.int64], x: NDArray[np.float64], v: NDArray[np.float64], moving: float, fit: float
) -> Pace | None:
    """Compare positions with the integral of velocities; None if too short, or where time stands still.

    Per joint: least squares through the origin of x(t + W) - x(t) on the trapezoid integral of v over the
    same window W. Velocities are the regressor, since they are less noisy than differences of positions.
    Windows overlap; the standard error counts those that do not.

    Args:
        t: (n,) ns, increasing.
        x: (n, j) positions.
        v: (n, j) velocities, in units of x per second.
        moving: least root mean square speed, by v and by x, of a joint that counts.
        fit: least share of the way's variance that the velocity must explain.
    """
    step = np.diff(t) * 1e-9
    if not len(step) or not (step > 0).all():
        return None
    w = max(2, round(_WINDOW / float(np.median(step))))
    n = len(t) - w
    if n < w * _WAYS:
        return None
    seconds = (t[w:] - t[:-w])[:, None] * 1e-9
    way = x[w:] - x[:-w]
    sums = np.concatenate((np.zeros((1, v.shape[1])), np.cumsum((v[1:] + v[:-1]) * (step[:, None] / 2), 0)))
    said = sums[w:] - sums[:-w]
    fast = [np.sqrt(np.mean((d / seconds) ** 2, axis=0)) > moving for d in (way, said)]  # NaN is not fast
    live = np.flatnonzero(fast[0] & fast[1])
    way, said = way[:, live], said[:, live]
    power = np.sum(said**2, axis=0)
    slope = np.sum(said * way, axis=0) / np.maximum(power, 1e-300)
    rest = np.sum((way - slope * said) ** 2, axis=0)
    told = rest <= (1 - fit) * np.sum(way**2, axis=0)
    if not told.any():
        return Pace(np.nan, np.nan, 0, len(live))
    error = np.sqrt(rest / n / power * w)[told]
    slope = slope[told]
    spread = 1.2533 * float(np.std(slope, ddof=1)) / np.sqrt(len(slope)) if len(slope) > 1 else 0.0
    return Pace(
        float(np.median(slope)), float(np.hypot(spread, np.median(error))), len(slope), len(live)
    )  # fmt: skip
