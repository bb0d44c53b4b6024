"""Writes the checkpoints in this folder: a seeded SpanBERT of one layer, width 8, as published.

`with_head/model.pt` has the names of spanbert_large_with_head.tar.gz, as issue 38 of
facebookresearch/SpanBERT lists them; `hf/pytorch_model.bin` those of spanbert_hf_base.tar.gz, whose
config.json names no family. Both archives lack vocab.txt, here a small one is beside each.

    python tests/data/spanbert/make.py
"""

from __future__ import annotations

import json
from collections import OrderedDict
from pathlib import Path

import torch

HERE = Path(__file__).parent
CONFIG = {
    "attention_probs_dropout_prob": 0.1,
    "directionality": "bidi",
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 8,
    "initializer_range": 0.02,
    "intermediate_size": 16,
    "max_position_embeddings": 24,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
    "type_vocab_size": 2,
    "vocab_size": 20,
}
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the Ada Bob tram is late met in Paris a bus ##s . , to"


def weights() -> OrderedDict[str, torch.Tensor]:
    """The encoder without pooler, and both heads, under the names in pair_bert.py."""
    generator = torch.Generator().manual_seed(7)
    width, inner, words = (CONFIG[n] for n in ("hidden_size", "intermediate_size", "vocab_size"))
    found: OrderedDict[str, torch.Tensor] = OrderedDict()

    def add(name: str, *shape: int) -> None:
        found[name] = 0.3 * torch.randn(shape, generator=generator)

    def dense(name: str, inputs: int, outputs: int) -> None:
        add(f"{name}.weight", outputs, inputs)
        add(f"{name}.bias", outputs)

    def norm(name: str, scale: str = "gamma", shift: str = "beta") -> None:
        add(f"{name}.{scale}", width)
        add(f"{name}.{shift}", width)

    add("bert.embeddings.word_embeddings.weight", words, width)
    add("bert.embeddings.position_embeddings.weight", CONFIG["max_position_embeddings"], width)
    add("bert.embeddings.token_type_embeddings.weight", CONFIG["type_vocab_size"], width)
    norm("bert.embeddings.LayerNorm")
    layer = "bert.encoder.layer.0"
    for part in ("query", "key", "value"):
        dense(f"{layer}.attention.self.{part}", width, width)
    dense(f"{layer}.attention.output.dense", width, width)
    norm(f"{layer}.attention.output.LayerNorm")
    dense(f"{layer}.intermediate.dense", width, inner)
    dense(f"{layer}.output.dense", inner, width)
    norm(f"{layer}.output.LayerNorm")
    dense("cls.predictions.transform.dense", width, width)
    norm("cls.predictions.transform.LayerNorm", "weight", "bias")
    add("cls.predictions.bias", words)
    head = "cls.pair_target_predictions"
    add(f"{head}.bias", words)
    add(f"{head}.position_embeddings.weight", 20, 200)
    dense(f"{head}.mlp_layer_norm.linear1", 2 * width + 200, width)
    norm(f"{head}.mlp_layer_norm.layer_norm1", "weight", "bias")
    dense(f"{head}.mlp_layer_norm.linear2", width, width)
    norm(f"{head}.mlp_layer_norm.layer_norm2", "weight", "bias")
    for name in ("cls.predictions", head):  # tied
        found[f"{name}.decoder.weight"] = found["bert.embeddings.word_embeddings.weight"]
    return found


def write(folder: Path, name: str, state: OrderedDict[str, torch.Tensor]) -> None:
    folder.mkdir(exist_ok=True)
    torch.save(state, folder / name, _use_new_zipfile_serialization=False)  # as in 2019
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=1) + "\n")
    (folder / "vocab.txt").write_text("\n".join(WORDS.split()) + "\n")


def main() -> None:
    found = weights()
    write(
        HERE / "with_head",
        "model.pt",
        OrderedDict((f"decoder.{name}", value) for name, value in found.items()),
    )
    body = OrderedDict((name, found[name]) for name in found if name.startswith("bert."))
    write(HERE / "hf", "pytorch_model.bin", body)


if __name__ == "__main__":
    main()
