"""The cameras of an episode: whose pictures lie where, without opening a container."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.errors import OutsideCorpusError, UnreadableError
from assay.model import Claim, Clip, Part, Ref, Role, Stream
from assay.readers.lerobot import checks
from assay.readers.lerobot.files import file_at
from assay.readers.lerobot.info import Feature, Info
from assay.readers.lerobot.rows import Data
from assay.readers.lerobot.streams import Found

__all__ = ["absent_videos", "camera"]


def camera(
    root: Path, info: Info, feature: Feature, ref: Ref, data: Data | None, t: NDArray[np.int64], found: Found
) -> None:
    """One camera as a stream, if its file (or its column of embedded images) is there; else a claim."""
    clip = None
    if feature.kind == "image":
        if data is None or feature.name not in data.schema.names:
            return
        found.meta.setdefault("embedded_images", []).append(feature.name)
    else:
        part = next(p for p in ref.parts if p.name == feature.name)
        clip = _clip(root, info, part, ref, data, found)
        if clip is None:
            return
    empty = np.empty((len(t), 0))
    found.streams.append(Stream(feature.name, feature.role, t, empty, rate=info.fps, clip=clip))


def _clip(root: Path, info: Info, part: Part, ref: Ref, data: Data | None, found: Found) -> Clip | None:
    if not _there(root, part, found):
        return None
    found.files.append(part.path)
    if info.major == 2:
        return Clip(root, part.path)
    place, rows = part.key, (data.table.num_rows if data else 0) or ref.frames
    first, count = place.get("first", np.nan), place.get("count", np.nan)
    span = (first + place.get("drift", np.nan), count)
    found.claims.append(checks.pictures(part.name, place, rows, span, part.path))
    if not np.isfinite(first) or first < 0:
        text = "no usable place in the episode table"
        found.claims.append(Claim("file", "pictures", part.path, text, 1.0, part.name, part.path))
        return None
    pictures = int(count) if np.isfinite(count) and count >= 0 else rows
    return Clip(root, part.path, int(first), pictures, bool(place.get("last", True)))


def _there(root: Path, part: Part, found: Found) -> bool:
    """Whether a camera's file is inside the set and present; a claim either way."""
    state, size = "present", 0.0
    if not part.path:
        state, size = "no place in the episode table", 1.0
    else:
        try:
            file_at(root, part.path)
        except OutsideCorpusError:
            state, size = "leads outside the corpus", 1.0
        except UnreadableError as error:
            state, size = error.found or "absent", 1.0
    found.claims.append(Claim("file", "video", part.path or part.name, state, size, part.name, part.path))
    return size == 0.0


def absent_videos(root: Path, info: Info, ref: Ref, want: frozenset[Role], found: Found) -> None:
    """A missing video is reported even where nobody wants its pictures."""
    roles = {f.name: f.role for f in info.cameras}
    for part in ref.parts[1:]:
        if roles.get(part.name) not in want:
            _there(root, part, found)
