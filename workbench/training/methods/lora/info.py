"""Low-rank adaptation: description and settings; counts parameters without importing peft."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from workbench.base import learning_rates
from workbench.base.errors import SpecError
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.models.spec import ModelInfo, shapes
from workbench.training.methods.spec import Forecast, MethodInfo

ALL_LINEAR = "all-linear"
_IN_LAYER = re.compile(r"\.\d+\.")


def targets(chosen: str | None, model: ModelInfo) -> tuple[str, ...]:
    """Names of the modules to adapt, each a suffix of a full name; ALL_LINEAR for all of them.

    `chosen` is the setting; None selects the query and value projections (Hu et al. 2021, section
    7.1), ALL_LINEAR if the family of the model does not name them.
    """
    if chosen is None:
        return model.projections or (ALL_LINEAR,)
    return tuple(part.strip() for part in chosen.split(","))


def is_target(name: str, targets: tuple[str, ...]) -> bool:
    """Whether a module with this full name is adapted, if it is linear."""
    if targets == (ALL_LINEAR,):
        return _IN_LAYER.search(name) is not None
    return any(name == text or name.endswith(f".{text}") for text in targets)


def check_targets(chosen: str) -> None:
    """Raises SpecError for an empty name in the list."""
    if not all(part.strip() for part in chosen.split(",")):
        raise SpecError(
            _("lora_targets is {chosen!r}, expected names of modules.", chosen=chosen),
            hint=_("For example query,value or {all}.", all=ALL_LINEAR),
        )


DEFAULT_RANK = 8
RANK = Option(
    "lora_rank",
    "int",
    DEFAULT_RANK,
    N_("Rank of the update matrices. Higher ranks can learn more and use more memory."),
    group="main",
    low=1,
    high=1024,
    title=N_("LoRA rank"),
)
ALPHA = Option(
    "lora_alpha",
    "float",
    None,
    N_("Scaling: the output of the update matrices is multiplied by alpha / rank."),
    low=0.01,
    high=10_000,
    title=N_("LoRA alpha"),
    automatic=N_("twice the rank"),
)
DROPOUT = Option(
    "lora_dropout",
    "float",
    0.0,
    N_("Dropout probability of the inputs of the update matrices."),
    low=0.0,
    high=0.9,
    title=N_("LoRA dropout"),
)
MODULES = Option(
    "lora_targets",
    "text",
    None,
    N_(
        "Linear modules that are adapted: suffixes of their names, separated by commas, or "
        "all-linear for all linear modules of the layers."
    ),
    title=N_("LoRA target modules"),
    automatic=N_("the query and value projections of the attention, by model"),
    check=check_targets,
)


class LoraInfo(MethodInfo):
    id = "lora"
    title = N_("LoRA")
    help = N_("Trains the head, the pooler and small matrices beside the frozen weights.")
    options = (RANK, ALPHA, DROPOUT, MODULES)
    rate_factor = learning_rates.INSERTED
    inserts = True

    def factors(self, layers: int, options: Mapping[str, Any], epoch: int) -> tuple[float, ...]:
        """Factors of the inserted matrices: every layer has some; the embeddings have none."""
        return (0.0, *[1.0] * (layers + 1))

    def forecast(self, model: ModelInfo, options: Mapping[str, Any]) -> Forecast:
        """Counted from the shapes of the weights; without them, two square modules per layer."""
        rank, chosen = int(options.get("lora_rank") or DEFAULT_RANK), options.get("lora_targets")
        names = targets(chosen, model)
        parameters, pooler = 0, 0
        for name, shape in shapes(model).items():
            module = name.removesuffix(".weight")
            if module != name and len(shape) == 2 and is_target(module, names):
                parameters += rank * sum(shape)
            elif ".pooler." in f".{name}":
                pooler += shape[0] * (shape[1] if len(shape) > 1 else 1)
        parameters = parameters or 2 * model.layers * 2 * rank * model.width
        return Forecast(parameters + pooler, model.parameters + parameters)


INFO = LoraInfo()
