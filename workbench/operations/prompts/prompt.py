"""Runs of prompts over a split: scores, answers and suggestions as for other runs.

Prompts are filled in prompt_fill.py.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.base import paths, scratch
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.jobs.events import Finished
from workbench.jobs.spec import JobSpec
from workbench.operations.evaluation import scoring
from workbench.operations.models import installed
from workbench.operations.prompts.prompt_fill import Filler, Fillers
from workbench.operations.runs import new_runs, predict, results, run_recorder, run_results, train
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.prompt.info import INFO
from workbench.prompting.backends import spec as backends
from workbench.prompting.results import PromptResult
from workbench.prompting.spec import PromptSpec
from workbench.storage.runs import prompts, runs
from workbench.tasks import spec as tasks
from workbench.text.document import CHOICES, Document
from workbench.text.labels import Layer

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.prompting.budget import PromptInput
    from workbench.prompting.built_in import BuiltIn
    from workbench.prompting.score import LabelAnswer as LabelAnswer
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction

TEMPLATE = "template.txt"  # in the folder of a run


@dataclass(frozen=True)
class PreparedPrompt:
    """Everything that a run needs. lines: of the worker's input."""

    kind: ClassVar[str] = INFO.id
    spec: PromptSpec
    layer: Layer
    task: str
    split: str
    lines: tuple[str, ...]
    fingerprint: str
    dropped: int
    cut: int


# ---------------------------------------------------------------- what can be chosen


def templates() -> tuple[BuiltIn, ...]:
    """The templates that ship with the application: id, title, source."""
    from workbench.prompting.built_in import built_in

    return built_in()


def default_template(layer: Layer | None) -> str:
    """The source that the page opens with: one that works for the layer."""
    known: dict[str, str] = {template.id: template.source for template in templates()}
    fitting = {2: "40-pair", CHOICES: "60-choices"}
    return known[fitting.get(layer.texts if layer is not None else 1, "10-few-shot")]


# ---------------------------------------------------------------- running


def prepare(
    project: Project,
    spec: PromptSpec,
    *,
    split: str = "dev",
    fillers: Fillers | None = None,
    watch: Watch = QUIET,
) -> PreparedPrompt:
    """Fill the prompts of a whole split, about 1,500 documents a second. For a thread.

    Raises WorkbenchError.
    """
    if fillers is None:
        with Fillers(project) as own_fillers:
            return prepare(project, spec, split=split, fillers=own_fillers, watch=watch)
    filler = fillers.filler(spec, watch=watch)
    documents = scoring.scored_documents(project, tasks.info(filler.task), filler.layer, split)
    if not documents:
        raise WorkbenchError(
            _(
                "No submitted document of layer {layer!r} is in the {split} split.",
                layer=filler.layer.name,
                split=split,
            ),
            hint=_("Submit documents and assign splits on the Data page."),
        )
    lines, dropped, cut = _lines(filler, [scored.document for scored in documents], watch)
    spec = replace(spec, layer=filler.layer.name)
    return PreparedPrompt(
        spec, filler.layer, filler.task, split, lines, scoring.fingerprint(documents), dropped, cut
    )


def _lines(
    filler: Filler, documents: Sequence[Document], watch: Watch = QUIET
) -> tuple[tuple[str, ...], int, int]:
    """The worker's input, and how many examples were left out and texts cut in all.

    Documents with the same examples share one estimate of the prior; those with choices have one of
    their own. Its lines come before the first document, so that a run that is stopped has them.
    """
    lines: list[str] = []
    sets: dict[tuple[PromptInput, ...], int] = {}
    dropped, cut = 0, 0
    all_fitted = enumerate(zip(documents, filler.fit_all(documents), strict=True))
    for done, (sent, fitted) in all_fitted:
        watch.at(done / len(documents))
        premises = filler.premises(sent, fitted)
        if premises not in sets:
            sets[premises] = len(sets)
            lines += filler.lines_without_text(premises, sets[premises])
        lines.append(filler.line(sent, fitted, sets[premises]))
        dropped, cut = dropped + fitted.dropped, cut + fitted.cut
    return tuple(lines), dropped, cut


