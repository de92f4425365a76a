"""Feature: for every stream beside the joints, whether their common time is measured, bounded or assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import link_poses
from assay.feature import feature
from assay.model import Clock, Episode, Kind, Role, Stream
from assay.signals.clocks import jitter
from assay.signals.offsets import BELIEVED, Offset, offsets_of, shortest_way, windows
from assay.signals.stamp_pair import undated, unrelated

__all__ = ["Timing", "timing"]

Settled = Literal["measured", "bounded", "assumed"]

_UNTIMED: Final = (Role.EVENT, Role.INSTRUCTION)
_JOINTS: Final = (Role.JOINT_POSITION, Role.EXECUTION, Role.REQUEST, Role.JOINT_VELOCITY)
_ALONE: Final = (Role.CAMERA, Role.DEPTH, Role.AUDIO, Role.IMU, Role.FORCE_TORQUE, Role.TACTILE)
"""Sensors of their own, whatever row they were written into."""
_EPOCH: Final = 10.0
"""Seconds between a stamp and its log, either way, beyond which the two clocks count from other dates."""
_OVER: Final = 0.1
"""Seconds over which a hand's speed is taken."""
_FAST: Final = 95.0
"""Per cent of the time in which the hand is slower than the speed that lags are multiplied by."""

_PROVE: Final = {
    "ptp": 'the log of the clock service: [evidence.NAME] kind = "ptp4l" in assay.toml',
    "trigger": 'the trigger counters: [evidence.NAME] kind = "trigger" in assay.toml',
    "clap": "a clap that both streams show, at both ends",
    "software": "stamps of the sensors beside those of the recorder, or a clap at both ends",
}
_CURES: Final = {
    "nominal-clock": "capture stamps, a clap at both ends, or pictures of moving arms",
    "no-reference": "a stamp of each sensor's own, or a clap at both ends",
    "not-declared": "the declared rate of both streams, or stamps of one more clock",
    "reference-noisy": "stamps of one more clock for both streams, or a clap at both ends",
    "too-short": "a longer episode, or a clap at both ends",
}


@dataclass(frozen=True, slots=True)
class Timing:
    """How one stream's time relates to another's, and on what that rests.

    Attributes:
        stream, against: names.
        settled: ``measured`` (to ``u``, by ``by``), ``bounded`` (by ``by``, as ``detail`` says), or
            ``assumed``: nothing was measured, ``detail`` says why and ``cure`` what would measure it.
        by: claps, trigger, content, stamps, log; empty where assumed.
        reference: ``absolute``, or ``deviation`` from the rig's median over the corpus.
        seconds: how late the stream is, at the worse end; u: its standard uncertainty; NaN where unknown.
        ppm, ppm_u: how much faster its clock runs; NaN where unknown.
        rate: Hz, by the usual step of its stamps; jitter: s, robust scatter of the steps; NaN on a clock that
            is made from the rate.
        hand_speed: m/s, 95th percentile of the quicker hand's; NaN where the body is not known.
        hand: m, the lag times that speed: how far a hand has moved on in a picture that is late.
    """

    stream: str
    against: str
    settled: Settled
    by: str = ""
    reference: str = ""
    seconds: float = float("nan")
    u: float = float("nan")
    ppm: float = float("nan")
    ppm_u: float = float("nan")
    rate: float = float("nan")
    jitter: float = float("nan")
    hand_speed: float = float("nan")
    hand: float = float("nan")
    detail: str = ""
    cure: str = ""


@feature(reads=tuple(role for role in Role if role not in _UNTIMED), version=5)
def timing(
    ep: Episode, ticks: Any, apart: Any, held: Any, claps: Any, outside: Any, content: Any, poses: Any
) -> tuple[Timing, ...]:
    """One row for every sensor but the reference, the first stream of joints; see `Timing`.

    What was seen in the world (claps, a common trigger, picture content) goes before what stamps say of
    themselves: those hold nothing of the way from an event to its stamp.
    """
    streams = [s for s in ep.streams if s.role not in _UNTIMED and len(s)]
    reference = next((s for s in streams if s.role in _JOINTS), streams[0] if streams else None)
    if reference is None:
        return ()
    speed, ep = _hand_speed(poses), _credible(ep, content)
    group = {name: g.stream for g in ticks for name in (g.stream, *g.others)}
    real = [g for g in ticks if g.clock is not Clock.NOMINAL and g.period]
    rhythm = {g.stream: {"rate": 1e9 / g.period, "jitter": jitter(g.step)} for g in real}
    clocks = {a.stream: a for a in apart if a.against == reference.name}
    waits = {group[n]: [h for h in held if h.stream == group[n]] for n in group}
    found = (*offsets_of(claps), *offsets_of(outside), *offsets_of(content))
    rows = []
    for stream, others in _sensors([s for s in streams if s is not reference], group):
        mine = _between(found, stream.name, reference.name)
        clock = clocks.get(group[stream.name])
        ways = [waits[group[s.name]] for s in (stream, reference)]
        row = _row(ep, stream, reference, clock, mine, ways)
        row = _but(replace(row, **rhythm.get(group[stream.name], {})), content)
        rows.append(_with_more(row, clock, outside, ep.meta, speed, others))
    return tuple(_with_strays(rows, outside, ep))


