"""A column stands in the data twice.

What: whether two differently named channels of one stream hold the same numbers while both move, and
whether a table, or a stream, names a column twice.

Why: one of the two was written from the wrong source, so a joint is missing and nobody notices; a table
with one name twice is refused by plain readers or loses one of the two.

Method: channels that move are compared bit by bit over the whole episode (equal sums first, so that most
pairs are never compared). Fingers and grippers may be coupled on purpose and are out of scope. Names in
tables are what the reader reports; two channels of a stream are named alike where the names are equal, or
resolve to one joint with one unit.

Source: FAULTS D52; the public Franka sample's episode table names columns twice.

Blind spots: a copy that is scaled, rounded or shifted; joints of arms or legs that are coupled by design.

Dose: number of columns that are copies of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.features.claims import claimed
from assay.gate import IN, OUT, UNKNOWN, Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Claim, Episode, Listing, Role, Stream
from assay.signals.intervals import span
from assay.synth.episodes import edit, teleop

VECTORS = (Role.JOINT_POSITION, Role.JOINT_VELOCITY, Role.JOINT_TORQUE, Role.REQUEST, Role.EXECUTION)
HANDS = (Role.HAND_JOINTS, Role.GRIPPER)
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of INT009."""

    moving: float = param(1e-3, "unknown", "a locked joint's copy is another locked joint, not a fault")


def copied(to: str, source: str, change: float = 0.0) -> Episode:
    """A clean episode whose state holds ``source`` in column ``to`` as well, but for ``change``."""

    def copy(x: Float, names: tuple[str, ...]) -> Float:
        x[:, names.index(to)] = x[:, names.index(source)]
        x[100, names.index(to)] += change
        return x

    return edit(teleop(), "observation.state", copy)


def renamed(name: str) -> Episode:
    """A clean episode whose left elbow is called ``name`` in the state."""
    state = teleop().streams[0]
    channels = tuple(replace(c, name=name) if c.name == "left_elbow" else c for c in state.channels)
    return teleop().with_stream(replace(state, channels=channels))


def locked() -> Episode:
    """All of both wrists is locked at 0."""

    def lock(x: Float, names: tuple[str, ...]) -> Float:
        x[:, ["wrist" in n for n in names]] = 0.0
        return x

    return edit(teleop(), "observation.state", lock)


def claim(size: float) -> Claim:
    """A table that names each column once (0) or one of them twice (1)."""
    return Claim("duplicate-column", "stats/action/min", "1", str(1 + size), size, where="meta/episodes")


def listing(size: float) -> Listing:
    """A corpus whose episode table has the claim."""
    return Listing("synth", Path("synth"), (), claims=(claim(size),))


CASES = (
    Case("clean", teleop, "pass"),
    Case("right elbow is a copy of the left", lambda: copied("right_elbow", "left_elbow"), "fail",
         at=(0.0, 10.0), channel="right_elbow"),
    Case("one row differs", lambda: copied("right_elbow", "left_elbow", 1e-9), "pass"),
    Case("coupled fingers", lambda: copied("left_hand_ring", "left_hand_pinky"), "pass"),
    Case("columns that may be fingers", lambda: replace(copied("right_elbow", "left_elbow"), embodiment=None),
         "abstain", reason="scope-unknown"),
    Case("locked joints are equal", locked, "pass"),
    Case("two channels have one name", lambda: renamed("left_shoulder_pitch"), "fail", at=(0.0, 10.0),
         channel="left_shoulder_pitch"),
    Case("two channels are one joint", lambda: renamed("kLeftShoulderPitch"), "fail", at=(0.0, 10.0),
         channel="left_shoulder_pitch"),
    Case("a name stands twice", lambda: replace(teleop(), claims=(claim(1.0),)), "fail",
         channel="stats/action/min"),
    Case("no streams", lambda: replace(teleop(), streams=(), declared=()), "abstain", reason="absent-stream"),
    Case("no state", lambda: teleop().without_stream("observation.state"), "abstain", reason="absent-stream"),
    Case("the table of episodes is sound", list, "pass", listing=lambda: listing(0.0)),
    Case("the table of episodes is not", list, "fail", channel="stats/action/min",
         listing=lambda: listing(1.0)),
)  # fmt: skip


