"""Extractive question answering: description, settings, decoding and scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base import learning_rates
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.heads.info import LAYER_OPTIONS
from workbench.tasks.losses.info import FOCAL_GAMMA, LABEL_SMOOTHING, SAMPLING
from workbench.tasks.spec import NONE, ErrorText, ScoreInfo, TaskInfo
from workbench.text.dataset import Record
from workbench.text.document import TEXT, TEXT_B, Document
from workbench.text.mistakes import BOUNDARY, LABEL, MISSED, SPURIOUS, Mistake, loss_of

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.answer_scores import AnswerStatistic
    from workbench.metrics.classes import LabelScore
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.fields import Prediction
    from workbench.text.questions import PredictedAnswer

UNANSWERED = "\ufffd"  # in place of an answer that could not be read: equals no gold answer
MAX_LISTED_QUESTIONS = 20  # questions in an error message
MAX_QUESTION_CHARS = 60  # characters of a question in a list

MAX_ANSWER_LENGTH = Option(
    "max_answer_length",
    "int",
    30,
    N_("Maximum length of predicted answers, in subwords."),
    low=1,
    high=512,
    title=N_("Maximum answer length"),
)

IMBALANCE_OF_ANSWERS = (
    replace(
        SAMPLING,
        help=N_(
            "Sampling of the parts of texts in an epoch. Plain: each once. Balanced: as many parts "
            "with the answer to their question as without, by oversampling. Square root: half way, "
            "in proportion to the square root of the frequency. There are no class weights: the "
            "outputs are positions in the text."
        ),
        choice_titles=(N_("Each part once"), N_("Balanced"), N_("Square root")),
    ),
    FOCAL_GAMMA,
    replace(
        LABEL_SMOOTHING,
        help=N_(
            "Share of the target that is spread evenly over all tokens that the model reads at "
            "once, instead of the start or the end of the answer. 0 for none."
        ),
    ),
)


@dataclass(frozen=True)
class GoldAnswer:
    """A question with its gold answers: ranges and texts; none if the text contains no answer."""

    question: str
    ranges: tuple[tuple[int, int], ...]
    texts: tuple[str, ...]

    @property
    def display_text(self) -> str:
        return self.texts[0] if self.texts else NONE


@dataclass(frozen=True)
class AnswerGold:
    """The questions about a document that have an answer or certainly none.

    left_out: questions that are still open.
    """

    questions: tuple[GoldAnswer, ...]
    left_out: int = 0

    def labels(self) -> Iterable[str]:
        return (question.question for question in self.questions)

    def to_json(self) -> object:
        return [
            [question.question, [list(offsets) for offsets in question.ranges]]
            for question in self.questions
        ]


class AnswerInfo(TaskInfo):
    """A layer has no labels; the outputs of the network are the start and the end of an answer."""

    id = "answer"
    title = N_("Answers to questions")
    short = N_("Answers")
    predicts = N_("the range of a text that answers a question")
    definition = N_(
        "Exact match: share of questions whose answer equals a gold answer, ignoring "
        "case, punctuation and articles. F1: overlap of their words, the best of the gold "
        "answers; both as in the SQuAD script. Where dev has questions without an answer, the "
        "threshold for predicting none is the one with the best F1 there."
    )
    layer_kinds = ("answer",)
    scores = (
        ScoreInfo("answer_exact_match", N_("Exact match"), hub="exact_match"),
        ScoreInfo("answer_f1", N_("Answer F1"), hub="f1"),
    )
    main = "answer_f1"
    second = "answer_exact_match"
    outputs = ("Answers",)
    logits = {"logits": "token"}
    windows = True
    options = (MAX_ANSWER_LENGTH, *IMBALANCE_OF_ANSWERS, *LAYER_OPTIONS)
    least_labels = 0
    few_steps = 400
    learning_rate = learning_rates.WORDS
    asks = True
    hub_task = "question-answering"

    def output_names(self, labels: Sequence[str]) -> tuple[str, ...]:
        return ("start", "end")

    def gold(self, record: Record, layer: str) -> AnswerGold | None:
        text, layer_questions = record.document.text, record.questions.get(layer, ())
        questions = tuple(
            GoldAnswer(
                question.text,
                question.answers,
                tuple(text[start:end] for start, end in question.answers),
            )
            for question in layer_questions
            if not question.is_open
        )
        return AnswerGold(questions, len(layer_questions) - len(questions)) if questions else None

    def why_unusable(self) -> str:
        return _("submitted without an answered question")

    def why_left_out(self) -> str:
        return _("questions without an answer")

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        if counts:
            return ""
        return _("No training document of layer {layer!r} has an answered question.", layer=layer)

    # ---------------------------------------------------------------- inputs and predictions

    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        """Windows of the text for each question: the question first, then a part of the text."""
        from workbench.runtime.inputs import numbered

        owners = [
            (number, place)
            for number, document in enumerate(documents)
            for place in range(max(1, len(document.questions)))
        ]
        pairs = [pair(documents[number], place) for number, place in owners]
        return numbered(preparer.pair_windows(pairs, max_length), documents, owners)

    def as_read(self, document: Document, prediction: Prediction) -> Document:
        """The first question with the text."""
        return pair(document, 0)

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """logits: "logits" (T, 2) of each window, start and end.

        decoder: "max_answer_length" in tokens; "null_threshold", see `runtime.answers`.
        """
        from workbench.runtime import answers as runtime
        from workbench.runtime.inputs import QUESTION_NUMBER
        from workbench.text.fields import Answers, Prediction

        longest = int(decoder.get(MAX_ANSWER_LENGTH.name, runtime.MAX_ANSWER_TOKENS))
        threshold = decoder.get("null_threshold", 0.0)
        predictions = []
        for number, document in enumerate(prepared.documents):
            items: list[list[int]] = [[] for _question in document.questions]
            for item in prepared.of(number):
                if items:
                    items[int(prepared.inputs[item].arrays[QUESTION_NUMBER][0])].append(item)
            answered = tuple(
                runtime.answered(
                    question,
                    document.text,
                    [prepared.inputs[item] for item in own],
                    [logits[item]["logits"] for item in own],
                    longest=longest,
                    threshold=threshold,
                )
                for question, own in zip(document.questions, items, strict=True)
            )
            predictions.append(Prediction((Answers(answered),), bool(prepared.cut[number])))
        return predictions

    def fit(
        self,
        golds: Sequence[AnswerGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> dict[str, Any]:
        """The null threshold; None, so that all are answered, where dev has an answer for all."""
        from workbench.metrics.answer_scores import best_threshold

        pairs = [
            (gold, answer)
            for each in zip(golds, predictions, strict=True)
            for gold, answer in _pairs(*each)
            if answer is not None and answer.candidates
        ]
        if all(gold.texts for gold, _one in pairs):
            return {"null_threshold": None}
        gaps = [answer.null_gap for _gold, answer in pairs]
        with_answer = [_f1(gold, answer.text) for gold, answer in pairs]
        threshold = best_threshold(gaps, with_answer, [_f1(gold, "") for gold, _one in pairs])
        return {"null_threshold": threshold}

    # ---------------------------------------------------------------- scores

    def score(
        self, golds: Sequence[AnswerGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        from workbench.metrics import answers as squad

        rows = [_texts(*each) for each in zip(golds, predictions, strict=True)]
        return squad.scores(
            [question.texts for gold in golds for question in gold.questions],
            [text for row in rows for text in row],
        )

    def per_label(
        self, golds: Sequence[AnswerGold], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        """There are no labels."""
        return ()

    def statistic(
        self,
        golds: Sequence[AnswerGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> AnswerStatistic:
        from workbench.metrics.answer_scores import AnswerStatistic

        return AnswerStatistic.of(
            [[question.texts for question in gold.questions] for gold in golds],
            [_texts(*each) for each in zip(golds, predictions, strict=True)],
        )

    def confidences(
        self, golds: Sequence[AnswerGold], predictions: Sequence[Prediction]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(M,) each, of every answer its probability, whether it matches a right one exactly, and
        its document.
        """
        from workbench.metrics import calibration

        return calibration.decisions(
            (answer.score, _is_right(gold, answer), at)
            for at, each in enumerate(zip(golds, predictions, strict=True))
            for gold, answer in _pairs(*each)
            if answer is not None
        )

    # ---------------------------------------------------------------- errors

    def agrees(self, gold: AnswerGold, prediction: Prediction) -> bool:
        return all(
            _is_right(gold_answer, answer) for gold_answer, answer in _pairs(gold, prediction)
        )

    def error(self, document: Document, gold: AnswerGold, prediction: Prediction) -> ErrorText:
        wrong = [each for each in _pairs(gold, prediction) if not _is_right(*each)]
        sides = [
            (
                f"{_line(gold_answer.question)} {gold_answer.display_text}",
                f"{_line(gold_answer.question)} {_display_answer(answer)}",
            )
            for gold_answer, answer in wrong
        ]
        ours, theirs = (
            " · ".join(side[at] for side in sides[:MAX_LISTED_QUESTIONS])
            + (
                f" · {_('{n:,} more', n=len(sides) - MAX_LISTED_QUESTIONS)}"
                if len(sides) > MAX_LISTED_QUESTIONS
                else ""
            )
            for at in (0, 1)
        )
        sure = max((answer.score for _one, answer in wrong if answer is not None), default=0.0)
        return ErrorText(ours, theirs, sure)

    def mistakes(
        self, document: Document, gold: AnswerGold, prediction: Prediction
    ) -> list[Mistake]:
        """One for each question that is answered wrongly, those that share no word first."""
        mistakes = [
            _mistake(gold_answer, answer)
            for gold_answer, answer in _pairs(gold, prediction)
            if not _is_right(gold_answer, answer)
        ]
        return [mistake for _f1, mistake in sorted(mistakes, key=lambda each: each[0])]


