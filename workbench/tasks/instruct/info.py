"""Instruction tuning: description, settings and the form of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.base.i18n import N_
from workbench.tasks.text2text.info import TextToTextInfo

if TYPE_CHECKING:
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.document import Document

ANSWER_SHARE = 4  # a prompt leaves 1 / ANSWER_SHARE of the input for its answer


class InstructInfo(TextToTextInfo):
    id = "instruct"
    title = N_("Instructions")
    short = N_("Instruct")
    predicts = N_("an answer to each instruction")
    definition = N_(
        "An answer per document, which is an instruction or a conversation in the chat template of "
        "the model. The loss is that of the answer alone. ROUGE-L is the mean F1 of the longest "
        "common subsequence of words of the written answer and gold; exact match is the fraction "
        "of equal answers."
    )
    needs = frozenset({"next_lm", "attention"})
    hub_task = "text-generation"

    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        """The conversation of each document up to where the answer begins."""
        from workbench.runtime.preparers.replies import prompts

        room = max_length - max_length // ANSWER_SHARE
        return prompts(preparer.tokenizer, documents, room)  # type: ignore[attr-defined]  # of causal models


INFO = InstructInfo()
