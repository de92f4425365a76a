"""Feature: what an episode is doing when: locomotion, manipulation, both, idle, or unknown.

`assay.signals.sensed` finds the signals and lays them on an even grid of 30 Hz; `assay.signals.activity`
decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.feature import feature
from assay.model import Clock, Episode, Role, Span, Stream
from assay.signals import sensed
from assay.signals.activity import (
    IDLE,
    LABELS,
    LOCOMOTION,
    MANIPULATION,
    NOT_KNOWN,
    Signals,
    Thresholds,
    any_of,
    decide,
    decide_by,
)  # fmt: skip
from assay.signals.feet import stamps
from assay.signals.onward import sparse
from assay.signals.placing import placed
from assay.signals.segmentation import DAY, GRID, NO, UNKNOWN, YES, Flags, grid, runs

__all__ = ["Segments", "segments"]

_READS: Final = (
    Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER, Role.BASE_POSE, Role.HUMAN_BODY, Role.OBJECT_POSE,
    Role.EVENT,
)  # fmt: skip
USUAL: Final = Thresholds()
QUARTER_OFF: Final = (USUAL.scaled(0.75), USUAL.scaled(1.25))


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Labels of every frame of one clock.

    Attributes:
        t: (n,) int64 ns, the stamps of ``stream``.
        label: (n,) index into `assay.signals.activity.LABELS`.
        locomotion, manipulation: (n,) 1 yes, 0 no, -1 unknown.
        handled: (n,) the same of manipulation by the robot or by the human whom it follows: arms that hang
            still while hers are at work are where a gate on hands must look.
        spans: the same as stretches without holes, known as ``inferred``, or ``declared`` where the episode's
            own spans say one of the five labels.
        sensitivity: share of frames whose label changes when all thresholds are lowered, and raised, by a
            quarter.
        evidence: what was used, e.g. ``base root``, ``hands of unitree_g1_29``.
        unknown: what could not be told, and why, e.g. {``locomotion``: ``no base pose``}.
    """

    t: NDArray[np.int64]
    label: Flags
    locomotion: Flags
    manipulation: Flags
    handled: Flags
    spans: tuple[Span, ...]
    stream: str
    sensitivity: tuple[float, float]
    evidence: tuple[str, ...]
    unknown: Mapping[str, str]

    def share(self, *labels: int) -> float:
        """Share of all frames (idle and unknown ones included) that have one of the labels."""
        return float(np.isin(self.label, labels).mean()) if len(self.label) else 0.0


@feature(reads=_READS)
def segments(ep: Episode, joint_groups: Sequence[Any]) -> Segments | None:
    """Labels of every frame, see `assay.signals.activity`; None where nothing that moves is recorded.

    The clock is that of the joints (the group with most of them), else of the human body, else of the base.
    Without a rate nothing has a speed, and all is unknown. Where legs are recorded and the base is not, legs
    at rest still say that nobody walks; where neither is, the label speaks of the rest of the body alone, and
    `Segments.unknown` says so. Source: METHODS section 6.
    """
    group = max((g for g in joint_groups if len(g.joint)), key=lambda g: len(g.joint), default=None)
    human = next((s for s in ep.by_role(Role.HUMAN_BODY) if _is_places(s)), None)
    base = next((s for s in ep.by_role(Role.BASE_POSE) if len(s)), None)
    main = group if group is not None else human or base
    if main is None or not len(main.t):
        return None
    name = main.name if isinstance(main, Stream) else main.stream
    if not main.rate:
        return _blank(main.t, name, "no rate is known, so nothing has a speed")
    span = int(main.t[-1]) - int(main.t[0])
    if span > DAY:  # a clock that starts in 1970: SYN005 says where it steps
        return _blank(main.t, name, f"its stamps span {span / DAY:,.0f} days")
    thin = sparse(main.t)
    if thin:
        return _blank(main.t, name, f"its {thin}")
    at = grid(int(main.t[0]), int(main.t[-1]))
    seen, soles = Signals(), None
    if group is not None and ep.embodiment is not None:
        soles = sensed.robot(seen, ep.embodiment, group, at)
    elif human is not None:
        sensed.human(seen, human, at)
    else:
        seen.unknown["manipulation"] = "no body is known, so no column is a hand"
    sensed.base(seen, base, soles, at)
    sensed.fingers(seen, ep, at)
    sensed.things(seen, ep, at)
    hers = _followed(ep, human, group.t, at) if group is not None and human is not None else None
    return _told(ep, main.t, name, at, seen, hers)


def _blank(t: NDArray[np.int64], name: str, why: str) -> Segments:
    none, missing = np.full(len(t), UNKNOWN), {"locomotion": why, "manipulation": why}
    return Segments(t, np.zeros(len(t), np.int8), none, none, none, (), name, (0.0, 0.0), (), missing)


def _is_places(stream: Stream) -> bool:
    """Whether a human body is positions in the world, in m, of more than a root."""
    return stream.frame == "world" and len(stream) > 0 and stream.unit == "m" and len(stream.channels) >= 30


def _followed(ep: Episode, human: Stream, on: NDArray[np.int64], at: NDArray[np.int64]) -> Flags | None:
    """Whether the human beside a robot handles something; None where her hands or her clock are not known."""
    rate = float(human.rate) if human.rate else None
    t = stamps(human.t, rate, nominal=human.clock is Clock.NOMINAL)
    t = None if t is None else placed(ep, human, t, on)
    if t is None or len(t) < 2 or not (np.diff(t) > 0).all():
        return None
    hers = Signals()
    sensed.human(hers, human if t is human.t else replace(human, t=t), at)
    return None if hers.hand is None else decide(hers, USUAL, len(at))[1]


def _told(
    ep: Episode, t: NDArray[np.int64], name: str, at: NDArray[np.int64], seen: Signals, hers: Flags | None
) -> Segments:
    near = np.rint((t - at[0]) * 1e-9 * GRID).astype(np.intp)
    near = np.minimum(np.maximum(near, 0), len(at) - 1)
    told_by = decide_by(seen, (USUAL, *QUARTER_OFF), len(at))
    moves, acts, label = told_by[0][:, near]
    handled = acts.copy() if hers is None else any_of(acts, hers[near])
    less, more = (np.count_nonzero(by[2][near] != label) / len(t) for by in told_by[1:])
    declared = [s for s in ep.spans if s.known == "declared" and s.label in LABELS]
    for span in declared:
        inside, code = (t >= span.t0) & (t < span.t1), LABELS.index(span.label)
        label[inside] = code
        moves[inside] = {IDLE: NO, MANIPULATION: NO, NOT_KNOWN: UNKNOWN}.get(code, YES)
        acts[inside] = handled[inside] = {IDLE: NO, LOCOMOTION: NO, NOT_KNOWN: UNKNOWN}.get(code, YES)
    told = np.zeros(len(t), bool)
    for span in declared:
        told |= (t >= span.t0) & (t < span.t1)
    evidence = (*seen.evidence, *(["declared spans"] if declared else []))
    return Segments(
        t, label, moves, acts, handled, _spans(t, label, told), name, (less, more), evidence, seen.unknown
    )


def _spans(t: NDArray[np.int64], label: Flags, told: NDArray[np.bool_]) -> tuple[Span, ...]:
    start, end, value = runs(label + len(LABELS) * told.astype(np.int8))
    last = len(t) - 1
    return tuple(
        Span(LABELS[v % len(LABELS)], int(t[a]), int(t[min(b, last)]), "declared" if told else "inferred")
        for a, b, v in zip(start.tolist(), end.tolist(), value.tolist(), strict=True)
        for told in (v >= len(LABELS),)
    )
