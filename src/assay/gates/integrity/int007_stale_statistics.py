"""Stored statistics are not those of the data.

What: how far stored minimum, maximum, mean, standard deviation and count are from those of the rows.

Why: training normalises by what is stored. After a merge or an edit it describes other data: a joint that
leaves the stored range reaches the network beyond everything it has seen.

Method: recomputed from all rows of each stream that has statistics. The value is the deviation in units of
its tolerance: 1e-6 of the value for minimum and maximum, 1e-3 standard deviations plus 1e-5 of the mean for
mean and deviation (writers add up in float32), none for the count. Statistics of pictures are sampled by
writers and are left out. Where only the corpus has statistics, sums over all episodes are compared, and
every episode must lie within the stored range. Where both have, the reader adds up those of the episodes.

Source: FAULTS D13, D23; tolerances from 24 G1 and 5 GR1 episodes, where a tolerance of 1e-4 deviations
fails 22 of 24 that nobody touched.

Blind spots: statistics of a representation that training makes later (deltas); quantiles; pictures.

Dose: shift of one channel in standard deviations after the statistics were stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.features.claims import claimed
from assay.gate import Abstain, Case, Evidence, Fact, Outcome, gate, param
from assay.model import Claim, Episode, Listing, Role, Stream
from assay.signals.intervals import span
from assay.synth.episodes import edit, teleop

PICTURES = (Role.CAMERA, Role.DEPTH, Role.AUDIO, Role.INSTRUCTION)
NUMERIC = tuple(role for role in Role if role not in PICTURES)
ROW = 0.5  # the tolerance of a count: half a row, so that one row is two tolerances
Float = NDArray[np.float64]
Stats = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of INT007."""

    limit: float = param(1.0, "1", "deviations are in units of their tolerance", judged=True)
    extremes: float = param(1e-6, "1", "float32 keeps 7 digits; extremes are copied, not computed")
    of_deviation: float = param(1e-3, "1", "float32 sums: up to 2.5e-3 of a nearly still channel's deviation")
    of_mean: float = param(1e-5, "1", "float32 sums over some hundred rows lose 2 of 7 digits")


def stored(shift: float = 0.0, count: int = 0, *, corpus: bool = False) -> Episode:
    """An episode with statistics, whose left elbow was moved by ``shift`` rad later (rows 100 to 200)."""
    ep = teleop()
    stats = {} if corpus else {s.name: describe(np.asarray(s.x), count) for s in ep.streams[:2]}

    def move(x: Float, names: tuple[str, ...]) -> Float:
        x[100:200, names.index("left_elbow")] += shift
        return x

    return replace(edit(ep, "observation.state", move), statistics=stats)


def describe(x: Float, more: int = 0) -> dict[str, Float]:
    """The statistics of (n, c) rows, with a count that is off by ``more``."""
    return {
        "min": x.min(axis=0), "max": x.max(axis=0), "mean": x.mean(axis=0), "std": x.std(axis=0),
        "count": np.array([len(x) + more]),
    }  # fmt: skip


LOST = Claim("statistics", "stored statistics", "of every episode", "none of this one", 1.0)


def whole(shift: float = 0.0) -> Listing:
    """A corpus of two episodes with statistics of both; one of them was moved afterwards."""
    rows = np.concatenate([np.asarray(teleop().streams[0].x)] * 2)
    rows[:, 3] += shift
    return Listing("synth", Path("synth"), (), declared=2, statistics={"observation.state": describe(rows)})


def summed(off: float) -> Listing:
    """A corpus whose reader added up the statistics of its episodes; some of the task numbers are off."""
    claim = Claim("statistics", "task_index", "those of all episodes", "the same", off, where="stats.json")
    return Listing("synth", Path("synth"), (), claims=(claim,))


def two() -> list[Episode]:
    """Two episodes without statistics of their own."""
    return [replace(stored(corpus=True), id=name) for name in ("a", "b")]


