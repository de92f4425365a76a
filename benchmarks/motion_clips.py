"""The real motion clips that figures are measured on, with the body and the rate that their files leave open.

Rates: g1-moves states 60 Hz in its card; ProtoMotions' kimodo examples and OMOMO as holosoma ships it are
30 Hz (196 human frames beside 325 robot frames at 50 Hz). GR1's columns are named in robosuite's order.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.corpus import discover
from assay.model import Episode
from assay.parts import open_episode

__all__ = ["CORPORA", "Corpus", "clips", "clips_of"]

_ARM = (
    "shoulder_pitch",
    "shoulder_roll",
    "shoulder_yaw",
    "elbow_pitch",
    "wrist_yaw",
    "wrist_roll",
    "wrist_pitch",
)
_LEG = ("hip_roll", "hip_yaw", "hip_pitch", "knee_pitch", "ankle_pitch", "ankle_roll")
GR1 = (
    *(f"left_{n}" for n in _ARM), *(f"left_finger_{i}" for i in range(6)), *(f"left_{n}" for n in _LEG),
    "head_roll", "head_pitch", "head_yaw",
    *(f"right_{n}" for n in _ARM), *(f"right_finger_{i}" for i in range(6)), *(f"right_{n}" for n in _LEG),
    "waist_yaw", "waist_pitch", "waist_roll",
)  # fmt: skip


@dataclass(frozen=True)
class Corpus:
    """A folder of real clips: its body, the rate its files do not state, names for its state's columns."""

    path: str
    body: str | None = None
    fps: float | None = None
    names: tuple[str, ...] = ()


CORPORA = {
    "kimodo": Corpus("motion/g1_kimodo_generated", "unitree_g1_29", 30),
    "g1moves": Corpus("motion/g1_29dof_g1moves", "unitree_g1_29", 60),
    "asap": Corpus("motion/g1_23dof_asap", "unitree_g1_23_asap"),
    "holosoma": Corpus("motion/g1_29dof_holosoma"),
    "omomo": Corpus("motion/human_src_holosoma/OMOMO_new", fps=30),
    "smpl": Corpus("motion/g1_lerobot_examples"),
    "loco": Corpus("motion/loco_mujoco_real"),
    "amp": Corpus("motion/isaaclab_amp_humanoid28"),
    "g1teleop": Corpus("lerobot/g1_inspire_teleop_v21_subset"),
    "g1video": Corpus("lerobot/g1_inspire_teleop_v21_video"),
    "gr1": Corpus("lerobot/robot_sim.PickNPlace", "fourier_gr1t2", names=GR1),
}


def clips(data: Path, *names: str) -> Iterator[tuple[str, Episode]]:
    """(name of the corpus, episode) of every clip that opens."""
    for name in names or CORPORA:
        for ep in clips_of(data, CORPORA[name]):
            yield name, ep


def clips_of(data: Path, corpus: Corpus) -> Iterator[Episode]:
    """Every clip of a corpus whose file is there."""
    text = f"fps = {corpus.fps:g}\n" if corpus.fps else ""
    if corpus.names:
        text += f'[streams."observation.state"]\nchannels = {list(corpus.names)}\nunit = "rad"\n'
    with tempfile.TemporaryDirectory() as folder:
        sheet = Path(folder, "sheet.toml")
        sheet.write_text(text, encoding="utf-8")
        found = discover(data / corpus.path, sheet_file=sheet if text else None, embodiment=corpus.body)
    for ref in found.listing.refs:
        ep = open_episode(found.listing, ref, None, found.sheet)
        if any(len(s) for s in ep.streams):
            yield ep
