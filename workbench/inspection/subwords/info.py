"""Tokenization of a text: description and result."""

from workbench.base.i18n import N_
from workbench.inspection.spec import InspectorInfo, TokenTable

INFO = InspectorInfo(
    "subwords",
    N_("Tokenization"),
    TokenTable,
    shows=N_(
        "Shows the tokens that the model reads, with their offsets and ids. Does not show how "
        "the model uses them."
    ),
)
