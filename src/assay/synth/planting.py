"""What a fault is: a change of an `Episode` in memory, and the truth of what it planted where.

What an episode cannot hold (pictures, bytes, metadata) a fault notes in `Disk`, which `assay.synth.takes`
carries over to files: the same numbers in memory and on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.errors import UsageError
from assay.model import Episode, Role, Stream

__all__ = [
    "Change",
    "Disk",
    "Fault",
    "Int64",
    "Rng",
    "Truth",
    "column_statistics",
    "columns_of",
    "disk",
    "keep_rows",
    "limbs_of",
    "noted",
    "place_of",
    "rows_in",
    "shown",
    "state_of",
    "stream_of",
    "streams_of",
    "truth_of",
    "with_values",
]

Int64 = NDArray[np.int64]
Rng = np.random.Generator
Change = Callable[[Episode, float, Rng, str], "tuple[Episode, Truth]"]

_DISK: Final = "synth/disk"
_LIMBS: Final = ("arm", "leg", "waist")


@dataclass(frozen=True, slots=True)
class Truth:
    """What was planted: stream, channel and int64 ns interval of the resulting episode, and its size."""

    fault: str
    gate: str
    episode: str
    stream: str
    channel: str
    t0: int
    t1: int
    size: float


@dataclass(frozen=True, slots=True)
class Disk:
    """What a fault changes beyond streams, for the writer of files.

    Attributes:
        rows: (m,) index of the original row at each place; None: all, in order.
        pictures: camera → (m,) index of the original picture at each place.
        encode: cameras whose pictures are encoded anew; kept: camera → share of the file's bytes kept.
        missing: cameras whose file is absent; ``data`` stands for the rows themselves.
        length: rows by which the declared length is wrong; pointer: episodes by which the pointer is off.
        duplicate: a column that is stored twice; totals: amounts added to totals of the corpus.
    """

    rows: Int64 | None = None
    pictures: Mapping[str, Int64] = field(default_factory=dict)
    encode: frozenset[str] = frozenset()
    kept: Mapping[str, float] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    length: int = 0
    pointer: int = 0
    duplicate: str = ""
    totals: Mapping[str, int] = field(default_factory=dict)


def disk(ep: Episode) -> Disk:
    """What the faults of this episode change beyond its streams."""
    found: Disk = ep.meta.get(_DISK, Disk())
    return found


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault.

    Attributes:
        name: kebab-case; unit: of size; dose: what grows with the size.
        gate: the code of the gate that must find it, empty for a control.
        low, high: the sizes that make sense; doses: a ladder within, for power studies.
        change: (episode, size, generator, channel or "") → (episode, truth).
    """

    name: str
    unit: str
    dose: str
    gate: str
    low: float
    high: float
    doses: tuple[float, ...]
    change: Change

    def apply(self, ep: Episode, size: float, seed: int, channel: str = "") -> tuple[Episode, Truth]:
        """Plant it: same episode, size and seed, same result; the episode given is not changed.

        Args:
            ep: a clean episode (or one that already holds other faults).
            size: in ``unit``, within ``low`` to ``high``.
            seed: chooses place and channel.
            channel: a channel to use instead of a seeded one, where the fault has one.

        Raises:
            UsageError: if the size is out of range or the episode has not what the fault needs.
        """
        if not self.low <= size <= self.high:
            raise UsageError(f"the size of {self.name} is out of range", found=f"{size:g}",
                             expected=f"{self.low:g} to {self.high:g} {self.unit}".strip())  # fmt: skip
        after, truth = self.change(ep, size, np.random.default_rng(seed), channel)
        gate = truth.gate or self.gate
        return after, replace(truth, fault=self.name, gate=gate, episode=ep.id, size=size)


