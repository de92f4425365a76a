"""`judge`: the one function that makes verdicts, from evidence or again from stored measures.

    sure  = in scope, finite, beyond the limit by more than 2u
    maybe = not out of scope, and NaN or not inside the limit by 2u
    lo = #sure / #not-out          hi = #maybe / #(in, or unknown and maybe)
    fail if lo > quota; pass if hi <= quota; else abstain

Runs shorter than ``min_run`` are dropped from both; from *maybe* only if they hold no NaN and no unknown
sample. With u = 0, no NaN and known scope this is the plain published rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.gate import IN, OUT, UNKNOWN, Abstain, Evidence, Fact, NotApplicable, Outcome

__all__ = [
    "MULTIPLES",
    "Finding",
    "Judgement",
    "Measure",
    "Status",
    "Verdict",
    "combine",
    "fault",
    "judge",
    "rejudge",
]

Bool = NDArray[np.bool_]
Status = Literal["pass", "fail", "abstain", "n/a", "error"]

MULTIPLES: Final = np.array([
    0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9,
    1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0,
])  # fmt: skip
"""The 24 rungs: multiples of the limit at which counts are stored, for rejudging without the data."""

COVERAGE: Final = 2.0
"""Guard band in standard uncertainties (JCGM 106)."""

MOST_FINDINGS: Final = 20
"""Findings kept per gate, stream and episode; the true number stays in the verdict."""

TEN_SECONDS: Final = 10_000_000_000

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
class Measure:
    """The counts of one evidence: enough to judge it again under other limits and quotas.

    ``settled`` is the status of an outcome that no limit changes (abstain, n/a, error), else empty.
    """

    gate: str
    gate_version: int
    scope: str
    subject: str
    stream: str
    against: str
    channel: str
    unit: str
    sense: str
    limit: float
    quota: float
    min_run: float
    limit_key: str
    quota_key: str
    reason: str
    n: int
    n_in: int
    n_out: int
    n_unknown: int
    n_nan: int
    worst: float
    median: float
    u: float
    seconds: float
    sure: tuple[int, ...]
    maybe: tuple[int, ...]
    maybe_unknown: tuple[int, ...]
    simple_beyond: int
    worst10: float
    settled: str = ""
    detail: str = ""


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
            verdict = verdict_of(measure)
            if verdict.status == "fail":
                rows = _findings(outcome, sure, gate, subject)
                rows.sort(key=lambda f: -_excess(f.worst, f.limit))
                verdict = replace(verdict, findings=len(rows), channel=rows[0].channel)
                findings += rows[:MOST_FINDINGS]
            verdicts.append(verdict)
            measures.append(measure)
        else:
            measures.append(_settled(outcome, head))
            verdicts.append(verdict_of(measures[-1]))
    if not verdicts:
        measures = [_settled(Abstain("absent-stream", "the gate found nothing to measure"), head)]
        verdicts = [verdict_of(measures[0])]
    return Judgement(combine(verdicts), tuple(measures), tuple(findings), tuple(facts))


def fault(detail: str, *, gate: str, version: int, subject: str, scope: str = "episode") -> Judgement:
    """The verdict where something of ours went wrong: status ``error``, with what it was."""
    settled = _settled(Abstain("undecided", detail), (scope, subject, gate, version))
    measure = replace(settled, settled="error", reason="error")
    return Judgement(verdict_of(measure), (measure,), (), ())


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """The gravest of several; among equals the one furthest beyond its limit, with all findings counted."""
    gravest = max(
        verdicts, key=lambda v: (_ORDER[v.status], _excess(v.lo, v.quota), _excess(v.worst, v.limit))
    )
    return replace(gravest, findings=sum(v.findings for v in verdicts))


def rejudge(measure: Measure, *, limit: float | None = None, quota: float | None = None) -> Verdict:
    """The verdict again, from stored counts.

    Exact where the new limit lies on a rung (or there is one sample); between rungs the verdict of both
    neighbours if they agree, else abstain with ``needs-data``.
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
    sides = [i for i in (at - 1, at) if 0 <= i < len(MULTIPLES)]
    found = [verdict_of(changed, rung=i) for i in sides]
    agree = len(found) == 2 and found[0].status == found[1].status
    clean = at == len(MULTIPLES) and found[0].status == "pass" and measure.sense == "above"
    if measure.limit and (agree or clean):
        return replace(found[0], limit=limit)
    return replace(found[0], status="abstain", simple="abstain", reason="needs-data", limit=limit)


