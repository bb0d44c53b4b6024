"""`embed`: hidden states of a model or run as numpy arrays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.base.i18n import _, ngettext
from workbench.base.sizes import size
from workbench.cli.output import as_json, emit, note, say
from workbench.cli.session import PROJECT, reading, session

if TYPE_CHECKING:
    from workbench.operations.inspecting.embed import Embedding
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.text.document import Document


@click.command()
@click.argument("model_or_run", metavar="MODEL_OR_RUN")
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT.npz")
@click.option("--text", "texts", multiple=True, help=_("A text; can be given several times."))
@click.option(
    "--input",
    "source",
    type=PROJECT,
    help=_("A file, or a folder of files: text (one document per line), CoNLL, JSONL, CSV, …"),
)
@click.option(
    "--unit",
    type=click.Choice(("word", "token", "document")),
    default="word",
    show_default=True,
    help=_("One row per word, per token of the model (special tokens included), or per document."),
)
@click.option(
    "--layers",
    type=click.Choice(("all", "last", "mix")),
    default="all",
    show_default=True,
    help=_(
        "Every layer, the last layer, or one mix: what the head of a run with combined layers "
        "reads (learned weights included), else the mean of all layers."
    ),
)
@click.option(
    "--tokens",
    type=click.Choice(("space",)),
    help=_("Words are separated by spaces. Default: the tokens of the file, or Unicode words."),
)
@click.option(
    "--stateful",
    is_flag=True,
    help=_("Texts in order: the final state of one is the initial state of the next (ELMo)."),
)
@click.option("--project", "file", type=PROJECT, help=_("Project that contains the run."))
@click.option(
    "--device",
    default="auto",
    show_default=True,
    help=_("Device: auto, cpu, cuda or mps."),
)
@as_json
def embed(
    model_or_run: str,
    out: Path,
    texts: tuple[str, ...],
    source: Path | None,
    unit: str,
    layers: str,
    tokens: str | None,
    stateful: bool,
    file: Path | None,
    device: str,
    as_json: bool,
) -> None:
    """Write the hidden states of texts to OUT.npz.

    MODEL_OR_RUN is a pretrained model by name or folder, the folder of a run, or with --project a
    run. For document i (from 0), the arrays are i/offsets (n, 2), code points with the end
    exclusive, and i/layer_0 … i/layer_L (n, width), float32, the embeddings first; with --layers
    mix, i/mix. A word is the mean of its tokens, a document the mean of all tokens. Long texts are
    read in overlapping windows; each token is taken from the window with the most context. Of
    pairs, the first text is used.
    """
    from workbench.operations.inspecting import embed as operations

    if bool(texts) == (source is not None):
        raise click.UsageError(_("Either --text or --input is required, not both."))
    documents = _documents(texts, source)
    documents = operations.spaced(documents) if tokens else documents
    choice = _choice(model_or_run, file)
    quiet = len(documents) < 100
    with session(None) as opened, opened.progress(_("Embedding"), quiet=quiet) as watch:
        embedding = operations.embed(
            opened.queue,
            choice,
            documents,
            out,
            unit=unit,
            layers=layers,
            stateful=stateful,
            device=device,
            watch=watch,
        )
    _warn(embedding)
    if as_json:
        emit({**embedding.to_json(), "unit": unit, "stateful": stateful})
    else:
        _show(embedding)


def _warn(embedding: Embedding) -> None:
    if embedding.not_finite:
        message = ngettext(
            "Warning: {n:,} document has states that are infinite or not a number. Check the "
            "weights of the model.",
            "Warning: {n:,} documents have states that are infinite or not a number. Check the "
            "weights of the model.",
            embedding.not_finite,
        )
        note(message)


def _show(embedding: Embedding) -> None:
    message = ngettext(
        "{path} ({size}): {rows:,} rows of {n:,} document, {layers}, width {width}",
        "{path} ({size}): {rows:,} rows of {n:,} documents, {layers}, width {width}",
        embedding.documents,
        path=embedding.path,
        size=size(embedding.bytes),
        rows=embedding.rows,
        layers=ngettext("{n} layer", "{n} layers", len(embedding.layers)),
        width=embedding.width,
    )
    say(message)


def _documents(texts: tuple[str, ...], source: Path | None) -> tuple[Document, ...]:
    from workbench.cli.runs.use import note_skipped
    from workbench.operations.runs import predict_files

    if source is None:
        return predict_files.texts_to_documents(texts)
    return tuple(predict_files.read_inputs(source, note_skipped))


def _choice(name: str, file: Path | None) -> InspectableModel:
    from workbench.operations.inspecting import inspect

    if file is None:
        return inspect.of_folder(name)
    with reading(file) as project:
        return inspect.named_run(project, name)
