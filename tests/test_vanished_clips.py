"""Files that lie among clips, end as these do, and are none: a spoilt clip counts, another table is named."""

import random
import shutil
from pathlib import Path

import pytest

from assay import plugs
from assay.corpus import discover
from assay.engine import run
from assay.errors import UnreadableError
from assay.model import Listing
from assay.sheet import Sheet
from assay.terminal import closing

CLIP = Path(__file__).parent / "golden/motion/csv_xyzw/input/walk_120fps.csv"
LINES = CLIP.read_bytes().splitlines(keepends=True)
FIRST, REST = LINES[0], b"".join(LINES[1:])

SPOILT = {
    "empty": b"",
    "blank": b"\n \n",
    "NUL bytes": bytes(1000),
    "NUL bytes in front": bytes(4096) + REST,
    "random bytes": random.Random(0).randbytes(5000),
    "a git-lfs pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    "a first line that was cut": b",".join(FIRST.split(b",")[10:]) + REST,
    "a comment on top": b"# clip\n" + FIRST + REST,
    "a blank line on top": b"\n" + FIRST + REST,
    "semicolons": (FIRST + REST).replace(b",", b";"),
}
OTHER = {
    "labels": b"clip,label\nwalk,good\n",
    "labels by Excel": "clip,label\nwalk,good\n".encode("utf-16"),
    "labels in an old encoding": "clip,label\n歩く,良い\n".encode("shift-jis"),
    "a list": b"walk_1\nwalk_2\n",
    "a message": b"error: disk full\n",
    "one long line": b"1," * 200_000,
    "poses of an object": b"0.1,0.2,0.3,1,0,0,0\n" * 5,
    "a table with a header": b",".join(b"c%d" % i for i in range(25))
    + b"\n"
    + b",".join([b"1"] * 25)
    + b"\n",
}


def listed(folder: Path, data: bytes) -> Listing:
    shutil.copy(CLIP, folder / "good.csv")
    (folder / "x.csv").write_bytes(data)
    return plugs.readers()["csv36"].discover(folder)


@pytest.mark.parametrize("what", SPOILT)
def test_a_spoilt_clip_stays_in_the_count(what: str, tmp_path: Path) -> None:
    listing = listed(tmp_path, SPOILT[what])
    assert [ref.id for ref in listing.refs] == ["good", "x"]
    assert "other_files" not in listing.facts
    with pytest.raises(UnreadableError) as error:
        plugs.readers()["csv36"].open(listing, listing.refs[1], None, Sheet())
    blank = what == "a blank line on top"
    assert ("a blank line" in str(error.value)) == blank
    assert ("empty" in str(error.value)) == (what in ("empty", "blank"))


@pytest.mark.parametrize("what", OTHER)
def test_another_table_is_no_clip_and_is_named(what: str, tmp_path: Path) -> None:
    listing = listed(tmp_path, OTHER[what])
    assert [ref.id for ref in listing.refs] == ["good"]
    assert not listing.claims
    assert discover(tmp_path).others == "1 file ends as the clips do and holds something else: x.csv"


def test_a_run_says_what_it_left_out(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    shutil.copy(CLIP, tmp_path / "in/good.csv")
    for name in "abcdefg":
        (tmp_path / f"in/{name}.csv").write_bytes(OTHER["labels"])
    (tmp_path / "in/nul.csv").write_bytes(bytes(1000))
    done = run(tmp_path / "in", out=tmp_path / "out", gates="INT*", jobs=1)
    assert (done.summary["episodes"], done.summary["present"], done.summary["rejected"]) == (2, 1, 1)
    said = "7 files end as the clips do and hold something else: a.csv, b.csv, c.csv, d.csv, e.csv and 2 more"
    assert done.summary["corpora"][0]["others"] == said
    assert said in " ".join(" ".join(closing(done, "report.html")).split())


def test_a_bag_with_empty_metadata_stays_in_the_count(tmp_path: Path) -> None:
    golden = Path(__file__).parent / "golden/recording/rosbag2_sqlite/input"
    shutil.copytree(golden, tmp_path / "in")
    before = plugs.readers()["rosbag2"].discover(tmp_path / "in")
    bag = next((tmp_path / "in").rglob("metadata.yaml")).parent
    shutil.copytree(bag, tmp_path / "in/second")
    (tmp_path / "in/second/metadata.yaml").write_bytes(b"")
    (tmp_path / "in/notes").mkdir()
    (tmp_path / "in/notes/metadata.yaml").write_text("by: nobody\n")
    after = plugs.readers()["rosbag2"].discover(tmp_path / "in")
    assert {r.id for r in after.refs} - {r.id for r in before.refs} == {"second"}
