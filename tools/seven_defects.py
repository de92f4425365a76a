"""Build the benchmark of seven defects: ten real episodes, one defect in one of them, two layouts.

Twenty public tools were tried on these defects; the best caught four. Each variant is the same ten
episodes with one defect in episode 3, its statistics made again, and every other file unchanged:

    base  nothing                                   c3   control: that video encoded anew as H.264
    d1    timestamps 0.2 % fast                     d5   whole state held 30 frames, the action moves
    d2    right elbow driven to its hard limit      d6   mp4 cut at 60 % of its bytes
          and clipped for 3.3 % of the frames       d6b  playable mp4 with 80 % of its pictures
    d3    video three frames late                   d4   30 values that are not a number

Usage: python tools/seven_defects.py SOURCE TO [--variants d1,d6] [--layouts v2.1]

SOURCE is the consistent LeRobot v2.1 set of 24 episodes ``g1_inspire_teleop_v21_video`` (Unitree G1 with
Inspire hands, MIT licence). Written are ``TO/{variant}_v21``, ``TO/{variant}_v30`` and ``TO/truth.json``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final, get_args

from assay.corpus import discover
from assay.inject import load, plant
from assay.synth.faults import Truth
from assay.synth.lerobot import Layout, write

EPISODES: Final = 10
FAULTY: Final = 3
SEED: Final = 3

VARIANTS: Final[dict[str, tuple[str, float, str] | None]] = {
    "base": None,
    "d1": ("timestamp-rate", 0.2, ""),
    "d2": ("clip-at-limit", 0.033, "kRightElbow"),
    "d3": ("video-shift", 3, ""),
    "d4": ("nan", 30, ""),
    "d5": ("frozen-state", 1.0, ""),
    "d6": ("video-cut", 0.6, ""),
    "d6b": ("video-short", 0.8, ""),
    "c3": ("video-reencode", 1, ""),
}
"""Variant → fault, size and channel (empty: chosen by seed, or none)."""


def build(
    source: Path,
    to: Path,
    variants: Sequence[str] = tuple(VARIANTS),
    layouts: Sequence[Layout] = get_args(Layout),
) -> dict[str, Truth | None]:
    """Write the variants; unchanged videos of v2.1 share their bytes with the source where they can.

    Returns:
        Variant → what was planted; None for the base.

    Raises:
        UsageError: if the source is not the set that the defects are defined on.
        FileExistsError: if a variant is already there.
    """
    corpus = discover(source)
    data, ids = load(corpus)
    data = replace(data, takes=data.takes[:EPISODES])
    truths: dict[str, Truth | None] = {}
    for variant in variants:
        defect, made = VARIANTS[variant], data
        truths[variant] = None
        if defect is not None:
            name, size, channel = defect
            made, planted = plant(data, corpus, ids, FAULTY, [(name, size)], SEED, channel)
            truths[variant] = planted[0]
        for layout in layouts:
            write(to / f"{variant}_{layout.replace('.', '')}", made, layout, link=True)
    rows = {v: None if t is None else asdict(t) for v, t in truths.items()}
    (to / "truth.json").write_text(json.dumps(rows, indent=1), "utf-8")
    return truths


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path)
    parser.add_argument("to", type=Path)
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--layouts", default=",".join(get_args(Layout)))
    given = parser.parse_args()
    for variant, truth in build(
        given.source, given.to, given.variants.split(","), given.layouts.split(",")
    ).items():
        print(variant, truth)


if __name__ == "__main__":
    main()
