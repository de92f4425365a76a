"""Episodes whose camera is stamped late, early, by a clock of its own or not at all, against the joints."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.model import Clock, Episode, Kind
from assay.synth.episodes import retime, teleop

__all__ = ["CAMERA", "counted", "declares", "late", "logged", "one_clock", "slow", "stopped", "topics"]

CAMERA: Final = "observation.images.cam_0"


def late(seconds: float, clock: Clock = Clock.SENSOR, shape: str = "flat") -> Episode:
    """The camera's own stamps; late throughout, in a half sine, or for a second amid the episode."""

    def own(t: NDArray[np.int64]) -> NDArray[np.int64]:
        x = np.linspace(0.0, 1.0, len(t))
        part = {"flat": np.ones(len(t)), "bow": np.sin(np.pi * x), "amid": (x > 0.4) & (x < 0.5)}[shape]
        noise = np.random.default_rng(1).normal(0.0, 1e5, len(t))
        return t + np.rint(noise + seconds * 1e9 * part).astype(np.int64)

    return retime(teleop(clock=clock), CAMERA, own)


def counted(start: float, seconds: float = 0.0) -> Episode:
    """`late` by clocks that read ``start`` (s) when it began; 0: each at its own first sample."""
    ep = late(seconds)
    for s in ep.streams:
        ep = ep.with_stream(replace(s, t=s.t + round(start * 1e9) if start else s.t - s.t[0]))
    return ep


def stopped() -> Episode:
    """A camera whose clock stands still."""
    return retime(teleop(clock=Clock.SENSOR), CAMERA, lambda t: np.full(len(t), t[0]))


def slow(share: float) -> Episode:
    """A camera whose clock runs fast by a share of its own time."""
    return retime(teleop(clock=Clock.SENSOR), CAMERA, lambda t: (t * (1 + share)).astype(np.int64))


def one_clock(kind: Kind = Kind.SIMULATION, seconds: float = 0.0) -> Episode:
    """`late` of which the sheet declares one clock."""
    return replace(late(seconds), sync="one-clock", kind=kind)


def logged(seconds: float, bow: float = 0.0) -> Episode:
    """Stamps of one instant, the recorder's 3 ms after them; the camera's own are moved, its ends apart.

    With a bow the camera's own stamps are early by up to so many seconds amid the episode.
    """
    ep = late(0.0)
    for s in ep.streams:
        ep = ep.with_stream(replace(s, t=s.t + 10**9, stamps={Clock.LOG: s.t + 10**9 + 3_000_000}))
    camera = ep.stream(CAMERA)
    assert camera is not None
    t = np.linspace(camera.t[0], camera.t[-1], 200).astype(np.int64)
    log = t + round((0.003 - seconds) * 1e9)
    t = t - np.rint(bow * 1e9 * np.sin(np.pi * np.linspace(0, 1, 200))).astype(np.int64)
    return ep.with_stream(replace(camera, t=t, x=camera.x[:200], stamps={Clock.LOG: log}))


def topics(
    rate: int = 30,
    begins: float = 0.0,
    ends: float = 0.0,
    way: float | None = 0.02,
    clock: Clock = Clock.SENSOR,
) -> Episode:
    """Messages of one clock; the camera comes at ``rate`` Hz from ``begins`` s after the joints on.

    Args:
        rate: of the camera; the joints come at 30 Hz for 10 s.
        begins: s.
        ends: s by which its last message is earlier than the joints'.
        way: s from its stamps to its log; joints take 3 ms. None: nobody logged either.
        clock: who stamped both.
    """
    ep = teleop(clock=clock)
    for s in ep.streams:
        if s.name == CAMERA:
            own = 1.0 + np.arange(begins, 10.0 - ends, 1 / rate)
            t, late_by = np.rint(own * 1e9).astype(np.int64), way
            s = replace(s, x=np.empty((len(t), 0)), rate=Fraction(rate))  # noqa: PLW2901
        else:
            t, late_by = s.t + 10**9, way and 0.003
        stamps = {} if late_by is None else {Clock.LOG: t + round(late_by * 1e9)}
        ep = ep.with_stream(replace(s, t=t, stamps=stamps))
    return replace(ep, meta={**ep.meta, "topics": {}})


def declares(offset: float, u: float | None = 3e-3) -> Episode:
    """A camera that the sheet declares to be late by ``offset`` ± ``u`` s, without stamps."""
    ep, about = teleop(), f"cameras/{CAMERA}"
    return replace(ep, meta={**ep.meta, f"{about}/offset": offset, f"{about}/offset_u": u})
