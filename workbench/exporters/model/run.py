"""The export job: writes all formats to a temporary folder beside the target, verifies them, then
moves the folder to the target.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import owned_folder
from workbench.base.errors import ExportFailed, WorkbenchError, brief, is_disk_full
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.base.sizes import size
from workbench.exporters.model.results import ExportedFile, ExportResult, Verification
from workbench.exporters.model.spec import (
    KIND,
    MAX_VERIFICATION_TEXTS,
    ExportSpec,
    LanguageModelInfo,
    check_fit,
    check_target,
    draft_of,
    exporter_info,
)
from workbench.text.document import Document

if TYPE_CHECKING:
    from workbench.exporters.model.base import Export, ModelExporter
    from workbench.exporters.model.verify import Answering
    from workbench.tasks.spec import TaskInfo
    from workbench.text.fields import Prediction

CHECK_TEXTS = 100  # texts of the checks besides the main one
Predictions = Mapping[int, "Prediction"]  # by document id
CHUNK = 64  # texts of the original between two signs of life


def export(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target; params as ExportSpec.

    Yields {"kind": "stage", stage, title} at each step (load, then the id of each format, then
    check_<id>) and the output of the checks. Returns an ExportResult as JSON. Raises ExportFailed;
    no files are left then.
    """
    spec, began = ExportSpec.from_json(params), time.monotonic()
    out = Path(spec.out).expanduser().absolute()
    check_fit(spec.model, spec.formats)
    check_target(out)
    check_space(out, sum(exporter_info(id).size(Path(spec.model)) for id in spec.formats))
    draft = draft_of(out, folder)
    with _disk_errors(out):
        owned_folder.create(draft)
    try:
        with _disk_errors(out):
            main, done, written = yield from _fill(spec, draft)
            _put(draft, written, out)
    finally:
        owned_folder.remove(draft)
    return ExportResult(
        folders={name: str(out / name) for name in written},
        files=_files(out),
        check=done.checks.get(main) or next(iter(done.checks.values()), None),
        checks=done.checks,
        own_head=done.own_head,
        seconds=time.monotonic() - began,
        stored=done.stored,
        original=done.original,
    ).to_json()


def _fill(
    spec: ExportSpec, draft: Path
) -> Generator[dict[str, Any], str | None, tuple[str, Export, list[str]]]:
    """Write and check all formats; returns the format with the main check, the job, and the formats
    that were written. One that the model cannot be converted to is marked, unless it is the only
    one.
    """
    from workbench.exporters.model.base import Export  # torch, after the folders were validated
    from workbench.models import device

    device.use_threads()
    yield {"kind": "stage", "stage": "load", "title": _("Loading the model")}
    exporters: list[ModelExporter] = [registry().get(KIND, id)() for id in spec.formats]
    job = Export(Path(spec.model), draft, spec.facts, allow_pickle=spec.allow_pickle)
    documents = texts_of(spec.texts)
    if spec.layer:
        job.golds = golds_of(spec.texts, spec.layer, job.predictor.task.info)
    job.calibration = texts_of(spec.calibration) or documents[::2]
    yield from _check_stored(job, documents, spec.predictions)
    failed: ExportFailed | None = None
    for exporter in exporters:
        info = exporter.info
        title = _(exporter.writing, title=_(info.title))
        yield {"kind": "stage", "stage": info.id, "title": title}
        try:
            yield from exporter.write(job, draft / info.id) or ()
        except ExportFailed as error:
            failed = error
            job.checks[info.id] = Verification(problem=str(error))
    exporters = [exporter for exporter in exporters if exporter.info.id not in job.checks]
    if not exporters and failed is not None:
        raise failed
    main = next((exporter for exporter in exporters if exporter.info.main_check), exporters[0])
    reference = yield from _measure_original(job, documents, exporters)
    for exporter in sorted(exporters, key=lambda exporter: exporter is not main):
        most = len(documents) if exporter is main else CHECK_TEXTS
        yield from _check(exporter, job, documents, reference, most=most)
    for exporter in exporters:
        exporter.finish(job, draft / exporter.info.id)
    _write_cards(job, exporters)
    return main.info.id, job, [exporter.info.id for exporter in exporters]


