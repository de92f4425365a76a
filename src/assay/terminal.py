"""What a person reads in a terminal: plain lines of at most 80 columns, without colour of their own."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from assay import plugs
from assay.embodiment import Conflict, Embodiment
from assay.gate import Gate
from assay.inspection import Line
from assay.profile import HUMAN_SOURCE
from assay.remedy import by_sheet, remedy
from assay.report.clocks import clock_rows
from assay.report.spans import both_of, end_of
from assay.report.wording import visible
from assay.store import Run

if TYPE_CHECKING:
    from assay.synth.faults import Truth

__all__ = ["body_lines", "closing", "columns", "explained", "inspected", "limit_of", "planted", "spent"]

_WIDTH = 80
_MOST = 15
"""Lines at the end of a run."""
_LEAST = 4
"""Of these, for what was read and decided; a proposal that leaves no more is shown whole by assay inspect."""

_FURTHER = " " * 12
_SPARED = ("open", "flagged", "clocks", _FURTHER)
"""Heads of the lines that are left out first, where the end of a run would be too long."""
_SHOWN = 7
"""Gates that a line names."""
_PROPOSED = "Lines for the top of assay.toml; check and complete them, none is applied:"

_WANT = {
    "not-run": "gates that the profile requires",
    "absent-stream": "a stream", "not-declared": "a declaration", "unreadable": "a readable file",
    "not-finite": "finite values", "nominal-clock": "capture stamps", "unknown-body": "a known body",
    "unresolved-names": "joint names", "unresolved-unit": "units", "too-short": "length", "still": "motion",
    "no-reference": "a reference", "no-ground": "the floor's height",
    "reference-noisy": "a less noisy reference",
    "scope-unknown": "what tells when the gate applies", "limits-conflict": "one set of limits",
    "claimed-body": "a body by the buyer's word",
    "not-calibrated": "a calibration", "not-decoded": "decoded pictures", "needs-data": "the data",
    "undecided": "certainty",
}  # fmt: skip
"""What is missing where a gate could not decide; `assay.gate.REASONS` says what would supply it."""


def closing(run: Run, report: str, proposals: Mapping[str, Sequence[str]] = {}) -> list[str]:
    """The end of a run in at most 15 lines: coverage, decisions, causes, what to do next.

    ``proposals``: by corpus, lines of a sheet that would let more be measured, as `assay.proposal` has them.
    """
    s = run.summary
    people = s.get("profile") == HUMAN_SOURCE
    lines = [_corpus_line(c, people=people) for c in s["corpora"][:2]]
    absent = f", {s['episodes'] - s['present']} absent or unreadable" if s["episodes"] > s["present"] else ""
    lasting = spent(s["hours"] * 3600) if s["hours"] or not s["frames"] else "no rate: state fps in a sheet"
    lines.append(f"coverage    {s['present']} of {s['episodes']} episodes read{absent}; "
                 f"{s['frames']} frames, {lasting}")  # fmt: skip
    counts = ", ".join(f"{name} {s[name]}" for name in ("accepted", "rejected", "unmeasured"))
    known = "" if s["declared"] == s["episodes"] else f" ({s['declared']} declared)"
    lines.append(f"decisions   {counts} of {s['episodes']} episodes{known}")
    lines += [f"ignored     the whole sheet: {c['refused']}" for c in s["corpora"][:2] if c.get("refused")]
    lines += [f"body        {c['own_body']}" for c in s["corpora"][:2] if c.get("own_body")]
    lines += [f"orders      {c['orders']}" for c in s["corpora"][:2] if c.get("orders")]
    lines += [f"parts       {c['unmatched']}" for c in s["corpora"][:2] if c.get("unmatched")]
    lines += [f"sheet       {c['idle']}" for c in s["corpora"][:2] if c.get("idle")]
    lines += [
        f"not judged  files of {', '.join(c['beside'])} in the same folder; assay inspect says which"
        for c in s["corpora"][:2]
        if c.get("beside")
    ]
    lines += [f"not judged  {c['others']}" for c in s["corpora"][:2] if c.get("others")]
    for at, cause in enumerate(s["causes"][:3]):
        where = _where(cause)
        there = "all" if cause["there"] == cause["episodes"] else cause["there"]
        there = f", {there} at {where}" if where else ""
        head, many = "causes" if at == 0 else "", _episodes(cause["episodes"])
        lines.append(f"{head:<11} {cause['gate']} {_title(cause['gate'])}: {many}{there}")
    if flagged := list(s.get("flagged", {}).items())[:3]:
        shown = ", ".join(f"{code} {_title(code)} in {_episodes(n)}" for code, n in flagged)
        lines.append(f"flagged     {shown}")
    lines += _clocks(run)
    lines += _open(s)
    if s["corpus_failures"]:
        shown = ", ".join(f"{code} {_title(code)}" for code in s["corpus_failures"])
        lines.append(f"corpus      {shown}")
    if s["errors"]:
        lines.append(f"errors      Assay itself failed at {_episodes(s['errors'])}; see assay verdicts")
    ends = [*_whole("report", report), *_whole("next", f"assay verdicts {shlex.quote(str(run.path))}")]
    if people:
        lines.append("unmeasured  there is no robot here to accept: judge the clips that were retargeted "
                     "from it, with this as their [parts.human]")  # fmt: skip
    elif s["unmeasured"] and proposals and _by_sheet(s):
        name, proposal = next(iter(proposals.items()))
        of = f"{name}, of {len(proposals)} to inspect: " if len(s["corpora"]) > 1 else ""
        intro = _wrapped(f"unmeasured  {_wanting(s)}. {of}{_PROPOSED}")
        ends = [*intro, *proposal[: _MOST - _LEAST - len(intro) - len(ends)], *ends]
    elif s["unmeasured"]:
        lines.append(f"unmeasured  {_wanting(s)}: {_cure(s)}")
    short = ", ".join(f"{cause['gate']} in {_episodes(cause['episodes'])}" for cause in s["causes"][1:3])
    return _fitted(lines, _MOST - len(ends), f"{_FURTHER}and {short}") + ends


def _where(cause: Mapping[str, Any]) -> str:
    gate, stream, several = cause["gate"], cause["stream"], cause.get("channels", 1)
    if several > 1:
        return f"{both_of(gate) or f'{several} channels'} of {stream}"
    return " ".join(filter(None, (stream, end_of(gate, cause["channel"]))))


def _fitted(lines: Sequence[str], most: int, short: str) -> list[str]:
    """Whole lines, wrapped: what can be looked up goes before any is cut, ``short`` for more causes."""
    kept = [(line, _wrapped(line)) for line in lines]
    for head in _SPARED:
        if sum(len(pieces) for _, pieces in kept) > most:
            at = next((i for i, one in enumerate(kept) if one[0].startswith(head)), None)
            kept = [one for one in kept if not one[0].startswith(head)]
            if head == _FURTHER and at is not None:
                kept.insert(at, (short, _wrapped(short)))
    return [piece for _, pieces in kept for piece in pieces][:most]


def _open(s: Mapping[str, Any]) -> list[str]:
    """Gates that may flag or reject and told nothing of accepted episodes."""
    codes = list(s.get("open", ()))
    if not codes:
        return []
    more = f" and {len(codes) - _SHOWN} more" if len(codes) > _SHOWN else ""
    return [f"open        accepted without a verdict of {' '.join(codes[:_SHOWN])}{more}"]


def _by_sheet(s: Mapping[str, Any]) -> bool:
    """Whether a line of the corpus's sheet may help."""
    return by_sheet(s["unlock"]["reason"]) if s["unlock"] else any(map(by_sheet, s.get("wanting", ())))


