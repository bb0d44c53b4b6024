"""Older tokenizer formats, converted to tokenizer.json by the `tokenizers` library.

The result is stored in the application's cache, under a name derived from the source files; the
model folder is never written to. Each class follows the tokenizer that its models were pretrained
with: WordPiece (Devlin et al. 2019), byte-level BPE (Radford et al. 2019), SentencePiece (Kudo and
Richardson 2018).
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Backend

from workbench.base.errors import ModelError, unreadable
from workbench.base.i18n import _
from workbench.runtime import sentencepiece
from workbench.runtime import tokenizer_files as files

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


ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
_WITH_TYPES = ("albert", "bert", "deberta", "deberta-v2", "electra", "ernie")  # families
_FAIRSEQ_BYTES = ("BartTokenizer", "RobertaTokenizer")
_SPACED_MASK = (
    *_FAIRSEQ_BYTES,
    *("CamembertTokenizer", "DebertaTokenizer", "MPNetTokenizer", "XLMRobertaTokenizer"),
)
SENTINELS = 100  # of T5: <extra_id_0>, the last row of the vocabulary, marks the first gap
CASED = 0.01  # a WordPiece vocabulary is cased if more entries than this share have a capital
MIN_VOCABULARY_SHARE = 0.8  # share of the model's embedding rows that a vocabulary must fill
# Words as Qwen 2 splits them. Source: tokenizer.json of the Qwen 2 models.
_QWEN_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def place(folder: Path) -> Path:
    """A folder with tokenizer.json and tokenizer_config.json: `folder`, or a cached conversion.

    Converts if there is no cached result. Raises ModelError if it cannot be converted.
    """
    if (folder / files.JSON).is_file():
        return folder
    source = _source(folder)
    cached = files.conversion_folder(folder, source.kind, source.group, source.config)
    if not (cached / files.JSON).is_file():
        _keep(cached, *convert(source))
    return cached


def _source(folder: Path) -> TokenizerSource:
    config = files.read_config(folder)
    problems: list[str] = []
    if not files.choose(folder, config, problems):
        raise ModelError(
            _("{folder} has no tokenizer: {problem}.", folder=folder, problem="; ".join(problems)),
            hint=_("Save it with transformers' save_pretrained, which writes tokenizer.json."),
        )
    kind = files.class_of(folder, config)
    options = {**files.read_json(folder / files.SPECIAL), **files.read_json(folder / files.CONFIG)}
    return TokenizerSource(folder, kind, files.present(folder, kind), options, config)


def convert(source: TokenizerSource) -> tuple[Backend, dict[str, Any]]:
    """The tokenizer and the content of its tokenizer_config.json. Raises ModelError."""
    try:
        backend = _BUILDERS[source.kind](source)
        _check_entries(backend.get_vocab_size(), source.rows)
        names = _add_special(backend, source)
        _add_sentinels(backend, source)
        _add_others(backend, source)
        _surround(backend, source, names)
    except MemoryError:
        raise
    except Exception as error:  # the library raises plain Exception
        raise ModelError(
            _(
                "The tokenizer of {folder} cannot be converted from {files}: {error}.",
                folder=source.folder,
                files="+".join(source.group),
                error=unreadable(error),
            ),
            hint=_("Download the model again, or a version of it that includes tokenizer.json."),
        ) from error
    return backend, _described(source, names)


def _check_entries(count: int, rows: int) -> None:
    """Detects truncated files, which would leave most words unknown; padding adds few rows only."""
    if count < max(1, MIN_VOCABULARY_SHARE * rows):
        raise ValueError(
            _(
                "their vocabulary size is {count:,}, that of the model {rows:,}",
                count=count,
                rows=rows,
            )
        )


def _described(source: TokenizerSource, names: Mapping[str, str]) -> dict[str, Any]:
    """The generic tokenizer class, so that other programs read tokenizer.json unchanged."""
    inputs = ["input_ids", "attention_mask"]
    if source.config.get("model_type") in _WITH_TYPES:
        inputs.insert(1, "token_type_ids")
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        **{f"{role}_token": token for role, token in names.items()},
        "model_input_names": inputs,
        "clean_up_tokenization_spaces": False,
    }


def _keep(target: Path, backend: Backend, config: Mapping[str, Any]) -> None:
    """Write both files atomically; another process may convert the same folder concurrently."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f"{target.name}-", dir=target.parent))
        backend.save(str(draft / files.JSON))
        text = json.dumps(config, indent=1, ensure_ascii=False)
        (draft / files.CONFIG).write_text(text, encoding="utf-8")
        os.replace(draft, target)
    except OSError as error:
        if (target / files.JSON).is_file():
            return  # the other process finished first
        raise ModelError(
            _(
                "The converted tokenizer cannot be saved in {folder}: {error}.",
                folder=target.parent,
                error=error.strerror or error,
            ),
            hint=_("Check that the disk is not full and that the folder is writable."),
        ) from error


