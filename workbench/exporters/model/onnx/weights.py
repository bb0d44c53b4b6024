"""Measures what smaller weights of a model cost: the job of `operations.models.weights`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from workbench.base import checksums
from workbench.base.errors import ExportFailed
from workbench.base.i18n import _
from workbench.exporters.model import proof, verify
from workbench.exporters.model.base import Export
from workbench.exporters.model.onnx import quantization, session, variants
from workbench.exporters.model.results import Verification
from workbench.exporters.model.weights import (
    DYNAMIC,
    EVENT,
    FULL,
    HALF,
    LEAST_EQUAL,
    MIXED,
    STATIC,
    TITLES,
    WeightsRow,
    WeightsTable,
)
from workbench.models import device
from workbench.models import folder as folders
from workbench.runtime.onnx_predictor import OnnxPredictor
from workbench.tasks import proofs
from workbench.tasks.predictor import Predictor
from workbench.text import dataset
from workbench.text.document import Document
from workbench.text.fields import Prediction

TIMED, REPEATS = 12, 4  # batches, and how often each is measured

Steps = Generator[dict[str, Any], str | None, dict[str, Any]]
Writing = Generator[dict[str, Any], None, quantization.Quantization | None]


def measure(params: Mapping[str, Any], folder: Path) -> Steps:
    """Job target; params: model (folder), allow_pickle, texts (records of dev with gold),
    calibration (records of other documents), layer.

    Yields {"kind": "stage", stage, title, text}, {"kind": "quantized", done, total} and, for each
    row, {"kind": EVENT, row, done, total}. Returns a WeightsTable as JSON. Weights of 8 bits that
    are faster and change few labels stay in the folder of the run, see `tasks.proofs`.
    """
    threads = device.use_threads()
    job = Export(Path(params["model"]), folder, allow_pickle=bool(params.get("allow_pickle")))
    documents, golds = [], []
    for record in dataset.read(params["texts"]).records:
        documents.append(record.document)
        golds.append(job.predictor.task.info.gold(record, params["layer"]))
    calibration = [record.document for record in dataset.read(params["calibration"]).records]
    if not calibration:
        calibration, documents, golds = documents[::2], documents[1::2], golds[1::2]
    measuring = Table(job.predictor, documents, golds)
    rows: list[WeightsRow] = []
    for id, make in _makers(job, calibration).items():
        title = _(TITLES[id])
        yield {"kind": "stage", "stage": id, "title": title, "text": title}
        done: quantization.Quantization | None = None
        try:
            target = folder / id
            done = yield from make(target)
            row = measuring.row(id, target if id != FULL else job.graph(), done)
        except ExportFailed as error:
            row = WeightsRow(id, problem=str(error))
        rows.append(row)
        yield {"kind": EVENT, "row": row.to_json(), "done": len(rows), "total": len(TITLES)}
        if id == FULL and row.problem:
            break
    table = WeightsTable(tuple(rows), job.predictor.task.info.main, len(documents), threads)
    _keep(table, folder / MIXED, folders.located(params["model"]))
    return table.to_json()


def _keep(table: WeightsTable, draft: Path, model: Path) -> None:
    """Store the weights of 8 bits in the folder of the run if suggestions are made with them."""
    row = table.row(MIXED)
    if row is None or not table.suggests:
        return
    measured = proofs.Proof(
        checksums.of(model),
        proofs.versions(),
        texts=table.documents,
        labels=row.labels,
        equal=row.equal,
        least=LEAST_EQUAL,
    )
    with suppress(OSError):  # a full disk: suggestions are made with 32 bits
        session.store(measured, draft, model, proofs.INT8)


def _makers(job: Export, calibration: Sequence[Document]) -> dict[str, Callable[[Path], Writing]]:
    """Id of a row → what writes its folder."""

    def full(_target: Path) -> Writing:
        job.graph()
        return None
        yield

    def half(target: Path) -> Writing:
        variants.half(job.graph(), target)
        return None
        yield

    def eight(**options: Any) -> Callable[[Path], Writing]:
        return lambda target: quantization.quantize(job.graph(), target, calibration, **options)

    return {
        FULL: full,
        HALF: half,
        DYNAMIC: eight(methods=(quantization.DYNAMIC,), search=False),
        STATIC: eight(methods=(quantization.STATIC,), search=False),
        MIXED: eight(),
    }


class Table:
    """Measures rows on documents with gold; the first row is that of the full weights."""

    def __init__(self, original: Predictor, documents: Sequence[Document], golds: Sequence[Any]):
        self._original, self._documents = original, documents
        self._golds = dict(enumerate(golds))
        self._full: Mapping[int, Prediction] = {}
        self._loaded: OnnxPredictor | None = None
        self._timed = Verification()

    def row(self, id: str, folder: Path, done: quantization.Quantization | None) -> WeightsRow:
        loaded = OnnxPredictor.load(folder)
        predictions = dict(zip(self._golds, loaded.predict(self._documents), strict=True))
        full = self._full or predictions
        counts = [
            verify.agreement(self._original.task.info, full[number], [answer])
            for number, answer in predictions.items()
        ]
        check = proof.scored(
            Verification(), self._original, self._golds, full, predictions if self._full else None
        )
        if not self._full:
            self._full, self._loaded = full, loaded
            self._timed = proof.timed(check, loaded, self._documents)
        return WeightsRow(
            id,
            sum(path.stat().st_size for path in folder.glob("*.onnx*")),
            self._milliseconds(loaded, 1, self._timed.ms_1),
            self._milliseconds(loaded, proof.TOGETHER, self._timed.ms_32),
            sum(equal for equal, _labels in counts),
            sum(labels for _equal, labels in counts),
            check.score,
            check.change,
            len(done.products) if done is not None else 0,
            done.kept if done is not None else (),
        )

    def _milliseconds(self, loaded: OnnxPredictor, size: int, full: float | None) -> float | None:
        """Of one text in batches of this size. full: those of the full weights.

        Both run in turn and the quotient counts, as other programs slow down both alike.
        """
        if full is None or self._loaded is None or loaded is self._loaded:
            return full
        batches = proof.batched(self._documents, size)
        quotients = []
        for batch in batches[:: max(1, len(batches) // TIMED)][:TIMED]:
            seconds: dict[OnnxPredictor, list[float]] = {self._loaded: [], loaded: []}
            for _repeat in range(REPEATS):
                for predictor, times in seconds.items():
                    start = perf_counter()
                    predictor.predict(batch)
                    times.append(perf_counter() - start)
            quotients.append(min(seconds[loaded]) / min(seconds[self._loaded]))
        return full * median(quotients)
