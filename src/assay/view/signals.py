"""Which channels of the data stand beside a gate's samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.model import Episode, Role, Stream

__all__ = ["CHANNELS", "channels_of", "moving"]

CHANNELS: Final = 2
"""Channels shown at most, each as state and as request: what 80 columns hold."""

_AROUND: Final = 10**9
"""ns on either side of a moment in which a channel may move."""


def channels_of(ep: Episode, stream: str, names: Sequence[str]) -> list[tuple[Stream, int]]:
    """Stream and index of the named channels: in one stream, in joint states, in requests."""
    own = ep.stream(stream)
    every = [*([own] if own else []), *ep.by_role(Role.JOINT_POSITION), *ep.by_role(Role.REQUEST)]
    streams = {s.name: s for s in every if len(s)}.values()
    return [(s, c) for name in names for s in streams if (c := _channel(ep, s, name)) >= 0]


def moving(ep: Episode, at: int) -> list[tuple[Stream, int]]:
    """As `channels_of`, of the joints (else of what is requested) that move most around ``at`` (ns)."""
    joints = (s for s in ep.by_role(Role.JOINT_POSITION, Role.REQUEST) if len(s))
    lead = min(joints, key=lambda s: s.role is not Role.JOINT_POSITION, default=None)
    if lead is None:
        return []
    x = np.asarray(lead.x, np.float64)[np.abs(lead.t - at) <= _AROUND]
    x = x if len(x) else np.asarray(lead.x, np.float64)
    most = np.argsort(-_range(x), kind="stable")[:CHANNELS]
    return channels_of(ep, lead.name, [lead.names[i] for i in most])


def _range(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """(c,) largest less smallest finite value; below 0 where none is."""
    seen = np.isfinite(x)
    high, low = np.where(seen, x, -np.inf).max(axis=0), np.where(seen, x, np.inf).min(axis=0)
    return np.where(seen.any(axis=0), high - low, -1.0)


def _channel(ep: Episode, stream: Stream, name: str) -> int:
    """Index of the channel of that name, or of the same joint under another; -1 if it has none."""
    if name in stream.names:
        return stream.names.index(name)
    if ep.embodiment is None or (joint := ep.embodiment.resolve((name,))[0]) < 0:
        return -1
    same = np.flatnonzero(ep.embodiment.resolve(stream.names) == joint)
    return int(same[0]) if len(same) else -1
