"""What a motion file holds, in the file's own conventions, and the episode that it becomes.

Streams. Joints are ``JOINT_POSITION`` and ``JOINT_VELOCITY`` under the file's own key. The base is ``root``,
(n, 7) xyz and wxyz; while its quaternion order is not decided the stored columns stay as they are and its
frame is ``unresolved-quaternion``. Human bodies are ``HUMAN_BODY``: positions have channels ``<joint>.x``,
``.y``, ``.z`` in m, rotations ``<joint>.rx``, ``.ry``, ``.rz`` as rotation vectors in rad. Contact flags are
``EVENT`` with a side. A frame that starts with ``unresolved`` asks every gate that needs it to abstain.

Time. Every clock is nominal. Without a rate, ``Stream.rate`` is None and ``t`` counts one second a frame.

Task. No layout has a field for it; people name their clips after what is done. ``Episode.task`` is that name
as it stands, and ``meta["task"]`` says that it is one.

``Episode.meta["decided"]`` is {item: (value, evidence)}, ``meta["unresolved"]`` {item: what would decide it}.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.model import Channel, Claim, Clock, Episode, Listing, Ref, Role, Source, Stream, Topic
from assay.motion.poses import order_by_rotvec, order_by_tilt, to_wxyz, up_axis, y_up_to_z_up
from assay.motion.robots import name_joints
from assay.sheet import Sheet

__all__ = ["Body", "Pose", "Signal", "Take", "body_channels", "episode", "matrix", "rate_of", "unended"]

Floats = NDArray[np.float64]
POSE: Final = tuple(
    Channel(n, u)
    for n, u in zip(("x", "y", "z", "qw", "qx", "qy", "qz"), ("m",) * 3 + ("1",) * 4, strict=True)
)
_SILENT: Final[tuple[Topic, ...]] = ("file", "pointer", "boundary")
"""A clip is one file without metadata of its own: it names no other, and its rows are all there is."""
_STRONG: Final = ("option", "buyer", "corpus")


@dataclass(frozen=True, slots=True)
class Pose:
    """Positions (n, 3) m and quaternions (n, 4) as stored.

    Attributes:
        order: as documented for the layout, or "" where nothing says so; why: by whom.
        rotvec: (n, 3) the same rotation stored a second time, if it is.
        frame: what else is unresolved, e.g. ``unresolved-axes``.
    """

    name: str
    role: Role
    xyz: Floats
    q: Floats
    order: str = ""
    why: str = ""
    rotvec: Floats | None = None
    frame: str = ""
    upright: bool = True


@dataclass(frozen=True, slots=True)
class Body:
    """A human body: values (n, J, 3).

    Attributes:
        names: J joints, or () where unknown.
        up: ``z`` or ``y`` as documented, ``?`` to be decided from the data, ``none`` where it has no axis.
    """

    name: str
    x: Floats
    names: tuple[str, ...] = ()
    what: Literal["position", "rotvec"] = "position"
    up: str = "?"
    why: str = ""


@dataclass(frozen=True, slots=True)
class Signal:
    """Any other stream: values (n, c) with channels and a role."""

    name: str
    role: Role
    x: NDArray[Any]
    channels: tuple[Channel, ...]
    side: Literal["left", "right", ""] = ""
    limb: str = ""
    frame: str = ""
    valid: NDArray[np.bool_] | None = None


@dataclass(slots=True)
class Take:
    """One clip as its file has it.

    Attributes:
        joints, velocity: (n, c) rad and rad/s; names: c native names, or () where the file has none.
        usual: the order that the writer is known for where there are no names, ``model`` or ``any``.
        axes: the axis of each joint where the file tells it.
        fps: (value, evidence) or None; guess: (None, what was tried).
    """

    layout: str
    joints: Floats | None = None
    velocity: Floats | None = None
    names: tuple[str, ...] = ()
    joint_key: str = "joints"
    velocity_key: str = "joint_velocities"
    usual: str = "any"
    axes: str = ""
    poses: tuple[Pose, ...] = ()
    bodies: tuple[Body, ...] = ()
    signals: tuple[Signal, ...] = ()
    fps: float | None = None
    fps_why: str = "the file states no rate"
    conversions: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    decided: dict[str, tuple[Any, str]] = field(default_factory=dict)
    unresolved: dict[str, str] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)


def matrix(x: Any, where: str, shape: tuple[int | None, ...]) -> Floats:
    """Numbers of the wanted shape (None: any length) as float64.

    Raises:
        UnreadableError: if they are no numbers or have another shape.
    """
    array = x if isinstance(x, np.ndarray) else None
    if array is None or array.dtype.kind not in "iuf" or array.dtype.itemsize < 2:  # bytes are no motion
        found = type(x).__name__ if array is None else str(array.dtype)
        raise UnreadableError("an array of numbers is missing", where=where, found=found[:60])
    fits = array.ndim == len(shape) and all(w in (None, n) for w, n in zip(shape, array.shape, strict=True))
    if not fits:
        wanted = " x ".join("n" if n is None else str(n) for n in shape)
        raise UnreadableError(
            "an array has another shape", where=where, found=str(array.shape), expected=wanted
        )
    return array.astype(np.float64)


def rate_of(value: Any, where: str) -> float | None:
    """A stated rate in Hz; a value below 1 is read as the frame time. None where nothing usable is stated."""
    try:
        first = np.asarray(value).reshape(-1)[0]
        number = math.nan if np.iscomplexobj(first) else float(first)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    if not np.isfinite(number) or not 1e-4 < number <= 1e6:
        raise UnreadableError("the stated rate is not usable", where=where, found=str(number))
    return number if number >= 1 else 1.0 / number


def body_channels(names: Sequence[str], what: str) -> tuple[Channel, ...]:
    """Channels of a flattened (J, 3) body."""
    ends, unit = (("x", "y", "z"), "m") if what == "position" else (("rx", "ry", "rz"), "rad")
    return tuple(Channel(f"{n}.{e}", unit, Role.HUMAN_BODY) for n in names for e in ends)


def unended(ended: bool, file: str) -> Claim:
    """A text file's last line break: without one its last number may be cut, which nothing can tell."""
    found, size = ("a line break", 0.0) if ended else ("no line break", math.nan)
    return Claim("boundary", "end of the file", "a line break", found, size, where=file)


