"""Running a plan: `run`; `drive` orders the work, `local` owns processes, `episode` does one episode."""

from assay.engine.drive import Progress, calibration_of, planned, run

__all__ = ["Progress", "calibration_of", "planned", "run"]
