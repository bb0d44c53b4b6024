"""Model export: the chosen formats as folders, then ONNX checked against the original on the user's own texts."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base.errors import ExportFailed, SpecError
from workbench.base.i18n import _
from workbench.jobs.spec import JobSpec
from workbench.operations import results, train
from workbench.storage import documents
from workbench.text import dataset

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs import Run
    from workbench.text.document import Document

TARGET = "workbench.exporters.model.run:export"
CHECKED = 500  # texts of dev and test that are compared


@dataclass(frozen=True)
class Format:
    """A way to write a model. `use` says what it is for; `factor` its size against the weights of the run."""

    id: str
    title: str
    use: str
    factor: float


FORMATS = (
    Format("hf", _("Hugging Face folder"), _("For Python with transformers: safetensors weights, labels, tokenizer and a card."), 1.0),
    Format(
        "onnx",
        _("ONNX"),
        _("For ONNX Runtime in any language and without torch: one file in 32-bit floats, with the tokenizer beside it."),
        1.0,
    ),
)


def formats_of(names: str) -> tuple[str, ...]:
    """ "hf,onnx" → ("hf", "onnx"). Raises SpecError for an unknown one."""
    known = [one.id for one in FORMATS]
    asked = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    for name in asked:
        if name not in known:
            raise SpecError(
                _("There is no export format {name!r}.").format(name=name), hint=_("Known: {known}.").format(known=", ".join(known))
            )
    if not asked:
        raise SpecError(_("No export format was named."), hint=_("Known: {known}.").format(known=", ".join(known)))
    return asked


def exportable_runs(project: Project) -> tuple[Run, ...]:
    """Finished runs with a model of their own, newest first."""
    return tuple(
        one for one in results.all_runs(project) if one.kind == "train" and one.status in ("done", "stopped") and _has_model(project, one)
    )


def _has_model(project: Project, run: Run) -> bool:
    try:
        train.model_folder(project, run)
    except Exception:
        return False
    return True


def check_documents(project: Project, run: Run) -> tuple[Document, ...]:
    """The texts that the check compares: dev and test documents of the run's layer, evenly drawn if they are over 500.

    Where a project has none left, any documents that fit.
    """
    layer = results.layer_of(project, run)
    ids: list[int] = []
    for split in ("dev", "test"):
        ids += documents.ids(project.db, documents.Filter(split=split, texts=layer.texts))
    ids = ids or list(documents.ids(project.db, documents.Filter(texts=layer.texts)))
    step = max(1.0, len(ids) / CHECKED)
    chosen = [ids[int(number * step)] for number in range(min(len(ids), CHECKED))]
    return tuple(one.document for one in documents.records(project.db, layers=(), ids=chosen) if one.document.text.strip())


def sizes(project: Project, run: Run) -> dict[str, int]:
    """About how many bytes each format will take."""
    folder = train.model_folder(project, run)
    weights = sum(one.stat().st_size for one in folder.iterdir() if one.is_file())
    return {one.id: int(weights * one.factor) for one in FORMATS}


def start(project: Project, queue: Queue, run: Run, out: Path, formats: tuple[str, ...] = ("hf", "onnx")) -> Job:
    """Export in a worker. Its result: folders {format: path}, files [{path, bytes}], check {texts, largest_difference, equal_labels, …}.

    Raises ExportFailed where the folder cannot be used, WorkbenchError where the weights are not here.
    """
    model = train.model_folder(project, run)
    out = Path(out).absolute()
    for name in formats:
        _refuse_foreign(out / name)
    folder = Path(tempfile.mkdtemp(prefix="glossbench-export-"))
    texts = folder / "texts.jsonl"
    dataset.write(texts, (), (dataset.Record(one) for one in check_documents(project, run)), ids=True)
    params = {
        "model": str(model),
        "out": str(out),
        "formats": list(formats),
        "texts": str(texts),
        "card": card(project, run),
        "run": {"project": project.uid, "id": run.id, "purpose": "export"},
    }
    return queue.add(JobSpec(TARGET, params, str(folder), device="cpu", title=_("Export {name}").format(name=run.name)))


def _refuse_foreign(folder: Path) -> None:
    """A folder with files that no export wrote is left alone; an earlier export is replaced."""
    if not folder.exists():
        return
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / "README.md").is_file()):
        raise ExportFailed(_("{folder} holds something else already.").format(folder=folder), hint=_("Choose another folder."))


def card(project: Project, run: Run) -> dict:
    """What the model card says of the training: scores, data, settings. No text of the user's."""
    spec = train.spec_of(run)
    return {
        "name": run.name,
        "task": spec.task,
        "layer": run.layer,
        "base": spec.model_name or Path(spec.model).name,
        "seed": spec.seed,
        "options": dict(spec.options),
        "scores": run.scores,
        "used": run.spec.get("plan", {}).get("used", {}),
        "cut": run.result.get("cut", 0),
        "versions": run.versions,
        "data_fingerprint": run.data_fingerprint,
        "at": run.at,
    }


def sentence(check: dict) -> str:
    """What the check found, in words."""
    texts = int(check["texts"])
    equal = round(float(check["equal_labels"]) * texts)
    return _("{n} of {m} labels equal, largest difference {d:.1e}").format(n=equal, m=texts, d=check["largest_difference"])
