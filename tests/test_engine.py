"""The local engine: what dies costs one episode, what is interrupted goes on, order is nothing."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.calibrate import Calibration
from assay.engine import Progress, run
from assay.errors import NoReaderError, RunError, UsageError
from assay.store import Run
from toy import assay, command, digest, environment, flights, toy_corpus, toy_plugs, tree  # noqa: F401

pytestmark = pytest.mark.usefixtures("toy_plugs")
GATES = "INT950"
PROFILE = Path(__file__).parent / "toy_site/toy.toml"
N = 6


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six flights, two of them too high, and a file that cannot be read."""
    root = toy_corpus(tmp_path_factory.mktemp("toys") / "corpus", flights(N))
    (root / "ep_900.npz").write_bytes(b"no zip")
    return root


@pytest.fixture(scope="module")
def whole(corpus: Path) -> Iterator[Run]:
    """An uninterrupted run with one worker."""
    return run(corpus, out=corpus.parent / "whole", gates=GATES, profile=PROFILE, jobs=1)


@pytest.fixture
def out(corpus: Path, request: pytest.FixtureRequest) -> Path:
    """A run folder of this test's own, beside the corpus."""
    return corpus.parent / request.node.name


def statuses(done: Run) -> dict[str, str]:
    """Status of the one gate by episode."""
    return {row["subject"]: row["status"] for row in done.verdicts.to_pylist()}


EXPECTED = {f"ep_{i:03d}": "fail" if i % 3 == 2 else "pass" for i in range(N)} | {"ep_900": "abstain"}


def test_every_episode_is_judged_also_the_unreadable_one(whole: Run) -> None:
    assert statuses(whole) == EXPECTED
    s = whole.summary
    assert (s["accepted"], s["rejected"], s["unmeasured"], s["errors"]) == (4, 2, 1, 0)
    assert (s["declared"], s["episodes"], s["present"]) == (6, 7, 6)


def test_rows_come_in_the_order_of_the_corpus(whole: Run) -> None:
    assert whole.episodes["subject"].to_pylist() == sorted(EXPECTED)


def test_two_workers_give_the_same_verdicts(whole: Run, corpus: Path, out: Path) -> None:
    assert digest(run(corpus, out=out, gates=GATES, profile=PROFILE, jobs=2)) == digest(whole)


# ------------------------------------------------------------------------------------------------ faults


def test_a_worker_that_dies_costs_its_episode_and_is_tried_again(
    whole: Run, corpus: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_KILLS", "ep_001")
    done = run(
        corpus, out=out, gates="INT95*", profile=PROFILE, jobs=1, calibration=empty_calibration(corpus)
    )
    rows = done.verdicts.to_pylist()
    killed = [row for row in rows if row["subject"] == "ep_001"]
    assert {row["status"] for row in killed} == {"error"}
    assert {row["detail"] for row in killed} == {"the worker died (SIGKILL)"}
    high = {row["subject"]: row["status"] for row in rows if row["gate"] == "INT950"}
    assert high == EXPECTED | {"ep_001": "error"}
    assert done.summary["errors"] == 1
    assert done.summary["unlock"]["reason"] != ""
    monkeypatch.delenv("TOY_KILLS")
    again = run(corpus, out=out, gates="INT95*", profile=PROFILE, jobs=1, resume=True)
    assert again.summary["errors"] == 0
    high = {row["subject"]: row["status"] for row in again.verdicts.to_pylist() if row["gate"] == "INT950"}
    assert high == EXPECTED


def test_a_refused_calibration_leaves_nothing_in_the_way(corpus: Path, out: Path) -> None:
    other = corpus.parent / "other.json"
    other.write_text("{}")
    with pytest.raises(RunError, match="not a calibration"):
        run(corpus, out=out, gates="INT95*", calibration=other)
    assert not out.exists()


def empty_calibration(corpus: Path) -> Path:
    """Spares a run the learning."""
    path = corpus.parent / "nothing-learnt.json"
    path.write_text(Calibration().to_json())
    return path


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("TOY_READER_RAISES", "KeyError: 'a bug of the reader'"),
        ("TOY_GATE_RAISES", "ZeroDivisionError: a bug"),
    ],
)
def test_a_bug_costs_its_episode_and_is_tried_again(
    name: str, detail: str, whole: Run, corpus: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "ep_002")
    done = run(corpus, out=out, gates=GATES, profile=PROFILE, jobs=1)
    assert statuses(done) == EXPECTED | {"ep_002": "error"}
    assert detail in done.episode("ep_002").verdicts[0]["detail"]
    assert done.summary["errors"] == 1
    assert done.summary["unmeasured"] == 2
    monkeypatch.delenv(name)
    started = []
    again = run(corpus, out=out, gates=GATES, profile=PROFILE, jobs=1, resume=True, watch=started.append)
    assert [p.last.subject for p in started] == ["ep_002"]
    assert digest(again) == digest(whole)


