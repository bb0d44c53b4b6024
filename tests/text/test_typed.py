from workbench.text.document import CHOICES
from workbench.text.typed import QUESTIONS, typed


def test_the_second_text_is_that_of_a_pair_or_has_choices_or_questions_on_lines():
    assert typed("a").texts == (("text", "a"),)
    assert typed("a", "b").texts == (("text", "a"), ("text_b", "b"))
    assert typed("a", "b\n\nc", form=CHOICES, question="q").choices == ("b", "c")
    assert typed("a", " Who? \n\nWhere?", form=QUESTIONS).questions == ("Who?", "Where?")
