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
        lengths, total = [0] * len(rows), [0.0] * len(rows)  # up to the end of each
        for _step in range(min(options["length"], max(0, text.limit))):
            logits = text.logits(rows)[:, 0]  # (B, V)
            drawn = torch.multinomial(filtered(logits, **cuts), 1, generator=random)  # (B, 1)
            shares = logits.log_softmax(-1).gather(1, drawn)
            for at, row in enumerate(rows):
                if text.ends.isdisjoint(row):
                    lengths[at], total[at] = lengths[at] + 1, total[at] + float(shares[at])
                row.append(int(drawn[at]))
            if all(not text.ends.isdisjoint(row) for row in rows):
                break
        return Samples(
            tuple(
                Sample(text.text(row[:length]), length, logprob / max(1, length))
                for row, length, logprob in zip(rows, lengths, total, strict=True)
            ),
            text.backward,
        )
