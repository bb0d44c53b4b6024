"""What the features of each word add to a tag of a CRF: the heavy part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.baselines.base import WeighsTagFeatures
from workbench.inspection.predicting import BaselineSubject
from workbench.inspection.tag_features.info import (
    AUTO,
    INFO,
    TagFeature,
    TagFeatures,
    TaggedWord,
    TagTransition,
)
from workbench.runtime.crf import Transitions
from workbench.text.document import Document
from workbench.text.schemes import OUTSIDE
from workbench.text.segment import tokens_of


class TagFeaturesInspector:
    """For baselines that tag words by weights of features and transitions."""

    info = INFO

    def run(
        self, subject: BaselineSubject, documents: Sequence[Document], options: Mapping[str, Any]
    ) -> TagFeatures:
        """Raises WorkbenchError for an unknown tag or word, or a text without words."""
        (document,) = documents
        baseline, offsets = cast(WeighsTagFeatures, subject.trained.baseline), tokens_of(document)
        if not offsets:
            raise WorkbenchError(_("The text has no words."))
        chain = subject.chain(baseline)
        scores = baseline.word_scores(document, offsets)
        path = baseline.path(scores, chain)
        words = tuple(
            TaggedWord(start, end, document.text[start:end], chain.tags[tag], float(row[tag]))
            for (start, end), tag, row in zip(offsets, path, scores, strict=True)
        )
        word, tag = _word(words, int(options["word"])), str(options["tag"])
        number = _tag(chain, tag) if tag else int(path[word])
        names = baseline.names(document, offsets)[word]
        features = [_feature(baseline, name, number) for name in names]
        highest, count = baseline.strongest(number, int(options["top"]))
        return TagFeatures(
            words,
            word,
            chain.tags[number],
            tuple(chain.tags[at] for at in np.flatnonzero(baseline.seen)),
            tuple(sorted(filter(_counts, features), key=lambda feature: -abs(feature.weight))),
            float(scores[word, number]),
            tuple(_steps(chain, path, word, number)),
            tuple(_feature(baseline, name, number) for name in highest),
            count,
        )


def _word(words: Sequence[TaggedWord], number: int) -> int:
    """The number of the word to explain: by default the first that has a tag, else the first."""
    if number == AUTO:
        return next((at for at, word in enumerate(words) if word.tag not in OUTSIDE), 0)
    if number >= len(words):
        raise WorkbenchError(
            _("The text has no word number {number}.", number=number),
            hint=_("The last word has the number {last}.", last=len(words) - 1),
        )
    return number


def _tag(chain: Transitions, tag: str) -> int:
    if tag not in chain.tags:
        raise WorkbenchError(
            _("The run does not predict the tag {tag!r}.", tag=tag),
            hint=_("Its tags: {tags}.", tags=", ".join(chain.tags)),
        )
    return chain.tags.index(tag)


def _counts(feature: TagFeature) -> bool:
    return feature.weight != 0.0  # it has weights for other tags only


def _feature(baseline: WeighsTagFeatures, name: str, tag: int) -> TagFeature:
    return TagFeature(baseline.described(name), baseline.weight(name, tag))


def _steps(chain: Transitions, path: np.ndarray, word: int, tag: int) -> Iterator[TagTransition]:
    """The transitions from the word before and to the word after; none beyond the text."""
    pairs = []
    if word > 0:
        pairs.append((int(path[word - 1]), tag))
    if word + 1 < len(path):
        pairs.append((tag, int(path[word + 1])))
    for before, after in pairs:
        weight = float(chain.step[before, after])
        allowed = bool(np.isfinite(weight))
        yield TagTransition(
            chain.tags[before], chain.tags[after], weight if allowed else 0.0, allowed
        )
