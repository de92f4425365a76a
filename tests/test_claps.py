"""Claps and flashes: when they happened, in every kind of stream, and what is told apart from them."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from assay import plugs
from assay.examine import examine
from assay.feature import Features
from assay.features.claps import Claps
from assay.features.content import Content
from assay.judge import REPORTED
from assay.media import index, sound
from assay.model import Channel, Clip, Clock, Episode, Role, Stream
from assay.sheet import apply, lay
from assay.sheet_file import parse_sheet
from assay.signals.events import NOTHING, Onsets, flashes, jolts, sounds
from assay.signals.hand_claps import hands
from assay.signals.matching import matched
from assay.signals.offsets import Offset
from assay.signals.pictures import Pictures
from assay.synth import teleop
from assay.synth.claps import clap_film, clap_sound, flash_film, jolted

CAMERA, MICROPHONE = "observation.images.cam_0", "microphone"


def seconds(found: Onsets) -> NDArray[np.float64]:
    return np.asarray(found.t * 1e-9, np.float64)


def at(*when: float, u: float = 1e-3) -> Onsets:
    return Onsets(np.rint(np.array(when) * 1e9).astype(np.int64), np.full(len(when), u), 2.0)


# ------------------------------------------------------------------------------------------------ sound


@pytest.mark.parametrize("rate", [16_000, 48_000])
@pytest.mark.parametrize("db", [20, 30, 50])
def test_claps_in_sound_are_placed_to_two_milliseconds(rate: int, db: float) -> None:
    for seed in range(4):
        when = (1.5 + 0.0917 * seed, 2.4)
        found = sounds(clap_sound(4.0, when, rate, db, seed), rate, 5_000_000_000)
        assert seconds(found) - 5.0 == pytest.approx(when, abs=1e-3)


def test_noise_and_a_hum_are_no_claps() -> None:
    t = np.arange(4 * 16_000) / 16_000
    hum = 0.05 * np.sin(2 * np.pi * 180 * t) * (1 + 0.5 * np.sin(3 * t))
    found = sounds(clap_sound(4.0, (), 16_000, 0.0) + hum, 16_000, 0)
    assert (len(found), found.margin < 0.2) == (0, True)


def test_a_gap_in_the_sound_is_no_clap() -> None:
    x = clap_sound(4.0, (), 16_000, 0.0)
    x[20_000:30_000] = np.nan
    assert not len(sounds(x, 16_000, 0))
    x[20_000:30_000] = 0.0
    assert not len(sounds(np.zeros(64_000), 16_000, 0))


# ------------------------------------------------------------------------------------------------ jolts


@pytest.mark.parametrize("rate", [200, 400, 1000])
def test_a_jolt_is_placed_to_one_sample(rate: int) -> None:
    t = np.arange(8 * rate) / rate
    for seed in range(5):
        when = 3.0 + 0.0137 * seed
        found = jolts(jolted(t, (when,), 40.0, seed), np.rint(t * 1e9).astype(np.int64))
        assert seconds(found) == pytest.approx([when], abs=1.0 / rate)


def test_steps_of_a_walk_are_no_claps() -> None:
    t = np.arange(1600) / 200
    x = jolted(t, tuple(np.arange(0.4, 8, 0.5)), 40.0)
    assert not len(jolts(x, np.rint(t * 1e9).astype(np.int64)))


# ----------------------------------------------------------------------------------------------- pictures


@pytest.mark.parametrize("fps", [15, 30, 60])
def test_a_flash_is_placed_to_half_a_picture(fps: int) -> None:
    for seed in range(4):
        film = flash_film(4.0, (1.5 + 0.0123 * seed,), fps, seed=seed)
        assert seconds(flashes(film.thumbs, film.t)) == pytest.approx([1.5 + 0.0123 * seed], abs=0.55 / fps)


def test_light_that_stays_is_no_flash() -> None:
    film = flash_film(4.0, (1.5,), lasting=3.0)
    assert not len(flashes(film.thumbs, film.t))


@pytest.mark.parametrize(
    ("fps", "repeat", "speed", "bounce"),
    [(30, 1, 60, 0.0), (30, 1, 120, 0.3), (60, 1, 120, 0.3), (30, 2, 50, 0.0)],
)
def test_hands_that_meet_are_placed_to_half_a_picture(
    fps: int, repeat: int, speed: float, bounce: float
) -> None:
    for seed in range(2):
        when = 1.7 + 0.0111 * seed
        film = clap_film(3.5, when, fps, repeat=repeat, speed=speed, bounce=bounce, seed=seed)
        found = hands(film.thumbs, film.key, film.t)
        assert seconds(found) == pytest.approx([when], abs=0.5 * repeat / fps)


def test_hands_that_swing_are_no_clap() -> None:
    film = clap_film(5.0, None)
    assert not len(hands(film.thumbs, film.key, film.t))


# ----------------------------------------------------------------------------------------------- matching


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ((2.0,), (2.03,), (-0.03, 1)),
        ((2.0,), (3.2,), None),
        ((2.0,), (1.8, 2.2), None),
        ((2.0, 2.5, 3.3), (2.04, 2.54, 3.34), (-0.04, 3)),
        ((2.0, 2.5, 3.3), (2.04, 3.34), (-0.04, 2)),
        ((2.0, 2.5, 3.0), (2.04, 2.54), None),  # even intervals: which one is missing?
        ((), (2.0,), None),
    ],
)
def test_events_match_only_where_one_way_is_best(
    a: tuple[float, ...], b: tuple[float, ...], expected: tuple[float, int] | None
) -> None:
    found = matched(at(*a), at(*b))
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found[0] == pytest.approx(expected[0], abs=1e-6)
        assert found[2] == expected[1]
        assert found[1] == pytest.approx(1e-3 * np.sqrt(2 / expected[1]))


def test_nothing_matches_nothing() -> None:
    assert matched(NOTHING, NOTHING) is None


# ----------------------------------------------------------------------------------------- feature and gate


@cache
def film_at(when: float | None, seconds: float = 7.0) -> Pictures:
    return clap_film(seconds, when, 30, seed=2)


def clapped(late: float = 0.0, drift: float = 0.0, **said: object) -> tuple[Episode, dict[str, Pictures]]:
    """A microphone and a camera that is late, and later at the end; claps at 3 and at 11 s."""
    ep, rate = teleop(14.0, clock=Clock.SENSOR), 16_000
    t = np.rint(np.arange(14 * rate) * 1e9 / rate).astype(np.int64)
    x = clap_sound(14.0, (3.0, 11.0), rate, 40.0)[:, None]
    heard = Stream(MICROPHONE, Role.AUDIO, t, x, (Channel("left", "1"),), Clock.SENSOR, Fraction(rate))
    first, second = film_at(3.0 + late), film_at(4.0 + late + drift)
    thumbs = np.concatenate((first.thumbs, second.thumbs))
    film = replace(first, t=np.rint(np.arange(len(thumbs)) * 1e9 / 30).astype(np.int64), thumbs=thumbs,
                   key=np.arange(len(thumbs)) % 30 == 0)  # fmt: skip
    camera = ep.stream(CAMERA)
    assert camera is not None
    ep = ep.with_stream(replace(camera, t=film.t)).with_stream(heard)
    return replace(ep, sync="clap", meta={f"clap/{k}": v for k, v in said.items()}), {CAMERA: film}


def looked(ep: Episode, pictures: dict[str, Pictures] | None) -> tuple[Claps, Callable[[], str]]:
    features = Features(ep, plugs.features(), {}, {"pictures": pictures, "containers": {}})
    gate = plugs.gates()["SYN003"]
    return features.get("claps"), lambda: examine(gate, features, gate.params(), ep.id).verdict.status


def test_both_ends_give_offset_and_drift() -> None:
    found, status = looked(*clapped(late=0.07, drift=0.05))
    offsets = {str(o.end): o for o in found.offsets if {o.stream, o.against} == {CAMERA, MICROPHONE}}
    for end, expected in (("start", 0.07), ("end", 0.12)):
        o = offsets[end]
        late = o.seconds if o.stream == CAMERA else -o.seconds
        assert late == pytest.approx(expected, abs=0.017)
        assert (o.by, o.reference) == ("claps", "absolute")
        assert abs(late - expected) <= 3 * o.u
    assert status() == "pass"


def knocked(*at: float, **said: object) -> tuple[Episode, dict[str, Pictures]]:
    """The camera claps at 3 and at 11 s; the microphone hears something at these seconds."""
    ep, pictures = clapped(**said)
    heard = ep.stream(MICROPHONE)
    assert heard is not None
    return ep.with_stream(replace(heard, x=clap_sound(14.0, at, 16_000, 40.0)[:, None])), pictures


@pytest.mark.parametrize("at", [(3.4,), (11.0,), (3.4, 11.0)], ids=["glitch", "one clap", "ends disagree"])
def test_one_pair_of_events_proves_no_offset(at: tuple[float, ...]) -> None:
    """A knock beside a clap would be an offset; it is a figure until another event bears it out."""
    found, _ = looked(*knocked(*at))
    both = {CAMERA, MICROPHONE}
    assert not [o for o in found.offsets if {o.stream, o.against} == both]
    assert len([o for o in found.alone if {o.stream, o.against} == both]) == len(at)


def test_two_claps_at_one_end_prove_an_offset() -> None:
    ep = teleop(14.0, clock=Clock.SENSOR, cameras=0)
    t = np.rint(np.arange(14 * 16_000) * 1e9 / 16_000).astype(np.int64)
    for name, late in ((MICROPHONE, 0.0), ("other", 0.05)):
        x = clap_sound(14.0, (2.0 + late, 2.7 + late), 16_000, 40.0)[:, None]
        ep = ep.with_stream(Stream(name, Role.AUDIO, t, x, (Channel("left", "1"),), Clock.SENSOR))
    found, _ = looked(replace(ep, sync="clap"), {})
    (offset,) = found.offsets
    assert abs(offset.seconds) == pytest.approx(0.05, abs=3e-3)
    assert found.alone == ()


def test_a_lone_offset_is_a_figure_of_the_camera() -> None:
    """SYN001 shows it and passes nobody by it, however small it is."""
    gate, ep = plugs.gates()["SYN001"], teleop()
    lone = Offset(CAMERA, "observation.state", 0, 10**9, 0.002, 2e-3, "claps", end="start")
    for claps, expected in ((Claps(True, (), (), (lone,)), "abstain"), (Claps(True, (), (lone,)), "pass")):
        given = {"claps": claps, "content": {CAMERA: Content(why="not-calibrated")}}
        judged = examine(gate, Features(ep, plugs.features(), {}, given), gate.params(), ep.id)
        assert judged.verdict.status == expected
        assert (REPORTED in {m.settled for m in judged.measures}) is (expected == "abstain")


def test_nothing_is_looked_for_unless_promised() -> None:
    ep, pictures = clapped()
    found, status = looked(replace(ep, sync="software"), pictures)
    assert (found.promised, found.looks, found.offsets, status()) == (False, (), (), "n/a")


def test_a_camera_in_which_things_move_is_never_called_clapless() -> None:
    ep, pictures = clapped(streams=[CAMERA])
    seen = film_at(None, 14.0)
    _, status = looked(ep, {CAMERA: replace(seen, t=pictures[CAMERA].t)})
    assert status() == "abstain"
    assert looked(ep, None)[1]() == "abstain"


def test_a_flash_is_asked_of_cameras_alone() -> None:
    ep, _ = clapped(sign="flash")
    both, one = flash_film(14.0, (3.0, 11.0)), flash_film(14.0, (3.0,))
    assert looked(ep, {CAMERA: both})[1]() == "pass"
    assert looked(ep, {CAMERA: one})[1]() == "fail"


def test_a_clap_that_the_joints_must_show() -> None:
    ep, pictures = clapped(streams=["observation.state"], ends=["start"])
    assert looked(ep, pictures)[1]() == "fail"
    state = ep.stream("observation.state")
    assert state is not None
    x = np.array(state.x)
    x[90:, :14] += 0.2 * np.exp(-np.arange(len(x) - 90) / 2.0)[:, None]
    assert looked(ep.with_stream(replace(state, x=x)), pictures)[1]() == "pass"


def test_the_sheet_says_what_a_clap_is() -> None:
    said = parse_sheet('sync = "clap"\n[clap]\nends = ["start"]\ncount = 2\nstreams = ["a"]', "assay.toml")
    ep = apply(lay([("corpus", said, "assay.toml")]), teleop(1.0))
    assert (ep.sync, ep.meta["clap/ends"], ep.meta["clap/count"], ep.meta["clap/sign"]) == (
        "clap", ["start"], 2, None,
    )  # fmt: skip


# -------------------------------------------------------------------------------------------------- files


def muxed(path: Path, x: NDArray[np.float64], rate: int, codec: str, fmt: str) -> None:
    """A film of 6 s with a sound track."""
    with av.open(str(path), "w") as out:
        video: Any = out.add_stream("libx264", rate=30)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        audio: Any = out.add_stream(codec, rate=rate)
        audio.layout = "mono"
        for k in range(180):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), k, np.uint8), format="rgb24")
            frame.pts, frame.time_base = k, Fraction(1, 30)
            out.mux(video.encode(frame))
        out.mux(video.encode())
        change = av.AudioResampler(format=fmt, layout="mono", rate=rate)
        for k in range(0, len(x), 1024):
            part = av.AudioFrame.from_ndarray(
                x[None, k : k + 1024].astype(np.float32), format="fltp", layout="mono"
            )
            part.sample_rate, part.pts, part.time_base = rate, k, Fraction(1, rate)
            for ready in change.resample(part):
                out.mux(audio.encode(ready))
        out.mux(audio.encode())


@pytest.mark.parametrize(("name", "codec", "fmt"), [("a.mp4", "aac", "fltp"), ("b.mkv", "libopus", "flt")])
def test_the_sound_track_of_a_film_keeps_its_time(tmp_path: Path, name: str, codec: str, fmt: str) -> None:
    when = (1.2345, 4.4321)
    muxed(tmp_path / name, 100 * clap_sound(6.0, when, 48_000, 35.0) / 10, 48_000, codec, fmt)
    for t0, t1 in ((0.0, 6.0), (3.0, 6.0)):
        track = sound(tmp_path, name, round(t0 * 1e9), round(t1 * 1e9))
        assert track is not None
        assert (track.rate, len(track.x)) == (48_000, round((t1 - t0) * 48_000))
        expected = [w for w in when if w > t0]
        assert seconds(sounds(track.x, track.rate, track.t0)) == pytest.approx(expected, abs=2e-3)
    assert len(index(tmp_path, name)) == 180


def test_a_film_with_sound_gives_the_sound_as_a_stream_of_its_own(tmp_path: Path) -> None:
    muxed(tmp_path / "a.mp4", 10 * clap_sound(6.0, (1.5, 4.5), 48_000, 35.0), 48_000, "aac", "fltp")
    ep = teleop(6.0)
    camera = ep.stream(CAMERA)
    assert camera is not None
    ep = ep.with_stream(replace(camera, clip=Clip(tmp_path, "a.mp4"), t=camera.t + 10**12))
    for name in ("observation.state", "action"):
        ep = ep.without_stream(name)
    features = Features(replace(ep, sync="clap"), plugs.features(), {}, {"pictures": {}})
    found = {look.end: look for look in features.get("claps").looks if look.way == "sound"}
    assert {look.stream for look in found.values()} == {f"{CAMERA}/audio"}
    assert seconds(found["start"].onsets) == pytest.approx([1001.5], abs=2e-3)
    assert seconds(found["end"].onsets) == pytest.approx([1004.5], abs=2e-3)


def test_a_film_without_sound_has_none(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.mp4"), "w") as out:
        video: Any = out.add_stream("libx264", rate=30)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        for _ in range(3):
            out.mux(video.encode(av.VideoFrame.from_ndarray(np.zeros((48, 64, 3), np.uint8), format="rgb24")))
        out.mux(video.encode())
    assert sound(tmp_path, "a.mp4", 0, 10**9) is None
