"""How far two streams are apart by what they hold: known lags, unrelated pairs, and what repeats itself."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from assay import plugs
from assay.examine import examine
from assay.feature import Features
from assay.model import Channel, Clock, Episode, Kind, Role, Stream
from assay.signals.pair_lag import PairLag, knocks, pair_lag, path
from assay.synth.riding import STATE, two_handed

Floats = NDArray[np.float64]


def ns(t: Floats) -> NDArray[np.int64]:
    return np.rint(t * 1e9).astype(np.int64)


def reaches(seed: int, t: Floats) -> Floats:
    """(n, 3) goes between random places, at random times, by least jerk."""
    rng = np.random.default_rng(seed)
    begin, places = np.cumsum(rng.uniform(0.8, 2.4, 40)), rng.normal(0, 0.3, (41, 3))
    at = np.clip(np.searchsorted(begin, t, side="right") - 1, 0, 39)
    s = np.clip((t - begin[at]) / 0.7, 0, 1)[:, None]
    return np.asarray(places[at] + (places[at + 1] - places[at]) * s**3 * (10 - 15 * s + 6 * s**2))


def hand_and_arm(seed: int, late: float, other: int | None = None) -> PairLag:
    rng, joint, tracked = (
        np.random.default_rng(seed),
        np.arange(0, 30, 0.02),
        np.arange(0, 30, 1 / 30) + 0.007,
    )
    arm = np.tanh(reaches(seed, joint)) @ rng.normal(0, 1, (3, 7)) + rng.normal(0, 2e-4, (1500, 7))
    hand = reaches(seed if other is None else other, tracked - late) + rng.normal(0, 1e-3, (900, 3))
    return pair_lag(path(ns(tracked), hand), path(ns(joint), arm))


def sound_and_force(seed: int, late: float, other: bool = False) -> PairLag:
    rng, t, tf = np.random.default_rng(seed), np.arange(0, 20, 1 / 4000), np.arange(0, 20, 1 / 200)
    blows, heard = rng.uniform(1.2, 18.8, (2, 12))
    x, force = rng.normal(0, 0.01, len(t)), rng.normal(0, 0.1, (len(tf), 3))
    for blow in heard if other else blows:
        since = t - blow - late
        x += np.where(since > 0, np.exp(-np.maximum(since, 0) / 0.02), 0) * rng.normal(0, 0.5, len(t))
    for blow in blows:
        force[:, 2] += np.where(tf > blow, 8 * np.exp(-np.maximum(tf - blow, 0) / 0.3), 0)
    return pair_lag(knocks(ns(t), x), knocks(ns(tf), force), step=0.005, smooth=0.015)


@pytest.mark.parametrize(("make", "most"), [(hand_and_arm, 0.010), (sound_and_force, 0.005)])
def test_known_lags_are_measured(make, most) -> None:  # type: ignore[no-untyped-def]
    late = np.random.default_rng(0).uniform(-0.2, 0.2, 16)
    found = [make(seed, d) for seed, d in enumerate(late.tolist())]
    spoke = np.array([(f.seconds - d, f.u) for f, d in zip(found, late, strict=True) if not f.why])
    assert len(spoke) >= 12
    assert np.sqrt(np.mean(spoke[:, 0] ** 2)) < most
    assert np.mean(np.abs(spoke[:, 0]) <= 2 * spoke[:, 1]) >= 0.9


def test_unrelated_pairs_are_never_accepted() -> None:
    apart = [hand_and_arm(s, 0.0, other=s + 500) for s in range(20)]
    apart += [sound_and_force(s, 0.0, other=True) for s in range(20)]
    assert {f.why for f in apart} == {"undecided"}


@pytest.mark.parametrize("uneven", [0.0, 0.3])
def test_a_gait_of_one_rhythm_is_not_told(uneven: float) -> None:
    t, rng = np.arange(0, 30, 0.02), np.random.default_rng(3)
    swell = 1 + uneven * np.sin(0.4 * t)[:, None]
    steps = swell * np.stack([np.sin(2 * np.pi * 0.9 * t + k) ** 3 for k in range(3)], axis=1)
    a, b = (path(ns(t), steps + rng.normal(0, 1e-3, steps.shape)) for _ in range(2))
    assert pair_lag(a, b).why in ("undecided", "still")


@pytest.mark.parametrize("what", ["still", "short", "none", "nan"])
def test_nothing_to_compare_is_no_lag(what: str) -> None:
    t = ns(np.arange(0, 6.0 if what == "short" else 30.0, 0.02))
    x = {"still": np.zeros((len(t), 3)), "nan": np.full((len(t), 3), np.nan)}.get(what, reaches(1, t * 1e-9))
    if what == "none":
        t, x = t[:0], x[:0]
    assert pair_lag(path(t, x), path(ns(np.arange(0, 30, 0.02)), reaches(1, np.arange(0, 30, 0.02)))).why


def tracked(late: float, kind: Kind) -> Episode:
    """Both wrists of a tracker beside the arms that they move, without cameras."""
    ep = two_handed()
    state = ep.stream(STATE)
    assert state is not None
    mix = np.random.default_rng(4).normal(0, 0.3, (7, 3))
    place = np.concatenate([np.asarray(state.x)[:, a : a + 7] @ mix for a in (0, 7)], axis=1)
    channels = tuple(Channel(f"{s}_wrist.{a}", "m") for s in ("left", "right") for a in "xyz")
    hand = Stream("tracker", Role.HUMAN_BODY, t=state.t + round(late * 1e9), x=place, channels=channels,
                  clock=Clock.RECEIVE, rate=Fraction(30))  # fmt: skip
    return replace(ep, streams=(*ep.streams, hand), kind=kind)


@pytest.mark.parametrize(("late", "beyond"), [(0.0, False), (0.1, True), (-0.1, True)])
def test_a_late_hand_fails_and_one_that_leads_a_robot_is_reported(late: float, beyond: bool) -> None:
    gate = plugs.gates()["SYN001"]
    for kind in (Kind.RETARGETED, Kind.TELEOPERATION):
        ep, given = tracked(late, kind), {"content": {}, "pictures": None, "containers": {}}
        judged = examine(gate, Features(ep, plugs.features(), {}, given), gate.params(), "x")
        named = {(f.stream, f.channel) for f in judged.findings}
        accused = beyond and kind is Kind.RETARGETED
        assert (("tracker", "absolute") in named) == accused
