"""When something sudden happened: the onsets of claps, taps and flashes in any kind of stream.

All detectors share one rule. What is sudden in a stream becomes a height over time; its peaks are ranked;
events are the few highest that stand out of all others by a factor. Steps of a walk, motor noise and reaching
arms make many peaks of like height, and so no event. Sources: METHODS 4 (matched filter or CUSUM on audio,
jerk, half a picture on video).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.pictures import GREY

__all__ = ["APART", "DOUBTFUL", "NOTHING", "Onsets", "flashes", "jolts", "sounds", "standing_out"]

Int64 = NDArray[np.int64]
Floats = NDArray[np.float64]

DOUBTFUL: Final = 0.25
"""Share of the factor that is asked for, from which on a peak may be an event: noise alone reaches 0.15."""

_MOST: Final = 6  # events at one end of an episode
APART: Final = 0.15
"""Seconds between two events."""
_LOUDER: Final = 10.0  # energy that a clap's onset has over what else happens: 10 dB
_SHARPER: Final = 3.0  # jolt against the next highest
_BRIGHTER: Final = 3.0
_LEAST_FLASH: Final = 3.0  # grey
_QUIET: Final = 1e-9  # energy: -90 dB of full scale
_SMEARED: Final = 5e-4  # s, the error of an onset in coded sound; 0.3 ms in uncoded
_BLOCK: Final = 1e-3  # s of sound that one energy stands for


@dataclass(frozen=True, slots=True, eq=False)
class Onsets:
    """Events of one stream.

    Attributes:
        t: (k,) int64 ns on the stream's clock, increasing.
        u: (k,) s, standard uncertainty.
        margin: how far they stand out, in multiples of the factor asked for; where k is 0, that of the
            best that was there, so that 0 to `DOUBTFUL` means that there is nothing, and more that there
            may be something.
    """

    t: Int64
    u: Floats
    margin: float

    def __len__(self) -> int:
        return len(self.t)


NOTHING: Final = Onsets(np.zeros(0, np.int64), np.zeros(0), 0.0)


def sounds(x: NDArray[Any], rate: float, t0: int) -> Onsets:
    """Claps in sound.

    The energy of the first difference in blocks of 1 ms, over the greatest of the 100 ms before; each onset
    is then where the energy of a quarter of a millisecond rises out of what was before.

    Args:
        x: (n,) one channel; NaN where nothing was recorded.
        rate: samples per second.
        t0: ns of the first.
    """
    from scipy.ndimage import maximum_filter1d

    block = max(round(rate * _BLOCK), 1)
    d = np.diff(np.asarray(x, np.float64))
    m = len(d) // block
    if m < 300:
        return NOTHING
    energy = np.mean(d[: m * block].reshape(m, block) ** 2, axis=1)
    known = np.isfinite(energy)
    energy = np.where(known, energy, np.inf)
    before = np.full(m, np.inf)
    before[52:] = maximum_filter1d(energy, 100, mode="nearest")[:-52]  # 102 to 3 blocks ago
    height = np.where(known & np.isfinite(before), energy, 0.0) / (
        np.where(before < np.inf, before, 1.0) + _QUIET
    )
    at, margin = standing_out(height, round(APART / _BLOCK), _LOUDER)
    place = np.array([_rise(d, b * block, block) for b in at.tolist()], np.float64)
    u = np.full(len(at), max(1.0 / rate, _SMEARED))
    return Onsets(t0 + np.rint((place + 1) * 1e9 / rate).astype(np.int64), u, margin)


def _rise(d: Floats, start: int, block: int) -> int:
    """The sample at which energy first rises out of what was before, up to 5 ms before the block ``start``.

    Halfway (in dB) from what was before to the peak, and at most 10 dB below it: codecs smear a few
    milliseconds of faint noise in front of a bang.
    """
    first, wide = max(start - 25 * block, 0), max(block // 4, 1)
    part = np.nan_to_num(d[first : start + 3 * block]) ** 2
    total = np.concatenate(([0.0], np.cumsum(part)))
    power = (total[wide:] - total[:-wide]) / wide
    here = start - first
    before, top = float(np.mean(power[: max(here - 6 * block, 1)])), float(power.max())
    enough = max(np.sqrt(before * top), 0.1 * top)
    from_ = max(here - 5 * block, 0)
    return first + from_ + int(np.argmax(power[from_:] >= enough)) + wide - 1


def jolts(x: NDArray[Any], t: Int64) -> Onsets:
    """Sudden changes of vectors: jerk of an accelerometer, of a force, of joint speeds.

    The onset is the first sample of the change: it lies within one sample before its stamp.

    Args:
        x: (n, c).
        t: (n,) ns.
    """
    if len(t) < 20:
        return NOTHING
    step = np.linalg.norm(np.diff(np.asarray(x, np.float64), axis=0), axis=1)
    period = float(np.median(np.diff(t))) * 1e-9
    step = np.where(np.isfinite(step), step, 0.0)
    at, margin = standing_out(step, max(round(APART / max(period, 1e-6)), 2), _SHARPER, least=_floor(step))
    first = np.array([_first(step, i) for i in at.tolist()], np.intp)
    middle = (t[first] + t[first + 1]) // 2 if len(first) else np.zeros(0, np.int64)
    return Onsets(middle, np.full(len(at), period / np.sqrt(12.0)), margin)


def _floor(step: Floats) -> float:
    """Four times the usual change, so that a stream that only flickers shows nothing."""
    return 4.0 * float(np.median(step)) if len(step) else 0.0


def _first(step: Floats, peak: int) -> int:
    """The first of the up to three steps before a peak that has a third of its height."""
    from_ = max(peak - 3, 0)
    return from_ + int(np.argmax(step[from_ : peak + 1] >= step[peak] / 3))


def flashes(thumbs: NDArray[Any], t: Int64) -> Onsets:
    """Light that comes within two pictures and goes within a second, in the mean of the picture.

    The onset lies between the last dark picture and the first bright one.

    Args:
        thumbs: (n, h, w) from `Thumbnails`.
        t: (n,) ns of each picture.
    """
    n = len(thumbs)
    if n < 20:
        return NOTHING
    mean = np.asarray(thumbs, np.float64).mean((1, 2)) / GREY
    period = max(float(np.median(np.diff(t))) * 1e-9, 1e-6)  # of a clock that stands still
    rise = np.zeros(n)
    rise[2:] = mean[2:] - np.minimum(mean[1:-1], mean[:-2])
    back = np.zeros(n, np.bool_)
    for later in range(1, min(max(round(1.0 / period), 2), n - 1) + 1):
        back[:-later] |= mean[:-later] - mean[later:] > 0.5 * rise[:-later]
    rise = np.where(back, np.maximum(rise, 0.0), 0.0)
    at, margin = standing_out(rise, max(round(APART / period), 2), _BRIGHTER, least=_LEAST_FLASH)
    middle = np.array([_lit(mean, t, i) for i in at.tolist()], np.int64)
    return Onsets(middle, np.full(len(at), period / np.sqrt(12.0)), margin)


def _lit(mean: Floats, t: Int64, peak: int) -> int:
    """Between dark and bright, or amid a picture that the light caught half exposed."""
    share = (mean[peak - 1] - mean[peak - 2]) / max(mean[peak] - mean[peak - 2], 1e-9)
    if 0.25 < share < 0.75:
        return int(t[peak - 1])
    first = peak - 1 if share >= 0.75 else peak
    return int(t[first - 1] + t[first]) // 2


def standing_out(
    height: Floats, apart: int, factor: float, least: float = 0.0
) -> tuple[NDArray[np.intp], float]:
    """Places of the highest peaks that tower over all others by ``factor`` and over ``least``, and margin.

    At most six, each the highest within ``apart`` samples; among the possible numbers of events the one
    with the widest gap below it.
    """
    from scipy.ndimage import maximum_filter1d

    peak = np.flatnonzero((height == maximum_filter1d(height, 2 * apart + 1)) & (height > 0))
    if not len(peak):
        return peak, 0.0
    order = peak[np.argsort(-height[peak], kind="stable")]
    ranked = np.concatenate((height[order[: _MOST + 1]], np.zeros(max(_MOST + 1 - len(order), 0))))
    below = np.maximum(ranked[1:], least)
    gap = np.where(ranked[:-1] > 0, ranked[:-1] / np.maximum(below, 1e-300), 0.0)
    k = int(np.argmax(gap))
    margin = min(float(gap[k]) / factor, 1e6)
    return (np.sort(order[: k + 1]) if margin >= 1.0 else order[:0]), margin
