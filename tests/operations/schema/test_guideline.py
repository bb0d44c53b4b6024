from datetime import timedelta

import pytest

from workbench.base.errors import SpecError
from workbench.operations.people import people
from workbench.operations.schema import guideline, labels
from workbench.project.check import check
from workbench.storage.documents import documents, removal
from workbench.text.dataset import Record
from workbench.text.document import Document

TEXT = "I came home. We met Dr Lovelace in London. It rained."


@pytest.fixture
def layer_id(project):
    id = labels.add_layer(project, "names", "span", labels=["PER", "LOC"])
    long = " ".join(f"word{n}" for n in range(100))
    records = [
        Record(Document("d1", (("text", TEXT),))),
        Record(Document("d2", (("text", f"{long} Ada\nKing {long}"),))),
        Record(Document("d3", (("text", "  one \n two "), ("text_b", "three")))),
    ]
    with project.edit("Import"):
        documents.add(project.db, records, source_id=project.source("import"))
    return id


def text_of(project):
    return labels.layers(project)[0].guideline


def versions(project, id):
    return [(v.number, v.author, v.text) for v in guideline.history(project, id)]


def test_an_example_has_its_sentence_and_is_one_step(project, layer_id):
    start = TEXT.index("Dr")
    example = guideline.add_example(
        project, layer_id, "PER", 1, start=start, end=start + 11, remark="With title."
    )

    assert (example.text, example.marked, example.key) == (
        "We met Dr Lovelace in London.", "Dr Lovelace", "d1",
    )  # fmt: skip
    assert guideline.examples(labels.layers(project)[0]) == (example,)
    with pytest.raises(SpecError, match="already an example of PER"):
        guideline.add_example(
            project, layer_id, "PER", 1, start=start, end=start + 11, positive=False
        )
    project.undo()
    assert text_of(project) == "" and guideline.history(project, layer_id) == ()
    project.redo()
    assert guideline.examples(labels.layers(project)[0]) == (example,)
    assert not check(project.path)


def test_a_long_sentence_is_cut_beside_the_words(project, layer_id):
    content = documents.get(project.db, 2).text
    start = content.index("Ada")

    example = guideline.add_example(project, layer_id, "PER", 2, start=start, end=start + 8)

    assert example.marked == "Ada King" and len(example.text) < 300
    assert example.text.startswith("…word") and example.text.endswith("…")


def test_a_whole_document_is_an_example_on_one_line(project, layer_id):
    example = guideline.add_example(project, layer_id, "LOC", 3, positive=False)
    assert (example.text, example.marked) == ("one two / three", "")
    assert len(guideline.add_example(project, layer_id, "LOC", 2).text) <= 301


@pytest.mark.parametrize(
    ("label", "document", "range", "message"),
    [
        ("ORG", 1, (0, 1), "no label 'ORG'"),
        ("PER", 9, (0, 1), "has been deleted"),
        ("PER", 1, (3, 3), "not in the text of d1"),
        ("PER", 1, (0, 999), "not in the text of d1"),
    ],
)
def test_what_cannot_be_an_example_is_named(project, layer_id, label, document, range, message):
    with pytest.raises(SpecError, match=message):
        guideline.add_example(project, layer_id, label, document, start=range[0], end=range[1])
    assert text_of(project) == ""


def test_what_one_person_types_is_one_version(project, layer_id, monkeypatch):
    me = people.current(project).name
    for text in ("a", "ab", "abc"):
        guideline.write(project, layer_id, text)
    assert versions(project, layer_id) == [(1, me, "abc")]

    monkeypatch.setattr(guideline, "TOGETHER", timedelta(0))
    guideline.write(project, layer_id, "later")
    assert versions(project, layer_id) == [(2, me, "later"), (1, me, "abc")]
    project.undo()
    assert versions(project, layer_id) == [(1, me, "abc")] and text_of(project) == "abc"


def test_another_person_begins_a_version_and_examples_join_it(project, layer_id):
    me = people.current(project).name
    guideline.write(project, layer_id, "mine")
    people.work_as(project, people.add(project, "Ben").id)
    guideline.write(project, layer_id, "his")
    guideline.add_example(project, layer_id, "PER", 1, start=0, end=1)

    authors = [(number, author) for number, author, _text in versions(project, layer_id)]
    assert authors == [(2, "Ben"), (1, me)]


def test_a_text_that_came_with_an_import_is_the_first_version(project):
    id = labels.add_layer(project, "class", "class", labels=["yes"], guideline="old")
    assert versions(project, id) == [(1, "", "old")]
    assert guideline.history(project, id)[0].at == ""

    guideline.write(project, id, "new")

    assert [text for _n, _a, text in versions(project, id)] == ["new", "old"]


def test_an_earlier_version_is_restored_as_a_new_one(project, layer_id, monkeypatch):
    monkeypatch.setattr(guideline, "TOGETHER", timedelta(0))
    guideline.write(project, layer_id, "first")
    guideline.add_example(project, layer_id, "PER", 1, start=0, end=1)

    guideline.restore(project, layer_id, 1)

    assert text_of(project) == "first"
    assert [v.number for v in guideline.history(project, layer_id)] == [3, 2, 1]
    project.undo()
    assert "✓" in text_of(project)
    with pytest.raises(SpecError, match="no version 7"):
        guideline.restore(project, layer_id, 7)


def test_versions_go_with_their_layer_and_return_with_it(project, layer_id):
    guideline.write(project, layer_id, "rules")
    before = versions(project, layer_id)
    labels.delete_layer(project, layer_id)
    labels.add_layer(project, "names", "span", labels=["PER"])
    assert project.db.reader().execute("select count(*) from note").fetchone() == (0,)
    project.undo()
    project.undo()
    assert versions(project, layer_id) == before
    assert not check(project.path)


def test_a_heading_follows_the_name_of_its_label_in_the_same_step(project, layer_id):
    guideline.write(project, layer_id, "## PER\n\nPersons.\n")
    labels.rename_label(project, labels.layers(project)[0].label("PER").id, "PERSON")
    assert text_of(project) == "## PERSON\n\nPersons.\n"
    project.undo()
    assert text_of(project) == "## PER\n\nPersons.\n"
    assert labels.layers(project)[0].names == ("PER", "LOC")


def test_the_labels_are_shown_but_not_stored(project, layer_id):
    labels.describe_label(project, labels.layers(project)[0].label("PER").id, "a | b")
    guideline.write(project, layer_id, "Rules.")

    shown = guideline.shown(labels.layers(project))

    assert shown == (
        "| Label | Key | Description |\n|---|---|---|\n| PER | 1 | a \\| b |\n| LOC | 2 |  |\n\n"
        "Rules.\n"
    )
    assert text_of(project) == "Rules."


def test_layers_with_one_text_show_it_once(project):
    for name in ("class", "topic"):
        labels.add_layer(project, name, "class", labels=["yes"], guideline="Rules.")
    shown = guideline.shown(labels.layers(project))
    assert shown.count("Rules.") == 1 and "# class" in shown and "# topic" in shown


def test_text_of_a_document_in_examples_is_reported_before_the_document_is_removed(
    project, layer_id, monkeypatch
):
    monkeypatch.setattr(guideline, "TOGETHER", timedelta(0))
    long = "We met Dr Lovelace in London. It rained."
    guideline.add_example(project, layer_id, "PER", 1, start=20, end=31)
    guideline.write(project, layer_id, "")  # an earlier version has it

    def redact(text):
        return text.replace(long[:29], "")

    assert removal.mentions(project.db, [1], redact) == 1
    assert removal.mentions(project.db, [1], lambda text: text) == 0
