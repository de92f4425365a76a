"""How far two streams are apart in time, as an estimate with its error, its place and what it rests on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.signals.onward import stray

__all__ = ["BELIEVED", "Offset", "offsets_of", "shortest_way", "towards", "wander", "windows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BELIEVED: Final = 0.12
"""Seconds by which a camera's declared offset and the lag of its pictures after the joints may differ:
content runs 83 ms after a real G1's joints, give or take a picture (docs/power/SYN001.md)."""

_WINDOW: Final = 3 * 10**9
"""ns over which the shortest way to a recorder is taken: its queues drain sooner."""


@dataclass(frozen=True, slots=True)
class Offset:
    """One estimate of how much later one stream is than another.

    Attributes:
        stream: the one that is late where ``seconds`` is positive; against: the other.
        t0, t1: int64 ns, the stretch of the episode that the estimate speaks for.
        seconds: the offset; u: its standard uncertainty, bias of the method included.
        by: what it rests on: ``stamps``, ``claps``, ``content``, ``trigger`` or ``log``.
        reference: ``absolute``, or ``deviation`` from the rig's median over the corpus.
        end: which end of the episode, or ``whole``.
    """

    stream: str
    against: str
    t0: int
    t1: int
    seconds: float
    u: float
    by: Literal["stamps", "claps", "content", "trigger", "log"]
    reference: Literal["absolute", "deviation"] = "absolute"
    end: Literal["start", "end", "whole"] = "whole"


def offsets_of(found: Any) -> tuple[Offset, ...]:
    """The offsets that a feature found: nothing, what holds ``offsets``, or several of these."""
    if found is None:
        return ()
    if isinstance(found, Offset):
        return (found,)
    if isinstance(found, Mapping):
        found = tuple(found.values())
    inner = getattr(found, "offsets", found)
    return tuple(o for one in inner for o in offsets_of(one)) if isinstance(inner, Iterable) else ()


def towards(found: Sequence[Offset], stream: str, against: Collection[str]) -> list[Offset]:
    """The absolute ones that hold a stream against one of the others, each as that stream's lateness."""
    turned = (replace(o, stream=o.against, against=o.stream, seconds=-o.seconds) for o in found)
    both = ((o, back) for o, back in zip(found, turned, strict=True) if o.reference == "absolute")
    return [o for pair in both for o in pair if o.stream == stream and o.against in against]


def windows(d: Ints, rows: int) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Medians of a difference over windows of so many rows, one after the other, the last up to the end.

    Args:
        d: (n,) ns, n > 0.
        rows: how many a window has.

    Returns:
        (k,) s, the medians; (k,) s, their standard errors by the median absolute deviation, none below the
        usual one, since ten rows may agree by chance; (k, 2) first and last row of each.
    """
    rows = min(max(rows, 1), len(d))
    whole = len(d) // rows * rows
    first = np.r_[np.arange(0, whole, rows), [len(d) - rows] * (whole < len(d))].astype(np.intp)
    x = d[first[:, None] + np.arange(rows)] * 1e-9
    level = np.median(x, axis=1)
    u = 1.2533 * 1.4826 / rows**0.5 * np.median(np.abs(x - level[:, None]), axis=1)
    return level, np.maximum(u, np.median(u)), np.stack((first, first + rows - 1), axis=1)


def wander(a: tuple[Ints, Ints], b: tuple[Ints, Ints]) -> float:
    """By how many seconds one stream's shortest way to a recorder changes against another's.

    Each stream by its own stamps (ns) and those of a later clock that both share; samples that a clock left
    unset (0 or less), and single stamps that leap, do not count. Drift and bows of a stamp show, delays
    shorter than three seconds do not.
    """
    known = [_known(*side) for side in (a, b)]
    if not all(len(own) for own, _ in known):
        return 0.0
    first = max(int(later.min()) for _, later in known)
    last = min(int(later.max()) for _, later in known)
    parts = max(min((last - first) // _WINDOW, *(len(own) // 10 for own, _ in known)), 1)
    edges = np.linspace(first, last, parts + 1)[1:-1]
    way = np.full((2, parts), np.inf)
    for side, (own, later) in zip(way, known, strict=True):
        np.minimum.at(side, np.digitize(later, edges), (later - own) * 1e-9)
    both = np.isfinite(way).all(axis=0)
    return float(np.ptp(way[0, both] - way[1, both])) if both.any() else 0.0


def shortest_way(own: Ints, later: Ints) -> float:
    """Seconds of the shortest way from a stream's own stamps (n,) ns to a later clock's; NaN without any.

    Samples that a clock left unset (0 or less), and single stamps that leap, do not count.
    """
    own, later = _known(own, later)
    return float((later - own).min()) * 1e-9 if len(own) else float("nan")


def _known(own: Ints, later: Ints) -> tuple[Ints, Ints]:
    there = (own > 0) & (later > 0)
    own, later = own[there], later[there]
    keep = ~(stray(own) | stray(later))
    return own[keep], later[keep]
