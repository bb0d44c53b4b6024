"""Instruction tuning: a causal language model learns the answers to instructions.

The instruction is written in the chat template of the model, or in a plain one
(`runtime.chat_template.PLAIN`), which is then saved with the model; the loss is that of the tokens
of the answer and its end alone (Taori et al. 2023, Alpaca).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from workbench.models.base import Encoder
from workbench.runtime.chat_template import PLAIN, ChatTemplate
from workbench.runtime.preparers.replies import answered
from workbench.tasks.instruct.info import INFO
from workbench.tasks.text2text.task import TextToText


class Instruct(TextToText):
    info = INFO
    native = "next"

    def attach(self, encoder: Encoder, options: Mapping[str, Any]) -> None:
        super().attach(encoder, options)
        tokenizer = self.tokenizer
        if not tokenizer.chat.source:
            end = tokenizer.piece(tokenizer.end) if tokenizer.end is not None else ""
            tokenizer.chat = ChatTemplate(PLAIN, {"eos_token": end})

    def answer(self, text: str) -> list[int]:
        return answered(self.tokenizer, text)

    @property
    def ends(self) -> Collection[int]:
        end = self.tokenizer.end
        return super().ends if end is None else {*super().ends, end}

    def room(self, source: int) -> int:
        return max(1, self.encoder.max_length - source)
