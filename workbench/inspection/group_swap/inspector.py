"""How scores change where words of one group replace those of another: the heavy part."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import regex

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.group_swap.info import (
    COUNT,
    INFO,
    PROBABILITY,
    VALUE,
    GroupEffect,
    GroupSwap,
    SwappedDocument,
    lists,
)
from workbench.inspection.predicting import Predicting
from workbench.metrics import resampling
from workbench.text import result_view
from workbench.text.dataset import Dataset
from workbench.text.document import Document
from workbench.text.fields import Answers, Prediction
from workbench.text.questions import PredictedAnswer
from workbench.text.result_view import ResultView

BATCH_DOCUMENTS = 64  # documents between two messages
MAX_LISTED_DOCUMENTS = 500  # documents in the result


class GroupSwapInspector:
    """For runs of every task: their predictions are turned into numbers, see `scores`."""

    info = INFO

    def examine(
        self, subject: Predicting, data: Dataset, task: str, options: Mapping[str, Any]
    ) -> Generator[float, None, GroupSwap]:
        """Raises WorkbenchError for a list that cannot be read, or if no document has its words."""
        words = read(str(options["list"]))
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


NONE = "–"


@dataclass(frozen=True)
class Scored:
    """labels: L names. table (N, L): the scores of N documents. predicted: N texts. keys: equal if
    the same is predicted. scores: PROBABILITY, VALUE or COUNT.
    """

    labels: tuple[str, ...]
    table: np.ndarray
    predicted: tuple[str, ...]
    keys: tuple[Hashable, ...]
    scores: str


def scored(
    predictions: Sequence[Prediction], documents: Sequence[Document], labels: Sequence[str]
) -> Scored:
    """labels: of the run. The predictions are of one task, each for one of the documents."""
    view = result_view.of(predictions[0])
    if view.on_document:
        return _labels(view, predictions)
    if view.by_size:
        values = [view.answers(prediction)[0].value or 0.0 for prediction in predictions]
        texts = tuple(f"{value:.3g}" for value in values)
        return Scored((_("number"),), np.array(values)[:, None], texts, texts, VALUE)
    if view.asks:
        return _answers(predictions, documents)
    return _counts(predictions, labels)


def _labels(view: ResultView, predictions: Sequence[Prediction]) -> Scored:
    shares = [view.shares(prediction) for prediction in predictions]
    names = tuple(shares[0])
    table = np.array([[row[name] for name in names] for row in shares])
    texts = tuple(_joined(view.labels(prediction)) for prediction in predictions)
    return Scored(names, table, texts, texts, PROBABILITY)


def _answers(predictions: Sequence[Prediction], documents: Sequence[Document]) -> Scored:
    """The mean probability of the answers; "no answer" is one, too.

    Words of an answer may be exchanged: it is the same if it has the same words.
    """
    all_answers = [prediction.required(Answers).answers for prediction in predictions]
    means = [
        np.mean([answer.score for answer in answers]) if answers else 0.0 for answers in all_answers
    ]
    texts = tuple(_joined([answer.answer or NONE for answer in answers]) for answers in all_answers)
    keys = tuple(
        tuple(_place(answer, document.text) for answer in answers)
        for answers, document in zip(all_answers, documents, strict=True)
    )
    return Scored((_("answer"),), np.array(means)[:, None], texts, keys, PROBABILITY)


def _place(answer: PredictedAnswer, text: str) -> tuple[int, int]:
    best = answer.best
    if best is None:
        return -1, -1
    return len(text[: best.start].split()), len(text[: best.end].split())


def _counts(predictions: Sequence[Prediction], labels: Sequence[str]) -> Scored:
    """How many spans have each label; tags of words where there are no spans at all."""
    spans = any(prediction.spans for prediction in predictions)
    of: Callable[[Prediction], list[str]] = _span_labels if spans else _tags
    names_by_document = [of(prediction) for prediction in predictions]
    names = tuple(
        dict.fromkeys((*labels, *(name for items in names_by_document for name in items)))
    )
    counts = [Counter(items) for items in names_by_document]
    table = np.array([[count[name] for name in names] for count in counts], float)
    texts = tuple(map(_joined, names_by_document))
    return Scored(names, table.reshape(len(names_by_document), len(names)), texts, texts, COUNT)


def _span_labels(prediction: Prediction) -> list[str]:
    return [span.label or "" for span in sorted(prediction.spans, key=lambda span: span.start)]


def _tags(prediction: Prediction) -> list[str]:
    return [word.label for word in prediction.words if word.label]


def _joined(names: Iterable[str]) -> str:
    return ", ".join(names) or NONE


NEXT_WORD = regex.compile(r"\s+\w")


@dataclass(frozen=True)
class GroupList:
    """groups: name → words in lower case, all of the same number. determiner: see above, or -1."""

    title: str
    groups: Mapping[str, tuple[str, ...]]
    written: Mapping[str, tuple[str, ...]]  # as in the file
    determiner: int = -1

    @property
    def pattern(self) -> regex.Pattern[str]:
        """Any word of the list, as a whole word, in any case."""
        every = sorted({word for words in self.groups.values() for word in words}, key=len)
        joined = "|".join(map(regex.escape, reversed(every)))
        return regex.compile(rf"\b(?:{joined})\b", regex.IGNORECASE)

    def occurs(self, text: str) -> bool:
        return self.pattern.search(text) is not None

    def swapped(self, text: str, group: str) -> str:
        """The text with every word of the list replaced by the one of `group`, in its case."""

        def replaced(match: regex.Match[str]) -> str:
            word: str = match.group()
            place = self._place(word.casefold(), bool(NEXT_WORD.match(text, match.end())))
            if word.casefold() in self.groups[group]:
                return word
            return cased(self.written[group][place], word)

        result: str = self.pattern.sub(replaced, text)
        return result

    def _place(self, word: str, word_follows: bool) -> int:
        """The place of the word in its group."""
        words = next(words for words in self.groups.values() if word in words)
        places = [at for at, text in enumerate(words) if text == word]
        if self.determiner in places and len(places) > 1:
            others = [at for at in places if at != self.determiner]
            return self.determiner if word_follows else others[0]
        return places[0]


def cased(word: str, like: str) -> str:
    """`word` in capitals, or with a capital, as `like` has them; else as it is written."""
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def read(name: str) -> GroupList:
    """A list by name or path of its file. Raises SpecError with what is wrong."""
    path = lists().get(name) or Path(name)
    if not path.is_file():
        raise SpecError(
            _("There is no word list {name!r}.", name=name),
            hint=_("Known lists: {names}. Or specify a file.", names=", ".join(lists())),
        )
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        written = {str(item["name"]): tuple(map(str, item["words"])) for item in raw["group"]}
        title, determiner = str(raw.get("title", path.stem)), int(raw.get("determiner", -1))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SpecError(
            _("The word list {path} cannot be read: {error!r}.", path=path, error=error),
            hint=_("It needs [[group]] with name and words, at least twice."),
        ) from error
    sizes = {name: len(words) for name, words in written.items()}
    if len(sizes) < 2 or len(set(sizes.values())) > 1 or not all(sizes.values()):
        listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise SpecError(
            _(
                "{path} needs two groups or more with equally many words; found: {found}.",
                path=path,
                found=listed or "–",
            )
        )
    lower = {name: tuple(word.casefold() for word in words) for name, words in written.items()}
    return GroupList(title, lower, written, determiner)
