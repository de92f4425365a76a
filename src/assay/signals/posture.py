"""Where the links that feet and hands need are, over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.kinematics import link_poses
from assay.embodiment.rotation import compose, rotate
from assay.embodiment.tree import Tree

__all__ = ["Poses", "recorded"]

Floats = NDArray[np.float64]
Placed = dict[str, tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of feet and hands over one clip. Hands are computed when first asked for.

    Attributes:
        t: (n,) int64 ns; timed: whether these are real times, or only the order of frames (no rate known).
        stream: name of the joints; base: name of the base pose, empty where there is none to use.
        why: why there is no base, in a few words.
        soles: side → (n, k, 3) m in the world, undersides of the sole's points; empty without a base.
        hands: links at the arms' ends.
        tree, q, known: the body's tree, its columns (n, c) with 0 where not recorded, and which are.
        place: (n, 7) m and wxyz, the base pose, or None.
    """

    t: NDArray[np.int64]
    timed: bool
    stream: str
    base: str
    why: str
    soles: dict[str, Floats]
    hands: tuple[str, ...]
    tree: Tree
    q: Floats
    known: NDArray[np.bool_]
    place: Floats | None

    def lowest(self, side: str) -> Floats:
        """(n,) m: height of the lowest sole point of one foot; found once for all who ask."""
        return self._lowest[side]

    @cached_property
    def _lowest(self) -> dict[str, Floats]:
        found = {}
        for side, sole in self.soles.items():
            z = sole[..., 2]
            found[side] = z[:, 0]
            for k in range(1, z.shape[1]):  # quicker than a reduction over four
                found[side] = np.minimum(found[side], z[:, k])
        return found

    @cached_property
    def low(self) -> Floats:
        """(n,) m: height of the lowest sole point of either foot."""
        return np.asarray(np.minimum.reduce(list(self._lowest.values())))

    @cached_property
    def world(self) -> Placed:
        """Link → (p (n, 3) m, quat (n, 4) wxyz) of each hand in the world; empty without a base."""
        if self.place is None or not self.hands:
            return {}
        p, quat = link_poses(self.tree, self.q, self.place[:, :3], self.place[:, 3:], self.hands)
        blank = [1.0 if recorded(self.tree, link, self.known) else np.nan for link in self.hands]
        return {link: (p[:, i] * blank[i], quat[:, i] * blank[i]) for i, link in enumerate(self.hands)}

    @cached_property
    def torso(self) -> Placed:
        """The same in the frame of the link that all arms hang on, whether or not what is below is known."""
        if not self.hands:
            return {}
        root = _shared(self.tree, self.hands)
        p, quat = link_poses(self.tree, self.q, None, None, [root, *self.hands])
        back = quat[:, 0] * np.array([1.0, -1.0, -1.0, -1.0])
        found = {}
        for i, link in enumerate(self.hands, start=1):
            blank = 1.0 if recorded(self.tree, link, self.known, root) else np.nan
            found[link] = (rotate(back, p[:, i] - p[:, 0]) * blank, compose(back, quat[:, i]) * blank)
        return found

    @cached_property
    def trunk(self) -> Floats | None:
        """(n, 4) wxyz in the world of the link that all arms hang on; None without a base or arms."""
        if self.place is None or not self.hands:
            return None
        root = _shared(self.tree, self.hands)
        quat = link_poses(self.tree, self.q, self.place[:, :3], self.place[:, 3:], [root])[1][:, 0]
        return quat if recorded(self.tree, root, self.known) else quat * np.nan


def recorded(tree: Tree, link: str, known: NDArray[np.bool_], root: str = "") -> bool:
    """Whether every joint that moves a link, up to the link ``root``, was recorded; known is (c,)."""
    return bool(known.all()) or _recorded(tree, link, known.tobytes(), root)


@lru_cache(maxsize=256)
def _recorded(tree: Tree, link: str, seen: bytes, root: str) -> bool:
    known = np.frombuffer(seen, bool)
    at, stop = tree.index(link), tree.index(root) if root else -1
    while at not in (stop, -1):
        if tree.column[at] >= 0 and not known[tree.column[at]]:
            return False
        at = int(tree.parent[at])
    return True


def _shared(tree: Tree, links: tuple[str, ...]) -> str:
    """The last link that carries all of the given ones and is none of them."""
    common: list[int] | None = None
    for link in links:
        path, at = [], int(tree.parent[tree.index(link)])
        while at != -1:
            path.append(at)
            at = int(tree.parent[at])
        common = path if common is None else [i for i in common if i in path]
    return tree.links[max(common or [0])]
