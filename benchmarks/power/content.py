"""What SYN001 says by content, on the real G1 of which every episode has its video: docs/power/SYN001.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from benchmarks.power.clips import Base
from benchmarks.power.films import reordered
from benchmarks.power.stretches import stretches
from benchmarks.power.trials import interval, look

from assay import plugs
from assay.calibrate import fit, fold
from assay.feature import Features

__all__ = ["content_page"]

_HEAD: Final = "<!-- written by `make study` (benchmarks/power); not by hand -->\n"
_SHIFTS: Final = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_LOST: Final = (1, 2, 3, 5)
_PLACES: Final = 10
Model = Mapping[str, Any]


def content_page(bases: Sequence[Base]) -> str:
    """The whole page; takes some minutes."""
    real, simulated = ([b for b in bases if b.set == short] for short in ("g1v", "gr1"))
    models = _models(real)
    parts = (
        [_HEAD, _intro(real)], _shifts(real, models), [_unrelated(real, models)],
        stretches(real, models, _features), _lost(real, models), [_rate(real)], [_simulated(simulated)],
    )  # fmt: skip
    return "\n\n".join("\n".join(part).rstrip() for part in parts) + "\n"


def _models(bases: Sequence[Base]) -> dict[str, Model | None]:
    """Episode → the map that did not see its fold."""
    statistic = plugs.statistics()["picture_map"]
    rows = {b.ep.id: statistic.summarise(b.ep, _features(b, None).get("moves")) for b in bases}
    fits = fit(statistic, rows)
    return {b.ep.id: fits[str(fold(b.ep.id))] for b in bases}


def _features(base: Base, model: Model | None, **more: Any) -> Features:
    given = {"pictures": base.pictures, "containers": base.containers, "picture_map": model, **more}
    return Features(base.ep, plugs.features(), {}, given)


def _intro(bases: Sequence[Base]) -> str:
    rows = sum(b.rows for b in bases)
    return f"""\
{len(bases)} episodes of a real Unitree G1 ({rows} rows, 7 to 15 s each, one head camera), each judged by the
map that Calibration learnt without its fold. A deviation of content from the rest of the corpus, limit one
picture (33.3 ms); the truth of untouched episodes is taken to be 0, though they may differ by themselves.
"""


# ------------------------------------------------------------------------------------------------ shifts


def _shifts(bases: Sequence[Base], models: Mapping[str, Model | None]) -> list[str]:
    lines = [
        "| later or earlier by | episodes | passed | failed | undecided | failed, 95 % | RMSE | within 2 u |",
        "|---|---|---|---|---|---|---|---|",
    ]
    wrong = verdicts = 0
    for dose in _SHIFTS:
        said: Counter[str] = Counter()
        off, within = [], []
        for sign in (1, -1) if dose else (1,):
            for base in bases:
                status, seconds, u = _judged(_late(base, sign * dose), models[base.ep.id])
                said[status] += 1
                if np.isfinite(seconds):
                    off.append(seconds * 30 - sign * dose)
                    within.append(abs(off[-1]) <= 2 * u * 30)
        n = said.total()
        wrong += said["fail"] * (dose < 1) + said["pass"] * (dose > 1)
        verdicts += said["fail"] + said["pass"]
        low, high = interval(said["fail"], n)
        lines.append(
            f"| {dose:g} pictures | {n} | {said['pass']} | {said['fail']} | {said['abstain']} | "
            f"{100 * low:.0f} to {100 * high:.0f} % | {np.sqrt(np.mean(np.square(off))):.2f} pictures | "
            f"{sum(within)} of {len(within)} |"
        )
    return [*lines, "", f"Wrong verdicts, doses on the limit left out: {wrong} of {verdicts}."]


def _late(base: Base, pictures: float) -> Base:
    camera = base.ep.stream(base.camera)
    assert camera is not None
    return replace(base, ep=base.ep.with_stream(replace(camera, t=camera.t + round(pictures * 1e9 / 30))))


def _judged(base: Base, model: Model | None) -> tuple[str, float, float]:
    features = _features(base, model)
    given = {"pictures": base.pictures, "containers": base.containers, "content": features.get("content")}
    status = look(plugs.gates()["SYN001"], base.ep, given, "deviation").verdict.status
    ends = features.get("content")[base.camera].ends
    return status, *((ends[0].seconds, ends[0].u) if ends else (np.nan, np.nan))


def _unrelated(bases: Sequence[Base], models: Mapping[str, Model | None]) -> str:
    """Every camera with every other episode's joints."""
    said: Counter[str] = Counter()
    for base in bases:
        for other in (b for b in bases if b is not base):
            mixed = replace(other, pictures=base.pictures, containers=base.containers)
            said[_judged(mixed, models[base.ep.id])[0]] += 1
    told = f"{said['pass']} passed, {said['fail']} failed, {said['abstain']} undecided of {said.total()}"
    return f"**Unrelated pairs of video and joints**: {told}."


