"""Feature and statistic: how late each camera is by what it shows, against what the joints did.

The map from joints to picture motion is learnt over the corpus by Calibration; an episode is judged by the
map that did not see it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.feature import feature, statistic
from assay.model import Clock, Episode, Role, Stream
from assay.signals.content_doubt import doubts
from assay.signals.content_lag import (
    FEW,
    Drift,
    Estimate,
    Map,
    Windows,
    drift,
    ends,
    learn,
    segments,
    tells,
    windows,
)
from assay.signals.flow import Flow, block_flow
from assay.signals.lost_frames import Step, lag_steps
from assay.signals.offsets import Offset
from assay.signals.onward import Cut, cut_off, onward, sparse
from assay.signals.pictures import Pictures
from assay.signals.travel import joint_columns

__all__ = ["Content", "Moves", "content", "moves", "picture_map"]

_MOST: Final = 120.0  # s of an episode that the map is learnt from
_MARGIN: Final = 2.0  # s of joints on either side


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """What one camera shows moving, and what the joints do.

    Attributes:
        flow: of its blocks, on the episode's clock.
        q: (m, d) positions of all joints that are no fingers, as stored; tq: (m,) int64 ns.
        names: (d,) of the columns; against: name of the first stream that they come from.
        cut: stream and what of it is not among these, where that is more than single strays.
    """

    flow: Flow
    q: NDArray[np.float64]
    tq: NDArray[np.int64]
    names: tuple[str, ...]
    against: str
    cut: tuple[tuple[str, Cut], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """How late one camera is, beyond what the corpus shares.

    Attributes:
        ends: one `Estimate` (whole) or two (start, end); offsets of those that speak: `by_end`.
        doubts: a silent `Estimate` for each stretch that speaks against them, and one of its lag if known;
            a silent one for each stream of which a stretch is not looked at.
        offsets: lags along the episode for a drift: the ends, or one per 10 s of a long episode.
        run: the drift by content; steps: places where the lag may step, as where pictures are missing.
        seconds: length of what was looked at.
        lag: s from joints to pictures that the corpus shares, the method's own bias included.
        why, detail: why nothing could be estimated, a code of `assay.gate.REASONS`; empty where it could.
    """

    ends: tuple[Estimate, ...] = ()
    doubts: tuple[Estimate, ...] = ()
    by_end: tuple[Offset, ...] = ()
    offsets: tuple[Offset, ...] = ()
    run: Drift | None = None
    steps: tuple[Step, ...] = ()
    seconds: float = 0.0
    lag: float = np.nan
    why: str = ""
    detail: str = ""


@feature(reads=[Role.CAMERA, Role.JOINT_POSITION], version=2)
def moves(ep: Episode, pictures: dict[str, Pictures] | None) -> dict[str, Moves]:
    """Camera → its `Moves`; cameras without pictures, and all where there are no joints, are left out.

    Joints on other clocks are brought to the stamps of the stream with the most samples by straight lines.
    Samples whose stamps leap out of the rest, or lie beyond a gap longer than all samples fill, are left out;
    what is more than single strays is in `Moves.cut`.
    """
    states = [s for s in ep.by_role(Role.JOINT_POSITION) if len(s) > 1 and len(joint_columns(s))]
    cameras = {s.name: s for s in ep.by_role(Role.CAMERA) if len(s)}
    if not states:
        return {}
    tq, q, names = _joints(states)
    lost = _cuts((s.name, s.t) for s in states) or _cuts([(states[0].name, tq[np.isfinite(q).all(axis=1)])])
    found = {}
    for name, seen in (pictures or {}).items():
        if name in cameras and seen.decoded > 1:
            flow = block_flow(seen.thumbs, _stamps(cameras[name], seen))
            cut = (*_cuts([(name, flow.t)]), *lost)
            found[name] = Moves(_onward(flow), q, tq, names, states[0].name, cut)
    return found


def _cuts(stamps: Iterable[tuple[str, NDArray[np.int64]]]) -> tuple[tuple[str, Cut], ...]:
    return tuple((name, cut) for name, t in stamps if (cut := cut_off(t)) is not None)


def _joints(states: Sequence[Stream]) -> tuple[NDArray[np.int64], NDArray[np.float64], tuple[str, ...]]:
    longest = max((s.t for s in states), key=len)
    t = longest[onward(longest)]
    parts, names = [], []
    for s in states:
        columns, keep = joint_columns(s), onward(s.t)
        x = np.asarray(s.x[:, columns], np.float64)[keep]
        if not np.array_equal(s.t[keep], t):
            x = np.stack([np.interp(t, s.t[keep], c) for c in x.T], axis=1)
        parts.append(x)
        names += [f"{s.name}/{s.channels[i].name}" for i in columns.tolist()]
    return t, np.concatenate(parts, axis=1), tuple(names)


def _onward(flow: Flow) -> Flow:
    keep = onward(flow.t)
    return flow if keep.all() else Flow(flow.t[keep], flow.x[keep])


def _stamps(camera: Stream, seen: Pictures) -> NDArray[np.int64]:
    """(n,) int64 ns of the decoded pictures: their rows' stamps where each has one, else the container's."""
    paired = seen.decoded == len(camera) and not len(seen.missing)
    return camera.t if paired and camera.clock is not Clock.NOMINAL else seen.t + int(camera.t[0])


def _fitted(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Camera → the map of its most frequent set of joints."""
    takes: dict[str, dict[tuple[str, ...], list[Any]]] = {}
    for row in rows:
        for camera, (names, take) in row.items():
            takes.setdefault(camera, {}).setdefault(names, []).append(take)
    models: dict[str, Any] = {}
    for camera, groups in sorted(takes.items()):
        names = Counter({n: len(g) for n, g in groups.items()}).most_common(1)[0][0]
        found = learn(groups[names])
        models[camera] = found and {"joints": list(names), "map": found.to_json()}
    return models


