"""Laws of the LeRobot reader: cut files, hostile metadata, ways out of the folder, speed of listing."""

import hashlib
import json
import pickle
import runpy
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import OutsideCorpusError, UnreadableError
from assay.model import Claim, Episode, Listing
from assay.readers.lerobot import READER, probe
from assay.readers.lerobot import files as files_module
from assay.sheet import Sheet

GOLDEN = Path(__file__).parent / "golden/lerobot"
Small = runpy.run_path(str(GOLDEN / "sets.py"))["Small"]
CANONICAL = runpy.run_path(str(GOLDEN / "canonical.py"), run_name="canonical")
SHEET = Sheet()


def tiny(version: str, root: Path) -> Path:
    """A set whose files are as short as they go."""
    small = Small(version, [3, 2], cameras=("top",) if version < "v3" else ())
    small.stats = [{"action": s["action"]} for s in small.stats]
    for feature in ("observation.state", "action"):
        small.info["features"][feature]["names"] = None
    return Path(small.write(root))


def opened(root: Path) -> tuple[Listing, list[Episode]]:
    listing = READER.discover(root)
    return listing, [READER.open(listing, ref, None, SHEET) for ref in listing.refs]


def state(listing: Listing, episodes: list[Episode]) -> list[Any]:
    """What a cut must not change without a word."""
    return [
        len(listing.refs),
        [(e.id, e.meta["rows"], e.task, sorted(e.statistics), [s.name for s in e.streams]) for e in episodes],
    ]


def complaints(listing: Listing, episodes: list[Episode]) -> list[Claim]:
    claims = [c for source in (listing, *episodes) for c in source.claims]
    return [c for c in claims if c.size != 0]


def cut_everywhere(root: Path, relative: str, cuts: list[int]) -> None:
    whole = (root / relative).read_bytes()
    before = state(*opened(root))
    noticed = [cut for cut in cuts if one_cut(root, relative, whole[:cut], before)]
    (root / relative).write_bytes(whole)
    assert len(noticed) >= len(cuts) - 2  # a last line feed may go


def one_cut(root: Path, relative: str, rest: bytes, before: list[Any]) -> bool:
    """Whether the cut was noticed; it must be where it changed anything."""
    (root / relative).write_bytes(rest)
    try:
        listing = READER.discover(root)
        if complaints(listing, []):
            return True
        episodes = opened(root)[1]
    except UnreadableError as error:
        return str(error).endswith(".")
    noticed = bool(complaints(listing, episodes))
    assert noticed or state(listing, episodes) == before, f"{relative} cut at {len(rest)} goes unnoticed"
    return noticed


FILES = {
    "v2.0": ["meta/info.json", "meta/tasks.jsonl", "meta/episodes.jsonl"],
    "v2.1": ["meta/episodes_stats.jsonl"],
    "v3.0": ["meta/tasks.parquet", "meta/stats.json", "meta/episodes/chunk-000/file-000.parquet"],
}  # fmt: skip


@pytest.mark.parametrize(("version", "relative"), [(v, f) for v, names in FILES.items() for f in names])
def test_every_cut_is_one_clear_error_or_a_claim(version: str, relative: str, tmp_path: Path) -> None:
    root = tiny(version, tmp_path / "set")
    size = (root / relative).stat().st_size
    assert size <= 8192
    cut_everywhere(root, relative, list(range(size)))


@pytest.mark.parametrize("version", ["v2.1", "v3.0"])
def test_every_cut_of_rows_is_one_clear_error(version: str, tmp_path: Path) -> None:
    root = tiny(version, tmp_path / "set")
    listing = READER.discover(root)
    file = root / listing.refs[1].parts[0].path
    whole = file.read_bytes()
    for cut in range(len(whole)):
        file.write_bytes(whole[:cut])
        with pytest.raises(UnreadableError, match="not a readable parquet file"):
            READER.open(listing, listing.refs[1], None, SHEET)


def test_random_cuts_of_a_larger_file(tmp_path: Path) -> None:
    small = Small("v3.0", [900, 700], cameras=(), packs=[[0, 1]])
    root = small.write(tmp_path / "set")
    file = root / "data/chunk-000/file-000.parquet"
    size = file.stat().st_size
    assert size > 8192
    rng = np.random.default_rng(1)
    cut_everywhere(root, "data/chunk-000/file-000.parquet", sorted(rng.integers(0, size, 200).tolist()))


def test_flipped_bytes_are_no_crash(tmp_path: Path) -> None:
    root = tiny("v3.0", tmp_path / "set")
    rng = np.random.default_rng(2)
    for relative in (*FILES["v3.0"], "data/chunk-000/file-001.parquet"):
        whole = (root / relative).read_bytes()
        for _ in range(40):
            broken = bytearray(whole)
            for at in rng.integers(0, len(whole), 3):
                broken[at] ^= int(rng.integers(1, 256))
            (root / relative).write_bytes(broken)
            with suppress(UnreadableError):
                opened(root)
        (root / relative).write_bytes(whole)


