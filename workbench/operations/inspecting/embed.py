"""Embeddings: hidden states of a model or run for documents, written to an .npz file by a job."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.base.records import JsonRecord
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.operations.models import export_files
from workbench.operations.runs import predict, train
from workbench.text.document import TEXT, Document

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.operations.inspecting.inspect import InspectableModel

TARGET = "workbench.tasks.embedding:run"
_SPACED = re.compile(r"\S+")


@dataclass(frozen=True)
class Embedding(JsonRecord):
    """A written file. rows: words, tokens or documents in all. layers: the arrays of states of each
    document. not_finite: documents with a state that is infinite or no number. seconds: without
    loading the model.
    """

    path: str
    documents: int
    rows: int
    layers: Sequence[str]
    width: int
    bytes: int
    seconds: float
    device: str
    not_finite: int = 0


def spaced(documents: Iterable[Document]) -> tuple[Document, ...]:
    """Documents whose tokens are what is between white space, where they have none of their own."""
    return tuple(
        item
        if item.tokens.get(TEXT)
        else replace(item, tokens={**item.tokens, TEXT: _spans(item.text)})
        for item in documents
    )


def _spans(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for match in _SPACED.finditer(text))


def embed(
    queue: Queue,
    model: InspectableModel,
    documents: Iterable[Document],
    out: Path,
    *,
    unit: str = "word",
    layers: str = "all",
    stateful: bool = False,
    device: str = "auto",
    watch: Watch = QUIET,
) -> Embedding:
    """Write the states of the documents' first texts to `out`, in a worker.

    unit: word, token or document; layers: all, last or mix (of a run, as its head reads it).
    stateful: the final state of each text is the initial state of the next, for models that have
    one. Raises Cancelled, JobFailed, or ExportFailed if `out` cannot be written.
    """
    there, device = export_files.target(out), train.wanted_device(device)
    with predict.Inputs(documents, watch=watch) as inputs:
        params = {
            "model": model.folder,
            "allow_pickle": model.allow_pickle,
            "input": str(inputs.path),
            "output": str(there),
            "unit": unit,
            "layers": layers,
            "stateful": stateful,
            "device": device,
            "total": len(inputs),
        }
        spec = JobSpec(
            TARGET,
            params,
            str(inputs.folder),
            device=train.queue_device(device),
            title=_("Embed with {name}", name=Path(model.folder).name),
            short=True,
        )
        return Embedding(str(out), **queue.run(spec, watch))
