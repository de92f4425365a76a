"""Calibration: what is learnt over many episodes, fitted once, before the plan, and frozen.

Members are chosen and put into folds by a hash of their id, so that neither order nor machine changes a
fit. A member is judged by the fit that never saw its fold, any other episode by the full one (law 4).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from assay import plugs
from assay.errors import RunError
from assay.feature import Statistic
from assay.gate import Gate

__all__ = ["FOLDS", "Calibration", "fit", "fold", "members", "wanted"]

FOLDS: Final = 5
MOST_MEMBERS: Final = 64
"""Enough for a median; more would only decode twice what the run decodes anyway."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted statistics by name: the full fit, one fit per left-out fold, and who took part.

    Attributes:
        models: name → {"full": model, "0".."4": model without that fold}; None where nothing was learnt.
        took_part: name → ids of the members.
    """

    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    took_part: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def for_episode(self, subject: str) -> dict[str, Any]:
        """The fitted models that may judge ``subject``."""
        return {name: fits[self._fit_for(subject, name)] for name, fits in self.models.items()}

    def _fit_for(self, subject: str, name: str) -> str:
        # A run of several corpora writes corpus/episode, a calibration of one of them only episode.
        bare = subject.rpartition("/")[2]
        seen = [m for m in self.took_part[name] if m == subject] or [
            m for m in self.took_part[name] if m.rpartition("/")[2] == bare
        ]
        return str(fold(seen[0])) if seen else "full"

    @property
    def digest(self) -> str:
        """Identity of all fits, for the plan."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16] if self.models else "none"

    def to_json(self) -> str:
        """The whole calibration as stored in ``calibration.json``."""
        return json.dumps({"models": self.models, "took_part": self.took_part}, sort_keys=True, indent=1)

    @staticmethod
    def read(path: Path) -> Calibration:
        """Read ``calibration.json``.

        Raises:
            RunError: if it is not one.
        """
        try:
            data = json.loads(path.read_text("utf-8"))
            for name, fits in data["models"].items():
                if not {"full", *map(str, range(FOLDS))} <= fits.keys() or name not in data["took_part"]:
                    raise KeyError(name)
            return Calibration(data["models"], data["took_part"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError("not a calibration", where=str(path), found=type(error).__name__,
                           remedy="make one with assay calibrate") from error  # fmt: skip


def fold(subject: str) -> int:
    """The fold of an episode, from its id alone."""
    return int(hashlib.sha256(subject.encode()).hexdigest()[:8], 16) % FOLDS


def members(subjects: Iterable[str]) -> tuple[str, ...]:
    """The episodes that take part: at most 64, in order of the hash of their ids."""
    ordered = sorted(subjects, key=lambda s: hashlib.sha256(s.encode()).hexdigest())
    return tuple(ordered[:MOST_MEMBERS])


def wanted(gates: Iterable[Gate]) -> dict[str, Statistic]:
    """The statistics that these gates ask for, themselves or through their features, by name."""
    known, features = plugs.statistics(), plugs.features()
    todo, seen = [need for gate in gates for need in gate.needs], dict[str, None]()
    while todo:
        name = todo.pop(0)
        if name not in seen:
            seen[name] = None
            todo += features[name].needs if name in features else ()
    return {name: known[name] for name in seen if name in known}


def fit(statistic: Statistic, rows: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Any]:
    """Full fit and out-of-fold fits of one statistic from the summaries of its members."""
    seen = {subject: row for subject, row in rows.items() if row is not None}
    fits: dict[str, Any] = {"full": statistic.fit(list(seen.values())) if seen else None}
    for left_out in range(FOLDS):
        others = [row for subject, row in seen.items() if fold(subject) != left_out]
        fits[str(left_out)] = statistic.fit(others) if others else None
    return fits
