"""The end of a run: conclusions over the corpus, tables and summary, from the ledger alone."""

from __future__ import annotations

import importlib.metadata
import json
import platform
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
    ledger.finish(order, {**_head(plan), **tally.summary()})


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


def _head(plan: Plan) -> dict[str, Any]:
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
        "corpora": json.loads(plan.to_json())["corpora"],
        "profile": ", ".join(dict.fromkeys(p.name for p in plan.profiles)),
        "foreign_profile": next(filter(None, foreign), ""),
        "decode": plan.decode,
        "declared": sum(declared),
    }