# ---------------------------------------------------------------- special tokens


def _add_special(backend: Backend, source: TokenizerSource) -> dict[str, str]:
    """Role → token, for tokens that the model has an embedding for."""
    tokens = {}
    for role in ROLES:
        token = source.special(role)
        if token and _has_row(backend, token, source.rows):
            spaced = role == "mask" and source.kind in _SPACED_MASK
            backend.add_special_tokens([AddedToken(token, lstrip=spaced, normalized=False)])
            tokens[role] = token
        elif token and role in ("cls", "sep"):
            raise ValueError(_absent(token))
    return tokens


def _absent(token: str) -> str:
    return _("{token} is not in the vocabulary", token=token)


def _has_row(backend: Backend, token: str, rows: int) -> bool:
    return backend.token_to_id(token) is not None or not rows or backend.get_vocab_size() < rows


def _add_sentinels(backend: Backend, source: TokenizerSource) -> None:
    """T5's vocabulary ends with its sentinels in reverse order (mT5 has none of its own)."""
    if source.kind != "T5Tokenizer":
        return
    usual = SENTINELS if source.config.get("model_type") == "t5" else 0
    extra_ids = source.options.get("extra_ids", usual)
    count = extra_ids if isinstance(extra_ids, int) and 0 <= extra_ids <= 10_000 else usual
    for number in reversed(range(count)):
        token = f"<extra_id_{number}>"
        if _has_row(backend, token, source.rows):
            backend.add_special_tokens([AddedToken(token, normalized=False)])


def _add_others(backend: Backend, source: TokenizerSource) -> None:
    """Tokens that were added to the vocabulary later, with the ids that the folder gives."""
    numbered: dict[int, tuple[str, bool]] = {}
    for token, number in files.read_json(source.folder / files.ADDED).items():
        if isinstance(number, int):
            numbered[number] = (token, False)
    decoder = source.options.get("added_tokens_decoder")
    for number, about in decoder.items() if isinstance(decoder, dict) else ():
        if isinstance(about, dict) and isinstance(about.get("content"), str) and number.isdigit():
            numbered[int(number)] = (about["content"], about.get("special") is True)
    for number, (token, special) in sorted(numbered.items()):
        if backend.token_to_id(token) == number or (
            backend.token_to_id(token) is None and backend.get_vocab_size() == number
        ):
            add = backend.add_special_tokens if special else backend.add_tokens
            add([AddedToken(token, normalized=not special)])


def _surround(backend: Backend, source: TokenizerSource, names: Mapping[str, str]) -> None:
    """The special tokens around single texts and around pairs."""
    kind = source.kind
    if kind in ("GPT2Tokenizer", "GPTNeoXTokenizer", "Qwen2Tokenizer"):
        backend.post_processor = processors.ByteLevel(trim_offsets=False)
    elif kind in _FAIRSEQ_BYTES:
        backend.post_processor = processors.RobertaProcessing(
            _numbered_token(backend, names["sep"]),
            _numbered_token(backend, names["cls"]),
            trim_offsets=source.flag("trim_offsets", True),
            add_prefix_space=source.flag("add_prefix_space", False),
        )
    elif kind == "LlamaTokenizer":
        first = f"{names['bos']} " if source.flag("add_bos_token", True) else ""
        last = f" {names['eos']}" if source.flag("add_eos_token", False) else ""
        second = f"{first}$B{last}".replace(" ", ":1 ") + ":1"
        _template(backend, f"{first}$A{last}", f"{first}$A{last} {second}", names)
    elif kind == "XLNetTokenizer":
        cls, sep = names["cls"], names["sep"]
        _template(backend, f"$A {sep} {cls}:2", f"$A {sep} $B:1 {sep}:1 {cls}:2", names)
    elif kind == "T5Tokenizer":
        _template(backend, f"$A {names['eos']}", f"$A {names['eos']} $B {names['eos']}", names)
    elif kind in ("MPNetTokenizer", "CamembertTokenizer", "XLMRobertaTokenizer"):
        cls, sep = names["cls"], names["sep"]
        _template(backend, f"{cls} $A {sep}", f"{cls} $A {sep} {sep} $B {sep}", names)
    elif kind != "OpenAIGPTTokenizer":
        cls, sep = names["cls"], names["sep"]
        _template(backend, f"{cls} $A {sep}", f"{cls} $A {sep} $B:1 {sep}:1", names)


