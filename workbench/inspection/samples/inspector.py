"""Several continuations of a text, sampled with a seed: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from workbench.inspection.continuing import continuation, filtered
from workbench.inspection.samples.info import INFO, Sample, Samples
from workbench.inspection.subject import Subject
from workbench.text.document import Document


class SamplesInspector:
    """All samples are drawn together, one token of each per forward pass."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Samples:
        (document,) = documents
        text = continuation(subject, document, options["direction"])
        cuts = {name: options[name] for name in ("temperature", "top_k", "top_p")}
        random = torch.Generator().manual_seed(options["seed"])
        rows: list[list[int]] = [[] for _row in range(options["count"])]
        total = torch.zeros(len(rows))
        for _step in range(min(options["length"], max(0, text.limit))):
            logits = text.logits(rows)[:, 0]  # (B, V)
            drawn = torch.multinomial(filtered(logits, **cuts), 1, generator=random)  # (B, 1)
            total += logits.log_softmax(-1).gather(1, drawn)[:, 0]
            for row, number in zip(rows, drawn[:, 0].tolist(), strict=True):
                row.append(number)
        return Samples(
            tuple(
                Sample(text.text(row), len(row), float(logprob) / max(1, len(row)))
                for row, logprob in zip(rows, total, strict=True)
            ),
            text.backward,
        )
