"""The LeRobot reader: golden folders, what each fault is reported as, and how names become meanings."""

import runpy
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.errors import UnreadableError
from assay.model import Claim, Episode, Listing, Role
from assay.readers.lerobot import READER, probe
from assay.readers.lerobot.clips import share
from assay.readers.lerobot.files import Template, ranges
from assay.readers.lerobot.info import exact_rate
from assay.readers.lerobot.meaning import channel
from assay.readers.lerobot.parquet import values
from assay.sheet import Sheet

GOLDEN = Path(__file__).parent / "golden/lerobot"
SETS = runpy.run_path(str(GOLDEN / "sets.py"))
CANONICAL = runpy.run_path(str(GOLDEN / "canonical.py"), run_name="canonical")
Small = SETS["Small"]
TOP = "observation.images.top"


def opened(root: Path) -> tuple[Listing, list[Episode]]:
    listing = READER.discover(root)
    return listing, [READER.open(listing, ref, None, Sheet()) for ref in listing.refs]


def disagreeing(claims: tuple[Claim, ...]) -> dict[tuple[str, str, str], float]:
    return {(c.topic, c.about, c.stream): c.size for c in claims if c.size != 0}


# ------------------------------------------------------------------------------------------------- golden


@pytest.mark.parametrize("case", sorted(p.parent.name for p in GOLDEN.glob("*/make.py")))
def test_golden(case: str) -> None:
    folder = GOLDEN / case
    assert CANONICAL["case"](folder) == (folder / "episode.json").read_text("utf-8")
    assert all(p.stat().st_size <= 8192 for p in (folder / "input").rglob("*") if p.is_file())


@pytest.mark.parametrize("version", ["v2.0", "v2.1", "v3.0"])
def test_clean_set_agrees_about_everything(version: str, tmp_path: Path) -> None:
    listing, episodes = opened(Small(version, [5, 4, 6]).write(tmp_path / "set"))
    assert disagreeing(listing.claims) == {}
    for ep in episodes:
        assert disagreeing(ep.claims) == {}
        topics = {c.topic for c in ep.claims}
        assert topics >= {"file", "pointer", "boundary", "declared", "duplicate-column"}
    assert [len(ep.streams[0]) for ep in episodes] == [5, 4, 6]
    assert listing.facts == {"format": f"LeRobot {version}", "robot_type": "Unitree_G1_Inspire", "fps": 10.0}


# ------------------------------------------------------------------------------------------------- faults

Bend = Callable[[Any], None]


def _d03_v3(s: Any) -> None:
    wrong = [6, 4, 5]  # in truth 5, 4, 6
    s.packs, s.table["data/file_index"] = [[0, 1, 2]], [0, 0, 0]
    s.table |= {"length": wrong, "dataset_from_index": [0, 6, 10], "dataset_to_index": [6, 10, 15]}


def _d03_v2(s: Any) -> None:
    for row, length in zip(s.episodes, [6, 4, 5], strict=True):
        row["length"] = length


def _d11(s: Any) -> None:
    s.packs = [[0, 1], [2]]
    s.table["data/file_index"] = [0, 0, 0]


def _wrong_label(s: Any) -> None:
    s.rows[1]["episode_index"] = np.array([1, 1, 0, 0])


def _wrong_counts(s: Any) -> None:
    s.rows[0]["frame_index"] = np.array([0, 1, 2, 2, 4])
    s.rows[0]["index"] = np.array([0, 1, 3, 4, 4])


def _leak(s: Any) -> None:
    for name, by in (("from", [0, 0.8, 0.8]), ("to", [0.8, 0.8, 0.8])):
        column = s.table[f"videos/{TOP}/{name}_timestamp"]
        s.table[f"videos/{TOP}/{name}_timestamp"] = [a + b for a, b in zip(column, by, strict=True)]


def _gap_in_ids(s: Any) -> None:
    del s.episodes[1]


def _double(s: Any) -> None:
    s.info["features"]["observation.state"]["shape"] = [4]


def _ragged(s: Any) -> None:
    rows = s.rows[0]["observation.state"].tolist()
    s.rows[0]["observation.state"] = pa.array([rows[0], None, rows[2][:2], *rows[3:]], pa.list_(pa.float32()))


