"""The sample project: copies are created from the texts in resources/samples, under a free name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import ProjectError
from workbench.base.i18n import _
from workbench.storage.documents import documents
from workbench.storage.labels import labels as layers
from workbench.text.dataset import Record
from workbench.text.document import TEXT, TEXT_B, Document
from workbench.text.labels import CLASS_KEYS, SPAN_KEYS

if TYPE_CHECKING:
    from workbench.project.project import Project

NAME = "Metro messages"

# (label, colour, description); hues are well separated, the interface adjusts their lightness.
CLASSES = (
    ("delay", "#e03131", "Late, early, not at all, cut short, or a stop skipped"),
    ("crowding", "#5c940d", "Too full, no seat, no room to board, too few cars"),
    ("driver", "#1971c2", "How staff behaved or drove"),
    ("ticket", "#9c36b5", "Fares, tickets, machines, payment, refunds, fines"),
    ("accessibility", "#0c8599", "Lifts, ramps, announcements, prams, wheelchairs, sight, hearing"),
    ("praise", "#f0a500", "Thanks or approval is the point of the message"),
)
SPANS = (
    ("VEHICLE", "#1971c2", "One vehicle or one run of it, with its noun and what names it"),
    ("LINE", "#2b9348", "What a line is called, alone or inside a vehicle"),
    ("STOP", "#e03131", "A named stop or station"),
    ("ROUTE", "#9c36b5", "A stretch named by both ends"),
    ("TIME", "#0c8599", "Clock times, dates, days, spans of time, how often"),
    ("PERSON", "#d6337f", "A named person, with title"),
    ("PLACE", "#f0a500", "Any other named place or building"),
    ("MONEY", "#74830b", "Amounts with currency"),
)
PAIRS = (
    ("entailment", "#2f9e44", "The second sentence follows from the first"),
    ("neutral", "#1971c2", "It may be true or not"),
    ("contradiction", "#d9480f", "It cannot be true if the first is"),
)


def existing(folder: Path) -> Path | None:
    """The copy of the sample in `folder` that was changed last, by its name; None without one."""
    copies = [
        (path.stat().st_mtime, path)
        for path in folder.glob(f"{NAME}*{paths.PROJECT_SUFFIX}")
        if re.fullmatch(rf"{NAME}( \d+)?", path.stem) and path.is_file()
    ]
    return max(copies)[1] if copies else None


def create_sample(folder: Path | str) -> Path:
    """Create a copy of the sample project in `folder` (created if missing) under a free name.
    Returns its path.

    Raises ProjectError if the folder cannot be written.
    """
    from workbench.project.project import Project

    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ProjectError(
            _(
                "The folder {folder} cannot be created: {reason}.",
                folder=folder,
                reason=error.strerror,
            ),
            hint=_("Choose another folder."),
        ) from error
    path = paths.free_name(folder.absolute(), NAME, paths.PROJECT_SUFFIX)
    project = Project.create(path)
    try:
        fill(project)
    except BaseException:
        project.close()
        path.unlink(missing_ok=True)  # an incomplete sample is useless
        raise
    project.close()
    return path


def fill(project: Project) -> None:
    """Add the sample's layers and documents in one step."""
    folder = paths.resource("samples")
    guideline = (folder / "guideline.md").read_text(encoding="utf-8")
    with project.edit(_("Sample project"), bulk=True):
        for name, kind, texts, words, keys, text in (
            ("class", "class", 1, CLASSES, CLASS_KEYS, guideline),
            ("spans", "span", 1, SPANS, SPAN_KEYS, guideline),
            ("pairs", "class", 2, PAIRS, CLASS_KEYS, ""),
        ):
            layer = layers.add_layer(project.db, name, kind, texts=texts, guideline=text)
            for (label, colour, description), key in zip(words, keys, strict=False):
                layers.add_label(
                    project.db, layer, label, colour=colour, key=key, description=description
                )
        documents.add(project.db, records(folder), source_id=project.source("import", NAME))


def records(folder: Path) -> Iterator[Record]:
    """420 messages, 8 in other scripts (drafts, not used for training), 60 pairs."""
    yield from _messages(folder / "metro.txt", "submitted")
    yield from _messages(folder / "scripts.txt", "draft")
    for line in (folder / "pairs.tsv").read_text(encoding="utf-8").split("\n")[1:]:
        if line:
            key, split, premise, hypothesis, label = line.split("\t")
            yield Record(
                Document(key, ((TEXT, premise), (TEXT_B, hypothesis)), split),
                {"pairs": "submitted"},
                {"pairs": (label,)},
            )


def _messages(path: Path, state: str) -> Iterator[Record]:
    from workbench.importers.text.brackets import parse

    for message in parse(path.read_text(encoding="utf-8")):
        document = Document(message.key, ((TEXT, message.text),), message.split)
        if message.label is None:
            yield Record(document)
        else:
            yield Record(
                document,
                {"class": state, "spans": state},
                {"class": (message.label,)},
                {"spans": message.spans},
            )
