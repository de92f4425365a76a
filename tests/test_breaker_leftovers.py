"""What a breaker had left open: clips that freeze, and what else was taken that should not have been."""

import pickle
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
from benchmarks.power.motion_clips import opened_motion

from assay import plugs
from assay.corpus import discover
from assay.engine import run
from assay.errors import UnreadableError
from assay.examine import examine
from assay.feature import Features
from assay.judge import REPORTED, Judgement
from assay.model import Episode, Kind, Role
from assay.profile import HUMAN_SOURCE, profile_for
from assay.readers.motion_pickle import peek
from assay.report.table import as_table
from assay.synth.episodes import edit
from assay.synth.squats import squats
from assay.synth.walks import raised, walk
from assay.terminal import closing
from assay.unpickle import read_pickle
from fake_run import fake_run

GOLDEN = Path(__file__).parent / "golden/motion"

# ------------------------------------------------------------------------- a body that holds one pose exactly


def judged(code: str, ep: Episode) -> Judgement:
    gate = plugs.gates()[code]
    return examine(gate, Features(ep, plugs.features()), gate.params(), ep.id)


def frozen(ep: Episode, start: float, end: float) -> Episode:
    """The episode with joints and base held from one share of it to another."""
    for stream in ep.by_role(Role.JOINT_POSITION, Role.BASE_POSE):
        x = np.array(stream.x)
        a, b = round(start * len(x)), round(end * len(x))
        x[a:b] = x[a] if a else x[b - 1]
        ep = ep.with_stream(replace(stream, x=x))
    return ep


def test_every_real_clip_is_accused_of_being_frozen_only_when_it_is(real_data: Path) -> None:
    """None of the untouched clips; each of them once its second half or its middle holds one pose."""
    for base in opened_motion(real_data):
        untouched = judged("ACT005", base.ep)
        assert untouched.verdict.status != "fail", base.ep.id
        half = judged("ACT005", frozen(base.ep, 0.5, 1.0))
        assert {f.channel for f in half.findings} == {"padded"}, base.ep.id
        middle = judged("ACT005", frozen(base.ep, 0.3, 0.6))
        assert {f.channel for f in middle.findings} == {"held"}, base.ep.id


def test_a_frozen_clip_is_rejected_whatever_its_kind() -> None:
    """In mid motion at 30 and at 120 Hz; a body that rests throughout may be a recording of rest."""
    for kind in (Kind.RETARGETED, Kind.TELEOPERATION, Kind.SIMULATION):
        for rate in (30, 120):
            ep = replace(squats(6.0, rate).without_stream("velocities"), kind=kind)
            assert judged("ACT005", frozen(ep, 0.42, 0.9)).verdict.status == "fail"
            assert judged("ACT005", frozen(ep, 0.0, 1.0)).verdict.status == "abstain"


@pytest.mark.parametrize("kind", [Kind.TELEOPERATION, Kind.SIMULATION])
def test_a_robot_that_comes_to_rest_may_rest_exactly(kind: Kind) -> None:
    """A coarse encoder or a simulator holds still to the bit, once the arm has slowed down."""

    def rest(x: np.ndarray, _: tuple[str, ...]) -> np.ndarray:
        ease = np.clip(1 - np.arange(len(x)) / 120, 0, None)[:, None] ** 2
        return np.round((x[0] + (x - x[0]) * ease) / 0.0015) * 0.0015

    ep = replace(squats().without_stream("velocities"), kind=kind)
    assert judged("ACT005", edit(ep, "joints", rest)).verdict.status == "abstain"


# ------------------------------------------------------------------------------- a body that hangs in the air


def table(folder: Path, ep: Episode, name: str = "walk", lifted: float = 0.0) -> Path:
    """A clip as 36 columns, and a sheet that says everything but where the floor is."""
    joints, root = (ep.by_role(role)[0] for role in (Role.JOINT_POSITION, Role.BASE_POSE))
    pose = np.array(root.x)
    pose[:, 2] += lifted
    folder.mkdir(exist_ok=True)
    np.savetxt(folder / f"{name}.csv", np.hstack([pose, joints.x]), delimiter=",")
    sheet = 'fps = 30\nquaternion = "wxyz"\nembodiment = "unitree_g1_29"\n'
    (folder / "assay.toml").write_text(sheet)
    return folder


def decided(folder: Path, out: Path, **more: Any) -> tuple[list[str], list[str]]:
    """The decision about each episode, and the lines at the end of the run."""
    ran = run(folder, out=out, jobs=1, gates="INT*,RTG001,RTG012,RTG013", **more)
    return [e["decision"] for e in ran.episodes.to_pylist()], closing(ran, "report.html")


def test_a_clip_in_the_air_is_never_accepted(tmp_path: Path) -> None:
    """Without a declared floor unmeasured, and one line says what to declare; with one rejected."""
    folder = table(tmp_path / "in", walk(), lifted=5.0)
    found, said = decided(folder, tmp_path / "a")
    assert found == ["unmeasured"]
    assert 'ground = "z=0"' in " ".join(said)
    with (folder / "assay.toml").open("a") as sheet:
        sheet.write('ground = "z=0"\n')
    assert decided(folder, tmp_path / "b")[0] == ["rejected"]
    table(folder, walk())
    (folder / "assay.toml").write_text((folder / "assay.toml").read_text() + "ground = 0.0\n")
    assert decided(folder, tmp_path / "c")[0] == ["accepted"]


