"""One fault planted and looked for, many times over: counts of found, abstained, missed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from benchmarks.power.clips import Base

from assay import plugs
from assay.examine import described
from assay.feature import Features
from assay.gate import Abstain, Evidence, Gate, Outcome
from assay.judge import Finding, Judgement, judge
from assay.model import Episode

__all__ = ["Count", "Ladder", "Plant", "Planted", "interval", "look", "tried"]

Rng = np.random.Generator


@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """A clip with a fault, feature values that go with it, and where the fault is.

    ``channels``: the names that a finding may have; empty: any. ``stream`` likewise.
    """

    ep: Episode
    t0: int
    t1: int
    stream: str = ""
    channels: tuple[str, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)


Plant = Callable[[Sequence[Base], float, Rng], Planted | None]
"""(clips, dose, generator) → the planted clip, or None where this draw has no room for it."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """One dose axis of one gate.

    Attributes:
        gate: code; axis: what the dose is, in words; unit: of the doses as printed.
        doses: natural values; limit: the published one in the same unit (None: any amount is a fault).
        plant: plants one; sets: short names of the sets whose clips it takes.
        faulty: whether faults lie above or below the limit; ``exact`` says a dose on the limit is healthy.
        only: look at the gate's outcomes of this channel alone; times: injections per dose.
        open: whether such a fault can only be left open: then an abstention finds it.
    """

    gate: str
    axis: str
    unit: str
    doses: tuple[float, ...]
    limit: float | None
    plant: Plant
    sets: tuple[str, ...] = ("g1v", "g1s")
    below: bool = False
    on_limit: bool = False
    only: str = ""
    times: int = 300
    pictures: bool = False
    open: bool = False

    def hits(self, count: Count) -> int:
        """How many injections of one dose were found."""
        return count.found + count.abstained if self.open else count.found

    def is_fault(self, dose: float) -> bool:
        """Whether the published rule calls this dose a fault."""
        if self.limit is None or np.isclose(dose, self.limit, rtol=1e-9):
            return self.limit is None or self.on_limit
        return (dose < self.limit) if self.below else (dose > self.limit)


@dataclass(frozen=True, slots=True)
class Count:
    """What came of the injections of one dose."""

    dose: float
    n: int = 0
    found: int = 0
    abstained: int = 0
    localised: int = 0

    @property
    def missed(self) -> int:
        return self.n - self.found - self.abstained

    def plus(self, status: str, there: bool) -> Count:
        """One more injection."""
        hit = status == "fail"
        return Count(self.dose, self.n + 1, self.found + hit, self.abstained + (status == "abstain"),
                     self.localised + (hit and there))  # fmt: skip


def tried(ladder: Ladder, at: int, bases: Sequence[Base], times: int | None = None) -> Count:
    """Plant dose number ``at`` of a ladder ``times`` times with fixed seeds, and look each time."""
    mine = [b for b in bases if b.set in ladder.sets and (b.pictures or not ladder.pictures)]
    assert mine, f"{ladder.gate} {ladder.axis}: no clips of {ladder.sets}"
    gate, count = plugs.gates()[ladder.gate], Count(ladder.doses[at])
    stem = zlib.crc32(f"{ladder.gate} {ladder.axis}".encode())
    for number in range(times or ladder.times):
        planted = None
        for again in range(50):
            rng = np.random.default_rng([stem, at, number, again])
            planted = ladder.plant(mine, ladder.doses[at], rng)
            if planted is not None:
                break
        if planted is None:
            raise ValueError(f"{ladder.gate} {ladder.axis}: no room for dose {ladder.doses[at]:g}")
        judged = look(gate, planted.ep, planted.given, ladder.only)
        count = count.plus(judged.verdict.status, any(_there(f, planted) for f in judged.findings))
    return count


def look(gate: Gate, ep: Episode, given: Mapping[str, Any], only: str = "") -> Judgement:
    """The gate's judgement, of one channel's outcomes alone where ``only`` names it.

    Raises:
        RuntimeError: if the gate itself breaks: a study has no use for error verdicts.
    """
    features = Features(ep, plugs.features(), {}, {"containers": {}, "pictures": {}, **given})
    try:
        values = [features.get(name) for name in gate.needs]
        outcomes = [o for o in gate.measure(ep, gate.params(), *values) if not only or _of(o, only)]
    except Exception as error:
        raise RuntimeError(f"{gate.code} on {ep.id}: {described(error)}") from error
    return judge(outcomes, gate=gate.code, version=gate.version, subject=ep.id)


def _of(outcome: Outcome, channel: str) -> bool:
    return isinstance(outcome, Evidence | Abstain) and outcome.channel == channel


def _there(found: Finding, planted: Planted) -> bool:
    inside = found.t0 <= planted.t1 and found.t1 >= planted.t0
    named = not planted.channels or found.channel in planted.channels
    return inside and named and (not planted.stream or found.stream == planted.stream)


def interval(hits: int, n: int) -> tuple[float, float]:
    """Clopper-Pearson 95 % interval of a share."""
    from scipy.stats import beta

    low = float(beta.ppf(0.025, hits, n - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, n - hits)) if hits < n else 1.0
    return low, high
