"""The writer: folders of both layouts hold what was given, by pyarrow, PyAV and Assay's own reader."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.corpus import discover
from assay.errors import UnreadableError
from assay.model import Episode, Listing
from assay.readers.lerobot import READER
from assay.synth.lerobot import Dataset, Layout, write
from assay.synth.movies import Part, encode, join, look, make, pictures
from assay.synth.planting import Disk
from assay.synth.takes import Movie, Take, column

FPS = Fraction(30)
LENGTHS = (20, 31, 24, 27)
LAYOUTS: tuple[Layout, ...] = ("v2.1", "v3.0")
CAMERA = "observation.images.cam"
VECTOR = {"dtype": "float32", "shape": [3], "names": ["left_elbow", "right_elbow", "waist_yaw"]}
NUMBERS = ("frame_index", "episode_index", "index", "task_index")
FEATURES = {
    "observation.state": VECTOR,
    "action": VECTOR,
    CAMERA: {"dtype": "video", "shape": [48, 64, 3], "names": ["height", "width", "channel"]},
    "timestamp": {"dtype": "float32", "shape": [1], "names": None},
    **{k: {"dtype": "int64", "shape": [1], "names": None} for k in NUMBERS},
}


def grey(first: int, n: int) -> list[np.ndarray]:
    """Pictures whose level names their number: 16 + 6 (first + i)."""
    return [np.full((48, 64, 3), 16 + 6 * (first + i), np.uint8) for i in range(n)]


def shown(file: Path) -> list[int]:
    """The number that each decoded picture shows."""
    with av.open(str(file)) as box:
        return [round((f.to_ndarray(format="rgb24").mean() - 16) / 6) for f in box.decode(video=0)]


def stamps(file: Path) -> np.ndarray:
    with av.open(str(file)) as box:
        stream = box.streams.video[0]
        found = sorted(p.pts * stream.time_base * FPS for p in box.demux(stream) if p.size)
    assert all(f.denominator == 1 for f in found)
    return np.array([int(f) for f in found])


def vectors(n: int, seed: int) -> pa.Array:
    x = np.random.default_rng(seed).normal(0, 0.3, (n, 3)).astype(np.float32)
    return pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), 3)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder, takes = tmp_path_factory.mktemp("movies"), []
    for i, n in enumerate(LENGTHS):
        encode(folder / f"{i}.mp4", grey(i, n), FPS)
        rows = pa.table({"observation.state": vectors(n, i), "action": vectors(n, 9 + i)})
        takes.append(Take(rows, {CAMERA: Movie(folder / f"{i}.mp4")}, (("lift", "place")[i % 2],)))
    return Dataset({"fps": 30, "robot_type": "toy", "features": FEATURES}, ("lift", "place"), tuple(takes))


def opened(folder: Path) -> tuple[Listing, list[Episode]]:
    corpus = discover(folder)
    listing = corpus.listing
    return listing, [READER.open(listing, ref, None, corpus.sheet) for ref in listing.refs]


def with_take(data: Dataset, number: int, **changes: object) -> Dataset:
    takes = list(data.takes)
    takes[number] = replace(takes[number], **changes)  # type: ignore[arg-type]
    return replace(data, takes=tuple(takes))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reader_finds_what_was_given_and_nothing_to_complain_of(
    data: Dataset, layout: Layout, tmp_path: Path
) -> None:
    write(tmp_path / "c", data, layout)
    listing, episodes = opened(tmp_path / "c")
    assert [c for c in listing.claims if c.size != 0] == []
    assert [e.id for e in episodes] == [f"episode_{i:06d}" for i in range(4)]
    for i, (ep, take) in enumerate(zip(episodes, data.takes, strict=True)):
        assert [c for c in ep.claims if c.size != 0] == []
        assert ep.task == take.tasks[0]
        state, camera = ep.stream("observation.state"), ep.stream(CAMERA)
        assert state is not None
        assert camera is not None
        assert camera.clip is not None
        assert np.array_equal(np.asarray(state.x), column(take.rows, "observation.state"))
        seconds = (np.arange(LENGTHS[i]) / 30).astype(np.float32).astype(np.float64)
        assert np.array_equal(state.t, np.rint(seconds * 1e9))
        first = camera.clip.first
        numbers = shown(camera.clip.root / camera.clip.path)[first : first + LENGTHS[i]]
        assert numbers == list(range(i, i + LENGTHS[i]))


def test_v21_by_pyarrow(data: Dataset, tmp_path: Path) -> None:
    write(tmp_path / "c", data, "v2.1")
    start = 0
    lines = (tmp_path / "c/meta/episodes_stats.jsonl").read_text().splitlines()
    for i, n in enumerate(LENGTHS):
        table = pq.read_table(tmp_path / f"c/data/chunk-000/episode_{i:06d}.parquet")
        assert table.schema.field("observation.state").type == pa.list_(pa.float32(), 3)
        assert table.schema.field("timestamp").type == pa.float32()
        assert column(table, "timestamp").tolist() == (np.arange(n) / 30).astype(np.float32).tolist()
        assert column(table, "index").tolist() == list(range(start, start + n))
        assert set(column(table, "episode_index").tolist()) == {i}
        assert set(column(table, "task_index").tolist()) == {i % 2}
        stats = json.loads(lines[i])["stats"]
        x = column(table, "observation.state").astype(np.float64)
        np.testing.assert_allclose(stats["observation.state"]["mean"], x.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(stats["observation.state"]["std"], x.std(axis=0), rtol=1e-12)
        assert stats["index"] == {"min": [start], "max": [start + n - 1], "mean": [start + (n - 1) / 2],
                                  "std": [pytest.approx(np.arange(n).std())], "count": [n]}  # fmt: skip
        level = np.mean([16 + 6 * (i + k) for k in range(n)]) / 255
        assert np.shape(stats[CAMERA]["mean"]) == (3, 1, 1)
        np.testing.assert_allclose(stats[CAMERA]["mean"], level, atol=0.004)
        start += n
    info = json.loads((tmp_path / "c/meta/info.json").read_text())
    assert (info["total_frames"], info["total_episodes"], info["total_videos"]) == (sum(LENGTHS), 4, 4)
    assert (info["codebase_version"], info["splits"]) == ("v2.1", {"train": "0:4"})


def test_v30_is_exact_at_episode_borders(data: Dataset, tmp_path: Path) -> None:
    write(tmp_path / "c", data, "v3.0")
    files = sorted((tmp_path / "c").rglob("*.mp4"))
    assert [f.relative_to(tmp_path / "c").as_posix() for f in files] == [
        f"videos/{CAMERA}/chunk-000/file-000.mp4"
    ]
    assert np.array_equal(stamps(files[0]), np.arange(sum(LENGTHS)))
    assert shown(files[0]) == [i + k for i, n in enumerate(LENGTHS) for k in range(n)]
    episodes = pq.read_table(tmp_path / "c/meta/episodes/chunk-000/file-000.parquet").to_pylist()
    borders = np.r_[0, np.cumsum(LENGTHS)]
    for i, row in enumerate(episodes):
        assert (row["dataset_from_index"], row["dataset_to_index"]) == (borders[i], borders[i + 1])
        assert row[f"videos/{CAMERA}/from_timestamp"] == borders[i] / 30
        assert row[f"videos/{CAMERA}/to_timestamp"] == borders[i + 1] / 30
        assert row["stats/observation.state/count"] == [LENGTHS[i]]
    table = pq.read_table(tmp_path / "c/data/chunk-000/file-000.parquet")
    x = column(table, "observation.state").astype(np.float64)
    pooled = json.loads((tmp_path / "c/meta/stats.json").read_text())["observation.state"]
    np.testing.assert_allclose(pooled["mean"], x.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(pooled["std"], x.std(axis=0), rtol=1e-9)
    assert pooled["count"] == [sum(LENGTHS)]
    tasks = pq.read_table(tmp_path / "c/meta/tasks.parquet").to_pylist()
    assert tasks == [{"task_index": 0, "task": "lift"}, {"task_index": 1, "task": "place"}]


@pytest.mark.parametrize(
    ("change", "files", "count"),
    [({"kept": 0.6}, 3, 31), ({"order": np.arange(25)}, 3, 25), ({"order": np.r_[np.arange(31), 0]}, 3, 32),
     ({"order": np.arange(31), "encode": True}, 1, 31)],
)  # fmt: skip
def test_v30_gives_a_video_that_does_not_fit_its_own_file(
    data: Dataset, change: dict[str, object], files: int, count: int, tmp_path: Path
) -> None:
    movie = data.takes[1].movies[CAMERA]
    assert movie is not None
    changed = with_take(data, 1, movies={CAMERA: replace(movie, **change)})  # type: ignore[arg-type]
    write(tmp_path / "c", changed, "v3.0")
    found = sorted((tmp_path / "c").rglob("*.mp4"))
    assert len(found) == files
    rows = pq.read_table(tmp_path / "c/meta/episodes/chunk-000/file-000.parquet").to_pylist()
    span = rows[1][f"videos/{CAMERA}/to_timestamp"] - rows[1][f"videos/{CAMERA}/from_timestamp"]
    assert span == pytest.approx(count / 30)
    if files == 3:
        assert [r[f"videos/{CAMERA}/file_index"] for r in rows] == [0, 1, 2, 2]
        assert rows[2][f"videos/{CAMERA}/from_timestamp"] == 0
        assert (look(found[1]) is None) == ("kept" in change)
        assert np.array_equal(stamps(found[2]), np.arange(LENGTHS[2] + LENGTHS[3]))


def test_cut_video_is_a_share_of_the_bytes(data: Dataset, tmp_path: Path) -> None:
    movie = data.takes[1].movies[CAMERA]
    assert movie is not None
    for layout in LAYOUTS:
        write(tmp_path / layout, with_take(data, 1, movies={CAMERA: replace(movie, kept=0.6)}), layout)
    whole = movie.file.read_bytes()
    for name in ("v2.1/videos/chunk-000/observation.images.cam/episode_000001.mp4",
                 "v3.0/videos/observation.images.cam/chunk-000/file-001.mp4"):  # fmt: skip
        assert (tmp_path / name).read_bytes() == whole[: int(0.6 * len(whole))]
    assert movie.file.read_bytes() == whole


def test_unchanged_videos_keep_their_bytes_and_linked_ones_share_them(data: Dataset, tmp_path: Path) -> None:
    for link in (False, True):
        write(tmp_path / f"{link}", data, "v2.1", link=link)
        copy = tmp_path / f"{link}/videos/chunk-000/{CAMERA}/episode_000002.mp4"
        movie = data.takes[2].movies[CAMERA]
        assert movie is not None
        assert copy.read_bytes() == movie.file.read_bytes()
        assert copy.samefile(movie.file) == link


@pytest.mark.parametrize("layout", LAYOUTS)
def test_metadata_lies_reach_the_files(data: Dataset, layout: Layout, tmp_path: Path) -> None:
    lies = Disk(length=4, totals={"total_episodes": 3, "splits": 95})
    write(tmp_path / "lies", with_take(data, 2, disk=lies), layout)
    info = json.loads((tmp_path / "lies/meta/info.json").read_text())
    assert (info["total_episodes"], info["splits"]) == (7, {"train": "0:99"})
    write(tmp_path / "pointer", with_take(data, 2, disk=Disk(pointer=1)), layout)
    if layout == "v2.1":
        lengths = [
            json.loads(s)["length"] for s in (tmp_path / "lies/meta/episodes.jsonl").read_text().splitlines()
        ]
        table = pq.read_table(tmp_path / "pointer/data/chunk-000/episode_000002.parquet")
        assert set(column(table, "episode_index").tolist()) == {3}
    else:
        file = "meta/episodes/chunk-000/file-000.parquet"
        lengths = pq.read_table(tmp_path / "lies" / file).column("length").to_pylist()
        row = pq.read_table(tmp_path / "pointer" / file).to_pylist()[2]
        assert (row["dataset_from_index"], row["data/file_index"]) == (sum(LENGTHS[:2]), 0)
        table = pq.read_table(tmp_path / "pointer/data/chunk-000/file-001.parquet")
        assert set(column(table, "episode_index").tolist()) == {2}
    assert lengths == [20, 31, 28, 27]
    write(tmp_path / "twice", with_take(data, 2, disk=Disk(duplicate="task_index")), layout)
    name = "data/chunk-000/episode_000002" if layout == "v2.1" else "meta/episodes/chunk-000/file-000"
    names = pq.ParquetFile(tmp_path / f"twice/{name}.parquet").schema_arrow.names
    assert len(names) == len(set(names)) + 1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_missing_video_and_missing_rows(data: Dataset, layout: Layout, tmp_path: Path) -> None:
    write(tmp_path / "v", with_take(data, 1, movies={CAMERA: None}), layout)
    _, episodes = opened(tmp_path / "v")
    assert [e.stream(CAMERA) is None for e in episodes] == [False, True, False, False]
    write(tmp_path / "d", with_take(data, 1, disk=Disk(missing=frozenset({"data"}))), layout)
    _, episodes = opened(tmp_path / "d")
    assert [e.stream("action") is None for e in episodes] == [False, True, False, False]


def test_existing_folder_is_refused(data: Dataset, tmp_path: Path) -> None:
    write(tmp_path / "c", data, "v2.1")
    with pytest.raises(FileExistsError):
        write(tmp_path / "c", data, "v2.1")


def test_index_maps_of_pictures(data: Dataset, tmp_path: Path) -> None:
    movie = data.takes[1].movies[CAMERA]
    assert movie is not None
    for order in ([0, 0, 5, 5, 5, 30], [3, 4, 5, 0, 1], [30]):
        make(replace(movie, order=np.array(order)), tmp_path / "m.mp4", FPS)
        assert shown(tmp_path / "m.mp4") == [1 + k for k in order]
        assert np.array_equal(stamps(tmp_path / "m.mp4"), np.arange(len(order)))
    with pytest.raises(UnreadableError, match="fewer pictures"):
        list(pictures(replace(movie, order=np.array([0, 31]))))


def test_part_of_a_packed_file_is_told_apart(data: Dataset, tmp_path: Path) -> None:
    movies = [t.movies[CAMERA] for t in data.takes]
    files = [m.file for m in movies if m is not None]
    join(tmp_path / "all.mp4", [Part(f, 0, n) for f, n in zip(files, LENGTHS, strict=True)], FPS)
    middle = Movie(tmp_path / "all.mp4", LENGTHS[0], LENGTHS[1])
    assert [round((p.mean() - 16) / 6) for p in pictures(middle)] == list(range(1, 32))
    make(middle, tmp_path / "part.mp4", FPS)
    assert shown(tmp_path / "part.mp4") == list(range(1, 32))
    with pytest.raises(UnreadableError, match="key picture"):
        join(tmp_path / "no.mp4", [Part(files[1], 5, 6)], FPS)
    (tmp_path / "list.mp4").write_text("#EXTM3U\n" + str(files[0]))
    assert look(tmp_path / "list.mp4") is None
