"""How a prediction changes when a word is left out: description and options."""

from __future__ import annotations

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.attributions.info import Attributions
from workbench.inspection.spec import InspectorInfo

INFO = InspectorInfo(
    "words_left_out",
    N_("Words left out"),
    Attributions,
    (
        Option(
            "target",
            "text",
            "",
            N_(
                "Prediction to explain, as listed in the result: class:NAME, word:INDEX:TAG, "
                "span:FIRST:LAST:LABEL, number, or answer:INDEX."
            ),
        ),
    ),
    shows=N_(
        "Shows by how much the score of a prediction falls when a word is deleted from the text. "
        "Does not show how words act together, nor what other words in its place would do. "
        "Zeiler and Fergus 2014 (occlusion); Li et al. 2016 (erasure)."
    ),
    of_text=("target",),
)
