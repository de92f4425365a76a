"""What each section of the page shows, as plain values for the template."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from assay.attribution.finished import SAYS, kept
from assay.gate import Gate
from assay.remedy import remedy
from assay.report import ranking
from assay.report.charts import Chart, chart
from assay.report.rungs import distributions
from assay.report.spans import from_first
from assay.report.tables import STATUSES, Grid, RunTables, begins, column
from assay.report.wording import hours, number, percent, seconds, view_line, visible, with_unit

__all__ = [
    "Share",
    "card_rows",
    "corpus_rows",
    "coverage",
    "gate_rows",
    "near_rows",
    "open_rows",
    "reason_rows",
    "watch_rows",
]

_ORDER: Final = ("fail", "error", "abstain", "pass", "n/a")
_EFFECTS: Final = {"require": 0, "reject": 1, "flag": 2, "report": 3}


@dataclass(frozen=True, slots=True)
class Share:
    """One piece of a bar: x and width in per cent."""

    name: str
    n: int
    x: float
    width: float


def coverage(run: RunTables, grid: Grid) -> dict[str, Any]:
    """Declared, present, judged; accepted, rejected, unmeasured; hours of each."""
    s = run.summary
    spent = {
        d: float(grid.seconds[grid.decision == d].sum() / 3600)
        for d in ("accepted", "rejected", "unmeasured")
    }
    n = {name: int(s[name]) for name in ("accepted", "rejected", "unmeasured")}
    absent = int(((grid.decision == "rejected") & ~grid.present).sum())
    parts = {"accepted": n["accepted"], "unmeasured": n["unmeasured"], "rejected": n["rejected"] - absent,
             "absent": absent}  # fmt: skip
    return {
        "declared": s.get("declared"), "present": s.get("present"), "episodes": s["episodes"], **n,
        "judged": int((grid.present & (grid.decision != "unmeasured")).sum()), "absent": absent,
        "hours_of": spent, "frames": s["frames"], "hours": s["hours"], "bar": shares(parts),
        "untimed": bool(s["frames"] and not s["hours"]),
        "listed": all(c.get("declared", 0) is None for c in s["corpora"]),
        "percent": {k: percent(v / max(int(s["episodes"]), 1)) for k, v in n.items()},
    }  # fmt: skip


def shares(parts: Mapping[str, int]) -> list[Share]:
    """Pieces of a bar that fills 100; what is there but tiny stays visible."""
    total, at, found = max(sum(parts.values()), 1), 0.0, []
    for name, n in parts.items():
        width = 100.0 * n / total
        if n:
            found.append(Share(name, n, round(at, 3), round(max(width, 0.4), 3)))
        at += width
    return found


def notices(run: RunTables) -> list[tuple[str, str]]:
    """What a reader must know before any figure, as (lead, sentence): sheets, parts, profiles."""
    corpora = run.summary.get("corpora") or []
    said = [("The sheet is ignored as a whole", c["refused"]) for c in corpora if c.get("refused")]
    said += [("Body", c["own_body"]) for c in corpora if c.get("own_body")]
    said += [("Orders", c["orders"]) for c in corpora if c.get("orders")]
    said += [("Parts", c["unmatched"]) for c in corpora if c.get("unmatched")]
    said += [("Sheet", c["idle"]) for c in corpora if c.get("idle")]
    said += [
        ("Not judged", f"files of {', '.join(c['beside'])} in the same folder")
        for c in corpora
        if c.get("beside")
    ]
    said += [("Not judged", c["others"]) for c in corpora if c.get("others")]
    if run.summary.get("foreign_profile"):
        said.append(("Profile", run.summary["foreign_profile"]))
    return [(lead, visible(words)) for lead, words in said]


def unlock(run: RunTables) -> dict[str, Any] | None:
    """The one remedy that would decide most hours."""
    found = run.summary.get("unlock")
    if found and found.get("reason") and _sheet_refused(run):
        return {**found, "remedy": remedy(found["reason"], refused=True)}
    return found


def reason_rows(run: RunTables, grid: Grid) -> list[dict[str, Any]]:
    """Why gates abstained: reason, verdicts, hours of the episodes concerned, gates, what would decide it."""
    reason = column(run.verdicts, "reason")
    abstained = column(run.verdicts, "status") == "abstain"
    who, gate = grid.index_of(column(run.verdicts, "subject")), column(run.verdicts, "gate")
    rows, refused = [], _sheet_refused(run)
    for name, n in sorted(run.summary["abstentions"].items(), key=lambda item: -item[1]):
        mine = abstained & (reason == name)
        episodes = np.unique(who[mine & (who >= 0)])
        rows.append({
            "reason": name, "verdicts": n, "hours": hours(float(grid.seconds[episodes].sum() / 3600)),
            "episodes": len(episodes), "gates": Counter(sorted(gate[mine].tolist())).most_common(),
            "remedy": remedy(name, refused=refused),
        })  # fmt: skip
    return rows


def open_rows(run: RunTables, grid: Grid) -> list[dict[str, Any]]:
    """What each gate could not measure: episodes by reason, its commonest words, and what would decide it."""
    abstained = np.flatnonzero(column(run.verdicts, "status") == "abstain")
    names = ("gate", "reason", "detail", "subject")
    gate, reason, detail, subject = (column(run.verdicts, name)[abstained] for name in names)
    said: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    whole: Counter[tuple[str, str]] = Counter()
    refused = _sheet_refused(run)
    inside = grid.index_of(subject) >= 0
    for code, why, words, one in zip(gate.tolist(), reason.tolist(), detail.tolist(), inside, strict=True):
        said[code, why][words or ""] += 1
        whole[code, why] += int(one)
    return [
        {"gate": code, "reason": why, "episodes": whole[code, why], "effect": grid.effect.get(code, "report"),
         "words": visible(words.most_common(1)[0][0]), "others": len(words) - 1,
         "remedy": remedy(why, refused=refused)}
        for (code, why), words in sorted(said.items())
    ]  # fmt: skip


def gate_rows(run: RunTables, grid: Grid, docs: Mapping[str, Gate]) -> list[dict[str, Any]]:
    """One row per gate: its counts, what it rejects, and whether it fails nearly everything."""
    alone, rows = grid.blocks.sum(axis=0) == 1, []
    causes = {cause["gate"]: _cluster(cause) for cause in run.summary.get("causes") or ()}
    for code, counted in run.summary["gates"].items():
        counts = {name: int(counted.get(name, 0)) for name in _ORDER}
        row = {"code": code, "title": docs[code].title if code in docs else "", "counts": counts,
               "bar": shares(counts), "systematic": ranking.systematic(counts), "effect": "report",
               "rejects": 0, "only": 0, "hours": 0.0, "cluster": causes.get(code, "")}  # fmt: skip
        if code in grid.codes:
            at = grid.codes.index(code)
            rejects = grid.blocks[at] & (grid.status[at] == STATUSES.index("fail"))
            row |= {
                "effect": grid.effect[code],
                "rejects": int(rejects.sum()),
                "only": int((rejects & alone).sum()),
                "hours": float(grid.seconds[rejects].sum() / 3600),
            }
        rows.append(row)
    return sorted(rows, key=_gravity)


def card_rows(
    run: RunTables, grid: Grid, docs: Mapping[str, Gate], gates: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """One card per gate: its charts, its text, its params."""
    all_hours = float(grid.seconds.sum() / 3600)
    charts: dict[str, list[dict[str, Any]]] = {}
    for d in distributions(run.measures, grid):
        decides = grid.effect[d.gate] in ("require", "reject")
        drawn: Chart | None = None if d.zero else chart(d, all_hours, decides=decides)
        lo, hi = d.limits
        limit = with_unit(hi, d.unit) if lo == hi else f"{number(lo)} to {with_unit(hi, d.unit)}"
        charts.setdefault(d.gate, []).append({
            "key": d.limit_key, "limit": limit, "sense": d.sense, "chart": drawn,
            "worst": with_unit(d.worst, d.unit), "samples": int(d.samples.sum()),
            "unplaced": d.unplaced, "quota": percent(max(d.quotas)) if max(d.quotas) else "",
        })  # fmt: skip
    cards = [
        {**row, "charts": charts.get(row["code"], []), "doc": _doc(docs.get(row["code"]))} for row in gates
    ]
    return sorted(cards, key=lambda card: not any(c["chart"] for c in card["charts"]))


def corpus_rows(run: RunTables, grid: Grid) -> list[dict[str, Any]]:
    """Verdicts about anything but one episode, gravest first."""
    who = grid.index_of(column(run.verdicts, "subject"))
    other = np.flatnonzero((who < 0) | (column(run.verdicts, "scope") == "corpus"))
    rows: list[dict[str, Any]] = run.verdicts.take(other).to_pylist()
    for row in rows:
        row["detail"] = visible(row["detail"] or "")
        row["place"] = visible(" ".join(filter(None, (row["stream"], row["channel"]))))
        row["subject"] = visible(row["subject"])
        measured = row["worst"] is not None and np.isfinite(row["worst"])
        worst, limit = (with_unit(row[name], row["unit"]) for name in ("worst", "limit"))
        row["says"] = f"{worst} against {limit}" if measured else ""
    return sorted(rows, key=lambda row: (-STATUSES.index(row["status"]), row["gate"], row["subject"]))


def watch_rows(run: RunTables, grid: Grid, gates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Episodes to watch, with moments, channels and the command that shows each."""
    dull = frozenset(row["code"] for row in gates if row["systematic"])
    rows, blamed = [], {_finding(row): SAYS[row["says"]] for row in kept(run.path)}
    first = begins(run)
    for watch in ranking.watch_list(run.findings, grid, dull):
        subject = grid.subjects[watch.episode]
        found = run.findings.take(list(watch.findings)).to_pylist()
        moments = [
            _moment(run, subject, from_first(row, first[subject]), blamed.get(_finding(row), ""))
            for row in found
        ]
        rows.append({
            "subject": visible(subject), "id": subject, "decision": str(grid.decision[watch.episode]),
            "gates": watch.gates, "moments": moments, "more": watch.total - len(moments),
        })  # fmt: skip
    return rows


