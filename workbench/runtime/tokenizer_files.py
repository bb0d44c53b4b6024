"""The files of a model folder that its tokenizer is read from: tokenizer.json or older formats.

Only names and configurations are read here; `conversion` reads the vocabularies.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import paths
from workbench.base.i18n import _

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend

JSON = "tokenizer.json"
CONFIG, MODEL_CONFIG = "tokenizer_config.json", "config.json"
GOOGLE_CONFIG = "bert_config.json"  # of BERT's first checkpoints, which name no family
SPECIAL, ADDED = "special_tokens_map.json", "added_tokens.json"
_BERT_SIZES = frozenset(
    ("hidden_size", "num_hidden_layers", "num_attention_heads", "type_vocab_size", "vocab_size")
)
VERSION = 1  # of the conversion; increasing it invalidates all cached results

_WORDPIECE = (("vocab.txt",),)
_MERGES = (("vocab.json", "merges.txt"),)
_PIECES = (
    ("spiece.model",),
    ("spm.model",),
    ("sentencepiece.bpe.model",),
    ("tokenizer.model",),
)
# Tokenizer class, as in transformers without "Fast" → groups of files that it can be built from.
SOURCES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "AlbertTokenizer": _PIECES,
    "BartTokenizer": _MERGES,
    "BertTokenizer": _WORDPIECE,
    "CamembertTokenizer": _PIECES,
    "DebertaTokenizer": _MERGES,
    "DebertaV2Tokenizer": _PIECES,
    "DistilBertTokenizer": _WORDPIECE,
    "ElectraTokenizer": _WORDPIECE,
    "GPT2Tokenizer": _MERGES,
    "GPTNeoXTokenizer": _MERGES,
    "LlamaTokenizer": _PIECES,
    "MPNetTokenizer": _WORDPIECE,
    "OpenAIGPTTokenizer": _MERGES,
    "Qwen2Tokenizer": _MERGES,
    "RobertaTokenizer": _MERGES,
    "T5Tokenizer": _PIECES,
    "XLMRobertaTokenizer": _PIECES,
    "XLNetTokenizer": _PIECES,
}
# The class of a family, for folders that do not name one. ModernBERT, OLMo 2 and most later models
# were only published with tokenizer.json: their older files do not specify how text is split into
# words. Neither do those of XLM, which used the Moses tokenizer.
CLASSES: Mapping[str, str] = {
    "albert": "AlbertTokenizer",
    "bart": "BartTokenizer",
    "bert": "BertTokenizer",
    "camembert": "CamembertTokenizer",
    "deberta": "DebertaTokenizer",
    "deberta-v2": "DebertaV2Tokenizer",
    "distilbert": "BertTokenizer",
    "electra": "BertTokenizer",
    "ernie": "BertTokenizer",
    "gpt2": "GPT2Tokenizer",
    "gpt_neox": "GPTNeoXTokenizer",
    "llama": "LlamaTokenizer",
    "mistral": "LlamaTokenizer",
    "mpnet": "MPNetTokenizer",
    "mt5": "T5Tokenizer",
    "olmo": "GPTNeoXTokenizer",
    "openai-gpt": "OpenAIGPTTokenizer",
    "qwen2": "Qwen2Tokenizer",
    "roberta": "RobertaTokenizer",
    "t5": "T5Tokenizer",
    "xlm-roberta": "XLMRobertaTokenizer",
    "xlnet": "XLNetTokenizer",
}
_GENERIC = ("PreTrainedTokenizer", "TokenizersBackend", "")  # do not determine the format


def choose(folder: Path, config: Mapping[str, Any], problems: list[str]) -> str:
    """The file that the tokenizer is read or converted from; "", with a problem, if there is none.

    `config` is the content of config.json.
    """
    if (folder / JSON).is_file():
        return JSON
    kind = class_of(folder, config)
    if kind in SOURCES:
        if group := present(folder, kind):
            return group[0]
        problems.append(_what_is_missing(folder, SOURCES[kind]))
    elif kind in _GENERIC:
        problems.append(_("tokenizer.json is missing"))
    else:
        problems.append(
            _("tokenizer.json is missing, and a {kind} cannot be converted here", kind=kind[:60])
        )
    return ""


def _what_is_missing(folder: Path, groups: Sequence[Sequence[str]]) -> str:
    """For a folder without a whole group of files that a tokenizer can be converted from."""
    for group in groups:
        there = [name for name in group if (folder / name).is_file()]
        if there:
            lacking = ", ".join(name for name in group if name not in there)
            return _(
                "{missing} is missing, which the tokenizer needs beside {files}",
                missing=lacking,
                files=", ".join(there),
            )
    return _(
        "tokenizer.json is missing; alternatively, {files} can be used",
        files=", ".join("+".join(group) for group in groups),
    )


def class_of(folder: Path, config: Mapping[str, Any]) -> str:
    """The class that the folder names, else that of its family; "" if neither is known."""
    for named in (read_json(folder / CONFIG).get("tokenizer_class"), config.get("tokenizer_class")):
        kind = named.removesuffix("Fast") if isinstance(named, str) else ""
        if kind not in _GENERIC:
            return kind
    family = config.get("model_type")
    return CLASSES.get(family, "") if isinstance(family, str) else ""


def present(folder: Path, kind: str) -> tuple[str, ...]:
    """The first complete group of files for a class of SOURCES; () if there is none."""
    return next(
        (group for group in SOURCES[kind] if all((folder / name).is_file() for name in group)),
        (),
    )


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file; {} if it is missing or damaged."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return raw if isinstance(raw, dict) else {}


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of the model in a folder; {} if it is missing or damaged."""
    if (folder / MODEL_CONFIG).is_file():
        config = read_json(folder / MODEL_CONFIG)
        return {"model_type": "bert", **config} if _is_of_first_bert(folder, config) else config
    config = read_json(folder / GOOGLE_CONFIG)
    return {"model_type": "bert", **config} if config else {}