def _type(s: Any) -> None:
    s.rows[0]["action"] = s.rows[0]["action"].astype(np.float64)


def _stale(s: Any) -> None:
    s.stats[0]["task_index"]["max"] = [3]


def _more_rows(s: Any) -> None:
    s.lengths.append(3)
    s.rows.append(s._columns(3, 3, 15))
    s.packs.append([3])
    s.packs[2:] = [[2, 3]]


def _empty_words(s: Any) -> None:
    s.tasks[0]["task"] = " "
    for row in s.episodes:
        row["tasks"] = [" "]


def _set(key: str, value: Any) -> Bend:
    return lambda s: s.info.__setitem__(key, value)


def _null(name: str) -> Bend:
    def bend(s: Any) -> None:
        kind = pa.float32() if name == "timestamp" else pa.int64()
        s.rows[0][name] = pa.nulls(len(s.rows[0][name]), kind)

    return bend


def _without(name: str) -> Bend:
    def bend(s: Any) -> None:
        s.info["features"].pop(name)
        for rows in s.rows:
            rows.pop(name)

    return bend


def _drop(*paths: str) -> Bend:
    return lambda s: s.absent.update(paths)


E0, E1, E2 = 0, 1, 2
FAULTS: list[tuple[str, str, Bend, dict[Any, dict[tuple[str, str, str], float]]]] = [
    ("D03 boundaries permuted, v3", "v3.0", _d03_v3, {
        E0: {("boundary", "rows", ""): 1}, E1: {("boundary", "rows", ""): 1},
        E2: {("boundary", "rows", ""): 1}}),
    ("D03 boundaries permuted, v2", "v2.1", _d03_v2, {
        E0: {("boundary", "rows", ""): 1}, E1: {("boundary", "rows", ""): 1},
        E2: {("boundary", "rows", ""): 1}}),
    ("D11 data pointer of another file", "v3.0", _d11, {
        "set": {("declared", "rows of data files", ""): 6, ("pointer", "unclaimed files", ""): 1},
        E2: {("pointer", "data file", ""): 6, ("boundary", "rows", ""): 6}}),
    ("rows of another episode, v2", "v2.1", _wrong_label, {
        E1: {("pointer", "episode_index", ""): 2, ("statistics", "episode_index", "episode_index"): 1}}),
    ("counters", "v2.1", _wrong_counts, {
        E0: {("pointer", "frame_index", ""): 1, ("pointer", "index", ""): 2}}),
    ("D08 a discarded take in the packed video", "v3.0", _leak, {
        E0: {("boundary", "pictures", TOP): 8}}),
    ("D12 a hole in the ids", "v2.1", _gap_in_ids, {
        "set": {("declared", "total_episodes", ""): 1, ("declared", "total_frames", ""): 4,
                ("declared", "episode_index", ""): 1},
        E1: {("declared", "episode table", ""): 1, ("boundary", "rows", ""): np.nan},
        E2: {}}),
    ("shape against names and data", "v2.1", _double, {
        "set": {("declared", "names", "observation.state"): 1},
        **{e: {("declared", "column", "observation.state"): 1, ("declared", "width", "observation.state"): 1}
           for e in (E0, E1, E2)}}),
    ("D50 ragged and null rows", "v2.1", _ragged, {
        E0: {("declared", "rows", "observation.state"): 2}}),
    ("dtype", "v2.1", _type, {E0: {("declared", "column", "action"): 1}}),
    ("D13 stale statistics of a counter", "v2.1", _stale, {
        E0: {("statistics", "task_index", "task_index"): 1}}),
    ("rows that no episode claims", "v3.0", _more_rows, {
        "set": {("declared", "rows of data files", ""): 3}}),
    ("totals", "v2.1", lambda s: s.info.update(total_episodes=4, total_frames=16, total_tasks=2), {
        "set": {("declared", "total_episodes", ""): 1, ("declared", "total_frames", ""): 1,
                ("declared", "total_tasks", ""): 1, ("declared", "total_videos", ""): 1,
                ("declared", "splits", ""): 1, ("file", "data files", ""): 1,
                ("file", "video files", TOP): 1},
        3: {("declared", "episode table", ""): 1, ("file", "data", ""): 1, ("file", "video", TOP): 1,
            ("declared", "task", ""): np.nan}}),
    ("splits beyond the end", "v2.1", _set("splits", {"train": "0:100"}), {
        "set": {("declared", "splits", ""): 97}}),
    ("splits short by one", "v2.1", _set("splits", {"train": "0:2"}), {
        "set": {("declared", "splits", ""): 1}}),
    ("splits overlap", "v2.1", _set("splits", {"train": "0:3", "val": "2:3"}), {
        "set": {("declared", "splits overlap", ""): 1}}),
    ("no rate", "v2.1", _set("fps", None), {"set": {("declared", "fps", ""): 1}}),
    *((f"a rate of {fps!r}", "v2.1", _set("fps", fps), {"set": {("declared", "fps", ""): 1}})
      for fps in (0, -30, True, "ten", [10], 20_000)),
    ("no number of episodes", "v2.1", lambda s: s.info.pop("total_episodes"), {
        "set": {("declared", "total_episodes", ""): 1, ("declared", "total_videos", ""): np.nan}}),
    ("splits that are no range", "v2.1", _set("splits", {"train": [0, 3]}), {
        "set": {("declared", "splits", ""): 1}}),
    *((f"{name} null in every row", "v2.1", _null(name), {E0: {(topic, name, name): 5}})
      for name, topic in (("timestamp", "declared"), ("frame_index", "pointer"), ("index", "pointer"),
                          ("episode_index", "pointer"), ("task_index", "pointer"))),
    *((f"{name} neither declared nor there", "v2.1", _without(name), {
        e: {("declared", name, name): 1} for e in (E0, E1, E2)})
      for name in ("timestamp", "frame_index", "index")),
    ("D16 a table cut", "v2.1", _drop("meta/tasks.jsonl"), {
        "set": {("file", "tasks.jsonl", ""): 1, ("declared", "total_tasks", ""): np.nan},
        **{e: {("declared", "task_index", "task_index"): 1} for e in (E0, E1, E2)}}),
    ("D51 empty instruction", "v2.1", _empty_words, {e: {("declared", "task", ""): 1} for e in (E0, E1, E2)}),
]  # fmt: skip


