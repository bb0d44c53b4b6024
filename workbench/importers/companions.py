"""Files that lie beside data and hold none: descriptions, settings, and annotations without a text.

Of several files that are imported together these are left out, with a warning that says why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from workbench.base.i18n import _
from workbench.base.untrusted import companion_leads_out
from workbench.importers import foreign
from workbench.importers.text.brat import ENDING

_HEAD = 4096  # bytes
_MARKUP = (".xml", ".json", ".conf")  # of files that are recognized by their beginning
_ABOUT = re.compile(
    r"(?:readme|licen[cs]e|copying|notice|authors|changelog|changes|citation|install|contributing)"
    r"(?:[._-].*)?|dataset_infos?\.json",
    re.IGNORECASE,
)
_KEY, _SENSES = ".gold.key.txt", ".data.xml"  # of word senses, read with the text


def left_out(paths: Sequence[Path]) -> dict[Path, str]:
    """File → a sentence on why it is not imported with the others; none if no other is left."""
    if len(paths) < 2:
        return {}
    names = {str(path) for path in paths}
    reasons = {path: reason for path in paths if (reason := _reason(path, names))}
    return reasons if len(reasons) < len(set(paths)) else {}


def is_whole(path: Path, paths: Sequence[Path]) -> bool:
    """Whether a text is one document without annotations: those beside it are annotated (brat)."""
    return path.suffix.lower() == ".txt" and any(
        other.suffix == ENDING and other.parent == path.parent for other in paths
    )


def _reason(path: Path, names: set[str]) -> str:
    name = path.name
    if name.startswith("."):
        return _("{file} was left out: it is a hidden file of the system.", file=name)
    if _ABOUT.fullmatch(name):
        return _("{file} was left out: it describes the data.", file=name)
    if name.endswith(_KEY) and f"{str(path).removesuffix(_KEY)}{_SENSES}" in names:
        return _("{file} was left out: it is read with its text.", file=name)
    try:
        return _reason_by_content(path)
    except OSError:
        return ""  # reading says what is wrong


def _reason_by_content(path: Path) -> str:
    """Raises OSError."""
    name = path.name
    if path.suffix == ENDING:
        text = path.with_suffix(".txt")
        if companion_leads_out(text, path):
            message = _(
                "{file} was left out: its text {text} is a link that leads out of the folder."
            )
            return message.format(file=name, text=text.name)
        if not text.is_file():
            message = _("{file} was left out: its text {text} is missing.")
            return message.format(file=name, text=text.name)
        if not text.stat().st_size:
            message = _("{file} was left out: its text {text} is empty.")
            return message.format(file=name, text=text.name)
        return ""
    if not path.is_file():
        return ""
    if not path.stat().st_size:
        return _("{file} was left out: it is empty.", file=name)
    if path.suffix.lower() in _MARKUP:
        with open(path, "rb") as file:
            head = file.read(_HEAD).decode("utf-8", "replace")
        foreign_format = foreign.recognize(head, name)
        if foreign_format is not None and foreign_format.is_companion:
            message = _("{file} was left out. {reason}")
            return message.format(file=name, reason=foreign_format.what.format(name=name))
    return ""