def _is_of_first_bert(folder: Path, config: Mapping[str, Any]) -> bool:
    """Whether config.json was written for BERT when no configuration named its family: SpanBERT."""
    others = [name for group in (*_MERGES, *_PIECES) for name in group]
    return (
        config.keys() >= _BERT_SIZES
        and not {"model_type", "embedding_size", "num_hidden_groups"} & config.keys()
        and not any((folder / name).is_file() for name in others)
    )


def conversion_folder(
    folder: Path, kind: str, group: tuple[str, ...], config: Mapping[str, Any]
) -> Path:
    """The cache folder for the result of a conversion, named by a hash of all its inputs."""
    numbers = f"{config.get('vocab_size')!r} {config.get('model_type')!r}"  # token types, sentinels
    digest = hashlib.sha256(f"{VERSION} {kind} {numbers}".encode())
    for name in (*group, CONFIG, SPECIAL, ADDED):
        path = folder / name
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"\n{name} {len(content)}\n".encode() + content)
    return paths.cache_folder() / "tokenizers" / digest.hexdigest()[:32]


def special_ids(
    names: Mapping[str, Any], numbers: Mapping[str, Any], backend: Backend
) -> dict[str, int | None]:
    """Ids of padding, of the fallback for an empty text, and of the end of a text (None without).

    `names` is the content of tokenizer_config.json, `numbers` that of config.json.
    """

    def id_of(role: str) -> int | None:
        configured = names.get(f"{role}_token")
        name = configured.get("content") if isinstance(configured, dict) else configured
        token_id = backend.token_to_id(name) if isinstance(name, str) else None
        return token_id if token_id is not None else numbers.get(f"{role}_token_id")

    ends = [
        number for role in ("eos", "bos", "sep", "unk") if isinstance(number := id_of(role), int)
    ]
    pad = id_of("pad")
    pad = pad if isinstance(pad, int) and pad >= 0 else (ends[0] if ends else 0)
    end = id_of("eos")
    end = end if isinstance(end, int) and end >= 0 else None
    return {"pad": pad, "fallback": ends[0] if ends else pad, "end": end}
