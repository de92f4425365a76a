"""Pickles, tensors and archives of strangers: data comes out as it went in, nothing else happens."""

import bz2
import gzip
import io
import lzma
import os
import pickle
import pickletools
import random
import runpy
import struct
import zipfile
import zlib
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.arrays import open_archive, read_npy
from assay.errors import OutsideCorpusError, UnreadableError
from assay.torch_archive import read_torch
from assay.unpickle import read_pickle

MAKE = runpy.run_path(str(Path(__file__).parent / "golden/motion/make.py"), run_name="make")
GOLDEN = Path(__file__).parent / "golden/motion"
DATA: dict[str, Any] = {
    "a": np.arange(6.0).reshape(2, 3),
    "f": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "b": np.array([True]),
    "big": np.arange(3, dtype=">i4"),
    "text": np.array(["left", "right"]),
    "scalar": np.float32(1.5),
    "n": None,
    "empty": np.zeros((0, 3)),
    "list": [1, 2.5, "x", b"y"],
    "tuple": (True, -1),
    "in": OrderedDict(z=1),
    "long": 2**90,
}


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return bool(a == b)


def loaded(tmp_path: Path, data: bytes) -> Any:
    (tmp_path / "x.pkl").write_bytes(data)
    return read_pickle(tmp_path, "x.pkl")


@pytest.mark.parametrize("protocol", range(6))
def test_plain_data_comes_back(tmp_path: Path, protocol: int) -> None:
    assert same(loaded(tmp_path, pickle.dumps(DATA, protocol)), DATA)


@pytest.mark.parametrize("old", [b"numpy.core.", b"numpy._core."])
def test_old_and_new_names_of_numpy(tmp_path: Path, old: bytes) -> None:
    data = pickle.dumps(DATA["a"], 2).replace(b"numpy._core.", old)
    assert np.array_equal(loaded(tmp_path, data), DATA["a"])


@pytest.mark.parametrize("pack", [zlib.compress, gzip.compress, bz2.compress, lzma.compress])
def test_compressed_pickles(tmp_path: Path, pack: Any) -> None:
    assert same(loaded(tmp_path, pack(pickle.dumps(DATA, 4))), DATA)


def test_lzma_alone(tmp_path: Path) -> None:
    assert same(loaded(tmp_path, lzma.compress(pickle.dumps(DATA, 4), lzma.FORMAT_ALONE)), DATA)


def test_joblib_files(tmp_path: Path) -> None:
    plain = read_pickle(GOLDEN / "asap/input", "plain.pkl")
    assert same(read_pickle(GOLDEN / "asap/input", "zlib.pkl"), plain)
    assert same(plain, {"0-walk": MAKE["clip"](23, MAKE["AXES"], "xyzw")})
    del tmp_path


# ------------------------------------------------------------------------------------------------- hostile


class Calls:
    def __init__(self, what: Any, *args: Any) -> None:
        self.pair = (what, args)

    def __reduce__(self) -> Any:
        return self.pair


def mark(path: Path) -> str:
    return f"touch {path}"


def hostile(path: Path) -> dict[str, bytes]:
    """Pickles that would create ``path`` if any of them ran."""
    command = mark(path)
    line = command.encode()
    short = bytes([len(line)]) + line
    made = {
        "system": pickle.dumps(Calls(os.system, command)),
        "eval": pickle.dumps(Calls(eval, f"open({str(path)!r}, 'w')")),
        "exec": pickle.dumps(Calls(exec, f"open({str(path)!r}, 'w')")),
        "open": pickle.dumps(Calls(open, str(path), "w")),
        "inside data": pickle.dumps({"dof": [np.zeros(3), Calls(os.system, command)]}),
        "text": b"cos\nsystem\n(S'" + line + b"'\ntR.",
        "instance": b"(S'" + line + b"'\nios\nsystem\n.",
        "object": b"(cos\nsystem\nS'" + line + b"'\no.",
        "stack global": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c" + short + b"\x85R.",
        "built name": b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x8c" + short + b"\x85R.",
        "dotted": b"\x80\x04\x8c\x05numpy\x8c\x10f2py.os.system.x\x93\x8c" + short + b"\x85R.",
        "setstate": b"\x80\x04cos\nsystem\n}\x8c\x0c__setstate__cos\nsystem\nsb.",
        "setstate of a dict": b"\x80\x04}(\x8c\x0c__setstate__\x8c" + short + b"ub.",
        "build of a token": b"\x80\x04cnumpy\nndarray\n}\x8c\x01x\x8c" + short + b"sb.",
        "class of a token": b"\x80\x04cnumpy\nndarray\n)\x81.",
        "newobj_ex": b"\x80\x04ccollections\nOrderedDict\n)}\x92.",
        "extension": b"\x80\x04\x82\x01.",
        "persistent": b"\x80\x04\x8c\x01xQ.",
        "getattr": b"\x80\x04cbuiltins\ngetattr\ncnumpy\nndarray\n\x8c\x01x\x86R.",
        "import": b"\x80\x04cbuiltins\n__import__\n\x8c\x02os\x85R.",
        "numpy load": b"\x80\x04cnumpy\nload\n\x8c" + short + b"\x85R.",
        "memmap": b"\x80\x04cnumpy\nmemmap\n\x8c" + short + b"\x85R.",
        "joblib's own": b"\x80\x04cjoblib.numpy_pickle\nload\n\x8c" + short + b"\x85R.",
        "fromfile": b"\x80\x04cnumpy\nfromfile\n\x8c" + short + b"\x85R.",
        "call of a list": b"\x80\x04]\x8c" + short + b"\x85R.",
        "call of a type": b"\x80\x04cbuiltins\nint\n\x8c\x01x\x85R.",
    }
    return made | {f"zlib {name}": zlib.compress(data) for name, data in made.items()}


