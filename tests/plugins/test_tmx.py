"""TMX files become sentence pairs."""

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers import detect
from workbench.importers.base import Options, Remark, Row, Skipped
from workbench.importers.source import Source

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header srclang="en"/><body>\n'
TAIL = "</body></tmx>\n"


def variant(language, text):
    return f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>'


@pytest.fixture
def read(enabled, tmp_path):
    """`read(units)` → the items of a memory that the importer was detected for."""
    enabled("tmx")

    def items(body, head=HEAD, tail=TAIL):
        path = tmp_path / "memory.tmx"
        path.write_text(head + body + tail, encoding="utf-8")
        source = Source(path)
        detection = detect.detect(source)
        assert detection.format == "tmx.memory" and not detection.question
        return list(detect.importer(detection.format).read(source, Options()))

    return items


def texts(row):
    return [content for _field, content in row.record.document.texts]


def test_the_source_language_comes_first_wherever_it_stands(read):
    (row,) = read(f"<tu tuid='7'>{variant('de', 'Zug')}{variant('en-US', 'train')}</tu>\n")

    assert isinstance(row, Row) and texts(row) == ["train", "Zug"]
    assert (row.record.document.key, row.line) == ("7", 3)


def test_inline_codes_are_left_out_and_entities_are_read(read):
    german = 'Der <bpt i="1">&lt;b&gt;</bpt>Zug<ept i="1">&lt;/b&gt;</ept> &amp; Bus'

    (row,) = read(f"<tu>{variant('en', 'a &lt; b')}{variant('de', german)}</tu>\n")

    assert texts(row) == ["a < b", "Der Zug & Bus"]


def test_a_unit_in_one_language_is_skipped_with_its_line(read):
    records = read(f"<tu>{variant('en', 'alone')}</tu>\n<tu>{variant('en', ' ')}</tu>\n")

    assert records == [
        Skipped(3, "the unit has fewer than two languages"),
        Skipped(4, "the unit has fewer than two languages"),
    ]


def test_of_three_languages_two_are_taken_and_it_is_reported(read):
    three = variant("en", "one") + variant("de", "eins") + variant("fr", "un")

    row, remark = read(f"<tu>{three}</tu>\n")

    assert texts(row) == ["one", "eins"] and isinstance(remark, Remark)


def test_damaged_xml_is_refused_with_its_line(read):
    with pytest.raises(ImportFailed, match="line 3: it is not well-formed XML"):
        read("<tu></body>\n")


def test_entity_declarations_are_refused(read):
    bomb = '<!DOCTYPE tmx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n'

    with pytest.raises(ImportFailed, match="declares entities"):
        read("", head=HEAD.replace("<tmx", bomb + "<tmx"))


def test_the_preview_names_the_languages(enabled, tmp_path):
    enabled("tmx")
    path = tmp_path / "m.tmx"
    path.write_text(f"{HEAD}<tu>{variant('en', 'a')}{variant('de', 'b')}</tu>{TAIL}", "utf-8")

    table = detect.importer("tmx.memory").preview(Source(path), Options(), 20)

    assert [row.cells for row in table.rows] == [("a", "b")] and "en – de" in table.why
