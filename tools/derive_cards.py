"""Derive the packaged body cards from public models: ``python tools/derive_cards.py PATH_TO_MODELS``.

PATH_TO_MODELS holds the models as their makers lay them out (``unitree_ros/g1_description``,
``holosoma/g1``), beside or below a ``MANIFEST.tsv`` (columns dest, source, commit, licence) that says where
each file is from. Only numbers are taken; no model file is copied. Run by hand when a model changes, and
commit the cards together with the reason.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.embodiment.body import Embodiment, LimitSet
from assay.embodiment.card_tree import rows_of
from assay.embodiment.model_file import model_inside
from assay.embodiment.tree import FIXED, Tree

CARDS = Path(__file__).resolve().parent.parent / "src" / "assay" / "embodiment" / "cards"

Rename = Callable[[str], str]


@dataclass(frozen=True)
class Recipe:
    """A card: the first model gives tree, soles, joints and the default limits, all give limit sets.

    Attributes:
        models: (path, grade); after the first, sets that add something to every earlier one are kept.
        rename: another model's joint name in the words of the first.
        locked: joints held at zero, which the card then does not have.
    """

    models: tuple[tuple[str, str], ...]
    rename: Rename = str
    locked: re.Pattern[str] | None = None


def h1_name(name: str) -> str:
    """robosuite's name of an H1 joint in Unitree's words."""
    return re.sub(r"^(left|right)_(leg|arm)_", r"\1_", name)


def gr1_name(name: str) -> str:
    """robosuite's name of a GR1 joint in Fourier's words."""
    name = re.sub(r"^(l|r)_(leg_)?", lambda m: {"l": "left_", "r": "right_"}[m[1]], name)
    return re.sub(r"^torso_waist", "waist", name) + "_joint"


G1 = (
    ("unitree_ros/g1_description/g1_29dof_rev_1_0.urdf", "hard"),
    ("unitree_ros/g1_description/g1_29dof_mode_15.urdf", "hard"),
    ("unitree_ros/g1_description/g1_29dof.urdf", "hard"),
    ("holosoma/g1/g1_29dof.urdf", "simulator"),
)

RECIPES = {
    "unitree_g1_29": Recipe(G1),
    # ASAP's 23 joints are the 29 without the wrists; Unitree's 23 keep wrist roll and lose two of the waist.
    "unitree_g1_23_asap": Recipe(G1, locked=re.compile("wrist")),
    "unitree_g1_23": Recipe((("unitree_ros/g1_description/g1_23dof_rev_1_0.urdf", "hard"),)),
    "unitree_h1": Recipe(
        (
            ("unitree_ros/h1_description/urdf/h1.urdf", "hard"),
            ("unitree_ros/h1_description/mjcf/h1.xml", "simulator"),
            ("robosuite_models/robots/h1/robot.xml", "simulator"),
        ),
        rename=h1_name,
    ),
    "fourier_gr1t2": Recipe(
        (("fourier_gr1/gr1t2.urdf", "hard"), ("robosuite/robots/gr1/robot.xml", "simulator")), rename=gr1_name
    ),
    # No card for Talos: its joints are called as TIAGo's are (arm_left_1, head_1), and names decide.
    "franka_panda": Recipe((("example_robot_data/panda.urdf", "hard"),)),
}

FINGERS = ("pinky", "ring", "middle", "index", "thumb_bend", "thumb_rotation")
INSPIRE_NAMES = {"pinky": ("little",), "thumb_bend": ("thumb_flexion",), "thumb_rotation": ("thumb_lateral",)}
DEX3 = tuple(f"unitree_ros/dexterous_hand_description/dex3_1/dex3_1_{s}.urdf" for s in "lr")


def main(models: Path) -> None:
    """Write every card."""
    origins = manifest(models)
    for name, recipe in RECIPES.items():
        write(name, derived(name, recipe, models, origins))
    write("unitree_dex3", dex3(models, origins))
    write("inspire", inspire())


def derived(name: str, recipe: Recipe, models: Path, origins: dict[str, dict[str, str]]) -> dict[str, Any]:
    """A card of one recipe."""
    bodies = [model_inside((models / path).parent, Path(path).name) for path, _ in recipe.models]
    body = bodies[0]
    kept = [i for i, j in enumerate(body.joints) if not (recipe.locked and recipe.locked.search(j.name))]
    joints = [joint_row(body, i) for i in kept]
    sets: list[dict[str, Any]] = []
    for other, (path, grade) in zip(bodies, recipe.models, strict=True):
        names = {recipe.rename(j.name): i for i, j in enumerate(other.joints)}
        if other is body:
            names = {j.name: i for i, j in enumerate(body.joints)}
        if set(names) != {j.name for j in body.joints}:
            raise SystemExit(f"{path}: joints differ from {recipe.models[0][0]}: {sorted(set(names))}")
        order = [names[row["name"]] for row in joints]
        for row, at in zip(joints, order, strict=True):
            alias = other.joints[at].name
            if alias != row["name"] and alias not in row.setdefault("aliases", []):
                row["aliases"].append(alias)
        new = limit_row(other.limits[0], order, path, grade, origins)
        if all(adds(new, old) for old in sets):
            sets.append(new)
    first = origins[f"models/{recipe.models[0][0]}"]
    assert body.tree is not None
    tree = locked(body.tree, kept)
    return {
        "name": name,
        "source": f"{first['source']} {first['source_path']} at {first['commit']}",
        "licence": first["licence"],
        "joints": joints,
        "limits": sets,
        "soles": [
            {"side": s.side, "link": s.link, "origin": s.origin, "points": s.points.tolist(),
             "radius": s.radius.tolist()}
            for s in body.soles
        ],
        "tree": rows_of(tree),
    }  # fmt: skip


def adds(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether a set says something that an earlier one does not: unknown contradicts nothing."""
    keys = ("lower", "upper", "speed", "effort")
    return any(a is not None and a != b for key in keys for a, b in zip(new[key], old[key], strict=True))