# ------------------------------------------------------------------------------------------ interruptions


def started(corpus: Path, out: Path, *, episodes: int, cwd: Path | None = None) -> subprocess.Popen[str]:
    """A run with two workers in a process of its own, once some episodes are in its ledger."""
    arguments = command("run", corpus, "--out", out, "--gates", GATES, "--profile", str(PROFILE), "--jobs", 2)
    slow = environment(TOY_SLEEPS="0.4")
    process = subprocess.Popen(
        arguments, env=slow, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd
    )
    ledger, limit = out / "ledger.jsonl", time.monotonic() + 60
    while not ledger.is_file() or ledger.read_bytes().count(b"\n") < episodes:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.02)
    return process


def children(pid: int) -> list[int]:
    """Processes that a process started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def gone(pids: list[int]) -> bool:
    """Whether all of them end within some seconds."""
    limit = time.monotonic() + 20
    while time.monotonic() < limit:
        if not any(alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def alive(pid: int) -> bool:
    """Whether a process still runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_killed_run_loses_no_finished_episode(whole: Run, corpus: Path, out: Path) -> None:
    process = started(corpus, out, episodes=3)
    workers = children(process.pid)
    process.kill()
    said = process.communicate()[1]
    assert len(workers) == 2
    assert gone(workers)
    assert "Traceback" not in said  # its workers leave without a word
    lines = (out / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    finished = [row for row in lines if row.endswith(b"\n")]
    with pytest.raises(RunError, match="not finished"):
        Run(out)
    seen: list[Progress] = []
    again = run(corpus, out=out, gates=GATES, profile=PROFILE, jobs=2, resume=True, watch=seen.append)
    assert len(seen) == len(EXPECTED) - len(finished)
    assert (out / "ledger.jsonl").read_bytes().startswith(b"".join(finished))
    assert digest(again) == digest(whole)


BUSY = """
import sys, threading
from assay.engine.worker import _end_with
threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
print("busy", flush=True)
while True:
    sum(range(1000))
"""


def test_a_busy_worker_ends_with_whoever_started_it() -> None:
    ours, theirs = socket.socketpair()
    command_ = [sys.executable, "-c", BUSY, str(theirs.fileno())]
    with subprocess.Popen(command_, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE) as busy:
        theirs.close()
        assert busy.stdout is not None
        assert busy.stdout.readline() == b"busy\n"
        ours.send(b"a task")  # what there is to read ends nothing
        with pytest.raises(subprocess.TimeoutExpired):
            busy.wait(0.3)
        ours.close()  # as the kernel does where a process is killed
        assert busy.wait(20) == 0


def test_an_interrupt_says_how_to_continue_and_leaves_nothing_behind(
    whole: Run, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "my run"
    process = started(corpus, out, episodes=2)
    workers = children(process.pid)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert gone(workers)
    assert said[0] == ""
    assert said[1].splitlines()[-1] == (
        f"assay: interrupted; continue it with the same command and --out '{out}' --resume"
    )
    again = run(corpus, out=out, gates=GATES, profile=PROFILE, jobs=2, resume=True)
    assert digest(again) == digest(whole)


# -------------------------------------------------------------------------------------------- resumption


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"gates": "INT95*", "calibration": True}, "what is measured changed"),
        ({"decode": "none"}, "what is measured changed"),
        ({"embodiment": "inspire"}, "what is measured changed"),
        ({"profile": "limit = 1.5"}, "limits or effects changed"),
        ({"profile": "scale = 2"}, "what is measured changed"),
    ],
    ids=str,
)
def test_other_options_refuse_to_resume(
    options: dict[str, Any], what: str, whole: Run, corpus: Path, tmp_path: Path
) -> None:
    if "profile" in options:
        (tmp_path / "p.toml").write_text(f'extends = "teleoperation"\n[params.INT950]\n{options["profile"]}')
        options = {"profile": tmp_path / "p.toml"}
    if "calibration" in options:
        options = options | {"calibration": None}
    before = tree(whole.path)
    with pytest.raises(RunError) as caught:
        run(corpus, out=whole.path, resume=True, jobs=1, **{"gates": GATES, "profile": PROFILE, **options})
    assert str(caught.value).startswith(f"{whole.path}: {what} since this run began (found ")
    assert str(caught.value).endswith("; resume with the same corpus and options, or another --out.")
    assert tree(whole.path) == before


