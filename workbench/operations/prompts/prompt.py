"""Runs of prompts over a split: scores, answers and suggestions as for other runs.

Prompts are filled in prompt_fill.py.
"""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.base import paths, scratch
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.jobs.events import Finished
from workbench.jobs.spec import JobSpec
from workbench.operations.evaluation import scoring
from workbench.operations.models import installed
from workbench.operations.prompts import prompt_examples, prompt_models, prompt_reading, servers
from workbench.operations.prompts.prompt_fill import Filler, Fillers
from workbench.operations.runs import new_runs, predict, results, run_recorder, run_results, train
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.prompt.info import INFO
from workbench.prompting import transcript
from workbench.prompting.backends import spec as backends
from workbench.prompting.results import PromptResult
from workbench.prompting.spec import (
    ANSWER_OPTIONS,
    DECODING_OPTIONS,
    SCORED,
    PromptSpec,
    stop_option,
)
from workbench.storage.runs import replies, runs
from workbench.storage.runs.runs import Failure
from workbench.tasks import spec as tasks
from workbench.text.document import CHOICES, Document
from workbench.text.labels import Layer
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.metrics.evaluation import Evaluation
    from workbench.operations.evaluation.scoring import GoldDocument
    from workbench.project.project import Project
    from workbench.prompting.budget import PromptInput
    from workbench.prompting.built_in import BuiltIn
    from workbench.prompting.score import LabelAnswer as LabelAnswer
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction

SAMPLE_SEED = 1
TEMPLATE, RESULT = "template.txt", "result.json"  # in the folder of a run


@dataclass(frozen=True)
class PreparedPrompt:
    """Everything that a run needs. requests: what is sent, and the answers that are known."""

    kind: ClassVar[str] = INFO.id
    spec: PromptSpec
    layer: Layer
    task: str
    split: str
    requests: Requests
    fingerprint: str
    dropped: int
    cut: int
    prices: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Requests:
    """The files of `prompting.transcript` as lines. documents: how many are asked about."""

    lines: tuple[str, ...]
    answers: tuple[dict[str, Any], ...]
    documents: int


@dataclass(frozen=True)
class ResumedPrompt:
    """What is needed to go on with a run. answers: that have become known since it ended."""

    kind: ClassVar[str] = INFO.id
    run: Run
    answers: tuple[dict[str, Any], ...]

    @property
    def fingerprint(self) -> str:
        return str(self.run.spec.get("fingerprint", ""))


# ---------------------------------------------------------------- what can be chosen


def templates() -> tuple[BuiltIn, ...]:
    """The templates that ship with the application: id, title, source."""
    from workbench.prompting.built_in import built_in

    return built_in()


def templates_for(layer: Layer | None) -> tuple[BuiltIn, ...]:
    """Those that fit a layer, the one to begin with first; all without a layer."""
    if layer is None:
        return templates()
    info = prompt_reading.task_of(layer)
    output = prompt_reading.output_of(info) if info is not None else ""
    return tuple(each for each in templates() if each.fits(layer, output))


# ---------------------------------------------------------------- running


def prepare(
    project: Project,
    spec: PromptSpec,
    *,
    split: str = "dev",
    fillers: Fillers | None = None,
    queue: Queue | None = None,
    watch: Watch = QUIET,
) -> PreparedPrompt:
    """Fill the prompts of a whole split, about 1,500 documents a second. For a thread.

    queue: of the jobs that the selection of examples needs, unless `fillers` are given. Raises
    WorkbenchError.
    """
    if fillers is None:
        with Fillers(project, queue=queue) as own_fillers:
            return prepare(project, spec, split=split, fillers=own_fillers, watch=watch)
    filler = fillers.filler(spec, watch=watch)
    documents = _sampled(
        scoring.scored_documents(project, tasks.info(filler.task), filler.layer, split), spec.sample
    )
    if not documents:
        raise WorkbenchError(
            _(
                "No submitted document of layer {layer!r} is in the {split} split.",
                layer=filler.layer.name,
                split=split,
            ),
            hint=_("Submit documents and assign splits on the Data page."),
        )
    lines, dropped, cut = filled(filler, [scored.document for scored in documents], watch)
    return PreparedPrompt(
        replace(spec, layer=filler.layer.name),
        filler.layer,
        filler.task,
        split,
        _requests(project, lines),
        scoring.fingerprint(documents),
        dropped,
        cut,
        _prices(spec),
    )


