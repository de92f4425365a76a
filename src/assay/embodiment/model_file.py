"""Bodies from model files: by path, from a corpus's own folder, or from the MuJoCo Menagerie."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from assay.embodiment.assembly import Origin
from assay.embodiment.body import Embodiment
from assay.embodiment.card import load
from assay.embodiment.mjcf import read_mjcf
from assay.embodiment.model_xml import read_xml, shown
from assay.embodiment.urdf import read_urdf
from assay.errors import MissingExtraError, UnreadableError, UsageError
from assay.extras import install_line

__all__ = ["find_body", "is_model_file", "menagerie", "model_inside"]

_SUFFIXES: Final = (".urdf", ".xml", ".mjcf")
_MENAGERIE: Final = "menagerie:"


def is_model_file(spec: str) -> bool:
    """Whether a body is named by a model file and not by a card."""
    return spec.lower().endswith(_SUFFIXES)


def find_body(spec: str) -> Embodiment:
    """The body that a user names: a card (or several joined by +), a path, or ``menagerie:NAME``.

    This is for what the person at the keyboard says. A corpus's own sheet may name a card, or a model file in
    the corpus by way of `model_inside`, and never a path elsewhere or a download.

    Raises:
        UsageError: if there is no such card, file or model.
        UnreadableError: if the model file cannot be followed.
        MissingExtraError: if ``menagerie:`` is asked for without the package.
    """
    if spec.startswith(_MENAGERIE):
        return menagerie(spec.removeprefix(_MENAGERIE))
    if not is_model_file(spec):
        return load(spec)
    path = Path(spec)
    if not path.is_file():
        raise UsageError("there is no such model file", where=spec,
                         remedy="name a URDF or MJCF file, or a card (assay embodiments)")  # fmt: skip
    return model_inside(path.parent, path.name)


def model_inside(root: Path, relative: str, origin: Origin | None = None) -> Embodiment:
    """The body of a URDF or MJCF file below ``root``; what the file holds decides which of the two it is.

    Raises:
        OutsideCorpusError: if it, or a file that it includes, leads out of ``root``.
        UnreadableError: if it cannot be read or followed.
    """
    tag = read_xml(root, relative).tag
    if tag == "robot":
        return read_urdf(root, relative, origin)
    if tag == "mujoco":
        return read_mjcf(root, relative, origin)
    raise UnreadableError("this is neither URDF nor MJCF", where=relative, found=f"<{tag[:40]}>",
                          expected="<robot> or <mujoco>")  # fmt: skip


def menagerie(name: str) -> Embodiment:
    """A model of the MuJoCo Menagerie, fetched into its package's own cache when it is not there yet.

    Raises:
        MissingExtraError: if mujoco-menagerie is not installed.
        UsageError: if there is no such model, or it cannot be fetched.
    """
    where = f"{_MENAGERIE}{name}"
    try:
        import mujoco_menagerie as package
    except ImportError as error:
        raise MissingExtraError("bodies of the MuJoCo Menagerie need a package that is not installed",
                                where=where, remedy=install_line("models")) from error  # fmt: skip
    known = tuple(package.names())
    if name not in known:
        raise UsageError("the Menagerie has no such model", found=shown(name), expected=", ".join(known))
    model = package.get(name)
    try:
        folder = Path(model.path(progress=None))
    except Exception as error:  # whatever its download raises, the sentence is the same
        raise UsageError("the model cannot be fetched", where=where, found=f"{type(error).__name__}",
                         remedy="go online once, or give the path of a model file") from error  # fmt: skip
    file = {e.name: e.file for e in model.entry_points}.get(model.default_model)
    if file is None:
        raise UsageError("the Menagerie has no model file of this name", where=where,
                         remedy="give the path of a model file")  # fmt: skip
    origin = Origin(f"mujoco_menagerie {file}", str(model.oid)[:12], "simulator", str(model.license))
    return model_inside(folder, file, origin)
