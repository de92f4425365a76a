"""Every dose axis of every gate."""

from __future__ import annotations

from math import radians
from typing import Final

from benchmarks.power import clocks, damage, drifts, films, hands, laundered, motion, recoded, rows, stillness
from benchmarks.power.trials import Ladder

__all__ = ["LADDERS"]

_AROUND: Final = (0.25, 0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 2.0, 4.0)
_SHARES: Final = (0.1, 0.25, 0.4, 0.45, 0.5, 0.55, 0.65, 1.0, 2.0)  # whole rows of 2,000
_ALL: Final = ("g1v", "g1s", "gr1")
_G1: Final = ("g1v", "g1s")


def around(limit: float) -> tuple[float, ...]:
    """Doses that bracket a limit."""
    return tuple(round(m * limit, 10) for m in _AROUND)


_RTG = (
    Ladder("RTG001", "overshoot of a joint, 3 % of frames", "rad", tuple(m * 1e-4 for m in _AROUND if m != 1),
           1e-4, rows.over),
    Ladder("RTG001", "share of 2,000 frames 1e-3 rad beyond", "%", _SHARES, 0.5, rows.over_share),
    Ladder("RTG001", "finger beyond its range, 3 % of frames", "of the range",
           tuple(m * 0.01 for m in _AROUND if m != 1), 0.01, rows.over_finger),
    Ladder("RTG008", "share of 2,000 frames on a limit", "%", around(2.0), 2.0, rows.plateau,
           only="clipped"),
    Ladder("RTG008", "length of each plateau, 4 % in all", "frames", (1, 2, 3, 4, 8), 2.7,
           rows.short_plateaus, only="clipped"),
    Ladder("RTG008", "noise on a plateau of 4 %", "rad", (1e-4, 2e-4, 5e-4, 7e-4, 1e-3), None,
           rows.rough_plateau, below=True, only="clipped"),
)  # fmt: skip
_LAUNDERED = (
    Ladder("RTG008", "share of 2,000 frames on a round bound that is no limit", "%",
           tuple(m * 2.0 for m in _AROUND if m != 1), 2.0, laundered.bounded, only="own-bound"),
    Ladder("RTG008", "one joint held in motion, retargeted clips", "frames of 30 Hz", (1, 2, 3, 4, 6, 12, 30),
           2.7, laundered.held_joint, ("kimodo", "moves", "asap"), only="held"),
    Ladder("RTG008", "one joint held in motion, teleoperation", "frames of 30 Hz", (1, 2, 3, 4, 6, 12, 30),
           2.7, laundered.held_joint, only="held"),
    Ladder("RTG008", "smoothed, against the human", "Hz", (1.5, 2.0, 3.0, 4.0, 5.0, 5.5, 6.6, 7.5, 9.0, 12.0),
           6.0, laundered.low_passed, ("asap", "holo"), below=True, only="low-pass"),
    Ladder("RTG008", "rise of the standing sole's tilt on plateaus", "degrees",
           tuple(m * 5.0 for m in _AROUND if m != 1), 4.985,
           lambda b, d, r: laundered.tilted_foot(b, radians(d), r), ("asap",), only="left"),
)  # fmt: skip
_CM: Final = tuple(m for m in _AROUND if m not in (0.25, 1))  # untouched feet move by a quarter themselves
_LIFTS: Final = (1.0, 1.6, 2.2, 3.0, 5.0, 8.0, 10.0, 30.0, 100.0, 300.0)
_FEET: Final = ("asap", "holo")
_GROUND: Final = ("kimodo", "moves", "holo")
_MOTION = (
    Ladder("RTG002", "hand off in a constant direction, mean", "cm", tuple(2 * m for m in _CM), 2.0,
           lambda b, d, r: hands.aside(b, d / 100, r), ("asap",)),
    Ladder("RTG002", "reach too long or short, mean", "cm", tuple(2 * m for m in _CM), 2.0,
           lambda b, d, r: hands.reached(b, d / 100, r), ("asap",)),
    Ladder("RTG002", "fingertip off, wrist as it was, mean", "cm", tuple(2 * m for m in _CM), 2.0,
           lambda b, d, r: hands.finger(b, d / 100, r), ("asap",)),
    Ladder("RTG002", "hand too near or far from an object, mean", "cm", tuple(2 * m for m in _CM), 2.0,
           lambda b, d, r: hands.from_object(b, d / 100, r), ("asap",)),
    Ladder("RTG003", "slide of 0.2 s in a stance", "cm in 1/30 s", _CM, 1.0,
           lambda b, d, r: motion.skated(b, d / 100, r), _FEET),
    Ladder("RTG003", "share of standing frames, 2 cm in 1/30 s", "%", (0.25, 0.75, 1.0, 1.5, 2.0), 0.5,
           motion.skated_share, ("asap",)),
    Ladder("RTG004", "way through a stance beyond the source's", "cm", tuple(3 * m for m in _CM), 3.0,
           lambda b, d, r: motion.drifted(b, d / 100, r), _FEET),
    Ladder("RTG005", "depth of a sole for 0.3 s", "cm", _CM, 1.0,
           lambda b, d, r: motion.sunk(b, d / 100, r), _GROUND),
    Ladder("RTG005", "share of frames 2 cm deep", "%", (0.25, 0.4, 0.45, 0.55, 0.65, 1.0, 2.0), 0.5,
           motion.sunk_share, _GROUND),
    Ladder("RTG006", "height of the standing sole for 0.2 s", "cm", tuple(2 * m for m in _CM), 2.0,
           lambda b, d, r: motion.floated(b, d / 100, r), _FEET),
    Ladder("RTG007", "speed of an arm's joint in one frame", "of the rated", _CM, 1.0, motion.overspeed,
           ("kimodo", "moves", "asap", "holo")),
    Ladder("RTG007", "jump of the base in one frame, beyond its neighbouring moves", "cm",
           tuple(8 * m for m in _AROUND if m != 1), 8.0, lambda b, d, r: motion.leapt(b, d / 100, r),
           ("kimodo", "moves", "asap", "holo"), only="base"),
    Ladder("RTG007", "turn of the base in one frame, beyond its neighbouring turns", "rad",
           tuple(0.7 * m for m in _AROUND if m != 1), 0.7, motion.turned,
           ("kimodo", "moves", "asap", "holo"), only="base"),
    Ladder("RTG013", "whole clip off its declared ground", "cm", tuple(2 * m for m in _CM), 2.0,
           lambda b, d, r: motion.offset(b, d / 100, r), _GROUND),
    *(Ladder("RTG013", f"height above its rests for {share} % of a clip, no jump", "cm", lifts, 2.0,
             lambda b, d, r, share=share: motion.hung(b, d / 100, r, share / 100), _GROUND, only=only,
             open=True)
      # Where nearly half of a clip hangs, the median may be up there too, and says so.
      for share, only, lifts in ((5, "aloft", _LIFTS), (20, "aloft", _LIFTS), (45, "", _LIFTS[3:]))),
)  # fmt: skip
_RETARGETED: Final = ("kimodo", "moves", "asap", "holo")
_HELD: Final = (0.1, 0.2, 0.4, 7 / 15, 8 / 15, 0.6, 1.0, 2.0)  # whole frames of 30 Hz
_ACT = (
    Ladder("ACT001", "share of one joint's moving rows copied", "of rows",
           tuple(m * 0.5 for m in _AROUND if m <= 2 and m != 1), 0.5, rows.copied_action, _ALL),
    Ladder("ACT005", "travel while the other side rests", "rad", tuple(m * 0.05 for m in _AROUND if m != 1),
           0.05, rows.dead),
    Ladder("ACT005", "time that a finger's state rests while asked to move", "of the clip",
           (0.5, 0.7, 0.8, 0.88, 0.92, 0.95, 1.0), 0.9, rows.held),
    Ladder("ACT005", "one pose held in between, retargeted clips", "s", _HELD, 0.5,
           stillness.held_pose, _RETARGETED, only="held"),
    Ladder("ACT005", "state and request stop dead and hold, teleoperation", "s", _HELD,
           0.5, stillness.held_body, only="held"),
    Ladder("ACT005", "one pose at the start or the end", "of the clip",
           tuple(m * 0.1 for m in _AROUND if m != 1), 0.1, stillness.padded, _RETARGETED, only="padded"),
    Ladder("ACT005", "range of the other joints beside a limb of zeros", "rad",
           tuple(m * 0.3 for m in _AROUND if m <= 2 and m != 1), 0.3, stillness.stiff_limb, _RETARGETED),
    Ladder("CHN010", "range of the most active joint", "rad", tuple(m * 0.05 for m in _AROUND if m != 1),
           0.05, rows.kept_still, below=True),
)  # fmt: skip
_INT = (
    Ladder("INT001", "pictures that cannot be decoded", "pictures", (1, 2, 5, 30), None, films.undecodable,
           _ALL, pictures=True),
    Ladder("INT001", "end of a table cut off", "% of the bytes", (0.1, 1, 10, 60), None,
           damage.cut_table, _ALL),
    Ladder("INT001", "end of a video cut off", "% of the bytes", (0.1, 1, 10, 60), None,
           damage.cut_video, _ALL, pictures=True),
    Ladder("INT001", "coded pictures overwritten", "bytes", (1, 30, 1000), None, damage.overwritten, _ALL,
           pictures=True, times=100),
    Ladder("INT003", "bad values in one column", "rows", (1, 2, 5, 30), None, rows.not_finite, _ALL),
    Ladder("INT003", "size of one value", "rad", tuple(m * 1e4 for m in _AROUND), 1e4, rows.large, _ALL),
    Ladder("INT007", "one stored number off", "tolerances", tuple(m for m in _AROUND if m != 1), 1.0,
           rows.one_statistic),
    Ladder("INT007", "stored count off", "rows", (1, 2, 10), None, rows.wrong_count),
    Ladder("INT007", "half of a column moved later", "deviations", (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3), None,
           rows.shifted),
    Ladder("INT008", "pictures after the last row's", "pictures", (1, 3, 4, 5, 6, 7, 10, 20), 5.0,
           films.surplus, _ALL, only="surplus", pictures=True),
    Ladder("INT008", "last pictures are another take's", "pictures", (1, 2, 3, 5, 10, 30), None, films.leaked,
           _ALL, only="cut", pictures=True),
    Ladder("INT008", "the same, encoded anew", "pictures", (3, 10), None, recoded.leaked_file, _ALL,
           only="cut", pictures=True, times=10),
    Ladder("INT009", "columns that are copies", "columns", (1, 2, 4, 8), None, rows.copied_columns),
    Ladder("INT009", "range of a copied column", "rad", tuple(m * 1e-3 for m in _AROUND if m != 1), 1e-3,
           rows.short_range),
)  # fmt: skip
_SYN = (
    Ladder("SYN004", "rows lost at once, even stamps", "rows", (1, 2, 3, 4, 5, 10), 2.5, clocks.hole, _ALL),
    Ladder("SYN004", "rows lost at once, 3 ms jitter", "rows", (1, 2, 3, 4, 5, 10), 2.5,
           clocks.hole_of_a_real_clock, _ALL),
    Ladder("SYN004", "share of 2,000 steps that lack a row", "%", _SHARES, 0.5, clocks.lost),
    Ladder("SYN005", "jump back", "periods", (0.25, 0.5, 0.8, 0.9, 1.1, 1.25, 2, 4, 1000), 1.0, clocks.back,
           _ALL),
    Ladder("SYN005", "share of 2,000 stamps repeated", "%", _SHARES, 0.5, clocks.repeated),
    Ladder("SYN006", "rate error, even stamps", "%", tuple(m * 0.1 for m in _AROUND if m != 1), 0.1,
           clocks.rate, _ALL, only="stamps"),
    Ladder("SYN006", "rate error, 3 ms jitter", "%", tuple(m * 0.1 for m in _AROUND if m != 1), 0.1,
           clocks.rate_of_a_real_clock, _ALL, only="stamps"),
    Ladder("SYN006", "real over declared rate, 20 Hz of 20 (GR1)", "of the rate",
           (0.975, 0.95, 0.92, 0.89, 0.85, 0.8, 0.6), 0.9, films.slowed, ("gr1",),
           below=True, only="pictures", pictures=True),
    Ladder("SYN006", "the same, 15 Hz of 15 (G1, every second picture)", "of the rate",
           (0.975, 0.95, 0.92, 0.89, 0.85, 0.8, 0.6), 0.9, films.slowed, ("g1h",),
           below=True, only="pictures", pictures=True),
    Ladder("SYN006", "GR1, encoded anew", "of the rate", (0.95, 0.8, 0.5), 0.9, recoded.slowed_file,
           ("gr1",), below=True, only="pictures", pictures=True, times=10),
    Ladder("SYN007", "pictures more or fewer than rows", "pictures", (1, 2, 5, 30), None, films.counted, _ALL,
           pictures=True),
    Ladder("SYN008", "hold of all joints amid motion", "steps", (1, 2, 3, 4, 6, 12, 30), 3.0,
           rows.frozen_rows, _ALL, only="joints", on_limit=True),
    Ladder("SYN008", "the same at any place", "steps", (3, 6, 12, 30), 3.0, rows.frozen_anywhere, _ALL,
           only="joints", on_limit=True),
    Ladder("SYN008", "still pictures amid motion, 15 Hz under 30 (G1)", "transitions",
           (3, 4, 5, 6, 7, 8, 12), 6.0, films.frozen_pictures, _G1, only="pictures", on_limit=True,
           pictures=True),
    Ladder("SYN008", "still pictures amid motion, 20 Hz of 20 (GR1)", "transitions", (1, 2, 3, 4, 6), 3.0,
           films.frozen_pictures, ("gr1",), only="pictures", on_limit=True, pictures=True),
    Ladder("SYN008", "G1, encoded anew", "transitions", (6, 8, 12), 6.0, recoded.frozen_file, _G1,
           only="pictures", on_limit=True, pictures=True, times=10),
    Ladder("SYN008", "GR1, encoded anew", "transitions", (3, 4, 6), 3.0, recoded.frozen_file, ("gr1",),
           only="pictures", on_limit=True, pictures=True, times=10),
)  # fmt: skip

