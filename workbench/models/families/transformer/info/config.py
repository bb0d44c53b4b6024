"""Validates the sizes in `config.json` of a transformer, as the file may come from anyone.

Problems are clauses without a full stop.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, cast

from workbench.base.i18n import _
from workbench.models.formats.json_files import quoted

CONFIG = "config.json"
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers")
DECODER_LAYERS = ("num_decoder_layers", "decoder_layers")
WIDTH = ("hidden_size", "n_embd", "dim", "d_model", "emb_dim")
POSITIONS = ("max_position_embeddings", "n_positions", "n_ctx")
INNER = ("intermediate_size", "n_inner", "hidden_dim", "d_ff", "d_inner", "encoder_ffn_dim")
MAX_LABELS = 100_000
# Upper limits of sizes; used if no tensor shows the size.
LIMITS = {
    **dict.fromkeys((*LAYERS, *DECODER_LAYERS), 1_000),
    **dict.fromkeys(WIDTH, 1_000_000),
    **dict.fromkeys(POSITIONS, 100_000_000),
    **dict.fromkeys((*INNER, "decoder_ffn_dim"), 10_000_000),
    "vocab_size": 100_000_000,
    "embedding_size": 1_000_000,
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 10_000),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 10_000),
    "d_kv": 1_000_000,
    "num_key_value_heads": 10_000,
    "head_dim": 1_000_000,
    "num_labels": MAX_LABELS,
    "type_vocab_size": 10_000,
    "num_hidden_groups": 1_000,
    "inner_group_num": 1_000,
    "max_relative_positions": 10_000_000,
    "position_buckets": 10_000_000,
    "conv_kernel_size": 1_000,
}
# Sizes with these names in other families are not used by these families.
_INNER_OF = {
    "gpt2": ("n_inner",),
    "openai-gpt": (),
    "distilbert": ("hidden_dim",),
    "bart": ("encoder_ffn_dim",),
    **dict.fromkeys(("t5", "mt5"), ("d_ff",)),
    "xlnet": ("d_inner",),
    "xlm": (),
}
_FACTORED = (
    "albert",
    "deberta",
    "deberta-v2",
    "electra",
)  # embeddings may be narrower than the layers
_ABSENT = (None, -1)  # some sizes use -1 for "not set"
# The position tables of these families have an offset of two.
_LATE_POSITIONS = ("roberta", "xlm-roberta", "camembert", "mpnet")
_LAYER = re.compile(r"(?:^|\.)(layers?|h|albert_layer_groups|block|attentions)\.(\d{1,9})\.")
_EMBEDDINGS = (
    "word_embeddings.weight",
    "wte.weight",
    "tokens_embed.weight",
    "embed_tokens.weight",
    "embed_in.weight",
    "tok_embeddings.weight",
    "shared.weight",
    "transformer.embeddings.weight",
    "word_embedding.weight",
)
_POSITION_TABLES = ("position_embeddings.weight", "wpe.weight", "positions_embed.weight")

Shapes = Mapping[str, tuple[int, ...]]


# ---------------------------------------------------------------- memory

# Numbers that a layer keeps per token for the backward pass, in units of its width and of its
# feed-forward width, counted with torch's saved_tensors_hooks. Width: input, query, key, value,
# context, and for each of two sublayers a dropout mask, the sum and its norm. Feed-forward width:
# before and after an exact activation function; others are computed in several steps, whose results
# leave gaps in the memory of a process on a CPU (KEPT_ON_CPU, measured).
KEPT, KEPT_INSIDE = 10.5, 2.0
KEPT_BY = {"distilbert": 9.5, "t5": 16.6, "mt5": 16.6}
# Per head and pair of tokens: T5 adds a bias, which no fused attention takes; plain products on a
# CPU, which are faster for short texts, in bf16 up to 512 tokens (see `attention.py`).
KEPT_PER_PAIR, KEPT_BY_PRODUCTS = 2.5, 1.43
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads")
PLAIN_LENGTHS = {"bf16": 512}  # precision → where products are used, at most
PLAIN_LENGTH = 128
KEPT_INSIDE_BY = {"gelu_new": 5.0, "gelu_fast": 5.0, "relu": 3.0, "silu": 4.0}
KEPT_ON_CPU = {"gelu_new": 8.3, "gelu_fast": 8.3, "relu": 5.0}
_USUAL = {"gpt2": "gelu_new", "openai-gpt": "gelu_new", "t5": "relu", "mt5": "relu"}
_FUNCTIONS = ("hidden_act", "activation_function", "afn", "dense_act_fn", "activation")


def kept_numbers(config: Mapping[str, Any], length: int, precision: str, *, on_gpu: bool) -> float:
    """Numbers that a layer keeps per token for the backward pass of inputs of `length` tokens."""
    architecture, width = str(config.get("model_type")), number(config, *WIDTH)
    inside = number(config, *_INNER_OF.get(architecture, INNER)) or 4 * width
    functions = (config.get(name) for name in _FUNCTIONS)
    function = next((str(name) for name in functions if name), _USUAL.get(architecture, "gelu"))
    each_inside = KEPT_INSIDE_BY if on_gpu else {**KEPT_INSIDE_BY, **KEPT_ON_CPU}
    each_pair = 0.0
    if architecture in ("t5", "mt5"):
        each_pair = KEPT_PER_PAIR
    elif not on_gpu and length <= PLAIN_LENGTHS.get(precision, PLAIN_LENGTH):
        each_pair = KEPT_BY_PRODUCTS
    return (
        width * KEPT_BY.get(architecture, KEPT)
        + inside * each_inside.get(function, KEPT_INSIDE)
        + number(config, *HEADS) * length * each_pair
    )


# ---------------------------------------------------------------- sizes


def number(config: Mapping[str, Any], *names: str) -> int:
    """The first of these sizes that is set; 0 if none is, or if it is out of range."""
    for name in names:
        value = config.get(name)
        if value not in _ABSENT:
            return value if _fits(name, value) else 0
    return 0


def _fits(name: str, value: object) -> TypeGuard[int]:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and 0 <= cast(int, value) <= LIMITS.get(name, 10**9)


def longest_input(config: Mapping[str, Any]) -> int:
    """Length of the position table in subwords, special ones included; 0 if unknown."""
    positions = number(config, *POSITIONS)
    if config.get("model_type") in _LATE_POSITIONS and positions:
        positions -= 1 + number(config, "pad_token_id")
    return max(0, positions)


def positions_are_late(architecture: str) -> bool:
    """Whether the position table has rows before that of the first token."""
    return architecture in _LATE_POSITIONS


def inner_names(architecture: str) -> tuple[str, ...]:
    """The names of the feed-forward width; () if it is always four times the width."""
    return _INNER_OF.get(architecture, INNER[:1])


def count_layers(config: Mapping[str, Any], *, decoder: bool) -> int:
    """Layers that give hidden states; `decoder` includes those of a decoder, if it has one.

    ALBERT may have several layers in each of its groups.
    """
    encoder = number(config, *LAYERS) * max(1, number(config, "inner_group_num"))
    return encoder + (number(config, *DECODER_LAYERS) if decoder else 0)


def labels(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of a trained head's outputs, in order."""
    table = config.get("id2label")
    if not isinstance(table, dict) or len(table) > MAX_LABELS:
        return ()
    named = sorted(table.items(), key=lambda item: _output(item[0]))
    return tuple(value if isinstance(value, str) else quoted(value) for _number, value in named)


