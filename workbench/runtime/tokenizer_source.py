"""A folder with a tokenizer in an older format: its options and special tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

_BERT = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}
_FAIRSEQ = {
    **{"bos": "<s>", "eos": "</s>", "unk": "<unk>", "sep": "</s>", "pad": "<pad>", "cls": "<s>"},
    "mask": "<mask>",
}
_END = {"bos": "<|endoftext|>", "eos": "<|endoftext|>", "unk": "<|endoftext|>"}
# Special tokens of a class, for folders that do not name them.
SPECIAL: Mapping[str, Mapping[str, str]] = {
    "AlbertTokenizer": {**_BERT, "bos": "[CLS]", "eos": "[SEP]", "unk": "<unk>", "pad": "<pad>"},
    "BartTokenizer": _FAIRSEQ,
    "BertTokenizer": _BERT,
    "CamembertTokenizer": _FAIRSEQ,
    "DebertaTokenizer": {**_BERT, "bos": "[CLS]", "eos": "[SEP]"},
    "DebertaV2Tokenizer": {**_BERT, "bos": "[CLS]", "eos": "[SEP]"},
    "DistilBertTokenizer": _BERT,
    "ElectraTokenizer": _BERT,
    "GPT2Tokenizer": _END,
    "GPTNeoXTokenizer": {**_END, "pad": "<|padding|>"},
    "LlamaTokenizer": {"bos": "<s>", "eos": "</s>", "unk": "<unk>"},
    "MPNetTokenizer": {**_FAIRSEQ, "unk": "[UNK]"},
    "OpenAIGPTTokenizer": {"unk": "<unk>"},
    "Qwen2Tokenizer": {"eos": "<|endoftext|>", "pad": "<|endoftext|>"},
    "RobertaTokenizer": _FAIRSEQ,
    "T5Tokenizer": {"eos": "</s>", "unk": "<unk>", "pad": "<pad>"},
    "XLMRobertaTokenizer": _FAIRSEQ,
    "XLNetTokenizer": {
        **{"bos": "<s>", "eos": "</s>", "unk": "<unk>", "sep": "<sep>", "pad": "<pad>"},
        **{"cls": "<cls>", "mask": "<mask>"},
    },
}


@dataclass(frozen=True)
class TokenizerSource:
    """A folder with a tokenizer in an older format, with the options of tokenizer_config.json."""

    folder: Path
    kind: str
    group: tuple[str, ...]
    options: Mapping[str, Any]
    config: Mapping[str, Any]

    @property
    def rows(self) -> int:
        """Entries of the model's embedding table, 0 if unknown."""
        size = self.config.get("vocab_size")
        return size if isinstance(size, int) and size > 0 else 0

    @overload
    def flag(self, name: str, default: bool) -> bool: ...
    @overload
    def flag(self, name: str, default: None) -> bool | None: ...
    def flag(self, name: str, default: bool | None) -> bool | None:
        value = self.options.get(name)
        return value if isinstance(value, bool) else default

    def special(self, role: str) -> str:
        """The special token of a role, "" if there is none."""
        key = f"{role}_token"
        configured = self.options.get(key, SPECIAL[self.kind].get(role, ""))
        content = configured.get("content") if isinstance(configured, dict) else configured
        return content if isinstance(content, str) else ""
