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
from assay.model import Channel, Clock, Episode, Kind, Role, Stream

__all__ = ["ORIGINS", "Item", "Origin", "Sheet", "apply", "flatten", "lay"]

Origin = Literal["option", "buyer", "corpus", "format", "inferred", "unresolved"]
ORIGINS: Final = ("option", "buyer", "corpus", "format", "inferred", "unresolved")


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

    Only meanings change, no value does.
    """
    mine = sheet.for_episode(episode.id)
    return replace(
        episode,
        kind=Kind(mine.get("kind", episode.kind)),
        embodiment=mine.body or episode.embodiment,
        sync=mine.get("sync", episode.sync),
        limit_set=mine.get("limit_set", episode.limit_set),
        meta={
            **episode.meta,
            **{f"action/{k}": mine.get(f"action/{k}") for k in ("meaning", "mode")},
            "ground": mine.get("ground", episode.meta.get("ground")),
            **{f"gripper/{k}": mine.get(f"gripper/{k}") for k in ("closed", "open")},
        },
        streams=tuple(_meant(mine, stream) for stream in episode.streams),
    )


def _meant(sheet: Sheet, stream: Stream) -> Stream:
    about = f"streams/{stream.name}"
    said = {
        key: sheet.get(f"{about}/{key}")
        for key in ("role", "unit", "units", "channels", "clock", "rate", "frame")
    }
    if said["rate"] is None and sheet.origin("fps") in ("option", "buyer", "corpus"):
        said["rate"] = sheet.get("fps")
    if (
        said["unit"]
        and said["units"]
        and _yields(sheet.items[f"{about}/units"], sheet.items[f"{about}/unit"])
    ):
        said["units"] = None  # one unit for all, said by who stands above (or beside) the list
    if all(value is None for value in said.values()):
        return stream
    return replace(
        stream,
        role=Role(said["role"]) if said["role"] else stream.role,
        clock=Clock(said["clock"]) if said["clock"] else stream.clock,
        rate=Fraction(said["rate"]).limit_denominator(100_000) if said["rate"] else stream.rate,
        frame=said["frame"] or stream.frame,
        channels=_channels(stream, said),
    )


def _channels(stream: Stream, said: Mapping[str, Any]) -> tuple[Channel, ...]:
    names = said["channels"] or [c.name for c in stream.channels]
    units = said["units"] or ([said["unit"]] * len(names) if said["unit"] else None)
    if len(names) != len(stream.channels) or (units is not None and len(units) != len(names)):
        return stream.channels  # INT006 reports a sheet that does not fit; nothing is guessed
    old = stream.channels
    return tuple(
        replace(old[i], name=names[i], unit=units[i] if units else old[i].unit) for i in range(len(old))
    )
