"""Decoding with all taps beside a bare decode of luma: ``python -m benchmarks.decode DIR``.

The bare decode is what anybody's loop does: PyAV, one thread, every picture's luma plane as an array of
numpy and nothing done with it. Both in one run, in turns, the best of several. Aim: 1.2 times.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import av

from assay.media import index, luma
from assay.model import Clip
from assay.signals.pictures import Digests, Thumbnails

TURNS = 5


def bare(path: Path) -> int:
    """Pictures of a file, each one's luma plane touched."""
    with av.open(str(path)) as source:
        stream = source.streams.video[0]
        stream.codec_context.thread_count = 1
        return sum(frame.planes[0].line_size > 0 for frame in source.decode(stream))


def tapped(path: Path) -> int:
    """The same through one luma pass with thumbnails and digests, index included."""
    return len(luma(Clip(path.parent, path.name, 0, None, True), (Thumbnails(), Digests())).t)


def cpu(work: Callable[[Path], int], path: Path) -> float:
    """Processor seconds."""
    start = time.process_time()
    work(path)
    return time.process_time() - start


def main() -> None:
    """Print a line per file."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path, help="searched for *.mp4; the first three of each folder")
    folder = options.parse_args().folder
    tapped(next(iter(sorted(folder.rglob("*.mp4")))))  # compiles
    homes = sorted({p.parent for p in folder.rglob("*.mp4")})
    print(f"{'file':60} {'codec':10} {'size':>10} {'bare us':>8} {'ours us':>8} {'ratio':>6}")
    for path in (p for home in homes for p in sorted(home.glob("*.mp4"))[:3]):
        found = index(path.parent, path.name)
        pairs = [(cpu(bare, path), cpu(tapped, path)) for _ in range(TURNS)]
        plain, ours = (min(p[i] for p in pairs) / max(len(found), 1) * 1e6 for i in (0, 1))
        size = f"{found.width} x {found.height}"
        name = str(path.relative_to(folder))[-60:]
        print(f"{name:60} {found.codec:10} {size:>10} {plain:8.0f} {ours:8.0f} {ours / plain:6.2f}")


if __name__ == "__main__":
    main()
