"""`prompt`: ask a pretrained model with a template, without any training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base import untrusted
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.cli.choices import explicit_options
from workbench.cli.output import as_json, emit, note, say, table
from workbench.cli.runs.evaluate import intervals_json, scores_json, show_intervals, show_scores
from workbench.cli.session import CommandSession, key_values, project_argument, session
from workbench.text.columns import numbered

if TYPE_CHECKING:
    from workbench.metrics.evaluation import Evaluation
    from workbench.prompting.spec import PromptSpec


@click.command()
@project_argument
@click.option(
    "--template",
    type=click.Path(path_type=Path),
    required=True,
    help=_(
        "A Jinja2 file. Its variables: text, text_b, question, choices, label (the candidate: a "
        "label or the text of a choice), labels, letter and letters (A, B … for the candidates), "
        "descriptions (by label), examples (each with the same, its own label and letter)."
    ),
)
@click.option(
    "--model",
    required=True,
    help=_(
        "Name of the model. For the local backend: a masked or causal language model, by "
        "its name in `models list` or its folder."
    ),
)
@click.option(
    "--backend",
    metavar="ID",
    help=_("Prompt backend, for example one of a plugin. [default: local]"),
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=key_values,
    metavar="KEY=VALUE",
    help=_("Set an option of the backend."),
)
@click.option("--layer", help=_("Layer with the classes or choices to predict."))
@click.option(
    "--shots",
    type=click.IntRange(0, 64),
    default=0,
    show_default=True,
    help=_("Number of labelled examples in each prompt, from the training split."),
)
@click.option(
    "--order",
    type=click.Choice(("balanced", "random")),
    default="balanced",
    show_default=True,
    help=_("How examples are sampled."),
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help=_("Random seed of the examples.")
)
@click.option(
    "--split",
    type=click.Choice(("train", "dev", "test")),
    default="dev",
    show_default=True,
    help=_("Split to evaluate on. An evaluation on test counts as a view of the test score."),
)
@click.option(
    "--calibration",
    type=click.Choice(("none", "content-free", "pmi")),
    default="content-free",
    show_default=True,
    help=_(
        "Divide the probability of each label by its prior, the probability without the text: "
        "content-free uses the texts “N/A”, a mask token and the empty text, pmi (pointwise "
        "mutual information) the empty text only."
    ),
)
@click.option("--name", default="", help=_("Name of the run. [default: prompt-1, prompt-2, …]"))
@as_json
def prompt(
    file: Path,
    template: Path,
    model: str,
    backend: str | None,
    settings: dict[str, str],
    layer: str | None,
    shots: int,
    order: str,
    seed: int,
    split: str,
    calibration: str,
    name: str,
    as_json: bool,
) -> None:
    """Score a prompt on FILE: the label whose words are most probable at their place is the answer.

    For multiple choice it is the choice whose text, or letter, is most probable per subword.

    The same score table as a trained run's. The starters are small teaching models: expect the
    mechanism, not the scores.

    \b
    A template, for example:
    {% for example in examples %}{{ example.text }} Topic: {{ example.label }}
    {% endfor %}{{ text }} Topic: {{ label }}
    """  # noqa: D301 (click does not wrap a paragraph after this mark)
    from workbench.operations.prompts import prompt_fill, prompt_models
    from workbench.prompting.spec import PromptSpec

    if not shots and (options := explicit_options("order", "seed")):
        unused = _(
            "{options} without effect: no examples are sampled without --shots.",
            options=", ".join(options),
        )
        note(unused)
    with session(file) as opened:
        backend = backend or prompt_models.DEFAULT
        card = prompt_models.find(backend, model)
        source = _read(template)
        chosen, remark = prompt_fill.choose_layer(opened.project, layer)
        if remark:
            note(remark)
        spec = PromptSpec(
            template=source,
            model=card.path,
            model_name=card.name,
            layer=chosen.name,
            shots=shots,
            order=order,
            seed=seed,
            name=name,
            allow_pickle=card.pickled,
            calibration=calibration,
            backend=backend,
            options=prompt_models.options(backend, settings),
        )
        message, evaluation = _run(opened, spec, split)
    if as_json:
        emit(message)
    else:
        show_scores(_("Prompt {prompt}", prompt=message["prompt"]), message)
        show_intervals(evaluation)
        _show_prior(message)


def _show_prior(report: dict[str, Any]) -> None:
    if report["prior"]:
        say()
        message = _(
            "Calibration {method}. The prior is the share of a label without the text.",
            method=report["calibration"],
        )
        say(message)
        table(numbered((_("Label"), _("Prior"))), report["prior"].items())


def _read(template: Path) -> str:
    if untrusted.endless(template):
        raise WorkbenchError(
            _("{file} is a device, not a file.", file=template),
            hint=_("Specify a file with the template."),
        )
    try:
        return template.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise WorkbenchError(
            _("{file} is not UTF-8 text.", file=template),
            hint=_("Save the template as UTF-8."),
        ) from error


def _run(opened: CommandSession, spec: PromptSpec, split: str) -> tuple[dict[str, Any], Evaluation]:
    """What --json prints, and the evaluation with intervals."""
    from workbench.operations.evaluation import quality
    from workbench.operations.prompts import prompt as operations
    from workbench.operations.runs import results, run_results
    from workbench.operations.runs.kinds import contract as kinds

    prepared = operations.prepare(opened.project, spec, split=split)
    if n := prepared.dropped:
        left_out = ngettext(
            "{n:,} example did not fit and was left out.",
            "{n:,} examples did not fit and were left out.",
            n,
        )
        note(left_out)
    if n := prepared.cut:
        cut = ngettext("{n:,} text was truncated.", "{n:,} texts were truncated.", n)
        note(cut)
    run = kinds.start(opened.project, opened.queue, prepared)
    job = opened.queue.jobs[-1]
    title = _("Scoring prompts with {model}", model=spec.model_name)
    with opened.progress(title, what=_("The prompt run")) as watch:
        opened.queue.result(job, watch)
    ended = results.run(opened.project, run.id)
    evaluation = results.evaluate_stored(opened.project, ended, split)
    evaluation = quality.measure_intervals(opened.project, ended, evaluation)
    message = {
        "prompt": ended.name,
        **scores_json(ended, evaluation),
        "report": intervals_json(evaluation),
        "model": spec.model_name,
        "backend": spec.backend,
        "shots": spec.shots,
        "calibration": spec.calibration,
        "prior": run_results.prompted(ended).prior,
        "dropped": prepared.dropped,
        "cut": prepared.cut,
    }
    return message, evaluation
