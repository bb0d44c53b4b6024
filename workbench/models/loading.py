"""Select the family that reads a folder, and load the encoder with it; one of a plugin is tried
once on two short texts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from workbench.base import checksums
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.registry import contract_hint, needed_plugin, registry
from workbench.models import spec
from workbench.models.base import Encoder, Family, LoadOptions, States
from workbench.runtime.inputs import EncodedInput, Prepared, stack
from workbench.text.document import TEXT, Document


def family_of(info: spec.ModelInfo) -> Family:
    family: Family = registry().get("family", info.family)()
    return family


def load(folder: Path | str, options: LoadOptions) -> Encoder:
    """The encoder in a model folder. Raises ModelError if it cannot be loaded."""
    info = spec.read_folder(folder, allow_pickle=options.allow_pickle)
    return loaded(info, options)


def loaded(info: spec.ModelInfo, options: LoadOptions) -> Encoder:
    """The encoder of a card; one of a plugin is tried once.

    Raises ModelError, also if its files are no longer those that were saved.
    """
    checksums.ensure_unchanged(Path(info.path))
    encoder = family_of(info).load(info, options)
    if needed_plugin(info.family):
        ensure(encoder, info.family)
    return encoder


log = logging.getLogger(__name__)
TEXTS = ("Two words.", "A longer text, so that the shorter one is padded in a batch of both.")
TOKENS = 64  # at most, of each text
DIFFERENCE = 1e-3  # of states with and without padding, relative to the largest of them


def ensure(encoder: Encoder, family: str) -> None:
    """Raises ModelError with the first thing that is not as the contract requires."""
    fault = next(_faults(encoder, family), "")
    if fault:
        message = _("The model family {family} does not follow its contract: {fault}.")
        raise ModelError(message.format(family=family, fault=fault), hint=contract_hint(family))


def _faults(encoder: Encoder, family: str) -> Iterator[str]:
    documents = [Document("", ((TEXT, text),)) for text in TEXTS]
    length = min(encoder.max_length, TOKENS)
    if length < 1:
        yield _("max_length is {n}, expected at least 1", n=encoder.max_length)
        return
    whole = encoder.preparer.whole(documents, length)
    yield from _inputs_faults(whole)
    try:
        windows = encoder.preparer.windows(documents, length)
    except Exception:  # tasks on texts do without
        log.warning("%s: `windows` of its preparer failed", family, exc_info=True)
    else:
        yield from _inputs_faults(windows)
        if len(windows.alignments) != len(documents):
            yield _("`windows` gives no words: return prepared_windows(documents, windows)")
    yield from _state_faults(encoder, whole, family)


def _inputs_faults(prepared: Prepared) -> Iterator[str]:
    for encoded in prepared.inputs:
        yield from _input_faults(encoded, len(prepared.documents[-1].text))


def _input_faults(encoded: EncodedInput, longest: int) -> Iterator[str]:
    """offsets int (T, 2), text int (T,), and arrays (T, …), as `EncodedInput` states."""
    count = len(encoded.text)
    offsets = np.asarray(encoded.offsets)
    if offsets.shape != (count, 2):
        yield _(
            "offsets have the shape {shape}, expected ({n}, 2) by the length of `text`",
            shape=offsets.shape,
            n=count,
        )
        return
    for name, array in encoded.arrays.items():
        if len(array) != count:
            yield _(
                "the array {name!r} has the length {n}, expected {count}: one row per token",
                name=name,
                n=len(array),
                count=count,
            )
    own = offsets[np.asarray(encoded.text) == 0]
    ordered = (np.diff(own, axis=0) >= 0).all() and (own[:, 0] <= own[:, 1]).all()
    if not ordered:
        yield _("the offsets of the tokens are not in ascending order")
    elif len(own) and not 0 <= own.min() <= own.max() <= longest:
        yield _("the offset {n} is outside the text", n=int(own.max()))


def _state_faults(encoder: Encoder, prepared: Prepared, family: str) -> Iterator[str]:
    was_training = encoder.training
    encoder.eval()
    try:
        with torch.no_grad():  # what the encoder keeps must stay usable in training
            together = _states(encoder, prepared.inputs)
            if isinstance(together, States):
                _count_layers(encoder, len(together.layers), family)
            yield from _shape_faults(encoder, together, prepared)
            _compare_padding(_states(encoder, prepared.inputs[:1]), together, family)
    finally:
        encoder.train(was_training)


def _states(encoder: Encoder, inputs: Sequence[EncodedInput]) -> States:
    arrays = stack(inputs, encoder.input_names, encoder.preparer.fill)
    device = encoder.device
    tensors = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
    states: States = encoder(tensors)
    return states


def _count_layers(encoder: Encoder, returned: int, family: str) -> None:
    """Correct the number of layers of the card to that of the states, `returned`."""
    if returned and returned != len(encoder.widths):
        log.warning(
            "%s: `layers` of its ModelInfo is %d, but `forward` returned %d layers with the "
            "embeddings; %d is assumed",
            family, encoder.info.layers, returned, returned - 1,
        )  # fmt: skip
        encoder.info = replace(encoder.info, layers=returned - 1)


def _shape_faults(encoder: Encoder, states: States, prepared: Prepared) -> Iterator[str]:
    if not isinstance(states, States):
        yield _("`forward` returned {kind}, expected States", kind=type(states).__name__)
        return
    shape = (len(prepared.inputs), int(prepared.lengths.max()))
    if len(states.layers) != len(encoder.widths):
        yield _(
            "number of layers that `forward` returned: {found}, expected {expected}: `layers` of "
            "its ModelInfo is {layers}, and the embeddings come first",
            found=len(states.layers),
            expected=len(encoder.widths),
            layers=encoder.info.layers,
        )
        return
    for number, (layer, width) in enumerate(zip(states.layers, encoder.widths, strict=True)):
        if tuple(layer.shape) != (*shape, width):
            yield _(
                "layer {n} of the states has the shape {found}, expected {expected}",
                n=number,
                found=tuple(layer.shape),
                expected=(*shape, width),
            )
            return
        if not torch.isfinite(layer).all():
            yield _("layer {n} of the states has values that are not finite", n=number)
    if tuple(states.mask.shape) != shape or states.mask.dtype != torch.bool:
        yield _(
            "the mask of the states is {dtype} {found}, expected torch.bool {expected}",
            dtype=states.mask.dtype,
            found=tuple(states.mask.shape),
            expected=shape,
        )


def _compare_padding(alone: States, together: States, family: str) -> None:
    """Log the first layer in which a text differs, read alone and padded in a batch."""
    for number, (layer, padded) in enumerate(zip(alone.layers, together.layers, strict=True)):
        if not _equal(layer[0], padded[0, : layer.shape[1]]):
            log.warning(
                "%s: layer %d of the states of a text depends on the padding in its batch: "
                "multiply by the mask before each module that reads neighbours",
                family, number,
            )  # fmt: skip
            return


def _equal(states: Tensor, other: Tensor) -> bool:
    largest = max(1e-6, float(states.abs().max()))
    return float((states.float() - other.float()).abs().max()) <= DIFFERENCE * largest
