"""Tokenizer files saved with weights, so that other programs split text as in training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.families.transformer.library import quiet
from workbench.models.reasons import reason
from workbench.models.spec.cards import DESCRIPTION
from workbench.runtime import chat_template
from workbench.runtime.tokenizer import Tokenizer, files_of

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend

    from workbench.models.families.transformer.encoder import TransformerEncoder

VOCABULARY, CONFIG = "tokenizer.json", "tokenizer_config.json"
_INPUTS = ("input_ids", "token_type_ids", "attention_mask")
GENERIC = "PreTrainedTokenizerFast"  # the class that uses tokenizer.json unchanged


def save_tokenizer(encoder: TransformerEncoder, folder: Path) -> None:
    """Write tokenizer.json and tokenizer_config.json. Raises ModelError.

    Done once per loaded model, as a training saves many checkpoints: for 250,000 entries it takes
    several seconds. Those of a run were made by its training and are copied.
    """
    written = encoder.tokenizer.written
    if not written:
        source = Path(encoder.info.path)
        if not _is_unchanged(encoder, source):
            _make(encoder, folder)
            source = folder
        names = (VOCABULARY, CONFIG, "special_tokens_map.json", chat_template.FILE)
        files = [source / name for name in names if (source / name).is_file()]
        written.update({file.name: file.read_bytes() for file in files})
    for name, content in written.items():
        (folder / name).write_bytes(content)
    if encoder.tokenizer.chat.source:  # that of the model, or the one that it was tuned with
        (folder / chat_template.FILE).write_text(encoder.tokenizer.chat.source, encoding="utf-8")


def _is_unchanged(encoder: TransformerEncoder, source: Path) -> bool:
    """Whether `source` is the folder of a run with the files that `_make` would write."""
    files = [source / name for name in (DESCRIPTION, VOCABULARY, CONFIG)]
    if not all(file.is_file() for file in files):
        return False
    config = json.loads(files[2].read_text(encoding="utf-8"))
    if config.get("model_max_length") != encoder.max_length:
        return False
    own: str = encoder.tokenizer.backend.to_str(pretty=True)
    return files[1].read_text(encoding="utf-8") == own


def _make(encoder: TransformerEncoder, folder: Path) -> None:
    """Let transformers write the files, then check that they tokenize as in training.

    Some of its classes rebuild the tokenizer from its vocabulary and lose parts of tokenizer.json,
    such as the normalization of DeBERTa. For those, the generic class is written.
    """
    from transformers import AutoTokenizer

    source, config = files_of(encoder.info.path), encoder.model.config
    try:
        with quiet():
            tokenizer = _theirs(source, config)
            if tokenizer.pad_token is None and (pad := _special_pad(encoder.tokenizer)):
                tokenizer.pad_token = pad
            tokenizer.model_max_length = encoder.max_length
            tokenizer.save_pretrained(folder)
            encoder.tokenizer.backend.save(str(folder / VOCABULARY))
            again = AutoTokenizer.from_pretrained(folder, config=config, local_files_only=True)
    except (OSError, ValueError, ImportError, AttributeError, KeyError, TypeError) as error:
        raise ModelError(
            _(
                "The tokenizer of {path} cannot be saved: {error}",
                path=encoder.info.path,
                error=reason(error),
            )
        ) from error
    if not _alike(again.backend_tokenizer, encoder.tokenizer.backend):
        _change(folder / CONFIG, "tokenizer_class", GENERIC)
    # DistilBERT's folders may name BERT's class, which gives token types; XLNet's gives none
    read = [name for name in _INPUTS if name in encoder.input_names]
    if {*again.model_input_names} != {*read}:
        _change(folder / CONFIG, "model_input_names", read)


def _theirs(source: Path, config: Any) -> Any:
    """The tokenizer as transformers loads it; its generic class if its own needs more packages."""
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    try:
        return AutoTokenizer.from_pretrained(
            source, config=config, local_files_only=True, trust_remote_code=False
        )
    except ImportError:  # XLM's own splits text with sacremoses
        return PreTrainedTokenizerFast.from_pretrained(source, local_files_only=True)


def _special_pad(tokenizer: Tokenizer) -> str:
    """The padding token; "" if it is an ordinary subword.

    Registering that as special token would remove it from every text.
    """
    added = tokenizer.backend.get_added_tokens_decoder().get(tokenizer.pad)
    return added.content if added is not None and added.special else ""


def _alike(backend: Backend, other: Backend) -> bool:
    """Whether both tokenizers process text equally, judged by their components."""
    parts = ("normalizer", "pre_tokenizer", "post_processor")
    return backend.get_vocab() == other.get_vocab() and all(
        _state(getattr(backend, part)) == _state(getattr(other, part)) for part in parts
    )


def _state(part: Any) -> object:
    return json.loads(part.__getstate__()) if part is not None else None


def _change(path: Path, name: str, value: object) -> None:
    raw = json.loads(path.read_text(encoding="utf-8"))
    raw[name] = value
    path.write_text(json.dumps(raw, indent=2, ensure_ascii=False), encoding="utf-8")
