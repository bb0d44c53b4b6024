"""`prompt`: ask a pretrained model with a template, without any training."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from workbench.base import untrusted
from workbench.base.errors import Cancelled, JobFailed, WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.cli.choices import explicit_options
from workbench.cli.output import as_json, emit, note, plain, say, table
from workbench.cli.runs import prompt_options
from workbench.cli.runs.evaluate import intervals_json, scores_json, show_intervals, show_scores
from workbench.cli.runs.prompt_options import answer_options, example_options
from workbench.cli.session import CommandSession, key_values, project_argument, session
from workbench.text.columns import numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from workbench.metrics.evaluation import Evaluation
    from workbench.operations.prompts.prompt import PreparedPrompt, ResumedPrompt
    from workbench.project.project import Project
    from workbench.prompting.backends.spec import PromptModel
    from workbench.prompting.spec import PromptSpec
    from workbench.storage.runs.runs import Run
    from workbench.text.document import Document


@click.command()
@project_argument
@click.option(
    "--template",
    type=click.Path(path_type=Path),
    help=_(
        "A Jinja2 file. Its variables: text, text_b, question, choices, label (the candidate: a "
        "label or the text of a choice), labels, letter and letters (A, B … for the candidates), "
        "words and descriptions (by label), instruction, meta.KEY, answer (written by the model), "
        "examples (each with the same, its own label, letter, answer, labels, spans and number). "
        "{% system %}, {% user %} and {% assistant %} begin the messages of a conversation."
    ),
)
@click.option(
    "--prompt",
    "saved",
    metavar="NAME[@VERSION]",
    help=_(
        "A prompt of the project, by default in its latest version, with all its settings. Other "
        "options replace them for this run."
    ),
)
@click.option(
    "--save-as",
    metavar="NAME",
    help=_("Save the settings in the project, as the latest version of this prompt."),
)
@click.option(
    "--model",
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
    "--server",
    metavar="URL",
    help=_(
        "Ask a model of this server, an address or a title of `servers list`. --model is then the "
        "server's name for it, and not needed if it has one alone."
    ),
)
@prompt_options.yes_send
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=key_values,
    metavar="KEY=VALUE",
    help=_("Set an option of the backend."),
)
@click.option("--layer", help=_("Layer to answer about."))
@example_options
@click.option(
    "--split",
    type=click.Choice(("train", "dev", "test")),
    default="dev",
    show_default=True,
    help=_("Split to evaluate on. An evaluation on test counts as a view of the test score."),
)
@answer_options
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help=_("Ask about N documents of the split, the same ones in every run. [default: all]"),
)
@click.option("--name", default="", help=_("Name of the run. [default: prompt-1, prompt-2, …]"))
@click.option(
    "--resume",
    metavar="RUN",
    help=_("Send what this run has no answers to, as it was stopped, cancelled or killed."),
)
@as_json
def prompt(
    file: Path,
    template: Path | None,
    saved: str | None,
    save_as: str | None,
    model: str | None,
    backend: str | None,
    server: str | None,
    yes_send: bool,
    settings: dict[str, str],
    layer: str | None,
    split: str,
    sample: int,
    name: str,
    resume: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Score a prompt on FILE: the label whose words are most probable at their place is the answer.

    For multiple choice it is the choice whose text, or letter, is most probable per subword. With
    another --form the model writes a reply, from which classes, numbers, spans or answers are read;
    one that cannot be read is no answer, which is wrong.

    The same score table as a trained run's. The starters are small teaching models: expect the
    mechanism, not the scores.

    \b
    A template, for example:
    {% for example in examples %}{{ example.text }} Topic: {{ example.label }}
    {% endfor %}{{ text }} Topic: {{ label }}
    """  # noqa: D301 (click does not wrap a paragraph after this mark)
    from workbench.operations.prompts import prompt as operations
    from workbench.operations.prompts import prompt_fill, prompt_reading
    from workbench.operations.runs import results
    from workbench.prompting.spec import PromptSpec

    if resume:
        _refuse_with_resume()
        with session(file) as opened:
            earlier = results.run_named(opened.project, resume)
            resumed = operations.prepare_resume(opened.project, earlier)
            example = operations.example(opened.project, resumed)
            agree(opened.project, operations.spec_of(earlier), example, yes_send)
            report, evaluation = _run(opened, resumed, earlier.spec["model_name"])
        return _show(report, evaluation, as_json)
    if not saved and (template is None or (model is None and not server)):
        raise click.UsageError(_("--template and --model, or --prompt, are needed."))
    if server and backend:
        raise click.UsageError(_("--server and --backend exclude each other."))
    names = ("order", "seed", "every_label", "arrangement", "vectors", "uncertain_run")
    none = not (saved or options["shots"] or options["pins"])
    if none and (unused := explicit_options(*names)):
        without = _("{options} without effect: no examples are sampled without --shots.")
        note(without.format(options=", ".join(unused)))
    with session(file) as opened:
        base = _saved(opened.project, saved) if saved else None
        if base is not None and not server:
            backend, model = backend or base.backend, model or base.model_name or base.model
        backend, card = asked_model(opened, backend, server, model or "")
        about: dict[str, Any] = {"template": read_template(template)} if template else {}
        chosen, remark = prompt_fill.choose_layer(
            opened.project, layer or (base.layer if base else None)
        )
        if remark:
            note(remark)
        spec = replace(
            base or PromptSpec("", ""),
            **about,
            model=card.path,
            model_name=card.name,
            layer=chosen.name,
            name=name,
            sample=sample,
            allow_pickle=card.pickled,
            backend=backend,
            options=_options(base, backend, settings),
            **prompt_options.settings(options, chosen, base),
            **prompt_options.selection(opened.project, chosen, options, base),
        )
        prompt_reading.check_model(card, spec, chosen)
        spec = _named(opened.project, spec, save_as)
        with opened.progress(_("Preparing prompts")) as watch:
            prepared = operations.prepare(
                opened.project, spec, split=split, queue=opened.queue, watch=watch
            )
        _note_what_did_not_fit(prepared)
        example = operations.example(opened.project, prepared)
        agree(opened.project, prepared.spec, example, yes_send)
        report, evaluation = _run(opened, prepared, spec.model_name)
    _show(report, evaluation, as_json)


