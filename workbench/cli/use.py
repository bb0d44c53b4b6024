"""`evaluate`, `predict` and `suggest`: what a trained run is good for."""

from __future__ import annotations

from pathlib import Path

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.cli.output import Progress, as_json, emit, note, say, table
from workbench.cli.session import PROJECT, project_argument, reading, session, writing_if_free

SPLITS = click.Choice(("train", "dev", "test"))


@click.command()
@project_argument
@click.option("--run", required=True, help=_("The run, by name."))
@click.option(
    "--split",
    type=SPLITS,
    default="dev",
    show_default=True,
    help=_("The documents to score on. A score on test counts as a look."),
)
@as_json
def evaluate(file: Path, run: str, split: str, as_json: bool) -> None:
    """Score a run against today's gold of a split.

    Answers of the run are kept, so only documents it has not seen yet are asked. On train and dev it works beside an open window.
    """
    from workbench.operations import results

    with _for_scores(file, run, split) as opened:
        chosen = results.run_named(opened.project, run)
        progress = Progress(_("Scoring"))
        found = opened.ask(
            lambda then: results.start_evaluation(
                opened.project, opened.queue, chosen, split, then
            ),
            heard=progress.heard,
        )
        progress.end()
        chosen = results.run(opened.project, chosen.id)
    as_run = results.as_run(chosen, split)
    report = {
        "run": run,
        **found.to_json(),
        "seen_test": chosen.seen_test,
        "as_run": as_run.to_json() if as_run is not None else None,
    }
    emit(report) if as_json else show_scores(_("Run {run}").format(run=run), report)


def _for_scores(file: Path, run: str, split: str):
    """Only a look at test must be written down; new answers are kept where nobody else writes."""
    from workbench.operations import results

    if split == "test":
        return session(file)
    with reading(file) as project:
        complete = results.answered(project, results.run_named(project, run), split)
    return session(file, read_only=True) if complete else writing_if_free(file)


def show_scores(title: str, report: dict) -> None:
    """A score table for a person."""
    say(
        _("{title} on {split}, {n} documents").format(
            title=title, split=report["split"], n=report["n"]
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
    table(
        [titles[name] for name in shown], [[row.get(name, "–") for name in shown] for row in rows]
    )
    say()
    say(_(report["definition"]))
    if as_run := report.get("as_run"):
        say(_gold_told(report["fingerprint"] == as_run["fingerprint"], as_run["scores"]))


def _gold_told(same: bool, scores: dict) -> str:
    """Whether the gold labels are still those of the run, and what the scores were then."""
    if same:
        return _("These documents and their gold labels are those of the run.")
    found = "  ".join(f"{name} {value:.3f}" for name, value in scores.items())
    return _(
        "Scores are against today's gold labels. Against those of the run they were: {scores}"
    ).format(scores=found)


@click.command()
@click.argument("run_or_folder", metavar="RUN_OR_FOLDER")
@click.option(
    "--text", "texts", multiple=True, help=_("A text to ask about; may be given several times.")
)
@click.option(
    "--text-b", "second", multiple=True, help=_("The second text of a pair, one for each --text.")
)
@click.option(
    "--input",
    "source",
    type=PROJECT,
    help=_("A file, or a folder of files: text (one answer a line), JSONL, CSV, TSV …"),
)
@click.option(
    "--project",
    "file",
    type=PROJECT,
    help=_("The project whose run is meant; without it, a folder of a fine-tuned model."),
)
@click.option(
    "--device",
    default="auto",
    show_default=True,
    help=_("Where it computes: auto, cpu, cuda, mps."),
)
@as_json
def predict(
    run_or_folder: str,
    texts,
    second,
    source: Path | None,
    file: Path | None,
    device: str,
    as_json: bool,
) -> None:
    """Ask a run, or a folder of a fine-tuned model, about texts; one answer a line, in the order asked.

    With --json each line is one object: text, label, scores, tokens, spans, cut. Works beside an open window.
    """
    from workbench.operations import predict as operations

    if bool(texts) == (source is not None):
        raise click.UsageError(_("Give either --text or --input."))
    if second and len(second) != len(texts):
        raise click.UsageError(_("Give --text-b once for each --text."))
    if source is not None:
        asked, skipped = operations.read_inputs(source)
        for one in skipped:
            note(
                _("Skipped {file}, line {line}: {reason}").format(
                    file=one.file, line=one.line, reason=one.reason
                )
            )
    else:
        asked = operations.texts_to_documents(
            list(zip(texts, second, strict=True)) if second else texts
        )
    model = _model(run_or_folder, file)
    if told := operations.token_note(model, asked):
        note(_("Note: {told}").format(told=told))
    with session(None) as opened:
        progress = Progress(_("Predicting"), quiet=len(asked) < 100)
        rows = opened.ask(
            lambda then: operations.ask(opened.queue, model, asked, then, device=device),
            heard=progress.heard,
        )
        progress.end()
    for document, answer in rows:
        line = operations.answer_json(
            document,
            answer,
            named=source is not None and source.suffix.lower() not in operations.PLAIN,
        )
        emit(line) if as_json else say(_in_words(line))


def _model(run_or_folder: str, file: Path | None) -> Path:
    from workbench.operations import results, train

    if file is not None:
        with reading(file) as project:
            return train.model_folder(project, results.run_named(project, run_or_folder))
    folder = Path(run_or_folder)
    if not folder.is_dir():
        raise WorkbenchError(
            _("{name!r} is no folder of a model.").format(name=run_or_folder),
            hint=_("For a run of a project add --project FILE."),
        )
    return folder


def _in_words(line: dict) -> str:
    if (scores := line["scores"]) is not None:
        chosen = line["labels"] if "labels" in line else [line["label"]]
        found = ", ".join(f"{label}  {scores[label]:.3f}" for label in chosen)
        return f"{found or '–'}  {line['text']}"
    found = ", ".join(
        f"{one['label']} “{line['text'][one['start'] : one['end']]}”" for one in line["spans"]
    )
    return f"{line['text']}  →  {found or '–'}"


@click.command()
@project_argument
@click.option("--run", required=True, help=_("The run, by name."))
@click.option("--split", type=SPLITS, help=_("Only documents of this split."))
@as_json
def suggest(file: Path, run: str, split: str | None, as_json: bool) -> None:
    """Let a run suggest labels for the documents that nobody has begun.

    Suggestions wait in Annotate and are gold only once accepted. Those of an earlier call that are still open are replaced;
    what was rejected from this run does not return.
    """
    from workbench.operations import results
    from workbench.operations import suggest as operations

    with session(file) as opened:
        chosen = results.run_named(opened.project, run)
        progress = Progress(_("Suggesting"))
        found = opened.ask(
            lambda then: operations.suggest(
                opened.project, opened.queue, chosen, then, split=split
            ),
            heard=progress.heard,
        )
        progress.end()
    if found.note:
        note(_("Note: {told}").format(told=found.note))
    report = {"run": found.run, "documents": found.documents, "suggestions": found.suggestions}
    emit(report) if as_json else say(
        _("{suggestions} suggestions in {documents} documents.").format(**report)
    )