def pair(document: Document, place: int) -> Document:
    """A question and the text as the two texts of an input; tokens of the text are kept.

    Without questions the document is a pair already, or its question is empty.
    """
    if not document.questions:
        first, *rest = document.texts
        return document if rest else replace(document, texts=((TEXT, ""), (TEXT_B, first[1])))
    texts = ((TEXT, document.questions[place]), (TEXT_B, document.text))
    tokens = {TEXT_B: document.tokens[TEXT]} if document.tokens.get(TEXT) else {}
    return replace(document, texts=texts, tokens=tokens, questions=())


def _pairs(
    gold: AnswerGold, prediction: Prediction
) -> list[tuple[GoldAnswer, PredictedAnswer | None]]:
    from workbench.text.fields import Answers

    predicted = prediction.get(Answers)
    return [
        (question, predicted.to(question.question) if predicted else None)
        for question in gold.questions
    ]


def _texts(gold: AnswerGold, prediction: Prediction) -> list[str]:
    """The answer to each question, "" for none in the text; a wrong one if a reply could not be
    read.
    """
    missing = UNANSWERED if prediction.no_answer else ""
    return [
        answer.answer if answer is not None else missing
        for _gold, answer in _pairs(gold, prediction)
    ]


def _is_right(gold: GoldAnswer, predicted: PredictedAnswer | None) -> bool:
    from workbench.metrics.answers import scores

    if predicted is None:
        return False
    return scores([gold.texts], [predicted.answer])["answer_exact_match"] == 1


