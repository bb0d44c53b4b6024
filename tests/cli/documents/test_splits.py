"""`splits`: what it would do, what it does, and what it refuses."""

import pytest

from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def labelled(file):
    """50 submitted documents of two classes, 5 of them in test, and 10 that are not submitted."""
    project = Project.open(file)
    with project.edit("fill"):
        layer = labels.add_layer(project.db, "topic", "class")
        for name in ("A", "B"):
            labels.add_label(project.db, layer, name)
        texts = [(("text", f"text {n}"),) for n in range(60)]
        records = [
            Record(
                Document(f"k{n}", text, "test" if n < 5 else None),
                {"topic": "submitted"} if n < 50 else {},
                {"topic": ("AB"[n % 2],)} if n < 50 else {},
                {},
            )
            for n, text in enumerate(texts)
        ]
        documents.add(project.db, records, source_id=project.source("import"))
    project.close()
    return file


def test_a_dry_run_shows_splits_by_label_and_writes_nothing(ask, call, labelled):
    answer = ask("splits", "splits", labelled, "--shares", "60,20,20", "--dry-run")

    assert answer["splits"] == {"train": 30, "dev": 10, "test": 10} and answer["kept"] == 5
    assert (answer["changed"], answer["outside"], answer["dry_run"]) == (45, 10, True)
    assert [(label["layer"], label["label"]) for label in answer["labels"]] == [
        ("topic", "A"),
        ("topic", "B"),
    ]
    assert ask("project-info", "project", "info", labelled)["splits"]["none"] == 55


def test_shares_seed_and_layer_decide_and_one_undo_takes_it_back(ask, labelled):
    chosen = ("--shares", "0.5/0.3/0.2", "--seed", 9, "--layer", "topic", "--anew")

    promised = ask("splits", "splits", labelled, *chosen, "--dry-run")
    answer = ask("splits", "splits", labelled, *chosen)

    assert {**promised, "dry_run": False} == answer and answer["left_test"] > 0
    info = ask("project-info", "project", "info", labelled)["splits"]
    assert info == {"train": 25, "dev": 15, "test": 10, "none": 10}
    project = Project.open(labelled)
    assert project.undo() == "Create splits"
    project.close()


def test_in_words_it_is_a_table_with_warnings_beside_it(call, labelled):
    code, out, err = call("splits", labelled, "--anew", "--shares", "90,0,10")

    assert code == 0 and "All documents" in out and "changed their split" in out
    assert "out of test" in err and "No document is in dev" in err


@pytest.mark.parametrize(
    ("arguments", "expected", "words"),
    [
        (("--shares", "80,10,5"), 2, "sum to 95%"),
        (("--shares", "80,20"), 2, "for example 80,10,10"),
        (("--layer", "mood"), 1, "Its layers: topic"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(call, labelled, arguments, expected, words):
    code, _out, err = call("splits", labelled, *arguments)

    assert code == expected and words in err


def test_without_a_submitted_document_there_is_nothing_to_divide(call, file):
    code, _out, err = call("splits", file)

    assert code == 1 and "nothing to assign" in err


def test_values_of_the_metadata_decide_what_is_test(ask, labelled):
    project = Project.open(labelled)
    layer = labels.layer_by_name(project.db, "topic")
    with project.edit("fill"):
        records = [
            Record(
                Document(
                    f"m{n}", (("text", f"other {n}"),), meta={"domain": ("news", "web")[n % 2]}
                ),
                {layer.name: "submitted"},
                {layer.name: ("A",)},
            )
            for n in range(10)
        ]
        documents.add(project.db, records, source_id=project.source("import"))
    project.close()

    answer = ask("splits", "splits", labelled, "--by", "domain", "--train-on", "news")

    assert (answer["by"], answer["train_on"], answer["test_on"]) == ("domain", ["news"], [])
    assert answer["splits"]["test"] == 10  # 5 of before and the 5 of the web
