"""The export job: writes all formats to a temporary folder beside the target, verifies them, then
moves the folder to the target.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.base import owned_folder
from workbench.base.errors import ExportFailed, is_disk_full
from workbench.base.i18n import _
from workbench.exporters.model.results import ExportedFile, ExportResult, Verification
from workbench.exporters.model.spec import ADAPTER, MOST_TEXTS, ExportSpec, draft_of, forecast
from workbench.text.document import Document

Checks = dict[str, Verification]  # by format


def export(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target; params as ExportSpec.

    Yields {"kind": "stage", stage, title} at each step (load, hf, onnx, check_hf, check) and the
    output of the checks. A "stop" sent during a check ends it early. Returns folders {hf, onnx},
    files [{path, bytes}], check {texts, labels, equal_labels (fraction), largest_difference,
    seconds, speed}, check_hf, check_adapter, seconds. Raises ExportFailed; no files are left then.
    """
    spec, began = ExportSpec.from_json(params), time.monotonic()
    out = Path(spec.out).expanduser().absolute()
    check_target(out)
    check_space(out, sum(forecast(spec.model, spec.formats).values()))
    draft = draft_of(out, os.getpid())
    with _disk_errors(out):
        owned_folder.create(draft)
    try:
        with _disk_errors(out):
            own_head, checks = yield from _fill(spec, draft)
            _put(draft, out)
    finally:
        owned_folder.remove(draft)
    return ExportResult(
        folders={name: str(out / name) for name in spec.formats},
        files=_files(out),
        check=checks.get("onnx") or checks.get("hf") or checks.get(ADAPTER.id),
        check_hf=checks.get("hf"),
        check_adapter=checks.get(ADAPTER.id),
        own_head=own_head,
        seconds=time.monotonic() - began,
    ).to_json()


def _fill(
    spec: ExportSpec, draft: Path
) -> Generator[dict[str, Any], str | None, tuple[bool, Checks]]:
    """Write all formats; returns whether the head is one of ours, and the checks by format."""
    from workbench.exporters.model import (
        adapter,
        card,
        hf_folder,
        onnx,
        verify,
    )  # torch, after the folders were validated
    from workbench.models import device
    from workbench.tasks.predictor import Predictor

    device.use_threads()
    yield {"kind": "stage", "stage": "load", "title": _("Loading the model")}
    predictor = Predictor.load(spec.model, "cpu")
    documents = texts_of(spec.texts)
    checks: Checks = {}
    yield {"kind": "stage", "stage": "hf", "title": _("Writing the Hugging Face folder")}
    hf = (
        draft / "hf"
    )  # always written: it contains the tokenizer in the form used by the ONNX folder
    hf_folder.write(predictor, Path(spec.model), hf)
    if "onnx" in spec.formats:
        yield {
            "kind": "stage",
            "stage": "onnx",
            "title": _("Converting the model to ONNX (about a minute)"),
        }
        onnx.write(predictor, hf, draft / "onnx")
        title = _("Comparing predictions on {n} texts").format(n=len(documents))
        yield {"kind": "stage", "stage": "check", "title": title, "total": len(documents)}
        checks["onnx"] = yield from verify.check(predictor, draft / "onnx", documents)
    if "hf" in spec.formats:
        some = documents if "onnx" not in spec.formats else documents[:50]
        yield {
            "kind": "stage",
            "stage": "check_hf",
            "title": _("Reloading the Hugging Face folder"),
            "total": len(some),
        }
        checks["hf"] = yield from verify.check_folder(predictor, hf, some)
        text = card.readme(spec.facts, predictor.description, checks.get("onnx"))
        (hf / "README.md").write_text(text, encoding="utf-8")
    if ADAPTER.id in spec.formats:
        folder = draft / ADAPTER.id
        adapter.write(predictor, Path(spec.model), folder)
        yield {
            "kind": "stage",
            "stage": "check_adapter",
            "title": _("Loading the adapter into its base model"),
            "total": len(documents[:50]),
        }
        ask = verify.adapter_folder(predictor, Path(spec.model), folder, tokenizer=hf)
        checks[ADAPTER.id] = yield from verify.check_folder(
            predictor, folder, documents[:50], ask=ask, format=ADAPTER.id
        )
    if "hf" not in spec.formats:
        shutil.rmtree(hf)
    return predictor.model.head is not None, checks


def texts_of(path: str) -> tuple[Document, ...]:
    """The first MOST_TEXTS documents of a file of records; () without a file."""
    if not path:
        return ()
    from workbench.tasks.predictor import read_documents

    found = (one for one in read_documents(Path(path)) if one.text.strip())
    return tuple(one for one, _number in zip(found, range(MOST_TEXTS), strict=False))


# ---------------------------------------------------------------- the target folder


def check_target(out: Path) -> None:
    """Raises ExportFailed if the target cannot be used."""
    if out.exists() and not out.is_dir():
        raise ExportFailed(
            _("{out} is a file.").format(out=out),
            hint=_("Choose a folder that is empty or does not exist yet."),
        )
    if out.is_dir() and (found := sorted(one.name for one in out.iterdir())):
        raise ExportFailed(
            _("The folder {out} is not empty (it contains {found!r}).").format(
                out=out, found=found[0]
            ),
            hint=_("Choose an empty or a new folder."),
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        probe = out.parent / f".{out.name}.probe-{os.getpid()}"
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise ExportFailed(
            _("{parent} cannot be written: {strerror}.").format(
                parent=out.parent, strerror=error.strerror or error
            ),
            hint=_("Choose another folder."),
        ) from error


def check_space(out: Path, needed: int) -> None:
    free = shutil.disk_usage(out.parent).free
    if free < needed:
        raise ExportFailed(
            _(
                "The disk of {parent} has {free:,.0f} MB free; the export requires about "
                "{needed:,.0f} MB."
            ).format(parent=out.parent, free=free / 1e6, needed=needed / 1e6),
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
                _("The disk of {parent} is full. No files were kept.").format(parent=out.parent),
                hint=_("Free up disk space or choose another folder."),
            ) from error
        if isinstance(error, OSError) and str(out.parent) in str(error.filename or ""):
            raise ExportFailed(
                _("{filename} cannot be written: {strerror}.").format(
                    filename=error.filename, strerror=error.strerror
                ),
                hint=_("Choose another folder."),
            ) from error
        raise


def _put(draft: Path, out: Path) -> None:
    """Move the finished folders to `out`, which does not exist or is empty and stays as it is."""
    check_target(out)  # minutes may have passed since the first check
    out.mkdir(exist_ok=True)
    for folder in sorted(draft.iterdir()):
        if folder.name != owned_folder.MARKER:
            folder.rename(out / folder.name)


def _files(out: Path) -> tuple[ExportedFile, ...]:
    found = sorted(path for path in out.rglob("*") if path.is_file())
    return tuple(ExportedFile(str(path), path.stat().st_size) for path in found)
