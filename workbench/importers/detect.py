"""Detection of the file format: every importer reports its confidence."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from workbench.base import manifest, registry
from workbench.base.errors import ImportFailed, brief
from workbench.base.i18n import _
from workbench.base.options import Option, complete
from workbench.importers import contract, foreign
from workbench.importers.base import Guess, Importer, Item, Options, Table
from workbench.importers.source import Source

TEXT_FORMAT = "text"
_TEXT_FORMATS = (TEXT_FORMAT, "text-file")
PLUGIN_CONFIDENCE = 0.9  # confidence at which a plugin takes precedence over unsupported formats
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Detected:
    """`format` is the id of an importer, `why` a sentence for the user.

    `question`: why the user must confirm the format, "" if it is certain.
    `warning`: why a format that the user chose does not seem to be correct.
    """

    format: str
    why: str
    question: str = ""
    warning: str = ""


def formats() -> tuple[str, ...]:
    return registry.registry().ids("importer")


def importer(format: str) -> Importer:
    """A new importer. Raises ImportFailed naming the known formats."""
    if format not in formats():
        raise ImportFailed(
            _("There is no import format {format!r}.", format=format),
            hint=_("Known: {names}.", names=", ".join(formats())),
        )
    instance: Importer = registry.registry().get("importer", format)()
    return instance


def settings_of(format: str) -> tuple[Option, ...]:
    """The options that an importer declares. Raises ImportFailed for an unknown format."""
    return tuple(getattr(importer(format), "options", ()))


def completed(format: str, options: Options) -> Options:
    """The options with a value for every setting of the importer.

    Raises SpecError for one that it does not have, or a value that does not fit.
    """
    if not (known := settings_of(format)) and not options.settings:
        return options
    owner = _("The import format {format}", format=format)
    return replace(options, settings=complete(known, options.settings, owner=owner))


def read(format: str, source: Source, options: Options) -> Iterator[Item]:
    """The items of a file. Raises ImportFailed if the importer gives something else, or a plugin's
    importer nothing at all, and SpecError for settings that do not fit.
    """
    empty = True
    for item in items(format, source, options):
        empty = False
        yield item
    if empty and registry.needed_plugin(format) and source.head().strip():
        message = _("The importer {format} found nothing in {file}, not even a line to skip.")
        raise ImportFailed(
            message.format(format=format, file=source.name), hint=registry.contract_hint(format)
        )


def items(format: str, source: Source, options: Options) -> Iterator[Item]:
    """As `read`, for a part of a file, which may hold no record."""
    checked_items = _items(format, importer(format).read(source, completed(format, options)))
    return (
        contract.checked(format, checked_items) if registry.needed_plugin(format) else checked_items
    )


def first_rows(format: str, source: Source, options: Options, limit: int) -> Table:
    """The preview of an importer. Raises ImportFailed if it is not a table."""
    table: object = importer(format).preview(source, options, limit)
    if not isinstance(table, Table):
        message = _("`preview` of the importer {format} returned {kind}, expected a Table.")
        message = message.format(format=format, kind=type(table).__name__)
        raise ImportFailed(message, hint=registry.contract_hint(format))
    return table


def _items(format: str, items: object) -> Iterator[Item]:
    if not isinstance(items, Iterable):
        raise _no_items(format, "read", items)
    for item in items:
        if not isinstance(item, Item):
            raise _no_items(format, "yield", item)
        yield item


def _no_items(format: str, act: str, returned: object) -> ImportFailed:
    message = _("The importer {format} returned {given}, expected an iterator of items.")
    if act == "yield":
        message = _(
            "The importer {format} yielded {given}, expected Row, Skipped, Remark, Layer or Hint."
        )
    kind = "None" if returned is None else type(returned).__name__
    return ImportFailed(
        message.format(format=format, given=kind), hint=registry.contract_hint(format)
    )


def detect(source: Source) -> Detected:
    """The most confident importer, the first of the index if several are equal.

    Raises ImportFailed for a file in a known unsupported format, and if an importer fails.
    """
    head = source.head()
    if detected := _of_plugins(head, source.name):
        return detected
    if foreign_format := foreign.recognize(head, source.name):
        if not foreign_format.as_text:
            raise foreign_format.error(source.name)
        return Detected(TEXT_FORMAT, _("nothing else fits"), str(foreign_format.error(source.name)))
    guesses = [(format, _sniff(format, head, source.name)) for format in formats()]
    format, guess = max(guesses, key=lambda pair: pair[1].confidence)
    return Detected(format, guess.why)


def _of_plugins(head: str, name: str) -> Detected | None:
    """The format of a plugin with high confidence: it may read files that the built-in importers do
    not support.
    """
    added = [
        contribution.id
        for contribution in registry.registry().all("importer")
        if contribution.source != manifest.BUILTIN
    ]
    guesses = [(format, _sniff(format, head, name)) for format in added]
    format, guess = max(guesses, key=lambda pair: pair[1].confidence, default=("", Guess(0.0)))
    return Detected(format, guess.why) if guess.confidence >= PLUGIN_CONFIDENCE else None


def _sniff(format: str, head: str, name: str) -> Guess:
    """The result of the importer for the file.

    Raises ImportFailed that names the importer if it fails: it may be the one for the file, which
    another would read in a wrong way.
    """
    looking = importer(format)
    try:
        guess: object = looking.sniff(head, name)
        if isinstance(guess, Guess):
            return guess
        reason = _("`sniff` returned {kind}, expected a Guess", kind=type(guess).__name__)
    except Exception as error:
        log.exception("the importer %s cannot look at %s", format, name)
        reason = brief(error)
    message = _("The importer {format} failed while it looked at {file}: {reason}.")
    hint = _("You can choose the format of the file instead.")
    raise ImportFailed(
        message.format(format=format, file=name, reason=reason),
        hint=f"{registry.contract_hint(format)} {hint}".strip(),
    )


def chosen(source: Source, format: str) -> str:
    """A warning if the format the user chose differs from the detected one, else ""."""
    foreign_format = foreign.recognize(source.head(), source.name)
    if foreign_format is None or (foreign_format.as_text and format in _TEXT_FORMATS):
        return ""
    return str(foreign_format.error(source.name))
