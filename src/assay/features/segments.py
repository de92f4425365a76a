"""Feature: what an episode is doing when: locomotion, manipulation, both, idle, or unknown.

This file finds the signals and lays them on an even grid of 30 Hz; `assay.signals.activity` decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.embodiment.rotation import rotate
from assay.feature import feature
from assay.model import Clock, Episode, Role, Span, Stream
from assay.signals.activity import (
    IDLE,
    LABELS,
    LOCOMOTION,
    MANIPULATION,
    NOT_KNOWN,
    STEP,
    Signals,
    Thresholds,
    any_of,
    decide,
)  # fmt: skip
from assay.signals.feet import length, stamps
from assay.signals.limbs import Hands, human_hands, robot_limbs
from assay.signals.placing import placed
from assay.signals.segmentation import (
    DAY,
    GRID,
    NO,
    UNKNOWN,
    YES,
    Flags,
    Floats,
    centred_median,
    grid,
    resample,
    runs,
    speed,
    swing,
)  # fmt: skip

__all__ = ["Segments", "segments"]

_READS: Final = (
    Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER, Role.BASE_POSE, Role.HUMAN_BODY, Role.OBJECT_POSE,
    Role.EVENT,
)  # fmt: skip
_TOUCHING: Final = ("hand", "wrist", "palm", "finger", "thumb", "index", "middle", "ring", "pinky", "object")
USUAL: Final = Thresholds()
QUARTER_OFF: Final = (USUAL.scaled(0.75), USUAL.scaled(1.25))
_LIMBS: Final = ("arm", "leg", "waist", "head")


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
    at = grid(int(main.t[0]), int(main.t[-1]))
    seen, soles = Signals(), None
    if group is not None and ep.embodiment is not None:
        soles = _robot(seen, ep.embodiment, group, at)
    elif human is not None:
        _human(seen, human, at)
    else:
        seen.unknown["manipulation"] = "no body is known, so no column is a hand"
    _base(seen, base, soles, at)
    _fingers(seen, ep, at)
    _things(seen, ep, at)
    hers = _followed(ep, human, group.t, at) if group is not None and human is not None else None
    return _told(ep, main.t, name, at, seen, hers)


def _blank(t: NDArray[np.int64], name: str, why: str) -> Segments:
    none, missing = np.full(len(t), UNKNOWN), {"locomotion": why, "manipulation": why}
    return Segments(t, np.zeros(len(t), np.int8), none, none, none, (), name, (0.0, 0.0), (), missing)


def _is_places(stream: Stream) -> bool:
    """Whether a human body is positions in the world, in m, of more than a root."""
    return stream.frame == "world" and len(stream) > 0 and stream.unit == "m" and len(stream.channels) >= 30


def _robot(seen: Signals, body: Embodiment, group: Any, at: NDArray[np.int64]) -> Floats | None:
    """Joints, hands and, seen from the root, feet (m, f, 3); None where no whole leg is recorded."""
    q = resample(group.t, group.x, at)
    limbs = np.isin(group.part, _LIMBS) & (group.unit == "rad")
    legs = limbs & (group.part == "leg")
    seen.motion = swing(q[:, limbs], STEP) if limbs.any() else None
    seen.legs = swing(q[:, legs], STEP) if legs.any() else None
    hands, feet = robot_limbs(body, group.joint, q)
    _hands(seen, hands, body.name)
    return feet if legs.any() else None


def _human(seen: Signals, stream: Stream, at: NDArray[np.int64]) -> None:
    names = [n.rpartition(".")[0] for n in stream.names[::3]]
    x = resample(stream.t, np.asarray(stream.x, np.float64), at).reshape(len(at), -1, 3)
    root = names.index("pelvis") if "pelvis" in names else 0
    own = x - x[:, [root]]
    feet = [i for i, n in enumerate(names) if "ankle" in n or "foot" in n]
    seen.motion = speed(own, STEP).max(axis=1)
    seen.legs = speed(own[:, feet], STEP).max(axis=1) if feet else None
    _hands(seen, human_hands(x, names), stream.name)
    rooted = np.ptp(x[:, root], axis=0).max() < 1e-3
    if rooted and np.nanmax(seen.motion, initial=0.0) > 0.1:
        seen.unknown["locomotion"] = f"{stream.name} is told from the pelvis, which then stays where it is"
        return
    hips = [names.index(n) if n in names else -1 for n in ("left_hip", "right_hip")]
    across = x[:, hips[0], :2] - x[:, hips[1], :2] if min(hips) >= 0 else None
    heading = None if across is None else np.arctan2(-across[:, 0], across[:, 1])
    _travel(seen, x[:, root, :2], heading, x[:, feet] if feet else None, stream.name)


def _followed(ep: Episode, human: Stream, on: NDArray[np.int64], at: NDArray[np.int64]) -> Flags | None:
    """Whether the human beside a robot handles something; None where her hands or her clock are not known."""
    rate = float(human.rate) if human.rate else None
    t = stamps(human.t, rate, nominal=human.clock is Clock.NOMINAL)
    t = None if t is None else placed(ep, human, t, on)
    if t is None or len(t) < 2 or not (np.diff(t) > 0).all():
        return None
    hers = Signals()
    _human(hers, replace(human, t=t), at)
    return None if hers.hand is None else decide(hers, USUAL, len(at))[1]


def _hands(seen: Signals, hands: Hands | None, whose: str) -> None:
    if hands is None:
        seen.unknown["manipulation"] = f"no whole arm of {whose} is recorded"
        return
    seen.hand, seen.front = speed(hands.p, STEP), hands.front
    seen.evidence.append(f"hands of {whose}")


def _travel(seen: Signals, p: Floats, heading: Floats | None, feet: Floats | None, whose: str) -> None:
    """Speeds over the ground of the base (m, 2) and the feet (m, f, 3), and the rate of turn."""
    seen.travel = centred_median(speed(p, 1 / 3), 1.0)
    if feet is not None:
        seen.feet = speed(feet[:, :, :2], 1.0).max(axis=1)
    if heading is not None:
        straight = np.full(len(heading), np.nan)
        whole = np.isfinite(heading)
        straight[whole] = np.unwrap(heading[whole])
        seen.turn = centred_median(speed(straight[:, None], 1 / 3), 1.0)
    seen.evidence.append(f"base {whose}")


def _base(seen: Signals, base: Stream | None, soles: Floats | None, at: NDArray[np.int64]) -> None:
    if seen.travel is not None or "locomotion" in seen.unknown:
        return
    if base is None:
        seen.unknown["locomotion"] = "no base pose"
    elif not base.rate:
        seen.unknown["locomotion"] = f"{base.name} has no rate"
    elif base.x.shape[1] < 7 or base.frame.startswith("unresolved-axes"):
        seen.unknown["locomotion"] = f"{base.name}: its axes are not declared"
    elif base.frame.startswith("unresolved"):
        # Its way is known and its turns are not: travelling can be seen, standing cannot.
        _travel(seen, resample(base.t, base.x[:, :2], at), None, None, base.name)
        seen.unknown["turning"] = f"{base.name}: {base.frame}"
    else:
        x = np.asarray(base.x, np.float64)
        flips = np.cumprod(np.where((x[1:, 3:] * x[:-1, 3:]).sum(axis=1) < 0, -1.0, 1.0))
        x = np.concatenate([x[:, :3], x[:, 3:] * np.concatenate(([1.0], flips))[:, None]], axis=1)
        x = resample(base.t, x, at)
        with np.errstate(invalid="ignore", divide="ignore"):
            quat = x[:, 3:] / length(x[:, 3:])[:, None]
        # The way to the left stays level when a body bends forward; the way ahead does not.
        left = rotate(quat, (0.0, 1.0, 0.0))
        feet = None if soles is None else rotate(quat[:, None], soles) + x[:, None, :3]
        _travel(seen, x[:, :2], np.arctan2(-left[:, 0], left[:, 1]), feet, base.name)


def _fingers(seen: Signals, ep: Episode, at: NDArray[np.int64]) -> None:
    found = []
    for stream in ep.by_role(Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER):
        roles = [c.role or stream.role for c in stream.channels]
        use = np.flatnonzero([r in (Role.HAND_JOINTS, Role.GRIPPER) for r in roles])
        ranges = np.array([_range(ep.embodiment, stream, i) for i in use.tolist()])
        known = np.isfinite(ranges)
        if len(use) and not known.all():
            seen.unknown["fingers"] = f"units of {stream.name} are unknown"
        if known.any() and len(stream):
            x = resample(stream.t, np.asarray(stream.x[:, use[known]], np.float64), at)
            found.append(swing(x / ranges[known], STEP))
            seen.evidence.append(f"fingers {stream.name}")
    if found:
        seen.fingers = np.max(found, axis=0)


def _range(body: Embodiment | None, stream: Stream, column: int) -> float:
    """What a finger can move, in the column's unit; one without limits may bend by 90°, a gripper by 8 cm."""
    channel = stream.channels[column]
    joint = int(body.resolve([channel.name])[0]) if body is not None else -1
    if channel.unit == "rad" and body is not None and joint >= 0:
        span = float(body.limits[0].upper[joint] - body.limits[0].lower[joint])
        return span if 0 < span < np.inf else np.pi / 2
    return {"1": 1.0, "%": 100.0, "rad": np.pi / 2, "deg": 90.0, "m": 0.08, "mm": 80.0}.get(
        channel.unit, np.nan
    )


