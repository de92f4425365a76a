"""Features of joints, pairs and clocks."""

from dataclasses import replace

import numpy as np
import pytest

from assay import plugs
from assay.feature import Features
from assay.features.joints import Joints
from assay.features.pairs import Pair
from assay.model import Channel, Episode, Role, Stream
from assay.synth.episodes import ARM_NAMES, HAND_NAMES, teleop


def joints(ep: Episode) -> Joints | None:
    found: Joints | None = Features(ep, plugs.features()).get("joints")
    return found


def pairs(ep: Episode) -> tuple[Pair, ...]:
    found: tuple[Pair, ...] = Features(ep, plugs.features()).get("pairs")
    return found


def split(ep: Episode, *, shift: int = 0) -> Episode:
    """The state as one stream per arm, the right one's stamps ``shift`` ns later."""
    state = ep.streams[0]
    parts = [
        replace(state, name=f"observation.state.{side}", x=state.x[:, first : first + 7],
                channels=state.channels[first : first + 7], t=state.t + later)
        for side, first, later in (("left_arm", 0, 0), ("right_arm", 7, shift))
    ]  # fmt: skip
    return replace(ep, streams=(*parts, *ep.streams[1:]))


def test_columns_are_named_after_joints() -> None:
    ep = teleop()
    found = joints(ep)
    assert found is not None
    assert found.names == (*ARM_NAMES, *HAND_NAMES)
    assert found.part.tolist() == ["arm"] * 14 + ["hand"] * 12
    assert found.side.tolist() == ["left"] * 7 + ["right"] * 7 + ["left"] * 6 + ["right"] * 6
    assert found.x is ep.streams[0].x  # nothing is copied where nothing is converted
    assert not found.unresolved
    assert not found.unknown_units


def test_degrees_become_radians() -> None:
    ep = teleop()
    state = ep.streams[0]
    degrees = tuple(replace(c, unit="deg") if c.unit == "rad" else c for c in state.channels)
    x = np.array(state.x)
    x[:, :14] = np.rad2deg(x[:, :14])
    found = joints(ep.with_stream(replace(state, x=x, channels=degrees)))
    assert found is not None
    np.testing.assert_allclose(found.x, state.x, rtol=1e-12)


def test_what_cannot_be_used_is_listed() -> None:
    ep = teleop()
    state = ep.streams[0]
    channels = list(state.channels)
    channels[0] = replace(channels[0], unit="unknown")
    channels[1] = replace(channels[1], name="tail")
    channels[2] = replace(channels[2], unit="1")
    channels[3] = replace(channels[3], role=Role.JOINT_VELOCITY)
    found = joints(ep.with_stream(replace(state, channels=tuple(channels))))
    assert found is not None
    assert found.unknown_units == (ARM_NAMES[0], ARM_NAMES[2])
    assert found.unresolved == ("tail",)
    assert len(found.names) == 22


def test_split_streams_are_joined_on_one_clock() -> None:
    found = joints(split(teleop()))
    assert found is not None
    assert found.stream == "observation.state"
    assert found.names[0] == "observation.state.left_arm/left_shoulder_pitch"
    np.testing.assert_array_equal(found.x, teleop().streams[0].x[:, :14])


def test_streams_on_other_clocks_stay_apart() -> None:
    groups = Features(split(teleop(), shift=5), plugs.features()).get("joint_groups")
    assert [len(g.names) for g in groups] == [7, 7]


def test_no_body_or_no_stream_is_no_joints() -> None:
    assert joints(replace(teleop(), embodiment=None)) is None
    assert joints(teleop().without_stream("observation.state")) is None


def test_the_sheet_chooses_the_limits() -> None:
    ep = teleop()
    assert ep.embodiment is not None
    first = ep.embodiment.limits[0]
    other = replace(first, source="other", upper=first.upper + 1)
    body = replace(ep.embodiment, limits=(first, other))
    found = joints(replace(ep, embodiment=body, limit_set="other"))
    assert found is not None
    assert (found.upper == other.upper[found.joint]).all()


def test_request_meets_state_by_name() -> None:
    ep = teleop()
    action = ep.streams[1]
    order = np.random.default_rng(0).permutation(26)
    shuffled = replace(action, x=action.x[:, order], channels=tuple(action.channels[i] for i in order))
    (pair,) = pairs(ep.with_stream(shuffled))
    where = [pair.names.index(n) for n in action.names]
    np.testing.assert_array_equal(pair.a[:, where], action.x)
    np.testing.assert_array_equal(pair.s[:, where], ep.streams[0].x)
    assert pair.one_clock


def test_split_request_meets_its_own_limb() -> None:
    # Both arms call their joints j1 to j7: only the stream's name tells them apart.
    ep = split(teleop())
    names = tuple(Channel(f"j{i}", "rad") for i in range(1, 8))
    state = [replace(s, channels=names) for s in ep.streams[:2]]
    action = [
        replace(s, name=s.name.replace("observation.state", "action"), role=Role.REQUEST) for s in state
    ]
    found = pairs(replace(ep, streams=(*state, *reversed(action))))
    assert {(p.stream, p.state) for p in found} == {
        ("action.left_arm", "observation.state.left_arm"),
        ("action.right_arm", "observation.state.right_arm"),
    }  # fmt: skip


@pytest.mark.parametrize("suffix", [".vel", "_velocity", ".dq", "_torque", ""])
def test_velocity_and_torque_meet_position(suffix: str) -> None:
    ep = teleop()
    state = ep.streams[0]
    channels = tuple(Channel(c.name + suffix, "unknown") for c in state.channels[:14])
    velocity = Stream("v", Role.JOINT_VELOCITY, state.t, state.x[:, :14], channels)
    assert [p.stream for p in pairs(ep.with_stream(velocity))] == ["action", "v"]


def test_streams_with_one_clock_are_one_group() -> None:
    ticks = Features(teleop(), plugs.features()).get("ticks")
    assert [(k.stream, k.others) for k in ticks] == [
        ("observation.state", ("action", "observation.images.cam_0"))
    ]


@pytest.mark.parametrize("name", ["left_elbow_pose", "base_left_elbow", "quat_x"])
def test_a_spoilt_name_is_unresolved(name: str) -> None:
    ep = teleop()
    state = ep.streams[0]
    spoilt = tuple(
        Channel(name, "unknown", Role.OTHER) if c.name == "left_elbow" else c for c in state.channels
    )
    found = joints(ep.with_stream(replace(state, channels=spoilt)))
    assert found is not None
    assert found.unresolved == (name,)


def test_a_whole_pose_beside_the_joints_is_left_out() -> None:
    ep = teleop()
    state = ep.streams[0]
    names = dict(
        zip(HAND_NAMES, ("base_x", "base_y", "base_z", *(f"wrist_quat_{c}" for c in "xyzw")), strict=False)
    )
    mixed = tuple(
        Channel(names[c.name], "unknown", Role.OTHER) if c.name in names else c for c in state.channels
    )
    found = joints(ep.with_stream(replace(state, channels=mixed)))
    assert found is not None
    assert not found.unresolved
    assert len(found.names) == 19
