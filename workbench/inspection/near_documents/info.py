"""The documents of a project that are nearest to a text: description and results."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.corpus.spec import DOCUMENTS
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True, slots=True)
class NearDocument:
    """text: its beginning. cosine: in [-1, 1]."""

    document: int
    key: str
    text: str
    cosine: float


@dataclass(frozen=True)
class NearDocuments:
    """documents: nearest first. layer: that of the vectors; layers: those of the index. count:
    documents in the index; total: in the project.
    """

    documents: tuple[NearDocument, ...]
    layer: int
    layers: tuple[int, ...]
    count: int
    total: int


INFO = InspectorInfo(
    "near_documents",
    N_("Nearest documents"),
    NearDocuments,
    (
        Option("layer", "int", -1, N_("Layer, 0: token embeddings, -1: the last."), low=-1),
        Option("top", "int", 50, N_("Number of nearest documents."), low=1, high=1000),
        Option("index", "text", "", N_("Index of the documents; computed on demand.")),
    ),
    shows=N_(
        "Shows the documents whose mean token vector at this layer has the highest cosine with "
        "that of the text. Does not show why they are similar: length, style and topic all count. "
        "Reimers and Gurevych 2019, section 3 (mean pooling)."
    ),
    corpus=DOCUMENTS,
)
