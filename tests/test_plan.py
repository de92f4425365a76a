"""The plan's two identities: what changes a measurement, and what changes a judgement."""

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import plugs
from assay.calibrate import Calibration
from assay.corpus import discover
from assay.errors import UsageError
from assay.model import Kind
from assay.plan import Plan, make_plan, select
from assay.profile import Profile, Rule, profile_for
from toy import TOY_GATES, flights, toy_corpus, toy_plugs  # noqa: F401

pytestmark = pytest.mark.usefixtures("toy_plugs")


def plan(root: Path, profile: Profile | None = None, **options: Any) -> Plan:
    """The plan of a toy corpus."""
    corpus = discover(root, **options)
    chosen = profile or profile_for(corpus.kind)
    return make_plan(
        [corpus], gates=select(TOY_GATES), profiles=[chosen], calibration=Calibration(), decode="auto"
    )


def ids(planned: Plan) -> tuple[str, str]:
    """Both identities."""
    return planned.measure_id, planned.judge_id


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three flights."""
    return toy_corpus(tmp_path / "corpus", flights(3))


def params(**values: float) -> Profile:
    """The packaged profile with other params of INT950."""
    return dataclasses.replace(profile_for(Kind.UNRESOLVED), params={"INT950": values})


def test_the_same_corpus_and_options_give_the_same_plan(root: Path) -> None:
    assert plan(root).to_json() == plan(root).to_json()


def rewrite(root: Path) -> None:
    np.savez(root / "ep_001.npz", t=np.arange(10) * 100_000_000, x=np.zeros((10, 1)))


def touch(root: Path) -> None:
    os.utime(root / "ep_001.npz", ns=(1, 1))


def add(root: Path) -> None:
    (root / "notes.txt").write_text("new")


def remove(root: Path) -> None:
    (root / "ep_002.npz").unlink()


def rename(root: Path) -> None:
    (root / "ep_002.npz").rename(root / "ep_003.npz")


def state(root: Path) -> None:
    (root / "assay.toml").write_text('kind = "teleoperation"')


def section(root: Path) -> None:
    (root / "assay.toml").write_text('[[episodes]]\nmatch = "*"\nrig = "west"')


@pytest.mark.parametrize("change", [rewrite, touch, add, remove, rename, state, section])
def test_a_changed_corpus_is_measured_again(root: Path, change: Callable[[Path], None]) -> None:
    before = plan(root).measure_id
    change(root)
    assert plan(root).measure_id != before


def test_what_the_sheet_says_is_part_of_the_measurement(root: Path, tmp_path: Path) -> None:
    buyer = tmp_path / "buyer.toml"
    buyer.write_text('sync = "clap"')
    seen = {plan(root).measure_id, plan(root, sheet_file=buyer).measure_id}
    seen.add(plan(root, embodiment="inspire").measure_id)
    assert len(seen) == 3


def test_limits_and_quotas_change_the_judgement_only(root: Path) -> None:
    measure, judged = ids(plan(root))
    for changed in ({"limit": 2.0}, {"quota": 0.5}):
        assert plan(root, params(**changed)).measure_id == measure
        assert plan(root, params(**changed)).judge_id != judged


def test_effects_change_the_judgement_only(root: Path) -> None:
    measure, judged = ids(plan(root))
    changed = ids(plan(root, Profile("mine", (Rule("INT*", "flag"),))))
    assert changed[0] == measure
    assert changed[1] != judged


def test_a_minimum_run_or_a_measuring_param_changes_the_measurement(root: Path) -> None:
    measure = plan(root).measure_id
    assert plan(root, params(min_run=0.5)).measure_id != measure
    assert plan(root, params(scale=2.0)).measure_id != measure


@pytest.mark.parametrize("kind", ["gates", "features", "readers"])
def test_another_version_of_a_plug_measures_again(
    root: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ids(plan(root))
    known = getattr(plugs, kind)()
    name = {"gates": "INT950", "features": "toy_height", "readers": "toy"}[kind]
    newer = known | {name: dataclasses.replace(known[name], version=99)}
    monkeypatch.setattr(plugs, kind, lambda: newer)
    after = ids(plan(root))
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_calibration_decoding_and_gates_are_part_of_the_measurement(root: Path) -> None:
    planned = plan(root)
    learnt = Calibration({"x": {"full": 1}}, {"x": ["ep_000"]})
    others = [
        dataclasses.replace(planned, calibration=learnt),
        dataclasses.replace(planned, decode="none"),
        dataclasses.replace(planned, gates=planned.gates[:1]),
    ]
    assert planned.measure_id not in {other.measure_id for other in others}
    assert {other.judge_id for other in others} == {planned.judge_id}


def test_the_stored_plan_names_corpus_gates_params_and_versions(root: Path) -> None:
    stored = json.loads(plan(root).to_json())
    assert stored["gates"] == {"INT950": 1, "INT951": 1}
    assert stored["judged"][0]["INT950"] == {"limit": 1.0, "quota": 0.1}
    assert stored["measured"][0]["INT950"] == {"min_run": 0.0, "scale": 1.0}
    assert stored["corpora"][0]["path"] == str(root.resolve())
    assert stored["readers"] == {"toy": 1}


def test_subjects_carry_the_corpus_where_there_are_several(root: Path) -> None:
    one = plan(root)
    two = dataclasses.replace(one, corpora=(one.corpora[0], dataclasses.replace(one.corpora[0], name="b")))
    assert one.subject(0, "ep_000") == "ep_000"
    assert two.subject(1, "ep_000") == "b/ep_000"


def test_gates_are_chosen_by_codes_and_patterns() -> None:
    assert [g.code for g in select("int950")] == ["INT950"]
    assert [g.code for g in select(" INT95* , RTG001,")] == ["INT950", "INT951", "RTG001"]
    assert len(select(None)) == len(plugs.gates())
    with pytest.raises(UsageError) as caught:
        select("INT950,XYZ1*")
    assert str(caught.value) == (
        "--gates: no gate has this code (found XYZ1*, "
        "expected codes or patterns of assay gates, as in INT*,RTG001)."
    )
