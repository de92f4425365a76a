"""The gates that look at video, on files: real ones untouched, and with one planted fault each."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from assay import plugs
from assay.errors import UnreadableError
from assay.examine import conclude, examine
from assay.feature import Features
from assay.judge import Judgement
from assay.media import luma
from assay.model import Clip, Episode, Listing, Role, Stream, StreamDecl
from assay.sheet import Sheet
from assay.signals.travel import arm_travel
from assay.synth import teleop
from films import encode, numbered

CODES = ("SYN001", "SYN006", "SYN007", "SYN008", "INT001", "INT008", "INT010")
HEAD = "observation.images.cam_high"
LEROBOT = {
    "g1": "lerobot/g1_inspire_teleop_v21_video",
    "gr1": "lerobot/robot_sim.PickNPlace",
    "franka": "lerobot/franka_pickplace_sim_v30",
}
Judged = dict[str, Judgement]


def judged(ep: Episode, codes: tuple[str, ...] = CODES) -> Judged:
    features = Features(ep, plugs.features())
    found = {c: examine(g, features, g.params(), ep.id) for c, g in plugs.gates().items() if c in codes}
    for code, one in found.items():
        assert one.verdict.status != "error", (code, one.verdict.detail)
    return found


def failing(found: Judged) -> set[tuple[str, str, str]]:
    return {(f.gate, f.stream, f.channel) for j in found.values() for f in j.findings}


# --------------------------------------------------------------------------------------------- small files


def with_video(folder: Path, pictures: NDArray[np.uint8], rows: int | None = None) -> Episode:
    """A synthetic episode whose camera is a file."""
    encode(folder / "a.mp4", pictures, options={"g": "10"})
    ep = teleop((rows or len(pictures)) / 30)
    camera = ep.by_role(Role.CAMERA)[0]
    return ep.with_stream(replace(camera, clip=Clip(folder, "a.mp4")))


def test_shared_files_pass_for_both_episodes(tmp_path: Path) -> None:
    # D61: 378 pictures in one file for rows of 117 and 261 is no mismatch.
    encode(tmp_path / "a.mp4", numbered(378, 48, 64), options={"g": "10"})
    for first, rows in ((0, 117), (117, 261)):
        ep = teleop(rows / 30)
        clip = Clip(tmp_path, "a.mp4", first, rows, last=first > 0)
        ep = ep.with_stream(replace(ep.by_role(Role.CAMERA)[0], clip=clip))
        found = judged(ep, ("SYN007", "INT001"))
        assert {j.verdict.status for j in found.values()} == {"pass"}


def test_a_short_shared_file_is_the_last_episodes(tmp_path: Path) -> None:
    encode(tmp_path / "a.mp4", numbered(370, 48, 64), options={"g": "10"})
    status = []
    for first, rows in ((0, 117), (117, 261)):
        ep = teleop(rows / 30)
        clip = Clip(tmp_path, "a.mp4", first, rows, last=first > 0)
        ep = ep.with_stream(replace(ep.by_role(Role.CAMERA)[0], clip=clip))
        status.append(judged(ep, ("SYN007",))["SYN007"])
    assert [s.verdict.status for s in status] == ["pass", "fail"]
    assert status[1].findings[0].worst == 8.0


def test_a_cut_file_fails_and_stays_counted(tmp_path: Path) -> None:
    ep = with_video(tmp_path, numbered(90))
    path = tmp_path / "a.mp4"
    data = path.read_bytes()
    path.write_bytes(data[: int(0.6 * len(data))])
    found = judged(ep)
    assert found["INT001"].verdict.status == "fail"
    assert "moov" in found["INT001"].findings[0].note
    for code in ("SYN006", "SYN007", "SYN008", "INT008", "INT010"):
        assert (found[code].verdict.status, found[code].verdict.reason) in (
            ("abstain", "unreadable"), ("abstain", "nominal-clock"),
        )  # fmt: skip


def test_damage_is_found_at_its_place(tmp_path: Path) -> None:
    ep = with_video(tmp_path, numbered(90))
    path = tmp_path / "a.mp4"
    data = bytearray(path.read_bytes())
    at = data.index(b"mdat") + int(0.55 * len(data))
    data[at : at + 64] = b"\xff" * 64
    path.write_bytes(data)
    finding = judged(ep, ("INT001",))["INT001"].findings[0]
    assert finding.stream == "observation.images.cam_0"
    assert finding.channel == "pictures"
    assert 0.0 < finding.t0 * 1e-9 < 3.0
    assert finding.note


def test_a_file_that_vanishes_after_indexing_is_unreadable(tmp_path: Path) -> None:
    ep = with_video(tmp_path, numbered(90))
    features = Features(ep, plugs.features())
    features.get("containers")
    (tmp_path / "a.mp4").unlink()
    gate = plugs.gates()["INT001"]
    assert examine(gate, features, gate.params(), ep.id).verdict.status == "fail"


def test_a_file_that_is_absent_is_left_to_int002(tmp_path: Path) -> None:
    ep = with_video(tmp_path, numbered(90))
    (tmp_path / "a.mp4").unlink()
    verdict = judged(ep, ("INT001",))["INT001"].verdict
    assert (verdict.status, verdict.reason) == ("abstain", "absent-stream")


def test_pictures_that_are_not_in_a_video_are_not_accused() -> None:
    ep = teleop()
    ep = ep.with_stream(replace(ep.by_role(Role.CAMERA)[0], clip=None))
    for code, one in judged(ep).items():
        assert one.verdict.status == "abstain", code


def test_copies_in_a_corpus_are_named_and_shared_places_are_not() -> None:
    gate = plugs.gates()["INT010"]
    listing = Listing("x", Path("x"), (), streams=(StreamDecl("top", Role.CAMERA),))

    def fact(digest: str, place: str, distinct: int = 60) -> dict[str, object]:
        return {"top": {"digest": digest, "distinct": distinct, "pictures": 60, "place": place}}

    def of(**facts: dict[str, object]) -> set[str]:
        found = conclude(gate, listing, facts, gate.params())
        assert found.verdict.status in ("pass", "fail", "abstain"), found.verdict
        return {f.channel for f in found.findings}

    assert of(a=fact("1", "a:0"), b=fact("2", "b:0")) == set()
    assert of(a=fact("1", "a:0"), b=fact("1", "b:0")) == {"copies"}
    assert of(a=fact("1", "a:0"), b=fact("1", "a:0")) == set()
    assert of(a=fact("1", "a:0", 1), b=fact("2", "b:0", 1)) == {"unchanging"}
    assert of(a=fact("1", "a:0", 1), b=fact("2", "b:0")) == set()
    nothing = conclude(gate, listing, {}, gate.params()).verdict
    assert (nothing.status, nothing.reason) == ("abstain", "absent-stream")


# ------------------------------------------------------------------------------------------- real files


def real(data: Path, name: str, number: int) -> Episode:
    reader = plugs.readers()["lerobot"]
    listing = reader.discover(data / LEROBOT[name])
    return reader.open(listing, listing.refs[number], None, Sheet())


@pytest.mark.real
@pytest.mark.parametrize("number", [3, 14])
def test_g1_runs_at_15_hz_and_has_no_other_fault(real_data: Path, number: int) -> None:
    found = judged(real(real_data, "g1", number))
    assert failing(found) == {("SYN006", HEAD, "pictures")}
    assert found["SYN006"].findings[0].note == "really 15.0 Hz, declared 30 Hz"
    assert found["SYN001"].verdict.status == "abstain"
    for code in ("SYN007", "SYN008", "INT001", "INT008", "INT010"):
        assert found[code].verdict.status == "pass", code


@pytest.mark.real
def test_gr1_has_no_fault(real_data: Path) -> None:
    found = judged(real(real_data, "gr1", 4))
    assert failing(found) == set()
    rate = next(m for m in found["SYN006"].measures if m.channel == "pictures")
    assert rate.worst > 0.98


@pytest.mark.real
def test_franka_top_is_frozen_and_its_wrist_pauses(real_data: Path) -> None:
    root = real_data / LEROBOT["franka"]
    facts, gate = {}, plugs.gates()["INT010"]
    for number in range(10):  # the episode tables disagree about the files: each file by itself
        cameras = [camera(root, f"observation.images.{place}", number) for place in ("top", "wrist")]
        found = judged(Episode(f"e{number}", tuple(cameras)))
        top = "observation.images.top"  # one plain shade throughout
        assert failing(found) == {("INT010", top, "pictures"), ("SYN008", top, "blank")}
        assert found["SYN006"].verdict.status == "abstain"
        facts[f"e{number}"] = {f.name: f.value for f in found["INT010"].facts}
    whole = conclude(gate, Listing("x", root, ()), facts, gate.params())
    named = {(f.stream, f.channel) for f in whole.findings}
    assert named == {("observation.images.top", c) for c in ("unchanging", "copies")}


def camera(root: Path, name: str, number: int) -> Stream:
    t = (np.arange(68) * 10**8).astype(np.int64)
    clip = Clip(root, f"videos/chunk-000/{name}/file-{number:03d}.mp4", 0, 68)
    return Stream(name, Role.CAMERA, t, np.empty((68, 0)), rate=Fraction(10), clip=clip)


class Kept:
    """A tap that keeps the pictures."""

    def __init__(self) -> None:
        self.kept: list[NDArray[np.uint8]] = []

    def feed(self, planes: NDArray[np.uint8], t: NDArray[np.int64], which: NDArray[np.intp]) -> None:
        self.kept += list(planes[which])

    def value(self) -> list[NDArray[np.uint8]]:
        return self.kept


@pytest.fixture(scope="module")
def planes(real_data: Path) -> "Planes":
    ep, tap = real(real_data, "g1", 3), Kept()
    clip = ep.by_role(Role.CAMERA)[0].clip
    assert clip is not None
    luma(clip, [tap])
    return ep, tap.kept


Planes = tuple[Episode, list[NDArray[np.uint8]]]
Edit = Callable[[list[NDArray[np.uint8]]], Iterator[NDArray[np.uint8]]]


def again(planes: Planes, folder: Path, edit: Edit, codec: str = "libx264") -> Judged:
    ep, kept = planes
    options = {"preset": "ultrafast"} if codec == "libx264" else {"g": "2", "crf": "30", "preset": "10"}
    encode(folder / "a.mp4", edit(kept), codec=codec, options=options)
    return judged(ep.with_stream(replace(ep.by_role(Role.CAMERA)[0], clip=Clip(folder, "a.mp4"))))


BASE = ("SYN006", HEAD, "pictures")


@pytest.mark.real
def test_a_re_encoded_control_finds_nothing_new(planes: Planes, tmp_path: Path) -> None:
    found = again(planes, tmp_path, iter)
    assert failing(found) == {BASE}
    assert "15.0 Hz" in found["SYN006"].findings[0].note


@pytest.mark.real
@pytest.mark.parametrize(("codec", "count"), [("libx264", 8), ("libsvtav1", 20)])
def test_a_frozen_camera_is_found_within_a_picture(
    planes: Planes, tmp_path: Path, codec: str, count: int
) -> None:
    first = busiest(planes[0], count)
    found = again(
        planes, tmp_path, lambda p: iter([*p[:first], *[p[first - 1]] * count, *p[first + count :]]), codec
    )
    assert failing(found) == {BASE, ("SYN008", HEAD, "pictures")}
    (finding,) = found["SYN008"].findings
    assert finding.t0 * 30e-9 == pytest.approx(first - 1, abs=2.1)  # the real picture period is two
    assert finding.t1 * 30e-9 == pytest.approx(first + count, abs=2.1)


def busiest(ep: Episode, count: int) -> int:
    """The row from which the arms move most steadily for ``count`` rows."""
    state = ep.stream("observation.state")
    assert state is not None
    path = arm_travel(state)
    assert path is not None
    t, lags = state.t[20 : -count - 20], -np.arange(6) * 33_333_333
    return 20 + int(np.argmax(path.speed_range(t, t + count * 33_333_333, lags)[0]))


@pytest.mark.real
def test_lost_pictures_are_counted(planes: Planes, tmp_path: Path) -> None:
    found = again(planes, tmp_path, lambda p: iter(p[: int(0.8 * len(p))]))
    assert failing(found) == {BASE, ("SYN007", HEAD, "pictures")}
    assert found["SYN007"].findings[0].worst == 71


@pytest.mark.real
def test_a_tail_of_another_take_is_cut_off_at_its_place(
    planes: Planes, real_data: Path, tmp_path: Path
) -> None:
    other = Kept()
    clip = real(real_data, "g1", 7).by_role(Role.CAMERA)[0].clip
    assert clip is not None
    luma(replace(clip, count=40), [other])
    found = again(planes, tmp_path, lambda p: iter([*p[:311], *other.kept]))
    assert ("INT008", HEAD, "cut") in failing(found)
    (finding,) = found["INT008"].findings
    assert round(finding.t0 * 30e-9) == 310


@pytest.mark.real
def test_a_real_file_cut_at_60_percent_of_its_bytes(real_data: Path, tmp_path: Path) -> None:
    ep = real(real_data, "g1", 3)
    head = ep.by_role(Role.CAMERA)[0]
    assert head.clip is not None
    data = (head.clip.root / head.clip.path).read_bytes()
    (tmp_path / "a.mp4").write_bytes(data[: int(0.6 * len(data))])
    found = judged(ep.with_stream(replace(head, clip=Clip(tmp_path, "a.mp4"))))
    assert failing(found) == {("INT001", HEAD, "container")}
    with pytest.raises(UnreadableError):
        luma(Clip(tmp_path, "a.mp4"), [])
