"""Faults: each has the size it says, measured back; the same seed gives the same; what is given stays."""

from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from assay.errors import UsageError
from assay.model import Clock, Episode, Role
from assay.synth import teleop
from assay.synth.faults import FAULTS, Disk, Truth, column_statistics, disk, fault

STATE, ACTION, CAMERA = "observation.state", "action", "observation.images.cam_0"
GRADED = [(name, dose) for name, f in FAULTS.items() for dose in f.doses]


def planted(name: str, size: float, seed: int = 0, channel: str = "") -> tuple[Episode, Episode, Truth]:
    before = teleop(10.0, seed=7, clock=Clock.SENSOR)
    after, truth = FAULTS[name].apply(before, size, seed, channel)
    return before, after, truth


def x(ep: Episode, name: str = STATE) -> np.ndarray:
    stream = ep.stream(name)
    assert stream is not None
    return np.asarray(stream.x)


def t(ep: Episode, name: str = STATE) -> np.ndarray:
    stream = ep.stream(name)
    assert stream is not None
    return stream.t


def within(ep: Episode, truth: Truth, name: str = STATE) -> np.ndarray:
    return (t(ep, name) >= truth.t0) & (t(ep, name) < truth.t1)


def same(a: Disk, b: Disk) -> bool:
    return str(a) == str(b)


def bytes_of(ep: Episode) -> list[tuple[str, bytes, bytes]]:
    return [(s.name, s.t.tobytes(), np.asarray(s.x).tobytes()) for s in ep.streams]


@pytest.mark.parametrize(("name", "dose"), GRADED)
def test_same_seed_same_fault_and_input_untouched(name: str, dose: float) -> None:
    before = teleop(10.0, seed=7, clock=Clock.SENSOR)
    held = bytes_of(before)
    first, truth = FAULTS[name].apply(before, dose, 5)
    again, same_truth = FAULTS[name].apply(before, dose, 5)
    assert truth == same_truth
    assert bytes_of(first) == bytes_of(again)
    assert same(disk(first), disk(again))
    assert bytes_of(before) == held
    assert before.meta == {}
    assert (truth.fault, truth.episode, truth.size) == (name, before.id, dose)
    assert truth.gate == ("SYN004" if name == "clock-step" and dose > 0 else FAULTS[name].gate)
    assert truth.t0 <= truth.t1


@pytest.mark.parametrize("name", [n for n, f in FAULTS.items() if f.unit])
def test_other_seed_other_place_or_whole(name: str) -> None:
    size = FAULTS[name].doses[0]
    truths = {planted(name, size, seed)[2] for seed in range(8)}
    spans = {(w.t0, w.t1, w.channel) for w in truths}
    whole = all(w.t0 == t(planted(name, size)[1]).min() for w in truths)
    assert len(spans) > 1 or whole or name in ("video-short", "leaked-take")


@pytest.mark.parametrize("share", FAULTS["clip-at-limit"].doses)
@pytest.mark.parametrize("seed", range(4))
def test_clip_holds_the_limit_for_its_share(share: float, seed: int) -> None:
    before, after, truth = planted("clip-at-limit", share, seed)
    assert before.embodiment is not None
    column = before.stream(STATE).names.index(truth.channel)  # type: ignore[union-attr]
    limits = before.embodiment.limit_set()
    joint = int(before.embodiment.resolve([truth.channel])[0])
    at = np.isin(x(after)[:, column], (limits.upper[joint], limits.lower[joint]))
    assert at.sum() == round(share * len(at))
    assert np.array_equal(at, within(after, truth))
    inside = (x(after) <= np.inf) & (x(after)[:, [column]] <= limits.upper[joint])
    assert inside.all()
    others = np.delete(x(after), column, axis=1)
    assert np.array_equal(others, np.delete(x(before), column, axis=1))
    speed = np.abs(np.diff(x(after)[:, column])).max() * 30
    assert speed < 8.0  # driven, not thrown: slower than any joint's rating


@pytest.mark.parametrize("over", FAULTS["over-limit"].doses)
def test_over_limit_is_over_by_its_size(over: float) -> None:
    before, after, truth = planted("over-limit", over, 1, "right_elbow")
    upper = before.embodiment.limit_set().upper[before.embodiment.resolve(["right_elbow"])[0]]  # type: ignore[union-attr]
    beyond = x(after)[:, before.stream(STATE).names.index("right_elbow")] - upper  # type: ignore[union-attr]
    assert beyond.max() == pytest.approx(over, abs=1e-12)
    held = np.isclose(beyond, over, atol=1e-12)
    assert held.sum() == 9
    assert np.array_equal(beyond >= 0, within(after, truth))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 30, 100])
