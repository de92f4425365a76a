"""Feature: what was requested (or a velocity, a torque) beside the measured position of the same joint."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, normalise
from assay.feature import feature
from assay.model import Channel, Episode, Role, Stream
from assay.units import si_factor, si_unit

__all__ = ["Pair", "pairs"]

STATES = (Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER)
PARTNERS = (Role.REQUEST, Role.EXECUTION, Role.JOINT_VELOCITY, Role.JOINT_TORQUE)
_QUANTITY = re.compile(r"[._](vel|velocity|qvel|dq|torque|tau|effort)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """The columns that one stream shares with a state stream, by channel name.

    Attributes:
        role: of the partner: request, execution, velocity or torque.
        stream, state: names of both streams.
        t: (m,) int64 ns of the partner; state_t: (n,) of the state.
        a: (m, c) partner, s: (n, c) state; SI where the unit is known.
        names: (c,) the partner's native names.
        unit, state_unit: (c,) SI, or ``unknown``.
        part: (c,) of the body's joint; ``hand`` by the channel's or stream's role; empty where unknown.
        rate: declared rate of the partner in Hz, or None.
    """

    role: Role
    stream: str
    state: str
    t: NDArray[np.int64]
    state_t: NDArray[np.int64]
    a: NDArray[np.float64]
    s: NDArray[np.float64]
    names: tuple[str, ...]
    unit: tuple[str, ...]
    state_unit: tuple[str, ...]
    part: tuple[str, ...]
    rate: float | None

    @property
    def one_clock(self) -> bool:
        """Whether row i of both is of the same time."""
        return self.t is self.state_t or np.array_equal(self.t, self.state_t)


@feature(reads=(*STATES, *PARTNERS))
def pairs(ep: Episode) -> tuple[Pair, ...]:
    """Every partner stream with each state stream that has channels of the same names; see `Pair`.

    Names are compared as `normalise` spells them, without a trailing ``vel`` or ``torque``. Where several
    state streams hold the name, the one whose last name step is the same (``left_arm``) is meant.
    """
    states = ep.by_role(*STATES)
    found = []
    for partner in ep.by_role(*PARTNERS):
        mine = [_spelt(c.name) for c in partner.channels]
        taken: set[int] = set()
        for state in sorted(states, key=lambda s: s.name.split(".")[-1] != partner.name.split(".")[-1]):
            where = {_spelt(c.name): i for i, c in reversed(list(enumerate(state.channels)))}
            both = [(i, where[name]) for i, name in enumerate(mine) if name in where and i not in taken]
            if both:
                taken |= {i for i, _ in both}
                found.append(_pair(ep.embodiment, partner, state, both))
    return tuple(found)


def _spelt(name: str) -> str:
    return normalise(_QUANTITY.sub("", name))


def _pair(body: Embodiment | None, partner: Stream, state: Stream, both: list[tuple[int, int]]) -> Pair:
    mine, theirs = [i for i, _ in both], [j for _, j in both]
    return Pair(
        partner.role, partner.name, state.name, partner.t, state.t,
        _columns(partner, mine), _columns(state, theirs),
        tuple(partner.channels[i].name for i in mine),
        tuple(si_unit(partner.channels[i].unit) for i in mine),
        tuple(si_unit(state.channels[j].unit) for j in theirs),
        tuple(_part(body, state, state.channels[j]) for j in theirs),
        float(partner.rate) if partner.rate else None,
    )  # fmt: skip


def _columns(stream: Stream, use: list[int]) -> NDArray[np.float64]:
    whole = use == list(range(stream.x.shape[1]))
    x = np.asarray(stream.x if whole else stream.x[:, use], np.float64)
    factors = np.array([si_factor(stream.channels[i].unit) for i in use])
    return x if (factors == 1.0).all() else x * factors


def _part(body: Embodiment | None, stream: Stream, channel: Channel) -> str:
    role = channel.role or stream.role
    if role in (Role.HAND_JOINTS, Role.GRIPPER):
        return "hand"
    index = int(body.resolve([channel.name])[0]) if body else -1
    return body.joints[index].part if body and index >= 0 else ""
