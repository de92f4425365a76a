"""One stamp far from all others must cost neither time nor memory, and the gates of stamps must name it."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay import plugs
from assay.examine import examine
from assay.feature import Features
from assay.features.content import Moves, _content, picture_map
from assay.model import Channel, Clock, Episode, Role, Stream
from assay.signals.content_ends import ends_of
from assay.signals.content_lag import Estimate, windows
from assay.signals.content_map import Take, Track, learn
from assay.signals.events import flashes
from assay.signals.flow import Flow, steadied
from assay.signals.onward import cut_off, onward, sparse
from assay.signals.pair_lag import pair_lag, path
from assay.signals.pictures import Pictures
from assay.synth import retime, teleop
from assay.synth.pictures import film
from lags import Rig

DAY = 86_400 * 10**9
LEAPS = {"1 day": DAY, "10 days": 10 * DAY, "2^31 s": 2**31 * 10**9, "2^62 ns": 2**62, "a day back": -DAY}
PLACES = (0, 50, -1)
NOW = 1_750_000_000 * 10**9
CAMERA, STATE = "observation.images.cam_0", "observation.state"
EVERY = pytest.mark.parametrize("at", PLACES, ids=["first", "middle", "last"])
FAR = pytest.mark.parametrize("leap", LEAPS.values(), ids=list(LEAPS))
SOME = pytest.mark.parametrize(
    ("at", "leap"), [(0, DAY), (50, 2**31 * 10**9), (-1, 10 * DAY), (-1, 2**62), (-1, 86_000 * 10**9)]
)

Ints = NDArray[np.int64]


def leapt(t: Ints, at: int, leap: int) -> Ints:
    """One stamp is moved, or is 2^62."""
    t = t.copy()
    t[at] = leap if leap == 2**62 else t[at] + leap
    return t


@contextmanager
def in_little_memory(most: int = 64 << 20) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------------------------------------- the rule


@FAR
@EVERY
def test_only_the_stamp_that_leaps_is_left_out(at: int, leap: int) -> None:
    t = NOW + np.arange(300) * 33_333_333
    keep = onward(leapt(t, at, leap))
    assert np.flatnonzero(~keep).tolist() == [at % 300]
    assert not sparse(t[keep])


def test_of_a_clock_that_only_runs_back_one_stamp_is_kept() -> None:
    t = NOW - np.arange(300) * 33_333_333
    assert onward(t).sum() == 1
    ep = retime(recorded(), CAMERA, lambda t: t[::-1].copy())
    features = Features(ep, plugs.features(), {}, {"pictures": {CAMERA: film(360)}})
    assert picture_map.summarise(ep, features.get("moves")) is None
    assert len(steadied(Flow(t[:0], np.zeros((0, 96), np.float32)))) == 0


def test_two_stamps_that_leap_together_are_left_out() -> None:
    t = NOW + np.arange(300) * 33_333_333
    t[100:102] += DAY
    assert np.flatnonzero(~onward(t)).tolist() == [100, 101]


def test_jitter_holes_and_steps_back_stay_as_they_are() -> None:
    t = NOW + np.arange(300) * 33_333_333
    t[150:] += 5 * 10**9  # a hole shorter than what the samples fill
    assert onward(t).all()
    back = np.concatenate((t[:200], t[:100] + 1))
    assert onward(back)[:195].all()
    assert not onward(back)[200:].any()
    assert onward(t[:1]).all()
    assert not len(onward(t[:0]))


def test_of_two_stretches_the_longer_one_is_kept() -> None:
    t = NOW + np.arange(300) * 33_333_333
    t[200:] += DAY
    assert np.flatnonzero(onward(t)).tolist() == list(range(200))


def test_samples_that_hardly_fill_their_time_are_sparse() -> None:
    assert sparse(np.arange(20) * 60 * 10**9) == "stamps span 1,140 s, samples fill 19 s of them"
    assert not sparse(np.arange(20) * 9 * 10**9)
    assert not sparse(np.arange(0))


# --------------------------------------------------------------------------------------------- the content


@pytest.fixture(scope="module")
def known() -> Any:
    return learn([Rig().take(i) for i in range(10)])


def moved(take: Take, at: int, leap: int, which: str) -> Take:
    flow, q, tq = take
    if which == "pictures":
        return Flow(leapt(flow.t, at, leap), flow.x), q, tq
    return flow, q, leapt(tq, at, leap)


@SOME
@pytest.mark.parametrize("which", ["pictures", "joints"])
def test_content_is_as_well_known_without_a_stamp_that_leaps(
    known: Any, at: int, leap: int, which: str
) -> None:
    take = Rig().take(77)
    with in_little_memory():
        track = Track.of(*moved(take, at, leap, which), known.step, known.bend)
    whole = Track.of(*take, known.step, known.bend)
    assert len(whole.t) - 1 <= len(track.t) <= len(whole.t)


def test_a_leap_changes_nothing_of_a_lag(known: Any) -> None:
    take = Rig().take(77)
    lags = [windows(known, *one).lag for one in (take, moved(take, 50, DAY, "pictures"))]
    assert lags[1] == pytest.approx(lags[0], abs=2e-3)


@pytest.fixture(scope="module")
def shown() -> Pictures:
    return film(360)


@SOME
def test_a_map_is_learnt_in_little_memory(shown: Pictures, at: int, leap: int) -> None:
    ep = recorded()
    for s in ep.streams:
        ep = retime(ep, s.name, lambda t: leapt(t, at, leap))
    features = Features(ep, plugs.features(), {}, {"pictures": {CAMERA: shown}})
    with in_little_memory():
        found = features.get("moves")[CAMERA]
        assert len(found.flow) > 350
        assert np.ptp(found.flow.t) < 12 * 10**9
        assert picture_map.summarise(ep, {CAMERA: found}) is not None


def test_pictures_of_years_teach_nothing_and_say_why(known: Any) -> None:
    flow, q, tq = Rig().take(3)
    thin = Flow(flow.t[0] + np.arange(len(flow)) * 3600 * 10**9, flow.x)
    found = Moves(thin, q, tq, ("a",), STATE)
    assert picture_map.summarise(Episode("x"), {CAMERA: found}) is None
    taught = {CAMERA: {"joints": ["a"], "map": known.to_json()}}
    with in_little_memory():
        told = _content(CAMERA, {CAMERA: None}, found, taught)  # type: ignore[dict-item]
        assert not Track.of(thin, q, tq, known.step, known.bend).usable
    assert (told.why, "samples fill" in told.detail) == ("reference-noisy", True)


def test_ends_are_where_the_pictures_are() -> None:
    t = leapt(NOW + np.arange(300) * 33_333_333, -1, DAY)
    found = ends_of((Estimate(np.nan, np.nan, "still"),), t)
    assert found.t1[0] - found.t0[0] < 11 * 10**9


# ---------------------------------------------------------------------------- stretches that are left out


def apart(t: Ints, seconds: float = 62.0) -> Ints:
    """The second half of the stamps is ``seconds`` later."""
    return t + (np.arange(len(t)) >= len(t) // 2) * round(seconds * 1e9)


@SOME
def test_a_stray_is_no_stretch(at: int, leap: int) -> None:
    assert cut_off(leapt(NOW + np.arange(300) * 33_333_333, at, leap)) is None


def test_a_stretch_that_is_left_out_is_told() -> None:
    t = NOW + np.arange(1800) * 33_333_333
    assert cut_off(t) is None
    assert cut_off(apart(t, 50.0)) is None, "no longer than all samples fill"
    assert cut_off(np.repeat(t, 2)) is None, "each moment is there"
    assert cut_off(np.full(300, NOW)) is None
    assert cut_off(t[:0]) is None
    gone = cut_off(apart(t))
    assert gone is not None
    assert (gone.samples, gone.of, round(gone.seconds)) == (900, 1800, 30)
    assert (gone.t0, gone.t1) == (apart(t)[900], apart(t)[-1])
    back = cut_off(np.where(np.arange(1800) < 900, t, t - 10 * 10**9))
    assert back is not None
    assert back.samples == pytest.approx(300, abs=5), "a clock that steps back by 10 s"


def test_moves_tell_what_is_not_among_them(shown: Pictures) -> None:
    ep = recorded()
    for s in ep.streams:
        ep = retime(ep, s.name, apart)
    found = Features(ep, plugs.features(), {}, {"pictures": {CAMERA: shown}}).get("moves")[CAMERA]
    assert {name for name, _ in found.cut} >= {CAMERA, STATE}
    assert all(2 * cut.samples == pytest.approx(cut.of, abs=4) for _, cut in found.cut)
    state = ep.stream(STATE)
    assert state is not None
    x = np.where(
        (np.abs(np.arange(len(state)) - len(state) // 2) < len(state) // 3)[:, None], np.nan, state.x
    )
    gap = recorded().with_stream(replace(recorded().stream(STATE), x=x))  # type: ignore[type-var]
    (cut,) = Features(gap, plugs.features(), {}, {"pictures": {CAMERA: shown}}).get("moves")[CAMERA].cut
    assert cut[0] == STATE, "joints that are no numbers for longer than the others fill"


@pytest.mark.parametrize("gap", [0.0, 62.0])
def test_an_episode_of_which_half_is_not_looked_at_does_not_pass(known: Any, gap: float) -> None:
    flow, q, tq = Rig().take(77, seconds=40.0)
    t = apart(flow.t, gap)
    keep, cut = onward(t), cut_off(t)
    found = Moves(Flow(t[keep], flow.x[keep]), q, tq, ("a",), STATE, ((CAMERA, cut),) if cut else ())
    seen = _content(CAMERA, {CAMERA: None}, found, {CAMERA: {"joints": ["a"], "map": known.to_json()}})  # type: ignore[dict-item]
    assert not seen.why
    features = {"pictures": None, "content": {CAMERA: seen}}
    gate = plugs.gates()["SYN001"]
    verdict = examine(gate, Features(teleop(), plugs.features(), {}, features), gate.params(), "x").verdict
    if not gap:
        assert (verdict.status, seen.doubts) == ("pass", ())
        return
    assert (verdict.status, verdict.reason) == ("abstain", "undecided")
    (left,) = [d for d in seen.doubts if "not looked at" in d.detail]
    assert "599 of 1198 samples (20.0 s)" in left.detail
    assert (left.t0, left.t1) == (pytest.approx(82.0, abs=0.1), pytest.approx(102.0, abs=0.1))


# ------------------------------------------------------------------------------------- pairs and flashes


@SOME
def test_paths_are_compared_in_little_memory(at: int, leap: int) -> None:
    t = NOW + np.arange(1000) * 33_333_333
    x = np.cumsum(np.random.default_rng(0).normal(size=(1000, 3)), axis=0)
    t = leapt(t, at, leap)
    with in_little_memory(256 << 20):
        assert pair_lag(path(t, x), path(t, x)).t1 - NOW < 40 * 10**9


def test_paths_over_years_are_not_compared() -> None:
    t = NOW + np.arange(1000) * 60 * 10**9
    track = path(t, np.random.default_rng(0).normal(size=(1000, 3)))
    with in_little_memory():
        assert pair_lag(track, track).why == "reference-noisy"


@pytest.mark.parametrize("step", [0, 1])
def test_pictures_of_one_instant_show_no_flash_soon(step: int) -> None:
    thumbs = np.zeros((40, 4, 4), np.uint16)
    assert not len(flashes(thumbs, NOW + step * np.arange(40)))


# ------------------------------------------------------------------------------------ all features, gates


def recorded() -> Episode:
    """A rig in calendar time with a log, a hand and a force beside it."""
    ep = teleop(12.0, clock=Clock.SENSOR)
    for i, s in enumerate(ep.streams):
        noise = np.rint(np.random.default_rng(i).normal(0, 2e5, len(s))).astype(np.int64)
        ep = ep.with_stream(replace(s, t=s.t + NOW + noise, stamps={Clock.LOG: s.t + NOW + 4_000_000}))
    t, channels = ep.streams[0].t, tuple(Channel(f"left_wrist.{a}", "m") for a in "xyz")
    x = np.cumsum(np.random.default_rng(9).normal(size=(len(t), 3)), axis=0) * 0.01
    hand = Stream("hand", Role.HUMAN_BODY, t + 1, x, channels, Clock.SENSOR, ep.streams[0].rate)
    force = replace(hand, name="force", role=Role.FORCE_TORQUE, t=t + 2)
    return ep.with_stream(hand).with_stream(force)


def told(ep: Episode, code: str) -> Any:
    gate = plugs.gates()[code]
    features = Features(ep, plugs.features(), {}, {"pictures": None})
    return examine(gate, features, gate.params(), "x")


@SOME
def test_every_feature_is_computed_in_little_memory(at: int, leap: int) -> None:
    ep = recorded()
    for s in ep.streams:
        ep = retime(ep, s.name, lambda t: leapt(t, at, leap))
    features = Features(ep, plugs.features(), {}, {"pictures": None})
    with in_little_memory(256 << 20):
        for name in plugs.features():
            features.get(name)


@SOME
@pytest.mark.parametrize("name", [CAMERA, STATE])
def test_the_gates_of_stamps_name_the_leap(name: str, at: int, leap: int) -> None:
    ep = retime(recorded(), name, lambda t: leapt(t, at, leap))
    found = [told(ep, code).verdict for code in ("SYN004", "SYN005")]
    assert any(v.status == "fail" and v.stream == name for v in found)


def test_a_leap_of_an_hour_does_not_bound_a_clock_to_an_hour() -> None:
    ep = recorded()
    camera = ep.stream(CAMERA)
    assert camera is not None
    t = leapt(camera.t, 50, 3600 * 10**9)[1:]
    stamps = {Clock.LOG: camera.stamps[Clock.LOG][1:]}
    rows = Features(
        ep.with_stream(replace(camera, t=t, x=camera.x[1:], stamps=stamps)), plugs.features(), {},
        {"pictures": None},
    ).get("timing")  # fmt: skip
    (row,) = [r for r in rows if r.stream == CAMERA]
    assert row.settled == "bounded"
    assert abs(row.seconds) + row.u < 0.02


def test_clocks_an_hour_apart_are_not_called_bounded() -> None:
    ep = recorded()
    camera = ep.stream(CAMERA)
    assert camera is not None
    stamps = {Clock.LOG: camera.stamps[Clock.LOG][1:]}
    ahead = replace(camera, t=camera.t[1:] + 3600 * 10**9, x=camera.x[1:], stamps=stamps)
    rows = Features(ep.with_stream(ahead), plugs.features(), {}, {"pictures": None}).get("timing")
    assert {r.settled for r in rows if r.stream == CAMERA} == {"assumed"}
