"""``assay.toml``: the schema of the corpus sheet, and reading one. A sheet holds meanings, never limits."""

from __future__ import annotations

import math
import re
import tomllib
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from assay.errors import UsageError
from assay.misspelt import meant
from assay.model import Clock, Kind, Role
from assay.sheet import flatten
from assay.units import Unit

__all__ = ["SheetFile", "parse_sheet"]


_RATE: Final[Any] = Field(None, ge=1e-3, le=1e6, allow_inf_nan=False)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class StreamSheet(_Table):
    """What one stream holds. ``units`` gives one unit per channel, ``unit`` one for all."""

    role: Role | None = None
    unit: Unit | None = None
    units: list[Unit] | None = None
    channels: list[str] | None = None
    clock: Clock | None = None
    rate: float | None = _RATE
    frame: str | None = None
    noise: float | None = Field(None, ge=0, le=10, allow_inf_nan=False)
    """Standard deviation of each coordinate of a place, m: how well the capture is known."""


class CameraSheet(_Table):
    """Where a camera sits: parent link, whether it is the primary one, and its calibration file.

    ``offset``: seconds by which its pictures are later than the joints' rows in a usual episode of this rig,
    as it was measured (claps, a clock in view); ``offset_u``: the standard uncertainty of that.
    """

    parent: str | None = None
    primary: bool | None = None
    calibration: str | None = None
    offset: float | None = Field(None, ge=-10, le=10, allow_inf_nan=False)
    offset_u: float | None = Field(None, ge=0, le=10, allow_inf_nan=False)


class ActionSheet(_Table):
    """Whether ``action`` is what was commanded, the state that followed, or what resulted."""

    meaning: Literal["command", "next-state", "result"] | None = None
    mode: Literal["absolute", "relative"] | None = None


class GripperSheet(_Table):
    """The value of a closed and of an open gripper, in the stream's unit."""

    closed: float | None = None
    open: float | None = None


class ClapSheet(_Table):
    """What ``sync = "clap"`` promises: at which ends, how many, of what sign, shown by which streams.

    Without ``streams``: a clap by every sound track and camera, a flash by every camera; the sound track of
    a camera's file is ``<camera>/audio``.
    """

    ends: list[Literal["start", "end"]] | None = None
    count: int | None = Field(None, ge=1, le=6)
    sign: Literal["clap", "flash"] | None = None
    streams: list[str] | None = None


class EvidenceSheet(_Table):
    """What tells how clocks stood to each other; without it ``sync = "ptp"`` is declared and not measured.

    ``ptp4l``, ``phc2sys``, ``chrony``: the log at ``path`` (a file of the corpus, ``{id}`` or ``{stem}`` in
    it) of the service that kept the clock which stamps ``streams``, against the one of ``against``.
    ``trigger``, ``timecode``: ``streams`` carry a common count, each in a column (``channels``) of one of
    ``counters``, row by row.
    """

    kind: Literal["ptp4l", "phc2sys", "chrony", "trigger", "timecode"]
    path: str | None = None
    streams: list[str] | None = None
    against: str | None = None
    counters: list[str] | None = None
    channels: list[str] | None = None


def _template(path: str) -> str:
    unknown = set(re.findall(r"{[^{}]*}", path)) - {"{id}", "{stem}"}
    if unknown:
        raise ValueError("a path with {id} or {stem}, and no other name in braces")
    return path


class PartSheet(_Table):
    """A further file of each episode, by a template with ``{id}`` or ``{stem}``.

    ``strip``: what is taken off the beginning or end of ``{stem}``, each in turn, where the clips' names hold
    more than the parts' do. ``files``: paths of single parts, by the id or stem of the clip, before ``path``.
    """

    path: Annotated[str, AfterValidator(_template)]
    strip: list[str] | None = None
    files: dict[str, str] = {}
    reader: str | None = None
    fps: float | None = _RATE
    """Its rate, Hz, where its file states none; the corpus's ``fps`` is not that of a part."""
    offset: float | None = Field(None, ge=-1e6, le=1e6, allow_inf_nan=False)
    """Seconds from the episode's first sample to the part's first sample, where it is known."""


def _height(value: Any) -> Any:
    try:
        fits = value in (None, "z=0") or (not isinstance(value, bool) and math.isfinite(float(value)))
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError('a height in m, as in ground = 0.0, or ground = "z=0"')
    return value