def _with_strays(rows: list[Timing], outside: Any, ep: Episode) -> list[Timing]:
    """The first row tells of evidence for streams that are not there, as a slip of the pen makes it."""
    there, missing = {s.name for s in ep.streams}, getattr(outside, "missing", ())
    named = {n: ep.meta.get(f"evidence/{n}/streams") or () for n, _ in missing}
    lost = [f"evidence {n}: {why}" for n, why in missing if not there.intersection(named[n])]
    if not rows or not lost:
        return rows
    return [replace(rows[0], detail="; ".join(filter(None, (rows[0].detail, *lost)))), *rows[1:]]


def _credible(ep: Episode, content: Any) -> Episode:
    """The episode without the declared offsets that its pictures contradict: SYN001 abstains there."""
    seen = content if isinstance(content, Mapping) else {}
    lags = {f"cameras/{name}/offset": getattr(c, "lag", np.nan) for name, c in seen.items()}
    wrong = {k for k, lag in lags.items() if abs(lag - (ep.meta.get(k) or 0.0)) > BELIEVED}
    return replace(ep, meta={k: v for k, v in ep.meta.items() if k not in wrong}) if wrong else ep


def _but(row: Timing, content: Any) -> Timing:
    """The row with the stretches of which the pictures speak against the episode's usual lag."""
    seen = content.get(row.stream) if isinstance(content, Mapping) and row.by == "content" else None
    against = [d.detail for d in getattr(seen, "doubts", ()) if d.why]
    detail = "; ".join((row.detail, "but not of every moment", *against))
    return replace(row, settled="bounded", detail=detail) if against else row


def _sensors(streams: Sequence[Stream], group: Mapping[str, str]) -> list[tuple[Stream, list[str]]]:
    """Sensors of their own alone; of numbers that share a stamp the first, and the names of the others."""
    found: dict[tuple[str, str], list[Stream]] = {}
    for s in streams:
        found.setdefault((group[s.name], s.name if s.role in _ALONE else ""), []).append(s)
    return [(first, [s.name for s in rest]) for first, *rest in found.values()]


def _between(found: Sequence[Offset], stream: str, against: str) -> list[Offset]:
    """Offsets of a pair, whichever way round they were measured."""
    there = [o for o in found if (o.stream, o.against) == (stream, against)]
    back = [o for o in found if (o.stream, o.against) == (against, stream)]
    return [*there, *(replace(o, stream=stream, against=against, seconds=-o.seconds) for o in back)]


def _row(
    ep: Episode, stream: Stream, ref: Stream, clock: Any, offsets: Sequence[Offset], ways: Sequence[Any]
) -> Timing:
    """The best that is known of one stream."""
    pair = Timing(stream.name, ref.name, "assumed")
    for by in ("claps", "trigger", "content"):
        seen = [o for o in offsets if o.by == by and o.reference == "absolute"]
        if seen:
            return _measured(pair, seen, "measured", "")
    relative = [o for o in offsets if o.reference == "deviation"]
    if relative:
        return _by_deviation(ep, pair, relative)
    sensed = stream.clock is Clock.SENSOR and ref.clock is Clock.SENSOR
    logged = [o for o in offsets if o.by == "log"]
    if logged:
        detail = "the clocks; the way from event to stamp is not in it"
        return _measured(pair, logged, "measured" if sensed else "bounded", detail)
    if clock is not None and len(clock.rows) and not unrelated(ep, stream, ref):
        return _paired(pair, clock, undated(ep, stream, ref), sensed=sensed)
    if clock is not None and clock.how in ("log", "receive"):
        bound = _bounded(pair, clock.how, ways)
        if bound is not None:
            return bound
    return _assumed(ep, pair, stream, ref, clock)


def _measured(pair: Timing, offsets: Sequence[Offset], settled: Settled, detail: str) -> Timing:
    worst = max(offsets, key=lambda o: abs(o.seconds))
    return replace(
        pair, settled=settled, by=worst.by, reference=worst.reference, seconds=worst.seconds,
        u=max(o.u for o in offsets), detail=detail,
    )  # fmt: skip


def _by_deviation(ep: Episode, pair: Timing, offsets: Sequence[Offset]) -> Timing:
    """Absolute only with what the sheet declares of the rig."""
    offset, u = (ep.meta.get(f"cameras/{pair.stream}/{key}") for key in ("offset", "offset_u"))
    if offset is None or u is None:
        detail = "deviation from the rig's median; a lateness that the whole corpus shares is not in it"
        return replace(_measured(pair, offsets, "bounded", detail), cure=_PROVE["clap"])
    moved = [replace(o, seconds=o.seconds + offset, u=float(np.hypot(o.u, u))) for o in offsets]
    found = _measured(pair, moved, "measured", f"with {offset * 1e3:g} ms of the camera declared")
    return replace(found, reference="absolute")


