"""Targets and loss of span classification."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from workbench.models.base import States
from workbench.runtime import candidates
from workbench.runtime.decoding import Alignment
from workbench.runtime.preparers.subwords import Subwords
from workbench.tasks.base import IGNORED, Features
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.heads.spans.head import SpanHead
from workbench.tasks.spans.task import SpanClassification
from workbench.text.document import Document
from workbench.text.spans import Span

TASK = SpanClassification()
LABELS = ("P", "Q")


@pytest.fixture
def subwords(tiny_model):
    return Subwords.load(tiny_model)


def features(preparer, text, spans=(), *, length=64, **options):
    prepared = TASK.info.prepare(preparer, [Document("a", (("text", text),))], length)
    return Features(prepared, TASK.targets(prepared, [SpanGold(tuple(spans))], LABELS, options))


# ---------------------------------------------------------------- targets


def test_words_begin_at_their_first_subword_and_end_at_their_last(subwords):
    found = features(subwords, "ada trams late").targets  # [CLS] ada | tram ##s | late

    assert found["firsts"][0].tolist() == [1, 2, 4] and found["lasts"][0].tolist() == [1, 3, 4]
    assert found["spans"][0].shape == (0, 3)


def test_nested_and_crossing_spans_are_all_learned(subwords):
    spans = [Span(0, 9, "P"), Span(0, 3, "Q"), Span(4, 14, "Q")]

    found = features(subwords, "ada trams late", spans).targets["spans"][0]

    assert found.tolist() == [[0, 1, 0], [0, 0, 1], [1, 1, 1]]


def test_a_span_with_too_many_words_is_not_learned(subwords):
    spans = [Span(0, 14, "P"), Span(0, 9, "P")]

    found = features(subwords, "ada trams late", spans, longest_span=2).targets["spans"][0]

    assert found.tolist() == [[0, 1, 0]]


def test_a_span_inside_words_is_learned_as_these_words(subwords):
    found = features(subwords, "ada trams late", [Span(1, 6, "Q")]).targets["spans"][0]

    assert found.tolist() == [[0, 1, 1]]


def test_every_word_of_a_long_text_is_learned_exactly_once(subwords):
    text = " ".join(["tram bus late ada bob"] * 20)
    spans = [Span(0, 8, "P"), Span(len(text) - 3, len(text), "Q")]

    found = features(subwords, text, spans, length=16)

    assert sum(map(len, found.targets["firsts"])) == 100
    assert found.targets["spans"][0].tolist() == [[0, 1, 0]]
    last = len(found.targets["firsts"][-1]) - 1
    assert found.targets["spans"][-1].tolist() == [[last, 0, 1]]


def test_texts_without_words_have_no_targets(subwords):
    found = features(subwords, " ").targets

    assert [len(found[name][0]) for name in ("firsts", "lasts", "spans")] == [0, 0, 0]


# ---------------------------------------------------------------- loss

FIRSTS, LASTS = torch.tensor([[0, 1, 3]]), torch.tensor([[0, 2, 3]])  # tokens of three words


def by_hand(head, starts, ends, words, gold, *, none):
    """The loss of one text with P words, candidate by candidate; `gold` as of `targets`."""
    total = 0.0
    for first, last in itertools.combinations_with_replacement(range(words), 2):
        if last - first >= len(head.widths):
            continue
        hidden = torch.relu(starts[first] + ends[last] + head.widths[last - first])
        logits = head.output(hidden)
        labels = [label for at, more, label in gold if (at, at + more) == (first, last)]
        if none:
            total -= float(logits.log_softmax(-1)[labels[0] + 1 if labels else 0])
        else:
            for label, logit in enumerate(logits):
                sign = 1 if label in labels else -1
                total -= float(nn.functional.logsigmoid(sign * logit))
    return total


@pytest.mark.parametrize("none", [True, False])
def test_the_loss_is_that_of_every_candidate_and_counts_words(none):
    torch.manual_seed(1)
    head = SpanHead(6, len(LABELS), none=none, longest=3, hidden=5).eval().requires_grad_(False)
    nn.init.normal_(head.widths)
    starts, ends = torch.randn(2, 2, 8, 5)
    firsts = torch.tensor([[1, 2, 4, 6], [1, 3, IGNORED, IGNORED]])
    lasts = torch.tensor([[1, 3, 5, 6], [2, 3, IGNORED, IGNORED]])
    empty = [IGNORED] * 3
    spans = torch.tensor([[[0, 2, 1], [1, 0, 0]], [[1, 0, 1], empty]])
    targets = {"firsts": firsts, "lasts": lasts, "spans": spans}

    class Holder:
        pass

    Holder.head = head
    loss = TASK.losses(Holder, {"starts": starts, "ends": ends}, targets)["task"]

    wanted = by_hand(
        head, starts[0][firsts[0]], ends[0][lasts[0]], 4, [(0, 2, 1), (1, 0, 0)], none=none
    )
    wanted += by_hand(head, starts[1][[1, 3]], ends[1][[2, 3]], 2, [(1, 0, 1)], none=none)
    assert float(loss.total) == pytest.approx(wanted, rel=1e-5) and int(loss.count) == 6


def test_a_batch_without_words_has_no_loss():
    head = SpanHead(6, 2, none=True, longest=3, hidden=5)
    nothing = torch.zeros(2, 0, dtype=torch.long)
    targets = {"firsts": nothing, "lasts": nothing, "spans": nothing[..., None].expand(2, 0, 3)}

    class Holder:
        pass

    Holder.head = head
    logits = {name: torch.randn(2, 3, 5, requires_grad=True) for name in ("starts", "ends")}
    loss = TASK.losses(Holder, logits, targets)["task"]

    loss.total.backward()
    assert (float(loss.total.detach()), int(loss.count)) == (0.0, 0)


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("summary", [False, True])
def test_the_scores_of_training_are_those_of_decoding(deep, summary):
    torch.manual_seed(2)
    head = SpanHead(6, 2, none=True, longest=3, deep=deep, summary=summary, hidden=5).eval()
    nn.init.normal_(head.widths)
    states = States((torch.randn(1, 4, 6),), torch.ones(1, 4, dtype=torch.bool), None)
    with torch.no_grad():
        outputs = head(states)
        scores = head.scores(outputs, FIRSTS, LASTS)[0].softmax(-1)[..., 1:].numpy()

    where = Alignment(np.zeros(3, int), FIRSTS[0].numpy(), LASTS[0].numpy() + 1)
    _words, of_words = candidates.boundaries(
        [{n: o[0].numpy() for n, o in outputs.items()}], 0, where
    )
    ((_, shares),) = head.scorer().blocks(of_words)

    within = np.arange(3)[:, None] + np.arange(3) < 3
    assert shares[within] == pytest.approx(scores[within], abs=1e-6)


def test_a_span_is_represented_by_boundaries_width_and_the_mean_of_its_weighted_tokens():
    """[start; end; summary; width] through one layer: the sum of the parts of its weight."""
    torch.manual_seed(3)
    head = SpanHead(6, 2, none=True, longest=3, summary=True, hidden=5).eval().requires_grad_(False)
    nn.init.normal_(head.widths)
    tokens = torch.randn(1, 4, 6)
    outputs = head(States((tokens,), torch.ones(1, 4, dtype=torch.bool), None))

    found = head.hidden(outputs, FIRSTS, LASTS)[0, 0, 2]  # all three words: the tokens 0 … 3

    weights = (tokens[0] @ head.inside.weight[-1] + head.inside.bias[-1]).softmax(0)
    summary = head.inside.weight[:-1] @ (weights @ tokens[0]) + head.inside.bias[:-1]
    boundaries = head.starts(tokens[0, 0]) + head.ends(tokens[0, 3])
    wanted = torch.relu(boundaries + head.widths[2] + summary)
    assert found.numpy() == pytest.approx(wanted.numpy(), abs=1e-6)


@pytest.mark.parametrize(("loss", "none"), [("softmax", [1.0]), ("sigmoid", [])])
def test_gold_spans_have_the_weights_of_their_labels_and_words_none(subwords, loss, none):
    options, task = {"span_loss": loss, "class_weights": f"{LABELS[0]}=3"}, SpanClassification()
    targets = features(subwords, "ada met bob", [Span(0, 3, LABELS[0])]).targets

    balance = task.balance(targets, LABELS, options)

    assert list(task.criterion.weights) == [*none, 3.0, *([1.0] * (len(LABELS) - 1))]
    assert [row["count"] for row in balance.rows()] == [1, *([0] * (len(LABELS) - 1))]
    assert task.usual_counts(targets, 2) == {"task": 6.0}
