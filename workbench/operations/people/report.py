"""Agreement and progress of people as one report: a page of HTML, or a table as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.metrics import definitions
from workbench.operations.models import export_files
from workbench.operations.people import agreement, verdict
from workbench.operations.people.agreement import PERSON, ROUNDS, Agreement, Annotator, Value
from workbench.operations.people.over_time import WEEK, OverTime, Twice, over_time, twice
from workbench.operations.people.progress import PAUSE, Progress, Speed, progress, speeds
from workbench.storage.labels import labels
from workbench.tasks.spec import score_text
from workbench.text import html_page
from workbench.text.columns import Column, ValueKind, cells, delimited
from workbench.text.result_view import NONE

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.labels import Layer

SUFFIXES = (".html", ".csv")
STYLE = "body { max-width: 66rem; }"


@dataclass(frozen=True)
class LayerReport:
    """compared: None if no document is labelled by two. over: None with less than two people."""

    layer: Layer
    compared: Agreement | None
    over: OverTime | None
    twice: tuple[Twice, ...]


@dataclass(frozen=True)
class Report:
    """pause: minutes, see `progress.speed`."""

    project: str
    layers: tuple[LayerReport, ...]
    progress: tuple[Progress, ...]
    speeds: tuple[Speed, ...]
    pause: float


def report(
    project: Project,
    layers: Iterable[Layer] | None = None,
    *,
    left_out: Iterable[tuple[str, int]] = (),
    by: int = WEEK,
    pause: float = PAUSE,
    rounds: int = ROUNDS,
    watch: Watch = QUIET,
) -> Report:
    """Measure everything. Not for the main thread.

    layers: by default all. left_out: (kind, id) of annotators that are not compared.
    """
    every = labels.layers(project.db) if layers is None else list(layers)
    skipped = set(left_out)
    parts = []
    for at, layer in enumerate(every):
        part = watch.part(at / len(every), (at + 1) / len(every))
        who = agreement.annotators(project, layer)
        chosen = [item for item in who if (item.kind, item.id) not in skipped]
        parts.append(_of_layer(project, layer, chosen, by, rounds, part))
    return Report(
        project.name, tuple(parts), progress(project), speeds(project, pause=pause), pause
    )


def layers_of(project: Project) -> tuple[Layer, ...]:
    return labels.layers(project.db)


def annotators(project: Project, layers: Iterable[Layer]) -> tuple[Annotator, ...]:
    """Of any of the layers, each once."""
    every = (who for layer in layers for who in agreement.annotators(project, layer))
    return tuple({agreement.key(who): who for who in every}.values())


def named(project: Project, layers: Iterable[Layer], names: Sequence[str]) -> tuple[Annotator, ...]:
    """The annotators of these names. Raises SpecError, with the names that there are."""
    every = annotators(project, layers)
    for name in names:
        if name not in {who.name for who in every}:
            raise SpecError(
                _("{name!r} has no labels in these layers.", name=name),
                hint=_("With labels: {names}", names=", ".join(who.name for who in every) or NONE),
            )
    return tuple(who for who in every if who.name in names)


def _of_layer(
    project: Project, layer: Layer, who: Sequence[Annotator], by: int, rounds: int, watch: Watch
) -> LayerReport:
    people = [item for item in who if item.kind == PERSON]
    compared = over = None
    try:
        if people:
            compared = agreement.compare(
                project, layer, who, rounds=rounds, watch=watch.part(0, 0.5)
            )
        over = over_time(project, layer, people, by=by, rounds=rounds, watch=watch.part(0.5, 0.8))
    except SpecError:
        pass  # no document in common
    again = [twice(project, layer, person, rounds=rounds) for person in people]
    watch.at(1.0)
    return LayerReport(layer, compared, over, tuple(item for item in again if item is not None))


def check_name(path: Path) -> None:
    """Raises SpecError for a suffix that is not one of a report."""
    if path.suffix.lower() not in SUFFIXES:
        raise SpecError(
            _("A report cannot be written as {name}.", name=path.name),
            hint=_("Choose a name that ends with .html or .csv."),
        )


def save(item: Report, path: Path) -> None:
    """Write the report, atomically; the suffix selects the format.

    Raises SpecError as `check_name`, ExportFailed if it cannot be written.
    """
    check_name(path)
    content = to_csv(item) if path.suffix.lower() == ".csv" else to_html(item)
    with export_files.replacing(path) as draft:
        draft.write_text(content, encoding="utf-8", errors="replace")


# ---------------------------------------------------------------- CSV


@dataclass(frozen=True)
class Row:
    """A value in the table of everything. part: agreement, with runs, pair, over time, drift,
    twice, progress or speed. who: names. at: a label or a period.
    """

    part: str
    layer: str
    who: str
    at: str
    measure: str
    value: float | None
    low: float | None = None
    high: float | None = None
    documents: int | None = None


def to_csv(item: Report) -> str:
    """Every value in a row of its own; fractions of 1, empty where a value is not defined."""
    names = ("part", "layer", "who", "at", "measure", "value", "low", "high", "documents")
    columns = [Column("", partial(_field, name), key=name) for name in names]
    return delimited(cells(columns, rows(item)))


def _field(name: str, row: Row) -> Any:
    return getattr(row, name)


def rows(item: Report) -> Iterator[Row]:
    for part in item.layers:
        yield from _rows_of_layer(part)
    for line in item.progress:
        for name in ("submitted", "drafts", "assigned", "done"):
            number = getattr(line, name)
            if number is not None:
                yield Row("progress", line.layer, line.person.name, "", name, number)
    for pace in item.speeds:
        hours = {"hours": pace.hours, "per_hour": pace.per_hour}
        for name, value in hours.items():
            yield Row("speed", "", pace.person.name, "", name, value, documents=pace.timed)


def _rows_of_layer(part: LayerReport) -> Iterator[Row]:
    name, compared = part.layer.name, part.compared
    if compared is not None:
        people = _people(compared)
        yield from (_row("agreement", name, people, "", value) for value in compared.values)
        for label, values in compared.by_label.items():
            yield from (_row("agreement", name, people, label, value) for value in values)
        yield from (_row("with-runs", name, "", "", value) for value in compared.with_runs)
        for two, measures in compared.pairs.items():
            who = " – ".join(compared.annotators[at].name for at in two)
            for measure, value in measures.items():
                yield Row("pair", name, who, "", measure, value)
    if part.over is not None:
        for number, period in enumerate(part.over.periods):
            title = part.over.title(number)
            for kind, measured in (("over-time", period.values), ("drift", period.drift)):
                yield from (_row(kind, name, "", title, value) for value in measured.values())
    for again in part.twice:
        yield from (_row("twice", name, again.person.name, "", value) for value in again.values)


def _row(part: str, layer: str, who: str, at: str, value: Value) -> Row:
    return Row(part, layer, who, at, value.name, *_numbers(value), value.documents)


def _numbers(value: Value) -> tuple[float | None, float | None, float | None]:
    return value.value, value.low, value.high


def _people(compared: Agreement) -> str:
    """The names of those between whom the values of a layer are measured."""
    every = compared.annotators
    return ", ".join(who.name for who in every if not compared.is_of_people or _is_person(who))


def _is_person(who: Annotator) -> bool:
    return who.kind == PERSON


# ---------------------------------------------------------------- HTML


def to_html(item: Report) -> str:
    """A page that loads nothing from elsewhere."""
    parts = [*_progress_html(item)]
    for part in item.layers:
        parts += _layer_html(part)
    measured = {
        value.name: value.title
        for part in item.layers
        if part.compared is not None
        for value in part.compared.values
    }
    if measured:
        parts.append(html_page.heading(_("Measures")))
        parts.append(
            html_page.paragraph(
                ngettext(
                    "95% intervals: bootstrap over documents, {n:,} resample.",
                    "95% intervals: bootstrap over documents, {n:,} resamples.",
                    ROUNDS,
                )
            )
        )
        hints = (Column(_("Measure"), lambda row: row[1]), Column(_("Definition"), _definition))
        parts.append(html_page.table(hints, measured.items()))
    title = _("Agreement and progress: {name}", name=item.project)
    return html_page.page(title, "\n".join(parts), style=STYLE)


def _definition(row: tuple[str, str]) -> str:
    return definitions.sentence(row[0])


def _progress_html(item: Report) -> Iterator[str]:
    yield html_page.heading(_("Progress"))
    yield html_page.table(progress_columns(), item.progress)
    yield html_page.heading(_("Documents per hour"))
    yield html_page.table(speed_columns(), item.speeds)
    yield html_page.paragraph(pause_text(item.pause))


def pause_text(pause: float) -> str:
    """How the documents per hour are computed."""
    return _(
        "From the times at which documents were submitted: a document takes the time since the one "
        "before. Left out are pauses of more than {minutes:g} minutes, and documents that were "
        "submitted in the same second, as imports are.",
        minutes=pause,
    )


def progress_columns() -> tuple[Column, ...]:
    """Of `Progress`."""
    count = ValueKind.COUNT
    return (
        Column(_("Person"), lambda row: row.person.name, key="name"),
        Column(_("Layer"), lambda row: row.layer, key="layer"),
        Column(_("Submitted"), lambda row: row.submitted, kind=count, key="submitted"),
        Column(_("Drafts"), lambda row: row.drafts, kind=count, key="drafts"),
        Column(_("Assigned"), lambda row: row.assigned, kind=count, key="assigned"),
        Column(_("Done"), lambda row: row.share, kind=ValueKind.PERCENT, key="share"),
    )


def speed_columns() -> tuple[Column, ...]:
    """Of `Speed`."""
    number = ValueKind.NUMBER
    return (
        Column(_("Person"), lambda row: row.person.name, key="name"),
        Column(
            _("Per hour"),
            lambda row: row.per_hour,
            kind=number,
            digits=1,
            key="per_hour",
        ),
        Column(_("Documents"), lambda row: row.timed, kind=ValueKind.COUNT, key="timed"),
        Column(_("Hours"), lambda row: row.hours, kind=number, digits=2, key="hours"),
        Column(_("Left out"), lambda row: row.left_out, kind=ValueKind.COUNT, key="left_out"),
    )


def _layer_html(part: LayerReport) -> Iterator[str]:
    yield html_page.heading(part.layer.name)
    compared = part.compared
    if compared is None:
        yield html_page.paragraph(_("No document is labelled by two people."))
    else:
        yield html_page.paragraph(verdict.verdict(compared))
        yield html_page.paragraph(differences_text(compared))
        yield html_page.table(value_columns(compared), compared.values)
        if compared.by_label:
            yield html_page.heading(_("By label"), 3)
            yield html_page.table(
                (Column(_("Label"), lambda row: row[0]), *_of_row(_plain_columns())),
                [(label, value) for label, some in compared.by_label.items() for value in some],
            )
        yield html_page.heading(_("Pairs"), 3)
        yield html_page.table(_pair_columns(compared), compared.pairs.items())
    if part.over is not None:
        yield html_page.heading(_("Over time"), 3)
        if sentence := verdict.drift_verdict(part.over, part.over.names[0]):
            yield html_page.paragraph(sentence)
        for name in part.over.names[:1]:
            columns = period_columns(part.over, name)
            yield html_page.table(columns, range(len(part.over.periods)))
    if part.twice:
        yield html_page.heading(_("The same person twice"), 3)
        yield html_page.table(twice_columns(), twice_rows(part.twice))


def twice_columns() -> tuple[Column, ...]:
    """Of `twice_rows`."""
    return (Column(_("Person"), lambda row: row[0]), *_of_row(_plain_columns(_("Texts"))))


def twice_rows(every: Iterable[Twice]) -> list[tuple[str, Value]]:
    """The name of each person with each measure."""
    return [(again.person.name, value) for again in every for value in again.values]


def differences_text(compared: Agreement) -> str:
    """How many documents two or more labelled, and on how many they differ."""
    return ngettext(
        "{n:,} document labelled by two or more, {differences:,} with differences",
        "{n:,} documents labelled by two or more, {differences:,} with differences",
        len(compared.documents),
        differences=len(compared.differences),
    )


def _text(value: Value | None) -> str:
    return NONE if value is None or value.value is None else score_text(value.name, value.value)


def _interval(value: Value | None) -> str:
    if value is None or value.low is None or value.high is None:
        return NONE
    return f"{score_text(value.name, value.low)} – {score_text(value.name, value.high)}"


def _plain_columns(counted: str = "") -> tuple[Column, ...]:
    """Of values. counted: the title of what they are computed on, by default documents."""
    return (
        Column(_("Measure"), lambda value: value.title),
        Column(_("Value"), display=_text, kind=ValueKind.NUMBER),
        Column(_("95% interval"), display=_interval),
        Column(
            counted or _("Documents"), lambda value: value.documents or None, kind=ValueKind.COUNT
        ),
    )


def _of_row(columns: Iterable[Column]) -> Iterator[Column]:
    """The columns of values for rows (something, value)."""
    for column in columns:
        display = None if column.display is None else partial(_of_second, column.display)
        value = partial(_of_second, column.value)
        yield Column(column.title, value, kind=column.kind, display=display)


def _of_second(read: Callable[[Any], Any], row: tuple[Any, Value]) -> Any:
    return read(row[1])


def value_columns(compared: Agreement) -> tuple[Column, ...]:
    """Of the values of a layer: between people, and beside them the means with runs."""
    if not compared.with_runs:
        return _plain_columns()

    def run(value: Value) -> Value | None:
        return compared.with_run(value.name)

    return (
        *_plain_columns(),
        Column(
            _("People and runs"), display=lambda value: _text(run(value)), kind=ValueKind.NUMBER
        ),
        Column(_("95% interval"), display=lambda value: _interval(run(value))),
        Column(
            _("Documents"),
            lambda value: None if (with_run := run(value)) is None else with_run.documents,
            kind=ValueKind.COUNT,
        ),
    )


def _pair_columns(compared: Agreement) -> tuple[Column, ...]:
    def pair(row: tuple[tuple[int, int], Any]) -> str:
        return " – ".join(compared.annotators[at].name for at in row[0])

    def measured(name: str, row: tuple[Any, dict[str, float | None]]) -> str:
        value = row[1].get(name)
        return NONE if value is None else score_text(name, value)

    return (
        Column(_("Pair"), pair),
        *(
            Column(value.title, display=partial(measured, value.name), kind=ValueKind.NUMBER)
            for value in compared.values
        ),
    )


def period_columns(over: OverTime, name: str) -> tuple[Column, ...]:
    """Of the numbers of periods, for a measure."""

    def drift(number: int) -> Value | None:
        return over.periods[number].drift.get(name)

    def value(number: int) -> Value | None:
        return over.periods[number].values.get(name)

    def drift_text(number: int) -> str:
        item = drift(number)
        if item is None or item.value is None:
            return NONE
        return score_text(name, item.value, signed=True)

    def drift_interval(number: int) -> str:
        item = drift(number)
        if item is None or item.low is None or item.high is None:
            return NONE
        return _(
            "{low} to {high}",
            low=score_text(name, item.low, signed=True),
            high=score_text(name, item.high, signed=True),
        )

    return (
        Column(_("Period"), over.title),
        Column(_("Documents"), lambda number: over.periods[number].documents, kind=ValueKind.COUNT),
        Column(
            definitions.title(name),
            display=lambda number: _text(value(number)),
            kind=ValueKind.NUMBER,
        ),
        Column(_("95% interval"), display=lambda number: _interval(value(number))),
        Column(_("Change from the first"), display=drift_text, kind=ValueKind.NUMBER),
        Column(_("95% interval"), display=drift_interval),
    )
