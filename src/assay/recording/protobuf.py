"""Protocol Buffers: where the values of one message lie, from the definitions that the file embeds.

Source: the wire format (protobuf.dev/programming-guides/encoding). The library parses the embedded
``FileDescriptorSet``; messages are walked here, so that those laid out alike are decoded together. Numbers
that an encoder leaves out because they are zero come back as zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np

from assay.errors import UnreadableError
from assay.recording.layout import MOST_VALUES, Field, Layout

__all__ = ["ProtobufWalker", "protobuf_walker"]

# FieldDescriptorProto.Type
_FIXED: Final = {1: "<f8", 2: "<f4", 6: "<u8", 7: "<u4", 15: "<i4", 16: "<i8"}
_VARINT: Final = frozenset({3, 4, 5, 8, 13, 14, 17, 18})
_ZIGZAG: Final = frozenset({17, 18})
_STRING, _MESSAGE, _BYTES, _REPEATED = 9, 11, 12, 3
MOST_DEPTH: Final = 12
MOST_FIELDS: Final = 20_000
MOST_DEFINITION: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class Member:
    """One declared field: ``default`` tells whether leaving it out means zero."""

    name: str
    type: int
    of: str
    repeated: bool
    default: bool


Types = Mapping[str, Mapping[int, Member]]


@dataclass(frozen=True, slots=True)
class ProtobufWalker:
    """Walks messages of one type; see `assay.recording.layout`."""

    type: str
    types: Types

    def __call__(self, message: bytes) -> Layout:
        """Where the values of a message lie.

        Raises:
            UnreadableError: if it is malformed.
        """
        walk = _Walk(message, self.types, bytearray(len(message)))
        walk.message(self.type, "", 0, len(message), 0)
        first, mask = np.frombuffer(message, np.uint8), np.frombuffer(bytes(walk.mask), np.uint8)
        texts = {p: tuple(v) if p in walk.many else v[0] for p, v in walk.texts.items()}
        return Layout(first, mask, tuple(walk.fields), texts, walk.blobs)


@lru_cache(maxsize=256)
def protobuf_walker(type_: str, definition: bytes) -> ProtobufWalker:
    """The walker of a type, from a serialised ``FileDescriptorSet``.

    Raises:
        UnreadableError: if it is none, or does not define the type.
    """
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.message import DecodeError

    if len(definition) > MOST_DEFINITION:
        raise UnreadableError(
            "a message definition is too long", where=type_, found=f"{len(definition)} bytes"
        )
    files = FileDescriptorSet()
    try:
        files.ParseFromString(definition)
    except DecodeError as error:
        raise UnreadableError(
            "the message definition cannot be read", where=type_, found=str(error)[:80]
        ) from error
    types: dict[str, Mapping[int, Member]] = {}
    try:
        for file in files.file:
            for one in file.message_type:
                _gather(types, file.package, one, file.syntax != "proto2", 0)
    except TypeError as error:  # the library gives names that are no UTF-8 as bytes
        raise UnreadableError("the message definition cannot be read", where=type_, found="bytes") from error
    if type_ not in types:
        raise UnreadableError("the file holds no definition of the type", where=type_)
    return ProtobufWalker(type_, types)


def _gather(types: dict[str, Mapping[int, Member]], outer: str, one: Any, third: bool, depth: int) -> None:
    name = f"{outer}.{one.name}" if outer else one.name
    types[name] = {f.number: _member(f, third) for f in one.field}
    if depth < MOST_DEPTH:
        for inner in one.nested_type:
            _gather(types, name, inner, third, depth + 1)


def _member(f: Any, third: bool) -> Member:
    repeated = f.label == _REPEATED
    numeric = f.type in _FIXED or f.type in _VARINT
    presence = not third or f.proto3_optional or f.HasField("oneof_index")
    return Member(
        f.name, f.type, f.type_name.lstrip("."), repeated, numeric and not repeated and not presence
    )


@dataclass(slots=True)
class _Walk:
    data: bytes
    types: Types
    mask: bytearray
    at: int = 0
    fields: list[Field] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    many: set[str] = field(default_factory=set)
    blobs: dict[str, tuple[int, int]] = field(default_factory=dict)

    def message(self, name: str, path: str, start: int, end: int, depth: int) -> None:
        if depth > MOST_DEPTH or len(self.fields) > MOST_FIELDS:
            raise UnreadableError("the message is nested or spread beyond measure", where=f"{name} {path}")
        if name not in self.types:
            raise UnreadableError("a type is not defined", where=path or name, found=name)
        members, seen = self.types[name], dict[int, int]()
        self.at = start
        while self.at < end:
            tag = self._varint(end, 0xFF)
            number, wire = tag >> 3, tag & 7
            member = members.get(number)
            nth = seen.get(number, 0)
            seen[number] = nth + 1
            self._field(member, wire, path, nth, end, depth)
        for number, member in members.items():
            if member.default and number not in seen:
                self.fields.append(Field(_join(path, member.name), 0, "", value=0.0))

    def _varint(self, end: int, mask: int) -> int:
        value = shift = 0
        while True:
            if self.at >= end or shift > 63:
                raise UnreadableError(
                    "the message is malformed", where=f"byte {self.at}", found="an endless number"
                )
            byte = self.data[self.at]
            self.mask[self.at] = mask
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def _field(self, member: Member | None, wire: int, path: str, nth: int, end: int, depth: int) -> None:
        if wire not in (0, 1, 2, 5):
            raise UnreadableError("the message is malformed", where=path, found=f"wire type {wire}")
        start = self.at
        if wire == 0:
            self._varint(end, 0x80)
        else:
            length = self._varint(end, 0xFF) if wire == 2 else 8 if wire == 1 else 4
            start = self.at
            if length > end - start:
                raise UnreadableError("a length reaches beyond the message", where=path, found=str(length))
            self.at = start + length
        if member is not None:
            full = _join(path, f"{member.name}[{nth}]" if member.repeated and wire != 2 else member.name)
            self._known(member, wire, full, nth, start, depth)

    def _known(self, member: Member, wire: int, full: str, nth: int, start: int, depth: int) -> None:
        stop = self.at
        if member.type == _MESSAGE and wire == 2:
            if nth >= MOST_VALUES:
                raise UnreadableError("a sequence is too long", where=full, expected=str(MOST_VALUES))
            self.message(member.of, f"{full}[{nth}]" if member.repeated else full, start, stop, depth + 1)
            self.at = stop
        elif member.type == _STRING and wire == 2:
            self.mask[start:stop] = b"\xff" * (stop - start)
            self.texts.setdefault(full, []).append(self.data[start:stop].decode("utf-8", "replace"))
            if member.repeated:
                self.many.add(full)
        elif wire == 2 and member.type in _FIXED:
            self._packed(_FIXED[member.type], full, start, stop)
        elif wire == 2 and (member.type == _BYTES or member.type in _VARINT):
            self.blobs[full] = (start, stop - start)
        elif wire == 0 and member.type in _VARINT:
            kind = "zigzag" if member.type in _ZIGZAG else "varint"
            self._once(Field(full, start, kind, width=stop - start))
        elif wire in (1, 5) and member.type in _FIXED:
            self._once(Field(full, start, _FIXED[member.type]))

    def _packed(self, dtype: str, full: str, start: int, stop: int) -> None:
        size = np.dtype(dtype).itemsize
        count = (stop - start) // size
        if count * size != stop - start:
            raise UnreadableError("the message is malformed", where=full, found="half a number")
        if count <= MOST_VALUES:
            self._once(Field(full, start, dtype, count))
        else:
            self.blobs[full] = (start, stop - start)

    def _once(self, found: Field) -> None:
        self.fields.append(found)
        if len(self.fields) > MOST_FIELDS:
            raise UnreadableError("the message is spread beyond measure", where=found.path)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
