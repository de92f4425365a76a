"""Running a plan: `run`; `drive` orders the work, `local` owns processes, `episode` does one episode."""

from assay.engine.drive import run

__all__ = ["run"]
