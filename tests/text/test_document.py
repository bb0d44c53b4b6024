import pytest

from workbench.text.document import CHOICES, QUESTIONS, Document, from_json, text_hash, typed
from workbench.text.spans import Span


def test_a_pair_has_both_texts_by_name_and_its_first_is_the_text():
    pair = Document("k", (("text", "one"), ("text_b", "two")))

    assert (pair.text, pair.content(), pair.content("text_b"), pair.fields) == (
        "one",
        "one",
        "two",
        ("text", "text_b"),
    )
    with pytest.raises(KeyError):
        pair.content("text_c")


def test_the_hash_is_that_of_names_and_contents_alone():
    document = Document("a", (("text", "x"),), "train", meta={"n": 1}, id=1)
    other = Document("b", (("text", "x"),), "dev", tokens={"text": ((0, 1),)}, id=2)

    assert document.text_hash == other.text_hash and len(document.text_hash) == 32
    given = [
        (("text", "xy"),),
        (("text", "x"), ("text_b", "y")),
        (("text", "y"), ("text_b", "x")),
        (("text_b", "xy"),),
        (("text", "XY"),),
    ]
    assert len({text_hash(unit) for unit in given}) == 5


def test_a_lone_surrogate_and_composed_letters_have_hashes_of_their_own():
    assert (
        len(
            {
                text_hash((("text", item),))
                for item in ("\ud800", "\udfff", "\ufffd", "\u00e9", "e\u0301")
            }
        )
        == 5
    )


def test_the_second_text_is_that_of_a_pair_or_has_choices_or_questions_on_lines():
    assert typed("a").texts == (("text", "a"),)
    assert typed("a", "b").texts == (("text", "a"), ("text_b", "b"))
    assert typed("a", "b\n\nc", form=CHOICES, question="q").choices == ("b", "c")
    assert typed("a", " Who? \n\nWhere?", form=QUESTIONS).questions == ("Who?", "Where?")


def test_spans_to_connect_are_read_where_the_model_reads_them():
    raw = {"text": "Ada met Bob", "spans": [{"start": 0, "end": 3, "label": "PER", "score": 1}]}

    assert from_json(raw, connects=True).input_spans == (Span(0, 3, "PER"),)
    assert from_json(raw).input_spans == ()


@pytest.mark.parametrize(
    "spans",
    [
        None,
        [3],
        [{"start": 0, "end": 1}],
        [{"start": 2, "end": 2, "label": "x"}],
        [{"start": -1, "end": 1, "label": "x"}],
        [{"start": 0, "end": 4, "label": "x"}],
        [{"start": 0, "end": "1", "label": "x"}],
    ],
)
def test_a_span_outside_the_text_is_an_error(spans):
    with pytest.raises(ValueError, match=r"spans"):
        from_json({"text": "abc", "spans": spans}, connects=True)
