"""The feature `segments`: absent signals stay unknown, the data's rate changes nothing, real clips."""

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.motion_clips import clips

from assay import plugs
from assay.feature import Features
from assay.features.segments import Segments
from assay.model import Channel, Episode, Role, Span, Stream
from assay.signals.activity import BOTH, IDLE, LABELS, LOCOMOTION, MANIPULATION, NOT_KNOWN
from assay.synth.episodes import edit, teleop
from assay.synth.reaches import hanging
from assay.synth.squats import squats

LABELS_BY_EYE = Path(__file__).parent / "labels"


def segments(ep: Episode) -> Segments:
    found = Features(ep, plugs.features()).get("segments")
    assert isinstance(found, Segments)
    return found


# ------------------------------------------------------------------------------------------- synthetic clips


def test_a_body_that_is_carried_along_goes_somewhere() -> None:
    assert segments(squats(travel=0.6)).share(LOCOMOTION, BOTH) == 1.0
    assert segments(squats()).share(LOCOMOTION, BOTH) == 0.0


@pytest.mark.parametrize("rate", [25, 50, 60, 120, 500])
@pytest.mark.parametrize("travel", [0.0, 0.6])
def test_the_rate_of_the_data_changes_nothing(rate: int, travel: float) -> None:
    usual, other = segments(squats(travel=travel)), segments(jittered(squats(rate=rate, travel=travel)))
    near = np.abs(usual.t[None] - other.t[:, None]).argmin(axis=1)
    assert (usual.label[near] == other.label).mean() > 0.97
    for label in range(len(LABELS)):
        assert usual.share(label) == pytest.approx(other.share(label), abs=0.03)


def jittered(ep: Episode, size: float = 3e-4) -> Episode:
    """0.3 mm on the base, 0.3 mrad on the joints."""
    rng = np.random.default_rng(1)
    for stream in ep.streams:
        x = np.array(stream.x)
        x[:, : 3 if stream.role is Role.BASE_POSE else None] += rng.normal(0, size, x.shape)[
            :, : 3 if stream.role is Role.BASE_POSE else None
        ]
        ep = ep.with_stream(replace(stream, x=x))
    return ep


def test_without_a_base_moving_legs_may_be_walking() -> None:
    found = segments(squats().without_stream("root"))
    assert found.share(NOT_KNOWN) > 0.5
    assert found.share(LOCOMOTION, BOTH) == 0.0
    assert found.unknown["locomotion"] == "no base pose"


def test_an_upper_body_is_told_without_its_legs() -> None:
    found = segments(teleop())
    assert found.share(MANIPULATION) > 0.9
    assert (found.locomotion == -1).all()
    assert found.unknown["locomotion"] == "no base pose"


def test_arms_that_stand_still_are_idle() -> None:
    still = edit(teleop(), "observation.state", lambda x, _: np.repeat(x[:1], len(x), axis=0))
    assert segments(still).share(IDLE) == 1.0


def test_without_a_rate_nothing_is_known() -> None:
    ep = squats()
    for stream in ep.streams:
        ep = ep.with_stream(replace(stream, rate=None))
    found = segments(ep)
    assert found.share(NOT_KNOWN) == 1.0
    assert "no rate" in found.unknown["locomotion"]


def test_a_clock_that_starts_in_1970_costs_nothing() -> None:
    ep = squats()
    for stream in ep.streams:
        t = stream.t.copy()
        t[20:] += 1_700_000_000 * 10**9
        ep = ep.with_stream(replace(stream, t=t))
    found = segments(ep)
    assert found.share(NOT_KNOWN) == 1.0
    assert "19,676 days" in found.unknown["locomotion"]


