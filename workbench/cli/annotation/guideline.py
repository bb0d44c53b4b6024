"""`guideline`: the guidelines of layers, with examples and earlier versions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base.errors import SpecError
from workbench.base.i18n import _, ngettext
from workbench.cli.output import as_json, emit, say, table
from workbench.cli.session import PROJECT, project_argument, reading, session
from workbench.text.columns import Column
from workbench.text.rows import row_id

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.labels import Layer

_layer_option = click.option(
    "--layer",
    "layer_name",
    default="",
    metavar="NAME",
    help=_("Name of the layer. [default: the only one]"),
)


@click.group()
def guideline() -> None:
    """The guideline of a layer: Markdown with examples, and its earlier versions."""


@guideline.command()
@project_argument
@click.option("--layer", "layer_name", default="", metavar="NAME", help=_("Only this layer."))
@as_json
def show(file: Path, layer_name: str, as_json: bool) -> None:
    """Print the guidelines of FILE as Markdown, with tables of the labels."""
    from workbench.operations.schema import guideline as operations
    from workbench.operations.schema import labels

    with reading(file) as project:
        layers = [_layer(project, layer_name)] if layer_name else labels.layers(project)
    if as_json:
        emit([_described(layer) for layer in layers])
    else:
        say(operations.shown(layers).rstrip())


def _described(layer: Layer) -> dict[str, Any]:
    from workbench.operations.schema import guideline as operations
    from workbench.text.guideline import sentence_for

    rows = [
        {
            "name": label.name,
            "key": label.key,
            "description": label.description,
            "sentence": sentence_for(layer, label.name),
        }
        for label in layer.labels
    ]
    examples = [asdict(example) for example in operations.examples(layer)]
    return {
        "layer": layer.name,
        "guideline": layer.guideline,
        "labels": rows,
        "examples": examples,
    }


@guideline.command("set")
@project_argument
@_layer_option
@click.argument("source", type=click.File(encoding="utf-8-sig"), metavar="MARKDOWN")
@as_json
def set_text(file: Path, layer_name: str, source: Any, as_json: bool) -> None:
    """Replace the guideline of a layer of FILE by the file MARKDOWN; "-" reads standard input.

    The text before it stays in the history.
    """
    from workbench.operations.schema import guideline as operations

    try:
        text = source.read()
    except UnicodeDecodeError as error:
        raise SpecError(
            _("{path} is not UTF-8: byte {at:,}.", path=source.name, at=error.start + 1),
            hint=_("Save it as UTF-8."),
        ) from error
    with session(file) as opened:
        layer = _layer(opened.project, layer_name)
        operations.write(opened.project, row_id(layer), text)
    _told(layer.name, text, _("Guideline of {layer} saved.", layer=layer.name), as_json)


@guideline.command("add-example")
@project_argument
@click.argument("key", metavar="KEY")
@click.argument("label", metavar="LABEL")
@_layer_option
@click.option("--words", default="", metavar="TEXT", help=_("Words of the document to mark."))
@click.option("--at", "place", default="", metavar="START:END", help=_("Character range to mark."))
@click.option("--negative", is_flag=True, help=_("An example of what must not have the label."))
@click.option("--remark", default="", metavar="TEXT")
@as_json
def add_example(
    file: Path,
    key: str,
    label: str,
    layer_name: str,
    words: str,
    place: str,
    negative: bool,
    remark: str,
    as_json: bool,
) -> None:
    """Add the document with this KEY, or words of it, as an example of LABEL.

    Examples are lines of the guideline, below the heading of their label.
    """
    from workbench.operations.inspecting.inspect import by_key
    from workbench.operations.schema import guideline as operations

    with session(file) as opened:
        layer = _layer(opened.project, layer_name, label)
        document = by_key(opened.project, key)
        start, end = _range(document.text, words, place)
        example = operations.add_example(
            opened.project,
            row_id(layer),
            label,
            row_id(document),
            start=start,
            end=end,
            positive=not negative,
            remark=remark,
        )
    if as_json:
        emit({"layer": layer.name, **asdict(example)})
    else:
        say(_("Example added to {label}: {text}", label=label, text=example.text))


def _range(text: str, words: str, place: str) -> tuple[int | None, int | None]:
    if words:
        start = text.find(words)
        if start < 0:
            raise SpecError(_("The document does not contain {words!r}.", words=words))
        return start, start + len(words)
    if not place:
        return None, None
    start_text, _colon, end_text = place.partition(":")
    if not (start_text.isdecimal() and end_text.isdecimal()):
        raise SpecError(_("{text!r} is not of the form START:END.", text=place))
    return int(start_text), int(end_text)


@guideline.command()
@project_argument
@_layer_option
@click.option("--difference", "number", type=int, metavar="N", help=_("What version N changed."))
@as_json
def history(file: Path, layer_name: str, number: int | None, as_json: bool) -> None:
    """List the versions of the guideline of a layer of FILE, the newest first."""
    from workbench.operations.schema import guideline as operations
    from workbench.text.line_difference import ADDED, REMOVED, compared

    with reading(file) as project:
        layer = _layer(project, layer_name)
        versions = operations.history(project, row_id(layer))
        chosen = number and operations.version(project, row_id(layer), number)
    if as_json or not chosen:
        columns = (*operations.columns(), Column("", lambda row: row.text, key="text"))
        table(columns, versions, as_json)
        return
    before = next((item.text for item in versions if item.number == chosen.number - 1), "")
    signs = {ADDED: "+ ", REMOVED: "- "}
    for line in compared(before, chosen.text):
        say(signs.get(line.kind, "  ") + line.text)


@guideline.command()
@project_argument
@click.argument("number", type=int, metavar="N")
@_layer_option
@as_json
def restore(file: Path, number: int, layer_name: str, as_json: bool) -> None:
    """Make version N the present guideline of a layer of FILE again."""
    from workbench.operations.schema import guideline as operations

    with session(file) as opened:
        layer = _layer(opened.project, layer_name)
        operations.restore(opened.project, row_id(layer), number)
        text = operations.version(opened.project, row_id(layer), number).text
    message = _("Version {number} of the guideline of {layer} restored.")
    _told(layer.name, text, message.format(number=number, layer=layer.name), as_json)


@guideline.command()
@project_argument
@click.argument("path", type=PROJECT, metavar="HTML")
@as_json
def export(file: Path, path: Path, as_json: bool) -> None:
    """Write the guidelines of all layers of FILE as one HTML page that loads nothing."""
    from workbench.operations.schema import guideline_page, labels

    with reading(file) as project:
        guideline_page.write(project, path)
        count = len(labels.layers(project))
    if as_json:
        emit({"path": str(path), "layers": count})
    else:
        message = ngettext("{n:,} layer written to {path}", "{n:,} layers written to {path}", count)
        say(message.format(n=count, path=path))


def _layer(project: Project, name: str, label: str = "") -> Layer:
    """The layer of this name; else the only one, or the only one that has the label."""
    from workbench.operations.schema import labels

    if name:
        return labels.layer_named(project, name)
    every = labels.layers(project)
    fitting = [layer for layer in every if not label or label in layer.names]
    if len(fitting) == 1:
        return fitting[0]
    raise SpecError(
        _("Choose a layer with --layer."),
        hint=_("Its layers: {known}.", known=", ".join(layer.name for layer in every) or _("none")),
    )


def _told(layer: str, text: str, sentence: str, as_json: bool) -> None:
    emit({"layer": layer, "guideline": text}) if as_json else say(sentence)
