"""How often words had which tag in training: the heavy part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from workbench.baselines.base import CountsTags
from workbench.inspection.predicting import BaselineSubject
from workbench.inspection.tag_counts.info import INFO, TagCounts, WordCounts
from workbench.text.document import Document
from workbench.text.segment import tokens_of


class TagCountsInspector:
    """For baselines that count the tags of words."""

    info = INFO

    def run(
        self, subject: BaselineSubject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> TagCounts:
        (document,) = documents
        baseline = cast(CountsTags, subject.trained.baseline)
        names = subject.task.output_names(subject.labels)
        rows = []
        for start, end in tokens_of(document):
            word = document.text[start:end]
            own = baseline.counts(word)
            counts = sorted(
                (own if own is not None else baseline.total()).items(),
                key=lambda pair: (-pair[1], pair[0]),
            )
            tag_counts = tuple((names[at], count) for at, count in counts if count)
            tag = tag_counts[0][0] if tag_counts else ""
            rows.append(WordCounts(start, end, word, tag, own is not None, tag_counts))
        return TagCounts(tuple(rows))
