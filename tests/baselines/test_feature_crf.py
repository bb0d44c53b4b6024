"""The CRF over word features: its features, its weights, its answers by brute force."""

import itertools
from dataclasses import replace

import numpy as np
import pycrfsuite
import pytest

from workbench.base.errors import ModelError
from workbench.baselines import job
from workbench.baselines.base import MIN_LOGIT, prepared
from workbench.baselines.feature_crf.baseline import (
    SETTINGS,
    FeatureCrf,
    described,
    shape,
    short_shape,
    word_features,
)
from workbench.runtime.decoding import bio_tags
from workbench.tasks import spec as tasks
from workbench.tasks.heads.info import SpanGold
from workbench.text.document import Document
from workbench.text.segment import tokens_of
from workbench.text.spans import Span

TAGGED = (
    "Ada/B-PER Byron/I-PER met/O Bob/B-PER in/O Oslo/B-LOC",
    "Bob/B-PER left/O Oslo/B-LOC",
    "In/O Bonn/B-LOC Ada/B-PER slept/O",
    "Eve/B-PER Smith/I-PER met/O Ada/B-PER in/O Bonn/B-LOC",
)
LABELS = ("PER", "LOC", "NEVER")
TAG, TOKEN = tasks.info("tag"), tasks.info("token")


def text_of(line):
    return " ".join(pair.partition("/")[0] for pair in line.split())


def document(text, number=0):
    return Document(f"d{number}", (("text", text),), id=number)


def gold(line, *, tokens=False):
    """Spans of words; with `tokens` one for each word but those with O, which have no tag."""
    found, at = [], 0
    for pair in line.split():
        word, _slash, tag = pair.partition("/")
        if tag.startswith("I") and not tokens:
            found[-1] = replace(found[-1], end=at + len(word))
        elif tag != "O":
            found.append(Span(at, at + len(word), tag.partition("-")[2]))
        at += len(word) + 1
    return SpanGold(tuple(found), 0)


def fitted(task=TAG, lines=TAGGED, labels=LABELS, seed=1):
    documents = [document(text_of(line), n) for n, line in enumerate(lines)]
    golds = [gold(line, tokens=task is TOKEN) for line in lines]
    return FeatureCrf.fit(task, documents, golds, labels, seed=seed)


def predicted(baseline, *texts, task=TAG, labels=LABELS):
    given = prepared(task, [document(text, n) for n, text in enumerate(texts)])
    logits = [{"logits": rows} for rows in baseline.logits(given)]
    return task.decode(logits, given, labels, baseline.decoder)


def features_of(text):
    given = document(text)
    return word_features(given, prepared(TAG, [given]).words[0])


def test_the_features_of_a_word_are_its_form_and_its_neighbours():
    line = features_of("Bob saw A380s today")

    assert set(line[2]) == {
        *("bias", "word=a380s", "short=Xdx", "shape=Xdddx", "title", "digit"),
        *("prefix=a", "prefix=a3", "prefix=a38", "prefix=a380"),
        *("suffix=s", "suffix=0s", "suffix=80s", "suffix=380s"),
        *("-2:word=bob", "-2:short=Xx", "-2:title", "-1:word=saw", "-1:short=x"),
        *("+1:word=today", "+1:short=x", "pair-1=saw a380s", "pair+1=a380s today"),
    }
    assert "begin" in line[0] and "end" in line[3]
    assert shape("Öl-7") == "Xx-d" and short_shape("McDonald's") == "XxXx'x"


def test_every_feature_of_a_word_is_described():
    given = document("Ada's A380 met x-ray , 7 .")
    names = {name for row in word_features(given, tokens_of(given)) for name in row}

    found = {name: described(name) for name in names}

    assert not [text for text in found.values() if "=" in text or ":word" in text]
    assert found["word=met"] == "word met" and found["bias"] == "every word"
    assert described("-2:short=Xx") == "2 words before: short shape Xx"
    assert described("+1:title") == "1 word after: capitalized"
    assert described("pair+1=a:b c") == "this and the next word: a:b c"


def test_neighbours_end_with_the_sentence():
    line = features_of("He left. She stayed.")

    assert "end" in line[2] and "begin" in line[3]
    assert not [name for name in line[3] if name.startswith(("-1", "-2", "pair-1"))]


