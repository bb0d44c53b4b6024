import pytest

from workbench.base.errors import SpecError
from workbench.operations.documents import corpus
from workbench.operations.documents.corpus import Filter
from workbench.operations.documents.splits import make_splits
from workbench.storage.documents import documents
from workbench.storage.labels import labels


def test_info_counts_each_document_once(project, topics):
    result = corpus.info(project)

    assert result["documents"] == 20 and result["layers"] == [
        {
            "layer": "topic",
            "kind": "class",
            "labels": 2,
            "states": {"pending": 4, "draft": 0, "submitted": 16, "discarded": 0},
        }
    ]
    assert result["splits"] == {"train": 8, "dev": 4, "test": 4, "none": 4}
    assert (
        result["states"] == {"pending": 4, "draft": 0, "submitted": 16, "discarded": 0}
        and result["runs"] == []
    )


def test_labels_are_listed_with_counts(project, topics):
    (layer,) = corpus.labels(project)

    assert [(label["name"], label["count"]) for label in layer["labels"]] == [
        ("praise", 8),
        ("complaint", 8),
    ]


def test_documents_are_found_by_word_split_and_state(project, topics):
    _layer, ids = topics

    assert len(corpus.filter_ids(project, Filter(text="lift gate"))) == 5
    assert list(corpus.filter_ids(project, Filter(split="none"))) == ids[-4:]
    assert [
        row.key
        for row in corpus.rows(
            project, corpus.filter_ids(project, Filter(state="pending", text="lift"))
        )
    ] == ["d18"]


def test_deleting_many_is_one_step(project, topics):
    _layer, ids = topics

    assert (
        corpus.delete_documents(project, ids[:15]) == 15 and corpus.counts(project).documents == 5
    )
    assert project.undo() == "Delete 15 documents" and corpus.counts(project).documents == 20


def test_splits_classes_and_states_are_set_for_many(project, topics):
    layer, ids = topics
    praise = labels.layer_by_name(project.db, "topic").label("praise").id

    assert corpus.set_split(project, ids, "test") == 16
    assert corpus.set_class(project, ids[-4:], layer.id, praise) == 4
    assert corpus.set_state(project, ids[-4:], layer.id, "submitted") == 4
    assert (
        corpus.info(project)["states"]["submitted"] == 20
        and corpus.info(project)["splits"]["test"] == 20
    )


def test_documents_without_a_class_are_not_submitted_by_a_bulk_act(project, topics):
    layer, ids = topics

    corpus.set_state(project, ids[-4:], layer.id, "submitted")

    assert corpus.info(project)["states"] == {
        "pending": 0,
        "draft": 4,
        "submitted": 16,
        "discarded": 0,
    }


def test_unknown_splits_and_states_are_refused(project, topics):
    layer, ids = topics
    with pytest.raises(SpecError):
        corpus.set_split(project, ids, "odd")
    with pytest.raises(SpecError):
        corpus.set_state(project, ids, layer.id, "odd")


def test_splits_are_made_once_of_what_is_submitted(project, add_layer, add_documents):
    add_layer("topic")
    add_documents(
        [
            (
                f"text {n}",
                None,
                "submitted" if n < 100 else None,
                "topic",
                ("praise", "complaint")[n % 2] if n < 100 else None,
            )
            for n in range(120)
        ]
    )

    splits = make_splits(project, "topic")

    assert (splits.train, splits.dev, splits.test, splits.changed) == (80, 10, 10, 100)
    assert (
        corpus.info(project)["splits"]["none"] == 20 and make_splits(project, "topic").changed == 0
    )


def test_equal_texts_fall_into_one_split(project, add_layer, add_documents):
    add_layer("topic")
    add_documents([(f"text {n % 30}", None, "submitted", "topic", "praise") for n in range(60)])

    make_splits(project)

    result = {}
    for record in documents.records(project.db):
        result.setdefault(record.document.text, set()).add(record.document.split)
    assert all(len(splits) == 1 for splits in result.values())


def splits_of(project):
    return {record.document.id: record.document.split for record in documents.records(project.db)}


