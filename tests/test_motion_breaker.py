"""What broke the motion side once: hostile files, clips that vanished, poses that no robot can have."""

import contextlib
import io
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import plugs
from assay.arrays import open_archive, read_npy
from assay.embodiment import model_inside
from assay.engine import run
from assay.errors import UnreadableError, UsageError
from assay.inside import path_inside
from assay.model import Episode, Kind
from assay.profile import profile_for
from assay.sheet import Sheet
from assay.sheet_file import parse_sheet
from assay.synth.squats import squats
from assay.unpickle import read_pickle

GOLDEN = Path(__file__).parent / "golden/motion"

START = b"\x80\x04"
NESTED = b")" + b"2\x86" * 60  # t = (t, t), sixty times: 2^60 leaves, 121 bytes
DEEP = b")" + b"\x85" * 150_000  # t = (t,): its hash would overflow the stack
LARGE = b"X" + struct.pack("<I", 4_000_000) + b"a" * 4_000_000 + b"\x940"


def refused(tmp_path: Path, data: bytes) -> str:
    (tmp_path / "x.pkl").write_bytes(data)
    with pytest.raises(UnreadableError) as error:
        read_pickle(tmp_path, "x.pkl")
    return str(error.value)


@pytest.mark.parametrize("key", [NESTED, DEEP], ids=["wide", "deep"])
@pytest.mark.parametrize(
    "use",
    [
        b"}%sNs.",
        b"}(%sNu.",
        b"(%sNd.",
        b"\x8f(%s\x90.",
        b"(%s\x91.",
        b"\x8c\x08builtins\x8c\x09frozenset\x93](%se\x85R.",
        b"\x8c\x08builtins\x8c\x04dict\x93](%sN\x86e\x85R.",
    ],
    ids=["setitem", "setitems", "dict", "set", "frozenset", "frozenset()", "dict()"],
)
def test_nothing_nested_is_hashed(key: bytes, use: bytes, tmp_path: Path) -> None:
    """A hash of these takes for ever, or overflows the stack of the process; sets of them are lists."""
    (tmp_path / "x.pkl").write_bytes(START + use.replace(b"%s", key))
    with contextlib.suppress(UnreadableError):
        assert isinstance(read_pickle(tmp_path, "x.pkl"), list)


def test_integers_of_one_hash_are_no_keys(tmp_path: Path) -> None:
    assert "beyond all counts" in refused(tmp_path, pickle.dumps({10**6000: 1}))


@pytest.mark.parametrize(
    ("made", "args"),
    [
        (b"\x8c\x07_codecs\x8c\x06encode\x93\x940", b"h\x01h\x00\x8c\x06latin1\x86R"),
        (b"\x8c\x08builtins\x8c\x04list\x93\x940](" + b"N" * 3_000_000 + b"e\x940", b"h\x01h\x02\x85R"),
    ],
    ids=["text", "list"],
)
def test_no_value_is_copied_over_and_over(made: bytes, args: bytes, tmp_path: Path) -> None:
    assert "over and over" in refused(tmp_path, START + LARGE + made + b"](" + args * 40 + b"e.")


def test_opcodes_are_counted_within_frames_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("assay.unpickle.machine.MOST_OPCODES", 1000)
    data = b"]0" * 1000 + b"N."
    assert "instructions" in refused(tmp_path, START + b"\x95" + struct.pack("<Q", len(data)) + data)


def test_sets_and_dicts_still_come_back(tmp_path: Path) -> None:
    """Plain containers of every protocol, sets as lists."""
    for protocol in range(6):
        said = {"a": {1, 2}, "b": frozenset("x"), 3: [{}, set()], 2.5: {"c": (1, b"y")}}
        (tmp_path / "x.pkl").write_bytes(pickle.dumps(said, protocol))
        found = read_pickle(tmp_path, "x.pkl")
        assert sorted(found["a"]) == [1, 2]
        assert (found["b"], found[3], found[2.5]) == (["x"], [{}, []], {"c": (1, b"y")})


def header(shape: str) -> bytes:
    text = f"{{'descr':'<f8','fortran_order':False,'shape':{shape}}}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def test_a_shape_of_truth_values_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(header("(True, 29)") + bytes(8 * 29))
    with pytest.raises(UnreadableError, match="shape is not one"):
        read_npy(tmp_path, "x.npy")