def test_the_height_of_an_undeclared_floor_is_a_figure_without_a_verdict() -> None:
    told = judged("RTG013", raised(5.0, ep=walk(ground=False)))
    assert (told.verdict.status, told.verdict.reason) == ("abstain", "no-ground")
    assert "soles rest at z = 5.0" in told.verdict.detail
    (figure,) = [m for m in told.measures if m.settled == REPORTED]
    assert figure.worst == pytest.approx(5.0, abs=0.02)


# -------------------------------------------------------------------- names that fall into one another


def motion() -> dict[str, Any]:
    return {"root_trans_offset": np.zeros((9, 3)), "root_rot": np.tile([0, 0, 0, 1.0], (9, 1)),
            "dof": np.zeros((9, 29)), "fps": 30}  # fmt: skip


def test_a_number_and_its_text_are_not_one_clip(tmp_path: Path) -> None:
    (tmp_path / "x.pkl").write_bytes(pickle.dumps({1: motion(), "1": motion(), 2: motion()}))
    with pytest.raises(
        UnreadableError, match=r"x\.pkl: two clips of the pickle have one name \(found a number"
    ):
        peek(tmp_path, "x.pkl")
    (tmp_path / "x.pkl").write_bytes(pickle.dumps({1: motion(), "2": motion(), "note": {}}))
    assert [clip.key for clip in peek(tmp_path, "x.pkl")] == ["1", "2"]


@pytest.mark.parametrize(
    "body", [b"}(K\x01NK\x01Nu.", b"}K\x01NsK\x01\x88s.", b"(K\x01NK\x01Nd.", b"}(K\x01N\x88Nu."]
)
def test_a_key_that_comes_twice_is_refused(tmp_path: Path, body: bytes) -> None:
    """No pickler writes that; the one that comes later would hide the other (1, 1.0 and true are one key)."""
    (tmp_path / "x.pkl").write_bytes(b"\x80\x04" + body)
    with pytest.raises(UnreadableError, match="the same key twice in one dict"):
        read_pickle(tmp_path, "x.pkl")


# ---------------------------------------------------------------------- what people read of a run


def test_times_since_1970_do_not_break_the_table() -> None:
    """Every line of the table of verdicts stays within 80 columns, its times whole and its columns apart."""
    made = fake_run(6)
    since = 1_764_540_000 * 10**9
    moved = made.findings
    for name in ("t0", "t1"):
        at = moved.column_names.index(name)
        moved = moved.set_column(at, name, pc.add(moved[name], since))
    ran = SimpleNamespace(
        summary=made.summary, verdicts=made.verdicts, episodes=made.episodes, findings=moved
    )
    lines = list(as_table(ran))
    assert max(map(len, lines)) <= 80
    told = [line for line in lines if " to 17645" in line]
    assert told
    assert all(re.fullmatch(r".{34}\d+\.\d\d to \d+\.\d\d", line) for line in told)


# ---------------------------------------------------------------------------------------- which reader it is


def test_a_stray_file_does_not_turn_a_folder_into_another_format(tmp_path: Path) -> None:
    """Six pickles of which one is no motion, and one CSV that reads like a pose."""
    for i in range(5):
        (tmp_path / f"{i}.pkl").write_bytes(pickle.dumps(motion()))
    (tmp_path / "notes.pkl").write_bytes(pickle.dumps({"who": "a"}))
    table(tmp_path, walk(2.0), "stray")
    found = discover(tmp_path)
    assert found.listing.reader == "motion-pickle"
    assert found.beside == ["csv36"]


def test_broken_trajectories_are_those_of_the_format_that_names_them(tmp_path: Path) -> None:
    """Both HDF5 readers miss them as much; which comes first in the alphabet says nothing."""
    (tmp_path / "trajectory.h5").write_bytes(b"nonsense" * 100)
    assert discover(tmp_path).listing.reader == "droid"
    (tmp_path / "trajectory.h5").rename(tmp_path / "walk.h5")
    assert discover(tmp_path).listing.reader == "cmu-hdf5"


# ---------------------------------------------------------------------------------- people without a robot


@pytest.mark.parametrize("folder", ["bvh", "amass"])
def test_human_motion_alone_is_a_source_and_no_teleoperation(folder: str, tmp_path: Path) -> None:
    given = GOLDEN / folder / "input"
    found, said = decided(given, tmp_path / "out")
    assert set(found) == {"unmeasured"}
    text = " ".join(" ".join(said).split())
    assert "human source only, no robot" in text
    assert "there is no robot here to accept" in text
    assert "teleoperation" not in text


def test_a_robot_beside_the_human_is_judged_as_before() -> None:
    people = {Role.HUMAN_BODY, Role.OBJECT_POSE}
    assert profile_for(Kind.UNRESOLVED, people).name == HUMAN_SOURCE
    assert profile_for(Kind.UNRESOLVED, people | {Role.JOINT_POSITION}).name == "teleoperation"
    assert profile_for(Kind.UNRESOLVED, people | {Role.CAMERA}).name == "teleoperation"
    assert profile_for(Kind.DEMONSTRATION, people).name == "human-demonstration"
