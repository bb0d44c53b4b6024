"""The probability of every class: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True)
class ClassProbabilities:
    """(class, probability) in the order of the run's labels.

    choices: the beginnings of the texts that the classes stand for, () for other documents.
    predicted: the class that is predicted, which need not be the most probable one of classes in an
    order; "" for the most probable. ordered: whether they are in an order.
    """

    classes: tuple[tuple[str, float], ...]
    cut: bool = False
    choices: tuple[str, ...] = ()
    predicted: str = ""
    ordered: bool = False


INFO = InspectorInfo(
    "class_scores",
    N_("Class probabilities"),
    ClassProbabilities,
    shows=N_(
        "Shows the probability of every class. Does not show why a class was chosen, nor whether "
        "the model is well calibrated (Guo et al. 2017)."
    ),
)