@pytest.mark.parametrize("case", sorted(p.parent.name for p in GOLDEN.glob("*/make.py")))
def test_source_is_untouched_and_opening_twice_is_equal(case: str, tmp_path: Path) -> None:
    folder = tmp_path / case
    shutil.copytree(GOLDEN / case, folder)
    before = digest(folder)
    first = CANONICAL["case"](folder)
    assert CANONICAL["case"](folder) == first
    assert digest(folder) == before


def digest(folder: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        total.update(f"{path.relative_to(folder)} {path.stat().st_mtime_ns}".encode())
        total.update(path.read_bytes() if path.is_file() else b"")
    return total.hexdigest()


@pytest.mark.parametrize("version", ["v2.0", "v2.1", "v3.0"])
def test_listing_travels_between_processes(version: str, tmp_path: Path) -> None:
    listing = READER.discover(tiny(version, tmp_path / "set"))
    again = pickle.loads(pickle.dumps(listing))  # noqa: S301 - our own bytes
    for a, b in zip(listing.refs, again.refs, strict=True):
        assert CANONICAL["plain"](READER.open(listing, a, None, SHEET)) == CANONICAL["plain"](
            READER.open(again, b, None, SHEET)
        )


# ------------------------------------------------------------------------------------------ ways out


@pytest.mark.parametrize("hostile", ["../../etc/passwd", "/etc/passwd", "../{episode_index}.parquet"])
def test_data_path_that_leads_out_is_refused(hostile: str, tmp_path: Path) -> None:
    small = Small("v2.1", [3], cameras=())
    small.info["data_path"] = hostile
    root = small.write(tmp_path / "a/b/set")
    listing = READER.discover(root)
    assert ("file", "data_path") in {(c.topic, c.about) for c in listing.claims if c.size}
    with pytest.raises(OutsideCorpusError):
        READER.open(listing, listing.refs[0], None, SHEET)


@pytest.mark.parametrize("hostile", ["../../{video_key}", "/etc/passwd", "videos/../../../x"])
def test_video_path_that_leads_out_is_refused(hostile: str, tmp_path: Path) -> None:
    small = Small("v2.1", [3])
    small.info["video_path"] = hostile
    listing = READER.discover(small.write(tmp_path / "a/b/set"))
    ep = READER.open(listing, listing.refs[0], None, SHEET)
    assert all(s.clip is None for s in ep.streams)
    assert [c.found for c in ep.claims if c.topic == "file" and c.stream] == ["leads outside the corpus"]


def test_feature_name_that_leads_out_is_refused(tmp_path: Path) -> None:
    small = Small("v2.1", [3], cameras=())
    small.info["features"]["../../../../etc"] = {"dtype": "video", "shape": [4, 4, 3]}
    small.info["video_path"] = "videos/{video_key}/passwd"
    listing = READER.discover(small.write(tmp_path / "set"))
    ep = READER.open(listing, listing.refs[0], None, SHEET)
    assert "leads outside the corpus" in {c.found for c in ep.claims}


def test_links_that_lead_out_are_refused(tmp_path: Path) -> None:
    root = Small("v2.1", [3, 2]).write(tmp_path / "set")
    outside = tmp_path / "outside"
    outside.mkdir()
    data = root / "data/chunk-000/episode_000001.parquet"
    data.rename(outside / "rows.parquet")
    data.symlink_to(outside / "rows.parquet")
    video = root / "videos/chunk-000/observation.images.top"
    video.rename(outside / "top")
    video.symlink_to(outside / "top")
    listing = READER.discover(root)
    with pytest.raises(OutsideCorpusError):
        READER.open(listing, listing.refs[1], None, SHEET)
    ep = READER.open(listing, listing.refs[0], None, SHEET)
    assert "leads outside the corpus" in {c.found for c in ep.claims}


def test_snapshot_of_the_hub_cache_is_read(tmp_path: Path) -> None:
    """``snapshots/<commit>/…`` are links to ``../../blobs``."""
    root = Small("v2.1", [3]).write(tmp_path / "hub/snapshots/abc")
    blobs = tmp_path / "hub/blobs"
    blobs.mkdir()
    for i, path in enumerate(p for p in sorted(root.rglob("*")) if p.is_file()):
        path.rename(blobs / str(i))
        path.symlink_to(blobs / str(i))
    listing, (ep,) = opened(root)
    assert complaints(listing, [ep]) == []


# ---------------------------------------------------------------------------------------- hostile metadata

DEEP = b"[" * 100_000 + b"]" * 100_000
INFO: list[tuple[str, dict[str, Any]]] = [
    ("features are a list", {"features": []}),
    ("a feature is a number", {"features": {"observation.state": 7}}),
    ("a shape is text", {"features": {"observation.state": {"dtype": "float32", "shape": "26"}}}),
    ("a shape is huge", {"features": {"observation.state": {"dtype": "float32", "shape": [2**40, 2**40]}}}),
    ("a shape is negative", {"features": {"observation.state": {"dtype": "float32", "shape": [-3]}}}),
    ("names are mixed", {"features": {"observation.state": {"shape": [2], "names": [["a"], 5, None]}}}),
    ("a billion episodes", {"total_episodes": 10**9}),
    ("minus one episode", {"total_episodes": -1}),
    ("total in words", {"total_episodes": "many", "total_frames": None, "splits": ["train"]}),
    ("splits of nonsense", {"splits": {"train": "all", "val": None, "x": "9999999999999999:1"}}),
    ("no chunks", {"chunks_size": 0}),
    ("endless rate", {"fps": 1e999}),
    ("no rate", {"fps": 0}),
    ("wide padding", {"data_path": "data/{episode_index:0999999999d}"}),
    ("attribute access", {"data_path": "data/{episode_index.__class__}"}),
    ("paths are numbers", {"data_path": 5, "video_path": {"a": 1}}),
    ("version of the future", {"codebase_version": "v9.9"}),
    ("version is a list", {"codebase_version": ["v2.1"]}),
    ("a NUL in the path", {"data_path": "data/\x00"}),
    ("a robot in a table", {"robot_type": {"a": 1}}),
]


@pytest.mark.parametrize("change", [i[1] for i in INFO], ids=[i[0] for i in INFO])
@pytest.mark.parametrize("version", ["v2.1", "v3.0"])
def test_hostile_info_is_no_crash(version: str, change: dict[str, Any], tmp_path: Path) -> None:
    small = Small(version, [3, 2])
    small.info |= change
    root = small.write(tmp_path / "set")
    assert 0.0 <= probe(root).score <= 1.0
    with suppress(UnreadableError):
        opened(root)


HOSTILE_LINES = [
    b'{"episode_index": 0, "length": 1e400}', b'{"episode_index": -1}', b'{"episode_index": "0"}', b"[]",
    b'{"episode_index": 0, "tasks": {"a": 1}, "length": -5}', b"\xff\xfe\x00", b"", b"7",
    b'{"episode_index": 1e18}', b'{"episode_index": 0, "length": 3}\n{"episode_index": 0, "length": 4}', DEEP,
]  # fmt: skip


@pytest.mark.parametrize("line", HOSTILE_LINES, ids=range(len(HOSTILE_LINES)))
def test_hostile_lines_are_no_crash(line: bytes, tmp_path: Path) -> None:
    root = Small("v2.1", [3, 2]).write(tmp_path / "set")
    for name in ("episodes", "tasks", "episodes_stats"):
        file = root / f"meta/{name}.jsonl"
        whole = file.read_bytes()
        file.write_bytes(whole + line + b"\n")
        opened(root)
        file.write_bytes(line)
        opened(root)
        file.write_bytes(whole)


@pytest.mark.parametrize("name", ["info", "modality", "stats"])
@pytest.mark.parametrize("data", [DEEP, b"", b"null", b"{}", b"[1]", b'{"state": {"a": 5}}', b"\x00" * 64])
def test_hostile_json_is_no_crash(name: str, data: bytes, tmp_path: Path) -> None:
    root = Small("v2.0", [3]).write(tmp_path / "set")
    (root / f"meta/{name}.json").write_bytes(data)
    assert 0.0 <= probe(root).score <= 1.0
    try:
        opened(root)
    except UnreadableError:
        assert name == "info"


def test_huge_metadata_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "MOST_BYTES", 1000)
    with pytest.raises(UnreadableError, match="too large"):
        READER.discover(Small("v2.1", [3]).write(tmp_path / "set"))


