"""Lies of metadata, planted one at a time in a small copy of a real set, and who names them.

Gates that judge claims have no dose: a claim agrees with the data or it does not. So a table of cases.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from assay import plugs
from assay.corpus import discover
from assay.errors import UnreadableError
from assay.examine import conclude, examine
from assay.feature import Features
from assay.inject import load
from assay.judge import Judgement
from assay.model import Claim, Episode
from assay.sheet import apply
from assay.synth.lerobot import Layout, write

__all__ = ["LIES", "Lie", "judged_lie", "lies", "small_sets"]

_EPISODES: Final = 3
_CAMERA: Final = "observation.images.cam_high"
_META3: Final = "meta/episodes/chunk-000/file-000.parquet"
_ROWS3: Final = "data/chunk-000/file-000.parquet"
_FILM3: Final = f"videos/{_CAMERA}/chunk-000/file-000.mp4"
_CORPUS: Final = "corpus"


@dataclass(frozen=True, slots=True)
class Lie:
    """One lie: the gate that must name it, layout, words, change of the folder, subjects that must fail."""

    gate: str
    layout: Layout
    words: str
    change: Callable[[Path], None]
    subjects: tuple[str, ...]


# ------------------------------------------------------------------------------------- changes of a folder


def gone(name: str) -> Callable[[Path], None]:
    return lambda root: (root / name).unlink()


def rows2(number: int) -> str:
    return f"data/chunk-000/episode_{number:06d}.parquet"


def film2(number: int) -> str:
    return f"videos/chunk-000/{_CAMERA}/episode_{number:06d}.mp4"


def info(path: str, change: Callable[[Any], Any]) -> Callable[[Path], None]:
    """Change one entry of info.json, named by a path of keys."""

    def edit(root: Path) -> None:
        file = root / "meta/info.json"
        whole = json.loads(file.read_text())
        at, *keys = whole, *path.split("/")
        for key in keys[:-1]:
            at = at[key]
        at[keys[-1]] = change(at.get(keys[-1]))
        file.write_text(json.dumps(whole))

    return edit


def length(number: int, more: int) -> Callable[[Path], None]:
    """State another length for an episode of v2.1."""

    def edit(root: Path) -> None:
        file = root / "meta/episodes.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        lines[number]["length"] += more
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    return edit


def column(name: str, file: str, change: Callable[[list[Any]], list[Any]]) -> Callable[[Path], None]:
    """Change a column of a table."""

    def edit(root: Path) -> None:
        table = pq.read_table(root / file)
        at = table.column_names.index(name)
        kind = table.schema.field(name)
        changed = pa.array(change(table.column(name).to_pylist()), kind.type)
        pq.write_table(table.set_column(at, kind, changed), root / file)

    return edit


def columns(file: str, change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    """Change a table as a whole."""
    return lambda root: pq.write_table(change(pq.read_table(root / file)), root / file)


def at(place: int, change: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    """Change one entry of a column."""
    return lambda values: [change(v) if i == place else v for i, v in enumerate(values)]


def same_file(root: Path) -> None:
    shutil.copyfile(root / rows2(2), root / rows2(1))


def stray(root: Path) -> None:
    shutil.copyfile(root / rows2(2), root / rows2(7))


def both_ends_late(root: Path) -> None:
    for end in ("from", "to"):
        column(f"dataset_{end}_index", _META3, at(1, lambda v: v + 5))(root)


def stray3(root: Path) -> None:
    shutil.copyfile(root / _ROWS3, root / "data/chunk-000/file-009.parquet")


_EP1: Final = ("episode_000001",)
_ALL: Final = ("episode_000000", "episode_000001", "episode_000002")
_CORP: Final = (_CORPUS,)
_FILM: Final = f"videos/{_CAMERA}"
_F: Final = "features"

LIES: Final[tuple[Lie, ...]] = (
    Lie("INT002", "v2.1", "the table of one episode is gone", gone(rows2(1)), _EP1),
    Lie("INT002", "v2.1", "the video of one episode is gone", gone(film2(1)), _EP1),
    Lie("INT002", "v2.1", "the last episode's table is gone", gone(rows2(2)), ("episode_000002",)),
    Lie("INT002", "v2.1", "the path of videos leads nowhere",
        info("video_path", lambda p: "films/" + p), _ALL),
    Lie("INT002", "v3.0", "the shared table is gone", gone(_ROWS3), _ALL),
    Lie("INT002", "v3.0", "the shared video is gone", gone(_FILM3), _ALL),
    Lie("INT002", "v3.0", "one episode's video is another file, not there",
        column(f"{_FILM}/file_index", _META3, at(1, lambda v: v + 4)), _EP1),
    Lie("INT002", "v3.0", "stats.json is gone", gone("meta/stats.json"), _CORP),
    Lie("INT004", "v2.1", "rows carry another episode's number",
        column("episode_index", rows2(1), lambda v: [2] * len(v)), _EP1),
    Lie("INT004", "v2.1", "one row carries another episode's number",
        column("episode_index", rows2(1), at(50, lambda v: v + 1)), _EP1),
    Lie("INT004", "v2.1", "the file is a copy of another episode's", same_file, _EP1),
    Lie("INT004", "v2.1", "frame_index starts at 1",
        column("frame_index", rows2(1), lambda v: [i + 1 for i in v]), _EP1),
    Lie("INT004", "v2.1", "one frame_index is repeated",
        column("frame_index", rows2(1), at(50, lambda v: v - 1)), _EP1),
    Lie("INT004", "v2.1", "one index is skipped", column("index", rows2(1), at(50, lambda v: v + 1)), _EP1),
    Lie("INT004", "v3.0", "a file that no episode names",
        stray3, _CORP),
    Lie("INT004", "v3.0", "rows carry the number of an episode elsewhere",
        column("episode_index", _ROWS3, lambda v: [7 if i == 1 else i for i in v]), _EP1),
    Lie("INT005", "v2.1", "length one too many", length(1, 1), _EP1),
    Lie("INT005", "v2.1", "length one too few", length(1, -1), _EP1),
    Lie("INT005", "v2.1", "length 100 too few", length(1, -100), _EP1),
    Lie("INT005", "v3.0", "dataset_to_index one too many",
        column("dataset_to_index", _META3, at(1, lambda v: v + 1)), _EP1),
    Lie("INT005", "v3.0", "both ends five rows late",
        both_ends_late, _EP1),
    Lie("INT005", "v3.0", "pictures begin one late",
        column(f"{_FILM}/from_timestamp", _META3, at(1, lambda v: v + 1 / 30)), _EP1),
    Lie("INT005", "v3.0", "pictures begin half a second late",
        column(f"{_FILM}/from_timestamp", _META3, at(1, lambda v: v + 0.5)), _EP1),
    Lie("INT005", "v3.0", "pictures end one late",
        column(f"{_FILM}/to_timestamp", _META3, at(2, lambda v: v + 1 / 30)), ("episode_000002",)),
    Lie("INT005", "v3.0", "two episodes on one place of a video",
        column(f"{_FILM}/from_timestamp", _META3, lambda v: [v[0], v[0], v[2]]), _EP1),
    Lie("INT006", "v2.1", "total_episodes one too many", info("total_episodes", lambda n: n + 1), _CORP),
    Lie("INT006", "v2.1", "total_frames one too few", info("total_frames", lambda n: n - 1), _CORP),
    Lie("INT006", "v2.1", "total_tasks one too many", info("total_tasks", lambda n: n + 1), _CORP),
    Lie("INT006", "v2.1", "total_videos one too many", info("total_videos", lambda n: n + 1), _CORP),
    Lie("INT006", "v2.1", "a split names 100 episodes", info("splits/train", lambda s: "0:100"), _CORP),
    Lie("INT006", "v2.1", "a split leaves one episode out", info("splits/train", lambda s: "0:2"), _CORP),
    Lie("INT006", "v2.1", "30 columns under 26 names", info(f"{_F}/action/shape", lambda s: [30]), _CORP),
    Lie("INT006", "v2.1", "float64 declared", info(f"{_F}/action/dtype", lambda s: "float64"), _ALL),
    Lie("INT006", "v2.1", "another rate at the camera",
        info(f"{_F}/{_CAMERA}/info/video.fps", lambda f: 25), _CORP),
    Lie("INT006", "v2.1", "another height at the camera",
        info(f"{_F}/{_CAMERA}/info/video.height", lambda f: 720), _CORP),
    Lie("INT006", "v2.1", "a column that nothing declares",
        columns(rows2(1), lambda t: t.append_column("extra", t.column("index"))), _EP1),
    Lie("INT006", "v2.1", "a declared column is not there",
        columns(rows2(1), lambda t: t.drop_columns(["action"])), _EP1),
    Lie("INT006", "v2.1", "a task that is not in the table",
        column("task_index", rows2(1), lambda v: [5] * len(v)), _EP1),
    Lie("INT006", "v2.1", "an episode's file that nobody lists", stray, ("episode_000007",)),
    Lie("INT006", "v3.0", "total_frames one too many", info("total_frames", lambda n: n + 1), _CORP),
    Lie("INT006", "v3.0", "rows of an episode that nobody lists",
        columns(_ROWS3, lambda t: pa.concat_tables([t, t.slice(0, 5)])), _CORP),
)  # fmt: skip


# ---------------------------------------------------------------------------------------------- judging


def small_sets(data: Path, folder: Path) -> None:
    """The first three clips of the real G1 set, in both layouts, under ``folder``."""
    whole, _ = load(discover(data / "lerobot/g1_inspire_teleop_v21_video"))
    for layout in ("v2.1", "v3.0"):
        write(folder / layout, replace(whole, takes=whole.takes[:_EPISODES]), layout)


def judged_lie(lie: Lie | None, gate: str, source: Path) -> dict[str, Judgement]:
    """Judgement of every episode and the corpus, of a copy of ``source`` with the lie (None: without)."""
    with TemporaryDirectory() as folder:
        root = Path(folder, "set")
        shutil.copytree(source, root)
        if lie is not None:
            lie.change(root)
        return dict(_judged(gate, root))


def _judged(code: str, root: Path) -> Iterator[tuple[str, Judgement]]:
    corpus, gate = discover(root), plugs.gates()[code]
    reader, facts = plugs.readers()[corpus.listing.reader], {}
    for ref in corpus.listing.refs:
        try:
            ep = reader.open(corpus.listing, ref, None, corpus.sheet)
        except UnreadableError as error:
            claim = Claim("readable", "data", "a readable file", str(error), 1.0)
            ep = Episode(ref.id, declared=corpus.listing.streams, claims=(claim,))
        features = Features(apply(corpus.sheet, ep), plugs.features(), {}, {"pictures": None})
        judged = examine(gate, features, gate.params(), ref.id)
        facts[ref.id] = {f.name: f.value for f in judged.facts}
        yield ref.id, judged
    yield _CORPUS, conclude(gate, corpus.listing, facts, gate.params())


@cache
def _sources(data: Path) -> tuple[TemporaryDirectory[str], Path]:
    held = TemporaryDirectory()
    small_sets(data, Path(held.name))
    return held, Path(held.name)


def lies(code: str, data: Path) -> list[str]:
    """Lines of the table: each lie, whether the gate names it in every subject concerned, and how."""
    _, sources = _sources(data)
    mine, named = [lie for lie in LIES if lie.gate == code], 0
    lines = ["| planted lie | layout | named | finding |", "|---|---|---|---|"]
    for lie in mine:
        got = judged_lie(lie, code, sources / lie.layout)
        hit = all(s in got and got[s].verdict.status == "fail" for s in lie.subjects)
        named += hit
        lines.append(f"| {lie.words} | {lie.layout} | {'yes' if hit else 'no'} | {_how(got, lie.subjects)} |")
    lines += [
        "",
        f"**Named**: {named} of {len(mine)} lies, each in every episode (or corpus) that it is about.",
    ]
    for layout in ("v2.1", "v3.0"):
        got = judged_lie(None, code, sources / layout)
        alarms = [s for s, j in got.items() if j.verdict.status == "fail"]
        lines.append(f"Without a lie, {layout}: {', '.join(alarms) or 'no alarm'}.")
    return lines


def _how(got: dict[str, Judgement], subjects: tuple[str, ...]) -> str:
    for subject in subjects:
        for f in got[subject].findings if subject in got else ():
            note = f.note.replace("|", "/")
            return f"{subject}: {f.channel}: {note[:90]}"
    return ""