def test_each_layer_over_documents_of_its_own_gets_all_three_splits(
    project, add_layer, add_documents
):
    add_layer("topic")
    add_layer("mood")
    topics = add_documents(
        [(f"text {n}", None, "submitted", "topic", "praise") for n in range(100)]
    )
    make_splits(project, "topic")
    before = splits_of(project)
    moods = add_documents([(f"other {n}", None, "submitted", "mood", "praise") for n in range(50)])

    splits = make_splits(project)

    assert (splits.train, splits.dev, splits.test, splits.changed) == (120, 15, 15, 50)
    now = splits_of(project)
    assert {id: now[id] for id in topics} == before
    assert [[now[id] for id in moods].count(split) for split in ("train", "dev", "test")] == [
        40,
        5,
        5,
    ]


def test_a_second_layer_over_the_same_documents_changes_no_split(project, add_layer, add_documents):
    topic, mood = add_layer("topic"), add_layer("mood")
    ids = add_documents([(f"text {n}", None, "submitted", "topic", "praise") for n in range(100)])
    make_splits(project, "topic")
    before = splits_of(project)
    corpus.set_class(project, ids, mood.id, mood.label("praise").id)
    corpus.set_state(project, ids, mood.id, "submitted")

    assert make_splits(project, "mood").changed == 0 == make_splits(project).changed
    assert splits_of(project) == before and topic.id != mood.id


def test_a_second_layer_that_is_labelled_in_test_and_train_takes_its_dev_from_train(
    project, add_layer, add_documents
):
    add_layer("topic")
    mood = add_layer("mood")
    ids = add_documents([(f"text {n}", None, "submitted", "topic", "praise") for n in range(100)])
    make_splits(project, "topic")
    before = splits_of(project)
    some = [id for id in ids if before[id] != "dev"]
    corpus.set_class(project, some, mood.id, mood.label("praise").id)
    corpus.set_state(project, some, mood.id, "submitted")

    make_splits(project, "mood")

    moved = {id: split for id, split in splits_of(project).items() if split != before[id]}
    assert (
        len(moved) == 8
        and {before[id] for id in moved} == {"train"}
        and set(moved.values()) == {"dev"}
    )


def test_later_documents_go_to_train_and_repeated_texts_of_test_to_test(
    project, add_layer, add_documents
):
    add_layer("topic")
    mood = add_layer("mood")
    ids = add_documents([(f"text {n}", None, "submitted", "topic", "praise") for n in range(100)])
    make_splits(project, "topic")
    before = splits_of(project)
    tested = next(n for n, id in enumerate(ids) if before[id] == "test")

    later = add_documents([(f"later {n}", None, "submitted", "topic", "praise") for n in range(50)])
    repeated = add_documents(
        [
            (f"text {tested}", None, "submitted", "mood", "praise"),
            ("text", None, "submitted", "mood", "complaint"),
        ]
    )
    make_splits(project, "topic")
    make_splits(project, mood.name)

    now = splits_of(project)
    assert {now[id] for id in later} == {"train"} and {id: now[id] for id in ids} == before
    assert now[repeated[0]] == "test" and now[repeated[1]] != "test"


@pytest.mark.parametrize(
    ("given", "expected"), [({"test": 20}, (72, 8, 20)), ({"train": 40, "test": 20}, (72, 8, 20))]
)
def test_splits_of_an_import_are_kept_and_the_rest_never_joins_its_test(
    project, add_layer, add_documents, given, expected
):
    add_layer("topic")
    splits = [split for split, count in given.items() for _ in range(count)]
    splits += [None] * (100 - len(splits))
    ids = add_documents(
        [(f"text {n}", split, "submitted", "topic", "praise") for n, split in enumerate(splits)]
    )

    result = make_splits(project, "topic")

    assert (result.train, result.dev, result.test) == expected
    now = splits_of(project)
    assert [now[id] for id, split in zip(ids, splits, strict=True) if split == "test"] == [
        "test"
    ] * 20


def test_a_sound_project_has_no_problems(project, topics):
    assert corpus.check(project) == ()


def test_a_class_that_all_have_already_makes_no_step(project, topics):
    layer, ids = topics
    corpus.set_class(project, ids[:1], layer.id, layer.label("praise").id)
    steps = len(project.history())

    assert corpus.set_class(project, ids[:1], layer.id, layer.label("praise").id) == 0
    assert len(project.history()) == steps
