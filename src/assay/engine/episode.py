"""What is done to one episode: open, compute features, measure, judge, decide. Never raises for bad data."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any, Final

import numpy as np
import orjson

from assay import plugs
from assay.calibrate import rig_of
from assay.engine.cache import PixelCache
from assay.engine.job import Done, Job, Task
from assay.errors import UnreadableError
from assay.examine import described, examine, failed
from assay.feature import Features, Statistic
from assay.gate import Gate
from assay.judge import Judgement
from assay.model import Claim, Clock, Episode, Role
from assay.parts import open_episode
from assay.sheet import apply
from assay.tally import decide

__all__ = ["Bench", "record"]

TIMING: Final = "timing"
"""The fact that is a table of its own: what is known of each stream's time (SYN002)."""

_DAY: Final = 86_400 * 10**9
_ABSENT_ROLES: Final = (Role.CAMERA, Role.DEPTH)


@dataclass(slots=True)
class Bench:
    """A worker's tools, made once per process from the job."""

    job: Job
    gates: tuple[Gate, ...]
    want: frozenset[Role]

    @classmethod
    def of(cls, job: Job) -> Bench:
        """Find the plugs and work out which roles need reading."""
        known = plugs.gates()
        gates = tuple(known[code] for code in job.gates)
        return cls(job, gates, _roles(gates, job))

    def do(self, task: Task) -> Done:
        """Carry out a task; our own errors become error verdicts."""
        with np.errstate(
            all="ignore"
        ):  # INT003 says what is not finite; numpy would, on stderr, at every step
            return self._do(task)

    def _do(self, task: Task) -> Done:
        started = time.perf_counter()
        try:
            features, fault = self.features(task, self.open(task)), ""
        except Exception as error:  # noqa: BLE001 - a fault of a reader must not end the run
            features, fault = None, described(error)
        if task.what == "summarise":
            return self._summarise(task, features)
        if features is None:
            judged = [failed(g, task.subject, fault) for g in self.gates]
        else:
            params = self.job.params[task.corpus]
            judged = [examine(g, features, params[g.code], task.subject) for g in self.gates]
        ep = features.ep if features else Episode(task.subject)
        return self._done(task, ep, judged, time.perf_counter() - started)

    def open(self, task: Task) -> Episode:
        """The task's episode; one that cannot be read is empty and claims so."""
        listing, sheet = self.job.listings[task.corpus], self.job.sheets[task.corpus]
        try:
            return open_episode(listing, task.ref, self.want, sheet)
        except UnreadableError as error:
            where = error.where or (task.ref.parts[0].path if task.ref.parts else task.ref.id)
            claim = Claim("readable", "data", "a readable file", str(error), 1.0, where=where)
            return apply(sheet, Episode(task.ref.id, declared=listing.streams, claims=(claim,)))

    def features(self, task: Task, ep: Episode) -> Features:
        """Its features, with the fitted models that may judge it; nothing is computed yet."""
        rig = rig_of(self.job.listings[task.corpus], self.job.sheets[task.corpus])
        features = self.job.calibration.features(ep, task.subject, rig)
        PixelCache(self.job.cache, self.job.decode).prepare(features)
        return features

    def _summarise(self, task: Task, features: Features | None) -> Done:
        if features is None:
            return Done(task.subject)
        rows = {name: _summary(plugs.statistics()[name], features) for name in self.job.statistics}
        return Done(task.subject, rows=rows)

    def _done(self, task: Task, ep: Episode, judged: Sequence[Judgement], wall: float) -> Done:
        profile, roles = self.job.profiles[task.corpus], self.job.listings[task.corpus].roles
        effects = profile.effects(plugs.gates(), roles)
        line, decision = record(task.subject, judged, effects, ep=ep, frames=task.ref.frames, wall=wall)
        frames, seconds = _length(ep)
        error = next((j.verdict.detail for j in judged if j.verdict.status == "error"), "")
        return Done(task.subject, line, decision, frames, seconds, error=error)


def _summary(statistic: Statistic, features: Features) -> Mapping[str, Any] | None:
    try:
        return statistic.summarise(features.ep, *(features.get(n) for n in statistic.needs))
    except Exception:  # noqa: BLE001 - this episode teaches nothing; its gates meet the error again
        return None


