"""Several continuations of a text, sampled with a seed: description, options and result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.base.i18n import N_
from workbench.base.options import MAX_SEED, Option
from workbench.inspection.next_words.info import CUT_K, CUT_P, DIRECTION, TEMPERATURE
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True, slots=True)
class SampledText:
    """logprob: mean natural log-probability per token under the model, before any cut."""

    text: str
    tokens: int
    logprob: float


@dataclass(frozen=True)
class Samples:
    """backward: the continuations belong before the text. rest: tokens that further requests still
    add to each sample, fewer if all of them end.
    """

    samples: tuple[SampledText, ...]
    backward: bool = False
    rest: int = 0

    def further(self, _whole: bool) -> dict[str, Any] | None:
        """Options of the request that goes on; None after the end."""
        return {} if self.rest else None

    def joined(self, later: Samples) -> Samples:
        """The later answer, whose samples begin with those before."""
        return later


INFO = InspectorInfo(
    "samples",
    N_("Samples"),
    Samples,
    (
        Option("count", "int", 5, N_("Number of continuations to sample."), low=1, high=50),
        Option("length", "int", 20, N_("Number of tokens per continuation."), low=1, high=200),
        Option("seed", "int", 1, N_("Random seed."), low=0, high=MAX_SEED),
        TEMPERATURE,
        CUT_K,
        CUT_P,
        DIRECTION,
        Option(
            "part",
            "int",
            0,
            N_("Tokens to add to each sample per request; 0: all."),
            low=0,
        ),
    ),
    shows=N_(
        "Shows texts that the model generates when tokens are sampled from its distribution; "
        "equal settings and seed give equal samples. Does not show whether they are true. "
        "Holtzman et al. 2020."
    ),
    in_parts={"part": 5},
)
