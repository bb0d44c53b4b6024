import pytest

from workbench.base.errors import SpecError
from workbench.prompting.budget import Budget
from workbench.prompting.template import Example, Template

TEMPLATE = Template(
    "{% for example in examples %}{{ example.text }} {{ example.label }} {% endfor %}{{ text }} is {{ label }}"
)
LABELS = ("a", "b c d")  # one and three words
EXAMPLES = tuple(Example(f"example {number}", "a") for number in range(4))  # three words each


def words(text):
    return len(text.split())


def fitted(text="one two three", limit=100):
    return Budget(TEMPLATE, LABELS, count=words, limit=limit).fit(text, EXAMPLES)


def test_what_fits_stays_whole():
    found = fitted()

    assert (len(found.examples), found.dropped, found.cut) == (4, 0, False)
    assert found.tokens == 4 * 3 + 3 + 1 + 3
    assert [one.answer for one in found.prompts] == ["a", "b c d"]


def test_too_many_examples_lose_the_last_ones_first():
    found = fitted(limit=14)  # 3 + 1 + 3 words without examples, so two examples fit

    assert found.examples == EXAMPLES[:2]
    assert (found.dropped, found.cut, found.tokens) == (2, False, 13)


def test_a_text_that_is_too_long_alone_is_cut_at_its_end():
    found = fitted(text="word " * 50, limit=14)

    assert (found.examples, found.dropped, found.cut) == ((), 4, True)
    assert found.tokens == 14
    assert found.prompts[0].before.startswith("word word")


def test_a_pair_whose_second_text_is_too_long_keeps_the_shorter_one():
    template = Template("{{ text }} then {{ text_b }} is {{ label }}")

    found = Budget(template, LABELS, count=words, limit=12).fit("one two", (), "word " * 50)

    assert found.cut and found.tokens == 12
    assert found.prompts[0].before.split() == [
        "one",
        "two",
        "then",
        *["word"] * 5,
        "is",
    ]  # 2 + 1 + 5 + 1 + 3 words


def test_a_template_without_room_for_any_text_is_refused():
    with pytest.raises(SpecError, match="takes 4 tokens; the model takes 3"):
        fitted(limit=3)


@pytest.mark.parametrize("limit", range(4, 30))
def test_the_longest_candidate_never_exceeds_the_limit(limit):
    found = fitted(limit=limit)

    assert max(words(one.text) for one in found.prompts) == found.tokens <= limit
