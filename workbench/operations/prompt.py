"""Prompts: run one over a split. A prompt is a run like any other: scores, answers, suggestions. Filling is in prompt_fill.py."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths, scratch
from workbench.base.errors import JobFailed, SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.jobs.events import Finished
from workbench.jobs.spec import JobSpec
from workbench.operations import predict, results, scoring, train
from workbench.operations.prompt_fill import (
    Filler,
    Preview,
    PromptSpec,
    choose_layer,
    document,
    first_document,
    fitting_layers,
    language_models,
    preview,
    ranked,
    split_ids,
)
from workbench.storage import prompts, runs
from workbench.text.document import Document
from workbench.text.labels import Layer

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs import Run
    from workbench.text.fields import Prediction

__all__ = [
    "Filler",
    "Preview",
    "PromptSpec",
    "choose_layer",
    "document",
    "first_document",
    "fitting_layers",
    "language_models",
    "preview",
    "ranked",
    "split_ids",
]

TARGET = "workbench.models.generate:score_prompts"
SCORER = "workbench.models.generate:open_scorer"


@dataclass(frozen=True)
class Prepared:
    """Everything a run needs, worked out off the main thread. `lines` are those of the worker's input."""

    spec: PromptSpec
    layer: Layer
    task: str
    split: str
    lines: tuple[str, ...]
    fingerprint: str
    dropped: int
    cut: int


# ---------------------------------------------------------------- what can be chosen


def templates() -> tuple:
    """The templates that ship with the application: id, title, source."""
    from workbench.prompting.template import built_in

    return built_in()


def default_template(layer: Layer | None) -> str:
    """The source that the page opens with: one that works for the layer."""
    known = {one.id: one.source for one in templates()}
    return known["40-pair" if layer is not None and layer.texts == 2 else "10-few-shot"]


# ---------------------------------------------------------------- running


def prepare(project: Project, spec: PromptSpec, *, split: str = "dev") -> Prepared:
    """Fill the prompts of a whole split. For a thread: takes some milliseconds for each document. Raises WorkbenchError."""
    filler = Filler(project, spec)
    found = scoring.scored_documents(project, filler.task, filler.layer, split)
    if not found:
        raise WorkbenchError(
            _("No submitted document of layer {layer!r} is in the {split} split.").format(
                layer=filler.layer.name, split=split
            ),
            hint=_("Submit documents and make splits on the Data page."),
        )
    fitted = [filler.fit(one.document) for one in found]
    lines = tuple(
        filler.line(one.document, prompt) for one, prompt in zip(found, fitted, strict=True)
    )
    spec = replace(spec, layer=filler.layer.name)
    dropped, cut = sum(one.dropped for one in fitted), sum(one.cut for one in fitted)
    return Prepared(
        spec, filler.layer, filler.task, split, lines, scoring.fingerprint(found), dropped, cut
    )


def start(project: Project, queue: Queue, prepared: Prepared) -> Run:
    """Make the run's row and its job; `wire` writes what comes back."""
    if project.read_only:
        raise WorkbenchError(
            _("The project is open for reading only."), hint=project.read_only_reason
        )
    spec = prepared.spec
    with project.write(_("New prompt run")):
        name = spec.name or train.free_run_name(project, "prompt")
        run = runs.add(
            project.db,
            name,
            "prompt",
            layer_id=prepared.layer.id,
            spec=_kept(replace(spec, name=name), prepared),
        )
    folder = paths.run_folder(project.path, run.id)
    try:
        job = _job(
            folder,
            spec,
            prepared.lines,
            {"project": project.uid, "id": run.id, "purpose": "prompt"},
            _("Prompt {name}").format(name=name),
        )
        queue.add(job)
    except (WorkbenchError, OSError) as error:
        with project.write():
            runs.delete(project.db, run.id)
        if isinstance(error, OSError):
            raise WorkbenchError(
                _("{folder} cannot be written: {why}.").format(folder=folder, why=error.strerror)
            ) from error
        raise
    return run


def run(project: Project, queue: Queue, spec: PromptSpec, *, split: str = "dev") -> Run:
    """Prepare and start in one go, where nobody waits for a window."""
    return start(project, queue, prepare(project, spec, split=split))


def _kept(spec: PromptSpec, prepared: Prepared) -> dict:
    about = {
        "task": prepared.task,
        "split": prepared.split,
        "dropped": prepared.dropped,
        "cut": prepared.cut,
    }
    return {**spec.to_json(), **about, "fingerprint": prepared.fingerprint, "options": {}}


