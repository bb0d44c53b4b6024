"""`sample` and `project`."""

from __future__ import annotations

from contextlib import closing
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base import paths
from workbench.base.errors import ProjectDamaged, ProjectError, SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.cli.annotation.people import hand_out, merge
from workbench.cli.documents.filters import matching, where_option
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.session import PROJECT, project_argument, reading
from workbench.text.columns import Column, ValueKind, record

if TYPE_CHECKING:
    from workbench.operations.documents.removal import RemovalPreview
    from workbench.project.project import Project
    from workbench.project.recovery import Recovered


@click.command()
@click.argument("folder", type=PROJECT, metavar="DIR")
@as_json
def sample(folder: Path, as_json: bool) -> None:
    """Copy the sample project into DIR and print its path.

    DIR is created if it does not exist. An existing copy is kept; the new one gets another name.
    The sample contains 488 short texts in three layers: a class, nested spans, and sentence pairs.
    """
    from workbench.operations.application.sample import create_sample

    created = create_sample(folder)
    emit({"path": str(created)}) if as_json else say(str(created))


@click.group()
def project() -> None:
    """Create, describe and check project files.

    A project is one SQLite file with the suffix .glossbench. Trained models are stored beside it in
    <name>.runs.
    """


project.add_command(hand_out)
project.add_command(merge)


@project.command("new")
@project_argument
@as_json
def new(file: Path, as_json: bool) -> None:
    """Create an empty project FILE. Existing files are never overwritten."""
    from workbench.project.project import Project

    if file.suffix != paths.PROJECT_SUFFIX:
        raise ProjectError(
            _("{file} does not have the suffix {suffix}.", file=file, suffix=paths.PROJECT_SUFFIX),
            hint=_("Project files must have this suffix."),
        )
    Project.create(file).close()
    emit({"path": str(file)}) if as_json else say(str(file))


@project.command("info")
@project_argument
@as_json
def info(file: Path, as_json: bool) -> None:
    """Describe FILE: documents, layers, splits, states, runs.

    Can be used while a window has FILE open.
    """
    from workbench.operations.documents import corpus

    with reading(file) as opened:
        summary = corpus.info(opened)
    emit(summary) if as_json else _show_info(file, summary)


def _show_info(file: Path, summary: dict[str, Any]) -> None:
    say(
        ngettext(
            "{file}: {n:,} document", "{file}: {n:,} documents", summary["documents"], file=file
        )
    )
    say("  ".join(f"{name} {count:,}" for name, count in summary["splits"].items()))
    say("  ".join(f"{term(name)} {count:,}" for name, count in summary["states"].items()))
    say()
    columns = (
        Column(_("Layer"), itemgetter("layer")),
        Column(_("Kind"), itemgetter("kind")),
        Column(_("Labels"), itemgetter("labels")),
        *map(_state_column, summary["states"]),
    )
    table(columns, summary["layers"])
    if summary["runs"]:
        say()
        columns = (
            Column(_("Run"), itemgetter("name")),
            Column(_("Status"), itemgetter("status"), kind=ValueKind.TERM),
            Column(_("Task"), itemgetter("task")),
            Column(_("Model"), itemgetter("model")),
            Column(_("Scores on dev"), _dev_scores),
        )
        table(columns, summary["runs"])


def _state_column(state: str) -> Column:
    return Column(term(state), lambda layer: layer["states"][state], kind=ValueKind.COUNT)


def _dev_scores(run: dict[str, Any]) -> str:
    scores = (run["scores"] or {}).get("dev", {})
    return "  ".join(f"{name} {value:.3f}" for name, value in scores.items())


@project.command("copy")
@project_argument
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@as_json
def copy(file: Path, out: Path, as_json: bool) -> None:
    """Write FILE as it is now to OUT. Works while a window has FILE open.

    An existing file is never overwritten. The weights of runs are not copied.
    """
    from workbench.project import backup

    with reading(file) as opened:
        target = backup.save_copy(opened, out)
    emit({"path": str(target)}) if as_json else say(str(target))


