"""`evaluate`, `predict` and `suggest`: use a trained run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.i18n import _, ngettext
from workbench.base.records import to_plain
from workbench.base.terms import term
from workbench.cli import decoding
from workbench.cli.output import Progress, as_json, emit, note, say, table
from workbench.cli.seen import warn_of_training_texts
from workbench.cli.session import PROJECT, project_argument, reading, session, writing_if_free
from workbench.cli.where import checked, matching, where_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.cli.session import Session
    from workbench.metrics.report import Report
    from workbench.operations.scoring import Evaluation
    from workbench.storage.runs import Run
    from workbench.text.document import Document
    from workbench.text.fields import Prediction

SPLITS = click.Choice(("train", "dev", "test"))


@click.command()
@project_argument
@click.option("--run", required=True, help=_("Name of the run."))
@click.option(
    "--split",
    type=SPLITS,
    default="dev",
    show_default=True,
    help=_("Split to evaluate on. An evaluation on test counts as a view of the test score."),
)
@click.option(
    "--slice",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help=_("Score the texts that match a regular expression too; can be given several times."),
)
@click.option(
    "--where",
    "queries",
    multiple=True,
    metavar="QUERY",
    help=_(
        "Score the documents that match a query as in the search bar too; can be given several "
        "times. Saved filters are always scored."
    ),
)
@click.option(
    "--temperature",
    type=click.Choice(("fit", "none")),
    help=_(
        "fit: divide the logits by the temperature fitted on dev, in predictions and "
        "exports from now on; none: stop using it. For tags and spans, the log odds of "
        "each decision are divided."
    ),
)
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="LABEL=VALUE",
    help=_(
        "Decision threshold of a label, used in predictions and exports from now on; can "
        "be given several times. fit: for every label, the threshold with the highest F1 "
        "on dev."
    ),
)
@as_json
def evaluate(
    file: Path,
    run: str,
    split: str,
    patterns: tuple[str, ...],
    queries: tuple[str, ...],
    temperature: str | None,
    thresholds: tuple[str, ...],
    as_json: bool,
) -> None:
    """Evaluate a run on the current gold labels of a split.

    Predictions are stored, so only new or changed documents are predicted. On train and dev this
    can be used while a window has the project open.
    """
    from workbench.operations import quality, quality_report, results, trained_on

    changes = temperature or thresholds
    wanted = decoding.thresholds(thresholds)
    with session(file) if changes else _for_scores(file, run, split) as opened:
        chosen = results.run_named(opened.project, run)
        for query in queries:
            checked(opened.project, query)
        found = _scored(opened, chosen, split)
        chosen = results.run(opened.project, chosen.id)
        if temperature:
            decoding.set_temperature(opened.project, chosen, temperature)
        if thresholds:
            quality_report.change_thresholds(opened.project, chosen, wanted)
        if changes:
            found = results.evaluate_stored(opened.project, chosen, split)
        evidence = quality.evidence(opened.project, chosen, split)
        report = quality.report(evidence)
        seen = trained_on.TrainingTexts(opened.project).among(chosen, split, evidence.documents)
        more = quality_report.quality_report(opened.project, chosen, split, patterns, queries)
    as_run = results.as_run(chosen, split)
    message = {
        "run": run,
        **found.to_json(),
        "seen_test": chosen.seen_test,
        "as_run": as_run.to_json() if as_run is not None else None,
        "report": report.to_json() if report is not None else None,
        "quality": more,
        "trained_on": [to_plain(on) for on in seen],
    }
    if as_json:
        return emit(message)
    show_scores(_("Run {run}").format(run=run), message)
    warn_of_training_texts(run, seen, len(evidence))
    if report is not None:
        _show_report(report)
    _show_quality(more)


def _scored(opened: Session, run: Run, split: str) -> Evaluation:
    """The scores of a run, after it has predicted the documents that it has not seen yet."""
    from workbench.operations import results

    progress = Progress(_("Scoring"))
    found: Evaluation = opened.ask(
        lambda then: results.start_evaluation(opened.project, opened.queue, run, split, then),
        heard=progress.heard,
    )
    progress.end()
    return found


def _show_quality(found: dict[str, Any]) -> None:
    """Calibration and slices; curves and training are for --json."""
    from workbench.tasks import spec as tasks

    if (calibrated := found["calibration"]) is not None:
        say()
        say(_("Expected calibration error: {ece:.3f}").format(ece=calibrated["before"]["ece"]))
        if (after := calibrated["after"]) is not None:
            message = _("with temperature {temperature:.2f} ({state}): {ece:.3f}")
            state = _("in use") if calibrated["in_use"] else _("not in use")
            about = {"temperature": calibrated["temperature"], "state": state, "ece": after["ece"]}
            say(message.format(**about))
    sliced = found["slices"]
    if sliced is None or not sliced["rows"]:
        return
    say()
    heads = (_("Slice"), _("n"), tasks.score_title(sliced["score"]))
    rows = [
        [row["name"], *(row[key] for key in ("n", "value", "low", "high", "p", "holm"))]
        for row in sliced["rows"]
    ]
    table((*heads, _("Low"), _("High"), _("p"), _("p, Holm")), rows)


def _show_report(report: Report) -> None:
    """Every score with its interval, and how spans match under each scheme."""
    from workbench.operations import quality
    from workbench.tasks import spec as tasks

    say()
    titles = (_("Score"), _("Value"), _("Low"), _("High"))
    rows = [
        (tasks.score_title(name), score.value, score.low, score.high)
        for name, score in report.scores.items()
    ]
    table(titles, rows)
    say(quality.interval_method(report))
    if report.outcomes:
        names = [*next(iter(report.outcomes.values()))]
        heads = [_("Scheme"), *map(term, names)]
        say()
        table(heads, [[term(mode), *row.values()] for mode, row in report.outcomes.items()])


def _for_scores(file: Path, run: str, split: str) -> AbstractContextManager[Session]:
    """Only a view of the test score must be recorded; new predictions are stored if no other
    process writes.
    """
    from workbench.operations import results

    if split == "test":
        return session(file)
    with reading(file) as project:
        complete = results.answered(project, results.run_named(project, run), split)
    return session(file, read_only=True) if complete else writing_if_free(file)


def show_scores(title: str, report: dict[str, Any]) -> None:
    """Print a score table."""
    n = report["n"]
    say(
        ngettext("{title} on {split}, {n} document", "{title} on {split}, {n} documents", n).format(
            title=title, split=report["split"], n=n
        )
    )
    say("  ".join(f"{name} {value:.3f}" for name, value in report["scores"].items()))
    say()
    rows = report["per_label"]
    titles = {
        "label": _("Label"),
        "precision": _("Precision"),
        "recall": _("Recall"),
        "f1": _("F1"),
        "average_precision": _("AP"),
        "support": _("Support"),
    }
    shown = [name for name in titles if any(name in row for row in rows)]
    if rows:
        columns = [titles[name] for name in shown]
        table(columns, [[row.get(name, "–") for name in shown] for row in rows])
        say()
    say(_(report["definition"]))
    if as_run := report.get("as_run"):
        say(_gold_text(report["fingerprint"] == as_run["fingerprint"], as_run["scores"]))


def _gold_text(same: bool, scores: dict[str, Any]) -> str:
    """Whether the gold labels are still those of the run, and its original scores."""
    if same:
        return _("The documents and gold labels are unchanged since the run.")
    found = "  ".join(f"{name} {value:.3f}" for name, value in scores.items())
    return _("Scores are against the current gold labels. Original scores: {scores}").format(
        scores=found
    )


@click.command()
@click.argument("run_or_model", metavar="RUN_OR_MODEL")
@click.option(
    "--text", "texts", multiple=True, help=_("A text to predict; can be given several times.")
)
@click.option(
    "--text-b",
    "second",
    multiple=True,
    help=_("Second text of a pair, or questions on lines of their own, one for each --text."),
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
@as_json
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
    """Predict with a run or a fine-tuned model. Prints one prediction per line, in
    input order.

    With --json, each line is one object: text, label, scores, tokens, spans, cut. Can be used while
    a
    window has the project open.
    """
    from workbench.operations import ensemble, predict, predict_files

    if bool(texts) + (source is not None) + (where is not None) != 1:
        raise click.UsageError(_("One of --text, --input and --where is required."))
    if where is not None and file is None:
        raise click.UsageError(_("--where requires --project FILE."))
    if second and len(second) != len(texts):
        raise click.UsageError(_("--text-b is required once for each --text."))
    given = _read_inputs(source) if source is not None else ()
    models = _models(run_or_model, file)
    if source is not None:
        asked = given
    elif where is not None and file is not None:
        asked = _matching_documents(file, where)
    else:
        asked = predict_files.texts_to_documents(
            list(zip(texts, second, strict=True)) if second else texts,
            form=predict_files.form_of(models[0][0]),
        )
    if message := predict.token_note(models[0][0], asked):
        note(_("Note: {message}").format(message=message))
    with session(None) as opened:
        tables = [_answers(opened, model, asked, device) for model in models]
    for document, *answers in zip(asked, *tables, strict=True):
        answer = answers[0] if len(models) == 1 else ensemble.mean(answers)
        line = predict_files.answer_json(
            document,
            answer,
            named=where is not None
            or (source is not None and source.suffix.lower() not in predict_files.PLAIN),
        )
        emit(line) if as_json else say(_in_words(line))


def _matching_documents(file: Path, where: str) -> tuple[Document, ...]:
    from workbench.operations import corpus, queries

    with reading(file) as project:
        checked(project, where)
        return tuple(corpus.documents_of(project, queries.matching(project, where)))


def _answers(
    opened: Session, model: tuple[Path, bool], asked: Sequence[Document], device: str
) -> list[Prediction]:
    from workbench.operations import predict_files

    folder, allow_pickle = model
    progress = Progress(_("Predicting"), quiet=len(asked) < 100)
    rows = opened.ask(
        lambda then: predict_files.ask(
            opened.queue, folder, asked, then, device=device, allow_pickle=allow_pickle
        ),
        heard=progress.heard,
    )
    progress.end()
    return [answer for _document, answer in rows]


def _models(run_or_model: str, file: Path | None) -> list[tuple[Path, bool]]:
    """The models of a run (of an ensemble several) or the folder of one, or a model that is trained
    for a task; and whether the user has allowed its pickle.
    """
    from workbench.models.spec import DESCRIPTION
    from workbench.operations import ensemble, models, predict, results, train

    if file is not None:
        with reading(file) as project:
            run = results.run_named(project, run_or_model)
            members = ensemble.members_of(project, run) if ensemble.is_one(run) else (run,)
            return [
                (train.model_folder(project, member), predict.allows_pickle(member))
                for member in members
            ]
    folder = Path(run_or_model)
    if (folder / DESCRIPTION).is_file():
        return [(folder, False)]
    card = models.trained(run_or_model)
    return [(Path(card.path), card.pickled)]


def _in_words(line: dict[str, Any]) -> str:
    if (number := line.get("number")) is not None:
        return f"{number:.3f}  {line['text']}"
    if (scores := line["scores"]) is not None:
        chosen = line["labels"] if "labels" in line else [line["label"]]
        found = ", ".join(f"{label}  {scores[label]:.3f}" for label in chosen)
        return f"{found or '–'}  {line['text']}"
    if "answers" in line:
        message = [
            f"{item['question']}  →  {item['answer'] or '–'}  {item['score']:.3f}"
            for item in line["answers"]
        ]
        return "\n".join((line["text"], *(f"  {answer}" for answer in message)))
    found = ", ".join(
        f"{item['label']} “{line['text'][item['start'] : item['end']]}”" for item in line["spans"]
    )
    return f"{line['text']}  →  {found or '–'}"


@click.command()
@project_argument
@click.option("--run", required=True, help=_("Name of the run."))
@click.option("--split", type=SPLITS, help=_("Only documents of this split."))
@where_option
@as_json
def suggest(file: Path, run: str, split: str | None, where: str, as_json: bool) -> None:
    """Suggest labels for unlabelled documents with a run.

    Suggestions appear in Annotate and become gold only when accepted. Open suggestions of this run
    are
    replaced; rejected ones are not suggested again.
    """
    from workbench.operations import results
    from workbench.operations import suggest as operations

    with session(file) as opened:
        chosen = results.run_named(opened.project, run)
        ids = matching(opened.project, where)
        progress = Progress(_("Suggesting"))
        found = opened.ask(
            lambda then: operations.suggest(
                opened.project, opened.queue, chosen, then, split=split, ids=ids
            ),
            heard=progress.heard,
        )
        progress.end()
    if found.note:
        note(_("Note: {message}").format(message=found.note))
    report = {"run": found.run, "documents": found.documents, "suggestions": found.suggestions}
    if not found.documents:
        note(_("All of these documents are labelled; there is nothing to suggest."))
    emit(report) if as_json else say(
        _("Suggestions: {suggestions}. Documents: {documents}.").format(**report)
    )


def _read_inputs(source: Path) -> tuple[Document, ...]:
    """The documents of a file; lines that cannot be read are noted."""
    from workbench.operations import predict_files

    documents, skipped = predict_files.read_inputs(source)
    for item in skipped:
        note(
            _("Skipped {file}, line {line}: {reason}").format(
                file=item.file, line=item.line, reason=item.reason
            )
        )
    return documents
