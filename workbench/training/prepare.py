"""Preparation of a training: documents, seeds, threads, and log messages."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from typing import Any

import torch

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.models import device as devices
from workbench.models.base import Encoder
from workbench.runtime.inputs import Prepared
from workbench.runtime.preparers.words import WordPreparer
from workbench.tasks import spec as tasks
from workbench.tasks.spec import Gold
from workbench.text.alignment import token_style
from workbench.text.dataset import Dataset, Record
from workbench.text.segmenters import base as segmenters
from workbench.training.events import LogMessage
from workbench.training.learning import B
from workbench.training.plan import Plan, plan, rare_documents
from workbench.training.spec import TrainSpec, limited
from workbench.version import __version__


def labels_of(spec: TrainSpec, data: Dataset) -> tuple[str, ...]:
    """Labels of the layer to learn, in order. Raises SpecError if there is no such layer."""
    known = {layer.name: layer for layer in data.layers}
    if spec.layer not in known:
        raise SpecError(
            _("The data has no layer {layer!r}.", layer=spec.layer),
            hint=_("Its layers: {known}.", known=", ".join(known) or _("none")),
        )
    if not spec.info.fits(known[spec.layer]):
        fitting = [name for name, layer in known.items() if spec.info.fits(layer)]
        raise SpecError(
            _("Layer {name!r} does not fit task {task}.", name=spec.layer, task=spec.task),
            hint=_("Layers that fit: {fit}.", fit=", ".join(fitting) or _("none")),
        )
    return known[spec.layer].names


def records_of(
    spec: TrainSpec, data: Dataset, splits: Mapping[str, Sequence[int]] | None
) -> dict[str, list[Record]]:
    records = with_words(data.records, spec.segmenter)
    usable = [record for record in records if tasks.usable(spec.info, record, spec.layer)]
    if splits is None:
        names = ("train", "dev", "test") if spec.with_test else ("train", "dev")
        by_split = {
            split: [record for record in usable if record.document.split == split]
            for split in names
        }
    else:
        by_id = {record.document.id: record for record in usable}
        by_split = {
            split: [by_id[number] for number in ids if number in by_id]
            for split, ids in splits.items()
        }
    by_split = {split: by_split.get(split, []) for split in ("train", "dev", "test")}

    def labels(record: Record) -> Iterable[str]:
        gold = spec.info.gold(record, spec.layer)
        return () if gold is None else gold.labels()

    by_split["train"] = limited(
        by_split["train"],
        spec.option("train_limit"),
        spec.seed,
        labels if spec.every_class else None,
    )
    return by_split


def with_words(records: Sequence[Record], segmenter: str) -> Sequence[Record]:
    """The records with the words of a segmenter as tokens of the texts that have none."""
    if segmenter == segmenters.DEFAULT:
        return records
    documents = segmenters.segmented([record.document for record in records], segmenter)
    return [
        replace(record, document=document)
        for record, document in zip(records, documents, strict=True)
    ]


def check(spec: TrainSpec, records: Mapping[str, Sequence[Record]], labels: Sequence[str]) -> None:
    """Raises SpecError if nothing can be learned from these records and labels."""
    if not records["train"]:
        raise SpecError(
            _(
                "There is no submitted document with labels of layer {layer!r} in the training "
                "split.",
                layer=spec.layer,
            ),
            hint=_("Label and submit documents first, or import labelled data."),
        )
    if len(labels) < spec.info.least_labels:
        raise SpecError(
            ngettext(
                "Layer {layer!r} has {count} label; task {task} needs at least {least}.",
                "Layer {layer!r} has {count} labels; task {task} needs at least {least}.",
                len(labels),
                layer=spec.layer,
                count=len(labels),
                task=spec.task,
                least=spec.info.least_labels,
            ),
            hint=_("Add labels to the layer."),
        )
    spec.info.check_labels(spec.all_options, labels)


def settle(seed: int, device: torch.device) -> int:
    """Set seeds and kernels for reproducible results; returns the number of threads."""
    threads = devices.use_threads()
    devices.keep_freed_memory()
    torch.manual_seed(seed)
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.cuda.reset_peak_memory_stats(device)
    return threads


def bundles(batches: Iterator[B], size: int) -> Iterator[list[B]]:
    """The batches in lists of `size`; the last list may be shorter."""
    bundle: list[B] = []
    for batch in batches:
        bundle.append(batch)
        if len(bundle) == size:
            yield bundle
            bundle = []
    if bundle:
        yield bundle


def plan_for(
    encoder: Encoder,
    spec: TrainSpec,
    golds: Sequence[Gold],
    items: int,
    labels: int,
    planned: Plan | None = None,
) -> Plan:
    """What was planned before the start; without that the settings for a loaded encoder."""
    if planned is not None:
        return planned.with_items(items, spec.option("accumulation"))
    return plan(
        spec,
        documents=len(golds),
        items=items,
        labels=labels,
        rare=rare_documents(gold.labels() for gold in golds),
        width=encoder.width,
        model_length=encoder.max_length,
        learning_rate=encoder.info.learning_rate,
    )


def messages(chosen: Plan, spec: TrainSpec, prepared: Prepared, encoder: Encoder) -> Iterator[str]:
    """What is said before the first step."""
    if first := chosen.first_stage():
        yield first
    yield planned(chosen)
    if prepared.words or isinstance(encoder.preparer, WordPreparer):
        hint = segmenters.hint(prepared.documents, spec.segmenter)
        yield from [hint] if hint else []


def tokens(prepared: Prepared, spec: TrainSpec) -> dict[str, Any] | None:
    """See `token_style`; None with a segmenter, as raw texts then have the same words."""
    is_default = spec.segmenter == segmenters.DEFAULT
    return token_style(prepared.documents) if prepared.words and is_default else None


def planned(chosen: Plan) -> str:
    """Tokens are subwords or words, whichever the model reads."""
    return ngettext(
        "{epochs} epoch of {steps_per_epoch} steps, batch size {batch_size}, learning rate "
        "{learning_rate:g}, at most {max_length} tokens per input, evaluation every "
        "{evaluate_every} steps, best checkpoint by {best_by}",
        "{epochs} epochs of {steps_per_epoch} steps, batch size {batch_size}, learning rate "
        "{learning_rate:g}, at most {max_length} tokens per input, evaluation every "
        "{evaluate_every} steps, best checkpoint by {best_by}",
        chosen.epochs,
        **vars(chosen),
    )


def where(device: torch.device, threads: int, *, bf16: bool) -> LogMessage:
    """The message that names the device."""
    line = ngettext(
        "On {device}, {threads} thread, {precision}, torch {version}",
        "On {device}, {threads} threads, {precision}, torch {version}",
        threads,
        device=devices.name(device),
        threads=threads,
        precision="bf16" if bf16 else "fp32",
        version=torch.__version__,
    )
    return LogMessage(line, devices.name(device))


def versions() -> dict[str, str]:
    """Read from the installed packages: importing transformers takes more than a second."""
    return {
        "glossbench": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        **{name: metadata.version(name) for name in ("transformers", "tokenizers")},
    }
