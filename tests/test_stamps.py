"""What stamps say of the offset between two streams, and when they say nothing."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import plugs
from assay.counts import AT_LIMIT
from assay.examine import examine
from assay.feature import Features
from assay.features.content import Content
from assay.judge import Judgement
from assay.model import Clock, Episode
from assay.sheet import Sheet
from assay.signals.content_lag import Estimate
from assay.signals.offsets import shortest_way, wander, windows
from assay.signals.pace import pace
from assay.synth import recordings, retime, teleop
from assay.synth.lateness import counted, topics
from assay.synth.recordings import EPOCH, Rig, write_mcap

CAMERA, STATE = "observation.images.cam_0", "observation.state"
MUTE: dict[str, Any] = {"content": {CAMERA: Content(why="not-calibrated")}, "pictures": None}


def judged(ep: Episode, code: str = "SYN001") -> Judgement:
    gate = plugs.gates()[code]
    return examine(gate, Features(ep, plugs.features(), {}, dict(MUTE)), gate.params(), "x")


def own(ep: Episode, sigma: float = 0.3e6) -> Episode:
    """The camera stamped by itself."""
    noise = np.random.default_rng(4).normal(0, sigma, len(ep.streams[0])).astype(np.int64)
    return retime(ep, CAMERA, lambda t: t + noise)


def bowed(t: np.ndarray, seconds: float) -> np.ndarray:
    return t + np.rint(seconds * 1e9 * np.sin(np.pi * np.linspace(0, 1, len(t)))).astype(np.int64)


@pytest.mark.parametrize("late", [0.1, -0.1])
def test_a_camera_late_amid_the_episode_fails_where_it_is_late(late: float) -> None:
    clean = own(teleop(20.0, clock=Clock.SENSOR))
    assert judged(clean).verdict.status != "fail"
    found = judged(retime(clean, CAMERA, lambda t: bowed(t, late)))
    assert found.verdict.status == "fail"
    assert found.verdict.worst == pytest.approx(0.1, abs=0.003)
    (place,) = found.findings
    assert 2.0 < place.t0 * 1e-9 < 2.5
    assert 17.5 < place.t1 * 1e-9 < 18.3
    assert ("after" in place.note) == (late > 0)


def shared(ep: Episode, **values: Any) -> Any:
    """What the table of clocks says of the camera."""
    rows = Features(ep, plugs.features(), {}, MUTE | values).get("timing")
    return next(row for row in rows if row.stream == CAMERA)


@pytest.mark.parametrize("start", [181_043, EPOCH * 1e-9])
def test_clocks_that_count_from_boot_are_held_together_and_said_to(start: float) -> None:
    undated = start < 1e9
    good, bad = judged(counted(start)), judged(counted(start, 0.05))
    assert (good.verdict.status, bad.verdict.status) == ("pass", "fail")
    assert all(("boot" in f.note) == undated for f in bad.findings)
    row = shared(counted(start))
    assert (row.settled, row.by, "boot" in row.detail) == ("measured", "stamps", undated)


@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_stamps_that_each_begin_at_nought_are_no_evidence(seconds: float) -> None:
    ep = counted(0, seconds)
    found = judged(ep)
    assert found.verdict.status == "abstain"
    assert any("each count from their own first sample" in m.detail for m in found.measures)
    row = shared(ep)
    assert (row.settled, "own first sample" in row.detail) == ("assumed", True)
    assert np.isfinite(row.ppm)  # how the two run, they do tell
    # The same as stamps since a date is a start that they share, as a reader writes it.
    dated = replace(ep, meta={**ep.meta, "stamps/start": EPOCH})
    assert judged(dated).verdict.status == "pass"


def test_a_camera_of_another_file_is_not_held_by_its_stamps() -> None:
    ep = counted(EPOCH * 1e-9)
    camera = ep.stream(CAMERA)
    assert camera is not None
    streams = [replace(s, name="film/camera", t=s.t - s.t[0]) if s is camera else s for s in ep.streams]
    apart = replace(ep, streams=tuple(streams), meta={**ep.meta, "parts/film/offset": None})
    found = judged(apart)
    assert found.verdict.status == "abstain"
    assert any("two files" in m.detail for m in found.measures)


def test_single_late_stamps_and_jitter_do_not_fail() -> None:
    ep = own(teleop(60.0, clock=Clock.SENSOR), sigma=5e6)
    spiky = retime(ep, CAMERA, lambda t: t + 200_000_000 * (np.arange(len(t)) % 40 == 7))
    (stamps,) = [m for m in judged(spiky).measures if m.by == "stamps"]
    assert (stamps.sure[AT_LIMIT], stamps.maybe[AT_LIMIT]) == (0, 0)


def test_the_timing_table_tells_the_same() -> None:
    late = retime(own(teleop(20.0, clock=Clock.SENSOR)), CAMERA, lambda t: bowed(t, 0.1))
    rows = Features(late, plugs.features(), {}, dict(MUTE)).get("timing")
    (row,) = [r for r in rows if r.stream == CAMERA]
    assert row.seconds == pytest.approx(0.1, abs=0.003)


def test_one_clock_written_twice_is_no_evidence() -> None:
    found = judged(teleop(clock=Clock.SENSOR))
    assert found.verdict.status == "abstain"
    assert "written twice" in " ".join(m.detail for m in found.measures)
    one = retime(teleop(clock=Clock.SENSOR), CAMERA, lambda t: t + (np.arange(len(t)) == 5))
    assert [m.by for m in judged(one).measures if m.by] == ["stamps"]


@pytest.mark.parametrize("length", [300, 200])
def test_a_clock_that_stands_still_is_no_evidence(length: int) -> None:
    ep = teleop(clock=Clock.SENSOR)
    camera = ep.stream(CAMERA)
    assert camera is not None
    t = np.full(length, camera.t[0])
    still = ep.with_stream(replace(camera, t=t, x=np.empty((length, 0))))
    found = judged(still)
    assert found.verdict.status == "abstain"
    assert "never move" in " ".join(m.detail for m in found.measures)


def test_windows_reach_the_end_and_their_errors_do_not_vanish() -> None:
    d = np.random.default_rng(0).normal(0, 1e6, 47).astype(np.int64)
    d[10:20] = 5_000_000
    level, u, rows = windows(d, 10)
    assert rows.tolist() == [[0, 9], [10, 19], [20, 29], [30, 39], [37, 46]]
    assert level[1] == pytest.approx(5e-3)
    assert u[1] == np.median(u) > 1e-4
    assert windows(d[:3], 10)[2].tolist() == [[0, 2]]


def test_windows_cost_next_to_nothing() -> None:
    d = np.zeros(100_000, np.int64)
    windows(d[:100], 10)
    began = time.perf_counter()
    windows(d, 10)
    assert (time.perf_counter() - began) / len(d) < 5e-6


def test_ways_to_a_recorder_show_a_bow_and_no_short_queue() -> None:
    joints, camera = (np.arange(0, 20 * 10**9, step) + 10**12 for step in (10_000_000, 33_333_333))
    queue = np.where((camera > camera[200]) & (camera < camera[240]), 200_000_000, 0)
    side = joints, joints + 3_000_000
    assert wander((camera, camera + 5_000_000 + queue), side) < 1e-3
    assert wander((bowed(camera, -0.15), camera + 5_000_000), side) == pytest.approx(0.13, abs=0.03)
    log = 40_000_000 * (joints > joints[1000])
    jumped = 40_000_000 * (camera > joints[1000])
    assert wander((camera, camera + 5_000_000 + jumped), (joints, joints + 3_000_000 + log)) < 1e-3
    assert wander((camera * 0, camera), side) == 0.0


def test_a_pace_is_not_told_where_time_stands_still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).normal(size=(200, 3))
    assert pace(np.full(200, 10**18), x, x, 0.05, 0.8) is None
    assert pace(np.zeros(1, np.int64), x[:1], x[:1], 0.05, 0.8) is None
    monkeypatch.setattr(recordings, "_stamped", lambda rig, t, own: (EPOCH, EPOCH + t, EPOCH + t + 3_000_000))
    write_mcap(tmp_path / "a.mcap", Rig(seconds=3.0))
    plug = plugs.readers()["mcap"]
    listing = plug.discover(tmp_path)
    ep = plug.open(listing, listing.refs[0], None, Sheet())
    found = {code: judged(ep, code).verdict.status for code in ("SYN001", "SYN005", "SYN006")}
    assert found["SYN005"] == "fail"
    assert found["SYN001"] != "pass"


@pytest.mark.parametrize("rate", [10, 15, 20, 30])
@pytest.mark.parametrize("ends", [(0.0, 0.0), (0.15, 0.0), (0.0, 0.1), (0.06, 0.06)])
def test_when_topics_begin_and_end_is_no_offset(rate: int, ends: tuple[float, float]) -> None:
    found = judged(topics(rate, *ends))
    assert found.verdict.status == "pass"
    assert found.verdict.worst < 0.01
    mute_ = judged(topics(rate, *ends, way=None))
    assert mute_.verdict.status == "abstain"
    assert any("when each topic began and ended" in m.detail for m in mute_.measures)


def test_messages_are_not_paired_where_there_are_as_many_of_both() -> None:
    shifted = topics(30, begins=0.06, ends=-0.06)
    moved, state = shifted.stream(CAMERA), shifted.stream(STATE)
    assert moved is not None
    assert state is not None
    assert len(moved) == len(state)
    assert judged(shifted).verdict.status == "pass"
    rows = replace(shifted, meta={k: v for k, v in shifted.meta.items() if k != "topics"})
    assert judged(rows).verdict.status == "fail"  # rows of a table belong together


def test_what_bounds_too_little_leaves_the_verdict_to_content() -> None:
    ep = topics(20, way=0.06)
    (silent,) = [m for m in judged(ep).measures if m.channel == "absolute"]
    assert "60 and 3 ms" in silent.detail
    gate = plugs.gates()["SYN001"]
    seen = {CAMERA: Content(ends=(Estimate(0.01, 0.005, "", t0=0.0, t1=9.0),))}
    features = Features(ep, plugs.features(), {}, {"content": seen, "pictures": None})
    assert examine(gate, features, gate.params(), "x").verdict.status == "pass"


def test_a_stamp_that_leaps_does_not_bend_the_way_to_a_recorder() -> None:
    t = EPOCH + np.arange(300) * 33_333_333
    leapt = t + 3600 * 10**9 * (np.arange(300) == 50)
    log = t + 5_000_000
    assert shortest_way(leapt, log) == shortest_way(t, log) == pytest.approx(0.005)
    assert wander((leapt, log), (t, log)) < 1e-3
    step = t - 37 * 10**9 * (np.arange(300) > 150)  # this is the clock's own course, and no stray
    assert wander((step, log), (t, log)) > 30
