"""Tokenization of a text, and the embeddings of its tokens: description and result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.inspection.spec import InspectorInfo, TokenTable


@dataclass(frozen=True, slots=True)
class EmbeddingParts:
    """The embeddings that a model adds up for one token; None for those that it does not have.

    segment, position: the ids that are looked up, as the model counts them. The others are
    Euclidean norms: of the token's, position's and segment's embedding, and of their sum (before
    any normalization).
    """

    segment: int | None = None
    position: int | None = None
    token_norm: float | None = None
    position_norm: float | None = None
    segment_norm: float | None = None
    sum_norm: float | None = None


@dataclass(frozen=True)
class Tokenized(TokenTable):
    """`embedded`: one per token; () for a model that looks up no embeddings by token."""

    embedded: tuple[EmbeddingParts, ...] = ()


INFO = InspectorInfo(
    "subwords",
    N_("Tokenization"),
    Tokenized,
    shows=N_(
        "Shows the tokens that the model reads, with ids, offsets, and the norms of the embeddings "
        "that are summed for each. Does not show how the model uses them. Devlin et al. 2019, "
        "figure 2."
    ),
)