def _write_cards(job: Export, exporters: Sequence[ModelExporter]) -> None:
    """README.md of each folder, with the sizes of all; one that a format has written stays."""
    from workbench.exporters.model import proof

    for id, check in job.checks.items():
        job.checks[id] = replace(check, bytes=proof.size_of(job.draft / id))
    for exporter in exporters:
        path = job.draft / exporter.info.id / "README.md"
        if not path.exists():
            path.write_text(exporter.readme(job, path.parent), encoding="utf-8")


def _measure_original(
    job: Export, documents: Sequence[Document], exporters: Sequence[ModelExporter]
) -> Generator[dict[str, Any], None, Predictions]:
    """Score and speed of the model itself; returns its predictions for the scored documents."""
    if all(isinstance(exporter.info, LanguageModelInfo) for exporter in exporters):
        return {}
    from workbench.exporters.model import proof

    yield {"kind": "stage", "stage": "original", "title": _("Predicting with the original")}
    predictions = yield from _predict(job, job.predictor, documents)
    check = Verification(len(documents), bytes=proof.size_of(job.source))
    check = proof.scored(check, job.predictor, job.golds, predictions)
    job.original = proof.timed(check, job.predictor, documents)
    return predictions


def _predict(
    job: Export, predictor: Answering, documents: Sequence[Document]
) -> Generator[dict[str, Any], None, Predictions]:
    """Predictions for the documents that have gold, by id."""
    from workbench.exporters.model import proof

    predictions: dict[int, Prediction] = {}
    chosen = [document for document in documents if document.id in job.golds]
    for batch in proof.batched(chosen, CHUNK):
        for document, prediction in zip(batch, predictor.predict(batch), strict=True):
            predictions[document.id or 0] = prediction
        yield {"kind": "reference", "done": len(predictions)}
    return predictions


def _check_stored(
    job: Export, documents: Sequence[Document], predictions: str
) -> Generator[dict[str, Any], None, None]:
    """Raises ExportFailed unless the model gives the predictions that its run was scored with."""
    if not predictions:
        return
    from workbench.exporters.model import verify

    title = _("Comparing the model with the predictions of its run")
    yield {"kind": "stage", "stage": "stored", "title": title}
    job.stored = verify.check_stored(job.predictor, documents, Path(predictions))
    if job.stored.failed:
        raise ExportFailed(
            _(
                "The model no longer gives the predictions that are stored with its run: "
                "{sentence}. The scores of the run are not those of this model.",
                sentence=job.stored.sentence(),
            ),
            hint=_("Restore the folder of the run from a backup, or train again."),
        )


def _check(
    exporter: ModelExporter,
    job: Export,
    documents: Sequence[Document],
    reference: Predictions,
    *,
    most: int,
) -> Generator[dict[str, Any], None, None]:
    """Compare a format with the original on the first `most` documents. One that fails is marked;
    its files stay.
    """
    if not exporter.checking:
        return
    from workbench.exporters.model import proof

    info, texts = exporter.info, list(documents[:most])
    if not isinstance(info, LanguageModelInfo):
        predictor = job.predictor
        texts += proof.extremes(predictor.task.info, documents, predictor.max_length)
    n = len(texts)
    title = _(exporter.checking, title=_(info.title), n=n)
    yield {"kind": "stage", "stage": f"check_{info.id}", "title": title, "total": n}
    try:
        check = yield from _compare(exporter, job, texts, documents, reference)
        check = replace(check, note=exporter.note(job.draft / info.id))
    except Exception as error:  # of whatever library reads the format
        if is_disk_full(error) or isinstance(error, MemoryError):
            raise
        text = str(error) if isinstance(error, WorkbenchError) else brief(error)
        check = Verification(n, problem=text)
    job.checks[info.id] = replace(check, lossy=info.lossy)