def episode(
    reader: str, listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet, take: Take
) -> Episode:
    """The episode of one clip: conventions decided by sheet, file or data, else left unresolved."""
    mine = sheet.for_episode(ref.id)
    file, rate = ref.parts[0].path, _rate(take, ref, mine)
    streams = [
        *_joints(take, mine, rate, file),
        *(_pose(take, p, mine, rate, file) for p in take.poses),
    ]
    streams += [_body(take, b, rate) for b in take.bodies]
    streams += [
        _stream(s.name, s.role, s.x, s.channels, rate, side=s.side, limb=s.limb, frame=s.frame, valid=s.valid)
        for s in take.signals
    ]
    meta = {"format": f"{reader}: {take.layout}", "decided": take.decided, "unresolved": take.unresolved}
    return Episode(
        ref.id, tuple(s for s in streams if want is None or s.role in want), task=_label(ref),
        source=Source(reader, listing.root, (file,), tuple(take.conversions), _SILENT),
        claims=(*take.claims, *_lengths(streams, file)), declared=listing.streams,
        meta={**meta, "task": "the file's name", "rows": max((len(s) for s in streams), default=0),
              **take.meta},
    )  # fmt: skip


def _label(ref: Ref) -> str:
    """The only words that such files have about what is done: the clip's name, else the file's."""
    return str(ref.parts[0].key.get("clip") or PurePosixPath(ref.parts[0].path).stem)


def _lengths(streams: Sequence[Stream], file: str) -> tuple[Claim, ...]:
    if not streams:
        return ()
    longest = max(len(s) for s in streams)
    return tuple(Claim("declared", "frames", str(longest), str(len(s)), float(longest - len(s)), s.name, file)
                 for s in streams)  # fmt: skip


def _rate(take: Take, ref: Ref, sheet: Sheet) -> Fraction | None:
    file, said, value = ref.parts[0].path, sheet.get("fps"), take.fps
    if said is not None and sheet.origin("fps") in _STRONG:
        if value is not None:
            take.claims.append(
                Claim("declared", "fps", f"{said:g}", f"{value:g}", abs(said - value), where=file)
            )
        if value is None or sheet.origin("fps") != "corpus":  # its own sheet does not overrule the file
            take.decided["fps"] = (said, f"the sheet ({sheet.origin('fps')})")
            return Fraction(said).limit_denominator(100_000)
    if value is None and (hint := re.search(r"(?<![0-9])(\d{1,3})_?(?:fps|hz)(?![a-z])", file.lower())):
        value, take.fps_why = float(hint[1]), f"the file's name {PurePosixPath(file).name!r}"
    if not value:
        take.unresolved["fps"] = take.fps_why
        return None
    take.decided["fps"] = (value, take.fps_why)
    return Fraction(value).limit_denominator(100_000)


def _stream(name: str, role: Role, x: NDArray[Any], channels: tuple[Channel, ...], rate: Fraction | None,
            **more: Any) -> Stream:  # fmt: skip
    step = 1e9 / float(rate) if rate else 1e9
    t: NDArray[np.int64] = np.rint(np.arange(len(x)) * step).astype(np.int64)
    return Stream(name, role, t, x, channels, Clock.NOMINAL, rate, **more)


