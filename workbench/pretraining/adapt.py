"""Adapt a language model to a text, then train the adapted model: one job, one run.

The three stages of ULMFiT are a pretrained model, its adaptation, and the training of a classifier
(Howard and Ruder 2018, section 3); other families take the same steps with their own objective.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.i18n import _
from workbench.base.records import json_text
from workbench.models import folder as folders
from workbench.models import spec as models
from workbench.pretraining import streams
from workbench.pretraining.loop import pretrain
from workbench.pretraining.results import PretrainResult
from workbench.pretraining.spec import PretrainSpec, adaptation_rate, usual_objective
from workbench.pretraining.spec import objective as objective_info
from workbench.text.dataset import Dataset, read
from workbench.text.segmenters.base import OPTION
from workbench.training import states
from workbench.training.events import (
    Adapted,
    Adapting,
    Evaluated,
    Event,
    LogMessage,
    PrecisionTrial,
    Resumed,
    StateSaved,
    Step,
    Tick,
)
from workbench.training.loop import as_job, other_data, train
from workbench.training.multitask import OtherData
from workbench.training.plan import Plan
from workbench.training.results import Adaptation, TrainResult
from workbench.training.resume import States
from workbench.training.spec import Teaching, TrainSpec

FOLDER = "adapted"  # in the folder of the run
ADAPTED = "adapted.json"  # beside it, the result of the adaptation once it has ended
RISING = 0.1  # fraction of the steps during which the learning rate rises
SETTINGS = ("adapt_epochs", "adapt_objective", "adapt_learning_rate", "adapt_layer_decay")


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """Job target. params: those of `training.loop.run`, and texts: path, held_out (plain text
    files), documents, held_out_documents. With resume, the stage that was reached continues.

    Yields events as JSON objects. "stop" ends the stage that is running: the model as adapted so
    far is trained, or the best checkpoint is kept.
    """
    spec = TrainSpec.from_json(params["spec"])
    work = adapt_and_train(
        spec,
        read(Path(params["data"])),
        folder,
        params.get("splits"),
        texts=params["texts"],
        plan=Plan.from_json(params.get("plan")),
        precision_trials=params.get("precision_trials"),
        resume=bool(params.get("resume")),
        also=other_data(params),
        teaching=Teaching.from_json(params.get("teaching")),
    )
    return (yield from as_job(work))


def adapt_and_train(
    spec: TrainSpec,
    data: Dataset,
    folder: Path,
    splits: Mapping[str, Sequence[int]] | None = None,
    *,
    texts: Mapping[str, Any],
    plan: Plan | None = None,
    precision_trials: Mapping[str, float] | None = None,
    resume: bool = False,
    also: Sequence[OtherData] = (),
    teaching: Teaching | None = None,
) -> Generator[Event, str | None, TrainResult]:
    """Adapt `spec.model` to the texts, into `folder/adapted`; then as `training.loop.train`.

    resume: continue from the state in the folder, of either stage.
    """
    others = {name: value for name, value in spec.options.items() if name not in SETTINGS}
    out = folder / FOLDER
    adapted = replace(spec, model=str(out), options=others, allow_pickle=True)  # our own file
    header = states.header(folder) if resume else None
    has_begun = header is not None and "task" in header.settings  # the training itself
    stored = States(folder, resume=has_begun, second=True)
    work = train(
        adapted, data, folder, splits,
        plan=plan, precision_trials=precision_trials, states=stored, also=also, teaching=teaching,
    )  # fmt: skip
    report = folder / ADAPTED
    if not resume:
        report.unlink(missing_ok=True)
    pretrained = _recorded(report)
    if pretrained is None:
        begun = States(folder, resume=resume)
        pretraining = pretrain_spec(spec, texts, plan)
        pretrained = yield from _adapt(pretraining, out, precision_trials, begun)
        draft = report.with_suffix(".new")
        draft.write_text(json_text(pretrained.to_json()), encoding="utf-8")
        os.replace(draft, report)
    if resume and not has_begun:
        yield Resumed(0)
    result = yield from work
    first, last = (pretrained.curve[at] if pretrained.curve else {} for at in (0, -1))
    adaptation = Adaptation(
        objective=pretrained.objective,
        path=str(out),
        documents=int(texts["documents"]),
        held_out=int(texts["held_out_documents"]),
        epochs=int(spec.option("adapt_epochs")),
        steps=pretrained.steps,
        seconds=pretrained.seconds,
        stopped=pretrained.stopped,
        before=_perplexities(first),
        after=_perplexities(last),
    )
    base = folders.sha256(Path(spec.model))
    return replace(result, adaptation=adaptation, options=spec.all_options, base_sha256=base)


def _recorded(report: Path) -> PretrainResult | None:
    """The result of an adaptation that has ended; a damaged one counts as none."""
    try:
        return PretrainResult.from_json(json.loads(report.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def pretrain_spec(
    spec: TrainSpec, texts: Mapping[str, Any], plan: Plan | None = None
) -> PretrainSpec:
    """The pretraining that adapts the model of a training, as planned before the start.

    Raises SpecError.
    """
    objective = plan.adapt_objective if plan is not None else None
    rate = plan.adapt_learning_rate if plan is not None else None
    if objective is None:
        info = models.read_folder(spec.model, allow_pickle=spec.allow_pickle)
        usual = usual_objective(info)
        objective = spec.option("adapt_objective") or (usual.id if usual is not None else "")
        chosen = spec.option("adapt_learning_rate")
        rate = adaptation_rate(objective_info(objective), info, chosen)
    return PretrainSpec(
        objective,
        spec.model,
        (texts["path"],),
        (texts["held_out"],) if texts["held_out_documents"] else (),
        spec.seed,
        {
            "epochs": spec.option("adapt_epochs"),
            "learning_rate": rate,
            "layer_decay": spec.option("adapt_layer_decay"),
            "device": spec.option("device"),
            "precision": spec.option("precision"),
            "schedule": spec.option("schedule"),
            "warmup": RISING if spec.option("cut_frac") is None else spec.option("cut_frac"),
            "ratio": spec.option("ratio"),
            "evaluations": 1,
            **_words(spec, objective),
        },
        spec.allow_pickle,
    )


def _words(spec: TrainSpec, objective: str) -> dict[str, Any]:
    """The word segmenter of the training, for a model that reads words."""
    known = [option.name for option in objective_info(objective).options] if objective else []
    reads = streams.reads_words(models.preparer(spec.model))
    return {OPTION: spec.option(OPTION)} if OPTION in known and reads else {}


def _adapt(
    spec: PretrainSpec, out: Path, precision_trials: Mapping[str, float] | None, states: States
) -> Generator[Event, str | None, PretrainResult]:
    """The pretraining, with events that differ from those of the training that follows."""
    command = yield LogMessage(_("Adapting the language model to the texts of the project"))
    work = pretrain(spec, out, precision_trials=precision_trials, states=states)
    try:
        event = next(work)
        while True:
            if (message := _describe(event)) is not None:
                command = (yield message) or command
            event, command = work.send(command), None
    except StopIteration as end:
        result: PretrainResult = end.value
        return result
    finally:
        work.close()


def _describe(event: Event) -> Event | None:
    """None for an event that says nothing of the run: its own checkpoint is not yet trained."""
    if isinstance(event, Step):
        return Adapting(event.step, event.total, event.epoch, event.losses, event.seconds_left)
    if isinstance(event, Evaluated):
        return Adapted(event.step, event.scores)
    if isinstance(event, Resumed):
        return replace(event, adapting=True)
    return event if isinstance(event, LogMessage | Tick | PrecisionTrial | StateSaved) else None


def _perplexities(entry: Mapping[str, Any]) -> dict[str, float]:
    names = ("perplexity", "perplexity_per_word")
    return {name: float(entry[name]) for name in names if name in entry}
