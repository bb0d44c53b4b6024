"""Two columns, token and tag (BIO, `B-` at the start of every span), a blank line between
documents.

With gold and predictions there are three columns, as the program conlleval reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from workbench.base.i18n import _, ngettext
from workbench.exporters.data.base import (
    COMMON,
    LOOKS,
    ExportPlan,
    labelled,
    links_lost,
    no_tokens,
    second_texts_lost,
    values_lost,
)
from workbench.text.alignment import Audit, tags
from workbench.text.dataset import Record
from workbench.text.document import TEXT
from workbench.text.labels import TOKENS, Layer
from workbench.text.schemes import EVERY
from workbench.text.segment import words

DOCSTART = "-DOCSTART-"


class ConllExporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        losses = [
            _(COMMON),
            _(LOOKS),
            _("Keys, splits, states, metadata and classes are not written."),
        ]
        losses.append(
            _(
                "Columns cannot hold overlapping spans: of overlapping spans the longest "
                "is kept. Offsets within a word are moved to its boundary."
            )
        )
        losses.append(_("The text is exported as tokens; spaces between them are lost."))
        spans = [layer for layer in layers if layer.traits.in_text]
        if len(spans) > 1:
            others = ", ".join(span.name for span in spans[1:])
            losses.append(
                _(
                    "One layer is written, {layer}; left out: {others}.",
                    layer=spans[0].name,
                    others=others,
                )
            )
        return (*losses, *second_texts_lost(layers), *values_lost(layers), *links_lost(layers))

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        """Writes the first span layer of the plan, and the second as an additional column if it
        holds predictions (`options.predicted`).
        """
        chosen = chosen_layers(plan)
        group, count, audit = None, 0, Audit()
        for record in records:
            lines, document_audit = block(record, chosen, plan)
            audit += document_audit
            if not lines:
                plan.count(no_tokens)
                continue
            out.write("\n" if count else "")
            if record.document.group != group:
                out.write(group_line(record.document.group or "", len(chosen)))
            group = record.document.group
            out.write("\n".join(lines) + "\n")
            count += 1
        tell(plan, audit)
        return count


def chosen_layers(plan: ExportPlan) -> tuple[Layer, ...]:
    """Gold, and predictions for the same layer: of several, the layer with predictions, else the
    first with labels.
    """
    spans = plan.span_layers()
    predicted = [span for span in spans if span.options.get("predicted")][:1]
    gold = [span for span in spans if not span.options.get("predicted")]
    chosen = (
        [layer for layer in gold if predicted and layer.name == predicted[0].options.get("of")]
        or [layer for layer in gold if layer.labels]
        or gold
    )
    return tuple(chosen[:1] + predicted)


def block(record: Record, layers: Sequence[Layer], plan: ExportPlan) -> tuple[list[str], Audit]:
    """The lines of one document."""
    text = record.document.text
    offsets = [
        word
        for word in record.document.tokens.get(TEXT) or words(text)
        if text[word[0] : word[1]].strip(" \t\r\n\f\v")
    ]
    columns, audit = [], Audit()
    for layer in layers:
        spans = [span for span in record.spans.get(layer.name, ()) if span.field == TEXT]
        column, layer_audit = tags(
            offsets, spans, EVERY if layer.traits.editor == TOKENS else "IOB2"
        )
        columns.append(column)
        audit += layer_audit
    if layers and not labelled(record, layers[0].name):
        plan.count(_not_labelled)
    plan.count(_second_texts, len(record.document.texts) - 1)
    tokens = (" ".join(text[start:end].split("\t")).replace("\n", " ") for start, end in offsets)
    return ["\t".join(row) for row in zip(tokens, *columns, strict=True)], audit


def group_line(group: str, columns: int) -> str:
    """The line before documents of a group; an empty name ends the one before."""
    if group.startswith(DOCSTART):
        return "\t".join([DOCSTART] + ["O"] * columns) + "\n\n"
    return f"# doc = {' '.join(group.split())}".rstrip() + "\n"


def tell(plan: ExportPlan, audit: Audit) -> None:
    plan.count(_overlapping, audit.crowded)
    plan.count(_moved, audit.shifted)
    plan.count(_without_word, audit.lost)


def _not_labelled(n: int) -> str:
    return ngettext(
        "{n} document is not labelled in this layer; all its tags are O.",
        "{n} documents are not labelled in this layer; all their tags are O.",
        n,
    )


def _second_texts(n: int) -> str:
    return ngettext(
        "{n} second text was omitted.",
        "{n} second texts were omitted.",
        n,
    )


def _overlapping(n: int) -> str:
    return ngettext(
        "{n} span overlaps a longer one and was omitted.",
        "{n} spans overlap longer ones and were omitted.",
        n,
    )


def _moved(n: int) -> str:
    return ngettext(
        "{n} span begins or ends within a word and was moved to its boundary.",
        "{n} spans begin or end within a word and were moved to its boundary.",
        n,
    )


def _without_word(n: int) -> str:
    return ngettext(
        "{n} span covers no word and was omitted.",
        "{n} spans cover no word and were omitted.",
        n,
    )
