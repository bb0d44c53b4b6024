"""Which words, deleted or replaced, turn a prediction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.views.option_field import OptionField
from workbench.ui.panels.inspect.views.target_names import target_name
from workbench.ui.style import formats
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, line, row, scrolled
from workbench.ui.widgets.layout import column as stacked
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.word_strip import StripWord, WordStrip

if TYPE_CHECKING:
    from workbench.inspection.smallest_change.info import Change, SmallestChange, Trial
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.ui.panels.inspect.inspector_state import InspectorState

KINDS = ("delete", "replace", "flip")


class SmallestChangeView(InspectorView):
    """Above: the text with its deleted or replaced words. Below: all single changes."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._note = words("", "small", "muted")
        self._message = {kind: words("", wrap=True) for kind in KINDS}
        names = {
            "delete": _("Deleted words"),
            "replace": _("Replaced words"),
            "flip": _("Words replaced by the gradient"),
        }
        self._strips = {kind: WordStrip(names[kind]) for kind in KINDS}
        parts = [part for kind in KINDS for part in (self._message[kind], self._strips[kind])]
        self._table = Table(
            _columns(self), name=_("Single changes"), key=lambda row: (row.word, row.new),
            sortable=True,
        )  # fmt: skip
        self._target = combo(name=_("Decision"))
        self._target.activated.connect(
            lambda _at: state.set_options(target=self._target.currentData())
        )
        self._proposer = combo(name=_("Replacements from"))
        self._proposer.activated.connect(
            lambda _at: state.set_options(proposer=self._proposer.currentData())
        )
        self._step = OptionField(state, "step", _("Step"))
        self._hint = words("", "small", "muted", wrap=True)
        self._more = Button(_("Continue"), "play", small=True, on=state.ask_rest)
        self._stop = Button(_("Stop"), "square", small=True, on=state.stop)
        fields = row(
            (TitledField(_("Decision"), self._target), 3),
            (self._step, 1),
            (TitledField(_("Replacements from"), self._proposer), 2),
            gap=12,
        )
        layout_of(self).addWidget(
            card(
                row(words(_("Smallest change"), weight=600), self._note, None),
                fields,
                (scrolled(stacked(*parts, None, gap=8)), 5),
                row((self._hint, 1), self._more, self._stop),
                line(),
                words(_("Single changes, largest decrease first"), "small", "muted"),
                (self._table, 4),
                gap=8,
            )
        )

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "options"):
            self._step.show_value()
            chosen = str(self.state.option("proposer"))
            fill(self._proposer, _proposers(self.page.choices, chosen), chosen)
        if concerns(fields, "continuing"):
            self._show_rest(self.visible)

    def _show_rest(self, result: SmallestChange | None) -> None:
        """How far the search is; nothing after its end."""
        searching = result is not None and bool(result.searching)
        continuing = self.state.continuing
        self._hint.setText(_progress(result.tried, continuing) if result and searching else "")
        for widget, visible in (
            (self._hint, searching),
            (self._more, searching and not continuing),
            (self._stop, searching and continuing),
        ):
            widget.setVisible(visible)

    def clear(self) -> None:
        self._show_rest(None)
        self._note.setText("")
        self._table.set_rows(())
        for kind in KINDS:
            self._message[kind].setText("")
            self._strips[kind].set(())

    def show_result(self, result: SmallestChange) -> None:
        rtl = starts_rtl(" ".join(word.text for word in result.words))
        known = {target.id: target for target in result.targets}
        target = known.get(result.target)
        value = target.value if target is not None else None
        message = _("predicted: {outcome}", outcome=_outcome(result.label, result.share, value))
        self._note.setText(message)
        fill(
            self._target,
            [(target.id, target_name(target, result.words)) for target in result.targets],
            result.target,
        )
        self._step.setVisible(value is not None)
        changes = {change.kind: change for change in result.changes}
        for kind in KINDS:
            change = changes.get(kind)
            self._strips[kind].setVisible(change is not None)
            self._message[kind].setText(_sentence(kind, change, result.searching))
            self._message[kind].setVisible(bool(self._message[kind].text()))
            painted = _painted(result, change) if change is not None else ()
            self._strips[kind].set(painted, rtl=rtl)
        self._table.set_rows(result.trials)
        self._show_rest(result)

    def data(self) -> list[list[object]]:
        result = self.state.result
        head = [_("Word"), _("Replaced by"), _("New prediction"), _("Probability"), _("Decrease")]
        rows: list[list[object]] = [[*head, _("Estimated decrease")]]
        texts = [word.text for word in result.words]
        for trial in result.trials:
            numbers = [trial.share, trial.fall, "" if trial.estimate is None else trial.estimate]
            predicted = trial.label if trial.value is None else trial.value
            rows.append([texts[trial.word], trial.new, predicted, *numbers])
        return rows


