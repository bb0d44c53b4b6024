"""Bottleneck adapters: small modules inside each layer of a transformer.

Two per layer, on the outputs of the attention and of the feed-forward part, after the projection to
the width of the model and before the residual addition: x + W_up gelu(W_down x). W_up is 0 at
first, so a model with new adapters computes exactly what it did before.
Source: Houlsby et al. 2019, Parameter-Efficient Transfer Learning for NLP, section 2.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F
from transformers.pytorch_utils import Conv1D

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.families.transformer.info.architectures import SUBLAYERS
from workbench.models.reasons import reason
from workbench.models.spec.places import ADAPTERS

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from workbench.models import spec
    from workbench.models.base import Parts

SPREAD = 0.01  # standard deviation of W_down, truncated at two of them, as in the paper
INSIDE = ".adapter."  # in the names of their weights


class AdaptedEncoder(Protocol):
    """What is known here of a `TransformerEncoder`, which imports this module."""

    info: spec.ModelInfo
    model: PreTrainedModel
    in_transformers: bool

    @property
    def body(self) -> nn.Module: ...
    @property
    def layers(self) -> list[nn.Module]: ...
    def parts(self) -> Parts: ...


class Adapter(nn.Module):
    """x (…, H) → (…, H) through `size` units."""

    def __init__(self, width: int, size: int):
        super().__init__()
        self.down, self.up = nn.Linear(width, size), nn.Linear(size, width)
        nn.init.trunc_normal_(self.down.weight, std=SPREAD, a=-2 * SPREAD, b=2 * SPREAD)
        for parameter in (self.down.bias, self.up.weight, self.up.bias):
            nn.init.zeros_(parameter)

    def forward(self, states: Tensor) -> Tensor:
        """(…, H) → (…, H)."""
        adapted: Tensor = states + self.up(F.gelu(self.down(states)))
        return adapted


class AdaptedLinear(nn.Module):
    """A linear module with an adapter on its output. Its own weights keep their names.

    It is no `nn.Linear`, so that methods that change linear modules leave it as it is.
    """

    def __init__(self, linear: nn.Linear | Conv1D, adapter: Adapter):
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias
        self.is_transposed = isinstance(linear, Conv1D)
        self.adapter = adapter

    def forward(self, states: Tensor) -> Tensor:
        """(…, I) → (…, H), the projection and the adapter after it."""
        weight = self.weight.T if self.is_transposed else self.weight
        adapted: Tensor = self.adapter(F.linear(states, weight, self.bias))
        return adapted


class _Place(NamedTuple):
    """A module in the base model: its parent, the attribute there, and its full name."""

    parent: nn.Module
    attribute: str
    name: str


def insert(encoder: AdaptedEncoder, size: int) -> None:
    """Add untrained adapters of `size` units; a model that has adapters keeps them.

    Raises ModelError for an architecture whose projections are not known, or not ordinary modules.
    """
    if not present(encoder):
        _insert(encoder, {place.name: size for place in _places(encoder)})


def present(encoder: AdaptedEncoder) -> dict[str, Adapter]:
    """Name of the adapted module in the base model → its adapter."""
    return {
        name: module.adapter
        for name, module in encoder.body.named_modules()
        if isinstance(module, AdaptedLinear)
    }


def norms(encoder: AdaptedEncoder) -> list[nn.Parameter]:
    """The weights of all norms of the layers and above; that of the embeddings is below them."""
    low = {id(parameter) for parameter in encoder.parts().embeddings}
    return [
        parameter
        for module in encoder.body.modules()
        if type(module).__name__.endswith("Norm")
        for parameter in module.parameters(recurse=False)
        if id(parameter) not in low
    ]


def weights(encoder: AdaptedEncoder) -> dict[str, Tensor]:
    """The weights of the adapters by their names in the base model, without that of a head.

    Of each adapter down.weight (size, H), down.bias (size,), up.weight (H, size), up.bias (H,).
    """
    return {
        f"{name}{INSIDE}{key}": value.detach().contiguous()
        for name, adapter in present(encoder).items()
        for key, value in adapter.state_dict().items()
    }


def save(encoder: AdaptedEncoder, folder: Path) -> None:
    """Write the adapters, if there are any, beside the weights of the model."""
    if adapter_weights := weights(encoder):
        save_file(adapter_weights, folder / ADAPTERS, metadata={"format": "pt"})


def read(encoder: AdaptedEncoder, folder: Path) -> None:
    """Insert the adapters that `save` wrote. Raises ModelError if the file does not fit."""
    path = folder / ADAPTERS
    if not path.is_file():
        return
    try:
        put(encoder, load_file(path))
    except ModelError:
        raise
    except Exception as error:  # safetensors and torch raise errors of several kinds
        raise ModelError(
            _("{path} cannot be loaded: {error}.", path=path, error=reason(error)),
            hint=_("Train again, or restore the folder from a backup."),
        ) from error


def put(encoder: AdaptedEncoder, adapter_weights: Mapping[str, Tensor]) -> None:
    """Insert adapters with these weights, whose shapes `weights` names. Raises KeyError if they do
    not fit.
    """
    down = f"{INSIDE}down.weight"
    sizes = {
        name.removesuffix(down): len(v)
        for name, v in adapter_weights.items()
        if name.endswith(down)
    }
    places = {place.name for place in _places(encoder)}
    if sizes.keys() != places:
        wrong = min(sizes.keys() ^ places)
        raise KeyError(_("it does not fit this model at {name}", name=wrong))
    if not present(encoder):
        _insert(encoder, sizes)
    for name, adapter in present(encoder).items():
        own = f"{name}{INSIDE}"
        adapter.load_state_dict(
            {
                key.removeprefix(own): value
                for key, value in adapter_weights.items()
                if key.startswith(own)
            }
        )


def plain_state(encoder: AdaptedEncoder) -> dict[str, Tensor]:
    """The weights of the model without its adapters, by name, each of the shape in the library."""
    return {k: v for k, v in encoder.model.state_dict().items() if INSIDE not in k}


def _insert(encoder: AdaptedEncoder, sizes: Mapping[str, int]) -> None:
    for place in _places(encoder):
        linear = cast("nn.Linear | Conv1D", getattr(place.parent, place.attribute))
        width = linear.nf if isinstance(linear, Conv1D) else linear.out_features
        adapter = Adapter(int(width), sizes[place.name])
        adapter.to(linear.weight.device)
        setattr(place.parent, place.attribute, AdaptedLinear(linear, adapter))
    encoder.in_transformers = False  # that library would load the folder without the adapters


def _places(encoder: AdaptedEncoder) -> list[_Place]:
    """The projections of each layer, attention before feed-forward. Raises ModelError."""
    patterns = SUBLAYERS.get(encoder.info.architecture, ())
    names = {id(module): name for name, module in encoder.body.named_modules()}
    places = [
        _Place(layer.get_submodule(parent), attribute, names[id(module)])
        for layer in encoder.layers
        for parent, attribute, module in _matching(layer, patterns)
    ]
    if not places or len(places) % 2:
        raise unsupported(encoder)
    return places


def _matching(layer: nn.Module, patterns: Sequence[str]) -> Iterator[tuple[str, str, nn.Module]]:
    for name, module in layer.named_modules():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            if type(module) not in (nn.Linear, Conv1D, AdaptedLinear):
                raise ModelError(
                    _(
                        "Bottleneck adapters need full precision, but {name} is quantized.",
                        name=name,
                    ),
                    hint=_("Load the model in full precision, or use LoRA."),
                )
            parent, _dot, attribute = name.rpartition(".")
            yield parent, attribute, module


def unsupported(encoder: AdaptedEncoder) -> ModelError:
    return ModelError(
        _(
            "Bottleneck adapters cannot be inserted into {model}: {reason}.",
            model=encoder.info.name or encoder.info.architecture,
            reason=_("the projections of its layers are not known"),
        ),
        hint=_("Choose LoRA, or a BERT, RoBERTa, GPT-2 or Llama model."),
    )
