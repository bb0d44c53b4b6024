"""How scores change where words of one group replace those of another: the heavy part."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.group_swap import word_lists
from workbench.inspection.group_swap.info import INFO, GroupEffect, GroupSwap, SwappedDocument
from workbench.inspection.group_swap.scores import Scored, scored
from workbench.inspection.group_swap.word_lists import GroupList
from workbench.inspection.predicting import Predicting
from workbench.metrics import resampling
from workbench.text.dataset import Dataset
from workbench.text.document import Document
from workbench.text.fields import Prediction

BATCH_DOCUMENTS = 64  # documents between two messages
MAX_LISTED_DOCUMENTS = 500  # documents in the result


class GroupSwapInspector:
    """For runs of every task: their predictions are turned into numbers, see `scores`."""

    info = INFO

    def examine(
        self, subject: Predicting, data: Dataset, task: str, options: Mapping[str, Any]
    ) -> Generator[float, None, GroupSwap]:
        """Raises WorkbenchError for a list that cannot be read, or if no document has its words."""
        words = word_lists.read(str(options["list"]))
        count = subject.texts
        every = [record.document for record in data.records if len(record.document.texts) == count]
        usable = [item for item in every if any(words.occurs(text) for _name, text in item.texts)]
        if not usable:
            raise WorkbenchError(
                _("No document has a word of the list {title!r}.", title=words.title)
            )
        names = tuple(words.groups)
        versions = [usable, *([_swapped(item, words, name) for item in usable] for name in names)]
        version_predictions: list[list[Prediction]] = []
        for number, documents in enumerate(versions):
            version_predictions.append([])
            for start in range(0, len(documents), BATCH_DOCUMENTS):
                yield (number + start / len(documents)) / len(versions)
                version_predictions[-1] += subject.predict(
                    documents[start : start + BATCH_DOCUMENTS]
                )
        predictions = [prediction for version in version_predictions for prediction in version]
        documents = [item for version in versions for item in version]
        scores = scored(predictions, documents, subject.labels)
        table = scores.table.reshape(len(versions), len(usable), -1)  # (1 + G, N, L)
        rows = _rows(versions, table, scores)
        keys = [scores.keys[len(usable) + at :: len(usable)] for at in range(len(usable))]
        return GroupSwap(
            words.title,
            names,
            tuple(_effects(table[1:], names, scores.labels)),
            len(every),
            len(usable),
            sum(len(set(key)) > 1 for key in keys),
            tuple(sorted(rows, key=lambda row: -row.spread)[:MAX_LISTED_DOCUMENTS]),
            scores.scores,
        )


def _swapped(document: Document, words: GroupList, group: str) -> Document:
    """Imported tokens are dropped, as they have other places in the changed text."""
    texts = tuple((name, words.swapped(text, group)) for name, text in document.texts)
    questions = tuple(words.swapped(question, group) for question in document.questions)
    return replace(document, texts=texts, tokens={}, questions=questions)


def _effects(table: np.ndarray, names: Sequence[str], labels: Sequence[str]) -> list[GroupEffect]:
    """table (G, N, L): probabilities by group, document and label."""
    changes = table - table.mean(0)
    count, effects = table.shape[1], []
    columns = changes.transpose(1, 2, 0).reshape(count, -1)  # (N, L · G)
    drawn = resampling.resampled(
        lambda weights: {"mean": resampling.weighted_sums(weights, columns) / count}, count
    )
    low, high = resampling.bounds(drawn["mean"])
    for at, label in enumerate(labels):
        for number, name in enumerate(names):
            column = at * len(names) + number
            effects.append(
                GroupEffect(
                    label,
                    name,
                    float(table[number, :, at].mean()),
                    float(columns[:, column].mean()),
                    float(low[column]),
                    float(high[column]),
                )
            )
    return effects


def _rows(
    versions: Sequence[Sequence[Document]], table: np.ndarray, scores: Scored
) -> list[SwappedDocument]:
    count = len(versions[0])
    spreads = np.ptp(table[1:], axis=0)  # (N, L)
    rows = []
    for at, document in enumerate(versions[0]):
        label, *labels = scores.predicted[at::count]
        own = scores.labels.index(label) if label in scores.labels else int(spreads[at].argmax())
        rows.append(
            SwappedDocument(
                document.key,
                document.texts[0][1],
                label,
                tuple(labels),
                tuple(float(share) for share in table[1:, at, own]),
                tuple(version[at].texts[0][1] for version in versions[1:]),
                scores.labels[own],
            )
        )
    return rows
