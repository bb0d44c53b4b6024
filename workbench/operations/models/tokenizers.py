"""Tokenizers: learned on the project's text, compared on it, and shown step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import scratch
from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.models import spec
from workbench.operations.models import installed
from workbench.runtime.vocabularies.steps import Learner, MatchStep, Merge, longest_match
from workbench.text.columns import Column, ValueKind
from workbench.text.segment import words

if TYPE_CHECKING:
    from workbench.base.settings import Settings
    from workbench.jobs.queue import Queue
    from workbench.runtime.inputs import Preparer
    from workbench.runtime.vocabularies.measures import Fit

TARGET = "workbench.runtime.vocabularies.learning:run"
KINDS = {
    "wordpiece": N_("WordPiece, most frequent pair first"),
    "wordpiece-score": N_("WordPiece, pair with the best score first"),
    "bpe": N_("BPE"),
    "unigram": N_("Unigram language model"),
}
LEAST_SIZE, MOST_SIZE = 30, 500_000
MOST_WORDS = 20_000  # different words whose merges are shown, the most frequent ones


def learn(
    queue: Queue,
    texts: Iterable[str],
    out: Path,
    *,
    kind: str,
    size: int,
    lowercase: bool,
    min_count: int,
    watch: Watch = QUIET,
) -> dict[str, Any]:
    """Learn a tokenizer in a worker and save it as the folder `out`.

    Returns output, kind, size, words, seconds. Raises Cancelled, JobFailed, or SpecError for a size
    out of range or an `out` that is not empty.
    """
    spec = _job(texts, out, size=size, kind=kind, lowercase=lowercase, min_count=min_count)
    try:
        return queue.run(spec, watch)
    finally:
        scratch.remove(Path(spec.folder))


def _job(texts: Iterable[str], out: Path, *, size: int, **rest: Any) -> JobSpec:
    """The job that learns it, for which the texts are written to a file. Raises SpecError."""
    if not LEAST_SIZE <= size <= MOST_SIZE:
        raise SpecError(
            _(
                "The vocabulary size is {size:,}, expected {low:,} to {high:,}.",
                size=size,
                low=LEAST_SIZE,
                high=MOST_SIZE,
            )
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SpecError(
            _("{path} exists and is not an empty folder.", path=out),
            hint=_("Choose a new folder."),
        )
    folder = scratch.make("tokenizer")
    source = folder / "texts.txt"
    with open(source, "w", encoding="utf-8", errors="replace") as file:
        file.writelines(" ".join(text.split()) + "\n" for text in texts)
    params = {"input": str(source), "output": str(out.absolute()), "size": size, **rest}
    title = _("Learn tokenizer {name}", name=out.name)
    return JobSpec(TARGET, params, str(folder), title=title)


def preparer_of(name: str, settings: Settings | None = None) -> Preparer:
    """The preparer of an installed model, a model folder, or a folder with only a tokenizer.

    Raises ModelError if there is none.
    """
    path = Path(name)
    if (path / "tokenizer.json").is_file() and not (path / "config.json").is_file():
        from workbench.runtime.preparers.subwords import Subwords

        return Subwords.load(path)
    return spec.preparer(installed.info(name, settings).path)


def compare(names: Iterable[str], texts: Iterable[str]) -> dict[str, Fit]:
    """The fit of each tokenizer to the texts. Raises SpecError if no text has words."""
    from workbench.runtime.vocabularies.measures import measure

    nonempty = [text for text in texts if text.strip()]
    if not nonempty:
        raise SpecError(_("There are no texts to compare on."))
    return {name: measure(preparer_of(name), nonempty) for name in names}


def fit_columns(limits: Iterable[str]) -> tuple[Column, ...]:
    """Of rows (name, Fit): measures, and the share of texts longer than each limit, in tokens."""

    def cut(limit: str) -> Column:
        title = _("Cut at {limit}", limit=limit)
        return Column(title, lambda row: row[1].cut[limit], kind=ValueKind.PERCENT)

    return (
        Column(_("Tokenizer"), lambda row: row[0]),
        Column(_("Tokens per word"), lambda row: row[1].fertility, kind=ValueKind.NUMBER, digits=2),
        Column(_("Unknown"), lambda row: row[1].unknown, kind=ValueKind.PERCENT),
        *map(cut, limits),
    )


# ---------------------------------------------------------------- step by step


@dataclass(frozen=True)
class Division:
    """A word and its units; steps: of longest match, empty for other methods."""

    word: str
    units: tuple[str, ...]
    steps: tuple[MatchStep, ...] = ()


def divide(name: str, each: Iterable[str]) -> list[Division]:
    """How a tokenizer divides words, with the steps where it uses longest match (WordPiece)."""
    return divided(preparer_of(name), each)


def divided(preparer: Preparer, each: Iterable[str]) -> list[Division]:
    """As `divide`, with a tokenizer that is already loaded."""
    from workbench.runtime.vocabularies.measures import NO_LENGTH_LIMIT
    from workbench.text.document import TEXT, Document

    backend = getattr(getattr(preparer, "tokenizer", None), "backend", None)
    is_wordpiece = type(backend.model).__name__ == "WordPiece" if backend else False
    divisions = []
    for word in each:
        (input_,) = preparer.whole([Document("1", ((TEXT, word),))], NO_LENGTH_LIMIT).inputs
        pieces = preparer.pieces(input_)
        units = tuple(piece for piece, text in zip(pieces, input_.text, strict=True) if text >= 0)
        steps: tuple[MatchStep, ...] = ()
        if is_wordpiece and backend is not None:
            normal = backend.normalizer.normalize_str(word) if backend.normalizer else word
            parts = [normal[start:end] for start, end in words(normal)]
            vocabulary = backend.get_vocab()
            steps = tuple(step for part in parts for step in longest_match(part, vocabulary))
        divisions.append(Division(word, units, steps))
    return divisions


def counts_of(texts: Iterable[str]) -> dict[str, int]:
    """Counts of the lower-cased words with letters, the most frequent ones."""
    counts = Counter(
        text[start:end].lower()
        for text in texts
        for start, end in words(text)
        if text[start:end].isalpha()
    )
    return dict(counts.most_common(MOST_WORDS))


def merges(counts: Mapping[str, int], rule: str, most: int) -> list[Merge]:
    """The first merges by `steps.SCORE` or `steps.COUNT`. Raises SpecError without words."""
    if not counts:
        raise SpecError(_("There are no words to learn merges from."))
    learner, learned = Learner(counts, rule), list[Merge]()
    while len(learned) < most and (merge := learner.next()) is not None:
        learned.append(merge)
    return learned
