"""Model files of strangers: XML read within bounds, and numbers that must be numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.inside import open_inside

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["Place", "read_xml", "shown"]

_MOST_BYTES: Final = 8 << 20
_MOST_ELEMENTS: Final = 20_000  # the largest of 33 public models has 1,939
_PIECE: Final = (
    1 << 20
)  # the parser begins a long element again with each piece: many small ones take minutes
_LARGEST: Final = 1e6  # m, kg, rad or N*m: nothing about a robot is larger
_FAR: Final = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d{1,4})?|inf(inity)?)", re.IGNORECASE)
_MOST_DEPTH: Final = 256  # a body of 250 links in one chain does not exist


def read_xml(root: Path, relative: str) -> Element:
    """The root element of an XML file below ``root``; no entity, network or file reference is followed.

    Raises:
        OutsideCorpusError: if it leads out of ``root``.
        UnreadableError: if it is absent, too large or too deep, or not well-formed XML without entities.
    """
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    top: Element | None = None
    depth = count = 0
    with open_inside(root, relative) as file:
        if Path(file.name).stat().st_size > _MOST_BYTES:
            raise _unfit(relative, f"over {_MOST_BYTES >> 20} MB", "a model file of a few MB")
        try:
            for event, element in iterparse(_Pieces(file), events=("start", "end")):
                top = element if top is None else top
                depth += 1 if event == "start" else -1
                count += event == "start"
                if depth > _MOST_DEPTH or count > _MOST_ELEMENTS:
                    raise _unfit(relative, f"element {count} at depth {depth}",
                                 f"at most {_MOST_ELEMENTS} elements, {_MOST_DEPTH} deep")  # fmt: skip
        except DefusedXmlException as error:
            raise _unfit(relative, type(error).__name__, "XML without entities") from error
        except (SyntaxError, ValueError, LookupError, OSError) as error:  # ParseError is a SyntaxError
            raise _unfit(relative, str(error)[:120], "well-formed XML") from error
    if top is None:
        raise _unfit(relative, "an empty file", "well-formed XML")
    return top


class _Pieces:
    """A file read in large pieces, whatever the parser asks for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, _: int = -1) -> bytes:
        """The next piece."""
        return self._file.read(_PIECE)


def _unfit(where: str, found: str, expected: str) -> UnreadableError:
    return UnreadableError("the model file cannot be read", where=where, found=found, expected=expected)


def shown(name: str | None) -> str:
    """A stranger's text for a message: quoted, escaped and short."""
    return repr(name if name is None or len(name) <= 60 else name[:57] + "...")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a model file something is, for the one sentence that says what is wrong with it."""

    file: str
    item: str = ""

    def at(self, item: str) -> Place:
        """The same file, another item."""
        return Place(self.file, item)

    def error(self, what: str, found: str | None = None, expected: str | None = None) -> UnreadableError:
        """What is wrong here."""
        where = f"{self.file}, {self.item}" if self.item else self.file
        return UnreadableError(what, where=where, found=found, expected=expected)

    def numbers(
        self, attributes: Mapping[str, str], key: str, default: tuple[float, ...], most: int | None = None
    ) -> NDArray[np.float64]:
        """The numbers of an attribute, each below 1e6, as many as ``default`` has (or up to ``most``)."""
        text = attributes.get(key)
        if text is None or (most and not text.strip()):
            return np.array(default, np.float64)
        words = text.split(None, 4 * max(len(default), most or 0) + 1)
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = [math.nan]
        fits = len(values) == len(default) if most is None else 1 <= len(values) <= most
        if not fits or not all(abs(value) < _LARGEST for value in values):  # NaN compares as false
            count = len(default) if most is None else f"up to {most}"
            raise self.error(f"{key} is not {count} finite numbers below {_LARGEST:.0e}", shown(text))
        return np.array(values, np.float64)

    def number(self, attributes: Mapping[str, str], key: str, default: float) -> float:
        """One number; ``default`` (which may be NaN or infinite) where there is none."""
        return default if key not in attributes else float(self.numbers(attributes, key, (0.0,))[0])

    def bounds(self, attributes: Mapping[str, str], key: str, count: int) -> NDArray[np.float64]:
        """Limits of an attribute, 0 where there is none; 1e6 and more is what a file says for unlimited."""
        words = attributes.get(key, "").split(None, count)
        far = [word for word in words if _FAR.fullmatch(word) and abs(float(word)) >= _LARGEST]
        signs = [math.copysign(math.inf, float(w)) if w in far else math.nan for w in words]
        near = {key: " ".join("0" if word in far else word for word in words)} if words else {}
        read = self.numbers(near, key, (0.0,) * count)
        return np.where(np.isnan(signs), read, signs) if far else read
