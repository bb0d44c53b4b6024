"""Predictions of a run: stored ones, missing ones computed by a job, and predictions for texts and
files outside a project.

The prediction of a run for a text never changes, so it is computed once and stored in the project.
"""

from __future__ import annotations

import csv
import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths, scratch
from workbench.base.errors import Cancelled, ExportFailed, JobFailed, ModelError, WorkbenchError
from workbench.base.i18n import _
from workbench.jobs.events import Finished
from workbench.jobs.spec import JobSpec
from workbench.operations import train
from workbench.operations.background import Background, here
from workbench.operations.outcomes import PROMPT
from workbench.storage import runs
from workbench.storage.header import is_project
from workbench.text import dataset
from workbench.text.document import TEXT, TEXT_B, Document
from workbench.text.fields import DocumentLabels

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project
    from workbench.storage.runs import Run
    from workbench.text.fields import Prediction

TARGET = "workbench.tasks.predictor:run"
PLAIN = (".txt", ".text", "")  # suffixes of files with one text per line
Then = Callable[[Any, "Exception | None"], None]


# ---------------------------------------------------------------- documents of a project


def stored(project: Project, run: Run, found: Sequence[Document]) -> dict[int, Prediction]:
    """The stored predictions for these documents, by id; predictions for an earlier text are
    ignored.
    """
    kept = runs.predictions(project.db, run.id, [one.id for one in found])
    return {
        one.id: kept[one.id][1]
        for one in found
        if one.id in kept and kept[one.id][0] == one.text_hash
    }


def ensure(
    project: Project,
    queue: Queue,
    run: Run,
    found: Sequence[Document],
    then: Then,
    *,
    background: Background = here,
) -> Job | None:
    """Call `then(predictions by document id, None)` once all exist, or `then(None, error)`.

    Returns the job that computes missing predictions; None if none are missing, or not yet known
    (with a
    `background` on another thread). New predictions are stored unless the project is read-only.
    """
    started: list[Job] = []

    def prepared(result, error) -> None:
        if error is not None:
            return then(None, error)
        have, missing, asked = result
        if not missing:
            return then(have, None)

        def finish(event):
            return background(
                lambda: {**have, **_kept(project, run, missing, asked.answers(event))}, then
            )

        started.append(asked.start(queue, finish))

    background(lambda: _missing(project, run, found), prepared)
    return started[0] if started else None


def _missing(project: Project, run: Run, found: Sequence[Document]):
    """Stored predictions, documents without one, and the prepared job for these documents."""
    have = stored(project, run, found)
    missing = [one for one in found if one.id not in have]
    if not missing:
        return have, missing, None
    if run.kind == PROMPT:
        from workbench.operations import prompt

        return have, missing, prompt.Question(project, run, missing)
    about = {"project": project.uid, "id": run.id, "purpose": "predict"}
    title = _("Predict with {name}").format(name=run.name)
    return (
        have,
        missing,
        Question(
            train.model_folder(project, run),
            missing,
            title=title,
            about=about,
            device=_device(run),
            project=project.path,
        ),
    )


def _kept(
    project: Project, run: Run, missing: Sequence[Document], answers: Sequence[Prediction]
) -> dict[int, Prediction]:
    if not project.read_only:
        rows = [
            (one.id, one.text_hash, answer.to_json())
            for one, answer in zip(missing, answers, strict=True)
        ]
        with project.write(_("Store predictions")):
            runs.save_predictions(project.db, run.id, rows)
    return {one.id: answer for one, answer in zip(missing, answers, strict=True)}


def _device(run: Run) -> str:
    return str(run.spec.get("options", {}).get("device") or "auto")


# ---------------------------------------------------------------- the job


