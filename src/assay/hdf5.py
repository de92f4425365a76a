"""HDF5 files of strangers: no links to elsewhere, no arrays in other files, nothing that inflates too far."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import h5py
import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.inside import open_inside

__all__ = ["at", "numbers", "opened"]

MAGIC: Final = b"\x89HDF\r\n\x1a\n"
LOOSE: Final = 64 << 20
MOST_RATIO: Final = 200
"""An array larger than ``LOOSE`` may not inflate more than this many times."""
MOST_VALUES: Final = 1 << 28


@contextmanager
def opened(root: Path, file: str) -> Iterator[Any]:
    """The file's root group, closed afterwards.

    Raises:
        UnreadableError: if it is absent or no HDF5, or whatever HDF5 raises inside the block.
    """
    with open_inside(root, file) as stream:
        if stream.read(8) != MAGIC:
            raise UnreadableError("the file is no HDF5", where=file)
        stream.seek(0, io.SEEK_SET)
        try:
            with h5py.File(stream, "r") as data:
                yield data
        except UnreadableError:
            raise
        except Exception as error:
            # HDF5 raises what its C library felt: KeyError, OSError, RuntimeError, ValueError and more.
            raise UnreadableError("the HDF5 file is broken", where=file, found=str(error)[:120]) from error


def at(group: Any, path: str) -> Any:
    """What lies at a path, never through a link that may lead to another file; None where nothing does."""
    for step in path.split("/"):
        if not isinstance(group, h5py.Group) or not isinstance(group.get(step, getlink=True), h5py.HardLink):
            return None
        group = group[step]
    return group


def numbers(group: Any, path: str, where: str) -> NDArray[Any] | None:
    """The array at a path as it is stored, None where there is none.

    Raises:
        UnreadableError: if it holds no numbers, lies in another file, or inflates beyond measure.
    """
    data = at(group, path)
    if not isinstance(data, h5py.Dataset):
        return None
    if data.size is None or data.size > MOST_VALUES or data.dtype.kind not in "biuf":
        raise UnreadableError(
            "an array holds no numbers", where=f"{where}/{path}", found=f"{data.shape} {data.dtype}"[:80]
        )
    if data.nbytes > max(LOOSE, MOST_RATIO * data.id.get_storage_size()):
        raise UnreadableError(
            "an array inflates beyond measure", where=f"{where}/{path}", found=f"{data.nbytes} bytes"
        )
    if data.external or data.is_virtual:
        raise UnreadableError("an array lies in another file", where=f"{where}/{path}")
    return np.asarray(data[()])