def _f1(gold: GoldAnswer, predicted: str) -> float:
    from workbench.metrics.answers import scores

    return scores([gold.texts], [predicted])["answer_f1"]


def _mistake(gold: GoldAnswer, predicted: PredictedAnswer | None) -> tuple[float, Mistake]:
    best = predicted.best if predicted is not None else None
    at = gold.ranges[0] if gold.ranges else None
    there = (best.start, best.end) if best is not None else None
    shared = _f1(gold, predicted.answer if predicted is not None else "")
    if at is None or there is None:
        kind = SPURIOUS if at is None else MISSED
    else:
        kind = BOUNDARY if shared > 0 else LABEL
    sure = predicted.score if predicted is not None else 0.0
    right = _probability(gold, predicted)
    loss = loss_of(right if right is not None else max(0.0, 1 - sure))
    names = (gold.question if at else "", gold.question if there else "")
    return shared, Mistake(kind, *names, sure, loss, at, there)


def _probability(gold: GoldAnswer, predicted: PredictedAnswer | None) -> float | None:
    """Probability of the gold answers, if the model considered them."""
    if predicted is None:
        return 0.0
    if not gold.ranges:
        return predicted.null_score
    scores = [
        candidate.score
        for candidate in predicted.candidates
        if (candidate.start, candidate.end) in gold.ranges
    ]
    return sum(scores) if scores else None


def _line(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= MAX_QUESTION_CHARS else f"{line[: MAX_QUESTION_CHARS - 1]}…"


def _display_answer(predicted: PredictedAnswer | None) -> str:
    return predicted.answer or NONE if predicted is not None else NONE


INFO = AnswerInfo()
