"""Every case of every gate: the planted truth is found, at its place, and what is healthy passes."""

import pytest

from assay import plugs
from assay.cases import run_cases
from assay.gate import Gate

GATES = list(plugs.gates().values())


@pytest.mark.parametrize("gate", GATES, ids=lambda g: g.code)
def test_cases(gate: Gate) -> None:
    assert [f"{r.case}: {r.problem}" for r in run_cases([gate]) if r.problem] == []


@pytest.mark.parametrize("gate", plugs.gates().values(), ids=lambda g: g.code)
def test_cases_abstain_somewhere(gate: Gate) -> None:
    # A gate that never abstains would have to pass on nothing.
    assert "abstain" in {case.expect for case in gate.cases}
