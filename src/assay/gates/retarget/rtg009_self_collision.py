"""The body runs into itself.

What: how deep one link lies in another, over all pairs of links that are not neighbours.

Why: a real robot stops there, or breaks; a simulator pushes the links apart, so that the policy is asked to
track what physics forbids. Human arms are slimmer and softer than a robot's: playback hides it.

Method: capsules fitted to the body's public meshes; per frame the deepest pair. Pairs are left out that
fewer than three joints move against each other (their clearances are millimetres, and limits keep them
apart), whose meshes touch at rest or in most postures, or that hang on a joint which nobody recorded. More
than 1 cm deep in more than 0.5 % of frames fails. By how much capsules call contacts deeper than meshes is
taken off, and their deviation is the uncertainty.

Source: METHODS 2 (OmniRetarget: pairs that are not neighbours, tolerance 1 cm). REAL-CLIPS: with one capsule
per link 23 of 43 public clips have some such frame and 9 more than 5 %; the hand's radius did most of it.

Blind spots: cloth, cables, what the robot carries or wears; hands of another maker (their links are left
out); neighbours across one or two joints; a body without public meshes abstains.

Dose: depth of one link in another (m).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.embodiment import Embodiment, Tree
from assay.embodiment.capsules import deepest, pairs
from assay.gate import Abstain, Case, Evidence, Outcome, gate, param
from assay.model import Episode, Role
from assay.signals.intervals import ends
from assay.signals.posture import Poses
from assay.synth.touches import pressed
from assay.synth.walks import walk

STATES = (Role.JOINT_POSITION,)


@dataclass(frozen=True, slots=True)
class Params:
    """Limits of RTG009."""

    limit: float = param(0.01, "m", "published tolerance of OmniRetarget's evaluation: 1 cm", judged=True)
    quota: float = param(0.005, "1", "as for penetration of the ground, until calibrated", judged=True)


def unlegged(ep: Episode) -> Episode:
    """The same without the waist's columns: nobody knows where the legs are beside the arms."""
    joints = ep.stream("joints")
    assert joints is not None
    keep = [i for i, name in enumerate(joints.names) if not name.startswith("waist")]
    channels = tuple(joints.channels[i] for i in keep)
    return ep.with_stream(replace(joints, x=np.asarray(joints.x)[:, keep], channels=channels))


def shapeless() -> Episode:
    """A body without public meshes."""
    ep = walk()
    assert ep.embodiment is not None
    return replace(ep, embodiment=replace(ep.embodiment, capsules=None))


CASES = (
    Case("arms held out", lambda: pressed(-0.05), "pass"),
    Case("forearm 3 cm in the trunk for half a second", lambda: pressed(0.03), "fail", at=(3.0, 3.5)),
    Case("forearm 3 cm in the trunk, the waist not recorded", lambda: unlegged(pressed(0.03)), "fail",
         at=(3.0, 3.5)),
    Case("the same at 120 Hz", lambda: pressed(0.03, rate=120), "fail", at=(3.0, 3.5)),
    Case("forearm touches the trunk", lambda: pressed(0.0), "pass"),
    Case("3 cm for a single frame of 240", lambda: pressed(0.03, 3.0, 3.03), "pass"),
    Case("no body", lambda: replace(walk(), embodiment=None), "abstain", reason="unknown-body"),
    Case("a body without public meshes", shapeless, "abstain", reason="no-reference"),
    Case("no state", lambda: walk().without_stream("joints"), "abstain", reason="absent-stream"),
)  # fmt: skip


@gate(code="RTG009", name="self-collision", reads=STATES)
def measure(ep: Episode, p: Params, poses: Poses | None) -> Iterator[Outcome]:
    """Depth of the deepest pair of links in each frame."""
    body = ep.embodiment
    if not ep.by_role(*STATES):
        yield Abstain("absent-stream", "no joint positions")
    elif body is None or body.tree is None:
        yield Abstain("unknown-body", "no links without a body")
    elif body.capsules is None:
        yield Abstain("no-reference", f"no public meshes of {body.name} were at hand")
    elif poses is None:
        yield Abstain("unresolved-names", "no joint of the body is named, or no unit is known")
    else:
        yield _depth(ep, p, body, poses)


def _depth(ep: Episode, p: Params, body: Embodiment, poses: Poses) -> Outcome:
    assert body.capsules is not None
    every = pairs(poses.tree, body.capsules)
    of = [pair for pair in every if _recorded(poses.tree, pair, poses.known)]
    if not of:
        return Abstain("unresolved-names", "no two links of which the joints between are named", poses.stream)
    depth, which = deepest(poses.tree, body.capsules, poses.q, of)
    depth -= body.capsules.bias
    depth[np.isnan(poses.q[:, poses.known]).any(axis=1)] = np.nan
    rate = ep.by_role(*STATES)[0].rate
    left = len(every) - len(of)
    return Evidence(
        depth, poses.t, ends(poses.t, float(rate) if rate else None), "m", p.limit, u=body.capsules.u,
        stream=poses.stream, which=which, channels=tuple(f"{a} in {b}" for a, b in of), quota=p.quota,
        note=f"{left} of {len(every)} pairs hang on joints that nobody recorded" if left else "",
        doubt=f"the capsules follow the meshes to {body.capsules.u * 1e3:.0f} mm",
    )  # fmt: skip


def _recorded(tree: Tree, pair: tuple[str, str], known: NDArray[np.bool_]) -> bool:
    """Whether every joint between two links was recorded."""
    one, other = (set(tree.ancestors(np.array([tree.index(link)])).tolist()) for link in pair)
    between = tree.column[list(one ^ other)]
    return bool(known[between[between >= 0]].all())
