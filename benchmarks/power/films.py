"""Faults of pictures, planted in what decoding keeps of them: no re-encoding (see `recoded` for that)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.power.clips import Base, cut_container, window
from benchmarks.power.rows import pick
from benchmarks.power.trials import Planted, Rng
from numpy.typing import NDArray

from assay.media import Container
from assay.signals.cadence import STALE, Fresh, fresh_share
from assay.signals.pictures import Pictures
from assay.synth.planting import place_of

__all__ = [
    "counted", "freeze", "frozen_pictures", "leaked", "slow", "slowed", "splice", "surplus", "truth",
    "undecodable",
]  # fmt: skip

SHORT = 120
"""Rows around the fault that are looked at: what matters to the gate lies within 15 of it."""


def truth(base: Base, first: int, end: int, channel: str, **given: Any) -> Planted:
    """The truth of pictures ``first`` to ``end`` of the clip's camera."""
    camera = base.ep.stream(base.camera)
    assert camera is not None
    t = camera.t
    held = {"containers": base.containers, "pictures": base.pictures, **given}
    return Planted(base.ep, int(t[first]), int(t[min(end, len(t) - 1)]), base.camera, (channel,), held)


def reordered(base: Base, order: NDArray[np.intp], noise: NDArray[np.int32] | int = 0) -> Base:
    """The same clip whose picture at place i is picture ``order[i]``, with a change of its thumbnails."""
    seen = base.pictures[base.camera]
    thumbs = np.clip(seen.thumbs[order].astype(np.int32) + noise, 0, 65535).astype(np.uint16)
    shown = replace(seen, mean=seen.mean[order], digest=seen.digest[order], thumbs=thumbs)
    return replace(base, pictures={**base.pictures, base.camera: shown})


