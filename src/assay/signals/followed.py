"""The human that a robot follows, joint by joint on the robot's clock, and how fast a robot may follow.

A retarget scales what the human does, more or less by one factor at every frequency. One that was low-passed
afterwards stops following above some frequency, which the human's own motion shows (gate RTG008).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.posture import Poses
from assay.signals.segmentation import resample
from assay.signals.stance import SIDES

__all__ = ["SPREAD", "Followed", "cutoff", "hands_and_feet", "highest"]

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

CENTRES: Final = np.array([1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0])
"""Hz, middles of bands that reach from 0.85 to 1.18 of them."""
LOW: Final = (0.3, 1.5)
"""Hz in which a retarget's scale is taken."""
HALF: Final = 0.5
"""Amplitude at the cut-off of a filter that was run forwards and backwards."""
SUNK: Final = 0.25
"""Amplitude that must be reached beyond it: 13 untouched clips never fall below 0.42 up to 12 Hz."""
FAINT: Final = 1e-4
"""Share of a band of its source's power in the scale's band below which it says nothing."""
CLEAR: Final = 8.0
"""Hz up to which a robot must be seen to follow before it counts as not smoothed."""
SPREAD: Final = 0.1
"""Standard deviation of a cut-off over its size: 560 planted in 13 real clips at 2 to 9 Hz, 7 to 14 %."""
SHORTEST: Final = 2.0
WIDEST: Final = 6
SLOW: Final = 0.005
"""m/s of a hand or foot below which a human rests; a turning forearm moves its wrist by little more."""


@dataclass(frozen=True, eq=False)
class Followed:
    """Joints of a human source. Places are interpolated when asked for.

    Attributes:
        stream: its name.
        t: (m,) int64 ns on the robot's clock; on: (n,) the robot's stamps.
        x: (m, c) m, the source's values; columns: joint as in SMPL (``left_knee``) → its x, y and z.
    """

    stream: str
    t: Int64
    on: Int64
    x: Floats
    columns: dict[str, list[int]] = field(default_factory=dict)

    def place(self, joint: str) -> Floats | None:
        """(n, 3) m, NaN where the source has holes; None for a joint that it lacks."""
        at = self.columns.get(joint)
        if at is None:
            return None
        row = at == [at[0], at[0] + 1, at[0] + 2]  # a view is quicker than a choice of columns
        mine = self.x[:, at[0] : at[0] + 3] if row else self.x[:, at]
        return mine if self.beside else resample(self.t, mine, self.on)

    @cached_property
    def beside(self) -> bool:
        """Whether both have the same stamps."""
        return len(self.t) == len(self.on) and np.array_equal(self.t, self.on)

    def moves(self, joint: str, first: int, end: int) -> bool:
        """Whether a joint goes against the pelvis in some of the robot's frames; true where none tells."""
        mine, pelvis = self.place(joint), self.place("pelvis")
        if mine is None or pelvis is None:
            return True
        way = np.diff(mine[first:end] - pelvis[first:end], axis=0)
        seconds = (self.on[end - 1] - self.on[first]) * 1e-9
        return not np.linalg.norm(way, axis=1).sum() < SLOW * seconds

    def bend(self, first: str, middle: str, last: str) -> Floats | None:
        """(n,) rad by which a limb is bent at its middle joint, 0 straight; None if a joint is lacking."""
        a, b, c = self.place(first), self.place(middle), self.place(last)
        if a is None or b is None or c is None:
            return None
        u, v = b - a, c - b
        with np.errstate(invalid="ignore", divide="ignore"):
            cosine = (u * v).sum(axis=1) / (np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1))
        made: Floats = np.arccos(np.clip(cosine, -1.0, 1.0))
        return made


def cutoff(robot: Floats, human: Floats, rate: float) -> tuple[float, float]:
    """The frequency above which a robot no longer follows its human, and the highest one looked at; Hz.

    The gain from the human's speed to the robot's, the geometric mean over points, is taken in bands of a
    third of an octave and divided by the gain at 0.3 to 1.5 Hz, so that neither size nor pace matters. The
    cut-off is where it falls below one half for good, if it sinks below one quarter beyond.

    Args:
        robot: places (p, 3, n) m of p points, seen from the pelvis, without NaN.
        human: the same of the human's.
        rate: Hz.

    Returns:
        The cut-off, or the highest frequency looked at where the robot follows up to there; NaN where
        nothing can be told (shorter than 2 s, a slow rate, a human that rests or is smooth herself).
    """
    n = robot.shape[2] - 1 if len(robot) else 0
    centres = CENTRES[: np.searchsorted(CENTRES, 0.42 * rate, "right")]
    if n < SHORTEST * rate or len(centres) < 6:
        return float("nan"), float(centres[-1]) if len(centres) else 0.0
    gains = _gains(np.stack([robot, human]), rate, len(centres))
    told = np.isfinite(gains).all(axis=0)
    if np.count_nonzero(told) < 3:
        return float("nan"), float(centres[-1])
    gain, centres = np.log(gains[:, told]).mean(axis=0), centres[told]
    low = gain < np.log(HALF)
    above = np.flatnonzero(~low)
    at = int(above[-1]) + 1 if len(above) else 0
    if at == len(low) or gain[at:].min() > np.log(SUNK):
        top = float(centres[-1])
        return (top if top >= CLEAR else float("nan")), top
    if at == 0:
        return float(centres[0]), float(centres[-1])
    share = (gain[at - 1] - np.log(HALF)) / (gain[at - 1] - gain[at])
    return float(centres[at - 1] * (centres[at] / centres[at - 1]) ** share), float(centres[-1])


