"""Small episodes with known truth, and graded faults: what gates are tested and measured with."""

from assay.synth.episodes import edit, retime, teleop

__all__ = ["edit", "retime", "teleop"]
