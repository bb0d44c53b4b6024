"""The preview of "Create splits": only for the newest choice, none while the choice is invalid."""

import pytest

from tests.held import Held
from tests.ui.panels.data.conftest import Context
from workbench.base.errors import Cancelled
from workbench.operations.annotation import annotate
from workbench.operations.documents import corpus
from workbench.operations.schema import labels as schema
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.data.splits_state import SplitsState


@pytest.fixture
def project(sample_file):
    project = Project.open(sample_file)
    yield project
    project.close()


@pytest.fixture
def context(project, inline_jobs):
    return Context(project, inline_jobs)


@pytest.fixture
def state(context):
    state = SplitsState(context)
    yield state
    state.close()


def test_all_layers_with_submitted_documents_are_chosen_and_previewed(state):
    assert state.chosen == ("class", "spans", "pairs") and not state.busy
    assert state.preview.counts == {"train": 220, "dev": 70, "test": 70}
    assert state.preview.kept == 360 and not state.ready  # all of them have a split


def test_assigning_anew_by_other_shares_is_previewed(state):
    state.set_keep(False)
    state.set_share("train", 50)
    state.set_share("dev", 30)
    state.set_share("test", 20)
    state.switch_layer("spans", False)
    state.switch_layer("pairs", False)

    assert state.ready and state.choice.layers == ("class",)
    assert state.preview.counts == {"train": 150, "dev": 90, "test": 60}
    before = state.preview
    state.set_seed(5)
    assert state.preview.counts == before.counts and state.preview != before


def test_shares_that_do_not_add_up_say_so_until_they_do(state):
    state.set_keep(False)
    state.set_share("train", 70)
    assert "sum to 90%" in state.error and not state.ready

    state.set_share("test", 20)
    assert state.error == "" and state.ready


def test_without_a_layer_there_is_no_preview(state):
    for name in state.chosen:
        state.switch_layer(name, False)

    assert state.preview is None and not state.ready


def test_an_older_computation_is_called_off_and_its_answer_dropped(state, context):
    held = Held(context)
    state.set_share("train", 60)
    state.set_share("dev", 30)
    state.set_seed(2)

    held.answer(0)
    assert held.error(0) is Cancelled
    assert state.busy and context.failures == []
    held.answer(1)
    assert not state.busy and state.choice.seed == 2


def test_a_change_of_the_project_is_read_again(state, project):
    id, before = corpus.filter_ids(project, corpus.Filter())[0], state.preview.outside
    single = [layer.id for layer in schema.layers(project) if layer.texts == 1]

    annotate.discard(project, id, single)

    assert state.preview.outside == before + 1


def test_closed_while_it_computes_it_ends_and_says_nothing(context):
    state = SplitsState(context)
    held = Held(context)
    state.set_seed(3)
    state.close()

    held.answer(0)
    assert held.error(0) is Cancelled and context.failures == []


def test_an_error_of_an_older_computation_is_not_shown(state, context):
    held = Held(context)
    state.set_seed(2)
    state.set_seed(3)

    held.fail(0, ValueError("damaged"))
    held.answer(1)

    assert context.failures == [] and state.preview is not None and not state.busy


def test_one_value_of_the_metadata_is_trained_on_and_the_others_are_tested(project, context):
    names = ["en"] * 10 + ["de"] * 5
    records = [
        Record(
            Document(f"d{n}", (("text", f"own {n}"),), meta={"lang": name}), {"class": "submitted"}
        )
        for n, name in enumerate(names)
    ]
    with project.edit("add documents"):
        documents.add(project.db, records, source_id=project.source("import"))
    state = SplitsState(context)
    assert state.fields == {"lang": ("en", "de")}

    state.set_field("lang")
    assert state.ready and (state.train_on, state.test_on) == ("en", "")
    assert state.preview.counts["test"] == 70 + 5 and state.preview.changed == 15

    state.set_values(train_on="de", test_on="en")
    assert state.choice.test_on == ("en",) and state.preview.counts["test"] == 70 + 10
    state.set_values(test_on="de")
    assert "both to train and to test" in state.error and not state.ready
    state.close()
