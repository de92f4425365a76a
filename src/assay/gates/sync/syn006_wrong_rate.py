"""SYN006 wrong-rate: a stream does not run at the rate that it declares.

What: For each clock, the slope of its stamps against the declared rate; for each camera, the rate at which
its pictures really show something new; for each measured velocity, the rate at which the motion really ran.

Why: A camera that runs at 15 Hz under a declared 30 shows every second picture twice: the policy learns
that nothing moves in half of the steps, and every lag is off. Stamps 0.2 % fast are a picture apart after
17 s.

Method: Stamps: least squares of t against the number of periods, with its standard error; steps are rounded
to whole periods where they last (medians of five), and stretches between holes fitted apart, so that neither
a gap nor a late stamp counts. On a nominal clock agreement proves nothing and the gate abstains. 29.97 stands
for 30000/1001, exactly; a rate of a broadcast pair (29.97 and 30) is 0.1 % from its sibling, where the limit
cannot tell them apart, so that stamps which lie within 5 % of that distance of the sibling are held to be the
sibling's. Pictures: a transition is new if it carries at least 0.2 of the change from h pictures before it to
h after it, h = 1 to 3; only where something moves can that be told. If the usual gap between new pictures is
two or more and 60 % of the gaps agree, the rate is the declared one over that gap. Else the share of new
pictures is the rate, if nearly all are new, or if joints move and the repeats come like clockwork; repeats
that come irregularly may be pauses of the scene, and the gate abstains. Velocity: see `assay.signals.pace`;
the median over the joints of the least-squares slope of the way made by the positions against the way that
the measured velocity makes by the stamps, over windows of 0.3 s. It tells regular stamps that were written by
count from a loop that ran at another rate.

Source: Own measurement on real files. G1 head camera, declared 30: 15.0 Hz in 27 of 27 episodes and after
four re-encodings; GR1 in simulation, declared 20: 20.0 in 5 of 5; hand video, declared 30: 29.2; a Franka
wrist camera with scripted pauses: usual gap one, 57 to 71 % new, not judged slow. Repeats planted in these
videos at 6.7 to 18 Hz of 20 are measured within 0.7 Hz. Velocity: FAULTS D01 (50 Hz stamped as 30, every
tool reported success).

Blind spots: A scene that hardly moves. A camera that repeats one picture in ten or fewer (up to one in
six, a clip of ten seconds often does not decide). A recorder that
drops pictures and does not repeat them (SYN004, SYN007). Velocities that were made from the positions and
stamps agree with them whatever the rate was.

Dose: real over declared rate of a camera, 0.33 to 1; error of the stamps, 0.05 to 1 %; real over stamped rate
of the motion, 0.8 to 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.features.freshness import Freshness
from assay.features.pairs import Pair
from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.media import Container
from assay.model import Channel, Clock, Episode, Role, Stream
from assay.signals.cadence import cadence
from assay.signals.clocks import HOLE, exact, lost_periods, sibling
from assay.signals.intervals import span
from assay.signals.pace import pace
from assay.signals.pictures import Pictures
from assay.synth import retime, teleop
from assay.synth.episodes import ARM_NAMES
from assay.synth.pictures import container, film

_CAMERA = "observation.images.cam_0"
_REAL = Clock.SENSOR
_SPEED = ("rad/s", "rad")  # of a velocity and its position


@dataclass(frozen=True, slots=True)
class Params:
    """Limits and what must be seen before pictures are judged."""

    limit: float = param(
        1e-3, "1", "0.1 % is a picture of 30 Hz after 33 s; crystals are 20 times better", judged=True
    )
    sibling: float = param(
        0.95, "1", "of the way from 29.97 to 30 (or back): what is this close to 30 is 30", judged=True
    )
    pictures: float = param(
        0.9, "1", "share of the declared rate; untouched cameras that work reach 0.97 to 1", judged=True
    )
    decided: float = param(30.0, "1", "transitions amid motion; fewer leave the share uncertain by a tenth")
    agree: float = param(0.6, "1", "G1: 86 to 96 % of the gaps are two; pauses of a scene never agree so")
    clockwork: float = param(0.6, "1", "dispersion: re-sampled cameras 0 to 0.55, pauses 0.4 to 3")
    moving: float = param(0.05, "rad/s", "slower arms may pause between two pictures")
    velocity: float = param(
        0.05,
        "1",
        "drives filter and scale their velocity by a few per cent; loops miss by 20 % to 100 %",
        judged=True,
    )
    fit: float = param(0.8, "1", "less of the way explained: not the velocity of this joint, or too noisy")
    unlike: float = param(5.0, "1", "no recorder is out by this factor; degrees for radians are 57")


def _stamps(share: float, clock: Clock) -> Episode:
    slow = teleop(20.0, clock=clock, cameras=0)
    for name in ("observation.state", "action"):
        slow = retime(slow, name, lambda t: np.rint(t * (1 + share)).astype(np.int64))
    return slow


def _declared(hundredths: int, runs: float) -> Episode:
    """20 s at a rate of ``runs`` Hz by a real clock, declared in hundredths of one."""
    ep = _stamps(30.0 / runs - 1, _REAL)
    streams = (replace(s, rate=Fraction(hundredths, 100)) for s in ep.streams)
    return replace(ep, streams=tuple(streams))


def _one_late() -> Episode:
    """One stamp is half a period late, and the next one hardly: no period was lost."""
    ep = _stamps(0.0, Clock.SENSOR)
    for name in ("observation.state", "action"):
        ep = retime(ep, name, lambda t: t + np.rint(_HALF_LATE * 1e9 / 30).astype(np.int64))
    return ep


_HALF_LATE = np.where(np.arange(600) == 300, 0.505, np.where(np.arange(600) == 301, 0.01, 0.0))


def _holed(seconds: float) -> Episode:
    ep = teleop(20.0, clock=_REAL, cameras=0)
    for name in ("observation.state", "action"):
        ep = retime(ep, name, lambda t: t + round(seconds * 1e9) * (np.arange(len(t)) >= 250))
    return ep


def _shown(order: NDArray[np.intp], noise: float = 0.05) -> dict[str, object]:
    n = len(order)
    return {"containers": {_CAMERA: container(n)}, "pictures": {_CAMERA: film(n, order=order, noise=noise)}}


def _held(share: float) -> NDArray[np.intp]:
    """A camera at ``share`` of 30 Hz whose last picture is repeated until there is a new one."""
    new = np.floor(np.arange(300) * share + 1e-9)
    return np.asarray(np.ceil(new / share - 1e-9), np.intp)


def _ran(rate: float, clock: Clock = Clock.NOMINAL, *, moves: float = 1.0) -> Episode:
    """Twenty seconds that ran at ``rate`` Hz, stamped as 30 Hz, with the velocities that were measured."""
    ep = teleop(20.0, clock=clock, cameras=0)
    state = ep.streams[0]
    x = state.x * moves
    arms = len(ARM_NAMES)
    v = np.gradient(x[:, :arms], axis=0) * rate
    channels = tuple(Channel(f"{n}.vel", "rad/s", Role.JOINT_VELOCITY) for n in ARM_NAMES)
    velocity = Stream("observation.velocity", Role.JOINT_VELOCITY, state.t, v, channels, clock, state.rate)
    return ep.with_stream(replace(state, x=x)).with_stream(velocity)


_NONE: Mapping[str, object] = {"containers": {}, "pictures": {}}
CASES = (
    Case("stamps at the declared rate", lambda: _stamps(0.0, _REAL), "pass", features=lambda: _NONE),
    Case("one stamp half a period late", _one_late, "pass", features=lambda: _NONE),
    Case("stamps 0.08 % fast", lambda: _stamps(-0.0008, _REAL), "pass", features=lambda: _NONE),
    Case(
        "stamps 0.12 % fast", lambda: _stamps(-0.0012, _REAL), "fail", channel="stamps",
        features=lambda: _NONE,
    ),
    Case(
        "stamps 0.2 % slow on a nominal clock", lambda: _stamps(0.002, Clock.NOMINAL), "fail",
        channel="stamps", features=lambda: _NONE,
    ),
    Case("declared 29.97, runs at 30", lambda: _declared(2997, 30.0), "fail", channel="sibling",
         features=lambda: _NONE),
    Case("declared 30, runs at 29.97", lambda: _declared(3000, 30e3 / 1001), "fail", channel="sibling",
         features=lambda: _NONE),
    Case("declared 29.97, runs at 30000/1001", lambda: _declared(2997, 30e3 / 1001), "pass",
         features=lambda: _NONE),
    Case("1.02 s lost, at any phase", lambda: _holed(1.02), "pass", features=lambda: _NONE),
    Case(
        "a nominal clock that agrees", lambda: _stamps(0.0, Clock.NOMINAL), "abstain", reason="nominal-clock",
        features=lambda: _NONE,
    ),
    Case(
        "ran at 50 Hz, stamped as 30 Hz by count", lambda: _ran(50.0), "fail", at=(0.0, 20.0),
        channel="velocity", features=lambda: _NONE,
    ),
    Case(
        "ran at 33 Hz, stamped as 30 Hz", lambda: _ran(33.0, _REAL), "fail", channel="velocity",
        features=lambda: _NONE,
    ),
    Case("ran at 31 Hz, stamped as 30 Hz", lambda: _ran(31.0, _REAL), "pass", features=lambda: _NONE),
    Case("ran at 30 Hz", lambda: _ran(30.0, _REAL), "pass", features=lambda: _NONE),
    Case(
        "a velocity, and nothing moves", lambda: _ran(50.0, _REAL, moves=0.0), "abstain", reason="still",
        features=lambda: _NONE,
    ),
    Case(
        "a camera that works", lambda: teleop(clock=_REAL), "pass", features=lambda: _shown(np.arange(300)),
    ),
    Case(
        "28.5 Hz of 30", lambda: teleop(clock=_REAL), "pass", features=lambda: _shown(_held(0.95)),
    ),
    Case(
        "every second picture repeated", lambda: teleop(clock=_REAL), "fail", at=(0.0, 10.0),
        channel="pictures", features=lambda: _shown(np.arange(300) // 2 * 2),
    ),
    Case(
        "24 Hz of 30", lambda: teleop(clock=_REAL), "fail", channel="pictures",
        features=lambda: _shown(_held(0.8)),
    ),
    Case(
        "a still scene", lambda: teleop(clock=_REAL), "abstain", reason="still",
        features=lambda: _shown(np.zeros(300, np.intp), noise=0.3),
    ),
    Case(
        "not decoded", lambda: teleop(clock=_REAL), "abstain", reason="not-decoded",
        features=lambda: {"containers": {_CAMERA: container(300)}, "pictures": None},
    ),
    Case(
        "a declared camera that is not there", lambda: teleop(clock=_REAL).without_stream(_CAMERA), "abstain",
        reason="absent-stream", features=lambda: _NONE,
    ),
)  # fmt: skip


@gate(
    code="SYN006", name="wrong-rate",
    reads=[Role.CAMERA, Role.JOINT_POSITION, Role.REQUEST, Role.JOINT_VELOCITY],
)  # fmt: skip
def wrong_rate(
    ep: Episode,
    p: Params,
    containers: Mapping[str, Container | UnreadableError],
    pictures: Mapping[str, Pictures] | None,
    freshness: Mapping[str, Freshness],
    pairs: Sequence[Pair],
) -> Iterator[Outcome]:
    """Measure every clock's slope, every velocity's and every camera's real rate."""
    for stream in _clocks(ep):
        yield from _slope(stream.t, stream, "stamps", p)
    yield from (_velocity(pair, p) for pair in pairs if pair.role is Role.JOINT_VELOCITY)
    for declared in ep.missing(Role.CAMERA, Role.JOINT_VELOCITY):
        yield Abstain("absent-stream", "declared, not delivered", declared.name)
    for camera in ep.by_role(Role.CAMERA):
        found = containers.get(camera.name)
        if not isinstance(found, Container):
            reason = "unreadable" if found else "not-decoded"
            yield Abstain(reason, str(found or "no video file"), camera.name)
            continue
        inside = _slope(found.t, camera, "container", p)
        yield from (o for o in inside if isinstance(o, Evidence))  # nominal agreement was said above
        yield _pictures(camera, freshness.get(camera.name), pictures is None, p)


