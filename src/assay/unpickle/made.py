"""The names that a pickle may call, and what this reader makes in their place: plain data, nothing run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.unpickle.values import Array, Kind, Pending, RefusedError, Wrapper, filled, paired

__all__ = ["MADE", "NEW", "TOKENS"]

_NUMPY: Final = ("numpy.core", "numpy._core")
_BUILTINS: Final = ("builtins", "__builtin__")


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
    return paired([side for pair in pairs for side in pair])


_SEQUENCE: Final = (list, tuple)
MADE: Final[dict[str, Callable[..., Any]]] = {
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
TOKENS: Final = frozenset(
    {"numpy.ndarray", *(f"{m}.{k}" for m in _BUILTINS for k in ("int", "float", "str", "bool"))}
)
NEW: Final[dict[str, Callable[[], Pending]]] = {"joblib.numpy_pickle.NumpyArrayWrapper": Wrapper}
