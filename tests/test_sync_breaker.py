"""What a hostile or careless delivery says of its clocks must neither pass nor break the run."""

import io
import json
import sqlite3
import struct
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import plugs
from assay.embodiment.card import load
from assay.engine.episode import _length
from assay.errors import UnreadableError
from assay.examine import examine
from assay.feature import Features
from assay.features.content import Content, Moves, _content
from assay.features.outside import _parsed
from assay.model import Channel, Clock, Episode, Role, Source, Stream
from assay.recording import database
from assay.recording.jsons import json_pieces
from assay.report.clocks import lag_of
from assay.sheet import Sheet, apply, lay
from assay.sheet_file import parse_sheet
from assay.signals.content_lag import Estimate
from assay.signals.content_map import Bend, Map
from assay.synth import retime, teleop
from assay.synth.recordings import Rig, write_bag, write_mcap

CAMERA, STATE = "observation.images.cam_0", "observation.state"
NOW = 1_750_000_000 * 10**9


def recorded(seconds: float = 20.0) -> Episode:
    """A rig in calendar time: sensor stamps, and the recorder's a few milliseconds later."""
    ep = teleop(seconds, clock=Clock.SENSOR)
    for i, s in enumerate(ep.streams):
        t = s.t + NOW + i
        way = np.rint(np.random.default_rng(i).exponential(3e6, len(t)) + 1e6).astype(np.int64)
        ep = ep.with_stream(replace(s, t=t, stamps={Clock.LOG: t + way}))
    return ep


def verdict(ep: Episode, code: str, **values: Any) -> Any:
    gate = plugs.gates()[code]
    features = Features(ep, plugs.features(), {}, values)
    return examine(gate, features, gate.params(), "x").verdict


def under(ep: Episode, sheet: str) -> Episode:
    return apply(lay([("corpus", parse_sheet(sheet, "assay.toml"), "assay.toml")]), ep)


# ------------------------------------------------------------------------------------- evidence that lies


@pytest.mark.parametrize("line", ["master offset -2 s2 freq -12 path delay 4", "sys offset 0 s2 freq -12"])
def test_a_service_log_does_not_silence_stamps_that_run_away(tmp_path: Path, line: str) -> None:
    (tmp_path / "ptp.log").write_text(f"ptp4l[1.0]: {line}\n" * 50)
    sheet = f'sync = "ptp"\n[evidence.a]\nkind = "ptp4l"\npath = "ptp.log"\nstreams = ["{CAMERA}"]\n'
    still = under(replace(recorded(100.0), source=Source("test", tmp_path)), sheet)
    ran = retime(still, CAMERA, lambda t: t + ((t - t[0]) * 1e-3).astype(np.int64))
    assert verdict(still, "SYN002").status == "pass"
    assert verdict(ran, "SYN002").status == "fail"


@pytest.mark.parametrize("ahead", [0.06, 0.3])
def test_stamps_from_after_the_recording_fail_though_the_ends_meet(ahead: float) -> None:
    ep = recorded()
    camera = ep.stream(CAMERA)
    assert camera is not None
    t = np.linspace(camera.t[0], camera.t[-1], 300).astype(np.int64)
    log = t + round((0.003 - ahead) * 1e9)
    moved = ep.with_stream(replace(camera, t=t, x=camera.x[:300], stamps={Clock.LOG: log}))
    assert verdict(moved, "SYN001").status == "fail"
    whole = replace(camera, t=t, x=camera.x[:300], stamps={Clock.LOG: t + 3_000_000})
    assert verdict(ep.with_stream(whole), "SYN001").status == "pass"


def test_a_recorder_of_another_date_says_nothing_of_its_sensors() -> None:
    ep = recorded()
    for s in ep.streams:
        ep = ep.with_stream(replace(s, stamps={Clock.LOG: s.t - 7 * 10**9}))
    assert verdict(ep, "SYN001").status == "pass"


def test_stamps_after_a_control_step_began_but_before_their_receipt_are_possible() -> None:
    ep = recorded()
    camera = ep.stream(CAMERA)
    assert camera is not None
    stamps = {Clock.LOG: camera.t - 50_000_000, Clock.RECEIVE: camera.t + 20_000_000}
    assert verdict(ep.with_stream(replace(camera, stamps=stamps)), "SYN001").status == "pass"


