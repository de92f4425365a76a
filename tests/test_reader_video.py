"""Video files alone: presentation times without decoding, and which of them are stamps."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from assay import plugs
from assay.corpus import discover
from assay.engine import run
from assay.errors import NoReaderError, UnreadableError
from assay.model import Clock, Episode
from assay.parts import open_episode
from assay.readers.video import READER
from assay.sheet import Sheet
from assay.synth.droid import write_droid

REGULAR = np.arange(30) * 3000
PHONE = np.cumsum(np.r_[0, np.tile([3000, 3040, 2950, 3300], 8)[:29]])
"""A phone's stamps in 1/90000 s."""


def film(file: Path, pts: Any, base: Fraction = Fraction(1, 90_000)) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(file), "w") as out:
        track: Any = out.add_stream("h264", rate=30)
        track.width, track.height, track.pix_fmt = 32, 24, "yuv420p"
        track.time_base = track.codec_context.time_base = base
        track.options = {"tune": "zerolatency"}
        for i, t in enumerate(np.asarray(pts).tolist()):
            picture = av.VideoFrame.from_ndarray(np.full((36, 32), 5 * i, np.uint8), "yuv420p")
            picture.pts, picture.time_base = t, base
            out.mux(track.encode(picture))
        out.mux(track.encode(None))
    return file


def opened(path: Path) -> Episode:
    listing = READER.discover(path)
    return READER.open(listing, listing.refs[0], None, Sheet())


@pytest.mark.parametrize("kind", [".mp4", ".mkv"])
@pytest.mark.parametrize(
    ("pts", "clock"),
    [
        (REGULAR, Clock.NOMINAL),
        (np.delete(REGULAR, [7, 8, 20]), Clock.NOMINAL),  # dropped by the encoder: still counted
        (PHONE, Clock.RECEIVE),
    ],
)
def test_only_times_that_were_not_counted_are_stamps(
    kind: str, pts: Any, clock: Clock, tmp_path: Path
) -> None:
    (camera,) = opened(film(tmp_path / f"a{kind}", pts)).streams
    assert camera.clock is clock
    assert np.abs(camera.t - np.asarray(pts) * 1e9 / 90_000).max() <= 1e6  # MKV keeps milliseconds
    assert camera.t[0] == 0


def test_a_video_is_a_corpus_only_where_nothing_else_is(tmp_path: Path) -> None:
    write_droid(tmp_path / "success/a", 6)
    assert discover(tmp_path).listing.reader == "droid"
    film(tmp_path / "alone/a.mp4", REGULAR)
    assert discover(tmp_path / "alone").listing.reader == "video"


def test_a_video_beside_another_corpus_is_a_part(tmp_path: Path) -> None:
    write_droid(tmp_path / "a", 6)
    film(tmp_path / "phone/trajectory.mp4", PHONE)
    (tmp_path / "assay.toml").write_text('[parts.phone]\npath = "phone/{stem}.mp4"\n')
    corpus = discover(tmp_path)
    ep = open_episode(corpus.listing, corpus.listing.refs[0], None, corpus.sheet)
    phone = ep.stream("phone/camera")
    assert phone is not None
    assert phone.clock is Clock.RECEIVE


def test_a_cut_is_one_sentence(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", REGULAR)
    whole, listing = path.read_bytes(), READER.discover(tmp_path)
    for cut in range(0, len(whole), 7):
        path.write_bytes(whole[:cut])
        with pytest.raises(UnreadableError) as error:
            READER.open(listing, listing.refs[0], None, Sheet())
        assert str(error.value).count("\n") == 0
    assert plugs.readers()["video"].probe(tmp_path / "none").score == 0


@pytest.mark.real
def test_a_real_video(real_data: Path) -> None:
    ep = opened(real_data / "hand/hand_video_dexretargeting/human_hand_video.mp4")
    assert len(ep.streams[0]) == 621
    assert round(float(ep.streams[0].rate or 0)) == 30


def test_videos_that_were_read_count_as_read(tmp_path: Path) -> None:
    film(tmp_path / "c/a.mp4", REGULAR)
    done = run(tmp_path / "c", out=tmp_path / "r", jobs=1, gates="SYN006")
    assert (done.summary["present"], done.summary["frames"] > 0, done.summary["hours"] > 0) == (1, True, True)


def test_a_folder_of_lerobot_sets_is_no_folder_of_videos(tmp_path: Path) -> None:
    root = tmp_path / "c"
    film(root / "a/videos/a.mp4", REGULAR)
    for name in ("a", "b/c"):
        (root / name / "meta").mkdir(parents=True)
        (root / name / "meta/info.json").write_text("{}")
    with pytest.raises(NoReaderError, match=r"LeRobot sets lie below.*found a, b/c.*; name .*/a\."):
        discover(root)