def _compare(
    exporter: ModelExporter,
    job: Export,
    texts: Sequence[Document],
    documents: Sequence[Document],
    reference: Predictions,
) -> Generator[dict[str, Any], None, Verification]:
    """Differences on `texts`, score and speed on the documents."""
    from workbench.exporters.model import proof, verify

    folder = job.draft / exporter.info.id
    loaded, work = exporter.load(job, folder), exporter.check(job, folder, texts)
    if work is None and loaded is not None:
        work = verify.check(job.predictor, loaded, texts, format=exporter.info.id)
    if work is None:
        raise NotImplementedError(f"{type(exporter).__name__} has neither load nor check")
    check = yield from work
    if loaded is None:
        return check
    predictions = yield from _predict(job, loaded, documents)
    check = proof.scored(check, job.predictor, job.golds, reference, predictions)
    return proof.timed(check, loaded, documents)


def texts_of(path: str) -> tuple[Document, ...]:
    """The first MAX_VERIFICATION_TEXTS documents of a file of records; () without a file."""
    if not path:
        return ()
    from workbench.tasks.answers import read_documents

    documents = (item for item in read_documents(Path(path)) if item.text.strip())
    return tuple(
        item for item, _number in zip(documents, range(MAX_VERIFICATION_TEXTS), strict=False)
    )


def golds_of(path: str, layer: str, info: TaskInfo) -> dict[int, Any]:
    """The gold of the dev documents in a file of records, by id; {} without a layer."""
    if not path or not layer:
        return {}
    from workbench.tasks import spec as tasks
    from workbench.text import dataset

    records = [
        record
        for record in dataset.read(path).by_split("dev")
        if record.document.id is not None and tasks.usable(info, record, layer)
    ]
    golds = {record.document.id or 0: info.gold(record, layer) for record in records}
    return {id: gold for id, gold in golds.items() if gold is not None}


# ---------------------------------------------------------------- the target folder


def check_space(out: Path, needed: int) -> None:
    """Raises ExportFailed if the disk of `out` has less than `needed` bytes free."""
    free = shutil.disk_usage(out.parent).free
    if free < needed:
        raise ExportFailed(
            _(
                "The disk of {parent} has {free} free; the export requires about {needed}.",
                parent=out.parent,
                free=size(free),
                needed=size(needed),
            ),
            hint=_("Free up disk space or choose a folder on another disk."),
        )


@contextmanager
def _disk_errors(out: Path) -> Iterator[None]:
    """Report a full disk while writing.

    Some libraries pass the system's message on in errors of their own.
    """
    try:
        yield
    except ExportFailed:
        raise
    except Exception as error:
        if is_disk_full(error):
            raise ExportFailed(
                _("The disk of {parent} is full. No files were kept.", parent=out.parent),
                hint=_("Free up disk space or choose another folder."),
            ) from error
        if isinstance(error, OSError) and str(out.parent) in str(error.filename or ""):
            raise ExportFailed(
                _(
                    "{filename} cannot be written: {strerror}.",
                    filename=error.filename,
                    strerror=error.strerror,
                ),
                hint=_("Choose another folder."),
            ) from error
        raise


def _put(draft: Path, formats: Sequence[str], out: Path) -> None:
    """Move the finished folders to `out`, which does not exist or is empty and stays as it is."""
    check_target(out)  # minutes may have passed since the first check
    out.mkdir(exist_ok=True)
    for id in formats:
        (draft / id).rename(out / id)


def _files(out: Path) -> tuple[ExportedFile, ...]:
    paths = sorted(path for path in out.rglob("*") if path.is_file())
    return tuple(ExportedFile(str(path), path.stat().st_size) for path in paths)
