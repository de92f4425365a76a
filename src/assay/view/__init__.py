"""One episode of a finished run as text: what was decided and why, and one moment measured again.

The moment is read from the data, so that what the tables say can be held to it.
"""

from assay.view.moment import Column, Moment
from assay.view.seen import View, view_of
from assay.view.text import text_of

__all__ = ["Column", "Moment", "View", "text_of", "view_of"]
