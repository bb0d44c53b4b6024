"""The buttons below the boxes: run the prompt on dev, or try it on one text."""

from __future__ import annotations

from collections.abc import Callable

from workbench.base.i18n import _
from workbench.ui.panels.prompts.grid_state import GridState
from workbench.ui.panels.prompts.parts import Part, SampleBox
from workbench.ui.panels.prompts.preview_state import PreviewState
from workbench.ui.panels.prompts.run_state import RunState
from workbench.ui.style import escaping
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.layout import row


class ActionsBox(Part):
    def __init__(
        self,
        preview: PreviewState,
        run: RunState,
        grid: GridState,
        run_on_dev: Callable[[], None],
        try_text: Callable[[], None],
        add_to_grid: Callable[[], None],
    ):
        """run_on_dev, try_text, add_to_grid: of the page, which takes what was just typed."""
        super().__init__()
        self.preview, self.run, self.grid = preview, run, grid
        self.states = (preview.draft, preview, run, grid)
        self._run = Button(_("Run on dev"), "play", "primary", on=run_on_dev)
        self._add = Button(
            _("Add to the grid"),
            "plus",
            on=add_to_grid,
            tip=_("Add a row for this prompt, model and number of examples; nothing is run"),
        )
        self._try = Button(_("Try on this text"), on=try_text)
        self._sample = SampleBox(lambda documents: preview.draft.change(sample=documents))
        tip = _("Ask about so many documents of dev, the same ones for every prompt")
        escaping.set_tip(self._sample, tip)
        sample = row(words(_("Documents"), "small", "muted"), self._sample, gap=6)
        fill_with(self, flow(self._run, sample, self._add, self._try))

    def render_part(self, _fields: frozenset[str]) -> None:
        preview, dev = self.preview, self.preview.dev
        sample = preview.draft.spec.sample
        self._sample.show_sample(sample)
        n = min(sample, dev) if sample else dev
        text = _("Run on dev ({n})", n=n) if n else _("Run on dev")
        self._run.setText(" " + text)
        self._run.setEnabled(self.run.ready)
        no_dev = preview.draft.spec.layer and not dev
        why = _("There is no submitted document of this layer in the dev split.") if no_dev else ""
        escaping.set_tip(self._run, why)
        self._add.setEnabled(preview.ready and not self.grid.active)
        self._try.setEnabled(
            preview.prompt is not None and not preview.problem and not preview.asking
        )
