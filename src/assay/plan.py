"""The plan: everything that decides what a run measures and how it judges, frozen before it starts."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from assay import plugs
from assay.calibrate import Calibration
from assay.corpus import Corpus
from assay.errors import UsageError
from assay.gate import Gate
from assay.misspelt import meant
from assay.profile import Profile

__all__ = ["SCHEMA", "Decode", "Plan", "known_codes", "make_plan", "params_of", "select"]

SCHEMA: Final = 1
Decode = Literal["none", "auto", "full"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do.

    Attributes:
        corpora: the listed corpora.
        gates: selected gates; params: one instance of each gate's Params, by code.
        profiles: one per corpus.
        calibration: the fitted statistics.
        decode: ``none``, ``auto`` (what a selected gate taps) or ``full`` (every camera).
    """

    corpora: tuple[Corpus, ...]
    gates: tuple[Gate, ...]
    params: tuple[Mapping[str, Any], ...]
    profiles: tuple[Profile, ...]
    calibration: Calibration
    decode: Decode

    def subject(self, corpus: int, ref_id: str) -> str:
        """The episode's id in this run: prefixed by the corpus's name if there are several."""
        return ref_id if len(self.corpora) == 1 else f"{self.corpora[corpus].name}/{ref_id}"

    @property
    def measure_id(self) -> str:
        """Identity of whatever changes a measurement; caches and ``--resume`` key on it."""
        known = self._measures()
        return _hash(known)

    @property
    def judge_id(self) -> str:
        """Identity of limits, quotas and effects."""
        return _hash({"profiles": [dataclasses.asdict(p) for p in self.profiles], "judged": self._judged()})

    def to_json(self) -> str:
        """The plan as stored in ``plan.json``."""
        shown = {
            "schema_version": SCHEMA,
            "measure_id": self.measure_id,
            "judge_id": self.judge_id,
            "corpora": [_corpus(c) for c in self.corpora],
            "touched": [dataclasses.asdict(c.touched) for c in self.corpora],
            "profiles": [dataclasses.asdict(p) for p in self.profiles],
            "judged": self._judged(),
            **self._measures(),
        }
        return json.dumps(shown, indent=1, sort_keys=True, default=str)

    def _measures(self) -> dict[str, Any]:
        return {
            "digests": [c.digest for c in self.corpora],
            "readers": {c.listing.reader: plugs.readers()[c.listing.reader].version for c in self.corpora},
            "sheets": [
                {k: [i.value, i.origin] for k, i in sorted(c.sheet.items.items())} for c in self.corpora
            ],
            "sections": [[(m, {k: i.value for k, i in s.items()}) for m, s in c.sheet.sections]
                         for c in self.corpora],
            "bodies": [c.sheet.body.digest if c.sheet.body else None for c in self.corpora],
            "gates": {g.code: g.version for g in self.gates},
            "features": {f.name: f.version for f in plugs.features().values()},
            "measured": [_part(p, judged=False) for p in self.params],
            "calibration": self.calibration.digest,
            "decode": self.decode,
            "assay": importlib.metadata.version("assay"),
        }  # fmt: skip

    def _judged(self) -> list[dict[str, dict[str, float]]]:
        return [_part(p, judged=True) for p in self.params]


def make_plan(
    corpora: Sequence[Corpus],
    *,
    gates: Sequence[Gate],
    profiles: Sequence[Profile],
    calibration: Calibration,
    decode: Decode,
) -> Plan:
    """Freeze a plan.

    Raises:
        UsageError: if a profile changes a param that its gate does not have, or of a gate that is not there.
    """
    for profile in profiles:
        known_codes(profile)
    params = tuple({g.code: params_of(g, profile) for g in gates} for profile in profiles)
    return Plan(tuple(corpora), tuple(gates), params, tuple(profiles), calibration, decode)


def select(patterns: str | None) -> tuple[Gate, ...]:
    """The gates that a list such as ``INT*,RTG001`` names; all without one.

    Raises:
        UsageError: if a name matches no gate.
    """
    known = plugs.gates()
    if not patterns:
        return tuple(known.values())
    wanted = [p.strip().upper() for p in patterns.split(",") if p.strip()]
    for pattern in wanted:
        if not any(fnmatchcase(code, pattern) for code in known):
            raise UsageError("no gate has this code", where="--gates", found=pattern,
                             expected="codes or patterns of assay gates, as in INT*,RTG001",
                             remedy=meant(pattern, known))  # fmt: skip
    return tuple(g for code, g in known.items() if any(fnmatchcase(code, p) for p in wanted))


def params_of(gate: Gate, profile: Profile) -> Any:
    """The gate's params with the profile's changes.

    Raises:
        UsageError: if the profile names a param that the gate does not have, or not a number, or as a quota
            what is no share.
    """
    changes = profile.params.get(gate.code, {})
    known = {f.name for f in dataclasses.fields(gate.params)}
    for name, value in changes.items():
        if name not in known or not _number(value):  # against NaN, everything would pass
            fitting = "a number for one of " + ", ".join(sorted(known))
            raise UsageError(f"profile param {gate.code}.{name} does not fit", where=profile.name,
                             found=f"{name} = {value!r}", expected=fitting,
                             remedy=None if name in known else meant(name, known))  # fmt: skip
        if name.startswith("quota") and not 0 <= value <= 1:
            raise UsageError(f"profile param {gate.code}.{name} is no share of samples", where=profile.name,
                             found=f"{name} = {value!r}", expected="0 to 1 (0.005 is 0.5 %)")  # fmt: skip
    return gate.params(**changes)


def known_codes(profile: Profile) -> None:
    """Refuse a profile that changes params of gates that are not installed: a limit with a typo is no limit.

    Raises:
        UsageError: naming the gate.
    """
    for code in profile.params:
        if code not in plugs.gates():
            raise UsageError(f"profile params {code}: no gate has this code", where=profile.name,
                             expected="codes of assay gates", remedy=meant(code, plugs.gates()))  # fmt: skip


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _part(params: Mapping[str, Any], *, judged: bool) -> dict[str, dict[str, float]]:
    # A changed minimum run changes which samples count, so it belongs to the measurement.
    return {
        code: {
            f.name: getattr(p, f.name)
            for f in dataclasses.fields(p)
            if (f.metadata["judged"] and f.name != "min_run") == judged
        }
        for code, p in params.items()
    }


def _corpus(corpus: Corpus) -> dict[str, Any]:
    return {
        "name": corpus.name,
        "path": str(corpus.path.resolve()),
        "sheet_file": str(corpus.sheet_file.resolve()) if corpus.sheet_file else None,
        "embodiment_option": corpus.embodiment,
        "reader": corpus.listing.reader,
        "kind": str(corpus.kind),
        "kind_origin": corpus.sheet.origin("kind"),
        "format": corpus.listing.facts.get("format", corpus.listing.reader),
        "embodiment": corpus.sheet.get("embodiment"),
        "embodiment_origin": corpus.sheet.origin("embodiment"),
        "own_body": corpus.own_body,
        "declared": corpus.listing.declared,
        "episodes": len(corpus.listing.refs),
        "digest": corpus.digest,
        "beside": corpus.beside,
        "others": corpus.others,
        "refused": corpus.refused,
        "unmatched": corpus.unmatched,
        "idle": corpus.idle,
        "roles": sorted(corpus.listing.roles),
    }


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]