@pytest.mark.parametrize("name", sorted(hostile(Path("x"))))
def test_nothing_runs(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        loaded(tmp_path, hostile(tmp_path / "ran")[name])
    assert str(caught.value).startswith("x.pkl: the pickle is")
    assert str(caught.value).endswith(".")
    assert not (tmp_path / "ran").exists()


def test_the_message_names_the_global(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"x\.pkl: the pickle is refused .*posix\.system"):
        loaded(tmp_path, pickle.dumps(Calls(os.system, "true")))


def test_hostile_names_in_every_reader_of_pickles(tmp_path: Path) -> None:
    evil = pickle.dumps({"dof_pos": Calls(os.system, mark(tmp_path / "ran"))})
    np.save(tmp_path / "a.npy", np.array({}, dtype=object), allow_pickle=True)
    head = (tmp_path / "a.npy").read_bytes()[:128]
    (tmp_path / "a.npy").write_bytes(head + evil)
    MAKE["torch_file"](tmp_path / "a.pt", np.zeros(2, np.float32), evil)
    for read in (lambda: read_npy(tmp_path, "a.npy"), lambda: read_torch(tmp_path, "a.pt")):
        with pytest.raises(UnreadableError):
            read()
    assert not (tmp_path / "ran").exists()


def array(shape: str, kind: bytes, data: bytes) -> bytes:
    """A pickle of an array whose header says what it likes."""
    start = b"\x80\x04cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01"
    dtype = (
        b"cnumpy\ndtype\n\x8c"
        + bytes([len(kind)])
        + kind
        + b"\x89\x88\x87R(K\x03\x8c\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    )
    dims = b"(" + b"".join(f"I{n}\n".encode() for n in shape.split()) + b"t"
    return start + dims + dtype + b"\x89C" + bytes([len(data)]) + data + b"tb."


BOMBS = {
    "array": array("100000000000", b"f8", b"\0" * 8),
    "negative": array("-1", b"f8", b"\0" * 8),
    "wraps around": array("4294967296 4294967296", b"f8", b""),
    "no size": array("100000000000", b"V0", b""),
    "wide": array("1", b"S2147483647", b"\0"),
    "bytes": b"\x80\x04\x8e" + struct.pack("<Q", 10**11) + b"abc.",
    "text": b"\x80\x04\x8d" + struct.pack("<Q", 10**11) + b"abc.",
    "bytearray": b"\x80\x05\x96" + struct.pack("<Q", 10**11) + b"abc.",
    "frame": b"\x80\x04\x95" + struct.pack("<Q", 10**11) + b"abc.",
    "bytes of a number": b"\x80\x04cbuiltins\nbytes\n\x8a\x05" + (10**11).to_bytes(5, "little") + b"\x85R.",
    "list of a range": b"\x80\x04cbuiltins\nlist\ncbuiltins\nrange\nJ\xff\xff\xff\x7f\x85R\x85R.",
    "deep": b"\x80\x04" + b"]" * 5000 + b"a" * 4999 + b".",
    "deep tuples": b"\x80\x04)" + b"\x85" * 100_000 + b".",
    "in itself": b"\x80\x04]\x94h\x00a.",
    "dict in itself": b"\x80\x04}\x94K\x01h\x00s.",
    "memo": b"\x80\x04]r\xff\xff\xff\x7fj\xff\xff\xff\x7ej.",
    "number": b"I" + b"9" * 100_000 + b"\n.",
    "inflates": zlib.compress(b"\x80\x04" + b"N0" * 500_000),
}


@pytest.mark.parametrize("name", sorted(BOMBS))
def test_bombs_are_refused_before_they_allocate(tmp_path: Path, name: str) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UnreadableError):
        loaded(tmp_path, BOMBS[name])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB


def test_shared_parts_do_not_multiply(tmp_path: Path) -> None:
    value: Any = [0]
    for _ in range(60):
        value = [value, value]
    assert len(loaded(tmp_path, pickle.dumps(value))) == 2


def test_inflation_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.unpickle.files.MOST_INFLATED", 1 << 20)
    with pytest.raises(UnreadableError, match="inflates beyond measure"):
        loaded(tmp_path, zlib.compress(b"\0" * (1 << 22)))


def test_leading_out_of_the_corpus(tmp_path: Path) -> None:
    with pytest.raises(OutsideCorpusError):
        read_pickle(tmp_path, "../x.pkl")


@pytest.mark.parametrize("pack", [bytes, zlib.compress])
def test_every_cut_is_an_error(tmp_path: Path, pack: Any) -> None:
    whole = pack(pickle.dumps({"a": np.arange(3.0), "b": [1, "x"]}, 4))
    for cut in range(len(whole)):
        with pytest.raises(UnreadableError):
            loaded(tmp_path, whole[:cut])


def test_every_cut_of_joblib_is_an_error(tmp_path: Path) -> None:
    whole = (GOLDEN / "asap/input/plain.pkl").read_bytes()
    for cut in [*range(0, len(whole), 41), len(whole) - 1]:
        with pytest.raises(UnreadableError):
            loaded(tmp_path, whole[:cut])


def test_changed_bytes_give_data_or_an_error(tmp_path: Path) -> None:
    """Fuzz: 1,500 pickles with one to three changed bytes; nothing else than data or a sentence comes out."""
    dice = random.Random(5)
    seeds = [
        pickle.dumps({"a": np.arange(3.0), "b": [1, "x", (2.5, None)], "c": DATA["text"]}, p)
        for p in (0, 2, 4, 5)
    ]
    seeds.append((GOLDEN / "asap/input/plain.pkl").read_bytes()[:1500])
    opcodes = [ord(op.code) for op in pickletools.opcodes]
    for i in range(1500):
        data = bytearray(seeds[i % len(seeds)])
        for _ in range(dice.randint(1, 3)):
            data[dice.randrange(len(data))] = (
                dice.choice(opcodes) if dice.random() < 0.7 else dice.randrange(256)
            )
        try:
            only_data(loaded(tmp_path, bytes(data)))
        except UnreadableError as error:
            if not str(error).endswith("."):
                raise


def only_data(value: Any) -> None:
    if isinstance(value, dict):
        for k, v in value.items():
            only_data(k)
            only_data(v)
    elif isinstance(value, list | tuple):
        for v in value:
            only_data(v)
    else:
        assert isinstance(value, np.ndarray | np.generic | int | float | complex | str | bytes | None)


# --------------------------------------------------------------------------------------- arrays and tensors


def test_torch_tensors(tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    MAKE["torch_file"](tmp_path / "a.pt", x)
    assert np.array_equal(read_torch(tmp_path, "a.pt"), x)
    y = np.arange(6).reshape(2, 3)
    MAKE["torch_file"](tmp_path / "b.pt", y, MAKE["tensor"](y, "LongStorage"))
    assert np.array_equal(read_torch(tmp_path, "b.pt"), y)


@pytest.mark.parametrize(
    ("shape", "strides"), [((2, 4), (4, 1)), ((10**9,), (0,)), ((3,), (3,)), ((2**40, 2**40), (1, 1))]
)
def test_tensors_stay_within_their_storage(tmp_path: Path, shape: Any, strides: Any) -> None:
    class Fake:
        itemsize, size = 4, 6

        def __init__(self) -> None:
            self.shape, self.strides = shape, tuple(4 * s for s in strides)

    def number(n: int) -> bytes:
        return b"\x8a\x08" + n.to_bytes(8, "little")

    real = MAKE["tensor"](np.zeros(6, np.float32))
    head, tail = real.split(b"tQ")
    dims = b"(" + b"".join(map(number, shape)) + b"t(" + b"".join(map(number, strides)) + b"t"
    data = head + b"tQJ\0\0\0\0" + dims + b"\x89" + tail.split(b"\x89")[1]
    MAKE["torch_file"](tmp_path / "a.pt", np.zeros(6, np.float32), data)
    with pytest.raises(UnreadableError):
        read_torch(tmp_path, "a.pt")


def test_object_and_record_arrays_of_npz_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", allow_pickle=True, o=np.array([{}], dtype=object), r=np.zeros(2, "f4,i4"))
    with open_archive(tmp_path, "a.npz") as archive:
        for key in ("o", "r"):
            with pytest.raises(UnreadableError, match="objects or records"):
                archive.array(key)


def test_zip_bombs_are_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(12_000_000))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("qpos.npy", buffer.getvalue())
    with open_archive(tmp_path, "a.npz") as opened, pytest.raises(UnreadableError, match="beyond measure"):
        opened.array("qpos")


def test_headers_that_ask_for_too_much(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(3))
    data = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(data.replace(b"(3,), }", b"(3000000000,), }"[:7].ljust(7)))
    with pytest.raises(UnreadableError):
        read_npy(tmp_path, "a.npy")
    head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,), }"
    head = head.ljust(117) + b"\n"
    (tmp_path / "b.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\0" * 24)
    with pytest.raises(UnreadableError, match="cut off"):
        read_npy(tmp_path, "b.npy")
