"""What is measured in pictures: thumbnails, real rate, frozen stretches, cuts; on arrays with known truth."""

import numpy as np
import pytest

from assay.model import Channel, Role, Stream
from assay.signals.cadence import cadence, fresh_share
from assay.signals.cuts import cut_ratio
from assay.signals.frozen import local_change, quiet_change, still_runs
from assay.signals.lasting import runs
from assay.signals.pictures import GREY, Digests, Thumbnails
from assay.signals.travel import arm_travel, travel
from assay.synth.pictures import film


@pytest.mark.parametrize("shape", [(480, 640), (256, 256), (224, 224), (61, 83), (1, 1), (2160, 3840)])
def test_thumbnails_are_box_means(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    luma = rng.integers(0, 256, (3, *shape), np.uint8)
    tap = Thumbnails()
    tap.feed(luma[:2], np.zeros(2, np.int64), np.arange(2))
    tap.feed(luma[2:], np.zeros(1, np.int64), np.arange(1))
    got = tap.value()
    by, bx = max(shape[0] // 60, 1), max(shape[1] // 80, 1)
    h, w = shape[0] // by, shape[1] // bx
    want = luma[:, : h * by, : w * bx].reshape(3, h, by, w, bx).mean((2, 4))
    assert got.shape == want.shape
    assert np.abs(got / GREY - want).max() <= 0.5 / GREY + 1e-9
    assert np.array_equal(tap.mean(), (got.mean((1, 2)) / GREY).astype(np.float32))


def test_digests_are_those_of_the_pictures() -> None:
    luma = np.random.default_rng(0).integers(0, 256, (300, 9, 11), np.uint8)  # not whole words
    luma[1] = luma[0]
    luma[2] = luma[0]
    luma[2, 8, 10] ^= 1  # the last pixel by one grey level
    tap = Digests()
    for part in np.split(luma, [1, 7, 40]):
        tap.feed(part, np.zeros(len(part), np.int64), np.arange(len(part)))
    got = tap.value()
    assert got[0] == got[1]
    assert len(set(got.tolist())) == 299
    assert got[0] == 518994332  # the same for ever: stored digests stay comparable


def test_a_picture_that_repeats_is_looked_at_once() -> None:
    luma = np.random.default_rng(0).integers(0, 256, (5, 64, 88), np.uint8)
    which = np.array([0, 0, 1, 2, 2, 2, 3, 4])
    for tap, plain in ((Thumbnails(), Thumbnails()), (Digests(), Digests())):
        tap.feed(luma[:2], np.arange(3), which[:3])
        tap.feed(luma[2:], np.arange(5), which[3:] - 2)
        plain.feed(luma[which], np.arange(8), np.arange(8))
        assert np.array_equal(tap.value(), plain.value())


@pytest.mark.parametrize("share", [1.0, 0.9, 0.8, 2 / 3, 0.5, 0.4, 1 / 3])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_real_rate_is_measured_through_coding_noise(share: float, noise: float) -> None:
    order = np.ceil(np.floor(np.arange(400) * share + 1e-9) / share - 1e-9).astype(int)
    seen = film(400, order=order, noise=noise)
    told = cadence(fresh_share(seen.thumbs, seen.key))
    assert told.decided > 300
    assert told.fresh == pytest.approx(share, abs=0.03)
    assert told.dispersion < 0.6
    if share in (0.5, 1 / 3):
        assert (told.gap, told.agree > 0.9) == (round(1 / share), True)


def test_a_still_scene_is_not_decided() -> None:
    for noise in (0.0, 0.1, 0.6):
        seen = film(300, order=np.zeros(300, int), noise=noise)
        assert cadence(fresh_share(seen.thumbs, seen.key)).decided == 0


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_few_pictures_are_no_error(n: int) -> None:
    seen = film(n)
    fresh = fresh_share(seen.thumbs, seen.key)
    assert len(fresh.share) == max(n - 1, 0)
    assert cadence(fresh).decided <= n
    assert len(cut_ratio(seen.thumbs)) == max(n - 1, 0)
    assert len(still_runs(seen.thumbs, quiet_change(seen.thumbs, fresh), 3)[0]) == 0


def test_blocks_do_not_show() -> None:
    # 600 pictures are worked on in blocks of 256: the middle must equal the middle alone.
    seen = film(600, order=np.arange(600) // 2 * 2)
    whole = fresh_share(seen.thumbs, seen.key)
    part = fresh_share(seen.thumbs[200:400], seen.key[200:400])
    assert np.allclose(whole.energy[200:399], part.energy)
    assert np.allclose(whole.share[210:390], part.share[10:190], equal_nan=True, atol=1e-6)
    assert np.allclose(cut_ratio(seen.thumbs)[230:370], cut_ratio(seen.thumbs[200:400])[30:170])


def test_still_runs_are_found_exactly() -> None:
    order = np.arange(900)
    for first, count in ((100, 5), (300, 40), (890, 10)):
        order[first : first + count] = first - 1
    seen = film(900, order=order)
    first, last = still_runs(seen.thumbs, 0.5, 3)
    assert first.tolist() == [99, 299, 889]
    assert last.tolist() == [104, 339, 899]


def test_local_change_sees_a_small_hand() -> None:
    a = np.full((1, 60, 80), 100 * GREY, np.uint16)
    b = a.copy()
    b[:, 20:32, 20:32] += 10 * GREY  # 3 % of the picture
    assert local_change(a, b)[0] == pytest.approx(10.0, abs=0.3)
    assert local_change(a, a)[0] == 0.0


def test_a_cut_stands_out_at_its_place() -> None:
    scene = np.repeat([0, 1], [200, 40])
    ratio = cut_ratio(film(240, scene=scene).thumbs)
    assert int(np.argmax(ratio)) == 199
    assert ratio[199] > 5
    assert np.delete(ratio, 199).max() < 2


def test_runs() -> None:
    first, end = runs(np.array([True, True, False, True]))
    assert (first.tolist(), end.tolist()) == ([0, 3], [2, 4])
    assert len(runs(np.zeros(0, bool))[0]) == 0


def test_travel_is_the_rms_speed_of_any_interval() -> None:
    t = (np.arange(100) * 1e9 / 30).astype(np.int64)
    x = np.zeros((100, 2))
    x[50:, 0] = 0.3 * (np.arange(50) + 1) / 30  # one of two joints at 0.3 rad/s from 1.63 s on
    path = travel(t, x)
    speed = path.speed(t[[0, 60, 0]], t[[40, 90, 99]])
    assert speed[:2] == pytest.approx([0.0, 0.3 / np.sqrt(2)], abs=1e-6)
    assert path.speed_range(t[[45]], t[[55]], np.array([0, -10 * 33_333_333]))[0][0] == 0
    assert np.isnan(path.speed(np.array([-(10**10)]), np.array([-(10**9)])))[0]
    x[70, 1] = np.nan
    blind = travel(t, x).speed(t[[60, 20]], t[[80, 40]])
    assert np.isnan(blind[0])
    assert blind[1] == 0.0


def test_arm_travel_needs_joints_in_radians() -> None:
    t, x = np.arange(5), np.zeros((5, 2))
    arm = Channel("left_elbow", "rad", Role.JOINT_POSITION)
    hand = Channel("left_thumb", "1", Role.HAND_JOINTS)
    assert arm_travel(Stream("s", Role.JOINT_POSITION, t, x, (arm, hand))) is not None
    assert arm_travel(Stream("s", Role.JOINT_POSITION, t, x, (hand, hand))) is None
    assert arm_travel(Stream("s", Role.JOINT_POSITION, t, x, (Channel("left_elbow"), hand))) is None
    assert arm_travel(Stream("s", Role.JOINT_POSITION, t[:0], x[:0], (arm, hand))) is None
