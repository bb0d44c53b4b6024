"""A prompt is saved with all its settings, in versions that can be compared and restored."""

from dataclasses import replace

import pytest

from workbench.base.errors import SpecError
from workbench.operations.prompts import prompt_versions
from workbench.prompting.spec import AnswerSpec, Decoding, PromptSpec
from workbench.storage.runs import prompts, runs

SPEC = PromptSpec(
    "{{ text }}\nTopic: {{ label }}",
    "/models/starter-bert",
    "starter-bert",
    "topic",
    shots=4,
    words={"praise": ("good", "fine")},
    answer=AnswerSpec("first", pattern="x"),
    decoding=Decoding(stop=("\n",)),
)


@pytest.fixture
def two(project):
    """Prompt `topics` in two versions."""
    first = prompt_versions.save(project, "topics", SPEC)
    return first, prompt_versions.save(project, "topics", replace(SPEC, shots=8))


def test_a_version_holds_all_settings_but_not_what_belongs_to_a_run(project):
    spec = replace(SPEC, name="run 1", device="cuda", allow_pickle=True)

    saved = prompt_versions.save(project, " topics ", spec)

    assert (saved.prompt_name, saved.prompt_version) == ("topics", 1)
    prompt, version = prompt_versions.version_named(project, "topics")
    own = prompt_versions.spec_of(prompt, version)
    assert own == replace(
        SPEC, model="", allow_pickle=False, prompt_name="topics", prompt_version=1
    )
    assert "/models" not in str(version.spec)
    here = prompt_versions.spec_of(prompt, version, replace(spec, shots=0))
    assert (here.model, here.shots, here.device) == (SPEC.model, 4, "cuda")


def test_a_version_names_the_server_of_its_model(project):
    server = replace(SPEC, backend="server", model="http://127.0.0.1:1#m", model_name="m")
    saved = prompt_versions.save(project, "topics", server)

    (prompt,) = prompt_versions.every(project)
    spec = prompt_versions.spec_of(prompt, prompt.versions[0], SPEC)
    assert spec == saved and spec.model == server.model
    other = replace(server, model="http://127.0.0.1:2#m")
    assert prompt_versions.identity(other) != prompt_versions.identity(server)


def test_equal_settings_make_no_further_version(project, two):
    again = prompt_versions.save(project, "topics", replace(SPEC, shots=8, device="cpu"))

    assert again.prompt_version == two[1].prompt_version == 2
    assert len(prompt_versions.named(project, "topics").versions) == 2


def test_versions_are_found_by_their_number(project, two):
    prompt_versions.save(project, "a@1", SPEC)

    def found(name):
        prompt, version = prompt_versions.version_named(project, name)
        return prompt.name, version.number, prompt_versions.spec_of(prompt, version).shots

    assert found("topics") == found("topics@2") == ("topics", 2, 8)
    assert found("topics@1") == ("topics", 1, 4)
    assert found("a@1") == ("a@1", 1, 4)
    with pytest.raises(SpecError, match="no version 3"):
        found("topics@3")
    with pytest.raises(SpecError, match="no prompt 'x@y'"):
        found("x@y")


def test_a_template_of_an_earlier_version_of_the_application_keeps_the_other_settings(project):
    with project.edit("as before"):
        stored = prompts.add(project.db, "old", "{{ text }}: {{ label }}")

    spec = prompt_versions.spec_of(stored, stored.versions[0], replace(SPEC, shots=3))

    assert (spec.template, spec.shots, spec.model) == ("{{ text }}: {{ label }}", 3, SPEC.model)
    assert prompt_versions.spec_of(stored, stored.versions[0]).template == spec.template


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda p: prompt_versions.rename(p, "topics", "themes"), {"themes": 2}),
        (lambda p: prompt_versions.duplicate(p, "topics"), {"topics": 2, "topics copy": 1}),
        (lambda p: prompt_versions.duplicate(p, "topics@1", "b"), {"topics": 2, "b": 1}),
        (lambda p: prompt_versions.delete(p, "topics"), {}),
        (lambda p: prompt_versions.restore(p, "topics", 1), {"topics": 3}),
        (lambda p: prompt_versions.save(p, "topics", replace(SPEC, shots=1)), {"topics": 3}),
        (lambda p: prompt_versions.save(p, "new", SPEC), {"topics": 2, "new": 1}),
    ],
)
def test_each_change_is_one_undo_step(project, two, change, expected):
    before = prompt_versions.every(project)

    change(project)

    assert {each.name: len(each.versions) for each in prompt_versions.every(project)} == expected
    project.undo()
    assert prompt_versions.every(project) == before


