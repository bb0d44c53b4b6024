"""How similar the layers of one or two encoders are: description and result."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.base.i18n import N_
from workbench.base.options import MAX_SEED, Option
from workbench.inspection.spec import TEXTS, InspectorInfo


@dataclass(frozen=True)
class LayerSimilarity:
    """values: linear CKA in [0, 1], a row for each layer of `first`, a column for each of `second`,
    embeddings first. same: both are one model. words, documents: what was compared.
    """

    first: str
    second: str
    values: tuple[tuple[float, ...], ...]
    words: int
    documents: int
    same: bool = False

    def named(self, name: str) -> LayerSimilarity:
        """`first` is a run, which has its name in the project only."""
        return replace(self, first=name, second=name if self.same else self.second)


INFO = InspectorInfo(
    "layer_similarity",
    N_("Layers: similarity"),
    LayerSimilarity,
    (
        Option(
            "other",
            "text",
            "",
            N_(
                "Folder of another model, or “base”: the model that the run was trained from. "
                "Without it, the layers of one model are compared."
            ),
        ),
        Option(
            "documents",
            "int",
            300,
            N_(
                "Maximum number of documents; a random sample is taken if there are more. Test "
                "documents are left out."
            ),
            low=1,
            high=100_000,
        ),
        Option("words", "int", 3000, N_("Maximum number of words."), low=10, high=100_000),
        Option("seed", "int", 1, N_("Seed of the sample."), low=0, high=MAX_SEED),
    ),
    shows=N_(
        "Shows how similarly two layers represent the words of your documents (linear CKA; 1: "
        "equal up to rotation and scale). Does not show which information they share; with few "
        "words the values are too high. Kornblith et al. 2019."
    ),
    examines=TEXTS,
)
