"""Decisions along time: hysteresis, shortest durations, and that NaN is never filled."""

import numpy as np
import pytest

from assay.signals.activity import (
    BOTH,
    IDLE,
    LABELS,
    LOCOMOTION,
    MANIPULATION,
    NOT_KNOWN,
    Signals,
    Thresholds,
    any_of,
    decide,
)  # fmt: skip
from assay.signals.segmentation import (
    GRID,
    NO,
    UNKNOWN,
    YES,
    centred_median,
    grid,
    hold,
    resample,
    rest,
    runs,
    speed,
    swing,
)  # fmt: skip


def flags(text: str) -> np.ndarray:
    return np.array([{"y": YES, "n": NO, "?": UNKNOWN}[c] for c in text], np.int8)


def text(found: np.ndarray) -> str:
    return "".join({1: "y", 0: "n", -1: "?"}[int(v)] for v in found)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([0.0, 0.3, 0.15, 0.05, 0.15], "nyynn"),
        ([0.15, 0.15, 0.3], "nny"),  # nothing to hold yet
        ([0.3, np.nan, 0.15, 0.3], "y??y"),  # what was before a hole is not held over it
        ([np.nan, 0.0, 0.15], "?nn"),
        ([], ""),
    ],
)
def test_on_from_above_one_level_until_below_half_of_it(values: list[float], says: str) -> None:
    """Held for two seconds each, so that none is too short to count."""
    seconds = int(2 * GRID)
    v = np.repeat(np.array(values, float), seconds)
    moves, _, _ = decide(Signals(travel=v, turn=np.zeros(len(v))), Thresholds(travel=0.2), len(v))
    assert text(moves) == "".join(c * seconds for c in says)


def test_short_pauses_are_bridged_and_short_bursts_dropped() -> None:
    half = int(GRID / 2)
    found = hold(
        flags("n" * 30 + "y" * half + "n" * (half - 1) + "y" * 3 + "n" * 30 + "y" * 5 + "n" * 30), 0.5, 0.5
    )
    assert text(found) == "n" * 30 + "y" * (2 * half + 2) + "n" * 65


def test_what_touches_an_end_or_a_hole_may_be_longer_than_it_looks() -> None:
    assert text(hold(flags("yy" + "n" * 30 + "yy???" + "n" * 30 + "y"), 0.5, 0.5)) == (
        "yy" + "n" * 30 + "yy???" + "n" * 30 + "y"
    )


def test_an_unknown_gap_is_not_bridged() -> None:
    assert text(hold(flags("y" * 20 + "?" + "y" * 20), 0.5, 0.5)) == "y" * 20 + "?" + "y" * 20


def test_runs() -> None:
    start, end, value = runs(flags("yyn?"))
    assert (start.tolist(), end.tolist(), value.tolist()) == ([0, 2, 3], [2, 3, 4], [1, 0, -1])
    assert len(runs(np.zeros(0, np.int8))[0]) == 0


def test_resampling_keeps_lines_and_shows_holes() -> None:
    t = np.rint(np.arange(100) * 1e9 / 25).astype(np.int64)
    x = np.stack([np.arange(100.0), -np.arange(100.0)], axis=1)
    x[50, 1] = np.nan
    at = grid(int(t[0]), int(t[-1]))
    made = resample(t, x, at)
    np.testing.assert_allclose(made[:, 0], at * 25e-9, atol=1e-5)
    lost = np.abs(at * 1e-9 - 2.0) < 1 / 25
    assert np.isnan(made[lost, 1]).all()
    assert np.isfinite(made[~lost, 1]).all()
    apart = [*range(30), 99]
    assert np.isnan(resample(t[apart], x[apart], at)[60]).all()  # nothing is drawn across seconds
    assert np.isnan(resample(t[:1], x[:1], at)).all()


def test_stamps_that_stand_still_count_for_nothing() -> None:
    t = np.array([0, 40_000_000, 40_000_000, 30_000_000, 80_000_000], np.int64)
    x = np.array([[0.0], [1.0], [99.0], [99.0], [2.0]])
    np.testing.assert_allclose(resample(t, x, np.array([20_000_000, 60_000_000])), [[0.5], [1.5]])


