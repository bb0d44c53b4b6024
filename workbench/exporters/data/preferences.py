"""Preferences as `trl` reads them: a line for each pair of a better and a worse answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from workbench.base.i18n import _, ngettext
from workbench.exporters.data.base import COMMON, LOOKS, ExportPlan
from workbench.text import conversation
from workbench.text.dataset import Record
from workbench.text.document import choice_names
from workbench.text.labels import Layer


class PreferenceExporter:
    """prompt, chosen and rejected are texts."""

    def lost(self, layers: Sequence[Layer]) -> tuple[str, ...]:
        losses = [
            _(COMMON),
            _(LOOKS),
            _("Documents without a preferred answer, and ties, are omitted."),
            _("Of more than two answers, each worse one is written with the best one."),
        ]
        own = _layer(layers)
        if others := [layer.name for layer in layers if layer is not own]:
            losses.append(_("Layers that are not written: {names}.", names=", ".join(others)))
        return tuple(losses)

    def write(self, records: Iterable[Record], plan: ExportPlan, out: TextIO) -> int:
        layer, count = _layer(plan.layers), 0
        for record in records:
            rows = list(self._rows(record, layer.name)) if layer is not None else []
            if not rows:
                plan.count(_undecided)
            for row in rows:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += bool(rows)
        return count

    def _rows(self, record: Record, layer: str) -> Iterator[dict[str, Any]]:
        document = record.document
        names = choice_names(len(document.choices))
        best = next((name for name in record.marks.get(layer, ()) if name in names), "")
        if not best or record.states.get(layer) == "discarded":
            return
        answers = dict(zip(names, document.choices, strict=True))
        more = {"split": document.split, "group": document.group, "meta": dict(document.meta)}
        several = len(names) > 2
        for name in names:
            if name != best:
                key = f"{document.key}-{name}" if several else document.key
                row = self.row(document.prompt, answers[best], answers[name])
                yield {"id": key, **row, **{name: value for name, value in more.items() if value}}

    def row(self, prompt: str, chosen: str, rejected: str) -> dict[str, Any]:
        return {"prompt": prompt, "chosen": chosen, "rejected": rejected}


class ChatExporter(PreferenceExporter):
    """prompt, chosen and rejected are lists of messages."""

    def row(self, prompt: str, chosen: str, rejected: str) -> dict[str, Any]:
        return {
            "prompt": conversation.to_json(conversation.read(prompt)),
            "chosen": conversation.to_json([(conversation.ASSISTANT, chosen)]),
            "rejected": conversation.to_json([(conversation.ASSISTANT, rejected)]),
        }


def _layer(layers: Sequence[Layer]) -> Layer | None:
    """The first layer of preferences, else the first with choices."""
    choosing = [layer for layer in layers if layer.traits.in_choices]
    return next((layer for layer in choosing if layer.traits.compares), next(iter(choosing), None))


def _undecided(n: int) -> str:
    return ngettext(
        "{n} document has no preferred answer and was omitted.",
        "{n} documents have no preferred answer and were omitted.",
        n,
    )
