"""The export job: writes all formats to a temporary folder beside the target, verifies them, then
moves the folder to the target.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import owned_folder
from workbench.base.errors import ExportFailed, is_disk_full
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.base.sizes import size
from workbench.exporters.model.results import ExportedFile, ExportResult
from workbench.exporters.model.spec import (
    KIND,
    MAX_VERIFICATION_TEXTS,
    ExportSpec,
    check_fit,
    draft_of,
    exporter_info,
)
from workbench.text.document import Document

if TYPE_CHECKING:
    from workbench.exporters.model.base import Export, ModelExporter

CHECK_TEXTS = 50  # texts of the checks besides the main one


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
            main, done = yield from _fill(spec, draft)
            _put(draft, spec.formats, out)
    finally:
        owned_folder.remove(draft)
    return ExportResult(
        folders={name: str(out / name) for name in spec.formats},
        files=_files(out),
        check=done.checks.get(main) or next(iter(done.checks.values()), None),
        checks=done.checks,
        own_head=done.own_head,
        seconds=time.monotonic() - began,
        stored=done.stored,
    ).to_json()


def _fill(
    spec: ExportSpec, draft: Path
) -> Generator[dict[str, Any], str | None, tuple[str, Export]]:
    """Write and check all formats; returns the format with the main check, and the job."""
    from workbench.exporters.model.base import Export  # torch, after the folders were validated
    from workbench.models import device

    device.use_threads()
    yield {"kind": "stage", "stage": "load", "title": _("Loading the model")}
    exporters: list[ModelExporter] = [registry().get(KIND, id)() for id in spec.formats]
    job = Export(Path(spec.model), draft, spec.facts, allow_pickle=spec.allow_pickle)
    documents = texts_of(spec.texts)
    yield from _check_stored(job, documents, spec.predictions)
    for exporter in exporters:
        info = exporter.info
        title = _(exporter.writing, title=_(info.title))
        yield {"kind": "stage", "stage": info.id, "title": title}
        exporter.write(job, draft / info.id)
    main = next((exporter for exporter in exporters if exporter.info.main_check), exporters[0])
    for exporter in sorted(exporters, key=lambda exporter: exporter is not main):
        yield from _check(exporter, job, documents if exporter is main else documents[:CHECK_TEXTS])
    for exporter in exporters:
        exporter.finish(job, draft / exporter.info.id)
    return main.info.id, job


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
    exporter: ModelExporter, job: Export, documents: Sequence[Document]
) -> Generator[dict[str, Any], None, None]:
    if not exporter.checking:
        return
    id, n = exporter.info.id, len(documents)
    title = _(exporter.checking, title=_(exporter.info.title), n=n)
    yield {"kind": "stage", "stage": f"check_{id}", "title": title, "total": n}
    job.checks[id] = yield from exporter.check(job, job.draft / id, documents)
    if job.checks[id].failed:
        raise ExportFailed(
            _(
                "{title} does not give the predictions of the model: {sentence}. No files were "
                "kept.",
                title=_(exporter.info.title),
                sentence=job.checks[id].sentence(),
            ),
            hint=_("Export other formats, and report this model as a bug."),
        )


def texts_of(path: str) -> tuple[Document, ...]:
    """The first MAX_VERIFICATION_TEXTS documents of a file of records; () without a file."""
    if not path:
        return ()
    from workbench.tasks.answers import read_documents

    documents = (item for item in read_documents(Path(path)) if item.text.strip())
    return tuple(
        item for item, _number in zip(documents, range(MAX_VERIFICATION_TEXTS), strict=False)
    )


# ---------------------------------------------------------------- the target folder


def check_target(out: Path) -> None:
    """Raises ExportFailed if the target cannot be used."""
    nearest = next(path for path in (out, *out.parents) if path.exists())
    if not nearest.is_dir():
        raise ExportFailed(
            _("{path} is a file, not a folder.", path=nearest),
            hint=_("Choose a folder that is empty or does not exist yet."),
        )
    if out.is_dir() and (entries := sorted(path.name for path in out.iterdir())):
        raise ExportFailed(
            _("The folder {out} is not empty (it contains {found!r}).", out=out, found=entries[0]),
            hint=_("Choose an empty or a new folder."),
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        probe = out.parent / f".{out.name}.probe-{os.getpid()}"
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise ExportFailed(
            _(
                "{parent} cannot be written: {strerror}.",
                parent=out.parent,
                strerror=error.strerror or error,
            ),
            hint=_("Choose another folder."),
        ) from error


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
