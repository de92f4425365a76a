"""`assay inject`: the copy holds the defect and nothing else that is new; the corpus is only read."""

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from assay.corpus import discover
from assay.errors import UsageError
from assay.inject import TRUTH, inject, load, parse_defect
from assay.readers.lerobot import READER
from assay.synth import teleop
from assay.synth.faults import FAULTS
from assay.synth.lerobot import Dataset, write
from assay.synth.movies import encode, look
from assay.synth.takes import Movie, Take, column

CAMERA = "observation.images.cam"
BASICS = ("frame_index", "episode_index", "index", "task_index")
ONE = {"shape": [1], "names": None}


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same four short episodes in both layouts."""
    import pyarrow as pa

    folder, takes = tmp_path_factory.mktemp("corpus"), []
    for i in range(4):
        ep = teleop(3.0 + i / 10, seed=i)
        n = len(ep.streams[0])
        levels = np.random.default_rng(i).integers(20, 230, (n, 8, 8, 3), np.uint8)
        encode(folder / f"{i}.mp4", levels.repeat(4, axis=1).repeat(4, axis=2), Fraction(30))
        rows = pa.table({s.name: list(np.asarray(s.x, np.float32)) for s in ep.streams[:2]})
        takes.append(Take(rows, {CAMERA: Movie(folder / f"{i}.mp4")}, ("lift the can",)))
    vector = {"dtype": "float32", "shape": [26], "names": list(ep.streams[0].names)}
    features = {
        "observation.state": vector,
        "action": vector,
        CAMERA: {"dtype": "video", "shape": [32, 32, 3], "names": ["height", "width", "channel"]},
        "timestamp": {"dtype": "float32", **ONE},
        **{k: {"dtype": "int64", **ONE} for k in BASICS},
    }
    (folder / "assay.toml").write_text('kind = "simulation"\n')
    data = Dataset({"fps": 30, "robot_type": "Unitree_G1_Inspire", "features": features}, ("lift the can",),
                   tuple(takes), {"assay.toml": folder / "assay.toml"})  # fmt: skip
    write(folder / "v21", data, "v2.1")
    write(folder / "v30", data, "v3.0")
    return {"v2.1": folder / "v21", "v3.0": folder / "v30"}


def digest(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def states(folder: Path) -> list[np.ndarray]:
    data, _ = load(discover(folder))
    return [column(t.rows, "observation.state") for t in data.takes]


@pytest.mark.parametrize("layout", ["v2.1", "v3.0"])
def test_one_episode_changes_and_the_corpus_does_not(
    corpora: dict[str, Path], layout: str, tmp_path: Path
) -> None:
    before = digest(corpora[layout])
    truths = inject(corpora[layout], tmp_path / "c", [("nan", 30), ("frozen-state", 0.5)], "episode_000002")
    assert digest(corpora[layout]) == before
    assert [(t.fault, t.gate, t.episode) for t in truths] == [
        ("nan", "INT003", "episode_000002"),
        ("frozen-state", "SYN008", "episode_000002"),
    ]
    stored = json.loads((tmp_path / "c" / TRUTH).read_text())
    assert [s["t0"] for s in stored] == [t.t0 for t in truths]
    for i, (old, new) in enumerate(zip(states(corpora[layout]), states(tmp_path / "c"), strict=True)):
        assert np.array_equal(old, new) == (i != 2)
    assert (tmp_path / "c/assay.toml").read_text() == 'kind = "simulation"\n'
    corpus = discover(tmp_path / "c")
    assert [c for c in corpus.listing.claims if c.size != 0] == []


def test_unchanged_files_of_v21_keep_their_bytes(corpora: dict[str, Path], tmp_path: Path) -> None:
    inject(corpora["v2.1"], tmp_path / "c", [("video-cut", 0.6)], "episode_000001")
    old, new = digest(corpora["v2.1"]), digest(tmp_path / "c")
    changed = {name for name in new if old.get(name) != new[name]}
    assert changed == {TRUTH, f"videos/chunk-000/{CAMERA}/episode_000001.mp4"}


def test_statistics_of_the_episode_are_made_again(corpora: dict[str, Path], tmp_path: Path) -> None:
    inject(corpora["v2.1"], tmp_path / "c", [("over-limit", 0.3)], "episode_000003")
    lines = [json.loads(s) for s in (tmp_path / "c/meta/episodes_stats.jsonl").read_text().splitlines()]
    x = states(tmp_path / "c")[3].astype(np.float64)
    np.testing.assert_allclose(lines[3]["stats"]["observation.state"]["max"], x.max(axis=0))
    np.testing.assert_allclose(lines[3]["stats"]["observation.state"]["mean"], x.mean(axis=0))


@pytest.mark.parametrize("layout", ["v2.1", "v3.0"])
@pytest.mark.parametrize("target", ["v2.1", "v3.0"])
def test_layouts_hold_the_same(corpora: dict[str, Path], layout: str, target: str, tmp_path: Path) -> None:
    inject(corpora[layout], tmp_path / "c", [("video-shift", 3)], "episode_000001", layout=target)  # type: ignore[arg-type]
    corpus = discover(tmp_path / "c")
    assert json.loads((tmp_path / "c/meta/info.json").read_text())["codebase_version"] == target
    assert [c for c in corpus.listing.claims if c.size != 0] == []
    old = states(corpora["v2.1"])
    new = states(tmp_path / "c")
    assert np.array_equal(new[1], old[1][3:])
    index = np.concatenate([column(t.rows, "index") for t in load(corpus)[0].takes])
    assert np.array_equal(index, np.arange(sum(map(len, old)) - 3))
    for number, ref in enumerate(corpus.listing.refs):
        ep = READER.open(corpus.listing, ref, None, corpus.sheet)
        assert [c for c in ep.claims if c.size != 0] == []
        camera = ep.stream(CAMERA)
        assert camera is not None
        assert camera.clip is not None
        assert len(camera) == len(new[number])
        track = look(camera.clip.root / camera.clip.path)
        assert track is not None
        assert track.count >= camera.clip.first + len(camera)


@pytest.mark.parametrize(
    ("layout", "name"),
    [("v2.1", n) for n in FAULTS]
    + [
        ("v3.0", n)
        for n in ("missing-file", "leaked-take", "timestamp-gap", "wrong-pointer", "duplicate-column")
    ],
)
def test_every_defect_can_be_planted(
    corpora: dict[str, Path], name: str, layout: str, tmp_path: Path
) -> None:
    truths = inject(corpora[layout], tmp_path / "c", [(name, FAULTS[name].doses[-1])], seed=1)
    assert truths[0].fault == name
    assert pq.read_metadata(next((tmp_path / "c/data").rglob("*.parquet"))).num_rows > 0
    discover(tmp_path / "c")


def test_seed_chooses_the_episode(corpora: dict[str, Path], tmp_path: Path) -> None:
    chosen = [inject(corpora["v2.1"], tmp_path / str(i), [("nan", 3)], seed=i)[0].episode for i in range(6)]
    assert len(set(chosen)) > 1
    assert chosen[0] == inject(corpora["v2.1"], tmp_path / "again", [("nan", 3)], seed=0)[0].episode


def test_defects_as_words() -> None:
    assert parse_defect("nan=30") == ("nan", 30.0)
    assert parse_defect("missing-file") == ("missing-file", 1.0)
    with pytest.raises(UsageError, match="unknown defect"):
        parse_defect("fog=1")
    with pytest.raises(UsageError, match=r"size of video-short is not a number.*video-short=SIZE in share"):
        parse_defect("video-short=most")


def test_wrong_use_writes_nothing(corpora: dict[str, Path], tmp_path: Path) -> None:
    corpus = corpora["v2.1"]
    for defect, episode, says in (
        (("fog", 1), None, "unknown defect"),
        (("nan", 0), None, "out of range"),
        (("nan", 3), "episode_000009", "no such episode"),
        (("frozen-state", 60.0), None, "too short"),
    ):
        with pytest.raises(UsageError, match=says):
            inject(corpus, tmp_path / "c", [defect], episode)
        assert not (tmp_path / "c").exists()
    with pytest.raises(UsageError, match="would lie in the corpus"):
        inject(corpus, corpus / "copy", [("nan", 3)])
    (tmp_path / "there").mkdir()
    with pytest.raises(UsageError, match="exists"):
        inject(corpus, tmp_path / "there", [("nan", 3)])


def test_the_help_names_every_defect() -> None:
    from assay.cli.looking import inject as command

    said = (command.__doc__ or "").partition("NAME is one of")[2].strip().rstrip(".").split(",")
    assert [name.strip() for name in said] == list(FAULTS)
