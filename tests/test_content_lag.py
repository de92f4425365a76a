"""How late pictures are by content: known truth, silence where nothing can tell, real episodes."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import plugs
from assay.corpus import discover
from assay.feature import Features
from assay.model import Role
from assay.parts import open_episode
from assay.signals.content_doubt import doubts
from assay.signals.content_lag import Estimate, Map, Take, drift, ends, estimate, learn, windows
from assay.signals.content_usual import usual
from assay.signals.flow import Flow, block_flow, steadied
from assay.signals.lost_frames import lag_steps
from assay.signals.pictures import GREY
from assay.synth.pictures import render
from lags import Rig

LIMIT = 1 / 30


@cache
def taught(rig: Rig) -> Map:
    """The map of ten episodes."""
    found = learn([rig.take(i) for i in range(10)])
    assert found is not None
    return found


def verdict(seconds: float, u: float) -> str:
    """The judge's rule for one number."""
    size = abs(seconds)
    return "pass" if size + 2 * u <= LIMIT else "fail" if size - 2 * u > LIMIT else "abstain"


# ----------------------------------------------------------------------------------------------- the flow


def test_flow_is_the_velocity_of_the_picture() -> None:
    y, x = np.mgrid[:60, :80]
    step = 0.3 * np.arange(12)[:, None, None]
    scene = 100 + 40 * np.sin(0.35 * (x - step)) * np.cos(0.3 * (y + 0.5 * step))
    flow = block_flow(np.rint(scene * GREY).astype(np.uint16), np.arange(12, dtype=np.int64) * 50_000_000)
    assert flow.x.shape == (10, 96)
    assert np.median(flow.x[:, :48]) == pytest.approx(0.3 * 20, rel=0.03)
    assert np.median(flow.x[:, 48:]) == pytest.approx(-0.15 * 20, rel=0.03)
    assert np.abs(np.median(steadied(flow).x, axis=0)).max() < 0.5, "all of it moves the whole picture"


def test_a_change_of_light_is_no_motion() -> None:
    seen = render(np.zeros(10), np.zeros(10, np.intp)) + 3.0 * np.arange(10)[:, None, None]
    flow = block_flow(np.rint(seen * GREY).astype(np.uint16), np.arange(10, dtype=np.int64) * 33_333_333)
    assert np.abs(flow.x).max() < 0.05


def test_too_little_gives_no_flow() -> None:
    assert len(block_flow(np.zeros((2, 60, 80), np.uint16), np.arange(2))) == 0
    assert block_flow(np.zeros((9, 4, 4), np.uint16), np.arange(9)).x.shape == (0, 96)


# -------------------------------------------------------------------------------------------- known truth

RIGS = {
    "100 Hz joints": Rig(),
    "three times as much noise as signal": Rig(noise=3.0),
    "24 fps and 200 Hz": Rig(fps=24.0, hz=200.0, lag=-0.05),
    "60 fps and 50 Hz": Rig(fps=60.0, hz=50.0),
    "15 real pictures in a file of 30": Rig(every=2),
}


@pytest.mark.parametrize("rig", RIGS.values(), ids=RIGS)
def test_deviations_are_right_within_their_errors(rig: Rig) -> None:
    off, u = [], []
    for i in range(12):
        late = (i - 6) * 0.012
        found = estimate(taught(rig), *rig.take(100 + i, late=late))
        if not found.why:
            off.append(found.seconds - late)
            u.append(found.u)
    assert len(off) >= 9
    assert np.sqrt(np.mean(np.square(off))) < 0.004
    assert np.mean(np.abs(off) <= 2 * np.array(u)) >= 0.9


def test_the_rigs_own_lag_is_in_the_map() -> None:
    assert taught(RIGS["100 Hz joints"]).lag == pytest.approx(0.08, abs=0.003)
    # A picture that is shown twice is half a picture late in the mean.
    assert taught(RIGS["15 real pictures in a file of 30"]).lag == pytest.approx(0.08 + 1 / 60, abs=0.004)


def test_a_map_reads_back_from_json() -> None:
    known, rig = taught(Rig()), Rig()
    again = Map.from_json(json.loads(json.dumps(known.to_json())))
    one, two = (estimate(m, *rig.take(100)) for m in (known, again))
    assert two.seconds == pytest.approx(one.seconds, abs=1e-5)


