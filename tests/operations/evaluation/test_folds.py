"""The layer that a command works on: by its name, or the only one that a model can learn."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.evaluation import folds
from workbench.operations.schema import labels


@pytest.fixture
def project(project):
    labels.add_layer(project, "class", "class", labels=["a", "b"])
    labels.add_layer(project, "spans", "span", labels=["P"])
    return project


def test_without_a_name_the_only_layer_is_taken(project):
    with pytest.raises(WorkbenchError, match="Missing --layer: a model can learn several") as found:
        folds.layer_named(project)
    assert found.value.hint == "Choose one of: class, spans."

    labels.delete_layer(project, folds.layer_named(project, "class").id)
    assert folds.layer_named(project).name == "spans"

    labels.delete_layer(project, folds.layer_named(project, "spans").id)
    with pytest.raises(WorkbenchError, match="no layer that a model can learn"):
        folds.layer_named(project)


def test_a_name_that_is_wrong_is_answered_with_those_that_there_are(project):
    with pytest.raises(WorkbenchError, match="no layer 'topic'") as found:
        folds.layer_named(project, "topic")
    assert "class, spans" in found.value.hint
