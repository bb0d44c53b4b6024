"""Gold, decoding and scores of a tag for every token."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from workbench.runtime.decoding import Alignment
from workbench.runtime.inputs import Prepared
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.token.info import INFO
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Prediction, WordTag, WordTags
from workbench.text.spans import Span

TEXT = "Ada met Bob"
WORDS = [(0, 3), (4, 7), (8, 11)]


def record(*spans, tokens=None, states=None):
    document = Document("1", (("text", TEXT),), tokens={"text": tuple(tokens)} if tokens else {})
    return Record(document, states or {"pos": "submitted"}, {}, {"pos": spans})


def predicted(*labels):
    words = [
        WordTag(*place, label, 0.9 - n / 10)
        for n, (place, label) in enumerate(zip(WORDS, labels, strict=True))
    ]
    return Prediction((WordTags(tuple(words)),))


def gold(*labels):
    pairs = zip(WORDS, labels, strict=True)
    return SpanGold(tuple(Span(*place, label) for place, label in pairs if label))


def test_gold_is_the_tag_of_each_token_and_the_rest_is_counted():
    result = INFO.gold(
        record(
            Span(8, 11, "PROPN"),
            Span(0, 3, "PROPN"),
            Span(0, 3, "NOUN"),  # a second tag
            Span(4, 11, "VERB"),  # two tokens
        ),
        "pos",
    )

    assert result.spans == (Span(0, 3, "NOUN"), Span(8, 11, "PROPN")) and result.left_out == 2


def test_the_tokens_of_the_import_are_what_is_tagged():
    assert INFO.gold(record(Span(0, 7, "X"), tokens=[(0, 7), (8, 11)]), "pos").left_out == 0
    assert INFO.gold(record(Span(0, 7, "X")), "pos") is None


def test_a_document_without_a_tag_is_no_training_data():
    assert INFO.gold(record(), "pos") is None


def test_scores_are_those_of_scikit_learn_over_the_tagged_tokens():
    golds = [gold("A", "B", "A"), gold("C", None, "A")]
    result = [predicted("A", "A", "A"), predicted("C", "C", "B")]

    scores = INFO.score(golds, result)

    right, answered = list("ABACA"), list("AAACB")
    assert scores == pytest.approx(
        {
            "accuracy": accuracy_score(right, answered),
            "macro_f1": f1_score(right, answered, average="macro"),
        }
    )
    matrix = INFO.confusion(golds, result, ("A", "B", "C"))
    assert sum(map(sum, matrix.counts)) == 5
    assert matrix.documents("A", "A") == (0,) and matrix.documents("C", "C") == (1,)
    assert matrix.documents("A", "B") == (1,)


def test_each_token_gets_the_most_probable_tag_and_one_without_a_subword_none():
    where = Alignment(np.array([0, 0, -1]), np.array([1, 2, -1]), np.array([2, 3, -1]))
    document = Document("1", (("text", TEXT),))
    made = Prepared([document], [], np.zeros(1, int), np.zeros(1, bool), [WORDS], [where])
    logits = np.array([[0, 0], [np.log(3), 0], [0, np.log(4)], [9, 9]])

    (found,) = INFO.decode([{"logits": logits}], made, ("A", "B"), {})

    assert [(word.label, round(word.score, 6)) for word in found.words] == [
        ("A", 0.75), ("B", 0.8), (None, 0.0),
    ]  # fmt: skip
    assert [(answer.label, answer.start, answer.end) for answer in INFO.answers(found)] == [
        ("A", 0, 3), ("B", 4, 7),
    ]  # fmt: skip
    assert [word.others for word in found.words] == [
        (("B", pytest.approx(0.25)),), (("A", pytest.approx(0.2)),), (),
    ]  # fmt: skip
    (scaled,) = INFO.decode([{"logits": logits}], made, ("A", "B"), {"temperature": 0.5})
    assert scaled.words[0].score == pytest.approx(0.9)  # odds of 3 to 1, squared
    assert scaled.words[0].others == (("B", pytest.approx(0.1)),)


def test_an_error_names_the_tokens_that_differ():
    document = Document("1", (("text", TEXT),))

    result = INFO.error(document, gold("A", "B", None), predicted("A", "C", "C"))

    assert (result.gold, result.predicted) == ("B “met”", "C “met”")
    assert result.confidence == pytest.approx(0.8)
    assert not INFO.agrees(gold("A", "B", None), predicted("A", "C", "C"))
    assert INFO.agrees(gold("A", None, None), predicted("A", "C", "C"))
