"""Pictures that show nothing, and the few that belong elsewhere: at the start, amid, one or several."""

import numpy as np
import pytest

from assay.signals.cuts import cut_ratio
from assay.signals.frozen import blank
from assay.signals.pictures import GREY
from assay.synth.pictures import film


@pytest.mark.parametrize("shade", [0, 16, 128, 235])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_a_plain_shade_is_blank_and_a_scene_is_not(shade: int, noise: float) -> None:
    thumbs = film(40).thumbs.copy()
    grain = np.random.default_rng(0).normal(0.0, noise, thumbs[10:20].shape)
    thumbs[10:20] = np.rint(np.clip(shade + grain, 0, 255) * GREY)
    assert np.flatnonzero(blank(thumbs)).tolist() == list(range(10, 20))


def test_a_shaded_wall_is_not_blank() -> None:
    ramp = np.linspace(100, 104, 80) * GREY
    assert not blank(np.broadcast_to(ramp.astype(np.uint16), (5, 60, 80))).any()


def test_no_pictures_are_no_blank_ones() -> None:
    assert blank(np.empty((0, 0, 0), np.uint16)).tolist() == []


@pytest.mark.parametrize("count", [1, 2, 3, 8, 14, 25])
@pytest.mark.parametrize("first", [0, 60])
def test_foreign_pictures_are_cut_at_both_ends(first: int, count: int) -> None:
    scene = np.zeros(150, np.intp)
    scene[first : first + count] = 1
    found = np.flatnonzero(cut_ratio(film(150, scene=scene).thumbs) > 3)
    assert found.tolist() == [i for i in (first - 1, first + count - 1) if i >= 0]
