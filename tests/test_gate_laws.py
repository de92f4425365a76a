"""Laws that hold for every gate: absence and NaN never pass; what says nothing changes nothing."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import plugs
from assay.examine import examine
from assay.feature import Features
from assay.gate import Case, Gate
from assay.judge import Judgement
from assay.model import Clock, Episode, Role, Stream
from assay.synth.episodes import teleop


def looks_at_pictures(gate: Gate) -> bool:
    """Whether a gate needs a picture file, which these episodes do not have."""
    todo, known = list(gate.needs), plugs.features()
    while todo:
        name = todo.pop()
        if name not in known or known[name].pixels or "containers" in name:
            return True
        todo += known[name].needs
    return False


def roles(gate: Gate) -> set[Role]:
    """Every role that a gate looks at, itself or through its features."""
    found, todo, known = set(gate.reads), list(gate.needs), plugs.features()
    while todo:
        feature = known[todo.pop()]
        found |= feature.reads
        todo += feature.needs
    return found


GATES = [g for g in plugs.gates().values() if not looks_at_pictures(g)]
PLANTED = [
    (g, c)
    for g in GATES
    for c in g.cases
    if c.expect in ("pass", "fail") and c.listing is None and c.features is None and not c.models
]
each_gate = pytest.mark.parametrize("gate", GATES, ids=lambda g: g.code)
each_case = pytest.mark.parametrize(("gate", "case"), PLANTED, ids=[f"{g.code}-{c.name}" for g, c in PLANTED])


def judged(gate: Gate, ep: Episode) -> Judgement:
    """The gate's judgement, which must never be our own fault."""
    found = examine(gate, Features(ep, plugs.features()), gate.params(), ep.id)
    assert found.verdict.status != "error", found.verdict.detail
    return found


def status(gate: Gate, ep: Episode) -> str:
    return judged(gate, ep).verdict.status


@cache
def clean(clock: Clock) -> Episode:
    """A clean teleoperated episode with numbers only."""
    return teleop(clock=clock, cameras=0)


def change(ep: Episode, edit: Callable[[Stream], Stream]) -> Episode:
    """Every numeric stream edited."""
    for stream in ep.streams:
        if stream.x.size:
            ep = ep.with_stream(edit(stream))
    return ep


@cache
def built(code: str, name: str) -> Episode:
    """The episode of a gate's case (the first of several)."""
    case: Case = next(c for c in plugs.gates()[code].cases if c.name == name)
    ep = case.episode()
    return ep if isinstance(ep, Episode) else ep[0]


# ------------------------------------------------------------------------------------- absence and NaN


@each_gate
@pytest.mark.parametrize("clock", [Clock.NOMINAL, Clock.SENSOR])
@pytest.mark.parametrize("name", ["observation.state", "action"])
def test_an_absent_stream_never_passes(gate: Gate, clock: Clock, name: str) -> None:
    stream = clean(clock).stream(name)
    assert stream is not None
    if stream.role in roles(gate):
        assert status(gate, clean(clock).without_stream(name)) in ("abstain", "fail")


@each_gate
@pytest.mark.parametrize("clock", [Clock.NOMINAL, Clock.SENSOR])
def test_nothing_at_all_never_passes(gate: Gate, clock: Clock) -> None:
    # Also where no metadata says what should be there.
    empty = replace(clean(clock), streams=(), declared=())
    assert status(gate, empty) in ("abstain", "fail")


@each_gate
@pytest.mark.parametrize("declared", [True, False])
def test_removing_a_stream_never_makes_it_inapplicable(gate: Gate, *, declared: bool) -> None:
    for stream in clean(Clock.SENSOR).streams:
        ep = clean(Clock.SENSOR).without_stream(stream.name)
        assert status(gate, ep if declared else replace(ep, declared=())) != "n/a"


@each_gate
@settings(max_examples=12)
@given(st.data())
def test_nan_never_passes(gate: Gate, data: st.DataObject) -> None:
    stream = data.draw(st.sampled_from(clean(Clock.SENSOR).streams))
    if stream.role not in roles(gate):
        return
    everything = change(clean(Clock.SENSOR), lambda s: replace(s, x=np.full_like(s.x, np.nan)))
    if status(gate, everything) == "pass":
        assert set(gate.needs) <= {"ticks", "held"}, (
            "only a gate of stamps may pass on values that are not there"
        )
        return
    x = np.array(stream.x)
    column = data.draw(st.integers(0, 13))  # an arm joint
    first = data.draw(st.integers(0, len(x) - 1))
    x[first:, column] = np.nan
    whole = np.array(stream.x)
    whole[:, column] = np.nan
    holed = status(gate, clean(Clock.SENSOR).with_stream(replace(stream, x=whole)))
    if status(gate, clean(Clock.SENSOR)) == "pass" and gate.code not in ALREADY_DECIDED:
        assert holed in ("abstain", "fail")