def conclude(listing: Listing, facts: Mapping[str, Mapping[str, Any]], p: Params) -> Iterator[Outcome]:
    """The claims about tables of the corpus."""
    yield from claimed("duplicate-column", listing.claims)


@gate(code="INT009", name="duplicate-column", reads=VECTORS, conclude=conclude)
def measure(ep: Episode, p: Params, episode_claims: Mapping[str, Iterable[Outcome]]) -> Iterator[Outcome]:
    """Per channel, how many others of the stream are the same."""
    if any(c.topic == "duplicate-column" for c in ep.claims):
        yield from episode_claims["duplicate-column"]
    yield from (Abstain("absent-stream", "declared, not there", d.name) for d in ep.missing(*VECTORS))
    for stream in ep.by_role(*VECTORS):
        yield from _named_alike(ep, stream)
        if stream.x.shape[1] > 1:
            yield _copies(ep, stream, p)


def _named_alike(ep: Episode, stream: Stream) -> Iterator[Outcome]:
    """One finding per name, or joint, that several channels have."""
    index = ep.embodiment.resolve(stream.names) if ep.embodiment else np.full(len(stream.names), -1)
    same: dict[tuple[Any, ...], list[str]] = {}
    for channel, joint in zip(stream.channels, index.tolist(), strict=True):
        key = (channel.name,) if joint < 0 else (joint, channel.role, channel.unit)
        same.setdefault(key, []).append(channel.name)
    t0, t1 = span(stream.t)
    for names in same.values():
        if len(names) > 1 and names[0]:
            note = f"channels of one stream have one name: {', '.join(names[:4])}"
            yield Evidence.single(
                float(len(names) - 1), t0, t1, unit="1", limit=0.0, stream=stream.name, channel=names[0],
                note=note,
            )  # fmt: skip


def _copies(ep: Episode, stream: Stream, p: Params) -> Outcome:
    x = np.asarray(stream.x)
    if len(x) < 3:
        return Abstain("too-short", "", stream.name)
    c = x.shape[1]
    scope = _scope(ep, stream)
    sums = np.arange(1, len(x) + 1) @ x.astype(np.float64, copy=False)  # order matters, unlike in a plain sum
    value = np.where(np.isnan(sums), np.nan, 0.0)
    order = np.argsort(sums, kind="stable")
    for i, j in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
        if sums[i] == sums[j] and np.array_equal(x[:, i], x[:, j]) and np.ptp(x[:, i]) > p.moving:
            value[max(i, j)] += 1.0
    scope[(scope == UNKNOWN) & (value == 0)] = IN
    t0, t1 = span(stream.t)
    names = stream.names if len(stream.names) == c else tuple(str(i) for i in range(c))
    return Evidence(
        value, np.full(c, t0), np.full(c, t1), "1", 0.0, scope=scope, stream=stream.name,
        which=np.arange(c), channels=names, apart=True, reason="scope-unknown",
        note="the same numbers as another column",
    )  # fmt: skip


def _scope(ep: Episode, stream: Stream) -> NDArray[np.int8]:
    """(c,) fingers and grippers, whose drives may be coupled, are out; what may be one is unknown."""
    names = stream.names
    index = ep.embodiment.resolve(names) if ep.embodiment else np.full(len(names), -1)
    scope = np.full(stream.x.shape[1], UNKNOWN)
    for i, (channel, joint) in enumerate(zip(stream.channels, index.tolist(), strict=True)):
        part = ep.embodiment.joints[joint].part if ep.embodiment and joint >= 0 else ""
        if channel.role in HANDS or stream.role in HANDS or part in ("hand", "gripper"):
            scope[i] = OUT
        elif part:
            scope[i] = IN
    return scope
