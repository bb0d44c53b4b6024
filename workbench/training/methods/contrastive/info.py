"""Contrastive tuning: description and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.base import learning_rates
from workbench.base.i18n import N_
from workbench.base.options import Option
from workbench.training.methods.spec import FIRST, MethodInfo

PAIRS = Option(
    "pairs",
    "int",
    20,
    N_(
        "Pairs per document: this many with documents of its class, and as many with documents of "
        "other classes (Tunstall et al. 2022, SetFit: 20)."
    ),
    group="main",
    low=1,
    high=1000,
    title=N_("Pairs per document"),
)
PAIR_EPOCHS = Option(
    "pair_epochs",
    "int",
    1,
    N_("Number of passes over pairs, which are drawn again for each."),
    low=1,
    high=100,
    title=N_("Epochs of pairs"),
)
PAIR_RATE = Option(
    "pair_rate",
    "float",
    None,
    N_("Peak learning rate of the encoder while it learns from pairs."),
    low=1e-8,
    high=1.0,
    title=N_("Learning rate of pairs"),
    automatic=N_("from the width of the model"),
)


class ContrastiveInfo(MethodInfo):
    id = "contrastive"
    title = N_("Contrastive tuning")
    help = N_(
        "For few labels: pairs of documents with the same or different classes tune the encoder, "
        "by the cosine similarity of the texts; then only the head is trained (Tunstall et al. "
        "2022, SetFit)."
    )
    options = (PAIRS, PAIR_EPOCHS, PAIR_RATE)
    learning_rate = learning_rates.HEAD_ALONE
    trains_pooler = False
    layer_kinds = ("class",)
    task_defaults = {"pooling": "mean"}
    texts = 2

    def factors(self, layers: int, options: Mapping[str, Any], epoch: int) -> tuple[float, ...]:
        tunes = float(epoch == FIRST)
        return (*[tunes] * (layers + 1), 1.0 - tunes)

    def first_steps(self, options: Mapping[str, Any], documents: int, batch: int) -> int:
        """Each batch has as many pairs as another has documents."""
        pairs = 2 * int(options["pairs"]) * documents
        return int(options["pair_epochs"]) * -(-pairs // batch)

    def first_rate(self, options: Mapping[str, Any], width: int) -> float:
        return float(options["pair_rate"] or learning_rates.of_pairs(width))


INFO = ContrastiveInfo()
