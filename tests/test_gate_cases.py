"""Every case of every gate: the planted truth is found, at its place, and what is healthy passes."""

from collections.abc import Sequence

import pytest

from assay import plugs
from assay.examine import conclude, examine
from assay.feature import Features
from assay.gate import Case, Gate
from assay.judge import Judgement
from assay.model import Episode, Listing

CASES = [(gate, case) for gate in plugs.gates().values() for case in gate.cases]


def run(gate: Gate, case: Case) -> list[Judgement]:
    """What the gate says about the case: of the corpus where the case has a listing, else of its episode."""
    built = case.episode()
    episodes: Sequence[Episode] = [built] if isinstance(built, Episode) else built
    given = dict(case.features()) if case.features else {}
    judged = [
        examine(gate, Features(ep, plugs.features(), case.models, dict(given)), gate.params(), ep.id)
        for ep in episodes
    ]
    if case.listing is None:
        return judged
    facts = {j.verdict.subject: {f.name: f.value for f in j.facts} for j in judged}
    listing: Listing = case.listing()
    return [conclude(gate, listing, facts, gate.params())]


@pytest.mark.parametrize(("gate", "case"), CASES, ids=[f"{g.code}-{c.name}" for g, c in CASES])
def test_case(gate: Gate, case: Case) -> None:
    judged = run(gate, case)
    verdicts = [j.verdict for j in judged]
    assert case.expect in [v.status for v in verdicts], verdicts
    found = next(j for j in judged if j.verdict.status == case.expect)
    if case.reason:
        assert found.verdict.reason == case.reason, found.verdict
    if case.at is not None:
        starts = [(f.t0 / 1e9, f.t1 / 1e9) for f in found.findings]
        first, last = case.at
        assert starts, found
        assert all(first - 1e-6 <= a and b <= last + 0.04 for a, b in starts), starts
    if case.channel:
        assert {f.channel for f in found.findings} == {case.channel}, found.findings


@pytest.mark.parametrize("gate", plugs.gates().values(), ids=lambda g: g.code)
def test_cases_abstain_somewhere(gate: Gate) -> None:
    # A gate that never abstains would have to pass on nothing.
    assert "abstain" in {case.expect for case in gate.cases}