def test_many_members_below_the_bound_are_a_bomb(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for i in range(9):
            archive.writestr(f"q_{i}.npy", bytes(30 << 20))
    with pytest.raises(UnreadableError, match="inflates beyond measure"), open_archive(tmp_path, "x.npz"):
        pass


def test_joints_without_channels_take_no_memory(tmp_path: Path) -> None:
    joints = b"".join(b"JOINT j%d\n{\nOFFSET 0 0 0\n}\n" % i for i in range(1900))
    head = b"HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n" + joints
    rows = b"}\nMOTION\nFrames: 20000\nFrame Time: 0.01\n" + b"0 0 0\n" * 20_000
    (tmp_path / "x.bvh").write_bytes(head + rows)
    with pytest.raises(UnreadableError, match="more joints than the motion can move"):
        opened("bvh", tmp_path)


def test_positions_are_the_same_whatever_the_block(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).uniform(-90, 90, (50, 6))
    text = "\n".join(" ".join(f"{v:.4f}" for v in row) for row in rows) + "\n"
    head = ("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nJOINT b\n{\n"
            "OFFSET 0 1.7 0\nCHANNELS 3 Xrotation Yrotation Zrotation\nEnd Site\n{\nOFFSET 0 0.1 0\n}\n}\n}\n"
            "MOTION\nFrames: 50\nFrame Time: 0.01\n")  # fmt: skip
    (tmp_path / "x.bvh").write_text(head + text)
    whole = opened("bvh", tmp_path)[0].streams[0].x
    monkeypatch.setattr("assay.readers.bvh.BLOCK", 21)
    assert np.array_equal(whole, opened("bvh", tmp_path)[0].streams[0].x)


def opened(name: str, folder: Path, said: Sheet | None = None) -> list[Episode]:
    reader = plugs.readers()[name]
    listing = reader.discover(folder)
    return [reader.open(listing, ref, None, said or Sheet()) for ref in listing.refs]


def clip(**more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {"root_trans_offset": np.zeros((50, 3)), "root_rot": np.tile([0, 0, 0, 1.0], (50, 1)),
            "dof": rng.normal(0, 0.1, (50, 29)), "fps": 30, **more}  # fmt: skip


def test_one_clip_with_a_senseless_rate_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "x.pkl").write_bytes(pickle.dumps({"a": clip(), "b": clip(fps=-30), "c": clip()}))
    reader = plugs.readers()["motion-pickle"]
    listing = reader.discover(tmp_path)
    assert [r.id for r in listing.refs] == ["x/a", "x/b", "x/c"]
    with pytest.raises(UnreadableError, match="rate is not usable"):
        reader.open(listing, listing.refs[1], None, Sheet())
    assert len(reader.open(listing, listing.refs[2], None, Sheet()).streams[0]) == 50


def test_rotations_of_no_joint_are_no_evidence(tmp_path: Path) -> None:
    (tmp_path / "x.pkl").write_bytes(pickle.dumps({"a": clip(pose_aa=np.zeros((50, 0, 3)))}))
    assert opened("motion-pickle", tmp_path)


def test_truth_values_are_no_motion(tmp_path: Path) -> None:
    file = io.BytesIO()
    np.save(file, np.ones((50, 36), bool))
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("qpos.npy", file.getvalue())
    with pytest.raises(UnreadableError, match="array of numbers is missing"):
        opened("robot-npz", tmp_path)


# --------------------------------------------------------------------------------------- clips that vanished


def table(folder: Path, **edits: Any) -> None:
    """One sound clip, and one spoilt by each edit."""
    rows = np.loadtxt(next((GOLDEN / "csv_wxyz/input").rglob("*.csv")), delimiter=",")
    for name, edit in {"sound": lambda x: x, **edits}.items():
        np.savetxt(folder / f"{name}.csv", edit(rows.copy()), delimiter=",", fmt="%.6f")


def put(at: Any, value: Any) -> Any:
    """An edit that sets what is at a place of a table."""

    def edit(x: Any) -> Any:
        x[at] = value
        return x

    return edit


def test_clips_whose_first_pose_is_spoilt_do_not_vanish(tmp_path: Path) -> None:
    table(tmp_path, nan=put((0, 3), np.nan), half=put(np.s_[:, 3:7], 0.25), zero=put(np.s_[:], 0.0))
    sound = (tmp_path / "sound.csv").read_bytes()
    (tmp_path / "header.csv").write_bytes(b",".join(b"c%d" % i for i in range(36)) + b"\n" + sound)
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + sound)
    (tmp_path / "notes.csv").write_text("time,value\n1,2\n")
    listing = plugs.readers()["csv36"].discover(tmp_path)
    assert [r.id for r in listing.refs] == ["bom", "half", "header", "nan", "sound", "zero"]
    assert listing.facts["other_files"] == 1
    alone = tmp_path / "alone"
    alone.mkdir()
    (tmp_path / "zero.csv").rename(alone / "zero.csv")
    assert plugs.readers()["csv36"].probe(alone).score == 0


def test_targets_that_are_no_angles_do_not_vanish(tmp_path: Path) -> None:
    q = np.random.default_rng(0).normal(0, 0.1, (60, 29))
    for name, x in {"sound": q, "degrees": np.degrees(q) * 5, "none": q[:0], "wide": q.repeat(2, 1)}.items():
        np.save(tmp_path / f"{name}.npy", x)
    listing = plugs.readers()["motion-npy"].discover(tmp_path)
    assert [r.id for r in listing.refs] == ["degrees", "none", "sound", "wide"]
    np.save(tmp_path / "wide.npy", np.full((60, 40), 50.0))
    listing = plugs.readers()["motion-npy"].discover(tmp_path)
    assert [r.id for r in listing.refs] == ["degrees", "none", "sound"]


# ------------------------------------------------------------------------ poses that no robot can have


