"""The corpus sheet: what every number means, each item with its origin.

Order of authority: option, buyer's ``--sheet``, the corpus's own ``assay.toml``, format metadata, inferred.
A sheet never holds limits or effects: a vendor cannot loosen a gate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any, Final, Literal

from assay.embodiment import Embodiment, load
from assay.model import Channel, Claim, Clock, Episode, Kind, Role, Stream
from assay.signals.made import on_grid

__all__ = ["ORIGINS", "Item", "Origin", "Sheet", "apply", "flatten", "lay"]

Origin = Literal["option", "buyer", "corpus", "format", "inferred", "unresolved"]
ORIGINS: Final = ("option", "buyer", "corpus", "format", "inferred", "unresolved")

_SAME_RATE: Final = 1e-4
"""29.97 and 30000/1001 are one rate, 29.97 and 30 are two."""

_Sides = tuple[()] | tuple[str, str]
"""Nothing, or what is declared and what is found."""


@dataclass(frozen=True, slots=True)
class Item:
    """One value of the sheet, who says so, and on what evidence."""

    value: Any
    origin: Origin
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """All items by dotted name, e.g. ``embodiment`` or ``streams/observation.state/unit``.

    Attributes:
        items: the merged items.
        sections: ``[[episodes]]`` sections: (pattern of episode ids, items), later ones win.
        body: the loaded body, if one is known.
        bodies: every body that the sheet names, by that name.
    """

    items: Mapping[str, Item] = field(default_factory=dict)
    sections: tuple[tuple[str, Mapping[str, Item]], ...] = ()
    body: Embodiment | None = None
    bodies: Mapping[str, Embodiment] = field(default_factory=dict)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of an item, or ``default`` where it is unresolved."""
        item = self.items.get(name)
        return default if item is None or item.origin == "unresolved" else item.value

    def origin(self, name: str) -> Origin:
        """Who says so; ``unresolved`` if nobody does."""
        item = self.items.get(name)
        return "unresolved" if item is None else item.origin

    def for_episode(self, episode_id: str) -> Sheet:
        """The sheet with the ``[[episodes]]`` sections that match ``episode_id`` laid over it.

        A section stands above the rest of its own sheet, and below whatever stands above that sheet.
        """
        items = dict(self.items)
        for pattern, section in self.sections:
            if fnmatchcase(episode_id, pattern):
                items |= {name: item for name, item in section.items() if _yields(items.get(name), item)}
        named = items.get("embodiment")
        if named is None or named is self.items.get("embodiment"):
            return replace(self, items=items)
        return replace(self, items=items, body=self.bodies.get(named.value) or load(named.value))

    def idle(self, episode_ids: Sequence[str]) -> list[str]:
        """Patterns of ``[[episodes]]`` that match none of these ids: they count nowhere."""
        wanted = dict.fromkeys(pattern for pattern, _ in self.sections)
        return [p for p in wanted if not any(fnmatchcase(one, p) for one in episode_ids)]

    def with_items(self, origin: Origin, values: Mapping[str, Any], evidence: str = "") -> Sheet:
        """A copy with more items of lower authority than those that are there."""
        items = dict(self.items)
        for name, value in values.items():
            known = items.get(name)
            if known is None or ORIGINS.index(origin) < ORIGINS.index(known.origin):
                items[name] = Item(value, origin, evidence)
        return replace(self, items=items)


def _yields(known: Item | None, new: Item) -> bool:
    return known is None or ORIGINS.index(new.origin) <= ORIGINS.index(known.origin)


