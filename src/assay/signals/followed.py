"""The human that a robot follows, joint by joint on the robot's clock, and how fast a robot may follow.

A retarget scales what the human does, more or less by one factor at every frequency. One that was low-passed
afterwards stops following above some frequency, which the human's own motion shows (gate RTG008).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.embodiment.kinematics import link_poses
from assay.signals.posture import Poses
from assay.signals.segmentation import resample
from assay.signals.stance import SIDES

__all__ = ["SPREAD", "Followed", "cutoff", "hands_and_feet", "highest", "straight_at"]

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
STRETCHED: Final = 0.99
"""Share of a limb's greatest length from which on it is straight: within 16 degrees, for equal halves."""
CLEAR: Final = 8.0
"""Hz up to which a robot must be seen to follow before it counts as not smoothed."""
SPREAD: Final = 0.1
"""Standard deviation of a cut-off over its size: 560 planted in 13 real clips at 2 to 9 Hz, 7 to 14 %."""
SHORTEST: Final = 2.0
WIDEST: Final = 6


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
        beside = len(self.t) == len(self.on) and np.array_equal(self.t, self.on)
        return self.x[:, at] if beside else resample(self.t, self.x[:, at], self.on)

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


def cutoff(robot: list[Floats], human: list[Floats], rate: float) -> tuple[float, float]:
    """The frequency above which a robot no longer follows its human, and the highest one looked at; Hz.

    The gain from the human's speed to the robot's, the geometric mean over points, is taken in bands of a
    third of an octave and divided by the gain at 0.3 to 1.5 Hz, so that neither size nor pace matters. The
    cut-off is where it falls below one half for good, if it sinks below one quarter beyond.

    Args:
        robot: places (n, 3) m of some points, seen from the pelvis, without NaN.
        human: the same of the human's.
        rate: Hz.

    Returns:
        The cut-off, or the highest frequency looked at where the robot follows up to there; NaN where
        nothing can be told (shorter than 2 s, a slow rate, a human that rests or is smooth herself).
    """
    n = min(len(x) for x in robot) - 1 if robot else 0
    centres = CENTRES[: np.searchsorted(CENTRES, 0.42 * rate, "right")]
    if n < SHORTEST * rate or len(centres) < 6:
        return float("nan"), float(centres[-1]) if len(centres) else 0.0
    gains = np.array([_gain(a, b, rate, len(centres)) for a, b in zip(robot, human, strict=True)])
    told = np.isfinite(gains).all(axis=0)
    if told.sum() < 3:
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


def hands_and_feet(poses: Poses, human: Followed) -> tuple[list[Floats], list[Floats]]:
    """Hands and feet of robot and human, each seen from its pelvis, over the frames that have them all."""
    pelvis, robot, hers = human.place("pelvis"), [], []
    if pelvis is None or poses.place is None:
        return [], []
    for side in SIDES:
        hand = next((h for h in poses.hands if side in h), "")
        for mine, joint in ((poses.soles.get(side), "ankle"), (poses.world.get(hand, (None,))[0], "wrist")):
            place = human.place(f"{side}_{joint}")
            if mine is not None and place is not None:
                middle = (
                    sum(mine[:, k] for k in range(mine.shape[1])) / mine.shape[1] if mine.ndim == 3 else mine
                )
                robot.append(middle - poses.place[:, :3])
                hers.append(place - pelvis)
    if not robot:
        return [], []
    if np.isfinite(sum(float(x.sum()) for x in robot + hers)):
        return robot, hers
    whole = np.isfinite(np.concatenate(robot + hers, axis=1)).all(axis=1)
    at = np.flatnonzero(whole)
    if len(at) < 2 or not whole[at[0] : at[-1] + 1].all():
        return [], []
    return [x[at[0] : at[-1] + 1] for x in robot], [x[at[0] : at[-1] + 1] for x in hers]


@lru_cache(maxsize=64)
def straight_at(body: Embodiment, joint: int, value: float) -> bool:
    """Whether a limb is as good as straight with this joint at ``value`` rad and its others at zero."""
    tree, name = body.tree, body.joints[joint].name
    if tree is None or name not in tree.joints:
        return False
    column = tree.joints.index(name)
    link = int(np.flatnonzero(tree.column == column)[0])
    above = [int(i) for i in tree.ancestors(np.array([link])) if i != link]
    part, side = body.joints[joint].part, body.joints[joint].side
    mine = {j.name for j in body.joints if j.part == part and j.side == side}
    first = next(i for i in (*above, link) if tree.carrier[i] in mine)
    last = max(i for i, carrier in enumerate(tree.carrier) if carrier in mine)
    limits = body.limits[0]
    q = np.zeros((42, len(tree.joints)))
    q[:, column] = np.append(np.linspace(limits.lower[joint], limits.upper[joint], 41), value)
    p, _ = link_poses(tree, q, links=[tree.links[first], tree.links[last]])
    long = np.linalg.norm(p[:, 1] - p[:, 0], axis=1)
    return bool(long[-1] >= STRETCHED * long.max())


def highest(x: Floats, rate: float) -> float:
    """Hz below which 99.9 % of the power of speeds lies, over the six widest of columns (n, c)."""
    if len(x) < SHORTEST * rate or not x.shape[1] or not rate > 0:
        return float("nan")
    wide = np.argsort(np.ptp(x, axis=0))[-WIDEST:]
    power = np.cumsum(_power(x[:, wide]))
    f = np.fft.rfftfreq(_padded(len(x) - 1), 1 / rate)
    return float(f[np.searchsorted(power, 0.999 * power[-1])]) if power[-1] > 0 else float("nan")


def _gain(robot: Floats, human: Floats, rate: float, bands: int) -> Floats:
    """(bands,) gain of one point's speed, over that at low frequency; NaN where the human shows nothing."""
    power = np.stack([_power(robot), _power(human)])
    masks = _bands(_padded(len(robot) - 1), float(rate), bands)
    in_band = power @ masks.T  # (2, 1 + bands); the first is the scale's
    with np.errstate(invalid="ignore", divide="ignore"):
        gain = np.sqrt(in_band[0] / in_band[1])
        made: Floats = gain[1:] / gain[0]
    width = masks.sum(axis=1)
    faint = in_band[1, 1:] / width[1:] < FAINT * in_band[1, 0] / max(width[0], 1.0)
    made[faint | (made <= 0) | (width[1:] == 0)] = np.nan
    return made


@lru_cache(maxsize=8)
def _bands(n: int, rate: float, bands: int) -> Floats:
    f = np.fft.rfftfreq(n, 1 / rate)
    low = (f >= LOW[0]) & (f <= LOW[1])
    return np.stack([low, *((f >= 0.85 * c) & (f <= 1.18 * c) for c in CENTRES[:bands])]).astype(np.float64)


def _power(x: Floats) -> Floats:
    """Power spectrum of the speed of places (n + 1, c), summed over the columns; NaN where x holds one."""
    v = np.diff(x.T, axis=1)  # rows lie together, which the transform likes
    v -= v.mean(axis=1, keepdims=True)
    v *= _window(v.shape[1])
    spectrum = np.fft.rfft(v, _padded(v.shape[1]), axis=1)
    made: Floats = (spectrum.real**2 + spectrum.imag**2).sum(axis=0)
    return made


@lru_cache(maxsize=8)
def _window(n: int) -> Floats:
    return np.hanning(n + 2)[1:-1]


def _padded(n: int) -> int:
    """The next length that is 2, 3 or 5 times itself: odd primes are slow."""
    from scipy.fft import next_fast_len

    return int(next_fast_len(n, real=True))
