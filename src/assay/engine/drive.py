"""`run`: list, calibrate, plan, measure every episode, conclude, write the tables."""

from __future__ import annotations

import contextlib
import os
import shlex
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from assay import calibrate, plugs
from assay.calibrate import Calibration
from assay.corpus import Corpus, discover
from assay.engine.episode import record
from assay.engine.finish import finish
from assay.engine.job import Done, Task, job_of, tasks
from assay.engine.local import work
from assay.engine.resume import resumable
from assay.errors import RunError, UsageError
from assay.examine import failed
from assay.gate import Gate
from assay.model import Episode
from assay.plan import Decode, Plan, make_plan, select
from assay.profile import Profile, load_profile, profile_for
from assay.store import Ledger, Run

__all__ = ["Progress", "Settings", "calibration_of", "planned", "prepare", "run"]


@dataclass(frozen=True, slots=True)
class Progress:
    """What a caller may show while a run goes on."""

    stage: Literal["calibrate", "measure"]
    done: int
    total: int
    frames: int
    frames_total: int
    seconds: float
    last: Done | None = None

    @property
    def left(self) -> float | None:
        """Estimated seconds left, by frames (by episodes where frames are unknown); None at the start."""
        share = self.frames / self.frames_total if self.frames_total else self.done / max(self.total, 1)
        return self.seconds * (1 - share) / share if share > 0 and self.done else None


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of a run, as on the command line."""

    sheet: Path | None = None
    embodiment: str | None = None
    profile: Path | None = None
    gates: str | None = None
    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    decode: Decode = "auto"
    calibration: Path | None = None
    cache: Path | None = None
    """Where what was decoded is kept between runs, by content; a folder of your own, never in a corpus."""


Watcher = Callable[[Progress], None]


def run(
    *corpora: Path | str,
    out: Path | str | None = None,
    resume: bool = False,
    watch: Watcher | None = None,
    **settings: Any,
) -> Run:
    """Measure every episode of one or more corpora and write a run folder.

    Args:
        corpora: folders (or files) to judge.
        out: the run folder; default ``assay-runs/<corpus>-<time>/``. Never inside a corpus.
        resume: continue an interrupted run in ``out``.
        watch: called with `Progress` as episodes finish.
        settings: fields of `Settings`.

    Returns:
        The finished run.

    Raises:
        UsageError: wrong options, an unknown body or gate, no reader for the corpus.
        RunError: the folder exists, is locked or full, or holds a run with other settings.
    """
    chosen = Settings(**settings)
    listed = prepare([Path(c) for c in corpora], chosen)
    folder = Path(out) if out else _default_out(listed)
    _refuse_inside(folder, listed)
    gates = select(chosen.gates)
    profiles = _profiles(listed, chosen)
    make_plan(listed, gates=gates, profiles=profiles, calibration=Calibration(), decode=chosen.decode)
    if chosen.calibration:
        Calibration.read(Path(chosen.calibration))  # refused before there is a run folder in the way
    with Ledger(folder, resume=resume) as ledger, _resumption_named(folder), _kept(chosen, gates) as cache:
        chosen = replace(chosen, cache=cache)
        plan = _planned(ledger, listed, gates, profiles, chosen, watch)
        resumable(ledger.folder, plan)
        ledger.write("plan.json", plan.to_json())
        _measure(ledger, plan, chosen, watch)
        finish(ledger, plan)
    return Run(folder)


@contextlib.contextmanager
def _resumption_named(folder: Path) -> Iterator[None]:
    """An interrupt says how the run is continued."""
    try:
        yield
    except KeyboardInterrupt as stop:
        stop.add_note(f"continue it with the same command and --out {shlex.quote(str(folder))} --resume")
        raise


def planned(*corpora: Path | str, **settings: Any) -> Plan:
    """The plan of a run that is not carried out; raises as `run` does."""
    chosen = Settings(**settings)
    listed = prepare([Path(c) for c in corpora], chosen)
    return make_plan(listed, gates=select(chosen.gates), profiles=_profiles(listed, chosen),
                     calibration=Calibration(), decode=chosen.decode)  # fmt: skip


def calibration_of(corpus: Path | str, *, watch: Watcher | None = None, **settings: Any) -> Calibration:
    """Learn what the gates ask for from one corpus; raises as `run` does."""
    chosen = Settings(**settings)
    if chosen.cache is not None:
        Path(chosen.cache).mkdir(parents=True, exist_ok=True)
    return calibrated(prepare([Path(corpus)], chosen), select(chosen.gates), chosen, watch)


def prepare(paths: Sequence[Path], chosen: Settings) -> tuple[Corpus, ...]:
    """List the corpora, with distinct names."""
    if not paths:
        raise UsageError("no corpus was named", remedy="name at least one folder")
    if chosen.jobs < 1:
        raise UsageError(
            "too few worker processes", where="jobs", found=str(chosen.jobs), expected="1 or more"
        )
    names = [p.resolve().name for p in paths]
    listed = tuple(
        discover(
            path,
            sheet_file=Path(chosen.sheet) if chosen.sheet else None,
            embodiment=chosen.embodiment,
            name=name if names.count(name) == 1 else f"{name}-{i + 1}",
        )
        for i, (path, name) in enumerate(zip(paths, names, strict=True))
    )
    if chosen.cache is not None:
        _refuse_inside(Path(chosen.cache), listed, "cache", "--cache")
    return listed


def calibrated(
    corpora: Sequence[Corpus],
    gates: Sequence[Gate],
    chosen: Settings,
    watch: Watcher | None,
) -> Calibration:
    """Fit the statistics that the gates ask for; empty where they ask for none."""
    wanted = calibrate.wanted(gates)
    if not wanted:
        return Calibration()
    plan = make_plan(corpora, gates=(), profiles=_profiles(corpora, chosen), calibration=Calibration(),
                     decode=chosen.decode)  # fmt: skip
    everything = {task.subject: task for task in tasks(plan, "summarise")}
    members = calibrate.members(everything)
    job = job_of(plan, statistics=tuple(wanted), cache=chosen.cache)
    rows: dict[str, dict[str, Any]] = {name: {} for name in wanted}
    for done in _watched(work(job, [everything[m] for m in members], chosen.jobs), "calibrate",
                         [everything[m] for m in members], watch):  # fmt: skip
        for name in wanted:
            rows[name][done.subject] = done.rows.get(name)
    models = {name: calibrate.fit(statistic, rows[name]) for name, statistic in wanted.items()}
    rigs = tuple(calibrate.rig_of(c.listing, c.sheet, c.digest) for c in corpora)
    return Calibration(models, {name: sorted(members) for name in wanted}, rigs)


def _planned(
    ledger: Ledger,
    corpora: Sequence[Corpus],
    gates: Sequence[Gate],
    profiles: Sequence[Profile],
    chosen: Settings,
    watch: Watcher | None,
) -> Plan:
    stored = ledger.folder / "calibration.json"
    given = Calibration.read(Path(chosen.calibration)) if chosen.calibration else None
    if stored.is_file():
        calibration = Calibration.read(stored)
        if given is not None and given.digest != calibration.digest:
            raise RunError("this run began with another calibration", where=str(ledger.folder),
                           found=str(chosen.calibration), expected=str(stored),
                           remedy="resume without --calibration, or choose another --out")  # fmt: skip
    elif given is not None:
        calibration = given
    else:
        calibration = calibrated(corpora, gates, chosen, watch)
    ledger.write("calibration.json", calibration.to_json())
    return make_plan(corpora, gates=gates, profiles=profiles, calibration=calibration, decode=chosen.decode)


@contextlib.contextmanager
def _kept(chosen: Settings, gates: Sequence[Gate]) -> Iterator[Path | None]:
    """Where decoded values are kept: the caller's folder, else a private one if calibration decodes first."""
    if chosen.cache is not None:
        Path(chosen.cache).mkdir(parents=True, exist_ok=True)
        yield Path(chosen.cache)
    elif any(s.pixels for s in calibrate.wanted(gates).values()):
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            yield Path(folder)
    else:
        yield None


