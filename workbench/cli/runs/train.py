"""`train`: fine-tune in a worker process, with progress on standard error.

Ctrl+C once stops, twice cancels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from workbench.base.errors import Cancelled, JobFailed, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.manifest import BUILTIN
from workbench.base.records import to_plain
from workbench.base.registry import plugin_hint, registry
from workbench.base.terms import term
from workbench.cli.output import as_json, emit, note, say, table
from workbench.cli.runs.follow import follow, show_rows
from workbench.cli.runs.on_cluster import chosen_cluster, on_cluster
from workbench.cli.session import PROJECT, CommandSession, failed, key_values, session
from workbench.tasks import spec as tasks
from workbench.text.columns import numbered
from workbench.text.segmenters import base as segmenters
from workbench.training import rates
from workbench.training.general import ALSO, RUN_ON
from workbench.training.spec import TrainSpec, all_options, parse_settings

if TYPE_CHECKING:
    from workbench.base.options import Option
    from workbench.jobs.queue import Job
    from workbench.models.spec import ModelInfo
    from workbench.operations.runs.training_data import TextCheck
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Layer

    TaskType = click.ParamType[str]
else:
    TaskType = click.ParamType  # older versions of click cannot be subscripted


def _ids() -> tuple[str, ...]:
    return tuple(info.id for info in tasks.all_tasks())


class TaskName(TaskType):
    """A task by name; an unknown one is a usage error."""

    name = "task"

    def get_metavar(self, *_args: object, **_named: object) -> str:
        return "[" + "|".join(_ids()) + "]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in _ids():
            return value
        if registry().has("task", value):
            tasks.info(value)  # raises why its plugin cannot be loaded
        message = _("there is no task {task!r}. Tasks: {tasks}.")
        message = message.format(task=value, tasks=", ".join(_ids()))
        self.fail(f"{message} {plugin_hint(value)}".rstrip(), param, ctx)


class ModelOption(click.Option):
    """Its help also names the baselines of plugins, as they are when a command runs."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        entries = registry().all("baseline")
        names = [f"baseline:{entry.id}" for entry in entries if entry.source != BUILTIN]
        if record is None or not names:
            return record
        return record[0], f"{record[1]} {_('Of plugins: {names}.', names=', '.join(names))}"


@click.command()
@click.argument("file", type=PROJECT, metavar="FILE", required=False)
@click.option(
    "--task",
    type=TaskName(),
    help=_(
        "Task to train: classify (document class), multilabel (several classes), pairs (class of a "
        "sentence pair), regress and similarity (number of a document or a pair), choice (multiple "
        "choice), prefer (the better of several answers, with DPO), answer (answers to questions), "
        "tag (spans), spans (nested spans), coreference (chains of mentions), relations (between "
        "spans), roles (arguments of predicates), token (a tag for every token), text2text (a "
        "text, by T5 or BART), instruct (answers to instructions, by a causal model). Default: the "
        "task that fits the submitted documents, if it is the only one."
    ),
)
@click.option(
    "--model",
    cls=ModelOption,
    help=_(
        "Pretrained model: a name from `models list`, or a folder; or a run of the project, whose "
        "encoder gets a new head; or a baseline: "
        "baseline:majority, baseline:logistic, baseline:svm (classes), baseline:frequent_tag, "
        "baseline:feature_crf (tags)."
    ),
)
@click.option(
    "--layer",
    help=_(
        "Layer to train on. Default: the layer that fits the task; of several, the one with the "
        "most submitted documents."
    ),
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=key_values,
    metavar="KEY=VALUE",
    help=_("Change a training option; --options lists them."),
)
@click.option(
    "--adapt",
    "adapt_epochs",
    type=click.IntRange(min=0),
    metavar="EPOCHS",
    help=_(
        "First train the language model for EPOCHS passes over the texts of the project, without "
        "those of test; then fine-tune it. Shorthand for --set adapt_epochs=EPOCHS."
    ),
)
@click.option(
    "--also",
    multiple=True,
    metavar="LAYER",
    help=_(
        "Train on LAYER as well, with the same encoder and a head of its own, as a run beside the "
        "first one; can be given several times. Also TASK:LAYER=WEIGHT, with a weight of its "
        "losses, and settings of its task after it: 'LAYER;longest_span=20'. Shorthand for --set "
        "also=LAYER."
    ),
)
@on_cluster
@click.option("--name", default="", help=_("Name of the run. [default: task-1, task-2, …]"))
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help=_("Random seed; equal seeds give equal results."),
)
@click.option(
    "--with-test",
    is_flag=True,
    help=_("Also evaluate on test at the end. Counts as a view of the test score."),
)
@click.option(
    "--plan",
    "plan_only",
    is_flag=True,
    help=_("Show the resolved settings and the learning rate of each layer, without training."),
)
@click.option(
    "--show-batch",
    is_flag=True,
    help=_("Show the first batch of the run (inputs and targets) without training."),
)
@click.option(
    "--options",
    "list_them",
    is_flag=True,
    help=_("List every training option with its default, then exit."),
)
@as_json
def train(
    file: Path | None,
    task: str | None,
    model: str | None,
    layer: str | None,
    settings: dict[str, str],
    adapt_epochs: int | None,
    also: tuple[str, ...],
    name: str,
    seed: int,
    with_test: bool,
    plan_only: bool,
    show_batch: bool,
    list_them: bool,
    as_json: bool,
) -> None:
    """Fine-tune a pretrained model on the submitted documents of project FILE.

    The checkpoint with the best score on dev is kept. Ctrl+C once stops and keeps the best
    checkpoint so far, twice cancels.
    """
    if list_them:
        return list_options(all_options(task), {task} if task else set(_ids()), as_json)
    if file is None or model is None:
        what = "FILE" if file is None else "--model"
        raise click.UsageError(_("Missing {what}.", what=what))
    from workbench.operations.models import installed
    from workbench.operations.runs import baselines, sources, training_data

    if adapt_epochs is not None:
        settings = {**settings, "adapt_epochs": str(adapt_epochs)}
    if also:
        settings = {**settings, ALSO.name: ", ".join(also)}
    with session(file) as opened:
        task = task or training_data.only_task(opened.project, layer)
        if (baseline := baselines.named(model)) is not None:
            report = _baseline(opened, baseline, task, layer, settings, name, seed, with_test)
            return emit(report) if as_json else show(report)
        card = sources.find(opened.project, model)
        installed.check_task(card, task)
        if cluster := chosen_cluster(opened.project, settings.get(RUN_ON, "")):
            settings = {**settings, RUN_ON: cluster}
        spec = TrainSpec(
            task,
            layer or "",
            card.path,
            card.name,
            seed,
            parse_settings(task, settings, card.family),
            name,
            with_test,
            card.pickled,
            card.family,
        )
        if plan_only:
            return _plan(opened, spec, card, as_json)
        if show_batch:
            return _show_batch(opened, spec, as_json)
        report = finished(opened, _started(opened, spec, card))
    emit(report) if as_json else show(report)


