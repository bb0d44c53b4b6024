"""Which format a file is in: every importer is asked how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base import registry
from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers.base import Importer
from workbench.importers.source import Source


@dataclass(frozen=True)
class Detected:
    """`format` is the id of an importer; `why` a sentence for the user."""

    format: str
    why: str


def formats() -> tuple[str, ...]:
    return registry.builtins().ids("importer")


def importer(format: str) -> Importer:
    """A new importer. Raises ImportFailed naming the known formats."""
    if format not in formats():
        raise ImportFailed(
            _("There is no import format {format!r}.").format(format=format),
            hint=_("Known: {names}.").format(names=", ".join(formats())),
        )
    return registry.builtins().get("importer", format)()


def detect(source: Source) -> Detected:
    """The surest importer; of equally sure ones the first of the index."""
    head = source.head()
    best, found = -1.0, Detected("text", "")
    for format in formats():
        guess = importer(format).sniff(head, source.name)
        if guess.confidence > best:
            best, found = guess.confidence, Detected(format, guess.why)
    return found
