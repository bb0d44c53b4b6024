"""The grammar of queries: what is read, what is refused and where."""

import pytest

from workbench.text.queries import query_edit
from workbench.text.queries.query import And, Not, Or, QueryError, Term, Words, parse


def term(key, *values, name="", operator="="):
    return Term(key, name, operator, values, tuple("*" in value for value in values), 0, 0)


def words(text, *, exact=False):
    return Words(text, exact, 0, 0)


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("", ()),
        ("label:PER", (term("label", "PER"),)),
        ("LABEL=PER,LOC", (term("label", "PER", "LOC"),)),
        ('label."my layer":"a b"', (term("label", "a b", name="my layer"),)),
        (r'note:"say \"hi\" \\ there"', (term("note", r'say "hi" \ there'),)),
        (
            "score<0.6 length>=200",
            (term("score", "0.6", operator="<"), term("length", "200", operator=">=")),
        ),
        ("meta.source:e*", (term("meta", "e*", name="source"),)),
        ("-state:done", (Not(term("state", "done"), 0, 0),)),
        ("split:none a b", (term("split", "none"), words("a b"))),
        ("a b split:dev c ", (words("a b "), term("split", "dev"), words("c "))),
        ('"exact words" more', (words("exact words", exact=True), words("more"))),
        ("a OR b c", (Or((words("a "), words("b ")), 0, 0), words("c"))),
        ("a OR b OR c", (Or((words("a "), words("b "), words("c")), 0, 0),)),
        ("-(a b)", (Not(And((words("a b "),), 0, 0), 0, 0),)),
        ("10:30 :) http://a.b/c x<3", (words("10:30 :) http://a.b/c x<3"),)),
        ("Straße وصل (الباص)", (words("Straße وصل "), And((words("الباص "),), 0, 0))),
    ],
)  # fmt: skip
def test_conditions_are_read(text, nodes):
    assert parse(text).nodes == nodes


@pytest.mark.parametrize(
    ("text", "part", "hint"),
    [
        ("a labl:x", "labl:", "Did you mean label:?"),
        ("foo:x", "foo:", '"foo:'),
        ("label:", "label:", "label:PER"),
        ("label:a,", "label:a,", "label:PER"),
        ("a state:begun", "state:begun", "pending"),
        ("score<many", "score<many", "score<0.6"),
        ("score<nan", "score<nan", "score<0.6"),
        ("length<1..2", "length<1..2", "100..200"),
        ("date>yesterday", "date>yesterday", "2026"),
        ("date>=2026-02-30", "date>=2026-02-30", "2026"),
        ("date<2026..2027", "date<2026..2027", "2026"),
        ("label<PER", "label<PER", "label:PER"),
        ("split.x:dev", "split.x:", "train"),
        ("meta:x", "meta:", "meta.source:email"),
        ('a "b', '"b', 'Add "'),
        ('"a"b', "b", "space"),
        ("(a", "", "quotes"),
        ("()", "()", "quotes"),
        ("OR a", "OR", '"OR"'),
        ("a OR", "OR", '"OR"'),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_a_hint(text, part, hint):
    with pytest.raises(QueryError) as caught:
        parse(text)

    error = caught.value
    assert text[error.at : error.end] == part and error.message and hint in error.hint


@pytest.mark.parametrize("text", ["(" * 100, "-" * 100 + "a", "a OR " * 300 + "a", "x" * 30_000])
def test_a_query_that_is_too_large_is_refused(text):
    with pytest.raises(QueryError):
        parse(text)


@pytest.mark.parametrize("value", ["PER", "a b", 'say "hi"', "a,b", "x*", "1..2", "\\", "(", "نص"])
def test_a_quoted_value_is_read_as_itself(value):
    assert parse(query_edit.term("label", value)).nodes == (
        Term("label", "", "=", (value,), (False,), 0, 0),
    )


def test_a_condition_is_replaced_and_removed_in_the_text():
    text = "one state:draft -label:A two"
    assert query_edit.with_term("-state:done a (state:open OR state:draft)", "state", "") == "a"

    assert query_edit.with_term(text, "state", "state:open") == "one -label:A two state:open"
    assert query_edit.with_term(text, "state", "") == "one -label:A two"
    assert query_edit.without(text, 2) == "one state:draft two"
    assert parse(text).parts() == ("one", "state:draft", "-label:A", "two")
    assert query_edit.with_term('broken "', "state", "state:open") == 'broken " state:open'


def test_the_value_of_a_key_is_the_only_plain_condition_with_it():
    assert parse("a state:draft").value("state") == term("state", "draft")
    for text in ("state:draft state:open", "-state:draft", "state:draft,open", "score<1"):
        assert parse(text).value("state") is None and parse(text).value("score") is None


@pytest.mark.parametrize(
    ("text", "typed", "key", "name"),
    [
        ("lab", "lab", "", None),
        ("a -la", "la", "", None),
        ("(label:P", "P", "label", None),
        ("label:A,B", "B", "label", None),
        ('label:"my la', "my la", "label", None),
        ("meta.so", "so", "", "meta"),
        ("meta.source:em", "em", "meta", None),
    ],
)
def test_the_part_at_the_caret_is_known_for_completion(text, typed, key, name):
    place = query_edit.place(text, len(text))

    assert (place.typed, place.key, place.name) == (typed, key, name)
    assert text[place.start :].removeprefix('"') == typed


def test_a_query_that_is_not_unicode_names_the_byte():
    with pytest.raises(QueryError, match="byte 0xE9 at position 3, which is not UTF-8") as error:
        parse("caf\udce9")

    assert (error.value.at, error.value.end) == (3, 4)
