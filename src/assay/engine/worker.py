"""A worker process: receives a job once, then tasks one at a time, until its pipe closes.

Run as ``python -m assay.engine.worker FD``. A separate program and not a fork: no state of the caller is
inherited, and a caller's script needs no ``if __name__`` guard.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from multiprocessing.connection import Connection

from assay.engine.episode import Bench

__all__ = ["serve"]


def serve(pipe: Connection) -> None:
    """Answer tasks until the other end closes."""
    import pyarrow as pa

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    with contextlib.suppress(EOFError, ConnectionError):  # the parent is done with us, or gone
        bench = Bench.of(pipe.recv())
        while True:
            task = pipe.recv()
            pipe.send(bench.do(task))


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
