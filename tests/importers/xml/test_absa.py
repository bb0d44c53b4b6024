"""Aspects and opinions, modelled on the XML of SemEval 2014 task 4, and 2015 and 2016 (12, 5)."""

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Hint, Options
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.text.labels import MULTI
from workbench.text.spans import Span

OF_2014 = """<?xml version="1.0" encoding="UTF-8"?>
<sentences>
    <sentence id="813">
        <text>The &quot;soup&quot; was cold, the staff kind.</text>
        <aspectTerms>
            <aspectTerm term="soup" polarity="negative" from="5" to="9"/>
            <aspectTerm term="staff" polarity="positive" from="25" to="30"/>
        </aspectTerms>
        <aspectCategories>
            <aspectCategory category="food" polarity="negative"/>
            <aspectCategory category="service" polarity="positive"/>
        </aspectCategories>
    </sentence>
    <sentence id="814">
        <text>We went on Monday.</text>
    </sentence>
    <sentence id="815">
        <text>Bad soup.</text>
        <aspectTerms>
            <aspectTerm term="soup" polarity="negative" from="4" to="9"/>
        </aspectTerms>
    </sentence>
</sentences>
"""
OF_2016 = """<?xml version="1.0" encoding="UTF-8"?>
<Reviews>
    <Review rid="77">
        <sentences>
            <sentence id="77:0">
                <text>Lovely place 😀, rude staff.</text>
                <Opinions>
        <Opinion target="place" category="AMBIENCE#GENERAL" polarity="positive" from="7" to="12"/>
        <Opinion target="staff" category="SERVICE#GENERAL" polarity="negative" from="21" to="26"/>
        <Opinion target="NULL" category="RESTAURANT#GENERAL" polarity="neutral" from="0" to="0"/>
                </Opinions>
            </sentence>
            <sentence id="77:1" OutOfScope="TRUE">
                <text>Ask my sister.</text>
            </sentence>
            <sentence id="77:2">
                <text>Fine.</text>
            </sentence>
        </sentences>
    </Review>
</Reviews>
"""


def test_terms_of_2014_are_spans_with_their_polarity_and_categories_are_classes(read, tmp_path):
    found = read(OF_2014, name="restaurants.xml")

    first, second = found.records
    assert detect(Source(tmp_path / "restaurants.xml")).format == "absa"
    assert first.document.key == "813" and first.document.text[:10] == 'The "soup"'
    assert first.spans == {"spans": (Span(5, 9, "negative"), Span(25, 30, "positive"))}
    assert first.marks == {"class": ("food: negative", "service: positive")}
    assert found.items[0] == Hint("class", MULTI)
    assert second.spans == {"spans": ()} and second.marks == {"class": ()}  # nothing is said of it


def test_a_term_beside_its_offsets_skips_the_sentence_with_its_line(read):
    ((line, reason),) = read(OF_2014, name="a.xml").skipped

    assert line == 17
    assert (
        reason == "815: the span 3–8 covers ' soup', but the file says 'soup'" or "soup." in reason
    )


def test_opinions_of_2016_have_layers_of_polarities_and_categories(read):
    found = read(OF_2016, name="a.xml", class_layer="opinions")

    first, out, last = found.records
    assert (first.document.key, first.document.group, first.document.text) == (
        "77:0", "77", "Lovely place 😀, rude staff.",
    )  # fmt: skip
    assert first.spans == {
        "spans": (Span(7, 12, "positive"), Span(21, 26, "negative")),
        "categories": (Span(7, 12, "AMBIENCE#GENERAL"), Span(21, 26, "SERVICE#GENERAL")),
    }
    assert first.marks["opinions"] == (
        "AMBIENCE#GENERAL: positive", "SERVICE#GENERAL: negative", "RESTAURANT#GENERAL: neutral",
    )  # fmt: skip
    assert out.states == {} and last.states["spans"] == "submitted"
    assert found.remarks == ["a.xml: 1 sentence is out of scope and was imported without labels."]


def test_sentences_of_a_test_set_without_labels_are_not_labelled(read):
    found = read(
        '<sentences>\n<sentence id="1"><text>So.</text></sentence>\n</sentences>', name="a.xml"
    )

    assert found.texts == ["So."] and found.records[0].states == {}


def test_an_opinion_without_a_category_is_named_with_its_line(read):
    wrong = OF_2016.replace('category="AMBIENCE#GENERAL" ', "")

    assert read(wrong, name="a.xml").skipped == [(5, "77:0: line 8: <Opinion> has no 'category'")]


def test_the_preview_shows_sentences_by_their_ids(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(OF_2016, encoding="utf-8")

    table = importer("absa").preview(Source(path), Options(), 1)

    assert table.rows[0].name == "77:0"
    assert table.rows[0].cells[1] == "place (positive), staff (negative)"


def test_an_incomplete_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(OF_2016[:600], encoding="utf-8")

    with pytest.raises(ImportFailed, match=r"a.xml, line \d+, column \d+: "):
        list(importer("absa").read(Source(path), Options()))
