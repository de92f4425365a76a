"""``meta/info.json`` and ``meta/modality.json`` as values, whatever shape strangers gave them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

from assay.errors import UnreadableError
from assay.model import Channel, Claim, Role, StreamDecl
from assay.readers.lerobot.files import Template, json_of, whole
from assay.readers.lerobot.meaning import channel, sided, stamp_name, stream_role
from assay.units import si_factor

__all__ = ["BOOKKEEPING", "INFO", "MOST_CHANNELS", "Feature", "Info", "exact_rate", "read_info"]

INFO: Final = "meta/info.json"
MODALITY: Final = "meta/modality.json"
BOOKKEEPING: Final = ("timestamp", "frame_index", "episode_index", "index", "task_index")
MOST_CHANNELS: Final = 4096
MOST_RATE: Final = 10_000
"""Hz; no state or camera of a robot is written faster."""

Kind = Literal["numeric", "video", "image", "bookkeeping", "annotation", "other"]
Modality = Mapping[str, tuple[tuple[str, int, int], ...]]
"""Feature → (part, first column, column after the last)."""

_NUMERIC: Final = re.compile(r"u?int(8|16|32|64)|float(16|32|64)|bool")
_PATHS: Final = {
    2: (
        "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
    ),
    3: (
        "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    ),
}


@dataclass(frozen=True, slots=True)
class Feature:
    """One declared feature.

    Attributes:
        named: how many channel names the metadata gives, -1 where it gives none.
        channels: one per declared column; named by place where the names do not fit.
        parts: per column, the part of ``modality.json`` it belongs to; empty without that file.
        factors: per column, what makes its unit SI; empty where all are already.
        video: what the metadata says about its pictures (``video.height``, ``video.fps``, …).
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: Kind
    role: Role
    named: int = -1
    channels: tuple[Channel, ...] = ()
    side: Literal["left", "right", ""] = ""
    limb: str = ""
    parts: tuple[str, ...] = ()
    video: Mapping[str, Any] | None = None
    factors: tuple[float, ...] = ()

    @property
    def width(self) -> int | None:
        """Declared columns, where the shape is usable."""
        return math.prod(self.shape) if self.shape else None


@dataclass(frozen=True, slots=True)
class Info:
    """What ``info.json`` says, and claims on the way."""

    version: str
    major: int
    fps: Fraction | None
    robot_type: str | None
    totals: Mapping[str, int | None]
    splits: Mapping[str, str]
    chunks_size: int
    data: Template
    video: Template
    features: tuple[Feature, ...]
    claims: tuple[Claim, ...] = ()

    @property
    def cameras(self) -> tuple[Feature, ...]:
        """Features whose pictures lie in video files."""
        return tuple(f for f in self.features if f.kind == "video")

    def declared(self) -> tuple[StreamDecl, ...]:
        """All declared streams."""
        return tuple(
            StreamDecl(f.name, f.role, f.channels, self.fps)
            for f in self.features
            if f.kind in ("numeric", "video", "image")
        )


def exact_rate(fps: Any) -> Fraction | None:
    """The declared rate as an exact fraction: 29.97 means 30000/1001; None where it is no rate."""
    if isinstance(fps, str):
        try:
            fps = float(fps)
        except ValueError:
            return None
    if isinstance(fps, bool) or not isinstance(fps, int | float):
        return None
    if not math.isfinite(fps) or not 1e-3 <= fps <= MOST_RATE:
        return None
    near = Fraction(round(fps * 1.001) * 1000, 1001)
    if not float(fps).is_integer() and abs(float(near) - fps) < 6e-3:
        return near
    return Fraction(str(fps)).limit_denominator(100_000)


def read_info(root: Path) -> Info:
    """Read ``meta/info.json``, with the parts that ``meta/modality.json`` adds.

    Raises:
        UnreadableError: if it is no LeRobot v2 or v3 metadata.
    """
    raw = json_of(root, INFO)
    if not isinstance(raw, dict) or not isinstance(raw.get("features"), dict):
        raise UnreadableError("not LeRobot metadata", where=INFO, expected="an object with features")
    version, major = _version(root, raw)
    data, video = _PATHS[major]
    robot = raw.get("robot_type")
    modality, claims = _modality(root)
    return Info(
        version=version,
        major=major,
        fps=exact_rate(raw.get("fps")),
        robot_type=robot if isinstance(robot, str) and robot else None,
        totals={k: whole(v) for k, v in raw.items() if k.startswith("total_")},
        splits=_splits(raw.get("splits")),
        chunks_size=max(1, whole(raw.get("chunks_size")) or 1000),
        data=Template.parse(raw.get("data_path") or data, f"{INFO} data_path"),
        video=Template.parse(raw.get("video_path") or video, f"{INFO} video_path"),
        features=tuple(_feature(str(k), v, modality) for k, v in raw["features"].items()),
        claims=(*claims, _rate(raw.get("fps"))),
    )


def _rate(said: Any) -> Claim:
    """Whether the declared rate is a number of Hz that a recorder can have."""
    usable = not isinstance(said, str) and exact_rate(said) is not None
    text = "no rate" if not usable else str(said)
    return Claim("declared", "fps", repr(said)[:40], text, float(not usable), where=INFO)


def _splits(raw: Any) -> dict[str, str]:
    """Split → range as it is written; what is no text is kept as what it is, so that it can be refused."""
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        return {"splits": repr(raw)[:40]}
    return {str(k): v if isinstance(v, str) else repr(v)[:40] for k, v in raw.items()}


