"""Settings for uneven labels: class weights, sampling, focal loss and label smoothing."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option

NONE, BALANCED, ROOT, EFFECTIVE = RULES = ("none", "balanced", "sqrt", "effective")
PLAIN = "plain"
BETA = 0.999  # of the effective number, where none is given

_BY_HAND = re.compile(r"\s*([^,=][^=]*?)\s*=\s*([^\s,=]+)\s*(?:,|$)")


def parse_class_weights(text: str) -> str | float | dict[str, float]:
    """A rule of RULES, β for `effective:β`, or weights by label. Raises SpecError."""
    text = text.strip()
    if text in RULES:
        return BETA if text == EFFECTIVE else text
    rule, _colon, beta = text.partition(":")
    if rule == EFFECTIVE and 0 < (value := _number(beta)) < 1:
        return value
    parts = list(_BY_HAND.finditer(text))
    weights = {part[1]: _number(part[2]) for part in parts}
    is_read = sum(len(part[0]) for part in parts) == len(text)
    if text and is_read and all(0 < weight < math.inf for weight in weights.values()):
        return weights
    raise SpecError(
        _(
            "class_weights is {text!r}, expected none, balanced, sqrt, effective, or a positive "
            "weight for each label.",
            text=text,
        ),
        hint=_("By hand: POS=2, NEG=0.5. Labels that are not named have weight 1."),
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


CLASS_WEIGHTS = Option(
    "class_weights",
    "text",
    NONE,
    N_(
        "Weights of the labels in the loss. Balanced: inversely proportional to the frequency in "
        "the training data (documents / (labels × documents of the label)). Square root: to the "
        "square root of the frequency. Effective number: to (1 - βⁿ) / (1 - β) of n documents, "
        "with β = 0.999, or as in effective:0.99 (Cui et al. 2019). By hand: POS=2, NEG=0.5; other "
        "labels have 1."
    ),
    choices=RULES,
    title=N_("Class weights"),
    choice_titles=(
        N_("None"),
        N_("Balanced"),
        N_("Square root of balanced"),
        N_("Effective number"),
    ),
    check=parse_class_weights,
)
SAMPLING = Option(
    "sampling",
    "choice",
    PLAIN,
    N_(
        "Sampling of the documents of an epoch. Plain: each document once. Balanced: the same "
        "number of every class, by oversampling rare classes. Square root: half way, in proportion "
        "to the square root of the frequency. A document with several labels is drawn as often as "
        "its rarest one asks for (Gupta et al. 2019). With class weights as well, the imbalance is "
        "corrected twice."
    ),
    choices=(PLAIN, BALANCED, ROOT),
    title=N_("Sampling"),
    choice_titles=(N_("Each document once"), N_("Balanced classes"), N_("Square root")),
)
FOCAL_GAMMA = Option(
    "focal_gamma",
    "float",
    0.0,
    N_(
        "Focal loss: the loss of a target is multiplied by (1 - p)^γ, where p is the probability "
        "of the gold label, so that easy ones count less (Lin et al. 2017, γ = 2). 0: "
        "cross-entropy."
    ),
    low=0.0,
    high=10.0,
    title=N_("Focal loss γ"),
)
LABEL_SMOOTHING = Option(
    "label_smoothing",
    "float",
    0.0,
    N_(
        "Share of the target that is spread evenly over all labels (Szegedy et al. 2016): 0.1 "
        "makes the probability to learn 0.95 for the gold label of two. 0 for none. Not defined "
        "for models that write the label as text (T5, BART)."
    ),
    low=0.0,
    high=0.9,
    title=N_("Label smoothing"),
)
IMBALANCE = (CLASS_WEIGHTS, SAMPLING, FOCAL_GAMMA, LABEL_SMOOTHING)


def check_labels(options: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raises SpecError if weights by hand name a label that is not one of these."""
    weights = parse_class_weights(str(options.get(CLASS_WEIGHTS.name) or NONE))
    by_hand = weights if isinstance(weights, dict) else {}
    if unknown := [label for label in by_hand if label not in names]:
        raise SpecError(
            _("class_weights names {label!r}, which is not a label here.", label=unknown[0]),
            hint=_("Labels: {labels}.", labels=", ".join(names)),
        )
