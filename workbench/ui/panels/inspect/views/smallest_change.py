"""Which words, deleted or replaced, turn a prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.parts import (
    ButtonPart,
    ChoicePart,
    EntryPart,
    RowBox,
    RulePart,
    ScrolledBox,
    StripPart,
    TablePart,
    TextPart,
    ViewContext,
    ViewSpec,
)
from workbench.ui.panels.inspect.views.attributions import target_choice
from workbench.ui.style import formats
from workbench.ui.widgets.tables.table import Column
from workbench.ui.widgets.tokens.word_strip import StripWord

if TYPE_CHECKING:
    from workbench.inspection.smallest_change.info import Change, SmallestChange, Trial

# ---------------------------------------------------------------- the decision


def _value(view: ViewContext) -> float | None:
    """The number that is predicted, None for a label."""
    targets = {target.id: target for target in view.result.targets}
    target = targets.get(view.result.target)
    return target.value if target is not None else None


def _outcome(label: str, share: float, value: float | None) -> str:
    if value is not None:
        return formats.decimal(value, 3)
    return f"{label or _('no label')}, {formats.points(share, 0)}%"


def _predicted(view: ViewContext) -> str:
    outcome = _outcome(view.result.label, view.result.share, _value(view))
    return _("predicted: {outcome}", outcome=outcome)


def _proposers(view: ViewContext) -> list[tuple[str, str]]:
    """Value and name of every model that can propose words."""
    titles = {"": _("Model of the run, else starter-bert"), "none": _("No model")}
    for choice in view.page.choices:
        if choice.run is None and "masked_lm" in choice.gives:
            titles[choice.folder] = choice.title
    chosen = str(view.state.option("proposer"))
    titles.setdefault(chosen, chosen)
    return list(titles.items())


# ---------------------------------------------------------------- the changes


def _change(view: ViewContext, kind: str) -> Change | None:
    return next((change for change in view.result.changes if change.kind == kind), None)


def _sentence(view: ViewContext, kind: str) -> str:
    """What a kind of change does, or has done so far."""
    change, searching = _change(view, kind), view.result.searching
    if kind == searching:
        so_far = {
            "delete": _("Words whose deletion lowers the score most so far:"),
            "replace": _("Words whose replacement lowers the score most so far:"),
            "flip": _("Replacements of the gradient that lower the score most so far:"),
        }
        return so_far[kind] if change is not None and change.words else ""
    if change is None:
        none = _("No replacements: no masked language model proposes words.")
        return "" if searching or kind == "flip" else none
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


def _painted(view: ViewContext, kind: str) -> list[StripWord]:
    change = _change(view, kind)
    edits = dict(change.words) if change is not None else {}
    return [
        StripWord(
            at,
            word.text,
            "warn_soft",
            "warn",
            "warn",
            True,
            caption=edits[at] or _("deleted"),
            ink_caption="warn",
        )
        if at in edits
        else StripWord(at, word.text)
        for at, word in enumerate(view.result.words)
    ]


def _of_kind(kind: str, name: str) -> tuple[TextPart, StripPart]:
    return (
        TextPart(
            lambda view: _sentence(view, kind),
            wrap=True,
            visible=lambda view: bool(_sentence(view, kind)),
        ),
        StripPart(
            name,
            lambda view: _painted(view, kind),
            text=lambda view: " ".join(word.text for word in view.result.words),
            scrolled=False,
            visible=lambda view: _change(view, kind) is not None,
        ),
    )


# ---------------------------------------------------------------- the search


def _is_searching(view: ViewContext) -> bool:
    return bool(view.result.searching)


def _progress(view: ViewContext) -> str:
    if view.state.continuing:
        return ngettext(
            "Searching: {n} changed text tried…",
            "Searching: {n} changed texts tried…",
            view.result.tried,
        )
    return ngettext(
        "The search was stopped after {n} changed text.",
        "The search was stopped after {n} changed texts.",
        view.result.tried,
    )


# ---------------------------------------------------------------- single changes


def _columns(view: ViewContext) -> list[Column]:
    def word(trial: Trial) -> str:
        text: str = view.result.words[trial.word].text
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


def _data(view: ViewContext) -> list[list[object]]:
    result: SmallestChange = view.result
    head = [_("Word"), _("Replaced by"), _("New prediction"), _("Probability"), _("Decrease")]
    rows: list[list[object]] = [[*head, _("Estimated decrease")]]
    for trial in result.trials:
        numbers: list[Any] = [trial.share, trial.fall]
        numbers.append("" if trial.estimate is None else trial.estimate)
        predicted = trial.label if trial.value is None else trial.value
        rows.append([result.words[trial.word].text, trial.new, predicted, *numbers])
    return rows


SMALLEST_CHANGE = ViewSpec(
    title=_("Smallest change"),
    beside=(TextPart(_predicted, "small", "muted"), None),
    controls=(
        target_choice(_("Decision"), stretch=3),
        EntryPart("step", _("Step"), visible=lambda view: _value(view) is not None, stretch=1),
        ChoicePart(_("Replacements from"), "proposer", _proposers, always=True, stretch=2),
    ),
    parts=(
        ScrolledBox(
            *_of_kind("delete", _("Deleted words")),
            *_of_kind("replace", _("Replaced words")),
            *_of_kind("flip", _("Words replaced by the gradient")),
            None,
            stretch=5,
        ),
        RowBox(
            TextPart(_progress, "small", "muted", wrap=True, visible=_is_searching, stretch=1),
            ButtonPart(
                _("Continue"),
                lambda view: view.state.ask_rest(),
                "play",
                visible=lambda view: _is_searching(view) and not view.state.continuing,
            ),
            ButtonPart(
                _("Stop"),
                lambda view: view.state.stop(),
                "square",
                visible=lambda view: _is_searching(view) and view.state.continuing,
            ),
        ),
        RulePart(),
        TextPart(_("Single changes, largest decrease first"), "small", "muted"),
        TablePart(
            _("Single changes"),
            _columns,
            lambda view: view.result.trials,
            key=lambda row: (row.word, row.new),
            sortable=True,
            stretch=4,
        ),
    ),
    data=_data,
)
