"""Named, graded, seeded faults with known truth: what gates are tested with and what `assay inject` plants.

Recipes: the seven public defects of PEERS.md and the reports D01 to D62 of FAULTS.md.
"""

from __future__ import annotations

from typing import Final

from assay.errors import UsageError
from assay.misspelt import meant
from assay.synth import file_faults as files
from assay.synth import row_faults as rows
from assay.synth.planting import Disk, Fault, Truth, column_statistics, disk

__all__ = ["FAULTS", "Disk", "Fault", "Truth", "column_statistics", "disk", "fault"]


def fault(name: str) -> Fault:
    """The fault of this name.

    Raises:
        UsageError: if there is none; the message lists them.
    """
    if name not in FAULTS:
        raise UsageError("unknown defect", found=repr(name), expected="one of " + ", ".join(FAULTS),
                         remedy=meant(name, FAULTS))  # fmt: skip
    return FAULTS[name]


_SHARES: Final = (0.005, 0.01, 0.02, 0.025, 0.033, 0.05, 0.1)
_FRAMES: Final = (1.0, 2.0, 3.0, 5.0, 10.0, 30.0)
_ONCE: Final = (1.0,)

FAULTS: Final[dict[str, Fault]] = {
    f.name: f
    for f in (
        Fault("clip-at-limit", "share", "share of frames on a hard limit", "RTG008", 1e-4, 0.9, _SHARES,
              rows.clipped),
        Fault("over-limit", "rad", "rad beyond a hard limit, 3 % of frames", "RTG001", 0.0, 3.2,
              (1e-4, 3e-4, 1e-3, 0.01, 0.1), rows.over_limit),
        Fault("nan", "values", "values that are not a number", "INT003", 1, 1e6, (1, 3, 30, 100),
              rows.not_finite),
        Fault("frozen-state", "s", "seconds for which the state is held", "SYN008", 0.0, 600,
              (0.1, 0.2, 0.33, 0.5, 1.0, 2.0), rows.frozen),
        Fault("timestamp-rate", "%", "rate error of the stamps", "SYN006", -50, 100,
              (0.02, 0.05, 0.1, 0.15, 0.2, 1.0), rows.wrong_rate),
        Fault("timestamp-gap", "frames", "rows never recorded", "SYN004", 1, 1e5, _FRAMES, rows.gap),
        Fault("clock-step", "s", "step of the clock", "SYN005", -1e5, 1e5, (-1.0, -0.1, 0.1, 1.0, 37.2),
              rows.stepped),
        Fault("video-shift", "frames", "frames by which pictures are late", "SYN001", 1, 1e4,
              (1.0, 2.0, 3.0, 5.0, 10.0), files.late),
        Fault("video-cut", "share", "share of the bytes kept", "INT001", 0.0, 0.999, (0.1, 0.6, 0.9, 0.99),
              files.cut),
        Fault("video-short", "share", "share of the pictures kept", "SYN007", 0.01, 0.9999,
              (0.5, 0.8, 0.9, 0.99), files.short),
        Fault("video-freeze", "frames", "pictures that repeat the one before", "SYN008", 1, 1e5, _FRAMES,
              files.frozen_pictures),
        Fault("video-reencode", "", "control: the same pictures, encoded anew", "", 0.0, 1.0, _ONCE,
              files.reencoded),
        Fault("dead-channel", "channels", "columns that never change", "ACT005", 1, 1000, (1, 2, 7),
              rows.dead),
        Fault("action-copy", "share", "share of rows whose action is the state", "ACT001", 0.01, 1.0,
              (0.1, 0.5, 0.9, 0.98, 1.0), rows.copied),
        Fault("duplicate-column", "", "a column stored twice", "INT009", 0.0, 1.0, _ONCE, files.doubled),
        Fault("stale-statistics", "deviations", "standard deviations by which they are off", "INT007",
              1e-6, 1e6,
              (1e-3, 0.01, 0.1, 1.0), files.stale),
        Fault("wrong-length", "rows", "rows by which the declared length is off", "INT005", -1e6, 1e6,
              (-10, -1, 1, 10), files.wrong_length),
        Fault("wrong-pointer", "episodes", "episodes by which the pointer is off", "INT004", 1, 1e4, _ONCE,
              files.wrong_pointer),
        Fault("missing-file", "", "a file that is not there", "INT002", 0.0, 1.0, _ONCE, files.missing),
        Fault("count-lie", "episodes", "episodes declared beyond those there", "INT006", -1e6, 1e6, (1, 10),
              files.lie("total_episodes")),
        Fault("split-lie", "episodes", "episodes that a split names beyond those there", "INT006", 1, 1e6,
              (1, 95),
              files.lie("splits")),
        Fault("leaked-take", "frames", "pictures of another take after the last row", "INT008", 1, 1e5,
              (1.0, 5.0, 10.0, 30.0), files.leaked),
        Fault("label", "rad", "range of the widest motion left", "CHN010", 0.0, 3.2,
              (0.0, 0.01, 0.04, 0.2), rows.mislabelled),
    )
}  # fmt: skip
"""Every fault by name."""