def _clocks(ep: Episode) -> list[Stream]:
    """One stream of each series of stamps: rows of a table share theirs."""
    distinct: list[Stream] = []
    for stream in ep.streams:
        if len(stream) and not any(np.array_equal(stream.t, other.t) for other in distinct):
            distinct.append(stream)
    return distinct


def _slope(t: NDArray[np.int64], stream: Stream, channel: str, p: Params) -> Iterator[Outcome]:
    nominal = channel == "container" or stream.clock is Clock.NOMINAL
    if not stream.rate or len(t) < 3:
        reason, detail = (
            ("too-short", f"{len(t)} stamps") if stream.rate else ("not-declared", "no rate is declared")
        )
        yield Abstain(reason, detail, stream.name, channel)
        return
    rate = float(exact(stream.rate))
    error, u = _slope_error(t, rate)
    other = sibling(stream.rate)
    way = error / (rate / float(other) - 1) if other else 0.0  # 1: the stamps run at the sibling's rate
    if nominal and not (abs(error) - 2 * u > p.limit or abs(way - 1) < 1 - p.sibling):
        yield Abstain("nominal-clock", "the stamps are made from the declared rate", stream.name, channel)
        return
    whole = Evidence.single(
        abs(error), int(t[0]), int(t[-1]), unit="1", limit=p.limit, u=u, stream=stream.name, channel=channel,
        note=f"stamps run at {rate / max(1 + error, 1e-9):.4g} Hz, declared {rate:.4g} Hz",
    )  # fmt: skip
    if other and abs(way - 1) < 1 - p.sibling and u < (1 - p.sibling) / 2 * abs(rate / float(other) - 1):
        own = replace(whole, value=np.array([way]), u=0.0, limit=p.sibling, limit_key="sibling")
        yield replace(
            own, channel="sibling", note=f"stamps run at {other} Hz, declared {exact(stream.rate)} Hz"
        )
    else:
        yield whole


