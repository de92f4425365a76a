"""What was recognised, inferred and left unresolved in a corpus before measuring, and a draft sheet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from assay.corpus import Corpus
from assay.errors import UnreadableError
from assay.model import Claim, Episode, Role, Stream, StreamDecl
from assay.parts import open_episode

__all__ = ["Line", "draft_sheet", "inspect"]

Known = Literal["declared", "inferred", "unresolved", "measured"]

_ITEMS: Final = {
    "kind": 'kind = "teleoperation"  # or retargeted-motion, human-demonstration, simulation',
    "embodiment": 'embodiment = "unitree_g1_29"  # or --embodiment NAME; assay embodiments lists them',
    "limit_set": "",
    "fps": "fps = 30",
    "sync": 'sync = "ptp"  # or trigger, clap, software, none; one-clock for a simulator',
    "quaternion": "",
    "action/meaning": 'meaning = "command"  # or next-state, result; under [action]',
    "licence": 'licence = "CC-BY-4.0"',
    "vendor": 'vendor = "who recorded it"',
}
"""Items that are shown and drafted, each as a line of ``assay.toml``; without one, only where it is known."""


_UNITLESS: Final = (Role.REWARD, Role.EVENT, Role.INSTRUCTION, Role.OTHER)
"""Roles of flags, scores, labels and the rest: no gate needs their unit, so nobody needs to declare it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One item: its value, how it is known, and the evidence or the cure (one or more lines of text)."""

    item: str
    value: str
    known: Known
    evidence: str = ""


def inspect(corpus: Corpus) -> list[Line]:
    """Every item of the sheet as declared, inferred (with evidence) or unresolved (with the cure).

    Opens the first episode that can be read, to hold declared channels to real ones.
    """
    lines = [Line("reader", corpus.listing.reader, "measured", corpus.probes[corpus.listing.reader].reason)]
    present = sum(1 for _ in _present(corpus))
    lines.append(Line("episodes", f"{len(corpus.listing.refs)} listed, {present} with a data file",
                      "measured", _declared(corpus)))  # fmt: skip
    lines += [
        _item(corpus, name, cure) for name, cure in _ITEMS.items() if name in corpus.sheet.items or cure
    ]
    episode = _first(corpus)
    streams = {s.name: s for s in episode.streams} if episode else {}
    lines += [_stream(corpus, decl, streams.get(decl.name)) for decl in corpus.listing.streams]
    lines += [_claim(c) for c in corpus.listing.claims if c.size > 0]
    return lines


def draft_sheet(corpus: Corpus) -> str:
    """An ``assay.toml`` that holds what is known and leaves the rest as comments to fill in."""
    lines = [
        "# The corpus sheet: what every number means. Correct what is wrong, fill in what is commented out.",
        *(
            line
            for name, example in _ITEMS.items()
            if "/" not in name
            for line in _drafted(corpus, name, example)
        ),
        "",
        "[action]",
        *_drafted(corpus, "action/meaning", _ITEMS["action/meaning"]),
    ]
    for decl in corpus.listing.streams:
        if decl.role in (Role.CAMERA, Role.DEPTH):
            continue
        units = [c.unit for c in decl.channels]
        lines += ["", f"[streams.{_toml(decl.name)}]", f'role = "{decl.role}"']
        lines += [f"channels = {_toml([c.name for c in decl.channels])}"]
        lines += [f"{'# ' if 'unknown' in units else ''}units = {_toml(units)}"]
    return "\n".join(lines) + "\n"


def _present(corpus: Corpus) -> Iterator[str]:
    for ref in corpus.listing.refs:
        if ref.parts and (corpus.listing.root / ref.parts[0].path).exists():
            yield ref.id


def _declared(corpus: Corpus) -> str:
    n = corpus.listing.declared
    return "the metadata declares no number" if n is None else f"the metadata declares {n}"


def _item(corpus: Corpus, name: str, cure: str) -> Line:
    item = corpus.sheet.items.get(name)
    if item is None or item.origin == "unresolved":
        said = f"in assay.toml: {cure}" if cure else ""
        evidence = "; ".join(part for part in (item.evidence if item else "", said) if part)
        return Line(name, "", "unresolved", evidence)
    known: Known = "inferred" if item.origin == "inferred" else "declared"
    return Line(name, str(item.value), known, item.evidence)


def _first(corpus: Corpus) -> Episode | None:
    present = set(_present(corpus))
    for ref in corpus.listing.refs:
        if ref.id in present:
            try:
                return open_episode(corpus.listing, ref, None, corpus.sheet)
            except UnreadableError:
                continue
    return None


def _claim(claim: Claim) -> Line:
    about = f"{claim.about} of {claim.stream}" if claim.stream else claim.about
    sides = [f"declared: {claim.declared}", f"found: {claim.found}"]
    where = [f"in {claim.where}"] if claim.where else []
    return Line(f"metadata: {about}", "", "measured", "\n".join([*sides, *where]))


def _stream(corpus: Corpus, decl: StreamDecl, stream: Stream | None) -> Line:
    item = f"stream {decl.name}"
    if stream is None:
        return Line(item, str(decl.role), "unresolved", "declared, absent from the first readable episode")
    if decl.role in (Role.CAMERA, Role.DEPTH):
        return Line(
            item, f"{decl.role}, {stream.clock} clock", "declared", stream.clip.path if stream.clip else ""
        )
    n = len(stream.channels)
    value = f"{stream.role}, {n} channel{'' if n == 1 else 's'}, {stream.clock} clock"
    units = Counter(c.unit for c in stream.channels)
    if units["unknown"] and stream.role in _UNITLESS:
        return Line(item, value, "declared", "no gate needs its unit")
    shown = _joints(corpus, stream, ", ".join(f"{n} in {u}" for u, n in units.items() if u != "unknown"))
    if not units["unknown"]:
        return Line(item, value, "declared", shown)
    missing = f"no unit for {units['unknown']} of {n}"
    cure = f"in assay.toml: units = [...], one for each channel, under [streams.{_toml(decl.name)}]"
    return Line(item, value, "unresolved", "; ".join(filter(None, (missing, shown, cure))))


def _joints(corpus: Corpus, stream: Stream, units: str) -> str:
    body = corpus.sheet.body
    if body is None or stream.role not in (Role.JOINT_POSITION, Role.REQUEST):
        return units
    found = int((body.resolve(stream.names) >= 0).sum())
    joints = f"{found} of {len(stream.names)} are joints of {body.name}"
    return "; ".join(filter(None, (units, joints)))


def _drafted(corpus: Corpus, name: str, example: str) -> Iterator[str]:
    value: Any = corpus.sheet.get(name)
    if value is not None:
        guess = "  # inferred: check it" if corpus.sheet.origin(name) == "inferred" else ""
        yield f"{name.rsplit('/', maxsplit=1)[-1]} = {_toml(value)}{guess}"
    elif example:
        yield f"# {example}"


def _toml(value: Any) -> str:
    """A string, number or list as TOML, which is JSON but for surrogate pairs and the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
