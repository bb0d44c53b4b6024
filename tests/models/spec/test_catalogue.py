"""The catalogue of published systems: facts, completeness, errors that name the place."""

import pytest

from workbench.base.errors import ModelError
from workbench.base.registry import registry
from workbench.models.spec import ModelInfo
from workbench.models.spec.catalogue import catalogue, matches, read

SYSTEMS = """word2vec GloVe fastText ELMo ULMFiT Flair GPT BERT DistilBERT RoBERTa SpanBERT ELECTRA
ALBERT DeBERTa XLM XLM-R XLNet ERNIE ModernBERT T5 BART GPT-2 GPT-3 Llama OLMo Qwen2.5 Gemma Phi-3
Pythia Mistral""".split()


@pytest.fixture(scope="module")
def known():
    return {model.name: model for model in catalogue().models}


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_of_the_lectures_is_listed(known, system):
    assert any(name.split()[0] == system for name in known)


def test_sizes_are_those_of_the_published_configurations(known):
    """Figures from the papers and model cards; for BERT see Devlin et al. 2019."""
    assert known["BERT base"].parameters == 109_482_240
    assert known["BERT large"].parameters == 335_141_888
    assert known["GPT-2 small"].parameters == 124_439_808
    assert known["RoBERTa base"].parameters == 124_645_632
    assert known["GloVe 6B"].parameters == 400_000 * 300
    assert known["Llama 2 7B"].parameters == 6_738_415_616


def test_directions_follow_from_the_objectives():
    expected = {
        "Next word": "left",
        "Previous word": "right",
        "Next character": "left",
        "Previous character": "right",
        "Masked words": "both",
        "Bidirectional LM": "both",
    }

    for model in catalogue().models:
        assert model.direction == expected.get(model.objective[0], "both"), model.name


def test_every_group_has_models_and_a_format_that_is_known():
    formats = {info.id for info in registry().infos("family")}

    for group in catalogue().groups:
        assert group.format in formats
        assert any(model.group == group.id for model in catalogue().models)


def test_an_architecture_belongs_to_its_group():
    groups = {group.id: group for group in catalogue().groups}

    for model in catalogue().models:
        if model.architecture:
            assert model.architecture in groups[model.group].architectures, model.name


def test_an_architecture_without_a_group_belongs_to_none():
    assert catalogue().group_of(ModelInfo("x", "/x", "transformer", "brand-new")) == ""
    assert catalogue().group_of(ModelInfo("x", "/x", "transformer", "olmo3")) == "llm"


def test_an_installed_model_finds_its_entry_by_hub_id_and_otherwise_its_architecture():
    cached = ModelInfo("google-bert/bert-large-uncased", "/x", "transformer", "bert")
    starter = ModelInfo("starter-gpt", "/x", "transformer", "gpt2")
    vectors = ModelInfo("mine", "/x", "vectors", "word2vec")

    assert catalogue().original(cached).name == "BERT large"
    assert catalogue().original(starter).name == "GPT-2 small"
    assert catalogue().original(vectors).name == "word2vec GoogleNews"
    result = catalogue().with_installed([cached])
    assert [item.name for item in result if item.installed] == ["BERT large"]


def test_a_backward_model_has_the_direction_of_a_backward_entry():
    forward = ModelInfo("f", "", "awd_lstm", "awd_lstm", gives=("states", "next_lm"))
    backward = ModelInfo("b", "", "awd_lstm", "awd_lstm", gives=("states", "previous_lm"))
    characters = ModelInfo("c", "", "char_lm", "char_lm", gives=("states", "previous_character"))

    found = [catalogue().original(item).direction for item in (forward, backward, characters)]

    assert found == ["left", "right", "right"]


def test_the_generator_of_electra_was_trained_on_masked_words():
    finder = ModelInfo("a", "", "transformer", "electra", gives=("states",))
    generator = ModelInfo("b", "", "transformer", "electra", gives=("states", "masked_lm"))

    found = [catalogue().original(item).objective for item in (finder, generator)]

    assert found == [("Replaced words",), ("Masked words",)]


def test_search_covers_paper_objective_corpus_and_hub_id(known):
    bert = known["BERT base"]

    assert matches(bert, "BERT and relatives", "devlin MASKED bookscorpus")
    assert matches(bert, "", "google-bert/bert-base-uncased")
    assert not matches(bert, "", "devlin spans")


ENTRY = """
[objectives]
causal_lm = "Next word"
[[group]]
id = "gpt"
title = "GPT"
format = "transformer"
[[model]]
name = "Tiny"
group = "gpt"
paper = "Somebody 2020"
url = "https://example.org"
year = 2020
objective = ["causal_lm"]
direction = "left"
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("year = 2020", "", "year is missing"),
        ("year = 2020", 'year = "2020"', "year has the wrong type: '2020'"),
        ("year = 2020", "year = 20", "out of range"),
        ('direction = "left"', 'direction = "up"', "direction is 'up', expected one of left"),
        ('["causal_lm"]', '["nix"]', "objective is 'nix', expected one of causal_lm"),
        ('group = "gpt"', 'group = "nix"', "group is 'nix', expected one of gpt"),
        ("year = 2020", "year = 2020\ncolour = 1", "the key colour is unknown"),
        ("year = 2020", 'year = 2020\nhub = "a/b/c"', "'a/b/c' is not a hub id"),
        ("https://example.org", "example.org", "url must begin with https://"),
    ],
)
def test_an_invalid_entry_is_named_with_its_key(tmp_path, old, new, message):
    path = tmp_path / "catalogue.toml"
    path.write_text(ENTRY.replace(old, new), encoding="utf-8")

    with pytest.raises(ModelError) as error:
        read(path)

    assert "catalogue.toml, model 1 (Tiny)" in str(error.value) and message in str(error.value)


def test_a_name_is_used_once_and_a_broken_file_is_named(tmp_path):
    path = tmp_path / "catalogue.toml"
    twice = ENTRY + ENTRY[ENTRY.index("[[model]]") :]
    for text, message in ((twice, "used twice"), ("[[model", "cannot be read"), ("", "")):
        path.write_text(text, encoding="utf-8")
        if not message:
            assert read(path).models == ()
            continue
        with pytest.raises(ModelError, match=message):
            read(path)