@pytest.mark.parametrize("ppm", [0.0, 200.0, -1000.0])
def test_drift_over_ten_minutes(ppm: float) -> None:
    rig = Rig()
    known = taught(rig)
    seen = windows(known, *rig.take(7, seconds=600.0, ppm=ppm))
    found = drift(known, seen)
    assert found.ppm == pytest.approx(ppm, abs=10)
    assert abs(found.ppm - ppm) <= 2 * found.u
    start, end = ends(known, seen)
    assert end.seconds - start.seconds == pytest.approx(590 * ppm * 1e-6, abs=0.01)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_lost_pictures_are_placed_and_counted(count: int) -> None:
    rig = Rig()
    for seed in range(4):
        steps = lag_steps(taught(rig), *rig.take(200 + seed, lost=(6.0, count)))
        best = min(steps, key=lambda s: s.seconds / s.u)
        assert -best.seconds * 30 == pytest.approx(count, abs=0.4)
        assert best.t * 1e-9 - 5 == pytest.approx(6.0, abs=0.4)


# ----------------------------------------------------------------------- stretches that the rest outvotes


def strayed(take: Take, first: float, end: float, late: float = 0.3) -> Take:
    """The same pictures, ``late`` s behind the joints from ``first`` to ``end`` s of the flow."""
    flow, q, tq = take
    t = (tq - flow.t[0]) * 1e-9
    then = t + late * np.clip(np.minimum(t - first, end - t) / 0.3, 0.0, 1.0)
    return flow, np.stack([np.interp(then, t, c) for c in q.T], axis=1), tq


def against(known: Map, take: Take) -> tuple[Any, ...]:
    seen = windows(known, *take)
    return doubts(known, seen, ends(known, seen))


def test_a_stretch_that_speaks_against_the_episode_is_seen() -> None:
    rig = Rig()
    known = taught(rig)
    takes = [rig.take(100 + i) for i in range(12)]
    assert sum(bool(against(known, take)) for take in takes) <= 1
    for first, end in ((-1.0, 1.5), (4.0, 6.0), (8.0, 99.0)):
        found = [against(known, strayed(take, first, end)) for take in takes]
        silent = [bool(estimate(known, *strayed(take, first, end)).why) for take in takes]
        assert sum(bool(f) or s for f, s in zip(found, silent, strict=True)) >= 10
        near = [d for f in found for d in f if d.t1 > first and d.t0 < end]
        assert len(near) >= 0.8 * sum(map(len, found))
        assert all(d.why == "undecided" and np.isnan(d.seconds) for f in found for d in f[:1])


QUICK = Rig(noise=0.5, band=(0.39, 0.97, 1.7, 2.6, 3.3))
SLOW = Rig(noise=0.5)


def told(
    rig: Rig, late: float, count: int, seconds: float, first: float, end: float
) -> tuple[int, list[float]]:
    """Of so many episodes those of which a stretch's lag is told, and all lags that are."""
    known, found = taught(rig), []
    for i in range(count):
        seen = windows(known, *strayed(rig.take(100 + i, seconds=seconds), first, end, late))
        whole = ends(known, seen)
        found.append(doubts(known, seen, whole))
        assert found[-1] or any(e.why for e in whole) or not late, "told or not, the episode is left open"
    assert all(f[0].why for f in found if f), "what speaks against the episode stays open beside it"
    lags = [[d.seconds for d in f if not d.why] for f in found]
    return sum(map(bool, lags)), [s for one in lags for s in one]


@pytest.mark.parametrize("late", [0.3, -0.2])
@pytest.mark.parametrize("count", [8, 24])
def test_the_lag_that_a_stretch_agrees_on_is_told(late: float, count: int) -> None:
    episodes, lags = told(QUICK, late, count, 18.0, 7.0, 10.5)
    assert episodes >= 0.75 * count
    assert lags == pytest.approx([late] * len(lags), abs=0.02)