def _job(
    folder: Path, spec: PromptSpec, lines: Sequence[str], about: Mapping, title: str
) -> JobSpec:
    folder.mkdir(parents=True, exist_ok=True)
    asked = folder / "prompts.jsonl"
    asked.write_text("".join(line + "\n" for line in lines), encoding="ascii")
    params = {
        "model": spec.model,
        "prompts": str(asked),
        "device": spec.device,
        "allow_pickle": spec.allow_pickle,
        "run": dict(about),
    }
    return JobSpec(TARGET, params, str(folder), device=train.queue_device(spec.device), title=title)


def ended(project: Project, run_id: int, event: Finished) -> None:
    """The worker has answered: answers and scores become rows. A cancelled or failed run is treated as a training is."""
    from workbench.operations import wire

    if event.status not in ("done", "stopped") or not event.result:
        wire.ended(project, run_id, event)
        return
    this, folder = runs.get(project.db, run_id), paths.run_folder(project.path, run_id)
    answers = _answers(folder / "scores.jsonl")
    about = {name: this.spec[name] for name in ("dropped", "cut")}
    result = {
        **about,
        **{name: value for name, value in event.result.items() if name != "versions"},
    }
    with project.write():
        runs.save_predictions(
            project.db,
            run_id,
            [(id, text_hash, found.to_json()) for id, text_hash, found in answers],
        )
        runs.update(
            project.db,
            run_id,
            status=event.status,
            result=result,
            versions=dict(event.result.get("versions", {})),
        )
        scored = evaluation(project, runs.get(project.db, run_id))
        test = (
            {"seen_test": this.seen_test + 1, "test_fingerprint": scored.fingerprint}
            if scored.split == "test"
            else {}
        )
        runs.update(project.db, run_id, scores={scored.split: dict(scored.scores)}, **test)
    (folder / "prompts.jsonl").unlink(missing_ok=True)


def _answers(path: Path) -> list[tuple[int, str, Prediction]]:
    from workbench.prompting.score import prediction

    with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        rows = [json.loads(line) for line in file]
    return [
        (row["document_id"], row["text_hash"], prediction(row["logprobs"], cut=bool(row["cut"])))
        for row in rows
    ]


def evaluation(project: Project, this: Run) -> scoring.Evaluation:
    """The score table of a finished prompt run on the split it was run over, against today's gold."""
    found = results.scored(project, this, this.spec["split"])
    kept = runs.predictions(project.db, this.id, [one.document.id for one in found])
    have = [
        one
        for one in found
        if one.document.id in kept and kept[one.document.id][0] == one.document.text_hash
    ]
    return scoring.evaluate(
        results.task_of(this), this.spec["split"], have, [kept[one.document.id][1] for one in have]
    )


def spec_of(this: Run) -> PromptSpec:
    """The settings of a prompt run. Raises SpecError for a trained one."""
    if this.kind != "prompt":
        raise SpecError(_("Run {name!r} is no prompt.").format(name=this.name))
    return PromptSpec.from_json(this.spec)


class Question:
    """The prompt of a run about more documents, as `predict.Question`: made and read on any thread, started on the main one."""

    def __init__(self, project: Project, this: Run, asked: Sequence[Document]):
        spec = spec_of(this)
        filler = Filler(project, spec)
        lines = [filler.line(one, filler.fit(one)) for one in asked]
        self.folder = scratch.make("prompt")
        about = {"project": project.uid, "id": this.id, "purpose": "predict"}
        self.spec = _job(
            self.folder, spec, lines, about, _("Ask with {name}").format(name=this.name)
        )

    def start(self, queue: Queue, ended: Callable[[Finished], None]) -> Job:
        return predict.follow(queue, self.spec, ended)

    def answers(self, event: Finished) -> list[Prediction]:
        """In the order asked; the files go. Raises Cancelled or JobFailed."""
        try:
            predict.check_ending(event)
            return [found for _id, _hash, found in _answers(self.folder / "scores.jsonl")]
        except (OSError, ValueError, KeyError) as error:
            raise JobFailed(
                _("The answers of the worker cannot be read: {error!r}.").format(error=error)
            ) from error
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


# ---------------------------------------------------------------- templates kept in the project


def saved(project: Project) -> tuple[prompts.Prompt, ...]:
    return prompts.all(project.db)


def save(project: Project, name: str, body: str, *, origin: object = None) -> None:
    """Keep a template under a name; an earlier text of that name stays as an older version. One undo step."""
    if not name.strip():
        raise SpecError(_("A template needs a name."))
    with project.edit(_("Save prompt {name}").format(name=name), origin=origin):
        this = prompts.by_name(project.db, name)
        if this is None:
            prompts.add(project.db, name, body)
        else:
            prompts.add_version(project.db, this.id, body)


def remove(project: Project, name: str, *, origin: object = None) -> None:
    with project.edit(_("Delete prompt {name}").format(name=name), origin=origin):
        if (this := prompts.by_name(project.db, name)) is not None:
            prompts.delete(project.db, this.id)
