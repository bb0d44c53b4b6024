"""What a format costs: the score on the documents with gold, and the time per text; and the unusual
texts that every format is checked on.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from workbench.exporters.model.results import Verification
from workbench.exporters.model.verify import Answering
from workbench.metrics import paired
from workbench.metrics.evaluation import Measured
from workbench.metrics.report import intervals
from workbench.tasks.predictor import Predictor
from workbench.tasks.spec import TaskInfo
from workbench.text.document import (
    CHOICES,
    TEXT,
    TEXT_B,
    Document,
    with_choices,
    with_questions,
)
from workbench.text.fields import Prediction
from workbench.text.segment import tokens_of
from workbench.text.spans import Span

TIMED, TIMED_TOGETHER, TOGETHER = 20, 64, 32  # texts alone and in batches, and a batch
REPEATS = 3  # of each measurement of time
ROUNDS = 2000  # of the bootstrap
CONNECTED = 3  # words of an unusual text that a model of relations connects, with the whole text
TEXTS = (
    "",
    "a",
    "👩‍👩‍👧‍👦 🚋🚋🚋 late again 😡 10/10 👍🏽",
    "القطار متأخر مرة أخرى، ولا أحد يعرف السبب.",
    "הרכבת מאחרת שוב — line 42 — ואיש אינו יודע למה.",
    "e\u0301tude\u200b\u00a0naïve\tﬁn  \u2028 ½ 漢字とかな",
)


def extremes(info: TaskInfo, documents: Sequence[Document], max_length: int) -> list[Document]:
    """Unusual texts in the form of the task, with negative ids: empty, one character, emoji, from
    right to left, rare characters, and one that is longer than the model reads.
    """
    words = " ".join(document.text for document in documents[:50]).split() or ["tram", "late"]
    long = " ".join((words * (1 + max_length // len(words)))[: max_length + 20])
    return [
        replace(_in_form(info, text), id=-number) for number, text in enumerate((*TEXTS, long), 1)
    ]


def _in_form(info: TaskInfo, text: str) -> Document:
    # transformers takes an empty second text for none
    if info.asks:
        return with_questions("", text or " ", ("Who was late?", text[:40] or "?"))
    if info.texts == CHOICES:
        return with_choices("", text, ("yes", text[:40] or "no"))
    pair = zip((TEXT, TEXT_B)[: info.texts], (text, text[::2] or "a"), strict=False)
    document = Document("", tuple(pair))
    if not info.connects:
        return document
    words = [*tokens_of(document)[:CONNECTED], (0, len(text))]
    spans = tuple(Span(start, end, "") for start, end in words if start < end)
    return replace(document, input_spans=spans)


def scored(
    check: Verification,
    predictor: Predictor,
    golds: Mapping[int, Any],
    reference: Mapping[int, Prediction],
    predictions: Mapping[int, Prediction] | None = None,
) -> Verification:
    """The comparison with the main score on the documents that have gold.

    golds, reference, predictions: gold, and predictions of the original and of the format, by
    document id. Without predictions: the score of the original itself.
    """
    ids = [id for id in golds if id in reference]
    if not ids:
        return check
    info = predictor.task.info
    gold = [golds[id] for id in ids]
    own = [(predictions or reference)[id] for id in ids]
    check = replace(check, score_name=info.main, scored=len(ids))
    statistic = info.statistic(gold, own, predictor.labels)
    if statistic is None:
        return replace(check, score=Measured(info.score(gold, own).get(info.main)))
    score = intervals(statistic, len(ids), rounds=ROUNDS, reported=()).scores[info.main]
    if predictions is None:
        return replace(check, score=score)
    before = info.statistic(gold, [reference[id] for id in ids], predictor.labels)
    if before is None:
        return replace(check, score=score)
    change = paired.bootstrap(statistic, before, len(ids), rounds=ROUNDS).scores[info.main]
    return replace(check, score=score, change=Measured(change.value, change.low, change.high))


def timed(check: Verification, answering: Answering, documents: Sequence[Document]) -> Verification:
    """The comparison with the milliseconds per text; without texts, as it is."""
    if not documents:
        return check
    answering.predict(documents[:1])  # the first call prepares buffers
    alone = [_milliseconds(answering, [document]) for document in documents[:TIMED]]
    batches = batched(documents[:TIMED_TOGETHER], TOGETHER)
    together = [_milliseconds(answering, batch) for batch in batches]
    return replace(check, ms_1=median(alone), ms_32=median(together))


def _milliseconds(answering: Answering, documents: Sequence[Document]) -> float:
    """Of one text; the fastest of REPEATS, as other programs only make it slower."""
    seconds = []
    for _repeat in range(REPEATS):
        start = time.perf_counter()
        answering.predict(documents)
        seconds.append(time.perf_counter() - start)
    return 1000 * min(seconds) / len(documents)


def batched(documents: Sequence[Document], size: int) -> list[Sequence[Document]]:
    return [documents[start : start + size] for start in range(0, len(documents), size)]


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
