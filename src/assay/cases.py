"""Running the cases that gates carry: small episodes with known truth (`assay selftest`, tests, docs)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay import plugs
from assay.examine import conclude, examine
from assay.feature import Features
from assay.gate import Case, Gate
from assay.judge import Judgement
from assay.model import Episode

__all__ = ["Result", "judge_case", "run_cases"]


@dataclass(frozen=True, slots=True)
class Result:
    """One case: what was expected, what came, and what is wrong about it (nothing, if right)."""

    gate: str
    case: str
    expect: str
    status: str
    problem: str


def run_cases(gates: Iterable[Gate] | None = None) -> Iterator[Result]:
    """Judge every case of the gates (all, if none are named)."""
    for gate in plugs.gates().values() if gates is None else gates:
        for case in gate.cases:
            got = judge_case(gate, case)
            yield Result(gate.code, case.name, case.expect, got.verdict.status, _problem(case, got))


def judge_case(gate: Gate, case: Case) -> Judgement:
    """The judgement of one case: of the corpus where the case has a listing, else of its episode.

    Of several episodes without a listing, the one that is judged as expected stands for the case.
    """
    built, params = case.episode(), gate.params()
    episodes = [built] if isinstance(built, Episode) else built
    judged = [examine(gate, _features(case, ep), params, ep.id) for ep in episodes]
    if case.listing is not None:
        facts = {j.verdict.subject: {f.name: f.value for f in j.facts} for j in judged}
        return conclude(gate, case.listing(), facts, params)
    return next((j for j in judged if j.verdict.status == case.expect), judged[0])


def _features(case: Case, ep: Episode) -> Features:
    given = dict(case.features()) if case.features else {}
    return Features(ep, plugs.features(), case.models, given)


def _problem(case: Case, got: Judgement) -> str:
    verdict = got.verdict
    if verdict.status != case.expect:
        return f"expected {case.expect}, got {verdict.status} ({verdict.reason or verdict.detail})"
    if case.reason and verdict.reason != case.reason:
        return f"expected the reason {case.reason}, got {verdict.reason}"
    channels = {f.channel for f in got.findings}
    if case.channel and channels != {case.channel}:
        return f"expected the channel {case.channel}, got {', '.join(sorted(channels)) or 'no finding'}"
    spans = [(f.t0 * 1e-9, f.t1 * 1e-9) for f in got.findings]
    if case.at and not (spans and all(_within(span, case.at) for span in spans)):
        return f"expected findings within {case.at} s, got {spans}"
    return ""


def _within(span: tuple[float, float], place: tuple[float, float]) -> bool:
    return place[0] - 1e-6 <= span[0] and span[1] <= place[1] + 0.04  # one sample of slack at its end
