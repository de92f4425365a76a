"""LeRobot sets v2.0, v2.1 and v3.0, read directly with pyarrow, with GR00T's ``meta/modality.json``.

Layout. v2: ``meta/{info.json, tasks.jsonl, episodes.jsonl}``, statistics in ``stats.json`` (v2.0) or
``episodes_stats.jsonl`` (v2.1), one parquet file per episode and one video per episode and camera. v3: the
same as ``meta/tasks.parquet`` and ``meta/episodes/chunk-*/file-*.parquet``; data files and each camera's
videos hold many episodes, each kind split into files on its own. ``data_path`` and ``video_path`` of
``info.json`` give the file names.

Clock. ``timestamp`` is frame number over rate, made when the set was written: nominal however it looks. Real
times are in extra columns, if the recorder added some: see `assay.readers.lerobot.capture`.

Traps met. Channel names come flat, as a list in a list, as a table, or not at all, and may be more or fewer
than the columns: such names are not dealt out. ``from_timestamp`` drifts, so pictures are counted. Rows of a
shared file are found by their own ``episode_index``. Doubled column names are read by place. 29.97 means
30000/1001 while ``video.fps`` says 29. Metadata is bounded in size and filled into paths by plain
substitution. Images embedded in the rows are declared and never loaded.

What metadata and files disagree on is a claim; sizes are rows, episodes, names, files or pictures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from assay.errors import UnreadableError
from assay.reader import Probe, reader
from assay.readers.lerobot.discover import NAME, discover
from assay.readers.lerobot.episode import open_episode
from assay.readers.lerobot.files import json_of
from assay.readers.lerobot.info import INFO

__all__ = ["READER", "probe"]

LEVELS_UP: Final = 5


def probe(path: Path) -> Probe:
    """How sure it is that ``path`` is the root of a LeRobot set; never raises."""
    try:
        if (path / INFO).is_file():
            return _of_info(json_of(path, INFO))
        return _without_info(path)
    except UnreadableError as error:
        # Its videos alone are no corpus of videos: the joints beside them would go unmentioned.
        rows = any((path / "data").glob("chunk-*/*.parquet"))
        return Probe(0.95 if rows else 0.3, f"has {INFO}, but {error.what}")
    except (OSError, ValueError, RuntimeError) as error:
        return Probe(0.0, f"cannot be looked at ({type(error).__name__})")


def _without_info(path: Path) -> Probe:
    for above in list(path.absolute().parents)[:LEVELS_UP]:
        if (above / INFO).is_file():
            return Probe(0.0, f"lies inside what may be a LeRobot set: name its root {above} instead")
    if not path.exists():
        return Probe(0.0, "there is no such file or folder")
    if any((path / "data").glob("chunk-*/*.parquet")):
        return Probe(0.2, f"has data/chunk-* but no {INFO}")
    return Probe(0.0, f"has no {INFO}")


def _of_info(raw: Any) -> Probe:
    said = raw.get("codebase_version") if isinstance(raw, dict) else None
    features = isinstance(raw, dict) and isinstance(raw.get("features"), dict)
    if isinstance(said, str) and said.lstrip("v")[:2] in ("2.", "3.") and features:
        return Probe(1.0, f"{INFO} says LeRobot {said[:10]}")
    if said is not None:
        return Probe(0.2, f"{INFO} says version {str(said)[:20]!r}; v2.0, v2.1 and v3.0 are read")
    return Probe(0.6, f"{INFO} lists features but no version") if features else Probe(
        0.1, f"{INFO} lists no features"
    )  # fmt: skip


READER: Final = reader(
    name=NAME,
    version=3,
    title="LeRobot v2.0, v2.1, v3.0, with GR00T's modality.json",
    probe=probe,
    discover=discover,
    open_=open_episode,
    doc=__doc__,
)
