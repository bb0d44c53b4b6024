"""How often words had which tag in training: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True, slots=True)
class WordCounts:
    """tag: what is predicted, the most frequent one. counts: (tag, number) of the word in the
    training documents, the most frequent first; of all words if it is not `known`.
    """

    start: int
    end: int
    text: str
    tag: str
    known: bool
    counts: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class TagCounts:
    """Tag counts of every word of the text, in order."""

    words: tuple[WordCounts, ...]


INFO = InspectorInfo(
    "tag_counts",
    N_("Counts of tags"),
    TagCounts,
    shows=N_(
        "Shows how often each word had which tag in the training documents; the most frequent one "
        "is predicted. Words that do not occur there have the counts of all words. Does not show "
        "the words around them, which the baseline does not read. Charniak et al. 1993."
    ),
)
