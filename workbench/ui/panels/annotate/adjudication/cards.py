"""What is listed of a document in adjudication: cards of open differences, strips of the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.annotate.adjudication.keys import cap
from workbench.ui.panels.annotate.adjudication.rows import (
    BOTH,
    NEITHER,
    AgreeingLines,
    FarRows,
    OpenRow,
    agreeing_text,
    caption,
    chip_text,
    question_of,
    range_of,
    suggested_chip,
    taken_text,
    title_of,
    version_text,
    versions_text,
)
from workbench.ui.panels.annotate.adjudication.versions import Badge, LineText, Version, Versions
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.words import Elided, IconLabel, KeyCap, Wrapped, words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import clear, fixed, layout_of, line, row
from workbench.ui.widgets.text.arc_layout import TextArc
from workbench.ui.widgets.text.span_layout import TextSpan

if TYPE_CHECKING:
    from workbench.operations.people.adjudication import Difference, Sheet
    from workbench.operations.people.differences import Mark
    from workbench.ui.panels.annotate.adjudication.adjudication import AdjudicationTool

NAME = 110  # width of the name of an annotator, pixels at 100%
MARKS = 10_000  # ids of spans, modulo this, are numbers of differences
Tints = Mapping[tuple[int, str], Any]  # (layer id, label) → colour


def tints_of(tool: AdjudicationTool) -> dict[tuple[int, str], int | str]:
    return {
        (layer.id or 0, label.name): label.colour or label.position
        for layer in tool.layers
        for label in layer.labels
    }


class AgreeingStrip(QFrame):
    """Lines that agree, folded to one line; in full below it after a click."""

    zoomed = Signal(int)

    def __init__(self, tool: AdjudicationTool, item: AgreeingLines) -> None:
        super().__init__()
        self._tool, self._item = tool, item
        self.setProperty("part", "strip")
        self.button = Button("", "chevron-right", "quiet", small=True, on=self._turn)
        self._text: LineText | None = None
        self._body = QVBoxLayout(self)
        self._body.setContentsMargins(8, 2, 12, 2)
        self._body.setSpacing(2)
        self._body.addWidget(self.button)
        self.place = ("", 0)

    def _turn(self) -> None:
        self._tool.turn(self.place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.button.hasFocus() and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._tool.turn(self.place, event.key() == Qt.Key.Key_Right)
        else:
            super().keyPressEvent(event)

    def render(self, sheet: Sheet, _tints: Tints, texts: Sequence[str], zoom: int) -> None:
        item = self._item
        self.place = sheet.lines[item.first].field, item.first
        unfolded = self.place in self._tool.unfolded
        self.button.set_text(agreeing_text(title_of(sheet, item, texts), item))
        self.button.set_icon("chevron-down" if unfolded else "chevron-right")
        if unfolded and self._text is None:
            self._text = LineText()
            self._text.zoomed.connect(self.zoomed)
            self._body.addWidget(self._text)
            self._body.addSpacing(6)
        if self._text is not None:
            self._text.setVisible(unfolded)
            if unfolded:
                field, start, end = range_of(sheet, item)
                marks = [m for one in sheet.lines[item.first : item.after] for m in one.agreed]
                spans = tuple(agreed_spans(marks, start, end))
                text = sheet.document.content(field)[start:end]
                self._text.set_version(Version(self.button.accessibleName(), text, spans))
                self._text.set_zoom(zoom)


class FarStrip(QFrame):
    """How many differences there are above or below those listed; a click goes to the nearest."""

    pressed = Signal(int)

    def __init__(self, item: FarRows) -> None:
        super().__init__()
        self.setProperty("part", "strip")
        count = item.count
        text = (
            ngettext("{n:,} difference above", "{n:,} differences above", count)
            if item.before
            else ngettext("{n:,} difference below", "{n:,} differences below", count)
        )
        icon = "chevron-up" if item.before else "chevron-down"
        self.button = Button(
            text, icon, "quiet", small=True, on=lambda: self.pressed.emit(item.nearest)
        )
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 2, 12, 2)
        box.addWidget(self.button)

    def render(self, _sheet: Sheet, _tints: Tints, _texts: Sequence[str], _zoom: int) -> None:
        """It shows nothing that changes."""


class DecidedStrip(QFrame):
    """A decided difference in one line, with what was taken."""

    pressed = Signal(int)

    def __init__(self, tool: AdjudicationTool, number: int) -> None:
        super().__init__()
        self._number = number
        self.setProperty("part", "card")
        self._title = Elided("", "small")
        self._taken = Elided("", "small", weight=600)
        self._taken.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.undo = Button(
            _("Undo"), "undo-2", "quiet", small=True, on=partial(tool.undo_decision, number)
        )
        self.undo.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._note = IconLabel("sticky-note", "warn", 14)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 1, 6, 1)
        parts = (IconLabel("check", "good", 15), (self._title, 3), self._note, (self._taken, 2))
        box.addWidget(row(*parts, self.undo, gap=8))

    def render(self, sheet: Sheet, _tints: Tints, texts: Sequence[str], _zoom: int) -> None:
        difference = sheet.differences[self._number]
        place = _place_title(sheet, self._number, texts)
        versions = versions_text(difference)
        self._title.setText(_("{place}: {versions}", place=place, versions=versions))
        self._taken.setText(taken_text(difference))
        self._note.setVisible(bool(difference.note))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.pressed.emit(self._number)


class OpenCard(QFrame):
    """Differences that are open, or the current one. `pressed(number)`: a click on one."""

    pressed = Signal(int)
    zoomed = Signal(int)

    def __init__(self, tool: AdjudicationTool, item: OpenRow) -> None:
        super().__init__()
        self._tool, self._item = tool, item
        self.setProperty("part", "card")
        self._title = words("", "small", weight=600)
        self._chip = Chip("")
        self._suggested = Chip("")
        self._state_icon = IconLabel("circle", "faint", 15)
        self._state = Elided("", "small", "muted")
        self._state.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._versions: Versions | None = None
        self._values: QFrame | None = None
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(15, 9, 15, 11)
        self._box.setSpacing(7)
        self._question = words("", "small", "muted", wrap=True)
        head = (self._title, self._chip, self._suggested, None, self._state_icon, self._state)
        self._box.addWidget(row(*head, gap=9))
        self._box.addWidget(self._question)
        count = len(tool.people)
        if item.first >= 0:
            self._versions = Versions(count)
            self._versions.pressed.connect(self._press)
            self._versions.zoomed.connect(self.zoomed)
            self._box.addWidget(self._versions)
        else:
            self._values = QFrame()
            values = QVBoxLayout(self._values)
            values.setContentsMargins(0, 0, 0, 0)
            values.setSpacing(6)
            self._box.addWidget(self._values)

    @property
    def numbers(self) -> tuple[int, ...]:
        return self._item.differences

    @property
    def texts(self) -> list[LineText]:
        """One for each annotator; none for differences of the whole document."""
        return self._versions.texts if self._versions is not None else []

    def hold(self, actions: Actions) -> None:
        """Show the buttons at the bottom."""
        if actions.parent() is not self:
            self._box.addWidget(actions)
        actions.show()

    def render(self, sheet: Sheet, tints: Tints, texts: Sequence[str], zoom: int) -> None:
        tool, item = self._tool, self._item
        current = tool.at in item.differences
        number = tool.at if current and tool.at is not None else item.differences[0]
        difference = sheet.differences[number]
        self._title.setText(title_of(sheet, item, texts))
        self._chip.set(chip_text(difference), tone="warn" if current else "")
        question = question_of(difference)
        self._question.setText(question)
        self._question.setVisible(bool(question))
        suggested = tool.suggestion(difference)
        self._suggested.setVisible(suggested is not None)
        if suggested is not None:
            tone = "accent" if current else ""
            self._suggested.set(suggested_chip(suggested, tool.method), tone=tone)
        self._show_state(sheet, number, current=current)
        if bool(self.property("current")) != current:
            self.setProperty("current", current)
            self.style().unpolish(self)
            self.style().polish(self)
        if self._versions is not None:
            self._versions.set(versions_of(sheet, item, tool, tints))
            self._versions.set_zoom(zoom)
        elif self._values is not None:
            self._show_values(difference, tints)

    def _show_state(self, sheet: Sheet, number: int, *, current: bool) -> None:
        difference, every = sheet.differences[number], len(sheet.differences)
        taken = taken_text(difference)
        self._state_icon.set("check" if taken else "circle", "good" if taken else "faint")
        self._state_icon.setVisible(bool(taken) or not current)
        if taken:
            self._state.setText(taken)
        elif current:
            self._state.setText(_("difference {n} of {all}", n=number + 1, all=every))
        else:
            left = len(self._item.differences)
            self._state.setText(
                ngettext("{n} open difference", "{n} open differences", left)
                if left > 1
                else _("open")
            )

    def _show_values(self, difference: Difference, tints: Tints) -> None:
        """What each annotator says of the whole document."""
        if self._values is None:
            return
        clear(layout_of(self._values))
        layer_id = difference.layer.id or 0
        for number, marks in enumerate(difference.versions):
            chips = [
                Chip(mark.label, tints.get((layer_id, mark.label)))
                for mark in marks or ()
                if mark.start is None and (layer_id, mark.label) in tints
            ]
            parts: list[QWidget] = [*chips] or [Wrapped(version_text(difference, number))]
            name = fixed(
                row((Elided(self._tool.people[number].name, "small", "muted"), 1)), theme.px(NAME)
            )
            last = parts[-1]
            line_parts = [*parts[:-1], (last, 0 if chips else 1), *([None] if chips else [])]
            layout_of(self._values).addWidget(row(Badge(number + 1), name, *line_parts, gap=8))

    def _press(self, id: object) -> None:
        numbers = self._item.differences
        number = (id - 1) % MARKS if isinstance(id, int) else numbers[0]
        self.pressed.emit(number if number in numbers else numbers[0])

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._tool.at not in self.numbers:
            self.pressed.emit(self.numbers[0])


class Actions(QFrame):
    """The buttons of the current difference, each with its key."""

    def __init__(self, tool: AdjudicationTool, discuss: Callable[[], None]) -> None:
        super().__init__()
        settings = tool.context.settings
        self.takes: list[Button] = []
        pairs: list[QWidget] = []

        def add(text: str, key: QWidget | None, on: Callable[[], object], tip: str = "") -> Button:
            button = Button(text, on=on, tip=tip)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # Space goes to the next difference
            pairs.append(row(button, *([] if key is None else [key]), gap=6))
            return button

        for number, person in enumerate(tool.people):
            title = _("Take {n}", n=number + 1)
            tip = _("Take the version of {name}", name=person.name)
            key = take_cap(number)
            self.takes.append(add(title, key, partial(tool.take, number), tip))
        several = len(tool.people) > 2
        both = _("All") if several else _("Both")
        neither = _("None") if several else _("Neither")
        self.both = add(both, cap(settings, "both"), tool.take_both)
        self._both_row = pairs[-1]
        self.neither = add(neither, cap(settings, "neither"), tool.take_neither)
        self._neither_row = pairs[-1]
        self.suggested = add(
            _("Take suggested"), cap(settings, "suggested"), tool.take_suggested,
            _("Take the version that is suggested"),
        )  # fmt: skip
        self._suggested_row = pairs[-1]
        self.edit = add(_("Edit"), cap(settings, "edit"), tool.edit)
        self.discuss = Button(_("Discuss"), "sticky-note", "quiet", on=discuss)
        self.discuss.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        pairs.append(row(self.discuss, cap(settings, "discuss"), gap=6))
        self._note = words("", "small", "warn", wrap=True)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 2, 0, 0)
        box.setSpacing(9)
        box.addWidget(line())
        box.addWidget(flow(*pairs, gap=9))
        box.addWidget(self._note)

    def render(self, difference: Difference, *, suggested: bool) -> None:
        """suggested: whether a version of it is suggested."""
        self._suggested_row.setVisible(suggested)
        for number, button in enumerate(self.takes):
            button.setEnabled(number in difference.takes)
            button.set_kind("primary" if difference.taken == number else "normal")
        self._both_row.setVisible(BOTH in difference.takes)
        self.both.set_kind("primary" if difference.taken == BOTH else "normal")
        self._neither_row.setVisible(NEITHER in difference.takes)
        self.neither.set_kind("primary" if difference.taken == NEITHER else "normal")
        self._note.setText(_("To discuss: {note}", note=difference.note) if difference.note else "")
        self._note.setVisible(bool(difference.note))


def take_cap(number: int) -> QWidget | None:
    return KeyCap(str(number + 1)) if number < 9 else None


def _place_title(sheet: Sheet, number: int, texts: Sequence[str]) -> str:
    """Where a difference is: its line, or its layer."""
    for at, one in enumerate(sheet.lines):
        if number in one.differences:
            return title_of(sheet, AgreeingLines(at, at + 1, 0), texts)
    return sheet.differences[number].layer.name


# ---------------------------------------------------------------- spans


def versions_of(sheet: Sheet, item: OpenRow, tool: AdjudicationTool, tints: Tints) -> list[Version]:
    """The text of a card with the labels of each annotator: open differences in the colours of
    their labels, everything else in grey.
    """
    field, start, end = range_of(sheet, item)
    lines = sheet.lines[item.first : item.after]
    before, behind = "… " * (start > lines[0].start), " …" * (end < lines[-1].end)
    text = before + sheet.document.content(field)[start:end].rstrip() + behind
    agreed = [mark for one in lines for mark in one.agreed]
    numbers = sorted({number for one in lines for number in one.differences})
    focus = tool.at if tool.at in item.differences else item.differences[0]
    versions = []
    for at, person in enumerate(tool.people):
        spans, chosen = list(agreed_spans(agreed, start, end, len(before))), None
        arcs: list[TextArc] = []
        for number in numbers:
            difference = sheet.differences[number]
            in_chains = difference.layer.traits.in_chains  # numbered in each difference
            grey = number not in item.differences or (in_chains and number != focus)
            for place, mark in enumerate(difference.versions[at] or ()):
                tint = theme.NO_LABEL if grey else _tint(mark, tints, by_chain=in_chains)
                if (arc := _arc(mark, start, end, tint, len(before), number + 1)) is not None:
                    arcs.append(arc)
                    spans += _ends(arc, spans)
                span = _span(mark, start, end, tint, len(before))
                if span is None:
                    continue
                # the first span of a difference has its number, which a click reads
                id = number + 1 if not place else MARKS * place + number + 1
                if in_chains:
                    span = span._replace(label="" if grey else caption(difference, mark))
                spans.append(span._replace(id=id))
                if number == tool.at and len(item.differences) > 1 and not (place or in_chains):
                    chosen = span._replace(id=id).name
        versions.append(Version(person.name, text, tuple(spans), chosen, tuple(arcs)))
    return versions


def agreed_spans(marks: Sequence[Mark], start: int, end: int, before: int = 0) -> list[TextSpan]:
    """In grey, with negative ids; before: code points in front of the part [start, end)."""
    spans = []
    for number, mark in enumerate(marks, 1):
        span = _span(mark, start, end, theme.NO_LABEL, before)
        if span is not None:
            spans.append(span._replace(id=-number))
    return spans


def _span(mark: Mark, start: int, end: int, tint: int | str, before: int) -> TextSpan | None:
    """A label in a part [start, end) of its text; None if it is outside, and for relations."""
    if mark.start is None or mark.end is None or mark.end <= start or mark.start >= end:
        return None
    if mark.ends is not None:
        return None

    def at(place: int) -> int:
        return min(max(place, start), end) - start + before

    parts = tuple((at(first), at(after)) for first, after in mark.parts if at(first) < at(after))
    return TextSpan(at(mark.start), at(mark.end), mark.label, tint, parts=parts)


def _arc(mark: Mark, start: int, end: int, tint: int | str, before: int, id: int) -> TextArc | None:
    """A relation in a part [start, end) of its text; None for other labels, and if it leaves it."""
    if mark.ends is None or any(one.field != mark.field for one in mark.ends):
        return None
    first, second = (one.offsets for one in mark.ends)
    if min(first[0], second[0]) < start or max(first[1], second[1]) > end:
        return None
    away = start - before
    places = [(low - away, high - away) for low, high in (first, second)]
    return TextArc(places[0], places[1], mark.label, tint, id)


def _ends(arc: TextArc, present: Sequence[TextSpan]) -> list[TextSpan]:
    """The spans that a relation connects, in grey, as far as they are not present."""
    places = {(span.start, span.end) for span in present}
    return [
        TextSpan(*place, "", theme.NO_LABEL, id=-MARKS - len(present) - number)
        for number, place in enumerate((arc.from_span, arc.to_span))
        if place not in places
    ]


def _tint(mark: Mark, tints: Tints, *, by_chain: bool) -> Any:
    if by_chain and mark.chain is not None:
        return mark.chain - 1
    return tints.get((mark.layer_id, mark.label), theme.NO_LABEL)