def _saved(project: Project, name: str) -> PromptSpec:
    from workbench.operations.prompts import prompt_versions

    return prompt_versions.spec_of(*prompt_versions.version_named(project, name))


def _options(base: PromptSpec | None, backend: str, settings: dict[str, str]) -> dict[str, Any]:
    """Options of the backend that differ from its defaults: those of a saved prompt, and --set."""
    from workbench.operations.prompts import prompt_models

    own_options = base.options if base is not None and base.backend == backend else {}
    usual = prompt_models.options(backend, {})
    chosen = prompt_models.options(backend, {**own_options, **settings})
    return {name: value for name, value in chosen.items() if value != usual[name]}


def _named(project: Project, spec: PromptSpec, save_as: str | None) -> PromptSpec:
    """The settings with the prompt that the run names: a version only if it has these settings."""
    from workbench.operations.prompts import prompt_versions

    if save_as:
        return prompt_versions.save(project, save_as, spec)
    if not spec.prompt_name:
        return spec
    version = _saved(project, f"{spec.prompt_name}@{spec.prompt_version}")
    same = prompt_versions.identity(version) == prompt_versions.identity(spec)
    return spec if same else replace(spec, prompt_version=0)


def asked_model(
    opened: CommandSession, backend: str | None, server: str | None, name: str
) -> tuple[str, PromptModel]:
    """The backend and its model; a server is tested first if that was not done before."""
    from workbench.operations.prompts import prompt_models, servers

    if not server:
        chosen = backend or prompt_models.DEFAULT
        return chosen, prompt_models.find(chosen, name)
    with opened.progress(_("Testing the server"), what=_("The test")) as watch:
        return servers.BACKEND, servers.model(opened.queue, server, name, watch=watch)


def agree(project: Project, spec: PromptSpec, example: str, yes: bool) -> None:
    """Ask once per project and address whether texts may be sent; `yes` is the answer of an option.

    Raises ConsentNeeded without a terminal, Abort if the user says no.
    """
    from workbench.operations.prompts import servers

    agree_to(
        project,
        servers.needs_consent(project, spec.backend, spec.model),
        _("Texts of this project will be sent to {address}, for example:"),
        yes,
        example=example,
    )


def agree_to(
    project: Project | None, address: str, question: str, yes: bool, example: str = ""
) -> None:
    """Ask whether texts may be sent to an address, unless it is ""; see `agree`. project: which
    keeps the answer.
    """
    from workbench.operations.prompts import servers

    if not address:
        return
    if not yes:
        if not sys.stdin.isatty():
            raise servers.ConsentNeeded(address)
        note(question.format(address=address))
        for line in example.splitlines():
            note(f"  {plain(line)}")
        if not servers.is_encrypted(address):
            note(_("The connection is not encrypted."))
        later = _("Send them, now and later?") if project is not None else _("Send them?")
        click.confirm(later, abort=True, err=True)
    if project is not None:
        servers.agree(project, address)


def agree_for(
    opened: CommandSession, run: Run, read: Callable[[], Iterable[Document]], yes: bool
) -> None:
    """As `agree`, before a run predicts documents: it may be a prompt that a server answers."""
    from workbench.operations.prompts import prompt as operations

    first = None
    if operations.needs_consent(opened.project, run):
        first = next(iter(read()), None)
    if first is not None:
        example = operations.example_of(opened.project, opened.queue, run, first)
        agree(opened.project, operations.spec_of(run), example, yes)