def test_undeclared_axes_are_no_ground_and_an_undeclared_quaternion_hides_turns() -> None:
    root = squats(travel=0.6).stream("root")
    assert root is not None
    axes = segments(squats(travel=0.6).with_stream(replace(root, frame="unresolved-axes")))
    assert axes.share(LOCOMOTION, BOTH) == 0.0
    assert "axes" in axes.unknown["locomotion"]
    still = squats().stream("root")
    assert still is not None
    turns = segments(squats().with_stream(replace(still, frame="unresolved-quaternion")))
    assert (turns.locomotion == -1).all()
    assert segments(squats(travel=0.6).with_stream(replace(root, frame="unresolved-quaternion"))).share(
        LOCOMOTION, BOTH) == 1.0  # fmt: skip


def test_a_hole_is_unknown_and_the_rest_is_told() -> None:
    def hole(x: np.ndarray, _: tuple[str, ...]) -> np.ndarray:
        x[60:90] = np.nan
        return x

    found = segments(edit(squats(travel=0.6), "root", hole))
    assert (found.label[60:90] == NOT_KNOWN).all()
    assert (found.label[:40] != NOT_KNOWN).all()


def test_no_body_no_joints_nothing() -> None:
    assert Features(replace(squats(), streams=()), plugs.features()).get("segments") is None
    found = segments(replace(squats(travel=0.6), embodiment=None))
    assert found.share(NOT_KNOWN) == 1.0
    assert (found.locomotion == 1).all()
    assert "no body" in found.unknown["manipulation"]


def test_declared_spans_stand_above_what_is_inferred() -> None:
    said = Span("locomotion", 1_000_000_000, 2_000_000_000, "declared")
    found = segments(replace(squats(), spans=(said,)))
    assert (found.label[(found.t >= said.t0) & (found.t < said.t1)] == LOCOMOTION).all()
    assert [s for s in found.spans if s.known == "declared"] == [said]
    assert segments(replace(squats(), spans=(replace(said, label="pouring"),))).share(LOCOMOTION) == 0.0


def test_spans_cover_every_frame_once() -> None:
    found = segments(squats(travel=0.6))
    assert found.spans[0].t0 == found.t[0]
    assert found.spans[-1].t1 == found.t[-1]
    assert all(a.t1 == b.t0 for a, b in zip(found.spans[:-1], found.spans[1:], strict=True))


def test_a_moving_object_is_handled() -> None:
    ep = squats()
    root = ep.stream("root")
    assert root is not None
    x = np.array(root.x)
    x[:, 0] += np.linspace(0.0, 2.0, len(x))
    found = segments(
        ep.with_stream(Stream("box", Role.OBJECT_POSE, root.t, x, root.channels, rate=root.rate))
    )
    assert found.share(MANIPULATION) == 1.0
    touch = Stream(
        "contact", Role.EVENT, root.t, np.ones((len(x), 1)), (Channel("left_hand.contact"),), rate=root.rate
    )
    assert segments(ep.with_stream(touch)).share(MANIPULATION) == 1.0
    floor = replace(touch, channels=(Channel("left_foot.contact"),))
    assert segments(ep.with_stream(floor)).share(MANIPULATION) == segments(ep).share(MANIPULATION)


def test_sensitivity_is_a_share_of_frames() -> None:
    found = segments(teleop())
    assert all(0.0 <= s <= 1.0 for s in found.sensitivity)
    assert segments(squats(travel=0.22)).sensitivity[1] > 0.5  # near its threshold


# ------------------------------------------------------------------------------------------------ real clips

WORK = (MANIPULATION, BOTH)
EXPECTED = {
    "kimodo": {"output_walk": ((LOCOMOTION,), 0.8)},
    "holosoma": {"": (WORK, 0.7)},
    "omomo": {"": (WORK, 0.7)},
}


@pytest.mark.real
@pytest.mark.parametrize("corpus", EXPECTED)
def test_clips_are_what_they_are(real_data: Path, corpus: str) -> None:
    seen = 0
    for _, ep in clips(real_data, corpus):
        for name, (labels, least) in EXPECTED[corpus].items():
            if name in ep.id:
                assert segments(ep).share(*labels) >= least, ep.id
                seen += 1
    assert seen