def test_a_restored_version_is_the_latest_one(project, two):
    prompt_versions.restore(project, "topics", 1)

    prompt, version = prompt_versions.version_named(project, "topics")
    assert (version.number, version.parent_id) == (3, prompt.versions[1].id)
    assert prompt_versions.spec_of(prompt, version).shots == 4


def test_names_are_unique_and_not_empty(project, two):
    prompt_versions.duplicate(project, "topics")
    prompt_versions.duplicate(project, "topics")
    assert [each.name for each in prompt_versions.every(project)] == [
        "topics",
        "topics copy",
        "topics copy 2",
    ]
    for change in (
        lambda: prompt_versions.rename(project, "topics", "topics copy"),
        lambda: prompt_versions.duplicate(project, "topics", "topics copy"),
        lambda: prompt_versions.rename(project, "topics", "  "),
        lambda: prompt_versions.save(project, "", SPEC),
        lambda: prompt_versions.delete(project, "themes"),
    ):
        with pytest.raises(SpecError):
            change()


def test_the_difference_of_two_versions_is_readable():
    after = replace(
        SPEC,
        template="Read.\n{{ text }}\nTopic: {{ answer }}",
        shots=8,
        words={"praise": ("good",), "blame": ("bad",)},
        decoding=Decoding(max_tokens=8),
    )

    result = prompt_versions.difference(SPEC, after)

    assert [(line.kind, line.text) for line in result.template] == [
        ("added", "Read."),
        ("same", "{{ text }}"),
        ("removed", "Topic: {{ label }}"),
        ("added", "Topic: {{ answer }}"),
    ]
    assert [change.text for change in result.settings] == [
        "Examples: 4 → 8",
        "Tokens of a reply: 64 → 8",
        "Stop words: '\\n' → –",
        "Words of praise: good, fine → good",
        "Words of blame: – → bad",
    ]
    assert not prompt_versions.difference(SPEC, replace(SPEC, device="cpu", prompt_version=3))


def test_an_end_of_line_is_a_difference():
    result = prompt_versions.difference(SPEC, replace(SPEC, template=SPEC.template + "\n"))

    assert [line.kind for line in result.template] == ["same", "same", "added"]


def test_settings_without_effect_are_left_out():
    rows = {row.key: row.value for row in prompt_versions.settings(SPEC)}

    assert rows["answer.form"] == "First label named in the reply"
    assert {"calibration", "answer.pattern", "diversity", "decoding.top_k", "chat"}.isdisjoint(rows)
    plain = PromptSpec("x", "/m", shots=0)
    assert [row.key for row in prompt_versions.settings(plain)] == [
        "model",
        "shots",
        "answer.form",
        "calibration",
    ]


def test_a_version_knows_its_latest_run_whatever_its_name_is_now(project, two):
    with project.write():
        for number, spec in enumerate((*two, two[1]), 1):
            scores = {"dev": {"macro_f1": number / 10}}
            own = replace(spec, name=f"run {number}", device="cpu", layer="")
            runs.add(project.db, f"run {number}", "prompt", spec=own.to_json(), scores=scores)
        runs.add(project.db, "damaged", "prompt", spec={"shots": "?"}, scores={"dev": {"x": 1}})
    prompt_versions.rename(project, "topics", "themes")

    latest = prompt_versions.runs_of(project)

    names = [latest[prompt_versions.identity(replace(spec, layer=""))].name for spec in two]
    assert names == ["run 1", "run 3"]
