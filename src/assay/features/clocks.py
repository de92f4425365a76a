"""Features: the distinct clocks of an episode, and each held against another.

A fault of one clock is found once and not per stream; what two clocks say of each other is worked out once
for every gate of time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.feature import feature
from assay.model import Clock, Episode, Role, Stream
from assay.signals.clocks import Drift, Jumps, counted, drift, exact, jumps

__all__ = ["Apart", "Held", "Ticks", "apart", "held", "ticks"]

WITHOUT_RATE = (Role.EVENT, Role.INSTRUCTION)
TIMED: Final = tuple(role for role in Role if role not in WITHOUT_RATE)
JOINTS: Final = (Role.JOINT_POSITION, Role.EXECUTION, Role.REQUEST, Role.JOINT_VELOCITY)
ORDER: Final = (Clock.SENSOR, Clock.RECEIVE, Clock.LOG)
"""Real clocks in the order in which a sample meets them: a later one holds more delay."""

PACED: Final = 5e-4
"""A stream further than this from its declared rate is not paced by a crystal: those keep 3e-4."""


@dataclass(frozen=True, slots=True, eq=False)
class Ticks:
    """Streams that share their stamps.

    Attributes:
        stream: the first one's name; others: the rest.
        clock: who made the stamps.
        t: (n,) int64 ns in stored order.
        step: (n-1,) ns from each stamp to the next.
        period: the median of the positive steps in ns, 0 where there is none.
        further: further stamps of the same samples, by who made them; those that differ from ``t``, are not
            zero throughout and belong to a clock that is not nominal.
    """

    stream: str
    others: tuple[str, ...]
    clock: Clock
    t: NDArray[np.int64]
    step: NDArray[np.int64]
    period: float
    further: dict[Clock, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """Who else is concerned."""
        return f"also {', '.join(self.others)}" if self.others else ""

    def stamped(self, clock: Clock) -> NDArray[np.int64] | None:
        """(n,) int64 ns by one clock, or None."""
        return self.t if clock is self.clock else self.further.get(clock)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """The stamps of two clocks on the same samples of one stream.

    Attributes:
        stream: its name; later, earlier: the clocks, in the order in which a sample meets them.
        t: (n,) int64 ns by the stream's own clock; d: (n,) int64 ns, later less earlier.
        jumps: where one of them jumps against the other and stays.
        drift: how the later runs away from the earlier, by the lower envelope of d; None if too short.
    """

    stream: str
    later: Clock
    earlier: Clock
    t: NDArray[np.int64]
    d: NDArray[np.int64]
    jumps: Jumps
    drift: Drift | None


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """How the clock of one stream runs against that of the reference stream.

    Attributes:
        stream, against: names; note: who else has these stamps.
        how: ``log`` or ``receive`` (both streams were stamped by that clock as well), ``rows`` (stamps of
            paired rows), ``count`` (each stream's stamps against its own count at its declared rate), or
            nothing, where ``reason`` (a code of `assay.gate.REASONS`) and ``detail`` say why not.
        drift: of ``stream`` against ``against``, s per s.
        rows: (n,) int64 ns, ``stream`` less ``against`` where rows are paired, else empty.
    """

    stream: str
    against: str
    note: str = ""
    how: Literal["log", "receive", "rows", "count", ""] = ""
    reason: str = ""
    detail: str = ""
    drift: Drift | None = None
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))


@feature(reads=TIMED)
def ticks(ep: Episode) -> tuple[Ticks, ...]:
    """Groups of streams with equal stamps and the same kind of clock, in stored order; see `Ticks`."""
    groups: dict[Any, list[tuple[NDArray[np.int64], Clock, list[Stream]]]] = {}  # by clock, length and first
    for stream in ep.streams:
        if stream.role in WITHOUT_RATE:
            continue
        alike = groups.setdefault((stream.clock, len(stream.t), *stream.t[:1].tolist()), [])
        for t, _, members in alike:
            if t is stream.t or np.array_equal(t, stream.t):
                members.append(stream)
                break
        else:
            alike.append((stream.t, stream.clock, [stream]))
    found = [_ticks(*group) for alike in groups.values() for group in alike]
    place = {s.name: i for i, s in enumerate(ep.streams)}
    return tuple(sorted(found, key=lambda g: place[g.stream]))


def _ticks(t: NDArray[np.int64], clock: Clock, members: Sequence[Stream]) -> Ticks:
    step = np.diff(t)
    forward = step[step > 0]
    period = float(np.median(forward)) if len(forward) else 0.0
    names = [s.name for s in members]
    further: dict[Clock, NDArray[np.int64]] = {}
    for stream in members:
        for other, stamps in stream.stamps.items():
            known = (t, *further.values())
            told = len(stamps) == len(t) and stamps.any()
            if other in ORDER and told and not any(np.array_equal(stamps, k) for k in known):
                further.setdefault(other, stamps)
    return Ticks(names[0], tuple(names[1:]), clock, t, step, period, further)


@feature(reads=())
def held(ep: Episode, ticks: Sequence[Ticks]) -> tuple[Held, ...]:
    """Every real clock that stamped a stream held against the stream's first one; see `Held`.

    Samples that one of them left unset (0 or less) are left out. Method: `assay.signals.clocks`.
    """
    return tuple(h for group in ticks for h in _held(group))


def _held(group: Ticks) -> Iterator[Held]:
    known = [c for c in ORDER if group.stamped(c) is not None]
    for later in known[1:]:
        a, b = group.stamped(later), group.stamped(known[0])
        assert a is not None
        assert b is not None
        both = (a > 0) & (b > 0) if min(int(a.min()), int(b.min())) <= 0 else slice(None)
        t, d = group.t[both], (a - b)[both]
        found = jumps(t, d)
        yield Held(group.stream, later, known[0], t, d, found, drift(t, d, found.at))


@feature(reads=())
def apart(ep: Episode, ticks: Sequence[Ticks], held: Sequence[Held]) -> tuple[Apart, ...]:
    """Every clock of the episode against that of the reference stream; see `Apart`.

    The reference is the first stream of joints with a real clock, else the one with most samples. Two
    streams with equal stamps have one clock between them, which tells nothing of either.
    """
    real = [g for g in ticks if len(g.t) and (g.clock is not Clock.NOMINAL or g.further)]
    if not real:
        return ()
    joints = {s.name for s in ep.by_role(*JOINTS)}
    first = next((g for g in real if joints & {g.stream, *g.others}), max(real, key=lambda g: len(g.t)))
    mine = next((n for n in (first.stream, *first.others) if n in joints), first.stream)
    found = [_against(ep, g, first, mine, held) for g in ticks if g is not first and len(g.t)]
    alone = [n for n in (first.stream, *first.others) if n != mine and n not in joints]
    return (*found, *(_shared(name, mine) for name in alone))


def _shared(stream: str, against: str) -> Apart:
    return Apart(stream, against, reason="no-reference", detail="one stamp for both: nobody stamped either")


def _against(ep: Episode, g: Ticks, ref: Ticks, name: str, held: Sequence[Held]) -> Apart:
    """The best comparison that the stamps allow."""
    if g.clock is Clock.NOMINAL and not g.further:
        return Apart(g.stream, name, g.note, reason="nominal-clock", detail=g.note)
    for common in (Clock.LOG, Clock.RECEIVE):
        if g.stamped(common) is None or ref.stamped(common) is None or not (g.further or ref.further):
            continue
        a, b = _runs(g, common, held), _runs(ref, common, held)
        if a is None or b is None:
            return Apart(g.stream, name, g.note, reason="too-short", detail="too few samples of two clocks")
        return Apart(g.stream, name, g.note, _NAMES[common], drift=_less(a, b))
    here, there = ep.stream(g.stream), ep.stream(name)
    assert here is not None
    assert there is not None
    if len(g.t) == len(ref.t) and abs(g.period - ref.period) < 0.01 * ref.period:
        d = g.t - ref.t
        return _rows(Apart(g.stream, name, g.note, "rows", rows=d), ref.t, d)
    if g.clock is ref.clock and g.clock in _NAMES:
        detail = f"both are stamped at {_NAMES[g.clock]}, and by nobody before"
        return Apart(g.stream, name, g.note, reason="no-reference", detail=detail)
    return _count(here, there, g.note)


_NAMES: Final[dict[Clock, Literal["log", "receive"]]] = {Clock.LOG: "log", Clock.RECEIVE: "receive"}


def _runs(g: Ticks, common: Clock, held: Sequence[Held]) -> Drift | Literal[False] | None:
    """How the common clock runs away from the group's first; False where it is that one, None unknown."""
    mine = [h for h in held if h.stream == g.stream]
    if not mine or mine[0].earlier is common:
        return False
    return next((h.drift for h in mine if h.later is common), None)


def _less(a: Drift | Literal[False], b: Drift | Literal[False]) -> Drift | None:
    """The first clock of a against that of b: what the common clock gains on a sensor, that one loses."""
    if a and b:
        return b.less(a)
    if b:
        return b
    return Drift(a.t, a.level, -a.slope, a.u, a.noise) if a else None


def _rows(found: Apart, t: NDArray[np.int64], d: NDArray[np.int64]) -> Apart:
    ran = drift(t, d, jumps(t, d).at)
    return Apart(found.stream, found.against, found.note, "rows", drift=ran, rows=d)


def _count(a: Stream, b: Stream, note: str) -> Apart:
    """The difference of what both streams' stamps gain on their own counts at exact rates."""
    if not (a.rate and b.rate):
        detail = f"{(b if a.rate else a).name} declares no rate to count by"
        return Apart(a.name, b.name, note, reason="not-declared", detail=detail)
    ran = [drift(s.t, *counted(s.t, exact(s.rate))) if len(s.t) else None for s in (a, b) if s.rate]
    for s, r in zip((a, b), ran, strict=True):
        if r is not None and abs(r.slope) - 2 * r.u > PACED:
            detail = f"{s.name} runs {r.slope * 1e2:.2g} % off its declared rate: no pace to count by"
            return Apart(a.name, b.name, note, reason="reference-noisy", detail=detail)
    mine, theirs = ran
    if mine is None or theirs is None:
        return Apart(a.name, b.name, note, reason="too-short", detail="too few samples")
    return Apart(a.name, b.name, note, "count", drift=mine.less(theirs))
