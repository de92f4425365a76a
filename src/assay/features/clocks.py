"""Feature: the distinct clocks of an episode, so that a fault of one is found once and not per stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.feature import feature
from assay.model import Clock, Episode, Role

__all__ = ["Ticks", "ticks"]

WITHOUT_RATE = (Role.EVENT, Role.INSTRUCTION)


@dataclass(frozen=True, slots=True, eq=False)
class Ticks:
    """Streams that share their stamps.

    Attributes:
        stream: the first one's name; others: the rest.
        clock: who made the stamps.
        t: (n,) int64 ns in stored order.
        step: (n-1,) ns from each stamp to the next.
        period: the median of the positive steps in ns, 0 where there is none.
    """

    stream: str
    others: tuple[str, ...]
    clock: Clock
    t: NDArray[np.int64]
    step: NDArray[np.int64]
    period: float

    @property
    def note(self) -> str:
        """Who else is concerned."""
        return f"also {', '.join(self.others)}" if self.others else ""


@feature(reads=tuple(role for role in Role if role not in WITHOUT_RATE))
def ticks(ep: Episode) -> tuple[Ticks, ...]:
    """Groups of streams with equal stamps and the same kind of clock, in stored order; see `Ticks`."""
    groups: list[tuple[NDArray[np.int64], Clock, list[str]]] = []
    for stream in ep.streams:
        if stream.role in WITHOUT_RATE:
            continue
        for t, clock, names in groups:
            if clock is stream.clock and (t is stream.t or np.array_equal(t, stream.t)):
                names.append(stream.name)
                break
        else:
            groups.append((stream.t, stream.clock, [stream.name]))
    return tuple(_ticks(t, clock, names) for t, clock, names in groups)


def _ticks(t: NDArray[np.int64], clock: Clock, names: list[str]) -> Ticks:
    step = np.diff(t)
    forward = step[step > 0]
    period = float(np.median(forward)) if len(forward) else 0.0
    return Ticks(names[0], tuple(names[1:]), clock, t, step, period)
