"""BVH: a skeleton with Euler angles per frame, as world positions of its joints.

Layout. HIERARCHY of ROOT, JOINT and End Site with OFFSET and CHANNELS in any order; MOTION with ``Frames``,
``Frame Time`` (s) and one line of numbers a frame.

The format states neither unit nor up axis. The unit is decided from the skeleton's own size (a person is
1.2 to 2.2 m tall from foot to head at rest), the up axis from where the head is; both are listed as
conversions, else left unresolved. Positions come from the file's own hierarchy by forward kinematics; the
stored Euler angles, in rad and the file's channel order, are the second stream.

Traps met. Channel order differs per joint (ZYX, ZXY); ``Frame Time`` is rounded (0.0333333 is 30 Hz);
``Frames`` may not be the number of lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.model import Channel, Claim, Episode, Listing, Ref, Role, StreamDecl
from assay.motion.poses import rotation
from assay.motion.take import Body, Floats, Signal, Take, body_channels, episode, unended
from assay.motion.walk import Peek, list_clips, share_of
from assay.reader import Probe, reader
from assay.sheet import Sheet

__all__ = ["READER"]

NAME: Final = "bvh"
SUFFIXES: Final = (".bvh",)
MOST_BYTES: Final = 1 << 30
MOST_HEAD: Final = 4 << 20
MOST_JOINTS: Final = 2000
LOOSE: Final = 64 << 20
MOST_RATIO: Final = 20
"""Bytes of positions for each byte of motion, beyond ``LOOSE``: joints without channels cost a file none."""
BLOCK: Final = 1 << 20
"""Joints times frames that are placed at once."""
TALL: Final = (1.2, 2.2)
"""m from foot to head of a person at rest; decides the unit."""
UNITS: Final = {"m": 1.0, "cm": 0.01, "mm": 0.001}


@dataclass(slots=True)
class Skeleton:
    """Joints in file order: name, parent (-1: none), offset, channels."""

    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    offsets: list[list[float]] = field(default_factory=list)
    channels: list[list[str]] = field(default_factory=list)
    frames: int = 0
    time: float = 0.0
    rest: bytes = b""


def _parsed(text: bytes, file: str) -> Skeleton:
    """The hierarchy and the head of the motion."""
    head, found, motion = text.partition(b"MOTION")
    words = iter(head.split())
    if next(words, b"") != b"HIERARCHY" or not found:
        raise UnreadableError("the file has no hierarchy and motion", where=file)
    try:
        skeleton = _hierarchy(words)
        lines = motion.split(b"\n", 3)
        skeleton.frames = int(_after(lines[1], b"Frames:"))
        skeleton.time = float(_after(lines[2], b"Frame Time:"))
    except (StopIteration, ValueError, IndexError) as error:
        raise UnreadableError("the hierarchy or the head of the motion is broken", where=file,
                              found=str(error)[:80] or "cut off") from None  # fmt: skip
    if not 0 <= skeleton.frames < 2**31 or not 1e-6 < skeleton.time < 1e4:
        raise UnreadableError("frames or frame time are not usable", where=file,
                              found=f"{skeleton.frames} frames of {skeleton.time} s")  # fmt: skip
    skeleton.rest = lines[3] if len(lines) > 3 else b""
    return skeleton


def _after(line: bytes, label: bytes) -> bytes:
    start, _, value = line.partition(b":")
    if start.strip().lower() != label.rstrip(b":").lower():
        raise ValueError(f"{label.decode()} is missing")
    return value


def _hierarchy(words: Iterator[bytes]) -> Skeleton:
    made = Skeleton()
    stack: list[int] = []
    for word in words:
        if word in (b"ROOT", b"JOINT"):
            _joint(made, next(words).decode("utf-8", "replace"), stack)
        elif word == b"End":
            next(words)
            end = f"{made.names[stack[-1]]}_end" if stack else "end"
            _joint(made, end, stack)
        elif word == b"{":
            stack.append(len(made.names) - 1)
        elif word == b"}":
            stack.pop()
        elif word == b"OFFSET":
            made.offsets[stack[-1]] = [float(next(words)) for _ in range(3)]
        elif word == b"CHANNELS":
            names = [next(words).decode().lower() for _ in range(int(next(words)))]
            if any(n[:1] not in "xyz" or n[1:] not in ("position", "rotation") for n in names):
                raise ValueError(f"channel {' '.join(names)[:40]}")
            made.channels[stack[-1]] = names
        else:
            raise ValueError(f"{word[:20]!r}")
    if stack or not made.names:
        raise ValueError("a bracket is open")
    return made


def _joint(made: Skeleton, name: str, stack: list[int]) -> None:
    if len(made.names) >= MOST_JOINTS:
        raise ValueError("too many joints")
    made.names.append(name if name not in made.names else f"{name}_{len(made.names)}")
    made.parents.append(stack[-1] if stack else -1)
    made.offsets.append([0.0, 0.0, 0.0])
    made.channels.append([])


def peek(root: Path, file: str) -> list[Peek]:
    """One clip, from the file's head."""
    with open_inside(root, file) as stream:
        made = _parsed(stream.read(MOST_HEAD), file)
    streams = (StreamDecl("positions", Role.HUMAN_BODY, body_channels(made.names, "position")),)
    return [Peek("skeleton", made.frames, fps=_rate(made.time), streams=streams)]


def _rate(time: float) -> float:
    """1 / frame time, taken as the whole number that it was rounded from."""
    rate = 1.0 / time
    return float(round(rate)) if rate >= 1 and abs(rate - round(rate)) < 1e-3 * rate else rate


