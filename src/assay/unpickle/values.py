"""What a pickle may hold before it is plain: names, objects that a later opcode completes, arrays, dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from assay.unpickle.machine import Unpickler

_LARGEST_KEY: Final = (1 << 61) - 1
"""Beyond it integers of one's choice have one hash, and each new one is compared with all before it."""


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
        """(version, byte order, and what plain dtypes leave None)."""
        del unpickler
        if not isinstance(state, tuple) or len(state) < 5 or state[2:5] != (None, None, None):
            raise RefusedError("a dtype with fields")
        if state[1] in ("<", ">"):
            self.value = self.value.newbyteorder(state[1])


class Array(Pending):
    """An array before its state: (version, shape, dtype, fortran, bytes or list)."""

    def build(self, state: Any, unpickler: Unpickler) -> None:
        """Shape, dtype, order and bytes."""
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
        """Shape, dtype and order; the bytes are read from the file."""
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


def paired(flat: list[Any]) -> dict[Any, Any]:
    """A dict of keys and values one after the other; every key is looked at before it is hashed."""
    if len(flat) % 2:
        raise RefusedError("a key without a value")
    made = {key_of(key): value for key, value in zip(flat[::2], flat[1::2], strict=True)}
    if 2 * len(made) != len(flat):
        raise RefusedError("the same key twice in one dict")
    return made


def key_of(key: Any) -> Any:
    """The key, if hashing it costs what it should; refuses everything else."""
    if isinstance(key, int) and abs(key) >= _LARGEST_KEY:
        raise RefusedError("a key beyond all counts")
    if not isinstance(key, str | int | float | bytes | np.generic):
        raise RefusedError(f"a key of type {type(key).__name__}")
    return key
