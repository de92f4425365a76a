"""A kinematic tree as rows of a card, one per link, without what is zero or unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from assay.embodiment.tree import FIXED, FREE, HINGE, SLIDE, Tree

__all__ = ["rows_of", "tree_of"]

_KINDS: Final = {"fixed": FIXED, "hinge": HINGE, "slide": SLIDE, "free": FREE}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}
_UNTURNED: Final = [1.0, 0.0, 0.0, 0.0]
_ORIGIN: Final = [0.0, 0.0, 0.0]
_SIX: Final = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def rows_of(tree: Tree) -> list[dict[str, Any]]:
    """The rows of a tree; numbers keep all their digits, so that `tree_of` gives the same tree."""
    return [_row(tree, i) for i in range(len(tree.links))]


def _row(tree: Tree, i: int) -> dict[str, Any]:
    row: dict[str, Any] = {"link": tree.links[i], "kind": _NAMES[int(tree.kind[i])]}
    optional = {
        "parent": (tree.links[tree.parent[i]] if i else None, None),
        "joint": (tree.carrier[i], ""),
        "p": (tree.p[i].tolist(), _ORIGIN),
        "quat": (tree.quat[i].tolist(), _UNTURNED),
        "axis": (tree.axis[i].tolist(), _ORIGIN),
        "column": (int(tree.column[i]), -1),
        "gain": (float(tree.gain[i]), 1.0),
        "offset": (float(tree.offset[i]), 0.0),
    }
    row |= {key: value for key, (value, default) in optional.items() if value != default}
    if np.isfinite(tree.mass[i]):
        row |= {"mass": float(tree.mass[i]), "com": tree.com[i].tolist()}
        if np.isfinite(tree.inertia[i]).all():
            row["inertia"] = [float(tree.inertia[i][at]) for at in _SIX]
    return row


def tree_of(rows: Sequence[dict[str, Any]], joints: Sequence[str]) -> Tree:
    """The tree of a card's rows, parents first, with the names of its columns."""
    at = {row["link"]: i for i, row in enumerate(rows)}

    def column(key: str, default: Any) -> list[Any]:
        return [row.get(key, default) for row in rows]

    return Tree(
        links=tuple(at),
        joints=tuple(joints),
        carrier=tuple(column("joint", "")),
        parent=np.array([at[row["parent"]] if "parent" in row else -1 for row in rows], np.int64),
        kind=np.array([_KINDS[row["kind"]] for row in rows], np.int64),
        p=np.array(column("p", _ORIGIN), np.float64),
        quat=np.array(column("quat", _UNTURNED), np.float64),
        axis=np.array(column("axis", _ORIGIN), np.float64),
        column=np.array(column("column", -1), np.int64),
        gain=np.array(column("gain", 1.0), np.float64),
        offset=np.array(column("offset", 0.0), np.float64),
        mass=np.array(column("mass", np.nan), np.float64),
        com=np.array(column("com", [np.nan] * 3), np.float64),
        inertia=np.array([_square(row.get("inertia")) for row in rows], np.float64),
    )


def _square(six: list[float] | None) -> list[list[float]]:
    if six is None:
        return [[np.nan] * 3] * 3
    xx, xy, xz, yy, yz, zz = six
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
