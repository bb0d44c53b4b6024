"""How the differences of a document are listed."""

from dataclasses import replace

from workbench.operations.people.adjudication import Line, Sheet
from workbench.operations.people.cases import Difference
from workbench.operations.people.differences import Mark
from workbench.storage.annotation.people import Person
from workbench.text import labels
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.ui.panels.annotate.adjudication.rows import (
    AgreeingLines,
    DecidedRow,
    FarRows,
    OpenRow,
    agreeing_text,
    caption,
    chip_text,
    kind_text,
    near,
    question_of,
    range_of,
    rows_of,
    taken_text,
    title_of,
    version_text,
    versions_text,
)

TEXT = "One line. The 42 tram came. It left. We met at Mill Lane."
PEOPLE = (Person(1, "a" * 16, "Ada"), Person(2, "b" * 16, "Ben"))
LAYER = Layer("spans", labels.SPAN.id, labels=(Label("VEHICLE"), Label("STOP")), id=1)


def mark(words, label="VEHICLE"):
    at = TEXT.index(words)
    return Mark(1, label, at, at + len(words), words)


def difference(kind, *versions, taken=None, start=0, end=0):
    return Difference("k", 1, LAYER, kind, start, end, versions, taken)


def sheet(*differences, lines=()):
    document = Document("k0", (("text", TEXT),), id=1)
    return Sheet(document, PEOPLE, (LAYER,), ("", ""), lines, (), differences, False)


BOUNDARY = difference("boundary", (mark("The 42 tram"),), (mark("42 tram"),), start=10, end=21)
LINES = (
    Line(0, 9, (), (), "text"),
    Line(10, 27, (), (0,), "text"),
    Line(28, 36, (mark("left"),), (), "text"),
    Line(37, 57, (), (), "text"),
)


def test_lines_that_agree_are_folded_around_an_open_difference():
    page = sheet(BOUNDARY, lines=LINES)

    rows = rows_of(page, 0)

    assert rows == [AgreeingLines(0, 1, 0), OpenRow(1, 2, (0,)), AgreeingLines(2, 4, 1)]
    assert title_of(page, rows[1]) == "Line 2"
    assert agreeing_text(title_of(page, rows[2]), rows[2]) == "Lines 3 to 4 agree, 1 label"
    assert range_of(page, rows[1]) == ("text", 10, 27)


def test_a_decided_difference_is_one_line_unless_it_is_the_current_one():
    decided = difference("boundary", *BOUNDARY.versions, taken=1, start=10, end=21)
    page = sheet(decided, lines=LINES)

    assert rows_of(page, None)[1] == DecidedRow(0)
    assert rows_of(page, 0)[1] == OpenRow(1, 2, (0,))
    assert taken_text(decided) == "2 taken: 42 tram"


def test_differences_of_the_whole_document_come_first():
    layer = Layer("topic", labels.CLASS.id, labels=(Label("delay"), Label("access")), id=2)
    marks = (Mark(2, "delay", text="delay"),), (Mark(2, "access", text="access"),)
    whole = Difference("v", 1, layer, "value", None, None, marks)
    page = sheet(whole, lines=(Line(0, 57, (), (), "text"),))

    rows = rows_of(page, 0)

    assert rows == [OpenRow(-1, -1, (0,)), AgreeingLines(0, 1, 0)]
    assert title_of(page, rows[0]) == "topic"
    assert versions_text(whole) == "delay or access"


def test_the_kind_names_the_words_at_the_edge_and_who_has_a_label():
    only = difference("missed", (mark("Mill Lane", "STOP"),), (), start=47, end=56)

    assert kind_text(BOUNDARY, TEXT) == "boundary: “The”"
    assert chip_text(BOUNDARY) == "boundary differs"
    assert chip_text(only) == "only in one"


def test_of_a_very_long_line_only_the_part_around_its_difference_is_shown():
    text = "word " * 1000 + "the 42 tram" + " word" * 1000
    at = text.index("the 42")
    spans = (Mark(1, "VEHICLE", at, at + 11, "the 42 tram"),), ()
    page = Sheet(
        Document("k0", (("text", text),), id=1), PEOPLE, (LAYER,), ("", ""),
        (Line(0, len(text), (), (0,), "text"),), (),
        (difference("missed", *spans, start=at, end=at + 11),), False,
    )  # fmt: skip

    _field, start, end = range_of(page, OpenRow(0, 1, (0,)))

    assert start <= at - 110 and end >= at + 110 and end - start < 400
    assert text[start - 1] == " " and text[end] == " "


def test_only_rows_around_the_current_difference_are_listed():
    rows = [row for n in range(100) for row in (AgreeingLines(2 * n, 2 * n + 1, 0), DecidedRow(n))]

    assert near(rows[:60], 5) == rows[:60]
    listed = near(rows, 50)  # row 101 is in the block from 96 on

    assert listed[0] == FarRows(True, 36, 35) and listed[-1] == FarRows(False, 28, 72)
    assert listed[1:-1] == rows[72:144]


def test_chains_and_answers_are_named_in_words():
    layer = Layer("mentions", labels.CLUSTER.id, labels=(), id=1)
    words = (("The 42 tram", 1), ("It", 1), ("Mill Lane", 2))
    marks = tuple(replace(mark(text), chain=chain) for text, chain in words)
    chains = Difference("k", 1, layer, "value", 10, 57, (marks, ()))
    assert version_text(chains, 0) == "chain 1: The 42 tram, It; chain 2: Mill Lane"
    assert caption(chains, marks[2]) == "chain 2"

    layer = Layer("questions", labels.ANSWER.id, labels=(), id=1)
    answers = (mark("It", "What?"),), (Mark(1, "What?", text="–", value=""),), ()
    answered = Difference("k", 1, layer, "missed", 28, 30, answers)
    assert question_of(answered) == "What?"
    texts = [version_text(answered, number) for number in range(3)]
    assert texts == ["It", "no answer", "question left out"]
