"""What a worker needs to know once, and the two things it can be asked to do to an episode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from assay.calibrate import Calibration
from assay.model import Listing, Ref
from assay.plan import Decode, Plan
from assay.profile import Profile
from assay.sheet import Sheet

__all__ = ["Done", "Job", "Task", "job_of", "tasks"]


@dataclass(frozen=True, slots=True)
class Job:
    """A plan without its episodes, small enough to send to each worker.

    Attributes:
        listings, sheets, profiles, params: one per corpus; listings carry no refs.
        gates: codes; the worker finds the gates as anyone does.
        statistics: names of statistics to summarise (while calibrating).
        cache: folder where values made from pixels are kept between calibration and run, or None.
    """

    listings: tuple[Listing, ...]
    sheets: tuple[Sheet, ...]
    profiles: tuple[Profile, ...]
    params: tuple[Mapping[str, Any], ...]
    gates: tuple[str, ...]
    calibration: Calibration
    decode: Decode
    statistics: tuple[str, ...] = ()
    cache: Path | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """One episode to be measured, or summarised for calibration."""

    what: Literal["measure", "summarise"]
    subject: str
    corpus: int
    ref: Ref


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a task.

    Attributes:
        line: the episode's record as JSON, ready for the ledger.
        decision, frames, seconds: for progress.
        rows: summaries by statistic, when summarising.
        error: our own fault, if any.
    """

    subject: str
    line: bytes = b""
    decision: str = ""
    frames: int = 0
    seconds: float = 0.0
    rows: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


def job_of(plan: Plan, *, statistics: tuple[str, ...] = (), cache: Path | None = None) -> Job:
    """The part of a plan that every worker needs."""
    return Job(
        listings=tuple(replace(c.listing, refs=()) for c in plan.corpora),
        sheets=tuple(c.sheet for c in plan.corpora),
        profiles=plan.profiles,
        params=plan.params,
        gates=tuple(g.code for g in plan.gates),
        calibration=plan.calibration,
        decode=plan.decode,
        statistics=statistics,
        cache=cache,
    )


def tasks(plan: Plan, what: Literal["measure", "summarise"]) -> Iterator[Task]:
    """All episodes of a plan, in the order of its corpora."""
    for index, corpus in enumerate(plan.corpora):
        for ref in corpus.listing.refs:
            yield Task(what, plan.subject(index, ref.id), index, ref)
