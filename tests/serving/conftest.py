"""Models without a network: `echo(task)` predicts from the text itself, `client` asks a service."""

from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from workbench.serving.app import Service
from workbench.serving.spec import ServeLimits
from workbench.tasks import spec as tasks
from workbench.text.fields import (
    Answers,
    ClassScores,
    LabelScores,
    Number,
    Prediction,
    Relations,
    SpanScores,
    WordTag,
    WordTags,
)
from workbench.text.questions import Candidate, PredictedAnswer
from workbench.text.relations import Relation
from workbench.text.spans import Span

LOCAL = "http://127.0.0.1"


def classes(document):
    """The share of the letter a."""
    share = document.text.count("a") / max(1, len(document.text))
    return ClassScores(("A", "other"), (share, 1 - share))


def labels(document):
    share = document.text.count("a") / max(1, len(document.text))
    return LabelScores(("A", "B"), (share, 1 - share), (0.5, 0.6))


def number(document):
    return Number(float(sum(len(text) for _name, text in document.texts)))


def answers(document):
    """Each question is answered by its last word, if it is in the text."""

    def answer(question):
        word = question.rstrip("?").split()[-1]
        start = document.text.find(word)
        found = (Candidate(start, start + len(word), 0.75),) if start >= 0 else ()
        return PredictedAnswer(question, found, word if found else "", 0.0, 0.25, not found)

    return Answers(tuple(map(answer, document.questions)))


def words(document):
    """Words with a capital are names."""
    tags, place = [], 0
    for word in document.text.split():
        start = document.text.index(word, place)
        place = start + len(word)
        tags.append(WordTag(start, place, "PER" if word[0].isupper() else None, 0.9))
    return tuple(tags)


def names(document):
    tagged = words(document)
    spans = [Span(tag.start, tag.end, "PER", score=0.9) for tag in tagged if tag.label]
    return Prediction((WordTags(tagged), SpanScores(tuple(spans))))


def links(document):
    """Each span is linked to the next one."""
    pairs = zip(document.input_spans, document.input_spans[1:], strict=False)
    return Relations(tuple(Relation("next", first, second, 0.9) for first, second in pairs))


KINDS = {
    "classify": (classes, ("A", "other")),
    "pairs": (classes, ("A", "other")),
    "choice": (classes, ("1", "2")),
    "multilabel": (labels, ("A", "B")),
    "regress": (number, ()),
    "similarity": (number, ()),
    "answer": (answers, ()),
    "tag": (names, ("PER",)),
    "relations": (links, ("next",)),
    "roles": (links, ("next",)),
}


def echo(task):
    field, of = KINDS[task]

    def predict(documents):
        if any("fail" in document.text for document in documents):
            raise ValueError("no such word")
        given = [field(document) for document in documents]
        return [item if isinstance(item, Prediction) else Prediction((item,)) for item in given]

    return SimpleNamespace(info=tasks.info(task), labels=of, predict=predict)


@pytest.fixture
def service():
    """service(task, **limits) → a service of a model that needs no network."""

    def make(task="classify", token="", model=None, **limits):
        return Service(model or echo(task), "first", ServeLimits(**limits), token=token)

    return make


@pytest.fixture
def client(service):
    """client(task, **limits) → a client of its application, in this process."""
    opened = []

    def make(task="classify", **named):
        opened.append(TestClient(service(task, **named).app, base_url=LOCAL))
        return opened[-1].__enter__()

    yield make
    for item in opened:
        item.__exit__(None, None, None)
