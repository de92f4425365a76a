"""What an MJCF file says once for many elements: included files, the compiler's settings, default classes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from assay.embodiment.model_xml import Place, read_xml, shown
from assay.embodiment.rotation import about, compose, from_matrix, unit

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["ACTUATORS", "Compiler", "Defaults", "read_mjcf_xml"]

ACTUATORS: Final = frozenset(
    {"motor", "position", "velocity", "general", "intvelocity", "damper", "cylinder", "muscle", "adhesion"}
)
_MOST_FILES: Final = 64
_MOST_ELEMENTS: Final = 20_000


def read_mjcf_xml(root: Path, relative: str) -> Element:
    """The ``mujoco`` element of a file, with ``include`` replaced by what the included files hold.

    Raises:
        OutsideCorpusError: if it, or a file that it includes, leads out of ``root``.
        UnreadableError: if one of them cannot be read, includes itself, or is not MJCF.
    """
    seen = {relative}

    def expanded(element: Element, file: str) -> Iterator[tuple[Element, str]]:
        """The children of an element, each with its file; depth is bounded by the number of files."""
        for child in element:
            if child.tag != "include":
                yield child, file
                continue
            name = child.get("file") or ""
            named = str(PurePosixPath(relative).parent / name)  # MuJoCo: relative to the main model's folder
            if named in seen or len(seen) >= _MOST_FILES:
                raise Place(file).error("a file is included twice or too many are", shown(name))
            seen.add(named)
            yield from expanded(_mujoco(root, named), named)

    top = _mujoco(root, relative)
    pending, elements = [(top, relative)], 0
    while pending:
        element, file = pending.pop()
        children = list(expanded(element, file))
        element[:] = [child for child, _ in children]
        pending += children
        elements += 1
        if elements > _MOST_ELEMENTS:
            raise Place(relative).error("the included files together are too large")
    return top


def _mujoco(root: Path, relative: str) -> Element:
    top = read_xml(root, relative)
    if top.tag not in ("mujoco", "mujocoinclude"):
        raise Place(relative).error("this is not an MJCF model", f"<{top.tag[:40]}>", "<mujoco>")
    return top


@dataclass(frozen=True, slots=True)
class Compiler:
    """How numbers are meant: degrees or rad (degrees by default), Euler sequence, implied limits."""

    place: Place
    degrees: bool = True
    sequence: str = "xyz"
    autolimits: bool = True

    @classmethod
    def of(cls, top: Element, place: Place) -> Compiler:
        """The settings of all ``compiler`` elements, the last one of each kind holding.

        Raises:
            UnreadableError: for settings that cannot be followed (global coordinates, an unknown sequence).
        """
        said: dict[str, str] = {}
        for element in top.findall("compiler"):
            said.update(element.attrib)
        sequence = said.get("eulerseq", "xyz")
        if said.get("coordinate", "local") != "local":
            raise place.error("global coordinates are not read", said["coordinate"][:20], "local")
        if len(sequence) != 3 or set(sequence.lower()) - set("xyz"):
            raise place.error("eulerseq is not three of x, y, z", shown(sequence))
        degrees, implied = said.get("angle", "degree") != "radian", said.get("autolimits") != "false"
        return cls(place, degrees, sequence, implied)

    def angle(self, value: float) -> float:
        """An angle of the file in rad."""
        return math.radians(value) if self.degrees else value

    def frame(self, said: dict[str, str], here: Place) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Position (3,) and orientation (4,) wxyz of an element."""
        return here.numbers(said, "pos", (0.0, 0.0, 0.0)), self.orientation(said, here)

    def orientation(self, said: dict[str, str], here: Place) -> NDArray[np.float64]:
        """The unit quaternion of quat, axisangle, euler, xyaxes or zaxis.

        Raises:
            UnreadableError: if a direction has length 0.
        """
        if "axisangle" in said:
            *axis, turn = here.numbers(said, "axisangle", (0.0, 0.0, 1.0, 0.0))
            quat = about(unit(axis), self.angle(float(turn)))
        elif "euler" in said:
            quat = self._euler(here.numbers(said, "euler", (0.0, 0.0, 0.0)))
        elif "xyaxes" in said:
            both = here.numbers(said, "xyaxes", (1.0, 0.0, 0.0, 0.0, 1.0, 0.0))
            x = unit(both[:3])
            y = unit(both[3:] - x * (x @ both[3:]))
            R = np.stack([x, y, np.cross(x, y)], axis=1)
            quat = from_matrix(R) if np.isfinite(R).all() else np.full(4, np.nan)
        elif "zaxis" in said:
            quat = _from_z(unit(here.numbers(said, "zaxis", (0.0, 0.0, 1.0))))
        else:
            quat = unit(here.numbers(said, "quat", (1.0, 0.0, 0.0, 0.0)))
        if np.isnan(quat).any():
            raise here.error("an orientation has length 0")
        return quat

    def _euler(self, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        quat = np.array([1.0, 0.0, 0.0, 0.0])
        for letter, angle in zip(self.sequence, angles, strict=True):
            turn = about(np.eye(3)["xyz".index(letter.lower())], self.angle(float(angle)))
            # Lower case turns about the axes as they have moved, capitals about those that stay.
            quat = compose(quat, turn) if letter.islower() else compose(turn, quat)
        return quat


def _from_z(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shortest turn that takes (0, 0, 1) to ``z``, as MuJoCo makes it."""
    axis = np.cross([0.0, 0.0, 1.0], z)
    sine = float(np.linalg.norm(axis))
    return about(axis / sine if sine > 1e-10 else np.array([1.0, 0.0, 0.0]), math.atan2(sine, float(z[2])))


@dataclass(slots=True)
class Defaults:
    """Default classes: attributes by class and kind of element, a nested class starting from its parent's."""

    classes: dict[str, dict[str, dict[str, str]]] = field(default_factory=lambda: {"main": {}})

    @classmethod
    def of(cls, top: Element, place: Place) -> Defaults:
        """All ``default`` sections of a model.

        Raises:
            UnreadableError: if a nested class has no name.
        """
        found = cls()
        for section in top.findall("default"):
            name = section.get("class", "main")  # whatever its name, the outermost class is everybody's
            found._add(section, name, found.classes["main"], place)
            found.classes["main"] = found.classes[name]
        return found

    def _add(self, section: Element, name: str, parent: dict[str, dict[str, str]], place: Place) -> None:
        kinds = {kind: dict(said) for kind, said in {**parent, **self.classes.get(name, {})}.items()}
        for element in section:
            if element.tag != "default":
                kinds.setdefault(_kind(element.tag), {}).update(element.attrib)
        self.classes[name] = kinds
        for element in section.findall("default"):
            inner = element.get("class")
            if not inner:
                raise place.error("a nested default has no class")
            self._add(element, inner, kinds, place)

    def merged(self, element: Element, childclass: str, here: Place) -> dict[str, str]:
        """An element's attributes over those of its class, else of the class its body gives to children.

        Raises:
            UnreadableError: if the class is not defined.
        """
        name = element.get("class", childclass)
        if name not in self.classes:
            raise here.error("a default class is not defined", shown(name))
        return _without_rivals(self.classes[name].get(_kind(element.tag), {}), element.attrib)


_TURNS: Final = frozenset({"quat", "axisangle", "euler", "xyaxes", "zaxis"})


def _without_rivals(default: dict[str, str], own: dict[str, str]) -> dict[str, str]:
    """Own attributes over default ones; an own orientation of any form replaces the default's."""
    if _TURNS.intersection(own):
        default = {key: value for key, value in default.items() if key not in _TURNS}
    return {**default, **own}


def _kind(tag: str) -> str:
    # All shortcuts of actuators write to one default in MuJoCo.
    return "actuator" if tag in ACTUATORS else tag
