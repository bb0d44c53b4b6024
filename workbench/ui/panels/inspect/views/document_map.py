"""Documents or uses of a word as points: projection, colours, lasso, and what is selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QMenu, QWidget
from shiboken6 import isValid

from workbench.base.i18n import _, ngettext
from workbench.ui.commands import MenuChoice
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.controls import LayerChoice
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.charts.point_legend import PointLegend
from workbench.ui.widgets.charts.point_map import PointGroup, PointMap
from workbench.ui.widgets.charts.point_stamps import SHAPES
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.field import TitledField, choose, combo
from workbench.ui.widgets.controls.field import fill as fill_combo
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import card, column, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.context_menu import fill

if TYPE_CHECKING:
    from workbench.inspection.document_map.info import DocumentMap
    from workbench.operations.inspecting.map_colours import ColourGroup, Colours
    from workbench.ui.panels.inspect.inspector_state import InspectorState

LISTED = 200  # selected points in the table
NARROW_WIDTH = 700  # pixels at 100%


@dataclass(frozen=True)
class SelectedPoint:
    """A selected point. group: its name, "" without one."""

    number: int
    document: int
    key: str
    text: str
    group: str


class DocumentMapView(InspectorView):
    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._kind = _choice(state, "of")
        self._kind.activated.connect(self._of_chosen)
        self._word = QLineEdit()
        self._word.setPlaceholderText(_("play plays played"))
        self._word.returnPressed.connect(self._of_chosen)
        self._method = _segments(state, "method")
        for method, reason in self.page.corpus.refused_methods().items():
            button = self._method.button(method)
            button.setEnabled(False)
            escaping.set_tip(button, reason)
        self._method.chosen.connect(lambda method: state.set_options(method=method))
        self._layer = LayerChoice()
        self._layer.chosen.connect(lambda layer: state.set_options(layer=layer))
        self._by = combo(name=_("Colour by"))
        self._by.activated.connect(lambda _at: self._colour())
        self._colours: Colours | None = None
        self._drawn: DocumentMap | None = None
        self._legend = PointLegend()
        self._legend.chosen.connect(self._group_chosen)
        self._map = PointMap(_("Map of the documents"), self._describe)
        self._map.selected.connect(self._selected)
        self._map.opened.connect(self._opened)
        self._note = Elided("", "caption", "muted")
        self._keys = Elided(
            _("Drag: lasso · Shift adds · right button: move · wheel: zoom · 0: all · Esc: none"),
            "caption",
            "muted",
        )
        self._make_selection()
        self._lay_out()

    def _make_selection(self) -> None:
        self._count = words("", weight=600)
        self._data = Button(
            _("Show in Data"), "database", small=True, on=self.page.corpus.show_chosen
        )
        self._labelling = QMenu(self)
        self._labelling.aboutToShow.connect(lambda: fill(self._labelling, self._label_choices()))
        self._label = Button(_("Label these"), "tags", small=True, menu=self._labelling)
        self._table = Table(_columns(), name=_("Selected points"), key=lambda row: row.number)
        self._table.opened.connect(lambda item: self.page.corpus.open(item.document))

    def _lay_out(self) -> None:
        self._word_field = TitledField(_("Word"), self._word)
        self._word_field.hide()
        options = row(
            (TitledField(_("Points"), self._kind), 2),
            (self._word_field, 2),
            (TitledField(_("Projection"), self._method, name=_("Projection")), 3),
            (TitledField(_("Colour by"), self._by), 3),
            gap=10,
        )
        self._layer_field = self._layer.field()
        left = column(self._legend, (self._map, 1), self._keys, gap=4)
        buttons = row(self._count, None, self._data, self._label, gap=6)
        right = column(buttons, (self._table, 1), gap=4)
        below = self._below = row((left, 2), (right, 1), gap=12)
        layout_of(self).addWidget(
            card(options, self._layer_field, self._note, (below, 1), gap=6, margins=(12, 8, 12, 8))
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """List the selected points below the map in a narrow pane."""
        super().resizeEvent(event)
        ways = QBoxLayout.Direction
        narrow = self.width() < theme.px(NARROW_WIDTH)
        layout_of(self._below).setDirection(ways.TopToBottom if narrow else ways.LeftToRight)

    # ---------------------------------------------------------------- showing

    def clear(self) -> None:
        self._map.set_points(())
        self._legend.set((), ())
        self._table.set_rows(())
        self._note.setText("")

    def picture(self) -> QWidget:
        return self._map

    def show_result(self, result: DocumentMap) -> None:
        choose(self._kind, self.state.option("of"))
        if not self._word.hasFocus():
            self._word.setText(str(self.state.option("word")))
        self._word_field.setVisible(self._is_of_uses)
        self._method.set(result.method)
        self._layer.set(result.layers, result.layer)
        self._note.setText(_noted(result, self._is_of_uses))
        if result is not self._drawn:
            self._drawn = result
            here = (result.here[0], result.here[1]) if result.here else None
            name = _("this use") if self._is_of_uses else _("this text")
            self._map.set_points(result.points, here, name)
        self._offer_colours()
        self._colour()
        self._show_selected()

    @property
    def _is_of_uses(self) -> bool:
        return bool(self._kind.currentIndex())  # documents come first

    def _offer_colours(self) -> None:
        ways = self.page.corpus.ways()
        key = self._by.currentData()
        keys = [way.key for way in ways]
        fill_combo(
            self._by,
            [(way.key, way.title) for way in ways],
            key if key in keys else (keys[0] if keys else None),
        )

    def _colour(self) -> None:
        """Ask for the groups of the points; the colours change when they arrive."""
        result: DocumentMap = self.state.result
        key = self._by.currentData()
        if result is None or not key:
            return
        import numpy

        places = numpy.stack([result.documents, result.starts, result.ends], 1)

        def coloured(colours: Colours) -> None:
            if not isValid(self):  # the pane was closed
                return
            if self.state.result is result and self._by.currentData() == key:
                self._show_colours(colours)

        self.page.corpus.colour(key, places, result.clusters, coloured)

    def _show_colours(self, colours: Colours) -> None:
        self._colours = colours
        groups = [_group(number, group) for number, group in enumerate(colours.groups)]
        self._map.set_groups(groups, colours.codes)
        self._legend.set(groups, [group.count for group in colours.groups])
        self._list_selected()

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if "chosen_documents" in fields and self.visible is not None:
            self._show_selected()

    def _restyle(self) -> None:
        super()._restyle()
        if self._colours is not None:
            self._show_colours(self._colours)

    # ---------------------------------------------------------------- selection

    def _show_selected(self) -> None:
        """Select the points of documents that another view has selected."""
        import numpy

        ids = self.page.chosen_documents
        documents = self.visible.documents  # a result that arrived while hidden is not drawn yet
        if set(documents[self._map.chosen].tolist()) != set(ids):
            self._map.choose(numpy.flatnonzero(numpy.isin(documents, ids)))
        self._list_selected()

    def _selected(self, numbers: Any) -> None:
        documents = self.visible.documents[numbers].tolist()
        self.page.corpus.choose(tuple(dict.fromkeys(documents)))
        self._list_selected()

    def _group_chosen(self, group: int) -> None:
        import numpy

        if self._colours is not None:
            numbers = numpy.flatnonzero(numpy.asarray(self._colours.codes) == group)
            self._map.choose(numbers)
            self._selected(numbers)

    def _list_selected(self) -> None:
        numbers = self._map.chosen.nonzero()[0]
        message = ngettext(
            "{n:,} of {total:,} selected",
            "{n:,} of {total:,} selected",
            len(numbers),
            total=len(self._map.points),
        )
        self._count.setText(message)
        self._data.setEnabled(bool(len(numbers)))
        self._label.setEnabled(bool(len(numbers)) and self.page.corpus.can_write)
        self._table.set_rows(self._points(numbers[:LISTED].tolist()))

    def _points(self, numbers: Sequence[int]) -> list[SelectedPoint]:
        result: DocumentMap = self.visible
        columns = (result.documents, result.starts, result.ends)
        lists = [column[list(numbers)].tolist() for column in columns]
        places: list[tuple[int, int, int]] = [*zip(*lists, strict=True)]
        texts = self.page.corpus.texts_at(places)
        return [
            SelectedPoint(number, place[0], key, " ".join(text.split()), self._group_of(number))
            for number, place, (key, text) in zip(numbers, places, texts, strict=True)
        ]

    def _group_of(self, number: int) -> str:
        if self._colours is None or number >= len(self._colours.codes):
            return ""
        return self._colours.groups[self._colours.codes[number]].name

    def _describe(self, number: int) -> str:
        """The text of the point under the mouse."""
        (point,) = self._points([number])
        return "\n".join(filter(None, (point.text, point.group, point.key)))

    def _opened(self, number: int) -> None:
        self.page.corpus.open(int(self.visible.documents[number]))

    def _label_choices(self) -> list[MenuChoice | None]:
        corpus = self.page.corpus
        if self._is_of_uses:
            layer = corpus.sense_target("")
            return [
                MenuChoice(escaping.menu_text(name), partial(self._give, layer, name))
                for name in corpus.sense_names(layer)
            ] or [MenuChoice(_("Assign senses in Uses in context"), enabled=False)]
        return [
            MenuChoice(
                escaping.menu_text(layer),
                choices=tuple(
                    MenuChoice(escaping.menu_text(name), partial(corpus.label_chosen, layer, name))
                    for name in names
                ),
            )
            for layer, names in corpus.class_layers()
        ]

    def _give(self, layer: str, name: str) -> None:
        result: DocumentMap = self.state.result
        chosen = self._map.chosen
        columns = (result.documents[chosen], result.starts[chosen], result.ends[chosen])
        places = [(int(id), int(start), int(end)) for id, start, end in zip(*columns, strict=True)]
        self.page.corpus.assign(layer, name, places)

    def _of_chosen(self, _at: int = 0) -> None:
        self._word_field.setVisible(self._is_of_uses)
        word = " ".join(self._word.text().split())
        if self._is_of_uses and not word:
            self._word.setFocus()
            self._note.setText(_("Type a word, and press Enter."))
            return
        self.state.set_options(of=self._kind.currentData(), word=word)

    def data(self) -> list[list[object]]:
        names = (_("Document"), _("Start"), _("End"), _("Cluster"), _("Group"))
        rows: list[list[object]] = [["x", "y", *names]]
        result: DocumentMap = self.visible
        columns = (result.documents, result.starts, result.ends, result.clusters + 1)
        lists = [item.tolist() for item in (*result.points.T, *columns)]
        for number, values in enumerate(zip(*lists, strict=True)):
            rows.append([*values, self._group_of(number)])
        return rows


def _choice(state: InspectorState, name: str) -> Any:
    option = next(
        option for option in (state.info.options if state.info else ()) if option.name == name
    )
    titles = map(_, option.choice_titles)
    return combo([*zip(option.choices, titles, strict=True)], name=_(option.title))


def _segments(state: InspectorState, name: str) -> Segments:
    option = next(
        option for option in (state.info.options if state.info else ()) if option.name == name
    )
    pairs = zip(option.choices, map(_, option.choice_titles), strict=True)
    return Segments(*pairs, name=_(option.title))


def _group(number: int, group: ColourGroup) -> PointGroup:
    """Labels have the colours of the project, other groups those of labels in their order."""
    if not group.name:
        return PointGroup(_("none"), theme.colour("faint"), "circle")
    colours = theme.label_colours(group.label if group.label is not None else number)
    return PointGroup(group.name, colours.line, SHAPES[number % len(SHAPES)])


def _noted(result: DocumentMap, is_of_uses: bool) -> str:
    count = len(result.points)
    if not count:
        return _("No points.")
    if is_of_uses:
        message = ngettext("{n:,} use", "{n:,} uses", count)
    else:
        message = ngettext("{n:,} document", "{n:,} documents", count)
    parts = [message.format(n=count)]
    if count < result.count or result.count < result.total or result.total < 0:
        parts.append(_("a random sample"))
    if result.shares:
        share = formats.decimal(100 * sum(result.shares), 1)
        parts.append(_("explained variance: {share}%", share=share))
    return " · ".join(parts)


def _columns() -> list[Column]:
    return [
        Column(_("Text"), lambda row: row.text, None, prose=True, tip=lambda row: row.text),
        Column(_("Group"), lambda row: row.group or "–", 112),
        Column(_("Document"), lambda row: row.key, 100),
    ]
