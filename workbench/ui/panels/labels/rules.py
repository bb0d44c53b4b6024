"""Rules of a relation layer: whose spans it connects, direction and allowed pairs of each label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QVBoxLayout, QWidget

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.text.relations import ANY, Pair, directed, pairs, span_layer
from workbench.text.snap import TITLES
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo
from workbench.ui.widgets.controls.words import call, words
from workbench.ui.widgets.dialog import Dialog
from workbench.ui.widgets.layout import column, scrolled

if TYPE_CHECKING:
    from workbench.text.labels import Layer
    from workbench.ui.panels.labels.state import LabelsState

ANYTHING = "*"  # stands for any label in the typed form
_ARROWS = ("→", "->", ">", "–", "-")  # longer ones first where one contains another


def kind_icon(layer: Layer) -> str:
    """The icon of a layer in the list."""
    traits = layer.traits
    if traits.between_spans:
        return "arrow-up-right"
    return "boxes" if traits.in_chains else "highlighter" if traits.in_text else "tags"


class KindPart(QWidget):
    """What a relation layer connects, with its rules, or the number of chains."""

    def __init__(self, state: LabelsState) -> None:
        super().__init__()
        self._state = state
        self._message = words("", "small", "muted", wrap=True)
        self._rules = Button(_("Rules…"), "arrow-up-right", small=True, on=self._ask)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        titles = [(id, _(title)) for id, title in TITLES.items()]
        self.snap = combo(titles, name=_("Spans snap to"))
        self.snap.currentIndexChanged.connect(self._set_snap)
        tip = _(
            "What the boundaries of spans snap to in Annotate. Hold Alt to select single "
            "characters."
        )
        escaping.set_tip(self.snap, tip)
        self.snap.setMinimumContentsLength(8)
        self._snapping = column(words(_("Spans snap to"), "small", "muted"), self.snap, gap=4)
        layout.addWidget(self._message)
        layout.addWidget(self._snapping)
        layout.addWidget(self._rules, 0, Qt.AlignmentFlag.AlignLeft)

    def show_kind(self) -> None:
        self._message.setText(self._state.kind_text)
        layer = self._state.layer
        self._rules.setVisible(layer is not None and layer.layer.traits.between_spans)
        self._rules.setEnabled(self._state.editable)
        self._message.setVisible(bool(self._state.kind_text))
        snap = self._state.snap
        self._snapping.setVisible(bool(snap))
        self.snap.setEnabled(self._state.editable)
        if snap:
            self.snap.blockSignals(True)
            self.snap.setCurrentIndex(self.snap.findData(snap))
            self.snap.blockSignals(False)
        self.setVisible(bool(self._state.kind_text or snap))

    def _set_snap(self, _index: int) -> None:
        self._state.set_snap(self.snap.currentData())

    def _ask(self) -> None:
        if self._state.layer is not None:
            RulesDialog(self.window(), self._state, self._state.layer.layer).exec()


class RulesDialog(Dialog):
    """A line for each label: whether it has a direction, and its pairs as "PER → ORG, * → LOC"."""

    def __init__(self, parent: QWidget, state: LabelsState, layer: Layer) -> None:
        super().__init__(
            parent,
            _("Rules of {layer}", layer=layer.name),
            _("Which spans a relation connects. Imports report relations that violate the rules."),
            width=620,
        )
        self._state, self._layer = state, layer
        names = [layer.name for layer in state.span_layers]
        self.spans = combo([(name, name) for name in names], name=_("Layer of the spans"))
        if (of := span_layer(layer)) in names:
            self.spans.setCurrentIndex(names.index(of))
        self.lines: dict[str, tuple[QCheckBox, QLineEdit]] = {}
        grid = QWidget()
        below = QGridLayout(grid)
        below.setContentsMargins(0, 0, 0, 0)
        below.setColumnStretch(2, 1)
        titles = (_("Label"), _("Directed"), _("Allowed pairs; empty: any"))
        for place, title in enumerate(titles):
            below.addWidget(words(title, "small", "muted"), 0, place)
        for number, label in enumerate(layer.names, 1):
            self._add(below, number, label)
        below.setRowStretch(len(layer.names) + 1, 1)
        hint = _(
            "Separate pairs by commas; * matches any label. Without a direction both orders "
            "are allowed."
        )
        self.put(
            TitledField(_("Connects spans of"), self.spans),
            scrolled(grid),
            words(hint, "caption", "muted", wrap=True),
        )
        save = Button(_("Save rules"), "check", "primary", on=self.save)
        save.setDefault(True)
        self.end(None, Button(_("Cancel"), on=self.reject), save)

    def _add(self, grid: QGridLayout, number: int, label: str) -> None:
        box, field = QCheckBox(), QLineEdit()
        box.setChecked(directed(self._layer, label))
        field.setText(shown_pairs(pairs(self._layer, label)))
        field.setPlaceholderText(_("PER → ORG"))
        call(box, _("Direction of {label}", label=label))
        call(field, _("Allowed pairs of {label}", label=label))
        self.lines[label] = box, field
        for place, part in enumerate((words(label, weight=600), box, field)):
            grid.addWidget(part, number, place)

    def save(self) -> None:
        try:
            known = self._state.names_of(self.spans.currentData() or "")
            self._state.set_rules(
                spans=self.spans.currentData() or "",
                undirected=[
                    name for name, (box, _field) in self.lines.items() if not box.isChecked()
                ],
                pairs={
                    name: typed_pairs(field.text(), known)
                    for name, (_box, field) in self.lines.items()
                },
            )
        except WorkbenchError as error:
            self.fault(str(error))
            return
        self.accept()


def shown_pairs(pairs: Sequence[Pair]) -> str:
    """The pairs as they are typed."""
    return ", ".join(f"{a or ANYTHING} → {b or ANYTHING}" for a, b in pairs)


def typed_pairs(text: str, known: Sequence[str]) -> list[Pair]:
    """The pairs of a line. Raises WorkbenchError for a pair without arrow or an unknown label."""
    pairs = []
    for part in (part.strip() for part in text.split(",")):
        if not part:
            continue
        sides = next((sides for sides in _split(part) if set(sides) <= {ANYTHING, *known}), None)
        if sides is None:
            raise WorkbenchError(
                _("“{pair}” is not a pair of labels.", pair=part),
                hint=_("Write it as A → B. Known labels: {names}.", names=", ".join(known)),
            )
        item, other = (ANY if side == ANYTHING else side for side in sides)
        pairs.append((item, other))
    return pairs


def _split(part: str) -> list[tuple[str, str]]:
    """Both sides of a pair at every arrow: names of labels may contain a hyphen."""
    parts = []
    for arrow in _ARROWS:
        at = part.find(arrow)
        while at >= 0:
            parts.append((part[:at].strip(), part[at + len(arrow) :].strip()))
            at = part.find(arrow, at + 1)
    return parts