def around(base: Base, first: int, frames: int) -> tuple[Base, int]:
    """A window of 120 rows (and the fault's) with row ``first`` in the middle, and where that row now is."""
    n = SHORT + frames
    a = int(np.clip(first - n // 2, 0, max(base.rows - n, 0)))
    return window(base, a, min(a + n, base.rows)), first - a


def frozen_pictures(bases: Sequence[Base], dose: float, rng: Rng) -> Planted | None:
    """``dose`` transitions show nothing new while the arms move; repeats differ as this camera's own do."""
    found = freeze(bases, dose, rng)
    if found is None:
        return None
    base, order, again, a = found
    noise = _recoding(base.pictures[base.camera], again, a, round(dose), rng)
    return truth(reordered(base, order, noise), a, a + round(dose), "pictures")


Frozen = tuple[Base, NDArray[np.intp], NDArray[np.bool_], int]


def freeze(bases: Sequence[Base], dose: float, rng: Rng) -> Frozen | None:
    """A part of a clip, the order of its pictures, which of its transitions repeat, the still one's place."""
    whole, k = pick(bases, rng), round(dose)
    fresh = _fresh(whole)
    at = place_of(whole.ep, k + 1, rng)
    if not fresh.share[at - 1] > 0.3:
        return None  # the camera repeats here by itself: the stretch would be longer than planted
    base, a = around(whole, at, k)
    order = np.arange(base.rows)
    order[a : a + k + 1] = a
    return base, order, fresh.share[at - a : at - a + base.rows - 1] < STALE / 2, a


_KNOWN: dict[str, Fresh] = {}


def _fresh(base: Base) -> Fresh:
    """Which of a clip's own pictures are new, worked out once."""
    if base.name not in _KNOWN:
        seen = base.pictures[base.camera]
        _KNOWN[base.name] = fresh_share(seen.thumbs, seen.key)
    return _KNOWN[base.name]


def _recoding(seen: Pictures, again: NDArray[np.bool_], a: int, k: int, rng: Rng) -> NDArray[np.int32]:
    """(n, h, w) what coding adds to ``k`` repeats after picture a, from natural repeats of this camera.

    An encoder gives equal pictures equal bytes, but for the kind (key or not): two patterns in turn.
    """
    noise = np.zeros(seen.thumbs.shape, np.int32)
    own = np.flatnonzero(again)
    if len(own) >= 5:
        for turn, one in enumerate(rng.choice(own, 2)):
            noise[a + 1 + turn : a + k + 1 : 2] = seen.thumbs[one + 1].astype(np.int32) - seen.thumbs[one]
    return noise


def slowed(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The camera runs at ``dose`` of the declared rate and repeats its last picture in between."""
    base, order = slow(bases, dose, rng)
    return truth(reordered(base, order), 0, base.rows - 1, "pictures")


def slow(bases: Sequence[Base], dose: float, rng: Rng) -> tuple[Base, NDArray[np.intp]]:
    """200 rows of a clip and the order in which such a camera shows their pictures."""
    base, n = pick(bases, rng), 200
    a = int(rng.integers(0, base.rows - n + 1))
    base, phase = window(base, a, a + n), rng.uniform()
    new = np.floor(np.arange(n) * dose + phase)
    return base, np.clip(np.ceil((new - phase) / dose - 1e-9), 0, n - 1).astype(np.intp)


def leaked(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The last ``dose`` pictures are those of another take of the same rig: its start, or any part of it."""
    base, tail = splice(bases, dose, rng)
    seen, theirs = base.pictures[base.camera], tail.pictures[tail.camera]
    thumbs = np.concatenate((seen.thumbs[: base.rows - tail.rows], theirs.thumbs))
    spliced = replace(base, pictures={base.camera: replace(seen, thumbs=thumbs)})
    return truth(spliced, base.rows - tail.rows - 1, base.rows - tail.rows, "cut")


def splice(bases: Sequence[Base], dose: float, rng: Rng) -> tuple[Base, Base]:
    """120 rows of a clip, and the ``dose`` rows of another one whose pictures end it."""
    base, k = pick(bases, rng), round(dose)
    other = pick([b for b in bases if b.set == base.set and b is not base], rng)
    end = int(rng.integers(SHORT, base.rows + 1))
    start = 0 if rng.integers(2) else int(rng.integers(0, other.rows - k + 1))
    return window(base, end - SHORT, end), window(other, start, start + k)


def surplus(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """``dose`` pictures follow in the file after the last row's."""
    base = pick(bases, rng)
    planted = truth(base, base.rows - 1, base.rows - 1, "surplus", pictures=None)
    more = {base.camera: _longer(base.containers[base.camera], round(dose))}
    return replace(
        planted, t1=planted.t1 + round(dose * 1e9 / 20), given={**planted.given, "containers": more}
    )


def counted(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """The file has ``dose`` pictures more or fewer than the episode has rows."""
    base, k = pick(bases, rng), round(dose)
    c = base.containers[base.camera]
    changed = _longer(c, k) if rng.integers(2) else cut_container(c, 0, len(c.pts) - k)
    return truth(base, 0, base.rows - 1, "pictures", pictures=None, containers={base.camera: changed})


def _longer(c: Container, more: int) -> Container:
    step, last = int(c.pts[1] - c.pts[0]), int(c.t[1] - c.t[0])
    pts = np.concatenate((c.pts, c.pts[-1] + step * np.arange(1, more + 1)))
    t = np.concatenate((c.t, c.t[-1] + last * np.arange(1, more + 1)))
    key = np.concatenate((c.key, np.zeros(more, bool)))
    return replace(c, pts=pts, t=t, key=key, packets=len(pts), header=len(pts))


def undecodable(bases: Sequence[Base], dose: float, rng: Rng) -> Planted:
    """``dose`` pictures in a row cannot be decoded."""
    base, k = pick(bases, rng), round(dose)
    seen = base.pictures[base.camera]
    a = int(rng.integers(0, seen.decoded - k + 1))
    keep = np.delete(np.arange(seen.decoded), np.s_[a : a + k])
    holed = replace(
        seen, t=seen.t[keep], key=seen.key[keep], mean=seen.mean[keep], digest=seen.digest[keep],
        thumbs=seen.thumbs[keep], missing=seen.t[a : a + k], error="invalid data",
    )  # fmt: skip
    return truth(base, a, a + k, "pictures", pictures={base.camera: holed})