class Question:
    """Documents written to a file for a worker.

    Created on any thread, `start`ed on the main thread, `answers` read on any.
    """

    def __init__(
        self,
        model: Path,
        asked: Sequence[Document],
        *,
        title: str,
        about: Mapping[str, Any] | None = None,
        device: str = "auto",
        project: Path | None = None,
    ):
        self.asked = asked
        self.folder = scratch.make("predict")
        self.output = self.folder / "answers.jsonl"
        given = self.folder / "asked.jsonl"
        dataset.write(
            given,
            (),
            (dataset.Record(numbered(one, number)) for number, one in enumerate(asked)),
            ids=True,
        )
        device = train.wanted_device(device)
        params = {
            "model": str(model),
            "input": str(given),
            "output": str(self.output),
            "device": device,
            "run": dict(about or {}),
        }
        self.spec = JobSpec(
            TARGET,
            {**params, "total": len(asked)},
            str(self.folder),
            device=train.queue_device(device),
            title=title,
            project=str(project or ""),
            short=True,
        )

    def start(self, queue: Queue, ended: Callable[[Finished], None]) -> Job:
        """Calls `ended(event)` on the main thread when the worker has ended."""
        return follow(queue, self.spec, ended)

    def answers(self, event: Finished) -> list[Prediction]:
        """Predictions in input order; deletes the files. Raises Cancelled or JobFailed."""
        try:
            check_ending(event)
            found = dict(read_answers(self.output))
            return [found[number] for number in range(len(self.asked))]
        except (OSError, ValueError, KeyError) as error:
            raise JobFailed(
                _("The predictions of the worker cannot be read: {error!r}.").format(error=error)
            ) from error
        finally:
            scratch.remove(self.folder)


def follow(queue: Queue, spec: JobSpec, ended: Callable[[Finished], None]) -> Job:
    """Queue a job and call `ended` with its last event."""
    job = queue.add(spec)

    def heard(event) -> None:
        if isinstance(event, Finished):
            drop()
            ended(event)

    drop = job.changed.connect(heard)
    return job


def check_ending(event: Finished) -> None:
    """Raises Cancelled or JobFailed unless the job is done."""
    if event.status == "cancelled":
        raise Cancelled()
    if event.status != "done":
        raise JobFailed(
            event.message
            or _("The prediction ended without a result ({status}).").format(status=event.status),
            hint=event.hint,
        )


def numbered(document: Document, number: int) -> Document:
    """The same texts with the line number as id, to match predictions: files have no ids of their
    own.
    """
    return Document(document.key, document.texts, tokens=document.tokens, id=number)


