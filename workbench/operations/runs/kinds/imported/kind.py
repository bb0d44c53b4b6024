"""Predictions made elsewhere: a file becomes a run that is scored and compared like any other."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.importers.base import Fault, Skipped
from workbench.operations.evaluation import scoring
from workbench.operations.runs import new_runs, train
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.base import Kind
from workbench.operations.runs.kinds.imported import reading
from workbench.operations.runs.kinds.imported.info import INFO
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.storage.schema.values import now
from workbench.tasks import spec as tasks
from workbench.text.fields import Answers, Prediction
from workbench.text.rows import row_id
from workbench.text.spans import flatten
from workbench.training.results import TrainResult

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.tasks.spec import TaskInfo
    from workbench.text.document import Document
    from workbench.text.labels import Layer

SHOWN = 5  # problems that a message lists


class ImportedPredictions(Kind):
    info = INFO

    def start(
        self,
        project: Project,
        queue: Queue,
        prepared: Matched,
        *,
        parent_id: int | None = None,
    ) -> Run:
        return _add(project, prepared, parent_id)

    def predict(
        self,
        project: Project,
        queue: Queue,
        run: Run,
        documents: Sequence[Document],
        *,
        forget: bool = False,
        watch: Watch = QUIET,
    ) -> NoReturn:
        n = len(documents)
        message = ngettext(
            "Run {name!r} has no prediction for {n} document, and no model to predict it.",
            "Run {name!r} has no predictions for {n} documents, and no model to predict them.",
            n,
        )
        raise WorkbenchError(
            message.format(name=run.name, n=n),
            hint=_("Import a file with predictions for all of them."),
        )

    def command(self, project: Project, run: Run) -> str:
        words = ("glossbench", "runs", "import", str(project.path), str(run.spec["file"]))
        return shlex.join((*words, "--layer", run.layer or run.spec["layer"]))

    def weights(self, project: Project, run: Run) -> Path | None:
        return None


@dataclass(frozen=True)
class Matched:
    """The predictions of a file for the documents of a project, by document id.

    task: the first of the layer; for spans that overlap, one that predicts such spans.
    unmatched: lines that were left out, with the reason. unknown: labels that the layer does not
    have → how many lines have them. has_predictions: some line has a field for predictions of the
    layer, whatever its value. name: of the run.
    """

    kind: ClassVar[str] = INFO.id
    path: Path
    layer: Layer
    task: TaskInfo
    answers: Mapping[int, tuple[Document, Prediction]]
    unmatched: tuple[Skipped, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)
    has_predictions: bool = True
    name: str = ""

    @property
    def summary(self) -> str:
        """How many documents have a prediction, and how many lines were left out."""
        n, left = len(self.answers), len(self.unmatched)
        template = ngettext(
            "Predictions for {n:,} document of layer {layer!r}.",
            "Predictions for {n:,} documents of layer {layer!r}.",
            n,
        )
        message = template.format(n=n, layer=self.layer.name)
        if not left:
            return message
        template = ngettext("{n:,} line was left out.", "{n:,} lines were left out.", left)
        return f"{message} {template}"

    @property
    def problems(self) -> tuple[str, ...]:
        """Labels that are unknown, and the first lines that were left out."""
        lines = []
        if self.unknown:
            names = ", ".join(f"{name} ({n})" for name, n in self.unknown.items())
            template = _(
                "Labels that the layer {layer!r} does not have: {names}.",
                layer=self.layer.name,
                names=names,
            )
            lines.append(template)
        lines += [_line(problem) for problem in self.unmatched[:SHOWN]]
        if (more := len(self.unmatched) - SHOWN) > 0:
            lines.append(ngettext("{n:,} more line", "{n:,} more lines", more))
        return tuple(lines)


def _line(problem: Skipped) -> str:
    return _("Line {line}: {reason}.", line=problem.line, reason=problem.reason)


def match(project: Project, path: Path, layer: str = "", *, watch: Watch = QUIET) -> Matched:
    """The predictions of a file for documents, by key, id or exact text. Not for the main thread.

    layer: by default the one that most lines fit. Raises WorkbenchError if none fits.
    """
    every = [item for item in labels.layers(project.db) if tasks.fitting(item)]
    chosen = [item for item in every if layer in ("", item.name)]
    if not chosen:
        raise SpecError(
            _("The project has no layer {name!r} that can be predicted.", name=layer)
            if layer
            else _("The project has no layer that can be predicted."),
            hint=_("Layers: {known}.", known=", ".join(item.name for item in every)),
        )
    known = _Documents(record.document for record in documents.records(project.db, layers=()))
    matches = [_match(path, item, known) for (item,) in watch.over(chosen, 1)]
    best = max(matches, key=lambda matched: (len(matched.answers), matched.has_predictions))
    if not best.answers:
        raise WorkbenchError(
            _("{file} has no prediction for a document of the project.", file=path.name),
            hint=" ".join(best.problems)
            or _("Each line needs the key or text of a document, and a label, number or spans."),
        )
    equal = [item.layer.name for item in matches if len(item.answers) == len(best.answers)]
    if len(equal) > 1:
        raise SpecError(
            _("The predictions fit several layers: {names}.", names=", ".join(equal)),
            hint=_("Choose one of them with --layer."),
        )
    return best


class _Documents:
    """The documents of a project by key, id and texts."""

    def __init__(self, documents: Iterable[Document]):
        self.by_id: dict[int, Document] = {}
        self.by_key: defaultdict[str, list[Document]] = defaultdict(list)
        self.by_texts: defaultdict[tuple[str, ...], list[Document]] = defaultdict(list)
        for document in documents:
            self.by_id[row_id(document)] = document
            self.by_key[document.key].append(document)
            self.by_texts[tuple(text for _name, text in document.texts)].append(document)

    def of(self, line: reading.FileLine) -> list[Document]:
        """Those that a line is about; several with the same text. Raises Fault without any."""
        if line.document_id is not None and line.document_id in self.by_id:
            return [self.by_id[line.document_id]]
        same_key = self.by_key.get(line.key, []) if line.key else []
        same_text = self.by_texts.get(line.texts, []) if line.texts else []
        both = [document for document in same_key if document in same_text]
        if len(same_key) > 1 and not both:
            raise Fault(_("several documents have the key {key!r}", key=line.key))
        if candidates := both or same_key:
            return candidates
        if line.key.isdecimal() and int(line.key) in self.by_id and not line.texts:
            return [self.by_id[int(line.key)]]
        if same_text:
            return same_text
        if line.key:
            raise Fault(_("there is no document with the key {key!r}", key=line.key))
        if line.texts:
            raise Fault(_("there is no document with the text {text!r}", text=line.texts[0][:60]))
        raise Fault(_("there is neither a key nor a text"))


def _match(path: Path, layer: Layer, known: _Documents) -> Matched:
    fitting = tasks.fitting(layer)
    task: TaskInfo | None = None
    answers: dict[int, tuple[Document, Prediction]] = {}
    first: dict[int, int] = {}  # document id → line
    left_out: list[Skipped] = []
    unknown: Counter[str] = Counter()
    has_predictions = False
    for line in reading.lines(path, layer):
        if isinstance(line, Skipped):
            left_out.append(line)
            continue
        task = task or reading.task_of(line, fitting)
        try:
            for document in known.of(line):
                answer = reading.prediction(line, document, layer, task)
                id = row_id(document)
                before = answers.get(id)
                if before is not None:
                    answer = _joined(before[1], answer, first[id])
                first.setdefault(id, line.number)
                answers[id] = document, answer
        except reading.UnknownLabel as error:
            unknown[error.label] += 1
            left_out.append(Skipped(line.number, str(error)))
        except Fault as error:
            left_out.append(Skipped(line.number, str(error)))
            has_predictions |= not isinstance(error, reading.NoPrediction)
    predictions = [prediction for _document, prediction in answers.values()]
    task = _task(fitting, task or fitting[0], predictions)
    has_predictions |= bool(answers or unknown)
    return Matched(path, layer, task, answers, tuple(left_out), dict(unknown), has_predictions)


def _task(
    fitting: Sequence[TaskInfo], read: TaskInfo, predictions: Iterable[Prediction]
) -> TaskInfo:
    """The task that the predictions were read for; one with the same outputs if spans overlap."""
    same = [task for task in fitting if {*task.outputs} & {*read.outputs}]
    nested = [task for task in same if not getattr(task, "flat", False)]
    overlap = any(flatten(prediction.spans)[1] for prediction in predictions)
    return nested[0] if nested and overlap else read


def _joined(before: Prediction, answer: Prediction, line: int) -> Prediction:
    """Answers to several questions about a document are one prediction. Raises Fault otherwise."""
    old, new = before.get(Answers), answer.get(Answers)
    if old is None or new is None or any(old.to(item.question) for item in new.answers):
        raise Fault(_("line {line} has a prediction for the same document", line=line))
    return Prediction((Answers((*old.answers, *new.answers)),))


def add(project: Project, queue: Queue, matched: Matched, *, name: str = "") -> Run:
    """A run with these predictions, scored on dev. Not for the main thread.

    Raises WorkbenchError if the project is read-only or the name is in use.
    """
    return kinds.start(project, queue, replace(matched, name=name))


def _add(project: Project, matched: Matched, parent_id: int | None) -> Run:
    new_runs.refuse_read_only(project)
    train.refuse_taken_name(project, matched.name)
    path, layer, task, answers = matched.path, matched.layer, matched.task, matched.answers
    predicted = [
        item
        for item in scoring.scored_documents(project, task, layer, "dev")
        if item.document.id in answers
    ]
    result = TrainResult()
    if predicted:
        predictions = [answers[row_id(item.document)][1] for item in predicted]
        evaluation = replace(scoring.evaluate(task.id, "dev", predicted, predictions), at=now())
        result = TrainResult(evaluations={"dev": evaluation}, used={"dev": len(predicted)})
    return new_runs.finished(
        project,
        _("Import predictions"),
        INFO.id,
        matched.name or runs.free_name(project.db, path.stem),
        result,
        answers.values(),
        layer_id=layer.id,
        spec={"task": task.id, "layer": layer.name, "model_name": path.name, "file": str(path)},
        parent_id=parent_id,
    )
