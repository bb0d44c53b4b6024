"""The model map: blocks, shapes and parameters, from the names and shapes of the weights.

Nothing is loaded. The names are those of transformers, AllenNLP (ELMo), fastai and flair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from math import prod
from pathlib import Path

from workbench.base.i18n import N_, _
from workbench.base.registry import registry
from workbench.models.formats.weights import is_learned
from workbench.models.spec.info import ModelInfo

Shapes = Mapping[str, tuple[int, ...]]
STACKS = {
    "encoder": N_("Encoder"),
    "decoder": N_("Decoder"),
    "forward": N_("Forward"),
    "backward": N_("Backward"),
}
STATES = {
    "tied": N_("shares the weights of the embeddings"),
    "shared": N_("one set of weights, used by every layer"),
}
_LAYER = re.compile(
    r"(?:^|\.)(?:layers?|h|blocks?|albert_layer_groups|rnns|attentions|ffns|layer_norm[12])"
    r"\.(\d+)\.|\.Cell(\d+)\.|_l(\d+)(?:_reverse)?$"
)
_ATTENTION = N_("Query, key, value, output")
_CROSS_ATTENTION = N_("Cross-attention")
_NORMS = N_("Layer norms")
# Parts of a layer, the first pattern that matches.
_PARTS = (
    (re.compile(r"norm|(^|\.)ln_"), _NORMS),
    (re.compile(r"weight_ih|bias_ih"), N_("Input weights of the gates")),
    (re.compile(r"weight_hh|bias_hh"), N_("Recurrent weights of the gates")),
    (re.compile(r"lstmcell\.w_p"), N_("Projection")),
    (re.compile(r"lstmcell"), N_("Gates")),
    (re.compile(r"encdecattention|encoder_attn|crossattention"), _CROSS_ATTENTION),
    (
        re.compile(r"att|query|key|value|[qkvo]_(proj|lin)|out_lin|wqkv|rel_(q|k|v)"),
        _ATTENTION,
    ),
)
_FEED_FORWARD = N_("Feed-forward")
_LM_HEAD = N_("Language model head")
_EMBEDDINGS = N_("Embeddings")
_NEXT_SENTENCE = N_("Next-sentence head")
_SENTENCE_ORDER = N_("Sentence-order head")
_REPLACED = N_("Replaced-word head")
_TASK_HEAD = N_("Task head")
# Blocks outside the layers, the first pattern that matches.
_BLOCKS = (
    (re.compile(r"^cls\.seq_relationship"), _NEXT_SENTENCE),
    (re.compile(r"sop_classifier"), _SENTENCE_ORDER),
    (re.compile(r"^(discriminator|mask)_predictions"), _REPLACED),
    (
        re.compile(
            r"^(cls\.predictions|lm_head|vocab_|generator_|lm_predictions|predictions|embed_out"
            r"|decoder\.(weight|bias)$|head\.|1\.decoder|softmax|pred_layer|lm_loss|final_logits)"
        ),
        _LM_HEAD,
    ),
    (re.compile(r"^(classifier|score|qa_outputs|pre_classifier|linear|crf)\b"), _TASK_HEAD),
    (re.compile(r"^cnn_high"), N_("Highway layers")),
    (re.compile(r"^(cnn_proj|proj|embeddings_project|embedding2nn)\b"), N_("Projection")),
    (re.compile(r"^cnn\b"), N_("Character CNN")),
    (
        re.compile(
            r"emb|wte|wpe|^shared|(^|^0\.|^0\.module\.)encoder\.weight$|^vectors|^ngrams|ln_emb"
        ),
        _EMBEDDINGS,
    ),
    (re.compile(r"pooler"), N_("Pooler")),
    (re.compile(r"norm|ln_f"), N_("Final layer norm")),
)
_OTHER = N_("Other weights")
_ABOVE = (N_("Final layer norm"), N_("Pooler"), _OTHER)  # a head's own if outside the base model
_BELOW = (_EMBEDDINGS, N_("Character CNN"), N_("Highway layers"), N_("Projection"))
_HEADS = (_LM_HEAD, _NEXT_SENTENCE, _SENTENCE_ORDER, _REPLACED, _TASK_HEAD)
_ORDER = (*_BELOW, *_ABOVE, *_HEADS)
_PART_ORDER = (
    _ATTENTION,
    _CROSS_ATTENTION,
    *(title for _pattern, title in _PARTS if title not in (_NORMS, _ATTENTION, _CROSS_ATTENTION)),
    _FEED_FORWARD,
    _NORMS,
)
# Start of a name → stack. ELMo's RNN_0 reads forward, RNN_1 backward.
_STACKS = {
    "encoder": "encoder",
    "decoder": "decoder",
    "next": "forward",
    "previous": "backward",
    "rnn_0": "forward",
    "rnn_1": "backward",
}
_LANGUAGE = frozenset(("masked_lm", "next_lm", "previous_lm", "text_to_text"))
_DIRECTION = re.compile(r"^(next|previous)\.")


@dataclass(frozen=True)
class BlockPart:
    """A part of a block, per layer. Titles are English and marked for translation."""

    title: str
    parameters: int


@dataclass(frozen=True)
class Block:
    """One or more equal layers, or weights outside the layers.

    layers: (first, last) of the layers, 1-based; () outside. stack: a key of STACKS or "".
    parameters: of all layers together. shapes: name → shape, of the first layer.
    head: not part of the encoder. state: a key of STATES or "".
    """

    title: str
    parameters: int
    layers: tuple[int, ...] = ()
    stack: str = ""
    parts: tuple[BlockPart, ...] = ()
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    head: bool = False
    state: str = ""

    @property
    def count(self) -> int:
        return self.layers[1] - self.layers[0] + 1 if self.layers else 1

    def words(self) -> str:
        """The translated title: "Layers 1–12", "Layer 1"."""
        if not self.layers:
            return _(self.title)
        first, last = self.layers
        if first == last:
            message = _("{stack} layer {number}") if self.stack else _("Layer {number}")
            stack = _(STACKS[self.stack]) if self.stack else ""
            return message.format(stack=stack, number=first)
        if self.stack:
            return _(
                "{stack} layers {first}–{last}", stack=_(STACKS[self.stack]), first=first, last=last
            )
        return _("Layers {first}–{last}", first=first, last=last)

    def per_layer(self) -> str:
        """The parts of a layer with their parameters; "" outside the layers."""
        message = _("{part}: {n:,}")
        return "; ".join(
            message.format(part=_(part.title), n=part.parameters) for part in self.parts
        )


@dataclass(frozen=True)
class ModelMap:
    blocks: tuple[Block, ...]

    @property
    def total(self) -> int:
        """Parameters without heads."""
        return sum(block.parameters for block in self.blocks if not block.head)

    def to_json(self) -> dict[str, object]:
        return {"parameters_without_heads": self.total, "blocks": [asdict(b) for b in self.blocks]}


def model_map(info: ModelInfo) -> ModelMap:
    """The map of a model from the headers of its files; no blocks if they do not tell.

    May read the instructions of a pickle: call it off the main thread.
    """
    if not info.family or not Path(info.path).exists():
        return ModelMap(())
    shapes: Shapes = registry().info("family", info.family).shapes(Path(info.path))
    return of_shapes(shapes, info)


def of_shapes(shapes: Shapes, info: ModelInfo) -> ModelMap:
    """The map of weights with these names and shapes."""
    prefix = _prefix(shapes)
    names = {name: _short(name, prefix) for name in shapes if is_learned(name)}
    titles = _titles(names, prefix, shapes, info)
    layers: dict[tuple[str, int], list[str]] = {}
    outside: dict[str, list[str]] = {}
    for name, short in names.items():
        if (at := _layer(short)) is not None:
            layers.setdefault(at, []).append(name)
        else:
            outside.setdefault(titles[name], []).append(name)
    outer = [_outside(title, outside[title], shapes) for title in sorted(outside, key=_ORDER.index)]
    heads = [block for block in outer if block.head]
    below = [block for block in outer if not block.head and block.title not in _ABOVE]
    above = [block for block in outer if not block.head and block.title in _ABOVE]
    stacks = _grouped(layers, shapes, names, info)
    return ModelMap(_with_tied([*below, *stacks, *above, *heads], info))


def _prefix(names: Iterable[str]) -> str:
    """The name of the base model in front of most names: "bert.", "transformer.", "model."."""
    firsts = [name.split(".", 1)[0] for name in names if "." in name]
    most = max(set(firsts), key=firsts.count, default="")
    inside = any(_LAYER.search(name[len(most) :]) for name in names if name.startswith(f"{most}."))
    taken = ("encoder", "decoder", "layers", "layer", "h", "rnn", "0", "shared", "next", "previous")
    return f"{most}." if inside and most not in taken else ""


def _short(name: str, prefix: str) -> str:
    return name.replace("/", ".").removeprefix(prefix)


def _layer(name: str) -> tuple[str, int] | None:
    """(stack, 0-based number) of a weight in a layer."""
    if _title(name) in _HEADS or not (match := _LAYER.search(name)):
        return None
    number = next(int(group) for group in match.groups() if group is not None)
    return _STACKS.get(name.split(".", 1)[0].lower(), ""), number


def _title(name: str) -> str:
    """The block of a weight outside the layers."""
    lower = _DIRECTION.sub("", name.lower())
    return next((title for pattern, title in _BLOCKS if pattern.search(lower)), _OTHER)


def _titles(
    names: Mapping[str, str], prefix: str, shapes: Shapes, info: ModelInfo
) -> dict[str, str]:
    """Name of a weight → its block, as if it were outside the layers.

    names: as in the file → without the name of the base model, `prefix`.
    """
    titles = {name: _title(short) for name, short in names.items()}
    scored = any(
        title == _LM_HEAD and info.vocabulary in shapes[name] for name, title in titles.items()
    )
    if not scored and not _LANGUAGE.intersection(info.gives):
        # ModernBERT's classifiers have the layer that is below the scores of words, too
        titles = {name: _TASK_HEAD if titles[name] == _LM_HEAD else titles[name] for name in titles}
    return {
        name: _TASK_HEAD if title in _ABOVE and not name.startswith(prefix) else title
        for name, title in titles.items()
    }


def _part(name: str) -> str:
    lower = name.lower()
    return next((title for pattern, title in _PARTS if pattern.search(lower)), _FEED_FORWARD)


def _sum(names: Iterable[str], shapes: Shapes) -> int:
    return sum(prod(shapes[name]) for name in names)


def _outside(title: str, names: Sequence[str], shapes: Shapes) -> Block:
    return Block(
        title,
        _sum(names, shapes),
        shapes=tuple((name, shapes[name]) for name in names),
        head=title in _HEADS,
    )


def _grouped(
    layers: Mapping[tuple[str, int], list[str]],
    shapes: Shapes,
    short: Mapping[str, str],
    info: ModelInfo,
) -> list[Block]:
    """Merge equal consecutive layers into one block."""
    stacks = {stack for stack, _number in layers}
    layer_blocks = []
    for (stack, number), names in sorted(layers.items()):
        parts: dict[str, int] = {}
        for name in names:
            part = _part(short[name])
            parts[part] = parts.get(part, 0) + prod(shapes[name])
        layer_blocks.append(
            Block(
                N_("Layers"),
                sum(parts.values()),
                (number + 1, number + 1),
                stack if len(stacks) > 1 else "",
                tuple(BlockPart(title, parts[title]) for title in _PART_ORDER if title in parts),
                tuple((name, shapes[name]) for name in names),
            )
        )
    blocks = []
    order = [*_STACKS.values(), ""]
    ordered = sorted(layer_blocks, key=lambda item: (order.index(item.stack), item.layers))
    for _same, group in groupby(ordered, lambda item: (item.stack, item.parts)):
        several = list(group)
        last = several[-1].layers[1]
        whole = replace(
            several[0],
            parameters=sum(block.parameters for block in several),
            layers=(several[0].layers[0], last),
        )
        blocks.append(whole)
    if len(blocks) == 1 and blocks[0].layers == (1, 1) and info.layers > 1:
        return [replace(blocks[0], layers=(1, 1), state="shared")]
    return blocks


def _with_tied(blocks: list[Block], info: ModelInfo) -> tuple[Block, ...]:
    """Mark a head whose output matrix is that of the embeddings; it is counted once."""
    surplus = sum(block.parameters for block in blocks) - info.parameters
    for at, block in enumerate(blocks):
        if block.title != _LM_HEAD:
            continue
        matrices = [
            prod(shape)
            for _name, shape in block.shapes
            if len(shape) == 2 and shape[0] == info.vocabulary
        ]
        if not matrices:
            blocks[at] = replace(block, state="tied")
        elif surplus in matrices:
            blocks[at] = replace(block, parameters=block.parameters - surplus, state="tied")
    gives = _LANGUAGE.intersection(info.gives)
    if gives and info.vocabulary and all(block.title != _LM_HEAD for block in blocks):
        blocks.append(Block(_LM_HEAD, 0, head=True, state="tied"))
    return tuple(blocks)