def start(
    project: Project, queue: Queue, prepared: PreparedPrompt, *, parent_id: int | None = None
) -> Run:
    """Create the run and its job, see `kinds.start`."""
    spec = prepared.spec
    name = spec.name or train.free_run_name(project, "prompt")

    def job(folder: Path, about: Mapping[str, Any]) -> JobSpec:
        title = _("Prompt {name}", name=name)
        (folder / TEMPLATE).write_text(spec.template, encoding="utf-8", newline="\n")
        scoring_job = _job(folder, spec, prepared.lines, about, title)
        return replace(scoring_job, name=name, project=str(project.path), stoppable=True)

    return new_runs.queued(
        project,
        queue,
        INFO.id,
        name,
        job,
        layer_id=prepared.layer.id,
        spec=_spec_json(replace(spec, name=name), prepared),
        parent_id=parent_id,
    )


def command(project: Project, run: Run) -> str:
    """The command line that repeats a run. Raises WorkbenchError without a file of its template."""
    spec, template = spec_of(run), paths.run_folder(project.path, run.id) / TEMPLATE
    if not template.is_file():
        raise SpecError(_("There is no {file}.", file=template))
    known = spec.model_name or spec.model
    if Path(spec.model).is_absolute():
        known = installed.argument(spec.model, spec.model_name)
    words = [str(project.path), "--template", str(template), "--model", known]
    words += ["--backend", spec.backend] if spec.backend != backends.DEFAULT else []
    for name, value in spec.options.items():
        words += ["--set", f"{name}={'auto' if value is None else value}"]
    words += ["--layer", spec.layer, "--shots", str(spec.shots), "--order", spec.order]
    words += ["--seed", str(spec.seed), "--split", run.spec["split"]]
    return shlex.join(("glossbench", "prompt", *words, "--calibration", spec.calibration))


def run(project: Project, queue: Queue, spec: PromptSpec, *, split: str = "dev") -> Run:
    """Prepare and start in one call, for callers that may block."""
    return kinds.start(project, queue, prepare(project, spec, split=split))


def _spec_json(spec: PromptSpec, prepared: PreparedPrompt) -> dict[str, object]:
    about = {
        "task": prepared.task,
        "split": prepared.split,
        "dropped": prepared.dropped,
        "cut": prepared.cut,
    }
    return {**spec.to_json(), **about, "fingerprint": prepared.fingerprint}


def _job(
    folder: Path, spec: PromptSpec, lines: Sequence[str], about: Mapping[str, Any], title: str
) -> JobSpec:
    folder.mkdir(parents=True, exist_ok=True)
    prompts = folder / "prompts.jsonl"
    prompts.write_text("".join(line + "\n" for line in lines), encoding="ascii")
    params = {**_asking(spec), "prompts": str(prompts), "run": dict(about)}
    device = train.queue_device(spec.device)
    return JobSpec(backends.JOB, params, str(folder), device=device, title=title)


def _asking(spec: PromptSpec) -> dict[str, object]:
    """What a worker needs to load the model. Raises SpecError for options that do not fit."""
    return {
        "backend": spec.backend,
        "model": spec.model,
        "options": backends.options(spec.backend, spec.options),
        "device": spec.device,
        "allow_pickle": spec.allow_pickle,
    }


def host(spec: PromptSpec) -> JobSpec:
    """A host that answers single prompts; see `prompting.backends.serve.open_scorer`."""
    return JobSpec(backends.HOST, _asking(spec), title=spec.model_name)