@statistic(_fitted, version=3, pixels=True)
def picture_map(ep: Episode, moves: dict[str, Moves]) -> Mapping[str, Any] | None:
    """What joints predict of each camera's picture motion: block flow and joints, at most 120 s of them.

    The stretch with the longest path of the joints is taken. Source: `assay.signals.content_map`.
    """
    told = {name: found for name, found in moves.items() if len(found.flow) > 1 and not sparse(found.flow.t)}
    return {name: (found.names, _stretch(found)) for name, found in told.items()} or None


def _stretch(found: Moves) -> tuple[Flow, NDArray[np.float32], NDArray[np.int64]]:
    flow, most = found.flow, round(_MOST * 1e9)
    first = int(flow.t[0]) if len(flow) else 0
    if len(flow) and int(flow.t[-1]) - first > most:
        path = np.concatenate(([0.0], np.cumsum(np.nansum(np.abs(np.diff(found.q, axis=0)), axis=1))))
        starts = np.arange(first, int(flow.t[-1]) - most + 1, most // 4)
        walked = np.interp(starts + most, found.tq, path) - np.interp(starts, found.tq, path)
        first = int(starts[int(walked.argmax())])
    shown = (flow.t >= first) & (flow.t <= first + most)
    margin = round(_MARGIN * 1e9)
    near = (found.tq >= first - margin) & (found.tq <= first + most + margin)
    kept = Flow(flow.t[shown], flow.x[shown].astype(np.float16))
    return kept, found.q[near].astype(np.float32), found.tq[near]


@feature(reads=[Role.CAMERA, Role.JOINT_POSITION], version=4)
def content(
    ep: Episode,
    pictures: dict[str, Pictures] | None,
    moves: dict[str, Moves],
    picture_map: Mapping[str, Any] | None,
) -> dict[str, Content]:
    """Camera → its `Content`, by the map that Calibration learnt from other episodes.

    Source: own method, see `assay.signals.content_lag` and docs/power/SYN001.md.
    """
    return {
        s.name: _content(s.name, pictures, moves.get(s.name), picture_map) for s in ep.by_role(Role.CAMERA)
    }


def _content(
    camera: str, pictures: dict[str, Pictures] | None, found: Moves | None, models: Mapping[str, Any] | None
) -> Content:
    if pictures is None:
        return Content(why="not-decoded")
    if camera not in pictures:
        return Content(why="unreadable", detail="no picture could be decoded")
    if found is None:
        return Content(why="absent-stream", detail="no joints to compare with")
    known = _taught(camera, found.names, models)
    if isinstance(known, Content):
        return known
    thin = sparse(found.flow.t)
    return Content(why="reference-noisy", detail=thin) if thin else _estimated(camera, found, known)


def _taught(camera: str, joints: tuple[str, ...], models: Mapping[str, Any] | None) -> Map | Content:
    """The map of a camera and these joints; a calibration's file may be anybody's."""
    model = models.get(camera) if isinstance(models, Mapping) else models
    if model is None:
        return Content(why="not-calibrated", detail="no other episode shows how this camera sees the joints")
    try:
        names, known = tuple(model["joints"]), Map.from_json(model["map"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return Content(why="not-calibrated", detail="what the calibration holds of this camera is no map")
    other = Content(why="not-calibrated", detail="the corpus taught it with other joints")
    return known if names == joints else other


def _estimated(camera: str, found: Moves, known: Map) -> Content:
    take = found.flow, found.q, found.tq
    seen = windows(known, *take)
    parts = tuple(_by_few(known, e) for e in ends(known, seen))
    silent = [e for e in parts if e.why]
    why, detail = (silent[0].why, silent[0].detail) if len(silent) == len(parts) else ("", "")
    named = ("start", "end") if len(parts) > 1 else ("whole",)
    by_end = tuple(_offset(camera, found, e, n) for e, n in zip(parts, named, strict=True) if not e.why)
    along = _along(camera, found, known, seen) if not why else ()
    steps = lag_steps(known, *take) if tells(known, seen) else ()
    run = drift(known, seen)
    cut = () if why else tuple(_unseen(found.flow, name, cut) for name, cut in found.cut)
    against = (*doubts(known, seen, parts), *cut)
    return Content(parts, against, by_end, along or by_end, run, steps, seen.length, known.lag, why, detail)


def _unseen(flow: Flow, stream: str, cut: Cut) -> Estimate:
    """What is not looked at speaks neither for the rest nor against it: it stays open."""
    t0, t1 = ((t - int(flow.t[0])) * 1e-9 for t in (cut.t0, cut.t1))
    left = f"{stream}: {cut.samples} of {cut.of} samples ({cut.seconds:.1f} s) are not looked at"
    detail = f"{left}: beyond a gap longer than all samples fill, or behind stamps that run back"
    return Estimate(np.nan, np.nan, "undecided", detail, t0=t0, t1=t1)


def _by_few(known: Map, e: Estimate) -> Estimate:
    """An end that a map of few episodes leaves open: more of them would tell, a longer episode need not."""
    if e.why != "undecided" or known.episodes >= FEW:
        return e
    learnt = f"{known.episodes} episode{'' if known.episodes == 1 else 's'}"
    return replace(e, why="not-calibrated", detail=f"{e.detail}; the map was learnt from {learnt}")


def _along(camera: str, found: Moves, known: Map, seen: Windows) -> tuple[Offset, ...]:
    return tuple(_offset(camera, found, e, "whole") for e in segments(known, seen))


def _offset(camera: str, found: Moves, e: Estimate, end: Any) -> Offset:
    start = int(found.flow.t[0])
    t0, t1 = start + round(e.t0 * 1e9), start + round(e.t1 * 1e9)
    return Offset(camera, found.against, t0, t1, e.seconds, e.u, "content", "deviation", end)
