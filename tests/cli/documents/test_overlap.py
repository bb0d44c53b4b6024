"""`overlap`: which documents share n-grams with text files."""

from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document

LONG = "the 42 tram to the old harbour was late again this cold and wet morning"


def test_documents_of_the_split_that_occur_in_a_folder_of_texts_are_listed(ask, call, file):
    project = Project.open(file)
    texts = ((LONG, "test"), (LONG.upper() + "!", "train"), ("thank you", "test"))
    with project.edit("fill"):
        records = [
            Record(Document(f"k{n}", (("text", text),), split))
            for n, (text, split) in enumerate(texts)
        ]
        documents.add(project.db, records, source_id=project.source("import"))
    project.close()
    folder = file.parent / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text(f"Before.\n{LONG.title()}, and more.\n", encoding="utf-8")

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
