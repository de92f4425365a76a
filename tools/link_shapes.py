"""A link's outer shape from its mesh: samples outside of it with their distance, and how deep a point is in.

Meshes of robots are not closed solids: shells hold motors, plates have holes. The outside is therefore what a
ball of 8 mm reaches from afar; everything else is inside. Card building only; needs coal (it comes with pin).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET  # the makers' own files, by hand, at card-building time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import coal
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, label, map_coordinates
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from assay.embodiment.capsules import rigid
from assay.embodiment.kinematics import link_poses
from assay.embodiment.tree import Tree

Floats = NDArray[np.float64]

VOXEL = 0.004
"""m; edge of the cells that the outside is found in."""
BALL = 0.008
"""m; what a ball of this radius cannot enter is inside: bolt holes, gaps between shells."""
MARGIN = 0.05
"""m; how far around a link its surroundings are looked at."""


@dataclass(frozen=True, eq=False)
class Shape:
    """One link's mesh in the link's frame.

    Attributes:
        link: name; bvh: for exact distances between meshes.
        surface: (k, 3) m, points about 2 mm apart.
        outside: (n, 3) m around it, distance: (n,) m, exact, of each to the mesh.
        depth: cells of ``VOXEL`` m, positive inside, in m; corner: (3,) m, centre of the first cell.
    """

    link: str
    bvh: coal.BVHModelOBBRSS
    surface: Floats
    outside: Floats
    distance: Floats
    depth: Floats
    corner: Floats

    def inside(self, x: Floats) -> Floats:
        """How deep points (k, 3) m of the link's frame lie in it, m; negative outside; (k,)."""
        at = (x - self.corner) / VOXEL
        return np.asarray(map_coordinates(self.depth, at.T, order=1, mode="constant", cval=-MARGIN))


def shapes(urdf: Path, folder: Path, tree: Tree) -> Iterator[Shape]:
    """The shape of every rigid part of a URDF, named by its moving link, from visual meshes in ``folder``."""
    seen: dict[str, list[tuple[Floats, NDArray[np.int64]]]] = {}
    p, quat = link_poses(tree, np.zeros((1, len(tree.joints))))
    for link in ET.parse(urdf).getroot().iter("link"):  # noqa: S314
        own = tree.index(str(link.get("name")))
        part = rigid(tree)[own]
        turn = Rotation.from_quat(quat[0, part], scalar_first=True).inv()
        for visual in link.iter("visual"):
            if visual.find(".//mesh") is not None:
                vertices, faces = _placed(visual, folder)
                vertices = Rotation.from_quat(quat[0, own], scalar_first=True).apply(vertices) + p[0, own]
                seen.setdefault(tree.links[part], []).append((turn.apply(vertices - p[0, part]), faces))
    for name, parts in seen.items():
        shift = np.cumsum([0, *(len(v) for v, _ in parts)])
        faces = np.concatenate([f + s for (_, f), s in zip(parts, shift, strict=False)])
        yield shape(name, np.concatenate([v for v, _ in parts]), faces)


def _placed(visual: ET.Element, folder: Path) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices (k, 3) m in the link's frame and faces (m, 3) of one visual element."""
    mesh, origin = visual.find(".//mesh"), visual.find("origin")
    assert mesh is not None
    path = folder / Path(str(mesh.get("filename"))).name
    if not path.is_file():
        raise SystemExit(f"{path}: no such mesh")
    scale = np.array(str(mesh.get("scale", "1 1 1")).split(), np.float64)
    model = coal.MeshLoader().load(str(path), scale)
    vertices = np.array(model.vertices(), np.float64)
    faces = np.array([[t[0], t[1], t[2]] for t in map(model.tri_indices, range(model.num_tris))], np.int64)
    if origin is not None:
        turn = Rotation.from_euler("xyz", [float(v) for v in origin.get("rpy", "0 0 0").split()])
        vertices = turn.apply(vertices) + np.array(origin.get("xyz", "0 0 0").split(), np.float64)
    return vertices, faces