def test_evidence_for_a_stream_that_is_not_there_is_told(tmp_path: Path) -> None:
    sheet = '[evidence.typo]\nkind = "ptp4l"\npath = "ptp.log"\nstreams = ["wirst"]\n'
    ep = under(replace(recorded(), source=Source("test", tmp_path)), sheet)
    rows = Features(ep, plugs.features(), {}, {"pictures": None}).get("timing")
    assert [r.stream for r in rows if "wirst" in r.detail] == [rows[0].stream]


def test_a_declared_offset_that_pictures_contradict_makes_nothing_absolute() -> None:
    meta = {f"cameras/{CAMERA}/offset": 0.0, f"cameras/{CAMERA}/offset_u": 0.001}
    ep = replace(teleop(), meta=meta)
    seen = {CAMERA: Content(ends=(Estimate(0.0, 0.006, "", t0=0.0, t1=10.0),), lag=0.25)}
    told = verdict(ep, "SYN001", content=seen)
    assert (told.status, told.reason) == ("abstain", "reference-noisy")
    near = {CAMERA: replace(seen[CAMERA], lag=0.08)}
    assert verdict(ep, "SYN001", content=near).status == "pass"


# -------------------------------------------------------------------------------------------- broken input


def test_a_long_log_of_short_lines_is_read_in_little_memory(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"ab\n" * 200_000 + b"ptp4l: master offset 3 s2 freq 1 path delay 4\n")
    size = (tmp_path / "a.log").stat().st_size
    tracemalloc.start()
    assert len(_parsed(tmp_path, "a.log", "ptp4l", size, 0).offset) == 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * size


def test_a_sound_without_samples_is_too_short() -> None:
    mute = Stream("mic", Role.AUDIO, np.zeros(0, np.int64), np.zeros((0, 1)), (Channel("a"),), Clock.SENSOR)
    ep = under(teleop(30.0).with_stream(mute), 'sync = "clap"\n')
    assert verdict(ep, "SYN003").status == "abstain"
    assert verdict(ep, "SYN001").status == "abstain"


def opened(folder: Path, reader: str = "mcap") -> Episode:
    plug = plugs.readers()[reader]
    listing = plug.discover(folder)
    return plug.open(listing, listing.refs[0], None, Sheet())


def record(code: int, body: bytes) -> bytes:
    return bytes([code]) + struct.pack("<Q", len(body)) + body


def text(*parts: bytes) -> bytes:
    return b"".join(struct.pack("<I", len(p)) + p for p in parts)


def foreign(definition: bytes) -> bytes:
    """An MCAP of one topic whose type somebody made up."""
    out = io.BytesIO()
    out.write(b"\x89MCAP0\r\n" + record(1, text(b"", b"")))
    out.write(record(3, struct.pack("<H", 1) + text(b"x_msgs/msg/Foo", b"ros2msg", definition)))
    out.write(record(4, struct.pack("<HH", 1, 1) + text(b"/a", b"cdr", b"")))
    for i in range(4):
        out.write(record(5, struct.pack("<HIQQ", 1, i, NOW + i, NOW + i) + b"\0\1\0\0" + bytes(64)))
    out.write(record(15, bytes(4)) + record(2, bytes(20)) + b"\x89MCAP0\r\n")
    return out.getvalue()


def test_a_type_with_an_array_of_negative_length_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "x.mcap").write_bytes(foreign(b"float64[-5] a\n"))
    with pytest.raises(UnreadableError, match="negative length"):
        opened(tmp_path)


@pytest.mark.parametrize("summary", [True, False])
def test_a_channel_of_two_topics_is_unreadable(tmp_path: Path, summary: bool) -> None:
    whole = foreign(b"float64 data\n")
    again = record(4, struct.pack("<HH", 1, 1) + text(b"/b", b"cdr", b""))
    end = len(whole) - 8 - 29 - 13
    if not summary:
        (tmp_path / "x.mcap").write_bytes(whole[:end] + again + whole[end:])
    else:  # only the summary calls the channel so
        foot = record(2, struct.pack("<QQI", end + 13, 0, 0))
        schema = record(3, struct.pack("<H", 1) + text(b"x_msgs/msg/Foo", b"ros2msg", b"float64 data\n"))
        (tmp_path / "x.mcap").write_bytes(whole[: end + 13] + schema + again + foot + whole[-8:])
    with pytest.raises(UnreadableError, match="two topics"):
        opened(tmp_path)


