"""The view of an inspector that is described by a `ViewSpec`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from workbench.base.i18n import _
from workbench.ui.panels.inspect import parts
from workbench.ui.panels.inspect.base import Examination, InspectorView
from workbench.ui.panels.inspect.controls import LayerChoice, OptionField, OptionForm
from workbench.ui.panels.inspect.examined import Examined
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.parts import ViewSpec
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.charts.chart import Chart
from workbench.ui.widgets.charts.legend import ChartLegend
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.words import Elided, IconLabel, words
from workbench.ui.widgets.layout import (
    add,
    card,
    clear,
    column,
    fixed,
    layout_of,
    line,
    row,
    scrolled,
)
from workbench.ui.widgets.tables.heat_table import HeatTable
from workbench.ui.widgets.tables.table import Table
from workbench.ui.widgets.text.context_menu import RowMenu
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.word_strip import WordStrip, strip_scrolled

P = TypeVar("P", bound=parts.ViewPart)
W = TypeVar("W", bound=QWidget)


class DeclaredView(InspectorView):
    """Renders a description: see `parts`.

    `part(id)` is the widget of a part, for tests and for a plugin that needs more.
    """

    def __init__(self, state: InspectorState, spec: ViewSpec) -> None:
        super().__init__(state)
        self.spec = spec
        self._rendered: list[RenderedPart[Any, Any]] = []
        self._by_id: dict[str, RenderedPart[Any, Any]] = {}
        self._readers: dict[str, dict[RenderedPart[Any, Any], None]] = {}  # by id, in order
        self._reading: RenderedPart[Any, Any] | None = None
        self._was_narrow = False
        self._is_current = False  # whether the parts show the present state
        self._examination = Examination(state) if isinstance(state, Examined) else None
        self._content = self._lay_out()
        for rendered in self._rendered:
            if rendered.part.visible is not None:
                rendered.widget.hide()

    def _lay_out(self) -> QWidget | None:
        """Create all widgets; returns the one with the result of an examination."""
        spec, examination = self.spec, self._examination
        controls = self._controls()
        if spec.cards and controls is not None:
            layout_of(self).addWidget(card(controls))
        above = [] if spec.cards else [self._head(), controls]
        shown = [self._item(item) for item in spec.parts]
        if examination is not None:
            content = column(*shown, gap=8)
            content.hide()
            above = [self._head()] if spec.cards else above
            shown = [(content, 1), (examination.empty, 1)]
        if examination is not None or not spec.cards:
            shown = [card(*(item for item in above if item is not None), *shown, gap=8)]
        for item in shown:
            add(layout_of(self), item)
        return content if examination is not None else None

    def _head(self) -> QWidget | None:
        spec, info = self.spec, self.state.info
        if spec.title is None:
            return None
        title = spec.title or (_(info.title) if info is not None else "")
        beside = [self._item(item) for item in spec.beside] or [None]
        actions = self._examination.actions if self._examination is not None else ()
        return row(words(title, weight=600), *beside, *actions)

    def _controls(self) -> QWidget | None:
        shown = [self._item(part) for part in self.spec.controls if _offers(self.state, part)]
        items = [item if isinstance(item, tuple) else (item, 1) for item in shown]
        return row(*items, gap=12) if items else None

    def _item(self, part: parts.ViewPart | None) -> Any:
        """What the helpers of layouts take."""
        if part is None:
            return None
        rendered = RENDERERS[type(part)](self, part)
        self._rendered.append(rendered)
        if part.id:
            self._by_id[part.id] = rendered
        return (rendered.widget, part.stretch) if part.stretch else rendered.widget

    def items(self, box: parts.Box) -> list[Any]:
        return [self._item(item) for item in box.items]

    def part(self, id: str) -> Any:
        return self._by_id[id].inner

    @property
    def result(self) -> Any:
        return self.visible

    @property
    def examined(self) -> Examined:
        return cast(Examined, self.state)

    @property
    def text(self) -> str:
        return self.page.document.text if self.page.document else ""

    @property
    def duration(self) -> str:
        answer = self.state.answer
        return _("{ms:.0f} ms", ms=answer.milliseconds if answer else 0)

    @property
    def is_narrow(self) -> bool:
        return self.width() < theme.px(self.spec.narrow)

    # ---------------------------------------------------------------- showing

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.is_narrow != self._was_narrow:
            self._was_narrow = self.is_narrow
            self._refresh()

    def _refresh(self) -> None:
        """Show a change of the state for the same result."""
        for rendered in self._rendered:
            if rendered.live or rendered.part.always:
                self._show(rendered, renew=False)

    def show_state(self, fields: frozenset[str]) -> None:
        self._is_current = False
        super().show_state(fields)
        if not self._is_current:
            self._refresh()
        if self.spec.changed is not None:
            self.spec.changed(self, fields)
        if self._examination is not None and self._content is not None:
            self._examination.show_state(self._content)

    def show_result(self, result: Any) -> None:
        self.visible, self._is_current = result, True
        self.renew()

    def clear(self) -> None:
        self.visible, self._is_current = None, True
        self.renew()

    def renew(self) -> None:
        for rendered in self._rendered:
            self._show(rendered)

    def _show(self, rendered: RenderedPart[Any, Any], *, renew: bool = True) -> None:
        """renew: for another result or selection, not for other fields of the state."""
        part, before = rendered.part, self._reading
        known = part.always or self.result is not None
        self._reading = rendered
        try:
            visible = part.visible is None or known and bool(part.visible(self))
            if part.visible is not None:
                rendered.widget.setVisible(visible)
            if not known:
                rendered.clear()
            elif visible and renew:
                rendered.show()
            elif visible:
                rendered.refresh()
        finally:
            self._reading = before
        if part.id in self._readers:
            self.tell(rendered)

    # ---------------------------------------------------------------- selection

    def chosen(self, id: str) -> Any:
        return self._read(id).chosen()

    def chosen_rows(self, id: str) -> Sequence[Any]:
        rows: Sequence[Any] = self._read(id).inner.chosen_rows()
        return rows

    def choose(self, id: str, value: Any) -> None:
        self._by_id[id].choose(value)
        self.tell(self._by_id[id])

    def _read(self, id: str) -> RenderedPart[Any, Any]:
        """A part whose selection is asked for, by the part that is being shown."""
        rendered = self._by_id[id]
        if self._reading is not None and self._reading is not rendered:
            self._readers.setdefault(id, {})[self._reading] = None
        return rendered

    def tell(self, rendered: RenderedPart[Any, Any]) -> None:
        """The selection in a part has changed: show the parts again that depend on it."""
        if self.result is not None:
            for reader in self._readers.get(rendered.part.id, {}):
                self._show(reader)

    def data(self) -> list[list[object]]:
        data = self.spec.data
        if data is None:
            return super().data()
        if isinstance(data, str):
            return cast(_Table, self._by_id[data]).data()
        rows: list[list[object]] = data(self)
        return rows


def view_of(
    view: ViewSpec | Callable[[InspectorState], InspectorView], state: InspectorState
) -> InspectorView:
    """The view that the index names for an inspector: described, or a class."""
    return DeclaredView(state, view) if isinstance(view, ViewSpec) else view(state)


def _offers(state: InspectorState, control: parts.ViewPart | None) -> bool:
    """Whether a control has anything to set."""
    return not isinstance(control, parts.OptionsPart) or bool(state.info and state.info.options)


# ---------------------------------------------------------------- the parts on screen


class RenderedPart(Generic[P, W]):
    """A part on screen. widget: in the layout; inner: the one that shows the part.

    live: it is shown again after each change of the state, not only of the result.
    """

    live = False

    def __init__(self, view: DeclaredView, part: P):
        self.view, self.part = view, part
        self.inner: W = self.make()
        self.widget: QWidget = self.placed()

    def make(self) -> W:
        raise NotImplementedError

    def placed(self) -> QWidget:
        """The widget with what surrounds it."""
        return self.inner

    def show(self) -> None:
        """Show what the description says of the present result."""

    def refresh(self) -> None:
        """Show a change of the state for the same result, if the part is `live`."""
        self.show()

    def clear(self) -> None:
        """Show nothing."""

    def chosen(self) -> Any:
        return None

    def choose(self, value: Any) -> None:
        """Select a value; emits nothing."""

    def call(self, function: parts.Function | None, *values: Any) -> Any:
        """What a function of the description returns, None without one."""
        return None if function is None else function(self.view, *values)

    def picked(self, function: parts.Function | None, *values: Any) -> None:
        """The user has selected something."""
        self.view.tell(self)
        self.call(function, *values)


class _Box(RenderedPart[parts.Box, QWidget]):
    live = True

    def make(self) -> QWidget:
        items, gap = self.view.items(self.part), self.part.gap
        if isinstance(self.part, parts.RowBox):
            return row(*items, gap=gap)
        if isinstance(self.part, parts.CardBox):
            return card(*items, gap=gap, margins=self.part.margins)
        stack = column(*items, gap=gap)
        return scrolled(stack) if isinstance(self.part, parts.ScrolledBox) else stack


class _Rule(RenderedPart[parts.RulePart, QWidget]):
    def make(self) -> QWidget:
        return line()


class _Choice(RenderedPart[parts.ChoicePart, Any]):
    live = True

    def make(self) -> Any:
        part, option = self.part, self.view.state.described(self.part.option)
        known: list[tuple[object, str]] = []
        if part.items is None and option is not None:
            known = [*zip(option.choices, map(_, option.choice_titles), strict=True)]
        box = combo(known, name=part.name or part.title)
        if part.contents:
            box.setMinimumContentsLength(part.contents)
        box.activated.connect(self._take)
        return box

    def placed(self) -> QWidget:
        return TitledField(self.part.title, self.inner) if self.part.titled else self.inner

    def _take(self, _at: int) -> None:
        part, value = self.part, self.inner.currentData()
        if part.act is not None:
            self.call(part.act, value)
        elif part.option:
            self.view.state.set_options(**{part.option: value})
        self.view.tell(self)

    def show(self) -> None:
        part, value = self.part, self.inner.currentData()
        if part.value is not None:
            value = part.value(self.view)
        elif part.option:
            value = self.view.state.option(part.option)
        if part.items is None:
            self.inner.setCurrentIndex(max(0, self.inner.findData(value)))
        else:
            fill(self.inner, part.items(self.view), value)
        if part.enabled is not None:
            self.inner.setEnabled(bool(part.enabled(self.view)))

    def chosen(self) -> Any:
        return self.inner.currentData()


class _Segments(RenderedPart[parts.SegmentsPart, Segments]):
    def make(self) -> Segments:
        segments = Segments(*self.part.items, name=self.part.name)
        segments.chosen.connect(lambda _value: self.view.tell(self))
        return segments

    def chosen(self) -> Any:
        return self.inner.value()


class _Check(RenderedPart[parts.CheckBoxPart, QCheckBox]):
    live = True

    def make(self) -> QCheckBox:
        box = QCheckBox(self.part.title)
        escaping.set_tip(box, self.part.tip)
        box.toggled.connect(lambda on: self.view.state.set_options(**{self.part.option: on}))
        return box

    def show(self) -> None:
        blocked = self.inner.blockSignals(True)
        self.inner.setChecked(bool(self.view.state.option(self.part.option)))
        self.inner.blockSignals(blocked)

    clear = show


class _Entry(RenderedPart[parts.EntryPart, OptionField]):
    live = True

    def make(self) -> OptionField:
        part = self.part
        return OptionField(self.view.state, part.option, part.title, resets=part.resets)

    def show(self) -> None:
        self.inner.show_value()
        if self.part.hint is not None:
            self.inner.set_hint(self.part.hint(self.view))

    def refresh(self) -> None:
        self.inner.show_value()

    clear = refresh


class _TextEntry(RenderedPart[parts.TextEntryPart, QLineEdit]):
    def make(self) -> QLineEdit:
        part, entry = self.part, QLineEdit()
        entry.setPlaceholderText(part.placeholder)
        entry.returnPressed.connect(self._take)
        if part.name:
            entry.setAccessibleName(part.name)
        if part.cleared:
            entry.setClearButtonEnabled(True)
            entry.textChanged.connect(self._changed)
        if part.leaving:
            entry.editingFinished.connect(self._take)
        return entry

    def placed(self) -> QWidget:
        return TitledField(self.part.title, self.inner) if self.part.title else self.inner

    def _changed(self, text: str) -> None:
        if not text:
            self._take()

    def _take(self) -> None:
        text = self.inner.text()
        if self.part.emptied and text.strip():
            self.inner.clear()
        self.call(self.part.act, text)


class _Layers(RenderedPart[parts.LayersPart, LayerChoice]):
    def make(self) -> LayerChoice:
        choice = LayerChoice()
        choice.chosen.connect(
            lambda layer: self.view.state.set_options(**{self.part.option: layer})
        )
        return choice

    def placed(self) -> QWidget:
        return self.inner.field()

    def show(self) -> None:
        self.inner.set(self.part.layers(self.view), self.part.layer(self.view))


class _Options(RenderedPart[parts.OptionsPart, OptionForm]):
    def make(self) -> OptionForm:
        return OptionForm(self.view.state)


class _Button(RenderedPart[parts.ButtonPart, Button]):
    live = True

    def make(self) -> Button:
        part = self.part
        text = part.text if isinstance(part.text, str) else ""
        on = lambda: self.call(part.act)  # noqa: E731
        return Button(text, part.icon, part.kind, small=True, on=on, name=part.name)

    def show(self) -> None:
        if callable(self.part.text):
            self.inner.set_text(self.part.text(self.view))
        if self.part.enabled is not None:
            self.inner.setEnabled(bool(self.part.enabled(self.view)))


class _Text(RenderedPart[parts.TextPart, Any]):
    live = True

    def make(self) -> Any:
        part = self.part
        text = part.text if isinstance(part.text, str) else ""
        if part.elide:
            return Elided(text, part.kind, part.tone, weight=part.weight)
        look = {"wrap": part.wrap, "select": part.select}
        return words(text, part.kind, part.tone, weight=part.weight, **look)

    def show(self) -> None:
        if callable(self.part.text):
            self.inner.setText(self.part.text(self.view))

    def clear(self) -> None:
        if callable(self.part.text):
            self.inner.setText("")


class _Mark(RenderedPart[parts.MarkPart, IconLabel]):
    def make(self) -> IconLabel:
        return IconLabel("circle", "muted", 16)

    def show(self) -> None:
        self.inner.set(*self.part.icon(self.view))


class _Figures(RenderedPart[parts.FiguresPart, QWidget]):
    def make(self) -> QWidget:
        self.values: tuple[tuple[str, str], ...] = ()
        return row(gap=12)

    def show(self) -> None:
        self._set(tuple(self.part.values(self.view)))

    def clear(self) -> None:
        self._set(())

    def _set(self, values: tuple[tuple[str, str], ...]) -> None:
        if values == self.values:
            return
        self.values = values
        clear(layout_of(self.inner))
        for name, value in values:
            number = words(value, weight=600, select=True)
            number.setAccessibleName(f"{name}: {value}")
            figure = column(Elided(name, "small", "muted"), number, gap=2)
            layout_of(self.inner).addWidget(figure, 1)
        self.inner.setVisible(bool(values))


class _Table(RenderedPart[parts.TablePart, Table]):
    def make(self) -> Table:
        self.live = self.part.live or self.part.follow is not None
        return self._new(self._columns())

    def _columns(self) -> Any:
        columns = self.part.columns
        return columns(self.view) if callable(columns) else columns

    def _new(self, columns: Any) -> Table:
        part = self.part
        table = Table(columns, name=part.name, key=part.key, many=part.many, sortable=part.sortable)
        table.chosen.connect(self._chosen)
        if part.opened is not None:
            table.opened.connect(lambda item: self.call(part.opened, item))
        if part.removed is not None:
            table.removed.connect(lambda: self.call(part.removed))
        if part.menu is not None:
            RowMenu(table, lambda: self.call(part.menu))
        if part.height:
            fixed(table, height=theme.px(part.height))
        return table

    def placed(self) -> QWidget:
        return column(self.inner) if callable(self.part.columns) else self.inner

    def _chosen(self) -> None:
        self.view.tell(self)
        if (item := self.chosen()) is not None:
            self.call(self.part.chosen, item)

    def show(self) -> None:
        part = self.part
        if callable(part.columns):
            self._show_columns()
        table = self.inner
        table.set_rows(list(part.rows(self.view)))
        if part.fit:
            table.fit_height(part.fit(self.view) if callable(part.fit) else part.fit)
        if part.spans is not None:
            table.clearSpans()
            for number in (n for n, item in enumerate(table.rows()) if part.spans(item)):
                table.setSpan(number, 0, 1, table.model().columnCount())
        hidden = self.call(part.hidden) or ()
        for number in range(table.model().columnCount()):
            table.setColumnHidden(number, number in hidden)
        self._follow()
        reset = part.reset_selection or not table.has_chosen
        if part.first is not None and table.rows() and reset:
            table.choose({part.first(self.view)})
            if part.reset_selection:
                table.scrollToTop()

    def refresh(self) -> None:
        if self.part.live:
            self.show()
        else:
            self._follow()

    def _follow(self) -> None:
        if self.part.follow is not None:
            self.inner.choose(set(self.part.follow(self.view)))

    def _show_columns(self) -> None:
        columns = self._columns()
        if len(columns) != len(self.inner.rows_model.columns):
            clear(layout_of(self.widget))
            self.inner = self._new(columns)
            layout_of(self.widget).addWidget(self.inner)
        for number, item in enumerate(columns):
            if item.title != self.inner.rows_model.columns[number].title:
                self.inner.rows_model.set_title(number, item.title)

    def data(self) -> list[list[object]]:
        """The titles of the columns, and their values for each row."""
        columns, rows = self.inner.rows_model.columns, self.part.rows(self.view)
        values = [[column.value(row) for column in columns] for row in rows]
        return [[column.title for column in columns], *values]

    def clear(self) -> None:
        self.inner.set_rows(())

    def chosen(self) -> Any:
        return next(iter(self.inner.chosen_rows()), None)

    def choose(self, value: Any) -> None:
        self.inner.choose(value)


class _Strip(RenderedPart[parts.StripPart, WordStrip]):
    def make(self) -> WordStrip:
        part, self.live = self.part, self.part.live
        strip = WordStrip(part.name, tip=self._tip if part.tip is not None else None)
        if not part.focus:
            strip.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        strip.chosen.connect(lambda number: self.picked(part.chosen, number))
        strip.clicked.connect(lambda number: self.call(part.clicked, number))
        strip.opened.connect(lambda number: self.call(part.opened, number))
        return strip

    def placed(self) -> QWidget:
        part = self.part
        return strip_scrolled(self.inner, fit=part.fit) if part.scrolled else self.inner

    def _tip(self, number: int) -> str:
        return self.call(self.part.tip, number) if self.view.result is not None else ""

    def show(self) -> None:
        part, view = self.part, self.view
        text = part.text(view) if part.text is not None else view.text
        self.inner.set(list(part.words(view)), rtl=starts_rtl(text))
        self.refresh()

    def refresh(self) -> None:
        if self.part.follow is not None:
            self.inner.choose(self.part.follow(self.view))

    def clear(self) -> None:
        self.inner.set(())

    def chosen(self) -> Any:
        return self.inner.number

    def choose(self, value: Any) -> None:
        self.inner.choose(value)


class _Plot(RenderedPart[parts.PlotPart, Any]):
    def make(self) -> Any:
        widget = self.part.make(self.part.name)
        if self.part.chosen is not None:
            widget.chosen.connect(lambda value: self.picked(self.part.chosen, value))
        return widget

    def placed(self) -> QWidget:
        return scrolled(self.inner) if self.part.scrolled else self.inner

    def show(self) -> None:
        self.inner.set(self.part.values(self.view))

    def clear(self) -> None:
        self.inner.set(self.part.empty)

    def choose(self, value: Any) -> None:
        self.inner.choose(value)


class _Heat(RenderedPart[parts.HeatPart, HeatTable]):
    def make(self) -> HeatTable:
        part = self.part
        table = HeatTable(part.name, part.axes, part.style)
        table.moved.connect(lambda *_at: self.view.tell(self))
        return table

    def show(self) -> None:
        part, view = self.part, self.view
        self.inner.set_cells(
            part.down(view),
            part.across(view),
            lambda row, column: part.cell(view, row, column),
            lambda row, column: part.tip(view, row, column),
        )
        if part.first is None or self.inner.currentIndex().isValid():
            return
        if (place := part.first(view)) is not None:
            self.inner.choose(*place)

    def clear(self) -> None:
        self.inner.set_cells((), (), _no_cell, _no_cell)

    def chosen(self) -> tuple[int, int]:
        index = self.inner.currentIndex()
        return index.row(), index.column()

    def choose(self, value: Any) -> None:
        self.inner.choose(*value)


def _no_cell(row: int, column: int) -> Any:
    raise IndexError((row, column))


class _Curves(RenderedPart[parts.CurvesPart, Chart]):
    def make(self) -> Chart:
        part = self.part
        chart = Chart(part.name, part.x, part.y, empty=part.empty)
        for signal in (chart.opened, chart.moved):
            signal.connect(lambda curve, point: self.call(part.picked, curve, point))
        self._legend = ChartLegend() if part.legend else None
        return chart

    def placed(self) -> QWidget:
        return self.inner if self._legend is None else column(self._legend, (self.inner, 1), gap=8)

    def show(self) -> None:
        part, series = self.part, list(self.part.series(self.view))
        self.inner.set_series(series)
        if part.level is not None:
            self.inner.set_level(part.level(self.view))
        if self._legend is not None:
            self._legend.set(series)
        if part.follow is not None:
            self.inner.choose(*part.follow(self.view))

    def clear(self) -> None:
        self.inner.set_series(())

    def choose(self, value: Any) -> None:
        self.inner.choose(*value)


class _Custom(RenderedPart[parts.CustomPart, Any]):
    def make(self) -> Any:
        return self.part.make()

    def show(self) -> None:
        if self.part.show is not None:
            self.part.show(self.inner, self.view.result)

    clear = show


RENDERERS: dict[type[parts.ViewPart], Callable[[DeclaredView, Any], RenderedPart[Any, Any]]] = {
    **dict.fromkeys((parts.RowBox, parts.StackBox, parts.CardBox, parts.ScrolledBox), _Box),
    parts.RulePart: _Rule,
    parts.ChoicePart: _Choice,
    parts.SegmentsPart: _Segments,
    parts.CheckBoxPart: _Check,
    parts.EntryPart: _Entry,
    parts.TextEntryPart: _TextEntry,
    parts.LayersPart: _Layers,
    parts.OptionsPart: _Options,
    parts.ButtonPart: _Button,
    parts.TextPart: _Text,
    parts.MarkPart: _Mark,
    parts.FiguresPart: _Figures,
    parts.TablePart: _Table,
    parts.StripPart: _Strip,
    parts.HeatPart: _Heat,
    parts.CurvesPart: _Curves,
    parts.PlotPart: _Plot,
    parts.CustomPart: _Custom,
}
