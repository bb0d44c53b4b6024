from workbench.importers.base import Options
from workbench.importers.source import Source
from workbench.importers.text.fasttext import FastTextImporter, split_line


def test_labels_before_the_text_are_classes_and_the_text_stays_as_it_is(read):
    records = read("__label__good A  fine film.\n__label__a __label__b two\nno label\n\n")

    assert records.texts == ["A  fine film.", "two", "no label"]
    assert [record.marks for record in records.records] == [
        {"class": ("good",)},
        {"class": ("a", "b")},
        {},
    ]
    assert [record.states for record in records.records] == [{"class": "submitted"}] * 2 + [{}]


def test_a_label_without_a_text_or_a_name_is_a_fault(read):
    records = read("__label__good\n__label__ text\n__label__x fine\n", "fasttext")

    assert records.texts == ["fine"]
    assert records.skipped == [(1, "the text is empty"), (2, "a label has no name")]


def test_a_label_within_the_text_belongs_to_it():
    assert split_line("__label__a x __label__b") == (("a",), "x __label__b")
    assert split_line("__label__a __label__a x") == (("a",), "x")


def test_a_text_that_only_mentions_the_prefix_is_plain_text(tmp_path):
    importer = FastTextImporter()

    assert importer.sniff("Write __label__x first.\nThen the text.\n", "a.txt").confidence == 0.0
    assert importer.sniff("__label__x a\n__label__y b\nc\n", "a.txt").confidence > 0.9


def test_a_preview_shows_labels_and_texts_apart(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("__label__a __label__b one\n\ntwo\n")

    table = FastTextImporter().preview(Source(path), Options(class_layer="topic"), 20)

    assert [(row.line, *row.cells) for row in table.rows] == [(1, "a, b", "one"), (3, "", "two")]
    assert ("label:topic", "label") in table.mapping