def hands_and_feet(poses: Poses, human: Followed) -> tuple[Floats, Floats]:
    """Hands and feet of robot and human (p, 3, n) m, each seen from its pelvis, over the frames with all."""
    none, pelvis = np.zeros((0, 3, 0)), human.place("pelvis")
    if pelvis is None or poses.place is None:
        return none, none
    root, robot, hers = poses.place[:, :3], [], []
    for side in SIDES:
        hand = next((h for h in poses.hands if side in h), "")
        for mine, joint in ((poses.soles.get(side), "ankle"), (poses.world.get(hand, (None,))[0], "wrist")):
            place = human.place(f"{side}_{joint}")
            if mine is not None and place is not None:
                robot.append(_middle(mine) - root)
                hers.append(place - pelvis)
    if not robot:
        return none, none
    # Points lie in rows, which transforms like.
    both = np.array([robot, hers]).transpose(0, 1, 3, 2)
    if not np.isfinite(both.sum()):
        whole = np.isfinite(both).all(axis=(0, 1, 2))
        at = np.flatnonzero(whole)
        if len(at) < 2 or not whole[at[0] : at[-1] + 1].all():
            return none, none
        both = both[..., at[0] : at[-1] + 1]
    return both[0], both[1]


def _middle(points: Floats) -> Floats:
    """The mean of a sole's points (n, k, 3), or one point (n, 3) itself; (n, 3)."""
    if points.ndim == 2:
        return points
    return np.asarray(sum(points[:, k] for k in range(points.shape[1])) / points.shape[1])


def highest(x: Floats, spans: Floats, rate: float) -> float:
    """Hz below which 99.9 % of the power of speeds lies, over the six widest of columns (n, c).

    ``spans`` (c,) are their ranges.
    """
    if len(x) < SHORTEST * rate or not x.shape[1] or not rate > 0:
        return float("nan")
    wide = np.argsort(spans)[-WIDEST:]
    power = np.cumsum(_power(x[:, wide].T).sum(axis=0))
    f = np.fft.rfftfreq(_padded(len(x) - 1), 1 / rate)
    return float(f[np.searchsorted(power, 0.999 * power[-1])]) if power[-1] > 0 else float("nan")


def _gains(both: Floats, rate: float, bands: int) -> Floats:
    """(p, bands) gain of each point's speed, over that at low frequency; NaN where the human shows nothing.

    ``both`` are places (2, p, 3, n) of the robot's points and the human's.
    """
    masks, width = _bands(_padded(both.shape[-1] - 1), float(rate), bands)
    in_band = np.einsum(
        "apf,bf->apb", _power(both).sum(axis=2), masks
    )  # (2, p, 1 + bands); the first is the scale's
    with np.errstate(invalid="ignore", divide="ignore"):
        gain = np.sqrt(in_band[0] / in_band[1])
        made: Floats = gain[:, 1:] / gain[:, :1]
        seen = in_band[1, :, 1:] / width[1:]
    faint = seen < FAINT * in_band[1, :, :1] / max(width[0], 1.0)
    made[faint | (made <= 0) | (width[1:] == 0)] = np.nan
    return made


@lru_cache(maxsize=8)
def _bands(n: int, rate: float, bands: int) -> tuple[Floats, Floats]:
    """(1 + bands, f) which frequencies are in each band, and how many are; that of the scale first."""
    f = np.fft.rfftfreq(n, 1 / rate)
    low = (f >= LOW[0]) & (f <= LOW[1])
    masks = np.stack([low, *((f >= 0.85 * c) & (f <= 1.18 * c) for c in CENTRES[:bands])]).astype(np.float64)
    return masks, masks.sum(axis=1)


def _power(x: Floats) -> Floats:
    """Power spectra (..., f) of the speeds of places (..., n + 1)."""
    v = x[..., 1:] - x[..., :-1]
    v -= v.mean(axis=-1, keepdims=True)
    v *= _window(v.shape[-1])
    spectrum = np.fft.rfft(v, _padded(v.shape[-1]))
    return np.asarray(spectrum.real**2 + spectrum.imag**2)


@lru_cache(maxsize=8)
def _window(n: int) -> Floats:
    return np.hanning(n + 2)[1:-1]


@lru_cache(maxsize=64)
def _padded(n: int) -> int:
    """The next length that is 2, 3 or 5 times itself: odd primes are slow."""
    from scipy.fft import next_fast_len

    return int(next_fast_len(n, real=True))
