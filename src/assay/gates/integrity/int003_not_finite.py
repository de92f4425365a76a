"""A value is not a number, or cannot be one that was measured.

What: in which rows and channels a stream holds NaN, an infinity, a denormal number, or a value that nothing
recorded can have: beyond 1e4 of a joint, beyond 1e30 of anything, a quaternion that has not length 1.

Why: one NaN makes the loss NaN; uninitialised memory (1e224 beside 2.9e-321) ruins the statistics that
everything is normalised by.

Method: every value of every numeric stream, no sampling. Denormal means nonzero and smaller than the
smallest normal number of the type as stored: no sensor reports that. The bound of 1e4 holds for angles,
positions, speeds and torques in a known unit, that of 1e30 for every value. The quaternions of base and
object poses are of length 1 to 2 %: real clips are to 1e-6, and three stored decimals leave 0.1 %. Rows
that the data itself marks as not valid are out of scope.

Source: FAULTS D50; FORMATS 1.

Blind spots: a hole filled with a number (ACT005, SYN008); integers; NaN that a writer replaced by 0.

Dose: number of bad rows in one channel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.gate import IN, OUT, Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Clock, Episode, Role, Stream
from assay.signals.intervals import ends
from assay.synth.episodes import edit, teleop
from assay.synth.squats import squats

PICTURES = (Role.CAMERA, Role.DEPTH, Role.AUDIO, Role.INSTRUCTION, Role.EVENT)
NUMERIC = tuple(role for role in Role if role not in PICTURES)
POSES = (Role.BASE_POSE, Role.OBJECT_POSE)
QUATERNIONS = (("qw", "qx", "qy", "qz"), ("q0", "q1", "q2", "q3"))
JOINT_UNITS = ("rad", "deg", "m", "cm", "mm", "rad/s", "deg/s", "m/s", "N", "N*m", "A")
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of INT003."""

    largest: float = param(1e4, "unknown", "1,600 turns, 10 km or 10 kN: no robot joint reaches any of it")
    length: float = param(0.02, "1", "real quaternions are of length 1 to 1e-6; three decimals leave 1e-3")
    absurd: float = param(1e30, "unknown", "nanoseconds since 1970 are 2e18, the largest honest numbers")


def planted(value: float, rows: int, stream: str = "observation.state") -> Episode:
    """A clean episode with ``value`` in the left elbow in some rows from 3 s on."""

    def plant(x: Float, names: tuple[str, ...]) -> Float:
        x[90 : 90 + rows, names.index("left_elbow")] = value
        return x

    return edit(teleop(clock=Clock.SENSOR), stream, plant)


def unnamed(value: float) -> Episode:
    """A clean episode whose units nobody declared, with ``value`` in the left elbow in one row."""
    ep = planted(value, 1)
    state = ep.streams[0]
    return ep.with_stream(replace(state, channels=tuple(replace(c, unit="unknown") for c in state.channels)))


def masked() -> Episode:
    """Ten NaN rows that the data marks as not valid."""
    ep = planted(np.nan, 10)
    state = ep.streams[0]
    valid = np.ones(len(state), bool)
    valid[90:100] = False
    return ep.with_stream(replace(state, valid=valid))


def stretched(length: float) -> Episode:
    """Squats whose base quaternion has another length in ten rows."""
    root = squats().stream("root")
    assert root is not None
    x = np.array(root.x)
    x[90:100, 3:] *= length
    return squats().with_stream(replace(root, x=x))


