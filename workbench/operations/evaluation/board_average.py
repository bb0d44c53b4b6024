"""A board of several layers: the main score of each system in every layer, and their mean.

As GLUE averages its tasks (Wang et al. 2019, section 4): each layer counts equally, whatever its
number of documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import N_, _, ngettext
from workbench.base.terms import term
from workbench.base.watch import QUIET, Watch
from workbench.operations.evaluation import board as boards
from workbench.tasks import spec as tasks
from workbench.text.columns import UNKNOWN, Column, ValueKind, cells, delimited, markdown

if TYPE_CHECKING:
    from workbench.operations.evaluation.board import BoardEntry
    from workbench.project.project import Project

DEFINITION = N_(
    "A system is a group of runs, or all runs made from the same model in the same way. Its score "
    "in a layer is the mean over its runs. The average is the unweighted mean over the layers; "
    "only systems with a score in each of them have one."
)


@dataclass(frozen=True)
class LayerScore:
    """A column: a layer with its main score, on n documents."""

    layer: str
    score: str
    n: int
    fingerprint: str

    @property
    def title(self) -> str:
        return _("{layer}, {score}", layer=self.layer, score=tasks.score_title(self.score))


@dataclass(frozen=True)
class AverageCell:
    """The mean over runs, their standard deviation (None for one run), and their names."""

    value: float
    deviation: float | None
    runs: tuple[str, ...]


@dataclass(frozen=True)
class AverageSystem:
    """kind: of its runs, "" for a group. cells: by layer. average: None if a layer lacks, or has a
    score that is an error.
    """

    name: str
    kind: str
    cells: Mapping[str, AverageCell]
    average: float | None


@dataclass(frozen=True)
class Average:
    """systems: best average first, those without one last."""

    split: str
    where: str
    layers: tuple[LayerScore, ...]
    systems: tuple[AverageSystem, ...]

    @property
    def errors(self) -> tuple[LayerScore, ...]:
        """The layers whose main score is an error, which has no common scale with others."""
        return tuple(column for column in self.layers if tasks.is_error(column.score))


def average(
    project: Project,
    layers: Sequence[str],
    split: str = "dev",
    *,
    archived: bool = False,
    where: str = "",
    watch: Watch = QUIET,
) -> Average:
    """The board of these layers. Run it in a thread.

    archived, where: see `board.board`. Raises WorkbenchError for an unknown layer, or fewer than
    two, QueryError.
    """
    names = tuple(dict.fromkeys(layers))
    if len(names) < 2:
        raise WorkbenchError(
            _("An average needs at least two layers."),
            hint=_(
                "Layers with runs: {known}.",
                known=", ".join(boards.layers_with_runs(project)) or _("none"),
            ),
        )
    columns, runs = [], dict[tuple[str, str], dict[str, list[tuple[str, float]]]]()
    for at, name in enumerate(names):
        part = watch.part(at / len(names), (at + 1) / len(names))
        board = boards.board(project, name, split, archived=archived, where=where, watch=part)
        columns.append(LayerScore(name, board.score, board.n, board.fingerprint))
        for entry in board.entries:
            if (value := entry.value(board.score)) is not None:
                row = runs.setdefault(_system(entry), {})
                row.setdefault(name, []).append((entry.run.name, value))
    systems = [_averaged(*system, row, columns) for system, row in runs.items()]
    systems.sort(key=lambda system: (system.average is None, -(system.average or 0.0)))
    return Average(split, where.strip(), tuple(columns), tuple(systems))


def _system(entry: BoardEntry) -> tuple[str, str]:
    """Name and kind of the system that a run belongs to."""
    if group := entry.run.listing.group:
        return group, ""
    return entry.made_from, entry.run.kind


def _averaged(
    name: str,
    kind: str,
    row: Mapping[str, list[tuple[str, float]]],
    columns: Sequence[LayerScore],
) -> AverageSystem:
    cells = {}
    for layer, pairs in row.items():
        values = [value for _run, value in pairs]
        deviation = stdev(values) if len(values) > 1 else None
        cells[layer] = AverageCell(fmean(values), deviation, tuple(run for run, _value in pairs))
    complete = all(item.layer in cells and not tasks.is_error(item.score) for item in columns)
    mean = fmean(cells[column.layer].value for column in columns) if complete else None
    return AverageSystem(name, kind, cells, mean)


# ---------------------------------------------------------------- for files and programs


def report(average: Average) -> dict[str, Any]:
    """The board for programs."""
    return {
        "split": average.split,
        "where": average.where,
        "definition": _(DEFINITION),
        "layers": [dict(vars(column)) for column in average.layers],
        "systems": [
            {
                "system": system.name,
                "kind": system.kind,
                "average": system.average,
                "scores": {
                    layer: {**vars(item), "runs": list(item.runs)}
                    for layer, item in system.cells.items()
                },
            }
            for system in average.systems
        ],
    }


def columns(average: Average) -> tuple[Column, ...]:
    """For people the scores as points, the average in the last column; for programs fractions of
    one, with deviations and numbers of runs.
    """
    return (
        Column(_("System"), lambda system: system.name, key="system"),
        Column(_("Kind"), lambda system: system.kind, display=kind_text, key="kind"),
        Column("", lambda system: system.average, key="average"),
        *(column for layer in average.layers for column in _layer_columns(average, layer)),
        Column(_("Average"), kind=ValueKind.SHARE, display=average_text),
    )


def _layer_columns(average: Average, layer: LayerScore) -> Iterator[Column]:
    def part(name: str, system: AverageSystem) -> float | None:
        item = system.cells.get(layer.layer)
        return None if item is None else getattr(item, name)

    def runs(system: AverageSystem) -> int:
        item = system.cells.get(layer.layer)
        return 0 if item is None else len(item.runs)

    text = partial(cell_text, average, column=layer)
    yield Column(layer.title, kind=ValueKind.SHARE, display=text)
    yield Column("", partial(part, "value"), key=layer.layer)
    yield Column("", partial(part, "deviation"), key=f"{layer.layer}_sd")
    yield Column("", runs, key=f"{layer.layer}_runs")


def to_csv(average: Average) -> str:
    """Scores as fractions of 1, with deviations; empty cells for what is not known."""
    return delimited(cells(columns(average), average.systems))


def to_markdown(average: Average) -> str:
    """Scores as points, the average in the last column."""
    about = _("{split}, {layers}.", split=term(average.split), layers=documents_text(average))
    if average.where:
        about = f"{about} {_('Query: {query}.', query=average.where)}"
    table = markdown(columns(average), average.systems)
    return "\n".join([table, "", about, "", _(DEFINITION), ""])


def notes(average: Average) -> list[str]:
    """Why there is no average."""
    return [
        _(
            "There is no average: the main score of layer {layer} is an error in a unit of its "
            "own.",
            layer=column.layer,
        )
        for column in average.errors
    ]


def documents_text(average: Average) -> str:
    """The layers with the numbers of their documents."""
    return ", ".join(
        ngettext(
            "{layer}: {n:,} document", "{layer}: {n:,} documents", column.n, layer=column.layer
        )
        for column in average.layers
    )


def kind_text(system: AverageSystem) -> str:
    return term(system.kind) if system.kind else _("Group of runs")


def cell_text(average: Average, system: AverageSystem, column: LayerScore) -> str:
    """A score as points, an error in its own unit, with the deviation over several runs."""
    item = system.cells.get(column.layer)
    if item is None:
        return UNKNOWN
    mean = tasks.score_text(column.score, item.value)
    if item.deviation is None:
        return mean
    deviation = tasks.score_text(column.score, item.deviation)
    return _("{mean} ± {deviation}", mean=mean, deviation=deviation)


def average_text(system: AverageSystem) -> str:
    return UNKNOWN if system.average is None else f"{100 * system.average:.1f}"
