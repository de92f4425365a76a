"""Containers and decoding: an index without bytes of pictures, one luma pass that feeds all taps.

Files come from strangers. They are opened only through `assay.inside` and handed to FFmpeg as a file
object with a fixed container format, so that no playlist, reference or network protocol opens anything
else; one thread; pictures and packet counts are bounded. Whatever is broken is an `UnreadableError`.

A file is opened and read once for both: packets that the index went through wait, a few megabytes in all,
for the pass that decodes them.

Sources: ISO/IEC 14496-12 (boxes, edit lists), FFmpeg through PyAV. Packets come in decoding order:
presentation times of H.264 with B-frames have to be sorted.
"""

from assay.media.audio import Sound, sound
from assay.media.decoding import Decoded, Tap, luma
from assay.media.listing import Container, contents, index

__all__ = ["Container", "Decoded", "Sound", "Tap", "contents", "index", "luma", "sound"]
