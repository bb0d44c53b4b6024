"""The right side of the Labels page: the selected labels, and the layer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QFrame

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.labels.changes import MERGE, MOVE, SPLIT
from workbench.ui.panels.labels.rules import KindPart
from workbench.ui.panels.labels.state import LabelRow, LabelsState
from workbench.ui.style import escaping, formats, theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.chip import Chip
from workbench.ui.widgets.controls.field import TitledField, combo
from workbench.ui.widgets.controls.swatches import Swatches
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import card, column, fill, row, scrolled

CHOSEN_WIDTH = 270  # pixels; large text is wrapped


class Chosen(QFrame):
    """The selected labels: their colour, and what deleting would remove; below, the layer."""

    def __init__(self, state: LabelsState, ask: Callable[[str], None]):
        super().__init__()
        self.state = state
        self.setProperty("part", "side-right")
        self.setMinimumWidth(min(theme.px(CHOSEN_WIDTH), 320))
        self.setMaximumWidth(460)
        self._hint = words(
            _(
                "Select a label to change its colour or to delete it. "
                "Double-click or press F2 to edit name, key and description."
            ),
            "small",
            "muted",
            wrap=True,
        )
        self._build_label(ask)
        self._layer_words = words("", "small", "muted", wrap=True)
        self._delete_layer = Button(
            _("Delete layer"), "trash-2", "danger", small=True, on=state.delete_layer
        )
        self._kind = KindPart(state)
        self._layer = card(
            self._kind,
            self._layer_words,
            row(self._delete_layer, None),
            title=_("This layer"),
            gap=8,
        )
        inner = column(self._hint, self._label, None, self._layer, gap=12, margins=(14, 14, 14, 14))
        fill(self, scrolled(inner))

    def _build_label(self, ask: Callable[[str], None]) -> None:
        """The card of the chosen label. `ask` opens the dialog of a change."""
        state = self.state
        self._chip, self._count = Chip(""), words("", "small", "muted")
        self._swatches = Swatches()
        self._swatches.picked.connect(state.recolour)
        self._parent = combo([], name=_("Parent label"))
        self._parent.activated.connect(
            lambda _i: state.groups.set_parent(self._parent.currentData())
        )
        self._parent_part = TitledField(
            _("Parent"),
            self._parent,
            _("Press its key again to assign a sublabel. Queries for it also match its sublabels."),
        )
        self._will_go = words("", "small", "muted", wrap=True)
        self._delete = Button(
            _("Delete label"), "trash-2", "danger", small=True, on=state.delete_chosen
        )
        self._merge, self._split, self._move = (
            Button(title, small=True, on=partial(ask, change))
            for title, change in ((_("Merge…"), MERGE), (_("Split…"), SPLIT), (_("Move…"), MOVE))
        )
        self._label = card(
            flow(self._chip, None, self._count),
            self._parent_part,
            words(_("Colour"), "small", "muted", weight=500),
            self._swatches,
            4,
            words(_("With all annotations"), "small", "muted", weight=500),
            flow(self._merge, self._split, self._move),
            4,
            self._will_go,
            row(self._delete, None),
            gap=8,
        )

    def render(self, fields: frozenset[str]) -> None:
        state = self.state
        self._kind.show_kind()
        if not concerns(fields, "chosen", "labels", "will_go", "layer", "layer_will_go"):
            return
        rows = state.chosen_rows
        has_labels = state.layer is None or state.layer.layer.traits.has_labels
        self._hint.setVisible(not rows and has_labels)
        self._label.setVisible(bool(rows))
        if rows:
            self._show(rows)
        self._layer_words.setText(state.layer_will_go)
        for part in (self._swatches, self._delete, self._delete_layer):
            part.setEnabled(state.editable)
        for button, able, reason in (
            (self._merge, state.can_merge, _("The layer has no other label.")),
            (self._split, state.can_split, _("Select one label that is used.")),
            (self._move, state.can_relocate, _("There is no other layer.")),
        ):
            button.setEnabled(able)
            escaping.set_tip(button, reason if state.editable and not able else "")

    def _show(self, rows: tuple[LabelRow, ...]) -> None:
        first, flag = rows[0].label, len(rows) == 1
        self._chip.set(
            first.name if flag else ngettext("{n} label", "{n} labels", len(rows)),
            first if flag else None,
            key=first.key if flag else "",
        )
        count = sum(row.count or 0 for row in rows)
        used = ngettext("used once", "used {n} times", count, n=formats.count(count))
        counted = all(row.count is not None for row in rows)
        self._count.setText((used if count else _("not used yet")) if counted else "")
        self._show_parent()
        colours = {row.label.colour for row in rows}
        self._swatches.set(colours.pop() if len(colours) == 1 else "")
        self._will_go.setText(self.state.will_go)
        self._delete.set_text(ngettext("Delete label", "Delete {n} labels", len(rows)))

    def _show_parent(self) -> None:
        offered, parent = self.state.groups.parents, self.state.groups.parent
        self._parent_part.setVisible(bool(offered) or parent is not None)
        self._parent.clear()
        self._parent.addItem(_("none"), None)
        for label_row in offered:
            self._parent.addItem(label_row.label.name, label_row.id)
        self._parent.setCurrentIndex(max(0, self._parent.findData(parent)))
