"""Feature: torque at the joints, and the force and moment that no contact of the feet can supply."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, Tree
from assay.feature import feature
from assay.model import Episode
from assay.signals.aloft import others
from assay.signals.dynamics import LEAST, LEAST_RATE, Dynamics, fall, mass_known, motion, supported, torques
from assay.signals.feet import displaced, length, noise
from assay.signals.ground import Ground
from assay.signals.intervals import period
from assay.signals.posture import Poses

__all__ = ["dynamics"]

Floats = NDArray[np.float64]

NEAR = 0.03
"""m above the ground within which a sole point may carry: soles of retargeted clips scatter by 1 to 2 cm."""
SLOW = 0.02
"""m in 1/30 s: a sole whose points all move faster has just landed or is about to leave."""
FRICTION = 1.0
"""Tangential over normal force that a sole can give at most; rubber on a dry floor."""
BLUR = 0.1
"""s that the low pass spreads an impact to either side."""


@feature(reads=())
def dynamics(ep: Episode, poses: Poses | None, ground: Ground | None) -> Dynamics | None:
    """Inverse dynamics on the clock of `poses`; None without masses, base, soles, a ground or even times.

    Contact is what sole points within 3 cm of the ground give (the declared one, else the densest height of
    the soles), inside friction cones; the least forces where several fit. They give it however fast they
    move: a sole that turns in a spin or skids at a landing carries too. ``other`` marks frames in which
    something else may touch the ground.
    """
    body = ep.embodiment
    if body is None or poses is None or ground is None or not _can(body, poses):
        return None
    assert poses.place is not None
    n = len(poses.t)
    step = float(period(poses.t)) * 1e-9 if n > 1 else 0.0
    even = n > 1 and np.abs(np.diff(poses.t) * 1e-9 - step).max() < 0.05 * step
    level, _ = ground.level(0.02) if ground.declared is not None else (ground.estimate, 0.0)
    if n < LEAST or not even or not np.isfinite(level) or step > 1.001 / LEAST_RATE:
        return None
    tree = poses.tree
    m = motion(tree, poses.q, poses.place, 1.0 / step)
    soles = np.concatenate(list(poses.soles.values()), axis=1)
    still = ~(length(displaced(poses.t, soles)) >= SLOW)  # not yet known in the first 1/30 s
    active = soles[..., 2] < level + NEAR
    about = m.centre
    if not np.isfinite(about[:, 2]).any():
        return None
    height = max(float(np.nanmedian(about[:, 2])) - level, 0.1)
    push, rest = supported(m.wrench(about), soles - about[:, None], active, height, FRICTION)
    feet = [tree.index(s.link) for s in body.soles]
    tau = torques(tree, m, _pushes(body, tree, push, soles, m.p))
    weight = float(m.mass.sum()) * 9.81
    return Dynamics(
        torque=tau,
        force=length(rest[:, :3]) / weight,
        moment=length(rest[:, 3:]) / (weight * height),
        carried=_feet(body, active),
        steady=_steady(np.asarray((active & still).any(axis=1)), 1.0 / step),
        other=others(tree, m.p[..., 2] - level, feet),
        rate=1.0 / step,
        u=fall(noise(poses.place[:, :3]), 1.0 / step),
    )


def _can(body: Embodiment, poses: Poses) -> bool:
    known = poses.timed and poses.place is not None and bool(poses.soles) and bool(poses.known.all())
    return known and mass_known(poses.tree)


def _pushes(body: Embodiment, tree: Tree, push: Floats, soles: Floats, p: Floats) -> dict[int, Floats]:
    """Link of each foot → (T, 6) what its sole points give, about the link's origin."""
    found, at = {}, 0
    for sole in body.soles:
        part = slice(at, at + len(sole.points))
        at += len(sole.points)
        i = tree.index(sole.link)
        turn = np.cross(soles[:, part] - p[:, None, i], push[:, part])
        found[i] = np.concatenate([push[:, part].sum(axis=1), turn.sum(axis=1)], axis=1)
    return found


def _feet(body: Embodiment, active: NDArray[np.bool_]) -> NDArray[np.intp]:
    """(T,) number of feet of which a sole point is in contact."""
    first = np.cumsum([0, *(len(s.points) for s in body.soles[:-1])])
    return np.asarray(np.logical_or.reduceat(active, first, axis=1).sum(axis=1))


def _steady(carried: NDArray[np.bool_], rate: float) -> NDArray[np.bool_]:
    """(T,) away from take-off, landing and both ends: the low pass spreads what happens there."""
    edge = np.concatenate([[True], carried[1:] != carried[:-1]])
    edge[-1] = True
    reach = max(1, round(BLUR * rate))
    near = np.convolve(edge, np.ones(2 * reach + 1))  # "same" is as long as the longer of the two
    return np.asarray(near[reach : reach + len(edge)] < 0.5)
