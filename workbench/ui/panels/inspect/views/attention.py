"""Attention: an overview of all heads, and one head as a matrix and as lines between tokens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QPixmap, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QFileDialog, QHBoxLayout, QMenu, QSizePolicy, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.heat import Legend
from workbench.ui.widgets.controls.button import Button, Segments, icon_button
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import TurningRow, card, column, layout_of, row, scrolled
from workbench.ui.widgets.tokens.attention_head import HeadLines, HeadMatrix, cell_words
from workbench.ui.widgets.tokens.attention_heads import HeadsMap

if TYPE_CHECKING:
    from workbench.inspection.attention.info import Attention
    from workbench.ui.panels.inspect.inspector_state import InspectorState

LEFT, LEAST_LINES = 340, 170  # pixels at 100%: width of the left side, height of the lines
TITLES = {
    "head": _("Layer {layer}, head {head}"),
    "mean": _("Mean of layer {layer}"),
    "rollout": _("Rollout to layer {layer}"),
}
NAMED = 3  # maximum number of keys named for a query


class AttentionView(InspectorView):
    """Arrow keys select a head in the overview and a cell in the matrix."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._heads, self._matrix, self._lines = HeadsMap(), HeadMatrix(), HeadLines()
        self._legend = Legend()
        titles = {"head": _("Head"), "mean": _("Layer mean"), "rollout": _("Rollout")}
        self._combine = Segments(*titles.items(), name=_("Heads of the layer"))
        self._combine.chosen.connect(lambda how: state.set_options(combine=how))
        self._size, self._title = Elided("", "small", "muted"), words("", weight=600)
        self._about, self._cell = Elided("", "small", "muted"), Elided("", "small")
        self._special = QCheckBox(_("Special tokens"))
        self._special.setAccessibleName(_("Show special tokens"))
        self._special.toggled.connect(lambda on: state.set_options(special=on))
        self._window = words("", "small", "muted")
        back = icon_button("chevron-left", _("Previous window"), lambda: self._go(-1), small=True)
        on = icon_button("chevron-right", _("Next window"), lambda: self._go(1), small=True)
        self._windows = row(self._window, back, on, gap=4)
        layout = QHBoxLayout()
        layout.setSpacing(12)
        layout.addWidget(self._left())
        layout.addWidget(self._one_head(), 1)
        layout_of(self).addLayout(layout)
        self._heads.chosen.connect(self._take_head)
        for part in (self._matrix, self._lines):
            part.taken.connect(self._take)
            part.hovered.connect(self._hover)

    def _left(self) -> QWidget:
        self._scroll = scrolled(self._heads)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        heads = card(
            TurningRow((row(words(_("All heads"), weight=600), (self._size, 1)), 1), self._special),
            self._scroll,
            self._legend,
            gap=10,
        )
        lines = card(words(_("Lines"), weight=600), (self._lines, 1), gap=4)
        self._side = column(heads, (lines, 1), gap=12)
        return self._side

    def _one_head(self) -> QWidget:
        menu = QMenu(self)
        for title, act in (
            (_("Save picture…"), self._save_picture),
            (_("Save matrix as CSV…"), lambda: self._save("csv")),
            (_("Save matrix as NumPy array…"), lambda: self._save("npy")),
        ):
            action = QAction(title, menu)
            action.triggered.connect(lambda _checked=False, act=act: act())
            menu.addAction(action)
        more = Button(_("Save"), small=True, name=_("Save the head"), menu=menu)
        self._about.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        return card(
            TurningRow((row(self._title, (self._about, 1)), 1), row(None, self._windows, more)),
            row(self._combine, None),
            (self._matrix, 1),
            self._cell,
            gap=8,
        )

    # ---------------------------------------------------------------- showing

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "options"):
            self._special.blockSignals(True)
            self._special.setChecked(self.state.option("special"))
            self._special.blockSignals(False)
        if concerns(fields, "chosen_token", "result"):
            self._choose(self._row_of(self.page.chosen_token))

    def clear(self) -> None:
        for part in (self._heads, self._matrix, self._lines):
            part.set(None)
        for label in (self._size, self._title, self._about, self._cell):
            label.setText("")
        self._windows.hide()

    def show_result(self, result: Attention) -> None:
        self._heads.set(result)
        self._fit()
        for part in (self._matrix, self._lines):
            part.set(result)
        layers = ngettext("{n} layer", "{n} layers", result.layers)
        heads = ngettext("{n} head", "{n} heads", result.heads)
        self._size.setText(f"{layers} × {heads}")
        title = TITLES[result.combine]
        self._title.setText(title.format(layer=result.layer, head=result.head))
        self._combine.set(result.combine)
        bits = float(result.entropies[result.layer - 1, result.head - 1])
        about = _("entropy {bits:.2f} bits", bits=bits)
        masks = _MASKS[result.mask]
        is_head = result.combine == "head"  # the entropy is that of a head
        self._about.setText(f"{about} · {masks}" if is_head else masks)
        self._legend.set_masked(result.mask != "none")
        place = _("Window {window} of {windows}", window=result.window, windows=result.windows)
        self._window.setText(place)
        self._windows.setVisible(result.windows > 1)
        self._hover(-1, -1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Divide the width; the overview takes what it needs if there is room for the lines."""
        wide = min(theme.px(LEFT), self.width() * 2 // 5)
        self._side.setFixedWidth(wide)
        self._size.setVisible(wide == theme.px(LEFT))
        height = self._heads.sizeHint().height() + 2
        room = self.height() - theme.px(LEAST_LINES) - theme.px(130)
        self._scroll.setFixedHeight(max(theme.px(90), min(height, room)))

    def _row_of(self, token: int | None) -> int:
        """The row of a token of the text, -1 if it is not in this window."""
        result = self.state.result
        if token is None or result is None or token not in result.positions:
            return -1
        return int(result.positions.index(token))

    def data(self) -> list[list[object]]:
        names = [token.shown for token in self.state.result.tokens]
        rows = zip(names, self.state.result.weights.tolist(), strict=True)
        return [["", *names], *([name, *weights] for name, weights in rows)]

    def _choose(self, number: int) -> None:
        for part in (self._matrix, self._lines):
            part.choose(number)
        self._hover(-1, -1)

    def _hover(self, query: int, key: int) -> None:
        """Describe the hovered cell, else the keys that the selected query attends to most."""
        result = self.state.result
        if result is None or not result.tokens:
            self._cell.setText("")
            return
        if query >= 0 and key >= 0:
            message = cell_words(result, query, key)
        else:
            message = _row_words(result, query if query >= 0 else self._matrix.row)
        self._cell.setText(message)
        self._matrix.setAccessibleDescription(message)

    # ---------------------------------------------------------------- actions

    def _take(self, number: int) -> None:
        """The user selected a query token: select it in every view."""
        self._choose(number)
        if (place := self.visible.positions[number]) >= 0:
            self.page.choose_token(place)

    def _take_head(self, layer: int, head: int) -> None:
        self.state.set_options(layer=layer, head=head)
        self.page.choose_head(layer, head)

    def _go(self, step: int) -> None:
        result = self.state.result
        if result is not None and 1 <= result.window + step <= result.windows:
            self.state.set_options(window=result.window + step)

    def _save(self, ending: str) -> None:
        if (path := self._asked_path(ending)) is not None:
            result = self.state.result
            names = [token.shown for token in result.tokens]
            self.page.save_matrix(path, result.weights, names)

    def _save_picture(self) -> None:
        if (path := self._asked_path("png")) is not None:
            picture = self._matrix.whole()
            self.page.save(lambda: _write(picture, path), path)

    def _asked_path(self, ending: str) -> Path | None:
        result = self.state.result
        if result is None:
            return None
        name = f"attention-{result.layer}-{result.head}.{ending}"
        file, _kind = QFileDialog.getSaveFileName(
            self.window(), _("Save"), str(Path.home() / name), f"*.{ending}"
        )
        return Path(file).with_suffix(f".{ending}") if file else None


_MASKS = {
    "none": _("bidirectional, nothing masked"),
    "causal": _("causal: later tokens are masked"),
    "local": _("local: distant tokens are masked"),
}


def _write(picture: QPixmap, path: Path) -> None:
    """Write an image file. Raises OSError."""
    if not picture.save(str(path)):
        raise OSError(_("cannot write the image"))


def _row_words(result: Attention, query: int) -> str:
    """Describe the keys that a query attends to most."""
    if query < 0:
        return _("Choose a token to see what it attends to.")
    weights = result.weights[query]
    best = weights.argsort()[::-1][:NAMED].tolist()
    keys = " · ".join(
        f"{result.tokens[key].shown} {formats.decimal(float(weights[key]), 2)}" for key in best
    )
    message = _("{query} attends most to {keys}", query=result.tokens[query].shown, keys=keys)
    text = message
    if (rest := float(result.hidden[query])) > 0.005:
        text += "  ·  " + _("special tokens, hidden: {rest:.2f}", rest=rest)
    return text
