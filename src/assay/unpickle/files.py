"""Pickles and joblib files of a corpus, compressed or not, as plain data."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Final

from assay.errors import UnreadableError
from assay.inside import open_inside
from assay.unpickle.machine import Unpickler
from assay.unpickle.plain import plain
from assay.unpickle.values import RefusedError

MOST_INFLATED: Final = 1 << 30
"""Bytes that a compressed pickle may inflate to; an uncompressed one is bounded by its own size."""
LOOSE: Final = 64 << 20
MOST_RATIO: Final = 20
"""No motion compresses better than this beyond ``LOOSE`` bytes; real clips reach 5."""


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
