"""The readers of motion files: golden folders, cut files, conventions that sheet or data decide."""

import hashlib
import pickle
import random
import runpy
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import plugs
from assay.embodiment import load
from assay.errors import UnreadableError
from assay.model import Episode, Role
from assay.motion.poses import euler_to_wxyz, order_by_tilt, rate_by_velocity, rotation, up_axis
from assay.motion.robots import ISAAC_G1, name_joints, robot_in
from assay.reader import Reader
from assay.sheet import Item, Sheet, apply
from assay.unpickle import read_pickle

GOLDEN = Path(__file__).parent / "golden/motion"
MAKE = runpy.run_path(str(GOLDEN / "make.py"), run_name="make")
CASES = {case: reader for case, (reader, _) in MAKE["CASES"].items()}
G1 = load("unitree_g1_29")


def reader(name: str) -> Reader:
    return plugs.readers()[name]


def sheet(body: Any = None, **items: Any) -> Sheet:
    return Sheet({k: Item(v, "corpus") for k, v in items.items()}, body=body)


def opened(name: str, folder: Path, said: Sheet | None = None) -> list[Episode]:
    listing = reader(name).discover(folder)
    return [reader(name).open(listing, ref, None, said or Sheet()) for ref in listing.refs]


@pytest.mark.parametrize("case", sorted(CASES))
def test_golden(case: str) -> None:
    assert MAKE["text"](reader(CASES[case]), GOLDEN / case / "input") == (
        GOLDEN / case / "episode.json"
    ).read_text("utf-8")


def digest(folder: Path) -> str:
    data = b"".join(p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file())
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("case", sorted(CASES))
def test_each_case_is_read_by_its_reader_and_left_alone(case: str) -> None:
    folder = GOLDEN / case / "input"
    before = digest(folder)
    scores = {name: r.probe(folder).score for name, r in plugs.readers().items()}
    assert max(scores, key=scores.__getitem__) == CASES[case], scores
    first, second = (MAKE["text"](reader(CASES[case]), folder) for _ in range(2))
    assert first == second
    assert digest(folder) == before


