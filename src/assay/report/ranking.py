"""The few episodes worth watching, and the passes nearest to their limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.report.tables import STATUSES, Grid, column

__all__ = ["MOST_WATCHED", "NearMiss", "Watch", "near_misses", "systematic", "watch_list"]

MOST_WATCHED: Final = 12
MOST_SPANS: Final = 3
"""Moments named per episode; the others stand in its own panel."""

MOST_NEAR: Final = 12
NEAR_PER_GATE: Final = 3
NEAR: Final = 0.7
"""Share of the limit (or of the quota) from which a pass counts as near."""

SYSTEMATIC: Final = 0.6
"""A gate that fails more of what it applies to than this says little about single episodes."""

_WEIGHT: Final = {"require": 3.0, "reject": 3.0, "flag": 2.0, "report": 1.0}
_DULL: Final = 0.1
_AGAIN: Final = 0.45
"""What a gate adds to the worth of an episode each time it is already on the list."""


@dataclass(frozen=True, slots=True)
class Watch:
    """An episode (its place in the grid) and rows of the table of findings, gravest first."""

    episode: int
    findings: tuple[int, ...]
    gates: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A pass: the gate's and the episode's place in the grid, and which share of its allowance is used."""

    gate: int
    episode: int
    used: float
    of_quota: bool


def systematic(counts: dict[str, int]) -> bool:
    """Whether a gate fails more than 60 % of what it applies to."""
    applies = sum(counts.get(s, 0) for s in ("pass", "fail", "abstain", "error"))
    return counts.get("fail", 0) > SYSTEMATIC * applies


def watch_list(findings: Any, grid: Grid, dull: frozenset[str]) -> list[Watch]:
    """At most twelve episodes, each chosen for what the ones before it do not show yet.

    Worth of an episode: over its gates, effect times log2 of how far beyond the limit, less for a gate that
    is already on the list. Gates in ``dull`` (those that fail nearly everything) count little, and once.
    Episodes that are not there cannot be watched.
    """
    gate = np.array([grid.codes.index(c) if c in grid.codes else -1 for c in column(findings, "gate")], int)
    who = grid.index_of(column(findings, "subject"))
    rows = np.flatnonzero((gate >= 0) & (who >= 0) & grid.present[who])
    t0 = column(findings, "t0")
    far = _beyond(column(findings, "worst")[rows], column(findings, "limit")[rows])
    weight = np.array([_WEIGHT[grid.effect[c]] * (_DULL if c in dull else 1.0) for c in grid.codes])
    again = np.array([0.0 if c in dull else _AGAIN for c in grid.codes])
    worth = np.zeros((len(grid.subjects), len(grid.codes)))
    np.maximum.at(worth, (who[rows], gate[rows]), weight[gate[rows]] * (1 + far))
    chosen: list[Watch] = []
    shown = np.ones(len(grid.codes))
    left = worth.copy()
    while len(chosen) < MOST_WATCHED and left.size and (score := left @ shown).max() > 0:
        best = int(np.argmax(score))
        mine = rows[who[rows] == best]
        moments = gate[mine], far[who[rows] == best], t0[mine]
        chosen.append(_watch(best, mine, moments, worth[best] * shown, grid))
        shown = np.where(worth[best] > 0, shown * again, shown)
        left[best] = 0
    return chosen


def near_misses(verdicts: Any, measures: Any, grid: Grid) -> list[NearMiss]:
    """Passes that use most of what they are allowed: of the quota where there is one, else of the limit.

    A few per gate, so that one gate does not fill the list. More than all of the limit is possible: the
    guard band of twice the uncertainty lets a sample pass that may be inside.
    """
    lower = _lower_bounds(measures)
    found: list[NearMiss] = []
    columns = [column(verdicts, name).astype(np.float64) for name in ("worst", "limit", "hi", "quota")]
    for at in range(len(grid.codes)):
        used, of_quota = _used(columns, grid, at, grid.codes[at] in lower)
        best = np.argsort(-used, kind="stable")[:NEAR_PER_GATE]
        found += [NearMiss(at, int(e), float(used[e]), bool(of_quota[e])) for e in best if used[e] >= NEAR]
    return sorted(found, key=lambda miss: -miss.used)[:MOST_NEAR]


def _lower_bounds(measures: Any) -> frozenset[str]:
    """Gates whose limit is one from below."""
    gate, sense, settled = (column(measures, name) for name in ("gate", "sense", "settled"))
    return frozenset(gate[(sense == "below") & (settled == "")].tolist())


def _used(
    columns: list[NDArray[np.float64]], grid: Grid, at: int, lower: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    worst, limit, hi, quota = (grid.of_gate(values, at) for values in columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = limit / worst if lower else worst / limit  # negative: on the safe side of zero
        by_quota = (quota > 0) & (hi > 0)
        used = np.where(by_quota, hi / quota, np.where(quota > 0, 0.0, ratio))
    passed = grid.status[at] == STATUSES.index("pass")
    return np.where(passed & np.isfinite(used), used, 0.0), by_quota


def _beyond(worst: NDArray[Any], limit: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        octaves = np.abs(np.log2(np.abs(worst.astype(np.float64) / limit.astype(np.float64))))
    return np.asarray(np.clip(np.nan_to_num(octaves, nan=0.0, posinf=6.0), 0.0, 6.0))


def _watch(
    episode: int, mine: NDArray[np.intp], moments: tuple[NDArray[Any], ...], worth: NDArray[np.float64],
    grid: Grid,
) -> Watch:  # fmt: skip
    gate, far, t0 = moments
    # The worst moment of each gate first, the gravest gate leading; then others that begin elsewhere.
    order = [i for i in np.lexsort((-far, -worth[gate])).tolist() if worth[gate[i]] > 0]
    gates = sorted({int(gate[i]) for i in order}, key=lambda g: -worth[g])
    first = [next(i for i in order if gate[i] == g) for g in gates]
    apart = {(int(gate[i]), int(t0[i])): i for i in reversed([*first, *order])}
    more = [i for i in order if i in apart.values() and i not in first]
    rows = [int(mine[i]) for i in [*first, *more][:MOST_SPANS]]
    return Watch(episode, tuple(rows), tuple(grid.codes[g] for g in gates), len(mine))
