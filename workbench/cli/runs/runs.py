"""`runs` and `ensemble`: list, add, combine, rename, group, tag, annotate and archive runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.runs.evaluate import scores_json, show_scores
from workbench.cli.session import PROJECT, project_argument, reading, session
from workbench.text.columns import record

if TYPE_CHECKING:
    from workbench.operations.runs.run_list import Earlier
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run


names_argument = click.argument("names", nargs=-1, required=True, metavar="RUN...")


@click.group("runs")
def runs() -> None:
    """List, rename, group, tag, annotate and archive the runs of a project."""


@runs.command("list")
@project_argument
@click.option("--group", default="", help=_("Only runs of this group."))
@click.option("--tag", default="", help=_("Only runs with this tag."))
@click.option("--archived", is_flag=True, help=_("List archived runs as well."))
@as_json
def listing(file: Path, group: str, tag: str, archived: bool, as_json: bool) -> None:
    """List the runs of FILE, newest first; archived ones only with --archived."""
    from workbench.operations.people import ceiling
    from workbench.operations.runs import results, run_list

    with reading(file) as opened:
        selected = run_list.RunFilter(group, tag, archived).of(results.all_runs(opened))
        ceilings = [] if as_json else ceiling.sentences(opened, selected)
    table(run_list.columns(), selected, as_json)
    for sentence in ceilings:
        say(sentence)


@runs.command("add")
@project_argument
@click.argument("model", metavar="MODEL")
@click.option(
    "--layer",
    default="",
    help=_(
        "Layer that it predicts. A layer of pairs makes a classifier read two texts, if its "
        "config.json does not say so. [default: the only one]"
    ),
)
@click.option("--name", default="", help=_("Name of the run. [default: that of the model]"))
@as_json
def add(file: Path, model: str, layer: str, name: str, as_json: bool) -> None:
    """Add MODEL, which was published for a task, as a run of FILE.

    A classifier or tagger predicts without further training. It is evaluated on dev, and can be
    evaluated further, compared, and used for suggestions.
    """
    from workbench.operations.models import installed
    from workbench.operations.runs import published, results

    with session(file) as opened:
        card = installed.trained(model)
        chosen = published.layer_named(opened.project, card, layer)
        with opened.progress(_("Predicting")) as watch:
            run = published.create(
                opened.project, opened.queue, card, chosen, name=name, watch=watch
            )
    if as_json:
        emit(_described(run))
        return
    say(_("Added {model} as run {run}.", model=card.name, run=run.name))
    if (scored := results.original(run, "dev")) is not None:
        show_scores(_("Run {run}", run=run.name), scores_json(run, scored))


@runs.command("import")
@project_argument
@click.argument("predictions", type=PROJECT, metavar="PREDICTIONS")
@click.option(
    "--layer", default="", metavar="NAME", help=_("Layer. [default: the one that most lines fit]")
)
@click.option("--name", default="", help=_("Name of the run. [default: that of the file]"))
@as_json
def _import(file: Path, predictions: Path, layer: str, name: str, as_json: bool) -> None:
    """Add a file of predictions made elsewhere as a run of FILE.

    PREDICTIONS is a file that `predict` wrote, CSV, TSV or JSON lines with a key or text and a
    label, labels, number, spans or answer (and a probability), or columns of tokens whose last one
    has the predicted tags. Documents are found by key, id or exact text.
    """
    from workbench.operations.runs import results
    from workbench.operations.runs.kinds.imported import kind

    with session(file) as opened:
        matched = kind.match(opened.project, predictions, layer)
        run = kind.add(opened.project, opened.queue, matched, name=name)
    if as_json:
        lines = [{"line": item.line, "reason": item.reason} for item in matched.unmatched]
        counts = {"matched": len(matched.answers), "unmatched": lines}
        emit({**_described(run), **counts, "unknown_labels": dict(matched.unknown)})
        return
    say(_("Added {file} as run {run}.", file=predictions.name, run=run.name))
    say(matched.summary)
    for problem in matched.problems:
        say(problem)
    if (scored := results.original(run, "dev")) is not None:
        show_scores(_("Run {run}", run=run.name), scores_json(run, scored))


@runs.command("continue")
@project_argument
@click.argument("run", metavar="RUN")
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    help=_(
        "Epochs of the whole training, those that are done included; needed for a run that has "
        "ended. The learning rate follows the schedule of the new number."
    ),
)
@as_json
def resume(file: Path, run: str, epochs: int | None, as_json: bool) -> None:
    """Continue RUN, a training that was stopped, killed or has ended, from its state.

    A state is kept for the last training of a project. On a CPU the result is that of a training
    that was never interrupted.
    """
    from workbench.cli.runs import train
    from workbench.operations.runs import results
    from workbench.operations.runs import resume as operations
    from workbench.operations.runs.kinds import contract as kinds

    with session(file) as opened:
        earlier = results.run_named(opened.project, run)
        if not kinds.info(earlier.kind).fine_tunes:
            raise WorkbenchError(
                _("Run {name!r} trained a language model.", name=run),
                hint=_("Continue it in the window, on the page Results."),
            )
        prepared = operations.prepare(opened.project, earlier, epochs=epochs)
        started = operations.start(opened.project, opened.queue, prepared)
        report = train.finished(opened, started)
    emit(report) if as_json else train.show(report)


@runs.command("weights")
@project_argument
@click.argument("run", metavar="RUN")
@click.option("--again", is_flag=True, help=_("Measure again what was measured before."))
@as_json
def weights(file: Path, run: str, again: bool, as_json: bool) -> None:
    """Measure what smaller weights of RUN cost: labels, score, time and size, on dev documents.

    The table is kept with the run. `export` writes the weights as onnx, onnx_fp16 and onnx_int8.
    """
    from workbench.operations.models import weights as operations
    from workbench.operations.runs import results

    with (
        session(file, read_only=True) as opened,
        opened.progress(_("Measuring"), what=_("The measurement")) as watch,
    ):
        named = results.run_named(opened.project, run)
        measured = operations.weights_table(
            opened.project, opened.queue, named, again=again, watch=watch
        )
    table(operations.columns(measured), measured.rows, as_json)
    if not as_json:
        say(operations.sentence(measured))


@runs.command("rename")
@project_argument
@click.argument("run", metavar="RUN")
@click.argument("name", metavar="NAME")
@as_json
def rename(file: Path, run: str, name: str, as_json: bool) -> None:
    """Rename RUN to NAME."""
    from workbench.operations.runs import run_list

    _change(file, (run,), lambda db, ids: run_list.rename(db, ids[0], name), as_json)


@runs.command("group")
@project_argument
@click.argument("group", metavar="GROUP")
@names_argument
@as_json
def group(file: Path, group: str, names: tuple[str, ...], as_json: bool) -> None:
    """Move each RUN to GROUP; "" removes it from its group."""
    from workbench.operations.runs import run_list

    _change(file, names, lambda db, ids: run_list.set_group(db, ids, group), as_json)


@runs.command("tag")
@project_argument
@names_argument
@click.option("--add", multiple=True, help=_("A tag to add; can be given several times."))
@click.option("--remove", multiple=True, help=_("A tag to remove; can be given several times."))
@as_json
def tag(
    file: Path,
    names: tuple[str, ...],
    add: tuple[str, ...],
    remove: tuple[str, ...],
    as_json: bool,
) -> None:
    """Add tags to each RUN, and remove others."""
    from workbench.operations.runs import run_list

    if not add and not remove:
        raise click.UsageError(_("--add or --remove is required."))
    change = lambda db, ids: run_list.set_tags(db, ids, add=add, remove=remove)  # noqa: E731
    _change(file, names, change, as_json)


@runs.command("note")
@project_argument
@click.argument("run", metavar="RUN")
@click.argument("text", metavar="TEXT")
@as_json
def note(file: Path, run: str, text: str, as_json: bool) -> None:
    """Set the note of RUN; "" removes it."""
    from workbench.operations.runs import run_list

    _change(file, (run,), lambda db, ids: run_list.set_note(db, ids, text), as_json)


@runs.command("archive")
@project_argument
@names_argument
@click.option("--restore", is_flag=True, help=_("Restore the runs from the archive."))
@as_json
def archive(file: Path, names: tuple[str, ...], restore: bool, as_json: bool) -> None:
    """Hide each RUN from the lists of the window; nothing is deleted."""
    from workbench.operations.runs import run_list

    _change(file, names, lambda db, ids: run_list.archive(db, ids, not restore), as_json)


def _change(
    file: Path,
    names: tuple[str, ...],
    change: Callable[[Project, list[int]], Earlier],
    as_json: bool,
) -> None:
    from workbench.operations.runs import results
    from workbench.project.project import Project

    project = Project.open(file)
    try:
        if project.read_only:
            raise WorkbenchError(
                _("The project is open read-only."), hint=project.read_only_reason or ""
            )
        ids = [results.run_named(project, name).id for name in names]
        change(project, ids)
        changed = [_described(results.run(project, id)) for id in ids]
    finally:
        project.close()
    if as_json:
        emit(changed)
    else:
        n = len(changed)
        say(ngettext("{n} run changed.", "{n} runs changed.", n))


def _described(run: Run) -> dict[str, Any]:
    from workbench.operations.runs import run_list

    return record(run_list.columns(), run)


@click.command()
@project_argument
@click.option(
    "--run", "names", multiple=True, required=True, help=_("Name of a run; give two or more.")
)
@click.option("--name", default="", help=_("Name of the ensemble. [default: task-ensemble]"))
@as_json
def ensemble(file: Path, names: tuple[str, ...], name: str, as_json: bool) -> None:
    """Average the class probabilities of runs, for example of a forward and a backward model.

    The ensemble is a run of its own, evaluated on dev: it can be evaluated, compared, and used for
    predictions and suggestions. It predicts with each of its runs.
    """
    from workbench.operations.runs import ensemble, results

    with session(file) as opened:
        members = [results.run_named(opened.project, name) for name in names]
        with opened.progress(_("Predicting")) as watch:
            run = ensemble.create(opened.project, opened.queue, members, name=name, watch=watch)
        single = {member.name: member.scores.get("dev", {}) for member in members}
    scored = results.original(run, "dev")
    report = {
        "run": run.name,
        "members": single,
        **(scores_json(run, scored) if scored is not None else {}),
    }
    emit(report) if as_json else show_scores(_("Ensemble {run}", run=run.name), report)
