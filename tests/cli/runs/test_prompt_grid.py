"""`prompts grid`: a table with costs and a verdict, as text and JSON, and going on with it."""

from contextlib import closing
from dataclasses import replace

import pytest

from workbench.operations.prompts import prompt_versions
from workbench.project.project import Project
from workbench.prompting.spec import PromptSpec
from workbench.storage.runs import runs

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("jobs_in_process")]


@pytest.fixture
def template(tmp_path):
    path = tmp_path / "topic.jinja"
    path.write_text(
        "{% for example in examples %}{{ example.text }} Topic: {{ example.label }}\n{% endfor %}"
        "{{ text }} Topic: {{ label }}"
    )
    return path


def test_a_grid_is_run_reported_and_continued(
    call, ask, copy_sample, template, tiny_model, tmp_path
):
    sample = copy_sample(tmp_path)
    options = ("--template", template, "--model", tiny_model, "--shots", "0,2", "--seeds", "1,2")
    plan = ask("prompts-grid", "prompts", "grid", sample, *options, "--sample", "10", "--plan")
    assert [row["status"] for row in plan["rows"]] == ["waiting", "waiting"]

    report = ask("prompts-grid", "prompts", "grid", sample, *options, "--sample", "10")

    none, two = report["rows"]
    assert (none["prompt"], none["examples"], none["seeds"]) == ("topic", None, 1)
    assert (two["examples"], two["seeds"], two["n"]) == ("random", 2, 10)
    assert report["verdict"]["n"] == 10 and "is best now" in report["verdict"]["sentence"]
    code, out, _err = call("prompts", "grid", sample, "--resume")
    assert code == 0 and out.rstrip().endswith(report["verdict"]["sentence"])
    assert "Price / 1,000" in out


def test_a_grid_needs_a_prompt_a_model_or_an_earlier_one(call, copy_sample, tmp_path):
    sample = copy_sample(tmp_path)

    code, _out, err = call("prompts", "grid", sample)
    assert code == 2 and "--model and --template, or --prompt, are needed" in err
    code, _out, err = call("prompts", "grid", sample, "--resume")
    assert code == 1 and "No grid was started" in err


def test_prompts_of_the_project_are_asked_with_their_own_settings(
    ask, copy_sample, template, tmp_path
):
    sample = copy_sample(tmp_path)
    spec = PromptSpec(template.read_text(), "", model_name="starter-gpt", layer="class")
    with closing(Project.open(sample)) as project:
        for text in ("first", "second"):
            prompt_versions.save(project, "mine", replace(spec, instruction=text))

    options = ("--prompt", "mine@1", "--prompt", "mine", "--shots", "0", "--plan")
    report = ask("prompts-grid", "prompts", "grid", sample, *options)

    assert [(row["prompt"], row["model"], row["status"]) for row in report["rows"]] == [
        ("mine@1", "starter-gpt", "waiting"),
        ("mine@2", "starter-gpt", "waiting"),
    ]


def test_a_cell_that_cannot_run_is_named(call, copy_sample, template, tiny_model, tmp_path):
    sample = copy_sample(tmp_path)
    options = ("--template", template, "--model", "starter-bert", "--form", "first")

    code, out, err = call("prompts", "grid", sample, *options, "--shots", "0")

    assert code == 0 and "the model cannot write replies" in out + err


def test_options_of_examples_are_those_of_a_single_prompt(
    ask, copy_sample, template, tiny_model, tmp_path
):
    sample = copy_sample(tmp_path)
    options = ("--template", template, "--model", tiny_model, "--shots", "2", "--seeds", "1")
    more = ("--every-label", "--arrangement", "shuffled", "--orders", "2", "--diversity", "0.2")

    ask("prompts-grid", "prompts", "grid", sample, *options, *more, "--sample", "4")

    with closing(Project.open(sample)) as project:
        (run,) = runs.all(project.db)
    spec = PromptSpec.from_json(run.spec)
    assert (spec.every_label, spec.arrangement, spec.orders) == (True, "shuffled", 2)
    assert (spec.diversity, spec.shots, spec.order) == (0.2, 2, "random")
