"""The predictor of a model folder: a session of onnxruntime where it is proved to be equal and
faster, torch otherwise. Light: torch is imported only where it is needed.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.base import processors
from workbench.base.errors import WorkbenchError
from workbench.base.registry import registry
from workbench.models import folder as folders
from workbench.runtime import threads
from workbench.runtime.inputs import CHUNK
from workbench.runtime.onnx_predictor import OnnxPredictor, is_exported
from workbench.runtime.predictor import DocumentPredictor
from workbench.tasks.answers import read_documents, write_answers
from workbench.tasks.proofs import FOLDER, INT8, Proof, is_missing, proof_of, usable
from workbench.text.document import Document

# Seconds that torch would still need, from which a session is made first: it takes half of them,
# and 5 to 10 seconds to be made.
REPAYS = 20.0

Events = Generator[dict[str, Any], str | None, dict[str, Any]]


def predictor_of(
    model: Path | str, device: str = "auto", *, allow_pickle: bool = False, weights: str = ""
) -> DocumentPredictor:
    """What predicts with a run, an exported ONNX folder, or a published model that is trained for a
    task. weights: INT8 for those of 8 bits, where a run has them and a CPU predicts. Raises as
    `tasks.predictor.Predictor.load`.
    """
    if is_exported(Path(model)):
        return OnnxPredictor.load(model, threads=_threads())
    for name in (INT8, FOLDER) if weights == INT8 else (FOLDER,):
        if (session := loaded(folders.located(model), device, name)) is not None:
            return session
    from workbench.models import device as devices
    from workbench.tasks.predictor import Predictor

    devices.use_threads()
    return Predictor.load(model, device, allow_pickle=allow_pickle)


def loaded(model: Path, device: str = "cpu", name: str = FOLDER) -> OnnxPredictor | None:
    """A session of a model folder, if it is to be used on the device."""
    if (folder := usable(model, name)) is None:
        return None
    if device == "auto" and processors.may_have_accelerator():
        from workbench.models import device as devices

        device = str(devices.pick(device))
    if device not in ("auto", "cpu"):
        return None
    try:
        ahead = _ahead.get((folder, _threads()))
        if ahead is not None and ahead[0] == proof_of(model, name):
            return ahead[1].fit(_decoder(model))
        return opened(folder, model)
    except WorkbenchError:
        return None  # torch reports what is wrong with the model, or predicts


def opened(folder: Path, model: Path) -> OnnxPredictor:
    """A session as torch would predict: with the decoding parameters that were fitted since."""
    session = OnnxPredictor.load(folder, threads=_threads(), weights=model)
    return session.fit(_decoder(model))


def _decoder(model: Path) -> Mapping[str, Any]:
    return folders.description(model).get("decoder") or {}


def _threads() -> int:
    return threads.limit() or processors.physical_cores()


# What a spare worker has loaded, by folder of the session and number of threads.
_ahead: dict[tuple[Path, int], tuple[Proof, OnnxPredictor]] = {}


def load_ahead(model: str) -> None:
    """Load the session of a model folder for the job that this spare worker will run."""
    path = folders.located(model)
    folder, proof = usable(path), proof_of(path)
    if folder is not None and proof is not None:
        _ahead[folder, _threads()] = proof, opened(folder, path)


# ---------------------------------------------------------------- the job that predicts


def _can_have(predictor: DocumentPredictor, model: Path) -> bool:
    """Whether a session could be made that would be used instead of the predictor."""
    torch = not isinstance(predictor, OnnxPredictor) and not predictor.info.writes
    return torch and predictor.device == "cpu" and is_missing(model)


def _making(
    predictor: DocumentPredictor, model: Path, documents: Sequence[Document], folder: Path
) -> Generator[dict[str, Any], str | None, tuple[float, bool]]:
    """Make a session in a job that predicts; returns its CPU seconds and whether to stop."""
    began, stopped = time.process_time(), False
    exporter = registry().get("model_exporter", "onnx")()
    for event in exporter.session(predictor, model, documents, folder):
        stopped = (yield event) == "stop" or stopped
    return time.process_time() - began, stopped


def run(params: Mapping[str, Any], folder: Path) -> Events:
    """Job target.

    params: model (folder), input (JSON lines), output (JSON lines, in the order of the input),
    device, allow_pickle, weights (see `predictor_of`); total: how many documents there are, if
    known.

    Yields {"kind": "progress", "done"}; incomplete documents count by their fraction. "stop" ends
    after the current documents. Returns {"documents", "cut", "cpu_seconds" (without loading the
    model), "output", "device", "stopped", "with_session", "session_missing"}.
    """
    model = folders.located(params["model"])
    pickled = bool(params.get("allow_pickle"))
    predictor = predictor_of(
        model,
        params.get("device", "auto"),
        allow_pickle=pickled,
        weights=params.get("weights", ""),
    )
    output, done, cut, stopped = Path(params["output"]), 0, 0, False
    began, started = time.process_time(), time.monotonic()
    making = 0.0  # CPU seconds
    yield {"kind": "progress", "done": 0}
    with open(output, "w", encoding="utf-8", newline="\n") as file:
        documents = iter(read_documents(Path(params["input"])))
        for chunk in iter(lambda: list(islice(documents, CHUNK)), []):
            before = done
            for share, predictions in predictor.stream(chunk):
                command = yield {"kind": "progress", "done": before + share}
                stopped = stopped or command == "stop"
                if predictions:
                    write_answers(file, chunk, predictions)
                    done += len(predictions)
                    cut += sum(prediction.cut for prediction in predictions)
            if stopped:
                break
            left = (time.monotonic() - started) / done * (int(params.get("total") or 0) - done)
            if before == 0 and left > REPAYS and _can_have(predictor, model):
                making, stop = yield from _making(predictor, model, chunk, folder)
                stopped = stopped or stop
                predictor = loaded(model) or predictor
    yield {"kind": "progress", "done": done}
    return {
        "documents": done,
        "cut": cut,
        "cpu_seconds": time.process_time() - began - making,
        "output": str(output),
        "device": predictor.device,
        "stopped": stopped,
        "with_session": isinstance(predictor, OnnxPredictor),
        "session_missing": _can_have(predictor, model),
    }
