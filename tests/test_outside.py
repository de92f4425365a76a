"""Clocks by evidence from outside: logs of clock services, trigger counters, timecode."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay import plugs
from assay.feature import Features
from assay.model import Channel, Clock, Episode, Role, Source, Stream
from assay.sheet import apply, lay
from assay.sheet_file import parse_sheet
from assay.signals.daemons import read_chrony, read_ptp
from assay.synth import teleop

CAMERA, STATE = "observation.images.cam_0", "observation.state"
NOW = 1_750_000_000
PTP = """\
ptp4l[5374018.735]: port 1: UNCALIBRATED to SLAVE on MASTER_CLOCK_SELECTED
ptp4l[5374019.735]: [ptp4l.0.config:6] master offset -2300 s2 freq -12345 path delay 41000
ptp4l[5374020.735]: master offset       1500 s2 freq  -12345 path delay     40000
phc2sys[5374020.9]: CLOCK_REALTIME phc offset       -14 s2 freq  +10994 delay    493
ptp4l[5374021.735]: rms  800 max 1234 freq  -1234 +/-   5 delay   678 +/-   2
"""
CHRONY = """\
=====================================================================================
   Date (UTC) Time     IP Address   St   Freq ppm   Skew ppm     Offset L Co  Offset sd ...
