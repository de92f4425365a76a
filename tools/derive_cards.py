"""Derive the packaged body cards from public models: ``python tools/derive_cards.py PATH_TO_MODELS``.

PATH_TO_MODELS holds the models as their makers lay them out (``unitree_ros/g1_description``,
``holosoma/g1``), beside or below a ``MANIFEST.tsv`` (columns dest, source, commit, licence) that says where
each file is from. Only numbers are taken; no model file is copied. Run by hand when a model changes, and
commit the cards together with the reason.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

from defusedxml.ElementTree import parse

CARDS = Path(__file__).resolve().parent.parent / "src" / "assay" / "embodiment" / "cards"

G1 = (
    ("unitree_ros/g1_description/g1_29dof_rev_1_0.urdf", "hard"),
    ("unitree_ros/g1_description/g1_29dof_mode_15.urdf", "hard"),
    ("unitree_ros/g1_description/g1_29dof.urdf", "hard"),
    ("holosoma/g1/g1_29dof.urdf", "simulator"),
)
"""The first is the default; of the others those that disagree with every earlier set are kept."""

PARTS = {
    "leg": ("hip", "knee", "ankle"),
    "waist": ("waist", "torso"),
    "arm": ("shoulder", "elbow", "wrist"),
    "head": ("head", "neck"),
}
FINGERS = ("pinky", "ring", "middle", "index", "thumb_bend", "thumb_rotation")
INSPIRE_NAMES = {"pinky": ("little",), "thumb_bend": ("thumb_flexion",), "thumb_rotation": ("thumb_lateral",)}


def main(models: Path) -> None:
    """Write every card."""
    write("unitree_g1_29", g1(models))
    write("inspire", inspire())


def g1(models: Path) -> dict[str, Any]:
    """The Unitree G1 with 29 joints, in the order of its URDF; rad, rad/s, N*m."""
    origins = manifest(models)
    sets: list[dict[str, Any]] = []
    names: list[str] = []
    for path, grade in G1:
        rows = joints(models / path)
        names = names or [row["name"] for row in rows]
        if [row["name"] for row in rows] != names:
            raise SystemExit(f"{path}: joints differ in name or order from {G1[0][0]}")
        origin = origins[f"models/{path}"]
        new = {key: [row[key] for row in rows] for key in ("lower", "upper", "speed", "effort")}
        if all(any(new[key] != old[key] for key in new) for old in sets):
            source = f"{path.split('/')[0]} {Path(path).name}"
            sets.append({"source": source, "revision": origin["commit"].strip("-") or origin["source"],
                         "grade": grade, "licence": origin["licence"], **new})  # fmt: skip
    first = origins[f"models/{G1[0][0]}"]
    return {
        "name": "unitree_g1_29",
        "source": f"{first['source']} {first['source_path']} at {first['commit']}",
        "licence": first["licence"],
        "joints": [{"name": n, "part": part(n), "side": side(n), "unit": "rad"} for n in names],
        "limits": sets,
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


def joints(urdf: Path) -> list[dict[str, Any]]:
    """The moving joints of a URDF in file order; a limit of speed or effort that is 0 is unknown (None)."""
    rows = []
    for joint in parse(urdf).getroot().findall("joint"):
        limit = joint.find("limit")
        if (
            joint.get("type") not in ("revolute", "prismatic", "continuous")
            or joint.find("mimic") is not None
        ):
            continue
        said = {} if limit is None else {key: float(text) for key, text in limit.attrib.items()}
        bounded = joint.get("type") != "continuous"
        rows.append({
            "name": joint.get("name"),
            "lower": said.get("lower") if bounded else None,
            "upper": said.get("upper") if bounded else None,
            "speed": said.get("velocity") or None,
            "effort": said.get("effort") or None,
        })  # fmt: skip
    return rows


def part(name: str) -> str:
    """Which part of the body a joint moves, from the words of its name."""
    return next((p for p, words in PARTS.items() if any(w in name for w in words)), "other")


def side(name: str) -> str:
    """left, right or neither."""
    return next((s for s in ("left", "right") if name.startswith(s)), "")


def manifest(models: Path) -> dict[str, dict[str, str]]:
    """Where each file is from, by its path below the folder of the manifest."""
    with (models.parent / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        return {row["dest"]: row for row in csv.DictReader(file, delimiter="\t")}


def write(name: str, card: dict[str, Any]) -> None:
    """One card as JSON, one joint per line."""
    lines = [f"  {json.dumps(key)}: {json.dumps(card[key])}" for key in ("name", "source", "licence")]
    lines += [
        f'  "{key}": [\n' + ",\n".join(f"    {json.dumps(row)}" for row in card[key]) + "\n  ]"
        for key in ("joints", "limits")
    ]
    (CARDS / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python tools/derive_cards.py PATH_TO_MODELS")
    main(Path(sys.argv[1]))
