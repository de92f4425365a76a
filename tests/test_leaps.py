"""A base that is elsewhere from one frame to the next: real clips with a jump planted, and none without."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.power.motion_clips import opened_motion

from assay.embodiment.rotation import about, compose
from assay.model import Role
from assay.signals.leaps import beyond

LIMIT, TWIST = 0.08, 0.7


def sampled(t: np.ndarray, place: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """The same motion at another rate, between its rows linearly."""
    new = np.rint(np.arange(t[0], t[-1] + 1, 1e9 / rate)).astype(np.int64)
    sign = np.where((place[1:, 3:] * place[:-1, 3:]).sum(axis=1) < 0, -1.0, 1.0)
    whole = place * np.concatenate(([1.0], np.cumprod(sign)))[:, None] ** np.array([0] * 3 + [1] * 4)
    out = np.stack([np.interp(new, t, c) for c in whole.T], axis=1)
    out[:, 3:] /= np.linalg.norm(out[:, 3:], axis=1)[:, None]
    return new, out


def largest(t: np.ndarray, place: np.ndarray) -> tuple[float, float]:
    metres, radians = beyond(t, place)
    return float(np.nanmax(metres)), float(np.nanmax(radians))


@pytest.fixture(scope="module")
def bases(real_data: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    roots = [b.ep.by_role(Role.BASE_POSE)[0] for b in opened_motion(real_data)]
    if not roots:
        pytest.skip("no motion clips here")
    return [(r.t, np.asarray(r.x, np.float64)) for r in roots]


@pytest.mark.parametrize("rate", [10, 15, 20, 30, 50, 60, 120, 500])
def test_no_real_base_jumps_at_any_rate(bases: list[tuple[np.ndarray, np.ndarray]], rate: float) -> None:
    rng = np.random.default_rng(0)
    for t, place in bases:
        new, there = sampled(t, place, rate)
        metres, radians = largest(new, there)
        assert metres < 0.065
        assert radians < 0.2
        for jitter in (0.0003, 0.001, 0.004) if rate >= 30 else ():
            shaken = there.copy()
            shaken[:, :3] += rng.normal(0.0, jitter, (len(new), 3))
            assert largest(new, shaken)[0] < 0.075


@pytest.mark.parametrize("rate", [30, 50, 60, 120, 500])
def test_a_step_and_a_turn_in_one_frame_are_found_at_every_rate(
    bases: list[tuple[np.ndarray, np.ndarray]], rate: float
) -> None:
    for t, place in bases:
        new, there = sampled(t, place, rate)
        half = len(new) // 2
        step, turn = there.copy(), there.copy()
        step[half:, 0] += 0.1
        turn[half:, 3:] = compose(about([0.0, 0.0, 1.0], np.array(np.radians(45))), turn[half:, 3:])
        assert largest(new, step)[0] > LIMIT
        assert largest(new, turn)[1] > TWIST


def test_a_blow_changes_the_speed_and_is_no_jump() -> None:
    """It is half explained by each neighbour of the window that it falls into."""
    t = np.rint(np.arange(120) * 1e9 / 60).astype(np.int64)
    place = np.zeros((120, 7))
    place[:, 3] = 1.0
    place[60:, 0] = np.arange(60) * 4.0 / 60  # from rest to 4 m/s at once
    assert largest(t, place)[0] == pytest.approx(4.0 / 30 / 2)


def test_a_hole_in_the_stamps_and_the_other_sign_are_no_jump() -> None:
    t = np.rint(np.arange(120) * 1e9 / 60).astype(np.int64)
    place = np.zeros((120, 7))
    place[:, 0] = t * 3e-9
    place[:, 3] = np.where(np.arange(120) % 7 < 3, 1.0, -1.0)
    kept = (np.arange(120) < 40) | (np.arange(120) > 55)
    assert np.allclose(largest(t[kept], place[kept]), 0.0, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_short_clips_have_no_neighbours(n: int) -> None:
    place = np.tile([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0], (n, 1))
    metres, radians = beyond(np.arange(n, dtype=np.int64) * 33_333_333, place)
    assert metres.shape == radians.shape == (n,)
    assert np.nan_to_num(metres).max() == 0