ALREADY_DECIDED = {"CHN010", "SYN008"}
"""Gates that one moving channel satisfies, whatever the others do."""


# ------------------------------------------------------------------------------------- what says nothing


@each_case
def test_a_shift_of_all_clocks_changes_nothing(gate: Gate, case: Case) -> None:
    ep = built(gate.code, case.name)
    shift = 3_600_000_000_000  # an hour; calendar time stays calendar time
    moved = ep
    for stream in ep.streams:
        moved = moved.with_stream(replace(stream, t=stream.t + shift))
    before, after = judged(gate, ep), judged(gate, moved)
    assert before.verdict.status == after.verdict.status
    assert [(f.channel, f.t0 + shift, f.t1 + shift) for f in before.findings] == [
        (f.channel, f.t0, f.t1) for f in after.findings
    ]


@each_case
def test_the_order_of_channels_changes_nothing(gate: Gate, case: Case) -> None:
    ep = built(gate.code, case.name)

    def permuted(stream: Stream) -> Stream:
        if len(stream.channels) != stream.x.shape[1] or stream.role is Role.BASE_POSE:
            return stream  # a pose is a vector: its order is its meaning
        order = np.random.default_rng(len(stream.name)).permutation(len(stream.channels))
        return replace(stream, x=stream.x[:, order], channels=tuple(stream.channels[i] for i in order))

    if ep.statistics:
        return  # statistics are stored in the order of the channels
    before, after = judged(gate, ep), judged(gate, change(ep, permuted))
    assert before.verdict.status == after.verdict.status
    assert before.verdict.worst == pytest.approx(after.verdict.worst, nan_ok=True)


@each_case
def test_inputs_are_not_written(gate: Gate, case: Case) -> None:
    def frozen(stream: Stream) -> Stream:
        x, t = np.array(stream.x), np.array(stream.t)
        x.flags.writeable = t.flags.writeable = False
        return replace(stream, x=x, t=t)

    ep = built(gate.code, case.name)
    locked = ep
    for stream in ep.streams:
        locked = locked.with_stream(frozen(stream))
    assert status(gate, locked) == status(gate, ep)


@each_case
def test_float32_is_enough(gate: Gate, case: Case) -> None:
    # Files hold float32; a verdict that hangs on the digits beyond would not survive writing the episode.
    if "1e-9" in case.name or "1e-6" in case.name or "one row differs" in case.name or "inished" in case.name:
        return
    with np.errstate(over="ignore"):
        single = change(built(gate.code, case.name), lambda s: replace(s, x=np.asarray(s.x, np.float32)))
    if gate.code == "INT003":  # what is no float32 (denormals, 1e224) reads as 0 or infinite
        return
    assert status(gate, single) == status(gate, built(gate.code, case.name))


# ---------------------------------------------------------------------------------------------- lead-in


WITHOUT_LEAD_IN = {"ACT001", "CHN010", "INT007", "INT009"}
"""Gates of one number per episode (a share, a range, equal columns), which a lead-in dilutes."""


@each_case
def test_a_clean_lead_in_removes_no_finding(gate: Gate, case: Case) -> None:
    ep = built(gate.code, case.name)
    if case.expect != "fail" or gate.code in WITHOUT_LEAD_IN or not ep.streams:
        return
    longer = replace(ep, streams=tuple(lead_in(s) for s in ep.streams))  # cameras too, or clocks part
    before, after = judged(gate, ep), judged(gate, longer)
    assert {(f.stream, f.channel) for f in before.findings} <= {(f.stream, f.channel) for f in after.findings}


def lead_in(stream: Stream) -> Stream:
    """The stream with half a second of its clean beginning mirrored in front."""
    n = 15
    if len(stream) <= n or len(stream.x) != len(stream):
        return stream
    head = clean(Clock.SENSOR).stream(stream.name)
    lead = np.asarray(head.x if head is not None and head.x.shape[1] == stream.x.shape[1] else stream.x)
    step = round(1e9 / float(stream.rate)) if stream.rate else int(np.median(np.diff(stream.t)))
    t, *further = (
        np.concatenate([s[0] + step * np.arange(-n, 0), s]) for s in (stream.t, *stream.stamps.values())
    )
    stamps = dict(zip(stream.stamps, further, strict=True))
    back = -1.0 if stream.role is Role.JOINT_VELOCITY else 1.0  # motion run backwards has them reversed
    x = np.concatenate([back * lead[n:0:-1], np.asarray(stream.x)])
    return replace(stream, t=t, x=x, stamps=stamps)


def test_laws_see_the_gates() -> None:
    # If the selection above went wrong, every law would hold of nothing.
    codes: Sequence[str] = [g.code for g in GATES]
    assert {"RTG001", "RTG008", "ACT001", "ACT005", "INT003", "SYN004", "SYN005"} <= set(codes)
