"""Predictions for texts and files outside a project, and how they are saved.

Documents and predictions pass through files: any number of them takes the same memory.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import untrusted
from workbench.base.errors import ExportFailed, SpecError, WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.base.watch import QUIET, Watch
from workbench.exporters.data import parquet
from workbench.exporters.model.weights import LEAST_EQUAL
from workbench.models import spec as specs
from workbench.operations.models import export_files, installed
from workbench.operations.runs import clusters, ensemble, results
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.kinds.prompt.info import INFO
from workbench.operations.runs.predict import (
    PAGE,
    Inputs,
    allows_pickle,
    device_of,
    run_job,
    task_of,
    token_note,
)
from workbench.tasks import proofs
from workbench.tasks import spec as tasks
from workbench.text import result_view
from workbench.text.document import (
    CHOICES,
    QUESTIONS,
    TEXT,
    TEXT_B,
    Document,
    typed_questions,
    with_choices,
)
from workbench.text.questions import texts_of
from workbench.text.result_view import answer_json
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction

PLAIN = (".txt", ".text", "")  # suffixes of files with one text per line


@dataclass(frozen=True)
class SkippedLine:
    """A line without a document. `line` is 1-based."""

    file: str
    line: int
    reason: str


def _form(task: str) -> int:
    info = tasks.info(task)
    return QUESTIONS if info.asks else info.texts


def texts_to_documents(
    texts: Iterable[str | tuple[str, str]], *, form: int = 1
) -> tuple[Document, ...]:
    """Entered texts (or pairs of texts) as documents.

    form: `Document.form`; of documents with choices the second text has one per line, of
    QUESTIONS it has the questions.
    """
    return tuple(_typed(number, item, form) for number, item in enumerate(texts, 1))


def _typed(number: int, text: str | tuple[str, str], form: int) -> Document:
    pair = (text,) if isinstance(text, str) else tuple(text)
    if form == QUESTIONS:
        return typed_questions(str(number), pair[0], pair[1] if len(pair) > 1 else "")
    if form == CHOICES and len(pair) > 1:
        lines = [line.strip() for line in pair[1].splitlines() if line.strip()]
        return with_choices(str(number), pair[0], lines)
    return Document(str(number), tuple(zip((TEXT, TEXT_B), pair, strict=False)))


@dataclass(frozen=True)
class TrainedModel:
    """A folder of a model that predicts, and whether the user has confirmed its pickle.

    target: of the job that predicts with it.
    """

    folder: Path
    allow_pickle: bool = False
    target: str = kinds.PREDICTOR

    @property
    def form(self) -> int:
        """`Document.form` of the documents that it reads. Raises ModelError."""
        from workbench.runtime.onnx_predictor import is_exported

        described = {} if is_exported(self.folder) else specs.published(self.folder) or {}
        return _form(described.get("task") or task_of(self.folder))

    def note(self, documents: Iterable[Document]) -> str:
        return token_note(self.folder, documents)

    def predict(
        self, queue: Queue, inputs: Inputs, *, title: str = "", watch: Watch = QUIET, **job: Any
    ) -> None:
        """Raises Cancelled or JobFailed."""
        title = title or _("Predict with {name}", name=self.folder.name)
        run_job(
            queue,
            self.folder,
            inputs,
            title=title,
            target=self.target,
            allow_pickle=self.allow_pickle,
            watch=watch,
            **job,
        )


@dataclass(frozen=True)
class AskedPrompt:
    """A run of a prompt, as a `TrainedModel`. Its project is open while the model is asked."""

    of_project: Project
    run: Run

    @property
    def form(self) -> int:
        return _form(results.task_of(self.run))

    def note(self, _documents: Iterable[Document]) -> str:
        return ""

    def predict(
        self, queue: Queue, inputs: Inputs, *, run_on: str = "", watch: Watch = QUIET, **_job: Any
    ) -> None:
        """On the device of the run. Raises SpecError, ConsentNeeded, Cancelled or JobFailed."""
        if run_on:
            raise SpecError(_("Prompts cannot be answered on a Ray cluster."))
        documents, done, ask = iter(inputs), 0, kinds.of(self.run).predict
        with open(inputs.answer_file(), "w", encoding="utf-8", errors="surrogatepass") as file:
            while page := list(itertools.islice(documents, PAGE)):
                part = watch.part(done / len(inputs), (done := done + len(page)) / len(inputs))
                # Their ids are not those of documents of the project.
                foreign = [replace(document, id=-1 - row_id(document)) for document in page]
                answers, _cost = ask(self.of_project, queue, self.run, foreign, watch=part)
                for document, answer in zip(page, answers, strict=True):
                    line = {"document_id": row_id(document), "prediction": answer.to_json()}
                    file.write(json_text(line) + "\n")


Predicting = TrainedModel | AskedPrompt


def models_of(project: Project, run: Run) -> tuple[Predicting, ...]:
    """What a run predicts with, of an ensemble several models. Raises WorkbenchError."""
    if run.kind == INFO.id:
        return (AskedPrompt(project, run),)
    members = kinds.of(run).parts(project, run) or (run,)
    return tuple(
        TrainedModel(kind.model(project, member), allows_pickle(member), kind.predictor)
        for member in members
        for kind in [kinds.of(member)]
    )


def model_named(name: str) -> TrainedModel:
    """The folder of a fine-tuned model, an ONNX folder of an exported run, or a model that is
    trained for a task, by name or path. Raises ModelError if there is none.
    """
    from workbench.runtime.onnx_predictor import is_exported

    folder = Path(name)
    if (folder / specs.DESCRIPTION).is_file() or is_exported(folder):
        return TrainedModel(folder)
    card = installed.trained(name)
    return TrainedModel(Path(card.path), card.pickled)


def predict(
    queue: Queue,
    models: Sequence[Predicting],
    inputs: Inputs,
    *,
    watch: Watch = QUIET,
    **job: Any,
) -> Iterator[tuple[Document, Prediction]]:
    """Documents outside a project with their predictions, in order: of several models, the mean.

    The models have predicted all documents before the first is returned. job: title, device,
    project and run_on as for `run_job`.
    """
    for number, model in enumerate(models if len(inputs) else ()):
        part = watch.part(number / len(models), (number + 1) / len(models))
        model.predict(queue, inputs, watch=part, **job)
    for document, predictions in zip(inputs, inputs.predictions(), strict=True):
        yield document, predictions[0] if len(models) == 1 else ensemble.mean(predictions)


def with_spans(
    queue: Queue, models: Sequence[Predicting], inputs: Inputs, **job: Any
) -> Iterator[Document]:
    """The documents with the spans that other models predict, as a model of relations reads them.

    job: as for `predict`.
    """
    for document, prediction in predict(queue, models, inputs, **job):
        yield replace(document, input_spans=prediction.spans)


def check_weights(models: Sequence[Predicting], weights: str) -> None:
    """Raises SpecError if a model has no such weights (proofs.INT8, "" for those of 32 bits)."""
    for model in models if weights else ():
        if not isinstance(model, TrainedModel) or proofs.usable(model.folder, weights) is None:
            raise SpecError(
                _("The model has no weights of 8 bits that predictions can be made with."),
                hint=_(
                    "`glossbench runs weights` measures them for a run; they are kept if they are "
                    "faster and at least {share:.0%} of the labels are equal.",
                    share=LEAST_EQUAL,
                ),
            )


def read_inputs(
    source: Path, skipped: Callable[[SkippedLine], object], *, leave_out: Path | None = None
) -> Iterator[Document]:
    """The documents of a file, or of all files of a folder but `leave_out`, in order.

    skipped: called with each line without a document. Plain text gives one document per line,
    including empty lines, so that predictions match the lines.
    Raises WorkbenchError if nothing can be read.
    """
    files = [source]
    if source.is_dir():
        names = (path for path in source.iterdir() if not path.name.startswith("."))
        files = sorted(path for path in names if path.is_file() and path != leave_out)
    if not files:
        raise WorkbenchError(_("There is no file in {source}.", source=source))
    read, reasons = 0, list[str]()
    for file in files:
        try:
            if source.is_dir() and untrusted.leads_out(file, source):
                raise WorkbenchError(
                    _("it is a link that leads out of the folder, and was not followed")
                )
            for item in _lines(file) if file.suffix.lower() in PLAIN else _imported(file):
                if isinstance(item, SkippedLine):
                    skipped(item)
                else:
                    read += 1
                    yield item
        except WorkbenchError as error:
            if not source.is_dir():
                raise
            # an image among the texts must not prevent reading them
            reasons.append(str(error))
            skipped(SkippedLine(str(file), 1, str(error)))
    if not read and reasons:
        raise WorkbenchError(reasons[0])


def _lines(file: Path) -> Iterator[Document]:
    if untrusted.endless(file):
        raise WorkbenchError(
            _("{file} is a device, not a file.", file=file), hint=_("Choose a file.")
        )
    if file.is_file():  # a pipe can be read once
        for _number, _text in _decoded(file):  # nothing of a file that is not valid
            pass
    for number, text in _decoded(file):
        yield Document(f"{file.name}:{number}", ((TEXT, text),))


def _decoded(file: Path) -> Iterator[tuple[int, str]]:
    """(number, line), without a byte order mark. Raises WorkbenchError naming a wrong line."""
    with file.open("rb") as content:
        for number, line in enumerate(content, 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise WorkbenchError(
                    _("{file}, line {line}: not valid UTF-8.", file=file, line=number),
                    hint=_("Save the file as UTF-8."),
                ) from None
            yield number, text.removesuffix("\n").removesuffix("\r")


def _imported(file: Path) -> Iterator[Document | SkippedLine]:
    """The documents of a file in any import format; of its labels only the spans are kept, which
    a model of relations connects.
    """
    from workbench.importers import detect
    from workbench.importers.base import Options, Row
    from workbench.importers.base import Skipped as Fault
    from workbench.importers.source import Source

    source, read, why = Source(file), 0, ""
    for item in detect.read(detect.detect(source).format, source, Options()):
        if isinstance(item, Row):
            document, read = item.record.document, read + 1
            yield Document(
                document.key or f"{file.name}:{item.line}",
                document.texts,
                tokens=document.tokens,
                questions=texts_of(item.record.questions),
                input_spans=tuple(span for some in item.record.spans.values() for span in some),
            )
        elif isinstance(item, Fault):
            why = why or _("line {line}: {reason}", line=item.line, reason=item.reason)
            yield SkippedLine(str(file), item.line, item.reason)
    if not read:
        why = why or _("it is empty")
        raise WorkbenchError(_("{file} contains no readable text ({why}).", file=file, why=why))


# ---------------------------------------------------------------- files of predictions

CSV, PARQUET = ".csv", ".parquet"  # other suffixes: JSON lines
PREDICTING = 0.95  # share of the time in which the models predict


def checked_output(out: Path, source: Path | None = None) -> Path:
    """The file to write, with links resolved, checked before hours of predicting.

    Raises ExportFailed if it cannot be written, must not be replaced, or is the input.
    """
    there = export_files.target(out)
    if source is not None and there.exists() and source.exists() and there.samefile(source):
        raise ExportFailed(_("{path} is the input.", path=out), hint=_("Choose another name."))
    if there.suffix.lower() == PARQUET:
        parquet.check()
    return there


def save_answers(rows: Iterable[tuple[Document, Prediction]], out: Path) -> int:
    """Write predictions to a file of `checked_output`, atomically; returns how many.

    A table if the name ends in .csv or .parquet, else JSON lines. Raises ExportFailed.
    """
    suffix, rows = out.suffix.lower(), iter(rows)
    write = {CSV: _write_csv, PARQUET: _write_parquet}.get(suffix, _write_lines)
    first = list(itertools.islice(rows, 1))  # no draft lies there while a model predicts
    with export_files.replacing(out) as draft:
        return write(itertools.chain(first, rows), draft)


def _write_lines(rows: Iterable[tuple[Document, Prediction]], path: Path) -> int:
    count = 0
    with export_files.UnicodeFile(path) as file:
        for document, answer in rows:
            file.write(json_text(answer_json(document, answer, named=True)) + "\n")
            count += 1
    return count


@dataclass(frozen=True)
class _Row:
    """A row of a table, by the names of COLUMNS.

    label, score, spans: as the kind of prediction writes them. probabilities: of all labels of the
    document, {} without them.
    """

    key: str
    text: str
    text_b: str
    label: str
    score: str
    spans: str
    cut: bool
    probabilities: Mapping[str, float]

    @classmethod
    def of(cls, document: Document, answer: Prediction) -> _Row:
        view = result_view.of(answer)
        second = dict(document.texts).get(TEXT_B, "")
        shares = view.shares(answer) if answer.has_probabilities else {}
        label, score, spans = view.cells(answer)
        key, text, cut = document.key, document.text, answer.cut
        return cls(key, text, second, label, score, spans, cut, shares)


COLUMNS = tuple(column.name for column in fields(_Row))


def _write_csv(rows: Iterable[tuple[Document, Prediction]], path: Path) -> int:
    count = 0
    with export_files.UnicodeFile(path) as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        for row in itertools.starmap(_Row.of, rows):
            shares = {label: round(share, 6) for label, share in row.probabilities.items()}
            probabilities = json_text(shares) if shares else ""
            cells = {"cut": "yes" if row.cut else "", "probabilities": probabilities}
            table.writerow({**vars(row), **cells})
            count += 1
    return count


def _write_parquet(rows: Iterable[tuple[Document, Prediction]], path: Path) -> int:
    """The columns of CSV. A score that is one number is stored as a number, `cut` as true or false,
    and probabilities as a map.
    """
    types = {"score": parquet.NUMBER, "cut": parquet.FLAG, "probabilities": parquet.NUMBERS}
    columns = {name: types.get(name, parquet.TEXT) for name in COLUMNS}
    return parquet.write(path, columns, (_stored(_Row.of(*row)) for row in rows))


def _stored(row: _Row) -> tuple[object, ...]:
    score = None if not row.score or ";" in row.score else float(row.score)
    values = {**vars(row), "score": score, "probabilities": row.probabilities or None}
    return tuple(values[name] for name in COLUMNS)


def apply_to_files(
    project: Project,
    queue: Queue,
    run: Run,
    source: Path,
    out: Path,
    *,
    run_on: str = "",
    watch: Watch = QUIET,
) -> FilePredictions:
    """As `predict_file`, with a run; the project is not changed. Raises ConsentNeeded."""
    clusters.check_consent(project, run_on)
    models = models_of(project, run)
    return predict_file(
        queue,
        models,
        source,
        out,
        title=_("Predict with {name}", name=run.name),
        device=device_of(run),
        project=project.path,
        run_on=run_on,
        watch=watch,
    )


def predict_file(
    queue: Queue,
    models: Sequence[Predicting],
    source: Path,
    out: Path,
    *,
    watch: Watch = QUIET,
    **job: Any,
) -> FilePredictions:
    """Predict a file, or a folder of files, and save the predictions as `save_answers` does.

    job: as for `predict`. Raises WorkbenchError if nothing can be read or written.
    """
    there, count, first = checked_output(out, source), 0, None

    def skip(line: SkippedLine) -> None:
        nonlocal count, first
        count, first = count + 1, first or line

    with Inputs(read_inputs(source, skip, leave_out=there), watch=watch) as inputs:
        rows = predict(queue, models, inputs, watch=watch.part(0.0, PREDICTING), **job)
        written = watched(rows, len(inputs), watch.part(PREDICTING, 1.0))
        return FilePredictions(out, save_answers(written, there), count, first)


def watched(
    rows: Iterable[tuple[Document, Prediction]], total: int, watch: Watch
) -> Iterator[tuple[Document, Prediction]]:
    for number, row in enumerate(rows):
        if number % PAGE == 0:
            watch.at(number / total)
        yield row


@dataclass(frozen=True)
class FilePredictions:
    """documents: how many were predicted; skipped: how many lines had none."""

    out: Path
    documents: int
    skipped: int = 0
    first_skipped: SkippedLine | None = None
