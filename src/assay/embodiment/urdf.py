"""URDF: links, joints, limits, masses and primitive collision shapes; mesh files are never opened."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from assay.embodiment.assembly import Kind, Node, Origin, assemble
from assay.embodiment.body import Embodiment
from assay.embodiment.ends import Shape
from assay.embodiment.model_xml import Place, read_xml, shown
from assay.embodiment.rotation import from_rpy, matrix, symmetric
from assay.embodiment.tree import FIXED, FREE, HINGE, SLIDE

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["read_urdf"]

_KINDS: Final[dict[str, Kind]] = {
    "revolute": HINGE, "continuous": HINGE, "prismatic": SLIDE, "fixed": FIXED, "floating": FREE,
}  # fmt: skip


def read_urdf(root: Path, relative: str, origin: Origin | None = None) -> Embodiment:
    """The body of a URDF file below ``root``.

    A limit that is absent, or whose lower and upper are equal, is unknown, and so is a speed or an effort of
    0. Joints stand in file order without mimic joints, which read their leader's column. A first joint of
    type ``floating`` makes its child the floating root.

    Raises:
        OutsideCorpusError: if the file leads out of ``root``.
        UnreadableError: if it is not a URDF of one tree that can be followed.
    """
    top, place = read_xml(root, relative), Place(relative)
    if top.tag != "robot":
        raise place.error("this is not a URDF", f"<{top.tag[:40]}>", "<robot>")
    origin = origin or Origin(Path(relative).name)
    nodes: dict[str, Node] = {}
    for link in top.findall("link"):
        node = _link(link, place)
        if node.link in nodes:
            raise place.error("two links have one name", shown(node.link))
        nodes[node.link] = node
    for joint in top.findall("joint"):
        _hang(joint, nodes, place)
    ordered = _joint_order(top, nodes)
    return assemble(Path(relative).stem, _without_world(ordered, place), origin, place)


def _joint_order(top: Element, nodes: dict[str, Node]) -> list[Node]:
    """Roots first, then links in the order of the joints above them: that order is the columns' order."""
    carried = [joint.find("child") for joint in top.findall("joint")]
    names = [child.get("link", "") for child in carried if child is not None]
    return [n for n in nodes.values() if n.parent is None] + [nodes[name] for name in names]


def _link(link: Element, place: Place) -> Node:
    name = link.get("name")
    if not name:
        raise place.error("a link has no name")
    node, here = Node(name), place.at(f"link {shown(name)}")
    inertial = link.find("inertial")
    mass = None if inertial is None else inertial.find("mass")
    if inertial is not None and mass is not None:
        node.mass = here.number(mass.attrib, "value", math.nan)
        node.com, quat = _origin(inertial, here)
        tensor = inertial.find("inertia")
        if tensor is not None:
            xx, xy, xz, yy, yz, zz = (
                here.number(tensor.attrib, f"i{k}", 0.0) for k in ("xx", "xy", "xz", "yy", "yz", "zz")
            )
            R = matrix(quat)
            node.inertia = symmetric(R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T)
    node.shapes = list(_shapes(link, here))
    return node


def _shapes(link: Element, here: Place) -> Iterator[Shape]:
    for collision in link.findall("collision"):
        geometry = collision.find("geometry")
        p, quat = _origin(collision, here)
        for drawn in () if geometry is None else geometry:
            if drawn.tag == "box":
                yield Shape("box", here.numbers(drawn.attrib, "size", (0, 0, 0)) / 2, p, quat)
            elif drawn.tag == "sphere":
                yield Shape("sphere", here.numbers(drawn.attrib, "radius", (0,)), p, quat)
            elif drawn.tag in ("cylinder", "capsule"):
                size = [here.number(drawn.attrib, "radius", 0), here.number(drawn.attrib, "length", 0) / 2]
                yield Shape("cylinder" if drawn.tag == "cylinder" else "capsule", np.array(size), p, quat)


def _origin(element: Element, here: Place) -> tuple[np.ndarray, np.ndarray]:
    said = element.find("origin")
    attributes = {} if said is None else said.attrib
    zero = (0.0, 0.0, 0.0)
    return here.numbers(attributes, "xyz", zero), from_rpy(here.numbers(attributes, "rpy", zero))


def _hang(joint: Element, nodes: dict[str, Node], place: Place) -> None:
    """Hang a joint's child link on its parent."""
    name = joint.get("name") or ""
    here = place.at(f"joint {shown(name)}")
    ends = []
    for role in ("parent", "child"):
        element = joint.find(role)
        link = None if element is None else element.get("link")
        if link not in nodes:
            raise here.error(f"its {role} link is not there", shown(link))
        ends.append(link)
    node = nodes[ends[1]]
    if node.parent is not None:
        raise here.error(f"link {shown(node.link)} hangs on two joints", shown(node.joint))
    if not name or joint.get("type") not in _KINDS:
        raise here.error("the joint has no name or a type that is not known", shown(joint.get("type")),
                         ", ".join(_KINDS))  # fmt: skip
    node.parent, node.joint, node.kind = ends[0], name, _KINDS[joint.get("type", "")]
    node.p, node.quat = _origin(joint, here)
    axis = joint.find("axis")
    node.axis = here.numbers({} if axis is None else axis.attrib, "xyz", (1.0, 0.0, 0.0))
    _bound(joint, node, here)
    mimic = joint.find("mimic")
    if mimic is not None:
        factor = here.number(mimic.attrib, "multiplier", 1.0)
        node.mimic = (mimic.get("joint") or "", factor, here.number(mimic.attrib, "offset", 0.0))


def _bound(joint: Element, node: Node, here: Place) -> None:
    limit = joint.find("limit")
    if limit is None:
        return
    said = limit.attrib
    if joint.get("type") != "continuous":
        node.lower = float(here.bounds(said, "lower", 1)[0]) if "lower" in said else -math.inf
        node.upper = float(here.bounds(said, "upper", 1)[0]) if "upper" in said else math.inf
        if node.lower == node.upper:  # 0 to 0 is what a file says that does not know
            node.lower, node.upper = -math.inf, math.inf
        if node.lower > node.upper:
            raise here.error("the lower limit is above the upper one", f"{node.lower} > {node.upper}")
    node.speed = abs(float(here.bounds(said, "velocity", 1)[0])) or math.inf
    node.effort = abs(float(here.bounds(said, "effort", 1)[0])) or math.inf


def _without_world(nodes: list[Node], place: Place) -> list[Node]:
    """A floating joint below the root makes its child the root; anywhere else it cannot be followed."""
    floating = [n for n in nodes if n.kind == FREE]
    roots = [n for n in nodes if n.parent is None]
    if not floating:
        return nodes
    if len(floating) > 1 or len(roots) != 1 or floating[0].parent != roots[0].link:
        raise place.at(f"joint {shown(floating[0].joint)}").error("only the root can float")
    if any(n.parent == roots[0].link and n is not floating[0] for n in nodes):
        raise place.at(f"joint {shown(floating[0].joint)}").error("only the root can float")
    floating[0].parent, floating[0].joint = None, ""
    floating[0].p, floating[0].quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    return [n for n in nodes if n is not roots[0]]
