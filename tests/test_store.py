"""A run on disk: the ledger survives what happens to disks and processes, and says it in one sentence."""

import errno
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from assay.engine.episode import record
from assay.errors import RunError, UsageError
from assay.examine import failed
from assay.judge import fault
from assay.model import Episode
from assay.plan import select
from assay.store import Ledger, Run
from assay.tables import SCHEMAS

FULL = "free space or choose another --out, then continue with --resume."


def line(subject: str, *, error: bool = False, size: int = 0) -> bytes:
    """A record without verdicts; ``size`` bytes of text make it large."""
    row = {
        "scope": "episode", "subject": subject, "decision": "accepted", "reasons": "", "present": True,
        "frames": 3,
        "seconds": 0.1, "task": "x" * size, "files": "", "wall_s": 0.0, "error": error, "verdicts": [],
        "measures": [], "findings": [], "facts": {},
    }  # fmt: skip
    return orjson.dumps(row)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the run is."""
    return tmp_path / "run"


def filled(folder: Path, *subjects: str, size: int = 0) -> None:
    """A ledger of an interrupted run."""
    with Ledger(folder) as ledger:
        for subject in subjects:
            ledger.append(subject, line(subject, size=size))


# ------------------------------------------------------------------------------------------- the ledger


def test_a_ledger_knows_what_is_finished(folder: Path) -> None:
    filled(folder, "a", "b")
    with Ledger(folder, resume=True) as ledger:
        assert set(ledger.places) == {"a", "b"}
        assert ledger.read("b")["subject"] == "b"
        assert [r["subject"] for r in ledger.records(["b", "missing", "a"])] == ["b", "a"]


@pytest.mark.parametrize("cut", [1, 5, 60, -1], ids=lambda n: f"{n} bytes")
def test_a_torn_last_line_is_measured_again_and_nothing_else(folder: Path, cut: int) -> None:
    filled(folder, "a", "b", "c")
    path = folder / "ledger.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1] + lines[2][:cut])
    with Ledger(folder, resume=True) as ledger:
        assert set(ledger.places) == {"a", "b"}
        ledger.append("c", line("c"))
        assert [r["subject"] for r in ledger.records("abc")] == ["a", "b", "c"]
    assert len([json.loads(row) for row in path.read_bytes().splitlines()]) == 3


@pytest.mark.parametrize("damage", [b"\x00" * 40, b"{}", b"3", b"[1]", b'{"error": false}', b"{"])
def test_a_damaged_line_costs_itself(folder: Path, damage: bytes) -> None:
    filled(folder, "a", "b", "c")
    path = folder / "ledger.jsonl"
    rows = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(rows[0] + damage + b"\n" + rows[2])
    with Ledger(folder, resume=True) as ledger:
        assert set(ledger.places) == {"a", "c"}
        assert ledger.read("c")["subject"] == "c"


def test_the_last_record_of_an_episode_holds(folder: Path) -> None:
    with Ledger(folder) as ledger:
        ledger.append("a", line("a", size=3))
        ledger.append("a", line("a", size=5))
    with Ledger(folder, resume=True) as ledger:
        assert ledger.read("a")["task"] == "xxxxx"


def test_errors_of_ours_are_not_finished(folder: Path) -> None:
    with Ledger(folder) as ledger:
        ledger.append("a", line("a", error=True))
        ledger.append("b", line("b"))
        assert set(ledger.places) == {"a", "b"}  # in the run that met it, it is a result
    with Ledger(folder, resume=True) as ledger:
        assert set(ledger.places) == {"b"}


def test_an_episode_with_an_error_verdict_is_an_error() -> None:
    gates = select("RTG001,INT003")
    judged = [failed(g, "a", "a bug") for g in gates]
    row = json.loads(record("a", judged, {g.code: "require" for g in gates}, ep=Episode("a"))[0])
    assert row["error"] is True
    assert [v["detail"] for v in row["verdicts"]] == ["a bug", "a bug"]
    assert fault("x", gate="RTG001", version=1, subject="a").verdict.status == "error"


# ---------------------------------------------------------------------------------------------- refused


def test_an_existing_folder_is_refused_with_the_remedy(folder: Path) -> None:
    filled(folder, "a")
    with pytest.raises(RunError) as caught:
        Ledger(folder)
    assert str(caught.value) == (
        f"{folder}: the run folder exists already; continue it with --resume or choose another --out."
    )


def test_an_empty_folder_is_taken(folder: Path) -> None:
    folder.mkdir()
    filled(folder, "a")


def test_a_folder_of_other_things_is_not_resumed(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(RunError, match="there is no run to resume"):
        Ledger(tmp_path, resume=True)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_the_place_of_the_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(RunError, match=r"the run folder cannot be written \(found Not a directory\)"):
        Ledger(tmp_path / "run")


def test_two_writers_are_kept_apart(folder: Path) -> None:
    with Ledger(folder) as ledger:
        ledger.append("a", line("a"))
        with pytest.raises(RunError) as caught:
            Ledger(folder, resume=True)
        ledger.append("b", line("b"))
    assert str(caught.value) == (
        f"{folder}: another run is writing to this folder; wait for it or choose another --out."
    )
    with Ledger(folder, resume=True) as ledger:
        assert set(ledger.places) == {"a", "b"}


def test_the_lock_goes_with_its_process(folder: Path) -> None:
    code = """if True:
        import os, sys
        from pathlib import Path
        from assay.store import Ledger
        Ledger(Path(sys.argv[1]))
        os.kill(os.getpid(), 9)
    """
    subprocess.run([sys.executable, "-c", code, str(folder)], check=False)
    with Ledger(folder, resume=True) as ledger:
        assert ledger.places == {}


# -------------------------------------------------------------------------------------------- full disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB; skips where it cannot be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("no small file system can be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_is_one_sentence_and_can_be_continued(small_disk: Path) -> None:
    folder = small_disk / "run"
    with pytest.raises(RunError) as caught:
        filled(folder, *(f"e{i}" for i in range(10)), size=50_000)
    full = "the run folder cannot be written (found No space left on device)"
    assert str(caught.value) == f"{folder}: {full}; {FULL}"
    with Ledger(folder, resume=True) as ledger:
        assert set(ledger.places) == {f"e{i}" for i in range(5)}  # five times 50 kB were written whole


def test_a_disk_that_fills_up_with_the_tables_is_one_sentence(small_disk: Path) -> None:
    folder = small_disk / "run"
    with Ledger(folder) as ledger:
        for i in range(5):
            ledger.append(f"e{i}", line(f"e{i}", size=40_000))
        (small_disk / "other").write_bytes(b"x" * 52_000)
        with pytest.raises(RunError, match=r"cannot be written .*No space left on device"):
            ledger.finish([f"e{i}" for i in range(5)], {})
    (small_disk / "other").unlink()
    with Ledger(folder, resume=True) as ledger:
        ledger.finish(list(ledger.places), {"episodes": 5})
    (folder / "plan.json").write_text("{}")
    assert len(Run(folder).episodes) == 5


def test_a_full_disk_without_a_small_one_to_mount(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def close(self) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    ledger = Ledger(folder)
    ledger._file.close()
    monkeypatch.setattr(ledger, "_file", Full())
    with (
        pytest.raises(RunError, match=r"cannot be written \(found No space left on device\); free space"),
        ledger,
    ):
        ledger.append("a", line("a"))
    monkeypatch.undo()


# -------------------------------------------------------------------------------------------- reading it


def test_a_finished_run_is_read_back(folder: Path) -> None:
    with Ledger(folder) as ledger:
        for subject in ("a", "b"):
            ledger.append(subject, line(subject))
        ledger.write("plan.json", "{}")
        ledger.finish(["b", "a"], {"episodes": 2})
    run = Run(folder)
    assert run.summary == {"episodes": 2}
    assert run.episodes["subject"].to_pylist() == ["b", "a"]
    assert {name: getattr(run, name).schema for name in SCHEMAS} == SCHEMAS
    assert run.episode("a").decision == "accepted"
    assert run.episode("a").verdicts == []
    assert not list(folder.glob("*.part"))


def test_an_unknown_episode_is_wrong_use(folder: Path) -> None:
    test_a_finished_run_is_read_back(folder)
    with pytest.raises(UsageError, match=r"the run has no such episode \(found zzz\)"):
        Run(folder).episode("zzz")


def test_what_is_no_run_says_so(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError) as caught:
        Run(tmp_path)
    assert str(caught.value) == f"{tmp_path}: not a run folder; name the folder of a run."
    filled(folder, "a")
    with pytest.raises(RunError) as caught:
        Run(folder)
    assert str(caught.value) == f"{folder}: the run is not finished; finish it with assay run ... --resume."


@pytest.mark.parametrize("name", ["summary.json", "plan.json", "verdicts.parquet"])
@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"PAR1"])
def test_a_damaged_file_of_a_run_is_one_sentence(folder: Path, name: str, content: bytes) -> None:
    test_a_finished_run_is_read_back(folder)
    (folder / name).write_bytes(content)
    with pytest.raises(
        RunError, match=r"a file of the run cannot be read .*; make the tables again with --resume"
    ):
        Run(folder).verdicts  # noqa: B018 - reading is what fails


def test_a_file_of_a_run_that_is_gone_is_one_sentence(folder: Path) -> None:
    test_a_finished_run_is_read_back(folder)
    (folder / "findings.parquet").unlink()
    with pytest.raises(RunError, match="a file of the run cannot be read"):
        Run(folder).findings  # noqa: B018 - reading is what fails
