"""A small power study: every dose axis finds faults of twice its limit and is silent at half of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.power.clips import Base, decoded, invented, opened
from benchmarks.power.ladders import LADDERS
from benchmarks.power.motion_clips import MOTION, invented_motion, opened_motion
from benchmarks.power.page import smallest
from benchmarks.power.trials import Count, Ladder, interval, tried

TRIALS = 4
QUICK = tuple(ladder for ladder in LADDERS if ladder.times >= 300 and "of a table" not in ladder.axis)
DECODED = ("gr1",)  # decoding the other sets takes too long here
REAL = [x for x in QUICK if not x.pictures or set(DECODED) & set(x.sets)]
ONLY_REAL = ("cut off", "15 Hz", "RTG002")  # no file, no such camera, no human hands are invented
SYNTHETIC = [x for x in QUICK if not any(s in f"{x.gate} {x.axis}" for s in ONLY_REAL)]


def name(ladder: Ladder) -> str:
    return f"{ladder.gate} {ladder.axis}"


def graver(ladder: Ladder) -> list[int]:
    """Numbers of the doses that are faults of twice the limit or more; the gravest where there is none."""
    ratio = [(ladder.limit or 1.0) / d if ladder.below else d / (ladder.limit or 1.0) for d in ladder.doses]
    last = ratio.index(max(ratio))
    return sorted({last} | {i for i, r in enumerate(ratio) if ladder.limit and r >= 2 and i != last})[:3]


def harmless(ladder: Ladder) -> list[int]:
    """Numbers of the doses of half the limit or less."""
    if ladder.limit is None:
        return []
    ratio = [ladder.limit / d if ladder.below else d / ladder.limit for d in ladder.doses]
    return [i for i, r in enumerate(ratio) if r <= 0.5]


@pytest.fixture(scope="module")
def clips(real_data: Path) -> list[Base]:
    bases = opened(real_data, ("g1v", "gr1"), decode=False)
    seen = [b for b in bases if b.set in DECODED][:2]
    return [b for b in bases if b not in seen] + [decoded(b) for b in seen] + opened_motion(real_data)


@pytest.fixture(scope="module")
def synthetic() -> list[Base]:
    return [*invented(), *invented_motion()]


@pytest.mark.real
@pytest.mark.parametrize("ladder", REAL, ids=name)
def test_real_clips(ladder: Ladder, clips: list[Base]) -> None:
    check(ladder, clips)


@pytest.mark.parametrize("ladder", SYNTHETIC, ids=name)
def test_synthetic_clips(ladder: Ladder, synthetic: list[Base]) -> None:
    kind = [b for b in synthetic if (b.number is not None) == bool(set(MOTION) & set(ladder.sets))]
    check(replace(ladder, sets=("synth",)), kind)


def check(ladder: Ladder, bases: list[Base]) -> None:
    for at in graver(ladder):
        if ladder.axis != "noise on a plateau of 4 %":  # its last dose is beyond what the gate promises
            assert ladder.hits(tried(ladder, at, bases, TRIALS)) == TRIALS, ladder.doses[at]
    for at in harmless(ladder):
        assert ladder.hits(tried(ladder, at, bases, TRIALS)) == 0, ladder.doses[at]


def test_the_same_seeds_give_the_same_counts() -> None:
    ladder = replace(next(x for x in LADDERS if x.gate == "ACT005"), sets=("synth",))
    bases = invented(2)
    assert tried(ladder, 3, bases, 5) == tried(ladder, 3, bases, 5)


def test_intervals_are_those_of_clopper_and_pearson() -> None:
    # The rule of three, and the published interval of 10 in 100.
    assert interval(0, 300) == pytest.approx((0.0, 0.0122), abs=1e-4)
    assert interval(300, 300) == pytest.approx((0.9878, 1.0), abs=1e-4)
    assert interval(10, 100) == pytest.approx((0.0490, 0.1762), abs=1e-4)


def test_the_smallest_fault_found_has_no_graver_one_that_is_missed() -> None:
    ladder = Ladder("RTG001", "axis", "rad", (1, 2, 3), 0.5, lambda *_: None)
    counts = [Count(1, 300, 300), Count(2, 300, 200), Count(3, 300, 299)]
    assert smallest(ladder, counts) == 3
    assert smallest(ladder, [Count(d, 300, 300) for d in (1, 2, 3)]) == 1
    assert smallest(ladder, [Count(d, 300, 0) for d in (1, 2, 3)]) is None