def _joints(take: Take, sheet: Sheet, rate: Fraction | None, file: str) -> list[Stream]:
    if take.joints is None:
        return []
    wide = take.joints.shape[1] if take.velocity is None else take.velocity.shape[1]
    if wide != take.joints.shape[1]:
        raise UnreadableError("positions and velocities differ in width", where=file,
                              found=f"{take.joints.shape[1]} and {wide} joints")  # fmt: skip
    names, why = take.names or None, "named in the file"
    if names is None:
        names, why = name_joints(take.joints, sheet.body, take.usual, take.axes)
    if names is None:
        take.unresolved["joint order"] = why
        names = tuple(f"joint_{i}" for i in range(take.joints.shape[1]))
    else:
        take.decided["joint order"] = ("native" if take.names else " ".join(names), why)
    units = ["m" if "translation" in n else "rad" for n in names]  # skeletal knees slide as they bend
    channels = tuple(Channel(n, u, Role.JOINT_POSITION) for n, u in zip(names, units, strict=True))
    found = [_stream(take.joint_key, Role.JOINT_POSITION, take.joints, channels, rate)]
    if take.velocity is not None:
        channels = tuple(Channel(n, f"{u}/s", Role.JOINT_VELOCITY) for n, u in zip(names, units, strict=True))
        found.append(_stream(take.velocity_key, Role.JOINT_VELOCITY, take.velocity, channels, rate))
    return found


def _pose(take: Take, pose: Pose, sheet: Sheet, rate: Fraction | None, file: str) -> Stream:
    if len(pose.xyz) != len(pose.q):
        raise UnreadableError("positions and quaternions differ in length", where=f"{file}: {pose.name}",
                              found=f"{len(pose.xyz)} and {len(pose.q)}")  # fmt: skip
    order, why = _order(take, pose, sheet)
    item = "quaternion" if pose.role is Role.BASE_POSE else f"quaternion of {pose.name}"
    if order is None:
        take.unresolved[item] = why
        raw = ("q0", "q1", "q2", "q3")
        channels = (*POSE[:3], *(Channel(n, "1") for n in raw))
        return _stream(pose.name, pose.role, np.concatenate([pose.xyz, pose.q], axis=1), channels, rate,
                       frame="unresolved-quaternion")  # fmt: skip
    take.decided[item] = (order, why)
    if order == "xyzw":
        take.conversions.append(f"{pose.name}: quaternion from xyzw to wxyz")
    if pose.frame.startswith("unresolved"):
        take.unresolved[pose.frame.removeprefix("unresolved-")] = "the file does not state them"
    x = np.concatenate([pose.xyz, to_wxyz(pose.q, order)], axis=1)
    return _stream(pose.name, pose.role, x, POSE, rate, frame=pose.frame or "world")


def _order(take: Take, pose: Pose, sheet: Sheet) -> tuple[str | None, str]:
    seen, evidence = order_by_tilt(pose.q) if pose.upright else (None, "it need not be upright")
    if pose.rotvec is not None:
        second, more = order_by_rotvec(pose.q, pose.rotvec)
        if second is not None:
            seen, evidence = second, f"{more}; {evidence}"
    said = sheet.get("quaternion") if sheet.origin("quaternion") in _STRONG else None
    stated, by = (said, f"the sheet ({sheet.origin('quaternion')})") if said else (pose.order, pose.why)
    if not stated:
        return seen, evidence
    if seen is not None:
        size = float(seen != stated)
        take.claims.append(Claim("declared", "quaternion order", stated, seen, size, pose.name))
        if size and not said:
            return None, f"{by} says {stated}, but the {evidence}"
    return stated, f"{by}; {evidence}"


def _body(take: Take, body: Body, rate: Fraction | None) -> Stream:
    names = body.names or tuple(f"joint_{i}" for i in range(body.x.shape[1]))
    if not body.names:
        take.unresolved[f"joints of {body.name}"] = "the file does not name them"
    x, frame = body.x, "world"
    up, why = (f"+{body.up}", body.why) if body.up in ("y", "z") else (None, body.why)
    if body.up == "?":
        up, why = up_axis(body.x, body.names)
    if up == "+y":
        x = y_up_to_z_up(x)
        take.conversions.append(f"{body.name}: y up to z up, +90 deg about x")
    if body.up == "none":
        frame = "local"
    elif up in ("+y", "+z"):
        take.decided[f"up axis of {body.name}"] = (up, why)
    else:
        frame = "unresolved-up"
        take.unresolved[f"up axis of {body.name}"] = why if up is None else f"{why}: {up} is up"
    flat = x.reshape(len(x), x.shape[1] * 3)
    return _stream(body.name, Role.HUMAN_BODY, flat, body_channels(names, body.what), rate, frame=frame)
