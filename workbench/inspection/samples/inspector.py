"""Several continuations of a text, sampled with a seed: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.continuing import Continuation, continuation
from workbench.inspection.samples.info import INFO, SampledText, Samples
from workbench.inspection.subject import Subject
from workbench.models.generate import filtered
from workbench.text.document import Document


class SamplesInspector:
    """All samples are drawn together, one token of each per forward pass."""

    info = INFO

    def __init__(self) -> None:
        self._last: tuple[object, _Drawing] | None = None

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Samples:
        """Equal requests go on where the last one ended. Raises WorkbenchError if the model cannot
        read a further unit.
        """
        (document,) = documents
        settings = {name: value for name, value in options.items() if name != "part"}
        key = id(subject), document.texts, dict(document.tokens), settings
        drawing = self._last[1] if self._last is not None and self._last[0] == key else None
        if drawing is None or not drawing.rest:
            text = continuation(subject, document, options["direction"])
            if text.limit < 1:
                raise WorkbenchError(
                    _("The model cannot read a further token after this text."),
                    hint=_("Use a shorter text."),
                )
            drawing = _Drawing.begun(text, options)
        self._last = key, drawing
        drawing.draw(options["part"] or drawing.rest)
        return drawing.samples


@dataclass
class _Drawing:
    """rows: ids of each sample. lengths, totals: up to the end of each. rest: steps to do."""

    text: Continuation
    cuts: Mapping[str, Any]
    random: torch.Generator
    rows: list[list[int]]
    lengths: list[int]
    totals: list[float]
    rest: int

    @classmethod
    def begun(cls, text: Continuation, options: Mapping[str, Any]) -> _Drawing:
        count = options["count"]
        return cls(
            text,
            {name: options[name] for name in ("temperature", "top_k", "top_p")},
            torch.Generator().manual_seed(options["seed"]),
            [[] for _row in range(count)],
            [0] * count,
            [0.0] * count,
            min(options["length"], max(0, text.limit)),
        )

    def draw(self, steps: int) -> None:
        """A token of each sample in each step, until all of them have ended."""
        ends = self.text.ends
        for _step in range(min(steps, self.rest)):
            logits = self.text.logits(self.rows)[:, 0]  # (B, V)
            drawn = torch.multinomial(filtered(logits, **self.cuts), 1, generator=self.random)
            shares = logits.log_softmax(-1).gather(1, drawn)  # (B, 1)
            for at, row in enumerate(self.rows):
                if ends.isdisjoint(row):
                    self.lengths[at] += 1
                    self.totals[at] += float(shares[at])
                row.append(int(drawn[at]))
            self.rest -= 1
            if all(not ends.isdisjoint(row) for row in self.rows):
                self.rest = 0
                return

    @property
    def samples(self) -> Samples:
        drawn = zip(self.rows, self.lengths, self.totals, strict=True)
        return Samples(
            tuple(
                SampledText(self.text.text(row[:length]), length, total / max(1, length))
                for row, length, total in drawn
            ),
            self.text.backward,
            self.rest,
        )
