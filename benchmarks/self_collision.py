"""``python -m benchmarks.self_collision``: RTG009 on real clips, untouched and with graded injections.

Prints the page docs/power/RTG009.md below the table of meshes that ``tools/fit_capsules.py`` printed.
Injection: over a random second of a real clip one arm is moved towards the trunk or a thigh, by the joint and
as far as it takes for just more than the quota of frames to be as deep as the dose.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from benchmarks.motion_clips import clips
from benchmarks.power.trials import interval
from numpy.typing import NDArray

from assay import plugs
from assay.embodiment.capsules import deepest, pairs
from assay.embodiment.kinematics import link_poses
from assay.feature import Features
from assay.judge import Judgement, judge
from assay.model import Episode, Role
from assay.signals.posture import Poses

Floats = NDArray[np.float64]

REPO: Final = Path(__file__).resolve().parents[1]
SETS: Final = ("kimodo", "g1moves", "asap", "holosoma", "loco", "g1video", "g1teleop")
DOSES: Final = (-0.02, 0.0, 0.005, 0.015, 0.02, 0.03, 0.04)
TIMES: Final = 60
QUOTA: Final = 0.005
PART: Final = "## On real clips"


def main() -> None:
    """Untouched clips, injections, speed; rewrites the page's second part."""
    data = Path(os.environ.get("ASSAY_DATA") or REPO.parent / "shared" / "data")
    bases = [(s, ep) for s, ep in clips(data, *SETS) if ep.embodiment and ep.embodiment.capsules]
    lines = [PART, "", "Untouched, the deepest pair of each clip that does not pass:", "",
             "| clip | says | frames over 1 cm | deepest | pair |", "|---|---|---|---|---|"]  # fmt: skip
    counts: Counter[str] = Counter()
    clean = []
    for short, ep in bases:
        said, depth, name = look(ep)
        status = said.verdict.status
        counts[f"{short} {status}"] += 1
        if status in {"pass", "fail", "abstain"} and len(depth) and np.nanmax(depth) < 0.0:
            clean.append(ep)
        if status != "pass" and len(depth):
            share, most = 100 * (depth > 0.01).mean(), 100 * np.nanmax(depth)
            what = f"{status} {said.verdict.reason}".strip()
            lines.append(f"| {short}/{ep.id} | {what} | {share:.1f} % | {most:.1f} cm | {name} |")
    every = ", ".join(f"{n} {what}" for what, n in counts.items())
    lines += ["", f"All: {every}.", ""]
    planted_in = f"Planted for a second in the {len(clean)} clips that never touch, {TIMES} draws each,"
    planted_in += " of which some find no room;"
    lines += [f"{planted_in} just more than 0.5 % of frames are as deep as the dose:"]
    lines += [""]
    lines += ["| depth cm | failed | abstained | passed | failed, 95 % |", "|---|---|---|---|---|"]
    lines += [row(clean, dose) for dose in DOSES]
    lines += ["", speed(bases)]
    page = REPO / "docs/power/RTG009.md"
    before = page.read_text("utf-8").partition(PART)[0] if page.is_file() else ""
    page.write_text(before + "\n".join(lines) + "\n", "utf-8")
    print("\n".join(lines))


def look(ep: Episode) -> tuple[Judgement, Floats, str]:
    """The verdict, the depth in each frame, and the worst pair."""
    gate = plugs.gates()["RTG009"]
    features = Features(ep, plugs.features(), {}, {})
    outcomes = list(gate.measure(ep, gate.params(), *(features.get(n) for n in gate.needs)))
    said = judge(outcomes, gate=gate.code, version=gate.version, subject=ep.id)
    found = [o for o in outcomes if hasattr(o, "value")]
    if not found or np.isnan(found[0].value).all():
        return said, np.zeros(0), ""
    worst = int(np.nanargmax(found[0].value))
    return said, found[0].value, found[0].channels[found[0].which[worst]]