def test_speeds() -> None:
    way = np.arange(90) / GRID * 0.5
    line = np.stack([way, 0 * way, 0 * way], axis=1)
    np.testing.assert_allclose(speed(line, 0.5), 0.5)
    np.testing.assert_allclose(speed(np.stack([line, 2 * line], axis=1), 0.5)[:, 1], 1.0)
    np.testing.assert_allclose(swing(np.stack([way, -3 * way], axis=1), 0.5), 1.5)
    assert np.isnan(speed(line[:1], 0.5)).all()


def test_windows() -> None:
    v = np.zeros(90)
    v[40] = 9.0
    assert centred_median(v, 1.0).max() == 0.0
    assert rest(v, 1.0)[40 - 15 : 40 + 16].min() == 9.0
    v[40] = np.nan
    assert np.isnan(centred_median(v, 1.0)).sum() == 31
    assert centred_median(np.ones(5), 1.0).tolist() == [1.0] * 5


def test_three_valued_or() -> None:
    assert text(any_of(flags("yyynn?"), flags("yn?n??"))) == "yyyn??"


N = 60
MOVES, RESTS = np.full(N, 1.0), np.zeros(N)


def told(**signals: object) -> int:
    """The label in the middle of two seconds of constant signals."""
    made = Signals(**signals)  # type: ignore[arg-type]
    return int(decide(made, Thresholds(), N)[2][N // 2])


HANDS = {"hand": np.zeros((N, 2)), "front": np.full((N, 2), 0.6)}
TOUCH = flags("y" * N)
DOWN = {**HANDS, "front": np.zeros((N, 2))}


@pytest.mark.parametrize(
    ("signals", "label"),
    [
        ({"travel": MOVES, "turn": RESTS, "motion": MOVES}, NOT_KNOWN),  # walks; its hands are not known
        ({"travel": MOVES, "turn": RESTS, "motion": MOVES, **HANDS}, BOTH),  # hands held in front
        ({"travel": MOVES, "turn": RESTS, "motion": MOVES, **DOWN}, LOCOMOTION),
        ({"travel": MOVES, "turn": RESTS, "motion": MOVES, **DOWN, "thing": MOVES}, BOTH),
        ({"travel": MOVES, "turn": RESTS, "feet": RESTS, "motion": MOVES, **HANDS}, NOT_KNOWN),  # it sways
        ({"travel": RESTS, "turn": MOVES, "motion": MOVES, **DOWN}, LOCOMOTION),
        ({"travel": RESTS, "turn": RESTS, "motion": RESTS, **HANDS}, IDLE),
        ({"travel": RESTS, "turn": RESTS, "motion": MOVES, **HANDS}, NOT_KNOWN),  # a bow is none of the five
        ({"travel": RESTS, "turn": RESTS, "motion": MOVES, **HANDS, "hand": np.ones((N, 2))}, MANIPULATION),
        ({"travel": RESTS, "turn": RESTS, "motion": RESTS, **HANDS, "fingers": MOVES}, MANIPULATION),
        ({"travel": RESTS, "turn": RESTS, "motion": RESTS, **HANDS, "contact": TOUCH}, MANIPULATION),
        ({"travel": RESTS, "motion": RESTS, **HANDS}, NOT_KNOWN),  # it may be turning
        ({"motion": RESTS, **HANDS}, IDLE),  # no base and no legs: the label is about the arms
        ({"motion": MOVES, **HANDS, "hand": np.ones((N, 2))}, MANIPULATION),
        ({"motion": MOVES, **HANDS, "hand": np.ones((N, 2)), "legs": MOVES}, NOT_KNOWN),  # it may be walking
        ({"motion": MOVES, **HANDS, "hand": np.ones((N, 2)), "legs": RESTS}, MANIPULATION),
        ({"travel": RESTS, "turn": RESTS, "motion": RESTS}, NOT_KNOWN),  # no hands to see
        ({}, NOT_KNOWN),
    ],
)  # fmt: skip
def test_labels(signals: dict[str, object], label: int) -> None:
    assert LABELS[told(**signals)] == LABELS[label]


def test_nan_is_unknown_and_never_idle() -> None:
    hole = np.full(N, np.nan)
    assert told(travel=hole, turn=RESTS, motion=RESTS, **HANDS) == NOT_KNOWN
    assert told(travel=RESTS, turn=RESTS, motion=hole, **HANDS) == NOT_KNOWN
    assert (
        told(travel=RESTS, turn=RESTS, motion=RESTS, hand=np.full((N, 2), np.nan), front=HANDS["front"]) == 0
    )
