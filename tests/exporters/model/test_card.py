"""The model card of an export, as model hubs read it."""

import re
import subprocess
import sys

import pytest

pytest.importorskip("huggingface_hub")

from huggingface_hub import ModelCard  # noqa: E402

from workbench.exporters.model import card  # noqa: E402
from workbench.exporters.model.hf.info import INFO  # noqa: E402
from workbench.exporters.model.run import export  # noqa: E402
from workbench.exporters.model.spec import exporter_info, trained_formats  # noqa: E402

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


def loaded(facts, folder, description=DESCRIPTION):
    path = folder / "README.md"
    path.write_text(card.readme(facts, description, info=INFO), encoding="utf-8")
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
    result = loaded({"run": "first"}, tmp_path, {**DESCRIPTION, "own_head": True})

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


def test_slices_below_the_whole_are_listed_with_their_intervals(tmp_path):
    row = {"name": "label: a", "n": 12, "value": 0.25, "low": 0.1, "high": 0.5, "is_low": True}
    more = {**row, "name": "more than 9 words", "low": None, "high": None, "is_low": False}
    table = {"split": "dev", "score": "accuracy", "value": 0.65, "n": 60, "rows": [row, more]}

    text = loaded({**FACTS, "slices": table}, tmp_path).text

    assert "| label: a \\* | 12 | 25.0 (10.0 – 50.0) |" in text
    assert "| more than 9 words | 12 | 25.0 |" in text
    assert "accuracy of all 60 documents is 65.0" in text


def test_scores_are_defined_with_their_rule_for_zero_division(tmp_path):
    text = loaded(FACTS, tmp_path).text

    assert "- macro_f1: " in text and "Zero division" in text


def test_licences_are_those_of_the_base_model_and_of_files_in_the_folder(tmp_path):
    (tmp_path / "LICENCES.txt").write_text("…")

    text = card.readme(FACTS, DESCRIPTION, info=INFO, folder=tmp_path)

    assert "starter-bert: apache-2.0." in text and "[LICENCES.txt](LICENCES.txt)" in text


def test_a_run_that_started_from_another_one_lists_the_models_before_it(tmp_path):
    facts = {**FACTS, "base_model": "snli", "chain": ["starter-bert", "snli"]}

    assert "Made with Glossbench from starter-bert → snli." in card.readme(
        facts, DESCRIPTION, info=INFO, folder=tmp_path
    )
    assert "Made with Glossbench from starter-bert." in card.readme(
        FACTS, DESCRIPTION, info=INFO, folder=tmp_path
    )


# ---------------------------------------------------------------- the code of the cards

TASKS = ("classify", "tag", "pairs", "answer")
BASE = "path/of/the/base/model"


def trained(task, tiny_run, folder):
    """The model folder of a run for a task, with a head that transformers can load."""
    if task != "answer":
        return tiny_run(task)
    from workbench.models import folder as folders
    from workbench.models import spec
    from workbench.models.base import LoadOptions
    from workbench.tasks import model as networks

    folder.mkdir()
    base = spec.read_folder(tiny_run("classify", ("start", "end")))
    setting = networks.Setting(networks.task_of(task), (), {})
    networks.save(networks.build(base, setting, LoadOptions()), folder)
    folders.describe(folder, {"task": task, "labels": [], "max_length": 32, "layer": "answers"})
    return folder


def run_code(out, format, base=""):
    """The result of the code in the card of a format, in a process of its own."""
    text = (out / format / "README.md").read_text(encoding="utf-8")
    code = re.search(r"## Use\n.*?```python\n(.*?)```", text, re.DOTALL).group(1)
    code = code.replace(str(card.PLACE), str(out / format)).replace(BASE, base)
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=out.parent
    )


def exported(model, folder, formats):
    params = {"model": str(model), "out": str(folder / "out"), "formats": list(formats)}
    for _event in export({**params, "texts": "", "facts": FACTS}, folder):
        pass
    return folder / "out"


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_code_of_every_card_runs_as_it_is(task, tiny_run, tmp_path):
    model = trained(task, tiny_run, tmp_path / "model")
    formats = [info.id for info in trained_formats() if info.suits(model) and not info.unfit(model)]

    out = exported(model, tmp_path, formats)

    python = [format for format in formats if exporter_info(format).language == "python"]
    done = {format: run_code(out, format) for format in python}
    assert {"hf", "onnx"} <= set(done)
    assert not {format: item.stderr for format, item in done.items() if item.returncode}
    assert all(item.stdout.strip() for item in done.values())


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classify", "tag"])
def test_the_code_of_adapters_runs_with_their_base_model(
    task, lora_run, bottleneck_run, tiny_run, tmp_path
):
    base = str(tiny_run(task, layers=1))
    for format, model in (
        ("adapter", lora_run(task)),
        ("bottleneck_adapters", bottleneck_run(task)),
    ):
        (tmp_path / format).mkdir()

        out = exported(model, tmp_path / format, (format,))

        done = run_code(out, format, base)
        assert done.returncode == 0, done.stderr