def row(bases: list[Episode], dose: float) -> str:
    """Verdicts on injections of one dose."""
    found: Counter[str] = Counter()
    for number in range(TIMES):
        for again in range(60):
            ep = planted(bases, dose, np.random.default_rng([number, again]))
            if ep is not None:
                found[look(ep)[0].verdict.status] += 1
                break
    n = sum(found.values())
    low, high = interval(found["fail"], n)
    return (f"| {100 * dose:.1f} | {found['fail']} | {found['abstain']} | {found['pass']} | "
            f"{100 * low:.1f} to {100 * high:.1f} % |")  # fmt: skip


def planted(bases: list[Episode], dose: float, rng: np.random.Generator) -> Episode | None:
    """A clip with an arm moved over a second until the deepest pair reaches the dose; None without room."""
    ep = bases[rng.integers(len(bases))]
    body = ep.embodiment
    poses = posed(ep)
    if body is None or body.capsules is None or poses is None or not poses.known.all():
        return None
    rate = 1e9 / np.median(np.diff(poses.t))
    length = round(rate)
    if len(poses.t) < 2 * length or length > 0.2 * len(poses.t):
        return None
    first = int(rng.integers(len(poses.t) - length))
    part = slice(first, first + length)
    side = rng.choice(["left", "right"])
    arms = [
        i for i, j in enumerate(body.joints) if j.part == "arm" and j.side == side and "wrist" not in j.name
    ]
    way = np.zeros(len(body.joints))
    way[rng.choice(arms)] = rng.choice([-1.0, 1.0])
    bump = np.sin(np.pi * np.arange(length) / length) ** 0.25
    of = pairs(poses.tree, body.capsules)
    x = np.array(poses.q[part])
    sizes = np.arange(0.0, 2.5, 0.01)
    moved = x + (sizes[:, None] * bump)[..., None] * way
    found = deepest(poses.tree, body.capsules, moved.reshape(-1, x.shape[1]), of)[0] - body.capsules.bias
    over = int(QUOTA * len(poses.t)) + 1  # so many frames lie as deep as the dose, the rest less deep
    depth = np.sort(found.reshape(len(sizes), -1), axis=1)[:, -over]
    reached = np.flatnonzero(depth >= dose)
    if not len(reached) or depth[reached[0]] > dose + 0.002:
        return None
    stream = ep.by_role(Role.JOINT_POSITION)[0]
    y = np.array(stream.x, np.float64)
    for column, joint in enumerate(body.resolve(stream.names)):
        if joint >= 0 and way[joint]:
            y[part, column] = moved[reached[0], :, joint]
    return ep.with_stream(replace(stream, x=y))


@lru_cache(maxsize=64)
def posed(ep: Episode) -> Poses | None:
    """The poses of an episode, once."""
    found: Poses | None = Features(ep, plugs.features(), {}, {}).get("poses")
    return found


def speed(bases: list[tuple[str, Episode]]) -> str:
    """Time per frame of the kernel over all clips, the best of five."""
    work = []
    for _, ep in bases:
        poses = Features(ep, plugs.features(), {}, {}).get("poses")
        if poses is not None and poses.known.all():
            assert ep.embodiment is not None
            assert ep.embodiment.capsules is not None
            of = pairs(poses.tree, ep.embodiment.capsules)
            work.append((poses.tree, ep.embodiment.capsules, poses.q, of))
    frames, spent = sum(len(w[2]) for w in work), []
    for _ in range(5):
        start = time.process_time()
        for job in work:
            deepest(*job)
        spent.append(time.process_time() - start)
    took = 1e6 * min(spent) / frames
    start = time.process_time()
    for tree, _, q, _ in work:
        link_poses(tree, q)
    alone = 1e6 * (time.process_time() - start) / frames
    return (f"{len(work[0][3])} pairs of links: {took:.1f} us per frame of one core ({frames} frames, a busy "
            f"machine), of which the poses of all links alone take {alone:.1f} us.")  # fmt: skip


if __name__ == "__main__":
    main()
