"""Where the ground is, as declared, and how soles at rest lie about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import compiled
from assay.signals.feet import latched, strides
from assay.signals.loops import whole
from assay.signals.quantile import median

__all__ = ["Ground", "mode_height", "rest_heights", "stance_heights", "taken_off"]

Floats = NDArray[np.float64]

COVERAGE: Final = 2.0
"""Standard uncertainties on either side of a height, as `assay.judge` takes them."""

BAND: Final = 0.05
"""m; the densest window of this height holds the ground (PHUMA's curation)."""
REST: Final = (0.003, 0.006)
"""m in 1/30 s, entering and leaving: the lowest sole point of a body that stands on it."""

MANY: Final = 5000
"""Heights that are enough to find the densest 5 cm."""
PIECE: Final = 500_000_000
"""ns; heights within half a second of one rest are one sample of where the ground is."""


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """The ground of one clip.

    Attributes:
        declared: height in m, or None: a ground estimated from the soles cannot see a constant error.
        estimate: m, the densest height of the lowest sole; NaN where there are no soles.
        rest: (k,) m, height of a sole in each half second that it stands (by the human source) or, without a
            source, that the lowest of all sole points rests.
        offset: m, median of ``rest`` above the declared ground (above z = 0 where none is declared);
            u: its standard error; spread: 5th to 95th percentile of ``rest``. NaN where nothing rests.
    """

    declared: float | None
    estimate: float
    rest: Floats
    offset: float
    u: float
    spread: float

    def level(self, constant: float) -> tuple[float, float]:
        """The height that scatter is measured from, and its standard uncertainty, m.

        A difference beyond ``constant`` m is ground-offset's and is taken off. Where ground-offset is
        undecided, either height may be right: the middle, give or take as much as reaches both.
        NaN without a declared ground.
        """
        if self.declared is None:
            return float("nan"), 0.0
        size, guard = abs(self.offset), COVERAGE * self.u
        if not size + guard > constant:
            return self.declared, 0.0
        if size - guard > constant:
            return self.declared + self.offset, self.u
        return self.declared + self.offset / 2, self.u + size / 2 / COVERAGE


def taken_off(ground: Ground, level: float) -> str:
    """What a height above ``level`` (m, of `Ground.level`) leaves to ground-offset, in words; else empty."""
    size = level - (ground.declared or 0.0)
    return f"after taking off {size * 100:+.1f} cm, which are RTG013's" if size else ""


def mode_height(low: Floats) -> float:
    """Median of the densest 5 cm of heights (n,); NaN where none is finite."""
    z = np.sort(low[np.isfinite(low)][:: 1 + len(low) // MANY])
    if not len(z):
        return float("nan")
    count = np.searchsorted(z, z + BAND, "right") - np.arange(len(z))
    first = int(count.argmax())
    return median(z[first : first + int(count[first])])


def rest_heights(t: NDArray[np.int64], soles: list[Floats]) -> Floats:
    """Heights at which the body's lowest sole point rests, one for each half second of rest; (k,) m.

    Args:
        t: (n,) ns.
        soles: per foot (n, k, 3) m. A point that is the lowest and does not move carries weight.
    """
    x = np.concatenate(soles, axis=1)
    height = x[..., 2]
    lowest = np.where(np.isfinite(height), height, np.inf).argmin(axis=1)
    moved = strides(t, x, level=False)
    rows = np.arange(len(x))
    still = latched(moved[rows, lowest], *REST)
    return _pieces(t, height[rows, lowest], still)


def stance_heights(t: NDArray[np.int64], low: Floats, state: NDArray[np.int8]) -> Floats:
    """Heights (n,) m of one foot's lowest sole point where it stands, one for each half second; (k,) m."""
    return _pieces(t, low, (state == 1) & np.isfinite(low))


def _pieces(t: NDArray[np.int64], z: Floats, mask: NDArray[np.bool_]) -> Floats:
    """Means of z over each run of the mask; long runs, which say more, once for each half second."""
    first, size, count = np.empty(len(z), np.int64), np.empty(len(z), np.int64), np.zeros(1, np.int64)
    signature = "void(int64[::1], boolean[::1], int64, int64[::1], int64[::1], int64[::1])"
    compiled(_cut, signature)[0](whole(t), mask, PIECE, first, size, count)
    if not count[0]:
        return np.zeros(0)
    return np.asarray(np.add.reduceat(z[mask], first[: count[0]]) / size[: count[0]])


# The first sample of each piece, in the masked samples laid end to end, and how many it has.
def _cut(t, mask, piece, first, size, count):  # type: ignore[no-untyped-def]
    n, k, before, begin = len(mask), 0, 0, -1
    for i in range(n + 1):
        if i < n and mask[i]:
            begin = i if begin < 0 else begin
        elif begin >= 0:
            long = i - begin
            pieces = min(1 + (t[i - 1] - t[begin]) // piece, long)
            for p in range(pieces):
                first[k] = before + p * long // pieces
                size[k] = before + (p + 1) * long // pieces - first[k]
                k += 1
            before, begin = before + long, -1
    count[0] = k
