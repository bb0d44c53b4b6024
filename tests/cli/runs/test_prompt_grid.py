"""`prompts grid`: a table with costs and a verdict, as text and JSON, and going on with it."""

import pytest

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
    assert code == 2 and "--template and --model are needed" in err
    code, _out, err = call("prompts", "grid", sample, "--resume")
    assert code == 1 and "No grid was started" in err


def test_a_cell_that_cannot_run_is_named(call, copy_sample, template, tiny_model, tmp_path):
    sample = copy_sample(tmp_path)
    options = ("--template", template, "--model", "starter-bert", "--answer", "first")

    code, out, err = call("prompts", "grid", sample, *options, "--shots", "0")

    assert code == 0 and "the model cannot write replies" in out + err
