"""Tokenizers of one file share its vocabulary, and nothing else."""

import json

import pytest
from tokenizers import Tokenizer as Library

from workbench.base import paths
from workbench.runtime import tokenizer as tokenizers
from workbench.runtime.tokenizer import Tokenizer

VOCABULARY = {"[UNK]": 0, "a": 1, "tram": 2}
TEXT = "a tram, a bus <one> <two> ü"


@pytest.fixture(autouse=True)
def nothing_read():
    tokenizers._read.cache_clear()


@pytest.fixture
def folder(tmp_path):
    """A word tokenizer with two added tokens, of which the second one is special."""
    made = tmp_path / "model"
    made.mkdir()
    write(made, VOCABULARY, {3: "<one>", 4: "<two>"})
    return made


def write(folder, vocabulary, added):
    tokens = [
        {"id": id, "content": text, "special": text == "<two>", "single_word": False}
        | {"lstrip": False, "rstrip": False, "normalized": False}
        for id, text in added.items()
    ]
    body = {
        "version": "1.0",
        "added_tokens": tokens,
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(body), encoding="utf-8")


def from_file(folder):
    """What the library reads from the file."""
    found = Library.from_file(str(folder / "tokenizer.json"))
    found.no_padding()
    found.no_truncation()
    return found


@pytest.mark.parametrize("model", ["starter-bert", "starter-gpt"])
def test_the_second_tokenizer_of_a_file_is_the_first(model):
    place = paths.resource("models") / model
    expected = from_file(place)

    for _time in range(2):
        found = Tokenizer.load(place).backend
        assert found.to_str() == expected.to_str()
        assert found.encode(TEXT).ids == expected.encode(TEXT).ids
    assert tokenizers._read.cache_info().hits == 1


def test_settings_of_one_do_not_change_another(folder):
    first, second = Tokenizer.load(folder), Tokenizer.load(folder)

    first.backend.enable_truncation(1)
    first.backend.add_tokens(["bus"])

    assert second.backend.encode(TEXT).ids == from_file(folder).encode(TEXT).ids
    assert Tokenizer.load(folder).backend.token_to_id("bus") is None


def test_a_file_that_was_replaced_is_read_again(folder):
    assert Tokenizer.load(folder).backend.token_to_id("bus") is None

    write(folder, {**VOCABULARY, "bus": 3}, {4: "<one>"})

    assert Tokenizer.load(folder).backend.token_to_id("bus") == 3


def test_added_tokens_keep_numbers_with_gaps(folder):
    write(folder, VOCABULARY, {7: "<one>", 9: "<two>"})

    found = Tokenizer.load(folder)

    assert found.backend.get_added_tokens_decoder() == from_file(folder).get_added_tokens_decoder()
    assert found.backend.encode(TEXT).ids == from_file(folder).encode(TEXT).ids


def test_large_files_are_not_kept(folder, monkeypatch):
    monkeypatch.setattr(tokenizers, "SHARED", 10)

    Tokenizer.load(folder)

    assert tokenizers._read.cache_info().currsize == 0