def test_what_is_no_pose_is_not_accepted(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    zero = np.r_[0, 0, 0.8, 1, np.zeros(32)]
    table(folder, nan=put((0, 3), np.nan), half=put(np.s_[1:3, 3:7], 0.25), gone=put(np.s_[1:3, 3:7], 0.0),
          empty=put(np.s_[:], 0.0), unmoved=lambda x: np.tile(zero, (90, 1)))  # fmt: skip
    (folder / "assay.toml").write_text('fps = 30\nquaternion = "wxyz"\nembodiment = "unitree_g1_29"\n')
    told = run(folder, out=tmp_path / "out", jobs=1).episodes.to_pylist()
    rejected = {e["subject"] for e in told if e["decision"] == "rejected"}
    assert rejected == {"nan", "half", "gone", "empty", "unmoved"}


def test_an_attribute_of_megabytes_is_read_once(tmp_path: Path) -> None:
    """In the parser's own small pieces this takes minutes."""
    (tmp_path / "x.xml").write_text(
        f'<mujoco><worldbody><body pos="{"1 " * 3_500_000}"/></worldbody></mujoco>'
    )
    with pytest.raises(UnreadableError, match="pos is not 3 finite numbers"):
        model_inside(tmp_path, "x.xml")


def test_a_model_of_more_elements_than_any_robot_is_refused(tmp_path: Path) -> None:
    geoms = '<geom type="box" size="1 1 1"/>' * 25_000
    (tmp_path / "x.xml").write_text(f"<mujoco><worldbody><body>{geoms}</body></worldbody></mujoco>")
    with pytest.raises(UnreadableError, match="at most 20000 elements"):
        model_inside(tmp_path, "x.xml")


def test_leaving_the_human_out_of_one_clip_loosens_nothing(tmp_path: Path) -> None:
    human = np.random.default_rng(0).normal(size=(50, 24, 3))
    for name, more in {"with": {"smpl_joints": human}, "without": {}}.items():
        (tmp_path / f"{name}.pkl").write_bytes(pickle.dumps({name: clip(**more)}))
    listing = plugs.readers()["motion-pickle"].discover(tmp_path)
    assert "smpl_joints" not in {s.name for s in listing.streams}
    effects = profile_for(Kind.RETARGETED).effects(["RTG003"], listing.roles)
    assert effects["RTG003"] == "require"


def test_a_name_that_is_too_long_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="cannot be followed"):
        path_inside(tmp_path, "a" * 5000)


def test_a_human_measured_in_millimetres_stands_nowhere(tmp_path: Path) -> None:
    feet, head = np.zeros((50, 12, 3)), np.full((50, 12, 3), [0, 0, 1500.0])
    human = np.concatenate([feet, head], axis=1)
    (tmp_path / "x.pkl").write_bytes(pickle.dumps({"a": clip(smpl_joints=human)}))
    frames = {s.name: s.frame for s in opened("motion-pickle", tmp_path)[0].streams}
    assert frames["smpl_joints"] == "unresolved-up"
    (tmp_path / "x.pkl").write_bytes(pickle.dumps({"a": clip(smpl_joints=human / 1000)}))
    frames = {s.name: s.frame for s in opened("motion-pickle", tmp_path)[0].streams}
    assert frames["smpl_joints"] == "world"


@pytest.mark.parametrize("offset", ["nan", "inf", "1e300"])
def test_an_offset_is_a_time(offset: str) -> None:
    with pytest.raises((UnreadableError, UsageError)):
        parse_sheet(f'[parts.human]\npath = "x.pt"\noffset = {offset}\n', "assay.toml")


def test_senseless_values_and_rates_are_no_fault_of_ours(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither a warning nor an error, whatever a clip holds."""
    folder = tmp_path / "in"
    folder.mkdir()
    walking = squats(2.0)
    joints, root = walking.stream("joints"), walking.stream("root")
    assert joints is not None
    assert root is not None
    rows = np.concatenate([np.asarray(root.x), np.asarray(joints.x)], axis=1)
    spoilt = {"inf": np.inf, "nan": np.nan}
    for name, value in spoilt.items():
        x = rows.copy()
        x[40, 0], x[50, 9] = value, value
        np.savetxt(folder / f"{name}.csv", x, delimiter=",")
    x = rows.copy()
    x[:] = np.nan
    np.savetxt(folder / "void.csv", x, delimiter=",")
    np.savetxt(folder / "sound.csv", rows, delimiter=",")
    said = 'fps = 100000\nquaternion = "wxyz"\nembodiment = "unitree_g1_29"\nground = 0\n'
    (folder / "assay.toml").write_text(said)
    told = run(folder, out=tmp_path / "out", jobs=1)
    wrong = [r for r in told.verdicts.to_pylist() if r["status"] == "error"]
    assert not wrong, [(r["subject"], r["gate"], r["detail"]) for r in wrong]
    decided = {e["subject"]: e["decision"] for e in told.episodes.to_pylist()}
    assert {n for n, d in decided.items() if d == "rejected"} >= {*spoilt, "void"}
    assert "Warning" not in capfd.readouterr().err
