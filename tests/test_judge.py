"""`judge` against a slow, obvious reference, and rejudging against judging again."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.counts import count
from assay.gate import Abstain, Evidence, NotApplicable
from assay.judge import MULTIPLES, judge, rejudge

IN, OUT, UNKNOWN = 1, 0, -1
EXAMPLES = settings(max_examples=100)


@dataclass
class Sample:
    """One sample in plain Python."""

    value: float
    scope: int
    u: float
    t0: int
    t1: int


def beyond(value: float, limit: float, e: Evidence) -> bool:
    """Whether a plain value is on the wrong side."""
    if e.sense == "above":
        return value > limit if e.strict else value >= limit
    return value < limit if e.strict else value <= limit


def without_short(marks: list[bool], samples: list[Sample], min_run: float, kept: list[bool]) -> list[bool]:
    """The marks, with runs shorter than ``min_run`` seconds cleared unless one of their samples is kept."""
    marks = list(marks)
    i = 0
    while i < len(marks):
        j = i
        while j < len(marks) and marks[j]:
            j += 1
        if j > i:
            lasting = samples[j - 1].t1 - samples[i].t0 >= min_run * 1e9 - 1
            if not lasting and not any(kept[i:j]):
                marks[i:j] = [False] * (j - i)
        i = max(j, i + 1)
    return marks


def reference(e: Evidence) -> str:
    """The rule of DESIGN section 4, sample by sample."""
    u = np.broadcast_to(np.asarray(e.u, float), e.value.shape)
    scope = np.full(len(e.value), IN) if e.scope is None else e.scope
    samples = [
        Sample(*row) for row in zip(*map(np.ndarray.tolist, (e.value, scope, u, e.t0, e.t1)), strict=True)
    ]
    sign = 1 if e.sense == "above" else -1
    sure, maybe = [], []
    for s in samples:
        finite = np.isfinite(s.value)
        sure.append(bool(s.scope == IN and finite and beyond(s.value - sign * 2 * s.u, e.limit, e)))
        maybe.append(bool(s.scope != OUT and (not finite or beyond(s.value + sign * 2 * s.u, e.limit, e))))
    if e.min_run:
        open_ = [bool(not np.isfinite(s.value) or s.scope == UNKNOWN) for s in samples]
        sure = without_short(sure, samples, e.min_run, [False] * len(samples))
        maybe = without_short(maybe, samples, e.min_run, open_)
    inside = [s.scope == IN for s in samples]
    not_out = sum(s.scope != OUT for s in samples)
    judged = sum(i or (m and s.scope == UNKNOWN) for i, m, s in zip(inside, maybe, samples, strict=True))
    if not samples:
        return "abstain"
    if not not_out:
        return "n/a"
    if sum(sure) / not_out > e.quota:
        return "fail"
    hi = sum(maybe) / judged if judged else 0.0
    return "pass" if hi <= e.quota else "abstain"


@st.composite
def evidence(draw: st.DrawFn, *, plain: bool = False) -> Evidence:
    """Small evidence whose values crowd around the limit."""
    n = draw(st.integers(0, 14))
    near = st.sampled_from([0.0, 0.5, 0.9, 0.99, 1.0, 1.01, 1.1, 1.5, 2.0, 30.0, -1.0])
    odd = near if plain else st.one_of(near, st.just(np.nan), st.just(np.inf))
    value = np.array(draw(st.lists(odd, min_size=n, max_size=n)), float)
    t0 = np.arange(n, dtype=np.int64) * 33_333_333
    scopes = st.none() if plain else st.one_of(
        st.none(), st.lists(st.sampled_from([IN, IN, OUT, UNKNOWN]), min_size=n, max_size=n)
    )  # fmt: skip
    scope = draw(scopes)
    u = 0.0 if plain else draw(st.sampled_from([0.0, 0.0, 0.04, 0.3]))
    return Evidence(
        value, t0, t0 + 33_333_333, "m", 1.0, u=u,
        scope=None if scope is None else np.array(scope, np.int8),
        sense=draw(st.sampled_from(["above", "below"])), strict=draw(st.booleans()),
        quota=draw(st.sampled_from([0.0, 0.005, 0.1, 0.25, 0.5])),
        min_run=draw(st.sampled_from([0.0, 0.0, 0.05, 0.066, 0.1])),
    )  # fmt: skip


def status(e: Evidence) -> str:
    return judge([e], gate="RTG900", version=1, subject="x").verdict.status


@EXAMPLES
@given(evidence())
def test_judge_is_the_rule(e: Evidence) -> None:
    assert status(e) == reference(e)


@EXAMPLES
@given(evidence(plain=True))
def test_without_doubt_it_is_the_published_rule(e: Evidence) -> None:
    verdict = judge([e], gate="RTG900", version=1, subject="x").verdict
    assert verdict.status in ("pass", "fail") or not len(e.value)
    if not e.min_run:
        assert verdict.simple == verdict.status


@EXAMPLES
@given(evidence(), st.sampled_from(MULTIPLES.tolist()), st.sampled_from([None, 0.0, 0.1, 0.5]))
def test_rejudging_on_a_rung_is_judging_again(e: Evidence, rung: float, quota: float | None) -> None:
    (measure,) = judge([e], gate="RTG900", version=1, subject="x").measures
    again = Evidence(
        e.value, e.t0, e.t1, e.unit, e.limit * rung, u=e.u, scope=e.scope, sense=e.sense, strict=e.strict,
        quota=e.quota if quota is None else quota, min_run=e.min_run,
    )  # fmt: skip
    assert rejudge(measure, limit=e.limit * rung, quota=quota).status == reference(again)


@EXAMPLES
@given(evidence(), st.floats(0.05, 15.0))
def test_between_rungs_it_is_right_or_abstains(e: Evidence, ratio: float) -> None:
    (measure,) = judge([e], gate="RTG900", version=1, subject="x").measures
    again = Evidence(
        e.value, e.t0, e.t1, e.unit, e.limit * ratio, u=e.u, scope=e.scope, sense=e.sense, strict=e.strict,
        quota=e.quota, min_run=e.min_run,
    )  # fmt: skip
    verdict = rejudge(measure, limit=e.limit * ratio)
    assert verdict.reason == "needs-data" or verdict.status == reference(again)


@EXAMPLES
@given(evidence(), st.lists(st.integers(0, 13), max_size=14))
def test_losing_values_never_helps(e: Evidence, holes: list[int]) -> None:
    value = e.value.copy()
    value[[i for i in holes if i < len(value)]] = np.nan
    worse = Evidence(
        value, e.t0, e.t1, e.unit, e.limit, u=e.u, scope=e.scope, sense=e.sense, strict=e.strict,
        quota=e.quota, min_run=e.min_run,
    )  # fmt: skip
    if status(worse) == "pass":
        assert status(e) == "pass"


def test_nothing_is_never_a_pass() -> None:
    verdict = judge([], gate="RTG900", version=1, subject="x").verdict
    assert (verdict.status, verdict.reason) == ("abstain", "absent-stream")


def test_the_gravest_wins() -> None:
    good = Evidence.single(0.0, 0, 1, unit="m", limit=1.0)
    bad = Evidence.single(2.0, 0, 1, unit="m", limit=1.0)
    not_here, unsure = NotApplicable("rule", "sheet"), Abstain("still")
    for outcomes, expected in (
        ([good, bad, unsure], "fail"), ([good, unsure, not_here], "abstain"), ([good, not_here], "pass"),
        ([not_here], "n/a"),
    ):  # fmt: skip
        assert judge(outcomes, gate="RTG900", version=1, subject="x").verdict.status == expected
        assert judge(outcomes[::-1], gate="RTG900", version=1, subject="x").verdict.status == expected


def test_findings_hold_span_worst_and_channel() -> None:
    value = np.array([0.0, 2.0, 3.0, 0.0, 5.0])
    t0 = np.arange(5, dtype=np.int64) * 10
    e = Evidence(value, t0, t0 + 10, "m", 1.0, which=np.array([0, 0, 1, 0, 0]), channels=("a", "b"))
    found = judge([e], gate="RTG900", version=1, subject="x").findings
    assert sorted((f.t0, f.t1, f.channel, f.worst, f.samples) for f in found) == [
        (10, 30, "b", 3.0, 2), (40, 50, "a", 5.0, 1),
    ]  # fmt: skip


def test_the_least_is_the_worst_of_what_falls_short() -> None:
    value, t0 = np.array([9.0, 0.8, 9.0, 0.1]), np.arange(4, dtype=np.int64) * 10
    names = {"which": np.array([0, 0, 0, 1]), "channels": ("a", "b")}
    made = judge([Evidence(value, t0, t0 + 10, "m", 1.0, sense="below", **names)],
                 gate="RTG900", version=1, subject="x")  # fmt: skip
    assert (made.verdict.channel, [f.worst for f in made.findings]) == ("b", [0.1, 0.8])
    two = [Evidence.single(v, 0, 10, unit="m", limit=1.0, sense="below", channel=str(v)) for v in (0.1, 0.8)]
    assert judge(two, gate="RTG900", version=1, subject="x").verdict.channel == "0.1"


def test_a_figure_that_is_only_reported_decides_nothing_and_is_kept() -> None:
    t0, t1 = np.zeros(1, np.int64), np.ones(1, np.int64)
    good = Evidence(np.array([1.0]), t0, t1, "m", 2.0, channel="decided")
    beside = Evidence(np.array([9.0]), t0, t1, "m", 2.0, channel="beside", decides=False)
    both = judge([beside, good], gate="TOY001", version=1, subject="a")
    assert (both.verdict.status, both.verdict.channel, both.findings) == ("pass", "decided", ())
    assert [(m.channel, m.worst, m.settled) for m in both.measures] == [
        ("beside", 9.0, "reported"), ("decided", 1.0, ""),
    ]  # fmt: skip
    alone = judge([beside], gate="TOY001", version=1, subject="a")
    assert (alone.verdict.status, alone.verdict.reason) == ("abstain", "absent-stream")
    assert "reported" in {m.settled for m in alone.measures}


@pytest.mark.parametrize("sense", ["above", "below"])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("limit", [0.0, 1.0])
@pytest.mark.parametrize("decides", [True, False])
@pytest.mark.parametrize("u", [0.0, 0.2, float("nan")])
def test_one_number_counts_as_a_sample_in_scope_does(
    sense: Any, strict: bool, limit: float, decides: bool, u: float
) -> None:
    for value in (-2.0, 0.0, 0.6, 1.0, 1.4, 1.5, float("nan"), float("inf")):
        _counted_alike(
            Evidence.single(
                value, 0, 5, unit="1", limit=limit, u=u, sense=sense, strict=strict, decides=decides
            )
        )


def _counted_alike(one: Evidence) -> None:
    found, sure = count(one, "RTG001", 1, "episode", "e")
    same, mask = count(replace(one, scope=np.array([IN], np.int8)), "RTG001", 1, "episode", "e")
    assert repr(found) == repr(same)
    assert sure.tolist() == mask.tolist()
