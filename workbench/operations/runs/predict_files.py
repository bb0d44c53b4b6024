"""Predictions for texts and files outside a project, and how they are saved."""

from __future__ import annotations

import csv
import os
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from workbench.base import untrusted
from workbench.base.errors import ExportFailed, WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.base.watch import QUIET, Watch
from workbench.models import spec as specs
from workbench.operations.models.export_files import UnicodeFile
from workbench.operations.runs import train
from workbench.storage.connections.header import is_project
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

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run
    from workbench.text.fields import Prediction
from workbench.operations.runs.predict import answers, device_of, task_of

PLAIN = (".txt", ".text", "")  # suffixes of files with one text per line


@dataclass(frozen=True)
class SkippedLine:
    """A line without a document. `line` is 1-based."""

    file: str
    line: int
    reason: str


def form_of(model: Path) -> int:
    """`Document.form` of the documents that a trained model reads. Raises ModelError."""
    published = specs.card(model, allow_pickle=True).task
    info = tasks.info(published or task_of(model))
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


def predict(
    queue: Queue,
    model: Path,
    documents: Sequence[Document],
    *,
    device: str = "auto",
    allow_pickle: bool = False,
    watch: Watch = QUIET,
) -> list[Prediction]:
    """The predictions of a model folder for documents outside a project, in order."""
    if not documents:
        return []
    predictions, _cost = answers(
        queue,
        model,
        documents,
        title=_("Predict with {name}", name=model.name),
        device=device,
        allow_pickle=allow_pickle,
        watch=watch,
    )
    return predictions


def read_inputs(source: Path) -> tuple[tuple[Document, ...], tuple[SkippedLine, ...]]:
    """The documents of a file, or of all files of a folder, in order, and the lines without a
    document.

    Plain text gives one document per line, including empty lines, so that predictions match the
    lines.
    Raises WorkbenchError if nothing can be read.
    """
    files = (
        sorted(
            path for path in source.iterdir() if path.is_file() and not path.name.startswith(".")
        )
        if source.is_dir()
        else [source]
    )
    inputs: list[Document] = []
    skipped: list[SkippedLine] = []
    if not files:
        raise WorkbenchError(_("There is no file in {source}.", source=source))
    for file in files:
        if source.is_dir() and untrusted.leads_out(file, source):
            message = _("it is a link that leads out of the folder, and was not followed")
            skipped.append(SkippedLine(str(file), 1, message))
            continue
        try:
            records, faults = (
                (_lines(file), []) if file.suffix.lower() in PLAIN else _imported(file)
            )
        except WorkbenchError as error:
            if not source.is_dir():
                raise
            faults, records = (
                [SkippedLine(str(file), 1, str(error))],
                [],
            )  # an image among the texts must not prevent reading them
        inputs += records
        skipped += faults
    if not inputs and skipped:
        raise WorkbenchError(skipped[0].reason)
    return tuple(inputs), tuple(skipped)


def _lines(file: Path) -> list[Document]:
    if untrusted.endless(file):
        raise WorkbenchError(
            _("{file} is a device, not a file.", file=file), hint=_("Choose a file.")
        )
    try:
        content = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = file.read_bytes()[: error.start].count(b"\n") + 1
        raise WorkbenchError(
            _("{file}, line {line}: not valid UTF-8.", file=file, line=line),
            hint=_("Save the file as UTF-8."),
        ) from None
    lines = content.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [
        Document(f"{file.name}:{number}", ((TEXT, line.removesuffix("\r")),))
        for number, line in enumerate(lines, 1)
    ]


def _imported(file: Path) -> tuple[list[Document], list[SkippedLine]]:
    """The documents of a file in any import format; its labels are ignored."""
    from workbench.importers import detect
    from workbench.importers.base import Options, Row
    from workbench.importers.base import Skipped as Fault
    from workbench.importers.source import Source

    source = Source(file)
    inputs, skipped = [], []
    for item in detect.read(detect.detect(source).format, source, Options()):
        if isinstance(item, Row):
            document = item.record.document
            questions = texts_of(item.record.questions)
            inputs.append(
                replace(document, questions=questions)
                if document.key
                else Document(
                    f"{file.name}:{item.line}",
                    document.texts,
                    tokens=document.tokens,
                    questions=questions,
                )
            )
        elif isinstance(item, Fault):
            skipped.append(SkippedLine(str(file), item.line, item.reason))
    if not inputs:
        why = (
            _("line {line}: {reason}", line=skipped[0].line, reason=skipped[0].reason)
            if skipped
            else _("it is empty")
        )
        raise WorkbenchError(_("{file} contains no readable text ({why}).", file=file, why=why))
    return inputs, skipped


def answer_json(
    document: Document, answer: Prediction, *, named: bool = False
) -> dict[str, object]:
    """One prediction as an object: the text (both of a pair), the output of the model, and the key
    if the input had keys.
    """
    texts = dict(document.texts)
    return {**({"key": document.key} if named else {}), **texts, **answer.to_json()}


def save_answers(rows: Sequence[tuple[Document, Prediction]], out: Path) -> None:
    """Write predictions as CSV if the name ends in .csv, else as JSON lines; atomically.

    Raises ExportFailed if `out` is a project or cannot be written.
    """
    if out.is_file() and is_project(out):
        raise ExportFailed(_("{path} is a project.", path=out), hint=_("Choose another name."))
    draft = out.with_name(f".{out.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        with UnicodeFile(draft) as file:
            _write_table(rows, file) if out.suffix.lower() == ".csv" else _write_lines(rows, file)
        os.replace(draft, out)
    except OSError as error:
        raise ExportFailed(
            _("{out} cannot be written: {why}.", out=out, why=error.strerror or error)
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _write_lines(rows: Iterable[tuple[Document, Prediction]], file: TextIO) -> None:
    for document, answer in rows:
        file.write(json_text(answer_json(document, answer, named=True)) + "\n")


def _write_table(rows: Iterable[tuple[Document, Prediction]], file: TextIO) -> None:
    """key, text, what the kind of prediction writes as label, score and spans, and whether the
    text was truncated.
    """
    table = csv.writer(file)
    table.writerow(["key", "text", "text_b", "label", "score", "spans", "cut"])
    for document, answer in rows:
        second = dict(document.texts).get(TEXT_B, "")
        cells = result_view.of(answer).cells(answer)
        cut = "yes" if answer.cut else ""
        table.writerow([document.key, document.text, second, *cells, cut])


def apply_to_files(
    project: Project, queue: Queue, run: Run, source: Path, out: Path, *, watch: Watch = QUIET
) -> FilePredictions:
    """Predict a file or a folder of files with a run and save the predictions; the project is not
    changed.
    """
    model = train.model_folder(project, run)
    documents, skipped = read_inputs(source)
    predictions: list[Prediction] = []
    if documents:
        predictions, _cost = answers(
            queue,
            model,
            documents,
            title=_("Predict with {name}", name=run.name),
            device=device_of(run),
            project=project.path,
            watch=watch,
        )
    save_answers(list(zip(documents, predictions, strict=True)), out)
    return FilePredictions(out, len(documents), skipped)


@dataclass(frozen=True)
class FilePredictions:
    out: Path
    documents: int
    skipped: tuple[SkippedLine, ...]
