"""What is known of a training before it starts: its texts, how long it takes, and whether the
start is meant.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.models.spec import ModelInfo
from workbench.operations.models import installed
from workbench.operations.runs import (
    block_states,
    cut_texts,
    results,
    run_results,
    train,
    training_data,
)
from workbench.operations.runs.kinds import contract as kinds
from workbench.tasks import spec as tasks
from workbench.training.rates import LayerRates, layer_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.operations.runs.block_states import MarkedBlock
    from workbench.operations.runs.training_data import DataPlan, TextCheck
    from workbench.project.project import Project
    from workbench.training.plan import Plan as Settings
    from workbench.training.spec import TrainSpec
    from workbench.ui.panel import PanelContext


AGAIN = 1.0  # seconds


class Starts:
    """The last start: a second one with equal choices within `AGAIN` seconds is a double click."""

    def __init__(self) -> None:
        self._last: tuple[object, float] | None = None  # choices, time

    def begun(self, choices: object) -> None:
        """A run with these choices has been started or queued."""
        self._last = choices, time.monotonic()

    def again(self, choices: object) -> bool:
        """Whether a start with these choices now is a double click."""
        if self._last is None:
            return False
        choices_before, since = self._last
        return choices == choices_before and time.monotonic() < since + AGAIN


CUT_TEXTS = "cut-texts"  # key of the task


class CutTexts:
    """Counts in all texts how many would be truncated, replacing the estimate from a sample; kept
    until the project changes.
    """

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
        self._context.task(CUT_TEXTS, work, done, failed=lambda _error: None)

    def cancel(self) -> None:
        self._context.drop(CUT_TEXTS)


LEAST_STEPS = 10  # of a run from which a time is estimated


def unfit(cards: Sequence[ModelInfo], task: str) -> dict[str, str]:
    """Name → why a model cannot be trained for the task: what it lacks, or what its files do."""
    message = _("{model} cannot be used: {problems}.")
    reasons = {
        card.name: installed.unfit(card, task)
        if card.usable
        else message.format(model=card.name, problems="; ".join(card.problems))
        for card in cards
        if task
    }
    return {name: reason for name, reason in reasons.items() if reason}


def default_model(cards: Sequence[ModelInfo], unfit: Mapping[str, str]) -> str:
    """The initially selected model: the bidirectional starter, which learns every task best of
    those always available.
    """
    named = [info.name for info in cards if info.name not in unfit]
    return "starter-bert" if "starter-bert" in named else (named[0] if named else "")


def text_check(
    project: Project,
    plan: DataPlan,
    card: ModelInfo | None,
    length: int | None,
    spec: TrainSpec | None,
) -> tuple[training_data.TextCheck | None, tuple[str, ...]]:
    """Statistics of the tokenizer on a sample of the texts (unknown words, truncation), and as
    text.
    """
    if card is None or plan.layer is None or plan.problem:
        return None, ()
    try:
        check = training_data.check_texts(
            project,
            plan.task,
            plan.layer,
            card.path,
            max_length=length,
            model_length=card.max_length,
            settings=train.with_models(spec).all_options if spec is not None else None,
        )
    except WorkbenchError as error:  # no readable tokenizer: the run itself reports the error
        return None, (str(error),)
    return check, training_data.text_warnings(plan.task, check, card.name)


def defaults_text(
    project: Project,
    spec: TrainSpec,
    plan: DataPlan,
    card: ModelInfo,
    check: TextCheck,
) -> str:
    """The automatic settings of `spec` for the documents of `plan`, the estimated time, and what
    the method trains and takes.
    """
    settings = train.settings_plan(spec, card, plan, check=check)
    steps = settings.steps
    time = time_text(project, spec.task, spec.model_name, steps, settings.batch_size)
    first = " ".join(filter(None, (settings.first_stage(), settings_text(settings), time)))
    forecast = train.forecast(spec, card, settings, check)
    trained = train.method_problem(spec, card) or forecast.sentence()
    more = _("Each epoch also has the batches of the other layers.") if spec.others else ""
    return "\n".join(filter(None, (first, more, trained)))


def memory_warning(spec: TrainSpec, plan: DataPlan, card: ModelInfo, check: TextCheck) -> str:
    """What is said beside the start if memory will be short, else ""."""
    settings = train.settings_plan(spec, card, plan, check=check)
    return train.memory_warning(spec, train.forecast(spec, card, settings, check))


def layer_rates(
    spec: TrainSpec, plan: DataPlan, card: ModelInfo, check: TextCheck
) -> LayerRates | None:
    """Learning rates of each layer over the run; None if the settings do not fit the model."""
    try:
        return layer_steps(spec, train.settings_plan(spec, card, plan, check=check), card.layers)
    except SpecError:  # more frozen layers than the model has: the run reports the error
        return None


def blocks(
    spec: TrainSpec, plan: DataPlan, card: ModelInfo, check: TextCheck
) -> tuple[MarkedBlock, ...]:
    """What the run does with each block of the model. Not for the main thread."""
    epochs = train.settings_plan(spec, card, plan, check=check).epochs
    return block_states.marked(spec, card, epochs)


def time_text(project: Project, task: str, model: str, steps: int, batch: int) -> str:
    """Estimated duration of `steps` of `batch` inputs, from the latest run of the task with the
    model; "" if there is none. Of a run of few steps, most of the time is its start.
    """
    for run in results.all_runs(project):
        same = kinds.info(run.kind).fine_tunes and (
            (run.spec.get("task"), run.spec.get("model_name")) == (task, model)
        )
        done, plan = run_results.trained(run), run_results.planned(run)
        if same and done.steps and done.steps >= LEAST_STEPS and done.seconds:
            texts = plan.batch_size if plan else batch
            seconds = done.seconds / (done.steps * texts) * steps * batch
            minutes = max(1, round(seconds / 60))
            message = (
                _("Less than a minute, estimated from “{run}”.")
                if seconds < 50
                else _("About {n} min, estimated from “{run}”.")
            )
            return message.format(run=run.name, n=minutes)
    return ""


def settings_text(plan: Settings) -> str:
    """The automatic settings as a sentence."""
    return ngettext(
        "{epochs} epoch. Steps per epoch: {steps}, batch size: {batch}, peak learning "
        "rate: {rate:g}. The best checkpoint on dev is kept.",
        "{epochs} epochs. Steps per epoch: {steps}, batch size: {batch}, peak learning "
        "rate: {rate:g}. The best checkpoint on dev is kept.",
        plan.epochs,
        epochs=plan.epochs,
        steps=plan.steps_per_epoch,
        batch=plan.batch_size,
        rate=plan.learning_rate,
    )
