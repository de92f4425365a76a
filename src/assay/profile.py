"""Profiles: which gate may reject an episode of which kind, and changed limits. Never part of a sheet."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, get_args

from assay import plugs
from assay.errors import UsageError
from assay.misspelt import meant
from assay.model import Kind, Role

__all__ = ["HUMAN_SOURCE", "Effect", "Profile", "Rule", "load_profile", "packaged_for", "profile_for"]

Effect = Literal["require", "reject", "flag", "report"]
"""require: a failure rejects, an abstention leaves the episode unmeasured; reject: a failure rejects, an
abstention does not count; flag: shown among the episodes to watch; report: a figure only."""

HUMAN_SOURCE: Final = "human-source"
"""Name of the profile of human motion without any robot."""
_HUMAN: Final = frozenset({Role.HUMAN_BODY, Role.HAND_LANDMARKS, Role.OBJECT_POSE, Role.EVENT, Role.OTHER})
_WHERE: Final = {
    "camera": {Role.CAMERA, Role.DEPTH},
    "human-body": {Role.HUMAN_BODY},
    "base-pose": {Role.BASE_POSE},
}

_ITEMS: Final = frozenset({"name", "extends", "effects", "params"})
_RULE: Final = frozenset({"gates", "effect", "where"})
_SHAPE: Final = (
    f'gates = "INT*, SYN001", effect = {", ".join(get_args(Effect))}, or with where = {", ".join(_WHERE)}'
)


@dataclass(frozen=True, slots=True)
class Rule:
    """``effect`` for the gates that match ``gates``, where the corpus declares a stream of ``where``."""

    gates: str
    effect: Effect
    where: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """Effects (the last rule that matches holds; none: report) and params by gate code.

    ``kind``: name of the packaged profile that it is or extends; empty for one made from nothing.
    """

    name: str
    rules: tuple[Rule, ...] = ()
    params: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    kind: str = ""

    def foreign(self, corpus: str, kind: str) -> str:
        """One sentence where this is the profile of another kind of data than a corpus is; else empty.

        ``kind``: name of the packaged profile that would judge the corpus, see `packaged_for`.
        """
        if self.kind in ("", kind):
            return ""
        return (
            f"the profile {self.name} is one for {self.kind}, and {corpus} is {kind}: "
            "what matters to its own kind may count for nothing here"
        )

    def effects(self, gates: Iterable[str], roles: Collection[str]) -> dict[str, Effect]:
        """The effect of each of several gates, and of those that a rule names without their being here."""
        named = (rule.gates for rule in self.rules if not set("*?[") & set(rule.gates))
        return {gate: self.effect(gate, roles) for gate in (*gates, *named)}

    def effect(self, gate: str, roles: Collection[str]) -> Effect:
        """What a failure of ``gate`` does to an episode of a corpus that declares streams of these roles."""
        effect: Effect = "report"
        for rule in self.rules:
            if fnmatchcase(gate, rule.gates) and (not rule.where or _WHERE[rule.where] & set(roles)):
                effect = rule.effect
        return effect


def profile_for(kind: Kind, roles: Collection[Role] = ()) -> Profile:
    """The packaged profile of a kind; an unresolved kind is judged as teleoperation.

    Of an unresolved kind, a corpus all of whose streams (their ``roles``) show people and things is the
    source of a robot's clips and not a recording of one.
    """
    name = packaged_for(kind, roles)
    text = files("assay").joinpath(f"profiles/{name}.toml").read_text("utf-8")
    return _parse(text, f"profiles/{name}.toml")


def packaged_for(kind: Kind, roles: Collection[str] = ()) -> str:
    """The name of that profile."""
    people = Role.HUMAN_BODY in roles and _HUMAN.issuperset(roles)
    return (HUMAN_SOURCE if people else Kind.TELEOPERATION) if kind is Kind.UNRESOLVED else kind


def load_profile(path: Path) -> Profile:
    """Read a profile; ``extends = "teleoperation"`` starts from a packaged one.

    Raises:
        UsageError: if the file is not a profile; the message names the item.
    """
    try:
        return _parse(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else error.reason
        raise UsageError("the profile cannot be read", where=str(path), found=str(found),
                         expected="a TOML file in UTF-8") from error  # fmt: skip


def _parse(text: str, where: str) -> Profile:
    try:
        data: dict[str, Any] = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, lists in lists in lists
        raise UsageError("the profile is not TOML", where=where, found=str(error),
                         remedy="see docs/guide.md for what a profile may hold") from error  # fmt: skip
    strange = sorted(set(data) - _ITEMS)
    if strange:
        raise UsageError("unknown item in a profile", where=where, found=", ".join(strange),
                         expected="name, extends, [[effects]], [params.CODE]",
                         remedy=meant(strange[0], _ITEMS))  # fmt: skip
    base = profile_for(_kind(data["extends"], where)) if "extends" in data else Profile("")
    effects, changed = data.get("effects", []), data.get("params", {})
    if not isinstance(effects, list) or not all(isinstance(entry, dict) for entry in effects):
        raise UsageError("effects are not tables", where=where, expected="[[effects]]")
    if not isinstance(changed, dict) or not all(isinstance(values, dict) for values in changed.values()):
        raise UsageError("params are not tables", where=where, expected="[params.CODE]")
    rules = tuple(rule for entry in effects for rule in _rules(entry, where))
    params = {**base.params, **changed}
    name = str(data.get("name", Path(where).stem))
    kind = base.kind or (name if "extends" not in data and name in (*Kind, HUMAN_SOURCE) else "")
    return Profile(name, base.rules + rules, params, kind)


def _kind(name: str, where: str) -> Kind:
    try:
        return Kind(name)
    except ValueError:
        raise UsageError("unknown profile to extend", where=where, found=repr(name),
                         expected=", ".join(Kind),
                         remedy=meant(str(name), Kind)) from None  # fmt: skip


def _rules(entry: Mapping[str, Any], where: str) -> Iterator[Rule]:
    """One rule for each code or pattern of ``gates``: text, with commas as in --gates, or a list."""
    effect: Any = entry.get("effect")
    condition, patterns = entry.get("where", ""), _patterns(entry.get("gates"))
    strange = sorted(set(entry) - _RULE)
    if strange:
        raise UsageError(f"unknown item {strange[0]} in an effect rule", where=where, found=str(dict(entry)),
                         expected=_SHAPE, remedy=meant(strange[0], _RULE))  # fmt: skip
    if effect not in get_args(Effect) or condition not in ("", *_WHERE) or not patterns:
        wrong, fitting = (effect, get_args(Effect)) if effect not in get_args(Effect) else (condition, _WHERE)
        raise UsageError("not an effect rule", where=where, found=str(dict(entry)), expected=_SHAPE,
                         remedy=meant(str(wrong), fitting))  # fmt: skip
    for pattern in patterns:
        if not any(fnmatchcase(code, pattern) for code in _codes()):
            raise UsageError("an effect rule names no gate", where=where, found=repr(pattern),
                             expected='codes or patterns, as in "RTG001" or "INT*, SYN001"',
                             remedy=meant(pattern, _codes()))  # fmt: skip
        yield Rule(pattern, effect, condition)


def _patterns(gates: Any) -> list[str]:
    """The codes and patterns that ``gates`` names; none where it is neither text nor a list of texts."""
    named = gates.split(",") if isinstance(gates, str) else gates
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        return []
    return [name.strip().upper() for name in named if name.strip()]


def _codes() -> set[str]:
    """Every code that is registered, of this version or a later one, and those of installed gates."""
    known = tomllib.loads(files("assay").joinpath("gates/CODES.toml").read_text("utf-8"))
    return {*known["codes"], *plugs.gates()}