@pytest.mark.parametrize(("version", "bend", "expected"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_fault_is_reported(
    version: str, bend: Bend, expected: dict[Any, dict[tuple[str, str, str], float]], tmp_path: Path
) -> None:
    small = Small(version, [5, 4, 6])
    bend(small)
    listing, episodes = opened(small.write(tmp_path / "set"))
    found: dict[Any, Any] = {"set": disagreeing(listing.claims)}
    found |= {e: disagreeing(ep.claims) for e, ep in enumerate(episodes)}
    for subject, claims in found.items():
        wanted = {k: v for k, v in expected.get(subject, {}).items() if v != 0}
        assert claims.keys() == wanted.keys(), (subject, claims)
        np.testing.assert_allclose([claims[k] for k in wanted], list(wanted.values()), atol=1e-6)


def test_ragged_rows_are_nan_and_stay() -> None:
    x, odd = values(pa.chunked_array([pa.array([[1, 2], None, [3], [4, None]], pa.list_(pa.int64()))]), 2)
    np.testing.assert_array_equal(x, [[1, 2], [np.nan] * 2, [np.nan] * 2, [4, np.nan]])
    assert odd == 2
    nested = pa.array([[[1.0, 2.0], [3.0, 4.0]]] * 2)
    np.testing.assert_array_equal(values(pa.chunked_array([nested]), 4)[0], [[1, 2, 3, 4]] * 2)
    fixed = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2.0, 3.0, 4.0]), 2)
    x, odd = values(pa.chunked_array([fixed.slice(1)]), 2)
    np.testing.assert_array_equal(x, [[3, 4]])
    assert odd == 0


def test_rows_stay_together_where_the_table_is_wrong(tmp_path: Path) -> None:
    small = Small("v3.0", [5, 4, 6], packs=[[0, 1, 2]])
    _d03_v3(small)
    _, episodes = opened(small.write(tmp_path / "set"))
    assert [len(ep.streams[0]) for ep in episodes] == [5, 4, 6]
    assert all((np.diff(ep.streams[0].t) > 0).all() for ep in episodes)


