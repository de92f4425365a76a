"""Is something touched: from force, tactile cells, a gripper, or an object's distance. Three-valued.

Every function gives (n,) int8: 1 contact, 0 none, -1 cannot be told. What is not finite cannot be told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.signals.feet import displaced, latched, length, noise

__all__ = ["Contact", "by_distance", "by_force", "by_gripper", "by_touch"]

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
State = NDArray[np.int8]

FORCE: Final = (5.0, 2.0)
"""N above rest, entering and leaving: above the drift of wrist sensors, below what a held cup weighs."""
TOUCH: Final = (8.0, 4.0)
"""Standard deviations of a cell's noise, entering and leaving."""
REACH: Final = 0.35
"""m from hand link to object centre beyond which no hand touches (OmniRetarget: wrist within 0.28 m)."""
CARRIED: Final = 0.001
"""m in 1/30 s; an object that moves faster than 3 cm/s while its distance to the hand stays is held."""


@dataclass(frozen=True, slots=True, eq=False)
class Contact:
    """Contact of one hand or sensor over time.

    Attributes:
        t: (n,) int64 ns; state: (n,) int8, see the module.
        side: left, right or neither; by: what told it; stream: from which stream.
    """

    t: Int64
    state: State
    side: Literal["left", "right", ""]
    by: Literal["force", "tactile", "gripper", "distance"]
    stream: str


def by_force(force: Floats) -> State:
    """From forces (n, 3) N: their length above its own resting level (the 10th percentile)."""
    size = length(force)
    if not np.isfinite(size).any():
        return np.full(len(size), -1, np.int8)
    above = size - np.nanpercentile(size, 10)
    return _state(latched(-above, -FORCE[0], -FORCE[1]), size)


def by_touch(cells: Floats) -> State:
    """From tactile cells (n, c) in any unit: the most excited cell, in its own noise.

    A sensor that never leaves its noise is dead or was never touched, which nothing in it tells apart: -1.
    """
    n = len(cells)
    if not cells.size or not np.isfinite(cells).any():
        return np.full(n, -1, np.int8)
    rest = np.nanpercentile(cells, 10, axis=0)
    grain = np.array([noise(cells[:, [i]]) for i in range(cells.shape[1])])
    grain = np.maximum(
        np.nan_to_num(grain), 1e-3 * np.maximum(np.nanmax(np.abs(cells - rest), axis=0), 1e-12)
    )
    excited = ((cells - rest) / grain).max(axis=1)
    on = latched(-excited, -TOUCH[0], -TOUCH[1])
    return _state(on, excited) if on.any() else np.full(n, -1, np.int8)


def by_gripper(t: Int64, drive: Floats, closed: float, opened: float) -> State:
    """From one drive (n,) between its closed and its open value: stopped on the way is holding.

    Args:
        t: (n,) ns.
        drive: (n,) in its own unit.
        closed: its value when closed.
        opened: its value when open.

    Open is 0; at rest between the stops after closing is 1; fully closed (nothing, or something thin),
    moving, or at rest after opening is -1.
    """
    share = (drive - closed) / (opened - closed)  # 0 closed, 1 open
    moved = displaced(t, share)
    at_rest = latched(np.abs(moved), 0.005, 0.01)
    way = np.sign(np.where(np.abs(moved) > 0.01, moved, 0.0))
    last = np.maximum.accumulate(np.where(way != 0, np.arange(len(way)), 0))
    closing = way[last] < 0
    state = np.full(len(share), -1, np.int8)
    state[share > 0.9] = 0
    state[at_rest & closing & (share > 0.05) & (share <= 0.9)] = 1
    state[~np.isfinite(share)] = -1
    return state


def by_distance(t: Int64, hand: Floats, thing: Floats) -> State:
    """From places of a hand and of an object's centre, both (n, 3) m.

    Out of reach is 0; an object that moves while its distance to the hand stays is held, 1; else -1, as the
    object's size is not known.
    """
    away = length(hand - thing)
    carried = latched(-length(displaced(t, thing)), -CARRIED, -CARRIED / 2)
    together = latched(np.abs(displaced(t, away)), CARRIED / 2, CARRIED)
    state = np.full(len(away), -1, np.int8)
    state[carried & together & (away <= REACH)] = 1
    state[away > REACH] = 0
    return state


def _state(on: NDArray[np.bool_], value: Floats) -> State:
    state = on.astype(np.int8)
    state[~np.isfinite(value)] = -1
    return state