CASES = (
    Case("fresh", stored, "pass"),
    Case("elbow moved by 1e-3 rad afterwards", lambda: stored(1e-3), "fail", at=(0.0, 10.0),
         channel="left_elbow"),
    Case("elbow moved by 1e-6 rad", lambda: stored(1e-6), "pass"),
    Case("count is one too high", lambda: stored(count=1), "fail", channel="count"),
    Case("a claim of the reader", lambda: replace(stored(), claims=(LOST,)), "fail",
         channel="stored statistics"),
    Case("no statistics", teleop, "abstain", reason="not-declared"),
    Case("no state", lambda: stored().without_stream("observation.state"), "abstain", reason="absent-stream"),
    Case("corpus statistics are fresh", two, "pass", listing=whole),
    Case("corpus statistics are of other rows", two, "fail", channel="left_elbow",
         listing=lambda: whole(0.01)),
    Case("corpus without statistics", two, "abstain", reason="not-declared",
         listing=lambda: replace(whole(), statistics={})),
    Case("corpus statistics are the sum of the episodes'", lambda: [stored()], "pass",
         listing=lambda: summed(0.0)),
    Case("corpus statistics are of one part of a merge", lambda: [stored()], "fail", channel="task_index",
         listing=lambda: summed(1.0)),
    Case("half of the corpus is here, and beyond the stored range", lambda: two()[:1], "fail",
         channel="left_elbow", listing=lambda: whole(-0.01)),
    Case("half of the corpus is here", lambda: two()[:1], "abstain", reason="no-reference", listing=whole),
)  # fmt: skip


def conclude(listing: Listing, facts: Mapping[str, Mapping[str, Any]], p: Params) -> Iterator[Outcome]:
    """Corpus statistics against the sums over all episodes."""
    claims = any(c.topic == "statistics" for c in listing.claims)
    if claims:  # the reader added up what the episodes store, each of which is held to its rows
        yield from claimed("statistics", listing.claims)
    known = [n for n in listing.statistics if any(n in mine for mine in facts.values())]
    for name in known:
        yield from _corpus(listing, name, facts, p)
    if not known and not claims:
        yield Abstain("not-declared", "no statistics of the whole corpus, or none of a numeric stream")


@gate(code="INT007", name="stale-statistics", reads=NUMERIC, conclude=conclude)
def measure(ep: Episode, p: Params, episode_claims: Mapping[str, Iterable[Outcome]]) -> Iterator[Outcome]:
    """Deviation of each channel's stored statistics, in tolerances; sums where an episode stores none."""
    if any(c.topic == "statistics" for c in ep.claims):
        yield from episode_claims["statistics"]
    missing = [d for d in ep.missing(*NUMERIC) if d.name in ep.statistics]
    yield from (Abstain("absent-stream", "statistics without the stream", d.name) for d in missing)
    streams = [s for s in ep.by_role(*NUMERIC) if s.x.size and s.x.dtype.kind in "fiub"]
    for stream in streams:
        if stream.name in ep.statistics:
            yield from _episode(stream, ep.statistics[stream.name], p)
        else:
            yield Fact(stream.name, _sums(stream))
    if not any(s.name in ep.statistics for s in streams) and not missing:
        yield Abstain("not-declared", "no statistics of this episode")


def _episode(stream: Stream, said: Stats, p: Params) -> Iterator[Outcome]:
    x = np.asarray(stream.x, np.float64)
    c = x.shape[1]
    own = _known(said, c)
    t0, t1 = span(stream.t)
    yield from _shapes(said, own, stream.name, c, t0, t1)
    # two passes: one with squares would lose the digits that are compared
    mean = x.mean(axis=0)
    rest = x - mean
    found = {
        "min": x.min(axis=0), "max": x.max(axis=0), "mean": mean,
        "std": np.sqrt(np.einsum("ij,ij->j", rest, rest) / len(x)),
    }  # fmt: skip
    names = stream.names if len(stream.names) == c else tuple(map(str, range(c)))
    yield from _compared(own, found, names, Evidence(
        np.empty(0), stream.t[:0], stream.t[:0], "1", p.limit, stream=stream.name, apart=True,
    ), (t0, t1), p, _rows(said, len(x)))  # fmt: skip


def _known(said: Stats, c: int) -> dict[str, Float]:
    """The stored statistics that have c numbers."""
    flat = {k: np.ravel(np.asarray(said[k], np.float64)) for k in ("min", "max", "mean", "std") if k in said}
    return {k: v for k, v in flat.items() if len(v) == c}


