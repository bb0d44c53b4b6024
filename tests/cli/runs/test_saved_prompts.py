"""`prompts` for the prompts of a project, and `prompt --prompt`."""

from dataclasses import replace

import pytest

from workbench.operations.prompts import prompt_versions
from workbench.project.project import Project
from workbench.prompting.spec import PromptSpec

SPEC = PromptSpec("{{ text }}\nTopic: {{ label }}", "/m", "starter-bert", "class", shots=2)


@pytest.fixture
def saved(copy_sample, tmp_path):
    """The sample with `topics` in two versions."""
    path = copy_sample(tmp_path)
    project = Project.open(path)
    prompt_versions.save(project, "topics", SPEC)
    after = replace(SPEC, shots=0, template=SPEC.template + "!", calibration="none")
    prompt_versions.save(project, "topics", after)
    project.close()
    return path


def test_prompts_are_listed_and_shown(ask, call, saved):
    (row,) = ask("prompts-list", "prompts", "list", saved)
    assert (row["name"], row["version"], row["shots"], row["score"]) == ("topics", 2, 0, None)
    assert len(ask("prompts-list", "prompts", "list", saved, "--versions")) == 2

    shown = ask("prompts-show", "prompts", "show", saved, "topics@1")
    assert (shown["version"], shown["template"]) == (1, SPEC.template)
    assert {"key": "shots", "title": "Examples", "value": "2"} in shown["settings"]
    assert "/m" not in str(shown)
    code, out, _err = call("prompts", "show", saved, "topics")
    assert code == 0 and out.startswith("topics@2\n") and out.endswith(SPEC.template + "!\n")
    code, _out, err = call("prompts", "show", saved, "topics@7")
    assert code == 1 and "has no version 7" in err


def test_the_difference_is_that_of_the_latest_version_or_of_two_named_ones(ask, call, saved):
    result = ask("prompts-diff", "prompts", "diff", saved, "topics")
    assert (result["before"], result["after"]) == ("topics@1", "topics@2")
    assert [(it["before"], it["after"]) for it in result["settings"][:1]] == [("2", "0")]
    assert ask("prompts-diff", "prompts", "diff", saved, "topics@1") == result
    turned = ask("prompts-diff", "prompts", "diff", saved, "topics@2", "topics@1")
    assert turned["settings"][0]["after"] == "2"

    _code, out, _err = call("prompts", "diff", saved, "topics")
    assert "Examples: 2 → 0" in out
    assert "  {{ text }}\n- Topic: {{ label }}\n+ Topic: {{ label }}!" in out
    assert "equal" in call("prompts", "diff", saved, "topics@2", "topics@2")[1]


def test_prompts_are_renamed_copied_restored_and_deleted(ask, call, saved):
    assert ask("prompts-rename", "prompts", "rename", saved, "topics", "themes")["name"] == "themes"
    copy = ask("prompts-duplicate", "prompts", "duplicate", saved, "themes@1")
    assert copy == {"name": "themes copy", "version": 1}
    restored = ask("prompts-restore", "prompts", "restore", saved, "themes@1")
    assert restored == {"name": "themes", "version": 3}
    ask("prompts-delete", "prompts", "delete", saved, "themes")
    assert [row["name"] for row in ask("prompts-list", "prompts", "list", saved)] == ["themes copy"]
    code, _out, err = call("prompts", "delete", saved, "themes")
    assert code == 1 and "Known: themes copy." in err


@pytest.mark.slow
def test_a_saved_prompt_is_run_and_its_settings_can_be_replaced(ask, call, saved):
    pytest.importorskip("torch")
    sample = ("--split", "test")
    first = ask("prompt", "prompt", saved, "--prompt", "topics", *sample)
    assert (first["saved"], first["shots"], first["calibration"]) == ("topics@2", 0, "none")

    other = ask("prompt", "prompt", saved, "--prompt", "topics@1", "--shots", "0", *sample)
    assert (other["saved"], other["shots"], other["calibration"]) == ("topics", 0, "content-free")

    more = ("--prompt", "topics", "--instruction", "Read.", "--save-as", "topics")
    assert ask("prompt", "prompt", saved, *more, *sample)["saved"] == "topics@3"
    code, _out, err = call("prompt", saved, "--shots", "0")
    assert code == 2 and "or --prompt, are needed" in err


@pytest.mark.process
@pytest.mark.usefixtures("jobs_in_process")
def test_the_orders_of_a_saved_prompt_are_kept(ask, saved, tiny_model):
    sample = ("--split", "test", "--sample", "2")
    shuffled = ("--shots", "2", "--arrangement", "shuffled", "--orders", "3", "--save-as", "mixed")
    model = ("--model", tiny_model)
    ask("prompt", "prompt", saved, "--prompt", "topics", *model, *shuffled, *sample)

    again = ask("prompt", "prompt", saved, "--prompt", "mixed", *model, *sample)

    assert again["saved"] == "mixed@1" and len(again["orders"]) == 3
