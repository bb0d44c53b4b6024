"""The central area of Annotate: class rows, the text or texts, label bars."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.text.labels import QUESTIONS, TEXT
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.card_layout import SIDE, CardLayout
from workbench.ui.panels.annotate.choices.choice_list import ChoiceList
from workbench.ui.panels.annotate.classes.many_labels import ManyLabels
from workbench.ui.panels.annotate.document_text import DocumentText
from workbench.ui.panels.annotate.label_bars import BarStack
from workbench.ui.panels.annotate.relations.shown_relations import LinkLine, ShownArcs, signed
from workbench.ui.panels.annotate.row_words import title_of
from workbench.ui.panels.annotate.spans.shown_spans import ShownSpans
from workbench.ui.panels.annotate.tokens.token_pane import TokenPane
from workbench.ui.panels.annotate.values.editors import EDITORS, ValueStack
from workbench.ui.project import folded_labels
from workbench.ui.style import theme
from workbench.ui.widgets.controls.key_cap import CommandCap
from workbench.ui.widgets.controls.label_bar import LabelBar
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import layout_of, line, remove, scrolled
from workbench.ui.widgets.text.offsets import is_rtl
from workbench.ui.widgets.text.scroll import LEFT

if TYPE_CHECKING:
    from workbench.text.labels import Layer
    from workbench.ui.panels.annotate.state import Desk

FOCUS = QEvent.Type.FocusIn, QEvent.Type.FocusOut
# from the edges of the card: beyond them are its border and its corners
INSIDE = 2, theme.RADIUS, -2, -theme.RADIUS
UNBOUNDED = 16_777_215  # QWIDGETSIZE_MAX


class DocumentPane(QFrame):
    """`picked(label id)` and `more()` come from the label bars, `found(label id)` from the search
    of a layer with many labels. `text_made` is called for
    each text view, so that its keys can be watched.
    """

    picked = Signal(int)
    found = Signal(int)
    more = Signal()
    text_made = Signal(object)

    def __init__(self, state: Desk) -> None:
        super().__init__()
        self.state, self.session = state, state.session
        self.texts: list[DocumentText] = []
        self._bars: dict[int, LabelBar] = {}
        self._many: dict[int, ManyLabels] = {}
        self._titles: list[QLabel] = []
        self._last = 0
        self._document_id: int | None = None
        self._shown_spans = ShownSpans(state.session, lambda: state.questions.shown_answers)
        self._arcs = ShownArcs(state.relations, theme.NO_LABEL)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._tab_start = QWidget(self)  # hidden: setTabOrder needs a widget that takes focus
        self._tab_start.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._tab_start.hide()
        self._classes, self._spans = self._stacks = BarStack(), BarStack()
        for stack in self._stacks:
            stack.widened.connect(self._fit_bars)
        self._middle, self._values = QVBoxLayout(), ValueStack(state.values)
        self._values.left.connect(self.focus_text)
        self._values.done.connect(state.submission.submit)
        self._room = CardLayout(self, self._stacks, self._values)
        self._upper, self._lower = line(), line()
        self._remark = words("", "small", "muted", wrap=True)
        self._link = LinkLine(state.relations)
        layout = QVBoxLayout(self)
        self.tighten(False)
        self._middle.setContentsMargins(0, 0, 0, 0)
        self._middle.setSpacing(6)
        self._firsts = QVBoxLayout()
        layout.addLayout(self._firsts)
        layout.addWidget(self._classes)
        layout.addWidget(self._upper)
        layout.addLayout(self._middle, 1)
        layout.addWidget(self._values)
        layout.addWidget(self._link.words)  # below the text, which keeps its place under the mouse
        layout.addWidget(self._remark)
        layout.addWidget(self._lower)
        layout.addWidget(self._spans)
        self.tokens = TokenPane(state.tokens)
        self.tokens.grid.installEventFilter(self)
        self._before, self._after = context_words(), context_words()
        self._middle.addWidget(self._before)
        self._middle.addWidget(self.tokens, 1)
        self.choices = ChoiceList()
        self.choices.picked.connect(state.choices.choose_number)
        self._choices = scrolled(self.choices)
        self._middle.addWidget(self._choices, 2)
        self._tab_order: list[QWidget] = []
        self._rest = QWidget()  # below the short texts of a pair
        self._rest.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self._rest.hide()
        self._middle.addWidget(self._after)
        self._middle.addWidget(self._rest)  # no stretch: it takes the height that the texts leave
        self._need_texts(1)
        self.texts[0].hold_in(state.session.units.limits)

    @property
    def text(self) -> DocumentText:
        """The text that has, or last had, the focus."""
        return self.texts[self._last] if self._last < len(self.texts) else self.texts[0]

    def _caret_moved(self) -> None:
        first = self.texts[0]
        if first.hasFocus():
            self.session.units.follow(first.caret)

    def _need_texts(self, count: int) -> None:
        while len(self.texts) < count:
            text = DocumentText()
            number = len(self.texts)
            text.setAccessibleName(
                _("Text")
                if number == 0
                else _("Second text")
                if number == 1
                else _("Text {n}", n=number + 1)
            )
            text.installEventFilter(self)
            text.caret_moved.connect(self._caret_moved)
            title = words("", "caption", "muted")
            self._titles.append(title)
            self.texts.append(text)
            for part, stretch in ((title, 0), (text, 1)):
                self._middle.insertWidget(self._middle.count() - 3, part, stretch)
            text.zoomed.connect(lambda _per_cent: self._fit())
            self.text_made.emit(text)
        self._order_tabs()
        for number, (text, title) in enumerate(zip(self.texts, self._titles, strict=True)):
            text.setVisible(number < count)
            text.ring.wanted = count > 1  # else the border of the card shows the focus
            title.setVisible(number < count and count > 1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn and watched in self.texts:
            self._last = self.texts.index(watched)
            self.update()
            self._share_room()
        elif event.type() in FOCUS and watched in (*self.texts, self.tokens.grid):
            self.update()
            if event.type() == QEvent.Type.FocusIn:
                self._share_room()
        return super().eventFilter(watched, event)

    def _share_room(self) -> None:
        """The text or its tokens have got the focus."""
        if not self.tokens.isHidden():
            self._fit_bars()

    def tighten(self, tight: bool) -> None:
        """Leave less room around the text and the labels."""
        layout, (top, bottom, between) = layout_of(self), (4, 4, 6) if tight else (14, 12, 12)
        margins = layout.contentsMargins()
        layout.setContentsMargins(margins.left(), top, margins.right(), bottom)
        layout.setSpacing(between)

    def _centre(self) -> None:
        """Centre the column of text in the card, at a readable width."""
        column = max(text.maximumWidth() for text in self.texts)
        side = max(SIDE, (self.width() - column) // 2)
        margins = layout_of(self).contentsMargins()
        if side != margins.left():
            layout_of(self).setContentsMargins(side, margins.top(), side, margins.bottom())

    def paintEvent(self, event: QPaintEvent) -> None:
        """A card; its border is the focus ring while a text in it has the focus."""
        painter = QPainter(self)
        if (
            self.rect().adjusted(*INSIDE).contains(event.rect())
        ):  # most paints are of some lines of text
            painter.fillRect(event.rect(), theme.qcolour("surface"))
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = any(part.hasFocus() for part in (*self.texts, self.tokens.grid))
        width = 2.0 if focused else 1.0
        painter.setPen(QPen(theme.qcolour("accent" if focused else "line"), width))
        painter.setBrush(theme.qcolour("surface"))
        half = width / 2
        frame = QRectF(self.rect()).adjusted(half, half, -half, -half)
        painter.drawRoundedRect(frame, theme.RADIUS, theme.RADIUS)

    # ------------------------------------------------------------ showing

    def render(self, fields: frozenset[str]) -> None:
        """Show changed fields of the session."""
        if concerns(fields, "doc", "off", "predicted", "layers", "errors", "arrange"):
            new = self.session.document_id != self._document_id
            self._document_id = self.session.document_id
            self._show_document(new=new)
        elif "spans" in fields:
            self._show_spans()
        if concerns(fields, "chosen", "doc", "off", "predicted", "spans"):
            self.show_chosen()

    def _show_document(self, *, new: bool) -> None:
        """`new`: the document has changed; its text is shown from the start."""
        self._show_bars()
        doc = self.session.doc
        texts = doc.document.texts if doc else (("text", ""),)
        texts = texts[: len(texts) - self._show_choices()]
        self._need_texts(len(texts))
        in_text = any(layer.traits.editor == TEXT for layer in self.session.active)
        state = self.state
        tagging = bool(self.session.tag_layers) and doc is not None
        lanes = int(in_text or self.session.question_layer is not None)
        arcs = self._arcs.by_text()
        if new:
            self._last = 0
        for text, title, (name, content) in zip(self.texts, self._titles, texts, strict=False):
            text.field = name
            choosing = not self._choices.isHidden()
            title.setText(title_of(name, choosing=choosing, compares=self._compares))
            text.set_lanes(lanes)
            changed = new or text.shown_text != content
            text.shown_text = content  # the same object again is compared at once, at any length
            if changed:
                text.set_text(content, doc.document.tokens.get(name, ()) if doc else ())
                self._shown_spans.forget(text)
        self._shown_spans.show_in(self.texts[: len(texts)])
        for text, (name, _content) in zip(self.texts, texts, strict=False):
            text.set_arcs(arcs.get(name, ()))
            text.connects = self.state.relations.can_link
            text.set_snap(state.spans.snap)
        self.show_unit()
        self.tokens.setVisible(tagging)
        self.tokens.render_tokens()
        if tagging and not in_text and not self.session.units.ranges:
            self.texts[0].hide()
        self._fit()

    def _show_spans(self) -> None:
        """Show the spans of the document, of which nothing else has changed."""
        doc = self.session.doc
        self._shown_spans.show_in(self.texts[: len(doc.document.texts) if doc else 1])

    def _show_choices(self) -> int:
        """Returns their number. They are the last texts of a document."""
        choices = self.state.choices.choices
        self._choices.setVisible(bool(choices))
        layer = self.session.choice_layer
        origins = self.session.origins.made_here(layer) if layer is not None else {}
        names = {label.name: origins.get(label.id, "") for label in layer.labels} if layer else {}
        tips = tuple(names.get(str(number), "") for number in range(1, len(choices) + 1))
        can_choose = self.session.can_edit and layer is not None
        self.choices.set(choices, tips, enabled=can_choose, compares=self._compares)
        return len(choices)

    @property
    def _compares(self) -> bool:
        """Whether the texts to choose from are side by side where there is room."""
        layer = self.session.choice_layer
        return layer is not None and layer.traits.compares

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click beside the text is one into it: keys are keys of labels then."""
        super().mousePressEvent(event)
        self.focus_text()

    def focus_text(self, text: QWidget | None = None) -> None:
        """Focus a text, by default the last focused one, or the tokens shown instead of it."""
        text = text or self.text
        (text if text.isVisibleTo(self) else self.tokens.grid).setFocus()

    @property
    def panes(self) -> list[QWidget]:
        """The widgets that take keys, in order."""
        grids = [self.tokens.grid] if self.tokens.isVisible() else []
        editors = (editor.main for editor in self._values.editors.values())
        return [*(text for text in self.texts if text.isVisible()), *grids, *editors]

    def _fit(self) -> None:
        """After a change of what the texts need."""
        self._fit_texts()
        self._fit_bars()

    def _fit_texts(self) -> None:
        """A single text takes the full height; the texts of a pair, and a part with the text around
        it, are stacked, each as tall as needed.
        """
        texts = [text for text in self.texts if not text.isHidden()]
        choosing = not self._choices.isHidden()
        several = choosing or len(texts) > 1 or any(self.session.units.beside)
        self._rest.setVisible(several)
        needed = self.choices.heightForWidth(self._choices.viewport().width())
        self._choices.setMaximumHeight(max(needed, self.choices.sizeHint().height()) + 2)
        for text in texts:
            text.setMaximumHeight(max(48, text.content_height() + 2) if several else UNBOUNDED)

    @property
    def _shown_texts(self) -> list[DocumentText]:
        return [text for text in self.texts if not text.isHidden()]

    def text_areas(self, within: QWidget) -> list[QRect]:
        """Where there is text in sight, of each text view, in the coordinates of `within`."""
        areas = []
        for text in (text for text in self.texts if text.isVisible()):
            viewport, end = text.viewport(), text.end_in_sight
            height = viewport.height() if end is None else min(viewport.height(), int(end) + 1)
            size = QSize(viewport.width(), height)
            areas.append(QRect(viewport.mapTo(within, QPoint(0, 0)), size))
        return areas

    def _fit_bars(self) -> None:
        for many in self._many.values():
            many.set_room(self.height() // len(self._many) - 2 * SIDE)
        self._room.fit(self._shown_texts, self.tokens)

    def height_with_lines(self) -> int:
        """Height with some lines of the text beside a line of labels in each stack, in pixels."""
        return self.minimumSizeHint().height() + self._room.for_lines(self._shown_texts)

    def minimumSizeHint(self) -> QSize:
        """With one line of labels in each stack: a window can be lower than many labels need."""
        least = super().minimumSizeHint()
        return QSize(
            least.width(), least.height() - self._room.spare(self._shown_texts, self.tokens)
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._centre()
        self._fit_bars()
        if self._rest.isVisibleTo(self):
            QTimer.singleShot(0, self._fit_texts)

    def _show_bars(self) -> None:
        state = self.state
        listed = self.session.choice_layer  # its labels are the texts themselves
        self._values.show_layers(self.session.active)
        active = {row_id(layer) for layer in self.session.active}
        bars = {
            row_id(layer): layer
            for layer in self.session.active
            if layer != listed
            and layer.traits.editor not in (*EDITORS, QUESTIONS)
            and not layer.is_read_only
        }
        bars = {id: layer for id, layer in bars.items() if not self._show_many(layer)}
        for id in [id for id in self._many if id not in active or id in bars]:
            remove(self._many.pop(id))
        for id in [id for id in self._bars if id not in bars]:
            gone = self._bars.pop(id)
            for stack in self._stacks:
                stack.remove(gone)
            remove(gone)
        for layer in bars.values():
            if layer.id not in self._bars:
                self._add_bar(layer)
            many = (
                sum(other.traits.in_text for other in bars.values()) > 1 or not layer.traits.in_text
            )
            title = layer.name if many else _("Tag") if self.session.tag_layers else _("Span")
            self._bars[row_id(layer)].set(
                title,
                signed(self.session, layer),
                chosen=self.session.marked | self._arcs.label_of_chosen(),
                checkable=layer.traits.on_document,
                enabled=self.session.can_edit,
                groups=folded_labels.groups(layer),
                folded=folded_labels.folded(state.context, layer),
                tips=self.session.origins.made_here(layer),
            )
        self._order_tabs()
        kinds = {layer.traits.on_document for layer in bars.values()}
        self._upper.setVisible(True in kinds or bool(self._many))
        self._lower.setVisible(False in kinds)
        self._say_remark(bars)

    def _show_many(self, layer: Layer) -> bool:
        """Show the first labels of a layer with many; False for other layers."""
        state, id = self.state, row_id(layer)
        first = self.session.keys.first_labels(layer)
        if first is None:
            return False
        if id not in self._many:
            part = self._many[id] = ManyLabels(state.context.settings)
            part.picked.connect(self.picked)
            part.found.connect(self.found)
            part.left.connect(self.focus_text)
            part.more.connect(self.more)
            part.switched.connect(state.instant.toggle)
            self._firsts.addWidget(part)
        order = self.session.keys.order_of_use()
        topics, known = state.classes.by_topic(layer)
        labels = {id: known[id] for id in sorted(known, key=lambda id: order.get(id, len(order)))}
        alone = len(self.session.active) == 1
        self._many[id].set(
            layer,
            first,
            labels,
            chosen=self.session.marked,
            enabled=self.session.can_edit,
            alone=alone,
        )
        self._many[id].set_all(
            topics, labels, state.classes.documents_with(), by_letter=not layer.grouped
        )
        self._many[id].set_instant(*state.instant.offer(layer))
        return True

    def find_class(self) -> bool:
        """Focus the search of the only layer, if it has one with room for what it finds."""
        (many,) = (
            self._many.values() if len(self.session.active) == len(self._many) == 1 else (None,)
        )
        if many is None or not many.has_room:
            return False
        many.find()
        return True

    def _order_tabs(self) -> None:
        """Tab goes through labels, texts and values from top to bottom: Qt appends widgets that are
        made later, such as those of a new label, behind all others of the window.
        """
        above, below = (
            [part for bar in stack.bars for part in bar.controls] for stack in self._stacks
        )
        values = [part for editor in self._values.editors.values() for part in editor.controls]
        many = [part for many in self._many.values() for part in many.controls]
        order = [self._tab_start, *many, *above, self.tokens.grid, *self.texts, *values, *below]
        if order != self._tab_order:
            self._tab_order = order
            for part, following in pairwise(order):
                QWidget.setTabOrder(part, following)

    def _add_bar(self, layer: Layer) -> None:
        cap = CommandCap(self.state.context.settings, "annotate.palette", "/")
        bar = LabelBar(always_more=layer.traits.in_text, cap=cap)
        bar.picked.connect(self.picked)
        bar.more.connect(self.more)
        bar.folded.connect(self._fold)
        self._bars[row_id(layer)] = bar
        (self._classes if layer.traits.on_document else self._spans).add(bar)

    def _fold(self, ids: list[int], folded: bool) -> None:
        """Hide or show the sublabels of these labels."""
        known = self.session.label_of
        labels = [known[id][1] for id in ids if id in known]
        folded_labels.fold(self.state.context, labels, folded)
        self._show_bars()
        self._fit_bars()

    def _say_remark(self, name: Any) -> None:
        remark = without_labels(layer.name for layer in name.values() if not layer.labels)
        if self.session.doc is not None and not self.session.active:
            remark = _("None of the selected layers applies to this document. Select layers above.")
        self._remark.setText(remark)
        self._remark.setVisible(bool(remark))

    def show_answers(self) -> None:
        """Show the answers of another question."""
        self._shown_spans.show_in(text for text in self.texts if not text.isHidden())
        answers = self.state.questions.shown_answers
        if answers:
            self.texts[0].show_range(answers[0].start, answers[0].end)

    def show_instant(self) -> None:
        """The instant model was turned on or off, or has learned."""
        for layer in self.session.active:
            if row_id(layer) in self._many:
                self._show_many(layer)

    def show_unit(self) -> None:
        """Dim the text around the sentence or paragraph in focus, and put the caret into it."""
        units, text = self.session.units, self.texts[0]
        lit = units.range
        text.set_lit(lit)
        before, after = units.beside
        show_context(self._before, before)
        show_context(self._after, after)
        if lit is None:
            return
        if not lit[0] <= text.caret <= lit[1] and not text.selection:
            text.select(lit[0], lit[0], show=False)
            beside = units.ranges[max(0, units.at - 1) : units.at + 2]
            text.show_range(beside[0][0], beside[-1][1])
            text.show_range(*lit)
        if self.tokens.isVisible():
            self.tokens.show_token()

    def show_chosen(self) -> None:
        self._link.render(self.texts)
        name = self.session.chosen
        if self.state.relations.chosen_relation() is not None:
            self._link.show_relation(self.texts)
            return
        row = self.session.chosen_span() or self.session.chosen_suggestion()
        if row is not None and row.layer_id in {layer.id for layer in self.session.tag_layers}:
            row = None  # shown below its token
        if (ends := getattr(row, "ends", None)) is not None:
            self._link.show_ends(self.texts, ends)
            return
        for text in self.texts:
            if row is None or row.start is None or row.end is None or row.field != text.field:
                text.choose(None)
            else:
                text.boundary_snap = self.state.spans.snap_of_chosen
                text.choose(name)
                text.show_range(row.start, row.end)

    def choose_text(self, field: str, start: int, end: int) -> None:
        """Select code points of a text and scroll to them; that text gets the keyboard focus."""
        for number, text in enumerate(self.texts):
            if text.field == field and not text.isHidden():
                self._last = number
                text.select(start, end, show=False)
                text.show_range(start, end)
        if field == self.texts[0].field and self.tokens.isVisible():
            self.state.tokens.choose_token_at(start)

    def restyle(self) -> None:
        for bar in self._bars.values():
            bar.restyle()
        for many in self._many.values():
            many.restyle()
        self._show_bars()
        self.tokens.render_tokens()
        self._centre()
        self.update()


def context_words() -> QLabel:
    """A label for the text before or after the part in focus; hidden."""
    label = words("", "ui", "muted", wrap=True)
    label.setContentsMargins(LEFT, 0, LEFT, 0)
    label.setMaximumWidth(theme.READING_WIDTH)
    label.hide()
    return label


def show_context(label: QLabel, text: str) -> None:
    """Text beside a part, in its direction; hidden without any."""
    side = Qt.AlignmentFlag.AlignRight if is_rtl(text) else Qt.AlignmentFlag.AlignLeft
    label.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute)
    label.setText(" ".join(text.split()))
    label.setVisible(bool(text))


def without_labels(layers: Iterable[str]) -> str:
    """The sentence on these layers, which have no labels; "" for none."""
    names = list(layers)
    if not names:
        return ""
    return ngettext(
        "{layers} has no labels yet. Create them on the Labels page.",
        "{layers} have no labels yet. Create them on the Labels page.",
        len(names),
        layers=", ".join(names),
    )