def count(evidence: Evidence, gate: str, version: int, scope: str, subject: str) -> tuple[Measure, Bool]:
    """All counts of one evidence, and the mask of samples that are surely beyond its own limit."""
    value = np.asarray(evidence.value, np.float64)
    state = np.full(len(value), IN) if evidence.scope is None else evidence.scope
    nan = ~np.isfinite(value)
    within, unknown = state == IN, state == UNKNOWN
    masks = [_masks(evidence, value, nan, state, m * evidence.limit) for m in _rungs(evidence)]
    sure = masks[_AT_LIMIT if len(masks) > 1 else 0][0]
    spread = masks if len(masks) > 1 else masks * len(MULTIPLES)
    looked = value[(state != OUT) & ~nan]
    measure = Measure(
        gate=gate, gate_version=version, scope=scope, subject=subject, stream=evidence.stream,
        against=evidence.against, channel=evidence.channel, unit=evidence.unit, sense=evidence.sense,
        limit=float(evidence.limit), quota=float(evidence.quota), min_run=evidence.min_run,
        limit_key=evidence.limit_key, quota_key=evidence.quota_key, reason=evidence.reason,
        n=len(value), n_in=int(within.sum()), n_out=int((state == OUT).sum()),
        n_unknown=int(unknown.sum()), n_nan=int((nan & (state != OUT)).sum()),
        worst=_worst(looked, evidence.sense), median=float(np.median(looked)) if len(looked) else np.nan,
        u=float(np.max(evidence.u)) if np.size(evidence.u) else 0.0,
        seconds=float(np.sum(evidence.t1 - evidence.t0)) * 1e-9,
        sure=tuple(int(s.sum()) for s, _ in spread),
        maybe=tuple(int(m.sum()) for _, m in spread),
        maybe_unknown=tuple(int((m & unknown).sum()) for _, m in spread),
        simple_beyond=int((_beyond(value, evidence.limit, evidence) & within & ~nan).sum()),
        worst10=_worst_window(sure, state != OUT, evidence.t0),
    )  # fmt: skip
    return measure, sure


def verdict_of(m: Measure, rung: int | None = None) -> Verdict:
    """The rule itself, on counts."""
    if m.settled:
        return _settled_verdict(m)
    rung = _AT_LIMIT if rung is None else rung
    not_out = m.n_in + m.n_unknown
    judged = m.n_in + m.maybe_unknown[rung]
    lo = m.sure[rung] / not_out if not_out else 0.0
    hi = m.maybe[rung] / judged if judged else 0.0
    status, reason = _decide(m, lo, hi)
    finite = m.n_in - m.n_nan
    simple: Status = "abstain" if finite <= 0 else "fail" if m.simple_beyond > m.quota * m.n_in else "pass"
    return Verdict(
        m.scope, m.subject, m.gate, m.gate_version, status, simple, m.worst, m.limit, m.unit, lo, hi,
        m.quota, m.n_in, m.n_out, m.n_unknown, m.n_nan, m.worst10, reason, "", m.stream, m.channel, 0,
    )  # fmt: skip


_AT_LIMIT: Final = int(np.flatnonzero(MULTIPLES == 1.0)[0])


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


def _rungs(evidence: Evidence) -> NDArray[np.float64]:
    # A limit of zero has no multiples: one rung, repeated.
    return MULTIPLES if evidence.limit else np.ones(1)


def _masks(
    e: Evidence, value: NDArray[np.float64], nan: Bool, state: NDArray[np.int8], limit: float
) -> tuple[Bool, Bool]:
    guard = COVERAGE * np.asarray(e.u, np.float64)
    sign = 1.0 if e.sense == "above" else -1.0
    sure = (state == IN) & ~nan & _beyond(value - sign * guard, limit, e)
    maybe = (state != OUT) & (nan | _beyond(value + sign * guard, limit, e))
    if e.min_run > 0:
        unsure = nan | (state == UNKNOWN)
        sure = drop_short(sure, e.t0, e.t1, e.min_run)
        maybe = drop_short(maybe, e.t0, e.t1, e.min_run, keep=unsure)
    return sure, maybe


