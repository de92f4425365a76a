"""The metadata points at the wrong place.

What: whether the file, rows and video stretch that the metadata gives to an episode hold that episode.

Why: a reader that follows a stale pointer trains on another episode's pictures, with a lower score and no
error.

Method: the reader resolves the pointers to data and to each camera apart, and compares number of rows,
episode ids and running indices with what stands there; times from running sums are compared by counting
frames.

Source: FAULTS D02, D11, D12; lerobot issue 3177.

Blind spots: a pointer to an equally long stretch of video that belongs to another episode.

Dose: rows or frames by which a pointer is off.
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
    """A clean episode one of whose pointers is ``size`` off."""
    return replace(teleop(), claims=(claim(size),))


def claim(size: float) -> Claim:
    """A row range that fits (0) or is off."""
    return Claim("pointer", "dataset_from_index", "300", str(300 + size), size)


def listing(size: float) -> Listing:
    """A corpus that makes the same claim as a whole."""
    return Listing("synth", Path("synth"), (), claims=(claim(size),))


CASES = (
    Case("the rows are where the metadata says", lambda: claiming(0.0), "pass"),
    Case("the rows start one later", lambda: claiming(1.0), "fail", channel="dataset_from_index"),
    Case("cannot be compared", lambda: claiming(float("nan")), "abstain", reason="no-reference"),
    Case("nothing compared", teleop, "abstain", reason="not-declared"),
    Case("the corpus agrees", list, "pass", listing=lambda: listing(0.0)),
    Case("the corpus differs", list, "fail", channel="dataset_from_index", listing=lambda: listing(1.0)),
)


def conclude(listing: Listing, facts: Mapping[str, Mapping[str, Any]], p: Params) -> Iterator[Outcome]:
    """The claims about the corpus as a whole."""
    yield from claimed("pointer", listing.claims)


@gate(code="INT004", name="wrong-pointer", conclude=conclude)
def measure(ep: Episode, p: Params, episode_claims: Mapping[str, Iterable[Outcome]]) -> Iterable[Outcome]:
    """What the reader compared for this episode."""
    return episode_claims["pointer"]
