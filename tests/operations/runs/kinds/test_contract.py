"""The table of kinds of runs: every kind is complete; an unknown one does not break a project."""

import pytest

from workbench.base.errors import SpecError
from workbench.base.paths import resource
from workbench.base.registry import builtins
from workbench.jobs.events import Finished
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.runs import runs


@pytest.mark.parametrize("id", builtins().ids(kinds.REGISTERED))
def test_every_kind_has_an_icon_and_both_halves(id):
    kind = kinds.named(id)

    assert kind.info is kinds.info(id) and kind.info.id == id
    assert resource(f"icons/{kind.info.icon}.svg").is_file()


def test_a_run_of_an_unknown_kind_is_listed_and_cannot_predict(project):
    with project.write():
        run = runs.add(project.db, "later", "of-a-later-version", status="done")

    assert kinds.info(run.kind).title == "of-a-later-version"
    with pytest.raises(SpecError, match="no model of its own"):
        kinds.of(run).model(project, run)


def test_a_run_of_an_unknown_kind_that_has_ended_stays_as_it_is(project):
    with project.write():
        run = runs.add(project.db, "later", "of-a-later-version", status="interrupted")

    kinds.of(run).finished(project, run.id, Finished("cancelled"))

    assert runs.get(project.db, run.id).status == "interrupted"
