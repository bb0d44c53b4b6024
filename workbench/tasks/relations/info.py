"""Relations between spans: description, settings, decoding and scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from workbench.base import learning_rates
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.heads.info import LAYER_OPTIONS
from workbench.tasks.losses.info import CLASS_WEIGHTS, FOCAL_GAMMA, LABEL_SMOOTHING
from workbench.tasks.spec import NONE, ErrorText, ScoreInfo, TaskInfo
from workbench.text.dataset import Record
from workbench.text.document import TEXT, Document
from workbench.text.mistakes import DIRECTION, LABEL, MISSED, SPURIOUS, Mistake, loss_of
from workbench.text.relations import Relation
from workbench.text.spans import Span

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.classes import LabelScore
    from workbench.metrics.relations import RelationCounts
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.fields import Prediction

MARKERS, ENCODED = "markers", "spans"  # as in `runtime.pairs`
MAX_LISTED = 50  # relations in an error message
UNKNOWN = 0.01  # probability below which a relation is not stored, see `runtime.pairs`

READING = Option(
    "pair_reading",
    "choice",
    MARKERS,
    N_(
        "How the model reads a pair of spans. Markers: each pair is an input of its own, with both "
        "spans and their labels marked in the text (Zhou and Chen 2022); the time grows with the "
        "number of pairs. Spans: the text is read once, and the states of the first and last token "
        "of both spans are compared (Zhong and Chen 2021); faster, without the labels of the spans."
    ),
    choices=(MARKERS, ENCODED),
    group="main",
    title=N_("Reading of pairs"),
    choice_titles=(N_("Typed markers"), N_("States of spans")),
)
LONGEST = Option(
    "longest_distance",
    "int",
    30,
    N_(
        "Maximum number of words between two spans. Relations over a longer distance are not "
        "learned and count as missed."
    ),
    low=0,
    high=1000,
    group="main",
    title=N_("Longest distance (words)"),
)
CONTEXT = Option(
    "context",
    "int",
    30,
    N_("Words before and after a marked pair that the model reads."),
    low=0,
    high=500,
    title=N_("Context (words)"),
)
READ_BY = (READING.name, LONGEST.name, CONTEXT.name)  # settings that change the inputs
NONE_PAIRS = Option(
    "none_pairs",
    "float",
    5.0,
    N_(
        "Training pairs without a relation for each relation, drawn once for the run. Most pairs "
        "have none, and few of these are informative. 0: all pairs."
    ),
    low=0.0,
    high=1000.0,
    title=N_("Pairs without a relation"),
)

IMBALANCE_OF_PAIRS = (
    replace(
        CLASS_WEIGHTS,
        help=N_(
            "Weights of relations in the loss, by label; pairs without a relation have 1. "
            "Balanced: inversely proportional to the frequency in the training data. Square root: "
            "to the square root of the frequency. Effective number: to (1 - βⁿ) / (1 - β) of n "
            "relations, with β = 0.999, or as in effective:0.99 (Cui et al. 2019). By hand: "
            "WORKS_FOR=2, LIVES_IN=0.5; other labels have 1."
        ),
    ),
    FOCAL_GAMMA,
    LABEL_SMOOTHING,
)


@dataclass(frozen=True)
class RelationGold:
    """Relations between spans of the first text. left_out: those that cannot be learned from."""

    relations: tuple[Relation, ...] = ()
    left_out: int = 0

    def labels(self) -> Iterable[str]:
        return (relation.label for relation in self.relations)

    def to_json(self) -> object:
        rows = [
            [r.label, [r.from_span.start, r.from_span.end], [r.to_span.start, r.to_span.end]]
            for r in self.relations
        ]
        return sorted(
            row if relation.directed else [*row, False]
            for row, relation in zip(rows, self.relations, strict=True)
        )


class RelationTask(TaskInfo):
    """A task with `RelationGold`: a relation is correct if both spans and the label are.

    prefix: of the names of its scores. typed: whether the labels of spans count in one of them.
    """

    layer_kinds = ("relation",)
    connects = True
    scores: tuple[ScoreInfo, ...] = (
        ScoreInfo("relation_precision", N_("Precision"), selects=False),
        ScoreInfo("relation_recall", N_("Recall"), selects=False),
        ScoreInfo("relation_f1", N_("Relation F1"), hub="f1"),
        ScoreInfo("relation_macro_f1", N_("Macro F1 of relations")),
        ScoreInfo("relation_unlabelled_f1", N_("Unlabelled F1")),
        ScoreInfo("relation_strict_f1", N_("Strict F1"), selects=False),
    )
    main = "relation_f1"
    second = "relation_unlabelled_f1"
    beside = ("relation_precision", "relation_recall")
    prefix = "relation"
    typed = True
    outputs = ("Relations",)
    scored = False
    least_labels = 1
    hub_task = "token-classification"

    def gold(self, record: Record, layer: str) -> RelationGold:
        """A submitted document without relations is a true negative."""
        layer_relations = record.relations.get(layer, ())
        chosen = {
            _plain(relation)
            for relation in layer_relations
            if all(
                span.field == TEXT and span.start < span.end
                for span in (relation.from_span, relation.to_span)
            )
        }
        left_out = len(layer_relations) - len(chosen)
        return RelationGold(tuple(sorted(chosen, key=_order)), left_out)

    def why_left_out(self) -> str:
        return _("relations whose spans are empty or in another text")

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        if counts:
            return ""
        return _("No training document of layer {layer!r} has a relation.", layer=layer)

    def fit(
        self,
        golds: Sequence[RelationGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> dict[str, Any]:
        """undirected: the labels without a direction."""
        from workbench.metrics.relations import without_direction

        return {"undirected": sorted(without_direction(gold.relations for gold in golds))}

    # ---------------------------------------------------------------- scores

    def score(
        self, golds: Sequence[RelationGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        from workbench.metrics import relations

        return relations.scores(*_sides(golds, predictions), self.prefix, strict=self.typed)

    def per_label(
        self, golds: Sequence[RelationGold], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        from workbench.metrics import relations

        return relations.per_label(*_sides(golds, predictions))

    def statistic(
        self,
        golds: Sequence[RelationGold],
        predictions: Sequence[Prediction],
        labels: Sequence[str],
    ) -> RelationCounts:
        from workbench.metrics.relations import RelationCounts

        return RelationCounts.of(
            *_sides(golds, predictions), labels, self.prefix, strict=self.typed
        )

    def confidences(
        self, golds: Sequence[RelationGold], predictions: Sequence[Prediction]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(M,) each, of every predicted relation: its probability, whether it is gold, and its
        document.
        """
        from workbench.metrics import calibration

        return calibration.decisions(
            (relation.score or 0.0, _key(relation) in right, at)
            for at, (gold, prediction) in enumerate(zip(golds, predictions, strict=True))
            for right in [_keys(gold.relations)]
            for relation in _aligned(gold, prediction)
        )

    # ---------------------------------------------------------------- errors

    def agrees(self, gold: RelationGold, prediction: Prediction) -> bool:
        predicted = _keys(_aligned(gold, prediction))
        return not prediction.no_answer and _keys(gold.relations) == predicted

    def error(self, document: Document, gold: RelationGold, prediction: Prediction) -> ErrorText:
        predicted = _aligned(gold, prediction)
        right, theirs = _keys(gold.relations), _keys(predicted)
        missed = [relation for relation in gold.relations if _key(relation) not in theirs]
        wrong = [relation for relation in predicted if _key(relation) not in right]
        sure = max((relation.score or 0.0 for relation in wrong), default=0.0)
        return ErrorText(_listed(document.text, missed), _listed(document.text, wrong), sure)

    def mistakes(
        self, document: Document, gold: RelationGold, prediction: Prediction
    ) -> list[Mistake]:
        """By pair of spans: another label, the other direction, missed, or spurious."""
        from workbench.text.fields import Relations

        predicted = _aligned(gold, prediction)
        right, theirs = _keys(gold.relations), _keys(predicted)
        left = [relation for relation in predicted if _key(relation) not in right]
        fields = prediction.get(Relations)
        considered = (*predicted, *(fields.others if fields is not None else ()))
        mistakes = []
        for mine in gold.relations:
            if _key(mine) in theirs:
                continue
            partners = [each for each in left if _places(each) == _places(mine)]
            partner = min(partners, key=lambda each: _rank(mine, each), default=None)
            if partner is not None:
                left.remove(partner)
            mistakes.append(_mistake(mine, partner, considered))
        mistakes += [_mistake(None, relation, considered) for relation in left]
        return sorted(mistakes, key=lambda item: (item.place or (0, 0), item.kind))


