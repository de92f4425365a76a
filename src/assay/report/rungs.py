"""How a gate's samples lie against its limit, and how many hours would be accepted under other limits.

Both come from the counts at the 24 rungs of each measure (`assay.judge.MULTIPLES`), without the data. The
status at a rung is the rule of `assay.judge.verdict_of` on whole columns; a test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.judge import MULTIPLES
from assay.report.tables import NO_VERDICT, STATUSES, Grid, column

__all__ = ["Distribution", "distributions", "status_at_rungs"]

_NEEDED: Final = (
    "n", "n_in", "n_unknown", "n_nan", "quota", "limit", "unit", "sense", "worst", "sure", "maybe",
    "maybe_unknown",
)  # fmt: skip
_AT_LIMIT: Final = int(np.flatnonzero(MULTIPLES == 1.0)[0])
_NA, _PASS, _ABSTAIN, _ERROR, _FAIL = range(len(STATUSES))


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """One limit of one gate over the whole run.

    Attributes:
        gate, limit_key: which limit (the name of the gate's param).
        sense: ``above`` or ``below`` the limit is beyond it.
        limits: smallest and largest limit among the measures (joints have their own); unit: theirs.
        samples: (25,) samples below the first rung, between rungs, and above the last one.
        quotas: smallest and largest share of an episode's samples that may be beyond.
        unplaced: samples that apply and have no number.
        worst: the number furthest beyond.
        hours: (24,) hours that would be accepted with this limit at each rung, all else unchanged.
        zero: the limit is zero, so it has no multiples.
    """

    gate: str
    limit_key: str
    sense: str
    limits: tuple[float, float]
    unit: str
    quotas: tuple[float, float]
    samples: NDArray[np.int64]
    unplaced: int
    worst: float
    hours: NDArray[np.float64]
    zero: bool


def distributions(measures: Any, grid: Grid) -> Iterator[Distribution]:
    """One `Distribution` per gate and limit, over the measures of episodes, in order of the gates."""
    codes, keys, settled = (column(measures, name) for name in ("gate", "limit_key", "settled"))
    subjects = grid.index_of(column(measures, "subject"))
    needed = measures.select(_NEEDED)
    for at, code in enumerate(grid.codes):
        own = np.flatnonzero(codes == code)
        who = subjects[own]
        counted = (settled[own] == "") & (who >= 0)
        table = needed.take(own[counted])
        if not len(table):
            continue
        said = _gravest(who[~counted], _coded(settled[own[~counted]]), grid)
        states, mine = status_at_rungs(table), keys[own[counted]]
        for key in sorted(set(mine.tolist())):
            here = mine == key
            hours = _hours(grid, at, states, who[counted], here, said)
            yield _distribution(table, here, code, key, hours)


def status_at_rungs(table: Any) -> NDArray[np.int8]:
    """(n, 24) index into `STATUSES` of each measure with its limit at each rung."""
    sure, maybe, unknown = (_counts(table, name) for name in ("sure", "maybe", "maybe_unknown"))
    n, n_in, n_unknown = (column(table, name)[:, None] for name in ("n", "n_in", "n_unknown"))
    quota = column(table, "quota")[:, None]
    not_out, judged = n_in + n_unknown, n_in + unknown
    lo = np.divide(sure, not_out, out=np.zeros(sure.shape), where=not_out > 0)
    hi = np.divide(maybe, judged, out=np.zeros(sure.shape), where=judged > 0)
    state = np.where(lo > quota, _FAIL, np.where(hi <= quota, _PASS, _ABSTAIN))
    state = np.where(not_out == 0, _NA, state)
    return np.where(n == 0, _ABSTAIN, state).astype(np.int8)


def _hours(
    grid: Grid, gate: int, states: NDArray[np.int8], who: NDArray[np.intp], here: NDArray[np.bool_],
    said: NDArray[np.int8],
) -> NDArray[np.float64]:  # fmt: skip
    state = np.full((len(grid.subjects), len(MULTIPLES)), NO_VERDICT, np.int8)
    np.maximum.at(state, who[here], states[here])
    # What no limit changes, and the gate's other limits where they stand, bound it from below.
    other = np.maximum(said, _gravest(who[~here], states[~here, _AT_LIMIT], grid))
    state = np.maximum(state, other[:, None])
    blocked = state == _FAIL
    if grid.effect[grid.codes[gate]] == "require":
        blocked |= (state == _ABSTAIN) | (state == _ERROR)
    others = grid.blocks.sum(axis=0) > grid.blocks[gate]
    free = ~(others | (grid.unexplained & ~grid.blocks[gate]))
    return np.asarray((grid.seconds[:, None] * (free[:, None] & ~blocked)).sum(axis=0) / 3600.0)


def _gravest(who: NDArray[np.intp], states: NDArray[np.int8], grid: Grid) -> NDArray[np.int8]:
    found = np.full(len(grid.subjects), NO_VERDICT, np.int8)
    np.maximum.at(found, who[who >= 0], states[who >= 0])
    return found


def _coded(statuses: NDArray[Any]) -> NDArray[np.int8]:
    """Of outcomes that no limit changes; a figure that is only reported says nothing."""
    return np.array([STATUSES.index(s) if s in STATUSES else NO_VERDICT for s in statuses.tolist()], np.int8)


def _distribution(
    table: Any, here: NDArray[np.bool_], code: str, key: str, hours: NDArray[np.float64]
) -> Distribution:
    sense = str(column(table, "sense")[here][0])
    limit, unit = column(table, "limit")[here], sorted(set(column(table, "unit")[here].tolist()))
    quota = column(table, "quota")[here]
    in_scope = int((column(table, "n_in")[here] + column(table, "n_unknown")[here]).sum())
    nan = int(column(table, "n_nan")[here].sum())
    worst = column(table, "worst")[here].astype(np.float64)
    worst = worst[np.isfinite(worst)]
    far = (worst.max() if sense == "above" else worst.min()) if len(worst) else np.nan
    return Distribution(
        code, key, sense, (float(limit.min()), float(limit.max())), unit[0] if len(unit) == 1 else "mixed",
        (float(quota.min()), float(quota.max())),
        _between(_counts(table, "sure")[here].sum(axis=0), in_scope - nan, sense), nan, float(far), hours,
        not np.all(limit),
    )  # fmt: skip


def _between(sure: NDArray[np.int64], total: int, sense: str) -> NDArray[np.int64]:
    # "above": counts beyond a rung fall with the rung; "below": they rise. Guard bands leave the rest inside.
    edges = np.concatenate(([total], sure, [0])) if sense == "above" else np.concatenate(([0], sure, [total]))
    return np.maximum(np.abs(np.diff(edges)), 0).astype(np.int64)


def _counts(table: Any, name: str) -> NDArray[np.int64]:
    flat = table.column(name).combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat, np.int64).reshape(-1, len(MULTIPLES))
