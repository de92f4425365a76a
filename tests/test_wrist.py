"""Which arm a camera rides on: by its name or parent link, and by what its pictures show."""

from dataclasses import replace

import numpy as np
import pytest

from assay import plugs
from assay.embodiment import load
from assay.examine import examine
from assay.feature import Features
from assay.model import Episode
from assay.signals.flow import Flow, block_flow
from assay.signals.wrists import arm_columns, carried_by, riding
from assay.synth.episodes import ARM_NAMES
from assay.synth.riding import CAMERAS, STATE, ridden, two_handed

GATE = plugs.gates()["CHN007"]
BODY = load("unitree_g1_29+inspire")


@pytest.mark.parametrize(
    ("name", "side"),
    [
        ("observation.images.cam_left_wrist", "left"),
        ("observation.images.right_hand_rgb", "right"),
        ("observation.images.wrist_l", "left"),
        ("/camera/rightWrist/image_raw", "right"),
        ("observation.images.cam_left_high", ""),  # one of two eyes
        ("observation.images.wrist", ""),  # of which arm is not said
        ("observation.images.left_and_right_hand", ""),
        ("exterior_image_1_left", ""),
        ("observation.images.wristband_left", ""),
    ],
)
def test_what_a_name_says(name: str, side: str) -> None:
    assert carried_by(name, None, BODY) == side


@pytest.mark.parametrize(
    ("parent", "side"),
    [
        ("right_wrist_yaw_link", "right"),
        ("left_elbow_link", "left"),
        ("torso_link", ""),
        ("pelvis", ""),
        ("left_ankle_roll_link", ""),
        ("left_gripper_mount", "left"),  # no link of the body: by its words
    ],
)
def test_a_parent_link_outranks_the_name(parent: str, side: str) -> None:
    assert carried_by("observation.images.cam_left_wrist", parent, BODY) == side


@pytest.mark.parametrize("body", [BODY, None])
def test_columns_of_either_arm(body: object) -> None:
    names = ("waist_yaw", *ARM_NAMES, "left_hand_index", "left_knee")
    found = arm_columns(tuple(f"state/{n}" for n in names), body)  # type: ignore[arg-type]
    assert found["left"].tolist() == list(range(1, 8))
    assert found["right"].tolist() == list(range(8, 15))


def flow_of(ep: Episode, side: str) -> Flow:
    state = ep.stream(STATE)
    assert state is not None
    return block_flow(ridden(ep, side).thumbs, state.t)  # type: ignore[arg-type]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("late", [-1, 0, 4])
def test_the_arm_that_carries_it_is_told_whatever_the_lag(side: str, late: int) -> None:
    ep = two_handed()
    state, flow = ep.stream(STATE), flow_of(ep, side)
    assert state is not None
    shifted = Flow(flow.t + late * 33_000_000, flow.x)
    found = riding(shifted, state.t, (state.x[:, :7], state.x[:, 7:14]))
    own, other = (found.left, found.right) if side == "left" else (found.right, found.left)
    assert own > 0.7
    assert own - other > 4 * found.u


def test_unrelated_pictures_accuse_nobody() -> None:
    ep, ten = two_handed(), []
    state, flow = ep.stream(STATE), flow_of(ep, "left")
    assert state is not None
    for turn in np.linspace(90, len(flow) - 90, 10).astype(int):
        turned = Flow(flow.t, np.roll(flow.x, turn, axis=0))
        found = riding(turned, state.t, (state.x[:, :7], state.x[:, 7:14]))
        ten.append(max(found.left, found.right) > 0.3 and abs(found.left - found.right) > 3 * found.u)
    assert not any(ten)


@pytest.mark.parametrize("side", ["left", "right"])
def test_unknown_joints_of_either_arm_leave_it_undecided(side: str) -> None:
    ep = two_handed()
    state = ep.stream(STATE)
    assert state is not None
    x = np.array(state.x)
    x[200:, 3 if side == "left" else 10] = np.nan
    broken = ep.with_stream(replace(state, x=x))
    shown = {"pictures": {c: ridden(ep, s) for s, c in CAMERAS.items()}}  # type: ignore[arg-type]
    verdict = examine(GATE, Features(broken, plugs.features(), {}, shown), GATE.params(), "x").verdict
    assert (verdict.status, verdict.reason) == ("abstain", "not-finite")


def test_one_arm_has_nothing_to_exchange() -> None:
    ep = two_handed()
    assert ep.embodiment is not None
    left = tuple(j for j in BODY.joints if not (j.part == "arm" and j.side == "right"))
    single = replace(ep, embodiment=replace(BODY, joints=left, tree=None, limits=()))
    verdict = examine(GATE, Features(single, plugs.features()), GATE.params(), "x").verdict
    assert verdict.status == "n/a"