class RelationsInfo(RelationTask):
    """pair_reading, longest, context: values of the settings that change the inputs."""

    id = "relations"
    title = N_("Relations")
    short = N_("Relations")
    predicts = N_("relations between the spans of a text")
    definition = N_(
        "A relation counts as correct if the boundaries of both spans, its label and its direction "
        "are (micro-averaged); labels without a direction count in either order. Unlabelled F1 "
        "ignores the label; strict F1 also demands the labels of both spans."
    )
    windows = True
    few_steps = 200
    learning_rate = learning_rates.WORDS
    logits = {"parts": "token"}
    options = (READING, LONGEST, CONTEXT, NONE_PAIRS, *IMBALANCE_OF_PAIRS, *LAYER_OPTIONS)
    pair_reading, longest, context = str(READING.default), 30, 30

    def reading(self, options: Mapping[str, Any]) -> Self:
        info = copy(self)
        info.pair_reading = str(options.get(READING.name) or MARKERS)
        info.longest = int(options.get(LONGEST.name, LONGEST.default))
        info.context = int(options.get(CONTEXT.name, CONTEXT.default))
        return info

    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        from workbench.runtime import pairs

        return pairs.prepare(
            preparer, documents, max_length, context=self.context, **self.positions_by
        )

    def count_inputs(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> int:
        from workbench.runtime import pairs

        if self.pair_reading != MARKERS:
            return super().count_inputs(preparer, documents, max_length)
        return sum(max(1, len(pairs.pairs(document, self.longest))) for document in documents)

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """logits: "parts" (T, P · D) of each input, see `runtime.pairs`."""
        from workbench.runtime import pairs
        from workbench.text.fields import Prediction, Relations

        scorer = pairs.PairScorer.from_json(decoder.get("scorer"))
        undirected = tuple(decoder.get("undirected") or ())
        predictions = []
        for number in range(len(prepared.documents)):
            placed = pairs.positions(prepared, number, **self.positions_by)
            scored = pairs.scores(scorer, logits, placed)
            field = Relations(*pairs.decode(scored, labels, undirected))
            predictions.append(Prediction((field,), bool(prepared.cut[number])))
        return predictions

    @property
    def positions_by(self) -> dict[str, Any]:
        """The settings of `runtime.pairs.positions`."""
        return {"reading": self.pair_reading, "longest": self.longest}


def _plain(relation: Relation) -> Relation:
    first, second = (
        Span(span.start, span.end, span.label, span.field)
        for span in (relation.from_span, relation.to_span)
    )
    return Relation(relation.label, first, second, directed=relation.directed)


def _order(relation: Relation) -> tuple[object, ...]:
    first, second = relation.from_span, relation.to_span
    return first.start, first.end, second.start, second.end, relation.label


def _sides(
    golds: Sequence[RelationGold], predictions: Sequence[Prediction]
) -> tuple[list[tuple[Relation, ...]], list[tuple[Relation, ...]]]:
    ours = [gold.relations for gold in golds]
    return ours, [prediction.relations for prediction in predictions]


def _aligned(gold: RelationGold, prediction: Prediction) -> list[Relation]:
    """The predicted relations, without a direction where gold of the document has none."""
    labels = {relation.label for relation in gold.relations if not relation.directed}
    return [
        replace(relation, directed=relation.directed and relation.label not in labels)
        for relation in prediction.relations
    ]


def _ends(relation: Relation) -> tuple[tuple[int, int], tuple[int, int]]:
    first, second = relation.from_span, relation.to_span
    return (first.start, first.end), (second.start, second.end)


def _places(relation: Relation) -> frozenset[tuple[int, int]]:
    return frozenset(_ends(relation))


def _key(relation: Relation) -> tuple[object, ...]:
    return relation.label, _ends(relation) if relation.directed else _places(relation)


def _keys(relations: Iterable[Relation]) -> frozenset[tuple[object, ...]]:
    return frozenset(map(_key, relations))


def _rank(mine: Relation, other: Relation) -> int:
    """The best partner has the same direction, then the same label."""
    return 0 if _ends(mine) == _ends(other) else 1 if mine.label == other.label else 2


def _mistake(
    mine: Relation | None, other: Relation | None, considered: Iterable[Relation]
) -> Mistake:
    """considered: with the probability of the best label of each pair."""
    at, to = _ends(mine) if mine is not None else (None, None)
    predicted_at, predicted_to = _ends(other) if other is not None else (None, None)
    right = max(
        (each.score or 0.0 for each in considered if mine and _key(each) == _key(mine)),
        default=None,
    )
    some = [each.score or 0.0 for each in considered if mine and _shares_ends(each, mine)]
    if mine is None:
        kind = SPURIOUS
    elif other is None:
        kind = MISSED
    else:
        kind = DIRECTION if mine.label == other.label else LABEL
    sure = (other.score or 0.0) if other is not None else 1 - max(some, default=UNKNOWN)
    loss = loss_of(right if right is not None else 1 - sure)
    labels = mine.label if mine else "", other.label if other else ""
    places = at, predicted_at
    has_direction = any(each.directed for each in (mine, other) if each is not None)
    return Mistake(
        kind, *labels, sure, loss, *places, to=to, predicted_to=predicted_to,
        directed=has_direction,
    )  # fmt: skip


def _shares_ends(relation: Relation, mine: Relation) -> bool:
    if mine.directed:
        return _ends(relation) == _ends(mine)
    return _places(relation) == _places(mine)


def _listed(text: str, relations: Sequence[Relation]) -> str:
    """At most MAX_LISTED relations: a table cell cannot show thousands."""
    listed = ", ".join(
        f"{relation.label} (“{_words(text, relation.from_span)} {'→' if relation.directed else '–'}"
        f" {_words(text, relation.to_span)}”)"
        for relation in relations[:MAX_LISTED]
    )
    if len(relations) > MAX_LISTED:
        return _("{some} and {n:,} more", some=listed, n=len(relations) - MAX_LISTED)
    return listed or NONE


def _words(text: str, span: Span) -> str:
    return text[span.start : span.end][:40]


INFO = RelationsInfo()
