"""`people`, `agreement`, and `project hand-out` and `project merge`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.cli.documents.filters import matching, where_option
from workbench.cli.output import as_json, emit, plain, say, table
from workbench.cli.session import PROJECT, layer_option, project_argument, session
from workbench.text.columns import Column, ValueKind
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.operations.people.agreement import Agreement, Annotator, Difference, Value
    from workbench.operations.people.hand_out import Overlap
    from workbench.project.project import Project


@click.group()
def people() -> None:
    """People who label in a project."""


@people.command("list")
@project_argument
@as_json
def list_people(file: Path, as_json: bool) -> None:
    """List the people of FILE with the documents that each submitted, and whose labels are gold."""
    from workbench.cli.session import reading
    from workbench.operations.people import people as operations

    with reading(file) as project:
        rows = operations.overview(project)
    columns = (
        Column(_("Name"), lambda row: row.person.name, key="name"),
        Column(_("Initials"), lambda row: row.person.initials, key="initials"),
        Column("", lambda row: row.person.colour, key="colour"),
        Column(_("Submitted"), lambda row: row.submitted, kind=ValueKind.COUNT, key="submitted"),
        Column(_("Assigned"), lambda row: row.assigned, kind=ValueKind.COUNT, key="assigned"),
        Column(_("Of these submitted"), lambda row: row.done, kind=ValueKind.COUNT, key="done"),
        Column(_("Gold of"), lambda row: row.gold, kind=ValueKind.NAMES, key="gold"),
        Column(_("Labels here"), lambda row: row.is_current, kind=ValueKind.FLAG, key="current"),
    )
    table(columns, rows, as_json)


_initials = click.option("--initials", default="", help=_("[default: those of the name]"))
_colour = click.option("--colour", default="", metavar="#RRGGBB")
_name = click.argument("name", metavar="NAME")


@people.command("add")
@project_argument
@_name
@_initials
@_colour
@as_json
def add_person(file: Path, name: str, initials: str, colour: str, as_json: bool) -> None:
    """Add a person to FILE."""
    from workbench.operations.people import people as operations

    with session(file) as opened:
        person = operations.add(opened.project, name, initials=initials, colour=colour)
    _told({"name": person.name}, _("{name} added.", name=person.name), as_json)


@people.command("rename")
@project_argument
@_name
@click.argument("new", metavar="NEW")
@_initials
@_colour
@as_json
def rename_person(
    file: Path, name: str, new: str, initials: str, colour: str, as_json: bool
) -> None:
    """Change the name, the initials and the colour of a person of FILE."""
    from workbench.operations.people import people as operations

    with session(file) as opened:
        person = operations.named(opened.project, name)
        looks = {"initials": initials, "colour": colour or person.colour}
        operations.change(opened.project, person.id, new, **looks)
    _told({"name": new}, _("{old} is now {name}.", old=name, name=new), as_json)


@people.command("work-as")
@project_argument
@_name
@as_json
def work_as(file: Path, name: str, as_json: bool) -> None:
    """Label as another person of FILE from now on; the labels of each person stay apart."""
    from workbench.operations.people import people as operations

    with session(file) as opened:
        operations.work_as(opened.project, operations.named(opened.project, name).id)
    _told({"name": name}, _("Labels in this file are now those of {name}.", name=name), as_json)


@people.command("gold")
@project_argument
@layer_option
@_name
@as_json
def gold(file: Path, layer_name: str, name: str, as_json: bool) -> None:
    """Make the labels of a person the gold of a layer: shown, trained on and exported."""
    from workbench.operations.people import people as operations
    from workbench.text.rows import row_id

    with session(file) as opened:
        layer = _layer(opened.project, layer_name)
        person = operations.named(opened.project, name)
        operations.set_gold(opened.project, row_id(layer), person.id)
    message = _("Gold of {layer} is by {name}.", layer=layer.name, name=name)
    _told({"layer": layer.name, "name": name}, message, as_json)


@people.command("blind")
@project_argument
@click.option(
    "--on/--off", "on", default=None, help=_("Without either option, print the current mode.")
)
@as_json
def blind(file: Path, on: bool | None, as_json: bool) -> None:
    """Hide the labels of others and all suggestions in the window from the one who labels FILE."""
    from workbench.operations.people import people as operations

    with session(file, read_only=on is None) as opened:
        if on is not None:
            operations.set_blind(opened.project, on)
        is_on = operations.is_blind(opened.project)
    message = _("Blind mode is on.") if is_on else _("Blind mode is off.")
    emit({"blind": is_on}) if as_json else say(message)


@click.command()
@project_argument
@layer_option
@click.option(
    "--between",
    "names",
    multiple=True,
    metavar="NAME",
    help=_("A person or a run; may be repeated. [default: all people with labels]"),
)
@where_option
@click.option("--differences", is_flag=True, help=_("List the documents on which they differ."))
@click.option(
    "--over-time",
    is_flag=True,
    help=_("Agreement of people by week, and the drift since the first."),
)
@click.option(
    "--block",
    type=click.IntRange(min=1),
    help=_("Compare blocks of this many documents instead of weeks."),
)
@click.option(
    "--twice", is_flag=True, help=_("Agreement of people with themselves on repeated texts.")
)
@click.option(
    "--report",
    type=PROJECT,
    metavar="FILE.html|.csv",
    help=_("Write agreement and progress of all layers as a report, or of the layer chosen."),
)
@click.option(
    "--pause",
    type=click.FloatRange(min=0.1),
    default=10.0,
    show_default=True,
    help=_("Minutes from which a pause does not count in documents per hour, for --report."),
)
@as_json
def agreement(
    file: Path,
    layer_name: str,
    names: tuple[str, ...],
    where: str,
    differences: bool,
    over_time: bool,
    block: int | None,
    twice: bool,
    report: Path | None,
    pause: float,
    as_json: bool,
) -> None:
    """Measure how far people, and the predictions of runs, agree on a layer of FILE.

    Intervals are those of 95% of 2,000 resamples of the documents. Ctrl+C cancels.
    """
    from workbench.operations.people import agreement as operations

    if (over_time or twice or report is not None) and where:
        raise click.UsageError(_("--where is for the agreement alone."))
    if report is not None:
        return _save_report(file, layer_name, names, report, block or 0, pause, as_json)
    if over_time or twice:
        return _show_consistency(file, layer_name, names, block or 0, as_json, twice=twice)
    with session(file, read_only=True) as opened:
        layer = _layer(opened.project, layer_name)
        chosen = operations.named(opened.project, layer, names)
        with opened.working(_("Agreement"), quiet=as_json) as watch:
            compared = operations.compare(
                opened.project, layer, chosen, ids=matching(opened.project, where), watch=watch
            )
    if as_json:
        emit(compared.to_json())
    elif differences:
        _show_differences(compared)
    else:
        _show(compared)
    return None


def _save_report(
    file: Path,
    layer_name: str,
    names: tuple[str, ...],
    path: Path,
    by: int,
    pause: float,
    as_json: bool,
) -> None:
    from workbench.operations.people import agreement as operations
    from workbench.operations.people import report

    report.check_name(path)  # before anything is measured
    with session(file, read_only=True) as opened:
        project = opened.project
        layers = report.layers_of(project) if not layer_name else [_layer(project, layer_name)]
        left_out: list[tuple[str, int]] = []
        if names:
            chosen = {operations.key(who) for who in report.named(project, layers, names)}
            every = {operations.key(who) for who in report.annotators(project, layers)}
            left_out = sorted(every - chosen)
        with opened.working(_("Report"), quiet=as_json) as watch:
            measured = report.report(
                project, layers, left_out=left_out, by=by, pause=pause, watch=watch
            )
    report.save(measured, path)
    _told({"path": str(path)}, _("The report was saved as {path}.", path=path), as_json)


def _show_consistency(
    file: Path, layer_name: str, names: tuple[str, ...], by: int, as_json: bool, *, twice: bool
) -> None:
    """Over time, or of the same person twice."""
    from workbench.operations.people import agreement as operations
    from workbench.operations.people import over_time as over
    from workbench.operations.people import report, verdict

    with session(file, read_only=True) as opened:
        project, layer = opened.project, _layer(opened.project, layer_name)
        chosen = operations.named(project, layer, names)
        with opened.working(_("Agreement"), quiet=as_json) as watch:
            if twice:
                again = [over.twice(project, layer, who, watch=watch) for who in chosen]
            else:
                periods = over.over_time(project, layer, chosen, by=by, watch=watch)
    say_layer = _("Layer {layer}: {names}", layer=layer.name, names=_names(chosen))
    if not twice:
        if as_json:
            return emit({"layer": layer.name, **periods.to_json()})
        say(say_layer)
        name = periods.names[0]
        table(report.period_columns(periods, name), range(len(periods.periods)))
        return say(verdict.drift_verdict(periods, name))
    known = [item for item in again if item is not None]
    if as_json:
        return emit({"layer": layer.name, "people": [item.to_json() for item in known]})
    say(say_layer)
    if not known:
        return say(_("Nobody has labelled a text twice."))
    return table(report.twice_columns(), report.twice_rows(known))


def _names(chosen: Iterable[Annotator]) -> str:
    return ", ".join(annotator.name for annotator in chosen)


def _shared(_context: object, _option: object, values: tuple[str, ...]) -> list[Overlap]:
    from workbench.operations.people.hand_out import Overlap

    overlaps = []
    for value in values:
        share, _colon, people = value.partition(":")
        try:
            number = float(share.removesuffix("%")) / (100 if share.endswith("%") else 1)
            overlaps.append(Overlap(number, 0 if people in ("", "all") else int(people)))
        except ValueError:
            message = _("{value!r} is not of the form 20%:2 or 5%:all.", value=value)
            raise click.BadParameter(message) from None
    return overlaps


@click.command("hand-out")
@project_argument
@click.argument("folder", type=PROJECT, metavar="DIR")
@click.option(
    "--to", "names", multiple=True, required=True, metavar="NAME", help=_("A person; repeat it.")
)
@where_option
@click.option(
    "--shared",
    "overlaps",
    multiple=True,
    callback=_shared,
    metavar="SHARE:PEOPLE",
    help=_("A share of the documents that several label: 20%:2, 5%:all. May be repeated."),
)
@click.option(
    "--together", default="", metavar="FIELD", help=_("Keep documents with one value together.")
)
@click.option("--seed", default=1, show_default=True)
@click.option("--no-test-labels", is_flag=True, help=_("Without labels of the test split."))
@click.option("--blind", is_flag=True, help=_("Turn on blind mode in the files."))
@click.option(
    "--context",
    multiple=True,
    metavar="LAYER",
    help=_("Include the gold labels of a layer, read-only. May be repeated."),
)
@as_json
def hand_out(
    file: Path,
    folder: Path,
    names: tuple[str, ...],
    where: str,
    overlaps: list[Overlap],
    together: str,
    seed: int,
    no_test_labels: bool,
    blind: bool,
    context: tuple[str, ...],
    as_json: bool,
) -> None:
    """Split the documents of FILE among people, and write a project file into DIR for each.

    The files have the documents, layers, guidelines and the person's own labels; no runs, and no
    labels of others. People who are new are added. Each labels in their file; `project merge`
    brings the labels home. For people who label relations only, --context names the layer whose
    spans they connect; of a layer of chains, they begin with its mentions.
    """
    from workbench.operations.people import hand_out as operations
    from workbench.operations.people import people as persons
    from workbench.operations.schema.labels import layer_named

    with session(file) as opened:
        project = opened.project
        known = {person.name: person for person in persons.every(project)}
        for name in names:
            if name not in known:
                known[name] = persons.add(project, name)
        ids = operations.documents(project, matching(project, where))
        groups = operations.groups(project, ids, together) if together else None
        parts = operations.assign(ids, names, overlaps, seed=seed, groups=groups)
        folder.mkdir(parents=True, exist_ok=True)
        files = {
            known[name].id: folder / operations.file_name(project, known[name]) for name in names
        }
        with opened.working(_("Hand out"), quiet=as_json) as watch:
            operations.hand_out(
                project,
                {known[name].id: parts[name] for name in names},
                files,
                test_labels=not no_test_labels,
                blind=blind,
                context=[row_id(layer_named(project, name)) for name in context],
                watch=watch,
            )
    rows = [
        {"name": name, "documents": len(parts[name]), "path": str(files[known[name].id])}
        for name in names
    ]
    columns = (
        Column(_("Name"), lambda row: row["name"], key="name"),
        Column(_("Documents"), lambda row: row["documents"], kind=ValueKind.COUNT, key="documents"),
        Column(_("File"), lambda row: row["path"], key="path"),
    )
    table(columns, rows, as_json)


@click.command()
@project_argument
@click.argument("other", type=PROJECT, metavar="OTHER")
@click.option(
    "--person",
    "persons",
    multiple=True,
    metavar="THERE=HERE",
    help=_("A person of OTHER who has another name in FILE. May be repeated."),
)
@click.option(
    "--label",
    "mapped",
    multiple=True,
    metavar="LAYER/THERE=HERE",
    help=_("A label of OTHER that has another name in FILE. May be repeated."),
)
@click.option("--no-new", is_flag=True, help=_("Leave out documents that FILE does not have."))
@click.option("--no-splits", is_flag=True, help=_("New documents without their splits."))
@click.option("--dry-run", is_flag=True, help=_("Show what would be merged, without merging it."))
@as_json
def merge(
    file: Path,
    other: Path,
    persons: tuple[str, ...],
    mapped: tuple[str, ...],
    no_new: bool,
    no_splits: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Merge the labels of the project OTHER into FILE, in one undo step.

    Documents are matched by their identity, else by key and text, else by text. The labels of each
    person stay apart; what is in FILE is not overwritten. Merging again changes nothing.
    """
    from workbench.operations.people import merge as operations

    choices = operations.Choices(
        _pairs(persons),
        {
            (layer, label): new
            for place, new in _pairs(mapped).items()
            for layer, _slash, label in [place.partition("/")]
        },
        add=not no_new,
        splits=not no_splits,
    )
    with session(file) as opened, opened.working(_("Merge"), quiet=as_json) as watch:
        act = operations.preview if dry_run else operations.merge
        merged = act(opened.project, other, choices, watch=watch)
    if as_json:
        emit(merged.to_json())
        return
    for sentence in operations.sentences(merged):
        say(sentence)
    columns = (
        Column(_("Name"), lambda row: row.name),
        Column(_("New"), lambda row: row.new, kind=ValueKind.COUNT),
        Column(_("Replaced"), lambda row: row.replaced, kind=ValueKind.COUNT),
        Column(_("Equal"), lambda row: row.equal, kind=ValueKind.COUNT),
        Column(_("Not taken"), lambda row: row.conflicts, kind=ValueKind.COUNT),
    )
    table(columns, merged.people)


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        there, equals, here = text.partition("=")
        if not (there and equals and here):
            raise SpecError(_("{text!r} is not of the form THERE=HERE.", text=text))
        pairs[there] = here
    return pairs


