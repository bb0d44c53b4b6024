"""How much each word of a text moves a score of a run: description, options and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.base.options import MAX_SEED, Option
from workbench.inspection.spec import InspectorInfo, WordRow

INTEGRATED, PRODUCT, SMOOTH, OCCLUSION = (
    *("integrated_gradients", "gradient_input"),
    *("smoothgrad", "occlusion"),
)
METHODS = (INTEGRATED, PRODUCT, SMOOTH, OCCLUSION)
TITLES = (
    *(N_("Integrated gradients"), N_("Gradient × input")),
    *(N_("SmoothGrad × input"), N_("Occlusion")),
)
PROBABILITY, LOGIT = "probability", "logit"


@dataclass(frozen=True, slots=True)
class Target:
    """A score to explain. id: what the option `target` takes.

    id is "class:NAME", "word:INDEX:TAG" or "span:FIRST:LAST:LABEL" with indices of words, LAST
    inclusive; "number"; "start:INDEX" or "end:INDEX" of the answer to a question. label: the name
    of the class, tag or span's label, or the answer, "" for none. first, last: its words, -1 for a
    class. share: its probability; of a span of tags the mean over its words, of a start or an end
    among the tokens of its window. value: the predicted number, None for others.
    """

    id: str
    label: str
    share: float
    first: int = -1
    last: int = -1
    value: float | None = None
    question: str = ""


@dataclass(frozen=True)
class Attributions:
    """scores: per word, the sum over its tokens; None outside of the window that was explained.

    special: the sum over tokens outside of words. score, baseline: F(x) and F(baseline) of the
    target, baseline only for integrated gradients. delta: the convergence delta, the sum of all
    attributions - (F(x) - F(baseline)), near 0 if the steps suffice. temperature: of the run's
    predictions, 1 for none; scores and shares of targets are without it. steps: of integrated
    gradients, None for other methods.
    """

    words: tuple[WordRow, ...]
    scores: tuple[float | None, ...]
    special: float
    method: str
    target: str
    targets: tuple[Target, ...]
    score: float
    baseline: float | None = None
    delta: float | None = None
    cut: bool = False
    temperature: float = 1.0
    steps: int | None = None

    @property
    def total(self) -> float:
        """The sum of all attributions."""
        return self.special + sum(score for score in self.scores if score is not None)


INFO = InspectorInfo(
    "attributions",
    N_("Attributions"),
    Attributions,
    (
        Option(
            "target",
            "text",
            "",
            N_(
                "Target to explain, as listed in the result. Default: the one with the highest "
                "score."
            ),
        ),
        Option(
            "method",
            "choice",
            INTEGRATED,
            N_("How attributions are computed."),
            choices=METHODS,
            choice_titles=TITLES,
            title=N_("Method"),
        ),
        Option(
            "score",
            "choice",
            PROBABILITY,
            N_(
                "Explain the probability or the logit of the target; the logit of a number is "
                "the number itself."
            ),
            choices=(PROBABILITY, LOGIT),
            choice_titles=(N_("Probability"), N_("Logit")),
        ),
        Option(
            "steps",
            "int",
            0,
            N_("Number of steps of integrated gradients; 0: as many as needed to converge."),
            low=0,
            high=1000,
        ),
        Option("samples", "int", 20, N_("Number of noisy samples of SmoothGrad."), low=1, high=500),
        Option(
            "seed", "int", 1, N_("Random seed of the noise of SmoothGrad."), low=0, high=MAX_SEED
        ),
    ),
    shows=N_(
        "Shows how much each word moves the score of the target, compared with [PAD] tokens in its "
        "place (or [MASK] for occlusion). Does not show how words act together. Sundararajan et "
        "al. 2017; Smilkov et al. 2017; Zeiler and Fergus 2014."
    ),
    of_text=("target",),
)
