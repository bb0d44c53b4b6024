"""The distribution over the labels at every token: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.spec import InspectorInfo, TokenTable


@dataclass(frozen=True)
class TokenLabels(TokenTable):
    """`best` of a token are its most probable outputs; `labels` are those of the run."""

    labels: tuple[str, ...] = ()


INFO = InspectorInfo(
    "token_scores",
    N_("Label distribution"),
    TokenLabels,
    (Option("top", "int", 5, N_("Labels per token, the most probable ones."), low=1, high=100),),
    shows=N_(
        "Shows the probability of each label at every token. Does not show why a label was chosen, "
        "nor whether the model is well calibrated."
    ),
)
