"""The scores of a run on a text that can be explained: classes, tags of words, spans, numbers,
the starts and ends of answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.inspection.attributions.info import Target
from workbench.inspection.attributions.places import (
    ENDS,
    LABELS,
    LOGITS,
    PLAIN,
    SINGLE,
    STARTS,
    UNITS,
    MeanOfOutputs,
    ScorePlace,
    SpanPlace,
)
from workbench.inspection.base import stitch, token_rows, words_of
from workbench.inspection.spec import TokenRow, WordRow
from workbench.inspection.subject import Predicted, Subject
from workbench.runtime import answers, candidates, decoding
from workbench.runtime.candidates import SpanScorer, WordStates
from workbench.runtime.inputs import PER_TOKEN, QUESTION_NUMBER
from workbench.tasks.spec import LABEL_TEXTS, TaskInfo
from workbench.text.document import Document
from workbench.text.fields import Answers
from workbench.text.questions import PredictedAnswer
from workbench.text.spans import Span

LABEL_SCORES, NUMBER = "LabelScores", "Number"  # outputs of tasks
MAX_UNPREDICTED = 5  # spans that are not predicted, but can be explained
SQUASHED = "sigmoid"  # of a decoder: the number is the sigmoid of the output
SIDES = ("start", "end")  # of an answer, in the order of the outputs of the network


@dataclass(frozen=True)
class Explained:
    """A document as the run reads it, with its targets and the position of each.

    rows: the tokens of each window; of a run that answers questions, empty for other questions.
    """

    predicted: Predicted
    words: tuple[WordRow, ...]
    rows: Sequence[Sequence[TokenRow]]
    targets: tuple[Target, ...]
    places: Mapping[str, ScorePlace]

    def place(self, target: str) -> tuple[str, ScorePlace]:
        """The target asked for, else the first. Raises WorkbenchError if it does not exist."""
        if not self.targets:
            raise WorkbenchError(_("The text has no words to explain."))
        id = target or self.targets[0].id
        if id not in self.places:
            raise WorkbenchError(
                _("There is no target {target!r} in this text.", target=target),
                hint=_("Choose one of the targets listed in the result."),
            )
        return id, self.places[id]


def explained(subject: Subject, document: Document, target: str = "") -> Explained:
    """The targets of a document. With questions, the words are those that `target` is about."""
    predicted = subject.predicted(document)
    info = subject.predictor.task.info
    if info.asks:
        return _asked(subject, document, predicted, target)
    words = words_of(document, subject.texts)
    rows = [
        token_rows(input_, document, words, subject.preparer)
        for input_ in predicted.prepared.inputs
    ]
    read: Callable[..., list[tuple[Target, ScorePlace]]]
    if NUMBER in info.outputs:
        read = _number
    else:
        read = _reader(info)
    return _explained(predicted, words, rows, read(subject, predicted, rows))


def _reader(info: TaskInfo) -> Callable[..., list[tuple[Target, ScorePlace]]]:
    if {STARTS, ENDS} <= info.logits.keys():
        return _candidates
    return _tags if info.logits.get(LOGITS) == PER_TOKEN else _classes


def _explained(
    predicted: Predicted,
    words: tuple[WordRow, ...],
    rows: Sequence[Sequence[TokenRow]],
    pairs: Sequence[tuple[Target, ScorePlace]],
) -> Explained:
    targets = tuple(target for target, _place in pairs)
    return Explained(predicted, words, rows, targets, {target.id: place for target, place in pairs})


def _number(
    subject: Subject, predicted: Predicted, _rows: Sequence[Sequence[TokenRow]]
) -> list[tuple[Target, ScorePlace]]:
    """The number; the scale of some published models is the sigmoid of their output.

    Of a number that is written as text, its probability.
    """
    decoder, value = subject.predictor.decoder, predicted.prediction.number
    if LABEL_TEXTS in decoder:
        shares = decoding.softmax(predicted.logits[0][LOGITS])
        best = int(shares.argmax())
        target = Target("number", "", float(shares[best]), value=value)
        return [(target, MeanOfOutputs(0, ((None, best),), LABELS))]
    over = SINGLE if decoder.get(SQUASHED) else PLAIN
    return [(Target("number", "", 0.0, value=value), MeanOfOutputs(0, ((None, 0),), over))]


def _asked(subject: Subject, document: Document, predicted: Predicted, target: str) -> Explained:
    """Start and end of the best answer to every question, "no answer" at the first unit."""
    inputs = predicted.prepared.inputs
    numbers = [int(input_.arrays[QUESTION_NUMBER][0]) for input_ in inputs]
    rows: list[Sequence[TokenRow]] = [() for _input in inputs]
    predicted_answers = predicted.prediction.required(Answers).answers
    if not predicted_answers:
        raise WorkbenchError(
            _("The text has no question."), hint=_("Add a question; its answer is then explained.")
        )
    chosen = target.rpartition(":")[2]
    number = int(chosen) if chosen.isdecimal() and int(chosen) < len(predicted_answers) else 0
    read_document = subject.predictor.task.info.as_read(
        replace(document, questions=document.questions[number:]), predicted.prediction
    )
    words = words_of(read_document, subject.texts)
    for at, input_ in enumerate(inputs):
        if numbers[at] == number:
            rows[at] = token_rows(input_, read_document, words, subject.preparer)
    pairs = []
    for question, answer in enumerate(predicted_answers):
        own = [at for at, of in enumerate(numbers) if of == question]
        pairs += _sides(question, answer, own, predicted)
    return _explained(predicted, words, rows, pairs)


def _sides(
    question: int, answer: PredictedAnswer, own: Sequence[int], predicted: Predicted
) -> list[tuple[Target, ScorePlace]]:
    window, positions = _answer_place(answer, own, predicted)
    shares = decoding.softmax(predicted.logits[window][LOGITS].T)  # (T, 2) → (2, T)
    pairs: list[tuple[Target, ScorePlace]] = []
    for index, side in enumerate(SIDES):
        at = positions[index]
        target = Target(
            f"{side}:{question}", answer.answer, float(shares[index, at]), question=answer.question
        )
        pairs.append((target, MeanOfOutputs(window, ((at, index),), UNITS)))
    return pairs


def _answer_place(
    answer: PredictedAnswer, own: Sequence[int], predicted: Predicted
) -> tuple[int, tuple[int, int]]:
    """The window with the highest score of the answer, and its first and last unit there."""
    best = answer.best
    places = []
    for window in own:
        piece, logits = predicted.prepared.inputs[window], predicted.logits[window][LOGITS]
        at = answers.positions(piece, best.start, best.end) if best is not None else None
        if at is not None or best is None:
            first, last = at or (answers.NULL, answers.NULL)
            places.append((float(logits[first, 0] + logits[last, 1]), window, (first, last)))
    # The score of "no answer" is that of the window that is most certain of an answer.
    _score, window, positions = (min if best is None else max)(places)
    return window, positions


def _classes(
    subject: Subject, predicted: Predicted, _rows: Sequence[Sequence[TokenRow]]
) -> list[tuple[Target, ScorePlace]]:
    """Every class, the most probable first."""
    info = subject.predictor.task.info
    names = info.output_names(subject.labels)
    sigmoid = LABEL_SCORES in info.outputs or len(names) == 1  # a softmax of one is constant
    logits = predicted.logits[0][LOGITS]
    shares = 1 / (1 + np.exp(-logits)) if sigmoid else decoding.softmax(logits)
    pairs: list[tuple[Target, ScorePlace]] = [
        (
            Target(f"class:{name}", name, float(shares[at])),
            MeanOfOutputs(0, ((None, at),), SINGLE if sigmoid else LABELS),
        )
        for at, name in enumerate(names)
    ]
    return sorted(pairs, key=lambda pair: -pair[0].share)


# Window, output number, target and place of the best tag of a word.
_Tag = tuple[int, int, Target, MeanOfOutputs]


def _tags(
    subject: Subject, predicted: Predicted, rows: Sequence[Sequence[TokenRow]]
) -> list[tuple[Target, ScorePlace]]:
    """Predicted spans, then the best tag of every word, in order of the text."""
    names = subject.predictor.task.info.output_names(subject.labels)
    shares = [decoding.softmax(logit[LOGITS]) for logit in predicted.logits]
    first: dict[int, tuple[int, int]] = {}  # word → (window, position) of its first token
    for window, position in stitch(predicted.prepared.inputs):
        word = rows[window][position].word
        if word is not None:
            first.setdefault(word, (window, position))
    tags: list[_Tag] = []
    for word, (window, position) in sorted(first.items()):
        best = int(shares[window][position].argmax())
        share = float(shares[window][position][best])
        target = Target(f"word:{word}:{names[best]}", names[best], share, word, word)
        tags.append((window, best, target, MeanOfOutputs(window, ((position, best),))))
    pairs = [(target, place) for _window, _best, target, place in tags]
    return [*_spans(tags, names), *pairs]


def _spans(tags: Sequence[_Tag], names: Sequence[str]) -> list[tuple[Target, ScorePlace]]:
    """Runs of B-X and I-X among the best tags, of at least two words in one window."""
    groups: list[list[_Tag]] = []
    for tag in tags:
        prefix, dash, label = names[tag[1]].partition("-")
        if not dash:
            groups.append([])
        elif prefix == "I" and groups and groups[-1] and _label(groups[-1][-1], names) == label:
            groups[-1].append(tag)
        else:
            groups.append([tag])
    pairs: list[tuple[Target, ScorePlace]] = []
    for group in groups:
        if len(group) > 1 and len({window for window, *_rest in group}) == 1:
            begin, end = group[0][2].first, group[-1][2].last
            label = _label(group[0], names)
            share = sum(target.share for *_rest, target, _place in group) / len(group)
            outputs = tuple(outputs.outputs[0] for *_rest, outputs in group)
            target = Target(f"span:{begin}:{end}:{label}", label, share, begin, end)
            pairs.append((target, MeanOfOutputs(group[0][0], outputs)))
    return pairs


def _candidates(
    subject: Subject, predicted: Predicted, _rows: Sequence[Sequence[TokenRow]]
) -> list[tuple[Target, ScorePlace]]:
    """Predicted spans in order of the text, then the most probable of the others.

    Left out are spans over two windows, of which no input of the network has all.
    """
    begin, where = predicted.prepared.first(0), predicted.prepared.alignments[0]
    scorer = SpanScorer.from_json(subject.predictor.decoder["scorer"], len(subject.labels))
    present, states = candidates.boundaries(predicted.logits, begin, where)
    offsets = [predicted.prepared.words[0][word] for word in present]
    places = list(_predicted(predicted.prediction.spans, offsets, subject.labels))
    known, scored_places = set(places), _scored(scorer, states, places)
    windows = where.window[present]
    best = _most_probable(scorer, states, windows, MAX_UNPREDICTED + len(known))
    others = [row for row in best if row[1:] not in known][:MAX_UNPREDICTED]
    pairs: list[tuple[Target, ScorePlace]] = []
    for share, at, width, label in (*scored_places, *others):
        first, last = int(present[at]), int(present[at + width])
        if windows[at] == windows[at + width]:
            units = int(where.first[first]), int(where.end[last]) - 1
            place = SpanPlace(begin + int(windows[at]), *units, width, label, scorer)
            name = subject.labels[label]
            pairs.append((Target(f"span:{first}:{last}:{name}", name, share, first, last), place))
    return pairs


def _predicted(
    spans: Sequence[Span], offsets: Sequence[tuple[int, int]], labels: Sequence[str]
) -> Iterator[tuple[int, int, int]]:
    """(first word, further words, label number) of predicted spans."""
    starts = {start: at for at, (start, _end) in enumerate(offsets)}
    ends = {end: at for at, (_start, end) in enumerate(offsets)}
    for span in spans:
        if span.start in starts and span.end in ends:
            first = starts[span.start]
            yield first, ends[span.end] - first, labels.index(span.label)


def _scored(
    scorer: SpanScorer,
    states: WordStates,
    places: Sequence[tuple[int, int, int]],
) -> list[tuple[float, int, int, int]]:
    """The places with their probabilities: the network's own, without a temperature."""
    shares = [part for _begin, part in scorer.blocks(states)]
    table = np.concatenate(shares) if shares else np.zeros((0, 0, 0))
    return [(float(table[place]), *place) for place in places]


def _most_probable(
    scorer: SpanScorer, states: WordStates, windows: np.ndarray, count: int
) -> list[tuple[float, int, int, int]]:
    """The `count` candidates within one window with the highest probability, as `_scored`."""
    best: list[tuple[float, int, int, int]] = []
    for begin, shares in scorer.blocks(states):
        first = np.arange(begin, begin + len(shares))[:, None]
        last = np.minimum(first + np.arange(scorer.longest), len(states) - 1)
        inside = np.where((windows[first] == windows[last])[..., None], shares, 0.0)
        for at in np.argsort(-inside, axis=None, kind="stable")[:count]:
            row, width, label = map(int, np.unravel_index(at, inside.shape))
            if inside[row, width, label] > 0:
                best.append((float(inside[row, width, label]), begin + row, width, label))
    return sorted(best, key=lambda item: -item[0])[:count]


def _label(tag: _Tag, names: Sequence[str]) -> str:
    return names[tag[1]].partition("-")[2]
