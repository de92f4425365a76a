"""Clocks held against each other: drift with an honest error, jumps, exact rates, what is known of time."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from assay import plugs
from assay.examine import examine
from assay.feature import Features
from assay.judge import Judgement
from assay.model import Clock, Episode, Kind
from assay.signals.clocks import Drift, counted, drift, exact, jitter, jumps, sibling, theil_sen
from assay.signals.offsets import Offset, offsets_of
from assay.synth import teleop

STATE, ACTION, CAMERA = "observation.state", "action", "observation.images.cam_0"
Int64 = np.ndarray
Delays = Callable[[np.random.Generator, int], np.ndarray]


def delayed(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.exponential(4e-3, n) + 2e-3


def symmetric(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(0, 3e-3, n)


def stalled(rng: np.random.Generator, n: int) -> np.ndarray:
    """Two seconds of messages wait for the end of a stall, once."""
    late = delayed(rng, n)
    first = int(rng.integers(0, n - 60))
    late[first : first + 60] = np.maximum(late[first : first + 60], np.linspace(2, 0, 60))
    return late


def series(seconds: float, ppm: float, delays: Delays, seed: int, rate: float = 30.0) -> tuple[Int64, Int64]:
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * rate)) / rate
    d = delays(rng, len(t)) + ppm * 1e-6 * t
    return np.rint(t * 1e9).astype(np.int64), np.rint(d * 1e9).astype(np.int64)


def measured(t: Int64, d: Int64) -> Drift:
    found = drift(t, d, jumps(t, d).at)
    assert found is not None
    return found


# ------------------------------------------------------------------------------------------------ drift


@pytest.mark.parametrize("delays", [delayed, symmetric, stalled])
@pytest.mark.parametrize("ppm", [0.0, 200.0, -1000.0])
def test_drift_is_within_two_of_its_errors(delays: Delays, ppm: float) -> None:
    tries = [measured(*series(60, ppm, delays, seed)) for seed in range(60)]
    off = np.array([(r.slope * 1e6 - ppm) / (r.u * 1e6) for r in tries])
    assert np.mean(np.abs(off) <= 2) >= 0.9
    assert np.median([r.u for r in tries]) * 60 < 2e-3  # ms over the minute: far below a picture


def test_a_jump_does_not_bend_the_line() -> None:
    t, d = series(60, 50.0, delayed, 0)
    d[len(d) // 3 :] += 80_000_000
    found = measured(t, d)
    assert found.slope * 1e6 == pytest.approx(50, abs=3 * found.u * 1e6)


def test_a_curve_is_a_large_error_and_no_small_drift() -> None:
    t, d = series(60, 0.0, delayed, 0)
    d += np.rint(60e6 * np.sin(np.pi * t / t[-1])).astype(np.int64)  # out by 60 ms and back
    assert measured(t, d).u * 60 > 0.01


@pytest.mark.parametrize("n", [0, 1, 5, 15])
def test_too_few_samples_have_no_drift(n: int) -> None:
    t = np.arange(n, dtype=np.int64) * 10**9
    assert drift(t, t) is None
    assert not len(jumps(t, t).at)


def test_epochs_do_not_matter() -> None:
    t, d = series(60, 100.0, delayed, 1)
    far = measured(t + 1_750_000_000 * 10**9, d + 1_700_000_000 * 10**9)
    assert far.slope == pytest.approx(measured(t, d).slope, abs=1e-12)


# ------------------------------------------------------------------------------------------------ jumps


@pytest.mark.parametrize("size", [0.05, -0.05, 37.2, -37.2])
def test_a_jump_is_found_at_its_sample(size: float) -> None:
    t, d = series(60, 0.0, delayed, 2)
    d[700:] += round(size * 1e9)
    found = jumps(t, d)
    assert len(found.at) == 1
    assert abs(int(found.at[0]) - 700) <= 3
    assert found.size[0] == pytest.approx(size, abs=2e-3)


def test_a_drift_is_no_jump() -> None:
    assert not len(jumps(*series(60, 12_000.0, delayed, 3)).at)


def test_queues_are_no_jumps() -> None:
    assert sum(len(jumps(*series(60, 0.0, stalled, seed)).at) for seed in range(50)) == 0


# ------------------------------------------------------------------------------------------------ rates


@pytest.mark.parametrize(("rate", "true", "other"), [
    (Fraction(2997, 100), Fraction(30_000, 1001), Fraction(30)),
    (Fraction(30), Fraction(30), Fraction(30_000, 1001)),
    (Fraction(2398, 100), Fraction(24_000, 1001), Fraction(24)),
    (Fraction(5994, 100), Fraction(60_000, 1001), Fraction(60)),
    (Fraction(15), Fraction(15), None), (Fraction(50), Fraction(50), None),
])  # fmt: skip
def test_rounded_rates_are_exact(rate: Fraction, true: Fraction, other: Fraction | None) -> None:
    assert exact(rate) == true
    assert sibling(rate) == other


def test_forty_minutes_of_a_rational_rate_are_counted_to_the_nanosecond() -> None:
    rate = Fraction(30_000, 1001)
    t = np.array([int(i / rate * 10**9) for i in range(0, 72_000, 1)], np.int64)
    off, holes = counted(t, rate)
    assert np.abs(off).max() <= 1
    assert not len(holes)


def test_lost_samples_are_counted() -> None:
    t = np.rint(np.arange(600) * 1e9 / 30).astype(np.int64)
    gone = np.delete(t, np.s_[200:205])
    off, holes = counted(gone, Fraction(30))
    assert np.abs(off).max() < 2
    assert holes.tolist() == [200]


def test_jitter_is_robust() -> None:
    step = np.random.default_rng(0).normal(33e6, 1e6, 1000).astype(np.int64)
    step[::50] += 500_000_000
    assert jitter(step) == pytest.approx(1e-3, rel=0.15)


def test_two_claps_make_a_line() -> None:
    slope, u = theil_sen(np.array([0.0, 100.0]), np.array([0.0, 0.01]), np.array([1e-3, 1e-3]))
    assert slope == pytest.approx(1e-4)
    assert u == pytest.approx(2**0.5 * 1e-3 / 100)


# ------------------------------------------------------------------------------- the gates on several clocks


def rig(ppm: float = 0.0, seconds: float = 60.0, clock: Clock = Clock.SENSOR) -> Episode:
    """Three sensors with clocks of their own and the recorder's stamps; the camera's clock drifts."""
    ep = teleop(seconds, 30, clock=clock)
    for i, s in enumerate(ep.streams):
        rng = np.random.default_rng(i)
        sensed = np.sort(s.t + rng.normal(0, 2e5, len(s)).astype(np.int64)) + 10**9
        logged = sensed + np.rint(delayed(rng, len(s)) * 1e9).astype(np.int64)
        if s.name == CAMERA:
            sensed = np.rint(sensed * (1 + ppm * 1e-6)).astype(np.int64)
        ep = ep.with_stream(replace(s, t=sensed, clock=clock, stamps={Clock.LOG: logged}))
    return ep


def judged(code: str, ep: Episode, **given: Any) -> Judgement:
    gate = plugs.gates()[code]
    values = {"pictures": None, "containers": {}, "claps": None, "content": None, **given}
    found = examine(gate, Features(ep, plugs.features(), {}, values), gate.params(), ep.id)
    assert found.verdict.status != "error", found.verdict.detail
    return found


def status(code: str, ep: Episode, **given: Any) -> str:
    return judged(code, ep, **given).verdict.status


@pytest.mark.parametrize(("ppm", "expect"), [(0, "pass"), (400, "pass"), (700, "fail"), (-700, "fail")])
def test_drift_between_sensors_by_the_common_log(ppm: float, expect: str) -> None:
    assert status("SYN002", rig(ppm)) == expect


def test_the_recorders_own_stamp_stands_for_a_sensor_that_has_none() -> None:
    ep = rig(700.0)
    for name in (STATE, ACTION):
        s = ep.stream(name)
        assert s is not None
        ep = ep.with_stream(replace(s, t=s.stamps[Clock.LOG], clock=Clock.LOG, stamps={}))
    found = judged("SYN002", ep)
    assert found.verdict.status == "fail"
    assert {f.stream for f in found.findings} == {CAMERA}


def test_nothing_is_measured_where_only_the_recorder_stamped() -> None:
    ep = rig(700.0)
    for s in ep.streams:
        ep = ep.with_stream(replace(s, t=s.stamps[Clock.LOG][5:], clock=Clock.LOG, stamps={}, x=s.x[5:]))
        ep = ep.with_stream(replace(s, t=s.stamps[Clock.LOG], clock=Clock.LOG, stamps={}, rate=None)
                            if s.name == CAMERA else ep.stream(s.name) or s)  # fmt: skip
    assert status("SYN002", ep) == "abstain"


@pytest.mark.parametrize("gone", [STATE, ACTION, CAMERA])
def test_a_missing_stream_never_passes(gone: str) -> None:
    for ep in (rig(), teleop(60.0, clock=Clock.SENSOR)):
        assert status("SYN002", ep.without_stream(gone)) in ("abstain", "fail")
        assert status("SYN002", replace(ep, streams=(), declared=())) == "abstain"


def test_a_shift_of_all_clocks_changes_nothing() -> None:
    before, hour = judged("SYN002", rig(700.0)), 3_600 * 10**9
    moved = replace(rig(700.0), streams=tuple(
        replace(s, t=s.t + hour, stamps={c: t + hour for c, t in s.stamps.items()})
        for s in rig(700.0).streams))  # fmt: skip
    after = judged("SYN002", moved)
    assert [f.t0 + hour for f in before.findings] == [f.t0 for f in after.findings]


def test_inputs_are_not_written() -> None:
    ep = rig(700.0)
    for s in ep.streams:
        for t in (s.t, *s.stamps.values()):
            t.flags.writeable = False
    assert status("SYN002", ep) == "fail"
    assert status("SYN005", ep) == "pass"


def test_claps_that_decide_go_before_stamps() -> None:
    claps = [Offset(CAMERA, STATE, at, at + 10**8, 0.0, 1e-3, "claps", end=end)  # type: ignore[arg-type]
             for at, end in ((10**9, "start"), (60 * 10**9, "end"))]  # fmt: skip
    found = judged("SYN002", rig(700.0), claps=claps)
    assert found.verdict.status == "pass"
    assert "claps" in {m.by for m in found.measures}


def test_a_further_stamp_of_another_length_is_left_alone() -> None:
    s = rig().stream(STATE)
    assert s is not None
    for code in ("SYN002", "SYN004", "SYN005"):
        status(code, rig().with_stream(replace(s, stamps={Clock.LOG: s.t[:5]})))


# ----------------------------------------------------------------------------------- what is known of time


def known(ep: Episode, **given: Any) -> dict[str, dict[str, Any]]:
    facts = {f.name: f.value for f in judged("SYN002", ep, **given).facts}
    return {row["stream"]: row for row in facts["timing"]}


def test_a_table_without_stamps_is_assumed_and_says_what_would_measure_it() -> None:
    row = known(teleop())[CAMERA]
    assert (row["settled"], row["by"]) == ("assumed", "")
    assert "capture stamps" in row["cure"]
    assert row["hand_speed"] > 0.01


@pytest.mark.parametrize("how", ["ptp", "trigger", "clap", "software"])
def test_a_declaration_without_evidence_is_assumed(how: str) -> None:
    row = known(replace(teleop(), sync=how))[CAMERA]
    assert row["settled"] == "assumed"
    assert f"sync = {how} is declared" in row["detail"]


def test_a_simulators_one_clock_asks_for_nothing() -> None:
    ep = replace(teleop(), sync="one-clock", kind=Kind.SIMULATION)
    assert status("SYN002", ep) == "n/a"


def test_a_log_bounds_and_paired_sensor_stamps_measure() -> None:
    assert known(rig())[CAMERA]["settled"] == "bounded"
    s = teleop(20.0, clock=Clock.SENSOR).stream(CAMERA)
    assert s is not None
    late = teleop(20.0, clock=Clock.SENSOR).with_stream(replace(s, t=s.t + 40_000_000))
    row = known(late)[CAMERA]
    assert (row["settled"], row["by"], row["seconds"]) == ("measured", "stamps", pytest.approx(0.04))
    assert row["hand"] == pytest.approx(0.04 * row["hand_speed"])


def test_claps_measure_whichever_way_round() -> None:
    clap = Offset(STATE, CAMERA, 0, 10**9, -0.02, 1e-3, "claps")
    row = known(teleop(), claps=[clap])[CAMERA]
    assert (row["settled"], row["by"], row["seconds"], row["u"]) == ("measured", "claps", 0.02, 1e-3)


def test_a_deviation_from_the_rig_is_bounded_only() -> None:
    seen = Offset(CAMERA, STATE, 0, 10**9, 0.005, 0.004, "content", reference="deviation")
    row = known(teleop(), content={CAMERA: [seen]})[CAMERA]
    assert (row["settled"], row["by"], row["reference"]) == ("bounded", "content", "deviation")


def test_a_declared_offset_of_the_camera_makes_a_deviation_absolute() -> None:
    seen = Offset(CAMERA, STATE, 0, 10**9, 0.005, 0.004, "content", reference="deviation")
    declared = {f"cameras/{CAMERA}/offset": 0.03, f"cameras/{CAMERA}/offset_u": 0.003}
    row = known(replace(teleop(), meta=declared), content={CAMERA: [seen]})[CAMERA]
    assert (row["settled"], row["reference"]) == ("measured", "absolute")
    assert (row["seconds"], row["u"]) == (pytest.approx(0.035), pytest.approx(0.005))


def test_offsets_are_found_in_whatever_a_feature_returns() -> None:
    one = Offset(CAMERA, STATE, 0, 1, 0.0, 1e-3, "claps")
    assert offsets_of(None) == offsets_of(()) == offsets_of(3) == ()
    assert offsets_of(one) == offsets_of([one]) == offsets_of({"a": [one]}) == (one,)
