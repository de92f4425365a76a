"""Real clips, opened through the reader once and decoded once; windows of them and joins of several."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np

from assay import plugs
from assay.corpus import discover
from assay.feature import Features
from assay.media import Container
from assay.model import Channel, Clip, Episode, Ref, Role, Stream
from assay.sheet import apply
from assay.signals.pictures import Pictures
from assay.synth import teleop
from assay.synth.pictures import container, film
from assay.synth.planting import column_statistics

__all__ = ["SETS", "Base", "decoded", "halved", "invented", "joined", "opened", "window"]

SETS: Final = {
    "g1v": "g1_inspire_teleop_v21_video",
    "g1s": "g1_inspire_teleop_v21_subset",
    "gr1": "robot_sim.PickNPlace",
}
"""Short name → folder of a real set."""


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """A clip nobody touched: its set's short name, episode, container indices and decoded pictures.

    ``start``: the row of the file's episode at which this part of it begins; ``number``: of a clip whose
    episode has a name instead.
    """

    set: str
    ep: Episode
    containers: dict[str, Container] = field(default_factory=dict)
    pictures: dict[str, Pictures] = field(default_factory=dict)
    start: int = 0
    number: int | None = None

    @property
    def name(self) -> str:
        if self.number is not None:
            return f"{self.set}/{self.number}"
        return f"{self.set}/{self.ep.id.removeprefix('episode_').lstrip('0') or '0'}"

    @property
    def camera(self) -> str:
        return next(iter(self.pictures), "")

    @property
    def rows(self) -> int:
        return len(self.state)

    @property
    def state(self) -> Stream:
        return self.ep.by_role(Role.JOINT_POSITION)[0]

    @property
    def action(self) -> Stream:
        return self.ep.by_role(Role.REQUEST)[0]


def opened(data: Path, sets: Sequence[str] = tuple(SETS), *, decode: bool = True) -> list[Base]:
    """Every present episode of the sets, in order, with its pictures if ``decode``.

    The GR1 set is read as a sheet would have it that says radians, and without the second camera that its
    metadata declares and never delivered.
    """
    found = []
    for short in sets:
        corpus = discover(data / "lerobot" / SETS[short])
        reader = plugs.readers()[corpus.listing.reader]
        for ref in corpus.listing.refs:
            if _there(corpus.listing.root, ref):
                ep = apply(corpus.sheet, reader.open(corpus.listing, ref, None, corpus.sheet))
                base = _indexed(short, _in_radians(ep) if short == "gr1" else _plain(ep))
                found.append(decoded(base) if decode else base)
    return found


def _there(root: Path, ref: Ref) -> bool:
    return bool(ref.parts[0].path) and (root / ref.parts[0].path).is_file()


def _plain(ep: Episode) -> Episode:
    """Without the camera that a set of ours was cut from: its absence is known, and not the subject here."""
    there = {s.name for s in ep.streams}
    return replace(ep, declared=tuple(d for d in ep.declared if d.name in there))


def _in_radians(ep: Episode) -> Episode:
    for s in ep.by_role(Role.JOINT_POSITION, Role.REQUEST):
        channels = tuple(
            Channel(c.name, "rad" if c.unit == "unknown" else c.unit, c.role) for c in s.channels
        )
        ep = ep.with_stream(replace(s, channels=channels))
    return _plain(ep)


def _indexed(short: str, ep: Episode) -> Base:
    containers = Features(ep, plugs.features(), {}, {}).get("containers")
    return Base(short, ep, {k: v for k, v in containers.items() if isinstance(v, Container)})


def decoded(base: Base) -> Base:
    """The clip with its pictures, decoded once and then kept in a temporary folder."""
    clips = {s.name: s.clip for s in base.ep.by_role(Role.CAMERA) if s.name in base.containers}
    return replace(base, pictures={name: _kept(base, clip, name) for name, clip in clips.items() if clip})


def _kept(base: Base, clip: Clip, name: str) -> Pictures:
    stat = (clip.root / clip.path).stat()
    kept = Path(tempfile.gettempdir(), "assay-power", f"{clip.root.name}-{Path(clip.path).stem}-{name}")
    kept = kept.with_name(f"{kept.name}-{stat.st_size}-{stat.st_mtime_ns}.npz")
    if not kept.is_file():
        seen: Pictures = Features(base.ep, plugs.features(), {}, {}).get("pictures")[name]
        kept.parent.mkdir(exist_ok=True)
        half = kept.with_name(f"{os.getpid()}-{kept.name}")  # whole or not at all: others look for it too
        np.savez(half, **{f.name: np.asarray(getattr(seen, f.name)) for f in fields(Pictures)})
        half.replace(kept)
    with np.load(kept) as held:
        read: dict[str, Any] = {f.name: held[f.name] for f in fields(Pictures)}
    return Pictures(**read | {"asked": int(read["asked"]), "error": str(read["error"])})


def invented(count: int = 4) -> list[Base]:
    """Synthetic teleoperation with pictures and statistics, where real clips are not here."""
    return [_invented(seed) for seed in range(count)]


def _invented(seed: int) -> Base:
    ep = teleop(12.0, seed=seed)
    camera, n = ep.by_role(Role.CAMERA)[0].name, len(ep.streams[0].t)
    statistics = {s.name: column_statistics(s.x) for s in ep.streams[:2]}
    seen = film(n, scene=np.full(n, seed))
    return Base("synth", replace(ep, statistics=statistics), {camera: container(n)}, {camera: seen})


def window(base: Base, first: int, end: int) -> Base:
    """Rows ``first`` up to ``end`` of a clip, and their pictures."""
    ep = base.ep
    for s in ep.streams:
        valid = None if s.valid is None else s.valid[first:end]
        ep = ep.with_stream(replace(s, t=s.t[first:end], x=np.asarray(s.x)[first:end], valid=valid))
    return Base(
        base.set, replace(ep, statistics={}, claims=()),
        {k: cut_container(v, first, end) for k, v in base.containers.items()},
        {k: cut_pictures(v, first, end) for k, v in base.pictures.items()}, base.start + first,
    )  # fmt: skip


def halved(base: Base) -> Base:
    """Every second row and picture, declared at half the rate: as the G1's 15 Hz camera should have been."""
    ep, keep = base.ep, np.arange(0, base.rows, 2)
    for s in ep.streams:
        rate = None if s.rate is None else s.rate / 2
        ep = ep.with_stream(replace(s, t=s.t[keep], x=np.asarray(s.x)[keep], rate=rate))
    seen, c = base.pictures[base.camera], base.containers[base.camera]
    half = replace(
        seen, t=seen.t[keep], key=seen.key[keep], mean=seen.mean[keep], digest=seen.digest[keep],
        thumbs=seen.thumbs[keep], asked=len(keep),
    )  # fmt: skip
    n = len(keep)
    file = replace(
        c, pts=c.pts[keep], t=c.t[keep], key=c.key[keep], packets=n, header=n,
        rate=c.rate / 2,
    )  # fmt: skip
    return Base("g1h", replace(ep, statistics={}), {base.camera: file}, {base.camera: half})


