"""The templates that ship with the application: each renders, in its form, for its layers."""

from dataclasses import replace

import pytest

from workbench.prompting import built_in as module
from workbench.prompting.answers import forms
from workbench.prompting.answers.target import CLASS, LABELS, NUMBER, OUTPUTS, SPANS, Target
from workbench.prompting.base import Example, Labels, Request
from workbench.prompting.built_in import BuiltIn, built_in
from workbench.prompting.spec import SCORED, AnswerSpec, PromptSpec
from workbench.prompting.template import Template
from workbench.runtime.chat_template import ChatTemplate
from workbench.runtime.conversation import Conversation
from workbench.text.document import CHOICES
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

LABEL_NAMES = ("delay", "ticket")
GOLD = {
    CLASS: "ticket",
    LABELS: ("delay", "ticket"),
    NUMBER: 2.5,
    SPANS: (Span(0, 3, "delay"), Span(8, 11, "ticket")),
}
TEXT = "Ada met Bob."


def example(template):
    """A labelled document as the form writes it."""
    if 0 in template.texts:
        return Example("EXAMPLE", "2", "", "Which?", ("tram", "bus"))
    target = Target(template.output, LABEL_NAMES, text=TEXT)
    gold = GOLD.get(template.output, (0, 3))
    answer = forms.written(AnswerSpec(template.form), target, gold)
    label = gold if template.output == CLASS else answer
    return Example(TEXT, label, "SECOND", "Who?", answer=answer)


def fill(template, *, chat=None, **more):
    labels = Labels(LABEL_NAMES, {"delay": "late or cancelled"})
    choices = ("train", "plane") if 0 in template.texts else ()
    scored = labels.of(choices)[1:] if template.form == SCORED else ()
    request = Request("TEXT", "OTHER", (example(template),), scored, "What?", choices)
    (prompt,) = Template(template.source).fill(request, labels, chat=chat, **more)
    return prompt


@pytest.mark.parametrize("template", built_in(), ids=lambda template: template.id)
def test_every_template_renders_with_its_examples_and_ends_where_the_answer_begins(template):
    prompt = fill(template)

    assert template.title and template.title not in prompt.text and "#}" not in prompt.text
    assert "TEXT" in prompt.before
    form = forms.get(template.form)
    assert form.fits(template.output, choices=template.texts == (CHOICES,))
    if form.generated:
        assert prompt.answer == "" and not prompt.text.endswith(" ")
        if template.shots:
            assert example(template).answer in prompt.text
    else:
        assert prompt.answer in ("ticket", "plane", "B")


@pytest.mark.parametrize("template", built_in(), ids=lambda template: template.id)
def test_the_instruction_replaces_that_of_the_template(template):
    if "instruction" in template.source:
        assert fill(template, instruction="Do as I say.").text.count("Do as I say.") == 1


def test_there_is_a_template_for_each_kind_of_answer():
    assert {template.output for template in built_in()} == {*OUTPUTS}
    written = {template.form for template in built_in()}
    assert written >= {"first", "several", "number", "quotes", "json", "tags", "answer", "reason"}


def test_a_conversation_has_a_turn_for_each_example():
    (template,) = (template for template in built_in() if template.chat)

    prompt = fill(template, chat=Conversation(ChatTemplate()))

    assert [role for role, _content in prompt.messages] == ["system", "user", "assistant", "user"]
    assert prompt.messages[1:] == (("user", TEXT), ("assistant", "ticket"), ("user", "TEXT"))


def offered(output, *names, texts=1):
    layer = Layer("x", "class", tuple(map(Label, names)), texts)
    return [template.id for template in built_in() if template.fits(layer, output)]


def test_templates_are_offered_for_the_layers_that_they_fit():
    assert offered(CLASS, "a", "b")[:2] == ["10-few-shot", "20-cloze"]
    assert "36-sarcasm" not in offered(CLASS, "a", "b")
    assert "36-sarcasm" in offered(CLASS, "not_sarcastic", "sarcastic")
    assert offered(CLASS, "a", texts=2) == ["40-pair"]
    assert offered(CLASS, texts=CHOICES) == ["60-choices", "70-letters"]
    assert offered(NUMBER, texts=2) == offered(NUMBER) == ["82-number"]
    assert offered(SPANS, "PER") == ["84-quotes", "86-json", "88-tags"]


def test_the_two_shot_prompt_names_both_labels_in_capitals():
    (template,) = (template for template in built_in() if template.id == "36-sarcasm")
    labels = Labels(("sarcastic", "not_sarcastic"), words=template.words)
    examples = (Example("Great.", "sarcastic"), Example("It rains.", "not_sarcastic"))
    request = Request("I love Mondays.", examples=examples, labels=labels.of(()))

    first, second = Template(template.source).fill(request, labels)

    assert first.before == (
        "Decide whether each message is SARCASTIC or NOT SARCASTIC.\n\n"
        "Message: Great.\nAnswer: SARCASTIC\n\n"
        "Message: It rains.\nAnswer: NOT SARCASTIC\n\n"
        "Message: I love Mondays.\nAnswer: "
    )
    assert (first.answer, second.answer) == ("SARCASTIC", "NOT SARCASTIC")


def test_beginning_with_a_template_keeps_what_it_does_not_name():
    current = PromptSpec("old", "/model", shots=9, seed=4, answer=AnswerSpec("regex", "x"))
    template = BuiltIn("x", "X", "new", CLASS, shots=0)

    spec = replace(current, **template.settings(current))

    assert (spec.template, spec.shots, spec.seed, spec.answer) == ("new", 0, 4, AnswerSpec())
    kept = replace(template, form="regex", shots=None).settings(current)
    assert (kept["shots"], kept["answer"]) == (9, AnswerSpec("regex", "x"))


def test_a_file_in_the_folder_of_templates_is_offered_under_its_title(tmp_path, monkeypatch):
    (tmp_path / "95-own.jinja").write_text(
        '{#-\ntitle = "One line"\nanswers = "labels"\n-#}\n{{ text }}: {{ answer }}'
    )
    monkeypatch.setattr("workbench.base.paths.resource", lambda name: tmp_path)
    module.built_in.cache_clear()

    (template,) = built_in()

    module.built_in.cache_clear()
    assert (template.id, template.title, template.output) == ("95-own", "One line", LABELS)
    assert template.source == "{{ text }}: {{ answer }}"