def _numbered_token(backend: Backend, token: str) -> tuple[str, int]:
    number = backend.token_to_id(token)
    if number is None:
        raise ValueError(_absent(token))
    return token, number


def _template(backend: Backend, single: str, pair: str, names: Mapping[str, str]) -> None:
    tokens = {token: backend.token_to_id(token) for token in names.values()}
    backend.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=list(tokens.items())
    )


# ---------------------------------------------------------------- vocab.txt


def _wordpiece(source: TokenizerSource) -> Backend:
    with open(source.folder / source.group[0], encoding="utf-8") as file:
        vocabulary = {line.rstrip("\n"): number for number, line in enumerate(file)}
    if source.special("unk") not in vocabulary:
        raise ValueError(_absent(source.special("unk")))
    lowercase = source.flag("do_lower_case", None)
    if lowercase is None:
        lowercase = not _is_cased(vocabulary)
    backend = Backend(models.WordPiece(vocabulary, unk_token=source.special("unk")))
    backend.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=source.flag("tokenize_chinese_chars", True),
        strip_accents=source.flag("strip_accents", None),
        lowercase=lowercase,
    )
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece(prefix="##")
    return backend


def _is_cased(vocabulary: Mapping[str, int]) -> bool:
    """Whether a model without tokenizer_config.json is cased: SpanBERT is, most others are not."""
    words = [entry for entry in vocabulary if not re.fullmatch(r"\[.*\]|<.*>", entry)]
    return sum(entry != entry.lower() for entry in words) > CASED * len(words)


# ---------------------------------------------------------------- vocab.json and merges.txt


def _byte_level(source: TokenizerSource) -> Backend:
    backend = Backend(_bpe(source))
    spaced = source.flag("add_prefix_space", False)
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=spaced)
    if source.kind == "GPTNeoXTokenizer":
        backend.normalizer = normalizers.NFC()
    elif source.kind == "Qwen2Tokenizer":
        backend.normalizer = normalizers.NFC()
        words = pre_tokenizers.Split(Regex(_QWEN_WORDS), behavior="isolated")
        inner = pre_tokenizers.ByteLevel(add_prefix_space=spaced, use_regex=False)
        backend.pre_tokenizer = pre_tokenizers.Sequence([words, inner])
    backend.decoder = decoders.ByteLevel()
    return backend


