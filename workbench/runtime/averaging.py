"""The mean of the predictions of several models."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.text.fields import ClassScores, Prediction


def mean(answers: Sequence[Prediction]) -> Prediction:
    """The mean probability of each class. Raises WorkbenchError if the classes differ."""
    tables = [answer.classes.as_dict() if answer.classes else {} for answer in answers]
    labels = tuple(tables[0])
    if any(set(table) != set(labels) for table in tables) or not labels:
        raise WorkbenchError(
            _(
                "The runs predict different classes: {first} and {other}.",
                first=", ".join(labels),
                other=", ".join(tables[-1]),
            ),
            hint=_("Average runs that were trained with the same labels."),
        )
    scores = tuple(sum(table[label] for table in tables) / len(tables) for label in labels)
    return Prediction((ClassScores(labels, scores),), cut=any(answer.cut for answer in answers))