def _things(seen: Signals, ep: Episode, at: NDArray[np.int64]) -> None:
    for stream in ep.by_role(Role.OBJECT_POSE):
        if len(stream) > 1 and stream.rate and stream.x.shape[1] >= 3:
            v = speed(resample(stream.t, np.asarray(stream.x[:, :3], np.float64), at), STEP)
            seen.thing = v if seen.thing is None else np.maximum(seen.thing, v)
            seen.evidence.append(f"object {stream.name}")
    for stream in ep.by_role(Role.EVENT):
        words = [n.lower() for n in stream.names]
        use = [i for i, n in enumerate(words) if "contact" in n and any(w in n for w in _TOUCHING)]
        if use and stream.rate and len(stream):
            x = resample(stream.t, np.asarray(stream.x[:, use], np.float64), at).max(axis=1)
            flags = np.where(np.isnan(x), UNKNOWN, np.where(x > 0.5, YES, NO)).astype(np.int8)
            seen.contact = flags if seen.contact is None else any_of(seen.contact, flags)
            seen.evidence.append(f"contact {stream.name}")


def _told(
    ep: Episode, t: NDArray[np.int64], name: str, at: NDArray[np.int64], seen: Signals, hers: Flags | None
) -> Segments:
    near = np.clip(np.rint((t - at[0]) * 1e-9 * GRID).astype(np.intp), 0, len(at) - 1)
    moves, acts, label = (flags[near] for flags in decide(seen, USUAL, len(at)))
    handled = acts.copy() if hers is None else any_of(acts, hers[near])
    less, more = (float((decide(seen, p, len(at))[2][near] != label).mean()) for p in QUARTER_OFF)
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
