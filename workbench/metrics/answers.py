"""Scores of predicted answers to questions: exact match and F1, as in the SQuAD script.

Standard library only. Source: Rajpurkar et al. 2016 and 2018, evaluate-v2.0.py.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(answer: str) -> str:
    """Lower case, without ASCII punctuation, English articles and superfluous white space."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(gold: str, predicted: str) -> float:
    """1 if the normalised answers are equal, else 0."""
    return float(normalised(gold) == normalised(predicted))


def f1(gold: str, predicted: str) -> float:
    """F1 of the tokens of the normalised answers, with repetition.

    If either has no tokens (a question without an answer), 1 if both have none, else 0.
    """
    ours, theirs = normalised(gold).split(), normalised(predicted).split()
    if not ours or not theirs:
        return float(ours == theirs)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(theirs), shared / len(ours)
    return 2 * precision * recall / (precision + recall)


def scores(golds: Sequence[Sequence[str]], predicted: Sequence[str]) -> dict[str, float]:
    """`answer_exact_match` and `answer_f1`: means over questions of the best gold answer.

    golds: the answers of each question; none, or only answers without tokens, means that it has no
    answer. 0 without questions. Raises ValueError if the two differ in length.
    """
    if len(golds) != len(predicted):
        raise ValueError(f"answers of {len(golds)} questions, but {len(predicted)} predictions")
    exact, shared = 0.0, 0.0
    for answers, text in zip(golds, predicted, strict=True):
        gold_answers = [answer for answer in answers if normalised(answer)] or [""]
        exact += max(exact_match(answer, text) for answer in gold_answers)
        shared += max(f1(answer, text) for answer in gold_answers)
    n = max(1, len(golds))
    return {"answer_exact_match": exact / n, "answer_f1": shared / n}
