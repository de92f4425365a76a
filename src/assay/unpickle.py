"""Pickles of strangers, read without running anything: an allow-list of names, plain data out.

A pickle is a small program. This reader never imports what it names: a global becomes a token, and only the
tokens in an allow-list may be "called", each by a function of this file that builds plain data. Everything
else is refused by name. Joblib's files (raw arrays between the opcodes, the whole perhaps compressed) are
read without joblib. Sizes are bounded by what the file holds: no header can ask for more memory than its
bytes are worth, no value is copied over and over, and the number of opcodes is limited. Nothing nested is
hashed: the hash of a tuple of tuples takes as long, and as much stack, as its sender likes.
"""

from __future__ import annotations

import bz2
import io
import lzma
import pickle
import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.inside import open_inside

__all__ = ["Name", "Unpickler", "load_pickle", "plain", "read_pickle"]

MOST_INFLATED: Final = 1 << 30
"""Bytes that a compressed pickle may inflate to; an uncompressed one is bounded by its own size."""
LOOSE: Final = 64 << 20
MOST_RATIO: Final = 20
"""No motion compresses better than this beyond ``LOOSE`` bytes; real clips reach 5."""
MOST_DEPTH: Final = 64
MOST_OPCODES: Final = 5_000_000
"""Reads of the machine, each of which may leave 100 bytes; AMASS as one pickle of 11,000 clips takes half."""
MOST_COPIED: Final = 64 << 20
"""Bytes, or eight for each item, that calls may make of values, unless the file itself is larger."""
_PAGE: Final = 1 << 16
_LARGEST_KEY: Final = (1 << 61) - 1
"""Beyond it integers of one's choice have one hash, and each new one is compared with all before it."""
_NUMPY: Final = ("numpy.core", "numpy._core")
_BUILTINS: Final = ("builtins", "__builtin__")


class RefusedError(Exception):
    """Why a pickle is not plain data; becomes an `UnreadableError` with the file's name."""


class Name:
    """A global that the pickle names. It is never imported and cannot be called."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path


class Pending:
    """An object that a later opcode completes; its `value` is what remains."""

    __slots__ = ("value",)

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def build(self, state: Any, unpickler: Unpickler) -> None:
        """Take the state of a BUILD opcode."""
        raise RefusedError(f"state for a {type(self).__name__}")


class Kind(Pending):
    """A dtype: numbers, booleans and text of fixed width; never objects, never records."""

    def build(self, state: Any, unpickler: Unpickler) -> None:
        del unpickler
        if not isinstance(state, tuple) or len(state) < 5 or state[2:5] != (None, None, None):
            raise RefusedError("a dtype with fields")
        if state[1] in ("<", ">"):
            self.value = self.value.newbyteorder(state[1])


class Array(Pending):
    """An array before its state: (version, shape, dtype, fortran, bytes or list)."""

    def build(self, state: Any, unpickler: Unpickler) -> None:
        del unpickler
        if not isinstance(state, tuple) or len(state) != 5 or not isinstance(state[2], Kind):
            raise RefusedError("an array whose state is not one")
        _, shape, kind, fortran, data = state
        if isinstance(data, list) and kind.value == np.dtype(object):
            self.value = data[0] if shape == () and len(data) == 1 else data
            return
        self.value = filled(data, kind, shape, "F" if fortran else "C")


class Wrapper(Pending):
    """Joblib's note that an array's bytes follow in the file."""

    def build(self, state: Any, unpickler: Unpickler) -> None:
        if not isinstance(state, dict) or not isinstance(state.get("dtype"), Kind):
            raise RefusedError("a joblib array without a dtype")
        kind, shape = state["dtype"].value, sized(state.get("shape"))
        if state.get("numpy_array_alignment_bytes") is not None:
            unpickler.raw(unpickler.raw(1)[0])
        count = int(np.prod(shape, dtype=object))
        data = unpickler.raw(count * kind.itemsize)
        self.value = filled(data, state["dtype"], shape, state.get("order"))


def sized(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple of counts; refuses everything else."""
    if not isinstance(shape, tuple) or len(shape) > 8:
        raise RefusedError("an array whose shape is not one")
    if any(type(n) is not int or not 0 <= n < 2**48 for n in shape):
        raise RefusedError(f"an array of shape {shape!r:.60}")
    return shape


def filled(data: Any, kind: Any, shape: Any, order: Any) -> NDArray[Any]:
    """An array of ``kind`` over exactly the bytes that are there."""
    if not isinstance(kind, Kind) or kind.value.hasobject or not kind.value.itemsize:
        raise RefusedError("an array of Python objects")
    if not isinstance(data, bytes | bytearray):
        raise RefusedError("an array without bytes")
    count = int(np.prod(sized(shape), dtype=object))
    if count * kind.value.itemsize != len(data):
        raise RefusedError(f"an array of {count} values in {len(data)} bytes")
    flat = np.frombuffer(bytes(data), kind.value)
    return flat.reshape(shape[::-1]).T if order == "F" else flat.reshape(shape)


