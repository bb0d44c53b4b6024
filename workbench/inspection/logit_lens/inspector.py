"""What a language model predicts from the states of each layer: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.base import piece_text, token_rows, words_of
from workbench.inspection.logit_lens.info import INFO, LogitLens
from workbench.inspection.masked_words.info import read_words
from workbench.inspection.spec import TokenRow
from workbench.inspection.subject import Subject
from workbench.models.generate import MASKED, LanguageModel, padded
from workbench.text.document import Document

MIN_LOGIT = -1e4  # below the maximum: exp is 0 in float32


class LogitLensInspector:
    """The head of the model reads the states of every layer, after the final norm if there is one.

    Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
    """

    info = INFO

    def run(
        self, subject: Subject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> LogitLens:
        """Raises WorkbenchError for a text without tokens, or a masked word that does not exist;
        SpecError for masked words of a causal model.
        """
        (document,) = documents
        model = subject.language_model
        texts = tuple(content for _name, content in document.texts[:1])
        piece, cut = next(iter(model.tokenizer.whole([texts], model.max_length)))
        words = words_of(document, 1)
        rows = token_rows(piece, document, words, model.encoder.preparer)
        positions = [at for at, row in enumerate(rows) if not row.special][: options["most"]]
        if not positions:
            raise WorkbenchError(_("The text has no words to predict from."))
        masked, hidden = model.kind == MASKED, read_words(options["words"])
        if hidden and not masked:
            raise SpecError(
                _(
                    "{model} predicts next tokens; it has no token that masks a word.",
                    model=subject.info.name,
                ),
                hint=_("Omit the option words."),
            )
        if hidden and hidden[-1] >= len(words):
            text = _("There is no word {number}: the text has {count}, counted from 0.")
            raise WorkbenchError(text.format(number=hidden[-1], count=len(words)))
        layers = _layers(model, _ids(model, piece.ids.tolist(), rows, hidden), positions)
        return LogitLens(
            tuple(rows), words, bool(cut), *layers, tuple(positions), masked, tuple(hidden)
        )


def _ids(
    model: LanguageModel, ids: Sequence[int], rows: Sequence[TokenRow], hidden: Sequence[int]
) -> list[int]:
    """The ids with the tokens of some words masked."""
    return [model.mask if row.word in hidden else id for id, row in zip(ids, rows, strict=True)]


def _layers(
    model: LanguageModel, ids: Sequence[int], positions: Sequence[int]
) -> tuple[tuple[tuple[str, ...], ...], np.ndarray, np.ndarray, np.ndarray]:
    """The best tokens, their probabilities, those of the last layer's tokens, and entropies."""
    with torch.inference_mode():
        where = torch.tensor([positions], device=model.device)
        scores = model.encoder.layer_logits_at(padded([ids], model.encoder), where).float()
        top, best = scores.max(-1)  # (L + 1, K) of (L + 1, K, V)
        below = scores.sub_(top.unsqueeze(-1)).clamp_(min=MIN_LOGIT)
        last = best[-1].expand(len(below), -1).unsqueeze(-1)
        final = below.gather(-1, last)[..., 0].exp()
        # -Σ p log p without the logarithms of all p: log Z - Σ e (x - max) / Z, where 0 · -inf is 0
        weights = below.exp()
        total = weights.sum(-1)
        mean = weights.mul_(below).sum(-1) / total
        entropy = (total.log() - mean) / np.log(2)
    names = {number: _name(model, number) for number in set(best.flatten().tolist())}
    pieces = tuple(tuple(names[number] for number in layer) for layer in best.tolist())
    return pieces, _array(1 / total), _array(final / total), _array(entropy)


def _name(model: LanguageModel, number: int) -> str:
    return piece_text(model.tokenizer.piece(number), "")


def _array(values: Tensor) -> np.ndarray:
    array: np.ndarray = values.cpu().numpy()
    return array
