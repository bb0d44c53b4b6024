"""The names that a query is completed with."""

import pytest

from tests import panel_tasks
from tests.held import Held
from workbench.operations.schema import labels
from workbench.ui.project.query_text import QueryText


@pytest.fixture
def text(project):
    context = panel_tasks.context(project=project)
    made = QueryText(context)
    made.held = Held(context)
    yield made
    made.close()


def offered(text):
    return [offer.text for offer in text.offers("label:", 6)]


def test_names_that_were_read_before_a_change_do_not_replace_those_read_after_it(text):
    text.read_names()
    text.held.compute(0)
    labels.add_layer(text.project, "mood", "class", labels=("good",))
    text.read_names()

    text.held.answer(1, 0)

    assert any("good" in offer for offer in offered(text))


def test_names_that_could_not_be_read_are_read_again(text):
    text.read_names()
    text.held.fail(0, error := OSError("no disk"))
    text.read_names()

    assert len(text.held) == 2 and text.context.faults == [error]