def test_a_changed_corpus_refuses_to_resume(tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "corpus", flights(1))
    run(root, out=tmp_path / "run", gates=GATES, profile=PROFILE, jobs=1)
    np.savez(root / "ep_000.npz", t=np.arange(10) * 100_000_000, x=np.zeros((10, 1)))
    with pytest.raises(RunError, match="what is measured changed since this run began"):
        run(root, out=tmp_path / "run", gates=GATES, profile=PROFILE, jobs=1, resume=True)


def test_a_file_edited_with_its_size_and_time_kept_refuses_to_resume(tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "corpus", flights(1))
    run(root, out=tmp_path / "run", gates=GATES, profile=PROFILE, jobs=1)
    copy = shutil.copytree(root, tmp_path / "elsewhere/corpus")  # a copy of the same files is the same corpus
    run(copy, out=tmp_path / "run", gates=GATES, profile=PROFILE, jobs=1, resume=True)
    shutil.rmtree(tmp_path / "run")
    run(root, out=tmp_path / "run", gates=GATES, profile=PROFILE, jobs=1)
    file = root / "ep_000.npz"
    before = file.stat()
    data = bytearray(file.read_bytes())
    data[-40] ^= 1
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with pytest.raises(RunError, match=r"ep_000\.npz: a file of the corpus changed since this run began"):
        run(root, out=tmp_path / "run", gates=GATES, profile=PROFILE, jobs=1, resume=True)


def test_a_finished_run_resumed_measures_nothing(whole: Run, corpus: Path) -> None:
    seen: list[Progress] = []
    again = run(corpus, out=whole.path, gates=GATES, profile=PROFILE, jobs=1, resume=True, watch=seen.append)
    assert seen == []
    assert digest(again) == digest(whole)


def test_an_existing_run_is_not_written_over(whole: Run, corpus: Path) -> None:
    with pytest.raises(RunError, match="exists already; continue it with --resume or choose another --out"):
        run(corpus, out=whole.path, gates=GATES, profile=PROFILE)


# ----------------------------------------------------------------------------------------------- corpora


@pytest.mark.parametrize("inside", [".", "runs/1", "../corpus/runs", "link/run"])
def test_a_run_folder_inside_the_corpus_is_refused(inside: str, tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "corpus", flights(1))
    (tmp_path / "link").symlink_to(root)
    out = tmp_path / inside if inside.startswith("link") else root / inside
    before = tree(root)
    with pytest.raises(UsageError, match=r"choose --out elsewhere: Assay never writes to a corpus\.$"):
        run(root, out=out, gates=GATES, profile=PROFILE)
    assert tree(root) == before


