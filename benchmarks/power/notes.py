"""What else a page must say in words: measured facts that a table does not show."""

from __future__ import annotations

from typing import Final

__all__ = ["NOTES"]

NOTES: Final[dict[str, str]] = {
    "RTG001": "The GR1 abstains: no card of its body is packaged.",
    "RTG002": (
        "Where a hand should be is told by a map learnt from all eleven clips, the verdict by that of the "
        "other folds. Fingertips and boxes are made up on real arms. One to five of the eleven clips with a "
        "hand 4 or 8 cm off, calibration included: all found, and no other clip failed. "
        "Sources of two clips exchanged, all 110 ways: 107 named with the clip that they are of, no other."
    ),
    "RTG008": (
        "The GR1 abstains: no card of its body is packaged. Noise above 7e-4 rad breaks plateaus up. "
        "Smoothing: clips of 3 s and more, by Gaussian and Butterworth filters; a cut-off is good to 10 %, "
        "hence what is undecided around 6 Hz. Without a human it is not judged: 99.9 % of the joints' speed "
        "lies below 8 to 14 Hz in untouched 30 Hz clips that nobody says were smoothed."
    ),
    "ACT005": (
        "Retargeted clips without velocities hold nothing beside their joints that travel could be compared "
        "with: they abstain, untouched and within the limits of holds and limbs alike, and only those fail."
    ),
    "CHN010": (
        "The GR1 abstains: its columns are named motor_0 to motor_43, and no body says what they are."
    ),
    "INT001": (
        "Overwritten bytes were planted in AV1 (40 pictures) and H.264 (whole clips); the same path without "
        "a changed byte passes."
    ),
    "INT007": (
        "A small shift of a column that hardly moves hides in the tolerance of float32 sums, unless it moves "
        "an extreme: then 1e-6 of the value is enough."
    ),
    "INT008": (
        "What is passed is a tail whose jump is 2.4 to 2.8 times its surroundings: the arm itself was quick "
        "there. What abstains follows a still stretch: the end of a freeze looks the same."
    ),
    "SYN002": (
        "Stamps are made here (sensor jitter 0.2 ms; the recorder late by 5 ms on average, one in a hundred "
        "by 0.2 s, one stall of 2 s), as no clip at hand has two clocks. Two pictures are 1111, 278, 93 and "
        "28 ppm over 1, 4, 12 and 40 minutes. Untouched stamps are made from the rate."
    ),
    "SYN004": (
        "Untouched stamps are made from the rate, so agreement proves nothing and the gate abstains. One or "
        "two lost frames are counted in the note and are no failure by themselves."
    ),
    "SYN005": (
        "Untouched stamps are made from the rate. A jump back by less than a period leaves time running "
        "forwards and is not this gate's."
    ),
    "SYN006": (
        "Stamps made from the rate abstain within the limit; with jitter the gate passes there. Between 0.8 "
        "and 0.95 of the rate a clip of ten seconds is mostly undecided, and the one alarm within the limit, "
        "at 0.92, is of that kind."
    ),
    "SYN008": (
        "Where every second picture is a key picture (AV1), the first repeat of a freeze is coded anew "
        "and counts as new: a freeze reads one transition shorter than it is, if the camera repeats "
        "nothing by itself."
    ),
}
