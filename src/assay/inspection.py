"""What was recognised, inferred and left unresolved in a corpus before measuring, and a draft sheet."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from assay.corpus import SHEET, Corpus
from assay.extras import install_line
from assay.model import Claim, Episode, Kind, Role, Stream, StreamDecl
from assay.profile import HUMAN_SOURCE, packaged_for
from assay.proposal import candidates, first_episode, joints, on_disk, proposed

__all__ = ["Line", "draft_sheet", "inspect"]

Known = Literal["declared", "inferred", "unresolved", "measured", "proposed"]

_ITEMS: Final = {
    "kind": 'kind = "teleoperation"  # or retargeted-motion, human-demonstration, simulation',
    "embodiment": "",
    "limit_set": "",
    "fps": "fps = 30  # the clips' own rate, e.g. 30 or 60",
    "sync": 'sync = "ptp"  # or trigger, clap, software, none; one-clock for a simulator',
    "quaternion": "",
    "action/meaning": 'meaning = "command"  # or next-state, result; under [action]',
    "licence": 'licence = "CC-BY-4.0"',
    "vendor": 'vendor = "who recorded it"',
}
"""Items that are shown and drafted, each as a line of ``assay.toml``; without one, only where it is known."""

_CLIPS: Final = {
    "quaternion": 'quaternion = "xyzw"  # or wxyz, where the data do not tell',
    "ground": "ground = 0.0  # height of flat ground in m, in the frame of the base",
    "parts/human/path": 'path = "human/{stem}.pt"  # under [parts.human]: the human that the clip came from',
}
"""Items of retargeted motion, in which nothing was commanded and no clocks are kept in step."""
_LIVE: Final = ("sync", "action/meaning")

_MADE_UP: Final = re.compile(r"joint_\d+")
"""Readers call columns so that have no name; written into a sheet, it would stand above the body's names."""


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
    present = sum(1 for _ in on_disk(corpus))
    lines.append(Line("episodes", f"{len(corpus.listing.refs)} listed, {present} with a data file",
                      "measured", _declared(corpus)))  # fmt: skip
    if corpus.refused:
        lines.append(Line(SHEET, "ignored as a whole", "unresolved", corpus.refused))
    if corpus.own_body:
        lines.append(Line("body", "of the corpus's own", "declared", corpus.own_body))
    if corpus.unmatched:
        lines.append(Line("parts", "", "unresolved", corpus.unmatched))
    if corpus.idle:
        lines.append(Line("episodes", "", "unresolved", corpus.idle))
    lines += _beside(corpus)
    episode = first_episode(corpus)
    fits = candidates(corpus, episode)
    items = _items(corpus, episode, fits)
    found = list(_found(episode)) if episode else []
    told = {line.item for line in found}
    for name, cure in items.items():
        if name in corpus.sheet.items or (cure and name not in told):
            lines.append(_item(corpus, name, cure))
    lines += found
    streams = {s.name: s for s in episode.streams} if episode else {}
    for decl in corpus.listing.streams:
        own = [] if decl.name in streams else [n for n in streams if n.startswith(f"{decl.name}/")]
        lines += [_stream(corpus, replace(decl, name=n), streams.get(n)) for n in own or [decl.name]]
    lines += [_claim(c) for c in corpus.listing.claims if c.size > 0]
    if episode and (proposal := proposed(corpus, None, episode, fits)):
        lines.append(Line("lines for assay.toml", "", "proposed", "\n".join(proposal)))
    return lines


def draft_sheet(corpus: Corpus) -> str:
    """An ``assay.toml`` that holds what is known and leaves the rest as comments to fill in.

    The lines that `assay.proposal` has are among them, each in its place.
    """
    episode = first_episode(corpus)
    fits = candidates(corpus, episode)
    items = _items(corpus, episode, fits)
    plain = [name for name in items if "/" not in name]
    proposal = proposed(corpus, None, episode, fits) if episode else []
    more = [line for line in proposal if _item_of(line) not in items]
    lines = [
        "# The corpus sheet: what every number means. Correct what is wrong, fill in what is commented out.",
        *(line for name in plain for line in _drafted(corpus, name, items[name])),
        *(line for line in more if "# under [" not in line and not line.startswith("# streams.")),
    ]
    for name in sorted(items.keys() - set(plain)):
        known = corpus.sheet.get(name) is not None
        table = name.rpartition("/")[0].replace("/", ".")
        mark = "" if known or name not in _CLIPS else "# "  # an empty table of a part would not be a sheet
        lines += ["", f"{mark}[{table}]", *_drafted(corpus, name, items[name])]
        lines += [line for line in more if f"# under [{table}]" in line]
    for decl in corpus.listing.streams:
        if decl.role in (Role.CAMERA, Role.DEPTH):
            continue
        units = [c.unit for c in decl.channels]
        lines += ["", f"[streams.{_toml(decl.name)}]", f'role = "{decl.role}"']
        lines += [f"{'# ' if _nameless(decl) else ''}channels = {_toml([c.name for c in decl.channels])}"]
        lines += [f"{'# ' if 'unknown' in units else ''}units = {_toml(units)}"]
        about = f"# streams.{_toml(decl.name)}."  # not by its whole name: its table is here
        under = f"# under [streams.{_toml(decl.name)}]"
        lines += [f"# {line.removeprefix(about)}" for line in more if line.startswith(about)]
        lines += [line for line in more if under in line]
    return "\n".join(lines) + "\n"


