"""The end of a run: conclusions over the corpus, tables and summary, from the ledger alone."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from assay.engine.episode import record
from assay.engine.job import tasks
from assay.examine import conclude
from assay.plan import SCHEMA, Plan
from assay.profile import packaged_for
from assay.store import CORPUS, Ledger
from assay.tally import Tally

__all__ = ["finish"]


def finish(ledger: Ledger, plan: Plan) -> None:
    """Corpus verdicts, tables and summary, from the ledger alone."""
    order = [task.subject for task in tasks(plan, "measure")]
    tally, facts = Tally(), {g.code: {} for g in plan.gates if g.conclude}  # type: ignore[var-annotated]
    for row in ledger.records(order):
        tally.add(row)
        for code, kept in row["facts"].items():
            if code in facts:
                facts[code][row["subject"]] = kept
    for index, corpus in enumerate(plan.corpora):
        subject = CORPUS if len(plan.corpora) == 1 else f"{corpus.name}/{CORPUS}"
        line = _concluded(plan, index, subject, facts)
        ledger.append(subject, line)
        tally.add(json.loads(line))
        order.append(subject)
    ledger.finish(order, {**_head(plan, facts.get("RTG012", {})), **tally.summary()})


def _concluded(plan: Plan, index: int, subject: str, facts: dict[str, dict[str, Any]]) -> bytes:
    listing = plan.corpora[index].listing
    mine = {plan.subject(index, ref.id) for ref in listing.refs}
    judged = []
    for gate in plan.gates:
        if gate.conclude is not None:
            own = {s: f for s, f in facts[gate.code].items() if s in mine}
            judged.append(conclude(gate, listing, own, plan.params[index][gate.code], subject))
    effects = plan.profiles[index].effects((g.code for g in plan.gates), listing.roles)
    return record(subject, judged, effects)[0]


def _orders(subjects: Collection[str], facts: Mapping[str, Any]) -> str:
    """Orders that the data alone decided, in words; empty where all are stated."""
    taken = [facts[s]["orders"] for s in subjects if "orders" in facts.get(s, {})]
    if not taken:
        return ""
    seen = Counter((item, order) for mine in taken for item, order in mine.items())
    told = [f"{item} in {order}" if "order" in order else f"{item} {order}" for item, order in sorted(seen)]
    many = [
        f"{words} ({n} of {len(subjects)})" for words, (_, n) in zip(told, sorted(seen.items()), strict=True)
    ]
    return f"{', '.join(many)}: taken from the data, stated nowhere"


def _corpora(plan: Plan, facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(plan.to_json())["corpora"]
    for index, row in enumerate(rows):
        mine = [plan.subject(index, ref.id) for ref in plan.corpora[index].listing.refs]
        row["orders"] = _orders(mine, facts)
    return rows


def _head(plan: Plan, orders: Mapping[str, Any]) -> dict[str, Any]:
    declared = [c.listing.declared if c.listing.declared is not None else len(c.listing.refs)
                for c in plan.corpora]  # fmt: skip
    foreign = (
        profile.foreign(c.name, packaged_for(c.kind, c.listing.roles))
        for c, profile in zip(plan.corpora, plan.profiles, strict=True)
    )
    return {
        "schema_version": SCHEMA,
        "measure_id": plan.measure_id,
        "judge_id": plan.judge_id,
        "versions": {"assay": importlib.metadata.version("assay"), "python": platform.python_version()},
        "corpora": _corpora(plan, orders),
        "profile": ", ".join(dict.fromkeys(p.name for p in plan.profiles)),
        "foreign_profile": next(filter(None, foreign), ""),
        "decode": plan.decode,
        "declared": sum(declared),
    }