@pytest.mark.parametrize("wide", [True, False])
def test_json_of_ever_new_fields_ends_soon(wide: bool) -> None:
    said = [{f"k{1000 * j + i}": 1 for i in range(1000)} for j in range(30)]
    if wide:
        said = [{k: v for one in said for k, v in one.items()}]
    raw = [json.dumps(one).encode() for one in said]
    size = np.array([len(one) for one in raw])
    start = np.concatenate(([0], np.cumsum(size)[:-1]))
    with pytest.raises(UnreadableError, match="beyond measure"):
        list(json_pieces(np.frombuffer(b"".join(raw), np.uint8), start, size))


def a_map(**changed: Any) -> dict[str, Any]:
    bend = Bend(np.zeros(1), np.ones((1, 1)))
    known = Map(np.ones((3, 2)), np.ones(2), bend, False, 0.1, 0.01, 5, 1 / 30, 0.5, 1.0, np.ones((2, 4)))
    return known.to_json() | changed


@pytest.mark.parametrize("said", [
    "x", {"joints": ["a"]}, {"joints": 3, "map": a_map()}, {"joints": ["a"], "map": a_map(step=1e-9)},
    {"joints": ["a"], "map": a_map(lag="a")}, {"joints": ["a"], "map": a_map(lag=1e9)},
    {"joints": ["a"], "map": a_map(weights=[])}, {"joints": ["a"], "map": a_map(foo=1)},
    {"joints": ["a"], "map": a_map(spread=-1.0)}, {"joints": ["a"], "map": a_map(weights=float("nan"))},
])  # fmt: skip
def test_a_calibration_of_anybodys_is_no_map(said: Any) -> None:
    found: Any = Moves(None, None, None, ("a",), "s")  # type: ignore[arg-type]
    assert _content("c", {"c": found}, found, {"c": said}).why == "not-calibrated"
    assert _content("c", {"c": found}, found, "x").why == "not-calibrated"  # type: ignore[arg-type]


def test_a_map_comes_back_as_it_was() -> None:
    assert Map.from_json(a_map()).lag == 0.1


# ------------------------------------------------------------------------------------------- what is shown


def test_one_wrong_date_does_not_make_the_episode_last_for_decades() -> None:
    ep = recorded(10.0)
    far = retime(ep, STATE, lambda t: np.where(np.arange(len(t)) == 5, 100, t))
    over = retime(ep, STATE, lambda t: np.where(np.arange(len(t)) == 5, -(2**63), t))
    for one in (ep, far, over):
        frames, seconds = _length(replace(one, streams=tuple(s for s in one.streams if s.name == STATE)))
        assert (frames, seconds) == (300, pytest.approx(10.0, abs=0.1))


def test_the_hand_of_a_lone_arm_moves(tmp_path: Path) -> None:
    write_mcap(tmp_path / "a.mcap", Rig(seconds=2.0))
    rig = opened(tmp_path)
    rows = Features(
        replace(rig, embodiment=load("franka_panda")), plugs.features(), {}, {"pictures": None}
    ).get("timing")
    assert all(row.hand_speed > 0.1 for row in rows)


def test_a_deviation_is_later_than_usual_and_a_lag_late() -> None:
    row = {"seconds": 0.004, "reference": "deviation", "hand": None, "hand_speed": None}
    assert lag_of(row) == "4 ms later than the rig's usual"
    assert lag_of(row | {"seconds": -0.004}) == "4 ms earlier than the rig's usual"
    assert lag_of(row | {"reference": "absolute"}) == "4 ms late"


def test_a_bag_with_a_message_beyond_measure_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_bag(tmp_path / "a", Rig(seconds=0.2))
    file = next((tmp_path / "a").glob("*.db3"))
    assert database.MOST_MESSAGE <= 1 << 28
    monkeypatch.setattr(database, "MOST_MESSAGE", 1 << 16)
    with sqlite3.connect(file) as base:
        base.execute("update messages set data = zeroblob(?) where id = 5", (1 << 17,))
    base.close()
    with pytest.raises(UnreadableError, match="too big"):
        opened(tmp_path, "rosbag2")
