"""The sizes of an AWD-LSTM, from the names and shapes of its weights.

Names of fastai 1 and 2 (`0.encoder.weight`, `0.rnns.0.weight_hh_l0_raw`) and of fastai 0.7
(`0.rnns.0.module.weight_hh_l0_raw`); an encoder alone has no "0.", a classifier has "0.module.".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from workbench.base.i18n import _
from workbench.models.formats import pickles

PREFIXES = ("0.module.", "0.", "")  # of a classifier, a language model, an encoder
DECODER, DECODER_BIAS = "1.decoder.weight", "1.decoder.bias"
# For each weight of a layer, in torch's order, the names it may have.
LAYER = (
    ("module.weight_ih_l0",),
    ("weight_hh_l0_raw", "module.weight_hh_l0_raw", "module.weight_hh_l0"),
    ("module.bias_ih_l0",),
    ("module.bias_hh_l0",),
)


@dataclass(frozen=True)
class Network:
    """Sizes of a network; zeros if they are unknown.

    hidden: width of the layers below the last one, whose width is that of the embeddings.
    """

    parameters: int = 0
    layers: int = 0
    width: int = 0
    hidden: int = 0
    vocabulary: int = 0
    has_decoder: bool = False
    dtype: str = ""

    @classmethod
    def of(cls, path: Path, problems: list[str]) -> Network:
        before = len(problems)
        tensors = _tensors(path, problems)
        shapes = {name: tensor.shape for name, tensor in tensors.items()}
        if len(problems) == before and (reason := _unsupported(shapes, path.name)):
            problems.append(reason)
        if len(problems) > before:
            return cls()
        sizes = _sizes(shapes, is_tied=_is_tied(tensors))
        if reason := _inconsistent(shapes, sizes, path.name):
            problems.append(reason)
            return cls()
        return replace(sizes, dtype=next(iter(tensors.values())).dtype)


def _tensors(path: Path, problems: list[str]) -> dict[str, pickles.Tensor]:
    content = pickles.content(path, problems)
    if isinstance(content, dict) and isinstance(content.get("model"), dict):
        content = content["model"]  # beside the state of an optimizer
    return {tensor.name: tensor for tensor in pickles.named(content)}


def read_shapes(path: Path, problems: list[str]) -> dict[str, tuple[int, ...]]:
    """Name → shape; the second copy of a weight that dropout masks is left out."""
    shapes = {name: tensor.shape for name, tensor in _tensors(path, problems).items()}
    return {name: shape for name, shape in shapes.items() if not _is_copy(name, shapes)}


def _is_copy(name: str, names: Collection[str]) -> bool:
    copied = name.replace("module.weight_hh_l0", "weight_hh_l0_raw")
    dropped = "encoder_dp." in name or "encoder_with_dropout." in name
    return dropped or (copied != name and copied in names)


def prefix_of(names: Collection[str]) -> str | None:
    """What the names of the encoder's weights begin with, None for another model."""
    return next((prefix for prefix in PREFIXES if f"{prefix}encoder.weight" in names), None)


def layer_names(names: Collection[str], layer: int) -> tuple[str, ...]:
    """The names of the four weights of a layer, in torch's order; () if one is missing."""
    start = f"{prefix_of(names)}rnns.{layer}."
    weight_names = [
        next((start + name for name in known if start + name in names), "") for known in LAYER
    ]
    return tuple(weight_names) if all(weight_names) else ()


def _unsupported(shapes: Mapping[str, Sequence[int]], file: str) -> str:
    if any(".linear.weight" in name and "rnns." in name for name in shapes):
        return _("its layers are QRNNs; only LSTM layers are supported")
    if any("_reverse" in name for name in shapes):
        return _("its layers are bidirectional, which is not supported")
    prefix = prefix_of(shapes)
    if prefix is None or not layer_names(shapes, 0) or len(shapes[f"{prefix}encoder.weight"]) != 2:
        return _("{file} does not hold the weights of an AWD-LSTM", file=file)
    return ""


def _is_tied(tensors: Mapping[str, pickles.Tensor]) -> bool:
    """Whether the decoder's weights are stored as those of the embeddings."""
    both = [tensors.get(name) for name in ("0.encoder.weight", DECODER)]
    return len({tensor.storage for tensor in both if tensor}) == 1


def _sizes(shapes: Mapping[str, Sequence[int]], *, is_tied: bool) -> Network:
    prefix = prefix_of(shapes)
    rows, width = shapes[f"{prefix}encoder.weight"]
    layers, count = 0, rows * width
    while names := layer_names(shapes, layers):
        count += sum(prod(shapes[name]) for name in names)
        layers += 1
    has_decoder = prefix == "0." and DECODER in shapes
    if has_decoder:
        count += 0 if is_tied else prod(shapes[DECODER])
        count += prod(shapes.get(DECODER_BIAS, (0,)))
    hidden = shapes[layer_names(shapes, 0)[1]][-1]
    return Network(count, layers, width, hidden, rows, has_decoder)


def expected_shapes(sizes: Network, layer: int) -> tuple[tuple[int, ...], ...]:
    """Shapes of the four weights of a layer."""
    inputs = sizes.hidden if layer else sizes.width
    own = sizes.width if layer == sizes.layers - 1 else sizes.hidden
    return ((4 * own, inputs), (4 * own, own), (4 * own,), (4 * own,))


def _inconsistent(shapes: Mapping[str, Sequence[int]], sizes: Network, file: str) -> str:
    """The first weight whose shape contradicts the others, as a problem."""
    expected: dict[str, tuple[int, ...]] = {}
    for layer in range(sizes.layers):
        pairs = zip(layer_names(shapes, layer), expected_shapes(sizes, layer), strict=True)
        expected.update(pairs)
    if sizes.has_decoder:
        expected[DECODER] = (sizes.vocabulary, sizes.width)
        if DECODER_BIAS in shapes:
            expected[DECODER_BIAS] = (sizes.vocabulary,)
    for name, shape in expected.items():
        if tuple(shapes[name]) != shape:
            return _(
                "{file}: {name} has the shape {found}, expected {expected}",
                file=file,
                name=name,
                found=list(shapes[name]),
                expected=list(shape),
            )
    return ""
