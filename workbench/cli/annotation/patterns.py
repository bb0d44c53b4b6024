"""`occurrences` and `patterns`: find texts in all documents, and label or suggest them."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.cli.documents.filters import checked, where_option
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.session import project_argument, reading, session
from workbench.text.columns import Column, ValueKind

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import Filter
    from workbench.operations.annotation.occurrences import Occurrence, Occurrences
    from workbench.project.project import Project
    from workbench.text.queries.patterns import Pattern


SHOWN = 20  # lines without --json


def label_id(project: Project, name: str, layer: str | None) -> int:
    """The id of a label, of any layer or of the one named. Raises SpecError unless it is unique."""
    from workbench.operations.schema import labels

    searched = labels.layers(project) if layer is None else (labels.layer_named(project, layer),)
    matches = [
        (item.name, label.id) for item in searched for label in item.labels if label.name == name
    ]
    if not matches:
        message = (
            _("The project has no label {name!r}.")
            if layer is None
            else _("The layer {layer!r} has no label {name!r}.")
        )
        known = ", ".join(dict.fromkeys(label.name for item in searched for label in item.labels))
        raise SpecError(
            message.format(name=name, layer=layer),
            hint=_("Its labels: {known}.", known=known or _("none")),
        )
    if len(matches) > 1:
        message = _("The label {name!r} is in several layers: {layers}.")
        raise SpecError(
            message.format(name=name, layers=", ".join(text for text, _id in matches)),
            hint=_("Choose one with --layer."),
        )
    return matches[0][1] or 0


@click.command()
@project_argument
@click.argument("text")
@click.option("--label", "name", required=True, metavar="NAME", help=_("The span label to add."))
@click.option("--layer", metavar="NAME", help=_("The layer of the label, if several have it."))
@click.option("--any-part", is_flag=True, help=_("Match inside words, too."))
@click.option("--any-case", is_flag=True, help=_("Ignore case."))
@click.option("--document", "key", metavar="KEY", help=_("Only in the document with this key."))
@click.option(
    "--add",
    "added",
    type=click.Choice(("gold", "suggestions")),
    help=_("Add the label to all unlabelled occurrences, as one undo step. [default: list them]"),
)
@as_json
def occurrences(
    file: Path,
    text: str,
    name: str,
    layer: str | None,
    any_part: bool,
    any_case: bool,
    key: str | None,
    added: str | None,
    as_json: bool,
) -> None:
    """Find all occurrences of TEXT in the documents of FILE, and label them.

    Places that have the label already, or overlap another span, are listed as such and left out.
    """
    from workbench.operations.annotation import occurrences as operations

    def pattern_for(project: Project) -> Pattern:
        label = label_id(project, name, layer)
        return operations.pattern_of(text, label, whole_words=not any_part, match_case=not any_case)

    if added is None:
        with reading(file) as project:
            where = _where(project, key)
            result = operations.find_occurrences(project, pattern_for(project), where)
        _report_occurrences(result, None, as_json)
        return
    gold = added == "gold"
    with session(file) as opened:
        pattern, where = pattern_for(opened.project), _where(opened.project, key)
        with opened.working(_("Labelling"), quiet=as_json) as watch:
            result = operations.find_occurrences(
                opened.project, pattern, where, watch=watch.part(0.0, 0.5)
            )
            free = [row for row in result.rows if row.is_free(gold=gold)]
            done = operations.label_occurrences(
                opened.project, pattern, free, gold=gold, watch=watch.part(0.5, 1.0)
            )
    _report_occurrences(result, done, as_json)


def _where(project: Project, key: str | None) -> Filter:
    from workbench.operations.annotation.annotate import Filter
    from workbench.operations.inspecting.inspect import by_key
    from workbench.text.rows import row_id

    return Filter() if key is None else Filter(ids=[row_id(by_key(project, key))])


def _report_occurrences(result: Occurrences, done: int | None, as_json: bool) -> None:
    from workbench.operations.annotation import occurrences as operations

    if as_json:
        emit(
            {
                "occurrences": [_as_dict(row) for row in result.rows],
                "documents": result.documents,
                "complete": not result.cut,
                "added": done,
            }
        )
        return
    columns = (
        Column(_("Document"), lambda row: row.key),
        Column(_("Occurrence"), _in_context),
        Column(_("State"), operations.state_words),
    )
    table(columns, result.rows[:SHOWN])
    message = ngettext("{n:,} occurrence found.", "{n:,} occurrences found.", len(result.rows))
    say(message)
    if result.cut:
        say(_("There are more occurrences; the search stopped after these."))
    if done is not None:
        say(ngettext("Labelled {n:,} place.", "Labelled {n:,} places.", done))


def _in_context(row: Occurrence) -> str:
    return f"{row.before[-30:]}[{row.text}]{row.after[:30]}"


def _as_dict(row: Occurrence) -> dict[str, object]:
    return {
        "document": row.key,
        "field": row.field,
        "start": row.start,
        "end": row.end,
        "text": row.text,
        "status": row.status,
        "other": row.other or None,
    }


_split = click.option(
    "--split",
    type=click.Choice(("train", "dev", "test", "none")),
    help=_("Only documents of this split."),
)
_state = click.option(
    "--state",
    type=click.Choice(("pending", "draft", "submitted", "discarded")),
    help=_("Only documents in this state."),
)
_out = click.argument("out", type=click.Path(path_type=Path), metavar="OUT")


@click.group()
def patterns() -> None:
    """Word lists and regular expressions that suggest labels.

    They are kept with the project. Their matches become suggestions, never gold labels: in all
    documents with `apply`, and in new documents when they are imported.
    """


@patterns.command("list")
@project_argument
@as_json
def list_patterns(file: Path, as_json: bool) -> None:
    """List the patterns of FILE."""
    from workbench.operations.annotation import patterns as operations

    with reading(file) as project:
        saved = operations.all_patterns(project)
        rows = _rows(project, saved)
    if as_json:
        emit(rows)
        return
    _show(rows)


def _rows(project: Project, patterns: Sequence[Pattern]) -> list[dict[str, Any]]:
    from workbench.operations.annotation import pattern_files

    named = pattern_files.named(project)
    return [{"id": pattern.id, **pattern_files.as_dict(pattern, named)} for pattern in patterns]


def _show(rows: Sequence[dict[str, Any]], *more: str) -> None:
    columns = (
        Column(_("Id"), itemgetter("id")),
        Column(_("Label"), itemgetter("label")),
        Column(_("Kind"), itemgetter("kind")),
        Column(_("Pattern"), _pattern),
        Column(_("On"), itemgetter("active"), kind=ValueKind.FLAG),
        *(Column(key.capitalize(), itemgetter(key)) for key in more),
    )
    table(columns, rows)


def _pattern(row: dict[str, Any]) -> str:
    body = row["pattern"]
    return (", ".join(body) if isinstance(body, list) else body)[:50]


@patterns.command()
@project_argument
@click.argument("text", nargs=-1, required=True, metavar="PATTERN…")
@click.option("--label", "name", required=True, metavar="NAME", help=_("The label to suggest."))
@click.option("--layer", metavar="NAME", help=_("The layer of the label, if several have it."))
@click.option("--regex", is_flag=True, help=_("PATTERN is a regular expression."))
@click.option("--any-part", is_flag=True, help=_("Match inside words, too."))
@click.option("--match-case", is_flag=True, help=_("Distinguish capital letters."))
@click.option("--note", default="", help=_("A remark."))
@as_json
def add(
    file: Path,
    text: tuple[str, ...],
    name: str,
    layer: str | None,
    regex: bool,
    any_part: bool,
    match_case: bool,
    note: str,
    as_json: bool,
) -> None:
    """Add a pattern to FILE: words and phrases, or with --regex a regular expression."""
    from workbench.operations.annotation import patterns as operations
    from workbench.text.queries.patterns import REGEX, WORDS, Pattern

    if regex and len(text) > 1:
        raise SpecError(_("Give one regular expression at a time."))
    with session(file) as opened:
        pattern = Pattern(
            REGEX if regex else WORDS,
            "\n".join(text),
            label_id(opened.project, name, layer),
            not any_part and not regex,
            match_case,
            note=note,
        )
        ids = operations.add(opened.project, [pattern])
        added = [
            pattern for pattern in operations.all_patterns(opened.project) if pattern.id in ids
        ]
        rows = _rows(opened.project, added)
    if as_json:
        emit(rows[0])
    else:
        _show(rows)


@patterns.command()
@project_argument
@click.argument("ids", nargs=-1, required=True, type=int, metavar="ID…")
@as_json
def remove(file: Path, ids: tuple[int, ...], as_json: bool) -> None:
    """Remove patterns of FILE by their ids; their suggestions are kept."""
    from workbench.operations.annotation import patterns as operations

    with session(file) as opened:
        known = {pattern.id for pattern in operations.all_patterns(opened.project)}
        for id in ids:
            if id not in known:
                raise SpecError(
                    _("There is no pattern {id}.", id=id),
                    hint=_("`glossbench patterns list` shows the ids."),
                )
        removed = operations.remove(opened.project, ids)
    if as_json:
        emit({"removed": removed})
    else:
        message = ngettext("Removed {n:,} pattern.", "Removed {n:,} patterns.", removed)
        say(message)


@patterns.command()
@project_argument
@_split
@_state
@where_option
@as_json
def count(file: Path, split: str | None, state: str | None, where: str, as_json: bool) -> None:
    """Count what each pattern matches in the documents of FILE. Changes nothing."""
    from workbench.operations.annotation import patterns as operations
    from workbench.operations.annotation.annotate import Filter

    with reading(file) as project:
        saved = operations.all_patterns(project)
        only = Filter(split=split, state=state, query=checked(project, where))
        counted = operations.count(project, saved, where=only)
        rows = _rows(project, saved)
    for row, pattern in zip(rows, saved, strict=True):
        hits = counted.of[pattern.id or 0]
        row.update(hits=hits.places, documents=hits.documents)
    if as_json:
        emit({"patterns": rows, "searched": counted.documents})
    else:
        _show(rows, "hits", "documents")


@patterns.command()
@project_argument
@_split
@_state
@where_option
@as_json
def apply(file: Path, split: str | None, state: str | None, where: str, as_json: bool) -> None:
    """Suggest labels in the documents of FILE for all matches of the patterns that are on.

    Open suggestions of patterns there are replaced; rejected ones do not return. One undo step.
    """
    from workbench.operations.annotation import patterns as operations
    from workbench.operations.annotation.annotate import Filter

    with session(file) as opened:
        only = Filter(split=split, state=state, query=checked(opened.project, where))
        with opened.working(_("Applying patterns"), quiet=as_json) as watch:
            applied = operations.apply(
                opened.project, where=None if only.empty else only, watch=watch
            )
    if as_json:
        emit(
            {
                "suggestions": applied.suggestions,
                "documents": applied.documents,
                "patterns": applied.patterns,
                "searched": applied.searched,
            }
        )
    else:
        say(operations.describe(applied))


@patterns.command("import")
@project_argument
@click.argument("table_file", type=click.Path(path_type=Path), metavar="TABLE")
@as_json
def import_patterns(file: Path, table_file: Path, as_json: bool) -> None:
    """Add the patterns of TABLE, a CSV or JSONL file, to FILE.

    JSONL lines are {"label": …, "pattern": …}, as in Prodigy, with optional kind, whole_words,
    match_case, active and note; CSV columns have these names.
    """
    from workbench.operations.annotation import pattern_files

    with session(file) as opened:
        added = pattern_files.import_file(opened.project, table_file)
    if as_json:
        emit({"added": added})
    else:
        say(ngettext("Added {n:,} pattern.", "Added {n:,} patterns.", added))


@patterns.command()
@project_argument
@_out
@as_json
def export(file: Path, out: Path, as_json: bool) -> None:
    """Write the patterns of FILE to OUT, a CSV or JSONL file."""
    from workbench.operations.annotation import pattern_files

    with reading(file) as project:
        written = pattern_files.export_file(project, out)
    if as_json:
        emit({"written": written, "path": str(out)})
    else:
        message = ngettext(
            "Wrote {n:,} pattern to {path}.", "Wrote {n:,} patterns to {path}.", written, path=out
        )
        say(message)
