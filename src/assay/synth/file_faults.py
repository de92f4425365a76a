"""Faults of pictures, files and metadata: (episode, size, generator, channel or "") → (episode, truth)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from assay.model import Claim, Episode, Role, Topic
from assay.synth.planting import (
    Change,
    Rng,
    Truth,
    column_statistics,
    columns_of,
    disk,
    keep_rows,
    noted,
    place_of,
    shown,
    state_of,
    stream_of,
    truth_of,
)

# --------------------------------------------------------------------------------------------- pictures


def _whole(ep: Episode) -> Truth:
    camera = stream_of(ep, Role.CAMERA)
    return truth_of(camera, 0, len(camera))


def late(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """Row i + size is shown with picture i: lengths consistent, no picture repeated."""
    n, late = len(state_of(ep)), round(size)
    shifted = keep_rows(ep, np.arange(late, n), stamps="even")
    cut = [replace(c, t=c.t[: n - late], x=c.x[: n - late]) for c in ep.by_role(Role.CAMERA)]
    for camera in cut:
        shifted = shifted.with_stream(camera)
    return shown(shifted, tuple(cut), np.arange(n - late)), _whole(shifted)


def cut(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """The first ``size`` of the file's bytes are there (D10, D16)."""
    camera, old = stream_of(ep, Role.CAMERA), disk(ep).kept
    return noted(ep, kept={**old, camera.name: size}), _whole(ep)


def short(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """A playable file with the first ``size`` of the pictures (D07)."""
    camera = stream_of(ep, Role.CAMERA)
    n = round(size * len(camera))
    return shown(ep, (camera,), np.arange(n)), truth_of(camera, n, len(camera))


def frozen_pictures(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """The picture before is shown again for ``size`` frames while the robot moves."""
    camera, frames = stream_of(ep, Role.CAMERA), round(size)
    a, order = place_of(ep, frames, rng), np.arange(len(stream_of(ep, Role.CAMERA)))
    order[a : a + frames] = a - 1
    return shown(ep, (camera,), order), truth_of(camera, a, a + frames)


def reencoded(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """A control: the same pictures in another encoding."""
    camera = stream_of(ep, Role.CAMERA)
    return shown(ep, (camera,), np.arange(len(camera)), encode=True), _whole(ep)


def leaked(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """The opening of another take follows the last picture (D08): here this episode's own opening."""
    camera, n = stream_of(ep, Role.CAMERA), len(stream_of(ep, Role.CAMERA))
    order = np.concatenate((np.arange(n), np.arange(round(size)) % n))
    end = int(camera.t[-1])
    extra = round(size * (end - int(camera.t[0])) / max(n - 1, 1))
    return shown(ep, (camera,), order), replace(_whole(ep), t0=end, t1=end + extra)


# --------------------------------------------------------------------------------------------- metadata


def _claimed(ep: Episode, topic: Topic, about: str, declared: Any, found: Any, size: float = 1.0) -> Episode:
    claim = Claim(topic, about, str(declared), str(found), float(size))
    return replace(ep, claims=(*ep.claims, claim))


def _all(ep: Episode, channel: str = "") -> Truth:
    s = state_of(ep)
    return replace(truth_of(s, 0, len(s)), stream="", channel=channel)


def stale(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """The stored statistics of one column are those of rows that lie ``size`` deviations elsewhere (D13)."""
    s = state_of(ep)
    c = int(columns_of(ep, s, 1, rng, channel)[0])
    stored = {k: np.array(v, np.float64) for k, v in column_statistics(s.x).items()}
    for name in ("min", "max", "mean"):
        stored[name][c] += size * stored["std"][c]
    return replace(ep, statistics={**ep.statistics, s.name: stored}), truth_of(s, 0, len(s), s.names[c])


def wrong_length(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """The metadata states ``size`` rows more than there are (D03)."""
    n, off = len(state_of(ep)), round(size)
    wrong = noted(ep, length=disk(ep).length + off)
    return _claimed(wrong, "boundary", "length", n + off, n, abs(off)), _all(ep, "length")


def wrong_pointer(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """The metadata leads to another episode's rows (D11, D12)."""
    wrong = noted(ep, pointer=round(size))
    return _claimed(wrong, "pointer", "episode_index", ep.id, "another episode"), _all(ep, "episode_index")


def missing(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """The file of the first camera is absent; without cameras, the rows are."""
    camera = next(iter(ep.by_role(Role.CAMERA)), None)
    name = camera.name if camera is not None else "data"
    gone = noted(ep.without_stream(name), missing=disk(ep).missing | {name})
    return _claimed(gone, "file", name, "present", "absent"), replace(_all(ep), stream=name)


def doubled(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
    """A column is stored twice under one name."""
    twice = noted(ep, duplicate="task_index")
    return _claimed(twice, "duplicate-column", "task_index", "1", "2"), _all(ep, "task_index")


def lie(about: str) -> Change:
    """A total or split of the corpus is ``size`` beyond the episodes there."""

    def change(ep: Episode, size: float, rng: Rng, channel: str) -> tuple[Episode, Truth]:
        totals = {**disk(ep).totals, about: round(size)}
        wrong = noted(ep, totals=totals)
        return _claimed(wrong, "declared", about, f"{size:+g}", "", abs(size)), _all(ep, about)

    return change
