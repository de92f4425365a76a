"""Bodies: joints, limits, kinematic tree, soles and hands, from packaged cards or from URDF and MJCF files.

`load` takes packaged cards, `find_body` whatever a user names, `model_inside` a model file in a corpus.
Kinematics are in `assay.embodiment.kinematics`, where limit sets disagree in `assay.embodiment.conflict`.
"""

from assay.embodiment.body import Embodiment, Hand, Joint, LimitSet, Site, Sole, normalise
from assay.embodiment.card import cards, load
from assay.embodiment.conflict import Conflict, conflicts
from assay.embodiment.model_file import find_body, is_model_file, model_inside
from assay.embodiment.tree import Tree

__all__ = [
    "Conflict",
    "Embodiment",
    "Hand",
    "Joint",
    "LimitSet",
    "Site",
    "Sole",
    "Tree",
    "cards",
    "conflicts",
    "find_body",
    "is_model_file",
    "load",
    "model_inside",
    "normalise",
]
