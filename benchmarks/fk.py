"""Forward kinematics beside Pinocchio's loop, in poses per second: ``python benchmarks/fk.py [--json]``.

Measured in processor time of one thread on the G1 with 29 joints, random poses, floating base. *All links*
writes the pose of each of the card's links; *29 bodies and root* those that joints move; *soles* the 8 sole
points. Pinocchio runs the usual loop pose by pose: forward kinematics, frame placements, positions into an
array; *nothing read* leaves out all but the first. Its model is made from the card's own numbers, so that no
model file is needed. The uncached time is a fresh process with an empty cache; the loading time is the next.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from assay.embodiment import Tree, load
from assay.embodiment.kinematics import link_poses, points, warm
from assay.embodiment.tree import HINGE

FRAMES = 20_000
REPEATS = 7


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--json", action="store_true")
    found = measure()
    if options.parse_args().json:
        print(json.dumps(found))
        return
    print(f"{found['frames']} poses of {found['body']}, {found['links']} links, one core, best of {REPEATS}")
    for name, rate in found["poses_per_second"].items():
        print(f"  {name:<34}{rate:>12,.0f} poses/s")
    for name, factor in found["faster_than_pinocchio"].items():
        print(f"  {name:<34}{factor:>12.1f} times as fast")
    times = f"{found['uncached_s']:.1f} s, loaded from it in {found['cached_s']:.1f} s"
    print(f"  compiled with an empty cache in {times}")


def measure() -> dict[str, Any]:
    body = load("unitree_g1_29")
    tree = body.tree
    assert tree is not None
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, (FRAMES, len(tree.joints)))
    base_p, base_q = rng.normal(size=(FRAMES, 3)), rng.normal(size=(FRAMES, 4))
    base_q /= np.linalg.norm(base_q, axis=1, keepdims=True)
    moving = [name for i, name in enumerate(tree.links) if i == 0 or tree.column[i] >= 0]
    feet = [s.link for s in body.soles for _ in s.points]
    local = np.concatenate([s.points for s in body.soles])
    warm()
    rates = {
        "assay, all links": rate(lambda: link_poses(tree, q, base_p, base_q)),
        "assay, 29 bodies and root": rate(lambda: link_poses(tree, q, base_p, base_q, moving)),
        "assay, 8 sole points": rate(lambda: points(tree, q, base_p, base_q, feet, local)),
    }
    few = slice(0, FRAMES // 10)
    for name, links in (("all links", tree.links), ("2 feet", feet[::4]), ("nothing read", ())):
        loop = pinocchio_loop(tree, q[few], base_p[few], base_q[few], links)
        if loop is not None:
            rates[f"pinocchio, {name}"] = rate(loop) / 10
    uncached, cached = compile_times()
    return {
        "body": body.name, "links": len(tree.links), "frames": FRAMES, "poses_per_second": rates,
        "faster_than_pinocchio": factors(rates), "uncached_s": uncached, "cached_s": cached,
    }  # fmt: skip


def factors(rates: dict[str, float]) -> dict[str, float]:
    pairs = (("all links", "assay, all links", "pinocchio, all links"),
             ("8 sole points against 2 feet", "assay, 8 sole points", "pinocchio, 2 feet"),
             ("all links against nothing read", "assay, all links", "pinocchio, nothing read"))  # fmt: skip
    return {name: rates[ours] / rates[theirs] for name, ours, theirs in pairs if theirs in rates}


def rate(run: Callable[[], object]) -> float:
    """Poses per second of the fastest of several runs."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.thread_time()
        run()
        best = min(best, time.thread_time() - start)
    return FRAMES / best


def pinocchio_loop(
    tree: Tree, q: np.ndarray, base_p: np.ndarray, base_q: np.ndarray, links: Sequence[str]
) -> Callable[[], object] | None:
    try:
        import pinocchio as pin
    except ImportError:
        print("pinocchio is not installed (pip install 'assay[physics]'): not compared", file=sys.stderr)
        return None
    model, every = pinocchio_model(tree, pin)
    frames = [every[tree.index(name)] for name in links]
    data = model.createData()
    full = np.concatenate([base_p, np.roll(base_q, -1, axis=1), q], axis=1)
    out = np.empty((len(q), len(frames), 3))

    def run() -> np.ndarray:
        for t in range(len(full)):
            pin.forwardKinematics(model, data, full[t])
            if len(frames) == len(every):
                pin.updateFramePlacements(model, data)
            else:
                for frame in frames:
                    pin.updateFramePlacement(model, data, frame)
            for k, frame in enumerate(frames):
                out[t, k] = data.oMf[frame].translation
        return out

    return run


def pinocchio_model(tree: Tree, pin: Any) -> tuple[Any, list[int]]:
    """The tree as a Pinocchio model (hinges in the tree's order) and its links' frames."""
    model = pin.Model()
    first = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    on = [(first, pin.SE3.Identity())]
    frames = [model.addFrame(pin.Frame(tree.links[0], first, 0, pin.SE3.Identity(), pin.FrameType.BODY))]
    for i in range(1, len(tree.links)):
        joint, outer = on[tree.parent[i]]
        placed = outer * pin.SE3(tree.R[i], tree.p[i])
        if tree.kind[i] == HINGE:
            joint = model.addJoint(
                joint, pin.JointModelRevoluteUnaligned(tree.axis[i]), placed, tree.carrier[i]
            )
            placed = pin.SE3.Identity()
        on.append((joint, placed))
        frames.append(model.addFrame(pin.Frame(tree.links[i], joint, 0, placed, pin.FrameType.BODY)))
    return model, frames


def compile_times() -> tuple[float, float]:
    """Seconds of the first use in a fresh process with an empty cache, and of the next process."""
    code = (
        "import time; s = time.perf_counter(); from assay.embodiment.kinematics import warm; warm();"
        " print(time.perf_counter() - s)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        runs = [subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True,
                               check=True) for _ in range(2)]  # fmt: skip
    return float(runs[0].stdout), float(runs[1].stdout)


if __name__ == "__main__":
    main()
