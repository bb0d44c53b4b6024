"""Rules of a relation layer in their dialog: read, typed, refused where they name no label."""

import pytest

from tests.panel_tasks import context
from workbench.base.errors import WorkbenchError
from workbench.operations.schema import labels
from workbench.storage.labels import labels as store
from workbench.ui.panels.labels.rules import RulesDialog, shown_pairs, typed_pairs
from workbench.ui.panels.labels.state import LabelsState


@pytest.fixture
def state(project):
    labels.add_layer(project, "names", "span", labels=("PER", "T-SHIRT"))
    labels.add_layer(project, "links", "relation", labels=("knows", "wears"))
    made = LabelsState(context(project=project, commands_changed=lambda: None))
    made.choose_layer(store.layer_by_name(project.db, "links").id)
    yield made
    made.close()


def test_pairs_are_typed_with_any_arrow_even_if_a_label_has_a_hyphen():
    found = typed_pairs("PER → T-SHIRT, * - PER,", ("PER", "T-SHIRT"))

    assert found == [("PER", "T-SHIRT"), ("", "PER")]
    assert shown_pairs(found) == "PER → T-SHIRT, * → PER"


def test_an_unknown_label_in_a_pair_is_named():
    with pytest.raises(WorkbenchError, match="“PER → LOC” is not a pair"):
        typed_pairs("PER → LOC", ("PER",))


def test_the_dialog_saves_direction_and_pairs_and_the_page_tells_of_them(state, look, qtbot):
    dialog = RulesDialog(None, state, state.layer.layer)
    qtbot.addWidget(dialog)
    box, field = dialog.lines["wears"]
    field.setText("PER > SOCK")
    dialog.save()
    assert not dialog.result()

    field.setText("PER > T-SHIRT")
    dialog.lines["knows"][0].setChecked(False)
    dialog.save()

    assert state.layer.layer.options == {
        "spans": "names",
        "undirected": ["knows"],
        "pairs": {"wears": [["PER", "T-SHIRT"]]},
    }
    assert state.kind_text == "Connects spans of the layer names; 2 labels have rules."
