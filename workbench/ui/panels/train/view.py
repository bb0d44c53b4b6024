"""The Train page: choices on the left, the current run on the right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.ui.panel import WatchingView
from workbench.ui.panels.train.choices import Choices
from workbench.ui.panels.train.experiments import view as experiments_view
from workbench.ui.panels.train.experiments.view import ExperimentsView
from workbench.ui.panels.train.live_view import LiveRun
from workbench.ui.panels.train.pretrain_view import PretrainView
from workbench.ui.panels.train.state import TrainState
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.later import LaterStack
from workbench.ui.widgets.layout import fill, side_by_side

if TYPE_CHECKING:
    from workbench.ui.dialogs.batch_state import BatchState
    from workbench.ui.panels.train.experiments.state import Experiments
    from workbench.ui.panels.train.pretrain_state import PretrainState
    from workbench.ui.widgets.dialog import Dialog

RUNS, PRETRAIN, EXPERIMENTS = range(3)  # parts of the page


class TrainView(WatchingView):
    state: TrainState

    def __init__(self, state: TrainState, pretrain: PretrainState, experiments: Experiments):
        super().__init__(state)
        self._pretrain, self._experiments = pretrain, experiments
        self._left = Choices(state, self.show_first_batch)
        resume = partial(
            Button,
            _("Continue"),
            "play",
            on=state.resume,
            name=_("Continue this run"),
            tip=_("Continue the training from the step that it had reached"),
        )
        self._right = LiveRun(state, resume=(resume, lambda: state.can_resume))
        self.first = self._left.task
        self._segments = Segments(
            (RUNS, _("Fine-tune")),
            (PRETRAIN, _("Pretrain")),
            (EXPERIMENTS, _("Experiments")),
            name=_("View"),
        )
        self._segments.chosen.connect(self.show_part)
        self._choice = experiments_view.choice(experiments)
        self._header = PageHeader(
            _("Train"),
            _("Training runs in the background; you can continue labelling"),
            self._segments,
            self._choice,
        )
        self._splitter = side_by_side(self._left, self._right, width=360, most=480)
        self._stack = LaterStack(
            lambda: self._splitter,
            lambda: PretrainView(pretrain, self.show_first_batch, self.show_batch_of_run),
            lambda: ExperimentsView(experiments),
        )
        self._stack.setCurrentIndex(RUNS)
        fill(self, self._header, (self._stack, 1), gap=0)
        pretrain.listen(pretrain.changed, self._switch)
        experiments.listen(experiments.changed, self._switch)

    def show_part(self, part: int) -> None:
        """Show fine-tuning, pretraining or experiments."""
        self._pretrain.show(part == PRETRAIN)
        self._experiments.show(part == EXPERIMENTS)

    def _switch(self, fields: frozenset[str]) -> None:
        if not concerns(fields, "shown", "current"):
            return
        parts = {PRETRAIN: self._pretrain.shown, EXPERIMENTS: self._experiments.shown}
        part = next((part for part, is_shown in parts.items() if is_shown), RUNS)
        if part != self._stack.currentIndex():
            self._stack.setCurrentIndex(part)
        self._segments.set(part)
        self._choice.set(self._experiments.current)
        self._choice.setVisible(part == EXPERIMENTS)

    def show_first_batch(self) -> None:
        """Show the first batch of a run with the present choices."""
        from workbench.ui.panels.train.pairs_dialog import PairsDialog

        pretrain = self._pretrain
        if pretrain.shown and pretrain.has_pairs:
            _ask(PairsDialog(self.window(), pretrain.pairs()))
        else:
            chosen = pretrain if pretrain.shown else self.state
            self._show_batches(chosen.first_batch())

    def show_batch_of_run(self) -> None:
        """Show the first batch of the pretraining that is shown."""
        self._show_batches(self._pretrain.batch_of_run())

    def _show_batches(self, state: BatchState) -> None:
        from workbench.ui.dialogs.batch import BatchDialog

        _ask(BatchDialog(self.window(), state))

    def render(self, fields: frozenset[str]) -> None:
        self._left.render(fields)
        self._right.render(fields)
        if concerns(fields, "run", "live"):
            waiting = self.state.waiting
            more = (
                [ngettext("{n} more run queued", "{n} more runs queued", waiting)]
                if waiting > 0
                else []
            )
            self._header.set_hint(
                "  ·  ".join(
                    (_("Training runs in the background; you can continue labelling"), *more)
                )
            )


def _ask(dialog: Dialog) -> None:
    dialog.exec()
    dialog.deleteLater()