def _layer(project: Project, name: str) -> Any:
    from workbench.operations.people import agreement as operations

    return operations.layer_named(project, name)


def _show(compared: Agreement) -> None:
    from workbench.operations.people import verdict

    names = ", ".join(annotator.name for annotator in compared.annotators)
    say(_("Layer {layer}: {names}", layer=compared.layer.name, names=names))
    n = len(compared.documents)
    say(
        ngettext(
            "{n:,} document labelled by two or more, {differences:,} with differences",
            "{n:,} documents labelled by two or more, {differences:,} with differences",
            n,
            differences=len(compared.differences),
        )
    )
    say()
    rows = [(_("all"), value) for value in compared.values]
    rows += [(label, value) for label, values in compared.by_label.items() for value in values]
    columns = [
        Column(_("Label"), lambda row: row[0]),
        Column(_("Measure"), lambda row: row[1].title),
        Column(_("Value"), lambda row: row[1].value, kind=ValueKind.NUMBER),
        Column(_("95% interval"), lambda row: _interval(row[1])),
    ]
    if compared.with_runs:
        columns += [
            Column(
                _("With runs"),
                lambda row: _with_run(compared, row).value,
                kind=ValueKind.NUMBER,
                hint=_("Mean over pairs of a person and a run"),
            ),
            Column(_("95% interval"), lambda row: _interval(_with_run(compared, row))),
        ]
    table(columns, rows)
    say()
    say(verdict.verdict(compared))
    if len(compared.annotators) > 2:
        say()
        table(_pair_columns(compared), _pair_rows(compared))


