"""Words, windows and targets of tagging; nothing is lost at a window's edge."""

import numpy as np
import pytest

from workbench.runtime.tokenizer import Tokenizer
from workbench.tasks.base import IGNORED, Features
from workbench.tasks.spec import Gold
from workbench.tasks.tagging import Tagging, borders_of
from workbench.text.document import Document
from workbench.text.spans import Span

LABELS = ("P", "Q")
TAGS = Tagging().outputs_of(LABELS)


@pytest.fixture
def tokenizer(tiny_model):
    return Tokenizer.load(tiny_model)


def features(tokenizer, text, spans=(), *, length=64, tokens=None, subwords="first"):
    document = Document("a", (("text", text),), tokens={"text": tokens} if tokens else {})
    return Tagging().features(
        [document],
        tokenizer,
        LABELS,
        length,
        golds=[Gold(None, tuple(spans))],
        options={"label_subwords": subwords},
    )


def tags_of(found, item=0):
    return [None if one == IGNORED else TAGS[one] for one in found.targets[item]]


def test_the_first_subword_of_each_word_is_learned(tokenizer):
    found = features(tokenizer, "ada trams late", [Span(0, 9, "P")])  # ada | tram ##s | late

    assert tags_of(found) == [None, "B-P", "I-P", None, "O", None]


def test_all_subwords_continue_their_word_where_asked(tokenizer):
    found = features(
        tokenizer, "trams late bobing", [Span(0, 5, "Q"), Span(11, 17, "P")], subwords="all"
    )

    assert tags_of(found) == [None, "B-Q", "I-Q", "O", "B-P", "I-P", None]


def test_the_documents_own_tokens_go_before_its_words(tokenizer):
    document = Document(
        "a", (("text", "a.b  c"),), tokens={"text": ((0, 3), (3, 4), (5, 5), (5, 6))}
    )

    assert borders_of(document) == [(0, 3), (5, 6)]
    assert borders_of(Document("a", (("text", "a.b"),))) == [(0, 1), (1, 2), (2, 3)]


def test_a_span_inside_a_word_is_counted_as_shifted(tokenizer):
    assert features(tokenizer, "ada bob", [Span(0, 2, "P")]).shifted == 1
    assert features(tokenizer, "ada bob", [Span(0, 7, "P")]).shifted == 0


def test_every_word_of_a_long_text_is_learned_exactly_once(tokenizer):
    text = " ".join(["tram bus late ada bob"] * 20)

    found = features(
        tokenizer, text, [Span(0, 8, "P"), Span(len(text) - 3, len(text), "Q")], length=16
    )

    learned = np.concatenate([one[one != IGNORED] for one in found.targets])
    assert len(found.items) > 8 and len(learned) == 100
    assert [TAGS[one] for one in learned[:2]] == ["B-P", "I-P"] and TAGS[learned[-1]] == "B-Q"


def test_answers_of_windows_are_stitched_in_the_order_of_the_text(tokenizer):
    """Logits that name each word by its first letter: whatever the window, each word gets its own answer."""
    text = " ".join(["ada tram bob late"] * 15)
    found = features(tokenizer, text, length=12)
    wanted = {"a": "B-P", "b": "B-Q"}
    logits = []
    for item in found.items:
        table = np.zeros((len(item.ids), len(TAGS)), np.float32)
        for row, (start, end) in enumerate(item.borders):
            table[row, TAGS.index(wanted.get(text[start:end][:1], "O"))] = 9
        logits.append(table)

    answer = Tagging().decode(logits, found, LABELS)[0]

    assert [text[one.start : one.end] for one in answer.spans] == ["ada", "bob"] * 15
    assert [text[one.start : one.end] for one in answer.words] == text.split()


def test_texts_without_words_and_words_without_subwords_are_outside(tokenizer):
    documents = [
        Document("a", (("text", ""),)),
        Document("b", (("text", " \n"),)),
        Document("c", (("text", "\u200b tram"),)),
    ]
    found = Tagging().features(documents, tokenizer, LABELS, 32)
    logits = [np.zeros((len(one.ids), len(TAGS)), np.float32) for one in found.items]

    answers = Tagging().decode(logits, found, LABELS)

    assert [len(one.words) for one in answers] == [0, 0, 2] and not any(
        one.spans for one in answers
    )
    assert answers[2].words[0].label is None


def test_joined_features_keep_their_owners(tokenizer):
    one, two = features(tokenizer, "ada " * 40, length=16), features(tokenizer, "bob")

    joined = Features.join([one, two])

    assert joined.owner.tolist() == [0] * len(one.items) + [1] and len(joined.targets) == len(
        joined.items
    )
    assert len(joined.documents) == len(joined.words) == len(joined.alignments) == 2
