"""A file that the metadata declares is not there.

What: whether every file that an episode or the corpus names exists and is not empty.

Why: loaders skip such episodes in silence, and an audit that does the same reports on what is left: 920 of
1,693 episodes in one known case.

Method: the reader lists what the metadata declares and looks for each; a declared episode without files is
opened like any other and fails here, so that it stays in the denominator.

Source: FAULTS D12, D16, D29, D62; the public G1 sample declares 100 episodes and holds 14.

Blind spots: a file that nobody declares; a file that is there and cannot be read (INT001).

Dose: number of files missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.features.claims import claimed
from assay.gate import Case, Outcome, gate
from assay.model import Claim, Episode, Listing
from assay.synth.episodes import teleop


@dataclass(frozen=True, slots=True)
class Params:
    """Nothing to set: a claim agrees with the data or it does not."""


def claiming(size: float) -> Episode:
    """A clean episode one of whose files is ``size`` off."""
    return replace(teleop(), claims=(claim(size),))


def claim(size: float) -> Claim:
    """A data file that is there (0) or not (1)."""
    return Claim("file", "data file", "data/episode_000000.parquet", "absent" if size else "present", size)


def listing(size: float) -> Listing:
    """A corpus that makes the same claim as a whole."""
    return Listing("synth", Path("synth"), (), claims=(claim(size),))


CASES = (
    Case("every file is there", lambda: claiming(0.0), "pass"),
    Case("a data file is missing", lambda: claiming(1.0), "fail", channel="data file"),
    Case("cannot be compared", lambda: claiming(float("nan")), "abstain", reason="no-reference"),
    Case("nothing compared", teleop, "abstain", reason="not-declared"),
    Case("the corpus agrees", list, "pass", listing=lambda: listing(0.0)),
    Case("the corpus differs", list, "fail", channel="data file", listing=lambda: listing(1.0)),
)


def conclude(listing: Listing, facts: Mapping[str, Mapping[str, Any]], p: Params) -> Iterator[Outcome]:
    """The claims about the corpus as a whole."""
    yield from claimed("file", listing.claims)


@gate(code="INT002", name="missing-file", conclude=conclude)
def measure(ep: Episode, p: Params, episode_claims: Mapping[str, Iterable[Outcome]]) -> Iterable[Outcome]:
    """What the reader compared for this episode."""
    return episode_claims["file"]
