"""A worker process: receives a job once, then tasks one at a time, until its pipe closes.

Run as ``python -m assay.engine.worker FD``. A separate program and not a fork: no state of the caller is
inherited, and a caller's script needs no ``if __name__`` guard.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from multiprocessing.connection import Connection

from assay.engine.episode import Bench

__all__ = ["serve"]


def serve(pipe: Connection) -> None:
    """Answer tasks until the other end closes."""
    import pyarrow as pa

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    threading.Thread(target=_end_with, args=(pipe.fileno(),), daemon=True).start()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    with contextlib.suppress(EOFError, ConnectionError):  # the parent is done with us, or gone
        bench = Bench.of(pipe.recv())
        while True:
            task = pipe.recv()
            pipe.send(bench.do(task))


def _end_with(fd: int) -> None:
    """End this process, busy or not, once the other end of a socket is closed.

    A parent that is killed closes nothing itself and gives no notice, but its ends of all sockets close with
    it: a task that takes long would else be carried on for nobody.
    """
    gone = select.poll()
    gone.register(fd, 0)  # hanging up is told without being asked for; what there is to read is not
    gone.poll()
    os._exit(0)


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
