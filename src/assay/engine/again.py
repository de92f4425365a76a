"""One episode of a finished run, opened again as the run opened it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay import plugs
from assay.calibrate import Calibration, rig_of
from assay.corpus import Corpus, discover
from assay.engine.cache import PixelCache
from assay.errors import UsageError
from assay.feature import Features
from assay.gate import Evidence, Gate
from assay.model import Episode
from assay.parts import open_episode

__all__ = ["corpora_again", "measured_again", "open_again"]


def corpora_again(plan: Mapping[str, Any]) -> list[Corpus]:
    """List the corpora of a stored plan again.

    Raises:
        UsageError: if one is no longer there.
    """
    return [
        discover(
            Path(c["path"]),
            sheet_file=Path(c["sheet_file"]) if c["sheet_file"] else None,
            embodiment=c["embodiment_option"],
            name=c["name"],
        )
        for c in plan["corpora"]
    ]


def open_again(
    plan: Mapping[str, Any], calibration: Calibration, subject: str, code: str,
    corpora: Sequence[Corpus] | None = None,
) -> tuple[Gate, Features, Any]:  # fmt: skip
    """The gate, the episode's features and the gate's params, as the run had them.

    ``corpora``: as `corpora_again` gave them, for who opens many episodes.

    Raises:
        UsageError: if the corpus is gone or has no such episode, or the run did not use this gate.
    """
    if code not in plan["gates"]:
        raise UsageError("the run did not use this gate", found=code, expected=", ".join(plan["gates"]))
    gate = plugs.gates()[code]
    for index, corpus in enumerate(corpora_again(plan) if corpora is None else corpora):
        prefix = "" if len(plan["corpora"]) == 1 else f"{corpus.name}/"
        ref = next((r for r in corpus.listing.refs if prefix + r.id == subject), None)
        if ref is not None:
            ep = open_episode(corpus.listing, ref, None, corpus.sheet)
            params = gate.params(**plan["measured"][index][code], **plan["judged"][index][code])
            features = calibration.features(ep, subject, rig_of(corpus.listing, corpus.sheet))
            PixelCache(None, plan["decode"]).prepare(features)
            return gate, features, params
    raise UsageError("the corpus has no such episode any more", found=subject,
                     remedy="run again on the corpus as it is now")  # fmt: skip


def measured_again(
    plan: Mapping[str, Any], calibration: Calibration, subject: str, code: str
) -> tuple[Episode, tuple[Evidence, ...]]:
    """The episode, and what one gate measures on it, again from the data.

    Raises:
        UsageError: if the corpus is gone or has no such episode, or the run did not use this gate.
        UnreadableError: if a file of the episode cannot be read.
    """
    gate, features, params = open_again(plan, calibration, subject, code)
    outcomes = gate.measure(features.ep, params, *(features.get(n) for n in gate.needs))
    return features.ep, tuple(o for o in outcomes if isinstance(o, Evidence))
