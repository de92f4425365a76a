"""URDF: what is read, what is unknown, and what a stranger's file cannot do."""

from pathlib import Path

import numpy as np
import pytest

from assay.embodiment import Embodiment, find_body, model_inside
from assay.embodiment.kinematics import link_poses
from assay.embodiment.urdf import read_urdf
from assay.errors import OutsideCorpusError, UnreadableError, UsageError
from model_texts import URDF, write


def with_joint(more: str, name: str, kind: str, parent: str, child: str) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return URDF.replace("</robot>", f'{more}<joint name="{name}" type="{kind}">{ends}</joint></robot>')


@pytest.fixture
def body(tmp_path: Path) -> Embodiment:
    return read_urdf(tmp_path, write(tmp_path, URDF, "two_legs.urdf"))


def test_joints_stand_in_file_order_without_mimics(body: Embodiment) -> None:
    assert [j.name for j in body.joints] == [
        "left_ankle_joint", "right_ankle_joint", "left_shoulder_joint", "left_finger_joint",
    ]  # fmt: skip
    assert [j.unit for j in body.joints] == ["rad", "rad", "rad", "m"]
    assert [j.side for j in body.joints] == ["left", "right", "left", "left"]
    assert body.tree is not None
    assert body.tree.joints == tuple(j.name for j in body.joints)


def test_zero_and_absent_limits_are_unknown(body: Embodiment) -> None:
    limits = body.limits[0]
    inf = np.inf
    assert limits.lower.tolist() == [-1, -inf, -inf, 0]
    assert limits.upper.tolist() == [1, inf, inf, 0.04]
    assert limits.speed.tolist() == [3, inf, inf, inf]
    assert limits.effort.tolist() == [inf, 7, inf, inf]


def test_a_limit_beyond_reason_is_no_limit(tmp_path: Path) -> None:
    text = URDF.replace(
        'lower="-1" upper="1" velocity="3" effort="0"', 'lower="-1e16" upper="1e6" effort="1e300"'
    )
    limits = read_urdf(tmp_path, write(tmp_path, text)).limits[0]
    assert (limits.lower[0], limits.upper[0], limits.effort[0]) == (-np.inf, np.inf, np.inf)


def test_masses_are_in_the_axes_of_their_link(body: Embodiment) -> None:
    tree = body.tree
    assert tree is not None
    assert tree.mass[0] == 5
    assert tree.com[0].tolist() == [0, 0, 0.1]
    np.testing.assert_allclose(tree.inertia[0], np.diag([2.0, 1.0, 3.0]), atol=1e-12)
    assert np.isnan(tree.mass[tree.index("arm")])


def test_a_mimic_joint_reads_its_leaders_column(body: Embodiment) -> None:
    assert body.tree is not None
    p, _ = link_poses(body.tree, [[0.0, 0.0, 0.0, 0.03]], links=["left_finger", "left_thumb"])
    np.testing.assert_allclose(p[0, :, 2], [0.03, -2 * 0.03 + 0.01], atol=1e-12)


def test_soles_are_the_lower_corners_of_the_feet(body: Embodiment) -> None:
    left, right = body.soles
    assert (left.side, left.link, left.origin) == ("left", "left_foot", "primitives")
    assert right.side == "right"
    assert sorted(left.points.tolist()) == [
        pytest.approx([x, y, -0.04]) for x in (-0.05, 0.15) for y in (-0.04, 0.04)
    ]
    assert left.radius.tolist() == [0.0] * 4


def test_the_hand_is_what_hangs_on_the_arm(body: Embodiment) -> None:
    (hand,) = body.hands
    assert (hand.side, hand.link, hand.ends) == ("left", "arm", ("left_finger", "left_thumb"))


def test_feet_of_meshes_have_no_known_sole(tmp_path: Path) -> None:
    text = URDF.replace('<box size="0.2 0.08 0.02"/>', '<mesh filename="package://nowhere/foot.stl"/>')
    assert read_urdf(tmp_path, write(tmp_path, text)).soles == ()


def test_one_foot_without_shapes_leaves_both_unknown(tmp_path: Path) -> None:
    text = URDF.replace('<box size="0.2 0.08 0.02"/>', '<mesh filename="foot.stl"/>', 1)
    assert read_urdf(tmp_path, write(tmp_path, text)).soles == ()


def test_a_floating_joint_below_the_world_makes_a_floating_root(tmp_path: Path) -> None:
    text = with_joint('<link name="world"/>', "base", "floating", "world", "pelvis")
    tree = read_urdf(tmp_path, write(tmp_path, text)).tree
    assert tree is not None
    assert tree.floating
    assert tree.links[0] == "pelvis"