def locked(tree: Tree, kept: Sequence[int]) -> Tree:
    """The tree with only the kept columns; other joints stay where zero puts them."""
    new = np.full(len(tree.joints), -1, np.int64)
    new[kept] = np.arange(len(kept))
    moving = (tree.column >= 0) & (new[tree.column] >= 0)
    return replace(
        tree,
        joints=tuple(tree.joints[i] for i in kept),
        kind=np.where(moving | (tree.column < 0), tree.kind, FIXED),
        column=np.where(moving, new[tree.column], -1),
        axis=np.where(moving[:, None], tree.axis, 0.0),
    )


def joint_row(body: Embodiment, i: int) -> dict[str, Any]:
    """A joint as a card holds it."""
    joint = body.joints[i]
    return {"name": joint.name, "part": joint.part, "side": joint.side, "unit": joint.unit}


def limit_row(
    limits: LimitSet, order: Sequence[int], path: str, grade: str, origins: dict[str, dict[str, str]]
) -> dict[str, Any]:
    """A limit set as a card holds it: unknown is null."""
    origin = origins[f"models/{path}"]
    numbers = {
        key: [v if np.isfinite(v) else None for v in getattr(limits, key)[list(order)].tolist()]
        for key in ("lower", "upper", "speed", "effort")
    }
    return {
        "source": f"{path.split('/', maxsplit=1)[0]} {Path(path).name}",
        "revision": origin["commit"].strip("-") or origin["source"],
        "grade": grade,
        "licence": origin["licence"],
        **numbers,
    }


def dex3(models: Path, origins: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Both Dex3-1 hands, left then right; two trees without a common root, so that the card holds none."""
    bodies = [model_inside((models / path).parent, Path(path).name) for path in DEX3]
    rows = [limit_row(b.limits[0], range(len(b.joints)), p, "hard", origins)
            for b, p in zip(bodies, DEX3, strict=True)]  # fmt: skip
    both = {key: rows[0][key] + rows[1][key] for key in ("lower", "upper", "speed", "effort")}
    first = origins[f"models/{DEX3[0]}"]
    return {
        "name": "unitree_dex3",
        "source": f"{first['source']} {first['source_path']} and its right hand at {first['commit']}",
        "licence": first["licence"],
        "joints": [joint_row(body, i) for body in bodies for i in range(len(body.joints))],
        "limits": [{**rows[0], "source": "unitree_ros dex3_1_l.urdf, dex3_1_r.urdf", **both}],
    }


def inspire() -> dict[str, Any]:
    """Inspire RH56 hands: six drives a hand, each a share of its range, 0 closed and 1 open.

    From the documentation of Unitree's DDS service for the hand (order pinky, ring, middle, index, thumb
    bend, thumb rotation; q from 0 to 1) and of Unitree's published sets (0.0 close, 1.0 open). A revision
    of the latter says 0 open, 1 close: the card therefore states the range, and no gate relies on the sign.
    """
    rows = [
        {
            "name": f"{hand}_hand_{finger}",
            "part": "hand",
            "side": hand,
            "unit": "1",
            "aliases": [
                f"{hand}_{finger}",
                f"{hand}_inspire_{finger}",
                *(f"{hand}_hand_{other}" for other in INSPIRE_NAMES.get(finger, ())),
            ],
        }
        for hand in ("left", "right")
        for finger in FINGERS
    ]
    source = "inspire RH56 normalised drive (unitreerobotics dfx_inspire_service README)"
    n = len(rows)
    bounds = {"lower": [0.0] * n, "upper": [1.0] * n, "speed": [None] * n, "effort": [None] * n}
    return {
        "name": "inspire",
        "source": source,
        "licence": "facts from public documentation",
        "joints": rows,
        "limits": [{"source": source, "revision": "RH56DFX", "grade": "hard", "licence": "facts", **bounds}],
    }


def manifest(models: Path) -> dict[str, dict[str, str]]:
    """Where each file is from, by its path below the folder of the manifest."""
    with (models.parent / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        return {row["dest"]: row for row in csv.DictReader(file, delimiter="\t")}


def write(name: str, card: dict[str, Any]) -> None:
    """One card as JSON, one joint, limit set, sole, link or capsule per line.

    Capsules that ``fit_capsules.py`` put into the card are kept.
    """
    path = CARDS / f"{name}.json"
    before = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    card = {key: before[key] for key in ("shell", "capsules") if key in before} | card
    lines = [f"  {json.dumps(key)}: {json.dumps(card[key])}" for key in ("name", "source", "licence")]
    lines += [
        f'  "{key}": [\n' + ",\n".join(f"    {json.dumps(row)}" for row in card[key]) + "\n  ]"
        for key in ("joints", "limits", "soles", "tree", "capsules")
        if card.get(key)
    ]
    lines += [f'  "shell": {json.dumps(card["shell"])}'] if "shell" in card else []
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python tools/derive_cards.py PATH_TO_MODELS")
    main(Path(sys.argv[1]))