def _version(root: Path, raw: Mapping[str, Any]) -> tuple[str, int]:
    said = raw.get("codebase_version")
    if said is None:  # older converters forget it; the layout tells
        return ("v3.0", 3) if (root / "meta/episodes").is_dir() else ("v2.1", 2)
    found = re.fullmatch(r"v?([23])\.(\d+)(\.\d+)?", said) if isinstance(said, str) else None
    if not found:
        raise UnreadableError(
            "the version of the format is not known",
            where=INFO,
            found=repr(said)[:40],
            expected="v2.0, v2.1 or v3.0",
            remedy="convert the set with the converter of the lerobot package",
        )
    return f"v{found[1]}.{found[2]}", int(found[1])


def _modality(root: Path) -> tuple[Modality, tuple[Claim, ...]]:
    """The column slices of GR00T's ``meta/modality.json``; without it the set is still read."""
    if not (root / MODALITY).is_file():
        return {}, ()
    try:
        return _slices(json_of(root, MODALITY)), ()
    except UnreadableError as error:
        found = error.found or error.what
        return {}, (Claim("readable", "modality.json", "JSON", found, 1.0, where=MODALITY),)


def _slices(raw: Any) -> Modality:
    found: dict[str, list[tuple[str, int, int]]] = {}
    for group, feature in (("state", "observation.state"), ("action", "action")):
        parts = raw.get(group) if isinstance(raw, dict) else None
        for part, where in parts.items() if isinstance(parts, dict) else ():
            start, end = (whole(where.get(k)) if isinstance(where, dict) else None for k in ("start", "end"))
            if start is not None and end is not None and 0 <= start < end <= MOST_CHANNELS:
                key = where.get("original_key")
                found.setdefault(key if isinstance(key, str) else feature, []).append((part, start, end))
    return {feature: tuple(parts) for feature, parts in found.items()}


def _feature(name: str, raw: Any, modality: Modality) -> Feature:
    if not isinstance(raw, dict):
        raw = {}
    dtype = str(raw.get("dtype", ""))
    sizes = raw.get("shape")
    shape = tuple(whole(n) or 0 for n in sizes) if isinstance(sizes, list) else ()
    if name in BOOKKEEPING:
        return Feature(name, dtype, shape, "bookkeeping", Role.OTHER)
    if dtype in ("video", "image"):
        facts = {**_facts(raw.get("video_info")), **_facts(raw.get("info"))}
        # A text such as "false" is no truth value, and an ordinary camera must not escape by one.
        depth = facts.get("is_depth_map") is True or facts.get("video.is_depth_map") is True
        role = Role.DEPTH if depth else Role.CAMERA
        return Feature(name, dtype, shape, "video" if dtype == "video" else "image", role, video=facts)
    if name.startswith("annotation."):
        return Feature(name, dtype, shape, "annotation", Role.OTHER)
    if dtype and not _NUMERIC.fullmatch(dtype):
        return Feature(name, dtype, shape, "other", Role.OTHER)
    return _numeric(name, dtype, shape, _names(raw.get("names")), modality.get(name, ()))


def _facts(raw: Any) -> dict[str, Any]:
    """Plain values of an info table."""
    return {k: v for k, v in raw.items() if isinstance(v, str | int | float)} if isinstance(raw, dict) else {}


def _numeric(
    name: str,
    dtype: str,
    shape: tuple[int, ...],
    names: list[str] | None,
    slices: tuple[tuple[str, int, int], ...],
) -> Feature:
    width = math.prod(shape) if shape else len(names or ())
    if not 0 <= width <= MOST_CHANNELS:
        raise UnreadableError(
            "the declared shape is not usable", where=f"{INFO} {name}", found=str(list(shape))[:80]
        )
    parts = [""] * width
    places = [f"{name}[{i}]" if width > 1 else name for i in range(width)]
    for part, start, end in slices:
        for i in range(start, min(end, width)):
            parts[i], places[i] = part, f"{part}_{i - start}"
    fits = names is not None and len(names) == width
    # Names that do not fit are not dealt out: nobody knows which column lacks one.
    channels = tuple(
        channel(n, name, part) for n, part in zip(names if fits and names else places, parts, strict=True)
    )
    role = stream_role(name, channels)
    if width <= 1 and stamp_name(name):  # not a joint, whatever it stamps
        channels, role = tuple(Channel(c.name) for c in channels), Role.OTHER
    factors = tuple(si_factor(c.unit) for c in channels)
    return Feature(
        name, dtype, shape, "numeric", role, -1 if names is None else len(names),
        channels, *sided(name), parts=tuple(parts) if any(parts) else (),
        factors=factors if any(f != 1.0 for f in factors) else (),
    )  # fmt: skip


def _names(raw: Any) -> list[str] | None:
    """Channel names, flat: from a list, a list in a list, a table of lists, or a table name → index."""
    if isinstance(raw, dict):
        if raw and all(whole(v) is not None for v in raw.values()):
            return [str(k) for k, _ in sorted(raw.items(), key=lambda item: whole(item[1]) or 0)]
        raw = list(raw.values())
    if not isinstance(raw, list):
        return None
    flat: list[str] = []
    for item in raw:
        flat += [str(inner) for inner in item] if isinstance(item, list) else [str(item)]
    return flat
