"""A joint is beyond its mechanical limit.

What: in how many frames any joint of the body stands outside its hard position limit, and by how much.

Why: no robot can take such a pose. A policy learns targets that a controller clips in its own way, and what
is then executed is not what was shown.

Method: per frame the largest excess over all joints with a known limit, beyond 1e-4 rad (7e-9 rad of
rounding already fails 29 of 29 H1 clips without a tolerance); the quota is inclusive. Drives that report a
share of their range are held to 0 and 1 with 1 % of the range to spare, as evidence of their own. Where
sources give different limits and the sheet chooses none, a frame between the narrowest and the widest is
unknown. It looks at data as delivered, hence before any clipping of ours.

Source: limits of the body's card (maker's URDF, with revision); rule and quota as in holosoma's evaluation
and PHUMA, which clip after measuring; 3 of 43 public G1 clips exceed the quota.

Blind spots: data clipped to the limits passes (RTG008 looks for that); a wrong joint order or unit makes
nonsense of every limit (RTG012); soft limits of a controller are not judged.

Dose: overshoot beyond the limit (rad), and the share of frames that have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment
from assay.features.joints import Joints
from assay.gate import IN, UNKNOWN, Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Episode, Role
from assay.signals.intervals import ends
from assay.signals.widest import outside
from assay.synth.episodes import HAND_NAMES, edit, teleop

STATES = (Role.JOINT_POSITION, Role.HAND_JOINTS, Role.GRIPPER)
Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG001."""

    limit: float = param(1e-4, "rad", "float32 rounding is 2e-7 rad; 1e-4 is 0.006 degrees", judged=True)
    limit_share: float = param(
        0.01,
        "1",
        "no tolerance is published for normalised drives; 1 % is beyond their grain",
        judged=True,
    )
    quota: float = param(0.005, "1", "published acceptance rule: at most 0.5 % of frames", judged=True)


ELBOW_UPPER = 2.0944  # g1_29dof_rev_1_0.urdf
PINKY = HAND_NAMES[0]


