"""Which finding of an episode to look at, and the evidence that it came from."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.gate import Evidence
from assay.report.spans import excess
from assay.store import EpisodeOfRun

__all__ = ["FORCE", "inside", "limited", "overlap", "piece_of", "target_of", "told_apart"]

FORCE: Final = {"report": 0, "flag": 1, "reject": 2, "require": 3}

_SERIES: Final = 9
"""Samples from which evidence counts as a series over time."""

Row = Mapping[str, Any]


def target_of(episode: EpisodeOfRun, at: int | None) -> dict[str, Any] | None:
    """The finding nearest to ``at`` (ns), else the gravest; without any, what is nearest its limit.

    What has no time is looked at only where nobody asks for a moment.
    """
    failed = [row for row in episode.verdicts if row["status"] == "fail"]
    force = {row["gate"]: FORCE[row["effect"]] for row in failed}
    findings = [f for f in episode.findings if f["gate"] in force and (at is None or f["t0"] or f["t1"])]

    def rank(f: dict[str, Any]) -> tuple[float, ...]:
        far = 0 if at is None else max(f["t0"] - at, at - f["t1"], 0)
        timed = f["t1"] > f["t0"]
        return (not timed, far, -force[f["gate"]], f["t1"] - f["t0"] if at is not None else 0,
                *(-x for x in excess(f)))  # fmt: skip

    if findings:
        chosen: dict[str, Any] = min(findings, key=rank)
        return chosen | {"fails": True}
    if failed and not episode.findings:  # judged again under a stricter limit, which leaves no findings
        gravest: dict[str, Any] = max(failed, key=lambda row: force[row["gate"]])
        return gravest | {"t0": None, "t1": None, "fails": True}
    return _nearest_limit(episode)


def _nearest_limit(episode: EpisodeOfRun) -> dict[str, Any] | None:
    measured = [m for m in episode.measures if not m["settled"] and m["worst"] and m["limit"]]
    if not measured:
        return None
    long = max(m["seconds"] / m["n"] for m in measured)
    # Over time, not over channels of which each is a number about the whole episode.
    series = [m for m in measured if m["n"] >= _SERIES and m["seconds"] < m["n"] * long / 2] or measured

    def used(m: dict[str, Any]) -> float:
        return _ratio(m["worst"], m["limit"]) if m["sense"] == "above" else _ratio(m["limit"], m["worst"])

    nearest: dict[str, Any] = max(series, key=used)
    fails = any(row["gate"] == nearest["gate"] and row["status"] == "fail" for row in episode.verdicts)
    return nearest | {"t0": None, "t1": None, "fails": fails}


def _ratio(value: float | None, limit: float | None) -> float:
    if not value:
        return 0.0
    return value / limit if limit else math.inf


def told_apart(findings: Sequence[Row]) -> list[Row]:
    """The findings with, where several of one gate share stream and channel, each its note in its channel.

    Two claims about one camera, by its stamps and by their receipt, would else read as one.
    """
    notes: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for f in findings:
        notes[f["gate"], f["stream"], f["channel"]].add(f["note"])
    shared = {key for key, several in notes.items() if len(several) > 1}

    def label(f: Row) -> str:
        return f"{f['channel']} ({f['note']})" if f["note"] else f["channel"]

    return [
        {**f, "channel": label(f), "note": ""} if (f["gate"], f["stream"], f["channel"]) in shared else f
        for f in findings
    ]


def overlap(f: Row, target: Row) -> bool:
    """Whether a finding lies in the target's time, if it has one."""
    return target["t0"] is not None and f["t0"] <= target["t1"] and f["t1"] >= target["t0"]


def piece_of(pieces: Sequence[Evidence], target: Row) -> Evidence | None:
    """The evidence that a finding came from: its place, its time, and its worst value among the samples."""
    stream = [p for p in pieces if p.stream == target["stream"] and len(p.value)]
    named = [p for p in stream if target["channel"] in (p.channel, *p.channels)]
    if target["t0"] is not None:  # several claims may be about the same place
        named = [p for p in named if inside(p, target).any()] or named
    named = [p for p in named if _holds_worst(p, target)] or named
    return next(iter((*named, *stream, *(p for p in pieces if len(p.value)))), None)


def _holds_worst(e: Evidence, target: Row) -> bool:
    """Whether a sample (in the target's stretch, if it has one) is the target's worst."""
    there = inside(e, target) if target["t0"] is not None else np.ones(len(e.value), bool)
    worst = np.nan if target["worst"] is None else target["worst"]
    return bool(np.isclose(np.asarray(e.value, np.float64)[there], worst, rtol=1e-9, atol=0.0).any())


def limited(e: Evidence, episode: EpisodeOfRun, gate: str) -> Evidence:
    """Under the limit that the verdict was made with: a run judged again still measures as the first did."""
    verdict = next(row for row in episode.verdicts if row["gate"] == gate)
    if "rejudged_from" not in episode.run.plan or verdict["limit"] is None or verdict["unit"] != e.unit:
        return e
    return replace(e, limit=verdict["limit"])


def inside(e: Evidence, target: Row) -> NDArray[np.bool_]:
    """(n,) which samples lie in the target's stretch."""
    return np.asarray((e.t0 >= target["t0"]) & (e.t1 <= target["t1"]))
