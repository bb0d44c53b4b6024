"""How well labels can be read from each layer: curves with intervals, and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.views.examined import ExaminedView
from workbench.ui.style import formats
from workbench.ui.widgets.charts.axes import Axis
from workbench.ui.widgets.charts.chart import Chart, Series
from workbench.ui.widgets.charts.legend import CIRCLE, SQUARE, ChartLegend
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import column
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.inspection.probes.info import ProbedLayer, ProbedModel, ProbeInterval, Probes
    from workbench.ui.panels.inspect.inspector_state import InspectorState

Row = tuple[str, int, "ProbedLayer"]  # model, layer, scores


class ProbesView(ExaminedView):
    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._layer = combo(name=_("Labels"))
        self._layer.activated.connect(
            lambda index: self.state.set_options(layer=self._layer.itemData(index))
        )
        self._legend = ChartLegend()
        x, y = Axis(_("Layer (0: embeddings)"), whole=True), Axis(_("Accuracy on dev"))
        self._chart = Chart(
            _("Accuracy of probes by layer"),
            x,
            y,
            empty=_("The accuracy of each layer appears here once the probes are trained."),
        )
        self._chart.opened.connect(self._point_chosen)
        self._chart.moved.connect(self._point_chosen)
        self._about = words("", "small", "muted", wrap=True)
        self._table = Table(_columns(), name=_("Probes"), key=lambda row: row[:2], sortable=True)
        content = column(self._legend, (self._chart, 3), self._about, (self._table, 2), gap=8)
        self.put(_("Probes"), [(_("Labels"), self._layer)], content)

    def fill_fields(self) -> None:
        layers = self.examined.layers
        chosen = self.state.option("layer") or next(iter(layers), "")
        fill(self._layer, [(name, name) for name in layers], chosen)

    def clear(self) -> None:
        self._chart.set_series(())
        self._table.set_rows(())

    def show_result(self, result: Probes) -> None:
        series = [series for model in result.models for series in self._series(result, model)]
        self._chart.set_series(series)
        self._chart.set_level(result.majority)
        self._legend.set(series)
        self._table.set_rows(self._rows(result))
        self._about.setText(_summary(result))

    def data(self) -> list[list[object]]:
        head = [_("Model"), _("Layer"), _("Accuracy"), _("Low"), _("High"), _("Control")]
        head += [_("Selectivity"), _("Low"), _("High")]
        rows: list[list[object]] = [[*head]]
        for name, number, layer in self._rows(self.state.result):
            scores = [layer.accuracy.value, layer.accuracy.low, layer.accuracy.high]
            scores += [layer.control.value, layer.selectivity.value]
            scores += [layer.selectivity.low, layer.selectivity.high]
            rows.append([name, number, *scores])
        return rows

    def _rows(self, result: Probes) -> list[Row]:
        return [
            (self._name(result, model), number, layer)
            for model in result.models
            for number, layer in enumerate(model.layers)
        ]

    def _name(self, result: Probes, model: ProbedModel) -> str:
        if len(result.models) == 1:
            return self.page.choice.title if self.page.choice else model.name
        return _("before fine-tuning") if model.before else _("after fine-tuning")

    def _series(self, result: Probes, model: ProbedModel) -> list[Series]:
        name = self._name(result, model)
        tones = ("muted", "faint") if model.before else ("accent", "warn")
        layers = tuple(map(float, range(len(model.layers))))
        real = [layer.accuracy for layer in model.layers]
        control = [layer.control for layer in model.layers]
        return [
            _curve(_("{model}: labels", model=name), layers, real, tones[0], False),
            _curve(_("{model}: control task", model=name), layers, control, tones[1], True),
        ]

    def _point_chosen(self, series: int, point: int) -> None:
        """Select the row of a point of the chart; two curves belong to one model."""
        result: Probes = self.state.result
        model = result.models[series // 2]
        self._table.choose({(self._name(result, model), point)})


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


def _summary(result: Probes) -> str:
    """The best layer of the model, and what the numbers are of."""
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
        counted=counted.format(n=result.dev),
        majority=formats.points(result.majority),
        seen=formats.points(result.seen, 0),
    )


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
