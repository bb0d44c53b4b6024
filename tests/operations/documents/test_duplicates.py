"""Duplicates of a project: groups, leaks, and what is done with them."""

import pytest

from workbench.base.errors import Cancelled, SpecError
from workbench.base.watch import Watch
from workbench.operations.documents import duplicates
from workbench.operations.runs import training_data
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document

LONG = "the 42 tram to the old harbour was late again this cold morning"
NEAR = LONG.replace("cold", "wet")
TEXTS = (
    (LONG, "train"),
    ("thank you driver", "train"),
    (LONG, "test"),
    (NEAR, "dev"),
    ("thank you driver", None),
    ("something else", "test"),
)


def fill(project, texts=TEXTS):
    records = [
        Record(Document(f"k{n}", (("text", text),), split)) for n, (text, split) in enumerate(texts)
    ]
    with project.edit("fill"):
        return documents.add(project.db, records, source_id=project.source("import"))


def splits(project):
    return [split for _id, split in sorted(documents.splits(project.db).items())]


def test_equal_texts_are_groups_and_leaks_come_first(project):
    ids = fill(project)

    found = duplicates.find(project, near=None)

    leak, other = found.groups
    assert leak.ids == (ids[0], ids[2]) and leak.leaks_test and leak.exact
    assert other.ids == (ids[1], ids[4]) and not other.leak
    assert (leak.similarity, found.documents, found.surplus) == (1.0, 6, (ids[2], ids[4]))


def test_near_duplicates_join_equal_texts(project):
    ids = fill(project)

    first, second = duplicates.find(project, near=0.6).groups

    assert first.ids == (ids[0], ids[2], ids[3]) and first.splits == ("train", "test", "dev")
    assert first.similarity == pytest.approx(10 / 14) and not first.exact  # of 12 bigrams each
    assert second.exact


def test_only_the_given_documents_are_compared(project):
    ids = fill(project)

    assert duplicates.find(project, ids[3:0:-1], near=None).groups == ()
    assert duplicates.find(project, (), near=0.8).groups == ()


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("train", ["train", "train", "train", "train", None, "test"]),
        ("held-out", ["test", "train", "test", "test", None, "test"]),
        ("remove", [None, "train", "test", None, None, "test"]),
    ],
)
def test_leaks_are_fixed_by_a_rule_as_one_step(project, rule, expected):
    fill(project)
    found = duplicates.find(project, near=0.6)
    before = splits(project)

    duplicates.fix_leaks(project, found.leaks, rule)

    assert splits(project) == expected
    assert duplicates.refreshed(project, found).leaks == ()
    assert project.undo() == "Fix 1 leak" and splits(project) == before


def test_what_is_not_a_rule_or_a_similarity_is_refused(project):
    with pytest.raises(SpecError, match="no rule 'x'"):
        duplicates.fix_leaks(project, (), "x")
    for wrong in ({"near": 0.1}, {"near": 1.1}, {"size": 0}):
        with pytest.raises(SpecError):
            duplicates.find(project, **wrong)


def test_ignored_groups_stay_ignored_until_their_texts_change(project):
    fill(project)
    found = duplicates.find(project, near=None)
    duplicates.ignore(project, [found.groups[1]])

    again = duplicates.find(project, near=None)

    assert [group.ignored for group in again.groups] == [False, True] and len(again.shown) == 1
    fill(project, [("thank you driver", None)])
    assert duplicates.find(project, near=None).groups[1].ignored  # another copy of the same text
    duplicates.show_again(project, again.groups)
    assert len(duplicates.refreshed(project, again).shown) == 2
    project.undo(3)
    assert len(duplicates.find(project, near=None).shown) == 2


def test_deleted_documents_leave_their_groups(project):
    ids = fill(project)
    found = duplicates.find(project, near=0.6)
    with project.edit("delete"):
        documents.delete(project.db, [ids[4], ids[0]])

    (left,) = duplicates.refreshed(project, found).groups

    assert left.ids == (ids[2], ids[3])


def test_equal_texts_of_train_and_test_are_warned_of_before_a_training(project):
    labels.add_layer(project, "topic", "class", labels=("a",))
    fill(project)

    (_never, message) = training_data.plan(project, "classify").warnings

    assert message.startswith("1 document of dev or test has the same text as one of train")


def test_the_search_can_be_cancelled_and_leaves_no_files(project):
    fill(project)
    watch = Watch(lambda share: share > 0.05 and watch.cancel(), clock=iter(range(99)).__next__)

    with pytest.raises(Cancelled):
        duplicates.find(project, watch=watch)

    assert list(duplicates.scratch.root().glob("*")) == []