def _wanting(s: Mapping[str, Any]) -> str:
    """What unmeasured episodes lack: the one thing that would measure them, else what most of them lack."""
    if u := s["unlock"]:
        much = f"{spent(u['hours'] * 3600)} of data " if s["hours"] else ""
        return f"{much}for want of {_want(u['reason'])}"
    if not s.get("wanting"):  # a run of before, or errors of our own
        return "for several reasons each"
    (most, n), *others = s["wanting"].items()
    beside = [_want(reason) for reason, _ in others[:3]]
    beside += [f"{len(others) - 3} more"] if len(others) > 3 else []
    return f"{_episodes(n)} for want of {_want(most)}" + (f", beside {', '.join(beside)}" if beside else "")


def _want(reason: str) -> str:
    return _WANT.get(reason, reason)


def _cure(s: Mapping[str, Any]) -> str:
    """What to do about it."""
    refused = any(c.get("refused") for c in s["corpora"])
    if u := s["unlock"]:
        cure = remedy(u["reason"], refused=True) if refused else u["remedy"]
        return cure + (f" ({visible(u['detail'])})" if u.get("detail") else "")
    first = next(iter(s.get("wanting", ())), "")
    cure = f"{remedy(first, refused=refused)}; " if first else ""
    return f"{cure}assay view RUN EPISODE lists all that is open"


