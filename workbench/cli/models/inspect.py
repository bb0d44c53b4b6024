"""`inspect`: run an inspector of the registry on a model and texts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import ModelError, WorkbenchError
from workbench.base.i18n import _
from workbench.base.records import to_plain
from workbench.cli.output import as_json_lines, emit, note, say, table
from workbench.cli.session import PROJECT, reading, session
from workbench.inspection import spec
from workbench.text.columns import Column, numbered

if TYPE_CHECKING:
    from workbench.inspection.spec import Inspection
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.operations.inspecting.inspect_host import InspectorHost
    from workbench.project.project import Project
    from workbench.text.document import Document

NOTHING: tuple[Any, ...] = (None, "", [])  # a column with nothing else is left out


@click.command()
@click.argument("run_or_model", metavar="RUN_OR_MODEL")
@click.option("--inspector", help=_("Id of the inspector. Without it, all inspectors are listed."))
@click.option("--text", "texts", multiple=True, help=_("A text; can be given several times."))
@click.option(
    "--text-b", "second", multiple=True, help=_("Second text of a pair, one for each --text.")
)
@click.option("--document", "keys", multiple=True, help=_("Key of a document of the project."))
@click.option(
    "--all", "every", is_flag=True, help=_("All documents of the project, in one result.")
)
@click.option(
    "--project", "file", type=PROJECT, help=_("Project that contains the run and the documents.")
)
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help=_("Option of the inspector.")
)
@click.option(
    "--arrays",
    type=click.Path(path_type=Path, file_okay=False),
    help=_("Write arrays to .npy files in this folder; the JSON then names the files."),
)
@click.option(
    "--device",
    default="auto",
    show_default=True,
    help=_("Device: auto, cpu, cuda or mps."),
)
@click.option(
    "--precision",
    type=click.Choice(["auto", "fp32", "bf16"]),
    default="auto",
    show_default=True,
    help=_(
        "Weights of pretrained causal models. bf16 takes half the memory and needs a device with "
        "bf16 instructions; auto: bf16 on a GPU for models published in 16-bit precision, else "
        "fp32."
    ),
)
@as_json_lines
def inspect(
    run_or_model: str,
    inspector: str | None,
    texts: tuple[str, ...],
    second: tuple[str, ...],
    keys: tuple[str, ...],
    every: bool,
    file: Path | None,
    settings: tuple[str, ...],
    arrays: Path | None,
    device: str,
    precision: str,
    as_json: bool,
) -> None:
    """Inspect a model on texts.

    RUN_OR_MODEL is a run of the project, the folder of a run, or a pretrained model by name or
    folder. Without --inspector, the available inspectors are listed; those that do not support the
    model are listed with the reason. With --json, one line is printed per text. Inspectors that
    compare with the documents of --project compute an index of them first, which is kept; those
    that examine these documents take no text, and their results are kept. Can be used while a
    window has the project open.
    """
    from workbench.operations.inspecting import examine
    from workbench.operations.inspecting import inspect as operations

    pairs = _pairs(texts, second)
    if (keys or every) and file is None:
        raise click.UsageError(_("--document and --all require --project."))
    options: Mapping[str, Any] = _options(settings)
    if inspector is not None and examine.examined(inspector):
        _examine(run_or_model, inspector, file, options, device, as_json)
        return
    choice, documents = _found(run_or_model, file, keys)
    if inspector is not None and not texts and not keys and not every:
        if not _needs_index(inspector):
            raise click.UsageError(_("--text, --document or --all is required."))
        documents = [operations.typed("")]
    if inspector is None:
        _list(choice, as_json)
        return
    _ensure_supported(choice, inspector)
    options = _with_index(file, choice, inspector, options, device)
    documents += [operations.typed(*pair) for pair in pairs]
    with _opened(choice, device, precision) as host:
        for number, document in enumerate(documents, 1):
            answer = host.ask(inspector, document, options=options)
            _print(answer, document, _Arrays(arrays, number), as_json)
        if every and file is not None:
            with reading(file) as project:
                whole = operations.every_document(project)
            answer = host.ask(inspector, *whole, options=options, timeout=3600)
            _print(answer, None, _Arrays(arrays, 0), as_json)


def _pairs(texts: tuple[str, ...], second: tuple[str, ...]) -> list[tuple[str, str | None]]:
    """Each text with its second text. Raises UsageError unless all or none have one."""
    if second and len(second) != len(texts):
        raise click.UsageError(_("--text-b is required once for each --text."))
    return list(zip(texts, second or (None,) * len(texts), strict=True))


def _ensure_supported(choice: InspectableModel, inspector: str) -> None:
    """Raises WorkbenchError if an inspector does not support the model."""
    if refused := _refusal(choice, inspector):
        hint = _(
            "Run the command without --inspector to list the inspectors that support this model."
        )
        raise WorkbenchError(refused, hint=hint)


def _examine(
    name: str,
    inspector: str,
    file: Path | None,
    options: Mapping[str, Any],
    device: str,
    as_json: bool,
) -> None:
    """Run an inspector that examines the documents of a project, or read its result."""
    from workbench.inspection.spec import Inspection
    from workbench.operations.inspecting import examine

    if file is None:
        raise click.UsageError(_("--project is required: this inspector reads its documents."))
    choice, _documents = _found(name, file, ())
    if refused := _refusal(choice, inspector):
        raise WorkbenchError(refused)
    with reading(file) as project:
        prepared = examine.prepare(project, choice, inspector, options)
    result = examine.kept(prepared)
    if result is None:
        with session(None) as opened, opened.progress(_("Examining")) as watch:
            result = examine.compute(opened.queue, prepared, device=device, watch=watch)
    _print(Inspection(inspector, result), None, _Arrays(None, 0), as_json)


def _options(settings: Sequence[str]) -> dict[str, str]:
    options = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise click.UsageError(_("{text!r} is not of the form NAME=VALUE.", text=setting))
        options[name] = value
    return options


def _found(
    name: str, file: Path | None, keys: Sequence[str]
) -> tuple[InspectableModel, list[Document]]:
    """The model and the documents of the project."""
    from workbench.operations.inspecting import inspect as operations
    from workbench.operations.models import installed
    from workbench.operations.runs import results

    if file is None:
        return operations.of_folder(name), []
    with reading(file) as project:
        documents = [operations.by_key(project, key) for key in keys]
        runs = [run.name for run in results.all_runs(project)]
        if name in runs:
            return operations.named_run(project, name), documents
    if runs and not Path(name).exists() and name not in {card.name for card in installed.list()}:
        raise ModelError(
            _("There is no run or model {name!r}.", name=name),
            hint=_("Runs: {names}.", names=", ".join(runs)),
        )
    return operations.of_folder(name), documents


def _refusal(choice: InspectableModel, inspector: str) -> str:
    """Why the inspector does not support the model, "" if it does.

    Raises WorkbenchError for an unknown id.
    """
    from workbench.base.registry import registry
    from workbench.operations.inspecting import inspect as operations

    registry().entry("inspector", inspector)
    return next(offer.refused for offer in operations.offers(choice) if offer.id == inspector)


def _list(choice: InspectableModel, as_json: bool) -> None:
    from workbench.operations.inspecting import inspect as operations

    offers = operations.offers(choice)
    columns = (
        Column(_("Inspector"), lambda offer: offer.id, key="id"),
        Column(_("Shows"), lambda offer: offer.title, key="title"),
        Column("", lambda offer: offer.question, key="question"),
        Column("", lambda offer: not offer.refused, key="available"),
        Column("", lambda offer: offer.refused, key="reason"),
        Column(_("Available"), lambda offer: offer.refused or _("yes")),
    )
    table(columns, offers, as_json)


@contextmanager
def _opened(choice: InspectableModel, device: str, weights: str) -> Iterator[InspectorHost]:
    from workbench.operations.inspecting import inspect_host

    note(_("Loading {name}…", name=choice.title))
    host = inspect_host.InspectorHost(device=device, weights=weights)
    try:
        host.open(choice)
        yield host
    finally:
        host.close()


class _Arrays:
    """Arrays as nested lists, or as the names of files in a folder."""

    def __init__(self, folder: Path | None, number: int):
        self._folder, self._number = folder, number

    def replaced(self, value: Any, path: str = "") -> Any:
        """The value with its arrays replaced; `path` names them."""
        if isinstance(value, Mapping):
            return {key: self.replaced(item, f"{path}-{key}") for key, item in value.items()}
        if isinstance(value, list):
            return [self.replaced(item, f"{path}-{n}") for n, item in enumerate(value)]
        if not hasattr(value, "tolist"):
            return value
        return value.tolist() if self._folder is None else self._write(self._folder, value, path)

    def _write(self, folder: Path, array: Any, path: str) -> str:
        import numpy

        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self._number}{path}.npy"
        numpy.save(file, array, allow_pickle=False)
        return str(file)


def _print(answer: Inspection, document: Document | None, arrays: _Arrays, as_json: bool) -> None:
    result = arrays.replaced(to_plain(answer.result))
    if as_json:
        about: dict[str, Any] = {}
        if document is not None:
            about = {"key": document.key} if document.key else {}
            about["texts"] = dict(document.texts)
        emit(
            {
                "inspector": answer.inspector,
                **about,
                "unknown": answer.unknown,
                "milliseconds": answer.milliseconds,
                "result": result,
            }
        )
        return
    if document is not None:
        say(" | ".join(content for _name, content in document.texts))
    for name, value in result.items() if isinstance(result, Mapping) else (("", result),):
        _say_value(name, value)
    say()


def _say_value(name: str, value: Any) -> None:
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        say(f"{name}:")
        named = [key for key in value[0] if any(row[key] not in NOTHING for row in value)]
        table(numbered(named), [[_cell(row[key]) for key in named] for row in value])
    elif isinstance(value, list) and value and all(isinstance(item, list) for item in value):
        say(f"{name}:")
        for row in value:
            say("  ".join(str(_cell(item)) for item in row))
    else:
        say(f"{name}: {_cell(value)}")


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return ", ".join(str(_cell(item)) for item in value) or "–"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_cell(item)}" for key, item in value.items())
    if isinstance(value, float):
        return f"{value:.4f}" if math.isfinite(value) else "–"
    return "–" if value in (None, "") else value


# ---------------------------------------------------------------- the index of a project


def _needs_index(inspector: str) -> bool:
    info = spec.light(inspector)
    return info is not None and bool(info.corpus)


def _with_index(
    file: Path | None,
    choice: InspectableModel,
    inspector: str,
    values: Mapping[str, Any],
    device: str,
) -> dict[str, Any]:
    """The options with the index, which is computed unless it exists; unchanged without a need.

    Raises UsageError without a project or a word, WorkbenchError if no document has the word or
    there is no such layer of senses or model of static vectors.
    """
    from workbench.operations.inspecting import corpus_index
    from workbench.operations.models import installed

    info = spec.light(inspector)
    if info is None or not info.corpus:
        return dict(values)
    if file is None:
        raise click.UsageError(_("--project is required: this inspector reads its documents."))
    options = spec.options(inspector, values)
    with reading(file) as project, session(None) as opened:
        _check_senses(project, options.get("senses", ""))
        if static := options.get("static"):
            installed.info(static)  # raises ModelError; before all documents are read
        index = corpus_index.need(project, choice, info, options)
        if index is None:
            raise click.UsageError(_("--set word=WORD is required: its uses are compared."))
        if not index.ready:
            prepared = corpus_index.prepare(project, index)
            with opened.progress(_("Indexing")) as watch:
                corpus_index.compute(opened.queue, prepared, device=device, watch=watch)
        if not index.files.about.is_file():
            raise WorkbenchError(_("No document contains {word!r}.", word=options.get("word", "")))
        return corpus_index.completed(project, index, options)


def _check_senses(project: Project, layer: str) -> None:
    """Raises WorkbenchError for a layer whose labels cannot be senses."""
    from workbench.operations.annotation import senses

    known = senses.layers(project)
    if layer and layer not in known:
        raise WorkbenchError(
            _("There is no layer {name!r} with senses.", name=layer),
            hint=_("Layers: {names}.", names=", ".join(known) or "–"),
        )