def _baseline(
    opened: CommandSession,
    baseline: str,
    task: str,
    layer: str | None,
    settings: Mapping[str, str],
    name: str,
    seed: int,
    with_test: bool,
) -> dict[str, Any]:
    from workbench.operations.runs import baselines
    from workbench.operations.runs.kinds import contract as kinds

    if settings:
        raise click.UsageError(
            _("A baseline has no settings, but {name} was given.", name=next(iter(settings)))
        )
    prepared = baselines.prepare(
        opened.project, baseline, task, layer, name=name, seed=seed, with_test=with_test
    )
    run = kinds.start(opened.project, opened.queue, prepared)
    return _report(opened, _ended(opened, run, _("Cancelling.")))


def _plan(opened: CommandSession, spec: TrainSpec, card: ModelInfo, as_json: bool) -> None:
    from workbench.operations.runs import train as operations
    from workbench.operations.runs import training_data

    operations.check_settings(opened.project, spec, card)
    data = training_data.plan(
        opened.project,
        spec.task,
        spec.layer or None,
        train_limit=spec.option("train_limit"),
        fold=spec.option("fold"),
        seed=spec.seed,
        every_class=spec.every_class,
    )
    if data.problem:
        raise WorkbenchError(data.problem)
    if data.layer is not None:
        spec = operations.with_tasks(opened.project, replace(spec, layer=data.layer.name))
    check = _check(opened, spec, card, data.layer) if data.layer else training_data.NO_CHECK
    plan = operations.settings_plan(spec, card, data, check=check)
    steps = rates.layer_steps(spec, plan, card.layers)
    if as_json:
        return emit({"plan": to_plain(plan), "used": dict(data.used), "rates": steps.to_json()})
    if first := plan.first_stage():
        say(first)
    say(
        ngettext(
            "{n} epoch of {steps_per_epoch} steps, batch size {batch_size}, peak learning rate "
            "{learning_rate:g}. Learning rates at the middle of each epoch:",
            "{n} epochs of {steps_per_epoch} steps, batch size {batch_size}, peak learning rate "
            "{learning_rate:g}. Learning rates at the middle of each epoch:",
            plan.epochs,
            **to_plain(plan),
        )
    )
    if spec.others:
        say(_("Each epoch also has the batches of the other layers."))
    middle = {steps.epochs[n]: n for n in _middles(steps.epochs)}
    rows = [
        [part, *(f"{row[n]:.2e}" if row[n] else _("frozen") for n in middle.values())]
        for part, row in zip(steps.parts, steps.rates, strict=True)
    ]
    table(numbered(["", *map(_stage, middle)]), rows[::-1])


