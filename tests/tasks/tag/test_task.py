"""Targets and loss of tagging; nothing is lost at a window's edge."""

import math

import numpy as np
import pytest
import torch

from workbench.runtime.preparers.subwords import Subwords
from workbench.tasks.base import IGNORED, Features
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.tag.task import Tagging, set_edges
from workbench.text.document import Document
from workbench.text.spans import Span

TASK = Tagging()
LABELS = ("P", "Q")
TAGS = TASK.info.output_names(LABELS)


@pytest.fixture
def subwords(tiny_model):
    return Subwords.load(tiny_model)


def features(preparer, text, spans=(), *, length=64, subwords="first"):
    prepared = TASK.info.prepare(preparer, [Document("a", (("text", text),))], length)
    options = {"label_subwords": subwords}
    return Features(prepared, TASK.targets(prepared, [SpanGold(tuple(spans))], LABELS, options))


def tags_of(found, item=0):
    return [None if target == IGNORED else TAGS[target] for target in found.targets["tags"][item]]


def test_the_first_subword_of_each_word_is_learned(subwords):
    result = features(subwords, "ada trams late", [Span(0, 9, "P")])  # ada | tram ##s | late

    assert tags_of(result) == [None, "B-P", "I-P", None, "O", None]


def test_all_subwords_continue_their_word_where_asked(subwords):
    spans = [Span(0, 5, "Q"), Span(11, 17, "P")]

    result = features(subwords, "trams late bobing", spans, subwords="all")

    assert tags_of(result) == [None, "B-Q", "I-Q", "O", "B-P", "I-P", None]


def test_every_word_of_a_long_text_is_learned_exactly_once(subwords):
    text = " ".join(["tram bus late ada bob"] * 20)
    spans = [Span(0, 8, "P"), Span(len(text) - 3, len(text), "Q")]

    result = features(subwords, text, spans, length=16)

    learned = np.concatenate([row[row != IGNORED] for row in result.targets["tags"]])
    assert len(result.prepared.inputs) > 8 and len(learned) == 100
    assert [TAGS[tag] for tag in learned[:2]] == ["B-P", "I-P"] and TAGS[learned[-1]] == "B-Q"


def test_joined_features_keep_their_owners(subwords):
    item, two = features(subwords, "ada " * 40, length=16), features(subwords, "bob")

    joined = Features.join([item, two])

    prepared = joined.prepared
    assert prepared.owner.tolist() == [0] * len(item.prepared.inputs) + [1]
    assert len(joined.targets["tags"]) == len(prepared.inputs) == len(joined.lengths)
    assert len(prepared.documents) == len(prepared.words) == len(prepared.alignments) == 2


def test_the_loss_is_the_summed_cross_entropy_and_counts_only_words():
    logits = torch.zeros(2, 3, 5)  # five tags, all equally probable
    logits[1, 0, 2] = math.log(6.0)  # p = 6/10
    tags = torch.tensor([[IGNORED, 0, IGNORED], [2, IGNORED, IGNORED]])

    loss = TASK.losses(None, {"logits": logits}, {"tags": tags})["task"]

    assert float(loss.total) == pytest.approx(math.log(5) - math.log(0.6), abs=1e-6)
    assert int(loss.count) == 2


def test_a_batch_of_empty_texts_has_no_loss_and_no_targets():
    tags = torch.full((2, 3), IGNORED)

    loss = TASK.losses(None, {"logits": torch.randn(2, 3, 5)}, {"tags": tags})["task"]

    assert (float(loss.total), int(loss.count)) == (0.0, 0)


CRF = {"decoder": "crf"}


def crf_features(preparer, text, spans=(), *, length=64):
    prepared = TASK.info.prepare(preparer, [Document("a", (("text", text),))], length)
    return Features(prepared, TASK.targets(prepared, [SpanGold(tuple(spans))], LABELS, CRF))


def test_a_crf_knows_which_windows_have_the_first_and_the_last_word(subwords):
    short = crf_features(subwords, "ada trams late")
    long = crf_features(subwords, " ".join(["tram bus late ada bob"] * 20), length=16)

    assert [row.tolist() for row in short.targets["edges"]] == [[1, 1]]
    assert [row.tolist() for row in long.targets["edges"]] == [
        [1, 0], *[[0, 0]] * (len(long.prepared.inputs) - 2), [0, 1]
    ]  # fmt: skip


def test_a_span_that_goes_on_in_the_next_window_does_not_begin_there(subwords):
    text = " ".join(["tram"] * 40)

    result = crf_features(subwords, text, [Span(0, len(text), "P")], length=16)

    learned = [tag for item in range(len(result.prepared.inputs)) for tag in tags_of(result, item)]
    assert [tag for tag in learned if tag] == ["B-P", *["I-P"] * 39]


def test_a_span_whose_first_word_has_no_subword_begins_at_the_next(subwords):
    tags = [np.array([IGNORED, TAGS.index("I-P"), TAGS.index("O"), TAGS.index("I-Q")])]
    edges = [np.zeros(2, np.int64)]

    set_edges(tags, edges, range(1), TAGS)

    assert [TAGS[tag] for tag in tags[0][1:]] == ["B-P", "O", "B-Q"]


@pytest.mark.parametrize("decoder, head", [("greedy", "token"), ("bio", "token"), ("crf", "crf")])
def test_a_crf_is_a_head_of_its_own(decoder, head):
    assert TASK.natives({"decoder": decoder}) == (head,)


def test_a_weight_is_that_of_the_words_of_a_label_and_of_those_outside(subwords):
    found, task = features(subwords, "ada trams met bob late", [Span(0, 9, "P")]), Tagging()

    balance = task.balance(found.targets, LABELS, {"class_weights": "P=2, O=0.5"})

    tags = task.info.output_names(LABELS)
    by_tag = dict(zip(tags, task.criterion.weights, strict=True))
    assert by_tag == {tag: {"O": 0.5}.get(tag, 2.0 if tag[2:] == "P" else 1.0) for tag in tags}
    assert [(row["label"], row["count"]) for row in balance.rows()] == [
        *((label, 2 * (label == "P")) for label in LABELS),
        ("O", 3),
    ]
    assert task.usual_counts(found.targets, 8) == {"task": 8 * (2 * 2 + 3 * 0.5)}
