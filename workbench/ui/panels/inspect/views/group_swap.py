"""How scores change where words of one group replace those of another: two tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.parts import ChoicePart, TablePart, TextPart, ViewContext, ViewSpec
from workbench.ui.style import formats
from workbench.ui.widgets.tables.table import Column

if TYPE_CHECKING:
    from workbench.inspection.group_swap.info import GroupEffect, GroupSwap, SwappedDocument


def _lists(view: ViewContext) -> list[tuple[str, str]]:
    chosen = str(view.state.option("list"))
    return [(name, name) for name in dict.fromkeys([*view.state.suggestions("list"), chosen])]


def _in_percent(view: ViewContext) -> bool:
    """Whether the scores are probabilities; else they are numbers or counts."""
    return view.result is None or view.result.scores == "probability"


def _number(view: ViewContext, value: float, digits: int = 1, *, signed: bool = False) -> str:
    if _in_percent(view):
        return formats.points(value, digits, signed=signed)
    return formats.decimal(value, digits + 1, signed=signed)


def _unit_titles(scores: str) -> tuple[str, str]:
    """Of the columns Mean and Change, with the unit of the scores."""
    return {
        "probability": (_("Mean, %"), _("Change, points")),
        "value": (_("Mean value"), _("Change of value")),
        "count": (_("Mean per document"), _("Change per document")),
    }[scores]


def _summary(view: ViewContext) -> str:
    result: GroupSwap = view.result
    having = ngettext(
        "{n:,} document has a word of the list",
        "{n:,} documents have a word of the list",
        result.documents,
    )
    changed = ngettext(
        "{n:,} is predicted differently for some group",
        "{n:,} are predicted differently for some group",
        result.changed,
    )
    return _(
        "{found} (of {total}); {changed}. Change: to the mean of the groups.",
        found=having,
        total=formats.count(result.read),
        changed=changed,
    )


# ---------------------------------------------------------------- groups


def _effect_columns(view: ViewContext) -> list[Column]:
    def change(effect: GroupEffect) -> str:
        value, low, high = (
            _number(view, value, 2, signed=True)
            for value in (effect.change, effect.low, effect.high)
        )
        return _("{value} ({low} to {high})", value=value, low=low, high=high)

    mean, changes = _unit_titles("probability" if view.result is None else view.result.scores)
    return [
        Column(_("Label"), lambda row: row.label, 140, sort=lambda row: row.label),
        Column(_("Group"), lambda row: row.group, 110, sort=lambda row: row.group),
        Column(
            mean,
            lambda row: _number(view, row.mean),
            140,
            sort=lambda row: row.mean,
            hint=_(
                "With the words of this group: the mean probability of the label in %, or the mean "
                "number of spans or tags with it, or of the predicted number"
            ),
        ),
        Column(
            changes,
            change,
            None,
            sort=lambda row: abs(row.change),
            hint=_("Mean difference to the mean of all groups, paired by document; 95% interval"),
        ),
    ]


def _data(view: ViewContext) -> list[list[object]]:
    head = [_("Label"), _("Group"), _("Mean"), _("Change"), _("Low"), _("High")]
    rows: list[list[object]] = [[*head]]
    return rows + [
        [effect.label, effect.group, effect.mean, effect.change, effect.low, effect.high]
        for effect in view.result.effects
    ]


# ---------------------------------------------------------------- documents


def _document_columns(view: ViewContext) -> list[Column]:
    def predicted(document: SwappedDocument) -> str:
        """What is predicted for the groups, in their order."""
        pairs = zip(view.result.groups, document.labels, document.shares, strict=True)
        text = _("{group}: {label}")
        if len(set(document.labels)) == 1:
            text = _("{group}: {share}%") if _in_percent(view) else _("{group}: {share}")
        return ", ".join(
            text.format(group=group, label=label, share=_number(view, share))
            for group, label, share in pairs
        )

    return [
        Column(_("Key"), lambda row: row.key, 90),
        Column(_("Text"), lambda row: " ".join(row.text.split()), None, prose=True),
        Column(_("Predicted"), lambda row: row.label, 100, sort=lambda row: row.label),
        Column(
            _("By group"),
            predicted,
            240,
            sort=lambda row: row.spread,
            hint=_("The prediction for each group where they differ, else its score"),
        ),
    ]


def _texts(view: ViewContext) -> str:
    """The texts of the selected document, one for each group."""
    document = view.chosen("documents")
    if document is None:
        return ""
    pairs = zip(view.result.groups, document.texts, strict=True)
    return "\n".join(
        _("{group}: {text}", group=group, text=" ".join(text.split())) for group, text in pairs
    )


GROUP_SWAP = ViewSpec(
    title=_("Group swap"),
    controls=(ChoicePart(_("Word list"), "list", _lists, always=True),),
    parts=(
        TextPart(_summary, "small", "muted", wrap=True),
        TablePart(
            _("Change by group"),
            _effect_columns,
            lambda view: view.result.effects,
            key=lambda row: (row.label, row.group),
            sortable=True,
            stretch=2,
        ),
        TablePart(
            _("Swapped documents"),
            _document_columns,
            lambda view: view.result.rows,
            key=lambda row: row.key,
            sortable=True,
            opened=lambda view, row: view.page.corpus.open_key(row.key),
            id="documents",
            stretch=3,
        ),
        TextPart(_texts, "small", wrap=True, select=True),
    ),
    data=_data,
)
