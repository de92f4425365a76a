"""Running the cases that gates carry: small episodes with known truth (`assay selftest`, tests, docs)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay import plugs
from assay.examine import conclude, examine
from assay.feature import Features
from assay.gate import Case, Gate
from assay.judge import Judgement
from assay.model import Episode, Listing

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
    """The judgement of one case: on its episode, or on the corpus where the case gives several."""
    built = case.episode()
    params = gate.params()
    if isinstance(built, Episode):
        return examine(gate, _features(case, built), params, built.id)
    facts: dict[str, dict[str, Any]] = {}
    for ep in built:
        judged = examine(gate, _features(case, ep), params, ep.id)
        facts[ep.id] = {f.name: f.value for f in judged.facts}
    listing = case.listing() if case.listing else Listing("synth", Path("synth"), ())
    return conclude(gate, listing, facts, params)


def _features(case: Case, ep: Episode) -> Features:
    given = dict(case.features()) if case.features else {}
    return Features(ep, plugs.features(), case.models, given)


def _problem(case: Case, got: Judgement) -> str:
    verdict = got.verdict
    if verdict.status != case.expect:
        return f"expected {case.expect}, got {verdict.status} ({verdict.reason or verdict.detail})"
    if case.reason and verdict.reason != case.reason:
        return f"expected the reason {case.reason}, got {verdict.reason}"
    if case.channel and case.channel not in {f.channel for f in got.findings}:
        return f"no finding names the channel {case.channel}"
    if case.at and not any(_overlap(case.at, f.t0 * 1e-9, f.t1 * 1e-9) for f in got.findings):
        return f"no finding lies within {case.at} s"
    return ""


def _overlap(span: tuple[float, float], t0: float, t1: float) -> bool:
    return t0 < span[1] and t1 > span[0]