def test_absent_episode_declares_what_is_missing(tmp_path: Path) -> None:
    small = Small("v2.1", [5, 4])
    small.absent |= {"data/chunk-000/episode_000001.parquet"}
    listing, episodes = opened(small.write(tmp_path / "set"))
    ep = episodes[1]
    assert listing.refs[1].frames == 4
    assert [s.name for s in ep.streams] == [TOP]  # its video is there
    assert {d.name for d in ep.declared} == {"observation.state", "action", TOP}
    assert ("file", "data", "") in disagreeing(ep.claims)


def test_episode_on_disk_that_nobody_declares_is_listed(tmp_path: Path) -> None:
    root = Small("v2.1", [5, 4]).write(tmp_path / "set")
    source = root / "data/chunk-000/episode_000001.parquet"
    (source.parent / "episode_000007.parquet").write_bytes(source.read_bytes())
    listing, episodes = opened(root)
    assert [r.id for r in listing.refs][-1] == "episode_000007"
    assert disagreeing(episodes[-1].claims)["pointer", "episode_index", ""] == 4


def test_broken_line_names_its_number(tmp_path: Path) -> None:
    root = Small("v2.1", [5, 4, 6]).write(tmp_path / "set")
    file = root / "meta/episodes.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], '{"episode_index": 1, "len', lines[2]]))
    claims = [c for c in READER.discover(root).claims if c.topic == "readable"]
    assert [(c.where, c.size) for c in claims] == [("meta/episodes.jsonl:2", 1.0)]


def test_one_broken_episode_is_one_error(tmp_path: Path) -> None:
    root = Small("v2.1", [5, 4, 6]).write(tmp_path / "set")
    file = root / "data/chunk-000/episode_000001.parquet"
    file.write_bytes(file.read_bytes()[:-32])
    listing = READER.discover(root)
    for ref in (listing.refs[0], listing.refs[2]):
        assert READER.open(listing, ref, None, Sheet()).meta["rows"]
    with pytest.raises(UnreadableError, match=r"episode_000001\.parquet: not a readable parquet file"):
        READER.open(listing, listing.refs[1], None, Sheet())


def test_git_lfs_pointer_is_named(tmp_path: Path) -> None:
    root = Small("v2.1", [5]).write(tmp_path / "set")
    (root / "data/chunk-000/episode_000000.parquet").write_text(
        "version https://git-lfs.github.com/spec/v1\n"
    )
    listing = READER.discover(root)
    with pytest.raises(UnreadableError, match="git lfs pull"):
        READER.open(listing, listing.refs[0], None, Sheet())


@pytest.mark.parametrize("stamp", [np.nan, np.inf, 1e30])
def test_stamp_that_is_no_time_is_one_error(stamp: float, tmp_path: Path) -> None:
    small = Small("v2.1", [5])
    small.rows[0]["timestamp"][2] = stamp
    listing = READER.discover(small.write(tmp_path / "set"))
    with pytest.raises(UnreadableError, match=r"a timestamp is not a time .* in row 2"):
        READER.open(listing, listing.refs[0], None, Sheet())


def test_duplicate_columns_in_rows_are_read_by_place(tmp_path: Path) -> None:
    root = Small("v2.1", [5]).write(tmp_path / "set")
    file = root / "data/chunk-000/episode_000000.parquet"
    table = pq.read_table(file)
    pq.write_table(
        pa.Table.from_arrays([*table.columns, table.column(0)], [*table.column_names, "action"]), file
    )
    _, (ep,) = opened(root)
    assert disagreeing(ep.claims) == {("duplicate-column", "columns", ""): 1.0}
    action = ep.stream("action")
    assert action is not None
    np.testing.assert_array_equal(action.x, np.stack(table.column("action").to_numpy()))


def test_want_leaves_other_columns_unread(tmp_path: Path) -> None:
    listing = READER.discover(Small("v2.1", [5]).write(tmp_path / "set"))

    def names(*want: Role) -> list[str]:
        ep = READER.open(listing, listing.refs[0], frozenset(want), Sheet())
        assert ("file", "video", TOP) in {(c.topic, c.about, c.stream) for c in ep.claims}
        return [s.name for s in ep.streams]

    assert names(Role.CAMERA) == [TOP]
    assert names(Role.REQUEST) == ["action"]
    assert names(Role.HAND_JOINTS) == ["observation.state", "action"]
    assert names() == []


