"""What is said of one finding, by which rule, and the reference solved on a clip's frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import LimitSet
from assay.feature import Features
from assay.judge import Finding
from assay.signals.intervals import period
from assay.signals.posture import Poses, recorded
from assay.signals.reference import Goal, Reached, reach

__all__ = [
    "EXACT", "KEPT", "Attribution", "blank", "recorded_links", "said", "solved", "spread", "told", "upright",
]  # fmt: skip

Floats = NDArray[np.float64]
Picked = NDArray[np.intp]

MOST: Final = 16
"""Frames solved of one finding: the mean of 16 is known to a quarter of what they scatter, or better."""
RATE: Final = 10.0
"""Hz; hands and standing feet move little within 0.1 s."""
KEPT: Final = 0.01
"""m; a standing foot that the reference moves further than this was not kept."""
EXACT: Final = 0.001
"""m; standard uncertainty of the reference's own places."""
AT_LIMIT: Final = 1e-3
"""rad or m from a limit."""
OFTEN: Final = 0.5
"""Share of the frames in which a joint must be at its limit to be named."""
COVERAGE: Final = 2.0


@dataclass(frozen=True, slots=True)
class Attribution:
    """Whose fault one finding is.

    Attributes:
        gate, channel, t0, t1: the finding (ns).
        says: ``solver``, ``body`` or ``undecided``.
        clip, reference: m, what the gate measures, in the clip and in the reference's postures.
        limit, u: m; u is the standard uncertainty of the reference's value.
        frames: how many were solved.
        why: a few words.
    """

    subject: str
    gate: str
    channel: str
    t0: int
    t1: int
    says: Literal["solver", "body", "undecided"]
    clip: float
    reference: float
    limit: float
    u: float
    frames: int
    why: str


def blank(finding: Finding) -> Attribution:
    """Undecided, nothing solved yet."""
    nan = float("nan")
    return Attribution(
        finding.subject, finding.gate, finding.channel, finding.t0, finding.t1, "undecided", finding.worst,
        nan, finding.limit, nan, 0, "",
    )  # fmt: skip


def said(
    a: Attribution, done: Reached, low: float, value: float, u: float, *, kept: bool, why: str
) -> Attribution:
    """The rule.

    Args:
        a: the finding.
        done: what was solved.
        low: m, the value if every frame whose starts disagree were reached after all.
        value: m, what the gate measures in the reference's postures.
        u: m, standard uncertainty of that value.
        kept: whether every foot that stands stayed where it was.
        why: what the postures tell.
    """
    a = replace(a, reference=value, u=u, frames=len(done.q), why=why)
    if low - COVERAGE * u > a.limit:
        return replace(a, says="body")
    if value + COVERAGE * u < a.limit:
        return replace(a, says="solver") if kept else replace(a, why="only if a standing foot moves")
    if value - COVERAGE * u > a.limit:
        return replace(a, why="the reference's starts disagree")
    return replace(a, why=f"the reference is {value * 100:.1f} cm off, known to {COVERAGE * u * 100:.1f} cm")


def spread(frames: Picked, t: NDArray[np.int64], rate: float = RATE, most: int = MOST) -> Picked:
    """At most ``most`` of the frames at no more than ``rate`` Hz, first and last included."""
    step = max(1, int(1e9 / (rate * max(period(t), 1.0)) + 1e-6))
    count = min(most, max(2, 1 + (len(frames) - 1) // step), len(frames))
    return frames[np.unique(np.rint(np.linspace(0, len(frames) - 1, count)).astype(np.intp))]


def recorded_links(poses: Poses, links: Sequence[str]) -> list[str]:
    """Those whose joints were all recorded."""
    return [link for link in links if recorded(poses.tree, link, poses.known)]


def solved(features: Features, poses: Poses, use: Picked, goals: Sequence[Goal]) -> Reached:
    """The reference's postures in the frames ``use``, within the limits by which the clip is judged."""
    assert poses.place is not None
    lower, upper = _limits(features, len(poses.tree.joints))
    return reach(poses.tree, lower, upper, poses.q[use], upright(poses.place[use]), goals)


def upright(place: Floats) -> Floats:
    """Base poses (n, 7) with quaternions of length 1."""
    return np.concatenate(
        [place[:, :3], place[:, 3:] / np.linalg.norm(place[:, 3:], axis=1)[:, None]], axis=1
    )


def told(features: Features, poses: Poses, done: Reached, use: Picked, link: str) -> str:
    """Which joints on the way to a link end at their limits, and which one differs most from the clip's."""
    tree = poses.tree
    way = tree.ancestors(np.array([tree.index(link)]))
    columns = np.unique(tree.column[way][tree.column[way] >= 0])
    lower, upper = _limits(features, len(tree.joints))
    q = done.q[:, columns]
    ends = ((q - lower[columns] < AT_LIMIT) | (upper[columns] - q < AT_LIMIT)).mean(axis=0) >= OFTEN
    apart = np.abs(q - poses.q[np.ix_(use, columns)]).mean(axis=0)
    most = int(apart.argmax())
    at = ", ".join(tree.joints[c] for c in columns[ends])
    shift = float(np.linalg.norm(done.place[:, :3] - poses.place[use, :3], axis=1).mean())  # type: ignore[index]
    says = f"{tree.joints[columns[most]]} {apart[most]:.2f} rad and the pelvis {shift * 100:.0f} cm elsewhere"
    return f"{says}; at its limit: {at}" if at else says


def _limits(features: Features, width: int) -> tuple[Floats, Floats]:
    body = features.ep.embodiment
    assert body is not None
    limits: LimitSet = body.limit_set(features.ep.limit_set or None)
    return limits.lower[:width], limits.upper[:width]
