"""Jobs that train a baseline and predict with it, in a worker without torch."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from workbench.base import checksums, owned_folder
from workbench.base.costs import PredictionCost
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.base.registry import contract_hint, registry
from workbench.baselines.base import Baseline, prepared
from workbench.baselines.spec import DESCRIPTION, KIND
from workbench.baselines.spec import info as baseline_info
from workbench.runtime.inputs import Prepared
from workbench.tasks import agreement
from workbench.tasks import answers as files
from workbench.tasks import spec as tasks
from workbench.tasks.spec import TaskInfo, evaluate
from workbench.text.dataset import Record, read
from workbench.text.document import Document
from workbench.text.fields import Prediction
from workbench.text.labels import Layer
from workbench.training.results import Scoring, TrainResult
from workbench.version import __version__

MODEL, PREDICTIONS = "model", "predictions.jsonl"
CHUNK = 512  # documents between two messages
READ_BACK = 64  # documents that a saved baseline is compared on

Messages = Generator[dict[str, Any], str | None, dict[str, Any]]


@dataclass(frozen=True)
class Trained:
    """A baseline with its task and labels; `decoder`: parameters for decoding."""

    baseline: Baseline
    task: TaskInfo
    labels: tuple[str, ...]
    decoder: Mapping[str, Any]

    def predict(self, documents: Sequence[Document]) -> list[Prediction]:
        """One prediction for each document, in order."""
        prepared_documents = prepared(self.task, documents)
        name = next(iter(self.task.logits))
        logits = [{name: row} for row in self.logits(prepared_documents)]
        decoder = {**self.baseline.decoder, **self.decoder}
        return self.task.decode(logits, prepared_documents, self.labels, decoder)

    def logits(self, prepared_documents: Prepared) -> list[np.ndarray]:
        """The logits of the baseline. Raises ModelError if they are not one array per document."""
        logits = self.baseline.logits(prepared_documents)
        id, count = self.baseline.info.id, len(prepared_documents.documents)
        if not isinstance(logits, (list, tuple, np.ndarray)) or len(logits) != count:
            size = f" ({len(logits)})" if hasattr(logits, "__len__") else ""
            message = _(
                "`logits` of {baseline} returned {kind}, expected one array per document ({n}).",
                baseline=id,
                kind=f"{type(logits).__name__}{size}",
                n=count,
            )
            raise ModelError(message, hint=contract_hint(id))
        names = self.task.output_names(self.labels)
        for row in logits:
            if np.shape(row)[-1:] != (len(names),):
                message = _(
                    "`logits` of {baseline} have the shape {shape}, expected one number for each "
                    "of `output_names` of the task {task}: {names}.",
                    baseline=id,
                    shape=np.shape(row),
                    task=self.task.id,
                    names=", ".join(names),
                )
                raise ModelError(message, hint=contract_hint(id))
        return list(logits)

    @classmethod
    def load(cls, folder: Path) -> Trained:
        """Raises ModelError if the folder holds no baseline, or its files are damaged."""
        checksums.ensure_unchanged(folder)
        try:
            raw = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
            kind: type[Baseline] = registry().get(KIND, raw[KIND])
            task = tasks.info(raw["task"])
            baseline = kind.load(folder)
            return cls(baseline, task, tuple(raw["labels"]), raw.get("decoder") or {})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                _(
                    "{folder} holds no baseline that can be read: {error!r}.",
                    folder=folder,
                    error=error,
                ),
                hint=_("Add the baseline again."),
            ) from error


def fit(params: Mapping[str, Any], folder: Path) -> Messages:
    """Job target. params: baseline, task, layer, seed, data (path of a snapshot), splits (ids).

    Writes `folder/model` and predictions on dev (and test); returns a TrainResult as JSON.
    """
    began = time.monotonic()
    yield {"kind": "progress", "part": 0.0}
    layer, examples = _data(params)
    trained = _trained(params["baseline"], params, layer, examples)
    yield {"kind": "progress", "part": 0.6}
    _save(trained, params, folder)
    again = examples["dev"].documents or examples["train"].documents
    _read_back(trained, again[:READ_BACK], folder)
    result = _scored(trained, examples, folder)
    yield {"kind": "progress", "part": 1.0}
    seconds, cpu_seconds = round(time.monotonic() - began, 3), round(time.process_time(), 3)
    return replace(result, seconds=seconds, cpu_seconds=cpu_seconds).to_json()


def measure(params: Mapping[str, Any], folder: Path) -> Messages:
    """Job target. params as for `fit`, with `baselines` in place of one; writes nothing.

    Returns {"scores": {baseline: scores on dev}}.
    """
    layer, examples = _data(params)
    dev, scores = examples["dev"], {}
    for number, baseline in enumerate(params["baselines"]):
        yield {"kind": "progress", "part": number / len(params["baselines"])}
        trained = _trained(baseline, params, layer, examples)
        predictions = trained.predict(dev.documents)
        scores[baseline] = trained.task.score(dev.golds, predictions)
    return {"scores": scores}


def _data(params: Mapping[str, Any]) -> tuple[Layer, dict[str, _Examples]]:
    task, data = tasks.info(params["task"]), read(Path(params["data"]))
    layer = next(layer for layer in data.layers if layer.name == params["layer"])
    return layer, _examples(task, data.records, layer.name, params["splits"])


def _trained(
    id: str, params: Mapping[str, Any], layer: Layer, examples: Mapping[str, _Examples]
) -> Trained:
    """A baseline trained on train, with decoding parameters fitted on dev."""
    task, train, dev = tasks.info(params["task"]), examples["train"], examples["dev"]
    kind: type[Baseline] = registry().get(KIND, id)
    seed = int(params.get("seed", 0))
    baseline = kind.fit(task, train.documents, train.golds, layer.names, seed=seed)
    trained = Trained(baseline, task, layer.names, {})
    if not baseline_info(id).fits_decoder:
        return trained
    fitted = task.fit(dev.golds, trained.predict(dev.documents), layer.names)
    return replace(trained, decoder=fitted)


@dataclass(frozen=True)
class _Examples:
    """The usable documents of a split, and the gold of each."""

    documents: list[Document]
    golds: list[Any]


def _examples(
    task: TaskInfo,
    records_of_task: Sequence[Record],
    layer: str,
    splits: Mapping[str, Sequence[int]],
) -> dict[str, _Examples]:
    usable = {
        record.document.id: record
        for record in records_of_task
        if tasks.usable(task, record, layer)
    }
    examples = {}
    for split in ("train", "dev", "test"):
        records = [usable[id] for id in splits.get(split, ()) if id in usable]
        golds = [task.gold(record, layer) for record in records]
        examples[split] = _Examples([record.document for record in records], golds)
    return examples


def _scored(trained: Trained, examples: Mapping[str, _Examples], folder: Path) -> TrainResult:
    """Predict dev and test, write the predictions, and score them; times are left out."""
    task, before = trained.task, time.process_time()
    predictions_by_split = {
        split: trained.predict(examples[split].documents)
        for split in ("dev", "test")
        if examples[split].documents
    }
    predicting = PredictionCost(
        sum(map(len, predictions_by_split.values())), time.process_time() - before
    )
    evaluations = {}
    with open(folder / PREDICTIONS, "w", encoding="utf-8", newline="\n") as file:
        for split, predictions in predictions_by_split.items():
            documents, golds = examples[split].documents, examples[split].golds
            files.write_answers(file, documents, predictions, split=split)
            scores = task.score(golds, predictions)
            evaluations[split] = evaluate(task, split, documents, golds, predictions, scores)
    return TrainResult(
        evaluations=evaluations,
        used={split: len(split_examples.documents) for split, split_examples in examples.items()},
        cut=0,
        device="cpu",
        versions=_versions(),
        parameters=trained.baseline.parameters,
        trained_parameters=trained.baseline.parameters,
        predicting=predicting,
        scoring=Scoring.of(task),
    )


def _save(trained: Trained, params: Mapping[str, Any], folder: Path) -> None:
    description = {
        KIND: params["baseline"],
        "task": trained.task.id,
        "layer": params["layer"],
        "labels": list(trained.labels),
        "seed": params.get("seed", 0),
        "decoder": dict(trained.decoder),
        "versions": _versions(),
    }

    def fill(draft: Path) -> None:
        trained.baseline.save(draft)
        text = json_text(description, indent=1)
        (draft / DESCRIPTION).write_text(text, encoding="utf-8")
        checksums.write(draft)

    owned_folder.replace(folder / MODEL, fill)


def _read_back(trained: Trained, documents: Sequence[Document], folder: Path) -> None:
    """Load the saved baseline. Raises ModelError unless it gives the logits of the fitted one."""
    again = Trained.load(folder / MODEL)
    prepared_documents = prepared(trained.task, documents)
    ours, theirs = (
        [{"logits": row} for row in item.logits(prepared_documents)] for item in (trained, again)
    )
    agreement.ensure_equal(folder / MODEL, ours, theirs)


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {
        "glossbench": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": version("scikit-learn"),
    }


def predict(params: Mapping[str, Any], folder: Path) -> Messages:
    """Job target. params: model (folder), input, output (JSON lines), as `tasks.session.run`."""
    trained, output = Trained.load(Path(params["model"])), Path(params["output"])
    done, stopped, began = 0, False, time.process_time()
    with open(output, "w", encoding="utf-8", newline="\n") as file:
        documents = iter(files.read_documents(Path(params["input"])))
        for chunk in iter(lambda: list(islice(documents, CHUNK)), []):
            command = yield {"kind": "progress", "done": done}
            files.write_answers(file, chunk, trained.predict(chunk))
            done += len(chunk)
            if stopped := command == "stop":
                break
    yield {"kind": "progress", "done": done}
    return {
        "documents": done,
        "cut": 0,
        "cpu_seconds": time.process_time() - began,
        "output": str(output),
        "device": "cpu",
        "stopped": stopped,
    }