def test_nan_count_place_and_channels(count: int) -> None:
    _, after, truth = planted("nan", count)
    rows, columns = np.nonzero(np.isnan(x(after)))
    assert len(rows) == count
    assert within(after, truth)[rows].all()
    names = after.stream(STATE).names  # type: ignore[union-attr]
    assert {names[c] for c in columns} == set(truth.channel.split(", "))


@pytest.mark.parametrize("seconds", [0.1, 0.5, 1.0, 2.0])
def test_frozen_state_is_held_while_the_action_moves(seconds: float) -> None:
    _, after, truth = planted("frozen-state", seconds)
    still = np.all(np.diff(x(after), axis=0) == 0, axis=1)
    longest = max(len(list(run)) for value, run in groupby(still.tolist()) if value)
    assert longest + 1 == round(seconds * 30)
    assert np.array_equal(np.flatnonzero(still), np.flatnonzero(within(after, truth))[:-1])
    arms = x(after, ACTION)[within(after, truth)][:, :14]
    assert np.abs(np.diff(arms, axis=0)).mean() * 30 > 0.02


@pytest.mark.parametrize("rate", FAULTS["timestamp-rate"].doses)
def test_timestamp_rate(rate: float) -> None:
    before, after, _ = planted("timestamp-rate", rate)
    measured = np.ptp(t(after)) / np.ptp(t(before)) - 1
    assert measured == pytest.approx(rate / 100, abs=1e-9)


@pytest.mark.parametrize("frames", [1, 3, 30])
def test_timestamp_gap_takes_rows_and_pictures(frames: int) -> None:
    before, after, truth = planted("timestamp-gap", frames)
    assert len(t(after)) == len(t(before)) - frames
    step = np.diff(t(after))
    at = int(step.argmax())
    assert (t(after)[at], t(after)[at + 1]) == (truth.t0, truth.t1)
    assert round(step[at] * 30e-9) == frames + 1
    assert np.array_equal(disk(after).pictures[CAMERA], disk(after).rows)


@pytest.mark.parametrize("step", FAULTS["clock-step"].doses)
def test_clock_step(step: float) -> None:
    before, after, truth = planted("clock-step", step)
    late = t(after) - t(before)
    assert set(late.tolist()) == {0, round(step * 1e9)}
    at = int(np.flatnonzero(np.diff(late))[0])
    assert sorted((t(before)[at], t(after)[at + 1])) == [truth.t0, truth.t1]


@pytest.mark.parametrize("frames", [1, 3, 10])
def test_video_shift_keeps_lengths_and_repeats_nothing(frames: int) -> None:
    before, after, _ = planted("video-shift", frames)
    n = len(t(before)) - frames
    assert {len(s) for s in after.streams} == {n}
    assert np.array_equal(x(after), x(before)[frames:])
    assert np.array_equal(x(after, ACTION), x(before, ACTION)[frames:])
    assert np.array_equal(t(after), t(before)[:n])
    assert np.array_equal(disk(after).pictures[CAMERA], np.arange(n))


def test_pictures_of_the_other_video_faults() -> None:
    n = 300
    short, freeze = planted("video-short", 0.8)[1], planted("video-freeze", 10)[1:]
    assert np.array_equal(disk(short).pictures[CAMERA], np.arange(240))
    order = disk(freeze[0]).pictures[CAMERA]
    held = np.flatnonzero(np.diff(order) == 0)
    assert (len(order), len(held), np.ptp(held)) == (n, 10, 9)
    assert np.array_equal(held + 1, np.flatnonzero(within(freeze[0], freeze[1], CAMERA)))
    leak = disk(planted("leaked-take", 30)[1]).pictures[CAMERA]
    assert np.array_equal(leak, np.r_[np.arange(n), np.arange(30)])
    again = disk(planted("video-reencode", 1)[1])
    assert np.array_equal(again.pictures[CAMERA], np.arange(n))
    assert again.encode == {CAMERA}
    assert disk(planted("video-cut", 0.6)[1]).kept == {CAMERA: 0.6}


