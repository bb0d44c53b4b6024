"""The job that orders the documents of a layer by a strategy."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from workbench.active.base import KIND, VECTORS, Decisions, Pool, Strategy
from workbench.active.ordering import ordered
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.registry import contract_hint, registry
from workbench.inspection.corpus.index import CorpusIndex
from workbench.text import result_view
from workbench.text.fields import Prediction

CHUNK = 1000  # documents whose predictions are in memory together
FIELDS = ("decisions", "second")

Messages = Generator[dict[str, Any], str | None, dict[str, Any]]


def run(params: Mapping[str, Any], folder: Path) -> Messages:
    """Job target.

    params: strategy, seed, share (of control documents), labels; ids (.npy, of the documents to
    order), known (.npy, of the labelled ones); predictions: up to two files with a line of JSON per
    document, in the order of ids; index: of vectors, "" without; output (.npz): ids, scores,
    control, in order.

    Yields {"kind": "progress", "done", "total"}. Returns {"documents"}.
    """
    strategy: Strategy = registry().get(KIND, params["strategy"])()
    ids = np.load(params["ids"])
    yield {"kind": "progress", "done": 0, "total": len(ids)}
    seed = int(params["seed"])
    if not strategy.each:
        scores = _scores(strategy, params, _whole(strategy, params, ids))
    else:
        scores = np.zeros(len(ids), np.float32)
        start = 0
        for pool in _parts(params):
            scores[start : start + pool.size] = _scores(strategy, params, pool)
            start += pool.size
            yield {"kind": "progress", "done": start, "total": len(ids)}
    order = ordered(scores, share=float(params["share"]), seed=seed)
    np.savez(
        params["output"],
        ids=ids[order.rows],
        scores=scores[order.rows].astype(np.float32),
        control=order.control,
    )
    yield {"kind": "progress", "done": len(ids), "total": len(ids)}
    return {"documents": len(ids)}


def _scores(strategy: Strategy, params: Mapping[str, Any], pool: Pool) -> np.ndarray:
    """float (N,). Raises ModelError if they are not one number per document."""
    scores = np.asarray(strategy.scores(pool))
    if scores.shape == (pool.size,) and not np.isnan(scores).any():
        return scores
    name = str(params["strategy"])
    message = _("The strategy {name} returned scores of the shape {shape}, expected ({n},).")
    if scores.shape == (pool.size,):
        message = _("The strategy {name} returned scores that are not numbers.")
    message = message.format(name=name, shape=scores.shape, n=pool.size)
    raise ModelError(message, hint=contract_hint(name))


def _parts(params: Mapping[str, Any]) -> Iterator[Pool]:
    """The documents in chunks, with their predictions."""
    files = [_predictions(Path(path)) for path in params["predictions"]]
    while chunks := [list(islice(file, CHUNK)) for file in files]:
        if not chunks[0]:
            return
        decisions: dict[str, Any] = {
            field: decisions_of(chunk, params["labels"])
            for field, chunk in zip(FIELDS, chunks, strict=False)
        }
        yield Pool(len(chunks[0]), seed=int(params["seed"]), **decisions)


def _predictions(path: Path) -> Iterator[Prediction]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            yield Prediction.from_json(json.loads(line))


def _whole(strategy: Strategy, params: Mapping[str, Any], ids: np.ndarray) -> Pool:
    """All documents at once, with their vectors if the strategy reads them."""
    seed = int(params["seed"])
    if VECTORS not in strategy.needs:
        return Pool(len(ids), seed=seed)
    index = CorpusIndex(params["index"])
    rows = index.vectors(index.existing_layer(-1))
    place = {int(id): at for at, id in enumerate(index.places[:, 0])}
    places = np.array([place.get(int(id), -1) for id in ids], int)
    known = [place[int(id)] for id in np.load(params["known"]) if int(id) in place]
    vectors = rows[np.maximum(places, 0)].astype(np.float32)
    vectors[places < 0] = 0.0  # not in the sample of the index
    return Pool(len(ids), seed=seed, vectors=vectors, known=np.asarray(rows[known]))


def decisions_of(predictions: Sequence[Prediction], labels: Sequence[str]) -> Decisions:
    """Decisions per document, see `ResultView.decisions`; none for texts that the model could not
    read.
    """
    views = [result_view.of(prediction) for prediction in predictions]
    every = [view.decisions(item, labels) for view, item in zip(views, predictions, strict=True)]
    known = next((view for view in views if view is not result_view.UNKNOWN), None)
    outside = known is None or not known.on_document
    readable = [rows for rows, view in zip(every, views, strict=True) if view is known]
    none = readable[0][:0] if readable else np.zeros((0, len(labels) + 1))
    rows = [rows if view is known else none for rows, view in zip(every, views, strict=True)]
    return Decisions.of(rows, outside=outside)
