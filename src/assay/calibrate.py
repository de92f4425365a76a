"""Calibration: what is learnt over many episodes, fitted once, before the plan, and frozen.

Members are chosen and put into folds by a hash of their id, so that neither order nor machine changes a
fit. A member is judged by the fit that never saw its fold, any other episode by the full one (law 4).
The file says what it was learnt on, and carries a digest of itself: another rig is not judged by it, and a
file that was edited is refused. The digest guards against mistakes, not against who computes it anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from assay import plugs
from assay.amiss import amiss
from assay.errors import RunError
from assay.feature import Features, Statistic
from assay.gate import Gate
from assay.model import Episode, Listing
from assay.sheet import Sheet

__all__ = ["FOLDS", "Calibration", "fit", "fold", "members", "rig_of", "wanted"]

FOLDS: Final = 5
MOST_MEMBERS: Final = 64
"""Enough for a median; more would only decode twice what the run decodes anyway."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted statistics by name: the full fit, one fit per left-out fold, and who took part.

    Attributes:
        models: name → {"full": model, "0".."4": model without that fold}; None where nothing was learnt.
        took_part: name → ids of the members.
        learnt_on: the rigs of the corpora, one each, see `rig_of`.
    """

    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    took_part: Mapping[str, Sequence[str]] = field(default_factory=dict)
    learnt_on: Sequence[Mapping[str, Any]] = ()

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

    def features(self, ep: Episode, subject: str, rig: Mapping[str, Any]) -> Features:
        """The episode's features with the models that may judge it; nothing is computed yet."""
        why = self.foreign(rig)
        models = {} if why else self.for_episode(subject)
        return Features(ep, plugs.features(), models, untaught=why)

    def foreign(self, rig: Mapping[str, Any]) -> str:
        """Why nothing that was learnt may judge episodes of this rig; empty where it may."""
        if not self.models:
            return ""
        if not self.learnt_on:
            return "the calibration does not say what it was learnt on"
        why = [_differs(known, rig) for known in self.learnt_on]
        return "" if "" in why else f"the calibration is another rig's: {why[0]}"

    @property
    def digest(self) -> str:
        """Identity of all fits, for the plan."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16] if self.models else "none"

    def to_json(self) -> str:
        """The whole calibration as stored in ``calibration.json``."""
        return json.dumps({**self._content(), "digest": _digest(self._content())}, sort_keys=True, indent=1)

    def _content(self) -> dict[str, Any]:
        return {"models": self.models, "took_part": self.took_part, "learnt_on": list(self.learnt_on)}

    @staticmethod
    def read(path: Path) -> Calibration:
        """Read ``calibration.json``.

        Raises:
            RunError: if it is not one, or was changed after it was learnt.
        """
        try:
            data = json.loads(path.read_text("utf-8"))
            for name, fits in data["models"].items():
                if not {"full", *map(str, range(FOLDS))} <= fits.keys() or name not in data["took_part"]:
                    raise KeyError(f"all fits of {name}")
            made = Calibration(data["models"], data["took_part"], tuple(data["learnt_on"]))
            said = data["digest"]
            found = _digest(made._content())
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise RunError("not a calibration", where=str(path), found=amiss(error),
                           remedy="make one with assay calibrate") from error  # fmt: skip
        if said != found:
            cure = "take the file as it was written, or learn it anew with assay calibrate"
            raise RunError("the calibration was changed after it was learnt", where=str(path),
                           found=f"digest {found}", expected=str(said), remedy=cure)  # fmt: skip
        return made


def rig_of(listing: Listing, sheet: Sheet, digest: str = "") -> dict[str, Any]:
    """What tells one rig from another: the body, and the streams with the names of their channels.

    Args:
        listing: of the corpus.
        sheet: of the corpus.
        digest: of the corpus, to name it; it takes no part in a comparison.

    Returns:
        ``reader``, ``body`` (name), ``numbers`` (digest of its limits and links), ``corpus`` (the digest),
        ``streams`` (name → names of its channels; none for pictures).
    """
    streams = {d.name: [c.name for c in d.channels] for d in listing.streams}
    body = sheet.body
    name, numbers = (body.name, body.digest) if body else ("", "")
    return {"reader": listing.reader, "body": name, "numbers": numbers, "corpus": digest, "streams": streams}


def _differs(known: Mapping[str, Any], rig: Mapping[str, Any]) -> str:
    """How a rig differs from the one that is known; empty where it does not."""
    try:
        if known["body"] != rig["body"]:
            return f"learnt on the body {known['body'] or 'unknown'}, used on {rig['body'] or 'unknown'}"
        if known["numbers"] != rig["numbers"]:
            return f"learnt on another model of {rig['body']}"
        ours, theirs = rig["streams"], known["streams"]
        both = sorted(ours.keys() & theirs.keys())
        other = next((name for name in both if ours[name] != theirs[name]), "")
        if other:
            return f"{other} has other channels than it was learnt on"
        lacking = ours and not both
        return f"learnt on {', '.join(theirs) or 'no stream'}, none of which is here" if lacking else ""
    except (KeyError, TypeError, AttributeError):
        return "what it was learnt on cannot be read"


def _digest(content: Mapping[str, Any]) -> str:
    plain = json.loads(json.dumps(content))  # keys that are numbers sort otherwise once they are text
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


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
    """Full fit and out-of-fold fits of one statistic from the summaries of its members.

    In the order of their ids, whichever was summarised first: sums of floats depend on their order.
    """
    seen = {subject: row for subject, row in sorted(rows.items()) if row is not None}
    fits: dict[str, Any] = {"full": statistic.fit(list(seen.values())) if seen else None}
    for left_out in range(FOLDS):
        others = [row for subject, row in seen.items() if fold(subject) != left_out]
        fits[str(left_out)] = statistic.fit(others) if others else None
    return fits
