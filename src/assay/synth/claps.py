"""Claps and flashes with known times: as sound, as a jolt, as pictures of two hands that meet, as light."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.signals.pictures import GREY, Pictures

__all__ = ["clap_film", "clap_sound", "flash_film", "jolted"]

Floats = NDArray[np.float64]
_HEIGHT, _WIDTH = 60, 80
_MOMENTS = 2  # of each exposure


def clap_sound(seconds: float, at: Sequence[float], rate: int, db: float, seed: int = 0) -> Floats:
    """(n,) noise of 1e-3 of full scale with bursts at ``at`` (s), ``db`` above it, that fade within 12 ms."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * rate)) / rate
    x = rng.normal(0.0, 1.0, len(t))
    for when in at:
        since = np.maximum(t - when, 0.0)
        burst = np.minimum(since / 5e-4, 1.0) * np.exp(-since / 0.012)
        x += 10 ** (db / 20) * burst * rng.normal(0.0, 1.0, len(t))
    return np.asarray(1e-3 * x)


def jolted(t: Floats, at: Sequence[float], size: float, seed: int = 0) -> Floats:
    """(n, 3) an accelerometer or a force at ``t`` (s): noise of 1, blows of ``size`` that ring at 25 Hz."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0.0, 1.0, (len(t), 3)) + np.array([0.0, 0.0, 20.0])
    for when in at:
        since = np.maximum(t - when, 0.0)
        ring = np.exp(-since / 0.03) * np.cos(2 * np.pi * 25 * since) * (t >= when)
        x += size * ring[:, None] * np.array([0.5, 0.3, 0.8])
    return np.asarray(x)


def clap_film(  # noqa: PLR0913  # each is a dose of its own
    seconds: float, at: float | None, fps: int = 30, *, repeat: int = 1, speed: float = 100.0,
    gap: float = 16.0, bounce: float = 0.3, noise: float = 1.0, seed: int = 0,
) -> Pictures:  # fmt: skip
    """Two hands that hang, run into each other at ``at`` (s) and part again; without ``at`` they swing.

    Args:
        seconds: length.
        at: s of contact.
        fps: pictures per second in the file.
        repeat: how often each is shown, 2 for a camera of half that rate.
        speed: of each hand, cells per second.
        gap: cells between each hand and the middle at rest.
        bounce: share of the speed at which they part.
        noise: grey per cell.
        seed: of noise and table.
    """
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:_HEIGHT, :_WIDTH].astype(np.float32)
    table = 110 + 30 * np.sin(0.3 * x + rng.uniform(0, 6)) * np.cos(0.23 * y)
    table += np.kron(rng.normal(0, 12, (12, 16)), np.ones((5, 5))).astype(np.float32)
    size, n = float(rng.uniform(3, 6)), round(seconds * fps / repeat)
    t = np.arange(n) * repeat / fps
    shown = np.zeros((n, _HEIGHT, _WIDTH), np.float32)
    for moment in (np.arange(_MOMENTS) - 0.5) / _MOMENTS * 0.5 * repeat / fps:
        shown += _hands(table, y, x, t + moment, _apart(t + moment, at, speed, gap, bounce), size) / _MOMENTS
    shown = np.repeat(shown + rng.normal(0, noise, shown.shape).astype(np.float32), repeat, axis=0)
    return _filmed(shown + rng.normal(0, 0.1, shown.shape) * (repeat > 1), fps)


def _apart(t: Floats, at: float | None, speed: float, gap: float, bounce: float) -> Floats:
    """(n,) cells from each hand to the middle."""
    if at is None:
        return np.asarray(gap * (0.6 + 0.4 * np.sin(2 * np.pi * 0.5 * t)))
    after = np.minimum(bounce * speed * (t - at), 0.6 * gap)
    return np.where(t < at, np.minimum(gap, speed * (at - t)), after)


def _hands(
    table: NDArray[np.float32], y: NDArray[np.float32], x: NDArray[np.float32], t: Floats, apart: Floats,
    size: float,
) -> NDArray[np.float32]:  # fmt: skip
    """(n, h, w) both hands over the table; they sway together a little."""
    shown = np.repeat(table[None], len(t), axis=0)
    v = y - 32 - (2 * np.sin(1.3 * t)).astype(np.float32)[:, None, None]
    for side in (-1, 1):
        u = x - (40 + side * (apart + 0.9 * size)).astype(np.float32)[:, None, None]
        near, level = (u / size) ** 2, (v / (1.6 * size)) ** 2
        there = np.exp(-(near * near + level * level))
        skin = 180 - 20 * (side > 0) + 20 * np.sin(1.1 * u) * np.cos(0.9 * v)
        shown += there * (skin - shown)
    return shown


def flash_film(
    seconds: float, at: Sequence[float], fps: int = 30, *, rise: float = 30.0, lasting: float = 0.1,
    noise: float = 1.0, seed: int = 0,
) -> Pictures:  # fmt: skip
    """A room whose light rises by ``rise`` grey at ``at`` (s) for ``lasting`` s, exposed half of the time."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * fps)) / fps
    fine = (t[:, None] + (np.arange(20) / 20 - 0.5) * 0.5 / fps)[..., None]
    lit = ((fine >= np.array(at)) & (fine < np.array(at) + lasting)).any(-1).mean(1)
    room = 80 + 40 * np.sin(np.arange(_WIDTH) * 0.2)[None, :] * np.cos(np.arange(_HEIGHT) * 0.3)[:, None]
    swing = 3 * np.sin(1.1 * t)  # people move, clouds pass
    shown = room + (rise * lit + swing)[:, None, None] + rng.normal(0, noise, (len(t), _HEIGHT, _WIDTH))
    return _filmed(shown, fps)


def _filmed(shown: NDArray[np.floating[Any]], fps: int) -> Pictures:
    n = len(shown)
    thumbs = np.rint(np.clip(shown, 0, 255) * GREY).astype(np.uint16)
    t = np.rint(np.arange(n) * 1e9 / fps).astype(np.int64)
    mean = (thumbs.mean((1, 2)) / GREY).astype(np.float32)
    return Pictures(t, np.arange(n) % 30 == 0, mean, np.arange(n, dtype=np.uint32), thumbs, n, t[:0])
