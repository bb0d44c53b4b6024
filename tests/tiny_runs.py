"""Fixtures for code that uses the model of a run: a tiny one of each task, and input texts."""

import json
import shutil

import pytest


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """tiny_run(task) → a new copy of the model folder of a run.

    A seeded BERT with two layers of width 16, or `layers`, and the starter's tokenizer, built once
    per task, labels and number of layers.
    """
    built = {}

    def copy(task, labels=("delay", "praise", "ticket"), *, layers=2):
        key = task, tuple(labels), layers
        if key not in built:
            built[key] = build(*key)
        return shutil.copytree(built[key], tmp_path_factory.mktemp("run") / "model")

    def build(task, labels, layers):
        torch = pytest.importorskip("torch")
        transformers = pytest.importorskip("transformers")
        from workbench.base.paths import resource
        from workbench.models.folder import describe
        from workbench.runtime.decoding import bio_tags

        folder = tmp_path_factory.mktemp("built") / "model"
        outputs = bio_tags(labels) if task == "tag" else labels
        torch.manual_seed(1)
        config = transformers.BertConfig(
            vocab_size=30522,
            hidden_size=16,
            num_hidden_layers=layers,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            id2label=dict(enumerate(outputs)),
            label2id={name: number for number, name in enumerate(outputs)},
            initializer_range=1.0,
        )
        kind = (
            transformers.BertForTokenClassification
            if task == "tag"
            else transformers.BertForSequenceClassification
        )
        kind(config).save_pretrained(folder)
        transformers.AutoTokenizer.from_pretrained(
            resource("models") / "starter-bert"
        ).save_pretrained(folder)
        describe(folder, {"task": task, "labels": list(labels), "max_length": 32, "layer": "class"})
        return folder

    return copy


TEXTS = [
    "The 42 tram was late again.",
    "Thank you!",
    "word " * 90,
    "¿Qué? 😀",
    "No seat between Mill Lane and the airport, as ever.",
]


@pytest.fixture()
def texts_file(tmp_path):
    return write_texts(tmp_path / "texts.jsonl")


def write_texts(path):
    """Twenty records for a check of an export; returns `path`."""
    rows = [
        {"key": str(n), "texts": {"text": text, "text_b": text[::-1]}, "split": "dev", "id": n}
        for n, text in enumerate(TEXTS * 4)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