def lay(layers: Sequence[tuple[Origin, Mapping[str, Any], str]]) -> Sheet:
    """Merge layers of (origin, flattened items with ``episodes`` apart, evidence); higher authority wins."""
    sheet = Sheet()
    sections: list[tuple[str, Mapping[str, Item]]] = []
    for origin, values, evidence in sorted(layers, key=lambda layer: ORIGINS.index(layer[0])):
        plain = {k: v for k, v in values.items() if k != "episodes" and v is not None}
        sheet = sheet.with_items(origin, plain, evidence)
        inner = [(s["match"], flatten({k: v for k, v in s.items() if k != "match"}))
                 for s in values.get("episodes", ())]  # fmt: skip
        mine = [(match, {k: Item(v, origin, evidence) for k, v in said.items()}) for match, said in inner]
        sections = [*mine, *sections]
    return replace(sheet, sections=tuple(sections))


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables to ``a/b/c`` names; lists stay values."""
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{path}/")
        else:
            flat[path] = value
    return flat


def apply(sheet: Sheet, episode: Episode) -> Episode:
    """Lay the sheet over an opened episode: kind, body, sync, and each stream's role, units, names, clock.

    Only meanings change, no value does. What the data contradict becomes a claim of the episode, which
    INT006 judges: nobody may call stamps measured that were made from the rate, and the corpus's own sheet
    may add to what its files say (role, unit, rate) but never take it back.
    """
    mine = sheet.for_episode(episode.id)
    body, kind = mine.body or episode.embodiment, Kind(mine.get("kind", episode.kind))
    limit_set, misnamed = _limit_set(mine, body, episode)
    meant = [_meant(mine, stream) for stream in episode.streams]
    found = (
        *_one_clock(mine, kind),
        *misnamed,
        *_fps(mine, episode),
        *(c for _, claims in meant for c in claims),
    )
    return replace(
        episode,
        kind=kind,
        embodiment=body,
        sync=mine.get("sync", episode.sync),
        limit_set=limit_set,
        meta={
            **episode.meta,
            **{f"action/{k}": mine.get(f"action/{k}") for k in ("meaning", "mode")},
            "ground": mine.get("ground", episode.meta.get("ground")),
            **{f"gripper/{k}": mine.get(f"gripper/{k}") for k in ("closed", "open")},
            **{f"noise/{s.name}": mine.get(f"streams/{s.name}/noise") for s in episode.streams},
            **{f"clap/{k}": mine.get(f"clap/{k}") for k in ("ends", "count", "sign", "streams")},
            "operator": mine.get("operator"),
            **{
                k: mine.get(k)
                for k in mine.items
                if k.endswith(("/offset", "/offset_u", "/parent")) and k[:8] == "cameras/"
            },
            **{k: mine.get(k) for k in mine.items if k.startswith("evidence/")},
        },
        claims=(*episode.claims, *found),
        streams=tuple(stream for stream, _ in meant),
    )


def _one_clock(sheet: Sheet, kind: Kind) -> tuple[Claim, ...]:
    """Only a simulator has one clock for everything."""
    if sheet.get("sync") != "one-clock" or kind is Kind.SIMULATION:
        return ()
    where = sheet.items["sync"].evidence
    return (Claim("declared", "sync", "one-clock", f"kind is {kind}, not simulation", 1.0, where=where),)


def _limit_set(sheet: Sheet, body: Embodiment | None, episode: Episode) -> tuple[str, tuple[Claim, ...]]:
    """The limits asked for; a name that the body does not know must not end a conflict between its sets.

    Nor does the corpus's own sheet end one in favour of the corpus's own model file: that is the buyer's.
    """
    asked: str = sheet.get("limit_set", episode.limit_set)
    if not asked or body is None:
        return asked, ()
    chosen = next((limits for limits in body.limits if limits.source.startswith(asked)), None)
    if chosen is not None:
        own = chosen.claimed and sheet.origin("limit_set") not in ("option", "buyer")
        return "" if own else asked, ()
    where = sheet.items["limit_set"].evidence if sheet.get("limit_set") else ""
    known = ", ".join(limits.source for limits in body.limits)
    found = f"no limit set of {body.name}, which has {known}"
    return "", (Claim("declared", "limit_set", asked, found, 1.0, where=where),)


def _fps(sheet: Sheet, episode: Episode) -> tuple[Claim, ...]:
    """The rate that the corpus's sheet gives to all streams, against those that the format gives."""
    item = sheet.items.get("fps")
    if item is None or item.origin != "corpus" or any(c.about == "fps" and c.size for c in episode.claims):
        return ()
    rates = [s.rate for s in episode.streams if s.rate and not s.name.startswith(_parts(sheet))]
    if not rates or any(_same_rate(rate, item.value) for rate in rates):
        return ()
    found = f"{float(rates[0]):g}"
    return (Claim("declared", "fps", f"{item.value:g}", found, 1.0, where=item.evidence),)


def _parts(sheet: Sheet) -> tuple[str, ...]:
    """How the names of streams of further files begin: their rate is not the corpus's."""
    return tuple(f"{name.split('/')[1]}/" for name in sheet.items if name.startswith("parts/"))