def _slope_error(t: NDArray[np.int64], rate: float) -> tuple[float, float]:
    """Relative error of the stamps' period, and its standard error."""
    x = (t - t[0]) * 1e-9 * rate
    k, stretch = np.arange(len(x), dtype=np.float64), np.zeros(len(x), np.intp)
    lost = lost_periods(x)
    k[1:] += np.cumsum(lost)
    # Behind a hole (SYN004's) a stream goes on at any phase: each stretch has a beginning of its own.
    stretch[1:] = np.cumsum(lost >= HOLE)
    centred, drift = _about_mean(k, stretch), _about_mean(x - k, stretch)
    power = max(_dot(centred, centred), 1e-12)
    slope = _dot(centred, drift) / power
    rest = drift - slope * centred
    return slope, float(np.sqrt(_dot(rest, rest) / max(len(t) - 2 - stretch[-1], 1) / power))


def _dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The products summed, without the threads that ``@`` starts: they cost more than the sum."""
    return float(np.einsum("i,i", a, b))


def _about_mean(x: NDArray[np.float64], stretch: NDArray[np.intp]) -> NDArray[np.float64]:
    """(n,) x less the mean of its stretch."""
    return np.asarray(x - (np.bincount(stretch, x) / np.bincount(stretch))[stretch])


def _velocity(pair: Pair, p: Params) -> Outcome:
    """The way made by the positions over the way that the velocities make by the stamps, less one."""
    known = [i for i, units in enumerate(zip(pair.unit, pair.state_unit, strict=True)) if units == _SPEED]
    reason, detail = "", ""
    if not known:
        reason, detail = "unresolved-unit", "velocity or position in no known unit"
    elif not pair.one_clock:
        reason, detail = "no-reference", f"not stamped as {pair.state}"
    found = None if reason else pace(pair.t, pair.s[:, known], pair.a[:, known], p.moving, p.fit)
    if found is None:
        return Abstain(reason or "too-short", detail or f"{len(pair.t)} rows", pair.stream, "velocity")
    if not found.joints:
        reason = "reference-noisy" if found.moving else "still"
        return Abstain(reason, f"{found.moving} joints move by both", pair.stream, "velocity")
    if not 1 / p.unlike < found.ratio < p.unlike:
        detail = f"positions make {found.ratio:.3g} of the velocity's way: another unit"
        return Abstain("unresolved-unit", detail, pair.stream, "velocity")
    rate = pair.rate or 1e9 / float(np.median(np.diff(pair.t)))
    return Evidence.single(
        abs(found.ratio - 1), *span(pair.t), unit="1", limit=p.velocity, limit_key="velocity", u=found.u,
        stream=pair.stream, against=pair.state, channel="velocity",
        note=f"the motion ran at {rate / found.ratio:.3g} Hz, stamped as {rate:.4g} Hz",
    )  # fmt: skip


def _pictures(camera: Stream, seen: Freshness | None, off: bool, p: Params) -> Outcome:
    if seen is None or not camera.rate:
        reason = "not-decoded" if off else "unreadable" if seen is None else "not-declared"
        return Abstain(reason, stream=camera.name, channel="pictures")
    if seen.told.decided < p.decided:
        return Abstain("still", f"{seen.told.decided} transitions amid motion", camera.name, "pictures")
    share, u = _real_share(seen, p)
    if not np.isfinite(share):
        detail = f"{seen.told.fresh:.0%} of the pictures are new: a slower camera, or a scene that pauses"
        return Abstain("still", detail, camera.name, "pictures")
    rate = float(camera.rate)
    return Evidence.single(
        share, *span(camera.t), unit="1", limit=p.pictures, limit_key="pictures", u=u, sense="below",
        stream=camera.name, channel="pictures", note=f"really {share * rate:.1f} Hz, declared {rate:.4g} Hz",
    )  # fmt: skip


def _real_share(seen: Freshness, p: Params) -> tuple[float, float]:
    """Real over declared rate and its standard error; NaN where repeats may be pauses."""
    told = seen.told
    if told.gap >= 2 and told.agree >= p.agree:
        return 1 / told.gap, min(told.u, 0.1 / told.gap)
    if told.fresh - 2 * told.u > p.pictures:
        return told.fresh, told.u
    amid = cadence(seen.fresh, seen.moving > p.moving)
    if amid.decided >= p.decided and amid.dispersion < p.clockwork:
        return amid.fresh, amid.u
    return np.nan, np.nan
