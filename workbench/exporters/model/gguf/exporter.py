"""Writes a causal language model as GGUF, and reads it again with transformers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from workbench.base.errors import ExportFailed
from workbench.base.i18n import N_, _
from workbench.exporters.model.base import Checking, Export, ModelExporter
from workbench.exporters.model.gguf import card, file
from workbench.exporters.model.gguf.info import FILE, FULL_INFO, INFO, GgufInfo
from workbench.exporters.model.results import Verification
from workbench.text.document import Document

EXTREMES = ("", "a", "  two  spaces\n\n\ttab", "don't 1234567 3.14", "שלום עולם", "日本語 🙂 naïve")
_ROLES = ("bos", "eos", "unk", "pad")


class GgufExporter(ModelExporter):
    info: GgufInfo = INFO
    checking = N_("Reading {title} again")

    def write(self, export: Export, folder: Path) -> None:
        folder.mkdir(parents=True)
        model, tokenizer = _original(export)
        raw = json.loads((export.source / "tokenizer.json").read_text(encoding="utf-8"))
        template = tokenizer.chat_template
        config = model.config.to_dict()
        file.write(
            folder / FILE,
            config,
            {name: value.numpy() for name, value in model.state_dict().items()},
            raw,
            special=_special(tokenizer),
            chat_template=template if isinstance(template, str) else "",
            half=self.info.half,
            name=str(export.facts.get("base_model") or export.source.name),
        )
        (folder / "Modelfile").write_text(card.modelfile(config), encoding="utf-8")

    def check(self, export: Export, folder: Path, documents: Sequence[Document]) -> Checking:
        """Token ids and logits as transformers reads them from the file, which has code of its own
        for GGUF, against those of the original; with 16 bits, of its rounded matrices. For ids of
        SentencePiece, see `file.reader`.

        labels: the most probable next token after each token. Raises ExportFailed for a text with
        other ids.
        """
        began = time.monotonic()
        model, tokenizer = _original(export)
        if self.info.half:
            _round(model)
        again = file.reader(folder / FILE) or _library_reader(folder)
        other = AutoModelForCausalLM.from_pretrained(
            folder, gguf_file=FILE, config=model.config, dtype=torch.float32, local_files_only=True
        ).eval()
        texts = (*EXTREMES, *(document.text for document in documents))
        limit = int(model.config.max_position_embeddings)
        largest, equal, total = 0.0, 0, 0
        for number, text in enumerate(texts, 1):
            ids = tokenizer(text).input_ids
            if list(again(text)) != ids:
                raise ExportFailed(
                    _(
                        "The tokenizer of the GGUF file gives other tokens for {text!r}.",
                        text=text[:120],
                    ),
                    hint=_("Export other formats, and report this model as a bug."),
                )
            same, size, difference = _compared(model, other, ids[:limit])
            largest, equal, total = max(largest, difference), equal + same, total + size
            row = {"text": text[:120], "difference": difference, "equal": same == size}
            yield {
                "kind": "checked",
                "format": self.info.id,
                "done": number,
                "total": len(texts),
                "rows": [row],
            }
        share = equal / total if total else 1.0
        seconds = time.monotonic() - began
        return Verification(len(texts), total, share, largest, seconds, next_tokens=True)

    def readme(self, export: Export, folder: Path) -> str:
        return card.readme(export.facts, export.checks[self.info.id], self.info)


class FullGgufExporter(GgufExporter):
    info = FULL_INFO


def _original(export: Export) -> tuple[Any, Any]:
    """The model in float32 and its tokenizer."""
    model = AutoModelForCausalLM.from_pretrained(
        export.source,
        dtype=torch.float32,
        local_files_only=True,
        use_safetensors=None if export.allow_pickle else True,
    )
    return model.eval(), AutoTokenizer.from_pretrained(export.source, local_files_only=True)


def _library_reader(folder: Path) -> Callable[[str], list[int]]:
    tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(
        folder, gguf_file=FILE, local_files_only=True
    )
    return lambda text: list(tokenizer(text).input_ids)


def _special(tokenizer: Any) -> dict[str, int]:
    ids = {role: getattr(tokenizer, f"{role}_token_id") for role in _ROLES}
    return {role: id for role, id in ids.items() if id is not None}


def _round(model: Any) -> None:
    for name, value in model.named_parameters():
        if value.dim() > 1 and "wpe" not in name:
            value.data = value.data.half().float()


def _compared(model: Any, other: Any, ids: Sequence[int]) -> tuple[int, int, float]:
    """(equal most probable tokens, tokens, largest difference of the logits)."""
    if not ids:
        return 0, 0, 0.0
    with torch.inference_mode():
        ours, theirs = (item(torch.tensor([ids])).logits[0] for item in (model, other))
    same = int((ours.argmax(-1) == theirs.argmax(-1)).sum())
    return same, len(ids), float((ours - theirs).abs().max())
