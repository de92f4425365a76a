"""The metadata declares something else than the data holds.

What: whether declared totals, shapes, names, types, splits and rates are those of the data, also those of
the sheet.

Why: everything downstream believes the metadata: a split beyond the last episode, 30 columns with 28 names,
a camera that does not exist.

Method: the reader compares each declared item with what it finds and reports both sides and how far they
are apart; items that nobody can compare abstain.

Source: FAULTS D12, D13, D29, D52, D61; all three public sets at hand contradict their own metadata
somewhere.

Blind spots: declarations about meaning (units, action or state) are judged by ACT007 and RTG012.

Dose: size of the difference (episodes, rows, names).
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
    """A clean episode one of whose declarations is ``size`` off."""
    return replace(teleop(), claims=(claim(size),))


def claim(size: float) -> Claim:
    """A number of names that fits (0) or is off."""
    return Claim("declared", "names", "26", str(26 + size), size, "observation.state")


def listing(size: float) -> Listing:
    """A corpus that makes the same claim as a whole."""
    return Listing("synth", Path("synth"), (), claims=(claim(size),))


CASES = (
    Case("as many names as columns", lambda: claiming(0.0), "pass"),
    Case("one column more than names", lambda: claiming(1.0), "fail", channel="names"),
    Case("cannot be compared", lambda: claiming(float("nan")), "abstain", reason="no-reference"),
    Case("nothing compared", teleop, "abstain", reason="not-declared"),
    Case("the corpus agrees", list, "pass", listing=lambda: listing(0.0)),
    Case("the corpus differs", list, "fail", channel="names", listing=lambda: listing(1.0)),
)


def conclude(listing: Listing, facts: Mapping[str, Mapping[str, Any]], p: Params) -> Iterator[Outcome]:
    """The claims about the corpus as a whole."""
    yield from claimed("declared", listing.claims)


@gate(code="INT006", name="declared-against-data", conclude=conclude)
def measure(ep: Episode, p: Params, episode_claims: Mapping[str, Iterable[Outcome]]) -> Iterable[Outcome]:
    """What the reader compared for this episode."""
    return episode_claims["declared"]
