"""What each run of an ensemble predicts: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.inspection.members.info import INFO, Members, MemberScores
from workbench.inspection.predicting import EnsembleSubject
from workbench.runtime.averaging import mean
from workbench.text.document import Document
from workbench.text.fields import ClassScores


class MembersInspector:
    """For ensembles."""

    info = INFO

    def run(
        self, subject: EnsembleSubject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> Members:
        """Raises WorkbenchError if the runs predict different classes."""
        (document,) = documents
        predictions = [member.subject.prediction(document) for member in subject.members]
        average = mean(predictions)
        scores = average.required(ClassScores)
        rows = []
        for member, prediction in zip(subject.members, predictions, strict=True):
            classes = prediction.required(ClassScores)
            table = classes.as_dict()
            own = tuple(table[name] for name in scores.labels)
            rows.append(MemberScores(member.name, classes.best, own))
        return Members(scores.labels, tuple(rows), scores.scores, average.cut)
