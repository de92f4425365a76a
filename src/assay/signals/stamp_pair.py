"""What the stamps of two streams say of their offset, and when they say nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.model import Clock, Episode, Stream
from assay.signals.offsets import shortest_way, wander, windows

__all__ = [
    "CALENDAR",
    "apart",
    "bounds",
    "dated",
    "mute",
    "paired",
    "received_early",
    "swayed",
    "undated",
    "unrelated",
    "unsettled",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CALENDAR: Final = 1_000_000_000 * 10**9
"""ns since 1970, September 2001: a robot's uptime does not reach it."""

_UNDATED: Final = "neither clock tells a date: they count from boot or from a start, or were never set"
_REAL: Final = (Clock.SENSOR, Clock.RECEIVE)
_LATER: Final = (Clock.RECEIVE, Clock.LOG)
_DAY: Final = 86_400.0


def dated(t: Ints) -> bool:
    """Whether stamps (ns) are calendar time: their median lies after 2001."""
    return len(t) > 0 and float(np.median(t)) > CALENDAR


def undated(ep: Episode, *streams: Stream) -> str:
    """In words, where the stamps of none of these streams tell a date; else empty."""
    start = ep.meta.get("stamps/start") or 0
    return "" if any(dated(s.t + start) for s in streams) else _UNDATED


def unrelated(ep: Episode, a: Stream, b: Stream) -> str:
    """Why the clocks of two streams do not begin to count together; empty where they may."""
    parts = {p if f"parts/{p}/offset" in ep.meta else "" for p in (s.name.partition("/")[0] for s in (a, b))}
    if len(parts) > 1:
        return f"{a.name} and {b.name} come in two files, each on its own clock"
    start = ep.meta.get("stamps/start") or 0
    if len(a) and len(b) and int(a.t[0]) + start == int(b.t[0]) + start == 0:
        return f"{a.name} and {b.name} each count from their own first sample"
    return ""


def mute(ep: Episode, a: Stream, b: Stream) -> str:
    """Why the stamps of two streams say nothing of their offset; empty where they do."""
    for one in (a, b):
        if one.clock not in _REAL:
            return f"{one.name} is stamped by its {one.clock} clock"
        if len(one) > 1 and one.t.min() == one.t.max():
            return f"the stamps of {one.name} never move"
    if len(a) > 1 and np.array_equal(a.t, b.t):
        return f"{a.name} and {b.name} share every stamp to the ns: one clock, written twice"
    return unrelated(ep, a, b)


def paired(ep: Episode, a: Stream, b: Stream) -> bool:
    """Whether the samples of two streams belong together one by one, as in the rows of a table.

    Messages of two topics do not, also where there happen to be as many of both.
    """
    return len(a) == len(b) and "topics" not in ep.meta


def apart(a: Stream, b: Stream, rows: int) -> tuple[Floats, Floats, Ints, Ints]:
    """How much later one stream of paired rows is stamped than the other.

    Args:
        a: with a sample at least.
        b: the other, with as many.
        rows: how many a window has.

    Returns:
        (k,) s, the offset in every window; (k,) s, its error; (k,) ns where each window begins and where it
        ends, by b.
    """
    value, u, at = windows(a.t - b.t, rows)
    t0, t1 = b.t[at].T
    return value, u, t0, t1


def swayed(a: Stream, b: Stream) -> tuple[float, Clock] | None:
    """By how many seconds the way to a later clock changes from one stream to the other, and that clock.

    None where no later clock stamped both.
    """
    later = _common(a, b)
    return None if later is None else (wander((a.t, a.stamps[later]), (b.t, b.stamps[later])), later)


def bounds(a: Stream, b: Stream) -> tuple[float, float, Clock] | None:
    """Seconds of both streams' shortest ways to a later clock, and that clock: no stamp is earlier than that.

    A sample is taken before it is received, so that stamps are ahead of the truth by no more than the way.
    None where no later clock stamped both, where it counts from another date or only repeats what a sensor
    stamped, and where stamps were themselves made on arrival.
    """
    later = _common(a, b)
    if later is None or any(s.clock is not Clock.SENSOR or _same(s, later) for s in (a, b)):
        return None
    ways = [shortest_way(s.t, s.stamps[later]) for s in (a, b)]
    return (ways[0], ways[1], later) if all(abs(w) < _DAY for w in ways) else None


def unsettled(a: Stream, b: Stream) -> str:
    """In words, why stamps of samples that are not paired leave the offset of two streams open."""
    found = bounds(a, b)
    if found is not None:
        here, there, later = found
        return f"shortest way to the {later} stamp {here * 1e3:.3g} and {there * 1e3:.3g} ms: no closer bound"
    arrived = next((s.name for s in (a, b) if s.clock is not Clock.SENSOR), "")
    if arrived:
        return f"{arrived} is stamped on arrival: the way from event to stamp is not in it"
    first, last = (int(a.t[i] - b.t[i]) * 1e-6 for i in (0, -1))
    return (
        f"no later clock tells of both: first and last stamps, {first:+.0f} and {last:+.0f} ms apart, tell "
        "when each topic began and ended"
    )


def _common(a: Stream, b: Stream) -> Clock | None:
    return next((c for c in _LATER if _further(a, c) and _further(b, c)), None)


def _same(stream: Stream, later: Clock) -> bool:
    return np.array_equal(stream.t, stream.stamps[later])


def _further(stream: Stream, clock: Clock) -> bool:
    return stream.clock is not clock and len(stream.stamps.get(clock, ())) == len(stream)


def received_early(pair: Sequence[Stream], limit: float) -> tuple[float, float, str] | None:
    """Stamps of one of two streams that lie after their receipt by more than a limit, the other's not.

    Returns:
        s, by how much the two differ; s, its standard uncertainty; the stream's name; or None.
    """
    ways = [_usual_way(stream) for stream in pair]
    late = [-way > limit for way in ways]
    if sum(late) != 1 or not max(ways) >= 0:
        return None
    return abs(ways[1] - ways[0]), max(ways) / 3**0.5, pair[late.index(True)].name


def _usual_way(stream: Stream) -> float:
    """Seconds from a stream's stamps to those of receipt, else of the log: the median.

    NaN without these, or where they count from another date. Receipt goes first: DROID's log is when a
    control step began, which is before its pictures are taken.
    """
    later = next((c for c in _LATER if c is not stream.clock and c in stream.stamps), None)
    if later is None or len(stream.stamps[later]) != len(stream):
        return float("nan")
    there = stream.stamps[later]
    both = (there > 0) & (stream.t > 0)
    way = float(np.median((there - stream.t)[both])) * 1e-9 if both.any() else float("nan")
    return way if abs(way) < _DAY else float("nan")
