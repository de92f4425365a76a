"""Small episodes with known truth, and graded faults: what gates are tested and measured with."""

from pathlib import Path

from assay.synth.episodes import edit, retime, teleop

__all__ = ["edit", "retime", "teleop", "write_sample"]


def write_sample(folder: Path) -> None:
    """Write the sample corpus of `assay demo`; see `assay.synth.sample`, loaded where it is used."""
    from assay.synth.sample import write_sample as write

    write(folder)