_DRIFTS: Final = {1: (0, 50, 200, 500, 1000, 1111), 4: (0, 50, 200, 278, 1000),
                  12: (0, 40, 50, 93, 200, 1000), 40: (0, 10, 28, 50, 200, 1000)}  # fmt: skip
"""Minutes → ppm; 1111, 278, 93 and 28 are two pictures by the end."""

_CLOCKS = (
    *(Ladder("SYN002", f"drift over {minutes} min by the common log", "ppm", doses,
             round(1e6 / 30 / 60 / minutes, 3), drifts.logged(minutes), _ALL)
      for minutes, doses in _DRIFTS.items()),
    Ladder("SYN002", "drift over 1 min, paired rows, 3 ms jitter", "ppm", (0, 200, 500, 1111, 2000),
           round(1e6 / 30 / 60, 3), drifts.paired(1), _ALL),
    Ladder("SYN002", "drift over 12 min, paired rows, 3 ms jitter", "ppm", (0, 40, 93, 1000),
           round(1e6 / 30 / 720, 3), drifts.paired(12), _ALL),
    Ladder("SYN004", "frames lost by one stream of two", "frames", (1, 2, 3, 4, 5), 2.5, drifts.camera_lost,
           _G1),
    Ladder("SYN004", "frames lost by every stream", "frames", (3, 4, 5, 10), 2.5, drifts.every_stream_lost,
           _G1),
    Ladder("SYN005", "jump of the log against the sensors", "ms",
           tuple(m * 1e3 / 30 for m in _AROUND if m != 1), 1e3 / 30, drifts.jumped, _ALL, only="jump"),
)  # fmt: skip

LADDERS: Final[tuple[Ladder, ...]] = (*_ACT, *_RTG, *_LAUNDERED, *_MOTION, *_INT, *_SYN, *_CLOCKS)
