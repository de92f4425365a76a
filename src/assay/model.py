"""What a corpus is made of, as values: a `Stream` on its own clock, an `Episode`, where each came from.

Times are int64 nanoseconds since the episode's first sample or an epoch, as the format states; quaternions
are wxyz; lengths metres, angles radians (a stream whose unit nobody declared says ``unknown``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.body import Embodiment

__all__ = [
    "Channel",
    "Claim",
    "Clip",
    "Clock",
    "Episode",
    "Kind",
    "Listing",
    "Packet",
    "Packets",
    "Part",
    "Ref",
    "Role",
    "Source",
    "Span",
    "Stream",
    "StreamDecl",
    "Topic",
]

Int64 = NDArray[np.int64]
Array = NDArray[Any]


class Role(StrEnum):
    """What a stream holds: a closed list."""

    JOINT_POSITION = "joint-position"
    JOINT_VELOCITY = "joint-velocity"
    JOINT_TORQUE = "joint-torque"
    BASE_POSE = "base-pose"
    REQUEST = "request"
    EXECUTION = "execution"
    GRIPPER = "gripper"
    HAND_JOINTS = "hand-joints"
    HAND_LANDMARKS = "hand-landmarks"
    HUMAN_BODY = "human-body"
    OBJECT_POSE = "object-pose"
    CAMERA = "camera"
    DEPTH = "depth"
    AUDIO = "audio"
    FORCE_TORQUE = "force-torque"
    TACTILE = "tactile"
    CURRENT = "current"
    IMU = "imu"
    EVENT = "event"
    INSTRUCTION = "instruction"
    REWARD = "reward"
    OTHER = "other"


class Clock(StrEnum):
    """Who stamped a stream. ``nominal`` is index/fps: it says nothing about when anything happened."""

    SENSOR = "sensor"
    RECEIVE = "receive"
    LOG = "log"
    NOMINAL = "nominal"


class Kind(StrEnum):
    """The kind of data, which decides what its gates may require."""

    TELEOPERATION = "teleoperation"
    RETARGETED = "retargeted-motion"
    DEMONSTRATION = "human-demonstration"
    SIMULATION = "simulation"
    UNRESOLVED = "unresolved"


@dataclass(frozen=True, slots=True)
class Channel:
    """One column of a stream: its native name, unit, and which kind of quantity it is.

    A native vector may mix units (arm joints in rad beside finger drives in shares of their range), so
    both live here and not on the stream; see ``docs/adr/0001``.
    """

    name: str
    unit: str = "unknown"
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Packet:
    """One coded picture; of plain pixels also width, height and bytes from row to row."""

    data: bytes
    width: int = 0
    height: int = 0
    step: int = 0


class Packets(Protocol):
    """Pictures that a recording stores one a message; picklable, and read anew at each iteration."""

    @property
    def codec(self) -> str:
        """FFmpeg's name of the coding, or ``raw:`` and its name of a pixel format."""

    @property
    def about(self) -> str:
        """Which pictures of which files, as text."""

    @property
    def t(self) -> Int64:
        """(n,) int64 ns, the stamps of the pictures."""

    @property
    def key(self) -> NDArray[np.bool_]:
        """(n,) whether decoding can start there."""

    def __iter__(self) -> Iterator[Packet]:
        """Every picture in order. Raises `UnreadableError`."""


