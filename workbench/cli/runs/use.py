"""`predict`, `suggest` and `export`: use a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.base.sizes import size
from workbench.cli.documents.filters import checked, matching, where_option
from workbench.cli.output import as_json, as_json_lines, emit, note, say
from workbench.cli.runs.evaluate import SPLITS
from workbench.cli.session import PROJECT, project_argument, reading, session
from workbench.text import result_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.cli.session import CommandSession
    from workbench.text.document import Document
    from workbench.text.fields import Prediction


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
    help=_("A file, or a folder of files: text (one document per line), JSONL, CSV, TSV, …"),
)
@click.option(
    "--where",
    metavar="QUERY",
    help=_("Predict the documents of --project that match a query as in the search bar."),
)
@click.option(
    "--project",
    "file",
    type=PROJECT,
    help=_(
        "Project that contains the run. Without it, RUN_OR_MODEL is the folder of a "
        "fine-tuned model, or the name or path of a model that is trained for a task."
    ),
)
@click.option(
    "--device",
    default="auto",
    show_default=True,
    help=_("Device: auto, cpu, cuda or mps."),
)
@as_json_lines
def predict(
    run_or_model: str,
    texts: tuple[str, ...],
    second: tuple[str, ...],
    source: Path | None,
    where: str | None,
    file: Path | None,
    device: str,
    as_json: bool,
) -> None:
    """Predict with a run or a fine-tuned model. Prints one prediction per line, in input order.

    With --json, each line is one object: text, label, scores, tokens, spans, cut. Can be used while
    a window has the project open.
    """
    from workbench.operations.runs import ensemble, predict, predict_files

    if bool(texts) + (source is not None) + (where is not None) != 1:
        raise click.UsageError(_("One of --text, --input and --where is required."))
    if where is not None and file is None:
        raise click.UsageError(_("--where requires --project FILE."))
    if second and len(second) != len(texts):
        raise click.UsageError(_("--text-b is required once for each --text."))
    inputs = _read_inputs(source) if source is not None else ()
    models = _models(run_or_model, file)
    if source is not None:
        documents = inputs
    elif where is not None and file is not None:
        documents = _matching_documents(file, where)
    else:
        documents = predict_files.texts_to_documents(
            list(zip(texts, second, strict=True)) if second else texts,
            form=predict_files.form_of(models[0][0]),
        )
    if message := predict.token_note(models[0][0], documents):
        note(_("Note: {message}", message=message))
    with session(None) as opened:
        tables = [_answers(opened, model, documents, device) for model in models]
    for document, *answers in zip(documents, *tables, strict=True):
        answer = answers[0] if len(models) == 1 else ensemble.mean(answers)
        if not as_json:
            say(result_view.of(answer).line(document, answer))
            continue
        named = source is not None and source.suffix.lower() not in predict_files.PLAIN
        emit(predict_files.answer_json(document, answer, named=named or where is not None))


def _matching_documents(file: Path, where: str) -> tuple[Document, ...]:
    from workbench.operations.documents import corpus, queries

    with reading(file) as project:
        checked(project, where)
        return tuple(corpus.documents_of(project, queries.matching(project, where)))


def _answers(
    opened: CommandSession, model: tuple[Path, bool], documents: Sequence[Document], device: str
) -> list[Prediction]:
    from workbench.operations.runs import predict_files

    folder, allow_pickle = model
    with opened.progress(_("Predicting"), quiet=len(documents) < 100) as watch:
        return predict_files.predict(
            opened.queue, folder, documents, device=device, allow_pickle=allow_pickle, watch=watch
        )


def _models(run_or_model: str, file: Path | None) -> list[tuple[Path, bool]]:
    """The models of a run (of an ensemble several) or the folder of one, or a model that is trained
    for a task; and whether the user has allowed its pickle.
    """
    from workbench.models.spec import DESCRIPTION
    from workbench.operations.models import installed as models
    from workbench.operations.runs import predict, results, train
    from workbench.operations.runs.kinds import contract as kinds

    if file is not None:
        with reading(file) as project:
            run = results.run_named(project, run_or_model)
            members = kinds.of(run).parts(project, run) or (run,)
            return [
                (train.model_folder(project, member), predict.allows_pickle(member))
                for member in members
            ]
    folder = Path(run_or_model)
    if (folder / DESCRIPTION).is_file():
        return [(folder, False)]
    card = models.trained(run_or_model)
    return [(Path(card.path), card.pickled)]


@click.command()
@project_argument
@click.option("--run", required=True, help=_("Name of the run."))
@click.option("--split", type=SPLITS, help=_("Only documents of this split."))
@where_option
@as_json
def suggest(file: Path, run: str, split: str | None, where: str, as_json: bool) -> None:
    """Suggest labels for unlabelled documents with a run.

    Suggestions appear in Annotate and become gold only when accepted. Open suggestions of this run
    are replaced; rejected ones are not suggested again.
    """
    from workbench.operations.annotation import suggest as operations
    from workbench.operations.runs import results

    with session(file) as opened:
        chosen = results.run_named(opened.project, run)
        ids = matching(opened.project, where)
        with opened.progress(_("Suggesting")) as watch:
            result = operations.suggest(
                opened.project, opened.queue, chosen, split=split, ids=ids, watch=watch
            )
    if result.note:
        note(_("Note: {message}", message=result.note))
    report = {"run": result.run, "documents": result.documents, "suggestions": result.suggestions}
    if not result.documents:
        note(_("All of these documents are labelled; there is nothing to suggest."))
    emit(report) if as_json else say(
        _("Suggestions: {suggestions:,}. Documents: {documents:,}.", **report)
    )


def _read_inputs(source: Path) -> tuple[Document, ...]:
    """The documents of a file; lines that cannot be read are noted."""
    from workbench.operations.runs import predict_files

    documents, skipped = predict_files.read_inputs(source)
    for item in skipped:
        note(
            _(
                "Skipped {file}, line {line}: {reason}",
                file=item.file,
                line=item.line,
                reason=item.reason,
            )
        )
    return documents


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

    Can be used while a window has the project open.
    """
    from workbench.operations.models import export as operations
    from workbench.operations.runs import results

    if bool(run) == bool(model):
        raise click.UsageError(_("Give either --run or --model."))
    chosen = operations.formats_of(formats)
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
        emit({name: raw[name] for name in ("folders", "files", "check", "stored")})
        return
    for written in result.files:
        say(f"{size(written.bytes):>8}  {written.path}")
    if result.stored:
        say(_("The predictions of the run: {sentence}", sentence=result.stored.sentence()))
    if result.check:
        say(result.overall.sentence())
