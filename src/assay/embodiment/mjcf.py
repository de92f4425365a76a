"""MJCF: bodies, joints, masses, sites, primitive geoms and actuators' limits; mesh files are never opened."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.assembly import Node, Origin, assemble
from assay.embodiment.body import Embodiment, Site
from assay.embodiment.ends import Shape
from assay.embodiment.mjcf_defaults import ACTUATORS, Compiler, Defaults, read_mjcf_xml
from assay.embodiment.model_xml import Place, shown
from assay.embodiment.rotation import compose, matrix, rotate, symmetric
from assay.embodiment.tree import FREE, HINGE, SLIDE

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["read_mjcf"]

Floats = NDArray[np.float64]
Frame = tuple[Floats, Floats]

_WORLD: Final = "world"
_UNREAD: Final = ("replicate", "attach", "composite", "flexcomp")
_SERVO: Final = frozenset({"gainprm", "biasprm", "gaintype", "biastype"})
_PLACEHOLDER: Final = 1e4  # N*m; no humanoid's joint has it, but files that do not want to limit say 20000


def read_mjcf(root: Path, relative: str, origin: Origin | None = None) -> Embodiment:
    """The body of an MJCF file below ``root``.

    The free body at the top is the root, and its pose in the file is not part of the tree; where nothing is
    free, or several bodies stand side by side, the root is the world. Joints stand in the order of MuJoCo's
    qpos. A body with several joints, or one whose joint does not pass through its origin, gets links named
    ``body~joint`` in between. Masses that MuJoCo would work out from geoms are unknown; so is the speed,
    which MJCF does not hold. Effort is the joint's ``actuatorfrcrange``, else the actuator's ``forcerange``
    times gear, else a motor's ``ctrlrange`` times gear unless that is a placeholder (1, or 10,000 and more).

    Raises:
        OutsideCorpusError: if the file, or one that it includes, leads out of ``root``.
        UnreadableError: if it is not MJCF that can be followed (ball joints, replicate, attach and composites
            are not).
    """
    top, place = read_mjcf_xml(root, relative), Place(relative)
    walk = _Walk(Compiler.of(top, place), Defaults.of(top, place), place, _paired(top))
    for section in top.findall("worldbody"):
        walk.children(section, _WORLD, section.get("childclass", "main"), (np.zeros(3), _ONE))
    walk.actuators(top)
    name = top.get("model") or Path(relative).stem
    nodes = _rooted(walk.nodes, place)
    return assemble(name, nodes, origin or Origin(Path(relative).name, grade="simulator"), place)


_ONE: Final = np.array([1.0, 0.0, 0.0, 0.0])


def _paired(top: Element) -> frozenset[str]:
    """Names of geoms that collide by an explicit pair, whatever their bit masks say."""
    pairs = [pair for contact in top.findall("contact") for pair in contact.findall("pair")]
    return frozenset(pair.get(key, "") for pair in pairs for key in ("geom1", "geom2"))


def _after(outer: Frame, inner: Frame) -> Frame:
    return outer[0] + rotate(outer[1], inner[0]), compose(outer[1], inner[1])


@dataclass(slots=True)
class _Walk:
    """One pass over the bodies of a model."""

    compiler: Compiler
    defaults: Defaults
    place: Place
    paired: frozenset[str]
    nodes: list[Node] = field(default_factory=list)
    unnamed: int = 0

    def children(self, element: Element, link: str, childclass: str, frame: Frame) -> None:
        """Bodies below ``element``, in the frame of ``link``; a ``frame`` element moves what it holds."""
        for child in element:
            if child.tag in _UNREAD:
                raise self.place.error(f"<{child.tag}> is not read", expected="bodies written out one by one")
            if child.tag == "frame":
                inner = _after(frame, self.compiler.frame(child.attrib, self.place))
                self.children(child, link, child.get("childclass", childclass), inner)
            elif child.tag == "body":
                self._body(child, link, childclass, frame)

    def _body(self, body: Element, parent: str, childclass: str, frame: Frame) -> None:
        name = body.get("name") or self._name("body")
        here = self.place.at(f"body {shown(name)}")
        inner = body.get("childclass", childclass)
        placed = _after(frame, self.compiler.frame(body.attrib, here))
        joints = [j for j in body if j.tag in ("joint", "freejoint")]
        for joint in joints:
            last = joint is joints[-1]
            parent, placed = self._joint(joint, name, parent, placed, inner, last=last)
        if parent != name:
            self.nodes.append(Node(name, parent, p=placed[0], quat=placed[1]))
        node = self.nodes[-1]
        self._inertial(body, node, here)
        self._holds(body, node, inner, (np.zeros(3), _ONE))
        self.children(body, name, inner, (np.zeros(3), _ONE))

    def _name(self, what: str) -> str:
        self.unnamed += 1
        return f"{what}~{self.unnamed}"

    def _joint(
        self, joint: Element, body: str, parent: str, placed: Frame, childclass: str, *, last: bool
    ) -> tuple[str, Frame]:
        """Add the link that a joint moves; what follows hangs on it at the returned placement."""
        here = self.place.at(f"body {shown(body)}")
        said = joint.attrib if joint.tag == "freejoint" else self.defaults.merged(joint, childclass, here)
        kind = "free" if joint.tag == "freejoint" else said.get("type", "hinge")
        name = said.get("name") or self._name("joint")
        if kind == "free":
            if parent != _WORLD:
                raise here.error("a free joint is below the top")
            self.nodes.append(Node(body, _WORLD, name, FREE, p=placed[0], quat=placed[1]))
            return body, (np.zeros(3), _ONE)
        if kind not in ("hinge", "slide"):
            raise here.error(
                f"joint {shown(name)} is of a kind that is not read", shown(kind), "hinge, slide, free"
            )
        pivot = here.numbers(said, "pos", (0.0, 0.0, 0.0)) if kind == "hinge" else np.zeros(3)
        link = body if last and not pivot.any() else f"{body}~{name}"
        p, quat = _after(placed, (pivot, _ONE))
        node = Node(link, parent, name, HINGE if kind == "hinge" else SLIDE, p, quat)
        node.axis = here.numbers(said, "axis", (0.0, 0.0, 1.0))
        self._bound(node, said, here)
        self.nodes.append(node)
        return link, (-pivot, _ONE)

    def _bound(self, node: Node, said: dict[str, str], here: Place) -> None:
        angle = self.compiler.angle if node.kind == HINGE else float
        node.offset = -angle(here.number(said, "ref", 0.0))
        lower, upper = here.bounds(said, "range", 2)
        if lower < upper and self._applies(said, "limited", "range"):
            node.lower, node.upper = angle(float(lower)), angle(float(upper))
        force = np.abs(here.bounds(said, "actuatorfrcrange", 2)).max()
        if force > 0 and self._applies(said, "actuatorfrclimited", "actuatorfrcrange"):
            node.effort = float(force)

    def _applies(self, said: dict[str, str], flag: str, key: str) -> bool:
        stated = said.get(flag, "auto")
        return stated == "true" or (stated == "auto" and self.compiler.autolimits and key in said)

    def _inertial(self, body: Element, node: Node, here: Place) -> None:
        said = body.find("inertial")
        if said is None:
            return
        node.mass = here.number(said.attrib, "mass", math.nan)
        node.com, quat = self.compiler.frame(said.attrib, here)
        if "fullinertia" in said.attrib:
            xx, yy, zz, xy, xz, yz = here.numbers(said.attrib, "fullinertia", (0.0,) * 6)
            node.inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        elif "diaginertia" in said.attrib:
            R = matrix(quat)
            principal = np.diag(here.numbers(said.attrib, "diaginertia", (0.0,) * 3))
            node.inertia = symmetric(R @ principal @ R.T)

    def _holds(self, element: Element, node: Node, childclass: str, frame: Frame) -> None:
        """Sites and colliding primitive geoms of a body, also those inside ``frame`` elements."""
        here = self.place.at(f"body {shown(node.link)}")
        for child in element:
            if child.tag == "frame":
                inner = _after(frame, self.compiler.frame(child.attrib, here))
                self._holds(child, node, child.get("childclass", childclass), inner)
            elif child.tag == "geom":
                node.shapes += self._shape(self.defaults.merged(child, childclass, here), frame, here)
            elif child.tag == "site" and child.get("name"):
                said = self.defaults.merged(child, childclass, here)
                node.sites.append(Site(said["name"], node.link, *_after(frame, self._ends(said, here)[0])))

    def _shape(self, said: dict[str, str], frame: Frame, here: Place) -> Iterator[Shape]:
        kind = said.get("type", "sphere")
        ghost = said.get("contype") == "0" and said.get("conaffinity") == "0"
        if (ghost and said.get("name", "") not in self.paired) or "mesh" in said:
            return
        if kind not in ("sphere", "box", "capsule", "cylinder"):
            return
        local, half = self._ends(said, here)
        size = here.numbers(said, "size", (0.0, 0.0, 0.0), most=3)
        size = np.append(size, np.zeros(3 - len(size)))
        if half is not None:
            size[2 if kind == "box" else 1] = half
            size[1] = size[0] if kind == "box" else size[1]
        yield Shape(kind, size, *_after(frame, local))  # type: ignore[arg-type]

    def _ends(self, said: dict[str, str], here: Place) -> tuple[Frame, float | None]:
        """The frame of a geom or site, and its half length where two ends give it."""
        if "fromto" not in said:
            return self.compiler.frame(said, here), None
        ends = here.numbers(said, "fromto", (0.0,) * 6).reshape(2, 3)
        along = ends[1] - ends[0]
        turned = {"zaxis": " ".join(map(repr, along.tolist()))}
        return (ends.mean(0), self.compiler.orientation(turned, here)), float(np.linalg.norm(along) / 2)

    def actuators(self, top: Element) -> None:
        """Effort from actuators, for joints that do not state their own."""
        joints = {node.joint: node for node in self.nodes if node.joint}
        for section in top.findall("actuator"):
            for element in section:
                node = joints.get(element.get("joint", ""))
                if node is not None and element.tag in ACTUATORS and math.isinf(node.effort):
                    here = self.place.at(f"actuator of joint {shown(node.joint)}")
                    said = self.defaults.merged(element, "main", here)
                    node.effort = self._effort(element.tag, said, here)

    def _effort(self, kind: str, said: dict[str, str], here: Place) -> float:
        gear = abs(float(here.numbers(said, "gear", (1.0,), most=6)[0]))
        plain = kind == "motor" or (kind == "general" and not _SERVO.intersection(said))
        for key, flag, may in (("forcerange", "forcelimited", True), ("ctrlrange", "ctrllimited", plain)):
            size = float(np.abs(here.bounds(said, key, 2)).max()) * gear
            believed = 0 < size < _PLACEHOLDER and (key == "forcerange" or size != 1.0)
            if may and believed and self._applies(said, flag, key):
                return size
        return math.inf


def _rooted(nodes: list[Node], place: Place) -> list[Node]:
    """Drop the world above one free body; else make it the root, beside which nothing may float."""
    tops = [n for n in nodes if n.parent == _WORLD]
    free = [n for n in tops if n.kind == FREE]
    if not free:
        return [Node(_WORLD), *nodes]
    if len(free) > 1:
        raise place.error("several bodies float", ", ".join(shown(n.link) for n in free[:3]),
                          "the model of one body, not a scene")  # fmt: skip
    mine = {free[0].link}
    for n in nodes:  # parents come before their children
        if n.parent in mine:
            mine.add(n.link)
    if any(n.kind in (HINGE, SLIDE) and n.link not in mine for n in nodes):
        raise place.error(
            "joints stand beside a floating body", expected="the model of one body, not a scene"
        )
    root = free[0]
    root.parent, root.joint, root.p, root.quat = None, "", np.zeros(3), _ONE
    return [n for n in nodes if n.link in mine]
