"""ROS messages, CDR (ROS 2) and ROS 1's own encoding: where the values of one message lie.

Source: OMG CDR as rosbag2 writes it (XCDR1: four bytes of encapsulation, then values aligned to their own
size from there). Definitions are parsed by `rosbags`; those of messages without one in their file come from
its tables of ROS distributions.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np

from assay.errors import UnreadableError
from assay.recording.layout import MOST_VALUES, Field, Layout, Text

__all__ = ["CdrWalker", "cdr_walker"]

_WIDTHS: Final = {
    "bool": "u1", "byte": "u1", "octet": "u1", "char": "u1", "uint8": "u1", "int8": "i1", "int16": "i2",
    "uint16": "u2", "int32": "i4", "uint32": "u4", "int64": "i8", "uint64": "u8", "float32": "f4",
    "float64": "f8",
}  # fmt: skip
_BASE, _NAME, _ARRAY, _SEQUENCE = 1, 2, 3, 4
_BUILTIN: Final = {
    f"builtin_interfaces/msg/{name}": [("sec", (_BASE, ("int32", 0))), ("nanosec", (_BASE, ("uint32", 0)))]
    for name in ("Time", "Duration")
}
"""Types that definitions may use without bringing them."""
MOST_DEPTH: Final = 12
MOST_FIELDS: Final = 20_000
MOST_DEFINITION: Final = 1 << 20

Fields = Mapping[str, Any]
"""Type name → its fields as `rosbags` gives them: (name, (kind, what))."""


@dataclass(frozen=True, slots=True)
class CdrWalker:
    """Walks messages of one type; see `assay.recording.layout`."""

    type: str
    types: Fields
    ros1: bool

    def __call__(self, message: bytes) -> Layout:
        """Where the values of a message lie.

        Raises:
            UnreadableError: if it does not fit its definition.
        """
        walk = _Walk(message, self.types, bytearray(len(message)), self.ros1)
        walk.message(self.type, "", 0)
        first, mask = np.frombuffer(message, np.uint8), np.frombuffer(bytes(walk.mask), np.uint8)
        return Layout(first, mask, tuple(walk.fields), walk.texts, walk.blobs)


def cdr_walker(type_: str, language: str, definition: bytes, ros1: bool) -> CdrWalker:
    """The walker of a type, from its own definition or, where the file holds none, from a ROS distribution's.

    Raises:
        UnreadableError: if there is no definition that can be used.
    """
    name, types = _types(type_, language, definition)
    return CdrWalker(name, types, ros1)


@lru_cache(maxsize=256)
def _types(type_: str, language: str, definition: bytes) -> tuple[str, Fields]:
    from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

    parts = type_.split("/")
    name = "/".join((parts[0], "msg", parts[-1])) if len(parts) == 2 else type_
    if len(definition) > MOST_DEFINITION:
        raise UnreadableError(
            "a message definition is too long", where=type_, found=f"{len(definition)} bytes"
        )
    text = definition.decode("utf-8", "replace")
    if not language or not definition.strip():
        known = get_typestore(Stores.LATEST).fielddefs
        if name not in known:
            raise UnreadableError("the file holds no definition of the type, and no ROS distribution has it",
                                  where=type_)  # fmt: skip
        return name, {k: v[1] for k, v in known.items()}
    try:
        found = get_types_from_idl(text) if language == "ros2idl" else get_types_from_msg(text, name)
    except Exception as error:  # a parser of strangers' texts
        why = str(error).splitlines()[0][:80] if str(error) else type(error).__name__
        raise UnreadableError("the message definition cannot be read", where=type_, found=why) from error
    return name, {**_BUILTIN, **{k: v[1] for k, v in found.items()}}


@dataclass(slots=True)
class _Walk:
    data: bytes
    types: Fields
    mask: bytearray
    ros1: bool
    at: int = 0
    order: str = "<"
    fields: list[Field] = field(default_factory=list)
    texts: dict[str, Text] = field(default_factory=dict)
    blobs: dict[str, tuple[int, int]] = field(default_factory=dict)

    def message(self, name: str, path: str, depth: int) -> None:
        if depth == 0 and not self.ros1:
            self._encapsulation(name)
        if depth > MOST_DEPTH or len(self.fields) > MOST_FIELDS:
            raise UnreadableError("the message is nested or spread beyond measure", where=f"{name} {path}")
        if name not in self.types:
            raise UnreadableError("a type is not defined", where=f"{path or name}", found=name)
        members = self.types[name]
        if not members and not self.ros1:
            self._take(1, path)  # an empty structure is one byte in C, and in CDR
        for member, kind in members:
            if member != "structure_needs_at_least_one_member":
                self._value(kind, f"{path}.{member}" if path else member, depth)
            else:
                self._take(1, path)

    def _encapsulation(self, name: str) -> None:
        if len(self.data) < 4 or self.data[0] != 0 or self.data[1] > 1:
            raise UnreadableError(
                "the message is not plain CDR", where=name, found=self.data[:4].hex() or "nothing"
            )
        self.order = "<" if self.data[1] else ">"
        self.mask[1] = 0xFF
        self.at = 4

    def _take(self, size: int, path: str) -> int:
        if self.at + size > len(self.data):
            raise UnreadableError(
                "the message ends before its fields", where=path, found=f"{len(self.data)} bytes"
            )
        self.at += size
        return self.at - size

    def _align(self, size: int) -> None:
        if not self.ros1:
            self.at += -(self.at - 4) % size

    def _length(self, path: str) -> int:
        self._align(4)
        at = self._take(4, path)
        self.mask[at : at + 4] = b"\xff\xff\xff\xff"
        (length,) = struct.unpack_from(f"{self.order}I", self.data, at)
        if length > len(self.data) - self.at:  # nothing takes less than a byte an element
            raise UnreadableError("a length reaches beyond the message", where=path, found=str(length))
        return int(length)

    def _value(self, kind: Any, path: str, depth: int) -> None:
        code, what = int(kind[0]), kind[1]
        if code == _NAME:
            self.message(what, path, depth + 1)
        elif code == _BASE:
            self._base(what[0], path)
        else:
            count = int(what[1] if code == _ARRAY else self._length(path))
            if count < 0:
                raise UnreadableError("an array of negative length is defined", where=path, found=str(count))
            self._many(what[0], count, path, depth)

    def _base(self, name: str, path: str) -> None:
        if name == "string":
            self.texts[path] = self._text(path)
            return
        dtype = self._dtype(name, path)
        self._align(dtype.itemsize)
        self.fields.append(Field(path, self._take(dtype.itemsize, path), dtype.str))

    def _dtype(self, name: str, path: str) -> np.dtype[Any]:
        if name not in _WIDTHS:
            raise UnreadableError("a type cannot be decoded", where=path, found=name)
        return np.dtype(self.order + _WIDTHS[name])

    def _text(self, path: str) -> str:
        length = self._length(path)
        at = self._take(length, path)
        self.mask[at : at + length] = b"\xff" * length
        return self.data[at : at + length].decode("utf-8", "replace").removesuffix("\0")

    def _many(self, of: Any, count: int, path: str, depth: int) -> None:
        code, what = int(of[0]), of[1]
        if code == _BASE and what[0] != "string":
            self._numbers(what[0], count, path)
            return
        if count > MOST_VALUES:
            raise UnreadableError(
                "a sequence is too long", where=path, found=str(count), expected=f"{MOST_VALUES}"
            )
        if code == _BASE:
            self.texts[path] = tuple(self._text(path) for _ in range(count))
            return
        for i in range(count):
            self._value(of, f"{path}[{i}]", depth)

    def _numbers(self, name: str, count: int, path: str) -> None:
        dtype = self._dtype(name, path)
        if count:  # an empty sequence aligns nothing
            self._align(dtype.itemsize)
        at = self._take(count * dtype.itemsize, path)
        if dtype.itemsize == 1 or count > MOST_VALUES:
            self.blobs[path] = (at, count * dtype.itemsize)
        if count <= MOST_VALUES:
            self.fields.append(Field(path, at, dtype.str, count))
