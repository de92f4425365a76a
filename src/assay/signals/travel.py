"""How fast joints move over any interval, from positions on their own clock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.model import Role, Stream

__all__ = ["Travel", "arm_travel", "joint_columns", "travel"]

_ARM: Final = re.compile(r"shoulder|elbow|wrist|arm", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Travel:
    """Joint motion summed up along time, so that any interval's speed is two look-ups.

    Attributes:
        t: (n,) int64 ns, increasing.
        squared: (n,) integral of the mean squared joint speed, (unit/s)^2 s.
        unknown: (n,) seconds before t in which a position was not finite.
    """

    t: NDArray[np.int64]
    squared: NDArray[np.float64]
    unknown: NDArray[np.float64]

    def speed(self, t0: NDArray[np.int64], t1: NDArray[np.int64]) -> NDArray[np.float64]:
        """(k,) root mean square joint speed between t0 and t1 (k,) ns.

        NaN where more than half of the interval is outside the recording or a position is not finite.
        """
        if len(self.t) < 2:
            return np.full(len(t0), np.nan)
        whole = np.maximum(t1 - t0, 1) * 1e-9
        t0, t1 = np.clip(t0, self.t[0], self.t[-1]), np.clip(t1, self.t[0], self.t[-1])
        long = np.maximum(t1 - t0, 1) * 1e-9
        power = np.interp(t1, self.t, self.squared) - np.interp(t0, self.t, self.squared)
        blind = np.interp(t1, self.t, self.unknown) - np.interp(t0, self.t, self.unknown)
        inside = (long >= whole / 2) & (blind <= 0)
        return np.where(inside, np.sqrt(np.maximum(power, 0.0) / long), np.nan)

    def speed_range(
        self, t0: NDArray[np.int64], t1: NDArray[np.int64], lags: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(k,), (k,) least and most speed over the intervals moved by each of ``lags`` (ns); NaN if unknown.

        Pictures show motion late by an unknown few frames: what moved at every possible lag moved, what
        moved at none rested.
        """
        shifted = np.array([self.speed(t0 + lag, t1 + lag) for lag in lags])
        return np.fmin.reduce(shifted, axis=0), np.fmax.reduce(shifted, axis=0)


def travel(t: NDArray[np.int64], x: NDArray[Any]) -> Travel:
    """Sum up the motion of joints ``x`` (n, j) at ``t`` (n,) ns; steps back in time count for nothing."""
    order = np.concatenate(([True], np.diff(np.maximum.accumulate(t)) > 0)) if len(t) else np.zeros(0, bool)
    t, x = t[order], np.asarray(x, np.float64)[order]
    step = np.diff(t) * 1e-9
    mean = np.mean(np.diff(x, axis=0) ** 2, axis=1) if x.shape[1] else np.zeros(len(step))
    finite = np.isfinite(mean)
    squared = np.concatenate(([0.0], np.cumsum(np.where(finite, mean, 0.0) / step)))
    unknown = np.concatenate(([0.0], np.cumsum(np.where(finite, 0.0, step))))
    return Travel(t, squared[: len(t)], unknown[: len(t)])


def joint_columns(stream: Stream) -> NDArray[np.intp]:
    """Columns of ``stream`` that are joint positions: hands and grippers hold still by design."""
    roles = [c.role if c.role is not None else stream.role for c in stream.channels]
    return np.array([i for i, role in enumerate(roles) if role is Role.JOINT_POSITION], np.intp)


def arm_travel(stream: Stream) -> Travel | None:
    """Motion of the arm joints (of all joints that ever move, where no name tells the arms); None without.

    Joints whose unit is not rad are left out, as a speed needs one.
    """
    columns = [i for i in joint_columns(stream).tolist() if stream.channels[i].unit == "rad"]
    arms = [i for i in columns if _ARM.search(stream.channels[i].name)]
    if not columns or not len(stream):
        return None
    x = np.asarray(stream.x[:, arms or columns], np.float64)
    live = ~(np.ptp(x, axis=0) == 0)  # a column with NaN stays in: it hides motion
    return travel(stream.t, x[:, live] if live.any() else x)
