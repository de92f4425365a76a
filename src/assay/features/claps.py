"""Feature: the claps or flashes that the sheet promises, in every stream and at both ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.feature import feature
from assay.media import Container, sound
from assay.model import Episode, Role, Stream
from assay.signals.events import NOTHING, Onsets, flashes, jolts, sounds
from assay.signals.hand_claps import hands
from assay.signals.matching import matched
from assay.signals.offsets import Offset
from assay.signals.pictures import Pictures
from assay.signals.travel import joint_columns

__all__ = ["Claps", "Look", "claps", "sought"]

End = Literal["start", "end"]
Way = Literal["sound", "jolt", "flash", "hands"]
Int64 = NDArray[np.int64]
Stretch = tuple[End, int, int]

_REACH: Final = 10 * 10**9  # ns at each end within which a promised sign is looked for
_SENSED: Final = (Role.IMU, Role.FORCE_TORQUE, Role.JOINT_POSITION)
_APART: Final = 0.1
"""Seconds by which two streams may be apart otherwise at one end than at the other, beside a drift of"""
_PACE: Final = 2e-3
"""2000 ppm: the worst crystals differ by 200, and a wrong rate is SYN006's."""
_AIR: Final = 3.4e-3  # s: sound travels up to 2 m to the microphone; half of that is not known


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What one stream shows at one end of the episode.

    Attributes:
        stream: its name; the sound inside a camera's file is ``<camera>/audio``.
        way: ``sound``, ``jolt`` (accelerations, forces, joint speeds), ``flash`` or ``hands`` that meet.
        end: which end; t0, t1: int64 ns, the stretch that was looked at.
        onsets: the events, on the episode's time line.
        blind: code of `assay.gate.REASONS` where the stream could not be looked at, else empty.
    """

    stream: str
    way: Way
    end: End
    t0: int
    t1: int
    onsets: Onsets
    blind: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Claps:
    """Events at both ends.

    Attributes:
        promised: whether the sheet says ``sync = "clap"``; without it nothing is looked for.
        looks: one per stream and end.
        offsets: between every two streams whose events match: absolute, ``by="claps"``, at each end, on the
            episode's time line, whoever made the stamps. Between sound and anything else u holds the way
            of the sound through up to 2 m of air. Two events agree, at one end or at both: any one may be
            a glitch beside a clap that was not recorded.
        alone: offsets of the same kind that rest on a single pair of events, or on ends that contradict
            each other: figures, no proof.
    """

    promised: bool
    looks: tuple[Look, ...] = ()
    offsets: tuple[Offset, ...] = ()
    alone: tuple[Offset, ...] = ()


@feature(reads=[Role.CAMERA, Role.AUDIO, *_SENSED])
def claps(
    ep: Episode, pictures: dict[str, Pictures] | None, containers: dict[str, Container | UnreadableError]
) -> Claps:
    """The promised claps as `Claps`: found in sound, accelerations, forces, pictures and joint speeds.

    Looked for within 10 s of each end (the nearer half of shorter episodes), and only where the sheet
    promises them: a chance event must not become an offset. Source: METHODS 4.
    """
    return sought(ep, pictures, containers) if ep.sync == "clap" else Claps(promised=False)


def sought(
    ep: Episode,
    pictures: Mapping[str, Pictures] | None,
    containers: Mapping[str, Container | UnreadableError],
) -> Claps:
    """The same whatever the sheet promises, to measure what chance shows."""
    sign = ep.meta.get("clap/sign") or "clap"
    looks = []
    for end, t0, t1 in _stretches(ep):
        for camera in ep.by_role(Role.CAMERA):
            looks.append(
                _seen(camera, (pictures or {}).get(camera.name), pictures is None, sign, (end, t0, t1))
            )
            looks += _heard(camera, containers.get(camera.name), (end, t0, t1))
        looks += [_sounded(s, (end, t0, t1)) for s in ep.by_role(Role.AUDIO)]
        looks += [_shaken(s, (end, t0, t1)) for s in ep.by_role(*_SENSED)]
    return Claps(ep.sync == "clap", tuple(looks), *_settled(_offsets(looks)))


def _stretches(ep: Episode) -> list[Stretch]:
    """Both ends of the time that streams share."""
    spans = [(int(s.t[0]), int(s.t[-1])) for s in ep.streams if len(s.t) > 1]
    if not spans:
        return []
    first, last = min(a for a, _ in spans), max(b for _, b in spans)
    reach = min(_REACH, (last - first) // 2)
    return [("start", first, first + reach), ("end", last - reach, last)]


def _seen(camera: Stream, seen: Pictures | None, undecoded: bool, sign: str, stretch: Stretch) -> Look:
    end, t0, t1 = stretch
    way: Way = "flash" if sign == "flash" else "hands"
    if seen is None or not len(camera):
        return Look(camera.name, way, end, t0, t1, NOTHING, "not-decoded" if undecoded else "unreadable")
    t = seen.t + int(camera.t[0])
    inside = (t >= t0) & (t <= t1)
    if inside.sum() < 20:
        return Look(camera.name, way, end, t0, t1, NOTHING, "too-short")
    thumbs, t = seen.thumbs[inside], t[inside]
    onsets = flashes(thumbs, t) if way == "flash" else hands(thumbs, seen.key[inside], t)
    return Look(camera.name, way, end, t0, t1, onsets)


def _heard(camera: Stream, found: Container | UnreadableError | None, stretch: Stretch) -> Iterator[Look]:
    """The sound track of a camera's file, if it has one."""
    end, t0, t1 = stretch
    if camera.clip is None or not isinstance(found, Container) or len(found) <= camera.clip.first:
        return
    later = int(camera.t[0]) - int(found.t[camera.clip.first]) if len(camera) else 0
    name = f"{camera.name}/audio"
    try:
        track = sound(camera.clip.root, camera.clip.path, t0 - later, t1 - later)
    except UnreadableError:
        yield Look(name, "sound", end, t0, t1, NOTHING, "unreadable")
        return
    if track is not None:
        blind = "" if np.isfinite(track.x).mean() > 0.9 else "unreadable"
        yield Look(name, "sound", end, t0, t1, sounds(track.x, track.rate, t0), blind)