def _sampled(documents: Sequence[GoldDocument], most: int) -> tuple[GoldDocument, ...]:
    """At most so many, in their order; all for 0."""
    if not 0 < most < len(documents):
        return tuple(documents)
    drawn = random.Random(SAMPLE_SEED).sample(range(len(documents)), most)
    return tuple(documents[at] for at in sorted(drawn))


def _prices(spec: PromptSpec) -> tuple[float, float]:
    """Of a million tokens sent and received, as the user has entered them; 0 for none."""
    try:
        return prompt_models.of_spec(spec).prices
    except WorkbenchError:  # it is no longer listed; the worker says why it cannot be used
        return (0.0, 0.0)


def filled(
    filler: Filler, documents: Sequence[Document], watch: Watch = QUIET
) -> tuple[list[dict[str, Any]], int, int]:
    """The requests, and how many examples were left out and texts cut in all.

    Documents with the same examples share one estimate of the prior; those with choices have one of
    their own. Its lines come before the first document, so that a run that is stopped has them.
    A document is followed by its further orders of examples, which are not counted.
    """
    parts = [part for document in documents for part in filler.parts(document)]
    pairs = [(part, number) for part in parts for number in range(filler.orders)]
    lines: list[dict[str, Any]] = []
    sets: dict[tuple[PromptInput, ...], int] = {}
    dropped, cut = 0, 0
    all_fitted = enumerate(zip(pairs, filler.fit_all(parts), strict=True))
    for done, ((sent, number), fitted) in all_fitted:
        watch.at(done / len(pairs))
        premises = filler.premises(sent, fitted)
        if premises not in sets:
            sets[premises] = len(sets)
            lines += filler.lines_without_text(premises, sets[premises])
        lines.append(filler.line(sent, fitted, sets[premises], order=number))
        if not number:
            dropped, cut = dropped + fitted.dropped, cut + fitted.cut
    return lines, dropped, cut


def _requests(project: Project, lines: Sequence[Mapping[str, Any]]) -> Requests:
    documents = sum(line["document_id"] is not None for line in lines)
    return Requests(
        tuple(map(json.dumps, lines)), _known(project, dict(enumerate(lines))), documents
    )


def _known(project: Project, lines: Mapping[int, transcript.Line]) -> tuple[dict[str, Any], ...]:
    """Answers to requests, by their number, that the project has from earlier ones."""
    payloads = replies.get(project.db, (line["key"] for line in lines.values()))
    return tuple(
        transcript.answer(number, line, json.loads(payloads[line["key"]]), known=True)
        for number, line in lines.items()
        if line["key"] in payloads
    )


def example(project: Project, prepared: PreparedPrompt | ResumedPrompt) -> str:
    """One prompt as it is sent, for the question whether it may be."""
    if isinstance(prepared, PreparedPrompt):
        lines = list(map(json.loads, prepared.requests.lines[-1:]))
    else:
        lines = transcript.prompts(
            paths.run_folder(project.path, prepared.run.id) / transcript.PROMPTS
        )
    return next(iter(_sent(lines[-1])), "") if lines else ""


def example_of(project: Project, queue: Queue, run: Run, document: Document) -> str:
    """The prompt of a run about a document as it is sent, for the same question."""
    with Fillers(project, queue=queue) as fillers:
        lines, _dropped, _cut = filled(fillers.filler(replace(spec_of(run), orders=1)), [document])
    return next(iter(_sent(lines[-1])), "")


def needs_consent(project: Project, run: Run) -> bool:
    """Whether the user has to agree before a run predicts: a prompt that is sent elsewhere."""
    if run.kind != INFO.id:
        return False
    spec = spec_of(run)
    return bool(servers.needs_consent(project, spec.backend, spec.model))


def _sent(line: Mapping[str, Any]) -> list[str]:
    """What a request sends: its prompts, its messages, or its text."""
    parts = line["parts"]
    if "prompts" in line:
        return ["".join(parts[at] for at in places) for places in line["prompts"].values()]
    if "messages" in line:
        return ["\n".join(parts[at] for _role, at in line["messages"])]
    return [parts[line["text"]]]


