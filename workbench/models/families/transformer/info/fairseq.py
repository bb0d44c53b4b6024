"""SpanBERT as its authors published it, under the names of transformers.

`spanbert_hf_base.tar.gz` holds config.json, which names no family, and pytorch_model.bin without
heads; `spanbert_large_with_head.tar.gz` a checkpoint of fairseq with the heads of the masked
language model and of the span boundary objective. Neither has a vocabulary: it is vocab.txt of
bert-base-cased.
Source of the names: github.com/facebookresearch/SpanBERT, pretraining/fairseq/models/pair_bert.py,
and its issues 38 and 53.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.base.i18n import _, ngettext
from workbench.models.formats import pickles, weights
from workbench.models.formats.weights import Weights

CHECKPOINT = "model.pt"
STATE = "model"  # of a whole checkpoint: the weights, beside settings and the optimizer
PREFIX = "decoder."
BOUNDARY = "cls.pair_target_predictions."  # the head of the span boundary objective
# Our names of its parameters, see `models.boundary`.
BOUNDARY_NAMES: Mapping[str, str] = {
    "position_embeddings.weight": "positions.weight",
    **{
        f"mlp_layer_norm.{theirs}.{part}": f"{ours}.{part}"
        for theirs, ours in (
            ("linear1", "linear1"),
            ("layer_norm1", "norms.0"),
            ("linear2", "linear2"),
            ("layer_norm2", "norms.1"),
        )
        for part in ("weight", "bias")
    },
    "bias": "bias",
}
PLACES = (20, 200)  # shape of the table of places in a span
_TIED = (f"{BOUNDARY}decoder.weight",)  # the input embeddings
_PARTS = ("bert.", "cls.predictions.", "cls.seq_relationship.")  # of transformers' BERT
_ENDS = (("gamma", "weight"), ("beta", "bias"))
MAX_NAMED_PARTS = 3


def name_of(theirs: str) -> str:
    """The parameter of transformers for one of a checkpoint."""
    name = theirs.removeprefix(PREFIX)
    head, dot, last = name.rpartition(".")
    return f"{head}{dot}{dict(_ENDS).get(last, last)}"


def file_of(folder: Path) -> Path | None:
    """The checkpoint of fairseq in a folder without other weights, else None."""
    files = [folder / weights.PICKLE, folder / CHECKPOINT]
    checkpoint = next((file for file in files if file.is_file()), None)
    others = (weights.WEIGHTS, weights.INDEX, weights.PICKLE_INDEX)
    if checkpoint is None or any((folder / name).is_file() for name in others):
        return None
    return checkpoint if any(_is_ours(tensor.name) for tensor in _tensors(checkpoint, [])) else None


def _is_ours(name: str) -> bool:
    return name.startswith(f"{PREFIX}bert.")


def _tensors(file: Path, problems: list[str]) -> tuple[pickles.Tensor, ...]:
    content = pickles.content(file, problems)
    if isinstance(content, dict) and isinstance(content.get(STATE), dict):
        content = content[STATE]
    return tuple(pickles.named(content))


def read(file: Path, problems: list[str]) -> Weights:
    """Names and shapes as in transformers. Appends problems."""
    tensors = (tensor for tensor in _tensors(file, problems) if tensor.name.startswith(PREFIX))
    return weights.of_tensors([tensors], name_of)


def has_boundary(shapes: Mapping[str, Sequence[int]]) -> bool:
    """Whether the weights have a head of the span boundary objective of the usual size."""
    names = [BOUNDARY + name for name in BOUNDARY_NAMES]
    is_complete = all(name in shapes for name in names)
    return is_complete and tuple(shapes[names[0]]) == PLACES


def notes(shapes: Mapping[str, Sequence[int]]) -> list[str]:
    """What the card tells about the heads and other parts that transformers does not have."""
    notes, used = [], set(_TIED)
    if has_boundary(shapes):
        note = _("Its head of the span boundary objective is used for span masking and in Inspect.")
        notes.append(note)
        used |= {BOUNDARY + name for name in BOUNDARY_NAMES}
    left = sorted(name for name in shapes if not name.startswith(_PARTS) and name not in used)
    if left:
        text = ngettext(
            "{n} tensor is not used: {names}.", "{n} tensors are not used: {names}.", len(left)
        )
        names = ", ".join(
            [*left[:MAX_NAMED_PARTS], *(["…"] if len(left) > MAX_NAMED_PARTS else [])]
        )
        notes.append(text.format(n=len(left), names=names))
    return notes
