"""The next word of a text, step by step: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.inspection.base import entropy_bits
from workbench.inspection.continuing import Continuation, continuation
from workbench.inspection.next_words.info import INFO, TOP_K, TOP_P, NextToken, NextWords, read_ids
from workbench.inspection.subject import Subject
from workbench.models.generate import filtered
from workbench.text.document import Document


class NextWordsInspector:
    """For models that predict the next or the previous unit of a text, or write one from it."""

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> NextWords:
        """Raises WorkbenchError if the model cannot read as many units, or has no such unit."""
        (document,) = documents
        text = continuation(subject, document, options["direction"])
        added = read_ids(options["added"]) + (
            text.ids(options["typed"]) if options["typed"] else ()
        )
        if len(added) > max(0, text.limit):
            raise WorkbenchError(
                ngettext(
                    "The model can read at most {n:,} further token.",
                    "The model reads {n:,} further tokens at most.",
                    max(0, text.limit),
                ),
                hint=_("Go back some steps, or use a shorter text."),
            )
        size = subject.info.vocabulary
        if added and max(added) >= size:
            message = _("There is no token {id:,}: the vocabulary has {n:,}.")
            raise WorkbenchError(message.format(id=max(added), n=size))
        logits = text.logits([added], last=len(added) + 1)[0]  # (K, V), one row per step
        return _result(text, added, logits, options)


def _result(
    text: Continuation, added: tuple[int, ...], logits: Tensor, options: Mapping[str, Any]
) -> NextWords:
    cuts = {"temperature": options["temperature"], "top_k": options["top_k"]}
    probabilities = logits.softmax(-1)
    sampled = filtered(logits[-1], **cuts, top_p=options["top_p"])
    sampled_count, by_k = (
        int((sampled > 0).sum()),
        int((filtered(logits[-1], **cuts, top_p=1.0) > 0).sum()),
    )
    values, best = probabilities[-1].topk(min(options["top"], logits.shape[-1]))
    rows = [
        NextToken(number, text.name(number), value, float(sampled[number]))
        for number, value in zip(best.tolist(), values.tolist(), strict=True)
    ]
    size = int(logits.shape[-1])
    return NextWords(
        added,
        tuple(map(text.name, added)),
        tuple(float(probabilities[step, number]) for step, number in enumerate(added)),
        tuple(rows),
        sampled_count,
        size,
        "" if sampled_count == size else TOP_P if sampled_count < by_k else TOP_K,
        tuple(entropy_bits(probability.numpy()) for probability in probabilities),
        text.text(added),
        len(added) < text.limit and text.ends.isdisjoint(added),
        text.backward,
        text.apart,
    )
