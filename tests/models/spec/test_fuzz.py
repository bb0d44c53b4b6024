"""Hundreds of damaged folders: each gets a card that names its faults, none an exception."""

import json
import random
import struct
import time

import pytest

from tests.models import folders
from workbench.models.spec import cards
from workbench.models.spec.info import ModelInfo

CASES = 600
NUMBERS = (
    "parameters", "layers", "width", "vocabulary", "max_length", "size_bytes",
)  # fmt: skip
ODD = [
    None, True, False, 0, -1, 1, 2.5, 1e308, 10**9, 10**18, 10**3999, "", "bert", "\x00", "\ud800",
    "x" * 5000, [], {}, [[]], {"a": {"b": []}}, [None], float("nan"), float("-inf"), "line\nline",
    "‮right", ["BertForMaskedLM"], {"0": "A"}, {"": None},
]  # fmt: skip
KEYS = [
    *folders.CONFIG, "n_embd", "n_layer", "dim", "num_labels", "id2label", "pad_token_id", "legacy",
    "tokenizer_class", "tie_word_embeddings", "quantization_config", "num_hidden_groups",
    "intermediate_size", "n_positions", "type_vocab_size", "embedding_size", "__metadata__",
]  # fmt: skip


def odd(draw):
    return draw.choice(ODD)


def broken_config(draw):
    """The text of a config.json with a few faults."""
    config = dict(folders.CONFIG)
    for _change in range(draw.randint(1, 4)):
        config[draw.choice(KEYS)] = odd(draw)
    text = json.dumps(config)
    how = draw.randint(0, 9)
    if how == 0:
        return text[: draw.randint(0, len(text))]
    if how == 1:
        depth = draw.choice([10, 900, 5000, 100_000])
        return text[:-1] + ', "deep": ' + "[" * depth + "]" * depth + "}"
    if how == 2:
        return json.dumps(odd(draw))
    return text


def broken_header(draw):
    """The bytes of a model.safetensors with a few faults."""
    table, size = folders.table_of(folders.TENSORS)
    for _change in range(draw.randint(0, 3)):
        name = draw.choice([*table, "x", "bert.encoder.layer.999999999.a.weight", "__metadata__"])
        known = table.get(name)
        entry = dict(known) if isinstance(known, dict) else {}
        entry[draw.choice(["dtype", "shape", "data_offsets"])] = draw.choice(
            [odd(draw), [odd(draw), odd(draw)], [-1, 2], [0, 10**18], [5, 1], ["1", "2"]]
        )
        table[name] = draw.choice([entry, odd(draw)])
    head = json.dumps(table).encode()
    if draw.random() < 0.2:
        at = draw.randrange(len(head))
        head = head[:at] + bytes([draw.randrange(256)]) + head[at + 1 :]
    length = draw.choice([len(head)] * 6 + [0, 1, len(head) - 1, len(head) + 9, 10**8, 2**64 - 1])
    data = bytes(draw.choice([size] * 4 + [0, size - 1, size + 1]))
    return struct.pack("<Q", length) + head + data


def make(folder, draw):
    folder.mkdir()
    (folder / "config.json").write_bytes(broken_config(draw).encode("utf-8", "surrogatepass"))
    name = draw.choice(["model.safetensors"] * 4 + ["pytorch_model.bin", "other"])
    (folder / name).write_bytes(broken_header(draw))
    if draw.random() < 0.2:
        index = {"weight_map": {"a": odd(draw), "b": draw.choice([name, "../x", "a/b", "\0"])}}
        (folder / "model.safetensors.index.json").write_text(
            json.dumps(draw.choice([index, odd(draw)]))
        )
    for extra in ("tokenizer.json", "tokenizer_config.json", "README.md", "vocab.txt"):
        if draw.random() < 0.6:
            text = draw.choice(["{}", json.dumps(odd(draw)), "[" * 50_000, "---\nlicense: \0\n---"])
            (folder / extra).write_bytes(text.encode("utf-8", "surrogatepass"))
    return folder


@pytest.mark.parametrize("seed", range(6))
def test_every_damaged_folder_has_a_card(tmp_path, seed, monkeypatch):
    monkeypatch.setattr(cards.log, "exception", lambda *_words: pytest.fail("a card raised"))
    draw, began = random.Random(seed), time.process_time()

    for number in range(CASES // 6):
        check(cards.card(make(tmp_path / str(number), draw), allow_pickle=draw.random() < 0.5))

    assert time.process_time() - began < 20


def check(card):
    """Every field has its type and a sane size, so that tables and windows can show it."""
    assert isinstance(card, ModelInfo)
    for name in NUMBERS:
        value = getattr(card, name)
        assert type(value) is int and 0 <= value < 10**15, (name, value)
    for name in ("name", "family", "licence", "dtype", "tokenizer"):
        value = getattr(card, name)
        assert isinstance(value, str) and len(value) < 200 and "\n" not in value, (name, value)
    assert all(isinstance(problem, str) and len(problem) < 2000 for problem in card.problems)
    assert all(isinstance(item, str) for item in (*card.labels, *card.gives))
    json.loads(json.dumps(card.to_json(), allow_nan=False))
