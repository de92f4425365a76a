"""Bodies: packaged cards (numbers derived from public models) and what they say about a joint."""

from assay.embodiment.body import Embodiment, Joint, LimitSet, normalise
from assay.embodiment.card import cards, load

__all__ = ["Embodiment", "Joint", "LimitSet", "cards", "load", "normalise"]