def test_spans_are_learned_with_words_of_the_same_form():
    (answer,) = predicted(fitted(), "Bob met Ada Lovelace in Paris")

    assert [(span.start, span.end, span.label) for span in answer.spans] == [
        (0, 3, "PER"),
        (8, 20, "PER"),
        (24, 29, "LOC"),
    ]


def test_answers_are_the_best_valid_sequence_of_all_and_scores_its_marginals():
    baseline, text = fitted(), "Ada met Eve Smith"
    tags = bio_tags(LABELS)
    rows = baseline.emissions(features_of(text))
    weights = {}
    for path in itertools.product(range(len(tags)), repeat=4):
        names = ["O", *(tags[at] for at in path)]
        if any(to[0] == "I" and left[2:] != to[2:] for left, to in itertools.pairwise(names)):
            continue
        score = sum(rows[at, tag] for at, tag in enumerate(path))
        score += sum(baseline.weights.step[pair] for pair in itertools.pairwise(path))
        weights[path] = np.exp(score)
    best = max(weights, key=weights.__getitem__)

    (answer,) = predicted(baseline, text)

    assert [word.label for word in answer.words] == [tags[at][2:] or None for at in best]
    whole = sum(weights.values())
    for at, word in enumerate(answer.words):
        expected = sum(w for path, w in weights.items() if path[at] == best[at]) / whole
        assert word.score == pytest.approx(expected, abs=1e-9)


def test_marginals_of_tags_equal_those_of_crfsuite(tmp_path):
    """Every word is tagged, so that both train on the same sequences."""
    lines = ("a/x-A b/x-B c/x-A", "b/x-B a/x-A", "c/x-B c/x-A a/x-A", "a/x-B b/x-B")
    names = ("A", "B")
    trainer = pycrfsuite.Trainer(params=SETTINGS, verbose=False)
    for line in lines:
        trainer.append(features_of(text_of(line)), [pair[-1] for pair in line.split()])
    trainer.train(str(tmp_path / "model"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "model"))
    tagger.set(features_of("c a b d"))

    baseline = fitted(TOKEN, lines, labels=names)

    (rows,) = baseline.logits(prepared(TOKEN, [document("c a b d")]))
    expected = [[tagger.marginal(name, at) for name in names] for at in range(4)]
    assert np.exp(rows) == pytest.approx(np.array(expected), abs=1e-4)
    assert baseline.decoder == {}


def test_words_without_a_gold_tag_are_not_learned_from():
    baseline = fitted(TOKEN, ("Ada/x-A sleeps/O", "in/x-B Oslo/O"), labels=("A", "B"))

    assert "word=ada" in baseline.features and "word=sleeps" not in baseline.features


def test_a_label_that_training_never_saw_is_never_predicted():
    baseline = fitted()

    assert baseline.weights.seen.sum() == 4  # O, B-PER, I-PER, B-LOC
    rows = baseline.emissions(features_of("Ada"))
    assert (rows[0, ~baseline.weights.seen] == MIN_LOGIT).all()


@pytest.mark.parametrize("task", [TAG, TOKEN], ids=["tag", "token"])
def test_saved_and_loaded_it_answers_alike_whatever_the_seed(task, tmp_path):
    item, other = fitted(task, seed=1), fitted(task, seed=2)
    item.save(tmp_path)

    loaded = FeatureCrf.load(tmp_path)

    texts = ("Ada Smith met Bob in Oslo", "", "Eve", "...")
    answers = [answer.to_json() for answer in predicted(item, *texts, task=task)]
    for again in (other, loaded):
        assert [a.to_json() for a in predicted(again, *texts, task=task)] == answers
    assert loaded.parameters == item.parameters > 0


def test_without_examples_it_answers_without_spans():
    baseline = fitted(lines=())

    (answer,) = predicted(baseline, "Ada met Bob")

    assert answer.spans == ()


def test_damaged_weights_are_reported(tmp_path):
    fitted().save(tmp_path)
    (tmp_path / "weights.npz").write_bytes(b"PK")
    (tmp_path / job.DESCRIPTION).write_text(
        '{"baseline": "feature_crf", "task": "tag", "labels": []}'
    )

    with pytest.raises(ModelError, match="holds no baseline"):
        job.Trained.load(tmp_path)
