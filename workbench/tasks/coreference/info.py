"""Coreference: description, settings, decoding and scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.base import learning_rates
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.tasks.heads.info import LAYER_OPTIONS, WordTask
from workbench.tasks.spans.info import MAX_SPAN_WORDS
from workbench.tasks.spec import NONE, ErrorText, ScoreInfo
from workbench.text.document import TEXT
from workbench.text.spans import Span, chains_of

if TYPE_CHECKING:
    import numpy as np

    from workbench.metrics.classes import LabelScore
    from workbench.metrics.coreference import ChainCounts
    from workbench.runtime.inputs import Prepared, Preparer
    from workbench.text.dataset import Record
    from workbench.text.document import Document
    from workbench.text.fields import Prediction
    from workbench.text.mistakes import Mistake

SINGLETONS = "singletons"  # entry of the decoder
MAX_LISTED, MAX_LISTED_CHARS = 10, 30  # chains in an error message, characters of a mention

LONGEST = replace(
    MAX_SPAN_WORDS,
    help=N_(
        "Maximum length of predicted mentions, in words. Longer gold mentions are not learned "
        "and count as missed. Time and memory grow in proportion."
    ),
    title=N_("Longest mention (words)"),
)
PER_WORD = Option(
    "mentions_per_word",
    "float",
    0.4,
    N_(
        "How many candidates are ranked, the most probable mentions first, per word of the text "
        "(Lee et al. 2017, λ = 0.4). The others are no mentions. Time and memory of long texts "
        "grow with its square."
    ),
    low=0.01,
    high=2.0,
    title=N_("Candidates per word"),
)

_MEASURES = ("muc", "b_cubed", "ceaf_e", "lea", "mention")


@dataclass(frozen=True)
class ChainGold:
    """The chains of the first text, each in text order. left_out: mentions that are not learned."""

    chains: tuple[tuple[Span, ...], ...] = ()
    left_out: int = 0

    @property
    def spans(self) -> tuple[Span, ...]:
        """The mentions of all chains, in text order."""
        return tuple(sorted(span for chain in self.chains for span in chain))

    def labels(self) -> Iterable[str]:
        return (span.label for span in self.spans)

    def to_json(self) -> object:
        return sorted(
            sorted([span.start, span.end, span.label] for span in chain) for chain in self.chains
        )


class CoreferenceInfo(WordTask):
    id = "coreference"
    title = N_("Coreference")
    short = N_("Chains")
    predicts = N_("chains of mentions that refer to the same thing")
    definition = N_(
        "The CoNLL score: the mean F1 of MUC, B³ and CEAF φ4 over the chains of all documents. A "
        "mention counts as correct if its start and end are."
    )
    layer_kinds = ("cluster",)
    least_labels = 1
    scores = (
        ScoreInfo("coref_f1", N_("CoNLL F1"), hub="f1"),
        *(
            ScoreInfo(f"{measure}_{name}", selects=name == "f1")
            for measure in _MEASURES
            for name in ("f1", "precision", "recall")
        ),
    )
    main = "coref_f1"
    second = "mention_f1"
    beside = ("muc_f1", "b_cubed_f1", "ceaf_e_f1")
    options = (LONGEST, PER_WORD, *LAYER_OPTIONS)
    outputs = ("Chains",)
    scored = False
    logits = {"starts": "token", "ends": "token", "inside": "token"}
    usual_batch = 1
    learning_rate = learning_rates.CHAINS
    few_steps = 400
    pipeline = ""
    hub_task = "token-classification"

    def gold(self, record: Record, layer: str) -> ChainGold:
        """A submitted document without mentions is a true negative; a mention without a chain is a
        chain of one.

        Left out: mentions that are empty, in another text, or at the place of an earlier one.
        """
        layer_spans = record.spans.get(layer, ())
        chosen: dict[tuple[int, int], Span] = {}
        for span in layer_spans:
            if span.field == TEXT and span.start < span.end:
                chosen.setdefault((span.start, span.end), span)
        chains = chains_of(
            Span(span.start, span.end, span.label, chain=span.chain)
            for span in sorted(chosen.values(), key=lambda span: (span.start, span.end))
        )
        return ChainGold(chains, len(layer_spans) - len(chosen))

    def why_left_out(self) -> str:
        return _("mentions that are empty, in another text, or in two chains")

    def problem(self, counts: Mapping[str, int], layer: str) -> str:
        if counts:
            return ""
        return _("No training document of layer {layer!r} has a span.", layer=layer)

    def prepare(
        self, preparer: Preparer, documents: Sequence[Document], max_length: int
    ) -> Prepared:
        """All windows of a document are read in one batch."""
        return replace(preparer.windows(documents, max_length), is_joint=True)

    def decode(
        self,
        logits: Sequence[Mapping[str, np.ndarray]],
        prepared: Prepared,
        labels: Sequence[str],
        decoder: Mapping[str, Any],
    ) -> list[Prediction]:
        """logits: as for `runtime.candidates.boundaries`."""
        from workbench.runtime import candidates, chains

        if not prepared.documents:
            return []
        scorer = chains.ChainScorer.from_json(decoder["scorer"], len(labels))
        predictions = []
        for number, document in enumerate(prepared.documents):
            begin, where = prepared.first(number), prepared.alignments[number]
            words, states = candidates.boundaries(logits, begin, where)
            offsets = [prepared.words[number][word] for word in words]
            texts = [document.text[start:end] for start, end in offsets]
            alone = bool(decoder.get(SINGLETONS))
            of_words = chains.decode(scorer, states, texts, singletons=alone)
            predictions.append(chains.prediction(offsets, of_words, labels))
        return predictions

    def gives(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Mentions are spans, too."""
        return *self.outputs, "SpanScores"

    def fit(
        self, golds: Sequence[ChainGold], predictions: Sequence[Prediction], labels: Sequence[str]
    ) -> dict[str, Any]:
        """Chains of one mention are predicted if gold has any."""
        return {SINGLETONS: any(len(chain) == 1 for gold in golds for chain in gold.chains)}

    def score(
        self, golds: Sequence[ChainGold], predictions: Sequence[Prediction]
    ) -> dict[str, float]:
        from workbench.metrics import coreference

        return coreference.scores(*_sides(golds, predictions))

    def statistic(
        self, golds: Sequence[ChainGold], predictions: Sequence[Prediction], labels: Sequence[str]
    ) -> ChainCounts:
        from workbench.metrics.coreference import ChainCounts

        return ChainCounts.of(*_sides(golds, predictions))

    def per_label(
        self, golds: Sequence[ChainGold], predictions: Sequence[Prediction]
    ) -> tuple[LabelScore, ...]:
        """Of mentions with their labels, whatever their chain."""
        from workbench.metrics import spans

        mentions = [[replace(span, chain=None) for span in gold.spans] for gold in golds]
        return spans.per_label(mentions, [prediction.spans for prediction in predictions])

    def agrees(self, gold: ChainGold, prediction: Prediction) -> bool:
        if prediction.no_answer:
            return False
        return {*map(frozenset, _places(gold.chains))} == {
            *map(frozenset, _places(_predicted(prediction)))
        }

    def error(self, document: Document, gold: ChainGold, prediction: Prediction) -> ErrorText:
        """The chains that the other side does not have."""
        ours, theirs = _places(gold.chains), _places(_predicted(prediction))
        missed = [chain for chain in ours if chain not in theirs]
        wrong = [chain for chain in theirs if chain not in ours]
        sure = [span.score or 0.0 for span in prediction.spans]
        confidence = sum(sure) / len(sure) if sure else 0.0
        return ErrorText(_listed(document, missed), _listed(document, wrong), confidence)

    def mistakes(
        self, document: Document, gold: ChainGold, prediction: Prediction
    ) -> list[Mistake]:
        from workbench.metrics.mistakes import chain_mistakes

        return chain_mistakes(document.text, gold.chains, _predicted(prediction))


Places = tuple[tuple[int, int], ...]


def _predicted(prediction: Prediction) -> tuple[tuple[Span, ...], ...]:
    return chains_of(prediction.spans)


def _places(chains: Iterable[Iterable[Span]]) -> list[Places]:
    return [tuple(sorted((span.start, span.end) for span in chain)) for chain in chains]


def _sides(
    golds: Sequence[ChainGold], predictions: Sequence[Prediction]
) -> tuple[list[list[Places]], list[list[Places]]]:
    return (
        [_places(gold.chains) for gold in golds],
        [_places(_predicted(prediction)) for prediction in predictions],
    )


def _listed(document: Document, chains: Sequence[Places]) -> str:
    """{Ada, she} {the tram, it}; at most MAX_LISTED chains."""
    texts = (
        ", ".join(document.text[start:end][:MAX_LISTED_CHARS] for start, end in chain)
        for chain in chains[:MAX_LISTED]
    )
    listed = " ".join(f"{{{text}}}" for text in texts)
    if len(chains) > MAX_LISTED:
        return _("{some} and {n:,} more", some=listed, n=len(chains) - MAX_LISTED)
    return listed or NONE


INFO = CoreferenceInfo()
