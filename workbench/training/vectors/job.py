"""The job that trains word vectors on text files."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.runtime.vectors import files
from workbench.text.segmenters import base as segmenters
from workbench.text.segmenters import stored
from workbench.training.vectors.corpus import Corpus
from workbench.training.vectors.glove import Glove, weights
from workbench.training.vectors.sampled import Sampled

SPLITTING = 0.1  # share of the progress that splitting the text into words takes


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: inputs (text files, one text per line), output (a file of vectors),
    method, options (all of them), seed.

    Yields {"kind": "progress", "part"} and, after each epoch, {"kind": "epoch", "epoch", "loss"}.
    "stop" keeps the vectors so far. Returns output, words, dimension, tokens, epochs, losses,
    seconds. Raises SpecError for a text that cannot be used.
    """
    logging.getLogger("gensim").setLevel(logging.ERROR)
    began, options, output = time.monotonic(), params["options"], Path(params["output"])
    corpus = Corpus(folder / "corpus.txt", options.get(segmenters.OPTION, segmenters.DEFAULT))
    for share in corpus.fill([*map(Path, params["inputs"])], lowercase=options["lowercase"]):
        yield {"kind": "progress", "part": SPLITTING * share}
    model = _model(corpus, params)
    losses: list[float] = []
    stopped = False
    while len(losses) < options["epochs"] and not stopped:
        for share in model.epoch():
            part = SPLITTING + (1 - SPLITTING) * share
            command = yield {"kind": "progress", "part": part}
            stopped = stopped or command == "stop"
        losses.append(model.loss())
        command = yield {"kind": "epoch", "epoch": len(losses), "loss": losses[-1]}
        stopped = stopped or command == "stop"
    draft = output.with_name(f"{output.stem}.new{output.suffix}")
    try:
        model.save(draft)
        _read_back(draft, model.words, options["dimension"])
        os.replace(draft, output)
        stored.write(segmenters.chosen(options), output)
    finally:
        draft.unlink(missing_ok=True)
    return {
        "output": str(output),
        "words": model.words,
        "dimension": options["dimension"],
        "tokens": corpus.total,
        "epochs": len(losses),
        "losses": losses,
        "seconds": round(time.monotonic() - began, 3),
    }


def _read_back(path: Path, words: int, dimension: int) -> None:
    """Raises ModelError unless the file holds as many vectors as were trained, as far as its header
    says.
    """
    header, problems = files.header(path)
    if header is None or problems or header.width != dimension or header.words not in (0, words):
        raise ModelError(
            _(
                "The saved vectors cannot be read: {problem}.",
                problem=problems[0] if problems else _("their number or width is wrong"),
            ),
            hint=_("Choose another folder or method, and report this as a bug."),
        )


def _model(corpus: Corpus, params: Mapping[str, Any]) -> Glove | Sampled:
    if params["method"] == "glove":
        return Glove(corpus, params["options"], params["seed"])
    return Sampled(corpus, params["method"], params["options"], params["seed"])


def co_occurrences(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: inputs, options of GloVe, top: number of pairs.

    Yields progress. Returns words (size of the vocabulary), tokens, pairs (number of different
    ones, in one order) and top: [word, context, X, f(X)] of the pairs with the largest X.
    """
    options = params["options"]
    corpus = Corpus(folder / "corpus.txt", options.get(segmenters.OPTION, segmenters.DEFAULT))
    for share in corpus.fill([*map(Path, params["inputs"])], lowercase=options["lowercase"]):
        yield {"kind": "progress", "part": 0.5 * share}
    glove = Glove(corpus, options, 0)
    for done in glove.count():
        yield {"kind": "progress", "part": 0.5 + 0.5 * done / corpus.total}
    words, size = list(glove.vocabulary), glove.counts.size
    keys, values, count = np.zeros(0, np.int64), np.zeros(0), 0
    for bucket in glove.counts.buckets:
        more, counts = bucket.read()
        once = more // size <= more % size  # the table is symmetric
        count += int(once.sum())
        keys, values = np.concatenate([keys, more[once]]), np.concatenate([values, counts[once]])
        order = np.lexsort((keys, -values))[: params["top"]]
        keys, values = keys[order], values[order]
    factors = weights(torch.from_numpy(values), options["x_max"], options["alpha"]).tolist()
    pairs = zip(keys // size, keys % size, values.tolist(), factors, strict=True)
    return {
        "words": len(words),
        "tokens": corpus.total,
        "pairs": count,
        "top": [[words[row], words[column], x, factor] for row, column, x, factor in pairs],
    }
