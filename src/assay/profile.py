"""Profiles: which gate may reject an episode of which kind, and changed limits. Never part of a sheet."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, get_args

from assay import plugs
from assay.errors import UsageError
from assay.model import Kind, Role

__all__ = ["HUMAN_SOURCE", "Effect", "Profile", "Rule", "load_profile", "profile_for"]

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


@dataclass(frozen=True, slots=True)
class Rule:
    """``effect`` for the gates that match ``gates``, where the corpus declares a stream of ``where``."""

    gates: str
    effect: Effect
    where: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """Effects (the last rule that matches holds; none: report) and params by gate code."""

    name: str
    rules: tuple[Rule, ...] = ()
    params: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

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
    name: str = kind
    if kind is Kind.UNRESOLVED:
        people = Role.HUMAN_BODY in roles and _HUMAN.issuperset(roles)
        name = HUMAN_SOURCE if people else Kind.TELEOPERATION
    return _parse(
        files("assay").joinpath(f"profiles/{name}.toml").read_text("utf-8"), f"profiles/{name}.toml"
    )


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
    strange = set(data) - {"name", "extends", "effects", "params"}
    if strange:
        raise UsageError("unknown item in a profile", where=where, found=", ".join(sorted(strange)),
                         expected="name, extends, [[effects]], [params.CODE]")  # fmt: skip
    base = profile_for(_kind(data["extends"], where)) if "extends" in data else Profile("")
    effects, changed = data.get("effects", []), data.get("params", {})
    if not isinstance(effects, list) or not all(isinstance(entry, dict) for entry in effects):
        raise UsageError("effects are not tables", where=where, expected="[[effects]]")
    if not isinstance(changed, dict) or not all(isinstance(values, dict) for values in changed.values()):
        raise UsageError("params are not tables", where=where, expected="[params.CODE]")
    rules = tuple(_rule(entry, where) for entry in effects)
    params = {**base.params, **changed}
    return Profile(str(data.get("name", Path(where).stem)), base.rules + rules, params)


def _kind(name: str, where: str) -> Kind:
    try:
        return Kind(name)
    except ValueError:
        raise UsageError("unknown profile to extend", where=where, found=repr(name),
                         expected=", ".join(Kind)) from None  # fmt: skip


def _rule(entry: Mapping[str, Any], where: str) -> Rule:
    effect: Any = entry.get("effect")
    condition = entry.get("where", "")
    if effect not in get_args(Effect) or not isinstance(entry.get("gates"), str) or set(entry) - {
        "gates", "effect", "where",
    } or condition not in ("", *_WHERE):  # fmt: skip
        raise UsageError("not an effect rule", where=where, found=str(dict(entry)),
                         expected='gates = "INT*", effect = ' + ", ".join(get_args(Effect)))  # fmt: skip
    if not any(fnmatchcase(code, entry["gates"]) for code in _codes()):
        raise UsageError("an effect rule names no gate", where=where, found=repr(entry["gates"]),
                         expected='one code or pattern, as in "RTG001" or "INT*"')  # fmt: skip
    return Rule(entry["gates"], effect, condition)


def _codes() -> set[str]:
    """Every code that is registered, of this version or a later one, and those of installed gates."""
    known = tomllib.loads(files("assay").joinpath("gates/CODES.toml").read_text("utf-8"))
    return {*known["codes"], *plugs.gates()}
