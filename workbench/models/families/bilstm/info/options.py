"""Settings of a training that only a BiLSTM has."""

from __future__ import annotations

from dataclasses import replace

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.models.families.bilstm.info.config import (
    DEFAULT_PARTS,
    ENTERS,
    MAX_SIZE,
    SUBWORDS,
    Config,
    parse_parts,
)

_USUAL = Config()


def _size(name: str, title: str, help: str) -> Option:
    option = Option(name, "int", None, help, low=1, high=MAX_SIZE, title=title)
    return replace(option, automatic=str(getattr(_USUAL, name)))


def _dropout(name: str, title: str, help: str) -> Option:
    option = Option(name, "float", None, help, low=0.0, high=0.9, title=title)
    return replace(option, automatic=str(getattr(_USUAL, name)))


OPTIONS = (
    Option(
        "embeddings",
        "text",
        None,
        N_(
            "Embeddings of each word, separated by + and concatenated: words (trained), chars (a "
            "trained character CNN), and names or paths of models, which stay frozen. @last, "
            "@mean, @mix, @concat or @attention after a model chooses its layers: "
            "words+chars+starter-bert@mix."
        ),
        group="main",
        title=N_("Embeddings"),
        automatic=DEFAULT_PARTS,
        check=parse_parts,
    ),
    _size("lstm_width", N_("LSTM width"), N_("Width of the LSTM in each direction.")),
    _size("lstm_layers", N_("LSTM layers"), N_("Number of bidirectional LSTM layers.")),
    _size(
        "word_width", N_("Width of word embeddings"), N_("Width of the trained word embeddings.")
    ),
    _size(
        "char_width",
        N_("Width of the character CNN"),
        N_("Number of filters of the trained character CNN."),
    ),
    Option(
        "lm_states",
        "choice",
        None,
        N_(
            "Where the states of language models enter: with the other embeddings, or before the "
            "second layer of the LSTM (TagLM, Peters et al. 2017)."
        ),
        choices=ENTERS,
        choice_titles=(N_("First layer"), N_("Second layer")),
        title=N_("Language model states"),
        automatic=_USUAL.lm_states,
    ),
    Option(
        "subwords",
        "choice",
        None,
        N_("Which subwords represent a word, in models that read subwords."),
        choices=SUBWORDS,
        choice_titles=(N_("First"), N_("Mean of all")),
        title=N_("Subwords of a word"),
        automatic=_USUAL.subwords,
    ),
    Option(
        "part_norm",
        "bool",
        False,
        N_(
            "Normalize the states of each layer of the models in the embeddings before their "
            "layers are combined (Ba et al. 2016)."
        ),
        title=N_("Normalize layers of embeddings"),
    ),
    Option(
        "part_l2",
        "float",
        None,
        N_(
            "Layers of embeddings with @mix: strength λ of the L2 penalty on their weights before "
            "the softmax. 1 keeps them close to the mean of all layers; 0.001 lets them vary "
            "(Peters et al. 2018)."
        ),
        low=0.0,
        high=1000.0,
        title=N_("L2 penalty of embedding layers"),
        automatic=str(_USUAL.part_l2),
    ),
    _dropout(
        "word_dropout",
        N_("Word dropout"),
        N_("Probability that all embeddings of a word are replaced by zeros."),
    ),
    _dropout(
        "locked_dropout",
        N_("Locked dropout"),
        N_("Probability that a feature is dropped at all words of a text."),
    ),
)
