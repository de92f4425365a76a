"""Capsules: the kernel against plain formulas, which pairs are looked at, and what the cards hold."""

import numpy as np
import pytest

from assay.embodiment import load
from assay.embodiment.capsules import Capsules, deepest, pairs, rigid
from assay.embodiment.kinematics import points

SHAPED = ("unitree_g1_29", "unitree_g1_23_asap", "unitree_g1_23", "unitree_h1")


def odd_shape(seed: int = 0) -> Capsules:
    """Three capsules of any size on each heavy link of the G1; one of them is a ball."""
    body = load("unitree_g1_29")
    assert body.tree is not None
    rng = np.random.default_rng(seed)
    links = tuple(
        n for n, m in zip(body.tree.links, body.tree.mass, strict=True) if m > 0.2 for _ in range(3)
    )
    a = rng.normal(0, 0.06, (len(links), 3))
    b = a + rng.normal(0, 0.08, a.shape)
    b[::3] = a[::3]
    radius = rng.uniform(0.01, 0.04, len(links))
    return Capsules(links, a, b, radius, frozenset({frozenset({"pelvis", "torso_link"})}), 0.0, 0.0, "", "")


def postures(count: int) -> np.ndarray:
    limits = load("unitree_g1_29").limits[0]
    return np.random.default_rng(1).uniform(limits.lower, limits.upper, (count, 29))


def test_depth_is_the_plain_formula_over_all_pairs() -> None:
    body, shape, q = load("unitree_g1_29"), odd_shape(), postures(3)
    assert body.tree is not None
    of = pairs(body.tree, shape)
    a, b = (points(body.tree, q, None, None, shape.links, x) for x in (shape.a, shape.b))
    on = np.array(shape.links)
    share = np.linspace(0, 1, 301)[:, None]
    for t in range(len(q)):
        apart = []
        for one, other in of:
            gaps = []
            for i in np.flatnonzero(on == one):
                line = a[t, i] + share * (b[t, i] - a[t, i])
                for j in np.flatnonzero(on == other):
                    along = b[t, j] - a[t, j]
                    h = np.clip((line - a[t, j]) @ along / max(along @ along, 1e-12), 0, 1)[:, None]
                    gap = np.linalg.norm(line - a[t, j] - h * along, axis=1).min()
                    gaps.append(gap - shape.radius[i] - shape.radius[j])
            apart.append(min(gaps))
        depth, which = deepest(body.tree, shape, q[t : t + 1], of)
        assert depth[0] == pytest.approx(-min(apart), abs=1e-4)
        assert apart[which[0]] == pytest.approx(min(apart), abs=1e-4)


def test_the_worst_pair_does_not_depend_on_the_frames_around() -> None:
    body, shape, q = load("unitree_g1_29"), odd_shape(2), postures(200)
    assert body.tree is not None
    of = pairs(body.tree, shape)
    together, _ = deepest(body.tree, shape, q, of)
    alone = np.stack([deepest(body.tree, shape, q, [pair])[0] for pair in of], axis=1)
    np.testing.assert_allclose(together, alone.max(axis=1), atol=1e-12)


def test_a_frame_with_an_unknown_angle_is_unknown() -> None:
    body, shape, q = load("unitree_g1_29"), odd_shape(), postures(3)
    assert body.tree is not None
    q[1, body.tree.joints.index("left_knee_joint")] = np.nan
    depth, _ = deepest(body.tree, shape, q, pairs(body.tree, shape))
    assert np.isfinite(depth[[0, 2]]).all()
    assert np.isnan(depth[1])


def test_neighbours_fixed_links_and_named_pairs_are_left_out() -> None:
    body = load("unitree_g1_29")
    assert body.tree is not None
    of = {frozenset(pair) for pair in pairs(body.tree, odd_shape())}
    assert frozenset({"left_knee_link", "left_hip_yaw_link"}) not in of
    assert frozenset({"pelvis", "torso_link"}) not in of
    assert frozenset({"torso_link", "head_link"}) not in of
    assert frozenset({"left_hip_roll_link", "pelvis"}) not in of
    assert frozenset({"left_elbow_link", "torso_link"}) in of
    part = rigid(body.tree)
    assert body.tree.links[part[body.tree.index("left_rubber_hand")]] == "left_wrist_yaw_link"


@pytest.mark.parametrize("name", SHAPED)
def test_a_card_says_where_its_shape_is_from_and_stands_clear_of_itself(name: str) -> None:
    body = load(name)
    assert body.tree is not None
    shape = body.capsules
    assert shape is not None
    assert shape.source
    assert shape.licence
    assert 0 < shape.u < 0.01
    assert (shape.radius > 0.003).all()
    assert set(shape.links) <= set(body.tree.links)
    depth, which = deepest(body.tree, shape, np.zeros((1, len(body.joints))), pairs(body.tree, shape))
    assert depth[0] < 0.01, pairs(body.tree, shape)[which[0]]


def test_worn_hands_take_the_wrists_shape_away() -> None:
    bare, worn = load("unitree_g1_29").capsules, load("unitree_g1_29+inspire").capsules
    assert bare is not None
    assert worn is not None
    assert set(bare.links) - set(worn.links) == {"left_wrist_yaw_link", "right_wrist_yaw_link"}


def test_a_body_without_meshes_has_no_shape() -> None:
    assert load("fourier_gr1t2").capsules is None