def start(
    project: Project,
    queue: Queue,
    prepared: PreparedPrompt | ResumedPrompt,
    *,
    parent_id: int | None = None,
) -> Run:
    """Create the run and its job, or only the job to go on with a run, see `kinds.start`.

    Raises ConsentNeeded.
    """
    if isinstance(prepared, ResumedPrompt):
        return _resume(project, queue, prepared)
    spec = prepared.spec
    servers.check_consent(project, spec.backend, spec.model)
    name = spec.name or train.free_run_name(project, "prompt")

    def job(folder: Path, about: Mapping[str, Any]) -> JobSpec:
        (folder / TEMPLATE).write_text(spec.template, encoding="utf-8", newline="\n")
        _write(folder, prepared.requests)
        return _run_job(project, folder, replace(spec, name=name), about)

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
    words += prompt_examples.arguments(project, spec)
    words += ["--seed", str(spec.seed), "--split", run.spec["split"]]
    words += ["--sample", str(spec.sample)] if spec.sample else []
    words += ["--calibration", spec.calibration, *_answer_words(spec)]
    return shlex.join(("glossbench", "prompt", *words))


def _answer_words(spec: PromptSpec) -> list[str]:
    """The options of how the model answers, without those at their default."""
    answer, decoding = spec.answer, spec.decoding
    words = ["--form", answer.form] if answer.form != SCORED else []
    for label, names in spec.words.items():
        for name in names:
            words += ["--word", f"{label}={name}"]
    for label, text in spec.descriptions.items():
        words += ["--description", f"{label}={text}"]
    words += ["--instruction", spec.instruction] if spec.instruction else []
    values = {**answer.to_json(), **decoding.to_json(), "stop": stop_option(decoding.stop)}
    for option in (*ANSWER_OPTIONS, *DECODING_OPTIONS):
        name = {"seed": "sampling-seed"}.get(option.name, option.name.replace("_", "-"))
        if values[option.name] != option.default:
            words += (
                [f"--{name}"] if option.kind == "bool" else [f"--{name}", str(values[option.name])]
            )
    words += ["--chat"] if spec.chat else []
    return words


def run(project: Project, queue: Queue, spec: PromptSpec, *, split: str = "dev") -> Run:
    """Prepare and start in one call, for callers that may block."""
    return kinds.start(project, queue, prepare(project, spec, split=split, queue=queue))


def _spec_json(spec: PromptSpec, prepared: PreparedPrompt) -> dict[str, object]:
    about = {
        "task": prepared.task,
        "split": prepared.split,
        "dropped": prepared.dropped,
        "cut": prepared.cut,
        "documents": prepared.requests.documents,
        "prices": list(prepared.prices),
    }
    return {**spec.to_json(), **about, "fingerprint": prepared.fingerprint}


def _write(folder: Path, requests: Requests) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    transcript.write_prompts(folder, requests.lines)
    with transcript.AnswerFile(folder) as file:
        file.add(requests.answers)


def _run_job(project: Project, folder: Path, spec: PromptSpec, about: Mapping[str, Any]) -> JobSpec:
    job = _job(folder, spec, about, _("Prompt {name}", name=spec.name))
    return replace(job, name=spec.name, project=str(project.path), stoppable=True)


def _job(folder: Path, spec: PromptSpec, about: Mapping[str, Any], title: str) -> JobSpec:
    path = str(folder / transcript.PROMPTS)
    params = {**_asking(spec), "prompts": path, "run": dict(about)}
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
        "decoding": prompt_reading.decoding(spec).to_json(),
    }


def host(project: Project, spec: PromptSpec) -> JobSpec:
    """A host that answers single prompts; see `prompting.backends.serve.open_backend`.

    Raises ConsentNeeded.
    """
    servers.check_consent(project, spec.backend, spec.model)
    return JobSpec(backends.HOST, _asking(spec), title=spec.model_name)


# ---------------------------------------------------------------- the end of a run


def ended(project: Project, run_id: int, event: Finished) -> None:
    """Store the answers and scores of the worker as rows.

    Whatever the end, the project keeps the answers that arrived; a run that was cancelled or
    stopped before the first one is deleted.
    """
    answered = _remember(project, paths.run_folder(project.path, run_id))
    if event.status == "stopped" and not answered:
        event = replace(event, status="cancelled")
    if event.status in ("done", "stopped") and event.result:
        _store(project, run_id, event)
    elif event.status == "cancelled" and not answered:
        run_recorder.ended(project, run_id, event)
    else:
        _interrupted(project, run_id, event, answered)


