"""Counting: how many samples of an evidence lie beyond each of 24 multiples of its limit."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.gate import IN, OUT, UNKNOWN, Abstain, Evidence, NotApplicable
from assay.signals.lasting import drop_short, lasting, runs, worst_window

__all__ = [
    "AT_LIMIT",
    "COVERAGE",
    "MULTIPLES",
    "REPORTED",
    "Measure",
    "count",
    "drop_short",
    "runs",
    "settled",
]

Bool = NDArray[np.bool_]
Floats = NDArray[np.float64]

MULTIPLES: Final = np.array([
    0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9,
    1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0,
])  # fmt: skip
"""The 24 rungs: multiples of the limit at which counts are stored, for rejudging without the data."""

AT_LIMIT: Final = int(np.flatnonzero(MULTIPLES == 1.0)[0])
_RUNGS: Final = tuple(MULTIPLES.tolist())
_NONE: Final = (0,) * len(_RUNGS)

REPORTED: Final = "reported"
"""What `Measure.settled` says of a figure that takes no part in the verdict."""

COVERAGE: Final = 2.0
"""Guard band in standard uncertainties (JCGM 106)."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The counts of one evidence: enough to judge it again under other limits and quotas.

    ``settled`` is the status of an outcome that no limit changes (abstain, n/a, error), ``reported`` for a
    figure that takes no part in the verdict, else empty.
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
    n_finite: int
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
    by: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """The samples of one evidence, sorted into those that count, are known, unknown, NaN."""

    e: Evidence
    value: Floats
    nan: Bool
    counted: Bool
    unknown: Bool
    known: Bool
    n_nan: int
    n_unknown: int
    ordered: Floats
    """Finite values that count, ascending: median, worst and the counts of every rung at once."""

    @property
    def plain(self) -> bool:
        """Whether all that counts is known, with one uncertainty."""
        return not self.n_unknown and _one(self.e.u)


def count(evidence: Evidence, gate: str, version: int, scope: str, subject: str) -> tuple[Measure, Bool]:
    """All counts of one evidence, and the mask of samples that are surely beyond its own limit."""
    if len(evidence.value) == 1 and evidence.scope is None and evidence.min_run <= 0 and _one(evidence.u):
        return _single(evidence, gate, version, scope, subject)
    e, s = evidence, _seen(evidence)
    numbers = _counts(s)
    # The mask costs more than the count: nothing beyond, nothing to mark.
    sure = _sure(e, s.value, s.known, e.limit) if numbers[0][AT_LIMIT] else np.zeros(len(s.value), bool)
    n = len(s.value)
    n_counted = n if e.scope is None else int(np.count_nonzero(s.counted))
    n_known = len(s.ordered) if not s.n_unknown else int(np.count_nonzero(s.known))
    if s.plain and e.min_run <= 0 and e.u == 0:
        simple = numbers[0][AT_LIMIT]
    else:
        simple = _tail(e, s.ordered if not s.n_unknown else np.sort(s.value[s.known]), np.array([e.limit]))[0]
    measure = Measure(
        gate=gate, gate_version=version, scope=scope, subject=subject, stream=e.stream, against=e.against,
        channel=e.channel, unit=e.unit, sense=e.sense, limit=float(e.limit), quota=float(e.quota),
        min_run=e.min_run, limit_key=e.limit_key, quota_key=e.quota_key, reason=e.reason, n=n,
        n_in=n_counted - s.n_unknown, n_out=n - n_counted, n_unknown=s.n_unknown, n_nan=s.n_nan,
        n_finite=n_known, worst=_worst(s.ordered, e.sense), median=_median(s.ordered),
        u=_largest(e.u), seconds=int((e.t1 - e.t0).sum()) * 1e-9,
        sure=numbers[0], maybe=numbers[1], maybe_unknown=numbers[2], simple_beyond=simple,
        worst10=worst_window(sure, s.counted, e.t0) if numbers[0][AT_LIMIT] else 0.0,
        settled="" if e.decides else REPORTED, detail=e.doubt, by=e.by,
    )  # fmt: skip
    return measure, sure


