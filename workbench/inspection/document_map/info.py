"""Documents or uses of a word as points in a plane: description and result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.inspection.corpus.spec import DOCUMENTS, METHODS, PCA, USES
from workbench.inspection.spec import InspectorInfo


@dataclass(frozen=True)
class DocumentMap:
    """points: float32 (N, 2). documents (N,): ids; starts, ends (N,): offsets of the uses, or of
    the whole text. clusters (N,): from 0, the largest first. shares: of the variance in the plane,
    of principal components. here: the place of the text among principal components, () else.
    layer: of the vectors; layers: those of the index. count: rows of the index, of which N are
    points; total: in the project, -1 if more than were counted.
    """

    points: np.ndarray
    documents: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    clusters: np.ndarray
    method: str
    layer: int
    layers: tuple[int, ...]
    count: int
    total: int
    shares: tuple[float, ...] = ()
    here: tuple[float, ...] = ()


INFO = InspectorInfo(
    "document_map",
    N_("Map"),
    DocumentMap,
    (
        Option(
            "of",
            "choice",
            DOCUMENTS,
            N_("What each point represents."),
            choices=(DOCUMENTS, USES),
            choice_titles=(N_("Documents"), N_("Uses of a word")),
            title=N_("Points"),
        ),
        Option("word", "text", "", N_("Word, or several forms of it: play plays played.")),
        Option("start", "int", -1, N_("Offset of the use in the text; -1: the first use."), low=-1),
        Option(
            "method",
            "choice",
            PCA,
            N_("Projection to two dimensions."),
            choices=METHODS,
            choice_titles=(N_("PCA"), N_("t-SNE"), N_("UMAP")),
            title=N_("Projection"),
        ),
        Option("layer", "int", -1, N_("Layer, 0: token embeddings, -1: the last."), low=-1),
        Option("clusters", "int", 6, N_("Number of k-means clusters."), low=2, high=24),
        Option("index", "text", "", N_("Index of the documents; computed on demand.")),
        Option("map", "text", "", N_("File of the map; computed on demand.")),
    ),
    shows=N_(
        "Shows distances between vectors of this layer, reduced to two dimensions: near points "
        "are similar. Does not show true distances between groups; t-SNE and UMAP distort them "
        "most. Jolliffe 2002; van der Maaten and Hinton 2008; McInnes et al. 2018."
    ),
    corpus=DOCUMENTS,
)