2025-06-15 15:05:40 0.0.0.0          0     21.770      0.016  0.000e+00 ?  0  0.0e+00 -9.6e-14  1.0 1.0 1.5
2025-06-15 15:06:44 203.0.113.15  2  -3.541  0.075 -8.0e-06 N  2  3e-06 -2e-07 1e-02 3e-04 8e-03
2025-06-15 15:07:48 203.0.113.15  2  -3.541  0.075  6.0e-06 N  2  3e-06 -2e-07 1e-02 3e-04 8e-03
"""


def recorded(root: Path, sheet: str) -> Episode:
    """Ten seconds of calendar time on two clocks, under a sheet."""
    ep = teleop(clock=Clock.SENSOR)
    for i, s in enumerate(ep.streams):
        ep = ep.with_stream(replace(s, t=s.t + NOW * 10**9 + i))
    ep = replace(ep, source=Source("test", root))
    return apply(lay([("corpus", parse_sheet(sheet, "assay.toml"), "assay.toml")]), ep)


def found(ep: Episode):
    return Features(ep, plugs.features()).get("outside")


def test_ptp_lines_of_all_layouts() -> None:
    log = read_ptp(PTP.splitlines())
    assert log.offset.tolist() == pytest.approx([-2.3e-6, 1.5e-6, -14e-9, -800e-9, 800e-9])
    assert log.error[0] == pytest.approx(41e-6 / 2 / 3**0.5)
    assert not log.dated


def test_a_syslog_date_dates_the_line() -> None:
    log = read_ptp(["2025-06-15T17:06:40.5+02:00 robot ptp4l: [1.0] master offset 7 s2 freq +1 path delay 9"])
    assert log.t.tolist() == [NOW + 0.5]


def test_chrony_before_its_first_synchronisation_says_nothing() -> None:
    log = read_chrony(CHRONY.splitlines())
    assert log.offset.tolist() == [-8e-6, 6e-6]
    assert log.error.tolist() == [4e-3, 4e-3]
    assert log.t[0] == NOW + 4


@pytest.mark.parametrize("text", ["", "\x00\xff", "master offset 99999999999999999999999 s2", "a" * 10_000,
                                  "2025-99-99 15:06:44 a 2 1 1 1 N",
                                  "2025-06-15 15:06:44 a 2 1 1 nan N 1 nan"])  # fmt: skip
def test_strange_lines_are_passed_over(text: str) -> None:
    assert not len(read_ptp([text]).offset)
    assert not len(read_chrony([text]).offset)


def test_a_ptp_log_gives_the_clocks_error(tmp_path: Path) -> None:
    (tmp_path / "ptp.log").write_text(PTP)
    ep = recorded(tmp_path, f'[evidence.head]\nkind = "ptp4l"\npath = "ptp.log"\nstreams = ["{CAMERA}"]\n')
    offsets = found(ep).offsets
    assert [(o.stream, o.against, o.by, o.end) for o in offsets] == [
        (CAMERA, STATE, "log", "start"), (CAMERA, STATE, "log", "end")]  # fmt: skip
    assert all(1e-6 < o.u < 30e-6 for o in offsets)


def test_a_chrony_log_is_good_to_half_its_maximum_error(tmp_path: Path) -> None:
    (tmp_path / "tracking.log").write_text(CHRONY)
    ep = recorded(tmp_path, f'[evidence.x]\nkind = "chrony"\npath = "tracking.log"\nstreams = ["{CAMERA}"]\n')
    assert found(ep).offsets[0].u == pytest.approx(4e-3, rel=0.01)


@pytest.mark.parametrize(("path", "text", "says"), [
    ("ptp.log", "nothing of the kind", "no line of the log"),
    ("ptp.log", None, "cannot be opened"),
    ("../ptp.log", PTP, "outside the corpus"),
    ("ptp.log", PTP.replace("ptp4l[5374020.735]:", "2024-01-01T00:00:00Z").splitlines()[2], "does not cover"),
])  # fmt: skip
def test_a_log_that_leads_to_nothing_says_why(tmp_path: Path, path: str, text: str | None, says: str) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    if text is not None:
        (root / path).write_text(text)
    ep = recorded(root, f'[evidence.head]\nkind = "ptp4l"\npath = "{path}"\nstreams = ["{CAMERA}"]\n')
    assert found(ep).offsets == ()
    assert says in dict(found(ep).missing)["head"]


def test_a_log_says_nothing_of_stamps_made_from_the_rate(tmp_path: Path) -> None:
    (tmp_path / "ptp.log").write_text(PTP)
    ep = recorded(tmp_path, f'[evidence.head]\nkind = "ptp4l"\npath = "ptp.log"\nstreams = ["{CAMERA}"]\n')
    made = ep.stream(CAMERA)
    assert made is not None
    found_ = found(ep.with_stream(replace(made, clock=Clock.NOMINAL)))
    assert found_.offsets == ()
    assert "did not stamp this stream" in dict(found_.missing)["head"]


def with_counters(ep: Episode, late: float, ppm: float = 0.0) -> Episode:
    """Camera and state count the same trigger; the camera starts five counts later."""
    rng = np.random.default_rng(0)
    for name, first in ((CAMERA, 5), (STATE, 0)):
        s = ep.stream(name)
        assert s is not None
        t = s.t[first:] + rng.normal(0, 2e5, len(s) - first).astype(np.int64)
        if name == CAMERA:
            t = t + np.rint(late * 1e9 + ppm * 1e-6 * (t - t[0])).astype(np.int64)
        counts = np.arange(first, len(s), dtype=float)[:, None]
        ep = ep.with_stream(replace(s, t=t, x=np.asarray(s.x)[first:]))
        counter = Stream(f"{name}.count", Role.OTHER, t, counts, (Channel("n"),), s.clock)
        ep = ep.with_stream(counter)
    return ep


COUNTED = (f'[evidence.t]\nkind = "trigger"\nstreams = ["{CAMERA}", "{STATE}"]\n'
           f'counters = ["{CAMERA}.count", "{STATE}.count"]\n')  # fmt: skip


def test_equal_counts_are_one_instant(tmp_path: Path) -> None:
    ep = with_counters(recorded(tmp_path, COUNTED), 0.0213)
    for offset in found(ep).offsets:
        assert offset.seconds == pytest.approx(0.0213, abs=3 * offset.u)
        assert offset.u < 1e-3


def test_a_counter_that_runs_back_counts_nothing(tmp_path: Path) -> None:
    ep = with_counters(recorded(tmp_path, COUNTED), 0.0)
    counter = ep.stream(f"{STATE}.count")
    assert counter is not None
    ep = ep.with_stream(replace(counter, x=counter.x[::-1]))
    assert "does not count upwards" in dict(found(ep).missing)["t"]