class Common(_Table):
    """What may differ between subsets of a corpus."""

    embodiment: str | None = None
    limit_set: str | None = None
    fps: float | None = _RATE
    quaternion: Literal["wxyz", "xyzw"] | None = None
    ground: Annotated[float | Literal["z=0"] | None, BeforeValidator(_height)] = None
    """Height of flat ground, m, in the frame of the base pose, or ``z=0``; soles are held to nothing else."""
    sync: Literal["one-clock", "ptp", "trigger", "clap", "software", "none"] | None = None
    rig: str | None = None
    session: str | None = None
    operator: str | None = None
    scene: str | None = None
    task_family: str | None = None
    day: str | None = None
    cost: float | None = None
    action: ActionSheet | None = None
    gripper: GripperSheet | None = None
    clap: ClapSheet | None = None
    streams: dict[str, StreamSheet] = {}
    cameras: dict[str, CameraSheet] = {}
    evidence: dict[str, EvidenceSheet] = {}


class EpisodesSheet(Common):
    """A subset: the episodes whose id matches a shell pattern."""

    match: str


class SheetFile(Common):
    """The whole file."""

    kind: Kind | None = None
    vendor: str | None = None
    delivery: str | None = None
    pass_: int | None = Field(None, alias="pass")
    replaces: str | None = None
    licence: str | None = None
    consent: str | None = None
    parts: dict[str, PartSheet] = {}
    episodes: list[EpisodesSheet] = []


def parse_sheet(text: str, where: str) -> dict[str, Any]:
    """Items of a sheet by dotted name (``a/b/c``), with ``episodes`` as a list of tables.

    Raises:
        UsageError: if it is not TOML or holds an unknown or ill-typed item; the message names the item.
    """
    try:
        tree = tomllib.loads(text)
    except (
        ValueError,
        RecursionError,
    ) as error:  # numbers of thousands of digits, tables in tables in tables
        raise UsageError("the sheet is not TOML", where=where, found=str(error),
                         remedy=_MAY_HOLD) from error  # fmt: skip
    try:
        file = SheetFile.model_validate(tree)
    except ValidationError as error:
        raise _unfit(error, where) from error
    said = file.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
    episodes = said.pop("episodes", [])
    return {**flatten(said), "episodes": episodes} if episodes else flatten(said)


def _expected(message: str) -> str:
    """What pydantic wants, as the end of a sentence."""
    said = message.removeprefix("Value error, ").removeprefix("Input should be ")
    return _PLAIN.get(said, said)


_PLAIN: Final = {"a valid dictionary": "a table", "a valid list": "a list", "a valid string": "text"}
_TABLES: Final[dict[str, type[_Table]]] = {
    "streams": StreamSheet, "cameras": CameraSheet, "evidence": EvidenceSheet, "parts": PartSheet,
    "action": ActionSheet, "gripper": GripperSheet, "clap": ClapSheet,
}  # fmt: skip
_OF_PROFILE: Final = ("params", "effects", "extends", "limit", "limits", "quota")
_MAY_HOLD: Final = "see docs/sheet.md for what a sheet may hold"


def _known(place: tuple[int | str, ...]) -> list[str]:
    """The items of the table at a place such as ``("episodes", 0, "streams", "joints")``."""
    inner = place[2:] if place[:1] == ("episodes",) else place
    table: type[_Table] = SheetFile if inner is place else EpisodesSheet
    if inner:
        table = _TABLES[str(inner[0])]
    return [field.alias or name for name, field in table.model_fields.items()]


def _unfit(error: ValidationError, where: str) -> UsageError:
    first = error.errors(include_url=False, include_context=False)[0]
    place = first["loc"]
    item = "/".join(str(part) for part in place)
    if first["type"] == "extra_forbidden":
        more = f"{_MAY_HOLD} (limits and effects belong in a profile)"
        near = meant(str(place[-1]), () if place[-1] in _OF_PROFILE else _known(place[:-1]), more)
        return UsageError(f"unknown item {item}", where=where, remedy=near)
    if first["type"] == "missing":
        return UsageError(f"item {item} is missing", where=where, remedy=_MAY_HOLD)
    expected, found = _expected(first["msg"]), first["input"]
    near = meant(str(found)[:80], re.findall("'([^']+)'", expected))
    return UsageError(f"item {item} does not fit", where=where, found=repr(found)[:80], expected=expected,
                      remedy=near)  # fmt: skip