def near_rows(run: RunTables, grid: Grid) -> list[dict[str, Any]]:
    """Passes closest to their limit or quota."""
    rows = []
    for miss in ranking.near_misses(run.verdicts, run.measures, grid):
        verdict = run.verdicts.slice(int(grid.row[miss.gate, miss.episode]), 1).to_pylist()[0]
        if miss.of_quota:
            says = f"{percent(verdict['hi'])} of samples, {percent(verdict['quota'])} allowed"
        else:
            worst, limit = (with_unit(verdict[name], verdict["unit"]) for name in ("worst", "limit"))
            says = f"{worst}, limit {limit}"
        rows.append({
            "id": verdict["subject"], "subject": visible(verdict["subject"]), "gate": grid.codes[miss.gate],
            "used": miss.used, "percent": percent(miss.used), "says": says,
            "place": visible(" ".join(filter(None, (verdict["stream"], verdict["channel"])))),
        })  # fmt: skip
    return rows


def _sheet_refused(run: RunTables) -> bool:
    return any(c.get("refused") for c in run.summary.get("corpora") or [])


def _cluster(cause: Mapping[str, Any]) -> str:
    """Where at least half of what a gate rejects lies, e.g. ``8 of 12 at action left_elbow``."""
    several = f"{cause['channels']} channels of" if cause.get("channels", 1) > 1 else ""
    place = " ".join(filter(None, (several, cause["stream"], cause["channel"])))
    if not place or 2 * cause["there"] < cause["episodes"]:
        return ""
    return visible(f"{cause['there']:,} of {cause['episodes']:,} at {place}")