def _beyond(value: NDArray[np.float64], limit: float, e: Evidence) -> Bool:
    with np.errstate(invalid="ignore"):
        if e.sense == "above":
            return np.asarray(value > limit if e.strict else value >= limit)
        return np.asarray(value < limit if e.strict else value <= limit)


def runs(mask: Bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and one-past-last index of each run of True; (k,), (k,)."""
    edges = np.diff(np.concatenate(([0], mask.view(np.int8), [0])))
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)


def drop_short(
    mask: Bool, t0: NDArray[np.int64], t1: NDArray[np.int64], min_run: float, keep: Bool | None = None
) -> Bool:
    """Clear runs that last less than ``min_run`` seconds, except those that hold a sample of ``keep``."""
    first, end = runs(mask)
    if not len(first):
        return mask
    lasting = (t1[end - 1] - t0[first]) >= min_run * 1e9 - 1  # a nanosecond of rounding
    if keep is not None:
        held = np.concatenate(([0], np.cumsum(keep)))
        lasting |= held[end] > held[first]
    marks = np.zeros(len(mask) + 1, np.int8)
    marks[first[lasting]] += 1
    marks[end[lasting]] -= 1
    return np.cumsum(marks[:-1]).astype(bool)


def _worst(looked: NDArray[np.float64], sense: str) -> float:
    if not len(looked):
        return float("nan")
    return float(looked.max() if sense == "above" else looked.min())


def _worst_window(sure: Bool, counted: Bool, t0: NDArray[np.int64]) -> float:
    """Largest share of sure samples in any 10 s that start at a sample."""
    if not sure.any():
        return 0.0
    bad, all_ = (np.concatenate(([0], np.cumsum(a))) for a in (sure, counted))
    end = np.searchsorted(t0, t0 + TEN_SECONDS) if np.all(np.diff(t0) >= 0) else np.full(len(t0), len(t0))
    full = (end < len(t0)) | (np.arange(len(t0)) == 0)  # a shorter tail would exaggerate
    n = (all_[end] - all_[:-1])[full]
    return float(np.max((bad[end] - bad[:-1])[full] / np.maximum(n, 1)))


def _findings(e: Evidence, sure: Bool, gate: str, subject: str) -> list[Finding]:
    first, end = runs(sure)
    if e.apart:
        first = np.flatnonzero(sure)
        end = first + 1
    pick = np.nanargmax if e.sense == "above" else np.nanargmin
    rows = []
    for a, b in zip(first.tolist(), end.tolist(), strict=True):
        at = a + int(pick(e.value[a:b]))
        channel = e.channels[int(e.which[at])] if e.which is not None else e.channel
        rows.append(Finding(
            gate, subject, e.stream, channel, int(e.t0[a]), int(e.t1[b - 1]), b - a,
            float(e.value[at]), float(e.limit), e.unit, e.note,
        ))  # fmt: skip
    return rows


def _settled(outcome: Abstain | NotApplicable, head: tuple[str, str, str, int]) -> Measure:
    (scope, subject, gate, version), nan = head, float("nan")
    if isinstance(outcome, Abstain):
        status, reason, detail = "abstain", outcome.reason, outcome.detail
        stream, channel = outcome.stream, outcome.channel
    else:
        status, reason, detail, stream, channel = "n/a", outcome.rule, outcome.declared_by, "", ""
    return Measure(
        gate, version, scope, subject, stream, "", channel, "1", "above", nan, 0.0, 0.0, "limit", "quota",
        reason, 0, 0, 0, 0, 0, nan, nan, nan, 0.0, (), (), (), 0, 0.0, status, detail,
    )  # fmt: skip


def _settled_verdict(m: Measure) -> Verdict:
    status: Status = "abstain" if m.settled == "abstain" else "n/a" if m.settled == "n/a" else "error"
    return Verdict(
        m.scope, m.subject, m.gate, m.gate_version, status, status, m.worst, m.limit, m.unit, 0.0, 0.0, 0.0,
        0, 0, 0, 0, 0.0, m.reason, m.detail, m.stream, m.channel, 0,
    )  # fmt: skip


def _excess(value: float, limit: float) -> float:
    if not np.isfinite(value):
        return 0.0
    return abs(value) / abs(limit) if limit else abs(value)
