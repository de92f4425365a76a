"""The one door to a stranger's files: nothing outside the corpus passes, and nothing waits."""

import os
import socket
from pathlib import Path

import pytest

from assay.errors import OutsideCorpusError, UnreadableError
from assay.inside import open_inside, path_inside
from assay.model import Ref


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A corpus beside a secret."""
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "corpus"
    (folder / "data").mkdir(parents=True)
    (folder / "data/a.txt").write_text("inside")
    return folder


def read(root: Path, name: str) -> str:
    """The text of a file of the corpus."""
    with open_inside(root, name) as file:
        return file.read().decode()


@pytest.mark.parametrize("name", ["data/a.txt", "./data/../data/a.txt", "data//a.txt"])
def test_files_of_the_corpus_are_read(root: Path, name: str) -> None:
    assert read(root, name) == "inside"


def test_the_corpus_itself_may_be_reached_through_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert read(tmp_path / "link", "data/a.txt") == "inside"


def test_links_within_the_corpus_are_followed(root: Path) -> None:
    (root / "same.txt").symlink_to("data/a.txt")
    (root / "more").symlink_to("data")
    assert read(root, "same.txt") == read(root, "more/a.txt") == "inside"


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "data/../../secret.txt",
        "/etc/passwd",
        "../corpus-2/x",
        "../../../../../../etc/passwd",
    ],
)
def test_names_that_lead_out_are_refused(root: Path, name: str) -> None:
    for look in (path_inside, open_inside):
        with pytest.raises(OutsideCorpusError) as caught:
            look(root, name)
        assert str(caught.value) == (
            f"{name}: the path leads outside the corpus (expected a file below the corpus folder); "
            "copy the file into the corpus or correct the metadata that names it."
        )


def test_a_sibling_whose_name_begins_alike_is_outside(root: Path) -> None:
    (root.parent / "corpus-2").mkdir()
    (root.parent / "corpus-2/x").write_text("secret")
    with pytest.raises(OutsideCorpusError):
        read(root, "../corpus-2/x")


@pytest.mark.parametrize("target", ["../secret.txt", "/etc/passwd", "../../nothing/there"])
def test_links_that_lead_out_are_refused(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    with pytest.raises(OutsideCorpusError):
        read(root, "link")


def test_folders_that_lead_out_are_refused(root: Path) -> None:
    (root / "videos").symlink_to("..")
    with pytest.raises(OutsideCorpusError):
        read(root, "videos/secret.txt")


def test_a_link_to_itself_is_one_clear_error(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    with pytest.raises(UnreadableError):
        read(root, "loop")


def test_a_nul_byte_is_refused(root: Path) -> None:
    with pytest.raises(OutsideCorpusError, match="a file name holds a NUL byte"):
        path_inside(root, "data/a.txt\x00.png")


def snapshot(folder: Path) -> tuple[Path, Path]:
    """The layout of the Hugging Face cache: a snapshot of links, and the blobs that they lead to."""
    blobs, root = folder / "hub/datasets--x/blobs", folder / "hub/datasets--x/snapshots/abc"
    blobs.mkdir(parents=True)
    (root / "data").mkdir(parents=True)
    (blobs / "123").write_text("blob")
    (root / "data/a.txt").symlink_to("../../../blobs/123")
    return root, blobs


def test_blobs_of_a_hugging_face_snapshot_are_inside(tmp_path: Path) -> None:
    root, _ = snapshot(tmp_path)
    assert read(root, "data/a.txt") == "blob"


def test_a_blob_that_leads_on_is_outside(tmp_path: Path) -> None:
    root, blobs = snapshot(tmp_path)
    (blobs / "456").symlink_to("/etc/passwd")
    (root / "data/b.txt").symlink_to("../../../blobs/456")
    (root / "data/c.txt").symlink_to("../../../refs/main")
    for name in ("data/b.txt", "data/c.txt"):
        with pytest.raises(OutsideCorpusError):
            read(root, name)


def test_blobs_beside_another_folder_are_outside(root: Path) -> None:
    (root.parent / "blobs").mkdir()
    (root.parent / "blobs/1").write_text("x")
    with pytest.raises(OutsideCorpusError):
        read(root, "../blobs/1")


def test_what_is_no_regular_file_is_refused_without_waiting(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(root)  # names of sockets must be short
        listener.bind("socket")
        for name in ("pipe", "socket", "data"):
            with pytest.raises(UnreadableError) as caught:
                read(root, name)
            assert str(caught.value) == f"{name}: the file cannot be opened (found not a regular file)."


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_device_is_refused(root: Path) -> None:
    try:
        os.mknod(root / "zero", 0o600 | 0o020000, os.makedev(1, 5))
    except OSError:
        pytest.skip("no device can be made here")
    with pytest.raises(UnreadableError, match="not a regular file"):
        read(root, "zero")


def test_an_absent_file_says_so(root: Path) -> None:
    with pytest.raises(UnreadableError) as caught:
        read(root, "data/b.txt")
    assert str(caught.value) == "data/b.txt: the file cannot be opened (found absent)."


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000, "data/a.txt/b", "\ud800"])
def test_a_name_that_cannot_be_is_one_clear_error(root: Path, name: str) -> None:
    with pytest.raises(UnreadableError):
        read(root, name)


def test_a_name_that_is_no_text_is_refused_and_can_be_spelt(root: Path) -> None:
    with pytest.raises(UnreadableError, match=r"no text in UTF-8.*rename the file") as caught:
        open_inside(root, "clip\udcff.csv")
    str(caught.value).encode()
    assert Ref("clip\udcff", ()).id == "clip\\udcff"
    assert Ref("schöner Gang", ()).id == "schöner Gang"
