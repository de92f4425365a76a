"""SYN001 stream-offset: the pictures of a camera and the joints are not from the same instant.

What: For each camera, how far its pictures stand from the rows of the joints, at both ends of the episode.

Why: A policy that sees the hand where it was two pictures ago learns to act late. Owners of public sets
have confirmed images one or two steps late, and recorders that pair each row with whatever picture was
latest.

Method: Where both streams carry real clocks (made by the sensor or at receipt): with as many pictures as
rows, the median difference of the stamps of paired samples over the first and over the last ten;
otherwise the difference of the first and of the last stamps. The limit is one picture period, at most
1/30 s. Stamps on a nominal clock (index / fps) say nothing about when anything happened: the gate abstains
for the absolute offset, and for the deviation from the rig's median, which needs synchronisation by
content. It is n/a only where the sheet declares one clock and the kind is simulation.

Source: yanlai00/bridge_data_robot_infra#1 (images one or two steps late), almond-bot/axol PR 34 and
unitreerobotics/xr_teleoperate#22 (rows that are not of one instant), RocSync (arXiv 2511.14948) for what
stamps can reach.

Blind spots: Stamps made at receipt hold the transport's delay, which no stamp shows. A lateness that a
whole corpus shares needs a clap or a declared bias.

Dose: shift of a camera's stamps, 10 to 100 ms; drift, 0.1 to 1 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.gate import Abstain, Case, Evidence, NotApplicable, Outcome, gate, param
from assay.model import Clock, Episode, Kind, Role, Stream
from assay.synth import retime, teleop

_CAMERA = "observation.images.cam_0"
_REAL = (Clock.SENSOR, Clock.RECEIVE)
_JOINTS = (Role.JOINT_POSITION, Role.REQUEST)


@dataclass(frozen=True, slots=True)
class Params:
    """Limits."""

    limit: float = param(
        1.0 / 30.0,
        "s",
        "one picture at 30 Hz, published; at most its own period",
        judged=True,
    )
    pairs: float = param(10.0, "row", "a median of ten stands against jitter of single stamps")


def _late(seconds: float, clock: Clock = Clock.SENSOR) -> Episode:
    return retime(teleop(clock=clock), _CAMERA, lambda t: t + round(seconds * 1e9))


def _slow(share: float) -> Episode:
    return retime(teleop(clock=Clock.SENSOR), _CAMERA, lambda t: (t * (1 + share)).astype(np.int64))


def _one_clock(kind: Kind = Kind.SIMULATION, seconds: float = 0.0) -> Episode:
    return replace(_late(seconds), sync="one-clock", kind=kind)


CASES = (
    Case("stamps of one instant", lambda: _late(0.0), "pass"),
    Case("30 ms late", lambda: _late(0.030), "pass"),
    Case("37 ms late", lambda: _late(0.037), "fail", at=(0.0, 10.0), channel="absolute"),
    Case("37 ms early, stamped at receipt", lambda: _late(-0.037, Clock.RECEIVE), "fail", channel="absolute"),
    Case("drifts by 20 ms over the episode", lambda: _slow(0.002), "pass"),
    Case(
        "drifts by 50 ms over the episode", lambda: _slow(0.005), "fail", at=(9.6, 10.1), channel="absolute",
    ),
    Case("three pictures late on a nominal clock", teleop, "abstain", reason="nominal-clock"),
    Case("one simulator clock, declared", _one_clock, "n/a"),
    Case(
        "one clock declared for a robot, 37 ms late", lambda: _one_clock(Kind.TELEOPERATION, 0.037), "fail",
        channel="absolute",
    ),
    Case("no camera at all", lambda: teleop(cameras=0), "abstain", reason="absent-stream"),
    Case(
        "a declared camera that is not there", lambda: teleop().without_stream(_CAMERA), "abstain",
        reason="absent-stream",
    ),
    Case(
        "no joints",
        lambda: teleop(clock=Clock.SENSOR).without_stream("observation.state").without_stream("action"),
        "abstain", reason="absent-stream",
    ),
)  # fmt: skip


def not_applicable(ep: Episode, p: Params) -> NotApplicable | None:
    """The one clock of a simulator has no offset; nothing else has one clock, whatever a sheet says."""
    one = ep.sync == "one-clock" and ep.kind is Kind.SIMULATION
    return NotApplicable("one-clock", "sheet: sync, kind") if one else None


@gate(code="SYN001", name="stream-offset", reads=[Role.CAMERA, *_JOINTS], not_applicable=not_applicable)
def stream_offset(ep: Episode, p: Params) -> Iterator[Outcome]:
    """Compare the stamps of each camera with those of the joints."""
    for declared in ep.missing(Role.CAMERA):
        yield Abstain("absent-stream", "declared, not delivered", declared.name)
    cameras, joints = ep.by_role(Role.CAMERA), [s for s in ep.by_role(*_JOINTS) if len(s)]
    if not cameras and not ep.declares(Role.CAMERA):
        yield Abstain("absent-stream", "no camera")
    for camera in cameras:
        if not joints:
            yield Abstain("absent-stream", "no joints to compare with", camera.name)
        elif not len(camera):
            yield Abstain("too-short", "no picture is stamped", camera.name)
        elif camera.clock in _REAL and joints[0].clock in _REAL:
            yield _offset(camera, joints[0], p)
        else:
            yield from _undecided(camera, joints[0])


def _undecided(camera: Stream, joints: Stream) -> Iterator[Outcome]:
    which = camera if camera.clock not in _REAL else joints
    yield Abstain(
        "nominal-clock", f"{which.name} is stamped by its {which.clock} clock", camera.name, "absolute"
    )
    yield Abstain("no-content-sync", "pictures and motion were not compared", camera.name, "deviation")


def _offset(camera: Stream, joints: Stream, p: Params) -> Evidence:
    """Two samples: the beginning and the end of the episode."""
    n = min(max(int(p.pairs), 1), len(camera), len(joints))
    paired = len(camera) == len(joints)
    heads, tails = (camera.t[:n], joints.t[:n]), (camera.t[-n:], joints.t[-n:])
    value, u = np.transpose([_median(*heads), _median(*tails)]) if paired else (_edges(camera, joints), 0.0)
    t0 = np.array([joints.t[0], joints.t[-n]], np.int64)
    t1 = np.array([joints.t[n - 1], joints.t[-1]], np.int64)
    limit = min(float(1 / camera.rate), p.limit) if camera.rate else p.limit
    note = "pictures late" if float(np.sum(value)) > 0 else "pictures early"
    return Evidence(
        np.abs(value), t0, t1, "s", limit, u=u, stream=camera.name, against=joints.name, channel="absolute",
        note=note,
    )  # fmt: skip


def _median(a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[float, float]:
    """Median difference in seconds and its standard error."""
    d = (a - b) * 1e-9
    return float(np.median(d)), float(1.2533 * np.std(d) / np.sqrt(len(d)))


def _edges(camera: Stream, joints: Stream) -> NDArray[Any]:
    return np.array([camera.t[0] - joints.t[0], camera.t[-1] - joints.t[-1]]) * 1e-9
