"""Several continuations of a text, sampled with a seed: description, options and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.next_words.info import CUT_K, CUT_P, DIRECTION, TEMPERATURE
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True, slots=True)
class Sample:
    """logprob: mean natural log-probability per token under the model, before any cut."""

    text: str
    tokens: int
    logprob: float


@dataclass(frozen=True)
class Samples:
    """backward: the continuations belong before the text."""

    samples: tuple[Sample, ...]
    backward: bool = False


INFO = InspectorInfo(
    "samples",
    N_("Samples"),
    Samples,
    (
        Option("count", "int", 5, N_("Number of continuations to sample."), low=1, high=50),
        Option("length", "int", 20, N_("Number of tokens per continuation."), low=1, high=200),
        Option("seed", "int", 1, N_("Random seed."), low=0),
        TEMPERATURE,
        CUT_K,
        CUT_P,
        DIRECTION,
    ),
    shows=N_(
        "Shows what the model writes when tokens are drawn from its distribution; equal settings "
        "and seed give equal samples. Does not show whether they are true. Holtzman et al. 2020."
    ),
)
