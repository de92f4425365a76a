"""Cards: trees equal their models, sources' conflicts show, and shared names decide nothing."""

from pathlib import Path

import numpy as np
import pytest

from assay.embodiment import Tree, cards, conflicts, load, model_inside
from assay.embodiment.card_tree import rows_of, tree_of
from assay.embodiment.infer import infer
from assay.embodiment.kinematics import link_poses, points

MODELS = {
    "unitree_g1_29": "unitree_ros/g1_description/g1_29dof_rev_1_0.urdf",
    "unitree_g1_23": "unitree_ros/g1_description/g1_23dof_rev_1_0.urdf",
    "unitree_h1": "unitree_ros/h1_description/urdf/h1.urdf",
    "fourier_gr1t2": "fourier_gr1/gr1t2.urdf",
    "franka_panda": "example_robot_data/panda.urdf",
}
ARRAYS = ("parent", "kind", "p", "quat", "axis", "column", "gain", "offset", "mass", "com", "inertia")


def tree(card: str) -> Tree:
    found = load(card).tree
    assert found is not None
    return found


def same(ours: Tree, theirs: Tree) -> None:
    assert (ours.links, ours.joints, ours.carrier) == (theirs.links, theirs.joints, theirs.carrier)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)


@pytest.mark.real
@pytest.mark.parametrize("card", MODELS)
def test_a_card_is_its_model_to_the_last_digit(real_data: Path, card: str) -> None:
    path = real_data / "models" / MODELS[card]
    body = model_inside(path.parent, path.name)
    assert body.tree is not None
    same(tree(card), body.tree)
    for ours, theirs in zip(load(card).soles, body.soles, strict=True):
        np.testing.assert_array_equal(ours.points, theirs.points)


@pytest.mark.parametrize("card", ["unitree_g1_29", "franka_panda", "fourier_gr1t2"])
def test_rows_give_the_tree_back(card: str) -> None:
    same(tree_of(rows_of(tree(card)), tree(card).joints), tree(card))


def test_columns_of_every_tree_are_the_joints_of_its_card() -> None:
    for card in cards():
        body = load(card)
        if body.tree is not None:
            assert body.tree.joints == tuple(j.name for j in body.joints)
            assert (body.tree.column < len(body.joints)).all()


def test_worn_hands_keep_the_robots_tree() -> None:
    body = load("unitree_g1_29+unitree_dex3")
    assert len(body.joints) == 43
    assert body.tree is not None
    assert body.tree.joints == tuple(j.name for j in body.joints[:29])
    assert len(body.soles) == 2


def test_asap_is_the_g1_with_its_wrists_at_zero() -> None:
    few, many = tree("unitree_g1_23_asap"), tree("unitree_g1_29")
    assert few.joints == tuple(j for j in many.joints if "wrist" not in j)
    rng = np.random.default_rng(1)
    q = np.zeros((8, 29))
    kept = [many.joints.index(j) for j in few.joints]
    q[:, kept] = rng.uniform(-1, 1, (8, 23))
    np.testing.assert_array_equal(link_poses(few, q[:, kept])[0], link_poses(many, q)[0])


@pytest.mark.parametrize(
    ("card", "origin", "drop"), [("unitree_g1_29", "spheres", 0.793), ("fourier_gr1t2", "primitives", 0.9),
                                 ("unitree_h1", "primitives", 1.0)],
)  # fmt: skip
def test_soles_lie_flat_below_the_body(card: str, origin: str, drop: float) -> None:
    body = load(card)
    assert [s.side for s in body.soles] == ["left", "right"]
    for sole in body.soles:
        assert sole.origin == origin
        links = [sole.link] * len(sole.points)
        x = points(tree(card), np.zeros((1, len(body.joints))), None, None, links, sole.points)[0]
        low = x[:, 2] - sole.radius
        assert np.ptp(low) < 1e-3
        assert low.mean() == pytest.approx(-drop, abs=0.15)
        assert np.ptp(x[:, 0]) > 0.15


def test_bodies_whose_feet_are_meshes_have_no_soles() -> None:
    assert load("franka_panda").soles == ()


def test_g1_revisions_disagree_on_speed_and_effort_only() -> None:
    rows = conflicts(load("unitree_g1_29"))
    assert {row.quantity for row in rows} == {"speed", "effort"}
    (hip,) = [r for r in rows if (r.joint, r.quantity) == ("left_hip_pitch_joint", "effort")]
    assert [value for _, value in hip.values] == [88, 139, 88, 88]
    assert hip.spread == 51
    assert hip.values[0][0] == "unitree_ros g1_29dof_rev_1_0.urdf (d6f13aad6032)"


def test_gr1s_maker_and_simulator_disagree_on_wrists() -> None:
    rows = {(r.joint, r.quantity): r for r in conflicts(load("fourier_gr1t2"))}
    assert [v for _, v in rows["left_wrist_pitch_joint", "upper"].values] == [0.61, 1.5]
    assert [v for _, v in rows["right_wrist_roll_joint", "lower"].values] == [-0.96, -1.5]
    assert not any("ankle" in joint and quantity in ("lower", "upper") for joint, quantity in rows)


def test_a_body_with_one_set_has_no_conflict() -> None:
    assert conflicts(load("unitree_g1_23")) == ()


ARMS = [f"{side}_{joint}" for side in ("left", "right")
        for joint in ("shoulder_pitch", "shoulder_roll", "shoulder_yaw")]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "robot", "body"),
    [
        (ARMS, None, None),
        (ARMS, "Unitree_G1", None),
        (ARMS, "unitree_h1", "unitree_h1"),
        (ARMS, "GR1T2", "fourier_gr1t2"),
        (ARMS, "GR1ArmsOnly", "fourier_gr1t2"),
        ([j.name for j in load("unitree_h1").joints], None, "unitree_h1"),
        ([j.name for j in load("unitree_g1_23").joints], None, "unitree_g1_23"),
        ([j.name for j in load("unitree_g1_23_asap").joints], "g1", "unitree_g1_23_asap"),
        ([j.name for j in load("unitree_g1_29").joints], None, "unitree_g1_29"),
        ([f"arm_left_{i}_joint" for i in range(1, 8)], "tiago_dual", None),
        ([f"panda_joint{i}" for i in range(1, 8)], None, "franka_panda"),
        ([j.name for j in load("unitree_g1_29+unitree_dex3").joints], None, "unitree_g1_29+unitree_dex3"),
    ],
)
def test_names_shared_by_several_robots_do_not_decide(
    names: list[str], robot: str | None, body: str | None
) -> None:
    assert infer(names, robot)[0] == body


def test_robosuites_names_of_the_gr1_are_known() -> None:
    body = load("fourier_gr1t2")
    index = body.resolve(["torso_waist_yaw", "l_leg_knee_pitch", "r_wrist_roll", "head_yaw"])
    assert [body.joints[i].name for i in index] == [
        "waist_yaw_joint", "left_knee_pitch_joint", "right_wrist_roll_joint", "head_yaw_joint",
    ]  # fmt: skip
