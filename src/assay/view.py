"""One episode of a finished run as text: what was decided and why, and one moment measured again.

The moment is read from the data, so that what the tables say can be held to it.
"""

from __future__ import annotations

import difflib
import math
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay import plugs
from assay.counts import count
from assay.errors import AssayError, UsageError
from assay.gate import REASONS, Evidence
from assay.model import Episode, Role, Stream
from assay.report.clocks import clock_text
from assay.report.spans import place, sentence
from assay.report.wording import seconds, visible, with_unit
from assay.store import EpisodeOfRun, Run

__all__ = ["Column", "Moment", "View", "text_of", "view_of"]

PICTURES: Final = "Pictures beside it come with the [view] extra in version 0.5."

_WIDTH: Final = 80
_SAMPLES: Final = 9
_CHANNELS: Final = 2
"""Channels shown at most, each as state and as request: what 80 columns hold."""

_FORCE: Final = {"report": 0, "flag": 1, "reject": 2, "require": 3}
_GRAVITY: Final = ("fail", "error", "abstain")
_FAR: Final = 9e9

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A channel of the data at the samples shown: its last value at or before each; NaN where none is."""

    stream: str
    channel: str
    unit: str
    values: list[float]


@dataclass(frozen=True, slots=True)
class Moment:
    """A few samples of one gate's evidence, measured again.

    Attributes:
        gate: its code; stream, channel: what it measured.
        at: the moment, seconds; seconds: (n,) begin of each sample.
        unit, limit, sense: of value.
        value: (n,) what the gate measured; NaN where nothing was.
        beyond: (n,) whether the sample lies beyond the limit, as judged.
        columns: the named channels of the data at these times.
        fails: whether the gate fails here, or only comes nearest to its limit.
    """

    gate: str
    stream: str
    channel: str
    at: float
    unit: str
    limit: float
    sense: str
    seconds: list[float]
    value: list[float]
    beyond: list[bool]
    columns: tuple[Column, ...]
    fails: bool


@dataclass(frozen=True, slots=True)
class View:
    """What `view_of` found: the episode's failing, erring and abstaining verdicts, and the moment.

    Where there is no moment, ``missing`` says why in one sentence. ``timing``: of each pair of streams,
    whether their common time is measured, bounded or assumed, as in docs/schema.md.
    """

    subject: str
    decision: str
    verdicts: list[dict[str, Any]]
    moment: Moment | None
    missing: str = ""
    timing: list[dict[str, Any]] = field(default_factory=list)


def view_of(run: Run, subject: str, at: float | None = None) -> View:
    """Why an episode was decided as it was, and the samples around ``at`` (s; None: where it is worst).

    Raises:
        UsageError: if the run has no such episode, several end in ``subject``, or ``at`` is no moment.
    """
    if at is not None and not abs(at) < _FAR:
        raise UsageError("not a moment of an episode", where="--at", found=f"{at:g}", expected="seconds")
    subject = _named(run, subject)
    episode = run.episode(subject)
    return replace(_view(episode, subject, at), timing=episode.timing)


def _view(episode: EpisodeOfRun, subject: str, at: float | None) -> View:
    findings = episode.findings
    rows = [_told(row, findings) for row in episode.verdicts if row["status"] in _GRAVITY]
    rows.sort(key=lambda row: (_GRAVITY.index(row["status"]), -_FORCE[row["effect"]], row["gate"]))
    target = _target(episode, at)
    if target is None:
        return View(subject, episode.decision, rows, None, "Nothing was measured in this episode.")
    if target["t0"] == target["t1"] == 0:
        return View(subject, episode.decision, rows, None, "What fails is not there to be looked at.")
    try:
        ep, pieces = episode.again(target["gate"])
    except AssayError as error:
        return View(subject, episode.decision, rows, None, f"The data cannot be measured again: {error}")
    piece = _piece(pieces, target)
    if piece is None:
        missing = f"{target['gate']} finds nothing to measure any more: the data have changed since the run."
        return View(subject, episode.decision, rows, None, missing)
    piece = _limited(piece, episode, target["gate"])
    names = [f["channel"] for f in findings if f["gate"] == target["gate"] and _overlap(f, target)]
    channels = list(dict.fromkeys([target["channel"], *names]))[:_CHANNELS]
    return View(subject, episode.decision, rows, _moment(ep, piece, target, at, channels))


def text_of(view: View) -> Iterator[str]:
    """The view in lines of at most 80 columns."""
    yield from _wrapped(f"{visible(view.subject)}: {view.decision}", 0)
    if view.verdicts:
        yield ""
    for row in view.verdicts:
        if row["status"] != "abstain":
            yield f"{row['status']:<8} {row['gate']} {row['title']} ({row['effect']})"
            yield from _wrapped(row["says"], 9)
    yield from _open(view.verdicts)
    if view.timing:
        yield from ("", "Whether the streams share one time (± two standard uncertainties):")
        yield from clock_text(view.timing, _WIDTH)
    yield ""
    if view.moment is not None:
        yield from _table(view.moment)
        yield ""
    else:
        yield from _wrapped(visible(view.missing), 0)
    yield PICTURES


def _open(rows: Sequence[Row]) -> Iterator[str]:
    """By reason: what would decide it, then what each gate is missing."""
    open_: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["status"] == "abstain":
            at = f" ({place(row)})" if row["stream"] else ""
            open_[row["reason"]][f"{visible(row['detail'])}{at}"].append(row["gate"])
    for reason, missing in open_.items():
        yield from _wrapped(f"{reason}: {REASONS.get(reason, '')}", 9, "abstain")
        for detail, gates in missing.items():
            says = f": {detail.strip()}" if detail else ""
            yield from _wrapped(f"{' '.join(gates)}{says}", 11)


def _named(run: Run, name: str) -> str:
    """The episode's id: as given, or the only one whose path ends so; an unknown name gets the nearest ones.

    Raises:
        UsageError: if the run has no such episode, or several end so.
    """
    ids: list[str] = run.episodes["subject"].to_pylist()
    if name in ids:
        return name
    ends = [one for one in ids if name and one.endswith(f"/{name}")]
    if len(ends) == 1:
        return ends[0]
    nearest = ends or difflib.get_close_matches(name, ids, 3, 0.5)
    if not nearest:
        return name  # which the run refuses
    what = "several episodes end so" if ends else "the run has no such episode"
    raise UsageError(what, where=str(run.path), found=name, expected=" or ".join(nearest[:3]),
                     remedy="assay verdicts lists the episodes of a run")  # fmt: skip


def _told(row: dict[str, Any], findings: Sequence[Row]) -> dict[str, Any]:
    gate = plugs.gates().get(row["gate"])
    own = [f for f in findings if f["gate"] == row["gate"]]
    return {
        **{name: row[name] for name in ("gate", "status", "effect", "stream", "channel", "detail")},
        "title": gate.title if gate else "", "says": sentence(row, own), "reason": row["reason"],
        "remedy": REASONS.get(row["reason"], "") if row["status"] == "abstain" else "",
        "spans": [{"stream": f["stream"], "channel": f["channel"], "start_s": f["t0"] / 1e9,
                   "end_s": f["t1"] / 1e9} for f in own],
    }  # fmt: skip


# ------------------------------------------------------------------------------------- choosing the moment


def _target(episode: EpisodeOfRun, at: float | None) -> dict[str, Any] | None:
    """The finding to look at: nearest to ``at``, else the gravest; without any, what is nearest its limit."""
    failed = [row for row in episode.verdicts if row["status"] == "fail"]
    force = {row["gate"]: _FORCE[row["effect"]] for row in failed}
    findings = [f for f in episode.findings if f["gate"] in force]

    def rank(f: dict[str, Any]) -> tuple[float, ...]:
        far = 0.0 if at is None else max(f["t0"] / 1e9 - at, at - f["t1"] / 1e9, 0.0)
        timed = f["t1"] > f["t0"]
        return (not timed, far, -force[f["gate"]], f["t1"] - f["t0"] if at is not None else 0,
                -_ratio(f["worst"], f["limit"]))  # fmt: skip

    if findings:
        chosen: dict[str, Any] = min(findings, key=rank)
        return chosen | {"fails": True}
    if failed:  # judged again under a stricter limit, which leaves no findings
        gravest: dict[str, Any] = max(failed, key=lambda row: force[row["gate"]])
        return gravest | {"t0": None, "t1": None, "fails": True}
    return _nearest_limit(episode)


def _nearest_limit(episode: EpisodeOfRun) -> dict[str, Any] | None:
    measured = [m for m in episode.measures if not m["settled"] and m["worst"] and m["limit"]]
    if not measured:
        return None
    long = max(m["seconds"] / m["n"] for m in measured)
    # Over time, not over channels of which each is a number about the whole episode.
    series = [m for m in measured if m["n"] >= _SAMPLES and m["seconds"] < m["n"] * long / 2] or measured

    def used(m: dict[str, Any]) -> float:
        return _ratio(m["worst"], m["limit"]) if m["sense"] == "above" else _ratio(m["limit"], m["worst"])

    nearest: dict[str, Any] = max(series, key=used)
    return nearest | {"t0": None, "t1": None, "fails": False}


def _ratio(value: float | None, limit: float | None) -> float:
    if not value:
        return 0.0
    return value / limit if limit else math.inf


def _overlap(f: Row, target: Row) -> bool:
    return target["t0"] is not None and f["t0"] <= target["t1"] and f["t1"] >= target["t0"]


def _piece(pieces: Sequence[Evidence], target: Row) -> Evidence | None:
    """The evidence that a finding came from."""
    stream = [p for p in pieces if p.stream == target["stream"] and len(p.value)]
    named = [p for p in stream if target["channel"] in (p.channel, *p.channels)]
    if target["t0"] is not None:  # several claims may be about the same place
        named = [p for p in named if _inside(p, target).any()] or named
    return next(iter((*named, *stream, *(p for p in pieces if len(p.value)))), None)


def _limited(e: Evidence, episode: EpisodeOfRun, gate: str) -> Evidence:
    """Under the limit that the verdict was made with: a run judged again still measures as the first did."""
    verdict = next(row for row in episode.verdicts if row["gate"] == gate)
    if "rejudged_from" not in episode.run.plan or verdict["limit"] is None or verdict["unit"] != e.unit:
        return e
    return replace(e, limit=verdict["limit"])


def _inside(e: Evidence, target: Row) -> NDArray[np.bool_]:
    return np.asarray((e.t0 >= target["t0"]) & (e.t1 <= target["t1"]))


# ------------------------------------------------------------------------------------- the samples around it


def _moment(ep: Episode, e: Evidence, target: Row, at: float | None, channels: Sequence[str]) -> Moment:
    worst = _worst_sample(e, target)
    moment = int(e.t0[worst]) if at is None else round(at * 1e9)
    if not any(channels) and e.which is not None:
        channels = [e.channels[int(e.which[worst])]]
    picked = [(s, c) for name in channels for s in _streams(ep, e) if (c := _channel(ep, s, name)) >= 0]
    grid = _around(np.sort(picked[0][0].t if picked and len(e.value) < _SAMPLES else e.t0), moment)
    sample = _covering(e, grid)
    beyond = count(e, target["gate"], 0, "episode", ep.id)[1]
    value = np.where(sample >= 0, np.asarray(e.value, np.float64)[sample], np.nan)
    return Moment(
        gate=target["gate"], stream=e.stream, channel=channels[0], at=moment / 1e9, unit=e.unit,
        limit=float(e.limit), sense=e.sense, seconds=(grid / 1e9).tolist(), value=value.tolist(),
        beyond=np.where(sample >= 0, beyond[sample], False).tolist(),
        columns=tuple(_column(s, c, grid) for s, c in picked), fails=target["fails"],
    )  # fmt: skip


def _worst_sample(e: Evidence, target: Row) -> int:
    """The worst sample (of the target's stretch, if it has one); the first if none is finite."""
    value = np.asarray(e.value, np.float64)
    looked = np.isfinite(value)
    if target["t0"] is not None and (looked & _inside(e, target)).any():
        looked &= _inside(e, target)
    if not looked.any():
        return 0
    masked = np.where(looked, value, -np.inf if e.sense == "above" else np.inf)
    return int(masked.argmax() if e.sense == "above" else masked.argmin())


def _around(grid: NDArray[np.int64], moment: int) -> NDArray[np.int64]:
    at = int(np.searchsorted(grid, moment, "right")) - 1
    first = min(max(at - _SAMPLES // 2, 0), max(len(grid) - _SAMPLES, 0))
    return grid[first : first + _SAMPLES]


def _covering(e: Evidence, grid: NDArray[np.int64]) -> NDArray[np.intp]:
    """(n,) which sample of the evidence holds at each time; -1 where none does."""
    order = np.argsort(e.t0, kind="stable")
    at = np.searchsorted(e.t0[order], grid, "right") - 1
    sample = order[np.maximum(at, 0)]
    return np.where((at >= 0) & (grid <= e.t1[sample]), sample, -1)


def _streams(ep: Episode, e: Evidence) -> list[Stream]:
    own = ep.stream(e.stream)
    every = [*([own] if own else []), *ep.by_role(Role.JOINT_POSITION), *ep.by_role(Role.REQUEST)]
    return list({s.name: s for s in every if len(s)}.values())


def _channel(ep: Episode, stream: Stream, name: str) -> int:
    """Index of the channel of that name, or of the same joint under another; -1 if it has none."""
    if name in stream.names:
        return stream.names.index(name)
    if ep.embodiment is None or (joint := ep.embodiment.resolve((name,))[0]) < 0:
        return -1
    same = np.flatnonzero(ep.embodiment.resolve(stream.names) == joint)
    return int(same[0]) if len(same) else -1


def _column(stream: Stream, channel: int, grid: NDArray[np.int64]) -> Column:
    order = np.argsort(stream.t, kind="stable")
    before = np.searchsorted(stream.t[order], grid, "right") - 1
    x = np.asarray(stream.x[:, channel], np.float64)[order[np.maximum(before, 0)]]
    own = stream.channels[channel]
    return Column(
        visible(stream.name), visible(own.name), own.unit, np.where(before >= 0, x, np.nan).tolist()
    )


# --------------------------------------------------------------------------------------------------- as text


def _table(m: Moment) -> Iterator[str]:
    gate = plugs.gates().get(m.gate)
    what = f"{m.gate} {gate.title if gate else ''}".rstrip()
    where = place({"stream": m.stream, "channel": m.channel})
    head = f"{what} around" if m.fails else f"No gate fails here; {what} is nearest its limit, around"
    yield from _wrapped(f"{head} {seconds(round(m.at * 1e9))} s" + (f": {where}" if where else ""), 0)
    letters = [chr(ord("a") + n) for n in range(len(m.columns))]
    side = "beyond" if m.sense == "above" else "below"
    legend = f"value: measured again from the data; * {side} the limit of {with_unit(m.limit, m.unit)}"
    yield from _wrapped(legend, 0)
    for letter, column in zip(letters, m.columns, strict=True):
        yield from _wrapped(f"{letter}: {column.stream} {column.channel}, {column.unit}", 0)
    yield ""
    yield (f"{'seconds':>11}{'value':>13}  " + "".join(f"{letter:>13}" for letter in letters)).rstrip()
    here = max((n for n, s in enumerate(m.seconds) if s <= m.at), default=0)
    for n, start in enumerate(m.seconds):
        cells = "".join(f"{_shown(column.values[n]):>13}" for column in m.columns)
        mark = "*" if m.beyond[n] else " "
        yield f"{'>' if n == here else ' '}{start:>10.3f}{_shown(m.value[n]):>13} {mark}{cells}".rstrip()


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.6g}"


def _wrapped(text: str, indent: int, head: str = "") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=f"{head:<{indent}}", subsequent_indent=" " * indent,
                         break_on_hyphens=False)  # fmt: skip
