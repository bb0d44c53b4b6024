"""`prompts`: the prompts of a project, their answers compared, and grids of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.base.records import to_plain
from workbench.base.terms import term
from workbench.cli.output import as_json, emit, plain, say, table
from workbench.cli.runs import saved_prompts
from workbench.cli.runs.evaluate import SPLITS
from workbench.cli.runs.follow import check_complete, follow_experiment
from workbench.cli.runs.prompt import agree, read_template
from workbench.cli.runs.prompt_options import (
    answer_options,
    example_options,
    selection,
    selection_options,
    yes_send,
)
from workbench.cli.runs.prompt_options import settings as answer_settings
from workbench.cli.session import numbers, project_argument, reading, session
from workbench.text.columns import TERMINAL, record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.cli.session import CommandSession
    from workbench.operations.experiments.prompt_grid import GridResult, GridSpec, PromptGrid
    from workbench.operations.prompts.prompt_answers import AnswerComparison, Exchange
    from workbench.project.project import Project
    from workbench.prompting.spec import PromptSpec

SEGMENTS = ("disagreements", "both-wrong", "no-answer", "all")  # as in operations, without numpy
LONGEST = 60  # characters of a text that are printed


@click.group("prompts")
def prompts() -> None:
    """List and compare the prompts of a project, and run grids of them."""


for command in saved_prompts.COMMANDS:
    prompts.add_command(command)


@prompts.command("compare")
@project_argument
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option("--split", type=SPLITS, default="dev", show_default=True, help=_("The documents."))
@click.option(
    "--show",
    "segment",
    type=click.Choice(SEGMENTS),
    help=_("Which documents to list. [default: disagreements; all with one run]"),
)
@click.option("--exact", metavar="KEY", help=_("Also print what was sent for one document."))
@as_json
def compare(
    file: Path,
    first: str,
    second: str | None,
    split: str,
    segment: str | None,
    exact: str | None,
    as_json: bool,
) -> None:
    """Compare the answers of two runs of prompts on FILE, text by text.

    A and B are names of runs; B may also be a trained run. A text from whose reply no label can be
    read has no answer, which is wrong. Without B the answers of A are listed.
    """
    from workbench.operations.prompts import prompt_answers as operations
    from workbench.operations.runs import results

    with reading(file) as project:
        other = results.run_named(project, second).id if second else None
        id = results.run_named(project, first).id
        comparison = operations.answers(project, id, other, split=split)
        exchanges = _exchanges(project, comparison, exact) if exact else []
    shown = segment or (operations.DISAGREE if second else operations.ALL)
    rows = comparison.shown(shown, operations.FIRST)
    if as_json:
        sent = {"exact": [to_plain(exchange) for exchange in exchanges]} if exact else {}
        return emit({**operations.report(comparison, rows), **sent})
    names = [run.run.name for run in comparison.runs]
    about = ngettext(
        "{n:,} document of {split}",
        "{n:,} documents of {split}",
        len(comparison.rows),
        split=term(split),
    )
    say(about)
    for letter, name in zip("AB", names, strict=False):
        say(f"{letter}: {name}")
    columns = operations.count_columns(TERMINAL)[: 1 + len(names)]
    table(columns, operations.counts(comparison))
    if second:
        joint = comparison.joint
        message = _(
            "Both right: {both}. Only A: {first}. Only B: {second}. Both wrong: {neither}.",
            both=joint[True, True],
            first=joint[True, False],
            second=joint[False, True],
            neither=joint[False, False],
        )
        say(message)
        say(operations.verdict(comparison))
    say()
    table(operations.columns(comparison, longest=LONGEST), rows)
    for run, exchange in zip(comparison.runs, exchanges, strict=True) if exact else ():
        _show_exchange(run.run.name, exchange)


def _exchanges(project: Project, comparison: AnswerComparison, key: str) -> list[Exchange | None]:
    """What was sent for the document with a key and what came back, for each run."""
    from workbench.operations.prompts import prompt_answers as operations

    document = next((row.document_id for row in comparison.rows if row.key == key), None)
    if document is None:
        raise WorkbenchError(_("No document with an answer has the key {key!r}.", key=key))
    return [operations.exchange(project, run.run, document) for run in comparison.runs]


def _show_exchange(name: str, exchange: Exchange | None) -> None:
    say()
    if exchange is None:
        say(_("{run}: what was sent is not stored.", run=name))
        return
    sent = _("{run}, sent: {part}")
    for part, *texts in exchange.sent:
        _show_text(sent.format(run=name, part=part), "".join(texts))
    for reply in exchange.replies:
        _show_text(_("{run}, reply:", run=name), reply)


def _show_text(title: str, text: str) -> None:
    """A text of a model cannot control the terminal."""
    say(title)
    for line in text.splitlines():
        say(plain(line))


@prompts.command("examples")
@project_argument
@click.argument("keys", nargs=-1, required=True, metavar="KEY…")
@click.option("--layer", help=_("Layer that the prompts answer."))
@click.option("--run", "run_name", metavar="RUN", help=_("A run of a prompt, with its settings."))
@example_options
@as_json
def examples(
    file: Path,
    keys: tuple[str, ...],
    layer: str | None,
    run_name: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """List the examples that a prompt shows for documents of FILE, and why each was selected.

    Which of them fit is known for the model of a --run; without one, all are listed.
    """
    from workbench.operations.prompts import prompt_examples, prompt_fill

    with session(file) as opened:
        spec = _selecting(opened.project, layer, run_name, options)
        with (
            opened.progress(_("Selecting examples")) as watch,
            prompt_fill.Fillers(opened.project, queue=opened.queue) as fillers,
        ):
            rows = prompt_fill.examples_of(fillers, spec, keys, watch=watch)
    if as_json:
        columns = prompt_examples.columns()
        return emit(
            {
                "order": spec.order,
                "dropped_first": prompt_examples.dropped_first(spec),
                "documents": [
                    {"key": key, "examples": [record(columns, row) for row in listed]}
                    for key, listed in rows.items()
                ],
            }
        )
    for key, listed in rows.items():
        say(key)
        table(prompt_examples.columns(), listed)
    say(_("Left out first: {first}.", first=prompt_examples.dropped_first(spec)))


def _selecting(
    project: Project, layer: str | None, run_name: str | None, options: dict[str, Any]
) -> PromptSpec:
    from workbench.operations.prompts import prompt, prompt_fill
    from workbench.operations.runs import results
    from workbench.prompting.spec import PromptSpec

    if run_name is not None:
        return prompt.spec_of(results.run_named(project, run_name))
    chosen, _remark = prompt_fill.choose_layer(project, layer)
    if not options["shots"] and not options["pins"]:
        options["shots"] = PromptSpec.shots
    return PromptSpec("", "", layer=chosen.name, **selection(project, chosen, options))


# ---------------------------------------------------------------- grids


def _names(_context: click.Context, _parameter: click.Parameter, text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


@prompts.command("grid")
@project_argument
@click.option("--layer", help=_("Layer that the prompts answer."))
@click.option(
    "--prompt",
    "names",
    multiple=True,
    metavar="NAME[@VERSION]",
    help=_("A prompt of the project, with all its settings. May be given several times."),
)
@click.option(
    "--template",
    "templates",
    type=click.Path(path_type=Path),
    multiple=True,
    help=_("A Jinja2 file, as for `glossbench prompt`. May be given several times."),
)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="[BACKEND:]NAME",
    help=_("A model, of the local backend by default. May be given several times."),
)
@click.option(
    "--shots",
    default="0,4",
    show_default=True,
    callback=numbers,
    metavar="N,N,…",
    help=_("Numbers of labelled examples in each prompt."),
)
@click.option(
    "--select",
    "selections",
    default="random",
    show_default=True,
    callback=_names,
    metavar="NAME,NAME,…",
    help=_("How examples are selected, as with --order of `glossbench prompt`."),
)
@click.option(
    "--seeds", default="1,2,3", show_default=True, callback=numbers, help=_("Random seeds.")
)
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help=_("Ask about N documents of dev, the same ones in every run. [default: all]"),
)
@selection_options
@answer_options
@yes_send
@click.option(
    "--resume", is_flag=True, help=_("Continue the last grid of the layer, or of the project.")
)
@click.option("--plan", is_flag=True, help=_("Show the rows and their states, then exit."))
@as_json
def grid(
    file: Path,
    layer: str | None,
    names: tuple[str, ...],
    templates: tuple[Path, ...],
    models: tuple[str, ...],
    shots: tuple[int, ...],
    selections: tuple[str, ...],
    seeds: tuple[int, ...],
    sample: int,
    yes_send: bool,
    resume: bool,
    plan: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Run every prompt with every model, selection and number of examples on dev of project FILE,
    and say which is best.

    The runs are ordinary runs, one for each seed where the seed matters. Finished ones with the
    same settings on the same data are used again: repeat the command, or use --resume, to
    continue. Ctrl+C once ends after the current run, twice cancels it; answers that have arrived
    are kept. Options of examples and answers are for every --template. The last line says by a
    fixed rule what is best now, what it costs, and whether a fine-tuned run of the layer is better,
    with the paired test on the documents of both.
    """
    from workbench.operations.experiments import prompt_grid as operations

    with session(file) as opened:
        if resume:
            spec = _last(opened.project, layer)
        else:
            specs = _asked(opened.project, layer, names, templates, options)
            fields = [operations.model_fields(*_backend_and_name(model)) for model in models]
            if not specs or not (fields or all(prompt.model_name for prompt in specs)):
                raise click.UsageError(_("--model and --template, or --prompt, are needed."))
            if not fields:
                own = [operations.model_fields(one.backend, one.model_name) for one in specs]
                specs = [replace(one, **model) for one, model in zip(specs, own, strict=True)]
            rows = operations.combined(specs, fields or [{}], selections, shots)
            spec = operations.GridSpec(specs[0].layer, seeds=seeds, sample=sample).with_rows(rows)
        work = operations.PromptGrid(opened.project, spec)
        if not plan:
            _agree(opened, work, yes_send)
            follow_experiment(opened, work)
        result = work.measure()
        report = operations.to_json(work, result)
    if as_json:
        emit(report)
    else:
        _show_grid(work, result)
    if not plan:
        check_complete(work)


