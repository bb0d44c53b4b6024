"""How well labels can be read from each layer of an encoder: description and result."""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.base.i18n import N_
from workbench.base.options import MAX_SEED, Option
from workbench.inspection.spec import LABELS, LAYER, InspectorInfo


@dataclass(frozen=True, slots=True)
class ProbeInterval:
    """A value with its 95% interval, from a bootstrap over documents."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ProbedLayer:
    """accuracy: of a classifier of the labels on dev. control: that of one of random labels.

    selectivity: the difference of both.
    """

    accuracy: ProbeInterval
    control: ProbeInterval
    selectivity: ProbeInterval


@dataclass(frozen=True, slots=True)
class ProbedModel:
    """layers: embeddings first. before: the model that a run was trained from."""

    name: str
    layers: tuple[ProbedLayer, ...]
    before: bool = False

    @property
    def best(self) -> int:
        """The layer with the highest accuracy, the lowest of equal ones."""
        scores = [layer.accuracy.value for layer in self.layers]
        return scores.index(max(scores))


@dataclass(frozen=True)
class Probes:
    """layer: whose labels; by_word: they belong to words, else to documents.

    majority: accuracy on dev of the label that is most frequent in train. train, dev: numbers of
    words or documents; types: of the control task; seen: the fraction of dev whose type occurs in
    train.
    """

    layer: str
    by_word: bool
    models: tuple[ProbedModel, ...]
    labels: int
    majority: float
    train: int
    dev: int
    types: int
    seen: float

    def named(self, name: str) -> Probes:
        """The last model is a run, which has its name in the project only."""
        return replace(self, models=(*self.models[:-1], replace(self.models[-1], name=name)))


INFO = InspectorInfo(
    "probes",
    N_("Layers: probes"),
    Probes,
    (
        Option(
            LAYER,
            "text",
            "",
            N_("Annotation layer with the labels. Default: that of the run, else the first."),
        ),
        Option(
            "documents",
            "int",
            1000,
            N_(
                "Maximum number of documents of train and of dev each; a random sample is taken "
                "if there are more."
            ),
            low=10,
            high=100_000,
        ),
        Option(
            "words",
            "int",
            3000,
            N_("Maximum number of words of train and of dev each, for word labels."),
            low=100,
            high=200_000,
        ),
        Option(
            "seed",
            "int",
            1,
            N_("Seed of the sample and of the control task."),
            low=0,
            high=MAX_SEED,
        ),
    ),
    shows=N_(
        "Shows how well a logistic regression predicts your labels from each layer on dev, "
        "compared with a control task: a random label for each word form (for documents: for each "
        "first word). Does not show that the model uses this information. Hewitt and Liang 2019."
    ),
    examines=LABELS,
)
