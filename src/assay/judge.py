"""`judge`: the one function that makes verdicts, from evidence or again from stored measures.

    sure  = in scope, finite, beyond the limit by more than 2u
    maybe = not out of scope, and NaN or not inside the limit by 2u
    lo = #sure / #not-out          hi = #maybe / #(in, or unknown and maybe)
    fail if lo > quota; pass if hi <= quota; else abstain

Runs shorter than ``min_run`` are dropped from both; from *maybe* only if they hold no NaN and no unknown
sample. With u = 0, no NaN and known scope this is the plain published rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.counts import AT_LIMIT, COVERAGE, MULTIPLES, REPORTED, Measure, count, runs, settled
from assay.gate import Abstain, Evidence, Fact, Outcome

__all__ = [
    "MULTIPLES", "REPORTED", "Finding", "Judgement", "Measure", "Status", "Verdict", "combine", "fault",
    "judge", "rejudge", "runs", "verdict_of",
]  # fmt: skip

Bool = NDArray[np.bool_]
Status = Literal["pass", "fail", "abstain", "n/a", "error"]

MOST_FINDINGS: Final = 20
"""Findings kept per gate, stream and episode; the true number stays in the verdict."""

_ORDER: Final[dict[str, int]] = {"fail": 4, "error": 3, "abstain": 2, "pass": 1, "n/a": 0}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about one subject by one gate. See docs/schema.md for every field."""

    scope: str
    subject: str
    gate: str
    gate_version: int
    status: Status
    simple: Status
    worst: float
    limit: float
    unit: str
    lo: float
    hi: float
    quota: float
    n_in: int
    n_out: int
    n_unknown: int
    n_nan: int
    worst10: float
    reason: str
    detail: str
    stream: str
    channel: str
    findings: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One stretch of one channel beyond its limit: a flat row, never prose."""

    gate: str
    subject: str
    stream: str
    channel: str
    t0: int
    t1: int
    samples: int
    worst: float
    limit: float
    unit: str
    note: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """Everything that one gate says about one subject."""

    verdict: Verdict
    measures: tuple[Measure, ...]
    findings: tuple[Finding, ...]
    facts: tuple[Fact, ...]


def judge(
    outcomes: Iterable[Outcome], *, gate: str, version: int, subject: str, scope: str = "episode"
) -> Judgement:
    """The verdict of one gate on one subject.

    Several pieces of evidence (one per stream or channel) combine to the gravest: fail, error, abstain,
    pass, n/a. A gate that yields nothing abstains: absence is never a pass.
    """
    verdicts: list[Verdict] = []
    measures: list[Measure] = []
    findings: list[Finding] = []
    facts: list[Fact] = []
    head = (scope, subject, gate, version)
    for outcome in outcomes:
        if isinstance(outcome, Fact):
            facts.append(outcome)
        elif isinstance(outcome, Evidence):
            measure, sure = count(outcome, gate, version, scope, subject)
            if not outcome.decides:
                measures.append(measure)
                continue
            verdict = verdict_of(measure)
            if verdict.status == "fail":
                rows = _findings(outcome, sure, gate, subject)
                rows.sort(key=lambda f: -_beyond(f.worst, f.limit))
                verdict = replace(verdict, findings=len(rows), channel=rows[0].channel)
                findings += rows[:MOST_FINDINGS]
            verdicts.append(verdict)
            measures.append(measure)
        else:
            measures.append(settled(outcome, head))
            verdicts.append(verdict_of(measures[-1]))
    if not verdicts:
        measures.append(settled(Abstain("absent-stream", "the gate found nothing to measure"), head))
        verdicts = [verdict_of(measures[-1])]
    return Judgement(combine(verdicts), tuple(measures), tuple(findings), tuple(facts))


def fault(detail: str, *, gate: str, version: int, subject: str, scope: str = "episode") -> Judgement:
    """The verdict where something of ours went wrong: status ``error``, with what it was."""
    outcome = settled(Abstain("undecided", detail), (scope, subject, gate, version))
    measure = replace(outcome, settled="error", reason="error")
    return Judgement(verdict_of(measure), (measure,), (), ())


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """The gravest of several; among equals the one furthest beyond its limit, with all findings counted."""
    if len(verdicts) == 1:
        return verdicts[0]
    gravest, findings = max(verdicts, key=_gravity), sum(v.findings for v in verdicts)
    return gravest if gravest.findings == findings else replace(gravest, findings=findings)


def _gravity(v: Verdict) -> tuple[int, float, float]:
    far = _beyond if v.status == "fail" else _excess
    return _ORDER[v.status], _excess(v.lo, v.quota), far(v.worst, v.limit)


def rejudge(measure: Measure, *, limit: float | None = None, quota: float | None = None) -> Verdict:
    """The verdict again, from stored counts.

    Exact where the new limit lies on a rung, or beyond everything that was measured; between rungs the
    verdict of both neighbours if they agree, else abstain with ``needs-data``.
    """
    if measure.settled:
        return verdict_of(measure)
    quota = measure.quota if quota is None else quota
    changed = replace(measure, quota=quota)
    if limit is None or limit == measure.limit:
        return verdict_of(changed)
    ratio = limit / measure.limit if measure.limit else np.inf
    at = int(np.searchsorted(MULTIPLES, ratio * (1 - 1e-9)))
    if at < len(MULTIPLES) and np.isclose(MULTIPLES[at], ratio, rtol=1e-6):
        return replace(verdict_of(changed, rung=at), limit=limit)
    if _clears(measure, limit):
        none = (0,) * len(MULTIPLES)
        changed = replace(changed, sure=none, maybe=(measure.n_nan,) * len(MULTIPLES), maybe_unknown=none)
        return replace(verdict_of(changed), limit=limit)
    sides = [i for i in (at - 1, at) if 0 <= i < len(MULTIPLES)]
    found = [verdict_of(changed, rung=i) for i in sides]
    agree = len(found) == 2 and found[0].status == found[1].status
    if measure.limit and agree:
        return replace(found[0], limit=limit)
    return replace(found[0], status="abstain", simple="abstain", reason="needs-data", limit=limit)


def _clears(m: Measure, limit: float) -> bool:
    """Whether the worst sample lies inside the new limit by its guard band, so that only NaN is left open."""
    guard = COVERAGE * m.u
    inside = m.worst + guard < limit if m.sense == "above" else m.worst - guard > limit
    return inside and not (m.n_nan and m.n_unknown)


def verdict_of(m: Measure, rung: int | None = None) -> Verdict:
    """The rule itself, on counts."""
    if m.settled:
        return _settled_verdict(m)
    rung = AT_LIMIT if rung is None else rung
    not_out = m.n_in + m.n_unknown
    judged = m.n_in + m.maybe_unknown[rung]
    lo = m.sure[rung] / not_out if not_out else 0.0
    hi = m.maybe[rung] / judged if judged else 0.0
    status, reason = _decide(m, lo, hi)
    over = m.simple_beyond > m.quota * m.n_finite
    simple: Status = "abstain" if not m.n_finite else "fail" if over else "pass"
    return Verdict(
        m.scope, m.subject, m.gate, m.gate_version, status, simple, m.worst, m.limit, m.unit, lo, hi,
        m.quota, m.n_in, m.n_out, m.n_unknown, m.n_nan, m.worst10, reason,
        m.detail if status == "abstain" else "", m.stream, m.channel, 0,
    )  # fmt: skip


def _decide(m: Measure, lo: float, hi: float) -> tuple[Status, str]:
    if m.n == 0:
        return "abstain", "too-short"
    if m.n_in + m.n_unknown == 0:
        return "n/a", "scope-empty"
    if lo > m.quota:
        return "fail", ""
    if hi <= m.quota:
        return "pass", ""
    return "abstain", m.reason


def _findings(e: Evidence, sure: Bool, gate: str, subject: str) -> list[Finding]:
    first, end = runs(sure)
    if e.apart:
        first = np.flatnonzero(sure)
        end = first + 1
    rows = []
    for a, b in zip(first.tolist(), end.tolist(), strict=True):
        mine = e.value[a:b]  # what is surely beyond is no NaN
        at = a + int(mine.argmax() if e.sense == "above" else mine.argmin())
        channel = e.channels[int(e.which[at])] if e.which is not None else e.channel
        rows.append(Finding(
            gate, subject, e.stream, channel, int(e.t0[a]), int(e.t1[b - 1]), b - a,
            float(e.value[at]), float(e.limit), e.unit, e.note,
        ))  # fmt: skip
    return rows


def _settled_verdict(m: Measure) -> Verdict:
    status: Status = "abstain" if m.settled == "abstain" else "n/a" if m.settled == "n/a" else "error"
    return Verdict(
        m.scope, m.subject, m.gate, m.gate_version, status, status, m.worst, m.limit, m.unit, 0.0, 0.0, 0.0,
        0, 0, 0, 0, 0.0, m.reason, m.detail, m.stream, m.channel, 0,
    )  # fmt: skip


def _beyond(worst: float, limit: float) -> float:
    """How far beyond its limit a value lies that is known to be, on whichever side: a ratio of 1 and more."""
    ratio = _excess(worst, limit)
    return max(ratio, 1 / ratio) if limit and ratio else ratio


def _excess(value: float, limit: float) -> float:
    if not math.isfinite(value):
        return 0.0
    return abs(value) / abs(limit) if limit else abs(value)
