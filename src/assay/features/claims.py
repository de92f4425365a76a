"""Feature: what a reader reports about metadata against data, as evidence for the gate of each topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import numpy as np

from assay.feature import feature
from assay.gate import Abstain, Evidence, NotApplicable, Outcome
from assay.model import Claim, Episode, Topic
from assay.signals.intervals import span

__all__ = ["claimed", "episode_claims"]


@feature(reads=())
def episode_claims(ep: Episode) -> dict[str, tuple[Outcome, ...]]:
    """Outcomes of the episode's claims by topic, over the time that its streams span; see `claimed`.

    A topic of which the format has nothing to declare does not apply where nobody else claims anything of it.
    """
    t0, t1 = span(*(s.t for s in ep.streams)) if ep.claims else (0, 0)
    found = {topic: tuple(claimed(topic, ep.claims, t0, t1)) for topic in get_args(Topic)}
    if ep.source is not None:
        silent = set(ep.source.silent) - {c.topic for c in ep.claims}
        found |= {
            topic: (NotApplicable("nothing-to-declare", f"format {ep.source.reader}"),) for topic in silent
        }
    return found


def claimed(topic: str, claims: Sequence[Claim], t0: int = 0, t1: int = 0) -> Iterator[Outcome]:
    """Evidence of the claims of one topic: their sizes against a limit of zero, ``channel`` what is claimed.

    Claims that agree are one evidence; each that does not is one of its own, with both sides as its note. A
    claim that could not be compared abstains, and so does a topic about which nothing was compared.
    """
    mine = [c for c in claims if c.topic == topic]
    agreeing = [c for c in mine if c.size == 0]
    if agreeing:
        n = len(agreeing)
        yield Evidence(
            np.zeros(n), np.full(n, t0), np.full(n, t1), "1", 0.0, which=np.arange(n),
            channels=tuple(c.about for c in agreeing), apart=True,
        )  # fmt: skip
    for claim in mine:
        said = f"declared {claim.declared}, found {claim.found}"
        said += f" in {claim.where}" if claim.where and claim.where != claim.declared else ""
        if np.isnan(claim.size):
            yield Abstain("no-reference", f"{claim.about}: {said}", claim.stream, claim.about)
        elif claim.size:
            # an infinite size is still a difference
            size = float(np.clip(abs(claim.size), 0, 1e12))
            yield Evidence.single(
                size, t0, t1, unit="1", limit=0.0, stream=claim.stream, channel=claim.about, note=said
            )
    if not mine:
        yield Abstain("not-declared", "the reader found nothing of this kind to compare")
