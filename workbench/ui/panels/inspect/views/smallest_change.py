"""Which words, deleted or replaced, turn the predicted class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.ui import formats
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.widgets.layout import card, layout_of, line, row, scrolled
from workbench.ui.widgets.layout import column as stacked
from workbench.ui.widgets.table import Column, Table
from workbench.ui.widgets.word_strip import StripWord, WordStrip
from workbench.ui.widgets.words import words

if TYPE_CHECKING:
    from workbench.inspection.smallest_change.info import Change, SmallestChange, Trial
    from workbench.ui.panels.inspect.shown import Shown

KINDS = ("delete", "replace", "flip")


class SmallestChangeView(InspectorView):
    """Above: the text with its deleted or replaced words. Below: all single changes."""

    def __init__(self, state: Shown) -> None:
        super().__init__(state)
        self._note = words("", "small", "muted")
        self._told = {kind: words("", wrap=True) for kind in KINDS}
        names = {
            "delete": _("Deleted words"),
            "replace": _("Replaced words"),
            "flip": _("Words replaced by the gradient"),
        }
        self._strips = {kind: WordStrip(names[kind]) for kind in KINDS}
        parts = [part for kind in KINDS for part in (self._told[kind], self._strips[kind])]
        self._table = Table(
            _columns(self), name=_("Single changes"), key=lambda one: (one.word, one.new),
            sortable=True,
        )  # fmt: skip
        layout_of(self).addWidget(
            card(
                row(words(_("Smallest change"), weight=600), self._note, None),
                (scrolled(stacked(*parts, None, gap=8)), 3),
                line(),
                words(_("Single changes, largest fall first"), "small", "muted"),
                (self._table, 4),
                gap=8,
            )
        )

    def clear(self) -> None:
        self._note.setText("")
        self._table.set_rows(())
        for kind in KINDS:
            self._told[kind].setText("")
            self._strips[kind].set(())

    def show_result(self, result: SmallestChange) -> None:
        told = _("predicted: {label}, {share} %")
        self._note.setText(told.format(label=result.label, share=formats.points(result.share, 0)))
        changes = {change.kind: change for change in result.changes}
        for kind in KINDS:
            change = changes.get(kind)
            self._strips[kind].setVisible(change is not None)
            self._told[kind].setText(_sentence(kind, change))
            self._told[kind].setVisible(bool(self._told[kind].text()))
            self._strips[kind].set(_painted(result, change) if change is not None else ())
        self._table.set_rows(result.trials)

    def data(self) -> list[list[object]]:
        result = self.state.result
        head = [_("Word"), _("Replaced by"), _("Predicted then"), _("Probability"), _("Fall")]
        rows: list[list[object]] = [[*head, _("Estimated fall")]]
        texts = [word.text for word in result.words]
        for one in result.trials:
            numbers = [one.share, one.fall, "" if one.estimate is None else one.estimate]
            rows.append([texts[one.word], one.new, one.label, *numbers])
        return rows


def _sentence(kind: str, change: Change | None) -> str:
    if change is None and kind == "flip":
        return ""
    if change is None:
        return _("No replacements: the run was not trained from a masked language model.")
    texts = {
        ("delete", True): _("Deleting the marked words turns the class to {label}, {share} %."),
        ("delete", False): _("No deletion tried turns the class; it stays {label}, {share} %."),
        ("replace", True): _("Replacing the marked words turns the class to {label}, {share} %."),
        ("replace", False): _("No replacement tried turns the class; it stays {label}, {share} %."),
        ("flip", True): _(
            "Replacing the marked words as the gradient proposes turns the class to {label}, "
            "{share} %."
        ),
        ("flip", False): _(
            "No replacement that the gradient proposes turns the class; it stays {label}, "
            "{share} %."
        ),
    }
    text = texts[kind, change.turned]
    return text.format(label=change.label, share=formats.points(change.share, 0))


def _painted(result: SmallestChange, change: Change) -> list[StripWord]:
    edits = dict(change.words)
    painted = []
    for at, word in enumerate(result.words):
        if at not in edits:
            painted.append(StripWord(at, word.text))
            continue
        new = edits[at] or _("deleted")
        painted.append(
            StripWord(
                at, word.text, "warn_soft", "warn", "warn", True, caption=new, ink_caption="warn"
            )
        )
    return painted


def _columns(view: SmallestChangeView) -> list[Column]:
    def word(one: Trial) -> str:
        found: str = view.state.result.words[one.word].text
        return found

    return [
        Column(_("Word"), word, 110),
        Column(_("Replaced by"), lambda one: one.new or _("(deleted)"), 120),
        Column(
            _("Predicted then"),
            lambda one: f"{one.label} {formats.points(one.share, 0)}",
            130,
            hint=_("The most probable class of the changed text, in %"),
        ),
        Column(
            _("Estimate"),
            lambda one: "–" if one.estimate is None else formats.points(one.estimate, 1),
            80,
            hint=_("The fall as the gradient estimates it, in points of %; – for other proposals"),
        ),
        Column(
            _("Fall, points"),
            lambda one: formats.points(one.fall, 1),
            None,
            share=lambda one: max(0.0, one.fall),
            hint=_("By how much the probability of the original class falls, in points of %"),
        ),
    ]
