"""Model folders written by hand: a BERT of two layers, width 4, with a masked-word head."""

import json
import math
import struct

CONFIG = {
    "model_type": "bert",
    "num_hidden_layers": 2,
    "hidden_size": 4,
    "vocab_size": 9,
    "max_position_embeddings": 16,
    "architectures": ["BertForMaskedLM"],
}
TENSORS = {
    "bert.embeddings.word_embeddings.weight": ("F32", [9, 4]),
    "bert.embeddings.position_embeddings.weight": ("F32", [16, 4]),
    "bert.encoder.layer.0.output.dense.weight": ("F32", [4, 4]),
    "bert.encoder.layer.1.output.dense.weight": ("F32", [4, 4]),
    "cls.predictions.transform.dense.weight": ("F32", [2, 2]),
    "bert.embeddings.position_ids": ("I64", [4]),
}
BYTES = {"F32": 4, "F16": 2, "I64": 8}


def make(path, **config):
    """A whole folder; keywords change its configuration."""
    path.mkdir(parents=True, exist_ok=True)
    write_weights(path / "model.safetensors", TENSORS)
    (path / "config.json").write_text(json.dumps({**CONFIG, **config}))
    (path / "tokenizer.json").write_text("{}")
    return path


def table_of(tensors):
    """The header of a safetensors file, and how many bytes of data follow it."""
    table, at = {}, 0
    for name, (kind, shape) in tensors.items():
        size = BYTES[kind] * math.prod(shape)
        table[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    return table, at


def write_weights(path, tensors):
    table, size = table_of(tensors)
    head = json.dumps(table).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + bytes(size))


DECODER = {
    "model.embed_tokens.weight": ("F32", [9, 4]),
    "model.layers.0.mlp.down_proj.weight": ("F32", [4, 4]),
    "lm_head.weight": ("F32", [9, 4]),
}


def make_decoder(path, family):
    """A folder of a causal model whose card is whole; nothing can load it."""
    make(path)
    write_weights(path / "model.safetensors", DECODER)
    config = {"model_type": family, "num_hidden_layers": 1, "hidden_size": 4, "vocab_size": 9}
    (path / "config.json").write_text(json.dumps(config))
    return path
