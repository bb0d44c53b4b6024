"""The next word of a text, step by step: description, options and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.inspection.spec import NEXT, PREVIOUS, InspectorInfo

TOP_K, TOP_P = "top-k", "top-p"


@dataclass(frozen=True, slots=True)
class NextToken:
    """id: in the vocabulary; model: its probability, sampled: after temperature and cuts."""

    id: int
    token: str
    model: float
    sampled: float


@dataclass(frozen=True)
class NextWords:
    """added: ids of the tokens after the text, tokens: their names, shares: their probabilities.

    backward: tokens are added before the text. rows: the most probable tokens of the next step,
    descending. kept: tokens that sampling can draw, of `vocabulary`; cut_by: TOP_K or TOP_P, what
    cuts more, "" if nothing does. entropies: of the model's distribution in bits, at the end of the
    text and after each added token. text: what was added, as text. more: whether the model can read
    a further token. apart: the tokens form a text of their own, which an encoder–decoder writes.
    """

    added: tuple[int, ...]
    tokens: tuple[str, ...]
    shares: tuple[float, ...]
    rows: tuple[NextToken, ...]
    kept: int
    vocabulary: int
    cut_by: str
    entropies: tuple[float, ...]
    text: str = ""
    more: bool = True
    backward: bool = False
    apart: bool = False


def read_ids(text: str) -> tuple[int, ...]:
    """Ids "31,7" in order. Raises SpecError."""
    parts = [part for part in text.replace(",", " ").split() if part]
    if not all(part.isdigit() for part in parts):
        raise SpecError(
            _("added is {text!r}, expected ids of tokens.", text=text),
            hint=_("Write 31,7 to add the tokens with the ids 31 and 7."),
        )
    return tuple(map(int, parts))


TEMPERATURE = Option(
    "temperature",
    "float",
    1.0,
    N_(
        "The logits are divided by this value before sampling; values below 1 sharpen "
        "the distribution, values above 1 flatten it."
    ),
    low=0.01,
    high=10,
)
CUT_K = Option(
    "top_k", "int", 0, N_("Sample from the k most probable tokens only; 0 is no limit."), low=0
)
CUT_P = Option(
    "top_p",
    "float",
    1.0,
    N_(
        "Sample from the smallest set of most probable tokens whose probabilities sum to "
        "at least this value."
    ),
    low=0.01,
    high=1,
)
DIRECTION = Option(
    "direction",
    "choice",
    None,
    N_("Direction of prediction of bidirectional models: the next or the previous word."),
    choices=(NEXT, PREVIOUS),
    choice_titles=(N_("Next"), N_("Previous")),
    automatic=N_("the next word, if the model predicts it"),
    title=N_("Direction"),
)

INFO = InspectorInfo(
    "next_words",
    N_("Next words"),
    NextWords,
    (
        Option(
            "added", "text", "", N_("Ids of tokens after the text, as in 31,7."), check=read_ids
        ),
        Option("typed", "text", "", N_("Text to append after these tokens, as typed.")),
        TEMPERATURE,
        CUT_K,
        CUT_P,
        Option("top", "int", 30, N_("Number of most probable tokens to list."), low=1, high=1000),
        DIRECTION,
    ),
    shows=N_(
        "Shows the distribution of the next token and what temperature, top-k and top-p leave of "
        "it. Does not show whether a continuation is true. Holtzman et al. 2020."
    ),
    of_text=("added", "typed"),
)
