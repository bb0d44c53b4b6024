"""BERT checkpoints of TensorFlow: equal outputs, saved for transformers, damaged files named."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from workbench.base.errors import ModelError
from workbench.models.base import LoadOptions
from workbench.models.families.transformer.family import TransformerFamily
from workbench.models.spec import card, preparer, read_folder
from workbench.runtime.inputs import MASK
from workbench.text.document import Document

FOLDER = Path(__file__).parents[3] / "data" / "google_bert"
INDEX, DATA = "bert_model.ckpt.index", "bert_model.ckpt.data-00000-of-00001"


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(FOLDER, tmp_path / "google")


def test_the_card_has_the_sizes_of_the_checkpoint():
    info = card(FOLDER)

    assert info.problems == () and info.architecture == "bert" and not info.pickled
    assert (info.layers, info.width, info.vocabulary, info.max_length) == (2, 16, 40, 32)
    assert "masked_lm" in info.gives and info.tokenizer == "vocab.txt"
    assert {"bert_model.ckpt.index", DATA} <= {name for name, _size in info.files}


def test_states_and_both_heads_equal_the_reference(tmp_path):
    expected = json.loads((FOLDER / "expected.json").read_text())
    inputs = {name: torch.tensor([expected[name]]) for name in ("input_ids", "token_type_ids")}
    inputs[MASK] = torch.ones_like(inputs["input_ids"])
    places = torch.arange(inputs[MASK].shape[1])[None]
    options = LoadOptions(head="pretraining")
    family, first = TransformerFamily(), TransformerFamily().load(card(FOLDER), options).eval()
    family.save(first, tmp_path / "saved")  # as transformers writes it
    again = family.load(read_folder(tmp_path / "saved"), options).eval()

    for encoder in (first, again):
        with torch.no_grad():
            states = encoder(inputs)
            words, following = encoder.pair_logits_at(inputs, places)
        for name, found in (
            ("states", states.layers[-1]),
            ("pooled", states.pooled),
            ("words", words),
            ("next", following),
        ):
            torch.testing.assert_close(found[0], torch.tensor(expected[name]), atol=1e-5, rtol=0)


def test_its_vocabulary_is_read_as_that_of_an_uncased_bert():
    found = preparer(FOLDER)

    encoded = found.whole([Document("1", (("text", "The Bus is late"),))], 16).inputs[0]

    assert found.pieces(encoded) == ["[CLS]", "the", "bus", "is", "late", "[SEP]"]
    assert encoded.offsets[1:3].tolist() == [[0, 3], [4, 7]]


def test_damaged_files_are_named_before_anything_is_loaded(copy):
    data, index = copy / DATA, copy / INDEX
    content, head = data.read_bytes(), index.read_bytes()

    data.write_bytes(content[:-4])
    assert "truncated: 27,308 bytes, expected 27,312" in card(copy).problems[0]
    data.unlink()
    assert f"{DATA} is missing" in card(copy).problems
    data.write_bytes(content)
    for damaged, reason in (
        (head[:-10], "no table of TensorFlow, or is truncated"),
        (head[:100] + b"?" + head[101:], "a checksum differs"),
        (b"", "0 bytes, which no index has"),
    ):
        index.write_bytes(damaged)
        assert reason in card(copy).problems[0]
        with pytest.raises(ModelError, match=reason):
            read_folder(copy)


def test_a_configuration_of_another_model_is_noticed(copy):
    raw = json.loads((copy / "bert_config.json").read_text())
    (copy / "bert_config.json").write_text(json.dumps({**raw, "hidden_size": 24}))

    assert "hidden_size as 24, but no tensor has that size" in card(copy).problems[0]