@pytest.mark.parametrize(("late", "least"), [(0.3, 8), (-0.2, 16)])
def test_slow_joints_tell_the_lag_of_a_stretch_less_often_and_never_a_false_one(
    late: float, least: int
) -> None:
    episodes, lags = told(SLOW, late, 24, 18.0, 7.0, 10.5)
    assert episodes >= least
    for length, end in ((12.0, 6.5), (18.0, 5.5)):
        lags += told(SLOW, late, 24, length, 3.0, end)[1]
    assert lags == pytest.approx([late] * len(lags), abs=0.02)


@pytest.mark.parametrize("rig", [QUICK, SLOW], ids=["quick", "slow"])
def test_of_an_episode_as_usual_no_other_lag_is_told(rig: Rig) -> None:
    assert told(rig, 0.0, 40, 12.0, 3.0, 6.5) == (0, [])


@pytest.mark.parametrize("late", [0.0, 0.03])
def test_of_a_corpus_that_shows_nothing_usual_that_is_said(late: float) -> None:
    rig = Rig()
    nothing_known = replace(taught(rig), usual=np.full((2, 4), np.nan))
    again = Map.from_json(json.loads(json.dumps(nothing_known.to_json())))
    (found,) = against(again, rig.take(100, late=late))
    assert found.why == "not-calibrated"
    assert "too few windows amid motion show what is usual" in found.detail
    assert "from 10 episodes" in found.detail
    assert np.isnan(found.seconds)
    assert (found.t0, found.t1) == (0.0, pytest.approx(12.0, abs=0.2))


@pytest.mark.parametrize("size", [0, 1])
def test_the_size_of_window_that_is_known_is_used_alone(size: int) -> None:
    rig = Rig()
    shown = taught(rig).usual.copy()
    shown[1 - size] = np.nan
    one = Map.from_json(replace(taught(rig), usual=shown).to_json())
    takes = [rig.take(100 + i) for i in range(12)]
    assert sum(bool(against(one, take)) for take in takes) <= 1
    bad = [strayed(take, 8.0, 99.0) for take in takes]
    spoken = [bool(f) or bool(estimate(one, *b).why) for b in bad for f in [against(one, b)]]
    assert sum(spoken) >= 8
    assert all(d.why == "undecided" for b in bad for d in against(one, b)[:1])


def test_windows_too_few_to_know_the_usual_give_no_limit() -> None:
    block = np.ones((1, 9, 2)) * (0.9, 1.0)
    few, more = usual([block[0]], 1.0), usual([block[0]] * 3, 1.0)
    assert np.isnan(few).all(), "8 windows of 1 s, 4 of 3 s"
    assert np.isfinite(more).all()
    half = usual([block[0]] * 2, 1.0)
    assert (np.isfinite(half[0]).all(), np.isnan(half[1]).all()) == (True, True)


def test_a_map_with_half_a_row_of_the_usual_is_none() -> None:
    shown = taught(Rig()).usual.copy()
    shown[0, 3] = np.nan
    with pytest.raises(ValueError, match="no finite numbers"):
        Map.from_json(replace(taught(Rig()), usual=shown).to_json())


# ------------------------------------------------------------------------------------------------- silence


def still(take: Take) -> Take:
    """The same pictures, and joints that rest."""
    return take[0], np.repeat(take[1][:1], len(take[1]), axis=0), take[2]


def nothing(take: Take) -> Take:
    """The same pictures, and joints of which nothing is known."""
    return take[0], np.full_like(take[1], np.nan), take[2]


def test_it_is_silent_where_nothing_can_tell() -> None:
    rig = Rig()
    known, take, other = taught(rig), rig.take(100), rig.take(150)
    assert estimate(known, take[0], *other[1:]).why == "undecided"
    assert estimate(known, *still(take)).why == "still"
    assert estimate(known, *nothing(take)).why == "too-short"
    assert estimate(known, *rig.take(100, seconds=3.0)).why == "too-short"
    noise = np.random.default_rng(0).normal(0, 10, take[0].x.shape).astype(np.float32)
    assert estimate(known, Flow(take[0].t, noise), *take[1:]).why == "undecided"
    assert learn([]) is None


def test_a_gait_of_one_rhythm_is_not_decided() -> None:
    gait = Rig(band=(1.0,))
    for seed in range(6):
        assert estimate(taught(gait), *gait.take(100 + seed, late=0.03)).why == "undecided"


