"""Writes the checkpoint in this folder, with TensorFlow 2.21 in an environment of its own.

A BERT of two layers, width 16, with seeded weights under the names of google-research/bert, saved
by TensorFlow's own saver beside variables of the optimizer; and outputs for one input, computed
here with numpy after modeling.py of that repository (A x is written x @ kernel there).

    python -m venv tf && tf/bin/pip install tensorflow-cpu==2.21.0
    tf/bin/python tests/data/google_bert/make.py
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
CONFIG = {
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 16,
    "initializer_range": 0.02,
    "intermediate_size": 32,
    "max_position_embeddings": 32,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
    "type_vocab_size": 2,
    "vocab_size": 40,
}
WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the a tram bus is late full thank you driver ticket from to "
    "gate north ##s ##ing ##ed , . ! ? in on at and or not we they it was were my your"
).split()
IDS, TYPES = [2, 5, 7, 9, 4, 3, 8, 20, 3], [0, 0, 0, 0, 0, 0, 1, 1, 1]


def variables() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    width, inner = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    found: dict[str, np.ndarray] = {}

    def add(name, *shape):
        found[name] = rng.normal(0, 0.3, shape).astype(np.float32)

    def norm(name):
        add(f"{name}/LayerNorm/beta", width)
        add(f"{name}/LayerNorm/gamma", width)

    def dense(name, inputs, outputs):
        add(f"{name}/kernel", inputs, outputs)
        add(f"{name}/bias", outputs)

    add("bert/embeddings/word_embeddings", CONFIG["vocab_size"], width)
    add("bert/embeddings/position_embeddings", CONFIG["max_position_embeddings"], width)
    add("bert/embeddings/token_type_embeddings", CONFIG["type_vocab_size"], width)
    norm("bert/embeddings")
    for number in range(CONFIG["num_hidden_layers"]):
        layer = f"bert/encoder/layer_{number}"
        for part in ("query", "key", "value"):
            dense(f"{layer}/attention/self/{part}", width, width)
        dense(f"{layer}/attention/output/dense", width, width)
        norm(f"{layer}/attention/output")
        dense(f"{layer}/intermediate/dense", width, inner)
        dense(f"{layer}/output/dense", inner, width)
        norm(f"{layer}/output")
    dense("bert/pooler/dense", width, width)
    dense("cls/predictions/transform/dense", width, width)
    norm("cls/predictions/transform")
    add("cls/predictions/output_bias", CONFIG["vocab_size"])
    add("cls/seq_relationship/output_weights", 2, width)
    add("cls/seq_relationship/output_bias", 2)
    return found


def outputs(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """States of the last layer (T, H), the pooled one (H), logits of masked words and next
    sentence.
    """

    def dense(name, x):
        return x @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]

    def norm(name, x):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}/LayerNorm/gamma"] + weights[f"{name}/LayerNorm/beta"]

    def gelu(x):
        return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))

    words = weights["bert/embeddings/word_embeddings"]
    x = words[IDS] + weights["bert/embeddings/token_type_embeddings"][TYPES]
    x = norm("bert/embeddings", x + weights["bert/embeddings/position_embeddings"][: len(IDS)])
    heads = CONFIG["num_attention_heads"]
    for number in range(CONFIG["num_hidden_layers"]):
        layer = f"bert/encoder/layer_{number}"
        query, key, value = (
            dense(f"{layer}/attention/self/{part}", x).reshape(len(x), heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / math.sqrt(query.shape[-1])
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        seen = (shares @ value).swapaxes(0, 1).reshape(len(x), -1)
        x = norm(f"{layer}/attention/output", x + dense(f"{layer}/attention/output/dense", seen))
        inner = gelu(dense(f"{layer}/intermediate/dense", x))
        x = norm(f"{layer}/output", x + dense(f"{layer}/output/dense", inner))
    pooled = np.tanh(dense("bert/pooler/dense", x[0]))
    moved = norm("cls/predictions/transform", gelu(dense("cls/predictions/transform/dense", x)))
    following = weights["cls/seq_relationship/output_weights"] @ pooled
    return {
        "states": x,
        "pooled": pooled,
        "words": moved @ words.T + weights["cls/predictions/output_bias"],
        "next": following + weights["cls/seq_relationship/output_bias"],
    }


def main() -> None:
    import tensorflow as tf

    weights = variables()
    more = {
        "bert/pooler/dense/kernel/adam_m": np.zeros((16, 16), np.float32),
        "bert/pooler/dense/kernel/adam_v": np.zeros((16, 16), np.float32),
        "global_step": np.int64(1000),
    }
    graph = tf.Graph()
    with graph.as_default():
        made = [
            tf.compat.v1.Variable(value, name=name) for name, value in {**weights, **more}.items()
        ]
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(tf.compat.v1.variables_initializer(made))
            tf.compat.v1.train.Saver(made).save(
                session, str(HERE / "bert_model.ckpt"), write_meta_graph=False, write_state=False
            )
    (HERE / "bert_config.json").write_text(json.dumps(CONFIG, indent=1) + "\n")
    (HERE / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    found = {
        name: np.round(value.astype(float), 7).tolist() for name, value in outputs(weights).items()
    }
    expected = {"input_ids": IDS, "token_type_ids": TYPES, **found}
    (HERE / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
