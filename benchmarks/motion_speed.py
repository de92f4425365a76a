"""What the gates on retargeted motion cost beyond reading: ``python -m benchmarks.motion_speed [--json]``.

Processor time of one thread, microseconds per frame, best of several runs, feature by feature and gate by
gate (each with what it needs already there), then the whole family from an opened episode to its verdicts,
segments and contact included, with the human source and without. Synthetic walks of four lengths on a
declared ground, since calls of a fixed cost weigh more on a short clip; the file's own reading (a 36-column
table) stands beside it. Last the real clips, where they are here: all their frames by all their time.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from benchmarks.power.motion_clips import opened_motion

from assay import plugs
from assay.corpus import discover
from assay.embodiment.kinematics import warm
from assay.examine import examine
from assay.feature import Features
from assay.model import Episode
from assay.parts import open_episode
from assay.synth.walks import walk

LENGTHS: Final = ((10.0, 30), (100.0 / 3, 30), (100.0, 50), (400.0, 50))
"""Seconds and Hz: a clip of 300 frames, of 1,000, of 5,000, of 20,000."""
FEATURES: Final = ("joint_groups", "joints", "poses", "source_stance", "ground", "stance", "followed",
                   "contact", "segments")  # fmt: skip
GATES: Final = ("RTG001", "RTG003", "RTG004", "RTG005", "RTG006", "RTG007", "RTG008", "RTG012", "RTG013")
BUDGET: Final = 10.0


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--json", action="store_true")
    found = [measure(seconds, rate) for seconds, rate in LENGTHS]
    if options.parse_args().json:
        print(json.dumps(found))
        return
    print(
        f"{'microseconds per frame and core':<34}" + "".join(f"{f['frames']:>9,}" for f in found) + "  frames"
    )
    for name in found[0]["each"]:
        print(f"  {name:<32}" + "".join(f"{f['each'][name]:>9.2f}" for f in found))
    for name, what in (("family", f"whole family, budget {BUDGET:g}"), ("alone", "  without a human source"),
                       ("reading", "reading 36 columns")):  # fmt: skip
        print(f"  {what:<32}" + "".join(f"{f[name]:>9.2f}" for f in found))
    print(f"  {real()}")


def real() -> str:
    """The whole family on real clips: microseconds per frame, over all of them and of the middle one."""
    data = Path(os.environ.get("ASSAY_DATA") or Path(__file__).resolve().parents[2] / "shared/data")
    eps = [b.ep for b in opened_motion(data)]
    if not eps:
        return "no real clips here"
    frames = np.array([len(ep.streams[0]) for ep in eps])
    cost = np.array([_best(lambda ep=ep: _family(ep), 20) for ep in eps])
    whole, middle = cost.sum() / frames.sum(), np.median(cost / frames)
    said = f"{whole:.1f} in all, {middle:.1f} the middle one"
    return f"{len(eps)} real clips, {np.median(frames):.0f} frames: {said}"


def measure(seconds: float, rate: int) -> dict[str, Any]:
    """Microseconds per frame of each feature and gate, of the family, and of reading the table."""
    warm()
    ep = walk(seconds, rate)
    frames = len(ep.streams[0])
    repeats = max(5, min(200, 60_000 // frames))
    each: dict[str, float] = {}
    ready = Features(ep, plugs.features())
    for name in FEATURES:
        wanted = plugs.features()[name]
        needs = [ready.get(n) for n in wanted.needs]
        each[name] = _best(lambda f=wanted, n=needs: f.compute(ep, *n), repeats) / frames
        ready.get(name)
    for code in GATES:
        gate = plugs.gates()[code]
        each[f"{code} {gate.name}"] = (
            _best(lambda g=gate: examine(g, ready, g.params(), ep.id), repeats) / frames
        )
    alone = ep.without_stream("smpl_joints")
    return {
        "frames": frames, "each": each, "family": _best(lambda: _family(ep), repeats) / frames,
        "alone": _best(lambda: _family(alone), repeats) / frames, "reading": _reading(ep, repeats) / frames,
    }  # fmt: skip


def _family(ep: Episode) -> None:
    features = Features(ep, plugs.features())
    for code in GATES:
        gate = plugs.gates()[code]
        examine(gate, features, gate.params(), ep.id)
    for name in FEATURES:
        features.get(name)


def _reading(ep: Episode, repeats: int) -> float:
    root, joints = ep.stream("root"), ep.stream("joints")
    assert root is not None
    assert joints is not None
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(Path(folder, "clip.csv"), np.hstack([root.x, joints.x]), delimiter=",", fmt="%.6f")
        Path(folder, "assay.toml").write_text('embodiment = "unitree_g1_29"\nfps = 50\nquaternion = "wxyz"\n')
        corpus = discover(Path(folder))
        return _best(
            lambda: open_episode(corpus.listing, corpus.listing.refs[0], None, corpus.sheet), repeats
        )


def _best(call: Callable[[], object], repeats: int) -> float:
    """Microseconds of processor time of the quickest call."""
    call()
    quickest = np.inf
    for _ in range(repeats):
        start = time.process_time_ns()
        call()
        quickest = min(quickest, time.process_time_ns() - start)
    return float(quickest) / 1e3


if __name__ == "__main__":
    main()