def _profiles(corpora: Sequence[Corpus], chosen: Settings) -> list[Profile]:
    if chosen.profile:
        return [load_profile(Path(chosen.profile))] * len(corpora)
    return [profile_for(c.kind, c.listing.roles) for c in corpora]


def _measure(ledger: Ledger, plan: Plan, chosen: Settings, watch: Watcher | None) -> None:
    todo = [task for task in tasks(plan, "measure") if task.subject not in ledger.places]
    job = job_of(plan, cache=chosen.cache)
    by_subject = {task.subject: task for task in todo}
    for done in _watched(work(job, todo, chosen.jobs), "measure", todo, watch):
        ledger.append(done.subject, done.line or _dead(plan, by_subject[done.subject], done.error))


def _watched(
    results: Iterator[Done],
    stage: Literal["calibrate", "measure"],
    tasks: Sequence[Task],
    watch: Watcher | None,
) -> Iterator[Done]:
    sizes = {task.subject: task.ref.frames or 0 for task in tasks}
    started, total, frames = time.monotonic(), sum(sizes.values()), 0
    with contextlib.closing(results) as answers:  # type: ignore[type-var]
        for n, done in enumerate(answers, 1):
            frames += sizes[done.subject]
            yield done
            if watch is not None:
                watch(Progress(stage, n, len(tasks), frames, total, time.monotonic() - started, done))


def _dead(plan: Plan, task: Task, error: str) -> bytes:
    """The record of an episode whose worker died: every gate says ``error``."""
    roles = plan.corpora[task.corpus].listing.roles
    effects = plan.profiles[task.corpus].effects(plugs.gates(), roles)
    judged = [failed(g, task.subject, error) for g in plan.gates]
    return record(task.subject, judged, effects, ep=Episode(task.subject), frames=task.ref.frames)[0]


def _default_out(corpora: Sequence[Corpus]) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    base = Path("assay-runs", f"{corpora[0].name}-{stamp}")
    return next(p for p in (base, *(Path(f"{base}-{i}") for i in range(2, 1000))) if not p.exists())


def _refuse_inside(
    folder: Path, corpora: Sequence[Corpus], what: str = "run folder", option: str = "--out"
) -> None:
    for corpus in corpora:
        if folder.resolve().is_relative_to(corpus.listing.root.resolve()):
            raise UsageError(f"the {what} would lie inside the corpus", where=str(folder),
                             remedy=f"choose {option} elsewhere: Assay never writes to a corpus")  # fmt: skip
