"""Coreference in the columns of CoNLL-2012: chains as brackets in the last column.

The other columns, which belong to layers that a project does not have, are "XX" (part of speech),
"-" and "*". AllenNLP reads a tree from the sixth column unless the part of speech is "XX". Source:
Pradhan et al. 2012, "CoNLL-2012 shared task", section 3.3.
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
    main_layer,
    no_tokens,
    second_texts_lost,
    values_lost,
)
from workbench.text.alignment import token_range
from workbench.text.dataset import Record
from workbench.text.document import TEXT
from workbench.text.labels import Layer
from workbench.text.segment import words
from workbench.text.spans import Span

_BETWEEN = "XX\t*\t-\t-\t-\t-\t*"  # part of speech (unknown) to named entities


class Conll2012Exporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        chains = [layer for layer in layers if layer.traits.in_chains]
        others = [
            layer.name for layer in layers if layer.traits.has_labels and layer not in chains[:1]
        ]
        losses = [_(COMMON), _(LOOKS)]
        losses.append(_("The text is exported as tokens; spaces between them are lost."))
        losses.append(_("Splits, groups, states and metadata are not written."))
        if others:
            message = _(
                "Only chains of one layer are written; left out: {others}.",
                others=", ".join(others),
            )
            losses.append(message)
        return (
            *losses,
            *second_texts_lost(layers),
            *values_lost(layers),
            *links_lost(chains[:1], chains=False),
        )

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        layer = main_layer([layer for layer in plan.layers if layer.traits.in_chains])
        count = 0
        for record in records:
            document = record.document
            tokens = document.tokens.get(TEXT) or words(document.text)
            if not tokens:
                plan.count(no_tokens)
                continue
            spans = record.spans.get(layer.name, ()) if layer else ()
            plan.count(_not_labelled, int(layer is not None and not labelled(record, layer.name)))
            name, brackets = "_".join(document.key.split()) or "-", _brackets(spans, tokens, plan)
            out.write(f"#begin document ({name}); part 000\n")
            for line in _lines(name, document.text, tokens, brackets):
                out.write(line + "\n")
            out.write("\n#end document\n")
            count += 1
        return count


def _lines(
    name: str, text: str, tokens: Sequence[tuple[int, int]], brackets: Sequence[str]
) -> Iterable[str]:
    """A line of each token, and a blank one where the text has a line break."""
    place, last = 0, tokens[0][0]
    for (start, end), bracket in zip(tokens, brackets, strict=True):
        if "\n" in text[last:start] and place:
            yield ""
            place = 0
        word = "_".join(text[start:end].split())
        yield f"{name}\t0\t{place}\t{word}\t{_BETWEEN}\t{bracket}"
        place, last = place + 1, end


def _brackets(
    spans: Iterable[Span], tokens: Sequence[tuple[int, int]], plan: ExportPlan
) -> list[str]:
    """The last column. Longer spans open first and close last."""
    cells: list[list[str]] = [[] for _token in tokens]
    placed = []
    for span in spans:
        place = token_range(tokens, span.start, span.end) if span.field == TEXT else None
        if place is None or span.chain is None:
            plan.count(_not_written)
        else:
            placed.append((*place, span.chain - 1))
    for start, end, chain in sorted(placed, key=lambda item: (item[0], -item[1])):
        cells[start].append(f"({chain})" if end - start == 1 else f"({chain}")
    for start, end, chain in sorted(placed, key=lambda item: (item[1], -item[0])):
        if end - start > 1:
            cells[end - 1].append(f"{chain})")
    return ["|".join(pieces) or "-" for pieces in cells]


def _not_labelled(n: int) -> str:
    return ngettext(
        "{n} document is not labelled in this layer and has no chains.",
        "{n} documents are not labelled in this layer and have no chains.",
        n,
    )


def _not_written(n: int) -> str:
    return ngettext(
        "{n} span has no chain or lies outside of tokens.",
        "{n} spans have no chain or lie outside of tokens.",
        n,
    )
