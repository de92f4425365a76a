"""Tensors saved by PyTorch (zip archives), read without PyTorch and without running anything."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.arrays import Archive, open_archive
from assay.errors import UnreadableError
from assay.unpickle import Name, RefusedError, Unpickler, load_pickle, sized

__all__ = ["read_torch"]

_STORAGES: Final[dict[str, str]] = {
    "torch.DoubleStorage": "f8", "torch.FloatStorage": "f4", "torch.HalfStorage": "f2",
    "torch.LongStorage": "i8", "torch.IntStorage": "i4", "torch.ShortStorage": "i2",
    "torch.CharStorage": "i1", "torch.ByteStorage": "u1", "torch.BoolStorage": "?",
}  # fmt: skip


class _Tensors(Unpickler):
    """The unpickler with PyTorch's persistent ids, which name members of the archive."""

    def __init__(self, file: Any, size: int, storage: Callable[[Any], Any]) -> None:
        made = {
            "torch._utils._rebuild_tensor_v2": _rebuild,
            "torch._utils._rebuild_tensor": _rebuild,
            "torch._utils._rebuild_parameter": lambda tensor, *_: tensor,
        }
        super().__init__(file, size, made, frozenset(_STORAGES))
        self._storage = storage

    def persistent_load(self, pid: Any) -> Any:
        """The values of a storage."""
        return self._storage(pid)


def read_torch(root: Path, path: str) -> Any:
    """What ``torch.save`` stored: tensors as arrays, containers as they were.

    Raises:
        UnreadableError: if it is broken, of the old format without an archive, or more than data.
    """
    with open_archive(root, path) as archive:
        pickles = [n for n in archive.names if n.endswith("/data.pkl") and n.count("/") == 1]
        if len(pickles) != 1:
            raise UnreadableError("the archive holds no tensors", where=path, expected="one data.pkl")
        folder = pickles[0].removesuffix("data.pkl")
        data = archive.data(pickles[0])
        return load_pickle(io.BytesIO(data), len(data), path, _Tensors, storage=_reader(archive, folder))


def _reader(archive: Archive, folder: str) -> Callable[[Any], NDArray[Any]]:
    order: Literal["<", ">"] = "<"
    if f"{folder}byteorder" in archive.names and archive.data(f"{folder}byteorder").strip() == b"big":
        order = ">"
    read: dict[str, NDArray[Any]] = {}

    def storage(pid: Any) -> NDArray[Any]:
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage":
            raise RefusedError("a persistent id that is no storage")
        kind, key, count = pid[1], pid[2], pid[4]
        code = _STORAGES.get(kind.path) if isinstance(kind, Name) else None
        if code is None or not isinstance(key, str) or type(count) is not int:
            raise RefusedError("a storage of an unknown type")
        if key not in read:
            data = archive.data(f"{folder}data/{key}")
            if count * np.dtype(code).itemsize != len(data):
                raise RefusedError(f"a storage of {count} values in {len(data)} bytes")
            read[key] = np.frombuffer(data, np.dtype(code).newbyteorder(order))
        return read[key]

    return storage


def _rebuild(storage: Any, offset: Any, size: Any, stride: Any, *_: Any) -> NDArray[Any]:
    """A tensor as a view of its storage; never larger than it."""
    if not isinstance(storage, np.ndarray) or type(offset) is not int or offset < 0:
        raise RefusedError("a tensor without a storage")
    shape, steps = sized(size), sized(stride)
    count = int(np.prod(shape, dtype=object))
    last = offset + sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    if count == 0:
        return np.zeros(shape, storage.dtype)
    if count > len(storage) or last >= len(storage):
        raise RefusedError(f"a tensor of {count} values that reach beyond its storage of {len(storage)}")
    strides = [step * storage.itemsize for step in steps]
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, strides, writeable=False)