@pytest.mark.parametrize("case", sorted(CASES))
def test_cuts_are_errors_or_claims(case: str, tmp_path: Path) -> None:
    """Cut anywhere, a file is one sentence, in the listing or on opening, or opens with a claim."""
    name = CASES[case]
    folder = shutil.copytree(GOLDEN / case / "input", tmp_path / "x")
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.stat().st_size):
        whole = path.read_bytes()
        cuts = sorted(
            {
                *range(0, min(300, len(whole)), 23),
                *range(0, len(whole), max(1, len(whole) // 20)),
                len(whole) - 2,
            }
        )
        before = shown(name, folder)
        for cut in cuts:
            path.write_bytes(whole[:cut])
            now = shown(name, folder)
            assert now == before or now[1] > before[1] or len(now[0]) < len(before[0]), (
                f"{path.name} cut at {cut}"
            )
        path.write_bytes(whole)


def shown(name: str, folder: Path) -> tuple[list[Any], int]:
    """(what was read, complaints)."""
    listing = reader(name).discover(folder)
    bad, good = sum(c.size != 0 for c in listing.claims), []
    for ref in listing.refs:
        try:
            ep = reader(name).open(listing, ref, None, Sheet())
        except UnreadableError as error:
            bad += 1 if str(error).endswith(".") else -100
            continue
        bad += sum(c.size != 0 for c in ep.claims)
        good.append((ep.id, [(s.name, s.x.shape, float(np.nansum(s.x))) for s in ep.streams]))
    return good, bad


def test_stray_files_are_findings_and_not_the_end(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "csv_wxyz/input", tmp_path / "in")
    shutil.copytree(GOLDEN / "csv_xyzw/input", tmp_path / "in/deep/er")
    (tmp_path / "in/empty.csv").write_bytes(b"")
    (tmp_path / "in/table.csv").write_text("time,value\n1,2\n")
    listing = reader("csv36").discover(tmp_path / "in")
    assert [r.id for r in listing.refs] == ["empty", "walk", "deep/er/walk_120fps"]
    assert [(c.topic, c.where) for c in listing.claims] == [("readable", "empty.csv")]
    assert listing.facts["other_files"] == 1
    with pytest.raises(UnreadableError):
        reader("csv36").open(listing, listing.refs[0], None, Sheet())


@pytest.mark.parametrize(
    ("case", "file"), [("asap", "plain.pkl"), ("bvh", "clip.bvh"), ("omomo", "clip.pt"), ("smpl", "clip.npz")]
)
def test_one_file_is_a_corpus_and_can_be_a_part(case: str, file: str) -> None:
    path = GOLDEN / case / "input" / file
    assert reader(CASES[case]).probe(path).score >= 0.8
    (ep,) = opened(CASES[case], path)
    assert ep.by_role(Role.HUMAN_BODY)


def test_a_listing_crosses_process_borders() -> None:
    listing = reader("motion-pickle").discover(GOLDEN / "h2o/input")
    assert [r.id for r in pickle.loads(pickle.dumps(listing)).refs] == ["clips/punch", "clips/wave"]  # noqa: S301


# -------------------------------------------------------------------------------------------- conventions


def test_both_orders_give_the_same_base() -> None:
    (a,), (b,) = opened("csv36", GOLDEN / "csv_wxyz/input"), opened("csv36", GOLDEN / "csv_xyzw/input")
    assert np.array_equal(a.by_role(Role.BASE_POSE)[0].x, b.by_role(Role.BASE_POSE)[0].x)
    assert "root: quaternion from xyzw to wxyz" in b.source.conversions  # type: ignore[union-attr]
    assert not a.source.conversions  # type: ignore[union-attr]


def test_an_undecided_order_keeps_the_columns_and_the_sheet_decides() -> None:
    (ep,) = opened("csv36", GOLDEN / "csv_undecided/input")
    (base,) = ep.by_role(Role.BASE_POSE)
    assert base.frame == "unresolved-quaternion"
    assert base.names[3:] == ("q0", "q1", "q2", "q3")
    assert np.allclose(base.x[0, 3:], [0, 0.01, 0.02, 1])
    (ep,) = opened("csv36", GOLDEN / "csv_undecided/input", sheet(quaternion="xyzw"))
    assert np.allclose(ep.by_role(Role.BASE_POSE)[0].x[0, 3:], [1, 0, 0.01, 0.02])


def test_a_sheet_that_the_data_contradicts_is_a_claim() -> None:
    (ep,) = opened("csv36", GOLDEN / "csv_wxyz/input", sheet(quaternion="xyzw", fps=30))
    assert [(c.about, c.declared, c.found) for c in ep.claims if c.size] == [
        ("quaternion order", "xyzw", "wxyz")
    ]
    (ep,) = opened("motion-pickle", GOLDEN / "sonic/input", sheet(fps=50))
    assert [(c.about, c.declared, c.found, c.size) for c in ep.claims if c.size] == [
        ("fps", "50", "30", 20.0)
    ]
    assert {s.rate for s in ep.streams} == {30}


def test_time_without_a_rate_counts_frames() -> None:
    (ep,) = opened("csv36", GOLDEN / "csv_wxyz/input")
    assert {s.rate for s in ep.streams} == {None}
    assert ep.streams[0].t.tolist() == [0, 10**9, 2 * 10**9, 3 * 10**9]
    assert "fps" in ep.meta["unresolved"]
    said = sheet(fps=30)
    listing = reader("csv36").discover(GOLDEN / "csv_wxyz/input")
    ep = apply(said, reader("csv36").open(listing, listing.refs[0], None, said))
    assert ep.streams[0].t.tolist() == [0, 33333333, 66666667, 10**8]
    assert ep.streams[0].rate == 30


def test_only_wanted_roles_come() -> None:
    listing = reader("robot-npz").discover(GOLDEN / "holosoma/input")
    ep = reader("robot-npz").open(listing, listing.refs[0], frozenset({Role.OBJECT_POSE}), Sheet())
    assert [s.role for s in ep.streams] == [Role.OBJECT_POSE]


def limits_of(names: tuple[str, ...]) -> Any:
    """Poses near the middle of each joint's range, (50, c)."""
    at = G1.resolve(names)
    lower, upper = G1.limits[0].lower[at], G1.limits[0].upper[at]
    return lower + (upper - lower) * np.random.default_rng(1).uniform(0.1, 0.9, (50, len(names)))


def test_limits_tell_the_two_orders_of_a_g1_apart() -> None:
    model = tuple(j.name for j in G1.joints)
    isaac = tuple(f"{n}_joint" for n in ISAAC_G1)
    for names in (model, isaac):
        found, why = name_joints(limits_of(names), G1, "any")
        assert found == names, why
    found, why = name_joints(np.zeros((5, 29)), G1, "any")
    assert found is None
    assert "do not tell the orders apart" in why
    assert name_joints(np.zeros((5, 29)), G1, "model")[0] == model


@pytest.mark.parametrize(
    ("scale", "shift", "unit"),
    [(180 / np.pi, 0.0, "degrees"), (2048 / np.pi, 0.0, "ticks of"), (2048 / np.pi, 2048.0, "ticks about")],
)
def test_joints_in_another_unit_are_named_and_the_unit_told(scale: float, shift: float, unit: str) -> None:
    model = tuple(j.name for j in G1.joints)
    isaac = tuple(f"{n}_joint" for n in ISAAC_G1)
    for names in (model, isaac):
        found, why = name_joints(limits_of(names) * scale + shift, G1, "any")
        assert found == names, why
        assert f"the values look like {unit}" in why
        assert "not radians" in why
    found, why = name_joints(np.full((5, 29), 0.2) * scale + shift, G1, "any")
    assert found is None
    assert unit in why


def test_a_reversed_order_is_told_and_not_taken() -> None:
    found, why = name_joints(limits_of(tuple(j.name for j in G1.joints)[::-1]), G1, "model")
    assert found is None
    assert "from the last column to the first, model order fits" in why


def test_axes_tell_23_joints_apart() -> None:
    wristless = tuple(j.name for j in G1.joints if "wrist" not in j.name)
    assert name_joints(np.zeros((5, 23)), G1, "model", MAKE["AXES"])[0] == wristless
    unitrees = "yxzyyxyxzyyxzyxzyxyxzyx"  # waist yaw alone, and a wrist roll per arm
    assert name_joints(np.zeros((5, 23)), G1, "model", unitrees)[0] is None
    (ep, _) = opened("motion-pickle", GOLDEN / "asap/input", sheet(G1))
    assert ep.by_role(Role.JOINT_POSITION)[0].names == wristless


def test_no_body_no_names() -> None:
    assert name_joints(np.zeros((5, 29)), None, "model")[0] is None
    assert name_joints(np.zeros((5, 28)), G1, "model")[0] is None
    assert name_joints(np.full((5, 29), 9.0), G1, "any")[0] is None


@pytest.mark.parametrize(
    ("path", "robot"),
    [("a/g1_29dof_asap/0-walk.pkl", "g1"), ("x/02-walk_UnitreeG1.npz", "g1"), ("x/run_UnitreeH1.npz", "h1"),
     ("h1_2/a.csv", "h1_2"), ("g1/h1/a.csv", "h1"), ("x/g1_to_h1.csv", None), ("x/eight1.csv", None)],
)  # fmt: skip
def test_robots_in_paths(path: str, robot: str | None) -> None:
    assert robot_in(Path(path)) == robot


def test_rates_from_velocities() -> None:
    t = np.arange(200)[:, None] / 50
    q, dq = np.sin(3 * t + np.arange(3)), 3 * np.cos(3 * t + np.arange(3))
    assert rate_by_velocity(q, dq)[0] == 50
    assert rate_by_velocity(q, dq[::-1])[0] is None
    assert rate_by_velocity(q, dq * 0)[0] is None
    assert rate_by_velocity(q, dq * 1.13)[0] is None


def test_tilt_and_up() -> None:
    assert order_by_tilt(np.zeros((0, 4)))[0] is None
    assert order_by_tilt(np.full((3, 4), np.nan))[0] is None
    names = ("left_foot", "head")
    assert up_axis(np.array([[[0, 0, 0], [0, 1.6, 0.1]]]), names)[0] == "+y"
    assert up_axis(np.array([[[0, 0, 0], [0, 0.1, 0.1]]]), names)[0] is None


def test_euler_angles_and_matrices_agree() -> None:
    angles = np.random.default_rng(3).uniform(-3, 3, (20, 3))
    q = euler_to_wxyz("yxz", angles)
    made = rotation("y", angles[:, 0]) @ rotation("x", angles[:, 1]) @ rotation("z", angles[:, 2])
    w, x, y, z = q.T
    assert np.allclose(1 - 2 * (x * x + y * y), made[:, 2, 2])
    assert np.allclose(2 * (x * y + w * z), made[:, 1, 0])


def test_bvh_positions() -> None:
    (ep,) = opened("bvh", GOLDEN / "bvh/input")
    x = ep.streams[0].x.reshape(3, 5, 3)
    assert np.allclose(x[0, 1], [0, 0, 0])  # the foot, 90 cm below a hip at 90 cm; y up became z up
    assert np.allclose(x[0, 3], [0, 0, 1.6])
    turn = np.radians(20)
    assert np.allclose(x[2, 3], [-0.7 * np.sin(turn), 0, 0.92 + 0.7 * np.cos(turn)])


def test_c3d_byte_orders_and_integers_agree() -> None:
    a, b, c = opened("c3d", GOLDEN / "c3d/input")
    for other in (b, c):
        assert np.array_equal(a.streams[0].x, other.streams[0].x, equal_nan=True)
    assert np.isnan(a.streams[0].x[1, 3:]).all()
    assert np.allclose(a.streams[0].x[0], [0.01, 0.02, 0.03, 0.01, 0.02, 1.7])


# ------------------------------------------------------------------------------------- what strangers send

ODD: dict[str, Any] = {
    "none": None,
    "scalar": np.float64(3),
    "text": np.array("x"),
    "flat": np.zeros(4),
    "empty": np.zeros((0, 4)),
    "wide": np.zeros((4, 5000), np.float32),
    "deep": np.zeros((1, 1, 1, 1, 1)),
    "nan": np.full((4, 4), np.nan),
    "inf": np.full((4, 29), np.inf),
    "short": np.zeros((1, 3)),
    "complex": np.zeros((4, 3), complex),
}


def survives(name: str, folder: Path) -> None:
    """A reader lists and opens, or says one sentence, with no other error and no warning."""
    listing = reader(name).discover(folder)
    for ref in listing.refs:
        try:
            ep = reader(name).open(listing, ref, None, sheet(G1))
        except UnreadableError as error:
            if not str(error).endswith("."):
                raise
        else:
            assert all(len(s.t) == len(s.x) and len(s.channels) == s.x.shape[1] for s in ep.streams)


@pytest.mark.parametrize("odd", sorted(ODD))
@pytest.mark.parametrize("case", [c for c, r in CASES.items() if r.endswith("npz")])
def test_odd_arrays_in_npz(case: str, odd: str, tmp_path: Path) -> None:
    source = sorted((GOLDEN / case / "input").glob("*.npz"))[-1]
    with np.load(source) as data:
        whole = dict(data)
    for key in whole:
        changed = {k: v for k, v in whole.items() if k != key} | ({} if ODD[odd] is None else {key: ODD[odd]})
        np.savez(tmp_path / "x.npz", allow_pickle=True, **changed)
        survives(CASES[case], tmp_path)


@pytest.mark.parametrize("odd", sorted(ODD))
@pytest.mark.parametrize("case", ["h2o", "gmr", "phc_human"])
def test_odd_values_in_pickles(case: str, odd: str, tmp_path: Path) -> None:
    source = sorted((GOLDEN / case / "input").glob("*.pkl"))[0]
    data = read_pickle(source.parent, source.name)
    clip = data if "fps" in data else next(iter(data.values()))
    for key in list(clip):
        changed = dict(clip) | {key: ODD[odd]}
        if ODD[odd] is None:
            del changed[key]
        (tmp_path / "x.pkl").write_bytes(pickle.dumps(changed if clip is data else {"a": changed}))
        survives(CASES[case], tmp_path)


@pytest.mark.parametrize("case", sorted(CASES))
def test_changed_bytes_are_survived(case: str, tmp_path: Path) -> None:
    dice = random.Random(case)
    folder = shutil.copytree(GOLDEN / case / "input", tmp_path / "x")
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.stat().st_size):
        whole = path.read_bytes()
        for _ in range(40):
            data = bytearray(whole)
            data[dice.randrange(min(len(data), 3000))] = dice.randrange(256)
            path.write_bytes(data)
            survives(CASES[case], folder)
        path.write_bytes(whole)


def test_links_in_hdf5_lead_nowhere(tmp_path: Path) -> None:
    import h5py

    shutil.copy(GOLDEN / "cmu/input/clips.h5", tmp_path / "secret.h5")
    (tmp_path / "in").mkdir()
    with h5py.File(tmp_path / "in/a.h5", "w") as file:
        file["clip"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/clip_1")
        file["soft"] = h5py.SoftLink("/clip")
    assert reader("cmu-hdf5").discover(tmp_path / "in").refs == ()


def test_an_hdf5_array_of_nothing_is_refused(tmp_path: Path) -> None:
    import h5py

    shutil.copy(GOLDEN / "cmu/input/clips.h5", tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file["clip_1/walkers/walker_0/joints"]
        file.create_dataset("clip_1/walkers/walker_0/joints", (56, 1 << 22), "f8", chunks=(56, 64))
    listing = reader("cmu-hdf5").discover(tmp_path)
    with pytest.raises(UnreadableError, match="inflates"):
        reader("cmu-hdf5").open(listing, listing.refs[0], None, Sheet())
