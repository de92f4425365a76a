"""The lines of a sheet with which more of a corpus would be measured: proposed, never applied.

A body is proposed where the joints of the first readable episode fit it: by their names, else by their
number, axes and limits, as the reader itself would name them. What only the owner knows stands as a comment.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from assay.corpus import Corpus
from assay.embodiment import cards, load
from assay.embodiment.infer import alike
from assay.errors import UnreadableError
from assay.model import Channel, Clock, Episode, Kind, Role
from assay.parts import open_episode
from assay.remedy import by_sheet
from assay.sheet import Item

__all__ = ["candidates", "first_episode", "joints", "on_disk", "proposed"]

_BY_KIND: Final = frozenset({"not-declared", "absent-stream", "nominal-clock", "no-reference"})
"""What another kind of data may not be asked for."""


def on_disk(corpus: Corpus) -> Iterator[str]:
    """Ids of the episodes with a data file."""
    for ref in corpus.listing.refs:
        if ref.parts and (corpus.listing.root / ref.parts[0].path).exists():
            yield ref.id


def first_episode(corpus: Corpus) -> Episode | None:
    """The first episode that can be read, None where there is none."""
    there = set(on_disk(corpus))
    for ref in corpus.listing.refs:
        if ref.id in there:
            try:
                return open_episode(corpus.listing, ref, None, corpus.sheet)
            except UnreadableError:
                continue
    return None


def joints(corpus: Corpus, episode: Episode | None) -> tuple[Channel, ...]:
    """The joint columns of the first readable episode, or those that the corpus declares."""
    mine = [s.channels for s in episode.by_role(Role.JOINT_POSITION)] if episode else []
    mine = mine or [s.channels for s in corpus.listing.streams if s.role is Role.JOINT_POSITION]
    return tuple(channel for channels in mine for channel in channels)


def candidates(corpus: Corpus, episode: Episode | None) -> tuple[str, ...]:
    """The packaged bodies that the joints of the first readable episode fit, the smallest first."""
    names = [c.name for c in joints(corpus, episode)]
    if episode is None or "joint order" not in episode.meta.get("unresolved", {}):
        return alike(names, corpus.listing.facts.get("robot_type"))
    fits = [card for card in cards() if len(load(card).joints) >= len(names) and _fits(corpus, episode, card)]
    return tuple(sorted(fits, key=lambda card: len(load(card).joints)))


def _fits(corpus: Corpus, episode: Episode, card: str) -> bool:
    """Whether the reader names every column of a nameless episode after the joints of this body."""
    body = load(card)
    items = {**corpus.sheet.items, "embodiment": Item(card, "option", "proposed")}
    sheet = replace(corpus.sheet, items=items, body=body, sections=(), bodies={card: body})
    ref = next(r for r in corpus.listing.refs if r.id == episode.id)
    again = open_episode(corpus.listing, replace(ref, parts=ref.parts[:1]), None, sheet)
    names = [n for s in again.by_role(Role.JOINT_POSITION) for n in s.names]
    return "joint order" in again.meta.get("decided", {}) and bool((body.resolve(names) >= 0).all())


def proposed(
    corpus: Corpus, wanted: Collection[str] | None = None, episode: Episode | None = None,
    fits: Sequence[str] | None = None,
) -> list[str]:  # fmt: skip
    """Lines for the top of ``assay.toml``, each at most 80 columns; none where nothing that counts is open.

    A sheet that is there and ignored comes first: nothing is proposed beside it. A line that belongs to a
    table which the sheet already has says so instead: on top it would declare the table twice.

    Args:
        corpus: what the lines are for.
        wanted: the reasons (`assay.gate.REASONS`) for which a run left episodes unmeasured; None before any
            run. Where no line cures one of them, none is proposed.
        episode: its `first_episode`, if it was opened before; None opens it.
        fits: the `candidates` for that episode, if they are known; None looks for them.
    """
    if corpus.refused or (wanted is not None and not any(map(by_sheet, wanted))):
        return []
    episode = episode or first_episode(corpus)
    if episode is None:
        return []
    if not _bodiless(episode):
        fits = ()
    elif fits is None:
        fits = candidates(corpus, episode)
    return list(_lines(corpus, episode, wanted, fits))


def _lines(
    corpus: Corpus, episode: Episode, wanted: Collection[str] | None, fits: Sequence[str]
) -> Iterator[str]:
    said = corpus.sheet.get
    moves = [s for s in episode.streams if s.role in (Role.JOINT_POSITION, Role.BASE_POSE)]
    if not moves:
        return
    if corpus.kind is Kind.UNRESOLVED and (wanted is None or not _BY_KIND.isdisjoint(wanted)):
        yield '# kind = "teleoperation"  # or simulation, retargeted-motion, human-demonstration'
    if fits or episode.embodiment is None:
        yield from _body(fits, len(joints(corpus, episode)))
    if not any(s.rate for s in moves) and said("fps") is None:
        yield "# fps = 30  # samples in a second, e.g. 30 or 60; the files do not say"
    if "quaternion" in episode.meta.get("unresolved", {}):
        yield '# quaternion = "xyzw"  # or "wxyz"; the data do not tell'
    unnamed = episode.meta.get("unresolved", {}).get("joint order")
    if unnamed and episode.embodiment is not None and not fits:
        yield from _order(corpus, episode, unnamed)
    for s in episode.by_role(Role.JOINT_POSITION):
        if any(c.unit == "unknown" for c in s.channels):
            yield _within(corpus, f"streams/{s.name}", 'unit = "rad"', "or units = [...], one each")
    if episode.by_role(Role.BASE_POSE) and said("ground") is None:
        yield "# ground = 0.0  # height of the floor, m, in the frame of the base"
    if corpus.kind is Kind.RETARGETED and Role.HUMAN_BODY not in corpus.listing.roles:
        yield '# parts.human.path = "human/{stem}.pt"  # the human it came from, if you have it'
    for part in sorted(set(_rateless(episode))):
        yield _within(corpus, f"parts/{part}", "fps = 30", "its rate, which its file does not say")


def _order(corpus: Corpus, episode: Episode, why: str) -> Iterator[str]:
    """How columns are named that fit the body in no known order, and what is known of them."""
    for s in episode.by_role(Role.JOINT_POSITION):
        yield _within(corpus, f"streams/{s.name}", 'channels = ["..."]', "a joint for each column, in order")
    shown = "".join(c if c.isprintable() else "?" for c in why)  # a body may be called anything
    yield from textwrap.wrap(shown, 80, initial_indent="# ", subsequent_indent="# ")


def _rateless(episode: Episode) -> Iterator[str]:
    """Parts with a human whose times nobody states: without them it has no place on the robot's clock."""
    for s in episode.by_role(Role.HUMAN_BODY):
        if "/" in s.name and s.clock is Clock.NOMINAL and not s.rate:
            yield s.name.partition("/")[0]


def _within(corpus: Corpus, table: str, line: str, why: str = "") -> str:
    """A line of a table, as a comment: by its whole name, or for within the table where the sheet has it."""
    kind, name = table.split("/", 1)
    quoted = json.dumps(name, ensure_ascii=False)
    whole = f"{kind}.{name if kind == 'parts' and name.isidentifier() else quoted}"
    items = corpus.sheet.items.items()
    there = any(n.startswith(f"{table}/") and i.origin in ("buyer", "corpus") for n, i in items)
    notes = "; ".join(filter(None, (f"under [{whole}]" if there else "", why)))
    return f"# {line if there else f'{whole}.{line}'}" + (f"  # {notes}" if notes else "")


def _bodiless(episode: Episode) -> bool:
    """Whether no body is named, or one that the columns do not fit."""
    return episode.embodiment is None or "joint order" in episode.meta.get("unresolved", {})


def _body(fits: Sequence[str], count: int) -> Iterator[str]:
    if fits:
        why = f"or {', '.join(fits[1:])}" if fits[1:] else "its joints fit; check that it is the robot"
        yield f'embodiment = "{fits[0]}"  # {why}'
    elif count:
        yield f'# embodiment = "robot.urdf"  # your model; no packaged body fits its {count} joints'