def _item_of(line: str) -> str:
    """The item that a proposed line states, as `assay.sheet.Sheet` names it."""
    item, _, rest = line.removeprefix("# ").partition(" = ")
    _, under, table = rest.partition("# under [")
    return "/".join(filter(None, (table.partition("]")[0] if under else "", item))).replace(".", "/")


def _items(corpus: Corpus, episode: Episode | None, fits: Sequence[str]) -> dict[str, str]:
    """The items that matter for this kind of data, each with an example."""
    items = dict(_ITEMS) | {"embodiment": _bodies(corpus, episode, fits)}
    if packaged_for(corpus.kind, corpus.listing.roles) == HUMAN_SOURCE:  # no robot, and nothing commanded
        return {n: example for n, example in items.items() if n not in ("embodiment", *_LIVE)}
    if corpus.kind is Kind.RETARGETED:
        items = {n: example for n, example in items.items() if n not in _LIVE or n in corpus.sheet.items}
        human = Role.HUMAN_BODY in corpus.listing.roles  # the file holds its own source
        said = corpus.sheet.items
        items |= {n: x for n, x in _CLIPS.items() if n in said or not (human and n.startswith("parts/"))}
    return items


def _bodies(corpus: Corpus, episode: Episode | None, fits: Sequence[str]) -> str:
    """How to name a body: the packaged ones that fit the joints, if there are any."""
    if fits:
        others = "".join(f"{card}, " for card in fits[1:])
        return f'embodiment = "{fits[0]}"  # or {others}--embodiment NAME; assay embodiments lists them'
    count = len(joints(corpus, episode))
    why = f": no card fits {count} joints" if count else "; assay embodiments lists the cards"
    return f'embodiment = "robot.urdf"  # in the corpus, or --embodiment FILE{why}'


def _nameless(decl: StreamDecl) -> bool:
    return bool(decl.channels) and all(_MADE_UP.fullmatch(c.name) for c in decl.channels)


def _beside(corpus: Corpus) -> Iterator[Line]:
    """What else lies in the folder, so that nobody takes it for judged."""
    if corpus.others:
        yield Line("other files", str(corpus.listing.facts["other_files"]), "measured", corpus.others)
    for name in corpus.beside:
        probe = corpus.probes[name]
        cure = f"; {install_line(probe.lacks)}" if probe.lacks else "; judge their folder apart"
        yield Line("not judged", name, "measured", probe.reason + cure)


def _found(episode: Episode) -> Iterator[Line]:
    """What the reader decided from the data of the first episode, could not decide, and converted."""
    for item, (value, why) in episode.meta.get("decided", {}).items():
        if item != "fps":
            words = str(value).split()
            shown = str(value) if len(words) < 5 else f"{words[0]} and {len(words) - 1} more"
            yield Line(item, shown, "inferred", f"{why} ({episode.id})")
    for item, why in episode.meta.get("unresolved", {}).items():
        if item != "fps":
            cure = _CLIPS.get(item, "")
            said = f"{why} ({episode.id})" + (f"; in assay.toml: {cure}" if cure else "")
            yield Line(item, "", "unresolved", said)
    for done in episode.source.conversions if episode.source else ():
        yield Line("conversion", done, "measured")


def _declared(corpus: Corpus) -> str:
    n = corpus.listing.declared
    return "the metadata declares no number" if n is None else f"the metadata declares {n}"


def _item(corpus: Corpus, name: str, cure: str) -> Line:
    item = corpus.sheet.items.get(name)
    if item is None or item.origin == "unresolved":
        ignored = ", once it is mended" if corpus.refused else ""
        said = f"in assay.toml{ignored}: {cure}" if cure else ""
        evidence = "; ".join(part for part in (item.evidence if item else "", said) if part)
        return Line(name, "", "unresolved", evidence)
    known: Known = "inferred" if item.origin == "inferred" else "declared"
    return Line(name, str(item.value), known, item.evidence)


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
