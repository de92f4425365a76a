"""Arrays of strangers: npy and npz files, and members of zip archives, without pickles and without bombs."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.unpickle import load_pickle

__all__ = ["Archive", "Header", "npy_header", "open_archive", "read_npy"]

MOST_MEMBER: Final = 2 << 30
MOST_MEMBERS: Final = 10_000
LOOSE: Final = 64 << 20
MOST_RATIO: Final = 200
"""A member that inflates beyond ``LOOSE`` bytes by more than this factor is no motion."""
LOOSE_TOTAL: Final = 256 << 20
MOST_TOTAL: Final = 20
"""The same for all members together: thousands of members just below ``LOOSE`` are a bomb too."""
_MOST_HEADER: Final = 10_000


@dataclass(frozen=True, slots=True)
class Header:
    """What an npy file says of itself: shape, dtype, order, and where its bytes begin."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    start: int

    @property
    def size(self) -> int:
        """Bytes of the values."""
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize


def _header(file: BinaryIO, where: str) -> Header:
    try:
        version = np.lib.format.read_magic(file)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
            (3, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran, dtype = read(file, max_header_size=_MOST_HEADER)
    except (*_BROKEN, KeyError, TypeError, SyntaxError, TokenError, MemoryError) as error:
        # numpy parses the header as Python source (never running it) and lets that parser's errors out.
        found = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise UnreadableError("the array has no readable header", where=where, found=found) from None
    if any(type(n) is not int or n < 0 for n in shape) or len(shape) > 8:
        raise UnreadableError("the array's shape is not one", where=where, found=str(shape)[:60])
    return Header(shape, dtype, fortran, file.tell())


def _values(header: Header, data: bytes, where: str) -> NDArray[Any]:
    if header.dtype.hasobject or header.dtype.names or header.dtype.itemsize == 0:
        raise UnreadableError("the array holds objects or records", where=where, found=str(header.dtype)[:60],
                              expected="numbers or text", remedy="store plain arrays")  # fmt: skip
    if len(data) != header.size:
        raise UnreadableError("the array has not the size that its header says", where=where,
                              found=f"{len(data)} bytes", expected=f"{header.size}")  # fmt: skip
    flat = np.frombuffer(data, header.dtype)
    return flat.reshape(header.shape[::-1]).T if header.fortran else flat.reshape(header.shape)


def npy_header(root: Path, path: str) -> Header:
    """The header of an npy file.

    Raises:
        UnreadableError: if it has none.
    """
    with open_inside(root, path) as file:
        return _header(file, path)


def read_npy(root: Path, path: str) -> Any:
    """The array of an npy file; plain data where it is an object array, through the restricted unpickler.

    Raises:
        UnreadableError: if it is broken or holds more than data.
    """
    with open_inside(root, path) as file:
        end = file.seek(0, io.SEEK_END)
        file.seek(0)
        header = _header(file, path)
        if header.dtype == np.dtype(object):
            return load_pickle(file, end, path)
        left = end - header.start
        if header.size > left:
            raise UnreadableError("the array is cut off", where=path, found=f"{left} bytes",
                                  expected=f"{header.size}")  # fmt: skip
        return _values(header, file.read(left), path)


@dataclass(frozen=True, slots=True)
class Archive:
    """An open zip archive of the corpus; ``names`` are its members, in stored order."""

    zip: zipfile.ZipFile
    where: str

    @property
    def names(self) -> tuple[str, ...]:
        """Members; for an npz each ends with ``.npy``."""
        return tuple(self.zip.namelist())

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the arrays of an npz."""
        return tuple(name.removesuffix(".npy") for name in self.names if name.endswith(".npy"))

    def data(self, name: str) -> bytes:
        """The bytes of a member, of bounded size.

        Raises:
            UnreadableError: if it is absent, broken, or inflates beyond measure.
        """
        with self._open(name) as (info, file):
            data = file.read(info.file_size + 1)
        if len(data) != info.file_size:
            raise UnreadableError("a member of the archive has not its size", where=f"{self.where}: {name}")
        return data

    def header(self, key: str) -> Header:
        """The header of an array, its values unread."""
        with self._open(f"{key}.npy") as (_, file):
            return _header(file, f"{self.where}: {key}")

    def array(self, key: str) -> NDArray[Any]:
        """An array of numbers or text.

        Raises:
            UnreadableError: if it is absent, broken, too large, or holds objects.
        """
        where, data = f"{self.where}: {key}", self.data(f"{key}.npy")
        header = _header(io.BytesIO(data), where)
        return _values(header, data[header.start :], where)

    @contextmanager
    def _open(self, name: str) -> Iterator[tuple[zipfile.ZipInfo, BinaryIO]]:
        where = f"{self.where}: {name}"
        try:
            info = self.zip.getinfo(name)
            _bounded(info, where)
            with self.zip.open(info) as file:
                yield info, file  # type: ignore[misc]
        except KeyError:
            raise UnreadableError("the archive has no such member", where=where) from None
        except _BROKEN as error:
            raise UnreadableError("a member of the archive is broken", where=where,
                                  found=str(error)[:120] or type(error).__name__) from error  # fmt: skip


_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


def _bounded(info: zipfile.ZipInfo, where: str) -> None:
    inflated = info.file_size > LOOSE and info.file_size > MOST_RATIO * max(1, info.compress_size)
    if info.file_size > MOST_MEMBER or inflated:
        raise UnreadableError(
            "a member of the archive inflates beyond measure", where=where,
            found=f"{info.file_size} bytes from {info.compress_size}",
            expected=f"at most {MOST_MEMBER >> 20} MiB and {MOST_RATIO} to 1",
        )  # fmt: skip


@contextmanager
def open_archive(root: Path, path: str) -> Iterator[Archive]:
    """Open a zip archive of the corpus.

    Raises:
        UnreadableError: if it is no archive, or has too many members.
    """
    with open_inside(root, path) as file:
        try:
            archive = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise UnreadableError(
                "the archive cannot be opened", where=path, found=str(error)[:120]
            ) from error
        with archive:
            count = len(archive.infolist())
            if count > MOST_MEMBERS:
                raise UnreadableError("the archive has too many members", where=path, found=str(count),
                                      expected=f"at most {MOST_MEMBERS}")  # fmt: skip
            total, size = sum(i.file_size for i in archive.infolist()), file.seek(0, io.SEEK_END)
            if total > max(LOOSE_TOTAL, MOST_TOTAL * size):
                raise UnreadableError("the archive inflates beyond measure", where=path,
                                      found=f"{total} bytes from {size}",
                                      expected=f"at most {MOST_TOTAL} to 1")  # fmt: skip
            yield Archive(archive, path)
