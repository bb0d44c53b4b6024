"""How many texts a training would truncate, counted in the background. No Qt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.operations.runs import cut_texts, training_data
from workbench.tasks import spec as tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.models.spec import ModelInfo
    from workbench.project.project import Project
    from workbench.ui.panel import PanelContext


TASK = "cut-texts"


class CutTexts:
    """Counts all texts, replacing the estimate from a sample; kept until the project changes."""

    def __init__(self, context: PanelContext, project: Project):
        self._context, self._project = context, project
        self.edits = 0  # number of changes of the project
        # by model, layer, length and `edits`
        self._known: dict[tuple[object, ...], cut_texts.CutCount | None] = {}

    def count(
        self,
        card: ModelInfo,
        plan: training_data.DataPlan,
        check: training_data.TextCheck,
        length: int | None,
        show: Callable[[tuple[str, ...]], None],
    ) -> None:
        """Call `show(warnings)` once all texts are counted. Aborted by `cancel`."""
        layer = plan.layer
        if layer is None or tasks.info(plan.task).windows:
            return
        key = (card.path, layer.id, length, self.edits)

        def done(exact: cut_texts.CutCount | None) -> None:
            self._known[key] = exact
            show(training_data.text_warnings(plan.task, check, card.name, exact))

        if key in self._known:
            done(self._known[key])
            return
        work = partial(
            cut_texts.count_cut,
            self._project,
            layer,
            card.path,
            max_length=length,
            model_length=card.max_length,
        )
        self._context.task(TASK, work, done, failed=lambda _error: None)

    def cancel(self) -> None:
        self._context.drop(TASK)
