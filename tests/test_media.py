"""Containers are indexed and decoded exactly, and a stranger's file can do no harm."""

import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.errors import OutsideCorpusError, UnreadableError
from assay.media import Container, decoding, index, listing, luma, opening
from assay.model import Clip
from assay.signals.pictures import Digests, Thumbnails
from films import Numbers, encode, numbered

KINDS = {
    "h264 with B-frames": ("a.mp4", "libx264", {"bf": "3", "g": "12"}),
    "av1, two from key to key": ("a.mp4", "libsvtav1", {"g": "2", "crf": "20", "preset": "10"}),
    "hevc": ("a.mkv", "libx265", {"g": "12"}),
    "mpeg4 in mov": ("a.mov", "mpeg4", {"g": "12", "qscale": "2"}),
    "mpeg4 in avi": ("a.avi", "mpeg4", {"g": "12"}),
    "vp9 in webm": ("a.webm", "libvpx-vp9", {"g": "12", "cpu-used": "8", "deadline": "realtime"}),
}


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """H.264 with B-frames, 60 pictures, a key picture every 12."""
    return encode(tmp_path_factory.mktemp("clean") / "a.mp4", numbered(), options={"bf": "3", "g": "12"})


def shown(clip: Clip) -> list[int]:
    tap = Numbers()
    luma(clip, [tap])
    return tap.seen


@pytest.mark.parametrize(("name", "codec", "options"), KINDS.values(), ids=KINDS)
def test_every_kind_is_indexed_and_decoded_in_order(
    tmp_path: Path, name: str, codec: str, options: dict[str, str]
) -> None:
    encode(tmp_path / name, numbered(), codec=codec, options=options)
    found = index(tmp_path, name)
    assert (found.width, found.height, found.packets, len(found)) == (128, 96, 60, 60)
    assert abs(found.rate - 30) < Fraction(1, 100)
    assert np.allclose(np.diff(found.t), 1e9 / 30, atol=1e6)  # matroska rounds to milliseconds
    assert found.key[0]
    assert found.duration == pytest.approx(2.0, abs=0.01)
    tap = Numbers()
    done = luma(Clip(tmp_path, name), [tap])
    assert tap.seen == list(range(60))
    assert (done.asked, len(done.missing), done.error) == (60, 0, "")
    assert np.array_equal(tap.t, done.t)
    assert np.array_equal(done.t, found.t - found.t[0])


@pytest.mark.parametrize("kind", ["h264 with B-frames", "av1, two from key to key", "mpeg4 in avi"])
def test_a_clip_of_a_shared_file_is_exact(tmp_path: Path, kind: str) -> None:
    name, codec, options = KINDS[kind]
    encode(tmp_path / name, numbered(), codec=codec, options=options)
    for first, count in ((0, 1), (1, 5), (11, 2), (12, 20), (13, 1), (24, 12), (37, 23), (59, 1), (0, 60)):
        assert shown(Clip(tmp_path, name, first, count, last=False)) == list(range(first, first + count))


def test_a_clip_may_promise_more_than_the_file_has(clean: Path) -> None:
    assert shown(Clip(clean.parent, clean.name, 50, 20)) == list(range(50, 60))
    assert shown(Clip(clean.parent, clean.name, 70, 20)) == []
    found = index(clean.parent, clean.name)
    assert found.available(Clip(clean.parent, clean.name, 50, 5)) == 10
    assert found.available(Clip(clean.parent, clean.name, 50, 5, last=False)) == 5
    assert found.available(Clip(clean.parent, clean.name, 70, 5, last=False)) == 0


def test_one_pass_feeds_all_taps_the_same(clean: Path) -> None:
    taps = (Numbers(), Thumbnails(), Digests())
    luma(Clip(clean.parent, clean.name), taps)
    alone = Digests()
    luma(Clip(clean.parent, clean.name), [alone])
    assert np.array_equal(taps[2].value(), alone.value())
    assert taps[1].value().shape == (60, 96, 128)


class Fed:
    """A tap that counts the pictures that it was given, and those that were seen."""

    def __init__(self) -> None:
        self.given = self.seen = 0

    def feed(self, luma: NDArray[np.uint8], t: NDArray[np.int64], which: NDArray[np.intp]) -> None:
        self.given += len(luma)
        self.seen += len(which)

    def value(self) -> tuple[int, int]:
        return self.given, self.seen


@pytest.mark.parametrize(("height", "width"), [(96, 128), (102, 90), (720, 1280), (900, 1000)])
def test_a_picture_that_is_the_one_before_is_not_handed_on_again(
    tmp_path: Path, height: int, width: int
) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (height, width), np.uint8)
    other = picture.copy()
    other[-1, -1] ^= 1  # the last pixel by one grey level
    film = np.array([picture] * 6 + [other] * 4 + [picture] * 2)
    encode(tmp_path / "a.mkv", film, codec="ffv1")
    tap, thumbs, digests = Fed(), Thumbnails(), Digests()
    luma(Clip(tmp_path, "a.mkv"), [tap, thumbs, digests])
    assert tap.value() == (3, 12)
    alone = Digests()
    alone.feed(film, np.arange(12), np.arange(12))
    assert np.array_equal(digests.value(), alone.value())
    assert len(thumbs.value()) == 12


