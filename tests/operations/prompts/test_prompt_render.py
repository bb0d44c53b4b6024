"""Templates that exceed a limit of time or memory are ended, and the next one is rendered."""

import os
import time

import psutil
import pytest

from workbench.base.errors import Cancelled
from workbench.base.watch import Watch
from workbench.operations.prompts.prompt_render import Renderer
from workbench.prompting.base import Example, Labels, Request
from workbench.runtime.chat_template import ChatTemplate, TemplateError

pytestmark = pytest.mark.process
LABELS = Labels(("delay", "praise"))
TEXT = "Late again, the tram was. " * 40
GOOD = "{{ text }} {{ label }}"
DOUBLING = "{% set a = a + a %}" * 60
LIMIT = 0.3  # seconds

# way → name → template
HOSTILE = {
    "loops": {
        "nested loops over the text": "{% for a in text %}" * 6 + "{% endfor %}" * 6,
        "a loop over a huge range": "{% for i in range(10 ** 9) %}{% endfor %}",
        "a huge range with a step": "{% for i in range(0, 10 ** 12, 3) %}{% endfor %}",
        "a macro that calls itself twice": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}"
        "{% endif %}{% endmacro %}{{ f(60) }}",
        "a recursive loop": "{% for a in [0, 0] recursive %}{% if loop.depth < 60 %}"
        "{{ loop([0, 0]) }}{% endif %}{% endfor %}",
        "a block that repeats another": "{% block a %}{% for i in text %}x{% endfor %}{% endblock %}"
        "{% for i in text %}{% for j in text %}{% if self.a() < 'a' %}y{% endif %}{% endfor %}{% endfor %}",
        "random choices": "{% for i in range(10 ** 9) %}{% if range(9)|random > 9 %}x{% endif %}{% endfor %}",
    },
    "native code": {
        "slice": "{{ range(10)|slice(10 ** 9)|list|length }}",
        "slice of a constant": "{{ 'xy'|slice(1000000000)|list|length }}",
        "sum of lists": "{{ ([[text] * 3000] * 10000)|sum(start=[])|length }}",
        "sum of a huge range": "{{ range(10 ** 10)|sum }}",
        "replace in a long text": "{% for i in range(10000) %}"
        "{{ ((text * 9000)|replace('tram', 'tra'))[:1] }}{% endfor %}",
        "count in a long text": "{% for i in range(10000) %}{{ (text * 9000).count('xy') }}{% endfor %}",
        "membership in a huge range": "{{ 1.5 in range(10 ** 9) }}",
        "JSON of nested lists": "{{ ([[['x'] * 9999] * 9999] * 9999)|tojson|length }}",
        "huge powers": "{% for i in range(10 ** 9) %}{% set a = 9999 ** 9999 %}{% endfor %}",
        "maximum of a huge range": "{{ range(10 ** 10)|max }}",
        "word count of a huge text": "{% for i in range(10000) %}{{ (text * 9000)|wordcount }}{% endfor %}",
        "striptags": "{% for i in range(1000) %}{{ (('<a' * 4999) * 999)|striptags|length }}{% endfor %}",
    },
    "memory": {
        "string multiplication": "{{ (" + " ~ ".join(["text * 10000"] * 20) + ")[:1] }}",
        "a list of a huge range": "{{ range(10 ** 9)|list|length }}",
        "sorting a huge range": "{{ range(10 ** 9)|sort|first }}",
        "batch with fill": "{{ [1]|batch(1000000000, 0)|list }}",
        "replace of the empty string": "{{ (text * 100).replace('', text * 1000)|length }}",
        "replace filter": "{{ (('x' * 9999) * 1000)|replace('x', 'y' * 9999)|length }}",
        "translate": "{{ ('a' * 9999).translate({97: 'b' * 9999 * 100})|length }}",
        "join": "{{ (['x'] * 9999)|join('y' * 9999 * 100)|length }}",
        "a + a + …": "{% set a = 'x' %}" + DOUBLING + "{{ a|length }}",
        "lists added to themselves": "{% set a = [text] %}" + DOUBLING + "{{ a|length }}",
        "a ~ a ~ …": "{% set a = text %}" + "{% set a = a ~ a %}" * 60 + "{{ a|length }}",
        "splitlines": "{{ ('\\n' * 9999 * 9999).splitlines()|length }}",
        "unique": "{{ range(10 ** 9)|unique|list|length }}",
        "dictionaries": "{{ (text * 9000)|groupby(0)|list|length }}",
    },
    "compiling": {
        "parentheses": "{{ " + "(" * 50_000 + "1" + ")" * 50_000 + " }}",
        "brackets": "{{ " + "[" * 5000 + "1" + "]" * 5000 + " }}",
        "operators": "{{ " + "1 + " * 50_000 + "1 }}",
        "conditions": "{% if text %}" * 5000 + "x" + "{% endif %}" * 5000,
        "loops": "{% for a in text %}" * 40 + "{% endfor %}" * 40,
        "attributes": "{{ text" + ".upper()" * 20_000 + " }}",
        "a macro that calls itself": "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
        "a block in itself": "{% block a %}{{ self.a() }}{% endblock %}",
        "a million statements": "{% if text %}{% endif %}" * 100_000,
    },
    "forbidden": {
        "% formatting": "{{ '%9999999999d' % 1 }}",
        "format": "{{ '{:>9999999999}'.format(1) }}",
        "format filter": "{{ '%9999999999d'|format(1) }}",
        "center": "{{ 'x'|center(10 ** 10) }}",
        "center method": "{{ 'x'.center(10 ** 10) }}",
        "indent": "{{ ('\\n' * 9999)|indent(10 ** 9) }}",
        "expandtabs": "{{ ('\\t' * 9999).expandtabs(10 ** 9) }}",
        "multiplication": "{{ 'x' * 10 ** 10 }}",
        "reaching out": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "through metadata": "{{ meta.__class__.__mro__[1].__subclasses__() }}",
        "changing metadata": "{{ meta.update(text='x') }}",
    },
}
SAYS = {
    "loops": ("takes too long",),
    "native code": ("takes too long", "too much memory"),
    "memory": ("too much memory", "takes too long"),
    "compiling": ("nested too deeply", "recurses infinitely", "takes too long", "too much memory"),
    "forbidden": ("Line 1 of the template", "too much memory"),
}


