"""The LeRobot reader on sets that other people recorded: what is known to be wrong in them is reported."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from assay.model import Episode, Listing, Role
from assay.readers.lerobot import READER
from assay.sheet import Sheet

pytestmark = pytest.mark.real


@pytest.fixture
def sets(real_data: Path) -> Path:
    return real_data / "lerobot"


def opened(root: Path) -> tuple[Listing, list[Episode]]:
    listing = READER.discover(root)
    return listing, [READER.open(listing, ref, None, Sheet()) for ref in listing.refs]


def wrong(source: Listing | Episode) -> dict[tuple[str, str, str], float]:
    return {(c.topic, c.about, c.stream or c.where): c.size for c in source.claims if c.size != 0}


def test_robocoin_has_30_columns_and_28_names(sets: Path) -> None:
    listing, episodes = opened(sets / "robocoin_newtest_meta_only")
    found = wrong(listing)
    assert found["declared", "names", "observation.state"] == 2
    assert found["declared", "names", "action"] == 2
    assert found["declared", "splits", "meta/info.json"] == 1  # 0:37 for 38 episodes
    assert "robot_type" not in listing.facts
    assert len(listing.refs) == listing.declared == 38
    assert all(("file", "data", f"data/chunk-000/{ep.id}.parquet") in wrong(ep) for ep in episodes)
    # Names that do not fit are not dealt out, so no column passes for a joint.
    (state,) = (d for d in listing.streams if d.name == "observation.state")
    assert len(state.channels) == 30
    assert {c.unit for c in state.channels} == {"unknown"}


def test_robot_sim_lacks_a_camera_and_splits_do_not_fit(sets: Path) -> None:
    listing, episodes = opened(sets / "robot_sim.PickNPlace")
    assert wrong(listing) == {
        ("declared", "splits", "meta/info.json"): 95, ("declared", "total_videos", "meta/info.json"): 8,
        ("file", "video files", "observation.images.egoview"): 5,
    }  # fmt: skip
    for ep in episodes:
        assert wrong(ep) == {("file", "video", "observation.images.egoview"): 1}
        assert ep.stream("observation.images.egoview") is None
        assert {d.name for d in ep.declares(Role.CAMERA)} == {
            "observation.images.egoview", "observation.images.ego_view"}  # fmt: skip
        assert ep.meta["modality"]["observation.state"][7] == "left_hand"
    assert sum(len(ep.streams[0]) for ep in episodes) == 2096
    assert episodes[0].task == "pick the squash from the counter and place it in the plate"
    assert episodes[0].meta["annotation.human.validity"] == ("valid",)
    roles = {c.role for c in listing.streams[2].channels}
    assert roles == {Role.JOINT_POSITION, Role.HAND_JOINTS}


def test_subset_names_86_missing_and_opens_14(sets: Path) -> None:
    listing, episodes = opened(sets / "g1_inspire_teleop_v21_subset")
    (claim,) = (c for c in listing.claims if c.about == "data files")
    assert (claim.size, claim.found) == (86, "14; absent for episodes 14-99")
    assert len(listing.refs) == listing.declared == 100
    there = [ep for ep in episodes if ep.stream("observation.state") is not None]
    assert [ep.id for ep in there] == [f"episode_{e:06d}" for e in range(14)]
    assert sum(ep.stream("observation.images.cam_high") is not None for ep in episodes) == 3
    for ep in episodes[14:]:
        assert {c.topic for c in ep.claims if c.size == 1} == {"file"}
        assert {d.role for d in ep.declared} == {Role.JOINT_POSITION, Role.REQUEST, Role.CAMERA}


def test_franka_reads_beside_duplicate_column_names(sets: Path) -> None:
    listing, episodes = opened(sets / "franka_pickplace_sim_v30")
    (double,) = (c for c in listing.claims if c.topic == "duplicate-column" and c.size)
    assert (double.where, double.size) == ("meta/episodes/episodes.parquet", 4)
    found = wrong(listing)
    assert found["pointer", "videos/observation.images.top/file_index", double.where] == 9
    assert ("pointer", "unclaimed files", "") in found
    for ep in episodes:
        assert [s.name for s in ep.streams] == ["observation.images.top", "observation.images.wrist"]
        assert [len(s) for s in ep.streams] == [68, 68]  # the rows are absent, the pictures are not
        assert all(s.clip is not None and s.clip.path.endswith("file-000.mp4") for s in ep.streams)
        assert wrong(ep)["boundary", "pictures", "observation.images.top"] == 68  # all claim one place


def test_video_set_reads_whole_and_agrees_about_everything(sets: Path) -> None:
    root = sets / "g1_inspire_teleop_v21_video"
    listing, episodes = opened(root)
    assert wrong(listing) == {}
    assert {k: v for ep in episodes for k, v in wrong(ep).items()} == {}
    assert sum(len(ep.streams[0]) for ep in episodes) == 7888
    for ep in episodes:
        state, action, camera = ep.streams
        table = pq.read_table(root / f"data/chunk-000/{ep.id}.parquet")
        for stream in (state, action):
            np.testing.assert_array_equal(stream.x, np.stack(table.column(stream.name).to_numpy()))
        seconds = table.column("timestamp").to_numpy().astype(np.float64)
        np.testing.assert_array_equal(state.t, np.rint(seconds * 1e9))
        assert (state.role, action.role, camera.role) == (Role.JOINT_POSITION, Role.REQUEST, Role.CAMERA)
        assert (state.rate, camera.clip is not None) == (Fraction(30), True)
        assert ep.statistics["action"]["count"] == len(action)
    units = [c.unit for c in episodes[0].streams[0].channels]
    assert units == ["rad"] * 14 + ["1"] * 12


def test_nothing_is_written(sets: Path) -> None:
    def listed() -> list[tuple[str, int, int]]:
        return [(str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in sorted(sets.rglob("*"))]

    before = listed()
    for root in sorted(p for p in sets.iterdir() if p.is_dir()):
        opened(root)
    assert listed() == before