def _openai(source: TokenizerSource) -> Backend:
    backend = Backend(_bpe(source, unk_token=source.special("unk"), end_of_word_suffix="</w>"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.BPEDecoder(suffix="</w>")
    return backend


def _bpe(source: TokenizerSource, **options: str) -> models.BPE:
    vocabulary, merges = models.BPE.read_file(*(str(source.folder / name) for name in source.group))
    return models.BPE(vocabulary, merges, **options)


# ---------------------------------------------------------------- SentencePiece


def _pieces(source: TokenizerSource) -> Backend:
    model = sentencepiece.parse((source.folder / source.group[0]).read_bytes())
    return _merged(model) if model.algorithm == sentencepiece.BPE else _unigram(source, model)


def _unigram(source: TokenizerSource, model: sentencepiece.PieceModel) -> Backend:
    vocabulary, unknown = _numbered(source.kind, model)
    backend = Backend(models.Unigram(vocabulary, unknown, model.byte_fallback))
    steps = _text_steps(source) if source.kind in ("AlbertTokenizer", "XLNetTokenizer") else []
    if source.kind == "DebertaV2Tokenizer" and source.flag("do_lower_case", False):
        steps.append(normalizers.Lowercase())
    if model.normalizer:
        steps.append(normalizers.Precompiled(model.normalizer))
    backend.normalizer = normalizers.Sequence(steps)
    scheme = "always" if model.prefix_space else "never"
    words: list[pre_tokenizers.PreTokenizer] = (
        [pre_tokenizers.WhitespaceSplit()] if model.trim_spaces else []
    )
    words.append(pre_tokenizers.Metaspace(prepend_scheme=scheme))
    if own := [piece.text for piece in model.pieces if piece.kind == sentencepiece.USER_DEFINED]:
        symbols = "|".join(re.escape(text) for text in sorted(own, key=len, reverse=True))
        words.append(pre_tokenizers.Split(Regex(symbols), behavior="isolated"))
    backend.pre_tokenizer = pre_tokenizers.Sequence(words)
    backend.decoder = decoders.Metaspace(prepend_scheme=scheme)
    return backend


def _numbered(kind: str, model: sentencepiece.PieceModel) -> tuple[list[tuple[str, float]], int]:
    """The pieces in the order of the model's embeddings, and the id of the unknown piece."""
    plain = [(piece.text, piece.score) for piece in model.pieces]
    if kind == "XLMRobertaTokenizer":  # fairseq prepends its own four
        return [*((name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")), *plain[3:]], 3
    if kind == "CamembertTokenizer":
        unused = ("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED")
        return [*((name, 0.0) for name in unused), *plain[1:]], 3
    if kind == "AlbertTokenizer":  # "9," was split in pretraining: such pieces are never used
        plain = [(text, score - 100 * _digit_comma(text)) for text, score in plain]
    return plain, model.unknown


def _digit_comma(text: str) -> bool:
    return len(text) > 1 and text[-1] == "," and text[-2].isdigit()


def _text_steps(source: TokenizerSource) -> list[normalizers.Normalizer]:
    quotes = ("``", "''")
    steps: list[normalizers.Normalizer] = [normalizers.Replace(quote, '"') for quote in quotes]
    if not source.flag("keep_accents", False):
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if source.flag("do_lower_case", source.kind == "AlbertTokenizer"):
        steps.append(normalizers.Lowercase())
    return steps


def _merged(model: sentencepiece.PieceModel) -> Backend:
    """BPE of SentencePiece: merges the adjacent pair whose combined piece has the highest score."""
    numbers = {piece.text: number for number, piece in enumerate(model.pieces)}
    merges = []
    for piece in model.pieces:
        if piece.kind == sentencepiece.NORMAL:
            halves = ((piece.text[:at], piece.text[at:]) for at in range(1, len(piece.text)))
            merges += [(*pair, piece.score) for pair in halves if _both(pair, numbers)]
    merges.sort(key=lambda merge: (merge[2], len(merge[0]), len(merge[1])), reverse=True)
    backend = Backend(
        models.BPE(
            numbers,
            [(left, right) for left, right, _score in merges],
            unk_token=model.pieces[model.unknown].text,
            fuse_unk=True,
            byte_fallback=model.byte_fallback,
        )
    )
    # Not Metaspace: unlike SentencePiece, it adds no space before a text that begins with one.
    steps = [normalizers.Prepend("▁")] if model.prefix_space else []
    backend.normalizer = normalizers.Sequence([*steps, normalizers.Replace(" ", "▁")])
    backend.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return backend


def _both(pair: Sequence[str], numbers: Mapping[str, int]) -> bool:
    return pair[0] in numbers and pair[1] in numbers


_BUILDERS: Mapping[str, Callable[[TokenizerSource], Backend]] = {
    **dict.fromkeys(
        ("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "MPNetTokenizer"), _wordpiece
    ),
    **dict.fromkeys(
        (
            *("DebertaTokenizer", "GPT2Tokenizer", "GPTNeoXTokenizer", "Qwen2Tokenizer"),
            *_FAIRSEQ_BYTES,
        ),
        _byte_level,
    ),
    "OpenAIGPTTokenizer": _openai,
    **dict.fromkeys(
        (
            *("AlbertTokenizer", "CamembertTokenizer", "DebertaV2Tokenizer"),
            *("LlamaTokenizer", "T5Tokenizer", "XLMRobertaTokenizer", "XLNetTokenizer"),
        ),
        _pieces,
    ),
}