def read_answers(path: Path) -> Iterator[tuple[int, Prediction]]:
    """(document id, prediction) of a file that a worker wrote."""
    from workbench.text.fields import Prediction

    with open(path, encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        for line in file:
            raw = json.loads(line)
            yield raw["document_id"], Prediction.from_json(raw["prediction"])


# ---------------------------------------------------------------- texts and files


@dataclass(frozen=True)
class Skipped:
    """A line without a document. `line` is 1-based."""

    file: str
    line: int
    reason: str


def texts_to_documents(texts: Iterable[str | tuple[str, str]]) -> tuple[Document, ...]:
    """Entered texts (or pairs of texts) as documents."""
    return tuple(_typed(number, one) for number, one in enumerate(texts, 1))


def _typed(number: int, given: str | tuple[str, str]) -> Document:
    pair = (given,) if isinstance(given, str) else tuple(given)
    return Document(str(number), tuple(zip((TEXT, TEXT_B), pair, strict=False)))


def ask(
    queue: Queue,
    model: Path,
    asked: Sequence[Document],
    then: Then,
    *,
    device: str = "auto",
    background: Background = here,
) -> Job | None:
    """Predict documents outside a project with a model folder.

    Calls `then([(document, prediction), …] in order, None)` or `then(None, error)`.
    """
    if not asked:
        then([], None)
        return None
    question = Question(
        model, asked, title=_("Predict with {name}").format(name=model.name), device=device
    )
    return question.start(
        queue,
        lambda event: background(
            lambda: list(zip(asked, question.answers(event), strict=True)), then
        ),
    )


ALIKE = (
    # Fraction of training tokens equal to our own word boundaries, above which no note is shown.
    0.99
)


def task_of(folder: Path) -> str:
    """The task of the run in a folder. Raises ModelError if its description is damaged."""
    path = folder / "glossbench.json"
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["task"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(
            _("{path} cannot be read: {error}.").format(path=path, error=error)
        ) from error


def options_of(folder: Path) -> Mapping[str, Any]:
    """The settings that the run in a folder was trained with; {} if they cannot be read."""
    try:
        raw = json.loads((folder / "glossbench.json").read_text(encoding="utf-8"))
        return raw.get("options") or {}
    except (OSError, ValueError, AttributeError):
        return {}  # loading the model reports the error


def token_note(model: Path, asked: Iterable[Document]) -> str:
    """A note before a tagger trained on imported tokens predicts raw texts; "" if the difference is
    negligible.
    """
    try:
        tokens = (
            json.loads((model / "glossbench.json").read_text(encoding="utf-8")).get("tokens") or {}
        )
        alike = float(tokens.get("alike", 1.0))
    except (OSError, ValueError, TypeError, AttributeError):
        return ""  # loading the model reports the error
    if alike >= ALIKE or all(one.tokens.get(TEXT) for one in asked):
        return ""
    return _(
        "The model was trained on imported tokens. {share:.0%} of them differ from the "
        "tokens that Glossbench creates for raw texts, so the boundaries of predicted "
        "spans may differ from those in the training data."
    ).format(share=1 - alike)


def read_inputs(source: Path) -> tuple[tuple[Document, ...], tuple[Skipped, ...]]:
    """The documents of a file, or of all files of a folder, in order, and the lines without a
    document.

    Plain text gives one document per line, including empty lines, so that predictions match the
    lines.
    Raises WorkbenchError if nothing can be read.
    """
    files = (
        sorted(one for one in source.iterdir() if one.is_file() and not one.name.startswith("."))
        if source.is_dir()
        else [source]
    )
    found: list[Document] = []
    skipped: list[Skipped] = []
    if not files:
        raise WorkbenchError(_("There is no file in {source}.").format(source=source))
    for file in files:
        try:
            records, faults = (
                (_lines(file), []) if file.suffix.lower() in PLAIN else _imported(file)
            )
        except WorkbenchError as error:
            if not source.is_dir():
                raise
            faults, records = (
                [Skipped(str(file), 1, str(error))],
                [],
            )  # an image among the texts must not prevent reading them
        found += records
        skipped += faults
    if not found and skipped:
        raise WorkbenchError(skipped[0].reason)
    return tuple(found), tuple(skipped)


def _lines(file: Path) -> list[Document]:
    if paths.endless(file):
        raise WorkbenchError(
            _("{file} is a device, not a file.").format(file=file), hint=_("Choose a file.")
        )
    try:
        content = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = file.read_bytes()[: error.start].count(b"\n") + 1
        raise WorkbenchError(
            _("{file}, line {line}: not valid UTF-8.").format(file=file, line=line),
            hint=_("Save the file as UTF-8."),
        ) from None
    lines = content.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [
        Document(f"{file.name}:{number}", ((TEXT, line.removesuffix("\r")),))
        for number, line in enumerate(lines, 1)
    ]


def _imported(file: Path) -> tuple[list[Document], list[Skipped]]:
    """The documents of a file in any import format; its labels are ignored."""
    from workbench.importers import detect
    from workbench.importers.base import Options, Row
    from workbench.importers.base import Skipped as Fault
    from workbench.importers.source import Source

    source = Source(file)
    found, skipped = [], []
    for item in detect.importer(detect.detect(source).format).read(source, Options()):
        if isinstance(item, Row):
            document = item.record.document
            found.append(
                document
                if document.key
                else Document(f"{file.name}:{item.line}", document.texts, tokens=document.tokens)
            )
        elif isinstance(item, Fault):
            skipped.append(Skipped(str(file), item.line, item.reason))
    if not found:
        why = (
            _("line {line}: {reason}").format(line=skipped[0].line, reason=skipped[0].reason)
            if skipped
            else _("it is empty")
        )
        raise WorkbenchError(
            _("{file} contains no readable text ({why}).").format(file=file, why=why)
        )
    return found, skipped


def answer_json(
    document: Document, answer: Prediction, *, named: bool = False
) -> dict[str, object]:
    """One prediction as an object: the text (both of a pair), the output of the model, and the key
    if the input had keys.
    """
    texts = dict(document.texts)
    return {**({"key": document.key} if named else {}), **texts, **answer.to_json()}


def save_answers(rows: Sequence[tuple[Document, Prediction]], out: Path) -> None:
    """Write predictions as CSV if the name ends in .csv, else as JSON lines; atomically."""
    if out.is_file() and is_project(out):
        raise ExportFailed(
            _("{path} is a project.").format(path=out), hint=_("Choose another name.")
        )
    draft = out.with_name(f".{out.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        with open(draft, "w", encoding="utf-8", errors="surrogatepass", newline="") as file:
            _write_table(rows, file) if out.suffix.lower() == ".csv" else _write_lines(rows, file)
        os.replace(draft, out)
    except OSError as error:
        raise ExportFailed(
            _("{out} cannot be written: {why}.").format(out=out, why=error.strerror or error)
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _write_lines(rows, file) -> None:
    for document, answer in rows:
        file.write(json.dumps(answer_json(document, answer, named=True), ensure_ascii=False) + "\n")


def _write_table(rows, file) -> None:
    """key, text, labels with their scores for classes; key, text and spans as JSON for tags."""
    table = csv.writer(file)
    table.writerow(["key", "text", "text_b", "label", "score", "spans", "cut"])
    for document, answer in rows:
        texts = dict(document.texts)
        spans = (
            json.dumps(answer.to_json()["spans"], ensure_ascii=False)
            if answer.labels is None
            else ""
        )
        found = answer.get(DocumentLabels)
        chosen = found.chosen if found else ()
        scores = found.as_dict() if found else {}
        table.writerow(
            [
                document.key,
                document.text,
                texts.get(TEXT_B, ""),
                "; ".join(chosen),
                "; ".join(f"{scores[label]:.6f}" for label in chosen),
                spans,
                "yes" if answer.cut else "",
            ]
        )


def apply_to_files(
    project: Project,
    queue: Queue,
    run: Run,
    source: Path,
    out: Path,
    then: Then,
    *,
    background: Background = here,
) -> Job | None:
    """Predict a file or a folder of files with a run and save the predictions; the project is not
    changed.

    Calls `then(Applied, None)` or `then(None, error)`. Returns the job if it is already known.
    """
    started: list[Job | None] = []

    def read(result, error) -> None:
        if error is not None:
            return then(None, error)
        asked, skipped = result
        if not asked:
            return background(lambda: _saved((), out, skipped), then)
        question = Question(
            model,
            asked,
            title=_("Predict with {name}").format(name=run.name),
            device=_device(run),
            project=project.path,
        )

        def finish(event):
            return background(
                lambda: _saved(
                    list(zip(asked, question.answers(event), strict=True)), out, skipped
                ),
                then,
            )

        started.append(question.start(queue, finish))

    model = train.model_folder(project, run)
    background(lambda: read_inputs(source), read)
    return started[0] if started else None


def _saved(
    rows: Sequence[tuple[Document, Prediction]], out: Path, skipped: tuple[Skipped, ...]
) -> Applied:
    save_answers(rows, out)
    return Applied(out, len(rows), skipped)


@dataclass(frozen=True)
class Applied:
    out: Path
    documents: int
    skipped: tuple[Skipped, ...]