@dataclass(frozen=True, slots=True)
class Clip:
    """The pictures of one episode inside a container file; nothing is opened until a gate needs it.

    Attributes:
        root: the corpus folder; path: the file, relative to it.
        first: number of the episode's first picture, counted in presentation order from the file's start.
        count: pictures that the metadata gives to this episode; None when the whole file is the episode's.
        last: whether nothing in the file belongs to a later episode, so that surplus pictures are surplus.
        packets: the coded pictures themselves, where they lie in messages of a recording and not in a
            container.
    """

    root: Path
    path: str
    first: int = 0
    count: int | None = None
    last: bool = True
    packets: Packets | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """One sensed, requested or annotated signal on its own clock.

    Attributes:
        name: the native name, e.g. ``observation.state``.
        role: what it holds; side, limb: where on the body.
        t: (n,) int64 ns, in stored order.
        x: (n, c) values, sliceable; (n, 0) for pictures, whose values come from `Clip` by decoding.
        channels: c columns.
        frame: the reference frame of poses, where declared.
        clock: who made ``t``.
        rate: the declared rate in Hz, exact.
        valid: (n,) bool where the data ships a mask, else None.
        clip: the pictures, for cameras.
        stamps: further stamps of the same samples, (n,) int64 ns each, by who made them; never of
            ``clock`` itself, and as the data has them: they may jump, be zero, or count from another epoch.
            ``t`` is the one closest to the event that shares the episode's epoch: sensor before receive
            (a message's publish time too) before log.
    """

    name: str
    role: Role
    t: Int64
    x: Array
    channels: tuple[Channel, ...] = ()
    clock: Clock = Clock.NOMINAL
    rate: Fraction | None = None
    side: Literal["left", "right", ""] = ""
    limb: str = ""
    frame: str = ""
    valid: NDArray[np.bool_] | None = None
    clip: Clip | None = None
    stamps: Mapping[Clock, Int64] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Native channel names; (c,)."""
        return tuple(channel.name for channel in self.channels)

    @property
    def unit(self) -> str:
        """The one unit of all channels, or ``mixed``."""
        units = {channel.unit for channel in self.channels} or {"1"}
        return units.pop() if len(units) == 1 else "mixed"

    def stamped(self, clock: Clock) -> Int64 | None:
        """(n,) int64 ns by one clock, or None where it did not stamp this stream."""
        return self.t if clock is self.clock else self.stamps.get(clock)

    def __len__(self) -> int:
        return len(self.t)


@dataclass(frozen=True, slots=True)
class Span:
    """A labelled stretch of an episode, int64 ns, and how it came to be known."""

    label: str
    t0: int
    t1: int
    known: Literal["measured", "inferred", "declared"]


Topic = Literal["readable", "file", "pointer", "boundary", "declared", "statistics", "duplicate-column"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where an episode came from, and what its reader did to it (never a repair).

    ``silent``: topics about which the format itself, whatever is delivered in it, has nothing to declare.
    """

    reader: str
    root: Path
    files: tuple[str, ...] = ()
    conversions: tuple[str, ...] = ()
    silent: tuple[Topic, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """What the metadata says beside what a reader found: reported, never repaired.

    Attributes:
        topic: which gate judges it (INT001 readable, INT002 file, INT004 pointer, INT005 boundary,
            INT006 declared, INT009 duplicate-column).
        about: what is claimed, in a few words, e.g. ``total_episodes``; becomes the finding's channel.
        declared, found: both sides as short text.
        size: how far they are apart (rows, episodes, names; 1 for "not the same"); 0 agrees, NaN could
            not be compared.
        stream: the stream concerned, if one is; where: the file.
    """

    topic: Topic
    about: str
    declared: str
    found: str
    size: float
    stream: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """One attempt, with everything that was recorded of it.

    Attributes:
        id: unique in its corpus.
        streams: every stream that was asked for and is there.
        embodiment: the body, if known.
        kind: the kind of data.
        task: the instruction in words, if any.
        outcome, stop_reason: how it ended, where the data says so.
        spans: labelled stretches.
        source: where it came from.
        claims: what its reader reports about metadata against data.
        statistics: stored statistics of this episode, stream → min, max, mean, std, count → (c,).
        declared: streams that the metadata declares for it, also those that are not there.
        sync: the declared way of synchronising (``one-clock`` for a simulator), from the sheet.
        limit_set: source of the limits that the sheet asks for, else the body's first.
        meta: whatever else the format holds, as plain values.
    """

    id: str
    streams: tuple[Stream, ...] = ()
    embodiment: Embodiment | None = None
    kind: Kind = Kind.UNRESOLVED
    task: str | None = None
    outcome: str | None = None
    stop_reason: str | None = None
    spans: tuple[Span, ...] = ()
    source: Source | None = None
    claims: tuple[Claim, ...] = ()
    statistics: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)
    declared: tuple[StreamDecl, ...] = ()
    sync: str = ""
    limit_set: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    def stream(self, name: str) -> Stream | None:
        """The stream with this native name, if it is there."""
        return next((s for s in self.streams if s.name == name), None)

    def by_role(self, *roles: Role) -> tuple[Stream, ...]:
        """All streams with one of these roles, in stored order."""
        return tuple(s for s in self.streams if s.role in roles)

    def declares(self, *roles: Role) -> tuple[StreamDecl, ...]:
        """All declared streams with one of these roles, present or not."""
        return tuple(d for d in self.declared if d.role in roles)

    def missing(self, *roles: Role) -> tuple[StreamDecl, ...]:
        """Declared streams with one of these roles that are not there."""
        there = {s.name for s in self.streams}
        return tuple(d for d in self.declared if d.role in roles and d.name not in there)

    def with_stream(self, stream: Stream) -> Self:
        """A copy in which ``stream`` replaces its namesake (or is added)."""
        others = [s for s in self.streams if s.name != stream.name]
        at = next((i for i, s in enumerate(self.streams) if s.name == stream.name), len(others))
        return replace(self, streams=(*others[:at], stream, *others[at:]))

    def without_stream(self, name: str) -> Self:
        """A copy in which the stream is absent though still declared."""
        return replace(self, streams=tuple(s for s in self.streams if s.name != name))


