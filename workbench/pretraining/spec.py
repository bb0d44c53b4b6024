"""Settings of a pretraining, and the light part of its objectives. Does not import torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.base import learning_rates
from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option, complete
from workbench.base.records import JsonRecord
from workbench.base.registry import registry
from workbench.models.spec import GIVES, ModelInfo, NewModel, new_model
from workbench.models.spec.places import OBJECTIVE
from workbench.training.general import CHECKPOINTING

GENERAL: tuple[Option, ...] = (
    Option(
        "epochs", "int", 1, N_("Number of passes over the text."),
        group="main", low=1, high=1000, title=N_("Epochs"),
    ),
    Option(
        "minutes", "float", 0.0,
        N_("End after this many minutes of training, evaluations excluded; 0 for no limit. The "
           "learning-rate schedule follows the time."),
        group="main", low=0.0, high=100_000.0, title=N_("Minutes"),
    ),
    Option(
        "max_steps", "int", 0, N_("End after this many optimizer steps; 0 for no limit."),
        low=0, high=100_000_000, title=N_("Steps"),
    ),
    Option(
        "batch_size", "int", 32, N_("Sequences per batch."),
        group="main", low=1, high=4096, title=N_("Batch size"),
    ),
    Option(
        "learning_rate", "float", None, N_("Peak learning rate of the schedule."),
        group="main", low=1e-8, high=10.0, title=N_("Learning rate"),
        automatic=N_("from the objective"),
    ),
    Option(
        "init", "choice", "pretrained",
        N_("Initial weights: those of the model, or newly initialized ones."),
        choices=("pretrained", "random"), choice_titles=(N_("Pretrained"), N_("Random")),
        title=N_("Initial weights"),
    ),
    Option(
        "dropout", "float", None, N_("Dropout in the hidden layers."),
        low=0.0, high=0.9, title=N_("Dropout"), automatic=N_("as the model was configured"),
    ),
    Option(
        "schedule", "choice", "linear",
        N_("Learning-rate schedule after warm-up: linear decay to zero, constant, or slanted "
           "triangular (Howard and Ruder 2018)."),
        choices=("linear", "constant", "slanted"), title=N_("Schedule"),
    ),
    Option(
        "warmup", "float", 0.05, N_("Fraction of the training during which the rate rises."),
        low=0.0, high=0.9, title=N_("Warm-up"),
    ),
    Option(
        "ratio", "float", 32.0,
        N_("Slanted schedule: the highest rate divided by the lowest."),
        low=1.0, high=1e6, title=N_("Ratio"),
    ),
    Option(
        "layer_decay", "float", 1.0,
        N_("Layer-wise learning-rate decay: the learning rate of each lower layer is divided by "
           "this factor. 2.6 as in Howard and Ruder 2018; 1 for equal rates."),
        low=1.0, high=100.0, title=N_("Layer-wise learning-rate decay"),
    ),
    Option(
        "weight_decay", "float", 0.01, N_("Weight decay (biases and norms excluded)."),
        low=0.0, high=1.0, title=N_("Weight decay"),
    ),
    Option(
        "grad_clip", "float", 1.0,
        N_("Gradient clipping: maximum norm of the gradients; 0 disables it."),
        low=0.0, high=1000.0, title=N_("Gradient clipping"),
    ),
    Option(
        "evaluations", "int", 10,
        N_("Evaluations on held-out text, at equal distances; each saves the model."),
        low=1, high=1000, title=N_("Evaluations"),
    ),
    Option(
        "device", "text", "auto", N_("Device to train on: auto, cpu, cuda, cuda:1, mps."),
        choices=("auto", "cpu", "cuda", "mps"), title=N_("Device"),
    ),
    Option(
        "precision", "choice", "auto", N_("auto: bf16 if it is clearly faster, else fp32."),
        choices=("auto", "fp32", "bf16"), title=N_("Precision"),
    ),
    CHECKPOINTING,
)  # fmt: skip


@dataclass(frozen=True)
class ObjectiveInfo:
    """The light part of an objective.

    needs: outputs (keys of GIVES) for which the model must have weights; one set of several
    alternatives. heads: names of the family's heads that compute them, see `LoadOptions.head`;
    the first that the model has is loaded. needs_head: the model must have one of them; not all
    families have names for theirs.
    learning_rate: peak for a model that was pretrained already, and for random weights.
    perplexity: whether every token is predicted from its context, so that a perplexity per word is
    defined. others: names of the losses that predict no tokens of the text, or predict them a
    second time: they have no part in the perplexity.
    """

    id: str
    title: str
    definition: str
    needs: tuple[frozenset[str], ...]
    heads: tuple[str, ...]
    learning_rate: tuple[float, float]
    perplexity: bool
    others: frozenset[str] = frozenset()
    needs_head: bool = False
    options: tuple[Option, ...] = ()

    def fits(self, model: ModelInfo) -> bool:
        return any(needed <= set(model.gives) for needed in self.needs)

    def check(self, model: ModelInfo) -> None:
        """Raises SpecError if the model has no weights for the objective."""
        if not self.fits(model):
            known = ", ".join(info.id for info in objectives() if info.fits(model))
            hint = _("Objectives for this model: {known}.", known=known)
            missing = sorted(self.needs[0] - set(model.gives))
            raise SpecError(
                _(
                    "{model} cannot be trained with {objective}: it does not provide {needs}.",
                    model=model.name,
                    objective=self.id,
                    needs=", ".join(_(GIVES[name]) for name in missing),
                ),
                hint=hint if known else _("No pretraining objective fits this model."),
            )


def objectives() -> tuple[ObjectiveInfo, ...]:
    return registry().infos("objective")


def objective(name: str) -> ObjectiveInfo:
    """Raises SpecError for an unknown objective."""
    missing = _("There is no objective {name!r}.", name=name)
    info: ObjectiveInfo = registry().info("objective", name, missing=missing)
    return info


def usual_objective(model: ModelInfo) -> ObjectiveInfo | None:
    """The objective that a model was most likely pretrained with, None if none fits.

    The one that uses most of the model's own outputs; of several, the first of the registry.
    """
    gives = set(model.gives)
    sizes = {
        info.id: max((len(needed) for needed in info.needs if needed <= gives), default=0)
        for info in objectives()
    }
    best = max(objectives(), key=lambda info: sizes[info.id], default=None)
    return best if best is not None and sizes[best.id] else None


def adaptation_rate(info: ObjectiveInfo, model: ModelInfo, chosen: float | None) -> float:
    """The peak rate at which a pretrained model is trained further on other texts: the chosen one,
    else that of its family, else that of the objective.
    """
    family = registry().info("family", model.family).adapt_rate if model.family else 0.0
    usual = learning_rates.pretraining(info.learning_rate, is_random=False)
    return float(chosen or family or usual)


@dataclass(frozen=True)
class PretrainSpec(JsonRecord):
    """The complete description of a pretraining.

    model: a folder, or the name of a new model ("new:" and an architecture), whose vocabulary is
    built from the texts and whose options are among `options`. texts, held_out: files and folders;
    without held_out, one document in 100 of the texts is held out. options: settings that differ
    from the defaults.
    """

    objective: str
    model: str
    texts: tuple[str, ...]
    held_out: tuple[str, ...] = ()
    seed: int = 1
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    allow_pickle: bool = False

    def __post_init__(self) -> None:
        self.settings()

    @property
    def info(self) -> ObjectiveInfo:
        return objective(self.objective)

    @property
    def created(self) -> NewModel | None:
        """What is created first; None if `model` is a folder."""
        return new_model(self.model)

    def module_of(self, folder: Path) -> Path:
        """The file with the objective's own parameters in the folder of a model.

        It is in a folder of its own, so that it is not taken for weights of the model.
        """
        return folder / OBJECTIVE / f"{self.objective}.safetensors"

    def settings(self) -> dict[str, Any]:
        """Every setting. Raises SpecError for an unknown one or an invalid value."""
        known = (*GENERAL, *self.info.options)
        if self.created is not None:
            known = (*known, *self.created.creation.options)
        return complete(known, self.options, owner=_("objective {id}", id=self.objective))

    @property
    def peak(self) -> float:
        """The peak learning rate: the chosen one, else that of the objective."""
        options = self.settings()
        is_random = options["init"] == "random" or self.created is not None
        usual = learning_rates.pretraining(self.info.learning_rate, is_random=is_random)
        return float(options["learning_rate"] or usual)