@project.command("backup")
@project_argument
@click.option("--name", default="", help=_("A name for the version."))
@as_json
def backup(file: Path, name: str, as_json: bool) -> None:
    """Save a version of FILE beside it, in <name>.versions. Works while a window has FILE open.

    The weights of runs are not copied. Versions saved by this command are kept until you delete
    them.
    """
    from workbench.project import backup

    with reading(file) as opened:
        saved = backup.save_version(opened, name)
    emit(record(backup.columns(), saved)) if as_json else say(str(saved.path))


@project.command("backups")
@project_argument
@as_json
def backups(file: Path, as_json: bool) -> None:
    """List the versions of FILE, newest first, with those that were saved automatically: before
    upgrades, before many documents are deleted, and before a version is restored.
    """
    from workbench.project import backup

    versions = backup.versions(file)
    if versions or as_json:
        table(backup.columns(), versions, as_json)
    else:
        say(_("There are no versions of {file}.", file=file))


@project.command("restore")
@project_argument
@click.argument("version", metavar="VERSION")
@as_json
def restore(file: Path, version: str, as_json: bool) -> None:
    """Replace FILE by one of its versions: a name or file name in `project backups`, or latest.

    A backup of the present state is saved first. Fails while a window or command has FILE open.
    Runs that were trained later are no longer listed, but their folders are kept.
    """
    from workbench.project import backup

    source = backup.find(file, version)
    previous = backup.restore(file, source.path)
    if as_json:
        emit(
            {
                "path": str(file),
                "restored": source.path.name,
                "backup": previous and str(previous),
            }
        )
        return
    say(_("{file} was restored from {version}.", file=file, version=source.path.name))
    if previous is not None:
        say(_("The previous state is kept as {path}.", path=previous))


@project.command("check")
@project_argument
@as_json
def check(file: Path, as_json: bool) -> None:
    """Check FILE for damage: schema, references, values, texts, history; and the weights of its
    runs. The exit code is 1 if damage is found; then it says what `project recover` can write to a
    new file.

    Makes no changes. Can be used while a window has FILE open.
    """
    from workbench.project.check import check as problems_of
    from workbench.project.check import weights
    from workbench.project.recovery import recoverable

    try:
        problems = problems_of(file)
    except ProjectDamaged as error:
        problems = [error.message]
    recovered = recoverable(file) if problems else None
    rest = {"recoverable": recovered and _recovered(recovered)} if problems else {}
    of_runs = _("Restore these folders from a backup, or train again.")
    hint = _way_out(recovered) if problems else of_runs
    problems += weights(file)
    if as_json:
        emit({"ok": not problems, "problems": problems, **rest})
    if problems:
        message = ngettext(
            "{file} has {n} problem: {list}", "{file} has {n} problems: {list}", len(problems)
        )
        raise ProjectError(
            message.format(file=file, n=len(problems), list="; ".join(problems[:10])),
            hint=hint,
        )
    if not as_json:
        say(_("{file}: no problems found.", file=file))


def _way_out(recovered: Recovered | None) -> str:
    if recovered is None:
        return _("Restore it from a backup.")
    message = ngettext(
        "Restore it from a backup, or write {n:,} document to a new file with `glossbench project "
        "recover`.",
        "Restore it from a backup, or write {n:,} documents to a new file with `glossbench project "
        "recover`.",
        recovered.documents,
    )
    return " ".join((message, *recovered.lost))


@project.command("recover")
@project_argument
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@as_json
def recover(file: Path, out: Path, as_json: bool) -> None:
    """Write what can be read of the damaged project FILE to the new project OUT.

    Reports what was lost. FILE is not changed. The search index and other derived tables are
    computed again; the history is kept only if nothing was lost. OUT must not exist.
    """
    from workbench.project import recovery

    if out.suffix != paths.PROJECT_SUFFIX:
        raise ProjectError(
            _("{file} does not have the suffix {suffix}.", file=out, suffix=paths.PROJECT_SUFFIX),
            hint=_("Project files must have this suffix."),
        )
    recovered = recovery.recover(file, out)
    if as_json:
        emit({"path": str(out), **_recovered(recovered)})
        return
    message = ngettext(
        "{n:,} document was written to {out}.",
        "{n:,} documents were written to {out}.",
        recovered.documents,
        out=out,
    )
    say(message)
    for sentence in recovered.lost or (_("Nothing was lost."),):
        say(sentence)


