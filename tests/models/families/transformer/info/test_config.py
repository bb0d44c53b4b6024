"""Sizes in config.json are checked against the tensors, whatever is written there."""

import pytest

from tests.models import folders
from workbench.models import spec
from workbench.models.families.transformer.info import config as configs

ODD = [[], {}, "12", 1.5, True, float("nan"), float("inf"), -5, 10**3999]


def test_roberta_loses_the_two_places_before_its_first_position():
    roberta = {"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}
    bert = {"model_type": "bert", "max_position_embeddings": 512, "pad_token_id": 0}

    assert configs.longest_input(roberta) == 512 and configs.longest_input(bert) == 512


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("num_hidden_layers", 3, "num_hidden_layers as 3, but the weights have 2"),
        ("vocab_size", 10, "vocab_size as 10, but the weights have 9"),
        ("max_position_embeddings", 17, "max_position_embeddings as 17, but the weights have 16"),
        ("hidden_size", 5, "hidden_size as 5, but no tensor has that size"),
        ("intermediate_size", 7, "intermediate_size as 7, but no tensor has that size"),
        ("num_labels", 50, "num_labels as 50, but no tensor has that size"),
    ],
)
def test_a_size_that_the_weights_do_not_have_is_a_problem(tmp_path, name, value, words):
    card = spec.card(folders.make(tmp_path / "model", **{name: value}))

    assert not card.usable and words in card.problems[0]


def test_fewer_layers_than_the_weights_have_may_be_used(tmp_path):
    assert spec.card(folders.make(tmp_path / "model", num_hidden_layers=1)).usable


@pytest.mark.parametrize("name", ["num_hidden_layers", "num_labels", "hidden_size", "vocab_size"])
@pytest.mark.parametrize("pickled", [False, True])
def test_a_billion_of_anything_is_refused_before_loading(tmp_path, name, pickled):
    folder = folders.make(tmp_path / "model", **{name: 10**9})
    if pickled:
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")

    problems = spec.card(folder, allow_pickle=True).problems

    assert any(f"config.json gives {name} as 1000000000" in problem for problem in problems)


@pytest.mark.parametrize("name", configs.LIMITS)
@pytest.mark.parametrize("value", ODD, ids=lambda item: type(item).__name__)
def test_what_is_no_size_is_a_problem_that_names_it(tmp_path, name, value):
    card = spec.card(folders.make(tmp_path / "model", **{name: value}))

    assert any(
        f"config.json gives {name} as " in problem and len(problem) < 200
        for problem in card.problems
    )


@pytest.mark.parametrize("value", ODD)
def test_a_family_that_is_no_name_is_a_problem(tmp_path, value):
    card = spec.card(folders.make(tmp_path / "model", model_type=value))

    assert card.architecture in ("", "12") and not card.usable and card.gives == ()


@pytest.mark.parametrize("value", [5, "BertForMaskedLM", {}, [5], [None], True])
def test_odd_architectures_harm_nothing(tmp_path, value):
    assert spec.card(folders.make(tmp_path / "model", architectures=value)).usable


def test_labels_of_any_type_are_read_as_text(tmp_path):
    table = {"0": "NEG", "1": 5, "2": ["x"] * 1000}

    labels = spec.card(folders.make(tmp_path / "model", id2label=table)).labels

    assert labels[:2] == ("NEG", "5") and len(labels[2]) < 70
    assert not spec.card(folders.make(tmp_path / "other", id2label=[1])).usable


def test_quantized_weights_are_named(tmp_path):
    card = spec.card(folders.make(tmp_path / "model", quantization_config={"bits": 4}))

    assert "quantized" in card.problems[0]