@dataclass(frozen=True, slots=True)
class StreamDecl:
    """A stream as the metadata declares it, before any data is read."""

    name: str
    role: Role
    channels: tuple[Channel, ...] = ()
    rate: Fraction | None = None
    clock: Clock = Clock.NOMINAL


@dataclass(frozen=True, slots=True)
class Part:
    """One file (or slice of one) that an episode is made of; ``key`` is what its reader needs to find it."""

    name: str
    reader: str
    path: str
    key: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ref:
    r"""An episode before it is opened: id, parts, and the number of frames that the metadata promises.

    An id made of a file name that is no text in UTF-8 spells what is not: ``a\udcff``.
    """

    id: str
    parts: tuple[Part, ...]
    frames: int | None = None

    def __post_init__(self) -> None:
        if not self.id.isascii():
            object.__setattr__(self, "id", self.id.encode("utf-8", "backslashreplace").decode())


@dataclass(frozen=True, slots=True)
class Listing:
    """What one reader discovered in one corpus.

    Attributes:
        reader: its name; root: the corpus folder.
        refs: one per declared or present episode; an absent one is opened like any other and says so.
        declared: how many episodes the metadata declares, None where it does not say.
        facts: items of the sheet that the format states (fps, robot type), see `assay.sheet`.
        streams: declared streams.
        claims: about the corpus as a whole.
        shared: picklable state that every `open` needs (parsed metadata), sent to each worker once.
        statistics: stored statistics of the whole corpus, like `Episode.statistics`.
        some: roles of streams that some episodes have; what a profile asks beside such a stream it asks
            of all, so that leaving it out of one episode loosens nothing.
    """

    reader: str
    root: Path
    refs: tuple[Ref, ...]
    declared: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    streams: tuple[StreamDecl, ...] = ()
    claims: tuple[Claim, ...] = ()
    shared: Mapping[str, Any] = field(default_factory=dict)
    statistics: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)
    some: frozenset[Role] = frozenset()

    @property
    def roles(self) -> frozenset[Role]:
        """Roles of the declared streams, and of those that some episodes have."""
        return self.some.union(d.role for d in self.streams)
