"""A causal language model of transformers as one GGUF file, the format of llama.cpp.

Names of tensors and fields are those of the package gguf, the reference implementation of the
format (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). GPT-2 keeps its weights as
(inputs, outputs), GGUF as (outputs, inputs). Llama's rotary embeddings pair row i with row
i + d/2 of a head in transformers, and row 2i with 2i + 1 in GGUF.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from workbench.base.errors import ExportFailed
from workbench.base.i18n import _
from workbench.exporters.model.gguf.info import GPT2, pre_tokenizer

_SKIPPED = (".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq")  # computed, not learned
_TRANSPOSED = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
_SENTENCEPIECE, _MERGES = "llama", "gpt2"  # tokenizers, as llama.cpp calls them
_BYTE = gguf.TokenType.BYTE
_WHOLE = (gguf.TokenType.CONTROL, gguf.TokenType.USER_DEFINED, gguf.TokenType.UNKNOWN)


def write(
    path: Path,
    config: Mapping[str, Any],
    weights: Mapping[str, np.ndarray],
    tokenizer: Mapping[str, Any],
    *,
    special: Mapping[str, int],
    chat_template: str = "",
    half: bool,
    name: str,
) -> None:
    """Write one file. weights: float32, by the names of transformers. tokenizer: tokenizer.json.
    special: "bos", "eos", "unk" or "pad" → id. half: matrices in float16; vectors stay float32.

    Raises ExportFailed for a tensor or a tokenizer that the format has no place for.
    """
    llama = config["model_type"] != GPT2
    arch = gguf.MODEL_ARCH.LLAMA if llama else gguf.MODEL_ARCH.GPT2
    writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[arch])
    kind = gguf.LlamaFileType.MOSTLY_F16 if half else gguf.LlamaFileType.ALL_F32
    writer.add_type(gguf.GGUFType.MODEL)
    writer.add_name(name)
    writer.add_file_type(kind)
    (_llama_fields if llama else _gpt2_fields)(writer, config)
    _tokenizer_fields(writer, tokenizer, int(config["vocab_size"]))
    for role, id in special.items():
        getattr(writer, f"add_{role}_token_id")(id)
    if chat_template:
        writer.add_chat_template(chat_template)
    names = gguf.get_tensor_name_map(
        arch, int(config.get("n_layer") or config["num_hidden_layers"])
    )
    for key, value in _tensors(config, weights, llama):
        known = names.get_name(key, try_suffixes=(".weight", ".bias"))
        if known is None:
            raise ExportFailed(_("GGUF has no place for the weights {name}.", name=key))
        matrix = value.ndim > 1 and not known.startswith("position_embd")
        kind_of = np.float16 if half and matrix else np.float32
        writer.add_tensor(known, np.ascontiguousarray(value, dtype=kind_of))
    if llama and (factors := _rope_factors(config)) is not None:
        writer.add_tensor("rope_freqs.weight", factors)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


# ---------------------------------------------------------------- the model


def _gpt2_fields(writer: gguf.GGUFWriter, config: Mapping[str, Any]) -> None:
    writer.add_context_length(config["n_positions"])
    writer.add_embedding_length(config["n_embd"])
    writer.add_feed_forward_length(config.get("n_inner") or 4 * config["n_embd"])
    writer.add_block_count(config["n_layer"])
    writer.add_head_count(config["n_head"])
    writer.add_layer_norm_eps(config["layer_norm_epsilon"])


def _llama_fields(writer: gguf.GGUFWriter, config: Mapping[str, Any]) -> None:
    heads, size = config["num_attention_heads"], _head_size(config)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.get("num_key_value_heads") or heads)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_rope_dimension_count(size)
    if size * heads != config["hidden_size"]:
        writer.add_key_length(size)
        writer.add_value_length(size)
    rope = rope_of(config)
    writer.add_rope_freq_base(float(rope.get("rope_theta") or 10_000.0))
    if rope.get("rope_type") == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(float(rope["factor"]))


def rope_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the rotary embeddings, as transformers 5 (rope_parameters) or 4 names them."""
    settings = dict(config.get("rope_parameters") or config.get("rope_scaling") or {})
    settings.setdefault("rope_type", settings.pop("type", "default"))
    settings.setdefault("rope_theta", config.get("rope_theta"))
    return settings


