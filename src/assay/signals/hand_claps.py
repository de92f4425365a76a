"""Claps seen in pictures: two things run into each other, and their motion ends within a picture or two."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.signals.cadence import STALE, fresh_share
from assay.signals.events import APART, NOTHING, Floats, Int64, Onsets, standing_out
from assay.signals.flow import BLOCKS, block_flow
from assay.signals.pictures import GREY

__all__ = ["hands"]

_HARDER: Final = 2.0  # loss of converging motion against the next greatest
_COARSE: Final = 0.2  # pictures, error of the fit where it is sure of itself
_LEAST: Final = 0.2  # grey, mean over cells, that counts as motion at all


def hands(thumbs: NDArray[Any], key: NDArray[np.bool_], t: Int64) -> Onsets:
    """When hands (a clapper board, two grippers) meet.

    Repeats are left out. The closing motion around a picture is the change from the one before to the one
    after it, times how much of the block flow runs towards its own centre; the height of picture p is the
    closing motion up to p less that from p + 1 on. Arms that stop or turn slow down over several pictures
    and lose little from one to the next. Where between p and p + 1 they met follows from how far the motion
    went there (contact fit), given how fast they part.

    Args:
        thumbs: (n, h, w) from `Thumbnails`.
        key: (n,) key pictures.
        t: (n,) ns of each.
    """
    fresh = np.concatenate(([True], ~(fresh_share(thumbs, key).share < STALE))) if len(thumbs) else key
    shown, at = thumbs[fresh], t[fresh]
    if len(at) < 20:
        return NOTHING
    period = float(np.median(np.diff(at)))
    grey = shown.astype(np.float32) * np.float32(1 / GREY)
    single, double = _change(grey, 1), _change(grey, 2) / 2
    inward = _converging(block_flow(shown, at).x.astype(np.float64))
    before = np.minimum(np.minimum(double[:-3], single[:-4]), single[1:-3])  # [i]: up to picture i + 2
    after = double[3:]  # from picture i + 3 on
    closing = before * np.maximum(inward[:-3], 0.0)
    height = np.maximum(closing - after * np.maximum(inward[3:], 0.0), 0.0)
    height *= np.maximum(before - after, 0.0) / np.maximum(before, 1e-9)
    found, margin = standing_out(height, max(round(APART * 1e9 / period), 2), _HARDER, least=_LEAST)
    place, spread = _met(single, double, found + 2)
    when = np.rint(np.interp(place, np.arange(len(at)), at - at[0])).astype(np.int64) + at[0]
    return Onsets(when, period * 1e-9 * np.hypot(spread, _COARSE), margin)


def _met(single: Floats, double: Floats, near: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """(k,), (k,) pictures since the first at which they met, and its standard deviation.

    Steady motion before the interval c of contact, r of it backwards after, and share - r (1 - share) within.
    Changes over one and over two pictures show its size, the latter also which way it went. The mean over all
    c near by, shares and r, each weighted by how well it fits to within a sixth of the motion.

    Args:
        single: (n - 1,) change over each interval.
        double: (n - 2,) change over that and the next.
        near: (k,) intervals to look around.
    """
    around = np.arange(-2, 4)
    seen = np.concatenate((_scaled(single, near, around, 2), _scaled(double, near, around[:-1], 1)), axis=1)
    c, share, r = np.meshgrid(np.arange(-1, 3), np.linspace(0, 1, 21), np.linspace(0, 0.9, 10), indexing="ij")
    within = (share - r * (1 - share))[..., None]
    moved = np.where(around < c[..., None], 1.0, np.where(around > c[..., None], -r[..., None], within))
    model = np.abs(np.concatenate((moved, (moved[..., 1:] + moved[..., :-1]) / 2), axis=-1))
    off = seen[:, None, None, None] - model
    weight = np.exp(-0.5 * np.minimum((off * 6) ** 2, 9.0).sum(-1))
    weight /= weight.sum((1, 2, 3), keepdims=True)
    mean = (weight * (c + share)).sum((1, 2, 3))
    spread = (weight * (c + share - mean[:, None, None, None]) ** 2).sum((1, 2, 3))
    return near + mean, np.sqrt(spread)


def _scaled(change: Floats, near: NDArray[np.intp], around: NDArray[np.intp], before: int) -> Floats:
    """(k, a) changes around places, in shares of the greatest of the first ``before``."""
    seen = change[np.clip(near[:, None] + around, 0, len(change) - 1)]
    return np.asarray(seen / np.maximum(seen[:, :before].max(1, keepdims=True), 1e-9))


def _change(grey: NDArray[np.float32], stride: int) -> Floats:
    """(n - stride,) mean change of cells beyond what half of the cells change: noise and light drop out."""
    step = np.abs(grey[stride:] - grey[:-stride]).reshape(len(grey) - stride, -1)
    usual = np.median(step, axis=1, keepdims=True)
    return np.asarray(np.maximum(step - 3 * usual, 0.0).mean(1), np.float64)


def _converging(flow: Floats) -> Floats:
    """(n,) 1 where all motion runs to the centre of motion, -1 where it runs away, 0 where it passes by."""
    rows, columns = BLOCKS
    y, x = (g.ravel() + 0.5 for g in np.mgrid[:rows, :columns])
    u, v = flow[:, : rows * columns], flow[:, rows * columns :]
    power = u**2 + v**2
    total = np.maximum(power.sum(1, keepdims=True), 1e-12)
    away_x, away_y = (
        x - (power * x).sum(1, keepdims=True) / total,
        y - (power * y).sum(1, keepdims=True) / total,
    )
    inward = -(np.sqrt(power) * (u * away_x + v * away_y)).sum(1)
    return np.asarray(inward / np.maximum((power * np.hypot(away_x, away_y)).sum(1), 1e-12))
