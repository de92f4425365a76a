"""The real rate of pictures: which transition shows something new, also where repeats were coded again.

Measured on a real Unitree G1 camera that shows every picture twice, in AV1 with two pictures from key to
key, where re-coded repeats differ by about one grey level, and on simulated H.264; see gate SYN006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.pictures import GREY, Thumbs

__all__ = ["STALE", "Cadence", "Fresh", "cadence", "fresh_share"]

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

STALE: Final = 0.2
"""Share of the local change below which a transition shows nothing new."""

_REACH: Final = 3  # transitions on either side that a share looks at
_FLOOR: Final = 0.15  # grey; less change than this over up to seven transitions is no motion
_NOISE: Final = 20.0  # energy over noise that counts as motion; 4 lets coding noise pass as fresh
_GROWTH: Final = 3.0  # change over seven transitions, in single ones: coding noise 1 to 2, motion 10
_BLOCK: Final = 256  # pictures held as float32 at a time


@dataclass(frozen=True, slots=True, eq=False)
class Fresh:
    """How much new each transition from picture i to i + 1 shows.

    Attributes:
        share: (n - 1,) share of the local change that the transition carries: 1 in even motion, 0 for a
            repeat; NaN where nothing moves.
        energy: (n - 1,) mean square change, grey^2.
        noise: mean square change of a repeat, grey^2.
    """

    share: NDArray[np.float64]
    energy: NDArray[np.float64]
    noise: float

    @property
    def stale(self) -> Bools:
        """(n - 1,) whether a transition is a repeat amid motion."""
        return np.asarray(self.share < STALE)

    @property
    def decided(self) -> Bools:
        """(n - 1,) whether something moves there, so that it can be told."""
        return np.isfinite(self.share)


def fresh_share(thumbs: Thumbs, key: Bools) -> Fresh:
    """Which pictures are new, also where repeats were coded again.

    With d = T[t+1] - T[t] and D = T[t+1+h] - T[t-h]: share = (2h + 1) <d, D> / <D, D>, for the first h of
    1 to 3 at which D stands out of the noise. Coding noise does not correlate with D and drops out.

    Args:
        thumbs: (n, h, w) from `Thumbnails`.
        key: (n,) bool, key pictures: where every second is one, noise alternates.
    """
    n = max(len(thumbs) - 1, 0)
    energy, inner, change = _products(thumbs)
    noise = _first_noise(energy, change[-1], key)
    share = np.full(n, np.nan)
    for _ in range(3):
        share = _share(inner, change, noise)
        repeats = (share < STALE) & (energy > 0)
        if repeats.sum() < 5 or np.mean(share < STALE) <= 0.15:
            break
        again = min(float(np.median(energy[repeats])), float(np.median(energy)))
        if again <= noise:
            break
        noise = again
    return Fresh(share, energy, noise)


def _products(thumbs: Thumbs) -> tuple[NDArray[np.float64], ...]:
    """Mean square of d (n-1,), mean d D and mean D D (reach, n-1); NaN where D leaves the clip."""
    n = max(len(thumbs) - 1, 0)
    energy, inner = np.zeros(n), np.full((_REACH, n), np.nan)
    change = inner.copy()
    for start in range(0, n, _BLOCK):
        end = min(start + _BLOCK, n)
        low = max(start - _REACH, 0)
        flat = _floats(thumbs[low : end + 1 + _REACH])
        step = flat[start - low + 1 : end - low + 1] - flat[start - low : end - low]
        energy[start:end] = _dot(step, step)
        for h in range(1, _REACH + 1):
            a, b = max(start, h), min(end, n - h)  # transitions whose D lies inside the clip
            if a < b:
                wide = flat[a + 1 + h - low : b + 1 + h - low] - flat[a - h - low : b - h - low]
                inner[h - 1, a:b] = _dot(step[a - start : b - start], wide)
                change[h - 1, a:b] = _dot(wide, wide)
    return energy, inner, change


def _floats(thumbs: Thumbs) -> Floats:
    return thumbs.reshape(len(thumbs), -1).astype(np.float32) / np.float32(GREY)


def _dot(a: Floats, b: Floats) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = np.einsum("ij,ij->i", a, b).astype(np.float64) / max(a.shape[1], 1)
    return mean


def _first_noise(energy: NDArray[np.float64], change: NDArray[np.float64], key: Bools) -> float:
    """Quiet transitions, those to key pictures and to others apart: coded anew or copied, noise differs.

    A kind whose change grows with the interval shows motion (every key picture may be new), not noise.
    """
    if not len(energy):
        return 0.0
    noise = float(np.quantile(energy, 0.1))
    for kind in (key[1:], ~key[1:]):
        wide = change[kind & np.isfinite(change)]
        if kind.sum() >= 10 and len(wide):
            quiet = float(np.quantile(energy[kind], 0.2))
            noise = max(noise, quiet) if np.median(wide) < _GROWTH * quiet else noise
    return noise


def _share(inner: NDArray[np.float64], change: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    share = np.full(inner.shape[1], np.nan)
    enough = change >= max(_NOISE * noise, _FLOOR**2)
    for h in range(_REACH, 0, -1):  # the nearest reach is written last
        at = enough[h - 1]
        share[at] = (2 * h + 1) * inner[h - 1, at] / change[h - 1, at]
    return share


@dataclass(frozen=True, slots=True)
class Cadence:
    """How often pictures are new.

    Attributes:
        decided: transitions that could be told.
        gap: median number of transitions from one new picture to the next, where all between were told.
        agree: share of those gaps that equal the median.
        fresh: share of the decided transitions that are new; u: its standard error (block jackknife).
        dispersion: variance of new pictures per ten transitions over a random draw's: a clockwork is
            below 0.6, pauses of the scene are above.
    """

    decided: int
    gap: float
    agree: float
    fresh: float
    u: float
    dispersion: float


def cadence(fresh: Fresh, among: Bools | None = None) -> Cadence:
    """Summarise fresh pictures, over all transitions or only ``among`` (n - 1,) bool."""
    decided = fresh.decided if among is None else fresh.decided & among
    x = (~fresh.stale[decided]).astype(np.float64)
    at = np.flatnonzero(decided & ~fresh.stale)
    undecided = np.concatenate(([0], np.cumsum(~decided)))
    gaps = np.diff(at)[undecided[at[1:]] == undecided[at[:-1]]]
    gap = float(np.median(gaps)) if len(gaps) else np.nan
    mean = float(x.mean()) if len(x) else np.nan
    windows = x[: len(x) // 10 * 10].reshape(-1, 10).sum(1)
    spread = 10 * mean * (1 - mean)
    return Cadence(
        decided=len(x), gap=gap, agree=float(np.mean(gaps == gap)) if len(gaps) else 0.0, fresh=mean,
        u=_jackknife(x), dispersion=float(windows.var() / spread) if len(windows) and spread > 0 else 0.0,
    )  # fmt: skip


def _jackknife(x: NDArray[np.float64]) -> float:
    """Standard error of the mean of correlated values, leaving out blocks of about 15."""
    n = len(x)
    if n < 8:
        return np.inf
    blocks = max(4, n // 15)
    edges = np.linspace(0, n, blocks + 1).astype(int)
    total = np.concatenate(([0.0], np.cumsum(x)))
    without = (total[-1] - np.diff(total[edges])) / (n - np.diff(edges))
    return float(np.sqrt((blocks - 1) / blocks * np.sum((without - without.mean()) ** 2)))