def test_annotations_that_change_become_spans(tmp_path: Path) -> None:
    small = Small("v2.1", [5])
    small.tasks += [{"task_index": 1, "task": "reach"}, {"task_index": 2, "task": "grasp"}]
    small.info["total_tasks"] = 3
    small.info["features"]["annotation.human.subtask"] = {"dtype": "int64", "shape": [1]}
    small.rows[0]["annotation.human.subtask"] = np.array([1, 1, 2, 2, 2])
    _, (ep,) = opened(small.write(tmp_path / "set"))
    assert [(s.label, s.t0 // 10**8, s.t1 // 10**8) for s in ep.spans] == [
        ("annotation.human.subtask: reach", 0, 1), ("annotation.human.subtask: grasp", 2, 4)]  # fmt: skip
    assert ep.meta["annotation.human.subtask"] == ("reach", "grasp")


# ----------------------------------------------------------------------------------------- pictures shared


def test_pictures_are_counted_where_seconds_drift() -> None:
    """D02: 50 episodes of 288 pictures at 30 per second, starts 1.2 ms late per episode."""
    start = np.arange(50) * (9.6 + 1.2e-3)
    places = np.stack([np.zeros(50), np.zeros(50), start, start + 9.6], axis=1)
    shares = share(places, np.full(50, 288.0), Fraction(30))
    np.testing.assert_array_equal(shares.first, np.arange(50) * 288)
    assert shares.drift[5] == 0
    assert shares.drift[49] == pytest.approx(49 * 1.2e-3 * 30)
    assert list(np.flatnonzero(shares.last)) == [49]


def test_packed_file_of_two_episodes_is_fine() -> None:
    """D61: 117 and 261 pictures in one file of 378."""
    places = np.array([[0, 0, 0, 3.9], [0, 0, 3.9, 12.6]])
    shares = share(places, np.array([117.0, 261.0]), Fraction(30))
    np.testing.assert_array_equal(shares.first, [0, 117])
    np.testing.assert_array_equal(shares.count, [117, 261])
    assert not shares.drift.any()
    assert not shares.gap.any()


def test_one_stamp_out_of_place_moves_no_pictures() -> None:
    start = np.arange(5) * 1.0
    start[2] += 0.3
    places = np.stack([np.zeros(5), np.zeros(5), start, np.arange(1, 6) * 1.0], axis=1)
    shares = share(places, np.full(5, 10.0), Fraction(10))
    np.testing.assert_array_equal(shares.first, np.arange(5) * 10)
    np.testing.assert_allclose(shares.drift, [0, 0, 3, 0, 0])


# -------------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(("fps", "exact"), [
    (30, Fraction(30)), (29.97, Fraction(30000, 1001)), (59.94, Fraction(60000, 1001)),
    (23.976, Fraction(24000, 1001)), (12.5, Fraction(25, 2)), ("30", Fraction(30)), (0, None), (-5, None),
    (float("nan"), None), (None, None), (True, None), ([30], None), (1e300, None),
])  # fmt: skip
def test_exact_rate(fps: Any, exact: Fraction | None) -> None:
    assert exact_rate(fps) == exact


@pytest.mark.parametrize(("name", "feature", "part", "role", "unit"), [
    ("kLeftElbow", "observation.state", "", Role.JOINT_POSITION, "rad"),
    ("kRightHandThumbRotation", "action", "", Role.HAND_JOINTS, "1"),
    ("left_arm_joint_1_rad", "observation.state", "", Role.JOINT_POSITION, "rad"),
    ("left_hand_joint_1_rad", "observation.state", "", Role.HAND_JOINTS, "rad"),
    ("motor_7", "observation.state", "left_hand", Role.HAND_JOINTS, "unknown"),
    ("motor_7", "observation.state", "right_leg", Role.JOINT_POSITION, "unknown"),
    ("left_gripper", "observation.state", "", Role.GRIPPER, "unknown"),
    ("left_eef_pos_x", "eef_sim_pose_state", "", Role.OTHER, "unknown"),
    ("kLeftElbow", "observation.velocity", "", Role.JOINT_VELOCITY, "rad/s"),
    ("j1", "observation.state", "", Role.JOINT_POSITION, "unknown"),
    ("observation.state[3]", "observation.state", "", None, "unknown"),
])  # fmt: skip
def test_meaning_of_a_channel(name: str, feature: str, part: str, role: Role | None, unit: str) -> None:
    found = channel(name, feature, part)
    assert (found.role, found.unit) == (role, unit)


