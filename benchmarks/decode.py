"""Decoding with all taps beside a bare decode of luma: ``python -m benchmarks.decode DIR``.

The bare decode is what anybody's loop does: PyAV, one thread, every picture's luma plane asked for and
nothing done with it. Beside it stands what Assay does with a file that it has not seen: index it, then
decode it with thumbnails, their means and digests. Both in one run, in turns, processor time, the best of
several. Aim: 1.2 times.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import av

from assay.media import index, listing, luma
from assay.model import Clip
from assay.signals.pictures import Digests, Thumbnails

TURNS = 9


def bare(path: Path) -> int:
    """Pictures of a file, each one's luma plane touched."""
    with av.open(str(path)) as source:
        stream = source.streams.video[0]
        stream.codec_context.thread_count = 1
        return sum(frame.planes[0].line_size > 0 for frame in source.decode(stream))


def tapped(path: Path) -> int:
    """The same as the features of a camera do it, the index of a file not seen before included."""
    listing._known.clear()
    found = index(path.parent, path.name)
    thumbs, digests = Thumbnails(), Digests()
    done = luma(Clip(path.parent, path.name, 0, None, True), (thumbs, digests), found)
    assert len(thumbs.value()) == len(thumbs.mean()) == len(digests.value())
    return len(done.t)


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
        pairs = [(cpu(bare, path), cpu(tapped, path)) for _ in range(TURNS)]
        found = index(path.parent, path.name)
        plain, ours = (min(p[i] for p in pairs) / max(len(found), 1) * 1e6 for i in (0, 1))
        size = f"{found.width} x {found.height}"
        name = str(path.relative_to(folder))[-60:]
        print(f"{name:60} {found.codec:10} {size:>10} {plain:8.0f} {ours:8.0f} {ours / plain:6.2f}")


if __name__ == "__main__":
    main()