def _same_rate(a: Fraction, b: float) -> bool:
    return abs(float(a) - b) <= _SAME_RATE * float(a)


def _meant(sheet: Sheet, stream: Stream) -> tuple[Stream, tuple[Claim, ...]]:
    """The stream as the sheet means it, and what it says that the stream contradicts."""
    about = f"streams/{stream.name}"
    said = {
        key: item
        for key in ("role", "unit", "units", "channels", "clock", "rate", "frame")
        if (item := sheet.items.get(f"{about}/{key}")) is not None and item.origin != "unresolved"
    }
    stated = sheet.origin("fps") in ("option", "buyer", "corpus")
    if "rate" not in said and stated and not stream.name.startswith(_parts(sheet)):
        said["rate"] = sheet.items["fps"]
    if "unit" in said and "units" in said and _yields(said["units"], said["unit"]):
        del said["units"]  # one unit for all, said by who stands above (or beside) the list
    if not said:
        return stream, ()
    rate = _rate(stream, said)
    refused = {
        "role": _refused_role(stream, said.get("role")),
        "rate": _refused_rate(stream, sheet.items.get(f"{about}/rate")),
        "clock": _refused_clock(stream, said.get("clock"), {stream.rate, rate}),
    }
    channels, contradicted = _channels(stream, said)
    meant = replace(
        stream,
        role=stream.role if refused["role"] else Role(_value(said, "role", stream.role)),
        clock=stream.clock if refused["clock"] else Clock(_value(said, "clock", stream.clock)),
        rate=rate,
        frame=_value(said, "frame", stream.frame),
        channels=channels,
    )
    sides = [(key, *pair) for key, pair in {**refused, "unit": contradicted}.items() if pair]
    return meant, tuple(
        Claim("declared", f"{about}/{key}", declared, found, 1.0, stream.name)
        for key, declared, found in sides
    )


def _value(said: Mapping[str, Item], key: str, default: Any) -> Any:
    return said[key].value or default if key in said else default


def _rate(stream: Stream, said: Mapping[str, Item]) -> Fraction | None:
    item = said.get("rate")
    if item is None or (stream.rate and item.origin == "corpus"):
        return stream.rate
    return Fraction(item.value).limit_denominator(100_000)


def _refused_role(stream: Stream, item: Item | None) -> _Sides:
    """The corpus's sheet names what its reader could not; it hides nothing by another name."""
    if item is None or item.origin != "corpus" or stream.role in (Role.OTHER, Role(item.value)):
        return ()
    return (str(item.value), str(stream.role))


def _refused_rate(stream: Stream, item: Item | None) -> _Sides:
    if item is None or item.origin != "corpus" or not stream.rate or _same_rate(stream.rate, item.value):
        return ()
    return (f"{item.value:g}", f"{float(stream.rate):g}")


def _refused_clock(stream: Stream, item: Item | None, rates: set[Fraction | None]) -> _Sides:
    """Whoever calls stamps measured, the stamps themselves stand against it."""
    if item is None or Clock(item.value) in (Clock.NOMINAL, stream.clock):
        return ()
    made = any(on_grid(stream.t, rate) for rate in rates if rate)
    return (str(item.value), "stamps made from the rate") if made else ()


def _channels(stream: Stream, said: Mapping[str, Item]) -> tuple[tuple[Channel, ...], _Sides]:
    """The named channels with their units, and the first unit that the corpus's sheet contradicts.

    A contradicted unit is unknown from then on, so that no gate reads numbers by either.
    """
    old = stream.channels
    names = _value(said, "channels", [c.name for c in old])
    item = said.get("units") or said.get("unit")
    units = [c.unit for c in old] if item is None else item.value
    units = [units] * len(old) if isinstance(units, str) else units
    if len(names) != len(old) or len(units) != len(old):
        return old, ()  # INT006 reports a sheet that does not fit; nothing is guessed
    held = item is not None and item.origin == "corpus"
    wrong = [held and c.unit not in ("unknown", unit) for c, unit in zip(old, units, strict=True)]
    sides = next(((u, c.unit) for c, u, bad in zip(old, units, wrong, strict=True) if bad), ())
    given = zip(old, names, units, wrong, strict=True)
    return tuple(replace(c, name=n, unit="unknown" if bad else u) for c, n, u, bad in given), sides
