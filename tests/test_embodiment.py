"""Bodies: the cards hold what the models say, names resolve, and a body is inferred only on good grounds."""

from pathlib import Path

import numpy as np
import pytest
from defusedxml.ElementTree import parse

from assay.embodiment import cards, load, normalise
from assay.embodiment.infer import infer
from assay.errors import UsageError
from assay.synth.episodes import ARM_NAMES, HAND_NAMES

UNITREE = tuple(
    "k" + "".join(word.capitalize() for word in name.split("_")) for name in (*ARM_NAMES, *HAND_NAMES)
)


def test_g1_has_29_joints_in_the_order_of_its_model() -> None:
    body = load("unitree_g1_29")
    assert len(body.joints) == 29
    assert [j.name for j in body.joints[12:16]] == [
        "waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint", "left_shoulder_pitch_joint",
    ]  # fmt: skip
    counts = {part: sum(j.part == part for j in body.joints) for part in ("leg", "waist", "arm")}
    assert counts == {"leg": 12, "waist": 3, "arm": 14}


@pytest.mark.real
@pytest.mark.parametrize("number", range(4))
def test_card_equals_the_model(real_data: Path, number: int) -> None:
    body = load("unitree_g1_29")
    limits = body.limits[number]
    maker, file = limits.source.split(" ", 1)
    (path,) = (real_data / "models" / maker).rglob(file)
    rows = [j for j in parse(path).getroot().findall("joint") if j.get("type") == "revolute"]
    assert [j.get("name") for j in rows] == [j.name for j in body.joints]
    for ours, theirs in (("lower", "lower"), ("upper", "upper"), ("speed", "velocity"), ("effort", "effort")):
        stated = [float(j.find("limit").get(theirs)) for j in rows]
        np.testing.assert_array_equal(getattr(limits, ours), stated)


def test_every_card_is_sound() -> None:
    for name in cards():
        body = load(name)
        assert body.source
        assert body.licence
        for limits in body.limits:
            assert limits.revision
            for numbers in (limits.lower, limits.upper, limits.speed, limits.effort):
                assert numbers.shape == (len(body.joints),)
            assert (limits.lower < limits.upper).all()
            assert (limits.speed > 0).all()


def test_hands_worn_by_a_robot_keep_all_its_limit_sets() -> None:
    body = load("unitree_g1_29+inspire")
    assert len(body.joints) == 41
    assert len(body.limits) == len(load("unitree_g1_29").limits)
    assert body.limit_set("holosoma").effort[4] == 50.0
    assert body.limit_set().effort[4] == 35.0


def test_unitree_names_resolve() -> None:
    body = load("unitree_g1_29+inspire")
    index = body.resolve(UNITREE)
    assert [normalise(body.joints[i].name) for i in index] == [normalise(n) for n in UNITREE]
    assert (body.resolve((*ARM_NAMES, *HAND_NAMES)) == index).all()


@pytest.mark.parametrize(
    "name",
    ["kLeftElbow", "left_elbow_joint", "left_elbow.pos", "leftElbow", "observation.state/left_elbow",
     "LEFT_ELBOW", "left-elbow", "kLeftElbow.q", "left_elbow_rad"],
)  # fmt: skip
def test_spellings_of_one_joint(name: str) -> None:
    assert normalise(name) == "left_elbow"


@pytest.mark.parametrize("name", ["", ".", "pos", "q", "joint", "k", "///"])
def test_odd_names_resolve_to_nothing(name: str) -> None:
    assert load("unitree_g1_29").resolve([name]).tolist() == [-1]


def test_unknown_body_lists_the_known() -> None:
    with pytest.raises(UsageError, match="unitree_g1_29"):
        load("robonaut")


@pytest.mark.parametrize(
    ("names", "robot_type", "body"),
    [
        (UNITREE, "Unitree_G1_Inspire", "unitree_g1_29+inspire"),
        (UNITREE, None, "unitree_g1_29+inspire"),
        (UNITREE[:14], "Unitree_G1", "unitree_g1_29"),
        ((*UNITREE, "timestamp"), "Unitree_G1_Inspire", "unitree_g1_29+inspire"),
        (UNITREE, "Unitree_H1_2", None),
        ((*UNITREE, "left_gripper"), "Unitree_G1", None),
        ([f"motor_{i}" for i in range(44)], "GR1ArmsOnly", None),
        ([f"motor_{i}" for i in range(29)], "Unitree_G1", None),
        (["x", "y", "z"], "Unitree_G1", None),
        ([], "Unitree_G1", None),
    ],
)
def test_body_is_inferred_from_names(names: list[str], robot_type: str | None, body: str | None) -> None:
    found, evidence = infer(names, robot_type)
    assert found == body
    assert evidence
