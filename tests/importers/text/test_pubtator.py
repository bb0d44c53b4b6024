"""PubTator, modelled on the files of BC5CDR and BioRED; texts invented."""

import pytest

from workbench.importers.base import Options
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.text.relations import Relation
from workbench.text.spans import Span

TWO = """101|t|Lithium and tremor
101|a|Tremor in 3 patients on lithium.
101\t0\t7\tLithium\tChemical\tD008094
101\t12\t18\ttremor\tDisease\tD014202
101\t19\t25\tTremor\tDisease\tD014202|D000001
101\tCID\tD008094\tD014202
101\tCID\tD008094\tD999999

102|t|Nothing here
102|a|
"""
LITHIUM, TREMOR = Span(0, 7, "Chemical"), Span(12, 18, "Disease")


def test_titles_and_abstracts_are_one_text_with_spans_and_relations(read, tmp_path):
    found = read(TWO, name="a.pubtator")

    first, second = found.records
    assert detect(Source(tmp_path / "a.pubtator")).format == "pubtator"
    assert first.document.key == "101"
    assert first.document.text == "Lithium and tremor\nTremor in 3 patients on lithium."
    assert first.spans == {"spans": (LITHIUM, TREMOR, Span(19, 25, "Disease"))}
    assert first.relations == {"relations": (Relation("CID", LITHIUM, TREMOR),)}
    assert second.document.text == "Nothing here" and second.spans == {"spans": ()}
    assert [row.line for row in found.rows] == [1, 9]


def test_what_is_not_imported_is_counted(read):
    assert read(TWO, name="a.txt").remarks == [
        "a.txt: the concepts of 3 spans were not imported, only their types.",
        "a.txt: 1 relation between concepts connects their first mentions.",
        "a.txt: 1 relation was not imported, as its concepts have no mentions.",
    ]


def test_concepts_of_pubtator_3_follow_their_types(read):
    text = TWO.replace("CID\tD008094\tD014202", "Association\tChemical|D008094\tDisease|D014202")

    (relation,) = read(text, name="a.txt").records[0].relations["relations"]

    assert relation == Relation("Association", LITHIUM, TREMOR)


def test_offsets_in_utf_16_units_are_converted(read):
    text = "7|t|😀 Ada\n7|a|x\n7\t3\t6\tAda\tPerson\n"

    assert read(text, name="a.txt").records[0].spans["spans"] == (Span(2, 5, "Person"),)


def test_errors_are_named_with_their_line(read):
    text = (
        TWO.replace("12\t18\ttremor", "11\t17\ttremor")
        + "\n103|t|A\nnonsense\n\n104|t|B\n105\t0\t1\tB\tX\n"
    )

    assert read(text, name="a.txt").skipped == [
        (1, "line 4: the span 11–17 covers ' tremo', but the file says 'tremor'"),
        (12, "line 13: 'nonsense' is neither a title, an abstract, nor an annotation"),
        (15, "line 16 belongs to the document '105', expected '104'"),
    ]


def test_the_preview_shows_the_annotations_with_their_lines(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(TWO, encoding="utf-8")

    table = importer("pubtator").preview(Source(path), Options(), 3)

    assert table.rows[0].line == 3
    assert table.rows[0].cells == ("101", "0", "7", "Lithium", "Chemical", "D008094")


@pytest.mark.parametrize("text", ["id|a|b\n1|2|3\n", "x|t|y\nz|a|y\n"])
def test_a_table_with_bars_is_no_pubtator(tmp_path, text):
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")

    assert detect(Source(path)).format == "csv"
