"""Runs without a corpus: any number of episodes and the usual gates, judged by the real `judge`.

Sample counts at the 24 rungs come from log-normal values, so verdicts, measures, findings, decisions and
summary fit each other as they do in a run on data.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import erfc

from assay.judge import MULTIPLES, Finding, Measure, Verdict, verdict_of
from assay.tables import SCHEMAS
from assay.tally import Tally, decide

ARMS = [
    f"{s}_{j}" for s in ("left", "right") for j in ("shoulder_pitch", "shoulder_roll", "elbow", "wrist_yaw")
]
TASKS = ("pick up the red cup and place it on the tray", "fold the towel", "open the drawer", "")
NAN = float("nan")
_NONE = (0,) * len(MULTIPLES)


@dataclass(frozen=True)
class Spec:
    """How one gate behaves: typical size against the limit, and how often it fails, abstains or errs."""

    code: str
    effect: str
    limit: float
    unit: str = "1"
    quota: float = 0.0
    single: bool = False
    sense: str = "above"
    usual: float = 0.2
    fails: float = 0.02
    opens: float = 0.0
    reason: str = "undecided"
    na: float = 0.0
    stream: str = "observation.state"
    channels: tuple[str, ...] = tuple(ARMS)


CAMERA = ("observation.images.head", "observation.images.left_wrist")
SPECS = (
    Spec("ACT001", "reject", 0.99, usual=0.02, single=True, stream="action", fails=0.01),
    Spec("ACT005", "reject", 0.0, single=True, stream="action", fails=0.03),
    Spec("CHN010", "flag", 0.05, "rad", single=True, sense="below", usual=6.0, fails=0.01),
    Spec(
        "HND001",
        "report",
        0.85,
        single=True,
        sense="below",
        usual=1.12,
        fails=0.05,
        channels=("left", "right"),
    ),
    Spec("INT001", "require", 0.0, single=True, fails=0.01, stream="", channels=("",)),
    Spec("INT002", "require", 0.0, single=True, fails=0.0, stream="", channels=("",)),
    Spec("INT003", "require", 0.0, single=True, fails=0.01),
    Spec("INT004", "require", 0.0, single=True, fails=0.0),
    Spec("INT005", "require", 0.0, single=True, fails=0.0),
    Spec("INT006", "require", 0.0, single=True, fails=0.004, channels=("total_frames",)),
    Spec("INT007", "reject", 1e-3, single=True, usual=0.05, fails=0.01),
    Spec("INT008", "require", 0.0, single=True, fails=0.0),
    Spec("INT009", "require", 0.0, single=True, fails=0.0),
    Spec("INT010", "reject", 0.0, single=True, fails=0.005, stream=CAMERA[0], channels=("",)),
    Spec(
        "RTG001",
        "require",
        1e-4,
        "rad",
        quota=0.005,
        usual=0.05,
        fails=0.03,
        opens=0.04,
        reason="unknown-body",
    ),
    Spec("RTG003", "report", 0.01, "m", quota=0.005, na=1.0),
    Spec(
        "RTG007",
        "reject",
        20.0,
        "rad/s",
        quota=0.0,
        usual=0.08,
        fails=0.01,
        opens=0.04,
        reason="unknown-body",
    ),
    Spec("RTG008", "flag", 0.02, quota=0.02, usual=0.2, fails=0.06, opens=0.04, reason="unknown-body"),
    Spec(
        "SYN001",
        "require",
        33.3,
        "ms",
        single=True,
        usual=0.3,
        opens=0.09,
        reason="still",
        stream=CAMERA[0],
        channels=("deviation",),
    ),
    Spec(
        "SYN002",
        "reject",
        100.0,
        "ppm",
        single=True,
        usual=0.02,
        opens=1.0,
        reason="nominal-clock",
        stream=CAMERA[0],
        channels=("",),
    ),
    Spec("SYN004", "reject", 1.5, single=True, usual=0.67, fails=0.01),
    Spec("SYN005", "reject", 0.005, "s", single=True, usual=0.02, fails=0.004),
    Spec(
        "SYN006", "flag", 1e-3, usual=0.3, single=True, fails=0.72, stream=CAMERA[0], channels=("fresh rate",)
    ),
    Spec(
        "SYN007", "reject", 1.0, "frame", single=True, usual=0.1, fails=0.01, stream=CAMERA[1], channels=("",)
    ),
    Spec("SYN008", "reject", 0.1, "s", single=True, usual=0.4, fails=0.02, stream=CAMERA[0], channels=("",)),
)


@dataclass(frozen=True, eq=False)
class FakeRun:
    """What `assay.store.Run` offers to a report; ``copies`` of the same episodes under other names."""

    path: Path
    records: list[dict[str, Any]]
    head: dict[str, Any]
    copies: int = 1

    @cached_property
    def summary(self) -> dict[str, Any]:
        tally = Tally()
        for record in self.records * self.copies:
            tally.add(record)
        tally.add(_corpus())
        return {**self.head, **tally.summary()}

    @property
    def plan(self) -> dict[str, Any]:
        return {"gates": {spec.code: 1 for spec in SPECS}}

    @cached_property
    def episodes(self) -> pa.Table:
        return self._tiled(
            [{n: r[n] for n in SCHEMAS["episodes"].names} for r in self.records], [], "episodes"
        )

    @cached_property
    def verdicts(self) -> pa.Table:
        return self._rows("verdicts")

    @cached_property
    def measures(self) -> pa.Table:
        return self._rows("measures")

    @cached_property
    def findings(self) -> pa.Table:
        return self._rows("findings")

    @cached_property
    def timing(self) -> pa.Table:
        return self._rows("timing")

    def _rows(self, name: str) -> pa.Table:
        return self._tiled([row for record in self.records for row in record[name]], _corpus()[name], name)

    def _tiled(self, rows: list[dict[str, Any]], corpus: list[dict[str, Any]], name: str) -> pa.Table:
        table = pa.Table.from_pylist(rows, SCHEMAS[name])
        more = [_renamed(table, f"batch_{k}") for k in range(1, self.copies)]
        return pa.concat_tables([table, *more, pa.Table.from_pylist(corpus, SCHEMAS[name])])


def _renamed(table: pa.Table, batch: str) -> pa.Table:
    for name in {"subject", "files"} & set(table.column_names):
        at = table.column_names.index(name)
        table = table.set_column(at, name, pc.binary_join_element_wise(batch, table[name], "/"))
    return table


def fake_run(
    episodes: int = 24,
    *,
    seed: int = 1,
    absent: int = 0,
    specs: tuple[Spec, ...] = SPECS,
    path: str = "assay-runs/g1_tea-20250102-030405",
    names: tuple[str, ...] = (),
    copies: int = 1,
) -> FakeRun:
    """A run of ``episodes`` times ``copies`` episodes, the last ``absent`` of each copy declared, not there.

    ``names`` replaces the first subjects, tasks and channels by strings that a hostile corpus might hold.
    """
    rng = np.random.default_rng(seed)
    seconds = np.round(rng.uniform(6, 40, episodes), 2)
    columns = {spec.code: _columns(spec, rng, np.rint(seconds * 30).astype(int)) for spec in specs}
    records = []
    for i in range(episodes):
        subject = names[i] if i < len(names) else f"episode_{i:06d}"
        gone, hostile = i >= episodes - absent, names[i] if i < len(names) else ""
        rows = [_one(spec, columns[spec.code], i, subject, gone, hostile) for spec in specs]
        records.append(_record(subject, rows, 0.0 if gone else float(seconds[i]), gone, i, names))
    head = {
        "schema_version": 1,
        "measure_id": "5b0f93e2a7c41d68",
        "judge_id": "0c9d44f1be327a85",
        "versions": {"assay": "0.1.0", "python": "3.11.2"},
        "corpora": [
            {
                "name": names[0] if names else "g1_tea",
                "format": "lerobot v2.1",
                "kind": "teleoperation",
                "embodiment": "unitree_g1_29+inspire",
            }
        ],
        "profile": "teleoperation",
        "decode": "auto",
        "declared": episodes * copies,
    }
    return FakeRun(Path(path), records, head, copies)


def _columns(spec: Spec, rng: np.random.Generator, frames: np.ndarray) -> dict[str, np.ndarray]:
    n = len(frames)
    draw = rng.uniform(size=n)
    state = np.where(draw < spec.na, "n/a", np.where(draw < spec.na + spec.opens, "abstain", "count"))
    bad = rng.uniform(size=n) < spec.fails
    if spec.single:
        size = spec.usual * np.exp(rng.normal(0, 0.3 if spec.sense == "above" else 0.05, n))
        over = 1 + rng.exponential(1.2, n)
        value = np.where(bad, over if spec.sense == "above" else 1 / over, size)
        beyond = value[:, None] > MULTIPLES if spec.sense == "above" else value[:, None] < MULTIPLES
        sure, total, worst = beyond.astype(int), np.ones(n, int), value
    else:
        mid = np.log(spec.usual) + rng.normal(0, 0.2, n) + np.where(bad, rng.uniform(1.6, 2.6, n), 0)
        share = 0.5 * erfc((np.log(MULTIPLES) - mid[:, None]) / (0.55 * np.sqrt(2)))
        sure, total = np.floor(frames[:, None] * share).astype(int), frames
        worst = np.exp(mid + 0.55 * np.sqrt(2 * np.log(frames)))
    if not spec.limit:
        worst = np.where(bad, np.ceil(over * 5), 0.0)
        sure = np.repeat((worst > 0).astype(int)[:, None], len(MULTIPLES), axis=1)
    return {
        "state": state,
        "sure": sure,
        "n": total,
        "worst": worst * (spec.limit or 1.0),
        "channel": rng.integers(0, len(spec.channels), n),
        "at": rng.uniform(0.05, 0.9, (n, 5)),
        "over": rng.uniform(1.05, 4, (n, 5)),
        "many": rng.integers(1, 6, n),
        "frames": frames,
    }


def _one(
    spec: Spec, c: dict[str, np.ndarray], i: int, subject: str, gone: bool, hostile: str
) -> tuple[Verdict, Measure, list[Finding], str]:
    about: dict[str, Any] = {
        "gate": spec.code,
        "gate_version": 1,
        "scope": "episode",
        "subject": subject,
        "stream": spec.stream,
        "against": "",
        "channel": hostile or spec.channels[int(c["channel"][i])],
        "unit": spec.unit,
        "sense": spec.sense,
        "limit": spec.limit,
        "quota": spec.quota,
        "min_run": 0.0,
        "limit_key": "limit",
        "quota_key": "quota",
        "n_out": 0,
        "n_unknown": 0,
        "n_nan": 0,
        "u": 0.0,
        "worst10": 0.0,
    }
    state, reason = str(c["state"][i]), spec.reason
    if gone and spec.code != "INT002":
        state, reason = "abstain", "absent-stream"
    if state != "count":
        nothing = {
            "n": 0,
            "n_in": 0,
            "n_finite": 0,
            "worst": NAN,
            "median": NAN,
            "seconds": 0.0,
            "sure": (),
            "maybe": (),
            "maybe_unknown": (),
            "simple_beyond": 0,
            "settled": state,
            "detail": hostile,
            "reason": "scope-empty" if state == "n/a" else reason,
        }
        measure = Measure(**{**about, **nothing, "limit": NAN})
        return verdict_of(measure), measure, [], spec.effect
    n, worst, sure = int(c["n"][i]), float(c["worst"][i]), tuple(c["sure"][i].tolist())
    if gone:
        n, worst, sure = 1, 1.0, (1,) * len(MULTIPLES)
    measure = Measure(
        **about,
        n=n,
        n_in=n,
        n_finite=n,
        worst=worst,
        median=worst / 3,
        seconds=n / 30,
        sure=sure,
        maybe=sure,
        maybe_unknown=_NONE,
        simple_beyond=sure[12],
        reason="undecided",
    )
    verdict = verdict_of(measure)
    found = _findings(spec, c, i, measure, gone) if verdict.status == "fail" else []
    return verdict, measure, found, spec.effect


def _findings(spec: Spec, c: dict[str, np.ndarray], i: int, m: Measure, gone: bool) -> list[Finding]:
    length = int(c["frames"][i]) * 33_333_333
    whole = gone or not spec.stream
    found = []
    for k in range(1 if whole or spec.single else int(c["many"][i])):
        start = 0 if whole else int(float(c["at"][i, k]) * length)
        worst = m.worst if k == 0 else (m.limit or 1.0) * float(c["over"][i, k])
        end = 0 if whole else min(start + int(float(c["over"][i, k]) * 4e8), length)
        found.append(
            Finding(spec.code, m.subject, m.stream, m.channel, start, end, 12, worst, m.limit, m.unit, "")
        )
    return found


def _record(
    subject: str,
    rows: list[tuple[Verdict, Measure, list[Finding], str]],
    seconds: float,
    gone: bool,
    i: int,
    names: tuple[str, ...],
) -> dict[str, Any]:
    verdicts = [_flat(v) | {"findings": len(found), "effect": effect} for v, _, found, effect in rows]
    decision, reasons = decide(verdicts)
    return {
        "scope": "episode",
        "subject": subject,
        "decision": decision,
        "reasons": ",".join(reasons),
        "present": not gone,
        "frames": round(seconds * 30),
        "seconds": seconds,
        "t0": None if gone else 0,
        "wall_s": 0.021 * (i % 7 + 1),
        "task": names[i] if i < len(names) else TASKS[i % len(TASKS)],
        "files": f"data/chunk-000/{subject}.parquet,videos/chunk-000/{CAMERA[0]}/{subject}.mp4",
        "verdicts": verdicts,
        "measures": [_flat(m) for _, m, _, _ in rows],
        "findings": [_flat(f) for _, _, found, _ in rows for f in found],
        "timing": [] if gone else [{"subject": subject, **row} for row in _timing(i)],
    }


def _timing(i: int) -> list[dict[str, Any]]:
    """A camera whose deviation is measured, one that nobody stamped, and a command on the same row."""
    against, empty = (
        "observation.state",
        dict.fromkeys(("seconds", "u", "ppm", "ppm_u", "rate", "jitter", "hand")),
    )
    lag = 0.004 + 0.001 * (i % 9)
    cameras = {
        "settled": "bounded", "by": "content", "reference": "deviation", "seconds": lag, "u": 0.006,
        "ppm": None, "ppm_u": None, "rate": 29.97, "jitter": 3e-4,
        "hand_speed": 0.55, "hand": 0.55 * lag, "cure": "a clap at both ends",
        "detail": "deviation from the rig's median; a lateness that the whole corpus shares is not in it",
    }  # fmt: skip
    assumed = {"settled": "assumed", "by": "", "reference": "", "hand_speed": 0.55, **empty}
    measured = cameras | {"settled": "measured", "by": "stamps", "ppm": 12.0, "ppm_u": 1.5, "detail": "",
                          "cure": "", "reference": "absolute", "u": 0.0004}  # fmt: skip
    return [
        {"stream": CAMERA[0], "against": against, **(measured if i % 5 == 0 else cameras)},
        {"stream": CAMERA[1], "against": against, **assumed,
         "detail": f"{CAMERA[1]} is stamped by index / rate", "cure": "capture stamps, or a clap"},
        {"stream": "audio", "against": against, **measured},
    ]  # fmt: skip


def _corpus() -> dict[str, Any]:
    measure = Measure(
        gate="INT006",
        gate_version=1,
        scope="corpus",
        subject="corpus",
        stream="",
        against="",
        channel="total_episodes",
        unit="1",
        sense="above",
        limit=0.0,
        quota=0.0,
        min_run=0.0,
        limit_key="limit",
        quota_key="quota",
        reason="undecided",
        n=1,
        n_in=1,
        n_out=0,
        n_unknown=0,
        n_nan=0,
        n_finite=1,
        worst=86.0,
        median=86.0,
        u=0.0,
        seconds=0.0,
        sure=(1,) * len(MULTIPLES),
        maybe=(1,) * len(MULTIPLES),
        maybe_unknown=_NONE,
        simple_beyond=1,
        worst10=0.0,
    )
    verdicts = [_flat(verdict_of(measure)) | {"effect": "require"}]
    return {
        "scope": "corpus",
        "subject": "corpus",
        "decision": "rejected",
        "reasons": "INT006",
        "verdicts": verdicts,
        "measures": [_flat(measure)],
        "findings": [],
        "timing": [],
    }


def _flat(value: Any) -> dict[str, Any]:
    row = {name: getattr(value, name) for name in value.__slots__}
    return {
        n: None if isinstance(x, float) and np.isnan(x) else x for n, x in row.items()
    }  # as the ledger does
