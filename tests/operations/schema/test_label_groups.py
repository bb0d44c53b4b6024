"""Sublabels: setting a parent, and what happens to them when the parent changes."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import annotate
from workbench.operations.documents import corpus
from workbench.operations.schema import label_changes, label_groups, label_moves, labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record, layer_from_json, layer_to_json
from workbench.text.document import Document
from workbench.text.labels import Label
from workbench.text.rows import row_id

NAMES = ("LOC", "PER", "MAN", "WOMAN", "ORG")


@pytest.fixture
def ids(project):
    """Label name → id, with MAN and WOMAN below PER."""
    layer = labels.add_layer(project, "names", "span", labels=NAMES)
    found = {label.name: row_id(label) for label in tree(project, layer).labels}
    label_groups.set_parent(project, [found["WOMAN"], found["MAN"]], found["PER"])
    return found


def tree(project, layer=None):
    return next(item for item in labels.layers(project) if layer in (None, item.id))


def parents(project):
    return [(label.name, label.parent) for label in tree(project).labels]


GROUPED = [("LOC", ""), ("PER", ""), ("MAN", "PER"), ("WOMAN", "PER"), ("ORG", "")]


def test_sublabels_follow_their_parent_and_undo_takes_them_out(project, ids):
    labels.move_label(project, ids["PER"], 0)

    assert [name for name, _parent in parents(project)] == ["PER", "MAN", "WOMAN", "LOC", "ORG"]
    project.undo()
    assert parents(project) == GROUPED
    project.undo()
    assert not tree(project).grouped
    project.redo()
    assert parents(project) == GROUPED


@pytest.mark.parametrize(
    ("label", "parent", "message"),
    [
        ("LOC", "MAN", "MAN is a sublabel of PER"),
        ("PER", "LOC", "PER has sublabels"),
        ("LOC", "LOC", "itself"),
    ],
)
def test_groups_are_one_level_deep(project, ids, label, parent, message):
    with pytest.raises(WorkbenchError, match=message):
        label_groups.set_parent(project, [ids[label]], ids[parent])


def test_a_parent_is_in_the_same_layer(project, ids):
    other = labels.add_layer(project, "other", "span", labels=["X"])
    with pytest.raises(WorkbenchError, match="must be a label of the layer other"):
        label_groups.set_parent(project, [row_id(tree(project, other).labels[0])], ids["PER"])


def test_deleting_a_parent_leaves_its_sublabels_and_says_so(project, ids):
    message = labels.will_go(project, [ids["PER"]])
    labels.delete_label(project, ids["PER"])

    assert message.endswith("2 sublabels remain, without a parent.")
    assert parents(project) == [("LOC", ""), ("MAN", ""), ("WOMAN", ""), ("ORG", "")]
    project.undo()
    assert parents(project) == GROUPED


def test_merging_a_parent_hands_its_sublabels_on(project, ids):
    message = label_changes.merge_text(project, [ids["PER"]], ids["ORG"])
    label_changes.merge(project, [ids["PER"]], ids["ORG"])

    assert message.endswith("2 sublabels move to ORG.")
    assert [name for name, parent in parents(project) if parent == "ORG"] == ["MAN", "WOMAN"]


def test_a_sublabel_that_its_parent_is_merged_into_becomes_the_parent(project, ids):
    label_changes.merge(project, [ids["PER"]], ids["MAN"])

    assert ("MAN", "") in parents(project) and ("WOMAN", "MAN") in parents(project)


def test_sublabels_move_to_another_layer_with_their_parent(project, ids):
    other = labels.add_layer(project, "other", "span")
    message = label_moves.move_text(project, [ids["PER"]], other)
    label_moves.move(project, [ids["PER"]], other)

    assert message.endswith("2 sublabels are moved as well.")
    found = [(label.name, label.parent) for label in tree(project, other).labels]
    assert found == [("PER", ""), ("MAN", "PER"), ("WOMAN", "PER")]
    project.undo()
    assert parents(project) == GROUPED


def test_queries_and_filters_for_a_parent_find_sublabels(project, ids):
    with project.edit("Import"):
        records = [Record(Document(str(n), (("text", "Ada"),))) for n in range(3)]
        rows = documents.add(project.db, records, source_id=project.source("import"))
    annotate.add_span(project, rows[0], 0, 3, ids["PER"])
    annotate.add_span(project, rows[1], 0, 3, ids["WOMAN"])

    def found(**wanted):
        return list(corpus.filter_ids(project, corpus.Filter(**wanted)))

    assert found(label_id=ids["PER"]) == rows[:2] and found(label_id=ids["WOMAN"]) == rows[1:2]
    listed = {label["name"]: label for label in corpus.labels(project)[0]["labels"]}
    assert listed["PER"]["count_with_sublabels"] == 2 and listed["PER"]["count"] == 1
    assert listed["WOMAN"]["parent"] == "PER"


def test_the_own_format_keeps_parents(project, ids):
    layer = tree(project)

    read = layer_from_json(layer_to_json(layer))

    assert [(label.name, label.parent) for label in read.labels] == GROUPED
    assert "parent" not in layer_to_json(layer)["labels"][0]


def test_labels_added_with_a_parent_get_it_unless_that_would_be_a_second_level(project):
    wanted = (Label("B", parent="A"), Label("A"), Label("C", parent="B"), Label("D", parent="no"))
    layer = labels.add_layer(project, "names", "span", labels=wanted)

    found = {label.name: label.parent for label in tree(project, layer).labels}
    assert found == {"A": "", "B": "A", "C": "", "D": ""}
