"""An episode begins or ends at the wrong row.

What: whether the lengths and ends of episodes in the metadata are those of the rows.

Why: windows cross into the next episode: the model sees a jump, and a loader refuses the corpus for stamps
that only restart.

Method: the reader derives the boundaries from the rows (episode id, frame index) and compares them with the
table; the last-frame flag stands on the last row and nowhere else. One finding for each boundary, not one
for each row.

Source: FAULTS D03, D14; unitree_lerobot issue 41.

Blind spots: boundaries that are consistent and cut the task in two.

Dose: rows by which a boundary is off.
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
    """A clean episode whose length is ``size`` off."""
    return replace(teleop(), claims=(claim(size),))


def claim(size: float) -> Claim:
    """A length that fits (0) or is off."""
    return Claim("boundary", "length", "300", str(300 + size), size)


def listing(size: float) -> Listing:
    """A corpus that makes the same claim as a whole."""
    return Listing("synth", Path("synth"), (), claims=(claim(size),))


CASES = (
    Case("the length is that of the rows", lambda: claiming(0.0), "pass"),
    Case("one row more than declared", lambda: claiming(1.0), "fail", channel="length"),
    Case("cannot be compared", lambda: claiming(float("nan")), "abstain", reason="no-reference"),
    Case("nothing compared", teleop, "abstain", reason="not-declared"),
    Case("the corpus agrees", list, "pass", listing=lambda: listing(0.0)),
    Case("the corpus differs", list, "fail", channel="length", listing=lambda: listing(1.0)),
)


def conclude(listing: Listing, facts: Mapping[str, Mapping[str, Any]], p: Params) -> Iterator[Outcome]:
    """The claims about the corpus as a whole."""
    yield from claimed("boundary", listing.claims)


@gate(code="INT005", name="wrong-boundary", conclude=conclude)
def measure(ep: Episode, p: Params, episode_claims: Mapping[str, Iterable[Outcome]]) -> Iterable[Outcome]:
    """What the reader compared for this episode."""
    return episode_claims["boundary"]
