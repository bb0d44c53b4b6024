"""Editors of values of a document, below its texts: a number on a scale, a written text.

`EDITORS` names the editor of each kind of layer that has one here (`LayerKind.editor`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from workbench.base.i18n import _
from workbench.text.labels import NUMBER, WRITING
from workbench.text.rows import row_id
from workbench.ui.shell.keys import current
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.button import icon_button
from workbench.ui.widgets.controls.key_cap import follow
from workbench.ui.widgets.controls.text_box import align_by_text
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import remove, row

if TYPE_CHECKING:
    from workbench.text.labels import Layer
    from workbench.ui.panels.annotate.values.values import ShownNumber, ValueTool

FIELD = 86  # width of the number field, pixels at 100%
TRACK = 6  # height of the track of a slider, pixels
KNOB = 9  # radius of its knob, pixels
MOST_TICKS = 20  # steps that are marked on the track
LINES = 3  # height of the text field, in lines of text
SAVE_AFTER = 800  # milliseconds without typing until a written text is stored


GAP = 6  # pixels between two editors


class ValueEditor(QWidget):
    """The editor of one layer; `main` takes the focus, `controls` are all that do, in order."""

    main: QWidget
    controls: tuple[QWidget, ...]
    left = Signal()  # Escape: the keyboard focus should return to the text
    done = Signal()  # Enter: the document is to be submitted

    def __init__(self, tool: ValueTool, layer: Layer) -> None:
        super().__init__()
        self.tool, self.layer = tool, layer

    def render(self, layer: Layer) -> None:
        """Show the value of the open document."""
        raise NotImplementedError(type(self).__name__)

    def set_low(self, low: bool) -> None:
        """Use less height, where large text leaves little."""

    def height_of(self, *, low: bool) -> int:
        """The height in pixels, with the usual layout or the low one."""
        return self.minimumSizeHint().height()


# ---------------------------------------------------------------- numbers


class ScaleSlider(QWidget):
    """A slider on a scale. `moved(value)`: set by mouse or keys.

    A number that is not set has no knob; an offered one is drawn as a dashed ring.
    """

    moved = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._shown: ShownNumber | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        return QSize(260, 2 * KNOB + 8 + theme.px(16))

    def set(self, number: ShownNumber) -> None:
        self._shown = number
        self.update()

    def _track(self) -> QRectF:
        return QRectF(KNOB + 2, KNOB + 1, self.width() - 2 * KNOB - 4, TRACK)

    def _place(self, value: float) -> float:
        track = self._track()
        if self._shown is None:
            return track.left()
        scale = self._shown.scale
        part = (scale.clipped(value) - scale.minimum) / (scale.maximum - scale.minimum)
        part = 1 - part if self.isRightToLeft() else part
        return track.left() + part * track.width()

    def _value_at(self, x: float) -> float:
        track = self._track()
        part = (x - track.left()) / max(1.0, track.width())
        part = 1 - part if self.isRightToLeft() else part
        scale = self._shown.scale if self._shown else None
        if scale is None:
            return 0.0
        return scale.nearest(scale.minimum + part * (scale.maximum - scale.minimum))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.isEnabled():
            self.moved.emit(self._value_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self.isEnabled():
            value = self._value_at(event.position().x())
            if self._shown is not None and value != self._shown.value:
                self.moved.emit(value)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._shown is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track, value = self._track(), self._shown
        painter.setPen(QPen(theme.qcolour("strong_line"), 1))
        painter.setBrush(theme.qcolour("sunken"))
        painter.drawRoundedRect(track, TRACK / 2, TRACK / 2)
        self._paint_ticks(painter, track, value)
        middle = track.center().y()
        if value.offered is not None and value.offered != value.value:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.qcolour("accent"), 1.5, Qt.PenStyle.DashLine))
            painter.drawEllipse(_disc(self._place(value.offered), middle, KNOB - 2))
        if value.value is not None:
            painter.setPen(QPen(theme.qcolour("surface"), 2))
            painter.setBrush(theme.qcolour("accent" if self.isEnabled() else "muted"))
            painter.drawEllipse(_disc(self._place(value.value), middle, KNOB - 1))
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.qcolour("accent"), 1))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)

    def _paint_ticks(self, painter: QPainter, track: QRectF, value: ShownNumber) -> None:
        scale = value.scale
        painter.setPen(QPen(theme.qcolour("faint"), 1))
        if scale.steps <= MOST_TICKS:
            for number in range(1, scale.steps):
                at = self._place(scale.minimum + number * scale.step)
                painter.drawLine(int(at), int(track.top()) + 1, int(at), int(track.bottom()) - 1)
        painter.setPen(theme.qcolour("muted"))
        painter.setFont(theme.font("caption"))
        below = QRectF(self.rect()).adjusted(KNOB, track.bottom() + KNOB - 1, -KNOB, 0)
        ends = (formats.significant(end) for end in (scale.minimum, scale.maximum))
        sides = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        for text, side in zip(ends, sides, strict=True):
            painter.drawText(below, side | Qt.AlignmentFlag.AlignTop, text)


def _disc(x: float, y: float, radius: float) -> QRectF:
    return QRectF(x - radius, y - radius, 2 * radius, 2 * radius)


class NumberEditor(ValueEditor):
    """A slider and a field; digits, + and - work in the text of the document as well."""

    def __init__(self, tool: ValueTool, layer: Layer) -> None:
        super().__init__(tool, layer)
        self._title = words("", "small", weight=600)
        self.slider, self.field = ScaleSlider(), QLineEdit()
        self.field.setFixedWidth(theme.px(FIELD))
        self._message = words("", "caption", "muted")
        self._clear = icon_button("x", _("Clear the number"), self._clear_number, small=True)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        top = Qt.AlignmentFlag.AlignTop
        layout.addWidget(self._title, 0, top)
        layout.addWidget(self.slider, 1, top)
        layout.addWidget(self.field, 0, top)
        layout.addWidget(self._clear, 0, top)
        layout.addWidget(self._message, 0, top)
        self.slider.moved.connect(lambda value: tool.set_number(self.layer, value))
        self.slider.installEventFilter(self)
        self.field.editingFinished.connect(self._entered)
        self.field.installEventFilter(self)
        self.main, self.controls = self.slider, (self.slider, self.field, self._clear)

    def render(self, layer: Layer) -> None:
        self.layer = layer
        number = self.tool.number(layer)
        scale = number.scale
        self._title.setText(layer.name)
        self.slider.set(number)
        text = "" if number.value is None else formats.typed(number.value)
        if not (self.field.hasFocus() and self.field.isModified()):
            self.field.setText(text)
        hint = _(
            "{minimum} to {maximum}",
            minimum=formats.significant(scale.minimum),
            maximum=formats.significant(scale.maximum),
        )
        self.field.setPlaceholderText(hint)
        name = _(
            "{layer}, {minimum} to {maximum}",
            layer=layer.name,
            minimum=formats.significant(scale.minimum),
            maximum=formats.significant(scale.maximum),
        )
        for part in (self.slider, self.field):
            part.setAccessibleName(name)
            part.setAccessibleDescription(text or _("no number yet"))
            part.setEnabled(self.tool.session.can_edit)
            escaping.set_tip(part, self.tool.session.origins.made_here(layer).get(None, ""))
        self._clear.setEnabled(self.tool.session.can_edit and number.value is not None)
        self._tell(number)

    def _tell(self, number: ShownNumber) -> None:
        message = ""
        if number.offered is not None and number.offered != number.value:
            offered = formats.significant(number.offered, 3)
            message = (
                _("predicted {number}") if self.tool.session.errors else _("suggested {number}")
            ).format(number=offered)
        self._message.setText(message)
        self._message.setVisible(bool(message))

    def _clear_number(self) -> None:
        self.tool.set_number(self.layer, None)

    def _entered(self) -> None:
        """The number in the field; after an error the stored one is shown again."""
        if self.field.isModified():
            self.field.setModified(False)
            self.tool.enter_number(self.layer, self.field.text())
            self.render(self.layer)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.left.emit()
                return True
            if watched is self.slider:
                return self._slider_key(event)
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
                self._entered()
                self.done.emit()
                return True
        return super().eventFilter(watched, event)

    def _slider_key(self, event: QKeyEvent) -> bool:
        tool, scale = self.tool, self.tool.number(self.layer).scale
        keys = {
            Qt.Key.Key_Right: "+", Qt.Key.Key_Up: "+", Qt.Key.Key_Left: "-", Qt.Key.Key_Down: "-",
        }  # fmt: skip
        ends = {Qt.Key.Key_Home: scale.minimum, Qt.Key.Key_End: scale.maximum}
        key = Qt.Key(event.key())
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if key in keys:
            return tool.type_number(keys[key], self.layer)
        if key in ends:
            tool.set_number(self.layer, ends[key])
        elif key in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete):
            tool.set_number(self.layer, None)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.done.emit()
        else:
            return len(event.text()) == 1 and tool.type_number(event.text(), self.layer)
        return True


# ---------------------------------------------------------------- written texts


class TextEditor(ValueEditor):
    """A text field. What is written is stored after a pause, on leaving the field and the document.

    The key of Submit works there, too.
    """

    def __init__(self, tool: ValueTool, layer: Layer) -> None:
        super().__init__(tool, layer)
        self._title = words("", "small", weight=600)
        self._offered = Elided("", "small", "muted")  # what is suggested, or was predicted
        self._head = row(self._title, (self._offered, 1), gap=12)
        self.field = QPlainTextEdit()
        align_by_text(self.field)
        self.field.setTabChangesFocus(True)
        self.field.installEventFilter(self)
        self.main, self.controls = self.field, (self.field,)
        self._shown: tuple[object, str] = (None, "")  # document and its stored text
        self._low = False
        self._column = layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._head)
        layout.addWidget(self.field)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(SAVE_AFTER)
        self._pause.timeout.connect(tool.save_texts)
        self.field.textChanged.connect(self._written)
        follow(self, self._show_hint)
        self.restyle()

    def _show_hint(self) -> None:
        message = _("Write a text for this document.")
        if key := current(self.tool.context.settings, "annotate.submit", "Ctrl+Enter"):
            message = _("Write a text for this document. {key} submits.", key=key)
        self.field.setPlaceholderText(message)

    def restyle(self) -> None:
        font = theme.font("reading")
        self.field.setFont(font)
        self.field.setFixedHeight(self._field_height(low=self._low))

    def _field_height(self, *, low: bool) -> int:
        return (1 if low else LINES) * self.field.fontMetrics().lineSpacing() + theme.px(18)

    def set_low(self, low: bool) -> None:
        """The title beside one line of text."""
        if low == self._low:
            return
        self._low = low
        way = QBoxLayout.Direction
        self._column.setDirection(way.LeftToRight if low else way.TopToBottom)
        self._column.setSpacing(12 if low else 4)
        self._offered.setVisible(not low)
        self.restyle()

    def height_of(self, *, low: bool) -> int:
        above = 0 if low else self._title.sizeHint().height() + 4
        return self._field_height(low=low) + above

    def render(self, layer: Layer) -> None:
        self.layer = layer
        self._title.setText(layer.name)
        self.field.setAccessibleName(layer.name)
        self.field.setReadOnly(not self.tool.session.can_edit)
        escaping.set_tip(self.field, self.tool.session.origins.made_here(layer).get(None, ""))
        self._tell()
        written = self.tool.session.document_id, self.tool.written(layer)
        if written == self._shown:
            return
        self._shown = written
        if self.field.toPlainText() != written[1]:
            self.field.blockSignals(True)
            self.field.setPlainText(written[1])
            self.field.blockSignals(False)

    def _tell(self) -> None:
        text = self.tool.offered_text(self.layer)
        if not text or text == self.tool.written(self.layer):
            self._offered.setText("")
        elif self.tool.session.errors:
            self._offered.setText(_("predicted: {text}", text=text))
        else:
            self._offered.setText(_("suggested: {text}", text=text))

    def _written(self) -> None:
        text = self.field.toPlainText()
        self._shown = self.tool.session.document_id, text
        self.tool.write(self.layer, text)
        self._pause.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self._pause.stop()
            self.tool.save_texts()
        pressed = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
        if pressed and cast(QKeyEvent, event).key() == Qt.Key.Key_Escape:
            self.left.emit()
            return True
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.tool.save_texts()
        super().hideEvent(event)


EDITORS: Mapping[str, type[ValueEditor]] = {NUMBER: NumberEditor, WRITING: TextEditor}


class ValueStack(QScrollArea):
    """Editors below each other; they become lower, and scroll, if they get less height than they
    need. `left()`: Escape in one of them. `done()`: Enter, which submits the document.
    """

    left, done = Signal(), Signal()

    def __init__(self, tool: ValueTool) -> None:
        super().__init__()
        self._tool = tool
        self._most = 0  # pixels; 0: as many as needed
        self.editors: dict[int, ValueEditor] = {}  # by layer id
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._inside = QWidget()
        self._inside.setProperty("part", "scrolled")
        self._layout = QVBoxLayout(self._inside)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(GAP)
        self.setWidget(self._inside)
        self.hide()
        cast(QApplication, QApplication.instance()).focusChanged.connect(self._follow)

    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Scroll to the editor that gets the focus."""
        if now is not None and self.isAncestorOf(now):
            self.ensureWidgetVisible(now, 0, 0)

    def show_layers(self, layers: Iterable[Layer]) -> None:
        """The editors of the layers that have values, in order."""
        by_id = {row_id(layer): layer for layer in layers if layer.traits.editor in EDITORS}
        for id in [id for id in self.editors if id not in by_id]:
            remove(self.editors.pop(id))
        for id, layer in by_id.items():
            if id not in self.editors:
                editor = self.editors[id] = EDITORS[layer.traits.editor](self._tool, layer)
                editor.left.connect(self.left)
                editor.done.connect(self.done)
                self._layout.addWidget(editor)
            self.editors[id].render(layer)
        self.setVisible(bool(self.editors))
        self.updateGeometry()

    def set_room(self, pixels: int) -> None:
        """The height that is left for all editors: if it is too little, they become lower."""
        low = bool(self.editors) and pixels < self._needed(low=False)
        for editor in self.editors.values():
            editor.set_low(low)
        most = 0 if not low else max(self.least(), min(pixels, self._needed(low=True)))
        if most != self._most:
            self._most = most
            self.updateGeometry()

    def least(self) -> int:
        """The height of the lowest editor in pixels, 0 without editors."""
        return min((editor.height_of(low=True) for editor in self.editors.values()), default=0)

    def _needed(self, *, low: bool) -> int:
        heights = [editor.height_of(low=low) for editor in self.editors.values()]
        return sum(heights) + GAP * max(0, len(heights) - 1)

    def sizeHint(self) -> QSize:
        needed = self._needed(low=False)
        return QSize(0, min(needed, self._most) if self._most else needed)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()
