"""How a prediction changes when a word is left out: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection import decisions
from workbench.inspection.asking import Asking
from workbench.inspection.attributions.info import OCCLUSION, Attributions
from workbench.inspection.base import words_of
from workbench.inspection.predicting import Predicting
from workbench.inspection.words_left_out.info import INFO
from workbench.text.document import Document

MAX_WORDS = 200  # words at the beginning of a text that are left out, one after the other


class WordsLeftOutInspector:
    """Needs only the predictions of a run, so it supports runs of every task."""

    info = INFO

    def run(
        self, subject: Predicting, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Attributions:
        """Raises WorkbenchError for a text without words, or an unknown target."""
        (document,) = documents
        field, text = document.texts[0]
        words = tuple(word for word in words_of(document, 1) if word.field == field)[:MAX_WORDS]
        if not words:
            raise WorkbenchError(_("The text has no words to leave out."))
        prediction = subject.prediction(document)
        targets = decisions.classes(prediction) or decisions.targets(prediction, words)
        target = decisions.chosen(targets, str(options["target"]))
        asking = Asking(subject, document, text, words, target, prediction, step=0.0)
        free = [at for at in range(len(words)) if at not in decisions.fixed(target)]
        before, *without = asking.answers([{}, *({at: ""} for at in free)])
        if target.value is None:
            falls = [before.own - verdict.own for verdict in without]
            score = before.own
        else:
            values = [verdict.value or 0.0 for verdict in without]
            falls, score = [target.value - value for value in values], target.value
        scores = dict(zip(free, falls, strict=True))
        return Attributions(
            words,
            tuple(scores.get(at) for at in range(len(words))),
            0.0,
            OCCLUSION,
            target.id,
            targets,
            score,
            cut=prediction.cut,
        )
