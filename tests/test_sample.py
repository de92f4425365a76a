"""The sample corpus: what it says is planted is there, and the rest is clean."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from assay.corpus import discover
from assay.model import Episode, Kind
from assay.readers.lerobot import READER
from assay.sheet import apply
from assay.synth import write_sample
from assay.synth.movies import look
from assay.synth.sample import DEFECTS, TRUTH, Planted
from assay.synth.sample import write_sample as write_with_truth

STATE, CAMERA = "observation.state", "observation.images.cam_head"
VIDEO = f"videos/chunk-000/{CAMERA}/episode_{{:06d}}.mp4"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "sample"
    found = {t.episode: Planted(t.gate, t.t0, t.t1, t.channel) for t in write_with_truth(folder)}
    assert found == TRUTH
    return folder


@pytest.fixture(scope="module")
def episodes(sample: Path) -> list[Episode]:
    corpus = discover(sample)
    assert len(corpus.listing.refs) == corpus.listing.declared == 12
    opened = [READER.open(corpus.listing, ref, None, corpus.sheet) for ref in corpus.listing.refs]
    return [apply(corpus.sheet, ep) for ep in opened]


def test_sheet_says_what_every_number_means(episodes: list[Episode]) -> None:
    for ep in episodes:
        assert (ep.kind, ep.sync) == (Kind.SIMULATION, "one-clock")
        assert ep.embodiment is not None
        assert ep.embodiment.name == "unitree_g1_29+inspire"
        state = ep.stream(STATE)
        assert state is not None
        assert (ep.embodiment.resolve(state.names) >= 0).all()


def test_truth_names_eight_of_twelve() -> None:
    assert [f"episode_{n:06d}" for n in DEFECTS] == list(TRUTH)
    assert len(TRUTH) == 8


def test_rows_hold_what_the_truth_says(episodes: list[Episode]) -> None:
    nan, beyond, frozen, fast = [], [], [], []
    for ep in episodes:
        state = ep.stream(STATE)
        assert state is not None
        assert ep.embodiment is not None
        x, limits = np.asarray(state.x, np.float64), ep.embodiment.limit_set()
        joint = ep.embodiment.resolve(state.names)
        over = np.maximum(x - limits.upper[joint], limits.lower[joint] - x)
        nan.append(int(np.isnan(x).sum()))
        beyond.append(int((over[:, :14] > 1e-4).sum()))
        frozen.append(int(np.all(np.diff(x, axis=0) == 0, axis=1).sum()))
        fast.append(round(float(state.t[-1]) / ((len(state) - 1) / 30 * 1e9) - 1, 5))
        if ep.id == "episode_000002":
            held = np.abs(over[:, state.names.index("left_wrist_pitch")]) < 1e-6
            assert held.sum() == round(0.05 * len(x))
    assert nan == [0] * 4 + [30] + [0] * 7
    assert beyond == [0, 8] + [0] * 10
    assert frozen == [0] * 5 + [29] + [0] * 6
    assert fast == [0] * 9 + [0.002] + [0] * 2


def test_videos_hold_what_the_truth_says(sample: Path) -> None:
    for number in range(12):
        rows = pq.read_metadata(sample / f"data/chunk-000/episode_{number:06d}.parquet").num_rows
        track = look(sample / VIDEO.format(number)) if number != 11 else None
        assert (track is None) == (number in (8, 11))
        if track is not None:
            assert track.count == (round(0.8 * rows) if number == 7 else rows)
            assert (track.codec, track.size) == ("h264", (96, 72))
    assert not (sample / VIDEO.format(11)).exists()


def test_only_the_missing_file_contradicts_the_metadata(episodes: list[Episode]) -> None:
    claimed = {ep.id for ep in episodes for claim in ep.claims if claim.size != 0}
    assert claimed == {"episode_000011"}


def test_existing_folder_is_refused_at_once(sample: Path) -> None:
    with pytest.raises(FileExistsError):
        write_sample(sample)