def _sounded(stream: Stream, stretch: Stretch) -> Look:
    """A stream of sound: samples in rows, or a file of its own."""
    end, t0, t1 = stretch
    look = Look(stream.name, "sound", end, t0, t1, NOTHING)
    if stream.clip is not None:
        try:
            first = int(stream.t[0]) if len(stream) else 0
            track = sound(stream.clip.root, stream.clip.path, t0 - first, t1 - first)
        except UnreadableError:
            return replace(look, blind="unreadable")
        return (
            replace(look, onsets=sounds(track.x, track.rate, t0))
            if track
            else replace(look, blind="unreadable")
        )
    x, t = _inside(stream, t0, t1)
    if len(t) < 1000 or not np.isfinite(x).mean() > 0.9:
        return replace(look, blind="too-short" if len(t) < 1000 else "not-finite")
    rate = float(stream.rate) if stream.rate else (len(t) - 1) * 1e9 / max(int(t[-1] - t[0]), 1)
    return replace(look, onsets=sounds(x.mean(1), rate, int(t[0])))


def _shaken(stream: Stream, stretch: Stretch) -> Look:
    """Accelerations and forces as they are, joints by their speed."""
    end, t0, t1 = stretch
    x, t = _inside(stream, t0, t1)
    if stream.role is Role.JOINT_POSITION:
        x = x[:, joint_columns(stream)]
        x, t = np.diff(x, axis=0), t[1:]
    blind = "too-short" if len(t) < 20 else "" if np.isfinite(x).mean() > 0.9 else "not-finite"
    return Look(stream.name, "jolt", end, t0, t1, NOTHING if blind else jolts(x, t), blind)


def _inside(stream: Stream, t0: int, t1: int) -> tuple[NDArray[np.float64], Int64]:
    inside = (stream.t >= t0) & (stream.t <= t1)
    x = np.asarray(stream.x[inside], np.float64)
    return (x.reshape(len(x), -1) if x.size else np.zeros((len(x), 1))), stream.t[inside]


def _settled(found: Iterator[tuple[Offset, int]]) -> tuple[tuple[Offset, ...], tuple[Offset, ...]]:
    """Offsets that two events agree on, and those that nothing else bears out."""
    pairs: dict[tuple[str, str], list[tuple[Offset, int]]] = {}
    for offset, met in found:
        pairs.setdefault((offset.stream, offset.against), []).append((offset, met))
    sure: list[Offset] = []
    alone: list[Offset] = []
    for ends in pairs.values():
        agree = len(ends) == 2 and _agree(ends[0][0], ends[1][0])
        for offset, met in ends:
            (sure if agree or met >= 2 else alone).append(offset)
    return tuple(sure), tuple(alone)


def _agree(start: Offset, end: Offset) -> bool:
    room = _APART + _PACE * abs(end.t1 - start.t0) * 1e-9 + 3 * float(np.hypot(start.u, end.u))
    return abs(end.seconds - start.seconds) <= room


def _offsets(looks: list[Look]) -> Iterator[tuple[Offset, int]]:
    """Every offset with the number of pairs of events that it rests on, by ends."""
    for end in ("start", "end"):
        mine = [look for look in looks if look.end == end and not look.blind]
        for a, b in combinations(mine, 2):
            met = matched(a.onsets, b.onsets)
            if met is not None:
                seconds, u, pairs = met
                air = _AIR if (a.way == "sound") != (b.way == "sound") else 0.0
                error = float(np.hypot(u, air))
                yield Offset(a.stream, b.stream, a.t0, a.t1, seconds, error, "claps", end=end), pairs