def _paired(pair: Timing, clock: Any, undated: str, *, sensed: bool) -> Timing:
    """Stamps of paired rows: the worst window of ten, as in SYN001."""
    level, error, _ = windows(clock.rows, 10)
    at = int(np.argmax(np.abs(level)))
    arrival = "" if sensed else "stamped on arrival: the way from event to stamp is not in it"
    detail = "; ".join(filter(None, (arrival, undated)))
    return replace(
        pair, settled="measured" if sensed else "bounded", by="stamps", reference="absolute",
        seconds=float(level[at]), u=float(error[at]), detail=detail, cure="" if sensed else _PROVE["clap"],
    )  # fmt: skip


def _bounded(pair: Timing, common: str, ways: Sequence[Any]) -> Timing | None:
    """What the common clock's shortest delays leave open; None if the clocks count from other epochs."""
    least = [next((shortest_way(h.t, h.t + h.d) for h in held if h.later == common), 0.0) for held in ways]
    if not all(abs(s) < _EPOCH for s in least):
        return None
    detail = f"shortest way to the {common} stamp {least[0] * 1e3:.2g} and {least[1] * 1e3:.2g} ms"
    return replace(
        pair, settled="bounded", by="stamps", reference="absolute", seconds=least[1] - least[0],
        u=max(map(abs, least)) / 3**0.5, detail=detail, cure=_PROVE["clap"],
    )  # fmt: skip


def _assumed(ep: Episode, pair: Timing, stream: Stream, ref: Stream, clock: Any) -> Timing:
    if ep.sync == "one-clock" and ep.kind is Kind.SIMULATION:
        return replace(pair, detail="the sheet declares one simulator clock")
    nominal = next((s for s in (stream, ref) if s.clock is Clock.NOMINAL), None)
    if nominal is not None:
        reason, detail = "nominal-clock", f"{nominal.name} is stamped by index / rate"
    elif clock is not None and clock.reason:
        reason, detail = clock.reason, clock.detail or "one stamp for both: nobody stamped either"
    elif clock is None:
        reason, detail = "no-reference", "one stamp for both: nobody stamped either"
    else:
        none = "two clocks, and nothing that relates them"
        reason, detail = "reference-noisy", unrelated(ep, stream, ref) or none
    if ep.sync in _PROVE:
        return replace(pair, detail=f"sync = {ep.sync} is declared; {detail}", cure=_PROVE[ep.sync])
    return replace(pair, detail=detail, cure=_CURES.get(reason, _CURES["no-reference"]))


def _with_more(
    row: Timing, clock: Any, outside: Any, meta: Mapping[str, Any], speed: float, others: Sequence[str]
) -> Timing:
    """The row with drift, centimetres, who shares its stamps, and the evidence that led to nothing."""
    drift = clock.drift if clock is not None else None
    if drift is not None:
        row = replace(row, ppm=drift.slope * 1e6, ppm_u=drift.u * 1e6)
    lost = [f"evidence {n}: {why}" for n, why in getattr(outside, "missing", ()) if _names(meta, n, row)]
    return replace(
        row, hand_speed=speed, hand=abs(row.seconds) * speed,
        detail="; ".join(filter(None, (row.detail, *lost, f"also {', '.join(others)}" if others else ""))),
    )  # fmt: skip


def _names(meta: Mapping[str, Any], evidence: str, row: Timing) -> bool:
    return row.stream in (meta.get(f"evidence/{evidence}/streams") or ())


def _hand_speed(poses: Any) -> float:
    """m/s of the quicker hand, its 95th percentile; NaN without a body, its joints or a time base."""
    if poses is None or not poses.timed or len(poses.t) < 3:
        return float("nan")
    t = poses.t * 1e-9
    k = max(1, round(_OVER / max(float(np.median(np.diff(t))), 1e-4)))
    if len(t) <= k:
        return float("nan")
    fast = np.full(len(t) - k, np.nan)
    for p in _hands(poses):
        with np.errstate(divide="ignore", invalid="ignore"):
            fast = np.fmax(fast, np.linalg.norm(p[k:] - p[:-k], axis=1) / (t[k:] - t[:-k]))
    fast = fast[np.isfinite(fast)]
    return float(np.percentile(fast, _FAST)) if len(fast) else float("nan")


def _hands(poses: Any) -> Iterator[NDArray[np.float64]]:
    if not poses.world and len(poses.hands) == 1:  # a lone arm's hand hangs on its wrist: seen from its foot
        yield link_poses(poses.tree, poses.q, None, None, poses.hands)[0][:, 0]
        return
    yield from (p for p, _ in (poses.world or poses.torso).values())