def _dtype(code: Any, *_: Any) -> Kind:
    if not isinstance(code, str) or len(code) > 12:
        raise RefusedError("a dtype without a code")
    try:
        kind = np.dtype(code)
    except TypeError:
        raise RefusedError(f"a dtype {code!r}") from None
    if kind.kind not in "biufcSUO":  # objects are refused where bytes would become them
        raise RefusedError(f"a dtype {code!r}")
    return Kind(kind)


def _reconstruct(*_: Any) -> Array:
    return Array()


def _scalar(kind: Any, data: Any) -> Any:
    return filled(data, kind, (1,), "C")[0]


def _frombuffer(data: Any, kind: Any, shape: Any, order: Any) -> NDArray[Any]:
    return filled(data, kind, shape, order)


def _encode(text: Any, codec: Any) -> bytes:
    if not isinstance(text, str) or codec != "latin1":
        raise RefusedError("bytes in an unknown encoding")
    return text.encode("latin1")


def _of(kind: Callable[[Any], Any], *taken: type) -> Callable[..., Any]:
    def build(*args: Any) -> Any:
        if not args:
            return kind(())
        if len(args) != 1 or not isinstance(args[0], taken):
            raise RefusedError(f"a {getattr(kind, '__name__', 'value')} made of {type(args[0]).__name__}")
        return kind(args[0])

    return build


def _dict_of(*args: Any) -> dict[Any, Any]:
    if not args:
        return {}
    if len(args) == 1 and isinstance(args[0], dict):
        return dict(args[0])
    pairs = args[0] if len(args) == 1 and isinstance(args[0], list) else None
    if pairs is None or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        raise RefusedError("a dict made of no pairs")
    return _paired([side for pair in pairs for side in pair])


_SEQUENCE: Final = (list, tuple)
_MADE: Final[dict[str, Callable[..., Any]]] = {
    "numpy.dtype": _dtype,
    "_codecs.encode": _encode,
    "collections.OrderedDict": _dict_of,
    **{f"{m}.multiarray._reconstruct": _reconstruct for m in _NUMPY},
    **{f"{m}.multiarray.scalar": _scalar for m in _NUMPY},
    **{f"{m}.numeric._frombuffer": _frombuffer for m in _NUMPY},
    **{f"{m}.{k}": _of(list, *_SEQUENCE) for m in _BUILTINS for k in ("list", "set", "frozenset")},
    **{f"{m}.tuple": _of(tuple, *_SEQUENCE) for m in _BUILTINS},
    **{f"{m}.dict": _dict_of for m in _BUILTINS},
    **{f"{m}.{k.__name__}": _of(k, bytes, bytearray) for m in _BUILTINS for k in (bytes, bytearray)},
}  # fmt: skip
_TOKENS: Final = frozenset(
    {"numpy.ndarray", *(f"{m}.{k}" for m in _BUILTINS for k in ("int", "float", "str", "bool"))}
)
_NEW: Final[dict[str, Callable[[], Pending]]] = {"joblib.numpy_pickle.NumpyArrayWrapper": Wrapper}

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
        self._calls = {**_MADE, **(made or {})}
        self._known = _TOKENS | tokens | self._calls.keys() | _NEW.keys()
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
        self.append(_NEW[path]() if path in _NEW and args == () else self._call(what, args))

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
        self.append(_paired(items))

    def _item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._fill([key, value])

    def _items(self) -> None:
        self._fill(self.pop_mark())

    def _fill(self, flat: list[Any]) -> None:
        if not isinstance(self.stack[-1], dict):
            raise RefusedError(f"it sets items of a {type(self.stack[-1]).__name__}")
        more = _paired(flat)
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


def _paired(flat: list[Any]) -> dict[Any, Any]:
    """A dict of keys and values one after the other; every key is looked at before it is hashed."""
    if len(flat) % 2:
        raise RefusedError("a key without a value")
    made = {_key(key): value for key, value in zip(flat[::2], flat[1::2], strict=True)}
    if 2 * len(made) != len(flat):
        raise RefusedError("the same key twice in one dict")
    return made


def plain(value: Any) -> Any:
    """Loaded objects as dicts, lists, tuples, numbers, text and arrays.

    Raises:
        RefusedError: if something else is left, or it is nested too deep or in itself.
    """
    return _plain(value, {}, 0)