# -------------------------------------------------------------------------------------------- lost pictures


def _lost(bases: Sequence[Base], models: Mapping[str, Model | None]) -> list[str]:
    clean = [_likeliest(b, models[b.ep.id]) for b in bases]
    alarm = float(np.quantile([z for z, _, _ in clean], 0.95))
    alarms = sum(_missing(b, models[b.ep.id]) for b in bases)
    head = f"""\
**Pictures lost inside a file**, {_PLACES} places in each episode. *SYN007*: fails, at the gate's limits
({alarms} of {len(bases)} untouched episodes do). *At 5 %*: the likeliest step stands out of 95 % of the
untouched episodes' own; its size to half a picture, its place.
"""
    lines = [
        head,
        "| lost | episodes | SYN007 | at 5 % | size right | placed within, median | p90 |",
        "|---|---|---|---|---|---|---|",
    ]
    for count in _LOST:
        failed, found, sized, away, n = 0, 0, 0, [], 0
        for base in bases:
            rng = np.random.default_rng([count, base.rows])
            for at in rng.integers(60, base.rows - 60 - count, _PLACES).tolist():
                cut = _without(base, at, count)
                z, size, place = _likeliest(cut, models[base.ep.id])
                failed += _missing(cut, models[base.ep.id])
                n += 1
                if z > alarm:
                    found += 1
                    sized += abs(size - count) < 0.5
                    away.append(abs(place - at))
        shares = [f"{100 * x:.0f} %" for x in (failed / n, found / n, sized / max(found, 1))]
        places = [f"{np.quantile(away, q):.0f} rows" for q in (0.5, 0.9)]
        lines.append(f"| {count} | {n} | {' | '.join((*shares, *places))} |")
    return lines


def _without(base: Base, at: int, count: int) -> Base:
    """The clip without ``count`` pictures; its last one is shown again, so that the number is right."""
    last = base.rows - 1
    order = np.concatenate((np.arange(at), np.arange(at + count, base.rows), np.full(count, last)))
    return reordered(base, order)


def _likeliest(base: Base, model: Model | None) -> tuple[float, float, float]:
    """z, pictures and row of the likeliest loss."""
    steps = _features(base, model).get("content")[base.camera].steps
    if not steps:
        return 0.0, 0.0, 0.0
    best = max(steps, key=lambda s: -s.seconds / s.u)
    return -best.seconds / best.u, -best.seconds * 30, best.t * 30e-9


def _missing(base: Base, model: Model | None) -> bool:
    features = _features(base, model)
    given = {"pictures": base.pictures, "containers": base.containers, "content": features.get("content")}
    return look(plugs.gates()["SYN007"], base.ep, given, "lost").verdict.status == "fail"


# ------------------------------------------------------------------------------------------------- the rest


def _rate(bases: Sequence[Base]) -> str:
    rates = [30 * _features(b, None).get("freshness")[b.camera].told.fresh for b in bases]
    told = f"{min(rates):.1f} to {max(rates):.1f} Hz, median {np.median(rates):.1f}"
    return f"**Real rate of the camera** (SYN006), declared 30 Hz: {told}."


def _simulated(bases: Sequence[Base]) -> str:
    """Five mostly still episodes: each by the map of the other four."""
    statistic = plugs.statistics()["picture_map"]
    rows = {b.ep.id: statistic.summarise(b.ep, _features(b, None).get("moves")) for b in bases}
    said: Counter[str] = Counter()
    for base in bases:
        others = [row for name, row in rows.items() if name != base.ep.id and row is not None]
        status, seconds, _ = _judged(base, statistic.fit(others))
        said[status if not np.isfinite(seconds) else f"{status} {seconds * 1e3:+.0f} ms"] += 1
    told = ", ".join(f"{n} {status}" for status, n in said.items())
    head = f"**Simulated GR1**, {len(bases)} mostly still episodes of 20 Hz"
    return f"{head}, each by the map of the other four: {told}."
