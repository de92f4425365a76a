"""Recipes of known faults as small LeRobot corpora, and what a whole audit says of them, in this process."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assay.calibrate import Calibration
from assay.corpus import discover
from assay.engine.episode import Bench
from assay.engine.finish import finish
from assay.engine.job import job_of, tasks
from assay.plan import make_plan, select
from assay.profile import profile_for
from assay.store import Ledger, Run
from assay.synth.episodes import ARM_NAMES, HAND_NAMES, teleop
from assay.synth.pictures import render
from films import encode

Small: Any = runpy.run_path(str(Path(__file__).parent / "golden/lerobot/sets.py"))["Small"]
NAMES = (*ARM_NAMES, *HAND_NAMES)
STATE, ACTION, VELOCITY, CAMERA = (
    "observation.state", "action", "observation.velocity", "observation.images.top",
)  # fmt: skip
FPS = 30
Float = NDArray[np.float64]


@dataclass(frozen=True)
class Says:
    """A finding: gate, number of the episode (None: the corpus), channel, and seconds that hold its span."""

    gate: str
    episode: int | None
    channel: str = ""
    at: tuple[float, float] | None = None


@dataclass(frozen=True)
class Row:
    """One recipe of one row of the list of faults, and everything that the audit must find.

    Attributes:
        d: the row; name: which of its recipes; make: writes it into a folder that is not there yet.
        says: all findings, of whatever effect: no others are allowed.
        abstains: gate → reason, for at least one episode (gates that must not pass).
        passes: gates that must pass in every episode.
        decisions: of the episodes in order, where that is the point.
    """

    d: str
    name: str
    make: Callable[[Path], object]
    says: tuple[Says, ...] = ()
    abstains: dict[str, str] = field(default_factory=dict)
    passes: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()


def audit(root: Path, out: Path) -> Run:
    """A whole run of all gates without worker processes."""
    corpus = discover(root)
    plan = make_plan(
        (corpus,), gates=select(None), profiles=[profile_for(corpus.kind)], calibration=Calibration(),
        decode="auto",
    )  # fmt: skip
    bench = Bench.of(job_of(plan))
    with Ledger(out) as ledger:
        ledger.write("plan.json", plan.to_json())
        for task in tasks(plan, "measure"):
            done = bench.do(task)
            assert not done.error, done.error
            ledger.append(done.subject, done.line)
        finish(ledger, plan)
    return Run(out)


# ---------------------------------------------------------------------------------------------- corpora


def g1(
    *lengths: int, version: str = "v2.1", fps: float = FPS, cameras: tuple[str, ...] = (), **rest: Any
) -> Any:
    """A clean set of a G1 with Inspire hands: arms move, fingers close; 90 rows if no length is given."""
    s = Small(version, list(lengths or (90,)), fps=fps, cameras=cameras, **rest)
    for name in (STATE, ACTION):
        s.info["features"][name] = {"dtype": "float32", "shape": [len(NAMES)], "names": list(NAMES)}
    for e, rows in enumerate(s.rows):
        ep = teleop(s.lengths[e] / FPS, FPS, seed=e)
        for name in (STATE, ACTION):
            stream = ep.stream(name)
            assert stream is not None
            rows[name] = np.asarray(stream.x, np.float32)
    return restated(s)


def restated(s: Any) -> Any:
    """The set with statistics of its rows (of the finite values)."""
    if s.stats:
        s.stats = [{n: _stats(x) for n, x in rows.items() if not isinstance(x, pa.Array)} for rows in s.rows]
    return s


def _stats(x: Any) -> dict[str, Any]:
    x = np.asarray(x, np.float64).reshape(len(x), -1)
    x = x[np.isfinite(x).all(axis=1)]
    return {
        "min": x.min(0).tolist(), "max": x.max(0).tolist(), "mean": x.mean(0).tolist(),
        "std": x.std(0).tolist(), "count": [len(x)],
    }  # fmt: skip


def added(s: Any, name: str, values: Sequence[Any], names: Sequence[str] | None = None) -> Any:
    """The set with one more column; ``values`` per episode, (n,) or (n, c)."""
    x = np.asarray(values[0])
    shape = [1] if x.ndim == 1 else [x.shape[1]]
    said = None if names is None else list(names)
    s.info["features"][name] = {"dtype": x.dtype.name, "shape": shape, "names": said}
    for rows, mine in zip(s.rows, values, strict=True):
        rows[name] = mine
    return restated(s)


def velocity(s: Any, rate: float) -> Any:
    """The set with measured arm velocities of a motion that ran at ``rate`` Hz, whatever the stamps say."""
    arms = len(ARM_NAMES)
    v = [np.gradient(r[STATE][:, :arms].astype(float), axis=0) * rate for r in s.rows]
    return added(s, VELOCITY, [x.astype(np.float32) for x in v], [f"{n}.vel" for n in ARM_NAMES])


def column(name: str) -> int:
    """Where a joint is in the vectors."""
    return NAMES.index(name)


# ---------------------------------------------------------------------------------------------- pictures


def seen(moments: Float, scene: NDArray[np.intp] | None = None) -> NDArray[np.uint8]:
    """(n, 120, 160) pictures of two hands at these seconds, over the table number ``scene``."""
    small = render(moments, np.zeros(len(moments), np.intp) if scene is None else scene)
    return np.kron(np.clip(small, 0, 255), np.ones((1, 2, 2))).astype(np.uint8)


def noisy(n: int, sigma: float) -> NDArray[np.uint8]:
    """(n, 120, 160) pictures of a still scene by a sensor with noise (grey levels)."""
    still = seen(np.zeros(1)).astype(float)
    noise = np.random.default_rng(3).normal(0.0, sigma, (n, *still.shape[1:]))
    return np.clip(still + noise, 0, 255).astype(np.uint8)


def filmed(s: Any, root: Path, *films: NDArray[np.uint8], rate: int = FPS, **options: str) -> Path:
    """Write the set with one film per video file, in order."""
    s.write(root)
    for path, pictures in zip(videos(root), films, strict=True):
        encode(path, pictures, rate, options=options)
    return root


def videos(root: Path) -> list[Path]:
    """The video files of a set, in order."""
    return sorted(root.rglob("*.mp4"))


def sheet(root: Path, text: str) -> Path:
    """Put a sheet into a corpus."""
    (root / "assay.toml").write_text(text)
    return root


# --------------------------------------------------------------------------------------------- checking


def found(run: Run) -> set[Says]:
    """All findings, without spans."""
    return {Says(f["gate"], _episode(f["subject"]), f["channel"]) for f in run.findings.to_pylist()}


def _episode(subject: str) -> int | None:
    return None if subject == "corpus" else int(subject.rpartition("_")[2])


def check(row: Row, run: Run) -> None:
    """Hold a run to its row."""
    said, wanted = found(run), {Says(s.gate, s.episode, s.channel) for s in row.says}
    assert said == wanted, f"{row.d} {row.name}: not said {wanted - said}, not expected {said - wanted}"
    for one in row.says:
        if one.at is not None:
            spans = [
                (f["t0"] * 1e-9, f["t1"] * 1e-9) for f in run.findings.to_pylist()
                if (f["gate"], _episode(f["subject"]), f["channel"]) == (one.gate, one.episode, one.channel)
            ]  # fmt: skip
            first, last = one.at
            assert all(first - 1e-3 <= a and b <= last + 1e-3 for a, b in spans), (one, spans)
    verdicts = run.verdicts.to_pylist()
    for gate, reason in row.abstains.items():
        mine = [v for v in verdicts if v["gate"] == gate]
        assert (gate, "abstain", reason) in {(gate, v["status"], v["reason"]) for v in mine}, mine
        assert "pass" not in {v["status"] for v in mine if v["scope"] == "episode"}, mine
    for gate in row.passes:
        mine = [v for v in verdicts if v["gate"] == gate and v["scope"] == "episode"]
        assert {v["status"] for v in mine} == {"pass"}, mine
    if row.decisions:
        assert [e["decision"] for e in run.episodes.to_pylist()] == list(row.decisions)
    assert run.summary["errors"] == 0


def rewritten(root: Path, **items: Any) -> Path:
    """Change items of info.json."""
    path = root / "meta/info.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | items))
    return root
