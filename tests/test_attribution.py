"""Whose fault a failing clip is: the reference on small clips, its rule, and what is kept of it."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.power.attributed import PLANTS, grown, mirrored
from benchmarks.power.clips import Base
from benchmarks.power.hands import learnt
from benchmarks.power.motion_clips import opened_motion

from assay import plugs
from assay.attribution import Attribution, attribute
from assay.attribution.doubt import doubt
from assay.attribution.finished import attributed, keep, kept, lines
from assay.attribution.rule import said, spread
from assay.embodiment import load
from assay.embodiment.kinematics import link_poses
from assay.errors import MissingExtraError, RunError
from assay.extras import install_line
from assay.feature import Features
from assay.model import Episode, Role
from assay.signals.reach import size
from assay.signals.reference import SLACK, Goal, Reached, reach
from assay.synth.reaches import FINGERED, known_map, moved, scaled
from assay.synth.reaches import reach as reaching
from assay.synth.walks import slid, walk

BODY = "unitree_g1_29"
HANDS = ("left_wrist_yaw_link", "right_wrist_yaw_link")


@pytest.fixture
def physics() -> None:
    """Skips where the extra is not installed."""
    for name in ("mink", "daqp", "mujoco"):
        pytest.importorskip(name, reason="the extra physics is not installed")


def told(ep: Episode, models: dict[str, object] | None = None) -> dict[tuple[str, str], Attribution]:
    made = attribute(Features(ep, plugs.features(), models or {}), ep.id)
    return {(a.gate, a.channel): a for a in made}


def long_armed(factor: float) -> Episode:
    """The human's left arm is longer by a factor; the robot's clip stays what it was."""
    ep = reaching(2.0)
    s = ep.by_role(Role.HUMAN_BODY)[0]
    at = {n.rpartition(".")[0]: i for i, n in enumerate(s.names) if n.endswith(".x")}
    x = np.array(s.x)
    start = x[:, at["left_shoulder"] : at["left_shoulder"] + 3]
    for name in ("left_elbow", "left_wrist"):
        x[:, at[name] : at[name] + 3] += (factor - 1.0) * (x[:, at[name] : at[name] + 3] - start)
    return ep.with_stream(replace(s, x=x))


# ------------------------------------------------------------------------------------------ the reference


@pytest.mark.usefixtures("physics")
def test_the_reference_agrees_with_our_kinematics_and_keeps_the_limits() -> None:
    body, rng = load(BODY), np.random.default_rng(0)
    tree, limits = body.tree, body.limits[0]
    assert tree is not None
    q = rng.uniform(np.maximum(limits.lower, -0.5), np.minimum(limits.upper, 0.5), (3, len(tree.joints)))
    place = np.tile([0.3, -0.2, 0.8, 0.96, 0.0, 0.0, 0.28], (3, 1))
    at, _ = link_poses(tree, q, place[:, :3], place[:, 3:], HANDS)
    goals = [Goal(link, np.zeros(3), at[:, i] + [0.3, 0.0, 0.0]) for i, link in enumerate(HANDS)]
    done = reach(tree, limits.lower, limits.upper, q, place, goals)
    ends, _ = link_poses(tree, done.q, done.place[:, :3], done.place[:, 3:], HANDS)
    off = np.linalg.norm(ends - at - [0.3, 0.0, 0.0], axis=2).T
    assert np.allclose(off, done.error, atol=1e-9)
    assert ((done.q >= limits.lower - 1e-9) & (done.q <= limits.upper + 1e-9)).all()
    assert np.abs(done.place[:, :3] - place[:, :3]).max() <= SLACK * np.sqrt(2) + 1e-9


@pytest.mark.usefixtures("physics")
def test_a_link_that_is_listed_after_its_brothers_children_moves_by_its_own_joint() -> None:
    ep = reaching(0.5, fingers=True)
    body = ep.embodiment
    assert body is not None
    tree = body.tree
    assert tree is not None
    f = Features(ep, plugs.features())
    poses = f.get("poses")
    links = ["left_index_tip", "right_index_tip"]
    at, _ = link_poses(tree, poses.q[:2], poses.place[:2, :3], poses.place[:2, 3:], links)
    goals = [Goal(link, np.zeros(3), at[:, i]) for i, link in enumerate(links)]
    lower, upper = body.limits[0].lower, body.limits[0].upper
    done = reach(tree, lower, upper, poses.q[:2], poses.place[:2], goals)
    assert done.error.max() < 1e-3
    assert np.allclose(done.q, poses.q[:2], atol=0.01)


@pytest.mark.usefixtures("physics")
def test_what_is_beyond_the_arm_is_missed_from_two_starts_alike() -> None:
    body = load(BODY)
    tree, limits = body.tree, body.limits[0]
    assert tree is not None
    q, place = np.zeros((1, len(tree.joints))), np.array([[0.0, 0.0, 0.8, 1.0, 0.0, 0.0, 0.0]])
    far = Goal(HANDS[0], np.zeros(3), np.array([[3.0, 0.0, 0.8]]))
    done = reach(tree, limits.lower, limits.upper, q, place, [far])
    assert done.error[0, 0] > 1.8
    assert done.twice.all()


# ----------------------------------------------------------------------------------------------- verdicts


@pytest.mark.usefixtures("physics")
@pytest.mark.parametrize(
    ("ep", "models", "channel"),
    [
        (lambda: moved((0.0, 0.05, 0.0), ep=reaching(2.0)), known_map(), "left"),
        (lambda: scaled(1.1, ep=reaching(2.0)), known_map(), "left"),
        (
            lambda: moved((0.0, 0.0, 0.03), "left_index_tip", reaching(2.0, fingers=True)),
            known_map(FINGERED),
            "left index",
        ),
        (lambda: moved((0.0, 0.04, 0.0), ep=reaching(2.0, box=True)), known_map(), "left to object"),
    ],
    ids=["wrist", "reach", "finger", "box"],
)
def test_a_hand_that_can_be_where_it_should_is_the_solvers(ep, models, channel) -> None:  # type: ignore[no-untyped-def]
    found = told(ep(), models)["RTG002", channel]
    assert (found.says, found.clip > 0.02, found.reference < 0.005) == ("solver", True, True)


@pytest.mark.usefixtures("physics")
def test_a_hand_beyond_the_arm_is_the_bodys() -> None:
    found = told(long_armed(2.6), known_map())["RTG002", "left"]
    assert (found.says, found.reference > 0.04) == ("body", True)
    assert "at its limit" in found.why


@pytest.mark.usefixtures("physics")
def test_a_slide_that_the_leg_can_hold_is_the_solvers() -> None:
    found = told(slid(0.4))
    assert {key: a.says for key, a in found.items()} == {
        ("RTG003", "left"): "solver", ("RTG004", "left"): "solver",
    }  # fmt: skip


@pytest.mark.usefixtures("physics")
def test_a_foot_that_the_pelvis_leaves_behind_is_the_bodys() -> None:
    found = told(slid(2.5))["RTG004", "left"]
    assert (found.says, found.reference < found.clip) == ("body", True)


@pytest.mark.usefixtures("physics")
def test_the_same_clip_gives_the_same_answer() -> None:
    assert told(long_armed(2.6), known_map()) == told(long_armed(2.6), known_map())


def test_what_passes_has_nobody_to_blame() -> None:
    assert told(walk()) == {}
    assert told(reaching(2.0), known_map()) == {}  # type: ignore[arg-type]


def test_without_the_extra_all_is_undecided_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "daqp", None)
    found = told(slid(0.4))
    assert {a.says for a in found.values()} == {"undecided"}
    assert all(install_line("physics") in a.why for a in found.values())
    with pytest.raises(MissingExtraError):
        reach(load(BODY).tree, np.zeros(0), np.zeros(0), np.zeros((1, 0)), np.zeros((1, 7)), [])  # type: ignore[arg-type]


def test_a_run_is_not_attributed_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "daqp", None)
    failing = [{"status": "fail", "gate": "RTG004", "scope": "episode", "subject": "a"}]
    run: Any = SimpleNamespace(path=tmp_path, verdicts=pa.Table.from_pylist(failing))
    with pytest.raises(MissingExtraError, match=re.escape(install_line("physics"))):
        list(attributed(run))


# ------------------------------------------------------------------------------------ the study, in small


@pytest.mark.usefixtures("physics")
@pytest.mark.parametrize(("name", "what"), [(name, what) for name, (what, _) in PLANTS.items()])
def test_a_planted_fault_is_never_laid_at_the_wrong_door(name: str, what: str) -> None:
    base = Base("synth", reaching(1.0) if what == "hands" else walk(3.0), number=0)
    fault = PLANTS[name][1]([base], np.random.default_rng(3))
    assert fault is not None
    found = told(fault.ep, fault.models)[fault.gate, fault.channel]
    assert found.says in (fault.blame, "undecided"), found


@pytest.mark.usefixtures("physics")
def test_the_clips_of_asap_that_slide_need_not(real_data: Path) -> None:
    asap = opened_motion(real_data, ("asap",))
    says = {b.number: {key: a.says for key, a in told(b.ep).items()} for b in asap if b.number in (0, 9)}
    assert says == {0: {("RTG004", "left"): "solver"}, 9: {("RTG003", "right"): "solver"}}


# --------------------------------------------------------------------------------------------------- rule

BLANK = Attribution("ep", "RTG002", "left", 0, 1, "undecided", 0.05, float("nan"), 0.02, float("nan"), 0, "")
DONE = Reached(np.zeros((4, 1)), np.zeros((4, 7)), np.zeros((1, 4)), np.ones(4, bool))


@pytest.mark.parametrize(
    ("low", "value", "kept_", "says", "why"),
    [
        (0.0, 0.017, True, "solver", ""),
        (0.0, 0.017, False, "undecided", "only if a standing foot moves"),
        (0.019, 0.019, True, "undecided", "known to 0.2 cm"),
        (0.021, 0.021, True, "undecided", "known to 0.2 cm"),
        (0.023, 0.023, True, "body", ""),
        (0.010, 0.030, True, "undecided", "starts disagree"),
    ],
)
def test_the_guard_band(low: float, value: float, kept_: bool, says: str, why: str) -> None:
    made = said(BLANK, DONE, low, value, 0.001, kept=kept_, why="")
    assert made.says == says
    assert why in made.why


def test_frames_are_spread_with_both_ends() -> None:
    t = np.arange(300, dtype=np.int64) * 33_333_333
    assert spread(np.arange(10, 100), t)[[0, -1]].tolist() == [10, 99]
    assert len(spread(np.arange(300), t)) == 16
    assert spread(np.arange(5, 7), t).tolist() == [5, 6]
    assert spread(np.arange(5, 6), t).tolist() == [5]
    assert len(spread(np.arange(0, 13), t)) == 5  # 0.4 s at no more than 10 Hz


# ------------------------------------------------------------------------------------------ what is kept


class Folder:
    """As much of a run as `keep` looks at."""

    def __init__(self, path: Path) -> None:
        self.path = path


def test_what_is_kept_replaces_the_same_episodes_alone(tmp_path: Path) -> None:
    run = Folder(tmp_path)
    keep(run, [BLANK, replace(BLANK, subject="other")])  # type: ignore[arg-type]
    keep(run, [replace(BLANK, says="solver", reference=0.001)])  # type: ignore[arg-type]
    assert [(r["subject"], r["says"], r["reference"]) for r in kept(tmp_path)] == [
        ("other", "undecided", None), ("ep", "solver", 0.001),
    ]  # fmt: skip
    assert all(len(line) <= 80 for line in lines(kept(tmp_path), {}))


def test_people_read_seconds_since_the_first_sample() -> None:
    late = replace(BLANK, t0=1_700_000_001_500_000_000, t1=1_700_000_002_000_000_000)
    first = next(lines([late], {"ep": 1_700_000_000_000_000_000}))
    assert " at 1.50 s" in first


def test_a_file_that_is_none_of_ours_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "attribution.json").write_text('[{"says": "guilty"}]')
    with pytest.raises(RunError, match=r"cannot be read.*delete it"):
        kept(tmp_path)


# ------------------------------------------------------------------------------------- a human that is wrong


def taught() -> dict[str, object]:
    """The known map, with the size of the human that it goes with."""
    known = {group: dict(model) for group, model in known_map()["hand_map"].items()}
    source = Features(reaching(2.0), plugs.features()).get("source_hands")
    return {"hand_map": {group: {**model, "size": list(size(source))} for group, model in known.items()}}


@pytest.mark.usefixtures("physics")
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (mirrored, "left and right exchanged"),
        (lambda ep: grown(ep, 1.3), "1.30 times as large"),
        (lambda ep: grown(ep, 1 / 1.3), "0.77 times as large"),
    ],
    ids=["mirrored", "large", "small"],
)
def test_nobody_is_blamed_for_a_wrong_human(change, why) -> None:  # type: ignore[no-untyped-def]
    found = told(change(reaching(4.0)), taught())
    assert found
    assert {a.says for a in found.values()} == {"undecided"}
    assert all(a.why.startswith("the human source is doubtful") and why in a.why for a in found.values())
    off = moved((0.0, 0.05, 0.0), ep=grown(reaching(2.0), 1.1))
    assert doubt(Features(off, plugs.features(), taught())) == ""


def test_what_the_corpus_says_of_a_source_goes_before_any_solving() -> None:
    made = attribute(Features(slid(0.4), plugs.features()), "ep", doubted="it fits another clip better")
    assert {(a.says, a.why) for a in made} == {("undecided", "it fits another clip better")}


def test_true_sources_are_not_doubted_and_wrong_ones_are(real_data: Path) -> None:
    bases = opened_motion(real_data, ("asap", "holo"))
    for base in bases:
        models = learnt("RTG002", base, bases)
        for ep, doubtful in ((base.ep, False), (mirrored(base.ep), True), (grown(base.ep, 1.3), True)):
            assert bool(doubt(Features(ep, plugs.features(), models))) == doubtful, (base.set, base.number)
