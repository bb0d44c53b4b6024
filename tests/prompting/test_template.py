import pytest

from workbench.base.errors import SpecError
from workbench.prompting.template import Example, Template, built_in

LABELS = ["delay", "ticket machine"]


def fill(source, label="delay", text="Late again.", **values):
    return Template(source).fill(text=text, label=label, labels=LABELS, **values)


def test_the_prompt_is_split_at_the_label():
    found = fill("{{ text }}\nAbout: {{ label }}.")

    assert (found.before, found.answer, found.after) == ("Late again.\nAbout: ", "delay", ".")
    assert found.text == "Late again.\nAbout: delay."


def test_examples_come_before_the_text():
    source = "{% for example in examples %}{{ example.text }} => {{ example.label }}\n{% endfor %}{{ text }} => {{ label }}"

    found = fill(
        source,
        examples=[Example("No seat.", "crowding"), Example("It ate my coin.", "ticket machine")],
    )

    assert (
        found.before == "No seat. => crowding\nIt ate my coin. => ticket machine\nLate again. => "
    )


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
    found = fill(source)

    assert found.answer == answer
    assert found.after == "" and found.text.endswith(answer)


def test_text_that_looks_like_a_template_stays_text():
    assert (
        fill("{{ text }} {{ label }}", text="{{ 7 * 7 }} {% raw %}").before
        == "{{ 7 * 7 }} {% raw %} "
    )


def test_text_with_the_marking_characters_stays_whole():
    text = "a\ufdd0b\ufdd1c"

    assert fill("{{ text }} {{ label }}", text=text).before == text + " "


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("line\n{{ label", "Line 2"),
        ("{{ text }}", "never writes the label"),
        ("{{ texxt }} {{ label }}", "'texxt' is undefined"),
        ("{{ label.__class__.__mro__ }}", "unsafe"),
        ("{{ text.join.__self__ }}{{ label }}", "unsafe"),
        ("{{ 'x' * 1000000000 }}{{ label }}", "too large"),
        ("{{ 9 ** 999999 }}{{ label }}", "too large"),
        (
            "{% for i in range(9000000) %}{% for j in range(9000000) %}{% endfor %}{% endfor %}{{ label }}",
            "without end",
        ),
        ("{% for i in range(9000000) %}wordswordswords{% endfor %}{{ label }}", "without end"),
        ("{% include 'x' %}{{ label }}", "template"),
        ("{{ '%99999999d' % 1 }}{{ label }}", "%"),
        ("{{ 'x'.ljust(99999999) }}{{ label }}", "unsafe"),
        ("{{ 1 / 0 }}{{ label }}", "zero"),
        ("{{ label[:0] }}", "empty"),
    ],
)
def test_what_cannot_work_is_told_with_its_reason(source, says):
    with pytest.raises(SpecError) as caught:
        fill(source)

    assert says in str(caught.value)


@pytest.mark.parametrize("one", built_in(), ids=lambda one: one.id)
def test_every_template_that_ships_works_and_has_a_title(one):
    found = Template(one.source).fill(
        text="TEXT",
        text_b="OTHER",
        label="delay",
        labels=LABELS,
        examples=[Example("EXAMPLE", "ticket machine", "SECOND")],
    )

    assert one.title and one.title not in found.text
    assert found.answer == "delay" and "TEXT" in found.before
