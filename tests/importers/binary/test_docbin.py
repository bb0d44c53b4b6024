"""spaCy's DocBin: `tests/data/spacy` was written by spaCy 3.8."""

import zlib

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Hint, Options
from workbench.importers.binary import messagepack
from workbench.importers.binary.docbin import hashed
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.text.labels import MULTI
from workbench.text.spans import Span

NAMES = (Span(0, 3, "PERSON"), Span(8, 11, "Rôle"), Span(15, 23, "GPE"))
GROUP = (Span(0, 11, "EVENT"), Span(8, 11, "PERSON"))


@pytest.fixture
def folder(tiny):
    return tiny / "spacy"


def test_hashes_are_those_of_spacy():
    # spacy.strings.hash_string of spaCy 3.8
    assert hashed(b"a") == 11901859001352538922
    assert hashed("größer".encode()) == 7601892151492143185
    assert hashed(b"12345678") == 9871996032675327904
    assert hashed(b"x" * 40) == 16963168017376624600


def test_entities_groups_and_categories_are_read(folder, read):
    found = read(folder / "all.spacy")

    first, second, third, fourth = found.records
    assert detect(Source(folder / "all.spacy")).format == "spacy"
    assert first.document.text == "Ada met Bob in New York. ORG here 😀 now"
    assert first.spans == {"spans": NAMES, "sc": GROUP, "other": (Span(15, 18, "X"),)}
    assert first.marks == {"class": ("news",)} and second.marks == {"class": ("sport",)}
    assert first.document.tokens["text"][5:8] == ((19, 23), (23, 24), (25, 28))


def test_without_annotation_a_document_is_pending_and_without_entities_it_is_not(folder, read):
    _first, second, third, fourth = read(folder / "all.spacy").records

    assert second.spans == {"spans": ()} and second.states["spans"] == "submitted"
    assert third.spans == {} and third.states == {}
    assert fourth.document.text == "un known"  # whether spaces follow its words is not known


def test_other_attributes_and_user_data_do_not_matter(folder, read):
    found = read(folder / "few.spacy", span_layer="names")

    assert found.records[0].spans["names"] == NAMES and found.records[0].spans["sc"] == GROUP


def test_several_categories_or_none_make_a_layer_of_several_classes(folder, read):
    found = read(folder / "several.spacy")

    assert found.items[0] == Hint("class", MULTI)
    assert [record.marks["class"] for record in found.records] == [("a", "b"), ()]


def test_the_texts_are_those_of_spacy(folder, read):
    spacy = pytest.importorskip("spacy")
    docs = spacy.tokens.DocBin().from_disk(folder / "all.spacy").get_docs(spacy.blank("en").vocab)

    for doc, record in zip(docs, read(folder / "all.spacy").records, strict=True):
        assert record.document.text == doc.text.rstrip()
        spans = {(span.start_char, span.end_char, span.label_) for span in doc.ents}
        found = record.spans.get("spans", ())
        assert {(span.start, span.end, span.label) for span in found} == spans


def test_the_preview_shows_texts_with_their_labels(folder):
    table = importer("spacy").preview(Source(folder / "all.spacy"), Options(), 2)

    assert len(table.rows) == 2 and table.rows[1].cells == ("No entities here.", "", "sport")
    assert table.rows[0].cells[1].startswith("Ada (PERSON), Bob (Rôle), New York (GPE)")


def test_a_string_that_is_not_listed_is_named_with_its_document(folder, tmp_path, read):
    content = zlib.decompress((folder / "all.spacy").read_bytes())
    path = tmp_path / "a.spacy"
    path.write_bytes(zlib.compress(content.replace(b"labelled", b"labeled!")))

    found = read(path)

    assert found.skipped == [(3, "the file does not list the string with the hash "
                              f"{hashed(b'labelled')}")]  # fmt: skip
    assert len(found.records) == 3


@pytest.mark.parametrize("change", [lambda raw: raw[:-30], lambda raw: raw[:200]])
def test_incomplete_files_are_refused_by_name(folder, tmp_path, change):
    path = tmp_path / "a.spacy"
    path.write_bytes(change((folder / "all.spacy").read_bytes()))

    with pytest.raises(ImportFailed, match=r"a.spacy cannot be read as a DocBin of spaCy"):
        list(importer("spacy").read(Source(path), Options()))


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"\x82\xa1a\x01\xa1b\xc3", {"a": 1, "b": True}),  # the examples of spec.md
        (b"\x93\xff\xcd\x01\x00\xc0", [-1, 256, None]),
        (b"\xcb\x3f\xf8\0\0\0\0\0\0", 1.5),
        (b"\xc4\x02ab", b"ab"),
        (b"\xd9\x02\xc3\xa4", "ä"),
    ],
)
def test_values_of_messagepack_are_read(content, value):
    assert messagepack.read(content) == value


@pytest.mark.parametrize("content", [b"", b"\x92\x01", b"\x01\x01", b"\xc1", b"\x91" * 200])
def test_damaged_messagepack_is_no_python_error(content):
    with pytest.raises(ValueError, match="byte|list"):
        messagepack.read(content)
