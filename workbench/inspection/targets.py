"""What a decoder writes: the text that was typed, or the model's own."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.attributions.places import LOGITS
from workbench.inspection.subject import Subject
from workbench.models.base import Encoder
from workbench.runtime.preparers.subwords import Subwords
from workbench.text.document import Document

MAX_TARGET_UNITS, MAX_WRITTEN_UNITS = 64, 20  # units


def target_of(
    subject: Subject, document: Document, inputs: Mapping[str, Tensor], typed: str
) -> tuple[str, bool, list[int]]:
    """The text, whether the model chose it, and its tokens, for `subject.writer` with `inputs`.

    The model's own is the label or number that a run predicts, else what it writes, always the most
    probable token. Raises WorkbenchError for a text without tokens.
    """
    target, own = typed, False
    if not typed.strip():
        target, own = _own(subject, document, inputs), True
    ids: list[int] = (
        subwords_of(subject.writer).tokenizer.backend.encode(target).ids[:MAX_TARGET_UNITS]
    )
    if not ids:
        raise WorkbenchError(_("The target text has no tokens."))
    return target, own, ids


def _own(subject: Subject, document: Document, inputs: Mapping[str, Tensor]) -> str:
    if subject.is_run:
        predicted = subject.predicted(document)
        if predicted.prediction.label:
            return predicted.prediction.label
        if subject.encoder.label_texts:  # numbers
            return subject.encoder.outputs[int(predicted.logits[0][LOGITS].argmax())]
    with torch.inference_mode():
        written = subject.writer.written(inputs, MAX_WRITTEN_UNITS)[0].tolist()
    return str(subwords_of(subject.writer).tokenizer.backend.decode(written))


def subwords_of(encoder: Encoder) -> Subwords:
    """The preparer of an encoder that reads subwords. Raises TypeError for any other."""
    preparer = encoder.preparer
    if not isinstance(preparer, Subwords):
        raise TypeError(f"{type(preparer).__name__} has no tokenizer to write with")
    return preparer
