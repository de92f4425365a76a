"""The local engine: n worker processes, one task each at a time. A worker that dies costs one episode."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Final

from assay.engine.job import Done, Job, Task

__all__ = ["work"]

STALLED: Final = 900.0
"""Seconds without an answer after which a worker counts as hung (an hour of AV1 decodes in less)."""

_ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_NUM_THREADS"), "1"
)


@dataclass(slots=True)
class _Worker:
    job: Job
    process: subprocess.Popen[bytes] = field(init=False)
    pipe: Connection = field(init=False)
    task: Task | None = None
    since: float = 0.0

    def __post_init__(self) -> None:
        ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            # -P: else modules would be looked for in the working folder, which may be a stranger's corpus.
            [sys.executable, "-P", "-m", "assay.engine.worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()], env={**os.environ, **_ONE_THREAD}, stdin=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        theirs.close()
        self.pipe = Connection(ours.detach())
        self._send(self.job)

    def give(self, task: Task) -> None:
        self.task, self.since = task, time.monotonic()
        self._send(task)

    def take(self) -> Done:
        assert self.task is not None
        task, self.task = self.task, None
        try:
            done: Done = self.pipe.recv()
        except (EOFError, OSError):
            code = self.process.wait()
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            return Done(task.subject, error=f"the worker died ({how})")
        return done

    def _send(self, what: Job | Task) -> None:
        # A worker that is already dead is found so when its answer is due.
        with contextlib.suppress(OSError):
            self.pipe.send(what)

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.wait()


def work(job: Job, tasks: Iterable[Task], jobs: int) -> Iterator[Done]:
    """Carry out tasks on ``jobs`` processes; yields results as they come, in no particular order.

    A worker that dies or hangs yields a `Done` without a line and is replaced. Closing the iterator ends
    all workers at once.
    """
    waiting = iter(tasks)
    workers: list[_Worker] = []
    try:
        for task in waiting:
            workers.append(_Worker(job))
            workers[-1].give(task)
            if len(workers) == jobs:
                break
        while busy := [w for w in workers if w.task is not None]:
            for worker in _ready(busy):
                done = worker.take()
                following = next(waiting, None)
                if worker.process.poll() is not None:
                    worker.end()
                    workers.remove(worker)
                    if following is not None:
                        worker = _Worker(job)  # noqa: PLW2901 - the replacement takes its place
                        workers.append(worker)
                if following is not None:
                    worker.give(following)
                yield done
    finally:
        for worker in workers:
            worker.end()


def _ready(busy: list[_Worker]) -> list[_Worker]:
    answered = set(wait([w.pipe for w in busy], timeout=1.0))
    now = time.monotonic()
    for worker in busy:
        if worker.pipe not in answered and now - worker.since > STALLED:
            worker.process.kill()  # its pipe closes, and the next round takes it for dead
    return [w for w in busy if w.pipe in answered]