def _single(e: Evidence, gate: str, version: int, scope: str, subject: str) -> tuple[Measure, Bool]:
    """The same of one number in scope: half of all evidence, and no array is as quick as a number."""
    value, u, limit = float(e.value[0]), float(e.u), float(e.limit)
    if not math.isfinite(u) or not math.isfinite(value):  # no number, or one without a known error
        value = math.nan
    nan, sign = math.isnan(value), 1.0 if e.sense == "above" else -1.0
    past = operator.gt if e.strict else operator.ge
    # Turned round where below is beyond, so that all is above; a negated number is exact.
    rungs = [sign * (limit * m) for m in _RUNGS]
    guard = COVERAGE * u if u else 0.0
    low, high = sign * value - guard, sign * value + guard
    sure = tuple([int(past(low, rung)) for rung in rungs])
    maybe = sure if high == low else tuple([int(nan or past(high, rung)) for rung in rungs])
    measure = Measure(
        gate=gate, gate_version=version, scope=scope, subject=subject, stream=e.stream, against=e.against,
        channel=e.channel, unit=e.unit, sense=e.sense, limit=limit, quota=float(e.quota),
        min_run=e.min_run, limit_key=e.limit_key, quota_key=e.quota_key, reason=e.reason, n=1, n_in=1,
        n_out=0, n_unknown=0, n_nan=int(nan), n_finite=int(not nan), worst=value, median=value,
        u=_largest(e.u), seconds=int(e.t1[0] - e.t0[0]) * 1e-9, sure=sure, maybe=maybe, maybe_unknown=_NONE,
        simple_beyond=int(past(value * sign, limit * sign)), worst10=float(sure[AT_LIMIT]),
        settled="" if e.decides else REPORTED, detail=e.doubt, by=e.by,
    )  # fmt: skip
    return measure, np.array([bool(sure[AT_LIMIT])])


def _seen(e: Evidence) -> _Seen:
    value = np.asarray(e.value, np.float64)
    if not math.isfinite(_largest(e.u)):  # a number without a known error is no measurement
        value = np.where(np.isfinite(e.u), value, np.nan)
    if e.scope is None:
        ordered = np.sort(value)  # NaN and infinity come to its ends
        if not len(ordered) or (math.isfinite(ordered[0]) and math.isfinite(ordered[-1])):
            every, none = np.ones(len(value), bool), np.zeros(len(value), bool)
            return _Seen(e, value, none, every, none, every, 0, 0, ordered)
    finite = np.isfinite(value)
    state = np.full(len(value), IN) if e.scope is None else e.scope
    nan, counted, unknown = ~finite, state != OUT, state == UNKNOWN
    n_nan, n_unknown = int(np.count_nonzero(nan & counted)), int(np.count_nonzero(unknown))
    looked = np.sort(value[counted & finite])
    return _Seen(e, value, nan, counted, unknown, (state == IN) & finite, n_nan, n_unknown, looked)


def settled(outcome: Abstain | NotApplicable, head: tuple[str, str, str, int]) -> Measure:
    """An outcome that no limit changes, in the shape of a measure."""
    (scope, subject, gate, version), nan = head, float("nan")
    if isinstance(outcome, Abstain):
        status, reason, detail = "abstain", outcome.reason, outcome.detail
        stream, channel = outcome.stream, outcome.channel
    else:
        status, reason, detail, stream, channel = "n/a", outcome.rule, outcome.declared_by, "", ""
    return Measure(
        gate, version, scope, subject, stream, "", channel, "1", "above", nan, 0.0, 0.0, "limit", "quota",
        reason, 0, 0, 0, 0, 0, 0, nan, nan, nan, 0.0, (), (), (), 0, 0.0, status, detail,
    )  # fmt: skip


