"""Makes the session of a run, see `tasks.proofs`, and proves it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from workbench.base import checksums, owned_folder
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.base.registry import needed_plugin, registry
from workbench.base.sizes import size
from workbench.exporters.model.proof import extremes, size_of
from workbench.models import device as devices
from workbench.models import folder as folders
from workbench.runtime.onnx_predictor import SHARED, OnnxPredictor, tensors
from workbench.runtime.predictor import DocumentPredictor
from workbench.tasks import agreement
from workbench.tasks.answers import read_documents
from workbench.tasks.predictor import Predictor
from workbench.tasks.proofs import FOLDER, PROOF, Proof, folder_of, is_missing, versions
from workbench.tasks.session import opened
from workbench.text.document import Document

TEXTS, CHARACTERS = 64, 50_000  # at most, that are compared; at least one
ROUNDS = 2  # of measuring both
SMALL, LARGEST_SHARE = 20_000_000, 0.25  # bytes of a session; and of those of its model
SMALLEST_SHARED = 1024  # numbers of a weight that a session shares

FILE = "model.onnx"
Write = Callable[[Predictor, Path, Path], None]
Events = Generator[dict[str, Any], str | None, dict[str, Any]]


def build(params: Mapping[str, Any], folder: Path) -> Events:
    """Job target: make and prove the session of a run, compared on documents of its dev split.

    params: model (folder), allow_pickle. Returns a Proof as JSON, {} if there is nothing to do.
    """
    model = folders.located(params["model"])
    if not is_missing(model):
        return {}
    yield {"kind": "stage", "stage": "load", "title": _("Loading the model")}
    devices.use_threads()
    predictor = Predictor.load(model, "cpu", allow_pickle=bool(params.get("allow_pickle")))
    exporter = registry().get("model_exporter", "onnx")()
    documents = _dev_documents(model.parent)
    proof: Proof = yield from exporter.session(predictor, model, documents, folder)
    return proof.to_json()


def _dev_documents(run: Path) -> list[Document]:
    """Those of the data that the run was trained on, as its job file names them; [] without it."""
    try:
        params = json.loads((run / "job.json").read_text(encoding="utf-8"))["params"]
        splits = params.get("splits") or {}
        dev = (
            document
            for document in read_documents(Path(params["data"]))
            if splits.get(str(document.id), document.split) == "dev"
        )
        return list(islice(dev, TEXTS))
    except (OSError, ValueError, TypeError, LookupError, WorkbenchError):
        return []


def made(
    write: Write, predictor: Predictor, model: Path, documents: Sequence[Document], scratch: Path
) -> Generator[dict[str, Any], str | None, Proof]:
    """Make and prove the session of a model folder, and store it, or why there is none.

    write: that of the ONNX folder, see `onnx.exporter.write`. scratch: the folder of this job.
    Yields what jobs report. Where the disk is full or cannot be written, or memory is short,
    nothing is stored.
    """
    draft, proof = scratch / FOLDER, Proof(checksums.of(model), versions())
    try:
        yield {"kind": "stage", "stage": "session", "title": _("Preparing faster predictions")}
        owned_folder.create(draft)
        proof = yield from _proved(proof, write, predictor, model, _first(documents), draft)
        store(proof, draft, model)
    except (OSError, MemoryError) as error:
        proof = replace(proof, reason=str(error) or type(error).__name__)
    finally:
        owned_folder.remove(draft)
    if against := proof.against:
        yield {"kind": "log", "line": _("Predictions are made with torch: {why}", why=against)}
    return proof


def _proved(
    proof: Proof,
    write: Write,
    predictor: Predictor,
    model: Path,
    documents: list[Document],
    draft: Path,
) -> Generator[dict[str, Any], str | None, Proof]:
    if plugin := needed_plugin(predictor.encoder.info.family):
        why = _("the model is one of the plugin {plugin}, whose code may change", plugin=plugin)
        return replace(proof, reason=why)
    if not predictor.info.has_graph:
        return replace(proof, reason=_("ONNX has no graph for what this run predicts."))
    try:
        _convert(write, predictor, model, draft)
        yield {"kind": "stage", "stage": "prove", "title": _("Comparing predictions")}
        if (taken := size_of(draft)) > max(SMALL, size_of(model) * LARGEST_SHARE):
            why = _("the session would take {size} on the disk", size=size(taken))
            return replace(proof, reason=why)
        session = opened(draft, model)
        return (yield from _compared(proof, predictor, session, documents))
    except (OSError, MemoryError):
        raise
    except Exception as error:  # torch.export, onnxscript and onnxruntime raise many kinds
        return replace(proof, reason=str(error) or type(error).__name__)


def _convert(write: Write, predictor: Predictor, model: Path, draft: Path) -> None:
    """Without the decoding parameters that were fitted: they may be fitted again, see `opened`."""
    fitted, predictor.description = predictor.description, {**predictor.description, "decoder": {}}
    try:
        write(predictor, model, draft)
        share_weights(draft, model)
    finally:
        predictor.description = fitted


def _first(documents: Sequence[Document]) -> list[Document]:
    """The first documents, as many as are compared."""
    first = documents[:TEXTS]
    ends = accumulate(sum(len(content) for _, content in item.texts) for item in first)
    return list(first[: max(1, sum(end <= CHARACTERS for end in ends))])


def _compared(
    proof: Proof, predictor: Predictor, session: OnnxPredictor, documents: Sequence[Document]
) -> Generator[dict[str, Any], str | None, Proof]:
    """The proof with what was compared and measured; without documents, on the extremes alone."""
    seconds: dict[DocumentPredictor, list[float]] = {predictor: [], session: []}
    unusual = extremes(predictor.info, documents, predictor.max_length)
    compared = [part for part in (documents, unusual) if part]
    equal = total = 0
    difference = 0.0
    for number, part in enumerate(compared):
        prepared = {item: item.prepare(part) for item in seconds}
        for _round in range(1 if number else ROUNDS):
            logits = {}
            for item in seconds:
                began = time.process_time()
                logits[item] = item.logits(prepared[item])
                if not number:
                    seconds[item].append(time.process_time() - began)
                yield {"kind": "tick"}
        difference = max(difference, *map(agreement.difference, *logits.values()))
        answers = [item.decode(logits[item], prepared[item]) for item in seconds]
        for pair in zip(*answers, strict=True):
            same, labels = agreement.equal_decisions(*map(predictor.info.decisions, pair))
            equal, total = equal + same, total + labels
    return replace(
        proof,
        texts=sum(map(len, compared)),
        labels=total,
        equal=equal,
        difference=difference,
        torch_seconds=min(seconds[predictor]),
        session_seconds=min(seconds[session]),
    )


def store(proof: Proof, draft: Path, model: Path, name: str = FOLDER) -> None:
    """In the folder of the run (see `folder_of`), unless that was deleted meanwhile."""

    def fill(folder: Path) -> None:
        if not proof.against:
            shutil.copytree(draft, folder, dirs_exist_ok=True)
        (folder / PROOF).write_text(json_text(proof.to_json(), indent=1), encoding="utf-8")
        checksums.write(folder)

    if (target := folder_of(model, name)) is not None:
        with suppress(WorkbenchError):  # something else is in its place
            owned_folder.replace(target, fill)


# ---------------------------------------------------------------- weights


def share_weights(folder: Path, model: Path) -> None:
    """Take the weights out of the graph that are in the safetensors files of the model: the files
    of a session are then as small as its graph. See `onnx_predictor.shared_weights`.
    """
    graph = onnx.load(folder / FILE)
    there = [
        (path.name, name, values)
        for path in sorted(model.glob("*.safetensors"))
        for name, values in tensors(path).items()
    ]
    places: dict[str, tuple[str, str, bool]] = {}
    for item in graph.graph.initializer:
        values = numpy_helper.to_array(item)
        if values.dtype != np.float32 or values.size < SMALLEST_SHARED:
            continue
        if place := _place(values, there):
            places[item.name] = place
            onnx.external_data_helper.set_external_data(item, SHARED, 0, values.nbytes)
            item.ClearField("raw_data")
    (folder / SHARED).write_text(json.dumps(places), encoding="utf-8")
    (folder / FILE).write_bytes(graph.SerializeToString())
    (folder / f"{FILE}.data").unlink(missing_ok=True)


def _place(
    values: np.ndarray, there: Sequence[tuple[str, str, np.ndarray]]
) -> tuple[str, str, bool] | None:
    """The file and the name of an equal tensor, and whether it is transposed."""
    for file, name, other in there:
        if other.shape == values.shape and np.array_equal(other, values):
            return file, name, False
        if values.ndim == 2 and other.T.shape == values.shape and np.array_equal(other.T, values):
            return file, name, True
    return None