def elbow(excess: float, frames: int) -> Episode:
    """A clean episode of 600 frames whose left elbow stands ``excess`` rad over its limit for some frames."""

    def over(x: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
        x[300 : 300 + frames, names.index("left_elbow")] = ELBOW_UPPER + excess
        return x

    return edit(teleop(20.0), "observation.state", over)


def pinky(value: float) -> Episode:
    """A clean episode whose left little finger reports ``value`` of its range in frames 90 to 120."""

    def set_(x: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
        x[90:120, names.index(PINKY)] = value
        return x

    return edit(teleop(), "observation.state", set_)


def between(limit_set: str) -> Episode:
    """The elbow 5 mrad above the first of two sets and inside the second."""
    ep = elbow(0.005, 6)
    assert ep.embodiment is not None
    first = ep.embodiment.limits[0]
    wide = replace(first, source="a wider source", upper=first.upper + 0.01)
    return replace(ep, embodiment=replace(ep.embodiment, limits=(first, wide)), limit_set=limit_set)


def without_units() -> Episode:
    """A clean episode whose units nobody declared."""
    state = teleop().streams[0]
    return teleop().with_stream(
        replace(state, channels=tuple(replace(c, unit="unknown") for c in state.channels))
    )


def unlimited() -> Episode:
    """A clean episode on a body whose limits are unknown."""
    ep = teleop()
    assert ep.embodiment is not None
    first = ep.embodiment.limits[0]
    infinite = np.full_like(first.lower, np.inf)
    return replace(
        ep, embodiment=replace(ep.embodiment, limits=(replace(first, lower=-infinite, upper=infinite),))
    )


def holed() -> Episode:
    """Ten frames of the left elbow are missing (NaN)."""
    return elbow(np.nan, 10)


CASES = (
    Case("clean", teleop, "pass"),
    Case("elbow 1.2e-4 rad over in 4 of 600 frames", lambda: elbow(1.2e-4, 4), "fail",
         at=(10.0, 10.14), channel="left_elbow"),
    Case("elbow 1.2e-4 rad over in 3 of 600 frames, the quota", lambda: elbow(1.2e-4, 3), "pass"),
    Case("elbow 0.8e-4 rad over in 60 frames: within rounding", lambda: elbow(0.8e-4, 60), "pass"),
    Case("finger at 1.2 of its range", lambda: pinky(1.2), "fail", at=(3.0, 4.0), channel=PINKY),
    Case("finger at 1.005 of its range", lambda: pinky(1.005), "pass"),
    Case("no body", lambda: replace(teleop(), embodiment=None), "abstain", reason="unknown-body"),
    Case("no units", without_units, "abstain", reason="unresolved-unit"),
    Case("no state", lambda: teleop().without_stream("observation.state"), "abstain", reason="absent-stream"),
    Case("limits unknown", unlimited, "abstain", reason="no-reference"),
    Case("holes where the elbow might be over", holed, "abstain", reason="not-finite"),
    Case("between two sources' limits", lambda: between(""), "abstain", reason="limits-conflict"),
    Case("the sheet chose the wide source", lambda: between("a wider"), "pass"),
    Case("the sheet chose the narrow source", lambda: between("unitree_ros"), "fail", channel="left_elbow"),
)  # fmt: skip


@gate(code="RTG001", name="joint-limit-violation", version=2, reads=STATES)
def measure(ep: Episode, p: Params, joint_groups: Sequence[Joints]) -> Iterator[Outcome]:
    """Excess beyond the hard limit per frame, for angles and for shares of a range."""
    yield from (Abstain("absent-stream", "declared, not there", d.name) for d in ep.missing(*STATES))
    if not ep.by_role(*STATES):
        yield Abstain("absent-stream", "no joint positions")
    elif ep.embodiment is None:
        yield Abstain("unknown-body", "no limits without a body")
    else:
        for joints in joint_groups:
            yield from _group(ep.embodiment, joints, p, chosen=bool(ep.limit_set))


def _group(body: Embodiment, joints: Joints, p: Params, *, chosen: bool) -> Iterator[Outcome]:
    for reason, names in (("unresolved-names", joints.unresolved), ("unresolved-unit", joints.unknown_units)):
        if names:
            yield Abstain(reason, ", ".join(names[:5]), joints.stream, names[0])
    known = np.isfinite(joints.lower) | np.isfinite(joints.upper)
    if not known.all():
        names = tuple(n for n, k in zip(joints.names, known, strict=True) if not k)
        yield Abstain("no-reference", f"limit unknown: {', '.join(names[:5])}", joints.stream, names[0])
    for unit, limit, key in (
        ("rad", p.limit, "limit"),
        ("m", p.limit, "limit"),
        ("1", p.limit_share, "limit_share"),
    ):
        use = np.flatnonzero(known & (joints.unit == unit))
        if len(use):
            told = {"unit": unit, "limit": limit, "limit_key": key, "quota": p.quota}
            yield _evidence(body, joints, use, told, chosen=chosen)


def _evidence(
    body: Embodiment, joints: Joints, use: NDArray[np.intp], told: dict[str, Any], *, chosen: bool
) -> Evidence:
    x = joints.x if len(use) == joints.x.shape[1] else joints.x[:, use]
    narrow = wide = (joints.lower[use], joints.upper[use])
    apart = _apart(body, tuple(joints.joint[use].tolist())) if not chosen else None
    if apart is not None:
        narrow, wide = apart
    value, which, open_ = outside(x, narrow, wide, told["limit"])
    doubt = _both(body, joints, use, open_, narrow) if open_.any() else ""
    reason = "limits-conflict" if doubt else "not-finite" if np.isnan(value).any() else "undecided"
    if doubt and _own_word(body, joints.joint[use], x, open_, told):
        reason = "claimed-body"
    return Evidence(
        value, joints.t, ends(joints.t, joints.rate), which=which, stream=joints.stream, against=body.name,
        scope=None if apart is None else np.where(open_, UNKNOWN, IN),
        channels=joints.names if len(use) == len(joints.names) else tuple([joints.names[i] for i in use]),
        reason=reason, doubt=doubt, **told,
    )  # fmt: skip


@lru_cache(maxsize=64)
def _apart(body: Embodiment, joint: tuple[int, ...]) -> tuple[Bounds, Bounds] | None:
    """The narrowest and the widest limits of joints on which sources disagree; None where they do not."""
    # Controllers' soft limits are narrower on purpose and no second opinion about the mechanics.
    sets = [s for s in body.limits if s.grade != "soft"]
    lower, upper = (np.array([getattr(s, side)[list(joint)] for s in sets]) for side in ("lower", "upper"))
    if len(sets) < 2 or not (np.ptp(lower, axis=0).any() or np.ptp(upper, axis=0).any()):
        return None
    return (lower.max(axis=0), upper.min(axis=0)), (lower.min(axis=0), upper.max(axis=0))


def _own_word(
    body: Embodiment, joint: NDArray[np.intp], x: NDArray[np.float64], open_: NDArray[np.bool_],
    told: dict[str, Any],
) -> bool:  # fmt: skip
    """Whether only the corpus's own model file keeps open frames from failing."""
    sets = [s for s in body.unclaimed if s.grade != "soft"]
    if len(sets) == len(body.limits):
        return False
    low, high = np.min([s.lower[joint] for s in sets], axis=0), np.max([s.upper[joint] for s in sets], axis=0)
    beyond = outside(x, (low, high), (low, high), told["limit"])[0] > told["limit"]
    return bool((open_ & beyond).mean() > told["quota"])


def _both(
    body: Embodiment, joints: Joints, use: NDArray[np.intp], open_: NDArray[np.bool_], narrow: Bounds
) -> str:
    """The state furthest beyond the narrower limit, with what each side says."""
    x = joints.x[:, use]
    excess = np.where(open_[:, None], np.maximum(narrow[0] - x, x - narrow[1]), -np.inf)
    row, column = np.unravel_index(excess.argmax(), excess.shape)
    value, joint = float(x[row, column]), joints.joint[use[column]]
    sets = [s for s in body.limits if s.grade != "soft"]
    low, high = ([float(getattr(s, side)[joint]) for s in sets] for side in ("lower", "upper"))
    which, said = ("upper", high) if value > min(high) else ("lower", low)
    return (f"{joints.names[use[column]]} at {value:.4g}: {which} limit {min(said):.4g} by one source, "
            f"{max(said):.4g} by another")  # fmt: skip