def _refuse_with_resume() -> None:
    """Raises UsageError if there are other options: a run goes on with its own settings."""
    context = click.get_current_context()
    options = [
        option.opts[0]
        for option in context.command.params
        if option.name not in ("file", "resume", "yes_send", "as_json")
        and context.get_parameter_source(option.name or "") is not ParameterSource.DEFAULT
    ]
    if options:
        raise click.UsageError(
            _(
                "--resume goes on with the settings of the run, without {options}.",
                options=", ".join(options),
            )
        )


def _show(message: dict[str, Any], evaluation: Evaluation, as_json: bool) -> None:
    if as_json:
        emit(message)
    else:
        show_scores(_("Prompt {prompt}", prompt=message["prompt"]), message)
        show_intervals(evaluation)
        _show_prior(message)
        _show_unread(message)


def _show_prior(report: dict[str, Any]) -> None:
    if report["prior"]:
        say()
        message = _(
            "Calibration {method}. The prior is the share of a label without the text.",
            method=report["calibration"],
        )
        say(message)
        table(numbered((_("Label"), _("Prior"))), report["prior"].items())


def _show_unread(report: dict[str, Any]) -> None:
    """How many replies hold no answer, and why; how many quoted strings have no place."""
    from workbench.text.fields import FromReply

    if n := report["no_answer"]:
        say()
        unread = ngettext(
            "{n:,} document without an answer, which is wrong:",
            "{n:,} documents without an answer, which is wrong:",
            n,
        )
        say(unread)
        for reason, count in report["no_answer_reasons"].items():
            say(f"  {count:,}  {FromReply(reason).reason}")
    if n := report["unplaced"]:
        unplaced = ngettext(
            "{n:,} quoted string is not in its text.",
            "{n:,} quoted strings are not in their texts.",
            n,
        )
        say(unplaced)


def read_template(template: Path) -> str:
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


def _note_what_did_not_fit(prepared: PreparedPrompt) -> None:
    from workbench.operations.prompts import prompt_examples

    if n := prepared.dropped:
        left_out = ngettext(
            "{n:,} example did not fit and was left out; of a prompt, first {first}.",
            "{n:,} examples did not fit and were left out; of a prompt, first {first}.",
            n,
            first=prompt_examples.dropped_first(prepared.spec),
        )
        note(left_out)
    if n := prepared.cut:
        cut = ngettext("{n:,} text was truncated.", "{n:,} texts were truncated.", n)
        note(cut)


def _run(
    opened: CommandSession, prepared: PreparedPrompt | ResumedPrompt, model: str
) -> tuple[dict[str, Any], Evaluation]:
    """What --json prints, and the evaluation with intervals."""
    from workbench.operations.evaluation import quality
    from workbench.operations.prompts import prompt as operations
    from workbench.operations.prompts import prompt_versions
    from workbench.operations.runs import results, run_results
    from workbench.operations.runs.kinds import contract as kinds

    run = kinds.start(opened.project, opened.queue, prepared)
    job = opened.queue.jobs[-1]
    title = _("Scoring prompts with {model}", model=model)
    try:
        with opened.progress(title, what=_("The prompt run")) as watch:
            opened.queue.result(job, watch)
    except (Cancelled, JobFailed) as error:
        if hint := _how_to_resume(opened, run.id):
            if isinstance(error, Cancelled):
                error.message = _("The prompt run was cancelled.")
            error.hint = f"{error.hint} {hint}".strip()
        raise
    ended = results.run(opened.project, run.id)
    spec, outcome = operations.spec_of(ended), run_results.prompted(ended)
    evaluation = results.evaluate_stored(opened.project, ended, ended.spec["split"])
    evaluation = quality.measure_intervals(opened.project, ended, evaluation)
    if spread := operations.order_spread(ended):
        note(spread)
    message = {
        "prompt": ended.name,
        "saved": prompt_versions.name_of(spec),
        **scores_json(ended, evaluation),
        "report": intervals_json(evaluation),
        "model": spec.model_name,
        "backend": spec.backend,
        "shots": spec.shots,
        "calibration": outcome.calibration or "none",
        "prior": outcome.prior,
        "form": spec.answer.form,
        "no_answer": evaluation.no_answer,
        "no_answer_reasons": dict(outcome.no_answer),
        "unplaced": outcome.unplaced,
        "orders": list(outcome.orders),
        "dropped": outcome.dropped,
        "cut": outcome.cut,
        "known": outcome.known,
        "failed": outcome.failed,
    }
    return message, evaluation


def _how_to_resume(opened: CommandSession, run_id: int) -> str:
    """For a run that ended early; "" if it left nothing."""
    from workbench.operations.prompts import prompt as operations
    from workbench.operations.runs import results

    for run in results.all_runs(opened.project):
        if run.id == run_id and operations.can_resume(opened.project, run):
            return _("Its answers are kept: --resume {name} sends the rest.", name=run.name)
    return ""
