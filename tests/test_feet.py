"""Feet: stillness, stance, ground and contact, on motion whose truth is known."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from assay import plugs
from assay.examine import examine
from assay.feature import Features
from assay.judge import Judgement
from assay.model import Episode, Role, Stream
from assay.sheet import apply, lay
from assay.signals.contact import by_distance, by_force, by_gripper, by_touch
from assay.signals.feet import displaced, latched, noise, stamps, strides
from assay.synth.episodes import teleop
from assay.synth.squats import squats
from assay.synth.walks import jittered, pivoted, raised, slid, walk

FEET = ("RTG003", "RTG004", "RTG005", "RTG006", "RTG013")
RATES = (25, 30, 50, 60, 120, 500)


def judged(code: str, ep: Episode) -> Judgement:
    gate = plugs.gates()[code]
    return examine(gate, Features(ep, plugs.features()), gate.params(), ep.id)


def statuses(ep: Episode, codes: tuple[str, ...] = FEET) -> str:
    """First letters of the verdicts, e.g. ``pfppp``."""
    return "".join(judged(code, ep).verdict.status[0] for code in codes)


# ------------------------------------------------------------------------------------------ the table

# METHODS 1: each row with what skate and drift must say of it.
ROWS = {
    "clean": (walk, "pp"),
    "clean, 2 mm jitter": (lambda: jittered(0.002), "pp"),
    "clean, 4 mm jitter": (lambda: jittered(0.004), "ap"),
    "slide 0.25 m/s": (lambda: slid(0.25, 3.3, 3.9), "pf"),
    "slide 0.4 m/s": (lambda: slid(0.4, 3.3, 3.9), "ff"),
    "slide 0.4, foot floats 3 cm": (lambda: raised(0.03, ep=slid(0.4, 3.3, 3.9)), "ff"),
    "heel pivot 2 rad/s, no slide": (lambda: pivoted(2.0), "pp"),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_rows_of_the_published_comparison(row: str) -> None:
    build, expected = ROWS[row]
    assert statuses(build(), ("RTG003", "RTG004")) == expected


# ------------------------------------------------------------------------------------- one motion, six rates

MOTIONS: dict[str, tuple[Callable[[Episode], Episode], str]] = {
    "clean": (lambda ep: ep, "ppppp"),
    "skate": (lambda ep: slid(0.45, ep=ep), "ffppp"),
    "drift": (lambda ep: slid(0.15, ep=ep), "pfppp"),
    "below the drift": (lambda ep: slid(0.05, ep=ep), "ppppp"),
    "penetration": (lambda ep: raised(-0.015, 3.0, 3.5, ep), "ppfpp"),
    "float": (lambda ep: raised(0.028, 3.35, 3.85, ep), "pppfa"),
    "offset": (lambda ep: raised(0.06, ep=ep), "ppppf"),
    "pivot": (lambda ep: pivoted(2.0, ep=ep), "ppppp"),
}


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("motion", MOTIONS)
def test_one_motion_gets_one_verdict_at_every_rate(motion: str, rate: int) -> None:
    change, expected = MOTIONS[motion]
    assert statuses(jittered(0.0003, change(walk(rate=rate)))) == expected


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("share", "expected"), [(0.93, "pass"), (1.07, "fail")])
def test_one_speed_gets_one_verdict_at_every_rate(share: float, expected: str, rate: int) -> None:
    ep = walk(rate=rate)
    joints = ep.stream("joints")
    assert joints is not None
    t = np.arange(len(joints)) / rate
    x = np.array(joints.x)
    # 37 rad/s for 90 ms, longer than two frames at 25 Hz
    x[:, joints.names.index("left_elbow_joint")] = share * 37.0 * np.clip(t - 3.0, 0.0, 0.09)
    x += np.random.default_rng(1).normal(0.0, 0.0003, x.shape)
    assert judged("RTG007", ep.with_stream(replace(joints, x=x))).verdict.status == expected


def test_real_clocks_read_as_nominal_ones() -> None:
    ep = slid(0.45, ep=walk(rate=100))
    rng = np.random.default_rng(2)
    t = np.sort(ep.streams[0].t + rng.integers(-2_000_000, 2_000_000, len(ep.streams[0])))
    on = ep
    for stream in ep.streams:  # values of the moments that the stamps say
        seen = np.stack([np.interp(t, stream.t, c) for c in stream.x.T], axis=1)
        on = on.with_stream(replace(stream, t=t, x=seen, clock=teleop().streams[0].clock.SENSOR, rate=None))
    assert statuses(on) == "ffppp"


# ------------------------------------------------------------------------------------------ what is missing


def test_no_rate_no_feet() -> None:
    ep = walk()
    for stream in ep.streams:
        ep = ep.with_stream(replace(stream, rate=None))
    assert {judged(code, ep).verdict.reason for code in (*FEET, "RTG007")} == {"not-declared"}


def test_a_base_of_unresolved_frame_is_no_base() -> None:
    root = walk().stream("root")
    assert root is not None
    ep = walk().with_stream(replace(root, frame="unresolved-quaternion"))
    poses = Features(ep, plugs.features()).get("poses")
    assert not poses.soles
    assert "unresolved-quaternion" in poses.why
    assert set(poses.torso) == {"left_wrist_yaw_link", "right_wrist_yaw_link"}
    assert {judged(code, ep).verdict.reason for code in FEET} == {"not-declared"}


def test_arms_alone_have_hands_in_the_torso_and_no_feet() -> None:
    poses = Features(teleop(), plugs.features()).get("poses")
    assert not poses.soles
    assert not poses.world
    assert all(np.isfinite(p).all() and np.isfinite(q).all() for p, q in poses.torso.values())
    assert {judged(code, teleop()).verdict.status for code in FEET} == {"abstain"}


def test_feet_that_hang_on_an_unrecorded_joint_are_unknown() -> None:
    joints = walk().stream("joints")
    assert joints is not None
    keep = [i for i, n in enumerate(joints.names) if n != "left_knee_joint"]
    ep = walk().with_stream(
        replace(joints, x=joints.x[:, keep], channels=tuple(joints.channels[i] for i in keep))
    )
    poses = Features(ep, plugs.features()).get("poses")
    assert np.isnan(poses.soles["left"]).all()
    assert np.isfinite(poses.soles["right"]).all()
    assert judged("RTG003", ep).verdict.status == "abstain"


def human(ep: Episode, change: Callable[[Stream], Stream]) -> Episode:
    stream = ep.stream("smpl_joints")
    assert stream is not None
    return ep.with_stream(change(stream))


def test_a_hole_in_the_source_over_a_slide_is_no_pass() -> None:
    def hole(stream: Stream) -> Stream:
        x = np.array(stream.x)
        x[98:120] = np.nan
        return replace(stream, x=x)

    assert judged("RTG003", human(slid(0.4), hole)).verdict.status == "abstain"
    valid = np.ones(240, bool)
    valid[98:120] = False
    masked = human(slid(0.4), lambda s: replace(s, valid=valid))
    assert judged("RTG003", masked).verdict.status == "abstain"


def test_a_source_that_slides_is_no_reference() -> None:
    def glide(stream: Stream) -> Stream:
        x = np.array(stream.x)
        x[:, 1::3] += (0.1 * np.arange(len(x)) / 30)[:, None]
        return replace(stream, x=x)

    verdict = judged("RTG004", human(walk(), glide)).verdict
    assert (verdict.status, verdict.reason) == ("abstain", "reference-noisy")
    assert judged("RTG003", human(slid(0.5), glide)).verdict.status == "abstain"


def test_a_source_that_shakes_is_no_reference() -> None:
    def shake(stream: Stream) -> Stream:
        return replace(stream, x=stream.x + np.random.default_rng(0).normal(0, 0.004, stream.x.shape))

    for code in ("RTG003", "RTG004", "RTG006"):
        verdict = judged(code, human(walk(), shake)).verdict
        assert (verdict.status, verdict.reason) == ("abstain", "reference-noisy")


def test_a_source_at_its_own_rate_with_a_declared_offset() -> None:
    slow = walk(rate=30).stream("smpl_joints")
    assert slow is not None
    # The reader knew no rate and counted seconds; the sheet says 30 Hz and where it begins.
    part = replace(slow, name="human/body", t=np.arange(len(slow)) * 10**9, rate=Fraction(30))
    ep = slid(0.45, ep=walk(rate=50, human=False)).with_stream(part)
    known = replace(ep, meta={**ep.meta, "parts/human/offset": 0.0})
    assert statuses(known) == "ffppp"
    equal = replace(ep, meta={**ep.meta, "parts/human/offset": None})
    assert statuses(equal) == "ffppp"  # both last equally long
    shorter = replace(part, x=part.x[:150], t=part.t[:150])
    unknown = replace(equal.with_stream(shorter))
    assert judged("RTG003", unknown).verdict.reason == "no-reference"


def test_a_held_kick_is_no_stance() -> None:
    ep = raised(0.0)
    stance = Features(ep, plugs.features()).get("stance")
    both = [(stance.state[s] == 1).mean() for s in ("left", "right")]
    assert all(0.3 < share < 0.5 for share in both)

    def kick(stream: Stream) -> Stream:  # the left foot is held 20 cm up, still, from 3.2 to 4 s
        x = np.array(stream.x)
        x[96:120, [2, 5]] += 0.2
        return replace(stream, x=x)

    held = Features(human(ep, kick), plugs.features()).get("stance")
    assert not (held.state["left"][98:118] == 1).any()


def test_stance_without_a_source_is_graded_lower() -> None:
    stance = Features(walk(human=False), plugs.features()).get("stance")
    assert stance.grade == "robot"
    assert all((s == 1).any() for s in stance.state.values())


def test_the_ground_is_what_the_sheet_says() -> None:
    ep = walk(ground=False)
    assert Features(ep, plugs.features()).get("ground").declared is None
    for said, height in (("z=0", 0.0), (-0.3, -0.3)):
        sheet = lay([("buyer", {"ground": said}, "test")])
        assert Features(apply(sheet, ep), plugs.features()).get("ground").declared == height


def test_a_clock_that_steps_back_within_a_rest_is_no_error() -> None:
    ep = squats().without_stream("velocities")
    t = ep.streams[0].t.copy()
    t[len(t) // 2 :] -= t[-1] // 3
    for stream in ep.streams:
        ep = ep.with_stream(replace(stream, t=t))
    assert statuses(ep) == "aaaaa"


def test_an_offset_is_one_finding_with_its_cure() -> None:
    (finding,) = judged("RTG013", raised(0.064)).findings
    assert finding.note.startswith("lower the base by 0.064 m")
    (finding,) = judged("RTG013", raised(-0.05)).findings
    assert finding.note.startswith("raise the base by 0.050 m")


def lying(height: float) -> Episode:
    """A walk of which two seconds are on its back, feet up, the pelvis ``height`` m above z = 0."""
    ep = walk(human=False)
    (root,) = ep.by_role(Role.BASE_POSE)
    x, t = np.array(root.x), root.t * 1e-9
    down = (t >= 3) & (t < 5)
    half = np.radians(100.0) / 2
    x[down, 2:] = [height, np.cos(half), 0.0, -np.sin(half), 0.0]
    return ep.with_stream(replace(root, x=x))


LIFTS: dict[str, tuple[Callable[[Episode], Episode], str]] = {
    "1.6 cm": (lambda ep: raised(0.016, 3.0, 5.0, ep), "pass"),
    "2.4 cm": (lambda ep: raised(0.024, 3.0, 5.0, ep), "abstain"),
    "1.5 m": (lambda ep: raised(1.5, 3.0, 5.0, ep), "abstain"),
    "3 cm for 0.2 s": (lambda ep: raised(0.03, 3.0, 3.2, ep), "pass"),
    "3 cm for 0.2 s, again and again": (
        lambda ep: raised(0.03, 4.0, 4.2, raised(0.03, 3.0, 3.2, ep)),
        "abstain",
    ),
    "a jump of 0.6 s": (lambda ep: flown(0.6, 1.0, ep), "pass"),
    "as short, with a third of gravity": (lambda ep: flown(0.6, 0.33, ep), "abstain"),
    "as high and long as a jump, up and down at one speed": (lambda ep: carried(0.9, 0.99, ep), "abstain"),
    "a parabola of 1.6 s, which no one jumps": (lambda ep: flown(1.6, 1.0, ep), "abstain"),
}


def flown(seconds: float, gravity: float, ep: Episode) -> Episode:
    """The walk with a jump at 3 s that falls with so much of gravity, to the side at 1 m/s."""
    return shifted(ep, seconds, lambda s: gravity * 9.81 / 2 * s * (seconds - s))


def carried(seconds: float, height: float, ep: Episode) -> Episode:
    """The same, but at one speed up to a height in m and down again."""
    return shifted(ep, seconds, lambda s: height * (1 - np.abs(2 * s / seconds - 1)))


def shifted(ep: Episode, seconds: float, rise: Callable[[np.ndarray], np.ndarray]) -> Episode:
    (root,) = ep.by_role(Role.BASE_POSE)
    x, s = np.array(root.x), np.clip(root.t * 1e-9 - 3.0, 0.0, seconds)
    x[:, 1] += s
    x[:, 2] += rise(s)
    return ep.with_stream(replace(root, x=x))


@pytest.mark.parametrize("rate", [30, 60, 120])
@pytest.mark.parametrize("lift", LIFTS)
def test_a_clip_that_hangs_for_a_while_is_left_open_without_a_source(lift: str, rate: int) -> None:
    change, expected = LIFTS[lift]
    verdict = judged("RTG013", change(walk(rate=rate, human=False))).verdict
    assert verdict.status == expected, verdict.detail
    assert expected == "pass" or "a step, or lifted" in verdict.detail


def test_a_body_on_its_back_has_its_feet_in_the_air_and_is_on_the_ground() -> None:
    low = Features(lying(0.06), plugs.features()).get("poses").low
    assert (low[95:145] > 0.02).all()
    assert judged("RTG013", lying(0.06)).verdict.status == "pass"
    assert judged("RTG013", lying(1.0)).verdict.status == "abstain"


def test_an_abstention_gives_both_figures() -> None:
    case = next(c for c in plugs.gates()["RTG007"].cases if "between" in c.name)
    built = case.episode()
    assert isinstance(built, Episode)
    detail = judged("RTG007", built).verdict.detail
    assert "left_hip_pitch_joint" in detail
    assert "20" in detail
    assert "32" in detail


# ------------------------------------------------------------------------------------------------- numerics


@pytest.mark.parametrize("rate", RATES)
def test_displacement_is_a_speed_at_every_rate(rate: int) -> None:
    t = np.rint(np.arange(rate) * 1e9 / rate).astype(np.int64)
    d = displaced(t, (np.arange(rate) / rate)[:, None])
    assert np.isnan(d[0]).all()
    assert np.allclose(d[np.isfinite(d)], 1 / 30, atol=1e-6)


def test_displacement_on_an_uneven_clock() -> None:
    t = np.sort(np.random.default_rng(0).integers(0, 10**10, 400))
    d = displaced(t, (t * 1e-9)[:, None])
    assert np.allclose(d[np.isfinite(d)], 1 / 30)
    assert np.isfinite(d).sum() > 390


@pytest.mark.parametrize("even", [True, False])
def test_strides_are_lengths_of_displacements(even: bool) -> None:
    rng = np.random.default_rng(1)
    t = np.arange(300) * 10**10 // 300 if even else np.sort(rng.integers(0, 10**10, 300))
    x = rng.normal(size=(300, 4, 3))
    for level, width in ((True, 2), (False, 3)):
        expected = np.linalg.norm(displaced(t, x[..., :width]), axis=2)
        np.testing.assert_allclose(strides(t, x, level=level), expected, rtol=1e-12)


def test_displacement_of_little() -> None:
    assert np.isnan(displaced(np.zeros(1, np.int64), np.zeros((1, 2)))).all()
    assert np.isnan(displaced(np.arange(3), np.zeros((3, 2)))).all()
    assert displaced(np.zeros(0, np.int64), np.zeros((0, 2))).shape == (0, 2)


def test_hysteresis() -> None:
    assert latched(np.array([5.0, 1, 3, 3, 5, 3, np.nan, 3, 1]), 2, 4).tolist() == [
        False, True, True, True, False, False, False, False, True]  # fmt: skip


def test_noise_is_the_jitter() -> None:
    x = np.random.default_rng(0).normal(0, 0.002, (4000, 2))
    assert noise(x) == pytest.approx(0.002, rel=0.05)
    assert np.isnan(noise(x[:4]))


def test_stamps_are_known_or_not() -> None:
    t = np.arange(5, dtype=np.int64) * 10**9
    assert stamps(t, None, nominal=True) is None
    assert stamps(t, None, nominal=False) is t
    made = stamps(t, 50.0, nominal=True)
    assert made is not None
    assert made.tolist() == [0, 20_000_000, 40_000_000, 60_000_000, 80_000_000]


# -------------------------------------------------------------------------------------------------- contact


def test_force_contact() -> None:
    f = np.zeros((100, 3))
    f[:, 2] = 1.0
    f[40:60, 2] = 12.0
    f[80] = np.nan
    state = by_force(f)
    assert (state[40:60] == 1).all()
    assert (state[:40] == 0).all()
    assert state[80] == -1
    assert (by_force(np.full((5, 3), np.nan)) == -1).all()


def test_touch_contact() -> None:
    rng = np.random.default_rng(0)
    cells = rng.normal(100, 1, (300, 4))
    cells[100:150, 2] += 60
    state = by_touch(cells)
    assert (state[100:150] == 1).mean() > 0.95
    assert (state[:95] == 0).all()
    assert (by_touch(np.zeros((20, 3))) == -1).all()  # dead, or never touched


def test_gripper_contact() -> None:
    t = np.arange(120, dtype=np.int64) * 33_333_333
    drive = np.concatenate([np.ones(30), np.linspace(1, 0.4, 20), np.full(40, 0.4), np.linspace(0.4, 1, 30)])
    state = by_gripper(t, drive, closed=0.0, opened=1.0)
    assert (state[:29] == 0).all()
    assert (state[54:89] == 1).all()
    assert state[40] == -1
    assert state[-1] == 0
    empty = np.concatenate([np.ones(30), np.linspace(1, 0, 20), np.zeros(70)])
    assert not (by_gripper(t, empty, 0.0, 1.0) == 1).any()


def test_distance_contact() -> None:
    t = np.arange(90, dtype=np.int64) * 33_333_333
    hand = np.zeros((90, 3))
    hand[30:, 0] = np.linspace(0, 1, 60)
    thing = np.full((90, 3), [0.1, 0.0, 0.0])
    thing[30:, 0] = 0.1 + np.linspace(0, 1, 60)  # carried from 30 on
    state = by_distance(t, hand, thing)
    assert (state[35:] == 1).all()
    assert (state[:29] == -1).all()
    assert (by_distance(t, hand, thing + np.array([0.0, 2.0, 0.0])) == 0).all()


def test_contact_of_an_episode() -> None:
    ep = replace(teleop(), meta={"gripper/closed": 0.0, "gripper/open": 1.0})
    assert Features(ep, plugs.features()).get("contact") == ()