def recover(project: Project, run: Run) -> None:
    """Keep the answers of a run that was interrupted, with the project, by the end of the program.

    Does nothing if that was done before.
    """
    if "n" not in run.result:
        answered = _remember(project, paths.run_folder(project.path, run.id))
        status = "stopped" if run.scores else run.status
        with project.write():
            runs.update(project.db, run.id, status=status, result={**run.result, "n": answered})


def _remember(project: Project, folder: Path) -> int:
    """Keep the answers in a folder for later requests; how many documents have one."""
    try:
        answers = transcript.answers(folder).values()
    except (OSError, ValueError, KeyError, TypeError):  # damaged by other programs
        return 0
    payloads = {
        answer["key"]: _stored(transcript.payload(answer))
        for answer in answers
        if not answer.get("known") and not transcript.failed(answer)
    }
    if payloads and not project.read_only:
        with project.write():
            replies.save(project.db, payloads)
    return sum(answer["document_id"] is not None for answer in answers)


def _stored(payload: Mapping[str, Any]) -> str:
    """JSON with the characters of other scripts as they are, so that they can be searched, but half
    surrogate pairs, which SQLite cannot store, as escapes.
    """
    return json.dumps(payload, ensure_ascii=False).encode(errors="backslashreplace").decode()


def _interrupted(project: Project, run_id: int, event: Finished, answered: int) -> None:
    """Scores of a run that had been stopped before remain."""
    this, failure = runs.get(project.db, run_id), Failure(event.message, event.hint, event.details)
    if event.status == "cancelled":
        (paths.run_folder(project.path, run_id) / RESULT).unlink(missing_ok=True)  # is recorded
        total = this.spec.get("documents", answered)
        failure = Failure(
            ngettext(
                "Cancelled after the answers to {answered:,} of {n:,} document.",
                "Cancelled after the answers to {answered:,} of {n:,} documents.",
                total,
                answered=answered,
            )
        )
    status = {"cancelled": "interrupted", "done": "failed"}.get(event.status, event.status)
    if this.scores:
        status = "stopped"
    with project.write():
        about = {**asdict(failure), "n": answered}
        runs.update(project.db, run_id, status=status, result={**this.result, **about})


