"""`vectors neighbours|analogy|evaluate|train`: query, evaluate and train word vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.base import paths
from workbench.base.i18n import _, ngettext
from workbench.base.records import to_plain
from workbench.cli.output import ProgressLine, as_json, emit, note, note_links_out, say, table
from workbench.cli.session import key_values, progress_line, reading, session
from workbench.text.columns import Column
from workbench.training.vectors.spec import METHODS

if TYPE_CHECKING:
    from workbench.models.spec import ModelInfo
    from workbench.runtime.vectors.lexicon import Lexicon

MEASURES = ("cosine", "dot", "euclid")
model_option = click.option(
    "--model",
    help=_("Model with word vectors: a name or a path. [default: the first of the list]"),
)
by_option = click.option(
    "--by",
    type=click.Choice(MEASURES),
    default="cosine",
    show_default=True,
    help=_("Similarity measure."),
)
top_option = click.option(
    "--top",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help=_("Number of words."),
)


@click.group()
def vectors() -> None:
    """Query, evaluate and train static word vectors.

    A file is converted once to a memory-mapped table in the cache, which takes about a minute for 2
    million words.
    """


@vectors.command()
@click.argument("words", nargs=-1, required=True, metavar="WORD…")
@model_option
@by_option
@top_option
@as_json
def neighbours(words: tuple[str, ...], model: str | None, by: str, top: int, as_json: bool) -> None:
    """List the words whose vectors are nearest to those of each WORD.

    A word is looked up as written, then in lower case; with fastText's n-grams every word has a
    vector.
    """
    from workbench.operations.models import vectors as operations

    with _opened(model) as (info, lexicon):
        results = operations.neighbours(lexicon, words, by=by, top=top)
    if as_json:
        emit({"model": info.name, "by": by, "words": to_plain(results)})
        return
    for nearest in results:
        if not nearest.form:
            note(_("{word!r} has no vector in {model}.", word=nearest.word, model=info.name))
            continue
        table(_neighbour_columns(nearest.word, by), nearest.neighbours)
        say()


@vectors.command()
@click.argument("a")
@click.argument("b")
@click.argument("c")
@model_option
@by_option
@top_option
@as_json
def analogy(a: str, b: str, c: str, model: str | None, by: str, top: int, as_json: bool) -> None:
    """List the words that are to C as B is to A.

    By cosine to B - A + C of unit vectors, without these three words (3CosAdd, Mikolov, Yih and
    Zweig 2013), or by the dot product with it or the distance to it of the vectors as they are.
    """
    from workbench.operations.models import vectors as operations

    with _opened(model) as (info, lexicon):
        nearest = operations.analogy(lexicon, a, b, c, by=by, top=top)
    if as_json:
        emit({"model": info.name, "by": by, "a": a, "b": b, "c": c, "words": to_plain(nearest)})
    else:
        table(_neighbour_columns(_("Word"), by), nearest)


def _neighbour_columns(title: str, measure: str) -> tuple[Column, ...]:
    return Column(title, lambda near: near.word), Column(measure, lambda near: near.score)


@vectors.command()
@click.argument("model")
@click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="DATASET",
    help=_("File or folder of word pairs or analogies; can be given several times."),
)
@by_option
@as_json
def evaluate(model: str, sets: tuple[str, ...], by: str, as_json: bool) -> None:
    """Evaluate MODEL on word similarity (Spearman) and analogies (accuracy).

    Only the 300,000 most frequent words count. Upper and lower case are equal. Pairs and questions
    with an unknown word are left out; coverage is the share of the others. For fastText models with
    n-grams, similarity is also measured with a vector for every word. Equal scores get their
    average rank.
    """
    from workbench.operations.models import vectors as operations

    files = operations.set_files(sets)
    with _opened(model) as (info, lexicon), progress_line(_("Evaluating")) as watch:
        results = operations.evaluate(lexicon, files, watch, by=by)
    if as_json:
        rows = [operations.to_json(result) for result in results]
        emit({"model": info.name, "words": len(lexicon), "by": by, "sets": rows})
        return
    has_ngrams = any(map(operations.with_ngrams, results))
    columns = operations.set_columns()
    table(columns if has_ngrams else columns[:-2], results)


@vectors.command()
@click.argument("source", type=click.Path(path_type=Path), metavar="TEXTS_OR_PROJECT")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--method",
    type=click.Choice([*METHODS]),
    default="skipgram",
    show_default=True,
    help=_("Training method."),
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=key_values,
    metavar="KEY=VALUE",
    help=_("A setting: dimension, window, epochs, min_count, negatives, learning_rate …"),
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help=_("Random seed."),
)
@as_json
def train(
    source: Path, out: Path, method: str, settings: dict[str, str], seed: int, as_json: bool
) -> None:
    """Train vectors on a text file (one text per line; also .gz, .bz2, .xz), on the text files of
    a folder, or on a project.

    The ending of OUT selects the format: .bin or .txt (word2vec), .vec; for fastText .bin keeps the
    n-grams; GloVe writes .txt. Ctrl+C cancels.
    """
    from workbench.operations.models import vectors as operations

    note_links_out([source])
    texts: Any = source
    if source.suffix == paths.PROJECT_SUFFIX:
        with reading(source) as project:
            texts = list(operations.texts_of(project))

    def tell(line: ProgressLine, payload: Mapping[str, Any]) -> None:
        if payload.get("kind") == "epoch":
            message = _(
                "Epoch {epoch}: loss {loss:.4f}", epoch=payload["epoch"], loss=payload["loss"]
            )
            line.line(message)

    with (
        session(None) as opened,
        opened.progress(_("Training"), what=_("The training"), tell=tell) as watch,
    ):
        result = operations.train(
            opened.queue, texts, out, method=method, settings=settings, seed=seed, watch=watch
        )
    if as_json:
        emit(result)
    else:
        template = _(
            "{output}: vectors of width {dimension} (words: {words:,}, tokens in the text: "
            "{tokens:,}).",
            **result,
        )
        say(template)


@contextmanager
def _opened(model: str | None) -> Iterator[tuple[ModelInfo, Lexicon]]:
    """The model and its words, with progress if its file has to be converted."""
    from workbench.operations.models import vectors as operations

    info = operations.find_model(model)
    title = _("Indexing {model}", model=info.name)
    with progress_line(title, quiet=info.size_bytes < 1e8) as watch:
        lexicon = operations.open_lexicon(info, watch)
    if damaged := lexicon.words.damaged():
        template = ngettext(
            "Warning: {n:,} word of {model} is not valid UTF-8; its invalid bytes are shown as "
            "U+FFFD.",
            "Warning: {n:,} words of {model} are not valid UTF-8; their invalid bytes are shown as "
            "U+FFFD.",
            damaged,
            model=info.name,
        )
        note(template)
    yield info, lexicon