def _stage(epoch: int) -> str:
    return _("epoch {n}", n=epoch + 1) if epoch >= 0 else _("pairs")


def _show_batch(opened: CommandSession, spec: TrainSpec, as_json: bool) -> None:
    from workbench.operations.runs import train as operations

    title = _("First batch of task “{task}”", task=_(spec.info.title))
    with opened.progress(title, what=_("The batch")) as watch:
        result = operations.first_batches(opened.project, opened.queue, spec, watch=watch)
    if as_json:
        return emit(result)
    show_rows(result["rows"])
    if result["balance"]:
        say()
        say(_("Labels of an expected batch:"))
        table(operations.balance_columns(), result["balance"])


def _middles(epochs: Sequence[int]) -> list[int]:
    """The position in the middle of each epoch."""
    firsts = [n for n, epoch in enumerate(epochs) if not n or epoch != epochs[n - 1]]
    ends = [*firsts[1:], len(epochs)]
    return [(first + end) // 2 for first, end in zip(firsts, ends, strict=True)]


def _started(opened: CommandSession, spec: TrainSpec, card: ModelInfo) -> Run:
    from workbench.operations.runs import cut_texts, training_data
    from workbench.operations.runs import train as operations

    layer, remark = training_data.choose_layer(opened.project, spec.task, spec.layer or None)
    if remark:
        note(remark)
    check = _check(opened, spec, card, layer)
    exact = None
    if not spec.info.windows:
        about = {"max_length": spec.option("max_length"), "model_length": card.max_length}
        exact = cut_texts.count_cut(
            opened.project, layer, card.path, characters=cut_texts.WAITED_FOR, **about
        )
    for warning in training_data.text_warnings(spec.task, check, card.name, exact):
        note(_("Warning: {warning}", warning=warning))
    if check.words is not None and spec.option(segmenters.OPTION) == segmenters.DEFAULT:
        note(_("Warning: {warning}", warning=check.words.message))
    data = training_data.plan(opened.project, spec.task, spec.layer or None)
    settings = operations.settings_plan(spec, card, data, check=check)
    forecast = operations.forecast(spec, card, settings, check)
    if message := forecast.sentence():
        note(message)
    if warning := operations.memory_warning(spec, forecast):
        note(_("Warning: {warning}", warning=warning))
    return operations.start(opened.project, opened.queue, spec)


def _check(opened: CommandSession, spec: TrainSpec, card: ModelInfo, layer: Layer) -> TextCheck:
    from workbench.operations.runs import train as operations
    from workbench.operations.runs import training_data

    return training_data.check_texts(
        opened.project,
        spec.task,
        layer,
        card.path,
        max_length=spec.option("max_length"),
        model_length=card.max_length,
        settings=operations.with_models(spec).all_options,
    )


def _ended(opened: CommandSession, run: Run, stopping: str) -> Run:
    """Wait for the job of a run that was just queued. Raises Cancelled or JobFailed."""
    from workbench.operations.runs import resume
    from workbench.operations.runs import train as operations

    job = cast("Job", operations.job_of(opened.queue, opened.project, run.id))
    follow(opened, job, _("Training {name}", name=run.name), stopping)
    if job.status == "cancelled":
        raise Cancelled(_("Training was cancelled. No result was kept."))
    if resume.is_refused(job.spec.params, job.events):
        raise failed(job, _("Training"))
    ended = operations.run(opened.project, run.id)
    if ended.status not in ("done", "stopped"):
        raise JobFailed(
            ended.failure.message or failed(job, _("Training")).message,
            hint=ended.failure.hint,
        )
    return ended


def finished(opened: CommandSession, run: Run) -> dict[str, Any]:
    """Wait for a training that was just queued; its report, with those of other layers that were
    trained together. Raises Cancelled or JobFailed.
    """
    from workbench.operations.runs import run_results
    from workbench.operations.runs import train as operations

    stopping = _("Stopping. The best checkpoint so far is kept. Press Ctrl+C again to cancel.")
    run = _ended(opened, run, stopping)
    remarks = run_results.trained(run).remarks
    also = [_report(opened, other) for other in operations.trained_with(opened.project, run)]
    report = _report(opened, run) | {"warnings": [*remarks, *_warnings(opened, run)]}
    return report | ({"also": also} if also else {})


def _report(opened: CommandSession, run: Run) -> dict[str, Any]:
    from workbench.operations.runs import results, run_results

    result = run_results.trained(run)
    plan = run.spec.get("plan", {})
    used = {
        "train": 0,
        "dev": 0,
        "test": 0,
        **plan.get("used", {}),
        **result.used,
    }
    left_out = list(plan.get("left_out", []))
    if result.cut:
        left_out.append(
            {
                "reason": _("documents truncated to the maximum length"),
                "count": result.cut,
            }
        )
    return {
        "run": run.name,
        "status": run.status,
        "task": run.spec["task"],
        "layer": run.layer,
        "model": run.spec.get("model_name") or run.spec["model"],
        "used": used,
        "left_out": left_out,
        "warnings": [],
        "scores": run.scores,
        "layer_weights": dict(result.layer_weights),
        "adaptation": to_plain(result.adaptation),
        "per_label": _per_label(run),
        "loss": result.loss,
        "steps": result.steps,
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        "device": result.device,
        "best_step": result.best_step,
        "cut": result.cut or 0,
        "versions": run.versions,
        "fingerprint": run.data_fingerprint,
        "command": results.command(opened.project, run),
    }


def _warnings(opened: CommandSession, run: Run) -> list[str]:
    """What the run suggests to do next; first measures quick baselines on its data."""
    from workbench.operations.runs import advice

    advised = advice.advice(opened.project, run)
    if advised.unmeasured:
        title = _("Compare {name} with baselines", name=run.name)
        with suppress(Cancelled), opened.progress(title) as watch:
            advised = advice.measure(
                opened.project, opened.queue, run, advised.unmeasured, watch=watch
            )
    text = lambda _name, value: f"{value:.3f}"  # noqa: E731
    return [
        f"{item.sentence(text)} {item.hint}" for item in (advised.below, advised.rising) if item
    ]


def _per_label(run: Run) -> dict[str, Any]:
    """Scores per label by split, against the gold labels of the run."""
    from workbench.operations.runs import results

    evaluations = {split: results.original(run, split) for split in run.scores}
    return {
        split: [row.to_json() for row in scored.per_label]
        for split, scored in evaluations.items()
        if scored is not None and scored.is_complete
    }


def show(report: dict[str, Any]) -> None:
    message = ngettext(
        "Run {run} is {status}: {steps} step in {seconds:.0f} s on {device}; best "
        "checkpoint: step {best_step}.",
        "Run {run} is {status}: {steps} steps in {seconds:.0f} s on {device}; best "
        "checkpoint: step {best_step}.",
        report["steps"],
    )
    if report["steps"] is None:
        message = _("Run {run} is {status}, after {seconds:.1f} s on {device}.")
    say(message.format(**{**report, "status": term(report["status"])}))
    _show_scores(report)
    for other in report.get("also", ()):
        say(_("Run {run}, on layer {layer}:", **other))
        _show_scores(other)
    if adaptation := report["adaptation"]:
        _show_adaptation(adaptation)
    used = report["used"]
    say(_("Documents used: {train:,} for training, {dev:,} for evaluation.", **used))
    for item in report["left_out"]:
        say(_("Left out: {count:,} ({reason})", **item))
    for warning in report["warnings"]:
        say(_("Warning: {warning}", warning=warning))
    say(_("To repeat: {command}", command=report["command"]))


def _show_scores(report: Mapping[str, Any]) -> None:
    for split, scores in report["scores"].items():
        say(f"  {split}: " + "  ".join(f"{name} {value:.3f}" for name, value in scores.items()))


def _show_adaptation(adaptation: Mapping[str, Any]) -> None:
    say(
        _(
            "Language model adapted with {objective} in {seconds:.0f} s (steps: {steps}, "
            "documents: {documents}); saved as {path}.",
            **adaptation,
        )
    )
    for name, before in adaptation["before"].items():
        after = adaptation["after"].get(name)
        if after is not None:
            say(
                "  "
                + _(
                    "{name} on dev: {before:.2f} before, {after:.2f} after.",
                    name=name.replace("_", " "),
                    before=before,
                    after=after,
                )
            )


def list_options(by_option: Mapping[Option, Sequence[str]], every: set[str], as_json: bool) -> None:
    """Print settings with their defaults; found: those that have it, of all that are `asked`."""
    if as_json:
        emit([_option(option, names) for option, names in by_option.items()])
        return
    for option, names in by_option.items():
        default = _(option.automatic) if option.automatic else option.default
        only = _("{name} (only {tasks})", name=option.name, tasks=", ".join(names))
        say(option.name if set(names) >= every else only)
        say("    " + _(option.help))
        rule = _("auto – {rule}", rule=default) if option.automatic else default
        say("    " + _("Default: {default}", default=rule))


def _option(option: Option, names: Sequence[str]) -> dict[str, Any]:
    return {
        "name": option.name,
        "kind": option.kind,
        "default": option.default,
        "automatic": option.automatic,
        "choices": list(option.choices),
        "tasks": list(names),
        "help": option.help,
    }