def test_an_index_leaves_its_packets_to_the_pass_that_decodes(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.mp4").write_bytes(clean.read_bytes())
    clip, seen = Clip(tmp_path, "a.mp4"), list(range(60))
    with monkeypatch.context() as patch:
        found = index(tmp_path, "a.mp4")
        patch.setattr(decoding, "open_inside", None)  # it is not opened again
        tap = Numbers()
        done = luma(clip, [tap], found)
        assert (tap.seen, len(done.missing)) == (seen, 0)
    assert shown(clip) == seen  # they wait once
    encode(tmp_path / "a.mp4", numbered(), options={"bf": "3", "g": "6"})
    with monkeypatch.context() as patch:
        patch.setattr(listing, "MOST_WAITING", 20_000)
        assert listing.taken(clip, index(tmp_path, "a.mp4")) is None
        assert shown(clip) == seen
    encode(tmp_path / "a.mp4", numbered(30))
    found = index(tmp_path, "a.mp4")
    encode(tmp_path / "a.mp4", numbered(50))
    tap = Numbers()
    luma(clip, [tap], found)
    assert tap.seen == list(range(50))
    found = index(tmp_path, "a.mp4")
    (tmp_path / "a.mp4").unlink()
    with pytest.raises(UnreadableError, match="absent"):
        luma(clip, [Numbers()], found)


def test_packets_that_wait_are_few(clean: Path, tmp_path: Path) -> None:
    for i in range(20):
        (tmp_path / f"{i}.mp4").write_bytes(clean.read_bytes())
        index(tmp_path, f"{i}.mp4")
    assert len(listing._waiting) <= 8
    assert sum(one.size for one in listing._waiting.values()) <= listing.MOST_WAITING


def test_a_changed_file_is_indexed_again(tmp_path: Path) -> None:
    path = encode(tmp_path / "a.mp4", numbered(20))
    assert len(index(tmp_path, "a.mp4")) == 20
    encode(path, numbered(30))
    assert len(index(tmp_path, "a.mp4")) == 30


def test_an_index_crosses_process_borders(clean: Path) -> None:
    found = index(clean.parent, clean.name)
    again: Container = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert np.array_equal(again.t, found.t)


# ------------------------------------------------------------------------------------- broken and hostile


def refused(folder: Path, name: str = "a.mp4") -> str:
    with pytest.raises(UnreadableError) as caught:
        index(folder, name)
    assert name in str(caught.value)
    with pytest.raises(UnreadableError):
        luma(Clip(folder, name), [Thumbnails()])
    return str(caught.value)


def test_a_file_cut_before_its_index_says_so(clean: Path, tmp_path: Path) -> None:
    data = clean.read_bytes()
    (tmp_path / "a.mp4").write_bytes(data[: int(0.6 * len(data))])
    assert refused(tmp_path) == (
        "a.mp4: the video cannot be opened (found no index (moov): the file was cut, or its recording never "
        "ended); deliver the whole file."
    )


def test_a_file_cut_behind_its_index_loses_its_end(tmp_path: Path) -> None:
    path = encode(tmp_path / "a.mp4", numbered(), container={"movflags": "faststart"})
    data = path.read_bytes()
    path.write_bytes(data[: int(0.7 * len(data))])
    found = index(tmp_path, "a.mp4")
    assert found.header == 60
    tap = Numbers()
    done = luma(Clip(tmp_path, "a.mp4", 0, 60), [tap])
    assert len(done.t) < 55
    assert tap.seen[:12] == list(range(12))
    assert tap.seen == sorted(set(tap.seen))


@pytest.mark.parametrize("kind", ["h264 with B-frames", "hevc", "mpeg4 in mov"])
def test_damage_costs_pictures_until_the_next_key_picture(tmp_path: Path, kind: str) -> None:
    name, codec, options = KINDS[kind]
    path = encode(tmp_path / name, numbered(100), codec=codec, options={**options, "g": "10"})
    found = index(tmp_path, name)
    assert len(found) == 100
    data = bytearray(path.read_bytes())
    place, size = largest_packet(path, 50, 60)
    data[place + 4 : place + size] = b"\xff" * (size - 4)
    path.write_bytes(data)
    tap = Numbers()
    done = luma(Clip(tmp_path, name), [tap])
    assert len(done.missing), "damage went by in silence"
    lost = np.rint(done.missing * 30e-9).astype(int)
    assert lost.min() >= 46
    assert lost.max() <= 60
    assert set(tap.seen) >= {*range(46), *range(61, 100)}


def largest_packet(path: Path, first: int, end: int) -> tuple[int, int]:
    """Place and size of the largest packet shown from picture ``first`` to ``end``."""
    import av

    with av.open(str(path)) as box:
        stream = box.streams.video[0]
        mine = [
            p for p in box.demux(stream)
            if p.size and p.pts is not None and first <= round(float(p.pts * p.time_base) * 30) < end
        ]  # fmt: skip
        best = max(mine, key=lambda p: p.size)
        return int(best.pos), int(best.size)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.mp4", b""),
        ("zeros.mp4", b"\0" * 5000),
        ("text.mp4", b"hello" * 100),
        ("list.m3u8", b"#EXTM3U\n#EXTINF:1,\n../secret.mp4\n#EXT-X-ENDLIST\n"),
        ("list.mp4", b"#EXTM3U\n#EXTINF:1,\n../secret.mp4\n#EXT-X-ENDLIST\n"),
        ("concat.mp4", b"ffconcat version 1.0\nfile ../secret.mp4\n"),
        ("head.mp4", b"\0\0\0\x18ftypmp42" + b"\0" * 64),
        ("huge_box.mp4", b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + b"\xff\xff\xff\xffmoov" + b"\0" * 64),
        ("ebml.mkv", b"\x1aE\xdf\xa3" + b"\xff" * 64),
        ("riff.avi", b"RIFF\xff\xff\xff\xffAVI LIST" + b"\xff" * 64),
    ],
)
def test_what_is_not_a_video_is_refused(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    refused(tmp_path, name)


def test_no_file_outside_is_opened(clean: Path, tmp_path: Path) -> None:
    (tmp_path / "link.mp4").symlink_to(clean)
    for path in ("link.mp4", str(clean), "../clean0/a.mp4"):
        with pytest.raises(OutsideCorpusError):
            index(tmp_path, path)
    with pytest.raises(UnreadableError, match="absent"):
        index(tmp_path, "none.mp4")


def test_pictures_beyond_measure_are_refused(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.mp4").write_bytes(clean.read_bytes())
    monkeypatch.setattr(opening, "MOST_PIXELS", 128 * 96 - 1)
    assert "too large (found 128 x 96" in refused(tmp_path)


def test_a_table_of_pictures_without_bytes_is_refused(clean: Path, tmp_path: Path) -> None:
    data = clean.read_bytes()
    at = data.index(b"stsz") + 4 + 8
    (tmp_path / "a.mp4").write_bytes(data[:at] + b"\x7f\xff\xff\xff" + data[at + 4 :])
    assert "more pictures than the file has bytes" in refused(tmp_path)


def test_an_edit_list_hides_pictures(clean: Path, tmp_path: Path) -> None:
    # D10: the header counts 60, an edit list that starts 15 pictures late shows 45.
    data = bytearray(clean.read_bytes())
    at = data.index(b"elst") + 4 + 8 + 4  # media time of the first edit
    start = int.from_bytes(data[at : at + 4], "big")
    scale = int.from_bytes(data[data.index(b"mdhd") + 16 : data.index(b"mdhd") + 20], "big")
    data[at : at + 4] = (start + 15 * scale // 30).to_bytes(4, "big")
    (tmp_path / "a.mp4").write_bytes(data)
    found = index(tmp_path, "a.mp4")
    assert (found.header, found.packets, len(found)) == (60, 48, 45)  # the first GOP is not even sent
    tap = Numbers()
    done = luma(Clip(tmp_path, "a.mp4"), [tap])
    assert tap.seen == list(range(15, 60))
    assert not len(done.missing)


def test_every_truncation_ends_in_a_value_or_one_clear_error(tmp_path: Path) -> None:
    path = encode(tmp_path / "a.mp4", numbered(8, 48, 64), options={"g": "4"})
    data = path.read_bytes()
    cuts = np.random.default_rng(0).integers(0, len(data), 40).tolist()
    for cut in (*range(0, 64, 7), *cuts):
        (tmp_path / "b.mp4").write_bytes(data[:cut])
        try:
            luma(Clip(tmp_path, "b.mp4"), [Thumbnails()])
        except UnreadableError:
            continue


def test_random_damage_never_crashes(clean: Path, tmp_path: Path) -> None:
    data, rng = clean.read_bytes(), np.random.default_rng(1)
    for _ in range(60):
        broken = np.frombuffer(data, np.uint8).copy()
        start = int(rng.integers(0, len(broken) - 64))
        broken[start : start + int(rng.integers(1, 64))] = rng.integers(0, 256)
        (tmp_path / "b.mp4").write_bytes(broken.tobytes())
        try:
            done = luma(Clip(tmp_path, "b.mp4"), [Thumbnails()])
        except UnreadableError:
            continue
        assert len(done.t) + len(done.missing) == done.asked
