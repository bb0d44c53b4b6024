"""Splits by shares that were chosen: what the preview says is what is made, in one step."""

from collections import Counter

import pytest

from workbench.base.errors import Cancelled, SpecError
from workbench.base.watch import Watch
from workbench.operations.documents import corpus, splits
from workbench.operations.documents.splits import SplitChoice
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.splits import SplitItem

SHARES = {"train": 0.5, "dev": 0.3, "test": 0.2}


@pytest.fixture
def hundred(add_layer, add_documents):
    """Layer topic: 100 submitted documents of two classes, 20 pending; 10 of them are in test."""
    add_layer("topic")
    return add_documents(
        [
            (
                f"text {n}",
                "test" if n < 10 else None,
                "submitted" if n < 100 else None,
                "topic",
                ("praise", "complaint")[n % 2] if n < 100 else None,
            )
            for n in range(120)
        ]
    )


def preview(project, choice):
    return splits.preview_splits(splits.split_data(project, choice.layers), choice)


def splits_of(project):
    return {record.document.id: record.document.split for record in documents.records(project.db)}


def test_a_preview_counts_by_split_and_by_label_and_changes_nothing(project, hundred):
    result = preview(project, SplitChoice(("topic",), 3, SHARES))

    assert result.counts == {"train": 50, "dev": 30, "test": 20}
    assert [(label.layer, label.label, sum(label.counts.values())) for label in result.labels] == [
        ("topic", "complaint", 50),
        ("topic", "praise", 50),
    ]
    assert (result.changed, result.kept, result.left_test, result.outside) == (90, 10, 0, 20)
    assert result.warnings == () and set(splits_of(project).values()) == {"test", None}


@pytest.mark.parametrize("keep", [True, False])
def test_what_is_made_is_what_the_preview_said_and_one_undo_takes_it_back(project, hundred, keep):
    choice = SplitChoice(("topic",), 3, SHARES, keep)
    before, promised = splits_of(project), preview(project, choice)

    assert splits.divide(project, choice) == promised

    now = splits_of(project)
    assert [list(now.values()).count(item) for item in ("train", "dev", "test", None)] == [
        50,
        30,
        20,
        20,
    ]
    assert all(now[id] == "test" for id in hundred[:10]) == keep
    assert project.undo() == "Create splits" and splits_of(project) == before


def test_documents_that_leave_test_and_splits_left_empty_are_warned_of(project, hundred):
    shares = {"train": 1.0, "dev": 0.0, "test": 0.0}

    result = preview(project, SplitChoice(("topic",), 3, shares, keep=False))

    assert result.left_test == 10
    left_test, no_dev = result.warnings
    assert left_test.startswith("10 documents move out of test") and "is in dev" in no_dev


def test_labels_that_a_split_lacks_are_named(project, add_layer, add_documents):
    add_layer("topic", names=("praise", "rare"))
    add_documents([(f"t {n}", None, "submitted", "topic", "praise") for n in range(20)])
    add_documents([("once", "test", "submitted", "topic", "rare")])

    result = preview(project, SplitChoice(("topic",), 1))

    assert result.warnings == (
        "Labels without training documents: rare.",
        "Labels without documents in dev: rare.",
    )


def test_labels_of_spans_and_of_several_layers_are_balanced(project, add_layer, add_documents):
    add_layer("topic")
    add_layer("names", "tag", ("PER",))
    add_documents([(f"a {n}", None, "submitted", "topic", "praise") for n in range(40)])
    add_documents(
        [(f"Ada {n}", None, "submitted", "names", [(0, 3, "PER")][: n % 2]) for n in range(40)]
    )

    result = preview(project, SplitChoice(("names", "topic"), 1, SHARES))

    assert {
        (label.layer, label.label): tuple(label.counts.values()) for label in result.labels
    } == {
        ("names", "PER"): (10, 6, 4),
        ("names", ""): (10, 6, 4),
        ("topic", "praise"): (20, 12, 8),
    }


def test_a_layer_over_documents_of_its_own_leaves_the_others_alone(
    project, hundred, add_layer, add_documents
):
    add_layer("mood")
    add_documents([("other", None, "submitted", "mood", "praise")] * 1)
    add_documents([("text 3", None, "submitted", "mood", "praise")])  # repeats one in test

    result = splits.divide(project, SplitChoice(("mood",), 1, keep=False))

    assert result.counts == {"train": 1, "dev": 0, "test": 1} and result.outside == 120
    assert corpus.info(project)["splits"]["none"] == 110


def test_splits_that_are_as_chosen_make_no_step(project, hundred):
    choice = SplitChoice(("topic",), 3, SHARES)
    splits.divide(project, choice)
    steps = project.history()

    assert splits.divide(project, choice).changed == 0 and project.history() == steps


