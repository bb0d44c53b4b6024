"""Sampled continuations of a text; those that the user keeps stay with their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QSizePolicy

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.views.option_field import OptionField
from workbench.ui.style import formats
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.inspection.samples.info import Samples
    from workbench.operations.inspecting.retained_samples import KeptSample
    from workbench.ui.panels.inspect.inspector_state import InspectorState

TITLES = {
    "count": _("Samples"),
    "length": _("Tokens"),
    "seed": _("Seed"),
    "temperature": _("Temperature"),
    "top_k": _("Top-k (0: all)"),
    "top_p": _("Top-p"),
}
SETTINGS = tuple(name for name in TITLES if name != "count")


class SamplesView(InspectorView):
    """Enter or a double-click keeps a sample, Delete removes one that was kept."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._note = words("", "caption", "muted")
        self._fields = [OptionField(state, name, title) for name, title in TITLES.items()]
        again = Button(_("Sample again"), "rotate-ccw", small=True, on=self._again)
        self._table = Table(_columns(self), name=_("Samples"), key=lambda pair: pair[0])
        self._table.opened.connect(lambda pair: self._keep(pair[0]))
        keep = Button(_("Keep"), "check", small=True, on=self._keep_chosen)
        self._stop = Button(_("Stop"), "square", small=True, on=state.stop)
        self._stop.hide()
        self._kept = Table(_kept_columns(), name=_("Kept samples"), key=lambda pair: pair[0])
        self._kept.removed.connect(self._drop_chosen)
        self._title = words("", weight=600)
        self._drop = Button(_("Remove"), "trash-2", small=True, on=self._drop_chosen)
        top = row(words(_("Samples"), weight=600), self._note, None, self._stop, again, keep)
        fields = row(*((field, 1) for field in self._fields), gap=8)
        fields.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        layout_of(self).addWidget(card(top, fields, (self._table, 1), gap=8), 3)
        self._below = card(row(self._title, None, self._drop), (self._kept, 1), gap=8)
        layout_of(self).addWidget(self._below, 2)
        self._show_kept()

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "options"):
            for field in self._fields:
                field.show_value()
        if concerns(fields, "continuing") and self.visible is not None:
            self._show_rest(self.visible)

    def clear(self) -> None:
        self._table.set_rows(())
        self._note.setText("")
        self._stop.hide()

    def show_result(self, result: Samples) -> None:
        self._table.set_rows(list(enumerate(result.samples)))
        self._show_rest(result)

    def _show_rest(self, result: Samples) -> None:
        ms = self.state.answer.milliseconds if self.state.answer else 0
        message = _("{ms:.0f} ms", ms=ms)
        if self.state.continuing:
            text = ngettext("{n} more token…", "{n} more tokens…", result.rest)
            message = text
        self._note.setText(message)
        self._stop.setVisible(self.state.continuing)

    def data(self) -> list[list[object]]:
        head = [_("Sample"), _("Number of tokens"), _("Log p")]
        rows: list[list[object]] = [[*head, *(TITLES[name] for name in SETTINGS)]]
        settings = [self.state.option(name) for name in SETTINGS]
        samples = self.state.result.samples
        rows += [[sample.text, sample.tokens, sample.logprob, *settings] for sample in samples]
        return rows

    def _again(self) -> None:
        """Sample again with the next seed."""
        self.state.set_options(seed=int(self.state.option("seed")) + 1)

    # ---------------------------------------------------------------- kept samples

    def _keep_chosen(self) -> None:
        for pair in self._table.chosen_rows():
            self._keep(pair[0])

    def _keep(self, number: int) -> None:
        sample = self.visible.samples[number]
        settings = {name: self.state.option(name) for name in SETTINGS}
        self.page.keep_sample(sample.text, settings)
        self._show_kept()

    def _drop_chosen(self) -> None:
        for pair in self._kept.chosen_rows():
            self.page.drop_sample(pair[1])
        self._show_kept()

    def _show_kept(self) -> None:
        samples = self.page.kept_samples()
        self._kept.set_rows(list(enumerate(samples)))
        message = ngettext("{n} kept sample", "{n} kept samples", len(samples))
        self._title.setText(message)
        if not samples:
            self._title.setText(_("Kept samples: none yet. Enter keeps a sample."))
        for part in (self._kept, self._drop):
            part.setVisible(bool(samples))
        height = QSizePolicy.Policy.Preferred if samples else QSizePolicy.Policy.Maximum
        self._below.setSizePolicy(QSizePolicy.Policy.Preferred, height)


def _columns(view: SamplesView) -> list[Column]:
    def flat(text: str) -> str:
        return " ".join(text.split())

    return [
        Column(
            _("Sample"),
            lambda pair: flat(pair[1].text),
            None,
            prose=True,
            tip=lambda pair: pair[1].text,
        ),
        Column(
            _("Log p"),
            lambda pair: formats.decimal(pair[1].logprob, 2),
            80,
            right=True,
            hint=_("Mean natural log-probability per token"),
        ),
    ]


def _kept_columns() -> list[Column]:
    return [
        Column(
            _("Text and sample"),
            lambda pair: " ".join(f"{pair[1].prompt} {pair[1].text}".split()),
            None,
            prose=True,
            tip=lambda pair: f"{pair[1].prompt}\n{pair[1].text}",
        ),
        Column(_("Model"), lambda pair: pair[1].model, 150),
        Column(_("Settings"), _settings, 260, tip=_settings, prose=True),
    ]


def _settings(pair: tuple[int, KeptSample]) -> str:
    return " · ".join(
        f"{TITLES[name]} {formats.significant(value)}"
        for name, value in pair[1].settings.items()
        if name in TITLES and isinstance(value, int | float)
    )
