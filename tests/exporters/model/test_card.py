"""The model card of an export, as model hubs read it."""

import pytest

pytest.importorskip("huggingface_hub")

from huggingface_hub import ModelCard  # noqa: E402

from workbench.exporters.model import card  # noqa: E402
from workbench.exporters.model.hf.info import INFO  # noqa: E402

FACTS = {
    "run": "first",
    "layer": "class",
    "base_model": "starter-bert",
    "base_licence": "apache-2.0",
    "scores": {
        "dev": {"accuracy": 0.65, "macro_f1": 2 / 3},
        "test": {"accuracy": 0.6, "macro_f1": 0.5},
    },
}
DESCRIPTION = {"task": "classify", "labels": ["a", "b"], "max_length": 32}


def loaded(facts, folder, description=DESCRIPTION, library="transformers"):
    path = folder / "README.md"
    path.write_text(card.readme(facts, description, info=INFO, library=library), encoding="utf-8")
    return ModelCard.load(path)


def test_model_hubs_find_the_base_the_licence_and_the_metrics(tmp_path):
    data = loaded(FACTS, tmp_path).data

    assert (data.base_model, data.license, data.model_name) == (
        "starter-bert",
        "apache-2.0",
        "first",
    )
    assert (data.library_name, data.pipeline_tag) == ("transformers", "text-classification")
    assert data.tags == ["glossbench"] and data.metrics == ["accuracy", "f1"]


def test_each_score_of_each_split_is_a_result(tmp_path):
    results = loaded(FACTS, tmp_path).data.eval_results

    assert [
        (result.dataset_split, result.metric_type, result.metric_value) for result in results
    ] == [
        ("dev", "accuracy", 0.65),
        ("dev", "f1", 0.666667),
        ("test", "accuracy", 0.6),
        ("test", "f1", 0.5),
    ]
    assert {(result.task_type, result.dataset_type, result.dataset_name) for result in results} == {
        ("text-classification", "private", "class")
    }


@pytest.mark.parametrize(
    "name", ['a: "b" # c', "yes", "1.0", "- x\n---\n", "Größe 日本 🚋", "|", "~"]
)
def test_names_that_yaml_would_read_otherwise_stay_as_they_are(name, tmp_path):
    data = loaded({**FACTS, "run": name, "layer": name, "base_model": name}, tmp_path).data

    assert data.base_model == data.model_name == name
    assert data.eval_results[0].dataset_name == name


def test_a_model_of_a_plugin_names_the_plugin_that_loading_it_needs():
    options = {"segmenter": "chinese.longest"}
    description = {**DESCRIPTION, "family": "tiny.characters", "options": options}

    text = card.readme(FACTS, description, info=INFO)

    assert "Needs the plugin `tiny` of Glossbench (model family `tiny.characters`)." in text
    assert "the plugin `chinese` of Glossbench (word segmenter `chinese.longest`)." in text
    assert "plugin" not in card.readme(FACTS, DESCRIPTION, info=INFO)


def test_a_temperature_and_thresholds_in_use_are_named(tmp_path):
    decoder = {"temperature": 1.25, "thresholds": [0.5, 0.125]}

    content = loaded(FACTS, tmp_path, {**DESCRIPTION, "decoder": decoder}).content

    assert "Temperature: 1.25, fitted on dev." in content
    assert "from this probability on: `a` 0.5, `b` 0.125." in content
    plain = loaded(FACTS, tmp_path, {**DESCRIPTION, "decoder": {"temperature": 1.0}}).content
    assert "Temperature" not in plain and "probability" not in plain


@pytest.mark.parametrize(
    ("task", "expected"), [("spans", "token-classification"), ("regress", "text-classification")]
)
def test_every_task_has_a_type_that_model_hubs_know(task, expected, tmp_path):
    assert loaded(FACTS, tmp_path, {**DESCRIPTION, "task": task}).data.pipeline_tag == expected


def test_a_run_without_scores_has_no_results(tmp_path):
    result = loaded({"run": "first"}, tmp_path, {**DESCRIPTION, "own_head": True}, "glossbench")

    assert result.data.to_dict() == {
        "library_name": "glossbench",
        "license": "other",
        "pipeline_tag": "text-classification",
        "tags": ["glossbench"],
    }
    assert "# first" in result.text and "Labels: `a`, `b`." in result.text


def test_errors_are_given_in_their_own_unit_and_not_in_percent(tmp_path):
    facts = {"run": "first", "scores": {"dev": {"pearson": 0.5, "mae": 1.1}}}
    numbers = {"task": "regress", "labels": [], "max_length": 32}

    text = loaded(facts, tmp_path, numbers).text

    assert "| % (not mae) |" in text.replace("  ", " ")
    assert "50.0" in text and "1.100" in text and "110" not in text