def probe(path: Path) -> Probe:
    """How many of the first BVH files have a hierarchy."""
    return Probe(*share_of(path, SUFFIXES, peek, "skeletons with motion", human=True))


def discover(path: Path) -> Listing:
    """Every BVH file below the folder; one episode each."""
    return list_clips(NAME, path, SUFFIXES, peek)


def open_(listing: Listing, ref: Ref, want: frozenset[Role] | None, sheet: Sheet) -> Episode:
    """Open a clip.

    Raises:
        UnreadableError: if the hierarchy is broken or the motion is cut off.
    """
    file = ref.parts[0].path
    with open_inside(listing.root, file) as stream:
        made = _parsed(stream.read(MOST_BYTES), file)
    x = _motion(made, file)
    wide = len(x) * len(made.names) * 24
    if wide > max(LOOSE, MOST_RATIO * len(made.rest)):
        raise UnreadableError("the skeleton has more joints than the motion can move", where=file,
                              found=f"{wide} bytes of positions from {len(made.rest)}")  # fmt: skip
    take = Take("skeleton", fps=_rate(made.time), fps_why=f"frame time {made.time:g} s")
    size = float(abs(made.frames - len(x)))
    take.claims.append(Claim("declared", "Frames", str(made.frames), str(len(x)), size, where=file))
    take.claims.append(unended(made.rest.endswith(b"\n"), file))
    unit, why = _unit(made)
    if unit is None:
        take.unresolved["unit"] = why
    else:
        take.decided["unit"] = (unit, why)
        take.conversions.append(f"positions: {unit} to m")
    with np.errstate(all="ignore"):  # "nan" and "inf" are numbers to a text file
        positions = _positions(made, x) * UNITS.get(unit or "", 1.0)
    take.bodies = (Body("positions", positions, tuple(made.names)),)
    take.signals = (_angles(made, x),)
    take.conversions += ["positions: by forward kinematics of the file's hierarchy", "angles: deg to rad"]
    ep = episode(NAME, listing, ref, want, sheet, take)
    return ep if unit else _without_unit(ep)


def _without_unit(ep: Episode) -> Episode:
    stream = ep.stream("positions")
    if stream is None:
        return ep
    return ep.with_stream(
        replace(stream, channels=tuple(replace(c, unit="unknown") for c in stream.channels))
    )


def _motion(made: Skeleton, file: str) -> Floats:
    width = sum(len(c) for c in made.channels)
    try:
        flat = np.array(made.rest.split(), dtype=np.float64)
    except ValueError as error:
        raise UnreadableError(
            "the motion is no table of numbers", where=file, found=str(error)[:80]
        ) from None
    if not width or len(flat) % width:
        raise UnreadableError("the last frame is cut off", where=file, found=f"{len(flat)} numbers",
                              expected=f"a multiple of {width}")  # fmt: skip
    return flat.reshape(-1, width)


def _positions(made: Skeleton, x: Floats) -> Floats:
    """World positions (n, J, 3) by walking the hierarchy, in the file's unit and axes."""
    step = max(1, BLOCK // len(made.names))
    return np.concatenate([_placed(made, x[i : i + step]) for i in range(0, max(1, len(x)), step)])


def _placed(made: Skeleton, x: Floats) -> Floats:
    n, at = len(x), 0
    turned: list[Floats] = []
    placed: list[Floats] = []
    for joint, channels in enumerate(made.channels):
        parent = made.parents[joint]
        local = np.tile(np.array(made.offsets[joint]), (n, 1))
        turn = np.tile(np.eye(3), (n, 1, 1))
        if any(c.endswith("position") for c in channels):
            local = np.zeros((n, 3))  # they replace the offset, as in LAFAN1
        for channel in channels:
            axis, value = channel[0], x[:, at]
            at += 1
            if channel.endswith("position"):
                local[:, "xyz".index(axis)] += value
            else:
                turn = turn @ rotation(axis, np.radians(value))
        placed.append(
            local if parent < 0 else placed[parent] + np.einsum("nij,nj->ni", turned[parent], local)
        )
        turned.append(turn if parent < 0 else turned[parent] @ turn)
    return np.stack(placed, axis=1)


def _angles(made: Skeleton, x: Floats) -> Signal:
    named = [(f"{n}.{c}", c) for n, channels in zip(made.names, made.channels, strict=True) for c in channels]
    turns = [i for i, (_, c) in enumerate(named) if c.endswith("rotation")]
    channels = tuple(Channel(named[i][0], "rad") for i in turns)
    return Signal("angles", Role.OTHER, np.radians(x[:, turns]), channels, frame="local")


def _unit(made: Skeleton) -> tuple[str | None, str]:
    """The unit in which the skeleton at rest is as tall as a person."""
    rest: list[Floats] = []
    for joint, parent in enumerate(made.parents):
        offset = np.array(made.offsets[joint])
        rest.append(np.zeros(3) if parent < 0 else rest[parent] + offset)
    extent = float(np.ptp(np.array(rest), axis=0)[1:].max())
    fitting = [unit for unit, factor in UNITS.items() if TALL[0] <= extent * factor <= TALL[1]]
    text = f"the skeleton at rest is {extent:.3g} tall"
    return (fitting[0], text) if len(fitting) == 1 else (None, f"{text}, which fits a person in no unit")


READER: Final = reader(
    name=NAME, version=1,
    title="BVH motion capture",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