@pytest.mark.parametrize("count", [1, 2, 7])
def test_dead_channels(count: int) -> None:
    before, after, truth = planted("dead-channel", count)
    dead = np.ptp(x(after), axis=0) == 0
    names = np.array(before.stream(STATE).names)  # type: ignore[union-attr]
    assert ", ".join(names[dead]) == truth.channel
    assert dead.sum() == count
    assert np.array_equal(x(after, ACTION), x(before, ACTION))


@pytest.mark.parametrize("share", FAULTS["action-copy"].doses)
def test_action_copy(share: float) -> None:
    _, after, truth = planted("action-copy", share)
    equal = np.all(x(after) == x(after, ACTION), axis=1)
    assert equal.sum() == round(share * len(equal))
    assert truth.stream == ACTION


@pytest.mark.parametrize("size", FAULTS["stale-statistics"].doses)
def test_stale_statistics(size: float) -> None:
    _, after, truth = planted("stale-statistics", size)
    true, stored = column_statistics(x(after)), after.statistics[STATE]
    off = np.abs(stored["mean"] - true["mean"]) / true["std"]
    column = after.stream(STATE).names.index(truth.channel)  # type: ignore[union-attr]
    assert off[column] == pytest.approx(size, rel=1e-6)
    assert np.delete(off, column).max() == 0


@pytest.mark.parametrize(
    ("name", "topic", "size"),
    [
        ("wrong-length", "boundary", 10),
        ("wrong-pointer", "pointer", 1),
        ("missing-file", "file", 1),
        ("duplicate-column", "duplicate-column", 1),
        ("count-lie", "declared", 10),
        ("split-lie", "declared", 95),
    ],
)
def test_metadata_faults_claim_what_a_reader_would(name: str, topic: str, size: float) -> None:
    _, after, _ = planted(name, size)
    assert [(c.topic, c.size) for c in after.claims] == [(topic, size)]


def test_missing_file_is_absent_though_declared() -> None:
    _, after, truth = planted("missing-file", 1)
    assert after.stream(truth.stream) is None
    assert truth.stream in {d.name for d in after.declares(Role.CAMERA)}


@pytest.mark.parametrize("size", [0.0, 0.01, 0.2])
def test_label_leaves_its_size_of_motion(size: float) -> None:
    _, after, _ = planted("label", size)
    assert np.ptp(x(after, ACTION), axis=0).max() == pytest.approx(size, abs=1e-9)
    assert set(disk(after).pictures[CAMERA].tolist()) == {0}


def test_faults_add_up() -> None:
    ep = teleop(10.0, seed=7)
    ep, _ = FAULTS["nan"].apply(ep, 30, 0)
    ep, _ = FAULTS["timestamp-gap"].apply(ep, 3, 1)
    ep, _ = FAULTS["video-shift"].apply(ep, 2, 2)
    assert len(t(ep)) == 295
    rows, pictures = disk(ep).rows, disk(ep).pictures[CAMERA]
    assert rows is not None
    assert (len(rows), len(pictures)) == (295, 295)
    assert np.array_equal(rows[:-2][:100] + 0, pictures[2:][:100])


def test_column_statistics_leave_out_what_is_not_finite() -> None:
    values = np.array([[1.0, np.nan], [3.0, np.nan]])
    found = column_statistics(values)
    assert found["mean"][0] == 2.0
    assert np.isnan(found["mean"][1])
    assert found["count"].tolist() == [2]


def test_wrong_use_is_one_sentence() -> None:
    ep = teleop(10.0)
    with pytest.raises(UsageError, match=r"unknown defect.*'fog'.*clip-at-limit, over-limit, nan"):
        fault("fog")
    with pytest.raises(UsageError, match=r"size of nan is out of range \(found 0, expected 1 to"):
        FAULTS["nan"].apply(ep, 0, 0)
    with pytest.raises(UsageError, match="too short"):
        FAULTS["video-freeze"].apply(ep, 299, 0)
    with pytest.raises(UsageError, match="body is not known"):
        FAULTS["clip-at-limit"].apply(replace(ep, embodiment=None), 0.03, 0)
    with pytest.raises(UsageError, match="no stream"):
        FAULTS["video-cut"].apply(ep.without_stream(CAMERA), 0.5, 0)