def test_pictures_that_joints_do_not_move_teach_nothing() -> None:
    rig = Rig()
    mixed = [(rig.take(i)[0], *rig.take(i + 30)[1:]) for i in range(10)]
    found = learn(mixed)
    assert found is None or estimate(found, *mixed[0]).why


# ---------------------------------------------------------------------------------------- real episodes


@cache
def real(folder: Path) -> list[Take]:
    """Flow and joints of twelve episodes of a real G1."""
    corpus = discover(folder / "lerobot/g1_inspire_teleop_v21_video")
    takes = []
    for ref in corpus.listing.refs[:12]:
        ep = open_episode(corpus.listing, ref, frozenset(Role), corpus.sheet)
        (found,) = Features(ep, plugs.features()).get("moves").values()
        takes.append((found.flow, found.q, found.tq))
    return takes


def others(takes: list[Take], i: int) -> Map:
    found = learn([t for j, t in enumerate(takes) if j % 3 != i % 3])
    assert found is not None
    return found


@pytest.mark.real
@pytest.mark.timeout(300)
def test_real_episodes_and_what_was_done_to_them(real_data: Path) -> None:
    takes = real(real_data)
    maps = [others(takes, fold) for fold in range(3)]
    said: dict[float, list[str]] = {}
    for frames in (0.0, 1.0, 2.0, 3.0, -5.0):
        late = round(frames * 1e9 / 30)
        found = [estimate(maps[i % 3], f, q, tq - late) for i, (f, q, tq) in enumerate(takes)]
        said[frames] = ["abstain" if e.why else verdict(e.seconds, e.u) for e in found]
    assert said[0.0].count("pass") >= 11
    assert "fail" not in said[0.0]
    assert set(said[1.0]) <= {"abstain", "fail"}
    for frames in (2.0, 3.0, -5.0):
        assert said[frames].count("fail") >= 11
        assert "pass" not in said[frames]


@pytest.mark.real
@pytest.mark.timeout(300)
def test_unrelated_pairs_are_never_accepted(real_data: Path) -> None:
    takes = real(real_data)
    maps = [others(takes, fold) for fold in range(3)]
    pairs = [(i, j) for i in range(12) for j in (i + 1, i + 4, i + 7)]
    spoken = [(i, j) for i, j in pairs if not estimate(maps[i % 3], takes[i][0], *takes[j % 12][1:]).why]
    assert not spoken


# -------------------------------------------------------------------------------------- feature and statistic


def test_the_statistic_is_asked_for_through_the_feature() -> None:
    from assay.calibrate import wanted

    assert "picture_map" in wanted([plugs.gates()["SYN001"]])


def test_content_says_what_it_lacks() -> None:
    from assay.synth import teleop
    from assay.synth.pictures import film

    ep = teleop()
    camera = ep.by_role(Role.CAMERA)[0].name

    def why(ep: Any, **given: Any) -> str:
        reason: str = Features(ep, plugs.features(), {}, dict(given)).get("content")[camera].why
        return reason

    shown = {"pictures": {camera: film()}}
    assert why(ep, pictures=None) == "not-decoded"
    assert why(ep, pictures={}) == "unreadable"
    assert why(ep, **shown) == "not-calibrated"
    assert why(ep, **shown, picture_map={camera: {"joints": ["other"], "map": {}}}) == "not-calibrated"
    without = replace(ep, streams=tuple(s for s in ep.streams if s.role is Role.CAMERA))
    assert why(without, **shown) == "absent-stream"


def test_what_a_map_of_few_episodes_leaves_open_asks_for_more_of_them() -> None:
    from assay.features.content import _by_few

    open_, still = (Estimate(np.nan, np.nan, why, "0 of 9 windows agree") for why in ("undecided", "still"))
    known = taught(Rig())
    few = _by_few(replace(known, episodes=1), open_)
    assert (few.why, few.detail) == (
        "not-calibrated", "0 of 9 windows agree; the map was learnt from 1 episode",
    )  # fmt: skip
    assert _by_few(replace(known, episodes=1), still) is still
    assert _by_few(replace(known, episodes=8), open_) is open_
