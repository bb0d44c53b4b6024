import pytest

from workbench.storage.documents import documents
from workbench.storage.queries import search
from workbench.storage.queries.listing import Filter
from workbench.text.dataset import Record
from workbench.text.document import Document

TEXTS = {
    "english": "Ada met Bob in Berlin. It's e-mail number 42.",
    "chinese": "我们昨天去了北京大学。",
    "thai": "ฉันกินข้าวที่กรุงเทพ",
    "japanese": "東京タワーへ行きました",
    "emoji": "so happy \U0001f600\U0001f44d\U0001f3fd today ❤️",
    "hebrew": "שָׁלוֹם לכולם",
    "hindi": "मैं हिन्दी में लिखता हूँ",
    "german": "Größe und Übermut",
    "surrogate": "broken \ud800 half",
    "null": "with\x00null inside",
    "signs": "price: $$$ !!!",
}


@pytest.fixture
def filled(project):
    with project.edit("Import"):
        records = [Record(Document(key, (("text", text),))) for key, text in TEXTS.items()]
        documents.add(project.db, records, source_id=project.source("import"))
    return project


def found(project, text):
    return [
        row.key for row in documents.rows(project.db, documents.ids(project.db, Filter(text=text)))
    ]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("berlin", ["english"]),
        ("berl", ["english"]),  # as one types
        ("berl ada", []),  # a beginning only for the last word
        ("ada berl", ["english"]),
        ("北京", ["chinese"]),
        ("京", ["chinese", "japanese"]),
        ("京北", []),
        ("ข้าว", ["thai"]),
        ("กรุงเทพ", ["thai"]),
        ("タワー", ["japanese"]),
        ("\U0001f600", ["emoji"]),
        ("\U0001f44d", ["emoji"]),
        ("❤", ["emoji"]),
        ("שלום", ["hebrew"]),  # without vowel signs
        ("हिन्दी", ["hindi"]),
        ("grosse", []),
        ("größe", ["german"]),
        ("uber", ["german"]),  # without diacritics
        ("half", ["surrogate"]),
        ("null inside", ["null"]),  # a null sign ends a word
        ("$$$", ["signs"]),
        ('"', []),
        ("it's e-mail", ["english"]),
        ("AND OR NOT", []),
        ("xyz", []),
    ],
)
def test_search_finds_words_in_every_script(filled, text, keys):
    assert found(filled, text) == keys


def test_texts_come_back_exactly_as_they_went_in(filled):
    stored = {row.document.key: row.document.text for row in documents.records(filled.db)}
    assert stored == TEXTS


def test_a_deleted_document_is_not_found_and_undo_brings_it_back(filled):
    with filled.edit("Delete"):
        documents.delete(filled.db, documents.ids(filled.db, Filter(text="北京")))
    assert found(filled, "北京") == []

    filled.undo()
    assert found(filled, "北京") == ["chinese"]


def test_seg_leaves_plain_text_alone_and_splits_letters_of_scripts_without_spaces():
    assert search.seg("plain text") == "plain text"
    assert search.seg("a中国b").split() == ["a", "中", "国", "b"]
    assert search.seg("\U0001f600!").split() == ["u1f600", "!"]


def test_a_snippet_is_cut_around_the_first_match():
    text = "a " * 200 + "needle" + " b" * 200

    piece = search.snippet(text, "Needle", width=60)

    assert "needle" in piece and piece.startswith("…") and piece.endswith("…") and len(piece) <= 62
    assert search.snippet("short\n text") == "short text"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("GERM", ["german"]),  # a part of a key, in any case
        ("erma", ["german"]),
        ("sign", ["signs"]),
        ("e_r", []),  # no pattern
        ("%", []),
    ],
)
def test_keys_are_searched_too(filled, text, keys):
    assert found(filled, text) == keys


def test_a_row_shows_its_text_around_what_was_searched(filled):
    with filled.edit("More"):
        text = "word " * 500 + "ein Übermut " + "word " * 2000
        records = [Record(Document("long", (("text", text),)))]
        ids = documents.add(filled.db, records, source_id=filled.source("import"))

    (plain,) = documents.rows(filled.db, ids)
    (row,) = documents.rows(filled.db, ids, found_by="übermut")
    assert plain.text.startswith("word") and "Übermut" in row.text
    assert row.length == len(text)
