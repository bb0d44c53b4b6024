"""The first batch of a training as text: what the model gets, and where the loss is taken."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np

from workbench.base.i18n import _
from workbench.models import device as devices
from workbench.models import spec as models
from workbench.models.base import Encoder, LoadOptions
from workbench.runtime.preparers.replies import REPLIED
from workbench.runtime.preparers.subwords import Subwords
from workbench.tasks import model as networks
from workbench.tasks.base import IGNORED, Features, Task
from workbench.text.dataset import read
from workbench.training import batches, prepare
from workbench.training.events import LogMessage
from workbench.training.plan import Plan, input_length
from workbench.training.spec import TrainSpec


def show_batch(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: spec, data, splits, plan, as for a training, and batches, 1 by default.

    Returns {"task", "rows", "balance"}. rows: for each input "document" (key), "texts", "units"
    ({"input", "target"}, None without a loss; "input" is "" in a text to be written) and "notes"
    (targets of the whole input, by name, and its weight in the loss). balance: see `Balance.rows`.
    With several batches also "more", the rows of each of the others.
    """
    spec, data = TrainSpec.from_json(params["spec"]), read(Path(params["data"]))
    yield LogMessage(_("Loading {model}", model=spec.model_name or spec.model)).to_json()
    labels = prepare.labels_of(spec, data)
    records = prepare.records_of(spec, data, params.get("splits"))
    prepare.check(spec, records, labels)
    prepare.settle(spec.seed, devices.pick("cpu"))
    task, info = networks.task_of(spec.task), spec.info
    task.info = info
    golds = [
        gold for record in records["train"] if (gold := info.gold(record, spec.layer)) is not None
    ]
    setting = networks.Setting.new(task, labels, golds, spec.all_options, spec.seed)
    card = models.read_folder(spec.model, allow_pickle=spec.allow_pickle)
    loading = LoadOptions(seed=spec.seed, allow_pickle=spec.allow_pickle)
    encoder = networks.build(card, setting, loading).encoder
    length = input_length(spec.option("max_length"), encoder.max_length)
    documents = [record.document for record in records["train"]]
    prepared = info.prepare(encoder.preparer, documents, length)
    options = spec.all_options
    features = Features(prepared, task.targets(prepared, golds, labels, options))
    features = task.sampled(features, options, np.random.default_rng((spec.seed, 0)))
    balance = task.balance(features.targets, labels, options)
    planned, items = Plan.from_json(params.get("plan")), len(features.lengths)
    plan = prepare.plan_for(encoder, spec, golds, items, len(labels), planned)
    rng = np.random.default_rng(spec.seed)
    count = int(params.get("batches", 1))
    drawn = islice(batches.drawn(features.lengths, plan.batch_size, rng, balance.often), count)
    names = info.output_names(labels)
    predicted = frozenset(task.loss_targets.values())
    first, *others = [
        [
            _row(features, encoder, int(position), names, predicted, task, labels)
            for position in features.positions(chosen)
        ]
        for chosen in drawn
    ]
    batch = {"task": spec.task, "rows": first, "balance": balance.rows()}
    return {**batch, **({"more": others} if count > 1 else {})}


def _row(
    features: Features,
    encoder: Encoder,
    position: int,
    names: Sequence[str],
    averaged: frozenset[str],
    task: Task,
    labels: Sequence[str],
) -> dict[str, Any]:
    """averaged: names of the targets that a loss is averaged over."""
    weights = task.criterion.weights
    encoded = features.prepared.inputs[position]
    document = features.prepared.documents[int(features.prepared.owner[position])]
    targets: list[str | None] = [None] * len(encoded)
    notes = {}
    written: list[dict[str, str | None]] = []
    for name, rows in features.targets.items():
        value = rows[position]
        if not names and value.ndim == 1 and value.dtype == np.int64:  # tokens of a text to write
            tokenizer = cast(Subwords, encoder.preparer).tokenizer
            written = [{"input": "", "target": tokenizer.piece(id)} for id in value.tolist()]
        elif name in averaged and value.shape == (len(encoded),) and value.dtype == np.int64:
            targets = [None if item == IGNORED else names[item] for item in value.tolist()]
        elif name in averaged and value.shape == (len(names),) and value.dtype == np.int64:
            for output, at in zip(names, value.tolist(), strict=True):
                if at != IGNORED:  # the positions of the outputs
                    targets[at] = f"{targets[at]}, {output}" if targets[at] else output
        elif name not in averaged and value.dtype == np.int64:
            continue  # numbers that only group inputs
        elif (message := _describe(value, names)) is not None:
            notes[name] = message
            if value.ndim == 0 and weights:
                notes["weights"] = f"{weights[int(value)]:.3f}"
    pieces = encoder.preparer.pieces(encoded)
    if (replied := encoded.arrays.get(REPLIED)) is not None:
        targets = [piece if on else None for piece, on in zip(pieces, replied, strict=True)]
    units = [{"input": a, "target": b} for a, b in zip(pieces, targets, strict=True)] + written
    own = {name: rows[position] for name, rows in features.targets.items()}
    notes.update(task.notes(own, labels, pieces))
    texts = [text for _name, text in document.texts]
    return {"document": document.key, "texts": texts, "units": units, "notes": notes}


def _describe(value: np.ndarray, names: Sequence[str]) -> str | None:
    """A target of a whole input as text: a class, several labels, or a weight."""
    if value.ndim == 0:
        is_class = np.issubdtype(value.dtype, np.integer)
        return names[int(value)] if is_class else f"{float(value):.3f}"
    if value.shape == (len(names),) and np.issubdtype(value.dtype, np.floating):
        return ", ".join(name for name, item in zip(names, value, strict=True) if item)
    return None