def test_template_fills_known_fields_only() -> None:
    fields = {"episode_index": 3, "episode_chunk": 0, "video_key": "a.b"}
    path = Template.parse("v/{video_key}/{episode_index:06d}.mp4", "info.json")
    assert path.fill(fields) == "v/a.b/000003.mp4"
    assert Template.parse("{file_index}", "info.json").fill(fields) is None
    for hostile in ("{video_key.__class__}", "{0}", "{episode_index!r}", "{episode_index:9999999d}", "{", 7):
        with pytest.raises(UnreadableError):
            Template.parse(hostile, "info.json")


def test_ranges_of_ids() -> None:
    assert ranges([3, 1, 2, 9]) == "1-3, 9"
    assert ranges([]) == "none"
    assert ranges(list(range(0, 40, 2))) == "0, 2, 4, 6, 8, 10, 12, 14 and 12 more"


def test_probe_says_why(tmp_path: Path) -> None:
    root = Small("v2.1", [5]).write(tmp_path / "set")
    assert probe(root).score == 1.0
    for inside in (root / "data", root / "data/chunk-000/episode_000000.parquet", root / "meta/info.json"):
        found = probe(inside)
        assert found.score == 0.0
        assert str(root) in found.reason
    assert "no such file" in probe(tmp_path / "nowhere").reason
    (tmp_path / "other").mkdir()
    assert probe(tmp_path / "other").reason == "has no meta/info.json"
    (root / "meta/info.json").write_text('{"codebase_version": "v1.6"')
    assert 0.9 < probe(root).score < 1, "more than of its videos alone"
    (root / "meta/info.json").write_text('{"codebase_version": "v1.6"}')
    assert "v1.6" in probe(root).reason


@pytest.mark.parametrize(("said", "role"), [(True, Role.DEPTH), ("false", Role.CAMERA), (1, Role.CAMERA)])
def test_only_a_truth_value_makes_a_depth_camera(said: object, role: Role, tmp_path: Path) -> None:
    small = Small("v2.1", [5])
    small.info["features"][TOP]["info"] = {"video.is_depth_map": said}
    listing = READER.discover(small.write(tmp_path / "set"))
    assert {d.role for d in listing.streams if d.name == TOP} == {role}


def test_a_length_that_cannot_be_makes_no_times(tmp_path: Path) -> None:
    small = Small("v2.1", [5, 4])
    small.episodes[0]["length"] = 2**31 - 1
    root = small.write(tmp_path / "set")
    (root / "data/chunk-000/episode_000000.parquet").unlink()
    _, episodes = opened(root)
    assert ("declared", "length", "") in disagreeing(episodes[0].claims)
    assert all(len(s) == 0 for s in episodes[0].streams)


def test_more_rows_than_memory_are_refused_unread(tmp_path: Path) -> None:
    root = Small("v2.1", [5, 4]).write(tmp_path / "set")
    path = root / "data/chunk-000/episode_000000.parquet"
    one = pa.table({"index": pa.array(np.zeros(1_000_000, np.int64))})
    with pq.ParquetWriter(path, one.schema) as out:
        for _ in range(21):
            out.write_table(one)
    listing = READER.discover(root)
    with pytest.raises(UnreadableError, match="more than is read at once"):
        READER.open(listing, listing.refs[0], None, Sheet())


def test_absurd_shape_is_refused(tmp_path: Path) -> None:
    small = Small("v2.1", [5])
    small.info["features"]["observation.state"] |= {"shape": [4097], "names": None}
    with pytest.raises(UnreadableError, match="shape is not usable"):
        READER.discover(small.write(tmp_path / "set"))


def test_truth_values_are_numbers() -> None:
    for data in (pa.array([True, False]), pa.array([[True], [False]]), pa.array([True, None])):
        x, _ = values(pa.chunked_array([data]), 1)
        assert x.dtype in (np.uint8, np.float64)
        assert x[0, 0] == 1