def cut_container(c: Container, first: int, end: int) -> Container:
    """The index of a file that holds these pictures only."""
    part = slice(first, end)
    n = len(c.pts[part])
    return replace(c, pts=c.pts[part], t=c.t[part], key=c.key[part], packets=n, header=n)


def cut_pictures(p: Pictures, first: int, end: int) -> Pictures:
    """These pictures only, counted from the first of them."""
    part = slice(first, end)
    return replace(
        p, t=p.t[part] - p.t[first], key=p.key[part], mean=p.mean[part], digest=p.digest[part],
        thumbs=p.thumbs[part], asked=len(p.t[part]),
    )  # fmt: skip


def joined(bases: Sequence[Base], rows: int, rng: np.random.Generator) -> Base:
    """Clips of one set in random order, end to end on an even clock, cut at ``rows``; no pictures.

    A share of frames is planted in whole frames only where the clip is long.
    """
    order: list[Base] = []
    while sum(b.rows for b in order) < rows:
        order += [bases[i] for i in rng.permutation(len(bases))]
    rate = order[0].state.rate or Fraction(30)
    t = np.rint(np.arange(rows) * 1e9 / float(rate)).astype(np.int64)
    ep = replace(order[0].ep, statistics={}, claims=(), declared=())
    for s in (order[0].state, order[0].action):
        x = np.concatenate([np.asarray(_named(b, s.name).x) for b in order])[:rows]
        ep = ep.with_stream(replace(s, t=t, x=x))
    kept = tuple(s for s in ep.streams if s.name in (order[0].state.name, order[0].action.name))
    return Base(order[0].set, replace(ep, streams=kept))


def _named(base: Base, name: str) -> Stream:
    found = base.ep.stream(name)
    assert found is not None
    return found