def _with_run(compared: Agreement, row: tuple[str, Value]) -> Value:
    """Between people and runs, of the layer as a whole alone."""
    from workbench.operations.people.agreement import Value

    unknown = Value(row[1].name, None)
    return (row[1] in compared.values and compared.with_run(row[1].name)) or unknown


def _interval(value: Value) -> str:
    return "" if value.low is None else f"{value.low:.3f}–{value.high:.3f}"


def _pair_columns(compared: Agreement) -> tuple[Column, ...]:
    return (
        Column(_("Pair"), lambda row: row[0]),
        Column(compared.values[0].title, lambda row: row[1], kind=ValueKind.NUMBER),
    )


def _pair_rows(compared: Agreement) -> list[tuple[str, float | None]]:
    who = [annotator.name for annotator in compared.annotators]
    return [
        (f"{who[left]} – {who[right]}", measures.get(compared.main))
        for (left, right), measures in compared.pairs.items()
    ]


def _show_differences(compared: Agreement) -> None:
    columns = [Column(_("Key"), lambda row: row.key)]
    for number, annotator in enumerate(compared.annotators):
        columns.append(Column(annotator.name, partial(_version, number)))
    table((*columns, Column(_("Text"), lambda row: plain(row.text[:80]))), compared.differences)


def _version(number: int, row: Difference) -> str:
    return plain(row.versions[number])


def _told(values: dict[str, str], message: str, as_json: bool) -> None:
    emit(values) if as_json else say(message)
