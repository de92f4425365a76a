"""DROID's raw episodes: ``trajectory.h5`` with three clocks, one MP4 a camera, ``metadata_*.json``.

Layout. ``<lab>/{success,failure}/<date>/<time>/`` holds ``trajectory.h5`` (groups ``observation`` and
``action``, one row a control step), ``metadata_<uuid>.json`` and ``recordings/MP4/<serial>.mp4`` (or the MP4s
beside the trajectory). One folder with a ``trajectory.h5`` is one episode.

Streams. Under their paths: ``observation/robot_state/joint_positions`` and so on; requests under ``action/``.
Cameras are ``wrist``, ``ext1`` and ``ext2`` where the metadata give their serials, else the serial. The arm
is a Franka Panda, whose joints the file does not name: they are ``panda_joint1`` to ``7``.

Clocks, all in milliseconds of the epoch but the robot's, in seconds and nanoseconds. Robot: its own
(``robot_timestamp``: sensor), the laptop's on receipt (``read_end``: receive). Cameras: ``estimated_capture``
(sensor), ``frame_received`` (receive). Requests: ``control_start`` (receive). The laptop's ``step_start`` is
every row's log. ``t`` is the first of these that is set and within a day of the log.

Traps met. An MP4 may hold more or fewer pictures than there are rows. SVO files need the camera's SDK and are
not read; stereo MP4s are used only where the other is absent. Requested velocities are shares of the
fastest, and what is called a joint velocity has been a Cartesian position: their units are not known. In
``skip_action`` rows the operator was not engaged. Success and failure are folders and attributes, which may
disagree.
"""

from __future__ import annotations

from typing import Final

from assay.reader import reader
from assay.readers.droid.episode import NAME, discover, open_, probe

__all__ = ["READER"]

READER: Final = reader(
    name=NAME, version=2,
    title="DROID raw episodes (trajectory.h5, MP4s, metadata)",
    probe=probe, discover=discover, open_=open_, doc=__doc__,
)  # fmt: skip
