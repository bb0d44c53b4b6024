import pytest

from workbench.base.errors import SpecError
from workbench.prompting.base import Example, Labels, Request
from workbench.prompting.template import Template
from workbench.runtime.chat_template import ChatTemplate, TemplateError, TooLong
from workbench.runtime.conversation import Conversation

LABELS = Labels(("delay", "ticket machine"), {"delay": "late or cancelled"})


def fill(source, label="delay", text="Late again.", *, labels=LABELS, instruction="", **values):
    request = Request(text, labels=(label,) if label else (), **values)
    (prompt,) = Template(source).fill(request, labels, instruction=instruction)
    return prompt


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
        examples=(Example("No seat.", "crowding"), Example("It ate my coin.", "ticket machine")),
    )

    assert (
        result.before == "No seat. => crowding\nIt ate my coin. => ticket machine\nLate again. => "
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
    result = fill(source)

    assert result.answer == answer
    assert result.after == "" and result.text.endswith(answer)


def test_choices_are_written_as_texts_or_as_letters():
    source = (
        "{% for one in choices %}{{ letters[loop.index0] }}. {{ one }} {% endfor %}"
        "{{ question }} {{ label }} or {{ letter }}"
    )
    choices = ("the tram", "the lift", "the tram")

    request = Request("", labels=("1", "2", "3"), question="Which?", choices=choices)
    prompts = list(Template(source).fill(request, Labels(())))

    assert [prompt.answer for prompt in prompts] == ["A", "B", "C"]
    assert prompts[2].before == "A. the tram B. the lift C. the tram Which? the tram or "


def test_examples_with_choices_write_the_right_one():
    found = fill(
        "{% for one in examples %}{{ one.question }} {{ one.choices | join('/') }} {{ one.label }} "
        "{{ one.letter }} of {{ one.letters | join }} {% endfor %}{{ label }}",
        "1",
        labels=Labels(()),
        choices=("yes", "no"),
        examples=(Example("", "2", "", "Is it?", ("yes", "no")),),
    )

    assert found.before == "Is it? yes/no no B of AB "


def test_letters_go_on_after_z_and_are_hidden_by_a_loop_over_them():
    labels = Labels(tuple(map(str, range(28))))

    source = "{% for letter in letters[:1] %}{{ letter }}{{ label }}{% endfor %} {{ letter }}"
    found = list(Template(source).fill(Request("", labels=labels.names), labels))

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


def test_a_label_is_written_with_each_of_its_words():
    labels = Labels(("pos", "neg"), {"neg": "criticism"}, {"pos": ("great", "good")})
    source = (
        "{{ labels | join('/') }} {{ examples[0].label }} {{ words.pos | join('+') }} "
        "{{ descriptions[label] }}: {{ label }}{{ letter }}"
    )
    request = Request("", examples=(Example("", "pos"),), labels=labels.of(()))

    prompts = list(Template(source).fill(request, labels))

    assert [prompt.text for prompt in prompts] == [
        "great/neg great great+good great: greatA",
        "great/neg great great+good great: goodA",
        "great/neg great great+good criticism: negB",
    ]


def test_a_word_of_two_labels_is_refused():
    with pytest.raises(SpecError, match="pos and neg share a word: 'good'"):
        Labels(("pos", "neg"), words={"pos": ("good",), "neg": ("bad", "good")}).of(())


def test_metadata_and_instruction_are_variables_and_missing_metadata_is_empty():
    found = fill(
        "{{ instruction }}: {{ meta.line }}, {{ meta['stop'] }}, {{ meta.driver }}, "
        "{{ examples[0].meta.line }} {{ label }}",
        instruction="Classify {{ text }}",
        meta={"line": 42, "stop": "Elm Park"},
        examples=(Example("", "delay", meta={"line": 7}),),
    )

    assert found.before == "Classify {{ text }}: 42, Elm Park, , 7 "


@pytest.mark.parametrize("source", ["{{ meta.line.__class__ }}", "{{ meta.pop('line') }}"])
def test_metadata_cannot_be_left_or_changed(source):
    with pytest.raises(TemplateError, match="unsafe|not safely callable"):
        fill(source + "{{ label }}", meta={"line": "42"})


def test_a_prompt_that_the_model_continues_ends_where_the_answer_begins():
    examples = (Example("Ada met Bob.", answer="Ada\tBob"), Example("It rains.", "delay"))
    source = "{% for e in examples %}{{ e.text }} => {{ e.answer }}\n{% endfor %}{{ text }} =>"

    expected = "Ada met Bob. => Ada\tBob\nIt rains. => delay\nLate again. =>"
    for rest in ("", " {{ label }}.\n", " {{ answer }}", " {{ letter }}"):
        found = fill(source + rest, "", examples=examples)
        assert (found.text, found.answer, found.after) == (expected, "", "")


def test_an_example_has_its_spans_and_its_number():
    example = Example("Ada met Bob.", labels=("PER", "two"), spans=((8, 11, "PER"),), number=2.5)
    source = (
        "{% for e in examples %}{% for s in e.spans %}{{ s.label }} {{ s.text }} {{ s.start }} "
        "{{ s.end }}{% endfor %}; {{ e.number }}; {{ e.labels | join(',') }}{% endfor %}"
    )

    assert fill(source, "", examples=(example,)).text == "PER Bob 8 11; 2.5; PER,two"


CHAT = """{% system %}
{{ instruction }}
{% for example in examples %}
{% user %}{{ example.text }}
{% assistant %}{{ example.label }}
{% endfor %}
{% user %}{{ text }}
{% assistant %}About: {{ label }}
"""
TURNS = (
    ("system", "Classify."),
    ("user", "No seat."),
    ("assistant", "crowding"),
    ("user", "Late again."),
)
CHATML = (
    "{{ bos_token }}{% for message in messages %}<|{{ message.role }}|>{{ message['content'] }}"
    "{% endfor %}{% if add_generation_prompt %}<|go|>{% endif %}"
)


def chatted(source, label="delay", template=ChatTemplate(CHATML, {"bos_token": "<s>"})):  # noqa: B008
    request = Request(
        "Late again.", examples=(Example("No seat.", "crowding"),), labels=(label,) if label else ()
    )
    chat = Conversation(template) if template else None
    (prompt,) = Template(source).fill(request, LABELS, instruction="Classify.", chat=chat)
    return prompt


def test_a_template_is_split_into_messages_in_the_chat_template_of_the_model():
    scored, continued = chatted(CHAT), chatted(CHAT, "")

    text = "<s>" + "".join(f"<|{role}|>{content}" for role, content in TURNS) + "<|go|>About: "
    assert (scored.before, scored.answer, scored.after) == (text, "delay", "")
    assert (continued.text, continued.answer) == (text.rstrip(), "")
    assert scored.messages == continued.messages == (*TURNS, ("assistant", "About:"))


def test_a_prompt_without_messages_is_one_message_of_the_user():
    found = chatted("{{ text }}\nAbout:{{ label }}")

    assert found.messages == (("user", "Late again.\nAbout:"),)
    assert found.before == "<s><|user|>Late again.\nAbout:<|go|>"


def test_messages_write_nothing_into_a_prompt_that_is_no_conversation():
    assert chatted("{% user %}{{ text }}{% assistant %}: {{ label }}", template=None).text == (
        "Late again.: delay"
    )
    assert chatted("{% user %}{{ text }}{% assistant %}: {{ label }}", template=None).messages == ()


def test_a_conversation_without_a_known_chat_template_is_joined():
    found = chatted("{% system %}A{% user %}{{ text }}{% assistant %}", "", ChatTemplate())

    assert found.text == "A\nLate again.\n"
    assert found.messages == (("system", "A"), ("user", "Late again."))


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{% for %}", "The chat template of the model cannot be used"),
        ("{{ raise_exception('Roles must alternate') }}", "Roles must alternate"),
        ("{{ messages.__class__.__mro__ }}", "unsafe"),
    ],
)
def test_a_chat_template_that_cannot_be_used_is_reported(template, says):
    with pytest.raises(TemplateError, match=says):
        chatted(CHAT, template=ChatTemplate(template))


def test_chat_templates_are_written_as_transformers_writes_them():
    from transformers.utils.chat_template_utils import render_jinja_template

    source = (
        "{%- for message in messages %}\n"
        "    {%- if message.role == 'system' %}{{ message | tojson }}{% continue %}{% endif %}\n"
        "    {%- if loop.first or messages[0].role == 'system' %}\n  {{ bos_token }}{% endif %}\n"
        "    {% generation %}{{ message.content | trim }} é{% endgeneration %}\n"
        "{% endfor %}\n{% if add_generation_prompt %}\nA: {% endif %}"
    )
    messages = [{"role": role, "content": content} for role, content in TURNS]
    (expected,), *_ = render_jinja_template(
        [messages], chat_template=source, add_generation_prompt=True, bos_token="<s>"
    )

    assert Conversation(ChatTemplate(source, {"bos_token": "<s>"})).render(TURNS) == expected
