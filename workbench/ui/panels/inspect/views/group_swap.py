"""How scores change where words of one group replace those of another: two tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.views.examined import ExaminedView
from workbench.ui.style import formats
from workbench.ui.widgets.controls.field import combo, fill
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import column
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.inspection.group_swap.info import GroupEffect, GroupSwap, SwappedDocument
    from workbench.ui.panels.inspect.inspector_state import InspectorState


MEAN, CHANGE = 2, 3  # columns


class GroupSwapView(ExaminedView):
    """Above: the change of each label for each group. Below: documents, the most changed first."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._list = combo(name=_("Word list"))
        self._list.activated.connect(
            lambda index: self.state.set_options(list=self._list.itemData(index))
        )
        self._about = words("", "small", "muted", wrap=True)
        self._effects = Table(
            _effect_columns(self), name=_("Change by group"),
            key=lambda row: (row.label, row.group), sortable=True,
        )  # fmt: skip
        self._documents = Table(
            _document_columns(self), name=_("Swapped documents"), key=lambda row: row.key,
            sortable=True,
        )  # fmt: skip
        self._documents.chosen.connect(self._show_chosen)
        self._documents.opened.connect(lambda row: self.page.corpus.open_key(row.key))
        self._text = words("", "small", wrap=True, select=True)
        content = column(self._about, (self._effects, 2), (self._documents, 3), self._text, gap=8)
        self.put(_("Group swap"), [(_("Word list"), self._list)], content)

    def fill_fields(self) -> None:
        chosen = str(self.state.option("list"))
        names = dict.fromkeys([*self.state.suggestions("list"), chosen])
        fill(self._list, [(name, name) for name in names], chosen)

    def clear(self) -> None:
        self._effects.set_rows(())
        self._documents.set_rows(())
        self._about.setText("")
        self._text.setText("")

    def show_result(self, result: GroupSwap) -> None:
        mean, change = _unit_titles(result.scores)
        self._effects.rows_model.set_title(MEAN, mean)
        self._effects.rows_model.set_title(CHANGE, change)
        self._effects.set_rows(result.effects)
        self._documents.set_rows(result.rows)
        self._about.setText(_summary(result))
        self._text.setText("")

    def data(self) -> list[list[object]]:
        head = [_("Label"), _("Group"), _("Mean"), _("Change"), _("Low"), _("High")]
        rows: list[list[object]] = [[*head]]
        return rows + [
            [effect.label, effect.group, effect.mean, effect.change, effect.low, effect.high]
            for effect in self.state.result.effects
        ]

    def predicted(self, document: SwappedDocument) -> str:
        """What is predicted for the groups, in their order."""
        groups = self.visible.groups
        pairs = zip(groups, document.labels, document.shares, strict=True)
        text = _("{group}: {label}")
        if len(set(document.labels)) == 1:
            text = _("{group}: {share}%") if self.in_percent else _("{group}: {share}")
        return ", ".join(
            text.format(group=group, label=label, share=self.number(share))
            for group, label, share in pairs
        )

    @property
    def in_percent(self) -> bool:
        """Whether the scores are probabilities; else they are numbers or counts."""
        return self.state.result is None or self.state.result.scores == "probability"

    def number(self, value: float, digits: int = 1, *, signed: bool = False) -> str:
        if self.in_percent:
            return formats.points(value, digits, signed=signed)
        return formats.decimal(value, digits + 1, signed=signed)

    def _show_chosen(self) -> None:
        result: GroupSwap | None = self.state.result
        if result is not None and (chosen := self._documents.chosen_rows()):
            pairs = zip(result.groups, chosen[0].texts, strict=True)
            text = _("{group}: {text}")
            lines = (text.format(group=group, text=" ".join(pair.split())) for group, pair in pairs)
            self._text.setText("\n".join(lines))


def _unit_titles(scores: str) -> tuple[str, str]:
    """Of the columns Mean and Change, with the unit of the scores."""
    return {
        "probability": (_("Mean, %"), _("Change, points")),
        "value": (_("Mean value"), _("Change of value")),
        "count": (_("Mean per document"), _("Change per document")),
    }[scores]


def _summary(result: GroupSwap) -> str:
    found = ngettext(
        "{n:,} document has a word of the list", "{n:,} documents have a word of the list",
        result.documents,
    )  # fmt: skip
    changed = ngettext(
        "{n:,} is predicted differently for some group",
        "{n:,} are predicted differently for some group",
        result.changed,
    )
    return _(
        "{found} (of {total}); {changed}. Change: to the mean of the groups.",
        found=found.format(n=result.documents),
        total=formats.count(result.read),
        changed=changed.format(n=result.changed),
    )


def _effect_columns(view: GroupSwapView) -> list[Column]:
    def change(effect: GroupEffect) -> str:
        text = _("{value} ({low} to {high})")
        numbers = (
            view.number(value, 2, signed=True) for value in (effect.change, effect.low, effect.high)
        )
        return text.format(**dict(zip(("value", "low", "high"), numbers, strict=True)))

    return [
        Column(_("Label"), lambda row: row.label, 140, sort=lambda row: row.label),
        Column(_("Group"), lambda row: row.group, 110, sort=lambda row: row.group),
        Column(
            _("Mean"), lambda row: view.number(row.mean), 140, sort=lambda row: row.mean,
            hint=_(
                "With the words of this group: the mean probability of the label in %, or the mean "
                "number of spans or tags with it, or of the predicted number"
            ),
        ),
        Column(
            _("Change"), change, None, sort=lambda row: abs(row.change),
            hint=_("Mean difference to the mean of all groups, paired by document; 95% interval"),
        ),
    ]  # fmt: skip


def _document_columns(view: GroupSwapView) -> list[Column]:
    return [
        Column(_("Key"), lambda row: row.key, 90),
        Column(_("Text"), lambda row: " ".join(row.text.split()), None, prose=True),
        Column(_("Predicted"), lambda row: row.label, 100, sort=lambda row: row.label),
        Column(
            _("By group"), view.predicted, 240, sort=lambda row: row.spread,
            hint=_("The prediction for each group where they differ, else its score"),
        ),
    ]  # fmt: skip
