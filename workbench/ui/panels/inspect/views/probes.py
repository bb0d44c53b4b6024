"""How well labels can be read from each layer: curves with intervals, and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.parts import (
    ChoicePart,
    CurvesPart,
    TablePart,
    TextPart,
    ViewContext,
    ViewSpec,
)
from workbench.ui.style import formats
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Series
from workbench.ui.widgets.charts.legend import CIRCLE, SQUARE
from workbench.ui.widgets.tables.table import Column

if TYPE_CHECKING:
    from workbench.inspection.probes.info import ProbedLayer, ProbedModel, ProbeInterval, Probes

Row = tuple[str, int, "ProbedLayer"]  # model, layer, scores


def _layers(view: ViewContext) -> list[tuple[str, str]]:
    return [(name, name) for name in view.examined.layers]


def _layer(view: ViewContext) -> str:
    return view.state.option("layer") or next(iter(view.examined.layers), "")


def _rows(view: ViewContext) -> list[Row]:
    return [
        (_name(view, model), number, layer)
        for model in view.result.models
        for number, layer in enumerate(model.layers)
    ]


def _name(view: ViewContext, model: ProbedModel) -> str:
    if len(view.result.models) == 1:
        return view.page.choice.title if view.page.choice else model.name
    return _("before fine-tuning") if model.before else _("after fine-tuning")


# ---------------------------------------------------------------- the chart


def _series(view: ViewContext) -> list[Series]:
    """Two curves of each model: its labels, and the control task."""
    series = []
    for model in view.result.models:
        name = _name(view, model)
        tones = ("muted", "faint") if model.before else ("accent", "warn")
        layers = tuple(map(float, range(len(model.layers))))
        real = [layer.accuracy for layer in model.layers]
        control = [layer.control for layer in model.layers]
        series += [
            _curve(_("{model}: labels", model=name), layers, real, tones[0], False),
            _curve(_("{model}: control task", model=name), layers, control, tones[1], True),
        ]
    return series


def _curve(
    name: str, layers: tuple[float, ...], intervals: list[ProbeInterval], tone: str, dashed: bool
) -> Series:
    return Series(
        name,
        layers,
        tuple(interval.value for interval in intervals),
        tone,
        dashed,
        SQUARE if dashed else CIRCLE,
        low=tuple(interval.low for interval in intervals),
        high=tuple(interval.high for interval in intervals),
    )


def _pick(view: ViewContext, curve: int, point: int) -> None:
    """Select the row of a point of the chart."""
    view.choose("table", {(_name(view, view.result.models[curve // 2]), point)})


def _summary(view: ViewContext) -> str:
    """The best layer of the model, and what the numbers are of."""
    result: Probes = view.result
    model = result.models[-1]
    best = model.layers[model.best]
    if result.by_word:
        counted = ngettext("{n:,} word of dev", "{n:,} words of dev", result.dev)
    else:
        counted = ngettext("{n:,} document of dev", "{n:,} documents of dev", result.dev)
    return _(
        "Best: layer {layer} with {accuracy}% (95%: {low} – {high}), selectivity {selectivity}, of "
        "{counted}; always the most frequent label: {majority}%. {seen}% of dev is of "
        "a type that occurs in train.",
        layer=formats.count(model.best),
        accuracy=formats.points(best.accuracy.value),
        low=formats.points(best.accuracy.low),
        high=formats.points(best.accuracy.high),
        selectivity=formats.points(best.selectivity.value),
        counted=counted,
        majority=formats.points(result.majority),
        seen=formats.points(result.seen, 0),
    )


def _data(view: ViewContext) -> list[list[object]]:
    head = [_("Model"), _("Layer"), _("Accuracy"), _("Low"), _("High"), _("Control")]
    head += [_("Selectivity"), _("Low"), _("High")]
    rows: list[list[object]] = [[*head]]
    for name, number, layer in _rows(view):
        scores = [layer.accuracy.value, layer.accuracy.low, layer.accuracy.high]
        scores += [layer.control.value, layer.selectivity.value]
        scores += [layer.selectivity.low, layer.selectivity.high]
        rows.append([name, number, *scores])
    return rows


def _columns() -> list[Column]:
    def with_interval(interval: ProbeInterval) -> str:
        text = _("{value} ({low} – {high})")
        points = formats.points
        return text.format(
            value=points(interval.value), low=points(interval.low), high=points(interval.high)
        )

    def selectivity(row: Row) -> str:
        interval = row[2].selectivity
        text = _("{value} ({low} to {high})")
        numbers = (
            formats.points(value, signed=True)
            for value in (interval.value, interval.low, interval.high)
        )
        return text.format(**dict(zip(("value", "low", "high"), numbers, strict=True)))

    return [
        Column(_("Model"), lambda row: row[0], None),
        Column(_("Layer"), lambda row: formats.count(row[1]), 60, sort=lambda row: row[1]),
        Column(
            _("Accuracy, %"),
            lambda row: with_interval(row[2].accuracy),
            146,
            sort=lambda row: row[2].accuracy.value,
            hint=_("Of a logistic regression that was trained on train, on dev; 95% interval"),
        ),
        Column(
            _("Control, %"),
            lambda row: with_interval(row[2].control),
            146,
            sort=lambda row: row[2].control.value,
            hint=_("The same for random labels, one for each type: what a probe can memorize"),
        ),
        Column(
            _("Selectivity, points"),
            selectivity,
            190,
            sort=lambda row: row[2].selectivity.value,
            hint=_("Accuracy minus that of the control task"),
        ),
    ]


PROBES = ViewSpec(
    title=_("Probes"),
    controls=(ChoicePart(_("Labels"), "layer", _layers, _layer, always=True),),
    parts=(
        CurvesPart(
            _("Accuracy of probes by layer"),
            Axis(_("Layer (0: embeddings)"), whole=True),
            Axis(_("Accuracy on dev")),
            _series,
            _("The accuracy of each layer appears here once the probes are trained."),
            picked=_pick,
            level=lambda view: view.result.majority,
            legend=True,
            id="chart",
            stretch=3,
        ),
        TextPart(_summary, "small", "muted", wrap=True),
        TablePart(
            _("Probes"),
            _columns(),
            _rows,
            key=lambda row: row[:2],
            sortable=True,
            id="table",
            stretch=2,
        ),
    ),
    data=_data,
)