def _proposers(choices: Iterable[InspectableModel], chosen: str) -> list[tuple[str, str]]:
    """Value and name of every model that can propose words."""
    titles = {"": _("Model of the run, else starter-bert"), "none": _("No model")}
    for choice in choices:
        if choice.run is None and "masked_lm" in choice.gives:
            titles[choice.folder] = choice.title
    titles.setdefault(chosen, chosen)
    return list(titles.items())


def _outcome(label: str, share: float, value: float | None) -> str:
    if value is not None:
        return formats.decimal(value, 3)
    return f"{label or _('no label')}, {formats.points(share, 0)}%"


def _progress(tried: int, continuing: bool) -> str:
    if continuing:
        text = ngettext(
            "Searching: {n} changed text tried…", "Searching: {n} changed texts tried…", tried
        )
    else:
        text = ngettext(
            "The search was stopped after {n} changed text.",
            "The search was stopped after {n} changed texts.",
            tried,
        )
    return text.format(n=tried)


def _sentence(kind: str, change: Change | None, searching: str) -> str:
    """What a kind of change does; searching: the kind that is not finished."""
    if kind == searching:
        return (
            {
                "delete": _("Words whose deletion lowers the score most so far:"),
                "replace": _("Words whose replacement lowers the score most so far:"),
                "flip": _("Replacements of the gradient that lower the score most so far:"),
            }[kind]
            if change is not None and change.words
            else ""
        )
    if change is None and (searching or kind == "flip"):
        return ""
    if change is None:
        return _("No replacements: no masked language model proposes words.")
    texts = {
        ("delete", True): _("Deleting the marked words changes the prediction to {outcome}."),
        ("delete", False): _(
            "No deletion that was tried changes the prediction; it remains {outcome}."
        ),
        ("replace", True): _("Replacing the marked words changes the prediction to {outcome}."),
        ("replace", False): _(
            "No replacement that was tried changes the prediction; it remains {outcome}."
        ),
        ("flip", True): _(
            "Replacing the marked words as the gradient proposes changes the prediction to "
            "{outcome}."
        ),
        ("flip", False): _(
            "No replacement that the gradient proposes changes the prediction; it remains "
            "{outcome}."
        ),
    }
    outcome = _outcome(change.label, change.share, change.value)
    return texts[kind, change.turned].format(outcome=outcome)


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
    def word(trial: Trial) -> str:
        text: str = view.visible.words[trial.word].text
        return text

    def fall(trial: Trial) -> str:
        number = trial.value is not None
        return formats.decimal(trial.fall, 3) if number else formats.points(trial.fall, 1)

    return [
        Column(_("Word"), word, 110),
        Column(_("Replaced by"), lambda row: row.new or _("(deleted)"), 120),
        Column(
            _("New prediction"),
            lambda row: _outcome(row.label, row.share, row.value).removesuffix("%"),
            130,
            hint=_("The prediction for the changed text, with its probability in %"),
        ),
        Column(
            _("Estimate"),
            lambda row: "–" if row.estimate is None else formats.points(row.estimate, 1),
            80,
            hint=_(
                "Decrease estimated by the gradient, in percentage points; – for other proposals"
            ),
        ),
        Column(
            _("Decrease, points"),
            fall,
            None,
            share=lambda row: min(1.0, max(0.0, row.fall)),
            hint=_(
                "Decrease of the probability of the original prediction, in percentage points; "
                "for a number, how much it changes"
            ),
        ),
    ]