def ended(project: Project, run_id: int, event: Finished) -> None:
    """Store the answers and scores of the worker as rows.

    A cancelled or failed run is treated like a training.
    """
    if event.status not in ("done", "stopped") or not event.result:
        run_recorder.ended(project, run_id, event)
        return
    this, folder = runs.get(project.db, run_id), paths.run_folder(project.path, run_id)
    calibration = spec_of(this).calibration
    choices = tasks.info(this.spec["task"]).texts == CHOICES
    answers = _answers(folder / "scores.jsonl", calibration)
    result = replace(
        PromptResult.from_json(event.result),
        dropped=this.spec["dropped"],
        cut=this.spec["cut"],
        calibration=calibration,
        prior=None if choices else answers.prior,  # each document has one of its own
        prior_sets=answers.sets,
    )
    with project.write():
        runs.save_predictions(
            project.db,
            run_id,
            [
                (id, text_hash, prediction.to_json())
                for id, text_hash, prediction in answers.predictions
            ],
        )
        runs.update(
            project.db,
            run_id,
            status=event.status,
            **run_results.columns(result),
        )
        scored = results.evaluate_stored(project, runs.get(project.db, run_id), this.spec["split"])
        test = (
            {"seen_test": this.seen_test + 1, "test_fingerprint": scored.fingerprint}
            if scored.split == "test"
            else {}
        )
        result = replace(result, evaluations={scored.split: scored})
        runs.update(project.db, run_id, **run_results.columns(result), **test)
    (folder / "prompts.jsonl").unlink(missing_ok=True)


@dataclass(frozen=True)
class _Answers:
    """The output of a worker.

    prior: of the set of examples that most documents had, None without calibration.
    """

    predictions: tuple[tuple[int, str, Prediction], ...]  # document id, hash of its text, answer
    prior: Mapping[str, float] | None
    sets: int


def _answers(path: Path, calibration: str) -> _Answers:
    from workbench.prompting.score import prediction, prior_of

    with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        rows = [json.loads(line) for line in file]
    without_text: dict[int, list[dict[str, list[float]]]] = {}
    for row in rows:
        if row["document_id"] is None:
            without_text.setdefault(row["set"], []).append(row["logprobs"])
    document_rows = [row for row in rows if row["document_id"] is not None]
    predictions = tuple(
        (
            row["document_id"],
            row["text_hash"],
            prediction(
                row["logprobs"],
                calibration,
                without_text.get(row.get("set", 0), ()),
                cut=bool(row["cut"]),
            ),
        )
        for row in document_rows
    )
    usual = Counter(row.get("set", 0) for row in document_rows).most_common(1)
    prior = prior_of(calibration, without_text.get(usual[0][0], ())) if usual else None
    return _Answers(predictions, prior, len(without_text))


def spec_of(this: Run) -> PromptSpec:
    """The settings of a prompt run. Raises SpecError for a trained one."""
    if kinds.info(this.kind).result is not PromptResult:
        raise SpecError(_("Run {name!r} is no prompt.", name=this.name))
    return PromptSpec.from_json(this.spec)


def answers(
    project: Project,
    queue: Queue,
    this: Run,
    documents: Sequence[Document],
    *,
    watch: Watch = QUIET,
) -> list[Prediction]:
    """The answers of a run to its prompt for more documents, in order.

    Raises Cancelled or JobFailed.
    """
    spec = spec_of(this)
    with Fillers(project) as fillers:
        lines, _dropped, _cut = _lines(fillers.filler(spec), documents)
    folder = scratch.make("prompt")
    about = {"project": project.uid, "id": this.id, "purpose": "predict"}
    try:
        job = _job(folder, spec, lines, about, _("Ask with {name}", name=this.name))
        queue.run(replace(job, project=str(project.path), short=True), watch)
        with predict.reading_answers():
            read = _answers(folder / "scores.jsonl", spec.calibration)
            return [answer for _id, _hash, answer in read.predictions]
    finally:
        scratch.remove(folder)


# ---------------------------------------------------------------- templates kept in the project


def saved(project: Project) -> tuple[prompts.StoredPrompt, ...]:
    return prompts.all(project.db)


def save(project: Project, name: str, body: str, *, origin: object = None) -> None:
    """Save a template under a name, as one undo step. Earlier texts remain as older versions.

    Raises SpecError for an empty name.
    """
    if not name.strip():
        raise SpecError(_("A template needs a name."))
    with project.edit(_("Save prompt {name}", name=name), origin=origin):
        this = prompts.by_name(project.db, name)
        if this is None:
            prompts.add(project.db, name, body)
        else:
            prompts.add_version(project.db, this.id, body)