def _finding(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["subject"], row["gate"], row["channel"], row["t0"]


def _moment(run: RunTables, subject: str, row: Mapping[str, Any], blamed: str) -> dict[str, Any]:
    note = "; ".join(filter(None, (blamed, row["note"])))
    return {
        "gate": row["gate"], "place": visible(row["channel"] or row["stream"]),
        "stream": visible(row["stream"]),
        "from": seconds(row["t0"]), "to": seconds(row["t1"]), "note": visible(note),
        "says": with_unit(row["worst"], row["unit"]), "limit": with_unit(row["limit"], row["unit"]),
        "line": view_line(str(run.path), subject, row["t0"]),
    }  # fmt: skip


def _doc(gate: Gate | None) -> dict[str, Any] | None:
    if gate is None:
        return None
    params = [
        {"name": f.name, "default": number(f.default), "unit": f.metadata["unit"],
         "reason": f.metadata["reason"]}
        for f in fields(gate.params)
    ]  # fmt: skip
    return {"version": gate.version, "sections": dict(gate.doc), "params": params}


def _gravity(row: Mapping[str, Any]) -> tuple[Any, ...]:
    counts = row["counts"]
    effect = _EFFECTS[row["effect"]] if counts["fail"] else len(_EFFECTS)
    return -row["rejects"], effect, -counts["fail"], -counts["error"], -counts["abstain"], row["code"]
