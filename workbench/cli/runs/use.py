"""`predict`, `suggest` and `export`: use a run."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.errors import ExportFailed
from workbench.base.i18n import _, ngettext
from workbench.base.registry import registry
from workbench.base.sizes import size
from workbench.cli.documents.filters import checked, matching, where_option
from workbench.cli.output import as_json, as_json_lines, emit, note, say, table
from workbench.cli.runs.evaluate import SPLITS
from workbench.cli.runs.on_cluster import cluster_for_texts, run_on
from workbench.cli.runs.prompt import agree_for
from workbench.cli.runs.prompt_options import yes_send
from workbench.cli.session import PROJECT, project_argument, reading, session
from workbench.text import result_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.exporters.model.results import ExportResult
    from workbench.operations.runs.predict import Inputs
    from workbench.operations.runs.predict_files import Predicting, SkippedLine
    from workbench.project.project import Project
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

MAX_NAMED = 5  # texts of a format that differ


@click.command()
@click.argument("run_or_model", metavar="RUN_OR_MODEL")
@click.option(
    "--text", "texts", multiple=True, help=_("A text to predict; can be given several times.")
)
@click.option(
    "--text-b",
    "second",
    multiple=True,
    help=_("Second text of a pair, or questions, one per line; given once for each --text."),
)
@click.option(
    "--input",
    "source",
    type=PROJECT,
    help=_(
        "A file, or a folder of files: text (one document per line), JSONL, CSV, TSV, Parquet, …"
    ),
)
@click.option(
    "--output",
    "out",
    type=PROJECT,
    help=_(
        "Save to this file instead of printing: .csv, .parquet, else JSON Lines. Tables have the "
        "columns key, text, text_b, label, score, spans, cut, and probabilities, an object with "
        "that of each label."
    ),
)
@click.option(
    "--where",
    metavar="QUERY",
    help=_(
        'Predict the documents of --project that match a query as in the search bar; "" for all.'
    ),
)
@click.option(
    "--project",
    "file",
    type=PROJECT,
    help=_(
        "Project that contains the run. Without it, RUN_OR_MODEL is the folder of a "
        "fine-tuned model or of an exported one (onnx, onnx_int8 …), or the name or path of a "
        "model that is trained for a task."
    ),
)
@click.option(
    "--device",
    default="auto",
    show_default=True,
    help=_("Device: auto, cpu, cuda or mps."),
)
@click.option(
    "--spans",
    default="",
    metavar="RUN_OR_MODEL",
    help=_(
        "For relations and roles: the run or model whose predicted spans are connected; by default "
        "the spans of the file or of the layer."
    ),
)
@click.option(
    "--weights",
    type=click.Choice(("fp32", "int8")),
    default="fp32",
    show_default=True,
    help=_("Precision of the weights; int8 once `runs weights` has measured what it costs."),
)
@run_on(
    _(
        "Predict on the Ray cluster at ADDRESS, such as ray://192.168.1.5:10001: each of its nodes "
        "predicts a part of the texts."
    )
)
@yes_send
@as_json_lines
def predict(
    run_or_model: str,
    texts: tuple[str, ...],
    second: tuple[str, ...],
    source: Path | None,
    out: Path | None,
    where: str | None,
    file: Path | None,
    device: str,
    spans: str,
    weights: str,
    yes_send: bool,
    as_json: bool,
) -> None:
    """Predict with a run or a fine-tuned model. Prints one prediction per line, in input order.

    The run may be of a prompt, which is then sent for each text. With --json, each line is one
    object: text, label, scores, tokens, spans, cut. Any number of texts takes the same memory. Can
    be used while a window has the project open.
    """
    from workbench.operations.runs import predict_files
    from workbench.operations.runs.predict import Inputs

    if bool(texts) + (source is not None) + (where is not None) != 1:
        raise click.UsageError(_("One of --text, --input and --where is required."))
    if where is not None and file is None:
        raise click.UsageError(_("--where requires --project FILE."))
    if second and len(second) != len(texts):
        raise click.UsageError(_("--text-b is required once for each --text."))
    there = predict_files.checked_output(out, source) if out is not None else None
    with ExitStack() as stack:
        project = stack.enter_context(reading(file)) if file is not None else None
        models = () if source is not None else _models(run_or_model, project)
        if source is not None:
            documents = predict_files.read_inputs(source, note_skipped, leave_out=there)
        elif where is not None and project is not None:
            documents = _matching_documents(project, where, run_or_model)
        else:
            documents = iter(
                predict_files.texts_to_documents(
                    list(zip(texts, second, strict=True)) if second else texts,
                    form=models[0].form,
                )
            )
        inputs = stack.enter_context(Inputs(documents))
        models = models or _models(run_or_model, project)
        weights = "" if weights == "fp32" else weights
        predict_files.check_weights(models, weights)
        if message := models[0].note(inputs):
            note(_("Note: {message}", message=message))
        cluster = cluster_for_texts(project, yes_send)
        if file is not None:
            _agree(file, models, inputs, yes_send)
        opened = stack.enter_context(session(None))
        if spans:
            finding = _models(spans, project)
            read = predict_files.with_spans(opened.queue, finding, inputs, device=device)
            inputs = stack.enter_context(Inputs(read))
        with opened.progress(_("Predicting"), quiet=len(inputs) < 100) as watch:
            rows = predict_files.predict(
                opened.queue,
                models,
                inputs,
                device=device,
                weights=weights,
                run_on=cluster,
                watch=watch,
            )
            if there is not None:
                saved = predict_files.save_answers(rows, there)
            else:
                named = where is not None or (
                    source is not None and source.suffix.lower() not in predict_files.PLAIN
                )
                _print(rows, as_json=as_json, named=named)
    if there is None:
        return
    message = ngettext(
        "Predictions for {n:,} text saved as {out}.",
        "Predictions for {n:,} texts saved as {out}.",
        saved,
        out=out,
    )
    emit({"path": str(out), "documents": saved}) if as_json else say(message)


def _print(rows: Iterable[tuple[Document, Prediction]], *, as_json: bool, named: bool) -> None:
    for document, answer in rows:
        if as_json:
            emit(result_view.answer_json(document, answer, named=named))
        else:
            say(result_view.of(answer).line(document, answer))


def _matching_documents(project: Project, where: str, run: str) -> Iterator[Document]:
    """With the spans that the layer of the run connects."""
    from workbench.operations.documents import corpus, queries
    from workbench.operations.runs import results

    checked(project, where)
    layer = results.layer_of(project, results.run_named(project, run)).name
    yield from corpus.documents_of(project, queries.matching(project, where), layers=(layer,))


def _models(run_or_model: str, project: Project | None) -> tuple[Predicting, ...]:
    from workbench.operations.runs import predict_files, results

    if project is None:
        return (predict_files.model_named(run_or_model),)
    return predict_files.models_of(project, results.run_named(project, run_or_model))


def _agree(file: Path, models: Iterable[Predicting], inputs: Inputs, yes: bool) -> None:
    """Ask whether texts may be sent to the server of a prompt."""
    from workbench.operations.prompts import prompt
    from workbench.operations.runs.predict_files import AskedPrompt

    for model in models:
        if isinstance(model, AskedPrompt) and prompt.needs_consent(model.of_project, model.run):
            with session(file) as opened:
                agree_for(opened, model.run, lambda: inputs, yes)


def note_skipped(line: SkippedLine) -> None:
    """Say on standard error that a line holds no document."""
    note(
        _(
            "Skipped {file}, line {line}: {reason}",
            file=line.file,
            line=line.line,
            reason=line.reason,
        )
    )


@click.command()
@project_argument
@click.option("--run", required=True, help=_("Name of the run."))
@click.option("--split", type=SPLITS, help=_("Only documents of this split."))
@click.option(
    "--spans",
    default="",
    metavar="RUN",
    help=_(
        "For relations and roles: the run whose predicted spans are connected; by default the "
        "spans of the layer."
    ),
)
@where_option
@yes_send
@as_json
def suggest(
    file: Path, run: str, split: str | None, spans: str, where: str, yes_send: bool, as_json: bool
) -> None:
    """Suggest labels for unlabelled documents with a run.

    Suggestions appear in Annotate and become gold only when accepted. Open suggestions of this run
    are replaced; rejected ones are not suggested again.
    """
    from workbench.operations.annotation import suggest as operations
    from workbench.operations.runs import results

    with session(file) as opened:
        chosen = results.run_named(opened.project, run)
        finding = results.run_named(opened.project, spans) if spans else None
        ids = matching(opened.project, where)

        def waiting() -> list[Document]:
            layer = results.layer_of(opened.project, chosen)
            records = operations.waiting_documents(opened.project, layer, split=split, ids=ids)
            return [record.document for record in records]

        agree_for(opened, chosen, waiting, yes_send)
        with opened.progress(_("Suggesting")) as watch:
            result = operations.suggest(
                opened.project,
                opened.queue,
                chosen,
                split=split,
                ids=ids,
                spans=finding,
                watch=watch,
            )
    if result.note:
        note(_("Note: {message}", message=result.note))
    report = {"run": result.run, "documents": result.documents, "suggestions": result.suggestions}
    if not result.documents:
        note(_("All of these documents are labelled; there is nothing to suggest."))
    emit(report) if as_json else say(
        _("Suggestions: {suggestions:,}. Documents: {documents:,}.", **report)
    )


_KNOWN = registry().all("model_exporter")


@click.command()
@project_argument
@click.argument("outdir", type=click.Path(path_type=Path), metavar="OUTDIR")
@click.option("--run", default="", help=_("Name of the run."))
@click.option(
    "--model",
    default="",
    help=_(
        "Instead of a run: a published model that is trained for a task, or a causal language "
        "model (formats gguf and gguf32), by name or folder."
    ),
)
@click.option(
    "--formats",
    default=",".join(entry.id for entry in _KNOWN if entry.options.get("default")),
    show_default=True,
    help=_(
        "Formats to write, separated by commas: {formats}.",
        formats=", ".join(f"{entry.id} ({_(entry.title)})" for entry in _KNOWN),
    ),
)
@as_json
def export(file: Path, outdir: Path, run: str, model: str, formats: str, as_json: bool) -> None:
    """Export the model of a run, each format to a folder in OUTDIR, and verify it on dev and test
    texts.

    A format that does not give the predictions of the model is reported and kept; the command then
    ends with an error, unless the format rounds the weights, such as to 8 bits. Can be used while a
    window has the project open.
    """
    from workbench.operations.models import export as operations
    from workbench.operations.runs import results

    if bool(run) == bool(model):
        raise click.UsageError(_("Give either --run or --model."))
    source = click.get_current_context().get_parameter_source("formats")
    is_default = source == click.core.ParameterSource.DEFAULT  # then those that the model can have
    chosen = () if is_default else operations.formats_of(formats)
    with (
        session(file, read_only=True) as opened,
        opened.progress(_("Exporting"), what=_("The export")) as watch,
    ):
        project, queue = opened.project, opened.queue
        if model:
            card = operations.model_named(model)
            result = operations.export_published(project, queue, card, outdir, chosen, watch=watch)
        else:
            named = results.run_named(project, run)
            result = operations.export_run(project, queue, named, outdir, chosen, watch=watch)
    if as_json:
        raw = result.to_json()
        emit(
            {
                name: raw[name]
                for name in ("folders", "files", "check", "checks", "original", "stored")
            }
        )
    else:
        _show_export(result)
    if unwritten := [id for id in result.failed if id not in result.folders]:
        reasons = " ".join(f"{id}: {result.checks[id].problem}" for id in unwritten)
        raise ExportFailed(
            _("These formats could not be written: {names}.", names=", ".join(unwritten)),
            hint=reasons,
        )
    if strict := [id for id in result.failed if not result.checks[id].lossy]:
        raise ExportFailed(
            _("These formats differ from the model: {names}.", names=", ".join(strict)),
            hint=_("They were written; do not use them before you know why."),
        )


def _show_export(result: ExportResult) -> None:
    from workbench.exporters.model import results, spec

    for folder in result.folders.values():
        files = [file.bytes for file in result.files if Path(file.path).is_relative_to(folder)]
        say(f"{size(sum(files)):>8}  {folder}")
    if result.stored:
        say(_("The predictions of the run: {sentence}", sentence=result.stored.sentence()))
    titles = {id: _(spec.exporter_info(id).title) for id in result.checks}
    if result.checks:
        rows = [(titles[id], check) for id, check in result.checks.items()]
        original = [(_("the original"), result.original)] if result.original else []
        table(results.columns(), [*original, *rows])
        say(result.overall.sentence())
    for id, check in result.checks.items():
        if check.note:
            say(_("{title}: {note}", title=titles[id], note=check.note))
        for text in check.differing[:MAX_NAMED]:
            note(
                _(
                    "{title}: {text!r} is {expected} for the model, {answer} for the export",
                    title=titles[id],
                    text=text.text,
                    expected=text.expected or "–",
                    answer=text.answer or "–",
                )
            )
