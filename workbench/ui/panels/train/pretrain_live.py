"""The curves of one pretraining or of a training of word vectors, from its events. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.jobs.events import Finished, Output
from workbench.models import spec as models
from workbench.pretraining import spec
from workbench.training.vectors import spec as vectors
from workbench.ui.project.job_progress import JobProgress, add_line, add_perplexities, ended, follow
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.jobs.queue import Job


def new_live(job: Job) -> JobProgress:
    """The run of a job; its id is that of the job."""
    method = job.spec.params.get("method", "")
    title = Path(str(job.spec.params.get("out") or job.spec.params.get("output", ""))).name
    if method:
        return JobProgress(job.id, _(vectors.METHODS[method]), title, epochs=True)
    pretraining = spec.PretrainSpec.from_json(job.spec.params["spec"])
    created = pretraining.created
    card = (
        models.card(pretraining.model, allow_pickle=pretraining.allow_pickle)
        if created is None
        else created.card()
    )
    name = _(pretraining.info.title)
    return JobProgress(job.id, name, title, by_character=card.predicts_characters)


def follow_pretraining(live: JobProgress, event: object) -> None:
    """Update the curves with one event of the run."""
    if isinstance(event, Finished):
        ended(live, event)
        live.step = event.result.get("steps") or live.step
        return
    kind = event.payload.get("kind") if isinstance(event, Output) else ""
    if isinstance(event, Output) and kind in _TAKE:
        _TAKE[str(kind)](live, event.payload)
    else:
        follow(live, event)


def _evaluated(live: JobProgress, message: Mapping[str, Any]) -> None:
    live.seen.append(message["step"])
    add_perplexities(live, message["scores"])
    perplexity = message["scores"].get("perplexity")
    if perplexity is None:  # the objective predicts no units of the text
        line = _("step {step}: loss {value}")
    else:
        line = _("step {step}: perplexity {value}")
    value = formats.significant(message["loss"] if perplexity is None else perplexity, 4)
    add_line(live, line.format(step=formats.count(message["step"]), value=value))


def _saved(live: JobProgress, message: Mapping[str, Any]) -> None:
    line = _("step {step}: model saved", step=formats.count(message["step"]))
    add_line(live, line)


def _progress(live: JobProgress, message: Mapping[str, Any]) -> None:
    live.prepared = message["part"]


def _epoch(live: JobProgress, message: Mapping[str, Any]) -> None:
    """One pass over the text, for word vectors."""
    live.step = live.epoch = message["epoch"]
    live.steps.append(message["epoch"])
    live.losses.setdefault("loss", []).append(message["loss"])
    live.smoothed["loss"] = live.losses["loss"]
    line = _("epoch {epoch}: loss {loss}")
    value = formats.significant(message["loss"], 4)
    add_line(live, line.format(epoch=formats.count(message["epoch"]), loss=value))


_TAKE = {"evaluated": _evaluated, "saved": _saved, "progress": _progress, "epoch": _epoch}