def column_statistics(x: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """min, max, mean, std (c,) and count (1,) over rows, in float64, values that are not finite left out."""
    values = np.asarray(x, np.float64).reshape(len(x), -1)
    values = np.ma.masked_invalid(values)
    found = {name: getattr(values, name)(axis=0) for name in ("min", "max", "mean", "std")}
    return {k: np.ma.filled(v, np.nan) for k, v in found.items()} | {"count": np.array([len(x)])}


# ------------------------------------------------------------------------------------------- what is there


def stream_of(ep: Episode, role: Role) -> Stream:
    """The first stream of a role; `UsageError` where there is none."""
    found = ep.by_role(role)
    if not found:
        raise UsageError("the episode has no stream for this defect", where=ep.id, expected=f"a {role}")
    return found[0]


def state_of(ep: Episode) -> Stream:
    """The joint positions."""
    return stream_of(ep, Role.JOINT_POSITION)


def streams_of(ep: Episode) -> tuple[Stream, ...]:
    """Every stream that is rows of a table."""
    return tuple(s for s in ep.streams if s.role is not Role.CAMERA)


def truth_of(s: Stream, first: int, end: int, channel: str = "") -> Truth:
    """The truth of rows ``first`` up to ``end`` of a stream; `Fault.apply` fills in the rest."""
    return Truth("", "", "", s.name, channel, int(s.t[first]), int(s.t[min(end, len(s) - 1)]), 0.0)


def limbs_of(ep: Episode, s: Stream) -> Int64:
    """Columns of arm, leg and waist joints; every column where the body is unknown."""
    if ep.embodiment is None:
        return np.arange(s.x.shape[1])
    joint = ep.embodiment.resolve(s.names)
    limbs = [c for c, j in enumerate(joint) if j >= 0 and ep.embodiment.joints[j].part in _LIMBS]
    return np.array(limbs, np.int64)


def columns_of(ep: Episode, s: Stream, count: int, rng: Rng, channel: str) -> Int64:
    """``count`` seeded columns among the livelier half, or those from ``channel`` on."""
    if channel:
        if channel not in s.names:
            raise UsageError("unknown channel", where=s.name, found=repr(channel))
        return np.array([s.names.index(channel)])
    limbs = limbs_of(ep, s)
    spread = np.ptp(np.nan_to_num(np.asarray(s.x)[:, limbs]), axis=0)
    lively = limbs[spread >= np.median(spread)]
    return np.sort(rng.choice(lively if len(lively) >= count else np.arange(s.x.shape[1]), count, False))


def place_of(ep: Episode, frames: int, rng: Rng) -> int:
    """First row of a stretch of ``frames`` rows in which the robot moves, seeded among the liveliest."""
    moved = next((s for s in ep.by_role(Role.REQUEST, Role.JOINT_POSITION)), None)
    n = len(moved) if moved is not None else min(len(s) for s in ep.streams)
    if frames < 1 or frames > n - 4:
        raise UsageError("the episode is too short for this size", where=ep.id, found=f"{n} rows",
                         expected=f"more than {frames + 4}")  # fmt: skip
    starts = np.arange(2, n - frames - 1)
    if moved is None:
        return int(rng.choice(starts))
    step = np.nan_to_num(np.abs(np.diff(np.asarray(moved.x)[:, limbs_of(ep, moved)], axis=0))).mean(axis=1)
    total = np.concatenate(([0.0], np.cumsum(step)))
    motion = total[starts + frames - 1] - total[starts - 1]
    return int(rng.choice(starts[motion >= np.quantile(motion, 0.6)]))


def rows_in(ep: Episode, seconds: float) -> int:
    """Rows that fit into a time, at least one."""
    t = state_of(ep).t
    return max(1, round(seconds * 1e9 * (len(t) - 1) / int(t[-1] - t[0])))


def with_values(ep: Episode, s: Stream, x: NDArray[Any]) -> Episode:
    """A copy in which a stream has these values."""
    return ep.with_stream(replace(s, x=x))


def noted(ep: Episode, **changes: Any) -> Episode:
    """A copy whose `Disk` has these changes."""
    return replace(ep, meta={**ep.meta, _DISK: replace(disk(ep), **changes)})


def shown(ep: Episode, cameras: tuple[Stream, ...], order: Int64, *, encode: bool = False) -> Episode:
    """Show picture ``order[i]`` at place i of each camera."""
    known = disk(ep).pictures
    names = [c.name for c in cameras]
    pictures = {**known, **{n: known[n][order] if n in known else order for n in names}}
    return noted(ep, pictures=pictures, encode=disk(ep).encode | set(names if encode else ()))


def keep_rows(ep: Episode, rows: Int64, *, stamps: Literal["own", "even"] = "own") -> Episode:
    """A copy that keeps these rows of every stream but cameras, with their own stamps or those from 0 on."""
    kept = ep
    for s in streams_of(ep):
        kept = kept.with_stream(replace(s, x=np.asarray(s.x)[rows],
                                        t=s.t[rows] if stamps == "own" else s.t[: len(rows)]))  # fmt: skip
    before = disk(ep).rows
    return noted(kept, rows=rows if before is None else before[rows])