def test_a_run_does_not_touch_the_corpus(whole: Run, corpus: Path, out: Path) -> None:
    state = {p: p.stat().st_mtime_ns for p in [corpus, *corpus.rglob("*")]}
    before = tree(corpus)
    run(corpus, out=out, gates=GATES, profile=PROFILE, jobs=1)
    assert tree(corpus) == before
    assert {p: p.stat().st_mtime_ns for p in [corpus, *corpus.rglob("*")]} == state


def test_several_corpora_are_one_run(corpus: Path, tmp_path: Path) -> None:
    other = toy_corpus(tmp_path / "corpus", {"ep_000": 3.0})
    done = run(corpus, other, out=tmp_path / "run", gates=GATES, profile=PROFILE, jobs=1)
    assert statuses(done)["corpus-2/ep_000"] == "fail"
    assert statuses(done)["corpus-1/ep_000"] == "pass"
    assert done.summary["declared"] == N + 1
    assert [c["name"] for c in done.summary["corpora"]] == ["corpus-1", "corpus-2"]
    assert done.episode("corpus-2/ep_000").evidence("INT950")[0].value.max() == 3.0


def test_modules_in_the_working_folder_are_not_run(corpus: Path, tmp_path: Path) -> None:
    # A stranger's corpus is a likely working folder, and `python -m` looks for modules there first.
    for name in ("orjson", "numpy", "assay", "toy_plugs"):
        (tmp_path / f"{name}.py").write_text("import os; open('PWNED', 'w'); os._exit(1)")
    runs = [
        sys.executable,
        "-P",
        "-m",
        "assay.cli",
        "run",
        str(corpus),
        "--out",
        "run",
        "--gates",
        GATES,
        "--profile",
        str(PROFILE),
    ]
    done = subprocess.run(
        [*runs, "--jobs", "1"], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert not (tmp_path / "PWNED").exists()
    assert statuses(Run(tmp_path / "run")) == EXPECTED


def test_names_that_are_no_text_cost_nothing(tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "corpus", {"ep_000": 3.0}, channels=("left_\ud800elbow",))
    done = run(root, out=tmp_path / "run", gates=GATES, profile=PROFILE, jobs=1)
    (row,) = done.findings.to_pylist()
    assert (row["channel"], statuses(done)) == ("left_?elbow", {"ep_000": "fail"})


def test_wrong_use_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    root = toy_corpus(tmp_path / "corpus", flights(1))
    out = tmp_path / "run"
    with pytest.raises(UsageError, match="no corpus was named"):
        run(out=out)
    with pytest.raises(UsageError, match="too few worker processes"):
        run(root, out=out, jobs=0)
    with pytest.raises(UsageError, match="no gate has this code"):
        run(root, out=out, gates="XXX*")
    with pytest.raises(UsageError, match="there is no such corpus"):
        run(tmp_path / "nowhere", out=out)
    with pytest.raises(NoReaderError, match=r"lerobot: .*; toy: has no toy\.json"):
        run(tmp_path, out=out)
    assert not out.exists()


def test_progress_counts_up_to_the_end(corpus: Path, out: Path) -> None:
    seen: list[Progress] = []
    run(corpus, out=out, gates=GATES, profile=PROFILE, jobs=1, watch=seen.append)
    assert [p.done for p in seen] == list(range(1, len(EXPECTED) + 1))
    assert {p.total for p in seen} == {len(EXPECTED)}
    assert seen[-1].frames == seen[-1].frames_total
    assert seen[-1].left == 0
    assert all(p.left is not None and p.left >= 0 for p in seen)


def test_exit_code_4_is_for_errors_of_ours(corpus: Path, tmp_path: Path) -> None:
    done = assay(
        "run",
        corpus,
        "--out",
        tmp_path / "run",
        "--gates",
        GATES,
        "--profile",
        str(PROFILE),
        "--jobs",
        1,
        TOY_GATE_RAISES="ep_000",
    )
    assert done.returncode == 4
    assert "Assay itself failed at 1 episode; see assay verdicts" in done.stdout
    assert os.path.exists(tmp_path / "run/summary.json")  # noqa: PTH110 - as a user would look
