"""Training of word vectors: methods and settings. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base import learning_rates
from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option, complete
from workbench.text.segmenters import base as segmenters

TARGET = "workbench.training.vectors.job:run"
COUNT_TARGET = "workbench.training.vectors.job:co_occurrences"
COUNTED = "glove"  # the method that is trained on counts of co-occurrences
# method → display title; then the endings of the files that it can write, the usual one first
METHODS = {
    "skipgram": N_("Skip-gram (word2vec)"),
    "cbow": N_("Continuous bag of words (word2vec)"),
    "fasttext": N_("Skip-gram with character n-grams (fastText)"),
    "glove": N_("GloVe"),
}
SUFFIXES = {
    "skipgram": (".bin", ".txt", ".vec"),
    "cbow": (".bin", ".txt", ".vec"),
    "fasttext": (".bin", ".vec"),
    "glove": (".txt",),
}
_GENERAL = (
    Option("dimension", "int", 100, N_("Width of the vectors."), low=2, high=2000),
    Option("window", "int", 5, N_("Context words on each side."), low=1, high=100),
    Option("epochs", "int", 5, N_("Number of passes over the text."), low=1, high=1000),
    Option(
        "min_count", "int", 5, N_("Minimum frequency of a word in the vocabulary."),
        low=1, high=10**6,
    ),
    Option(
        "max_words", "int", 200_000, N_("Maximum vocabulary size; the rarest words are left out."),
        low=2, high=10**7,
    ),
    Option("lowercase", "bool", True, N_("Convert the text to lower case.")),
)  # fmt: skip
_SEGMENTER = Option(
    segmenters.OPTION,
    "choice",
    segmenters.DEFAULT,
    N_(
        "How the text is split into words, for texts without spaces. Choose the same one when a "
        "model is trained on these vectors: their files do not name it."
    ),
    title=N_("Word segmenter"),
)
_SAMPLED = (
    Option("negatives", "int", 5, N_("Negative samples per training pair."), low=1, high=100),
    Option(
        "learning_rate",
        "float",
        learning_rates.SAMPLED_VECTORS,
        N_("Initial learning rate."),
        low=1e-6,
        high=1.0,
    ),
    Option(
        "sample",
        "float",
        1e-3,
        N_(
            "Subsampling threshold: words with a higher relative frequency are randomly left "
            "out; 0 keeps all."
        ),
        low=0.0,
        high=1.0,
    ),
)
_NGRAMS = (
    Option("low", "int", 3, N_("Minimum length of character n-grams."), low=1, high=20),
    Option("high", "int", 6, N_("Maximum length of character n-grams."), low=1, high=20),
    Option(
        "buckets",
        "int",
        200_000,
        N_("Number of hash buckets that n-grams share."),
        low=1,
        high=10**7,
    ),
)
_GLOVE = (
    Option(
        "learning_rate",
        "float",
        learning_rates.GLOVE,
        N_("Learning rate of AdaGrad."),
        low=1e-6,
        high=1.0,
    ),
    Option(
        "x_max",
        "float",
        100.0,
        N_("Cutoff of the weighting function: f(x) is 1 from this count on."),
        low=1e-3,
        high=1e9,
    ),
    Option("alpha", "float", 0.75, N_("Exponent of f(x) below x_max."), low=0.0, high=2.0),
    Option(
        "memory",
        "int",
        2000,
        N_(
            "Memory in MB for counts of co-occurrences; more are kept in files. Not an exact "
            "limit: vectors, sorting and the program itself need memory in addition."
        ),
        low=1,
        high=10**6,
    ),
)


def options(method: str) -> tuple[Option, ...]:
    """The settings of a method. Raises SpecError for an unknown method."""
    own = {
        "skipgram": _SAMPLED,
        "cbow": _SAMPLED,
        "fasttext": (*_SAMPLED, *_NGRAMS),
        "glove": _GLOVE,
    }
    if method not in own:
        raise SpecError(
            _("There is no method {method!r}.", method=method),
            hint=_("Known: {names}.", names=", ".join(own)),
        )
    known = segmenters.titles()
    titles = tuple(known.values())
    segmenter = replace(_SEGMENTER, choices=tuple(known), choice_titles=titles)
    return (*_GENERAL, segmenter, *own[method])


def settings(method: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting of the method with its value. Raises SpecError naming a wrong one."""
    return complete(options(method), chosen, owner=method)


def check_output(method: str, out: Path) -> None:
    """Raises SpecError if the method cannot write a file with this ending."""
    if out.suffix.lower() not in SUFFIXES[method]:
        raise SpecError(
            _(
                "{out} has none of the suffixes of {method}: {suffixes}.",
                out=out.name,
                method=method,
                suffixes=", ".join(SUFFIXES[method]),
            ),
            hint=_("The suffix selects the format of the file."),
        )
