"""What the formats of INCEpTION have in common: names of documents, offsets in UTF-16 units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from workbench.base.i18n import _
from workbench.importers.base import CURATED, person_name
from workbench.importers.foreign_xml import root

PROJECT_FOLDERS = ("annotation", "curation")  # of the export of a project
INITIAL = "INITIAL_CAS"  # the name of the document before anybody labelled it
_CURATOR = "CURATION_USER"
_FOLDERS = (".txt", ".tsv", ".xmi", ".xml", ".json", ".conll", ".conllu", ".html", ".pdf")
_JSON = re.compile(r'\{\s*"%[A-Z_]+"\s*:')


def is_cas(head: str) -> bool:
    """Whether a file begins like a CAS in XMI or in JSON."""
    return root(head) == "xmi" or bool(_JSON.match(head.lstrip("\ufeff \t\r\n")))


def document(path: Path) -> tuple[str, str]:
    """The names of the document and of its annotator, "" if the path does not say who it is.

    Exports of projects name the file after the annotator, and its folder after the document:
    annotation/DOCUMENT/NAME.xmi, curation/DOCUMENT/CURATION_USER.xmi. Raises Fault.
    """
    folder = path.parent
    of_project = folder.parent.name in PROJECT_FOLDERS
    if not of_project and folder.suffix.lower() not in _FOLDERS:
        return path.stem, ""
    if path.stem.startswith(_CURATOR):
        return folder.name, CURATED
    return folder.name, "" if path.stem == INITIAL else person_name(path.stem)


def points_of_units(text: str) -> list[int] | None:
    """The code point at each UTF-16 unit and at the end; None if both counts are equal."""
    if max(text, default="") <= "\uffff":
        return None
    code_points = []
    for point, character in enumerate(text):
        code_points += [point] * (2 if character > "\uffff" else 1)
    return [*code_points, len(text)]


def not_imported(name: str, left: Counter[str], titles: Mapping[str, str]) -> Iterator[str]:
    """A message for what a file has that was left out: kind → number, and kind → its title."""
    if kinds := +left:
        listed = ", ".join(f"{_(titles[kind])} ({n:,})" for kind, n in sorted(kinds.items()))
        yield _("{name}: not imported: {kinds}.", name=name, kinds=listed)
