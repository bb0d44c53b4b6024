"""CoNLL-U: words with the tags of a layer as UPOS, and the spans of another as `Tag=` in MISC.

Without a layer of tags, spans with labels of Universal Dependencies are written as UPOS.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from workbench.base.i18n import _
from workbench.exporters.data.base import (
    COMMON,
    LOOKS,
    ExportPlan,
    links_lost,
    no_tokens,
    second_texts_lost,
    values_lost,
)
from workbench.exporters.data.conll import group_line, tell
from workbench.text.alignment import Audit, to_tokens
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.labels import TOKENS, Layer
from workbench.text.schemes import TokenSpan
from workbench.text.schemes import tags as bio
from workbench.text.segment import words

_UPOS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
)


class ConlluExporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        losses = [_(COMMON), _(LOOKS)]
        losses.append(
            _(
                "Splits, states, metadata and classes are not written; lemmas, features "
                "and dependencies are empty."
            )
        )
        losses.append(
            _(
                "Texts that were imported without tokens are split into words; line breaks and "
                "tabs between them become spaces."
            )
        )
        tags, spans = _chosen([layer for layer in layers if layer.traits.in_text])
        if tags is not None:
            message = _("The labels of layer {layer} are written as UPOS.")
            losses.append(message.format(layer=tags.name))
        if spans is not None:
            message = _("The labels of layer {layer} are written as tags in MISC.")
            losses.append(message.format(layer=spans.name))
        return (*losses, *second_texts_lost(layers), *values_lost(layers), *links_lost(layers))

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        upos, spans = _chosen(plan.span_layers())
        group, count, audit = None, 0, Audit()
        for record in records:
            document = record.document
            offsets = _words(document)
            if not offsets:
                plan.count(no_tokens)
                continue
            tagged, more = _aligned(record, upos, offsets)
            token_spans, others = _aligned(record, spans, offsets)
            audit += more
            audit += others
            if document.group is not None and document.group != group:
                out.write(f"# newdoc id = {' '.join(document.group.split())}\n")
            elif document.group != group:
                out.write(group_line("", 0))
            group = document.group
            out.write(f"# sent_id = {' '.join(document.key.split())}\n")
            if "\n" not in document.text and "\r" not in document.text:
                out.write(f"# text = {document.text}\n")
            out.writelines(_lines(document.text, offsets, tagged, token_spans))
            out.write("\n")
            count += 1
        tell(plan, audit)
        return count


def _chosen(layers: Sequence[Layer]) -> tuple[Layer | None, Layer | None]:
    """The layer of tags for UPOS and that of spans for MISC: the first of each with labels."""
    gold = [layer for layer in layers if not layer.options.get("predicted")]
    gold.sort(key=lambda layer: not layer.labels)
    tags = [layer for layer in gold if layer.traits.editor == TOKENS]
    spans = [layer for layer in gold if layer.traits.editor != TOKENS]
    tags = tags or [layer for layer in spans if layer.labels and {*layer.names} <= _UPOS]
    spans = [layer for layer in spans if layer not in tags[:1]]
    return next(iter(tags), None), next(iter(spans), None)


def _words(document: Document) -> list[tuple[int, int]]:
    text = document.text
    return [
        pair for pair in document.tokens.get(TEXT) or words(text) if text[pair[0] : pair[1]].strip()
    ]


def _aligned(
    record: Record, layer: Layer | None, offsets: Sequence[tuple[int, int]]
) -> tuple[Sequence[TokenSpan], Audit]:
    layer_spans = record.spans.get(layer.name, ()) if layer else ()
    return to_tokens(offsets, [span for span in layer_spans if span.field == TEXT])


def _lines(
    text: str,
    offsets: Sequence[tuple[int, int]],
    tagged: Iterable[TokenSpan],
    token_spans: Sequence[TokenSpan],
) -> Iterator[str]:
    """One line per word. tagged: their tags as UPOS; token_spans: spans of the column MISC."""
    names = {n: span.label for span in tagged for n in range(span.first, span.last)}
    misc = bio(token_spans, len(offsets)) if token_spans else []
    for n, (start, end) in enumerate(offsets):
        following = offsets[n + 1][0] if n + 1 < len(offsets) else end + 1
        extra = [f"Tag={misc[n]}"] if misc and misc[n] != "O" else []
        extra += ["SpaceAfter=No"] if following == end else []
        word = "".join("\u00a0" if char in "\t\n" else char for char in text[start:end])
        columns = (str(n + 1), word, "_", names.get(n, "_"), *"_____", "|".join(extra) or "_")
        yield "\t".join(columns) + "\n"