def _rope_factors(config: Mapping[str, Any]) -> np.ndarray | None:
    """(head size / 2,) divisors of the rotary frequencies of Llama 3.1, None for other models.

    Wave lengths above original length / low_freq_factor are divided by `factor`, those below
    original length / high_freq_factor stay, those between are interpolated.
    """
    rope = rope_of(config)
    if rope.get("rope_type") != "llama3":
        return None
    size, length = _head_size(config), rope["original_max_position_embeddings"]
    frequencies = 1.0 / rope["rope_theta"] ** (np.arange(0, size, 2, dtype=np.float64) / size)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    smooth = np.clip((length * frequencies / (2 * np.pi) - low) / (high - low), 0, 1)
    return np.asarray(1 / ((1 - smooth) / rope["factor"] + smooth), dtype=np.float32)


def _head_size(config: Mapping[str, Any]) -> int:
    return int(config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"])


def _tensors(
    config: Mapping[str, Any], weights: Mapping[str, np.ndarray], llama: bool
) -> Iterator[tuple[str, np.ndarray]]:
    heads = int(config.get("num_attention_heads") or config["n_head"])
    pairs = {
        "q_proj": heads,
        "k_proj": int(config.get("num_key_value_heads") or heads),
    }
    tied = config.get("tie_word_embeddings", not llama)
    for name, value in weights.items():
        if name.endswith(_SKIPPED) or (tied and name == "lm_head.weight"):
            continue
        part = name.split(".")[-2]
        if not llama and name.endswith(_TRANSPOSED):
            value = value.T
        elif llama and part in pairs:
            value = _interleaved(value, pairs[part])
        yield name, value


def _interleaved(value: np.ndarray, heads: int) -> np.ndarray:
    """Rows (or a bias) of queries or keys in GGUF's order: halves of a head become pairs."""
    halves = value.reshape(heads, 2, value.shape[0] // heads // 2, *value.shape[1:])
    return halves.swapaxes(1, 2).reshape(value.shape)


# ---------------------------------------------------------------- the tokenizer


def _tokenizer_fields(
    writer: gguf.GGUFWriter, tokenizer: Mapping[str, Any], vocabulary: int
) -> None:
    model, added = tokenizer["model"], tokenizer["added_tokens"]
    words = {id: word for word, id in model["vocab"].items()}
    words.update({token["id"]: token["content"] for token in added})
    kinds = dict.fromkeys(words, gguf.TokenType.NORMAL)
    for token in added:
        kinds[token["id"]] = (
            gguf.TokenType.CONTROL if token["special"] else gguf.TokenType.USER_DEFINED
        )
    for id in range(vocabulary):  # rows of the embeddings that no token uses
        if id not in words:
            words[id], kinds[id] = f"[PAD{id}]", gguf.TokenType.UNUSED
    ids = sorted(words)
    if ids != list(range(len(ids))):
        raise ExportFailed(_("The ids of the tokenizer have gaps, which GGUF cannot represent."))
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    pre = pre_tokenizer(tokenizer)
    if model.get("byte_fallback"):
        writer.add_tokenizer_model(_SENTENCEPIECE)
        writer.add_token_scores(_scores(words, merges))
        for id in ids:
            if words[id] == model.get("unk_token"):
                kinds[id] = gguf.TokenType.UNKNOWN
            elif len(words[id]) == 6 and words[id].startswith("<0x"):
                kinds[id] = _BYTE
        writer.add_add_space_prefix("Prepend" in json.dumps(tokenizer.get("normalizer") or {}))
    else:
        writer.add_tokenizer_model(_MERGES)
        writer.add_token_merges(merges)
    writer.add_tokenizer_pre(pre)
    writer.add_token_list([words[id] for id in ids])
    writer.add_token_types([kinds[id] for id in ids])
    writer.add_add_bos_token(_adds(tokenizer, first=True))
    writer.add_add_eos_token(_adds(tokenizer, first=False))


def _scores(words: Mapping[int, str], merges: Sequence[str]) -> list[float]:
    """What SentencePiece compares: the token that an earlier merge makes has the higher score."""
    ranks: dict[str, int] = {}
    for rank, pair in enumerate(merges):
        ranks.setdefault(pair.replace(" ", "", 1), rank)
    last = len(merges)
    return [-float(ranks.get(words[id], last)) for id in sorted(words)]


def _adds(tokenizer: Mapping[str, Any], *, first: bool) -> bool:
    """Whether the tokenizer puts a special token before or after a text."""
    are_special: list[bool] = []

    def read(processor: Mapping[str, Any]) -> None:
        for part in processor.get("processors") or ():
            read(part)
        if single := processor.get("single"):
            are_special.append("SpecialToken" in single[0 if first else -1])

    read(tokenizer.get("post_processor") or {})
    return any(are_special)


def reader(path: Path) -> Callable[[str], list[int]] | None:
    """text → ids as llama.cpp computes them from a file with scores of SentencePiece: of all
    neighbours, those with the highest score are merged first, the left pair before the right.

    None for a file with merges. transformers reads such files too, but splits at double spaces.
    """
    fields = gguf.GGUFReader(path).fields
    if fields["tokenizer.ggml.model"].contents() != _SENTENCEPIECE:
        return None
    words, scores, kinds = (
        fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "scores", "token_type")
    )
    ids = {word: id for id, word in enumerate(words)}
    whole = [word for word, kind in zip(words, kinds, strict=True) if kind in _WHOLE]
    parts = re.compile(f"({'|'.join(map(re.escape, sorted(whole, key=len, reverse=True)))})")
    prefix = "▁" if fields["tokenizer.ggml.add_space_prefix"].contents() else ""
    start = [fields["tokenizer.ggml.bos_token_id"].contents()]
    begins = start if fields["tokenizer.ggml.add_bos_token"].contents() else []

    def encode(text: str) -> list[int]:
        pieces: list[int] = [*begins]
        for part in filter(None, parts.split(text)):
            if part in whole:
                pieces.append(ids[part])
            else:
                pieces += _merged(prefix + part.replace(" ", "▁"), ids, scores)
        return pieces

    return encode


def _merged(text: str, ids: Mapping[str, int], scores: Sequence[float]) -> Iterator[int]:
    symbols = list(text)
    after = list(range(1, len(symbols) + 1))  # the next symbol that was not merged into another
    before = list(range(-1, len(symbols) - 1))
    heap: list[tuple[float, int, str]] = []

    def offer(left: int) -> None:
        right = after[left] if left >= 0 else len(symbols)
        if right < len(symbols) and (id := ids.get(symbols[left] + symbols[right])) is not None:
            heapq.heappush(heap, (-scores[id], left, symbols[left] + symbols[right]))

    for place in range(len(symbols)):
        offer(place)
    while heap:
        _score, left, pair = heapq.heappop(heap)
        right = after[left]
        if not symbols[left] or right >= len(symbols) or symbols[left] + symbols[right] != pair:
            continue
        symbols[left], symbols[right], after[left] = pair, "", after[right]
        if after[left] < len(symbols):
            before[after[left]] = left
        offer(left)
        offer(before[left])
    for symbol in filter(None, symbols):
        if symbol in ids:
            yield ids[symbol]
        else:
            yield from (ids[f"<0x{byte:02X}>"] for byte in symbol.encode("utf-8"))