_OPEN: Final = object()


def _plain(value: Any, done: dict[int, tuple[Any, Any]], depth: int) -> Any:
    if depth > MOST_DEPTH:
        raise RefusedError(f"it is nested deeper than {MOST_DEPTH}")
    if isinstance(value, bool | int | float | complex | str | bytes | type(None) | np.generic | np.ndarray):
        return value
    known = done.get(id(value))
    if known is not None:
        if known[1] is _OPEN:
            raise RefusedError("it contains itself")
        return known[1]
    done[id(value)] = (value, _OPEN)  # holds the value, so that its id stays its own
    made = _converted(value, done, depth + 1)
    done[id(value)] = (value, made)
    return made


def _converted(value: Any, done: dict[int, tuple[Any, Any]], depth: int) -> Any:
    if isinstance(value, Pending):
        if value.value is None or isinstance(value, Kind):
            raise RefusedError("an object without its content")
        return _plain(value.value, done, depth)
    if isinstance(value, dict):
        return {_key(k): _plain(v, done, depth) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [_plain(v, done, depth) for v in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, bytearray):
        return bytes(value)
    raise RefusedError(f"a bare {value.path!r}" if isinstance(value, Name) else f"a {type(value).__name__}")


def _key(key: Any) -> Any:
    if isinstance(key, int) and abs(key) >= _LARGEST_KEY:
        raise RefusedError("a key beyond all counts")
    if not isinstance(key, str | int | float | bytes | np.generic):
        raise RefusedError(f"a key of type {type(key).__name__}")
    return key


def load_pickle(file: BinaryIO, size: int, where: str, unpickler: type[Unpickler] = Unpickler,
                **names: Any) -> Any:  # fmt: skip
    """Plain data of a pickle.

    Args:
        file: the bytes.
        size: how many there are.
        where: the file's name, for messages.
        unpickler: an `Unpickler`.
        **names: what it takes beside file and size.

    Raises:
        UnreadableError: if it is broken, or names or does anything but data.
    """
    try:
        return plain(unpickler(file, size, **names).load())
    except UnreadableError:
        raise
    except RefusedError as error:
        raise UnreadableError("the pickle is refused", where=where, found=str(error),
                              expected="arrays, numbers and text", remedy=_REMEDY) from None  # fmt: skip
    except (RecursionError, MemoryError) as error:
        raise UnreadableError("the pickle is too large or too deep", where=where,
                              found=type(error).__name__) from None  # fmt: skip
    except Exception as error:
        # The machine raises whatever a wrong stack leads to; none of it is ours.
        raise UnreadableError("the pickle is broken", where=where,
                              found=f"{type(error).__name__}: {error}"[:200]) from error  # fmt: skip


_REMEDY: Final = "export it as npz, or as a pickle of plain dicts and numpy arrays"


def read_pickle(root: Path, path: str) -> Any:
    """Plain data of a pickle or joblib file of the corpus, compressed or not.

    Raises:
        UnreadableError: if it is absent, broken, too large when inflated, or more than data.
    """
    with open_inside(root, path) as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        start = file.read(6)
        file.seek(0)
        inflate = next((make for magic, make in _COMPRESSED.items() if start.startswith(magic)), None)
        if inflate is None:
            return load_pickle(file, size, path)
        data = _inflated(file, inflate(), path)
        return load_pickle(io.BytesIO(data), len(data), path)


_COMPRESSED: Final[dict[bytes, Callable[[], Any]]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ": lzma.LZMADecompressor,
    b"]\x00": lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE),
    **{bytes((0x78, level)): zlib.decompressobj for level in (0x01, 0x5E, 0x9C, 0xDA)},
}


def _inflated(file: BinaryIO, machine: Any, where: str) -> bytes:
    parts, total = [], 0
    try:
        while not machine.eof:
            rest = getattr(machine, "unconsumed_tail", b"")
            data = rest or (file.read(1 << 20) if getattr(machine, "needs_input", True) else b"")
            if not data and getattr(machine, "needs_input", True):
                raise UnreadableError("the compressed file ends early", where=where)
            part = machine.decompress(data, 1 << 24)
            total += len(part)
            if total > MOST_INFLATED or total > max(LOOSE, MOST_RATIO * file.tell()):
                raise UnreadableError("the file inflates beyond measure", where=where,
                                      expected=f"at most {MOST_INFLATED >> 20} MiB and {MOST_RATIO} to 1",
                                      remedy="store it uncompressed")  # fmt: skip
            parts.append(part)
    except (zlib.error, OSError, lzma.LZMAError, EOFError) as error:
        raise UnreadableError("the compressed file is broken", where=where, found=str(error)) from error
    return b"".join(parts)
