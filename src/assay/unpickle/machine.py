"""Python's machine of opcodes with those that call, build or import replaced."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, ClassVar, Final

from assay.unpickle.made import MADE, NEW, TOKENS
from assay.unpickle.values import Name, Pending, RefusedError, paired

MOST_OPCODES: Final = 5_000_000
"""Reads of the machine, each of which may leave 100 bytes; AMASS as one pickle of 11,000 clips takes half."""
MOST_COPIED: Final = 64 << 20
"""Bytes, or eight for each item, that calls may make of values, unless the file itself is larger."""
_PAGE: Final = 1 << 16

_Machine: Any = pickle._Unpickler  # the C one cannot be narrowed


class Unpickler(_Machine):  # type: ignore[misc]
    """Python's own machine of opcodes with those that call, build or import replaced.

    Args:
        file: the pickle's bytes.
        size: how many there are.
        made: further names that may be called, and what they make.
        tokens: further names that may be mentioned.
    """

    dispatch: ClassVar[dict[int, Any]] = dict(_Machine.dispatch)

    def __init__(
        self,
        file: BinaryIO,
        size: int,
        made: Mapping[str, Callable[..., Any]] | None = None,
        tokens: frozenset[str] = frozenset(),
    ) -> None:
        self._bytes, self._size = file, size
        self._opcodes, self._copied = 0, 0
        self._calls = {**MADE, **(made or {})}
        self._known = TOKENS | tokens | self._calls.keys() | NEW.keys()
        super().__init__(self, encoding="latin1")

    def raw(self, count: int) -> bytes:
        """Exactly ``count`` bytes, never allocated before it is known that they are there."""
        left = self._size - self._bytes.tell()
        if count < 0 or count > left:
            raise RefusedError(f"{count} bytes are needed and {max(0, left)} are left")
        data = self._bytes.read(count)
        if len(data) != count:
            raise RefusedError("the file ends early")
        return data

    def read(self, count: int) -> bytes:
        """As of a file, short at the end."""
        self._opcodes += 1
        if self._opcodes > MOST_OPCODES:
            raise RefusedError(f"it has more than {MOST_OPCODES} instructions")
        if 0 <= count <= _PAGE:
            return self._bytes.read(count)
        return self._bytes.read(min(count, max(0, self._size - self._bytes.tell())) if count >= 0 else 0)

    def readline(self) -> bytes:
        """One line of an old text opcode."""
        return self._bytes.readline(1 << 20)

    def find_class(self, module: str, name: str) -> Name:
        """A token for an allowed name; nothing is imported."""
        path = f"{module}.{name}"
        if path not in self._known:
            raise RefusedError(f"it names {path[:120]!r}, which is not data")
        return Name(path)

    def _call(self, what: Any, args: Any) -> Any:
        if not isinstance(what, Name) or not isinstance(args, tuple):
            raise RefusedError("it calls something that is not a name")
        make = self._calls.get(what.path)
        if make is None:
            raise RefusedError(f"it calls {what.path!r}, which is only a type")
        self._copied += sum(_weight(a) for a in args)
        if self._copied > max(MOST_COPIED, self._size):
            raise RefusedError("it copies its values over and over")
        return make(*args)

    def _reduce(self) -> None:
        args = self.stack.pop()
        self.stack[-1] = self._call(self.stack[-1], args)

    def _new(self) -> None:
        args, what = self.stack.pop(), self.stack.pop()
        path = what.path if isinstance(what, Name) else ""
        self.append(NEW[path]() if path in NEW and args == () else self._call(what, args))

    def _build(self) -> None:
        state, what = self.stack.pop(), self.stack[-1]
        if not isinstance(what, Pending):
            raise RefusedError(f"it sets the state of a {type(what).__name__}")
        what.build(state, self)

    def _bytearray(self) -> None:
        # Python's own allocates what the opcode asks for before it looks whether that is there.
        (count,) = struct.unpack("<Q", self.read(8))
        data = self.read(count)
        if len(data) != count:
            raise RefusedError(f"{count} bytes are needed and {len(data)} are left")
        self.append(bytes(data))

    def _frame(self) -> None:
        self.read(8)  # read on as the file stands: a frame's bytes would pass by uncounted

    def _set(self) -> None:
        self.append([])  # `plain` makes lists of sets; as a list nothing in it is hashed

    def _add(self) -> None:
        items = self.pop_mark()
        if not isinstance(self.stack[-1], list):
            raise RefusedError("it adds to what is no set")
        self.stack[-1].extend(items)

    def _frozenset(self) -> None:
        items = self.pop_mark()  # which puts back the stack that is appended to
        self.append(items)

    def _dict(self) -> None:
        items = self.pop_mark()
        self.append(paired(items))

    def _item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._fill([key, value])

    def _items(self) -> None:
        self._fill(self.pop_mark())

    def _fill(self, flat: list[Any]) -> None:
        if not isinstance(self.stack[-1], dict):
            raise RefusedError(f"it sets items of a {type(self.stack[-1]).__name__}")
        more = paired(flat)
        if not self.stack[-1].keys().isdisjoint(more):
            raise RefusedError("the same key twice in one dict")
        self.stack[-1].update(more)

    def _refuse(self) -> None:
        raise RefusedError("it uses an opcode for instances or registered code")

    dispatch[pickle.REDUCE[0]] = _reduce
    dispatch[pickle.BUILD[0]] = _build
    dispatch[pickle.NEWOBJ[0]] = _new
    dispatch[pickle.BYTEARRAY8[0]] = _bytearray
    dispatch[pickle.FRAME[0]] = _frame
    dispatch[pickle.EMPTY_SET[0]] = _set
    dispatch[pickle.ADDITEMS[0]] = _add
    dispatch[pickle.FROZENSET[0]] = _frozenset
    dispatch[pickle.DICT[0]] = _dict
    dispatch[pickle.SETITEM[0]] = _item
    dispatch[pickle.SETITEMS[0]] = _items
    for _code in (pickle.INST, pickle.OBJ, pickle.NEWOBJ_EX, pickle.EXT1, pickle.EXT2, pickle.EXT4,
                  pickle.NEXT_BUFFER, pickle.READONLY_BUFFER):  # fmt: skip
        dispatch[_code[0]] = _refuse


def _weight(value: Any) -> int:
    """Bytes that a copy of a value takes, about."""
    if isinstance(value, str | bytes | bytearray):
        return len(value)
    return 8 * len(value) if isinstance(value, list | tuple | set | frozenset | dict) else 0
