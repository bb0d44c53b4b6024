from functools import cache

import pytest

from workbench.base.errors import SpecError
from workbench.prompting.base import Example, Labels, Rendered
from workbench.prompting.budget import Budget, PromptInput
from workbench.prompting.limits import Messages
from workbench.prompting.template import Template
from workbench.runtime.chat_template import TemplateError, TooLong

SOURCE = (
    "{% for example in examples %}{{ example.text }} {{ example.label }} {% endfor %}"
    "{{ text }} is {{ label }}"
)
LABELS = Labels(("a", "b c d"))  # one and three words
EXAMPLES = tuple(Example(f"example {number}", "a") for number in range(4))  # three words each


@cache
def renderer(source, seconds=0.0):
    """Renders in this process."""
    template = Template(source)

    def one(request):
        try:
            return Rendered(tuple(template.fill(request, LABELS)), seconds=seconds)
        except TemplateError as error:
            return Rendered(error=error)
        except TooLong:
            return Rendered(too_long=True)

    return lambda requests: [one(request) for request in requests]


def words(texts):
    return [len(text.split()) for text in texts]


def budget(limit=100, source=SOURCE, **more):
    return Budget(LABELS, render=renderer(source, **more), count=words, limit=limit)


def fitted(text="one two three", limit=100):
    return budget(limit).fit(PromptInput(text, EXAMPLES))


def test_what_fits_stays_whole():
    result = fitted()

    assert (len(result.examples), result.dropped, result.cut) == (4, 0, False)
    assert result.tokens == 4 * 3 + 3 + 1 + 3
    assert [prompt.answer for prompt in result.prompts] == ["a", "b c d"]


def test_too_many_examples_lose_the_last_ones_first():
    result = fitted(limit=14)  # 3 + 1 + 3 words without examples, so two examples fit

    assert result.examples == EXAMPLES[:2]
    assert (result.dropped, result.cut, result.tokens) == (2, False, 13)


def test_whole_examples_are_left_out_by_importance_whatever_their_order_in_the_prompt():
    keys = (3.0, 0.5, 2.0, 1.0)  # the most important one comes last
    result = budget(14).fit(PromptInput("one two three", EXAMPLES, keys=keys))

    assert result.examples == (EXAMPLES[1], EXAMPLES[0])
    assert result.left_out == EXAMPLES[2:]
    whole = budget().fit(PromptInput("one two three", EXAMPLES, keys=keys))
    assert whole.examples == tuple(EXAMPLES[n] for n in (1, 3, 2, 0))


def test_a_text_that_is_too_long_alone_is_cut_at_its_end():
    result = fitted(text="word " * 50, limit=14)

    assert (result.examples, result.dropped, result.cut) == ((), 4, True)
    assert result.tokens == 14
    assert result.prompts[0].before.startswith("word word")


def test_a_text_longer_than_any_prompt_is_cut_as_well():
    result = fitted(text="word " * 300_000, limit=14)

    assert result.cut and result.tokens == 14


def test_a_pair_whose_second_text_is_too_long_keeps_the_shorter_one():
    pairs = budget(12, "{{ text }} then {{ text_b }} is {{ label }}")

    result = pairs.fit(PromptInput("one two", (), "word " * 50))

    # 2 + 1 + 5 + 1 + 3 words
    assert result.cut and result.tokens == 12
    assert result.prompts[0].before.split() == ["one", "two", "then", *["word"] * 5, "is"]


def test_a_template_without_room_for_any_text_is_refused():
    with pytest.raises(SpecError, match="has 4 tokens; the model accepts at most 3"):
        fitted(limit=3)


def test_a_template_that_fails_on_an_empty_text_works_on_others():
    result = budget(source="{{ text.split() | first }} is {{ label }}").fit(PromptInput("one two"))

    assert result.prompts[0].text == "one is a"


@pytest.mark.parametrize("limit", range(4, 30))
def test_the_longest_candidate_never_exceeds_the_limit(limit):
    result = fitted(limit=limit)

    assert max(words(prompt.text for prompt in result.prompts)) == result.tokens <= limit


@pytest.mark.parametrize("limit", [8, 13, 14, 19, 40])
def test_documents_fitted_together_get_the_same_prompts_as_each_alone(limit):
    asked = [PromptInput("word " * (number % 30), EXAMPLES[: number % 5]) for number in range(600)]

    together = list(budget(limit).fit_all(asked))

    assert together == [budget(limit).fit(request) for request in asked]


def test_choices_are_the_candidates_of_their_document_and_the_longest_is_measured():
    asked = [
        PromptInput("one two", EXAMPLES, choices=("a", "b c d", "e")),
        PromptInput("one two", EXAMPLES, choices=("a b c d e", "f")),
    ]

    first, second = budget(10).fit_all(asked)

    assert first.labels == ("1", "2", "3") and second.labels == ("1", "2")
    assert [prompt.answer for prompt in second.prompts] == ["a b c d e", "f"]
    assert (first.tokens, len(first.examples)) == (2 + 1 + 3 + 3, 1)
    assert (second.tokens, len(second.examples)) == (2 + 1 + 5, 0)


def test_an_error_names_the_document_it_came_with():
    asked = [PromptInput("fine", name="m-1"), PromptInput("", name="m-2")]

    with pytest.raises(TemplateError, match="Document m-2: Line 1 of the template: No first item"):
        list(budget(source="{{ text.split() | first }} {{ label }}").fit_all(asked))


def test_the_prompts_of_one_document_may_take_so_much_time_in_all():
    """Each step of the search takes less than the limit, all of them more."""
    slow = Budget(
        LABELS,
        render=renderer(SOURCE, seconds=0.6),
        count=words,
        limit=14,
        errors=Messages(2.0, 512),
    )

    with pytest.raises(TemplateError, match=r"takes too long \(limit 2 s\)"):
        slow.fit(PromptInput("word " * 50, EXAMPLES))
