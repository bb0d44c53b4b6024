"""`duplicates` and `overlap`: what they list, and the acts on duplicates."""

import pytest

from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.dataset import Record
from workbench.text.document import Document

LONG = "the 42 tram to the old harbour was late again this cold morning"
TEXTS = ((LONG, "train"), (LONG, "test"), (LONG + " ok", "train"), ("alone", None))


@pytest.fixture
def filled(file):
    project = Project.open(file)
    with project.edit("fill"):
        labels.add_label(project.db, labels.add_layer(project.db, "topic", "class"), "A")
        records = [
            Record(
                Document(f"k{n}", (("text", text),), split),
                {} if n else {"topic": "submitted"},
                {} if n else {"topic": ("A",)},
            )
            for n, (text, split) in enumerate(TEXTS)
        ]
        documents.add(project.db, records, source_id=project.source("import"))
    project.close()
    return file


def info(ask, file):
    return ask("project-info", "project", "info", file)


def test_equal_texts_are_listed_and_similar_ones_on_demand(ask, call, filled):
    exact = ask("duplicates", "duplicates", filled)
    near = ask("duplicates", "duplicates", filled, "--near", "0.8")

    assert [(item["keys"], item["leak"]) for item in exact["groups"]] == [(["k0", "k1"], True)]
    assert near["groups"][0]["keys"] == ["k0", "k1", "k2"] and near["surplus"] == 2
    assert near["groups"][0]["similarity"] == pytest.approx(12 / 13)
    assert "k0 (train), k1 (test)" in call("duplicates", filled)[1]


def test_leaks_are_fixed(ask, filled):
    answer = ask("duplicates", "duplicates", filled, "--fix", "held-out", "--leaks")

    assert answer["done"] == {"act": "fix", "documents": 1}
    assert info(ask, filled)["splits"] == {"train": 1, "dev": 0, "test": 2, "none": 1}


def test_labels_are_copied_and_the_rest_deleted(ask, filled):
    alike = ask("duplicates", "duplicates", filled, "--alike", "gold")
    kept = ask("duplicates", "duplicates", filled, "--near", "0.8", "--keep-one")

    assert alike["done"] == {"act": "alike", "documents": 1, "labels": 1, "lost": 0}
    assert kept["done"] == {"act": "keep-one", "documents": 2}
    assert info(ask, filled)["documents"] == 2


def test_without_duplicates_an_act_fails_and_two_acts_are_refused(call, file):
    assert call("duplicates", file, "--fix", "train")[0] == 1
    assert call("duplicates", file, "--fix", "train", "--keep-one")[0] == 2
    assert "0 groups" in call("duplicates", file)[1]


LINE = "the 42 tram to the old harbour was late again this cold and wet morning"


def test_documents_of_the_split_that_occur_in_a_folder_of_texts_are_listed(ask, call, file):
    project = Project.open(file)
    texts = ((LINE, "test"), (LINE.upper() + "!", "train"), ("thank you", "test"))
    with project.edit("fill"):
        records = [
            Record(Document(f"k{n}", (("text", text),), split))
            for n, (text, split) in enumerate(texts)
        ]
        documents.add(project.db, records, source_id=project.source("import"))
    project.close()
    folder = file.parent / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text(f"Before.\n{LINE.title()}, and more.\n", encoding="utf-8")

    found = ask("overlap", "overlap", file, folder)
    every = ask("overlap", "overlap", file, folder, "--split", "all", "--ngram", "5")

    (row,) = found["rows"]
    assert (row["key"], row["share"], found["share"]) == ("k0", 1.0, 1.0)
    assert row["words"] == "the 42 tram to the old harbour was late again this cold and"
    assert (found["documents"], found["short"]) == (2, 1)
    assert [item["key"] for item in every["rows"]] == ["k0", "k1"] and every["size"] == 5
    said = call("overlap", file, folder)[1]
    assert "share 13-grams of words with the texts: 1 of 1 (100.0%)" in said
    assert "There is no file" in call("overlap", file, folder / "none.txt")[2]
