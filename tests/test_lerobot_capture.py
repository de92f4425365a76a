"""Capture stamps in extra columns of a LeRobot set: whose they are, in which unit, and when they are used."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import plugs
from assay.examine import examine
from assay.feature import Features
from assay.judge import REPORTED
from assay.model import Clock, Episode, Role, Stream
from assay.readers.lerobot import READER
from assay.readers.lerobot.capture import is_stamp
from assay.readers.lerobot.info import read_info
from assay.sheet import Sheet

Small = runpy.run_path(str(Path(__file__).parent / "golden/lerobot/sets.py"))["Small"]
TOP = "observation.images.top"
EPOCH = 1_700_000_000_000_000_000
N = 12
TRUE = np.cumsum(np.r_[0, np.tile([100, 103, 98, 140], 3)[: N - 1]]) * 1_000_000
"""ns; when the rows were really taken, one of them late."""


def opened(tmp_path: Path, want: frozenset[Role] | None = None, fps: Any = 10, **columns: Any) -> Episode:
    made = Small("v2.1", [N])
    made.info["fps"] = fps
    for name, x in columns.items():
        made.rows[0][name] = x
        made.info["features"][name] = {"dtype": str(np.asarray(x).dtype), "shape": [1], "names": None}
    made.stats = [made._stats(0)]
    root = made.write(tmp_path / "set")
    listing = READER.discover(root)
    return READER.open(listing, listing.refs[0], want, Sheet())


def of(ep: Episode, name: str) -> Stream:
    found = ep.stream(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("row", "camera", "x"),
    [
        ("observation.timestamp_ns", f"{TOP}.timestamp_ns", EPOCH + TRUE),
        ("observation.capture_time", f"{TOP}.capture_time", (EPOCH + TRUE) * 1e-9),
        ("capture_timestamp", "observation.timestamps.top", (EPOCH + TRUE) // 1000),
        ("timestamp_host_ms", "top_capture_timestamp_ms", (EPOCH + TRUE) // 1_000_000),
        ("capture_timestamp", "top.timestamp", (TRUE * 1e-9).astype(np.float32)),
    ],
)
def test_real_times_of_every_stream_are_used(row: str, camera: str, x: Any, tmp_path: Path) -> None:
    late = x + (0.02 if x.dtype.kind == "f" else 20_000_000 * (x[1] - x[0]) // TRUE[1])
    ep = opened(tmp_path, **{row: x, camera: late.astype(x.dtype)})
    top, state = of(ep, TOP), of(ep, "observation.state")
    assert state.clock in (Clock.SENSOR, Clock.RECEIVE)
    assert np.abs(state.t - TRUE).max() <= 1000
    assert np.array_equal(of(ep, "action").t, state.t)
    assert np.abs(top.t - state.t - 20_000_000).max() <= 1000
    assert top.rate == 10


def test_words_tell_who_stamped_and_all_stamps_are_kept(tmp_path: Path) -> None:
    cameras = {f"{TOP}.capture_ns_stamp": EPOCH + TRUE, f"{TOP}.received_timestamp_ns": EPOCH + TRUE + 5}
    ep = opened(tmp_path, **cameras, capture_timestamp=EPOCH + TRUE, log_timestamp=EPOCH + TRUE + 9)
    assert of(ep, TOP).clock is Clock.SENSOR
    assert (of(ep, TOP).stamps[Clock.RECEIVE] - of(ep, TOP).t).tolist() == [5] * N
    assert set(of(ep, "observation.state").stamps) == {Clock.LOG}


def test_stamps_of_some_streams_only_stay_beside(tmp_path: Path) -> None:
    ep = opened(tmp_path, **{f"{TOP}.capture_timestamp": EPOCH + TRUE})
    top, state = of(ep, TOP), of(ep, "observation.state")
    assert (top.clock, state.clock) == (Clock.NOMINAL, Clock.NOMINAL)
    assert top.stamps[Clock.SENSOR].tolist() == TRUE.tolist()
    assert not state.stamps
    assert "not every camera and joint" in " ".join(ep.source.conversions if ep.source else ())


def test_a_stamp_of_the_row_is_none_of_a_camera(tmp_path: Path) -> None:
    ep = opened(tmp_path, capture_timestamp=EPOCH + TRUE)
    assert not of(ep, TOP).stamps
    assert of(ep, "observation.state").clock is Clock.NOMINAL


def test_an_answer_does_not_depend_on_what_is_wanted(tmp_path: Path) -> None:
    columns = {"capture_timestamp": EPOCH + TRUE, f"{TOP}.timestamp": EPOCH + TRUE + 7}
    whole = opened(tmp_path, **columns)
    part = opened(tmp_path, frozenset({Role.CAMERA}), **columns)
    assert [s.name for s in part.streams] == [TOP]
    assert np.array_equal(of(part, TOP).t, of(whole, TOP).t)


@pytest.mark.parametrize(
    ("x", "why"),
    [
        (EPOCH + np.arange(N) * 100_000_000, "grid of the rate"),
        ((EPOCH * 1e-9 + TRUE * 1e-9).astype(np.float32), "32-bit"),
        (np.arange(N) * 97, "unit is not known"),
    ],
)
def test_what_is_no_measured_time_is_not_used(x: Any, why: str, tmp_path: Path) -> None:
    ep = opened(tmp_path, **{"capture_timestamp": x, f"{TOP}.timestamp": x})
    assert {of(ep, n).clock for n in (TOP, "observation.state")} == {Clock.NOMINAL}
    assert not of(ep, TOP).stamps
    assert why in " ".join(ep.source.conversions if ep.source else ())


def test_ordinary_columns_are_no_stamps(tmp_path: Path) -> None:
    made = Small("v2.1", [3])
    made.info["features"] |= {
        "observation.time_to_contact": {"dtype": "float32", "shape": [1], "names": None},
        "observation.stamps": {"dtype": "float32", "shape": [7], "names": None},
    }
    info = read_info(made.write(tmp_path / "set"))
    assert not [f.name for f in info.features if is_stamp(f)]


RATED = np.cumsum(np.r_[0, np.tile([100, 103, 98, 99], 3)[: N - 1]]) * 1_000_000


@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("capture_timestamp_ns", (EPOCH + RATED) // 1000),
        ("capture_timestamp_us", (EPOCH + RATED) // 1_000_000),
        ("capture_timestamp_us", EPOCH + RATED),
        ("capture_timestamp_ms", (EPOCH + RATED) * 1e-9),
        ("capture_timestamp_s", RATED * 1e-6),
        ("capture_timestamp_ns", RATED // 1000),
    ],
)
@pytest.mark.parametrize("fps", [10, "none"])
def test_a_unit_that_the_rate_or_the_date_contradicts_is_not_known(
    name: str, x: Any, fps: Any, tmp_path: Path
) -> None:
    if fps == "none" and x[0] == 0:
        return  # counts from the start, at no known rate: nothing contradicts it
    ep = opened(tmp_path, fps=fps, **{name: x, f"{TOP}.{name}": x + x.dtype.type(20 * (x[1] - x[0]) / 100)})
    assert {of(ep, n).clock for n in (TOP, "observation.state")} == {Clock.NOMINAL}
    assert not of(ep, TOP).stamps
    told = [c for c in ep.claims if c.about == "unit of stamps"]
    assert [(c.declared, c.size) for c in told] == [(name.rpartition("_")[2], 1.0)] * 2
    assert "unit is not known" in " ".join(ep.source.conversions if ep.source else ())


def test_a_clock_since_boot_and_one_stamp_of_1970_keep_their_unit(tmp_path: Path) -> None:
    since = 20 * 86400 * 10**9 + RATED
    unset = since.copy()
    unset[5] = 0
    ep = opened(tmp_path, capture_timestamp_ns=since, **{f"{TOP}.capture_timestamp_ns": unset})
    assert of(ep, TOP).clock is Clock.SENSOR
    assert not [c for c in ep.claims if c.about == "unit of stamps"]


def test_stamps_named_after_the_state_or_the_action_are_no_joints(tmp_path: Path) -> None:
    names = ("observation.state.capture_time_ns", "action.capture_time_ns", f"{TOP}.capture_time_ns")
    ep = opened(
        tmp_path, **dict(zip(names, (EPOCH + TRUE, EPOCH + TRUE + 3, EPOCH + TRUE + 10**8), strict=True))
    )
    assert {of(ep, n).clock for n in (TOP, "observation.state", "action")} == {Clock.SENSOR}
    assert set(of(ep, TOP).t - of(ep, "observation.state").t) == {10**8}
    assert set(of(ep, "action").t - of(ep, "observation.state").t) == {3}
    assert [s.name for s in ep.by_role(Role.JOINT_POSITION, Role.REQUEST)] == ["observation.state", "action"]
    assert {of(ep, n).role for n in names[:2]} == {Role.OTHER}


@pytest.mark.parametrize(
    ("row", "camera", "status"),
    [(EPOCH, EPOCH, ""), (EPOCH + 2 * 10**18, EPOCH + 2 * 10**18, "fail"), (EPOCH, 10**9, "fail"),
     (20 * 86400 * 10**9, 20 * 86400 * 10**9, "")],
    ids=["2023", "2087", "a camera of 1970", "since boot"],
)  # fmt: skip
def test_stamps_keep_their_date(row: int, camera: int, status: str, tmp_path: Path) -> None:
    columns = {"capture_timestamp_ns": row + TRUE, f"{TOP}.capture_timestamp_ns": camera + TRUE + 7}
    ep = opened(tmp_path, **columns)
    assert int(of(ep, "observation.state").t[0]) + ep.meta["stamps/start"] == row
    gate = plugs.gates()["SYN005"]
    found = examine(gate, Features(ep, plugs.features(), {}, {"pictures": None}), gate.params(), "x")
    assert {f.channel for f in found.findings} == ({"date"} if status else set())
    assert (found.verdict.status == "fail") == bool(status)
    dates = {m.settled for m in found.measures if m.channel == "date"}
    assert dates == ({REPORTED} if row == camera < EPOCH else {""})
    date = str(np.datetime64(min(row, camera), "ns").astype("datetime64[D]"))
    assert date in " ".join(ep.source.conversions if ep.source else ())
