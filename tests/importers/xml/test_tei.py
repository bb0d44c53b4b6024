"""TEI, modelled on the examples of the P5 Guidelines; texts invented."""

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Options
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.text.spans import Span

HEADER = (
    "<teiHeader><fileDesc><titleStmt><title>A letter</title></titleStmt></fileDesc></teiHeader>"
)
LETTER = f"""<?xml version="1.0" encoding="UTF-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:id="l1">
  {HEADER}
  <text>
    <body>
      <head>To <persName>Ada
        <hi>Byron</hi></persName></head>
      <p>In <placeName>Rome</placeName><note>The city.</note>, with
        <rs type="ship">the Ariel</rs> and <name>Bob</name>;
        he <choice><orig>vvas</orig><reg>was</reg></choice>
        com<lb break="no"/>ing.</p>
    </body>
  </text>
</TEI>
"""
WORDS = """<TEI.2><text><body>
<s><w pos="PPER">He</w> <w pos="VB">sings</w><pc join="left">.</pc></s>
<s><persName><w>Ada</w></persName></s></body></text></TEI.2>"""


def test_blocks_are_lines_and_names_are_spans(read, tmp_path):
    found = read(LETTER, name="a.xml")

    (record,) = found.records
    assert detect(Source(tmp_path / "a.xml")).format == "tei"
    assert record.document.text == (
        "To Ada Byron\nIn Rome, with the Ariel and Bob; he vvas coming."
    )
    assert record.document.key == "l1" and record.document.meta == {"title": "A letter"}
    assert record.spans == {
        "spans": (
            Span(3, 12, "persName"), Span(16, 20, "placeName"), Span(27, 36, "ship"),
            Span(41, 44, "name"),
        )
    }  # fmt: skip
    assert found.remarks == ["a.xml: not imported: <note> (1)."]


def test_words_are_tokens_with_tags_if_all_text_is_in_them(read):
    (record,) = read(WORDS, name="a.xml").records

    assert record.document.text == "He sings. Ada"
    assert record.document.tokens == {"text": ((0, 2), (3, 8), (8, 9), (10, 13))}
    assert record.spans["pos"] == (Span(0, 2, "PPER"), Span(3, 8, "VB"))
    assert record.spans["spans"] == (Span(10, 13, "persName"),)


def test_each_text_of_a_corpus_is_a_document(read):
    body = "<text><body><p>{}</p></body></text>"
    texts = "".join(f"\n<TEI>{HEADER}{body.format(word)}</TEI>" for word in ("One", "Two"))

    found = read(f"<teiCorpus>{HEADER}{texts}\n</teiCorpus>", name="a.xml")

    assert found.texts == ["One", "Two"] and [row.line for row in found.rows] == [2, 3]
    assert found.records[0].states == {}


def test_entities_are_neither_fetched_nor_expanded(tmp_path):
    for number, declared in enumerate(
        ('<!ENTITY a "ha">', '<!ENTITY a SYSTEM "file:///etc/passwd">', '<!ENTITY % a "x">')
    ):
        path = tmp_path / f"{number}.xml"
        text = LETTER.replace("<TEI ", f"<!DOCTYPE TEI [\n{declared}\n]>\n<TEI ", 1)
        path.write_text(text.replace("In ", "&a; ") if "%" not in declared else text)

        with pytest.raises(ImportFailed, match=rf"{number}.xml, line 3: the entity a is declared"):
            list(importer("tei").read(Source(path), Options()))


def test_names_of_letters_that_an_external_document_type_declares_are_read(read):
    text = WORDS.replace("<TEI.2>", '<!DOCTYPE TEI.2 SYSTEM "teixlite.dtd">\n<TEI.2>')

    assert read(text.replace(">Ada<", ">&Eacute;ve<"), name="a.xml").texts == ["He sings. Éve"]
    with pytest.raises(ImportFailed, match=r"a.xml, line 4: the entity xyz is not known"):
        read(text.replace(">Ada<", ">&xyz;<"), name="a.xml")


def test_deep_nesting_is_refused(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text("<TEI><text><body>" + "<hi>" * 100_000)

    with pytest.raises(ImportFailed, match="more than 200 elements are within each other"):
        list(importer("tei").read(Source(path), Options()))


def test_a_text_without_words_is_skipped_and_the_preview_shows_spans(tmp_path, read):
    assert read("<TEI><text><body><p> </p></body></text></TEI>", name="a.xml").skipped == [
        (1, "the text is empty")
    ]
    path = tmp_path / "b.xml"
    path.write_text(LETTER, encoding="utf-8")
    table = importer("tei").preview(Source(path), Options(), 2)
    assert [row.cells for row in table.rows] == [("Ada Byron", "persName"), ("Rome", "placeName")]