def _shapes(
    said: Stats, own: Mapping[str, Float], stream: str, c: int, t0: int, t1: int
) -> Iterator[Outcome]:
    """A statistic with another number of columns than the stream is of other data."""
    for key in ("min", "max", "mean", "std"):
        if key in said and key not in own:
            n = np.size(said[key])
            yield Evidence.single(
                float(abs(n - c)), t0, t1, unit="1", limit=0.0, stream=stream, channel=key,
                limit_key="columns", note=f"{n} numbers for {c} columns",
            )  # fmt: skip


def _compared(
    said: Mapping[str, Float], found: Mapping[str, Float], names: tuple[str, ...], blank: Evidence,
    time: tuple[int, int], p: Params, rows: Sequence[float] = (),
) -> Iterator[Outcome]:  # fmt: skip
    """Worst deviation of each channel over its statistics, in tolerances; the count is a channel too."""
    off = np.array([np.abs(said[k] - found[k]) / _tolerance(k, found, p) for k in said])
    value = np.concatenate([off.max(axis=0) if len(off) else [], [abs(float(r)) / ROW for r in rows]])
    if not len(value):
        return
    worst = int(np.argmax(np.nan_to_num(value)))
    kept = names[: len(value) - len(rows)] if len(off) else ()
    key = list(said)[int(off[:, worst].argmax())] if worst < len(kept) else "count"
    c = len(value)
    yield replace(
        blank, value=value, t0=np.full(c, time[0]), t1=np.full(c, time[1]), which=np.arange(c),
        channels=(*kept, *("count" for _ in rows)), note=f"in tolerances; worst in {key}",
    )  # fmt: skip


def _rows(said: Stats, rows: int) -> tuple[float, ...]:
    """By how many rows the stored count is off, where one is stored."""
    return (float(np.ravel(said["count"])[0]) - rows,) if "count" in said else ()


def _tolerance(key: str, found: Mapping[str, Float], p: Params) -> Float:
    if key in ("min", "max"):
        return p.extremes * np.maximum(1.0, np.abs(found[key]))
    return p.of_deviation * found["std"] + p.of_mean * np.maximum(1.0, np.abs(found["mean"]))


def _sums(stream: Stream) -> dict[str, Any]:
    x = np.asarray(stream.x, np.float64)
    mean = x.mean(axis=0)
    rest = x - mean
    return {
        "names": list(stream.names), "count": len(x), "min": x.min(axis=0).tolist(),
        "max": x.max(axis=0).tolist(), "mean": mean.tolist(),
        "square": np.einsum("ij,ij->j", rest, rest).tolist(),
    }  # fmt: skip


def _corpus(
    listing: Listing, name: str, facts: Mapping[str, Mapping[str, Any]], p: Params
) -> Iterator[Outcome]:
    parts = [mine[name] for mine in facts.values() if name in mine]
    c = len(parts[0]["min"])
    said = _known(listing.statistics[name], c)
    if any(len(part["min"]) != c for part in parts) or not said:
        yield Abstain("no-reference", "episodes and statistics differ in columns", name)
        return
    found, rows = _pooled(parts)
    names = tuple(parts[0]["names"]) or tuple(map(str, range(c)))
    empty = np.empty(0, np.int64)
    blank = Evidence(np.empty(0), empty, empty, "1", p.limit, stream=name, apart=True)
    if len(parts) == (listing.declared or len(listing.refs)):
        yield from _compared(said, found, names, blank, (0, 0), p, _rows(listing.statistics[name], rows))
        return
    # A part of the data can only be held to the range of the whole: what lies within it agrees.
    beyond = {"min": np.minimum, "max": np.maximum}
    held = {k: said[k] for k in beyond if k in said}
    yield from _compared(held, found | {k: beyond[k](found[k], v) for k, v in held.items()}, names, blank,
                         (0, 0), p)  # fmt: skip
    yield Abstain("no-reference", f"only {len(parts)} episodes of {listing.declared} are here", name)


def _pooled(parts: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Float], int]:
    """The statistics of all episodes together from those of each, and the number of rows."""
    count = np.array([part["count"] for part in parts], np.float64)
    low, high, mean, square = (
        np.array([part[key] for part in parts]) for key in ("min", "max", "mean", "square")
    )
    pooled = count @ mean / count.sum()
    between = count @ (mean - pooled) ** 2
    found = {
        "min": low.min(axis=0), "max": high.max(axis=0), "mean": pooled,
        "std": np.sqrt((square.sum(axis=0) + between) / count.sum()),
    }  # fmt: skip
    return found, int(count.sum())
