"""Text to text: an encoder–decoder learns to write the text of a layer (T5, BART).

Loss: cross-entropy of the tokens of the gold text with its end, given those before (teacher
forcing; Raffel et al. 2020, section 2.1). Predictions are written token by token, always the
likeliest one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.base.errors import ModelError
from workbench.base.i18n import _, ngettext
from workbench.models.base import Encoder
from workbench.models.generate import CAUSAL, TEXT, LanguageModel
from workbench.runtime.inputs import MASK, Prepared
from workbench.runtime.preparers.subwords import Subwords
from workbench.runtime.tokenizer import Tokenizer
from workbench.tasks.base import IGNORED, Batch, Loss, Model, Outputs, Task
from workbench.tasks.spec import TaskInfo
from workbench.tasks.text2text.info import (
    ANSWER_LENGTH,
    CHARACTERS,
    DEFAULT_LENGTH,
    ENDED,
    INFO,
    PROBABILITY,
    TextGold,
)


class TextToText(Task):
    """encoder, most: of the network that was built for the task, and tokens of a written text.
    cut: gold texts that are longer than what the model can write, so that their ends are not
    learned.

    With targets a batch has losses and no text is written; without them there is a text.
    """

    info: TaskInfo = INFO
    native = "text"
    loss_targets = {"task": "answer"}
    encoder: Encoder
    most: int
    cut = 0

    def attach(self, encoder: Encoder, options: Mapping[str, Any]) -> None:
        self.encoder = encoder
        self.most = int(options.get(ANSWER_LENGTH.name) or DEFAULT_LENGTH)

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        raise ModelError(
            _("{model} writes no texts.", model=encoder.info.name),
            hint=_("Choose T5 or BART for text to text, and GPT-2 or Llama for instructions."),
        )

    @property
    def tokenizer(self) -> Tokenizer:
        return cast(Subwords, self.encoder.preparer).tokenizer

    def answer(self, text: str) -> list[int]:
        """The tokens that the model learns to write, the end included."""
        return list(self.tokenizer.backend.encode(text).ids)

    @property
    def ends(self) -> Collection[int]:
        """The tokens with which a written text ends."""
        return self.encoder.ends

    def room(self, source: int) -> int:
        """Most tokens of an answer to a source of so many tokens."""
        return self.encoder.max_length

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[TextGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """answer: int64 (S,) per document, the tokens of its text that have room."""
        rows = []
        for gold, length in zip(golds, prepared.lengths, strict=True):
            tokens, room = self.answer(gold.text), self.room(int(length))
            self.cut += len(tokens) > room
            rows.append(np.asarray(tokens[:room], np.int64))
        return {"answer": rows}

    def notice(self) -> str:
        message = ngettext(
            "The gold text of {n} training document is longer than the model can write; its end is "
            "not learned.",
            "The gold texts of {n} training documents are longer than the model can write; their "
            "ends are not learned.",
            self.cut,
        )
        return message if self.cut else ""

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """ "logits" (B, S, V), "answer" (B, S)."""
        answer = targets["answer"]
        scores = logits["logits"].flatten(0, 1)
        total = F.cross_entropy(scores, answer.flatten(), ignore_index=IGNORED, reduction="sum")
        return {"task": Loss(total, (answer != IGNORED).sum())}

    def forward(self, model: Model, batch: Batch) -> Outputs:
        encoder = model.encoder
        if not batch.targets:
            return Outputs({}, self._written(encoder, batch.inputs))
        logits = encoder.target_logits(batch.inputs, batch.targets["answer"]).float()
        losses = self.losses(model, {"logits": logits}, batch.targets)
        return Outputs({**losses, **model.penalties()}, {})

    def _written(self, encoder: Encoder, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """See `TextToTextInfo`; code points (B, S) end with -1."""
        rows = zip(inputs["input_ids"].tolist(), inputs[MASK].sum(1).tolist(), strict=True)
        texts = [
            _Answer(ids[:length], min(self.most, self.room(length)), self.ends)
            for ids, length in rows
        ]
        kind = TEXT if encoder.head == "text" else CAUSAL
        for _step in LanguageModel(encoder, kind, encoder.device).write(texts):
            pass
        backend = self.tokenizer.backend
        codes = [
            torch.tensor([*map(ord, backend.decode(text.written)), -1], dtype=torch.long)
            for text in texts
        ]
        return {
            CHARACTERS: nn.utils.rnn.pad_sequence(codes, batch_first=True, padding_value=-1),
            PROBABILITY: torch.tensor([[text.probability] for text in texts]),
            ENDED: torch.tensor([[float(text.ended)] for text in texts]),
        }


class _Answer:
    """A text that is written with the likeliest tokens, see `models.generate.WrittenText`."""

    def __init__(self, ids: Sequence[int], most: int, ends: Collection[int]):
        self.ids, self.most, self.ended = ids, most, False
        self.written: list[int] = []
        self._ends, self._logs = ends, list[float]()

    @property
    def probability(self) -> float:
        """Geometric mean over the tokens, 0 without any."""
        return float(np.exp(np.mean(self._logs))) if self._logs else 0.0

    def take(self, logits: Tensor) -> int | None:
        if len(self.written) >= self.most:
            return None
        token = int(logits.argmax())
        self._logs.append(float(logits.log_softmax(-1)[token]))
        if token in self._ends:
            self.ended = True
            return None
        self.written.append(token)
        return token
