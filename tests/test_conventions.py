"""Rival readings: orders of joints, what each corruption of a real clip is taken for, stored velocities."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from benchmarks.conventions import BY_NAME, CORRUPTIONS, confusion, judged, longer, outcome, raised
from benchmarks.motion_clips import clips

from assay import plugs
from assay.cases import judge_case
from assay.embodiment import load
from assay.embodiment.body import normalise
from assay.examine import examine
from assay.feature import Features
from assay.features.orders import inferred
from assay.model import Channel, Clock, Episode, Role, Stream
from assay.motion.robots import ISAAC_G1
from assay.signals.derivative import fitting_rate, likeness
from assay.signals.readings import breadth_first
from assay.synth.squats import squats


def test_breadth_first_is_isaac_labs_order() -> None:
    tree = load("unitree_g1_29").tree
    assert tree is not None
    assert tuple(normalise(tree.joints[c]) for c in breadth_first(tree)) == ISAAC_G1


@pytest.mark.parametrize("card", ["unitree_h1", "fourier_gr1t2", "unitree_g1_23_asap"])
def test_every_body_has_a_breadth_first_order(card: str) -> None:
    tree = load(card).tree
    assert tree is not None
    assert sorted(breadth_first(tree)) == list(range(len(tree.joints)))


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda c: c.name)
def test_one_wrong_convention_is_one_finding(corruption: object) -> None:
    found = judged(corruption.make(squats()))  # type: ignore[attr-defined]
    if corruption.kind == "left-right":  # type: ignore[attr-defined]
        return  # a symmetric motion looks as good
    assert outcome(found, corruption.kind, corruption.cure) == "right"  # type: ignore[attr-defined]
    assert len(found.findings) == 1
    told = "Hz" if corruption.kind == "rate" else "may follow from it"  # type: ignore[attr-defined]
    assert told in found.findings[0].note


@pytest.mark.parametrize("height", [1.0, 2.0, 6.0, 30.0])
def test_an_upper_floor_is_no_unit_of_length(height: float) -> None:
    assert judged(raised(height)(squats())).verdict.status == "pass"


@pytest.mark.parametrize("other", ["y up, position and rotation", "degrees declared radians"])
def test_a_unit_of_length_beside_another_wrong_convention(other: str) -> None:
    found = judged(BY_NAME[other].make(longer(100.0)(squats())))
    assert len(found.findings) == 1
    assert "centimetres" in found.findings[0].note
    assert BY_NAME[other].cure in found.findings[0].note


def test_a_statue_stands_in_any_unit() -> None:
    ep = squats()
    for name in ("joints", "root"):
        stream = ep.stream(name)
        assert stream is not None
        ep = ep.with_stream(replace(stream, x=np.repeat(stream.x[:1], len(stream.x), axis=0)))
    assert not judged(raised(2.0)(ep.without_stream("velocities"))).findings


@pytest.mark.parametrize("rate", [25, 50, 60, 120, 500])
def test_the_rate_of_the_data_changes_no_verdict(rate: int) -> None:
    rng = np.random.default_rng(0)
    for corruption in CORRUPTIONS[:4]:
        for make in (lambda e: e, corruption.make):
            ep: Episode = make(squats(rate=rate))
            root = ep.stream("root")
            assert root is not None
            x = np.array(root.x)
            x[:, :3] += rng.normal(0, 3e-4, (len(x), 3))
            want = judged(make(squats())).verdict
            got = judged(
                ep.with_stream(type(root)(**{f: getattr(root, f) for f in root.__slots__} | {"x": x}))
            ).verdict
            assert (got.status, got.channel) == (want.status, want.channel)


def test_cases() -> None:
    gate = plugs.gates()["RTG012"]
    for case in gate.cases:
        assert judge_case(gate, case).verdict.status == case.expect, case.name


def test_an_undeclared_order_is_told_but_not_decided() -> None:
    gate = plugs.gates()["RTG012"]
    case = next(c for c in gate.cases if "nobody declared" in c.name)
    assert "wxyz" in judge_case(gate, case).verdict.detail


def test_likeness_of_velocities() -> None:
    rng = np.random.default_rng(0)
    q = np.cumsum(rng.normal(size=(200, 5)), axis=0)
    before = np.concatenate([np.diff(q, axis=0), np.zeros((1, 5))])
    assert likeness(q, 50 * before)[0] == pytest.approx(1.0)
    assert abs(likeness(q, rng.normal(size=q.shape))[0]) < 0.2
    assert np.isnan(likeness(q[:4], before[:4])[0])
    assert np.isnan(likeness(np.zeros((50, 2)), np.zeros((50, 2)))[0])


def test_velocities_give_the_rate() -> None:
    t = np.arange(300) / 50
    q = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
    dq = np.stack([3 * np.cos(3 * t), -2 * np.sin(2 * t)], axis=1)
    rate, fit = fitting_rate(q, dq)
    assert rate == pytest.approx(50, rel=1e-3)
    assert fit > 0.9999
    assert np.isnan(fitting_rate(q[:3], dq[:3])[0])


# ------------------------------------------------------------------------------------------------ real clips


@pytest.mark.real
def test_confusion_over_a_few_real_clips(real_data: Path) -> None:
    """The whole table is docs/power/RTG012.md; here kimodo and holosoma."""
    rows, count, wrong = confusion(real_data, ("kimodo", "holosoma"))
    assert wrong == []
    assert rows[""]["right"] == count == 5
    for corruption in CORRUPTIONS:
        if corruption.kind in ("joint-order", "quaternion-order"):
            assert rows[corruption.name]["right"] == count


@pytest.mark.real
def test_velocities_of_the_running_atlas_are_another_motions(real_data: Path) -> None:
    found = {ep.id: judged(ep) for _, ep in clips(real_data, "loco", "amp", "holosoma")}
    failed = {name: [f.channel for f in got.findings] for name, got in found.items() if got.findings}
    assert failed == {"05-run_ATLAS": ["stored-velocity"]}


@pytest.mark.real
def test_only_the_standing_atlas_contradicts_its_name(real_data: Path) -> None:
    gate = plugs.gates()["CHN010"]
    verdicts = {
        ep.id: examine(gate, Features(ep, plugs.features()), gate.params(), ep.id)
        for _, ep in clips(real_data, "loco", "amp", "kimodo", "asap", "g1moves", "holosoma", "omomo", "smpl")
    }
    assert [name for name, got in verdicts.items() if got.verdict.status == "fail"] == ["05-run_ATLAS"]
    assert "the file's name" in verdicts["05-run_ATLAS"].findings[0].note
    assert sum(got.verdict.status == "pass" for got in verdicts.values()) >= 12


def test_a_body_without_feet_is_read_by_its_limits() -> None:
    body = load("franka_panda")
    t = (np.arange(90) * 33_333_333).astype(np.int64)
    lower, upper = body.limits[0].lower, body.limits[0].upper
    x = lower + (upper - lower) * np.linspace(0.4, 0.6, 90)[:, None]
    channels = tuple(Channel(j.name, j.unit, Role.JOINT_POSITION) for j in body.joints)
    joints = Stream("q", Role.JOINT_POSITION, t, x, channels, Clock.NOMINAL, Fraction(30))
    assert judged(Episode("arm", (joints,), body)).verdict.status == "abstain"


def _read_in(order: str, name: str) -> Episode:
    ep = squats()
    why = f"joints of unitree_g1_29 in {order} order, its writers' own (model 1.3%)"
    return replace(ep, id=name, meta={"decided": {"joint order": (" ".join(ep.streams[0].names), why)}})


def test_an_order_taken_from_the_data_is_told_and_held_to_the_other_clips() -> None:
    gate, statistic = plugs.gates()["RTG012"], plugs.statistics()["orders"]
    read = [_read_in("Isaac Lab", "x"), _read_in("Isaac Lab", "y"), _read_in("model", "z")]
    learnt = statistic.fit([row for ep in read if (row := statistic.summarise(ep))])
    assert learnt == {"unitree_g1_29": {"joints": {"Isaac Lab order": 2, "model order": 1}}}

    def against(ep: Episode, models: object) -> str:
        features = Features(ep, plugs.features(), {"orders": models})
        return examine(gate, features, gate.params(), ep.id).verdict.reason

    assert against(read[0], learnt) == ""
    assert against(read[2], learnt) == "not-declared"
    two = statistic.fit([row for ep in read[1:] if (row := statistic.summarise(ep))])
    assert against(read[0], two) == "not-declared"  # as many say so as say otherwise
    assert against(read[2], None) == ""


def test_columns_that_the_sheet_names_are_declared() -> None:
    ep = _read_in("model", "x")
    assert inferred(ep) == {"joints": "model order"}
    renamed = replace(ep.streams[0], channels=ep.streams[0].channels[::-1])
    assert inferred(ep.with_stream(renamed)) == {}
    said = {"decided": {"quaternion": ("xyzw", "the sheet (corpus); frames with the base within 60")}}
    assert inferred(replace(squats(), meta=said)) == {}
    seen = {"decided": {"quaternion": ("xyzw", "frames with the base within 60° of upright: wxyz 0%")}}
    assert inferred(replace(squats(), meta=seen)) == {"quaternion": "xyzw"}
