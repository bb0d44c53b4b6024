"""`evaluate`: the scores of a run on the current gold labels."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.records import to_plain
from workbench.base.terms import term
from workbench.cli.documents.filters import checked
from workbench.cli.output import as_json, emit, note, say, table
from workbench.cli.session import project_argument, reading, session, writing_if_free
from workbench.text.columns import Column, numbered, of_records

if TYPE_CHECKING:
    from workbench.cli.session import CommandSession
    from workbench.metrics.evaluation import Evaluation
    from workbench.operations.runs.trained_on import TrainedOn
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


SPLITS = click.Choice(("train", "dev", "test"))
FIT = "fit"  # in place of a threshold


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
    help=_("Also score the texts that match a regular expression; can be given several times."),
)
@click.option(
    "--where",
    "queries",
    multiple=True,
    metavar="QUERY",
    help=_(
        "Also score the documents that match a query as in the search bar; can be given several "
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
@click.option(
    "--spans",
    default="",
    metavar="RUN",
    help=_(
        "For relations and roles: also score end to end, between the spans that this run predicts "
        "in place of those of the layer."
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
    spans: str,
    as_json: bool,
) -> None:
    """Evaluate a run on the current gold labels of a split.

    Predictions are stored, so only new or changed documents are predicted. On train and dev this
    can be used while a window has the project open.
    """
    from workbench.operations.evaluation import quality, quality_report
    from workbench.operations.runs import results, span_runs, trained_on

    changes = _DecodingChanges.of(temperature, thresholds)
    with session(file) if changes else _for_scores(file, run, split) as opened:
        chosen = results.run_named(opened.project, run)
        finding = results.run_named(opened.project, spans) if spans else None
        if finding is not None:
            span_runs.check(opened.project, chosen, finding)
        for query in queries:
            checked(opened.project, query)
        evaluation = _scored(opened, chosen, split)
        chosen = results.run(opened.project, chosen.id)
        if changes:
            changes.apply(opened.project, chosen)
            evaluation = results.evaluate_stored(opened.project, chosen, split)
        evidence = quality.evidence(opened.project, chosen, split)
        evaluation = quality.with_intervals(evaluation, evidence)
        overlap = trained_on.TrainingTexts(opened.project).among(chosen, split, evidence.documents)
        more = quality_report.quality_report(opened.project, chosen, split, patterns, queries)
        whole = _end_to_end(opened, chosen, finding, split) if finding is not None else None
    message = {
        **_scores_json(chosen, split, evaluation),
        "quality": more,
        "trained_on": [to_plain(on) for on in overlap],
        **({"end_to_end": whole} if whole is not None else {}),
    }
    _warn_of_slices(more["slices"])
    if as_json:
        return emit(message)
    show_scores(_("Run {run}", run=run), message)
    warn_of_training_texts(run, overlap, len(evidence))
    show_intervals(evaluation)
    _show_quality(more)
    if whole is not None:
        say()
        title = _("Run {run} with the spans that {spans} predicts", run=run, spans=spans)
        show_scores(title, whole)


@click.command()
@project_argument
@click.option(
    "--run",
    "names",
    multiple=True,
    help=_("Name of a run of coreference; can be given several times."),
)
@click.option("--split", type=SPLITS, default="dev", show_default=True, help=_("The documents."))
@as_json
def pronouns(file: Path, names: tuple[str, ...], split: str, as_json: bool) -> None:
    """Score which name each pronoun of GAP means: F1 by gender, and their ratio.

    The documents are those imported from GAP. Compared are the chains of runs, and rules: the
    nearest name, the first one of the text, and the one that occurs most often.
    """
    from workbench.operations.evaluation import gap
    from workbench.operations.runs import results

    with session(file, read_only=True) as opened:
        runs = [results.run_named(opened.project, name) for name in names]
        with opened.progress(_("Predicting"), quiet=as_json) as watch:
            scores = gap.compare(opened.project, opened.queue, runs, split=split, watch=watch)
    if as_json:
        return emit([row.to_json() for row in scores])
    table(gap.columns(), scores)


def scores_json(run: Run, evaluation: Evaluation) -> dict[str, Any]:
    """The stored form of the scores, with the definition of the task; intervals are apart."""
    from workbench.operations.runs import missing
    from workbench.tasks import spec as tasks

    definition = "" if missing.of_run(run) else tasks.info(run.spec["task"]).definition
    return {**replace(evaluation, at="", intervals=None).to_json(), "definition": definition}


def intervals_json(evaluation: Evaluation) -> dict[str, Any] | None:
    """Every score with its bootstrap interval; None for a task without a statistic."""
    intervals = evaluation.intervals
    return intervals.to_json() if intervals is not None and intervals.rounds else None


def _scores_json(run: Run, split: str, evaluation: Evaluation) -> dict[str, Any]:
    """The scores against the current gold labels, and those that the run had at its end."""
    from workbench.operations.runs import results

    as_run = results.original(run, split)
    return {
        "run": run.name,
        **scores_json(run, evaluation),
        "seen_test": run.seen_test,
        "as_run": scores_json(run, as_run) if as_run and as_run.is_complete else None,
        "report": intervals_json(evaluation),
    }


def _scored(opened: CommandSession, run: Run, split: str) -> Evaluation:
    """The scores of a run, after it has predicted the documents that it has not seen yet."""
    from workbench.operations.runs import results

    with opened.progress(_("Scoring")) as watch:
        return results.evaluate(opened.project, opened.queue, run, split, watch=watch)


def _end_to_end(opened: CommandSession, run: Run, spans: Run, split: str) -> dict[str, Any]:
    from workbench.operations.evaluation import end_to_end

    with opened.progress(_("Scoring")) as watch:
        evaluation = end_to_end.evaluate(
            opened.project, opened.queue, run, spans, split, watch=watch
        )
    report = intervals_json(evaluation)
    return {"spans": spans.name, **scores_json(run, evaluation), "report": report}


def _show_quality(quality: dict[str, Any]) -> None:
    """Calibration and slices; curves and training are for --json."""
    from workbench.operations.evaluation import slices
    from workbench.tasks import spec as tasks

    if (calibrated := quality["calibration"]) is not None:
        say()
        before, after = calibrated["before"], calibrated["after"]
        message = _("Expected calibration error: {ece:.3f} ({interval})")
        say(message.format(ece=before["ece"], interval=_interval(before["ece_interval"])))
        if after is not None:
            message = _("with temperature {temperature:.2f} ({state}): {ece:.3f} ({interval})")
            state = _("in use") if calibrated["in_use"] else _("not in use")
            about = {"temperature": calibrated["temperature"], "state": state, "ece": after["ece"]}
            say(message.format(interval=_interval(after["ece_interval"]), **about))
    sliced = quality["slices"]
    if sliced is None or not sliced["rows"]:
        return
    say()
    columns = slices.columns(tasks.score_title(sliced["score"]))
    table(of_records(columns), sliced["rows"])


def _warn_of_slices(slices: dict[str, Any] | None) -> None:
    from workbench.operations.evaluation.slices import MIN_EXAMPLES

    for item in slices["left_out"] if slices is not None else ():
        message = ngettext(
            "“{name}”: {n:,} document, which is no slice. A slice has at least {least}, and not "
            "all.",
            "“{name}”: {n:,} documents, which is no slice. A slice has at least {least}, and not "
            "all.",
            item["n"],
            **item,
            least=MIN_EXAMPLES,
        )
        note(message)


def _interval(bounds: list[float] | None) -> str:
    """A 95% interval; "–" if it is not defined."""
    return "–" if bounds is None else "{:.3f} – {:.3f}".format(*bounds)


def show_intervals(evaluation: Evaluation) -> None:
    """Every score with its bootstrap interval, and how spans match under each scheme."""
    from workbench.operations.evaluation import quality
    from workbench.tasks import spec as tasks

    intervals = evaluation.intervals
    if intervals is None or not intervals.rounds:
        return
    say()
    columns = (
        Column(_("Score"), lambda row: tasks.score_title(row[0])),
        Column(_("Value"), lambda row: row[1].value),
        Column(_("Low"), lambda row: row[1].low),
        Column(_("High"), lambda row: row[1].high),
    )
    table(columns, intervals.scores.items())
    say(quality.interval_method(intervals))
    if intervals.outcomes:
        names = [*next(iter(intervals.outcomes.values()))]
        heads = [_("Scheme"), *map(term, names)]
        say()
        rows = [[term(mode), *row.values()] for mode, row in intervals.outcomes.items()]
        table(numbered(heads), rows)


def _for_scores(file: Path, run: str, split: str) -> AbstractContextManager[CommandSession]:
    """Only a view of the test score must be recorded; new predictions are stored if no other
    process writes.
    """
    from workbench.operations.runs import results

    if split == "test":
        return session(file)
    with reading(file) as project:
        complete = results.answered(project, results.run_named(project, run), split)
    return session(file, read_only=True) if complete else writing_if_free(file)


def show_scores(title: str, report: dict[str, Any]) -> None:
    """Print a score table."""
    from workbench.operations.evaluation.scoring import label_columns

    n = report["n"]
    say(
        ngettext(
            "{title} on {split}, {n:,} document",
            "{title} on {split}, {n:,} documents",
            n,
            title=title,
            split=report["split"],
        )
    )
    say("  ".join(f"{name} {value:.3f}" for name, value in report["scores"].items()))
    say()
    rows = report["per_label"]
    if rows:
        known = label_columns().values()
        table(of_records(c for c in known if any(c.key in row for row in rows)), rows)
        say()
    say(_(report["definition"]))
    if as_run := report.get("as_run"):
        say(_gold_text(report["fingerprint"] == as_run["fingerprint"], as_run["scores"]))


def _gold_text(same: bool, scores: dict[str, Any]) -> str:
    """Whether the gold labels are still those of the run, and its original scores."""
    if same:
        return _("The documents and gold labels are unchanged since the run.")
    scores_text = "  ".join(f"{name} {value:.3f}" for name, value in scores.items())
    return _(
        "Scores are against the current gold labels. Original scores: {scores}", scores=scores_text
    )


# ---------------------------------------------------------------- decoding


@dataclass(frozen=True)
class _DecodingChanges:
    """How a run decodes from now on.

    thresholds: by label, None for those that fit dev best; they are left as they are unless
    `sets_thresholds`.
    """

    temperature: str | None
    sets_thresholds: bool
    thresholds: dict[str, float] | None

    @classmethod
    def of(cls, temperature: str | None, items: tuple[str, ...]) -> _DecodingChanges:
        """Raises UsageError for a threshold that is not of the form LABEL=VALUE."""
        return cls(temperature, bool(items), _thresholds(items))

    def __bool__(self) -> bool:
        return bool(self.temperature) or self.sets_thresholds

    def apply(self, project: Project, run: Run) -> None:
        """Raises WorkbenchError if the run has no such temperature or thresholds."""
        from workbench.operations.evaluation import quality_report

        if self.temperature:
            _set_temperature(project, run, self.temperature)
        if self.sets_thresholds:
            quality_report.change_thresholds(project, run, self.thresholds)


def _thresholds(items: tuple[str, ...]) -> dict[str, float] | None:
    """By label; None for those that fit dev best. Raises UsageError for another form."""
    if items == (FIT,):
        return None
    values = {}
    for item in items:
        label, equals, value = item.rpartition("=")
        try:
            values[label] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise click.UsageError(
                _("{text!r} is neither of the form LABEL=VALUE nor the word “fit”.", text=item)
            )
    return values


def _set_temperature(project: Project, run: Run, how: str) -> None:
    """Store the temperature that fits dev best; none with "none".

    Raises WorkbenchError for a run without probabilities on dev.
    """
    from workbench.operations.evaluation import quality_report
    from workbench.operations.runs import calibration

    if how == "none":
        calibration.set_temperature(project, run.id, 1.0)
    elif quality_report.fit_temperature(project, run) is None:
        raise WorkbenchError(
            _("Run {name!r} has no probabilities that a temperature can rescale.", name=run.name),
            hint=_("Temperatures are for runs with classes, labels, tags or spans on dev."),
        )


NAMED_DOCUMENTS = 5  # documents


def warn_of_training_texts(run: str, overlap: Sequence[TrainedOn], n: int) -> None:
    """A line on standard error, nothing without such documents. n: documents that were scored."""
    if not overlap:
        return
    message = ngettext(
        "Caution: the text of {seen:,} of {n:,} scored document was in the training data of "
        "{run}, so its scores are too optimistic ({keys}).",
        "Caution: the texts of {seen:,} of {n:,} scored documents were in the training data of "
        "{run}, so its scores are too optimistic ({keys}).",
        n,
    )
    keys = ", ".join(on.key for on in overlap[:NAMED_DOCUMENTS]) + (
        ", …" if len(overlap) > NAMED_DOCUMENTS else ""
    )
    note(message.format(seen=len(overlap), n=n, run=run, keys=keys))
