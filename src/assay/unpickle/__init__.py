"""Pickles of strangers, read without running anything: an allow-list of names, plain data out.

A pickle is a small program. This reader never imports what it names: a global becomes a token, and only the
tokens in an allow-list may be "called", each by a function of this package that builds plain data. Everything
else is refused by name. Joblib's files (raw arrays between the opcodes, the whole perhaps compressed) are
read without joblib. Sizes are bounded by what the file holds: no header can ask for more memory than its
bytes are worth, no value is copied over and over, and the number of opcodes is limited. Nothing nested is
hashed: the hash of a tuple of tuples takes as long, and as much stack, as its sender likes.
"""

from assay.unpickle.files import load_pickle, read_pickle
from assay.unpickle.machine import Unpickler
from assay.unpickle.plain import plain
from assay.unpickle.values import Name, RefusedError, sized

__all__ = ["Name", "RefusedError", "Unpickler", "load_pickle", "plain", "read_pickle", "sized"]
