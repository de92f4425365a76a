"""Pictures of a camera that rides on an arm: the whole view moves when the arm does."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.model import Episode
from assay.signals.pictures import GREY, Pictures
from assay.synth.episodes import ARM_NAMES, edit, teleop
from assay.synth.pictures import film

__all__ = ["CAMERAS", "STATE", "ridden", "two_handed"]

STATE: Final = "observation.state"
CAMERAS: Final = {side: f"observation.images.cam_{side}_wrist" for side in ("left", "right")}
_SPAN: Final = 60.0  # cells that the view moves by for each radian

Floats = NDArray[np.float64]


@lru_cache(maxsize=8)
def two_handed(seconds: float = 30.0, alike: float = 0.0, still: str = "") -> Episode:
    """Teleoperation in which each arm reaches at times of its own, with a camera declared on either wrist.

    Args:
        seconds: length.
        alike: share of the right arm's motion that is the left's; 1 moves both as one.
        still: a side whose arm rests.
    """
    rng = np.random.default_rng(11)
    arms = len(ARM_NAMES) // 2

    def moved(x: Floats, names: tuple[str, ...]) -> Floats:
        left, right = (_reaches(rng, len(x), arms) for _ in range(2))
        right = alike * left + (1 - alike) * right
        for at, side, q in ((0, "left", left), (arms, "right", right)):
            x[:, at : at + arms] = x[:1, at : at + arms] + q * (side != still)
        x[:, : 2 * arms] += rng.normal(0.0, 2e-4, (len(x), 2 * arms))
        return x

    ep = edit(teleop(seconds, cameras=2), STATE, moved)
    names = {f"observation.images.cam_{i}": name for i, name in enumerate(CAMERAS.values())}
    return replace(
        ep,
        streams=tuple(replace(s, name=names.get(s.name, s.name)) for s in ep.streams),
        declared=tuple(replace(d, name=names.get(d.name, d.name)) for d in ep.declared),
    )


@lru_cache(maxsize=16)  # 9 MB for half a minute
def ridden(ep: Episode, side: Literal["left", "right", ""], late: int = 2) -> Pictures:
    """What a camera on one arm sees: a textured room that goes by; on no arm, the same room at rest.

    Args:
        ep: whose arms move.
        side: which arm it rides on.
        late: pictures by which it is late.
    """
    from scipy.ndimage import gaussian_filter, map_coordinates

    state = ep.stream(STATE)
    assert state is not None
    q = np.asarray(state.x)
    first = len(ARM_NAMES) // 2 * (side == "right")
    arm = q[:, first : first + len(ARM_NAMES) // 2] * bool(side)
    mix = np.random.default_rng(12).normal(0.0, 1.0, (arm.shape[1], 2)) / np.sqrt(arm.shape[1])
    at = np.concatenate((np.repeat(arm[:1], late, axis=0), arm))[: len(arm)] @ mix * _SPAN
    rng = np.random.default_rng(13)
    room = gaussian_filter(rng.normal(0.0, 1.0, (256, 256)), 3.0, mode="wrap")
    room = 120 + 40 * room / room.std()
    y, x = np.mgrid[:60, :80]
    grid = np.stack((y + at[:, 0, None, None], x + at[:, 1, None, None]))
    grey = map_coordinates(room, grid, order=1, mode="grid-wrap") + rng.normal(0.0, 0.3, grid.shape[1:])
    thumbs = np.rint(np.clip(grey, 0, 255) * GREY).astype(np.uint16)
    return replace(_plain(len(q)), thumbs=thumbs, mean=thumbs.mean((1, 2)) / GREY)


@lru_cache(maxsize=2)
def _plain(n: int) -> Pictures:
    return film(n)


def _reaches(rng: np.random.Generator, n: int, arms: int, rate: int = 30) -> Floats:
    """(n, arms) rad: goes from pose to pose with rests between, by least jerk (Flash and Hogan 1985)."""
    count = n // rate + 2
    begin = np.cumsum(rng.uniform(0.8, 2.4, count))
    poses = rng.normal(0.0, 0.25, (count + 1, arms))
    poses[0] = 0.0
    t = np.arange(n) / rate
    at = np.clip(np.searchsorted(begin, t, side="right") - 1, 0, count - 1)
    s = np.clip((t - begin[at]) / 0.7, 0.0, 1.0)[:, None]
    return np.asarray(poses[at] + (poses[at + 1] - poses[at]) * s**3 * (10 - 15 * s + 6 * s**2))