@pytest.fixture
def renderer():
    renderer = Renderer(seconds=LIMIT, megabytes=128)
    yield renderer
    renderer.close()


def render(renderer, source, text=TEXT, **more):
    (found,) = renderer.render(source, LABELS, [Request(text, "", (), LABELS.names)], **more)
    if found.error:
        raise found.error
    return found


@pytest.mark.parametrize("way", HOSTILE)
def test_a_hostile_template_is_ended_with_a_message_and_the_next_one_renders(renderer, way):
    expected = render(renderer, GOOD)

    for name, source in HOSTILE[way].items():
        with pytest.raises(TemplateError) as caught:
            render(renderer, source + "{{ label }}")
        assert any(words in str(caught.value) for words in SAYS[way]), (name, str(caught.value))
        assert len(str(caught.value)) < 500, name
        assert render(renderer, GOOD).prompts == expected.prompts, name


def test_ten_hostile_templates_end_within_20_seconds_at_the_usual_limits():
    names = (
        "nested loops over the text",
        "a recursive loop",
        "slice of a constant",
        "sum of a huge range",
        "a list of a huge range",
        "a + a + …",
        "parentheses",
        "a macro that calls itself",
        "multiplication",
        "through metadata",
    )
    every = {name: source for ways in HOSTILE.values() for name, source in ways.items()}
    renderer, start = Renderer(), os.times()
    try:
        for name in names:
            with pytest.raises(TemplateError):
                render(renderer, every[name] + "{{ label }}")
    finally:
        renderer.close()

    assert sum(os.times()[:4]) - sum(start[:4]) < 20  # processor time: other tests run beside it


@pytest.mark.parametrize(
    "source",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% set ns = namespace(a='x' * 10 ** 6) %}{% for i in range(99) %}"
        "{% set ns.a = ns.a + ns.a %}{% endfor %}{{ ns.a }}",
        "{{ messages | map('attr', '__class__') | list }}{{ ''.__class__.__mro__ }}",
        "{{ raise_exception('<b>no</b>' * 999) }}",
    ],
)
def test_a_hostile_chat_template_of_a_model_ends_too(renderer, source):
    with pytest.raises(TemplateError) as caught:
        render(renderer, GOOD, chat=ChatTemplate(source))

    assert len(str(caught.value)) < 500 and render(renderer, GOOD).prompts


def test_there_are_enough_hostile_templates():
    assert sum(map(len, HOSTILE.values())) >= 40


def test_the_limit_is_kept_and_named_with_the_line(renderer):
    render(renderer, GOOD)
    before = psutil.Process(renderer.pid).cpu_times().user

    with pytest.raises(TemplateError, match=r"takes too long \(limit 0.3 s\).*line 3") as caught:
        render(renderer, "{{ label }}\n\n{% for i in range(10 ** 9) %}{% endfor %}")

    took = psutil.Process(renderer.pid).cpu_times().user - before
    assert LIMIT * 0.5 < took < LIMIT * 2 and caught.value.line == 3


def test_a_thousand_requests_are_answered_in_order(renderer):
    examples = tuple(Example(f"example {number}", "praise") for number in range(3))
    requests = [
        Request(f"text {number}", "", examples[: number % 4], LABELS.names[: 1 + number % 2])
        for number in range(1000)
    ]
    source = "{% for example in examples %}{{ example.text }}, {% endfor %}{{ text }}: {{ label }}"

    rendered = renderer.render(source, LABELS, requests)

    assert rendered[0].prompts[0].text == "text 0: delay"
    assert rendered[7].prompts[1].text == "example 0, example 1, example 2, text 7: praise"
    assert [len(result.prompts) for result in rendered] == [
        1 + number % 2 for number in range(1000)
    ]


def test_lone_surrogates_and_noncharacters_come_back_as_they_were(renderer):
    text = "a\ud800b\ufdd0c 🌱 עברית \x00\u2028"

    assert render(renderer, GOOD, text).prompts[0].before == text + " "


def test_the_worker_is_light_and_loads_no_heavy_library(renderer):
    assert renderer.pid is None  # started with the first request

    render(renderer, GOOD)

    worker = psutil.Process(renderer.pid)
    times = worker.cpu_times()
    assert times.user + times.system < 0.3
    assert not any(
        "torch" in mapping.path or "numpy" in mapping.path for mapping in worker.memory_maps()
    )


def test_a_render_that_nobody_waits_for_any_more_gives_way_to_the_next():
    renderer, watch = Renderer(seconds=60), Watch()
    try:
        render(renderer, GOOD)
        watch.cancel()
        start = time.monotonic()
        with pytest.raises(Cancelled):
            render(renderer, HOSTILE["loops"]["nested loops over the text"], watch=watch)
        assert render(renderer, GOOD).prompts and time.monotonic() - start < 30
    finally:
        renderer.close()