def shape(link: str, vertices: Floats, faces: NDArray[np.int64], seed: int = 0) -> Shape:
    """The shape of one mesh: vertices (k, 3) m in the link's frame, faces (m, 3)."""
    rng = np.random.default_rng(seed)
    bvh = coal.BVHModelOBBRSS()
    bvh.beginModel(len(faces), len(vertices))
    bvh.addVertices(vertices)
    bvh.addTriangles(faces)
    bvh.endModel()
    surface = _spread(vertices[faces], rng)
    corner = surface.min(axis=0) - MARGIN
    size = np.ceil((surface.max(axis=0) + MARGIN - corner) / VOXEL).astype(int) + 1
    cells = np.stack(np.meshgrid(*(np.arange(n) for n in size), indexing="ij"), axis=-1)
    centres = (corner + cells * VOXEL).reshape(-1, 3)
    near = cKDTree(surface).query(centres, distance_upper_bound=MARGIN)[0].reshape(size)
    reached, _ = label(near > BALL)  # where the ball's centre can be
    free = distance_transform_edt(reached != reached[0, 0, 0]) * VOXEL <= BALL  # and what it covers there
    free &= near > VOXEL / 2
    depth = distance_transform_edt(~free) * VOXEL - distance_transform_edt(free) * VOXEL
    around = np.flatnonzero(free.ravel() & (near.ravel() < 0.04))
    close = near.ravel()[around] < 0.012
    chosen = np.concatenate([_some(around[close], 2500, rng), _some(around[~close], 1000, rng)])
    outside = centres[chosen] + rng.uniform(-VOXEL / 2, VOXEL / 2, (len(chosen), 3))
    outer = np.abs(map_coordinates(depth, ((surface - corner) / VOXEL).T, order=1)) < 1.5 * VOXEL
    return Shape(link, bvh, surface[outer], outside, to_mesh(bvh, outside), depth, corner)


def _some(of: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return of if len(of) <= most else rng.choice(of, most, replace=False)


def _spread(corners: Floats, rng: np.random.Generator) -> Floats:
    """Points on triangles (m, 3, 3) m, about one per 4 mm^2, at least one each."""
    a, b, c = corners.transpose(1, 0, 2)
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    count = 1 + (area / 4e-6).astype(int)
    of = np.repeat(np.arange(len(area)), count)
    u, v = rng.random((2, len(of), 1))
    flip = u + v > 1
    u, v = np.where(flip, 1 - u, u), np.where(flip, 1 - v, v)
    return np.asarray(a[of] + u * (b - a)[of] + v * (c - a)[of])


def to_mesh(bvh: coal.BVHModelOBBRSS, x: Floats) -> Floats:
    """Distance of points (n, 3) m to a mesh, m; (n,)."""
    dot, rest = coal.Sphere(1e-7), coal.Transform3s.Identity()
    found = np.empty(len(x))
    for i, point in enumerate(x):
        result = coal.DistanceResult()
        found[i] = coal.distance(
            dot, coal.Transform3s(np.eye(3), point), bvh, rest, coal.DistanceRequest(), result
        )
    return np.maximum(found, 0.0)


def between(a: Shape, b: Shape, pa: Floats, ra: Floats, pb: Floats, rb: Floats) -> float:
    """Distance of two meshes at poses (3,) m and (3, 3), m; 0 where they meet."""
    at, there = coal.Transform3s(ra, pa), coal.Transform3s(rb, pb)
    if coal.collide(a.bvh, at, b.bvh, there, coal.CollisionRequest(), coal.CollisionResult()):
        return 0.0
    asked = coal.DistanceRequest()
    asked.enable_signed_distance = False
    return max(float(coal.distance(a.bvh, at, b.bvh, there, asked, coal.DistanceResult())), 0.0)
