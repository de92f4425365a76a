"""Geometry of the charts: plain numbers and texts that the template draws as inline SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from assay.judge import MULTIPLES
from assay.report.rungs import Distribution
from assay.report.wording import count, hours, number, percent

__all__ = ["Bar", "Chart", "chart"]

WIDTH, LEFT, RIGHT = 340.0, 46.0, 8.0
TOP, BARS, GAP, STEPS, FOOT = 14.0, 74.0, 16.0, 44.0, 26.0
DECADES: Final = 5
"""Shares are drawn from 100 % down to 0.001 %; anything above none gets a visible stump."""

_RULES: Final = ((0, "100 %"), (-2, "1 %"), (-4, ".01 %"))
_TICKS: Final = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Bar:
    """One bin."""

    x: float
    y: float
    width: float
    height: float
    beyond: bool
    says: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything the template needs to draw one distribution."""

    width: float
    height: float
    left: float
    right: float
    bars_top: float
    bars_foot: float
    steps_top: float
    steps_foot: float
    limit_x: float
    bars: tuple[Bar, ...]
    grid: tuple[tuple[float, str], ...]
    ticks: tuple[tuple[float, str], ...]
    line: str
    area: str
    dot: float
    most: str
    says: str
    beyond_right: bool


def chart(d: Distribution, all_hours: float, *, decides: bool) -> Chart:
    """The drawing of one distribution.

    Args:
        d: what is drawn.
        all_hours: the top of the lower panel.
        decides: whether a failure of this gate rejects; otherwise the hours are a supposition.
    """
    n = len(MULTIPLES) + 1
    step = (WIDTH - LEFT - RIGHT) / n
    foot, steps_top = TOP + BARS, TOP + BARS + GAP
    most = max(all_hours, float(d.hours.max(initial=0.0)), 1e-9)
    x = [round(LEFT + step * (i + 1), 2) for i in range(len(MULTIPLES))]
    y = [round(steps_top + STEPS * (1 - float(h) / most), 2) for h in d.hours]
    at = _rung(1.0)
    line = f"M{x[0]} {y[0]}" + "".join(f"H{a}V{b}" for a, b in zip(x[1:], y[1:], strict=True))
    area = f"{line}H{WIDTH - RIGHT}V{steps_top + STEPS}H{x[0]}Z"
    return Chart(
        WIDTH, steps_top + STEPS + FOOT, LEFT, WIDTH - RIGHT, TOP, foot, steps_top, steps_top + STEPS, x[at],
        _bars(d, step, foot, at),
        tuple((round(foot - BARS * (1 + e / DECADES), 2), text) for e, text in _RULES),
        tuple((x[_rung(m)], f"{m:g}×") for m in _TICKS),
        f"{line}H{WIDTH - RIGHT}", area, y[at], hours(most), _sentence(d, at, decides), d.sense == "above",
    )  # fmt: skip


def _bars(d: Distribution, step: float, foot: float, at: int) -> tuple[Bar, ...]:
    total = max(int(d.samples.sum()), 1)
    found = []
    for i, samples in enumerate(d.samples.tolist()):
        if not samples:
            continue
        height = max(BARS * (1 + math.log10(samples / total) / DECADES), 2.0)
        beyond = i > at if d.sense == "above" else i <= at
        says = f"{_interval(i, d)}: {percent(samples / total)} of samples ({count(samples)})"
        x = round(LEFT + step * i + 0.5, 2)
        found.append(Bar(x, round(foot - height, 2), round(step - 1, 2), round(height, 2), beyond, says))
    return tuple(found)


def _interval(i: int, d: Distribution) -> str:
    one = d.limits[0] == d.limits[1] and d.unit not in ("mixed", "1")
    edge = [f"{m:g}× ({number(m * d.limits[0])} {d.unit})" if one else f"{m:g}×" for m in MULTIPLES]
    if i == 0:
        return f"below {edge[0]} the limit"
    if i == len(MULTIPLES):
        return f"above {edge[-1]} the limit"
    return f"{edge[i - 1]} to {edge[i]} the limit"


def _sentence(d: Distribution, at: int, decides: bool) -> str:
    looser = 1.5 if d.sense == "above" else 0.75
    now, other = float(d.hours[at]), float(d.hours[_rung(looser)])
    then = f"{hours(other)} at {looser:g}×" if abs(other - now) > 1e-9 else f"no more at {looser:g}×"
    if decides:
        return f"{hours(now)} accepted at this limit, {then}"
    return f"If it rejected, {hours(now)} would be accepted, {then}"


def _rung(multiple: float) -> int:
    return int(np.argmin(np.abs(MULTIPLES - multiple)))
