"""Extractive question answering: a score for each token to be the start, and one to be the end.

Windows without the answer are trained to predict the first token for both, as BERT does.
Source: Devlin et al. 2019, sections 4.2 and 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from workbench.base.i18n import _
from workbench.models.base import Encoder
from workbench.runtime import answers
from workbench.runtime.inputs import QUESTION_NUMBER, Prepared
from workbench.tasks.answer.info import INFO, MAX_ANSWER_LENGTH, AnswerGold
from workbench.tasks.base import IGNORED, Loss, Model, Targets, Task
from workbench.tasks.heads.layers import head_width
from workbench.tasks.heads.linear import TokenHead
from workbench.tasks.losses.balance import TargetCounts
from workbench.tasks.losses.info import LABEL_SMOOTHING
from workbench.tasks.spec import TaskInfo


class ExtractAnswers(Task):
    """The library's question answering head, or a linear layer over the states."""

    info: TaskInfo = INFO
    native = "answer"
    loss_targets = {"task": "positions"}

    def head(
        self, encoder: Encoder, labels: Sequence[str], options: Mapping[str, Any]
    ) -> nn.Module:
        return TokenHead(head_width(encoder, options), len(self.info.output_names(labels)))

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[AnswerGold],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]:
        """positions: int64 (2,) per window, of the first token of the answer and of its last.

        The first right answer of a question is learned. IGNORED for a question without gold.
        lengths, for label smoothing: int64 (), tokens of each window.
        """
        positions = [np.full(2, IGNORED, dtype=np.int64) for _input in prepared.inputs]
        for number, gold in enumerate(golds):
            questions = prepared.documents[number].questions
            known = {question.question: question for question in reversed(gold.questions)}
            for item in prepared.of(number):
                window = prepared.inputs[item]
                gold_answer = known.get(questions[int(window.arrays[QUESTION_NUMBER][0])])
                if gold_answer is not None:
                    place = (
                        answers.positions(window, *gold_answer.ranges[0])
                        if gold_answer.ranges
                        else None
                    )
                    positions[item][:] = place or (answers.NULL, answers.NULL)
        if not options.get(LABEL_SMOOTHING.name):
            return {"positions": positions}
        lengths = [np.asarray(len(window), np.int64) for window in prepared.inputs]
        return {"positions": positions, "lengths": lengths}

    def losses(
        self, model: Model, logits: Mapping[str, Tensor], targets: Mapping[str, Tensor]
    ) -> dict[str, Loss]:
        """Cross-entropy over the tokens of a window: the mean of start and end.

        "logits" (B, T, 2), "positions" (B, 2), IGNORED for none.
        """
        scores = logits["logits"].transpose(1, 2).flatten(0, 1)  # (B, T, 2) → (B * 2, T)
        allowed = None
        if (lengths := targets.get("lengths")) is not None:  # (B,)
            places = torch.arange(scores.shape[1], device=scores.device)
            allowed = places < lengths.repeat_interleave(2)[:, None]  # (B * 2, T)
        positions = targets["positions"].flatten()  # (B, 2) → (B * 2,)
        return {"task": self.criterion.classes(scores, positions, allowed=allowed)}

    def target_counts(
        self, targets: Targets, labels: Sequence[str], options: Mapping[str, Any]
    ) -> TargetCounts:
        """Windows with the answer, and those without."""
        first = np.array([int(positions[0]) for positions in targets["positions"]])
        rows = [np.array([at]) for at in np.where(first < 0, IGNORED, first == answers.NULL)]
        return TargetCounts.of_rows((_("answer"), _("no answer")), rows)

    def decoder(self, model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
        longest = options.get(MAX_ANSWER_LENGTH.name)
        return {MAX_ANSWER_LENGTH.name: MAX_ANSWER_LENGTH.default if longest is None else longest}