CASES = (
    Case("clean", teleop, "pass"),
    Case("a quaternion of length 0", lambda: stretched(0.0), "fail", at=(2.99, 3.35), channel="quaternion"),
    Case("a quaternion of length 0.97", lambda: stretched(0.97), "fail", channel="quaternion"),
    Case("a quaternion of length 1.03", lambda: stretched(1.03), "fail", channel="quaternion"),
    Case("a quaternion of length 0.99", lambda: stretched(0.99), "pass"),
    Case("one NaN", lambda: planted(np.nan, 1), "fail", at=(2.99, 3.04), channel="left_elbow"),
    Case("30 NaNs", lambda: planted(np.nan, 30), "fail", at=(2.99, 4.01), channel="left_elbow"),
    Case("an infinity in the action", lambda: planted(np.inf, 1, "action"), "fail", channel="left_elbow"),
    Case("uninitialised memory", lambda: planted(2.89e-321, 1), "fail", at=(2.99, 3.04),
         channel="left_elbow"),
    Case("1e224 rad", lambda: planted(1e224, 1), "fail", channel="left_elbow"),
    Case("1e224 of an unknown unit", lambda: unnamed(1e224), "fail", channel="left_elbow"),
    Case("2e18 of an unknown unit may be a time", lambda: unnamed(2e18), "pass"),
    Case("10,001 rad", lambda: planted(10_001.0, 1), "fail", channel="left_elbow"),
    Case("9,999 rad is finite", lambda: planted(9_999.0, 1), "pass"),
    Case("NaN where the data says not valid", masked, "pass"),
    Case("no action", lambda: teleop().without_stream("action"), "abstain", reason="absent-stream"),
    Case("no numbers at all", lambda: replace(teleop(), streams=(), declared=()), "abstain",
         reason="absent-stream"),
)  # fmt: skip


@gate(code="INT003", name="not-finite", reads=NUMERIC)
def measure(ep: Episode, p: Params) -> Iterator[Outcome]:
    """Bad values per row: one evidence for each channel that has any, one for the rest of a stream."""
    yield from (Abstain("absent-stream", "declared, not there", d.name) for d in ep.missing(*NUMERIC))
    streams = [s for s in ep.by_role(*NUMERIC) if np.asarray(s.x).size]
    for stream in streams:
        yield from _stream(stream, p)
    if not streams:
        yield Abstain("absent-stream", "no numeric stream")


def _stream(stream: Stream, p: Params) -> Iterator[Outcome]:
    x = np.asarray(stream.x)
    if x.dtype.kind not in "fiub":
        yield Abstain("not-finite", f"values of type {x.dtype} are no numbers", stream.name)
        return
    bad = _bad(x, stream, p) if x.dtype.kind == "f" else None
    t1 = ends(stream.t, float(stream.rate) if stream.rate else None)
    scope = None if stream.valid is None else np.where(stream.valid, IN, OUT)
    blank = Evidence(
        np.zeros(len(x)), stream.t, t1, "1", 0.0, scope=scope, stream=stream.name,
        note="NaN, infinite, denormal or impossibly large",
    )  # fmt: skip
    columns = np.flatnonzero(bad.any(axis=0)) if bad is not None else ()
    for column in columns:
        assert bad is not None
        name = stream.names[column] if len(stream.names) > column else str(column)
        yield replace(blank, value=bad[:, column].astype(np.float64), channel=name)
    if len(columns) < x.shape[1]:
        yield blank
    if stream.role in POSES and (odd := _stretched(x, stream.names, p)) is not None:
        yield replace(blank, value=odd, channel="quaternion", note="its length is not 1: it is no rotation")


def _stretched(x: NDArray[Any], names: Sequence[str], p: Params) -> Float | None:
    """(n,) 1 where the quaternion among the columns has not length 1; None where all have (or are NaN)."""
    for four in QUATERNIONS:
        if set(four) <= set(names):
            q = np.asarray(x[:, [names.index(n) for n in four]], np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                odd = np.abs(np.linalg.norm(q, axis=1) - 1) > p.length
            return odd.astype(np.float64) if odd.any() else None
    return None


def _bad(x: NDArray[np.floating], stream: Stream, p: Params) -> NDArray[np.bool_] | None:
    """(n, c) mask of values that cannot have been measured, or None where there are none."""
    size = np.abs(x)
    tiny = np.finfo(x.dtype).tiny
    strange = ~(size <= min(p.absurd, float(np.finfo(x.dtype).max))) | ((size < tiny) & (size > 0))
    joint = np.array([c.unit in JOINT_UNITS for c in stream.channels], bool)
    if joint.any():
        strange |= (size > p.largest) & joint
    return strange if strange.any() else None