def _store(project: Project, run_id: int, event: Finished) -> None:
    this, folder = runs.get(project.db, run_id), paths.run_folder(project.path, run_id)
    spec, info, layer = (
        spec_of(this),
        tasks.info(this.spec["task"]),
        results.layer_of(project, this),
    )
    rows = list(transcript.answers(folder).values())
    ids = {row["document_id"] for row in rows} - {None}
    documents = prompt_reading.documents_of(project, layer, ids)
    answers = prompt_reading.read(info, layer, spec, rows, documents)
    result = replace(
        PromptResult.from_json(event.result),
        dropped=this.spec["dropped"],
        cut=this.spec["cut"],
        calibration=spec.calibration if spec.answer.form == SCORED else "",
        prior=None if info.texts == CHOICES else answers.prior,  # each document has its own
        prior_sets=answers.sets,
        no_answer=answers.no_answer,
        unplaced=answers.unplaced,
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
        orders = _order_scores(project, this, rows, documents, scored)
        result = replace(result, evaluations={scored.split: scored}, orders=orders)
        runs.update(project.db, run_id, **run_results.columns(result), **test)


def _order_scores(
    project: Project,
    this: Run,
    rows: Sequence[Mapping[str, Any]],
    documents: Mapping[int, Document],
    first: Evaluation,
) -> tuple[float, ...]:
    """The main score of each order of the examples, on the documents answered in all of them; ()
    with a single order. first: that of the run itself.
    """
    spec, info, layer = (
        spec_of(this),
        tasks.info(this.spec["task"]),
        results.layer_of(project, this),
    )
    last = max((row.get("order", 0) for row in rows), default=0)
    if not last:
        return ()
    scores = [first.scores[info.main]]
    scored_documents = results.scored(project, this, first.split)
    for number in range(1, last + 1):
        own = prompt_reading.read(info, layer, spec, rows, documents, order=number)
        answers = {id: prediction for id, _hash, prediction in own.predictions}
        predicted = [item for item in scored_documents if row_id(item.document) in answers]
        predictions = [answers[row_id(item.document)] for item in predicted]
        evaluation = scoring.evaluate(info.id, first.split, predicted, predictions)
        scores.append(evaluation.scores[info.main])
    return tuple(scores)


def order_spread(run: Run) -> str:
    """The scores of a run over several orders of the examples in words, "" for one."""
    scores = run_results.prompted(run).orders
    if not scores:
        return ""
    name = tasks.info(run.spec["task"]).main
    return ngettext(
        "{score} over {n} order of the examples: {low} to {high}, mean {mean}.",
        "{score} over {n} orders of the examples: {low} to {high}, mean {mean}.",
        len(scores),
        score=tasks.score_title(name),
        low=tasks.score_text(name, min(scores)),
        high=tasks.score_text(name, max(scores)),
        mean=tasks.score_text(name, sum(scores) / len(scores)),
    )


# ---------------------------------------------------------------- going on with a run


def can_resume(project: Project, run: Run) -> bool:
    """Whether a run ended before all of its requests were answered."""
    if run.kind != INFO.id or run.status in runs.UNFINISHED:
        return False
    missing = int(run.result.get("n") or 0) < int(run.spec.get("documents") or 0)
    sent = paths.run_folder(project.path, run.id) / transcript.PROMPTS
    return (missing or bool(run.result.get("failed"))) and sent.is_file()


def prepare_resume(project: Project, run: Run) -> ResumedPrompt:
    """What `kinds.start` needs to send what a run has no answers to. Not for the main thread.

    The run has the documents that it began with. Raises WorkbenchError.
    """
    if not can_resume(project, run):
        raise SpecError(
            _("Run {name!r} has nothing left to send.", name=run.name),
            hint=_("Start a new run of the prompt."),
        )
    folder = paths.run_folder(project.path, run.id)
    requests, answers = transcript.prompts(folder / transcript.PROMPTS), transcript.answers(folder)
    missing = {
        number: line
        for number, line in enumerate(requests)
        if number not in answers or transcript.failed(answers[number])
    }
    return ResumedPrompt(run, _known(project, missing))


def _resume(project: Project, queue: Queue, prepared: ResumedPrompt) -> Run:
    new_runs.refuse_read_only(project)
    run, folder = prepared.run, paths.run_folder(project.path, prepared.run.id)
    spec = spec_of(run)
    servers.check_consent(project, spec.backend, spec.model)
    with transcript.AnswerFile(folder) as file:
        file.add(prepared.answers)
    over = {"n", *(field.name for field in fields(Failure))}  # of the end before, see `recover`
    result = {name: value for name, value in run.result.items() if name not in over}
    with project.write():
        resumed = runs.update(project.db, run.id, status="waiting", result=result)
    about = {"project": project.uid, "id": run.id, "purpose": INFO.id}
    queue.add(_run_job(project, folder, replace(spec, name=run.name), about))
    return resumed


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
    servers.check_consent(project, spec.backend, spec.model)
    with Fillers(project, queue=queue) as fillers:
        lines, _dropped, _cut = filled(fillers.filler(replace(spec, orders=1)), documents)
    folder = scratch.make("prompt")
    about = {"project": project.uid, "id": this.id, "purpose": "predict"}
    try:
        _write(folder, _requests(project, lines))
        job = _job(folder, spec, about, _("Ask with {name}", name=this.name))
        queue.run(replace(job, project=str(project.path), short=True), watch)
        with predict.reading_answers():
            return _predictions(project, this, folder, documents)
    finally:
        _remember(project, folder)
        scratch.remove(folder)


def _predictions(
    project: Project, this: Run, folder: Path, documents: Sequence[Document]
) -> list[Prediction]:
    """The answers in a folder to all of these documents, in order."""
    from workbench.text.fields import Answers, Prediction

    info, layer = tasks.info(this.spec["task"]), results.layer_of(project, this)
    rows = transcript.answers(folder).values()
    by_id = {row_id(document): document for document in documents}
    batch = run_results.prompted(this).prior
    read = prompt_reading.read(info, layer, spec_of(this), rows, by_id, batch=batch)
    answers = {id: prediction for id, _hash, prediction in read.predictions}
    nothing = Prediction((Answers(()),))  # of a document without questions
    return [
        answers[id] if document.questions or not info.asks else nothing
        for id, document in by_id.items()
    ]
