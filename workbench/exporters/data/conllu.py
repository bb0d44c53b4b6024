"""CoNLL-U: words with the label of one layer as UPOS, and spans as `Entity=` in MISC.

Only for documents imported with tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from workbench.base.i18n import _
from workbench.exporters.data.base import COMMON, LOOKS, Plan, links_lost, no_tokens, values_lost
from workbench.exporters.data.conll import chosen_layers, tell
from workbench.text.alignment import Audit, to_tokens
from workbench.text.dataset import Record
from workbench.text.document import TEXT
from workbench.text.labels import Layer
from workbench.text.schemes import tags as bio


class ConlluExporter:
    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        spans = [layer for layer in layers if layer.traits.in_text]
        found = [_(COMMON), _(LOOKS)]
        found.append(
            _(
                "Splits, states, metadata and classes are not written; lemmas, features "
                "and dependencies are empty."
            )
        )
        found.append(_("Documents that were imported without tokens are omitted."))
        if spans:
            message = _(
                "The labels of layer {layer} are written as UPOS where each covers one "
                "word, else as tags in MISC."
            )
            found.append(message.format(layer=spans[0].name))
        return (*found, *values_lost(layers), *links_lost(layers))

    def write(self, records: Iterable[Record], plan: Plan, out: TextIO) -> int:
        layer = next(iter(chosen_layers(plan)), None)
        group, count, audit = None, 0, Audit()
        for record in records:
            document = record.document
            offsets = [
                pair
                for pair in document.tokens.get(TEXT, ())
                if document.text[pair[0] : pair[1]].strip()
            ]
            if not offsets:
                plan.count(no_tokens)
                continue
            found, more = to_tokens(offsets, record.spans.get(layer.name, ()) if layer else ())
            audit += more
            if document.group is not None and document.group != group:
                out.write(f"# newdoc id = {' '.join(document.group.split())}\n")
            group = document.group
            out.write(f"# sent_id = {' '.join(document.key.split())}\n")
            if "\n" not in document.text and "\r" not in document.text:
                out.write(f"# text = {document.text}\n")
            single = all(span.last - span.first == 1 for span in found)
            names = {span.first: span.label for span in found} if single else {}
            misc = [] if single else bio(found, len(offsets))
            for n, (start, end) in enumerate(offsets):
                following = offsets[n + 1][0] if n + 1 < len(offsets) else end + 1
                extra = [f"Tag={misc[n]}"] if misc and misc[n] != "O" else []
                extra += ["SpaceAfter=No"] if following == end else []
                word = "".join(
                    "\u00a0" if char in "\t\n" else char for char in document.text[start:end]
                )
                out.write(
                    f"{n + 1}\t{word}\t_\t{names.get(n, '_')}"
                    f"\t_\t_\t_\t_\t_\t{'|'.join(extra) or '_'}\n"
                )
            out.write("\n")
            count += 1
        tell(plan, audit)
        return count
