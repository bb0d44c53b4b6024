"""GGUF, the format of llama.cpp, Ollama and LM Studio: for causal language models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.base.i18n import N_, _
from workbench.exporters.model.spec import LanguageModelInfo

FILE = "model.gguf"
GPT2, LLAMA, MISTRAL = "gpt2", "llama", "mistral"  # model_type in config.json
TYPES = (GPT2, LLAMA, MISTRAL)
ROPE = ("default", "linear", "llama3")
# How llama.cpp splits a text before it merges: its name → the pattern of tokenizer.json.
_PATTERNS = {
    "llama-bpe": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",  # noqa: E501
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",  # noqa: E501
}


class GgufInfo(LanguageModelInfo):
    """half: matrices in float16."""

    half = True
    id = "gguf"
    title = N_("GGUF, 16 bit")
    short = "GGUF 16"
    purpose = N_(
        "For llama.cpp, Ollama, LM Studio and other programs of this family: one file with weights "
        "and tokenizer, and a Modelfile."
    )

    def unfit(self, model: Path) -> str:
        config, tokenizer = _json(model / "config.json"), _json(model / "tokenizer.json")
        kind, architectures = config.get("model_type"), config.get("architectures") or [""]
        if kind not in TYPES or not str(architectures[0]).endswith(("LMHeadModel", "ForCausalLM")):
            return _("GGUF is written for causal language models of the types GPT-2 and Llama.")
        if kind == GPT2 and (
            config.get("activation_function", "gelu_new") not in ("gelu_new", "gelu_pytorch_tanh")
            or config.get("scale_attn_by_inverse_layer_idx")
            or config.get("add_cross_attention")
            or config.get("scale_attn_weights") is False
        ):
            return _("This GPT-2 differs from the published one in a way that GGUF cannot hold.")
        rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
        if (name := rope.get("rope_type") or rope.get("type") or "default") not in ROPE:
            return _("GGUF is not written for rotary embeddings of the type {name}.", name=name)
        if not pre_tokenizer(tokenizer):
            return _("llama.cpp has no equal of the tokenizer of this model.")
        return ""

    def usage(self, folder: str) -> str:
        return _CODE.format(file=f"{folder}/{FILE}")


class FullGgufInfo(GgufInfo):
    half = False
    id = "gguf32"
    title = N_("GGUF, 32 bit")
    short = "GGUF 32"
    purpose = N_("As GGUF with 16 bits, twice as large, with the exact weights of the model.")


def pre_tokenizer(tokenizer: Mapping[str, Any]) -> str:
    """The name in llama.cpp of how tokenizer.json splits a text; "" if it has no equal."""
    model = tokenizer.get("model") or {}
    if model.get("type") != "BPE":
        return ""
    if model.get("byte_fallback"):
        return "default" if tokenizer.get("pre_tokenizer") in (None, {}) else ""
    steps = tokenizer.get("pre_tokenizer") or {}
    steps = steps.get("pretokenizers") or [steps]
    if len(steps) == 1 and steps[0].get("type") == "ByteLevel" and steps[0].get("use_regex", True):
        return "" if steps[0].get("add_prefix_space") else "gpt-2"
    if steps[0].get("type") == "Split":
        pattern = (steps[0].get("pattern") or {}).get("Regex")
        return next((name for name, known in _PATTERNS.items() if known == pattern), "")
    return ""


def _json(path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return raw if isinstance(raw, dict) else {}


_CODE = """import llama_cpp  # of the package llama-cpp-python

model = llama_cpp.Llama({file!r})
print(model("Once upon a time", max_tokens=32)["choices"][0]["text"])
"""

INFO = GgufInfo()
FULL_INFO = FullGgufInfo()