@pytest.mark.real
@pytest.mark.parametrize("corpus", ["g1teleop", "g1video", "gr1"])
def test_teleoperation_is_manipulation(real_data: Path, corpus: str) -> None:
    """Over a set; a single episode may pause for a third of its time."""
    found = [segments(ep) for _, ep in clips(real_data, corpus)]
    frames = sum(len(s.t) for s in found)
    assert sum(s.share(*WORK) * len(s.t) for s in found) / frames >= 0.7
    assert min(s.share(*WORK) for s in found) >= 0.6
    assert all(s.unknown["locomotion"] == "no base pose" for s in found)


@pytest.mark.real
def test_asaps_walk_is_locomotion_while_it_walks(real_data: Path) -> None:
    """It stands for more than half of its 4.7 s, which is no locomotion."""
    ep = next(ep for _, ep in clips(real_data, "asap") if "walk" in ep.id)
    found, root = segments(ep), ep.by_role(Role.BASE_POSE)[0]
    pace = np.linalg.norm(np.gradient(np.asarray(root.x)[:, :2], 1 / 30, axis=0), axis=1)
    assert (found.label[pace > 0.2] == LOCOMOTION).mean() >= 0.8
    assert 0.4 < found.share(LOCOMOTION) < 0.6


@pytest.mark.real
def test_bodies_told_from_the_pelvis_do_not_say_whether_they_walk(real_data: Path) -> None:
    for _, ep in clips(real_data, "smpl"):
        found = segments(ep)
        assert "pelvis" in found.unknown["locomotion"]
        assert found.share(LOCOMOTION, BOTH) == 0.0


def agreement(data: Path, file: str) -> Iterator[tuple[str, int, int, int]]:
    """(label, frames that agree, that differ, that are left unknown) of each labelled span."""
    labelled = tomllib.loads((LABELS_BY_EYE / file).read_text("utf-8"))["clip"]
    spans = {(c["corpus"], c["episode"]): c["spans"] for c in labelled}
    for corpus, ep in clips(data, *sorted({c["corpus"] for c in labelled})):
        for start, end, label in spans.get((corpus, ep.id), ()):
            found = segments(ep)
            seconds = (found.t - found.t[0]) * 1e-9
            got = found.label[(seconds >= start) & (seconds < end)]
            same, unknown = int((got == LABELS.index(label)).sum()), int((got == NOT_KNOWN).sum())
            yield label, same, len(got) - same - unknown, unknown


@pytest.mark.real
@pytest.mark.parametrize("file", ["segments.toml", "independent.toml"])
def test_agreement_with_spans_labelled_by_eye(real_data: Path, file: str) -> None:
    """Who labelled is said in the file. Unknown where the data cannot say is no disagreement."""
    rows = list(agreement(real_data, file))
    same, other, unknown = (sum(r[i] for r in rows) for i in (1, 2, 3))
    told = f"{same} agree, {other} differ, {unknown} unknown"
    assert same / (same + other) >= 0.92, told
    walked_in_place = 1300  # smpl/walk_forward, whose pelvis is the origin
    assert unknown - walked_in_place <= 0.08 * (same + other), told


def test_a_gate_on_hands_looks_where_the_human_works_though_the_robot_hangs_still() -> None:
    found = segments(hanging())
    assert (found.manipulation == 0).all()
    assert (found.handled == 1).mean() > 0.9


def test_declared_spans_and_a_robot_alone_are_handled_as_they_are_labelled() -> None:
    for ep in (teleop(), squats()):
        found = segments(ep)
        assert (found.handled == found.manipulation).all()
    spans = (Span(LABELS[IDLE], 0, 6_000_000_000, "declared"),)
    assert (segments(replace(hanging(), spans=spans)).handled == 0).all()
