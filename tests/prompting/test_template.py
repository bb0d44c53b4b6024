import pytest

from workbench.prompting.base import Example, Labels, TemplateError
from workbench.prompting.built_in import built_in
from workbench.prompting.template import Template, TooLong

LABELS = Labels(("delay", "ticket machine"), {"delay": "late or cancelled"})


def fill(source, label="delay", text="Late again.", **values):
    (found,) = Template(source).fill(text=text, candidates=[label], labels=LABELS, **values)
    return found


def test_the_prompt_is_split_at_the_label():
    result = fill("{{ text }}\nAbout: {{ label }}.")

    assert (result.before, result.answer, result.after) == ("Late again.\nAbout: ", "delay", ".")
    assert result.text == "Late again.\nAbout: delay."


def test_examples_come_before_the_text():
    source = (
        "{% for example in examples %}{{ example.text }} => {{ example.label }}\n{% endfor %}"
        "{{ text }} => {{ label }}"
    )

    result = fill(
        source,
        examples=[Example("No seat.", "crowding"), Example("It ate my coin.", "ticket machine")],
    )

    assert (
        result.before == "No seat. => crowding\nIt ate my coin. => ticket machine\nLate again. => "
    )


def test_a_file_in_the_folder_of_templates_is_offered_under_its_title(tmp_path, monkeypatch):
    (tmp_path / "90-own.jinja").write_text(
        "{#- A template of one line -#}\n{{ text }}: {{ label }}"
    )
    monkeypatch.setattr("workbench.base.paths.resource", lambda name: tmp_path)

    (template,) = built_in()

    assert (template.id, template.title) == ("90-own", "A template of one line")
    assert fill(template.source).text == "Late again.: delay"


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("{{ label | upper }}", "DELAY"),
        ("{{ label.capitalize() }}", "Delay"),
        ("{% if label == 'delay' %}yes {{ label }}{% endif %}", "delay"),
        ("{% for label in labels %}{{ label }} {% endfor %}: {{ label }}", "delay"),
        ("{{ labels | join(', ') }}: {{ label }}", "delay"),
        ("is it {{ label }}? {{ label }}", "delay"),
    ],
)
def test_the_label_is_found_whatever_is_done_with_it(source, answer):
    result = fill(source)

    assert result.answer == answer
    assert result.after == "" and result.text.endswith(answer)


def test_choices_are_written_as_texts_or_as_letters():
    source = (
        "{% for one in choices %}{{ letters[loop.index0] }}. {{ one }} {% endfor %}"
        "{{ question }} {{ label }} or {{ letter }}"
    )
    choices = ("the tram", "the lift", "the tram")

    prompts = list(
        Template(source).fill(text="", labels=Labels(()), question="Which?", choices=choices)
    )

    assert [prompt.answer for prompt in prompts] == ["A", "B", "C"]
    assert prompts[2].before == "A. the tram B. the lift C. the tram Which? the tram or "


def test_examples_with_choices_write_the_right_one():
    (found, _other) = Template(
        "{% for one in examples %}{{ one.question }} {{ one.choices | join('/') }} {{ one.label }} "
        "{{ one.letter }} of {{ one.letters | join }} {% endfor %}{{ label }}"
    ).fill(
        text="",
        labels=Labels(()),
        choices=("yes", "no"),
        examples=[Example("", "2", "", "Is it?", ("yes", "no"))],
    )

    assert found.before == "Is it? yes/no no B of AB "


def test_letters_go_on_after_z_and_are_hidden_by_a_loop_over_them():
    labels = Labels(tuple(map(str, range(28))))

    source = "{% for letter in letters[:1] %}{{ letter }}{{ label }}{% endfor %} {{ letter }}"
    found = list(Template(source).fill(text="", labels=labels))

    assert [found[place].answer for place in (0, 25, 26, 27)] == ["A", "Z", "AA", "AB"]
    assert found[27].before == "A27 "


def test_text_that_looks_like_a_template_stays_text():
    assert (
        fill("{{ text }} {{ label }}", text="{{ 7 * 7 }} {% raw %}").before
        == "{{ 7 * 7 }} {% raw %} "
    )


def test_text_with_the_marking_characters_stays_whole():
    text = "a\ufdd0b\ufdd1c"

    assert fill("{{ text }} {{ label }}", text=text).before == text + " "


def test_labels_can_be_written_by_their_descriptions():
    source = (
        "{% for label in labels %}{{ descriptions[label] }}, {% endfor %}: "
        "{{ descriptions[label] }}"
    )

    assert fill(source).answer == "late or cancelled"
    assert fill(source, "ticket machine").answer == "ticket machine"  # it has no description
    assert fill(source).before == "late or cancelled, ticket machine, : "


def test_all_candidates_are_filled_by_default():
    result = Template("{{ text }} {{ label }}").fill(text="Late.", labels=LABELS)

    assert [item.text for item in result] == ["Late. delay", "Late. ticket machine"]


@pytest.mark.parametrize(
    ("source", "says", "line"),
    [
        ("line\n{{ label", "Line 2", 2),
        ("{{ text }}", "never writes the label", None),
        ("\n{{ texxt }} {{ label }}", "Line 2 of the template: 'texxt' is undefined", 2),
        ("{{ label.__class__.__mro__ }}", "unsafe", 1),
        ("{{ text.join.__self__ }}{{ label }}", "unsafe", 1),
        ("{{ 'x' * 1000000000 }}{{ label }}", "1,000,000,000 is too large", 1),
        ("{{ 'x' * 10000000000000000000 }}{{ label }}", "template: 1e19 is too large", 1),
        ("{{ 9 ** 9999 * 2 }}{{ label }}", "template: 1e9541 is too large", 1),  # log10(9) * 9999
        ("\n\n{{ 9 ** 999999 }}{{ label }}", "Line 3 of the template: 999,999 is too large", 3),
        ("{% include 'x' %}{{ label }}", "template", 1),
        ("{{ '%99999999d' % 1 }}{{ label }}", "%", 1),
        ("{{ 'x'.ljust(99999999) }}{{ label }}", "unsafe", 1),
        ("{{ label }}\n{% if text %}\n{{ 1 / 0 }}{% endif %}", "Line 3", 3),
        ("{{ label[:0] }}", "empty", None),
        ("{% macro f() %}\n{{ f() }}{% endmacro %}{{ f() }}{{ label }}", "recurses infinitely", 2),
        ("{% for i in text %}" * 30 + "{% endfor %}" * 30, "nested too deeply", None),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}{{ label }}", "nested too deeply", None),
        ("{{ " + "9" * 5000 + " }}{{ label }}", "4300 digits", None),
        ("{{ text|foo }}{{ label }}", "foo", 1),
    ],
)
def test_what_cannot_work_is_reported_with_its_reason_and_line(source, says, line):
    with pytest.raises(TemplateError) as caught:
        fill(source)

    assert says in str(caught.value) and caught.value.line == line


def test_a_prompt_of_more_than_a_million_characters_is_not_made():
    with pytest.raises(TooLong):
        fill("{% for i in range(900000) %}two words, {% endfor %}{{ label }}")


@pytest.mark.parametrize("template", built_in(), ids=lambda template: template.id)
def test_every_template_that_ships_works_and_has_a_title(template):
    (found,) = Template(template.source).fill(
        text="TEXT",
        text_b="OTHER",
        candidates=["ticket machine"],
        labels=LABELS,
        examples=[Example("EXAMPLE", "delay", "SECOND")],
    )

    assert template.title and template.title not in found.text
    assert found.answer in ("ticket machine", "B") and "TEXT" in found.before
