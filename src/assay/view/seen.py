"""What was decided about an episode and why, and one moment of it."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from assay import plugs
from assay.errors import AssayError, UsageError
from assay.remedy import remedy
from assay.report.spans import from_first, sentence, worst_first
from assay.store import EpisodeOfRun, Run
from assay.view.choice import FORCE, limited, overlap, piece_of, target_of, told_apart
from assay.view.moment import Moment, moment_of, signals_at
from assay.view.signals import CHANNELS

__all__ = ["View", "view_of"]

_GRAVITY: Final = ("fail", "error", "abstain")
_FAR: Final = 9e9
_NOTHING: Final = "Nothing was measured in this episode."
_ROUNDED: Final = 0.01
"""s; moments are printed to the hundredth."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class View:
    """What `view_of` found: the episode's failing, erring and abstaining verdicts, and the moment.

    All times are seconds from the episode's first sample, which is at ``t0`` ns of its own clock. Where there
    is no moment, ``missing`` says why in one sentence. ``timing``: of each pair of streams, whether their
    common time is measured, bounded or assumed, as in docs/schema.md.
    """

    subject: str
    decision: str
    verdicts: list[dict[str, Any]]
    moment: Moment | None
    missing: str = ""
    timing: list[dict[str, Any]] = field(default_factory=list)
    t0: int = 0


def view_of(run: Run, subject: str, at: float | None = None) -> View:
    """Why an episode was decided as it was, and the samples around ``at``.

    ``at``: seconds from the episode's first sample; None: where it is worst.

    Raises:
        UsageError: if the run has no such episode, several end in ``subject``, or ``at`` is no moment of it.
    """
    if at is not None and not abs(at) < _FAR:
        raise UsageError("not a moment of an episode", where="--at", found=f"{at:g}", expected="seconds")
    subject = _named(run, subject)
    episode = run.episode(subject)
    (about,) = (row for row in run.episodes.to_pylist() if row["subject"] == subject)
    first = about["t0"] or 0
    if at is not None:
        _within(at, about, [from_first(f, first) for f in episode.findings if f["t0"] or f["t1"]])
    moment = None if at is None else first + round(at * 1e9)
    return replace(_view(episode, subject, moment, first), timing=episode.timing, t0=first)


def _within(at: float, about: Row, findings: Sequence[Row]) -> None:
    """Refuse what is no moment of the episode; what a finding names always is one."""
    length, frames = about["seconds"] or 0.0, about["frames"] or 1
    last = math.floor(length * (frames - 1) / frames * 100) / 100  # it lasts to the end of its last sample
    named = [(0.0, length), *((f["t0"] / 1e9, f["t1"] / 1e9) for f in findings)]
    if about["t0"] is None and findings:  # a run of before: on a clock that only its findings tell
        named.append((min(start for start, _ in named[1:]), max(end for _, end in named[1:])))
    if length and not any(start - _ROUNDED <= at <= end + _ROUNDED for start, end in named):
        raise UsageError("not a moment of the episode", where="--at", found=f"{at:g} s",
                         expected=f"0 to {last:.2f} s, where its last sample begins")  # fmt: skip


def _view(episode: EpisodeOfRun, subject: str, at: int | None, first: int) -> View:
    findings = worst_first(episode.findings)
    since = [from_first(f, first) for f in findings]
    refused = any(c.get("refused") for c in episode.run.plan["corpora"])
    rows = [_told(row, since, refused) for row in episode.verdicts if row["status"] in _GRAVITY]
    rows.sort(key=lambda row: (_GRAVITY.index(row["status"]), -FORCE[row["effect"]], row["gate"]))
    target = target_of(episode, at)
    if target is None:
        seen, missing = (None, _NOTHING) if at is None else _unjudged(episode, at, first)
        return View(subject, episode.decision, rows, seen, missing)
    if target["t0"] == target["t1"] == 0:
        return View(subject, episode.decision, rows, None, "What fails is not there to be looked at.")
    try:
        ep, pieces = episode.again(target["gate"])
    except AssayError as error:
        return View(subject, episode.decision, rows, None, f"The data cannot be measured again: {error}")
    piece = piece_of(pieces, target)
    if piece is None:
        missing = f"{target['gate']} finds nothing to measure any more: the data have changed since the run."
        return View(subject, episode.decision, rows, None, missing)
    piece = limited(piece, episode, target["gate"])
    names = [f["channel"] for f in findings if f["gate"] == target["gate"] and overlap(f, target)]
    channels = list(dict.fromkeys([target["channel"], *names]))[:CHANNELS]
    others = {f["note"] for f in findings if all(f[k] == target[k] for k in ("gate", "stream", "channel"))}
    seen = moment_of(ep, piece, target, channels, at=at, first=first)
    seen = replace(seen, note=target["note"]) if len(others) > 1 else seen
    return View(subject, episode.decision, rows, seen)


def _unjudged(episode: EpisodeOfRun, at: int, first: int) -> tuple[Moment | None, str]:
    """The data alone, where no gate measured anything; or why not."""
    try:
        ep, _ = episode.again(next(iter(episode.run.plan["gates"])))
    except AssayError as error:
        return None, f"The data cannot be opened again: {error}"
    shown = signals_at(ep, at, first)
    return shown, "" if shown else _NOTHING


def _named(run: Run, name: str) -> str:
    """The episode's id: as given, or the only one that is meant; an unknown name gets the nearest ones.

    It may be the end of a path, else the number at the end of an id, else one or more whole words of it.

    Raises:
        UsageError: if the run has no such episode, or several may be meant.
    """
    ids: list[str] = run.episodes["subject"].to_pylist()
    if name in ids:
        return name
    ends = _meant(ids, name)
    if len(ends) == 1:
        return ends[0]
    nearest = ends or difflib.get_close_matches(name, ids, 3, 0.5)
    if not nearest:
        return name  # which the run refuses
    what = "several episodes are called so" if ends else "the run has no such episode"
    raise UsageError(what, where=str(run.path), found=name, expected=" or ".join(nearest[:3]),
                     remedy="assay verdicts lists the episodes of a run")  # fmt: skip


def _meant(ids: Sequence[str], name: str) -> list[str]:
    """The ids that a short name may stand for: by the strictest way that finds any."""
    word = re.compile(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", re.IGNORECASE)
    digits = name.lstrip("0") or "0"
    number = re.compile(rf"(?<!\d)0*{digits}$" if name.isdecimal() and name.isascii() else r"(?!)")
    path = re.compile(rf"/{re.escape(name)}\Z")
    ways = (path.search, number.search, word.search)
    found = ([one for one in ids if way(one)] for way in ways) if name else iter(())
    return next(filter(None, found), [])


def _told(row: dict[str, Any], findings: Sequence[Row], refused: bool) -> dict[str, Any]:
    gate = plugs.gates().get(row["gate"])
    own = [f for f in findings if f["gate"] == row["gate"]]
    told = told_apart(own)
    return {
        **{name: row[name] for name in ("gate", "status", "effect", "stream", "channel", "detail")},
        "title": gate.title if gate else "", "says": sentence(row, told), "reason": row["reason"],
        "remedy": remedy(row["reason"], refused=refused) if row["status"] == "abstain" else "",
        "spans": [{"stream": f["stream"], "channel": f["channel"], "start_s": f["t0"] / 1e9,
                   "end_s": f["t1"] / 1e9, "note": f["note"]} for f in own],
    }  # fmt: skip