def beyond(e: Evidence, value: Floats, limit: float | Floats) -> Bool:
    """Where values lie beyond the limit, in the evidence's sense; NaN does not."""
    with np.errstate(invalid="ignore"):
        if e.sense == "above":
            return np.asarray(value > limit if e.strict else value >= limit)
        return np.asarray(value < limit if e.strict else value <= limit)


def _counts(s: _Seen) -> tuple[tuple[int, ...], ...]:
    """Sure, maybe, and maybe among the unknown, at every rung."""
    e, limits = s.e, s.e.limit * MULTIPLES
    if e.min_run > 0:
        return _running(s, limits[:, None])
    if s.plain:
        low, high = _guarded(e, s.ordered)
        sure = _tail(e, low, limits)
        maybe = _tail(e, high, limits) if high is not low else sure
        return sure, tuple([n + s.n_nan for n in maybe]) if s.n_nan else maybe, _NONE
    low, high = _guarded(e, s.value)
    known, counted, unknown = s.known, s.counted & ~s.nan, s.unknown & ~s.nan
    n_unknown_nan = int(np.count_nonzero(s.nan & s.unknown))
    maybe = tuple(n + s.n_nan for n in _tail(e, np.sort(high[counted]), limits))
    among = tuple(n + n_unknown_nan for n in _tail(e, np.sort(high[unknown]), limits))
    return _tail(e, np.sort(low[known]), limits), maybe, among


def _running(s: _Seen, limits: Floats) -> tuple[tuple[int, ...], ...]:
    """The same where runs shorter than ``min_run`` do not count."""
    e = s.e
    (low, high), times = _guarded(e, s.value), (e.t0, e.t1)
    masks = s.known & beyond(e, low, limits)
    # Rungs that no sample is beyond, most often half of them, have no runs.
    some = np.flatnonzero(masks.any(axis=1))
    sure = [0] * len(masks)
    for rung, n in zip(some.tolist(), lasting(masks[some], times, e.min_run)[0], strict=True):
        sure[rung] = n
    if high is low and not s.n_nan and not s.n_unknown:
        return tuple(sure), tuple(sure), _NONE
    keep = s.nan | s.unknown
    maybe = s.counted & (s.nan | beyond(e, high, limits))
    return tuple(sure), *lasting(maybe, times, e.min_run, keep=keep, among=s.unknown)


def _tail(e: Evidence, ordered: Floats, limits: Floats) -> tuple[int, ...]:
    """How many of the ascending values lie beyond each limit: one search instead of 24 passes."""
    if e.sense == "above":
        within = ordered.searchsorted(limits, "right" if e.strict else "left")
        return tuple((len(ordered) - within).tolist())
    return tuple(ordered.searchsorted(limits, "left" if e.strict else "right").tolist())


def _guarded(e: Evidence, value: Floats) -> tuple[Floats, Floats]:
    """Values moved by the guard band towards the limit's good side and towards its bad side."""
    if _one(e.u) and e.u == 0:
        return value, value
    guard = (COVERAGE if e.sense == "above" else -COVERAGE) * np.asarray(e.u, np.float64)
    return value - guard, value + guard


def _sure(e: Evidence, value: Floats, known: Bool, limit: float) -> Bool:
    mask = known & beyond(e, _guarded(e, value)[0], limit)
    return drop_short(mask, e.t0, e.t1, e.min_run) if e.min_run > 0 else mask


def _one(u: float | NDArray[np.floating[Any]]) -> bool:
    """Whether all samples share one uncertainty."""
    return isinstance(u, float) or np.ndim(u) == 0


def _largest(u: float | NDArray[np.floating[Any]]) -> float:
    """The largest uncertainty; NaN if one is."""
    if isinstance(u, float):
        return u
    return float(np.max(u)) if np.size(u) else 0.0


def _worst(ordered: Floats, sense: str) -> float:
    return float(ordered[-1 if sense == "above" else 0]) if len(ordered) else float("nan")


def _median(ordered: Floats) -> float:
    n = len(ordered)
    return float((ordered[(n - 1) // 2] + ordered[n // 2]) / 2) if n else float("nan")