def _last(project: Project, layer: str | None) -> GridSpec:
    from workbench.operations.experiments import prompt_grid as operations

    spec = operations.last(project, layer or "")
    if spec is None:
        raise WorkbenchError(
            _("No grid was started in this project yet."),
            hint=_("Specify --template and --model."),
        )
    return spec


def _asked(
    project: Project,
    layer: str | None,
    names: Sequence[str],
    templates: Sequence[Path],
    options: Mapping[str, Any],
) -> list[PromptSpec]:
    """The prompts of a grid, each on its layer; all on the same one."""
    from workbench.operations.prompts import prompt_fill, prompt_versions
    from workbench.prompting.spec import PromptSpec

    stored = [
        prompt_versions.spec_of(*prompt_versions.version_named(project, name)) for name in names
    ]
    known = next((prompt.layer for prompt in stored if prompt.layer), None)
    chosen, _remark = prompt_fill.choose_layer(project, layer or known)
    about = {**answer_settings(options, chosen), **selection(project, chosen, options)}
    of_files = [
        PromptSpec(read_template(path), "", prompt_name=path.stem, **about) for path in templates
    ]
    return [replace(prompt, layer=chosen.name) for prompt in (*stored, *of_files)]


def _agree(opened: CommandSession, work: PromptGrid, yes: bool) -> None:
    """Ask once for each server whether texts may be sent, with an example."""
    from workbench.operations.prompts import prompt as operations
    from workbench.operations.prompts import servers

    for cell in work.cells:
        spec = cell.spec
        if spec is not None and servers.needs_consent(opened.project, spec.backend, spec.model):
            one = replace(spec, sample=1)
            prepared = operations.prepare(opened.project, one, queue=opened.queue)
            agree(opened.project, spec, operations.example(opened.project, prepared), yes)


def _backend_and_name(model: str) -> tuple[str, str]:
    """`BACKEND:NAME` or `NAME`; a path of Windows is a name."""
    from workbench.base.registry import registry
    from workbench.operations.prompts import prompt_models

    backend, _colon, name = model.partition(":")
    if name and backend in registry().ids("backend"):
        return backend, name
    return prompt_models.DEFAULT, model


def _show_grid(work: PromptGrid, result: GridResult) -> None:
    from workbench.operations.experiments import prompt_grid as operations
    from workbench.tasks import spec as tasks

    say(
        _(
            "{score} on {split}, layer {layer}; mean ± standard deviation over seeds {seeds}, "
            "95% interval over documents.",
            score=work.score,
            split=work.split,
            layer=work.spec.layer,
            seeds=", ".join(map(str, work.spec.seeds)),
        )
    )
    if tasks.is_error(work.score):
        say(_("The score is an error in its own unit: lower is better."))
    table(operations.columns(work.score), result.rows)
    for row in result.rows:
        if row.message:
            say(_("{title}: {message}", title=row.title, message=row.message))
    say(result.verdict.sentence)