class Until(Watch):
    """Cancelled as soon as that share of the act is done."""

    def __init__(self, share):
        super().__init__()
        self.limit = share

    def at(self, share):
        if share >= self.limit:
            self.cancel()
        super().at(share)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.7])
def test_cancelled_it_leaves_everything_as_it_was(project, hundred, share):
    before, steps = splits_of(project), project.history()

    with pytest.raises(Cancelled):
        splits.divide(project, SplitChoice(("topic",), 3, SHARES), watch=Until(share))

    assert splits_of(project) == before and project.history() == steps


@pytest.mark.parametrize(
    ("percent", "words"),
    [
        ((80, 10, 5), "sum to 95%"),
        ((120, -10, -10), "between 0 and 100"),
        ((0, 50, 50), "share of the train split"),
    ],
)
def test_shares_that_make_no_sense_are_refused(percent, words):
    with pytest.raises(SpecError, match=words):
        splits.checked_shares(*percent)


def test_shares_are_given_in_percent():
    assert splits.checked_shares(66.6, 33.4, 0) == pytest.approx(
        {"train": 0.666, "dev": 0.334, "test": 0}
    )


def test_documents_of_one_group_cannot_be_moved_to_dev_later(project, add_layer):
    add_layer("topic")
    items = [SplitItem(number, None, (("topic", "praise"),), "the book") for number in range(1, 9)]
    data = splits.SplitData(("topic",), tuple(items), {"the book": None}, 8)

    [message, *_rest] = splits.preview_splits(data, SplitChoice(("topic",), 1, SHARES)).warnings

    assert "all are of one group" in message


@pytest.fixture
def languages(project, add_layer):
    """Layer topic: 20 English documents, 5 of them in test, 10 German and 6 Thai ones, and 4 of no
    language.
    """
    add_layer("topic")
    names = ["en"] * 20 + ["de"] * 10 + ["th"] * 6 + [""] * 4
    records = [
        Record(
            Document(f"d{n}", (("text", f"text {n}"),), "test" if n < 5 else None,
                     meta={"language": name} if name else {}),
            {"topic": "submitted"},
            {"topic": (("praise", "complaint")[n % 2],)},
        )
        for n, name in enumerate(names)
    ]  # fmt: skip
    with project.edit("add documents"):
        documents.add(project.db, records, source_id=project.source("import"))
    return names


def by_language(project, names):
    counts = Counter()
    for record, name in zip(documents.records(project.db), names, strict=True):
        counts[name, record.document.split] += 1
    return counts


def test_what_is_trained_on_in_one_language_is_tested_in_the_others(project, languages):
    choice = SplitChoice(("topic",), 3, SHARES, by="language", train_on=("en",))

    result = splits.divide(project, choice)

    counts = by_language(project, languages)
    # 0.5 and 0.3 of train and dev: 20 · 5/8 = 12.5 and 20 · 3/8 = 7.5
    assert (counts["en", "train"], counts["en", "dev"]) in ((13, 7), (12, 8))
    assert (counts["de", "test"], counts["th", "test"], counts["", None]) == (10, 6, 4)
    assert result.left_test == 5
    assert "4 documents have no such value of language and keep their split." in result.warnings


def test_only_the_chosen_languages_are_tested(project, languages):
    choice = SplitChoice(("topic",), 3, by="language", train_on=("en",), test_on=("de",))

    result = splits.divide(project, choice)

    counts = by_language(project, languages)
    assert counts["de", "test"] == 10 and counts["th", None] == 6
    assert any("10 documents have no such value" in warning for warning in result.warnings)


def test_equal_texts_of_two_languages_are_where_their_language_is(project, add_layer):
    add_layer("topic")
    rows = [("Metro", "en"), ("Metro", "de"), ("a", "en"), ("b", "en"), ("c", "de")]
    records = [
        Record(Document(f"d{n}", (("text", text),), meta={"language": name}),
               {"topic": "submitted"}, {"topic": ("praise",)})
        for n, (text, name) in enumerate(rows)
    ]  # fmt: skip
    with project.edit("add documents"):
        documents.add(project.db, records, source_id=project.source("import"))

    splits.divide(project, SplitChoice(("topic",), 3, by="language", train_on=("en",)))

    names = [name for _text, name in rows]
    counts = by_language(project, names)
    assert (counts["de", "test"], counts["en", "test"]) == (2, 0)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"by": "language"}, "Choose a value of language to train on"),
        ({"train_on": ("en",)}, "Choose the metadata field"),
        ({"by": "language", "train_on": ("en",), "test_on": ("en",)}, "en is both"),
    ],
)
def test_rules_that_make_no_sense_are_refused(project, languages, rule, words):
    with pytest.raises(SpecError, match=words):
        splits.divide(project, SplitChoice(("topic",), 3, **rule))
