"""The contract of data exporters, and shared functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TextIO

from workbench.base import deprecation
from workbench.base.i18n import N_, _, ngettext
from workbench.text.dataset import Record
from workbench.text.labels import TOKENS, Layer

if not TYPE_CHECKING:
    __getattr__ = deprecation.former(__name__, Plan="ExportPlan")


@dataclass(frozen=True)
class ExportPlan:
    """The layers to export, and options.

    `escape`: cells of a table that spreadsheet programs would evaluate as formulas are escaped.
    versions: of a record, the name of each person who labelled the document, and their labels; for
    exporters with `people = true`. None: only the record itself is written.
    """

    layers: tuple[Layer, ...]
    counted: dict[Callable[[int], str], int] = field(default_factory=dict)
    uncounted: list[str] = field(default_factory=list)
    escape: bool = False
    versions: Callable[[Record], Sequence[tuple[str, Record]]] | None = None

    def of_people(self, record: Record) -> Sequence[tuple[str, Record]]:
        """(name of the person, labels) to be written of a document; the name "" if only gold is."""
        return [("", record)] if self.versions is None else self.versions(record)

    def count(self, sentence: Callable[[int], str], n: int = 1) -> None:
        """Warn of `n` more of something; `sentence(n)` is the text with the place `{n}`."""
        if n:
            self.counted[sentence] = self.counted.get(sentence, 0) + n

    def warn(self, sentence: str) -> None:
        """Warn of something that is not counted."""
        self.uncounted.append(sentence)

    @property
    def warnings(self) -> tuple[str, ...]:
        counted = (sentence(n).format(n=f"{n:,}") for sentence, n in self.counted.items())
        return (*counted, *self.uncounted)

    def span_layers(self) -> tuple[Layer, ...]:
        return tuple(layer for layer in self.layers if layer.traits.in_text)

    def class_layers(self, texts: int | None = None) -> tuple[Layer, ...]:
        return tuple(
            layer
            for layer in self.layers
            if layer.traits.on_document and texts in (None, layer.texts)
        )


class DataExporter(Protocol):
    """One file format. `write` streams: records are read once, in order."""

    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        """Sentences on what the format cannot represent of a project with these layers."""
        ...

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        """Write all records, count in `plan` what is lost, and return the number of documents
        written.
        """
        ...


File = tuple[str, str]  # name and text


class FolderExporter(Protocol):
    """A format with files for each document, in a folder. Its contribution has `folder = true`."""

    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        """As in `DataExporter`."""
        ...

    def shared(self, plan: ExportPlan) -> Iterable[File]:
        """Files beside those of the documents, such as a configuration."""
        ...

    def files(self, record: Record, name: str, plan: ExportPlan) -> Sequence[File]:
        """The files of a document, () to omit it. `name`: of a file, unique, without suffix."""
        ...


COMMON = N_("Suggestions, runs, history, and who did what and when are not written.")
LOOKS = N_("Colours, keys, descriptions and guidelines are not written.")
STATES = N_("Drafts and submitted documents are not distinguished.")
ALL_STATES = N_("Drafts, submitted and discarded documents are not distinguished.")


def main_layer(layers: Sequence[Layer]) -> Layer | None:
    """The layer exported by a format that supports only one: the first with labels."""
    return next((layer for layer in layers if layer.labels), layers[0] if layers else None)


def values_lost(layers: Sequence[Layer]) -> tuple[str, ...]:
    """The sentence of a format that cannot represent numbers and written texts."""
    names = ", ".join(layer.name for layer in layers if not layer.traits.has_labels)
    message = _("Values of number and text layers are not written: {names}.")
    return (message.format(names=names),) if names else ()


def links_lost(
    layers: Sequence[Layer], *, relations: bool = True, chains: bool = True, parts: bool = True
) -> tuple[str, ...]:
    """Sentences on relations, chains and parts of spans, which the format cannot hold."""
    losses = []
    names = ", ".join(layer.name for layer in layers if layer.traits.between_spans)
    if relations and names:
        losses.append(_("Relations between spans are not written: {names}.", names=names))
    names = ", ".join(layer.name for layer in layers if layer.traits.in_chains)
    if chains and names:
        losses.append(_("Spans of chains lose their chain: {names}.", names=names))
    if parts and any(layer.traits.in_text for layer in layers):
        message = _("A span in several parts is written from its first to its last character.")
        losses.append(message)
    return tuple(losses)


def tags_lost(layers: Sequence[Layer]) -> tuple[str, ...]:
    """The sentence of a format that does not tell tags of tokens from spans."""
    names = ", ".join(layer.name for layer in layers if layer.traits.editor == TOKENS)
    message = _("Tags of tokens are written as spans: {names}.")
    return (message.format(names=names),) if names else ()


def second_texts_lost(layers: Sequence[Layer]) -> tuple[str, ...]:
    """The sentence of a format that holds one text per document."""
    if all(layer.texts == 1 for layer in layers):
        return ()
    return (_("Of documents with several texts only the first is written."),)


def choices_lost(layers: Sequence[Layer]) -> tuple[str, ...]:
    """The sentence of a format in which the right one of several texts cannot be marked."""
    names = ", ".join(layer.name for layer in layers if layer.traits.in_choices)
    message = _("Which choice is right is not written: {names}.")
    return (message.format(names=names),) if names else ()


def only_spans(layers: Sequence[Layer], *, notes: bool = False) -> tuple[str, ...]:
    """Sentences of a format that holds texts and spans: values, classes, choices, second texts.

    notes: whether it holds the notes and flags of spans.
    """
    losses = [_("Splits, groups, states and metadata are not written.")]
    losses.append(
        _("Notes and flags of documents are not written.")
        if notes
        else _("Notes and flags are not written.")
    )
    if names := ", ".join(layer.name for layer in layers if layer.traits.on_document):
        losses.append(_("Classes of documents are not written: {names}.", names=names))
    return (*losses, *second_texts_lost(layers), *values_lost(layers))


def labelled(record: Record, layer: str) -> bool:
    """Whether the record has a value for this layer, which may be empty."""
    return (
        record.states.get(layer) in ("submitted", "draft")
        or bool(record.marks.get(layer))
        or bool(record.spans.get(layer))
        or layer in record.numbers
        or layer in record.written
    )


def no_tokens(n: int) -> str:
    return ngettext(
        "{n} document has no tokens and was omitted.",
        "{n} documents have no tokens and were omitted.",
        n,
    )


def in_second_texts(n: int) -> str:
    return ngettext(
        "{n} span of a second text was omitted.",
        "{n} spans of second texts were omitted.",
        n,
    )
