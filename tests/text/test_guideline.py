from html import escape

import pytest
from markdown_it import MarkdownIt

from workbench.base.errors import SpecError
from workbench.text import guideline
from workbench.text.guideline import Example, examples, merged, sentence_for, with_example
from workbench.text.labels import Label, Layer

NAMES = ("PER", "LOC", "LINE")
TEXT = """# Names

General rules.

## PER

Persons, with *titles*. Never roles.

- ✓ We met [**Dr Lovelace**] in London. `doc-12`
  - Titles belong to the name.
- not an example

## LOC – places

| Label | What |
|---|---|
| LINE | what a line is **called** |
"""


def test_an_example_is_read_from_its_line():
    assert examples(TEXT, NAMES) == (
        Example(
            "PER", "We met Dr Lovelace in London.", 7, 18, True, "Titles belong to the name.",
            "doc-12",
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    "example",
    [
        Example("PER", "Ada", 0, 3),
        Example("PER", "x_y *a* _b_ [c](d) `e` <b> &amp; ~~f~~", 4, 7, False, "see *this*", "k`1`"),
        Example("PER", "no range", remark="whole [text]", key=" spaces "),
        Example("PER", "foo(bar)baz (x)", 3, 8, key="a_b"),
        Example("PER", "\\ and \\* and **bold**", 0, 1),
        Example("PER", "قابلت الدكتورة لوفلايس في لندن", 6, 23, key="ar-1"),
        Example("PER", "日本語「東京」は", 3, 7),
        Example("PER", "- 1. # > | a | b", 2, 4),
    ],
)
def test_an_example_is_read_as_it_was_written(example):
    text = with_example("", example, NAMES)

    (read,) = examples(text, NAMES)

    key = " ".join(example.key.split())
    assert (read.text, read.start, read.end) == (example.text, example.start, example.end)
    assert (read.positive, read.remark, read.key) == (example.positive, example.remark, key)


@pytest.mark.parametrize(
    "name",
    [
        "C#", "a|b", "*x*", "__y__", "`z`", "PER: x", "-", "# q", "a [b](c)", "<b>", "עיר", "x\\",
        "&amp;", "B-PER", "~~s~~", "1.", "a_b",
    ],
)  # fmt: skip
def test_a_label_and_a_key_may_have_any_characters(name):
    names = ("PER", name)
    text = with_example("", Example(name, f"w {name}(x)", 2, 2 + len(name), key=name), names)

    (example,) = examples(text, names)

    assert (example.label, example.marked, example.key) == (name, name, name)
    html = MarkdownIt("commonmark").render(text)
    assert f"<h2>{escape(name)}</h2>" in html and f"<strong>{escape(name)}</strong>" in html


def test_an_example_goes_below_the_others_of_its_label_and_keeps_the_rest():
    new = Example("PER", "Ada King", 0, 8, False)

    lines = with_example(TEXT, new, NAMES).split("\n")

    at = lines.index("- ✗ [**Ada King**]")
    assert lines[at - 1] == "  - Titles belong to the name."
    del lines[at]
    assert "\n".join(lines) == TEXT


def test_the_first_example_of_a_label_ends_its_section():
    text = with_example(TEXT, Example("LOC", "in Rome", 3, 7), NAMES)

    assert text.endswith("| LINE | what a line is **called** |\n\n- ✓ in [**Rome**]\n")


def test_a_label_without_a_heading_gets_one_of_the_level_of_the_others():
    text = with_example("# A\n\n### PER\n", Example("LOC", "Rome", 0, 4), NAMES)
    assert text == "# A\n\n### PER\n\n### LOC\n\n- ✓ [**Rome**]\n"
    assert with_example("", Example("LOC", "Rome"), NAMES) == "## LOC\n\n- ✓ Rome\n"


def test_the_same_words_of_a_label_are_refused_whatever_their_sign():
    again = Example("PER", "We met Dr Lovelace in London.", 7, 18, False, key="another")
    with pytest.raises(SpecError, match="already an example of PER"):
        with_example(TEXT, again, NAMES)
    assert len(examples(with_example(TEXT, Example("LOC", again.text, 7, 18), NAMES), NAMES)) == 2


@pytest.mark.parametrize(
    "line",
    [
        "- ✓ We met **Dr Lovelace** in London. `doc-12`",
        "* ✔ We met [**Dr Lovelace**] in London. `doc-12`\\",
        "  + ☑️ We met [**Dr Lovelace**] in London. ``doc-12``",
    ],
)
def test_examples_may_be_written_by_hand(line):
    (example,) = examples(f"## per\r\n{line}", NAMES)
    assert (example.label, example.marked, example.key) == ("PER", "Dr Lovelace", "doc-12")


def test_headings_and_items_in_code_are_neither():
    text = "```\n## PER\n- ✓ x\n```\n"
    assert examples(text, NAMES) == ()
    assert with_example(text, Example("PER", "Ada"), NAMES).startswith(text)


def layer(text, **descriptions):
    labels = tuple(Label(name, description=descriptions.get(name, "")) for name in NAMES)
    return Layer("names", "span", labels, guideline=text)


@pytest.mark.parametrize(
    ("label", "sentence"),
    [("PER", "Persons, with titles."), ("LOC", "places"), ("LINE", "what a line is called")],
)
def test_what_the_guideline_says_about_a_label(label, sentence):
    assert sentence_for(layer(TEXT), label) == sentence


def test_without_a_section_the_item_or_the_description_of_a_label_is_taken():
    item = "- **PER**: a person. More.\n- ✓ LOC"
    assert sentence_for(layer(item, LOC="a place"), "PER") == "a person. More."
    assert sentence_for(layer(item, LOC="a place"), "LOC") == "a place"
    assert sentence_for(layer("## PER\n\n- ✓ Ada\n"), "PER") == ""


def test_the_headings_of_a_label_follow_its_name():
    text = "## PER\n\nPER is used.\n\n## PER: more\n\n## PERSON\n"
    assert guideline.renamed(text, "PER", "a*b", NAMES) == (
        "## a\\*b\n\nPER is used.\n\n## a\\*b: more\n\n## PERSON\n"
    )


# Expected values by hand, as diff3 (Khanna, Kunal and Pierce 2007) merges.


def test_changes_of_different_lines_are_both_taken():
    assert merged("a\nb\nc\n", "A\nb\nc\n", "a\nb\nc\nd\n", name="x") == "A\nb\nc\nd\n"


def test_a_line_that_both_changed_is_there_twice_with_where_it_is_from():
    text = merged("a\nb\nc", "a\nb1\nc", "a\nb2\nc", name="ben.gloss")
    assert [line for line in text.split("\n") if line] == [
        "a", "> **Version of this project**", "b1", "> **Version of ben.gloss**", "b2", "c",
    ]  # fmt: skip


def test_examples_that_both_added_are_all_there_once():
    base, shared = "## PER\n", "\n- ✓ [**Ada**]\n"
    mine, theirs = f"{base}{shared}- ✓ [**Bob**]\n", f"{base}{shared}- ✗ [**Cid**]\n"
    text = merged(base, mine, theirs, name="x")
    assert [example.text for example in examples(text, NAMES)] == ["Ada", "Bob", "Cid"]


def test_rows_of_a_table_that_both_changed_stay_rows():
    assert merged("|a|\n|-|\n|x|", "|a|\n|-|\n|y|", "|a|\n|-|\n|z|", name="x") == (
        "|a|\n|-|\n|y|\n|z|"
    )


def test_without_a_common_version_nothing_of_both_is_lost():
    text = merged(None, "a\nb\nc", "a\nx\nc\nd", name="ben")
    assert set("abxcd") <= set(text.split("\n"))


@pytest.mark.parametrize("same", [("a", "a", "b"), ("a", "b", "a"), ("a", "b", "b")])
def test_a_change_of_one_side_is_the_result(same):
    assert merged(*same, name="x") == "b"
