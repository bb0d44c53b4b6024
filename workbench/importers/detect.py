"""Detection of the file format: every importer reports its confidence. What an importer of a plugin
reads is checked.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbench.base import manifest, registry
from workbench.base.errors import ImportFailed, brief
from workbench.base.i18n import _
from workbench.base.options import Option, complete
from workbench.base.registry import contract_hint
from workbench.importers import foreign
from workbench.importers.base import (
    Fault,
    Guess,
    Importer,
    Item,
    Options,
    Row,
    Skipped,
    Table,
    check,
    is_number,
)
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.labels import LAYER_KINDS, MAX_NAME_CHARS, Label, Layer
from workbench.text.questions import Question
from workbench.text.relations import Relation
from workbench.text.spans import Span

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
    return checked(format, checked_items) if registry.needed_plugin(format) else checked_items


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


# part of a record → what it holds for each layer: (class, None) for a tuple of it
PARTS: Mapping[str, type] = {
    "marks": str,
    "spans": Span,
    "relations": Relation,
    "questions": Question,
}
PART_OF = {"answers": "questions"}  # LayerKind.record → the field of a Record


def checked(format: str, items: Iterable[Item]) -> Iterator[Item]:
    """The items. Records that cannot be stored are skipped, as those of other importers are.

    Raises ImportFailed for a record whose parts have the wrong type, and for a layer whose labels
    are in another part than its kind requires.
    """
    kinds: dict[str, str] = {}
    for item in items:
        if isinstance(item, Layer):
            if fault := _fault_of_layer(item):
                raise _broken(format, fault)
            kinds[item.name] = item.kind
        if not isinstance(item, Row):
            yield item
            continue
        for fault in _faults(item.record, kinds):
            raise _broken(format, fault, item.line)
        try:
            check(item.record)
        except Fault as error:
            yield Skipped(item.line, str(error))
        else:
            yield item


def _broken(format: str, fault: str, line: int = 0) -> ImportFailed:
    message = _("The importer {format} does not follow its contract: {fault}.")
    if line:
        message = _("The importer {format} does not follow its contract in line {line}: {fault}.")
    return ImportFailed(
        message.format(format=format, line=line, fault=fault), hint=contract_hint(format)
    )


def _fault_of_layer(layer: Layer) -> str:
    """What is wrong with a layer, "" if nothing is."""
    if layer.kind not in LAYER_KINDS:
        return _(
            "the layer {layer!r} has the kind {kind!r}, expected one of {known}",
            layer=layer.name,
            kind=layer.kind,
            known=", ".join(LAYER_KINDS),
        )
    for label in layer.labels:
        if not isinstance(label, Label):
            return _(
                "the layer {layer!r} has a label of the type {kind}, expected Label",
                layer=layer.name,
                kind=type(label).__name__,
            )
    for name in (layer.name, *layer.names):
        if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME_CHARS:
            return _(
                "the layer {layer!r} has the name or label {name!r}, expected 1 to {most} "
                "characters",
                layer=layer.name,
                name=name,
                most=MAX_NAME_CHARS,
            )
    return ""


def _faults(record: Record, kinds: Mapping[str, str]) -> Iterator[str]:
    document = record.document
    if not isinstance(document.texts, tuple) or not all(map(_is_text, document.texts)):
        yield _("`texts` of the document is not a tuple of pairs (name, text)")
    for name, value in (("tokens", document.tokens), ("meta", document.meta)):
        if not isinstance(value, Mapping):
            yield _(
                "`{name}` of the document is {kind}, expected a dict",
                name=name,
                kind=type(value).__name__,
            )
    for name in ("states", *PARTS, "numbers", "written"):
        if not isinstance(getattr(record, name), Mapping):
            yield _(
                "`{name}` of the record is {kind}, expected a dict by layer",
                name=name,
                kind=type(getattr(record, name)).__name__,
            )
    named = (record.states, *(getattr(record, name) for name in (*PARTS, "numbers", "written")))
    if any(not layer.strip() for part in named for layer in part):
        yield _("the record has labels in a layer without a name")
    for layer, number in record.numbers.items():
        if not is_number(number):
            yield _(
                "`numbers` of the layer {layer!r} is {kind}, expected a number",
                layer=layer,
                kind=type(number).__name__,
            )
    for name, kind in PARTS.items():
        for layer, values in getattr(record, name).items():
            if isinstance(values, str) or not all(isinstance(value, kind) for value in values):
                yield _(
                    "`{name}` of the layer {layer!r} is not a tuple of {kind}",
                    name=name,
                    layer=layer,
                    kind=kind.__name__,
                )
            yield from _elsewhere(layer, name, kinds)


def _is_text(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(x, str) for x in value)


def _elsewhere(layer: str, name: str, kinds: Mapping[str, str]) -> Iterator[str]:
    """Labels in another part of the record than the kind of the layer requires."""
    if layer not in kinds:
        return
    part = LAYER_KINDS[kinds[layer]].record
    expected = PART_OF.get(part, part)
    if expected != name:
        yield _(
            "the layer {layer!r} of the kind {kind!r} is in `{name}`, expected `{part}`",
            layer=layer,
            kind=kinds[layer],
            name=name,
            part=expected,
        )
