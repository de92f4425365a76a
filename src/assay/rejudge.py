"""Judging a finished run again under another profile, from its stored measures and without the data."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from assay import plugs
from assay.calibrate import Calibration
from assay.errors import RunError, UsageError
from assay.judge import REPORTED, Measure, Verdict, combine, rejudge
from assay.model import Kind
from assay.plan import known_codes, params_of
from assay.profile import Profile, load_profile, packaged_for
from assay.store import Ledger, Run
from assay.tally import Decision, Tally, decide

__all__ = ["rejudge_run"]

_NAMES = tuple(f.name for f in fields(Measure))


def rejudge_run(run: Run, profile_file: Path, out: Path) -> Run:
    """Make all verdicts of ``run`` again under a profile and write them to ``out``.

    Findings are those of the first judgement: where a gate newly fails, its spans need the data.

    Raises:
        UsageError: if the profile does not fit.
        RunError: if ``out`` exists, or the run's gates are of another version than the installed ones.
    """
    profile = load_profile(profile_file)
    if not {"gates", "corpora", "measured", "judged"} <= run.plan.keys():
        raise RunError("the run's plan is damaged", where=str(run.path), remedy="run again on the corpus")
    _same_versions(run)
    limits = _limits(run, profile)
    measures = _by_subject(run.measures.to_pylist())
    findings = _by_subject(run.findings.to_pylist())
    timing = _by_subject(run.timing.to_pylist())
    episodes = {row["subject"]: row for row in run.episodes.to_pylist()}
    tally = Tally()
    with Ledger(out) as ledger:
        for subject, rows in measures.items():
            effects = profile.effects(plugs.gates(), _roles(run, subject))
            verdicts = list(_verdicts(rows, limits, effects))
            about = episodes.get(subject)
            made = decide(verdicts, effects if about else None)
            record = _record(subject, about, made, verdicts, rows, findings.get(subject, []))
            record["timing"] = timing.get(subject, [])
            ledger.append(subject, orjson.dumps(record))
            tally.add(record)
        ledger.write("plan.json", _plan(run, profile))
        ledger.write("calibration.json", Calibration.read(run.path / "calibration.json").to_json())
        head = {k: v for k, v in run.summary.items() if k not in tally.summary()}
        head |= {"foreign_profile": _foreign(run, profile)}
        head |= {"profile": profile.name, "judge_id": json.loads(_plan(run, profile))["judge_id"]}
        ledger.finish(list(measures), {**head, **tally.summary()})
    return Run(out)


def _verdicts(
    rows: list[dict[str, Any]],
    limits: Mapping[str, Mapping[str, float]],
    effects: Mapping[str, str],
) -> Iterator[dict[str, Any]]:
    by_gate: dict[str, list[Verdict]] = defaultdict(list)
    for row in rows:
        measure = Measure(**{name: _filled(name, row[name]) for name in _NAMES})
        if measure.settled == REPORTED:
            continue
        changed = limits.get(measure.gate, {})
        by_gate[measure.gate].append(
            rejudge(measure, limit=changed.get(measure.limit_key), quota=changed.get(measure.quota_key))
        )
    for gate, verdicts in by_gate.items():
        worst = combine(verdicts)
        yield {n: getattr(worst, n) for n in worst.__slots__} | {"effect": effects[gate]}


def _roles(run: Run, subject: str) -> Collection[str]:
    """Roles that the subject's own corpus declares; subjects of several corpora begin with its name."""
    corpora = run.plan["corpora"]
    own = [c for c in corpora if len(corpora) == 1 or subject.startswith(f"{c['name']}/")]
    roles: Collection[str] = own[0]["roles"]
    return roles


def _foreign(run: Run, profile: Profile) -> str:
    """Whether the profile is one for another kind of data, in a sentence (see `Profile.foreign`)."""
    said = (
        profile.foreign(c["name"], packaged_for(Kind(c.get("kind", "unresolved")), c["roles"]))
        for c in run.plan["corpora"]
    )
    return next(filter(None, said), "")


def _filled(name: str, value: Any) -> Any:
    if name in ("sure", "maybe", "maybe_unknown"):
        return tuple(value)
    return float("nan") if value is None else value  # parquet keeps NaN as null


def _record(
    subject: str,
    episode: Mapping[str, Any] | None,
    made: tuple[Decision, list[str]],
    verdicts: list[dict[str, Any]],
    measures: list[dict[str, Any]],
    findings: list[dict[str, Any]],
) -> dict[str, Any]:
    decision, reasons = made
    failing = {v["gate"] for v in verdicts if v["status"] == "fail"}
    kept = [f for f in findings if f["gate"] in failing]
    for verdict in verdicts:
        verdict["findings"] = sum(f["gate"] == verdict["gate"] for f in kept)
    about = dict(episode) if episode else {"subject": subject}
    about |= {"decision": decision, "reasons": ",".join(reasons), "scope": "episode" if episode else "corpus"}
    return about | {"error": False, "verdicts": verdicts, "measures": measures, "findings": kept}


def _limits(run: Run, profile: Profile) -> dict[str, dict[str, float]]:
    """Limits and quotas that differ from the run's, by gate; other measuring params cannot be judged again.

    What the profile does not mention has its published value, as in a new run under that profile.
    """
    known_codes(profile)
    known, changed = plugs.gates(), {}
    for code in run.plan["gates"]:
        params = params_of(known[code], profile)
        for name, value in run.plan["measured"][0][code].items():
            if getattr(params, name) != value:
                raise UsageError(f"{code}.{name} changes the measurement", where=profile.name,
                                 found=f"{getattr(params, name):g}", expected=f"{value:g}, as in the run",
                                 remedy="run again on the data: assay run --profile")  # fmt: skip
        judged = run.plan["judged"][0][code]
        changed[code] = {n: float(getattr(params, n)) for n, v in judged.items() if getattr(params, n) != v}
    return changed


def _same_versions(run: Run) -> None:
    known = plugs.gates()
    for code, version in run.plan["gates"].items():
        if code not in known or known[code].version != version:
            raise RunError(f"gate {code} has another version now", where=str(run.path),
                           found=f"version {known[code].version}" if code in known else "no such gate",
                           expected=f"version {version}", remedy="run again on the data")  # fmt: skip


def _plan(run: Run, profile: Profile) -> str:
    plan = dict(run.plan)
    rules = [[r.gates, r.effect, r.where] for r in profile.rules]
    said = {"name": profile.name, "rules": rules, "params": {k: dict(v) for k, v in profile.params.items()}}
    plan["profiles"] = [said]
    plan["judge_id"] = sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
    plan["rejudged_from"] = str(run.path)
    return json.dumps(plan, indent=1, sort_keys=True)


def _by_subject(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    table: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        table[row["subject"]].append(row)
    return dict(table)