def _output(key: object) -> int:
    """The number of an output, which JSON has as a text and some files in alphabetical order."""
    text = str(key)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else MAX_LABELS


def size_problems(config: Mapping[str, Any], shapes: Shapes) -> list[str]:
    """Sizes that are implausible, or that differ from the tensors; `shapes` is empty if unknown.

    Otherwise missing weights would be random, or use all memory.
    """
    problems = [
        _(
            "config.json gives {name} as {value}, expected a whole number up to {most:,}",
            name=name,
            value=quoted(config[name]),
            most=most,
        )
        for name, most in LIMITS.items()
        if config.get(name) not in _ABSENT and not _fits(name, config[name])
    ]
    table = config.get("id2label")
    if table is not None and not isinstance(table, dict):
        problems.append(_("config.json gives id2label as {value}", value=quoted(table)))
    elif table is not None and len(table) > MAX_LABELS:
        problems.append(_("config.json names too many labels: {count:,}", count=len(table)))
    if shapes and not problems:
        problems += _differences(config, shapes)
    return problems


def _differences(config: Mapping[str, Any], shapes: Shapes) -> list[str]:
    dimensions = {size for shape in shapes.values() for size in shape}
    embeddings = _ending(shapes, _EMBEDDINGS)
    message = _("config.json gives {name} as {value:,}, but the weights have {found:,}")
    differences: list[tuple[str, int]] = []
    groups = "num_hidden_groups" in config or config.get("model_type") == "albert"
    layers = _count_layers(shapes)
    if not groups and number(config, *LAYERS) > layers:
        differences.append((_set(config, LAYERS), layers))
    if groups and number(config, "num_hidden_groups") > layers:
        differences.append(("num_hidden_groups", layers))
    if len(embeddings) == 2 and number(config, "vocab_size") not in (0, embeddings[0]):
        differences.append(("vocab_size", embeddings[0]))
    positions = _ending(shapes, _POSITION_TABLES)
    if len(positions) == 2 and number(config, *POSITIONS) not in (0, positions[0]):
        differences.append((_set(config, POSITIONS), positions[0]))
    types = _ending(shapes, ("token_type_embeddings.weight",))
    if len(types) == 2 and number(config, "type_vocab_size") not in (0, types[0]):
        differences.append(("type_vocab_size", types[0]))
    problems = [
        message.format(name=name, value=number(config, name), found=n) for name, n in differences
    ]
    family = config.get("model_type")
    inner = inner_names(family) if isinstance(family, str) else ()
    factored = ("embedding_size",) if family in _FACTORED else ()
    no_tensor = _("config.json gives {name} as {value:,}, but no tensor has that size")
    problems.extend(
        no_tensor.format(name=_set(config, names), value=number(config, *names))
        for names in (WIDTH, inner, factored)
        if number(config, *names) not in {0, *dimensions}
    )
    if number(config, "num_labels") > max(dimensions, default=0):
        wrong = {"name": "num_labels", "value": number(config, "num_labels")}
        problems.append(no_tensor.format(**wrong))
    return problems


def _set(config: Mapping[str, Any], names: Sequence[str]) -> str:
    return next(name for name in names if config.get(name) not in _ABSENT)


def _ending(shapes: Shapes, endings: tuple[str, ...]) -> tuple[int, ...]:
    """The shape of the first tensor with such a name; () if there is none."""
    return next((shape for name, shape in shapes.items() if name.endswith(endings)), ())


def is_body(name: str) -> bool:
    """Whether a tensor belongs to the embeddings or layers, not to modules above them."""
    return bool(_LAYER.search(name)) or name.endswith((*_EMBEDDINGS, *_POSITION_TABLES))


def _count_layers(shapes: Shapes) -> int:
    numbers = [int(match[2]) for name in shapes if (match := _LAYER.search(name))]
    return 1 + max(numbers, default=-1)