def _recovered(recovered: Recovered) -> dict[str, Any]:
    return {
        "documents": recovered.documents,
        "rows": dict(recovered.rows),
        "lost": list(recovered.lost),
    }


@project.command("remove")
@project_argument
@where_option
@click.option(
    "--ids", default="", metavar="ID,ID…", help=_("Ids of the documents, separated by commas.")
)
@click.option("--dry-run", is_flag=True, help=_("Show what would be removed, without removing it."))
@click.option("--yes", is_flag=True, help=_("Skip the confirmation, for scripts."))
@as_json
def remove(file: Path, where: str, ids: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Remove documents of FILE permanently: undo does not restore them.

    Takes them out of the project and its history, search index and versions, the data,
    predictions, prompts, logs and results of runs, and caches, and rewrites the file. Exported
    files, copies in other folders and what models have learned are not changed.
    """
    from workbench.operations.documents import removal
    from workbench.project.project import Project

    with closing(Project.open(file)) as opened:
        chosen = _chosen(opened, where, ids)
        preview = removal.preview(opened, chosen)
        for sentence in () if as_json else (*removal.describe(preview), removal.warning(preview)):
            say(sentence)
        if dry_run or not chosen:
            removed = None
        else:
            if not yes:
                click.confirm(_("Remove them permanently?"), abort=True, err=True)
            removed = removal.remove(opened, chosen)
    report: dict[str, Any] = _previewed(preview)
    if removed is not None:
        report |= {"removed": removed.documents, "left": list(removed.left)}
    if as_json:
        emit(report)
    if removed is None:
        return
    if removed.left:
        raise ProjectError(
            _(
                "The documents were removed, but some files could not be changed: {files}",
                files="; ".join(removed.left),
            ),
            hint=_("Delete these files, or run the command again when they are writable."),
        )
    if not as_json:
        say(removal.summary(removed))


def _chosen(project: Project, where: str, ids: str) -> list[int]:
    if bool(where.strip()) == bool(ids.strip()):
        raise SpecError(
            _("Choose the documents with either --where or --ids."),
            hint=_("For example: --where 'key:m-0001'"),
        )
    try:
        id_set = {int(id) for id in ids.split(",")} if ids else None
    except ValueError:
        raise SpecError(_("{ids} are not ids of documents.", ids=ids)) from None
    return sorted(matching(project, where) or ()) if id_set is None else sorted(id_set)


def _previewed(preview: RemovalPreview) -> dict[str, Any]:
    return {
        "documents": preview.found.documents,
        "labels": preview.found.labels,
        "predictions": preview.found.predictions,
        "history": preview.found.history,
        "versions": [version.path.name for version in preview.versions],
        "deleted_versions": [
            deleted_version.path.name for deleted_version in preview.deleted_versions
        ],
        "files": [str(path) for path in preview.files],
        "runs": list(preview.runs),
        "cache_bytes": preview.cache_bytes,
        "models": [str(path) for path in preview.models],
        "mentions": preview.mentions,
        "patterns": list(preview.patterns),
        "filters": list(preview.filters),
    }


@project.command("undo")
@project_argument
@click.option("--steps", type=click.IntRange(1), default=1, help=_("Number of steps."))
@click.option("--redo", is_flag=True, help=_("Redo the steps that were undone last."))
@as_json
def undo(file: Path, steps: int, redo: bool, as_json: bool) -> None:
    """Undo the last steps of FILE, from the window or the command line, or redo them."""
    from workbench.project.project import Project

    titles: list[str] = []
    with closing(Project.open(file)) as opened:
        for _step in range(steps):
            title = opened.redo() if redo else opened.undo()
            if title is None:
                break
            titles.append(title)
    if not titles:
        raise ProjectError(
            _("There is nothing to redo.") if redo else _("There is nothing to undo.")
        )
    if as_json:
        emit({"redone" if redo else "undone": titles})
        return
    message = _("Redone: {title}") if redo else _("Undone: {title}")
    for title in titles:
        say(message.format(title=title))
