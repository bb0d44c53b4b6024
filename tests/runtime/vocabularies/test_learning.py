"""Tokenizers learned on a small text, by each method."""

import re
from collections import Counter

import pytest

from workbench.base.errors import SpecError
from workbench.runtime.preparers.subwords import Subwords
from workbench.runtime.vocabularies.learning import (
    BPE,
    SPECIAL,
    UNIGRAM,
    WORDPIECE,
    WORDPIECE_SCORE,
    run,
)
from workbench.runtime.vocabularies.measures import measure
from workbench.runtime.vocabularies.steps import Learner
from workbench.text.document import Document

TEXTS = ["The hug of the pug was a pun.", "A bun and a hug for the pugs.", "No pun, no bun!"] * 20


def learn(tmp_path, kind, **changes):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    params = {
        "input": str(tmp_path / "texts.txt"),
        "output": str(tmp_path / kind),
        **{"kind": kind, "size": 60, "lowercase": True, "min_count": 1, **changes},
    }
    job, seen = run(params, tmp_path), []
    while True:
        try:
            seen.append(next(job))
        except StopIteration as end:
            return end.value, seen


@pytest.mark.parametrize("kind", [WORDPIECE, WORDPIECE_SCORE, BPE, UNIGRAM])
def test_a_learned_tokenizer_loads_and_knows_its_text(tmp_path, kind):
    result, seen = learn(tmp_path, kind)
    preparer = Subwords.load(tmp_path / kind)
    fit = measure(preparer, TEXTS)

    assert result["size"] == preparer.size <= 60 and result["words"] > 300
    assert seen and seen[-1]["part"] <= 1
    assert fit.unknown == 0 and 1 <= fit.fertility < 4 and fit.texts == 60
    pieces = preparer.pieces(preparer.whole([Document("1", (("text", "a hug"),))], 99).inputs[0])
    assert pieces[0] == "[CLS]" and pieces[-1] == "[SEP]"


def test_the_units_of_the_score_rule_follow_the_characters_in_the_order_of_their_merges(tmp_path):
    learn(tmp_path, WORDPIECE_SCORE, size=40)
    backend = Subwords.load(tmp_path / WORDPIECE_SCORE).tokenizer.backend
    counts = Counter(word for text in TEXTS for word in re.findall(r"\w+|[^\w\s]", text.lower()))
    learner = Learner(counts)

    known = len(SPECIAL) + len(learner.units)
    merges = [learner.next().merged for _step in range(3)]
    assert [backend.id_to_token(known + at) for at in range(3)] == merges


def test_a_text_without_words_is_refused(tmp_path):
    with pytest.raises(SpecError, match="no words that occur at least 10000 times"):
        learn(tmp_path, WORDPIECE, min_count=10_000)