def test_links_may_come_in_any_order(tmp_path: Path) -> None:
    lines = URDF.replace("\n    ", " ").splitlines()
    text = "\n".join([*lines[:2], *reversed(lines[2:-1]), lines[-1]])
    tree = read_urdf(tmp_path, write(tmp_path, text)).tree
    assert tree is not None
    assert tree.links[0] == "pelvis"
    assert (tree.parent[1:] < np.arange(1, len(tree.links))).all()


MANY = "".join(f'<link name="l{i}"/>' for i in range(1001))
BROKEN = {
    "entity bomb": ('<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><robot name="&b;"/>', "entities"),
    "external entity": ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/group">]><r>&x;</r>', "entities"),
    "cut": (URDF[: len(URDF) // 2], "well-formed"),
    "empty": ("", "well-formed"),
    "binary": (b"\x00\xff\xfe robot", "well-formed"),
    "unknown encoding": (b'<?xml version="1.0" encoding="klingon"?><robot/>', "well-formed"),
    "no links": ('<robot name="r"/>', "number of links"),
    "too deep": ("<robot>" + "<a>" * 400 + "</a>" * 400 + "</robot>", "deep"),
    "many links": (f"<robot>{MANY}</robot>", "number of links"),
    "missing parent": (with_joint("", "j", "fixed", "nowhere", "arm"), "parent link"),
    "two parents": (with_joint("", "j", "fixed", "left_foot", "arm"), "two joints"),
    "cycle": (with_joint("", "j", "fixed", "arm", "pelvis"), "cycle"),
    "two roots": (URDF.replace("</robot>", '<link name="alone"/></robot>'), "several trees"),
    "two names": (URDF.replace("</robot>", '<link name="arm"/></robot>'), "one name"),
    "no number": (URDF.replace('xyz="0 0.1 -0.5"', 'xyz="0 zero -0.5"'), "finite numbers"),
    "not finite": (URDF.replace('xyz="0 0.1 -0.5"', 'xyz="0 nan -0.5"'), "finite numbers"),
    "too many numbers": (URDF.replace('xyz="0 0.1 -0.5"', f'xyz="{"0 " * 999}"'), "finite numbers"),
    "absurd size": (URDF.replace('xyz="0 0.1 -0.5"', 'xyz="0 1e300 -0.5"'), "below 1e"),
    "axis of nothing": (URDF.replace('<axis xyz="0 2 0"/>', '<axis xyz="0 0 0"/>'), "axis"),
    "turned limits": (URDF.replace('lower="-1" upper="1"', 'lower="2" upper="1"'), "above"),
    "strange joint": (URDF.replace('"continuous"', '"planar"'), "type"),
    "mimic of nothing": (URDF.replace('mimic joint="left_finger_joint"', 'mimic joint="x"'), "mimics"),
    "mimic of itself": (URDF.replace('mimic joint="left_finger', 'mimic joint="left_thumb'), "mimics"),
    "floats inside": (URDF.replace('"continuous"', '"floating"'), "root"),
    "another thing": ("<svg/>", "neither"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_file_is_one_sentence(tmp_path: Path, fault: str) -> None:
    text, says = BROKEN[fault]
    with pytest.raises(UnreadableError, match=says) as caught:
        model_inside(tmp_path, write(tmp_path, text, "bad.urdf"))
    message = str(caught.value)
    assert message.startswith("bad.urdf")
    assert message.endswith(".")
    assert len(message) < 300
    assert "\n" not in message


def test_every_cut_of_a_model_is_one_sentence_or_a_body(tmp_path: Path) -> None:
    whole = URDF.encode()
    for end in range(0, len(whole) - 1, 37):
        with pytest.raises(UnreadableError):
            model_inside(tmp_path, write(tmp_path, whole[:end]))


def test_a_very_large_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.urdf").open("wb") as file:
        file.truncate(64 << 20)
    with pytest.raises(UnreadableError, match="MB"):
        model_inside(tmp_path, "huge.urdf")


def test_nothing_outside_the_folder_is_read(tmp_path: Path) -> None:
    write(tmp_path, URDF, "out.urdf")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "link.urdf").symlink_to(tmp_path / "out.urdf")
    for name in ("../out.urdf", "link.urdf"):
        with pytest.raises(OutsideCorpusError):
            model_inside(tmp_path / "corpus", name)


def test_a_body_is_found_by_path_or_card(tmp_path: Path) -> None:
    name = write(tmp_path, URDF, "two_legs.urdf")
    assert find_body(str(tmp_path / name)).name == "two_legs"
    assert find_body("unitree_g1_29").name == "unitree_g1_29"
    with pytest.raises(UsageError, match="no such model file"):
        find_body(str(tmp_path / "absent.urdf"))
    with pytest.raises(UsageError, match="unknown body"):
        find_body("robonaut")