def record(
    subject: str,
    judged: Sequence[Judgement],
    effects: Mapping[str, str],
    *,
    ep: Episode | None = None,
    frames: int | None = None,
    wall: float = 0.0,
) -> tuple[bytes, str]:
    """The ledger's line about one episode (about the corpus without ``ep``), and the decision."""
    verdicts = [asdict_flat(j.verdict) | {"effect": effects[j.verdict.gate]} for j in judged]
    decision, reasons = decide(verdicts, effects if ep else None)
    n, seconds = _length(ep) if ep else (0, 0.0)
    facts = {
        j.verdict.gate: {f.name: f.value for f in j.facts if f.name != TIMING} for j in judged if j.facts
    }
    row = {
        "scope": "episode" if ep else "corpus",
        "subject": subject,
        "decision": decision,
        "reasons": ",".join(reasons),
        "present": n > 0,
        "frames": n,
        "declared_frames": frames,
        "seconds": seconds,
        "t0": _first(ep) if ep else None,
        "task": ep.task if ep else None,
        "files": ",".join(ep.source.files) if ep and ep.source else "",
        "wall_s": wall,
        "error": any(j.verdict.status == "error" for j in judged),  # measured again on --resume
        "verdicts": verdicts,
        "measures": [m for j in judged for m in j.measures],
        "findings": [f for j in judged for f in j.findings],
        "facts": facts,
        "timing": [
            {"subject": subject, **known}
            for j in judged
            for f in j.facts
            if f.name == TIMING
            for known in f.value
        ],
    }
    return _json(row), decision


def _json(row: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:  # a stranger's JSON may hold half a surrogate pair, which is no text
        return orjson.dumps(_textual(row), option=orjson.OPT_SERIALIZE_NUMPY)


def _textual(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_textual(k): _textual(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_textual(v) for v in value]
    return _textual(asdict_flat(value)) if is_dataclass(value) else value


def asdict_flat(row: Any) -> dict[str, Any]:
    """A frozen flat row as a dict (``dataclasses.asdict`` would deep-copy every value)."""
    return {name: getattr(row, name) for name in row.__slots__}


def _length(ep: Episode) -> tuple[int, float]:
    timed = [s for s in ep.streams if s.role not in _ABSENT_ROLES and len(s)]
    if not timed and ep.declared and all(d.role in _ABSENT_ROLES for d in ep.declared):
        timed = [s for s in ep.streams if len(s)]  # a video alone has nothing but pictures to be absent
    if not timed:
        return 0, 0.0
    longest = max(timed, key=len)
    if longest.clock is Clock.NOMINAL and not longest.rate:
        return len(longest), 0.0  # counted, not timed: without a rate nobody knows how long it lasts
    period = 1.0 / float(longest.rate) if longest.rate else 0.0
    step = np.diff(np.sort(longest.t))  # a step of days is a wrong date, and one below 0 has overflowed
    return len(longest), float(step[(step > 0) & (step < _DAY)].sum()) * 1e-9 + period


def _first(ep: Episode) -> int | None:
    """The first sample of what the episode is timed by, int64 ns; what stands days apart is a wrong date."""
    timed = [s for s in ep.streams if len(s)]
    timed = [s for s in timed if s.role not in _ABSENT_ROLES] or timed
    if not timed:
        return None
    longest = max(timed, key=len).t
    amid = int(np.partition(longest, len(longest) // 2)[len(longest) // 2])
    t = np.concatenate([s.t for s in timed])
    return int(t[(t > amid - _DAY) & (t < amid + _DAY)].min())


def _roles(gates: Sequence[Gate], job: Job) -> frozenset[Role]:
    known, statistics = plugs.features(), plugs.statistics()
    roles: set[Role] = set()
    pending = [n for g in gates for n in g.needs] + [n for s in job.statistics for n in statistics[s].needs]
    while pending:
        name = pending.pop()
        if name in known:
            roles |= known[name].reads
            pending += known[name].needs
    # Joint states are always read: whether an episode is there must not depend on which gates look.
    return frozenset(roles.union({Role.JOINT_POSITION}, *(g.reads for g in gates)))