def _clocks(run: Run) -> list[str]:
    """How the time of two streams at most stands to the joints', the least known first."""
    rows = clock_rows(run)
    told = [row for row in rows if row["by"]]
    if rows and not told:
        return ["clocks      assumed, measured for no stream; the report says what would measure them"]
    said = "clocks      {stream} {settled} by {by}: usual lag {lag} ± {within}, worst {worst}"
    return [said.format_map(row).replace("\N{NO-BREAK SPACE}", " ") for row in told[:2]]


def planted(truths: Iterable[Truth]) -> list[str]:
    """What ``assay inject`` planted, where, and which gate must find it."""
    return [
        f"{t.fault} of size {t.size:g}: {t.gate} must find it in {t.episode}"
        f" from {t.t0 * 1e-9:.2f} to {t.t1 * 1e-9:.2f} s, {' '.join((t.stream, t.channel)).strip()}".rstrip(
            ", "
        )
        for t in truths
    ]


def inspected(lines: Sequence[Line]) -> list[str]:
    """The table of ``assay inspect``."""
    out: list[str] = []
    for line in lines:
        if line.known == "proposed":  # to be copied: never wrapped, nothing before it
            out += ["", _PROPOSED, *line.evidence.splitlines()]
            continue
        head = f"{line.known:<11} {line.item}"
        out += _wrapped(f"{head}: {line.value}" if line.value else head)
        for evidence in line.evidence.splitlines():
            out += textwrap.wrap(evidence, _WIDTH, initial_indent=" " * 12, subsequent_indent=" " * 12,
                                 break_long_words=False, break_on_hyphens=False)  # fmt: skip
    return out


def limit_of(gate: Gate) -> str:
    """The published limit, with its unit."""
    for param in fields(gate.params):
        if param.name.startswith("limit"):
            unit = param.metadata["unit"]
            return f"{param.default:g}" + (f" {unit}" if unit != "1" else "")
    return ""


def explained(gate: Gate) -> list[str]:
    """A gate's page as text: its sections, then its params with unit and reason."""
    out = [f"{gate.code} {gate.title} (version {gate.version})", ""]
    for name, text in gate.doc.items():
        out += textwrap.wrap(text if name == "Title" else f"{name}: {text}", _WIDTH)
        out.append("")
    for param in fields(gate.params):
        unit, reason = param.metadata["unit"], param.metadata["reason"]
        value = f"{param.default:g}" + (f" {unit}" if unit != "1" else "")
        out += textwrap.wrap(f"{param.name} = {value}: {reason}", _WIDTH, subsequent_indent="    ")
    return out


def body_lines(body: Embodiment, rows: Sequence[Conflict]) -> list[str]:
    """A body: its joints and sources, then each number on which they disagree."""
    known = "tree known" if body.tree is not None else "limits only"
    soles = f"{len(body.soles)} soles" if body.soles else "soles unknown: foot gates abstain"
    out = [f"{body.name}: {len(body.joints)} joints, {known}, {soles}"]
    for limits in body.limits:
        out += _wrapped(f"source      {limits.source} {limits.revision} ({limits.grade})")
    if not rows:
        return [*out, "no two sources disagree"]
    shown = [(r.joint, r.quantity, "; ".join(f"{v:g} {source}" for source, v in r.values)) for r in rows]
    return [*out, "", *columns(shown)]


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as aligned columns, the last one wrapped."""
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    out = []
    for row in rows:
        head = "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)) + "  "
        out += _hung(head, row[-1])
    return out


def spent(seconds: float) -> str:
    """A duration as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


def _hung(head: str, text: str) -> list[str]:
    pieces = textwrap.wrap(text, max(_WIDTH - len(head), 24)) or [""]
    return [(head if i == 0 else " " * len(head)) + piece for i, piece in enumerate(pieces)]


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH, subsequent_indent=" " * 12, break_long_words=False,
                         break_on_hyphens=False) or [""]  # fmt: skip


def _whole(head: str, text: str) -> list[str]:
    """A line to copy from is never broken: it stands alone where it is too long."""
    line = f"{head:<11} {text}"
    return [line] if len(line) <= _WIDTH else [head, text]


def _episodes(n: int) -> str:
    return f"{n} episode" + ("" if n == 1 else "s")


def _corpus_line(corpus: Mapping[str, Any], *, people: bool = False) -> str:
    kind = corpus["kind"]
    known = f"{kind} ({corpus.get('kind_origin', '')})"
    unknown = "human source only, no robot" if people else "kind unresolved, judged as teleoperation"
    judged = unknown if kind == "unresolved" else known
    body = corpus["embodiment"]
    shown = f"body {body} ({corpus['embodiment_origin']})" if body else "body unknown"
    return f"{corpus['name']}: {corpus['format']}, {judged}, {shown}"


def _title(code: str) -> str:
    gate = plugs.gates().get(code)
    return gate.title if gate else ""