def test_ten_thousand_episodes_are_listed_quickly(tmp_path: Path) -> None:
    n, cameras = 10_000, ("cam_a", "cam_b")
    small = Small("v2.1", [1], cameras=cameras)
    small.info |= {
        "total_episodes": n,
        "total_frames": 300 * n,
        "total_videos": 2 * n,
        "splits": {"t": f"0:{n}"},
    }
    root = small.write(tmp_path / "set")
    stats = small.stats[0] | {f"filler_{i}": small.stats[0]["action"] for i in range(4)}
    head = json.dumps({"stats": stats})[1:]
    row = json.dumps({"tasks": ["put the can on the plate"], "length": 300})[1:]
    for name, rest in (("episodes", row), ("episodes_stats", head)):
        lines = [f'{{"episode_index": {e}, {rest}\n' for e in range(n)]
        (root / f"meta/{name}.jsonl").write_text("".join(lines))
    for e in range(n):
        (root / "data/chunk-000" / f"episode_{e:06d}.parquet").touch()
    quickest = min(timed(root) for _ in range(3))
    assert quickest < 1.0
    listing = READER.discover(root)
    assert len(listing.refs) == n
    assert len(pickle.dumps(listing)) < 20 << 20


def timed(root: Path) -> float:
    """Seconds of this process: others share the machine."""
    start = time.process_time()
    READER.discover(root)
    return time.process_time() - start
