"""Views that examine the documents of the project: looked up, started, cancelled, shown."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests import panel_tasks
from tests.ui.panels.inspect.shown import Page, cells, items, named, texts
from workbench.base.errors import WorkbenchError
from workbench.base.events import ALL, Signal
from workbench.base.registry import registry
from workbench.inspection.group_swap.info import GroupEffect, GroupSwap, SwappedDocument
from workbench.inspection.layer_similarity.info import LayerSimilarity
from workbench.inspection.probes.info import ProbedLayer, ProbedModel, ProbeInterval, Probes
from workbench.operations.inspecting import examine
from workbench.operations.inspecting.inspect import InspectableModel
from workbench.ui.panels.inspect.controls import OptionForm
from workbench.ui.panels.inspect.declared import view_of
from workbench.ui.panels.inspect.examined import Examined
from workbench.ui.panels.inspect.views.plain import PLAIN
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.meter import Meter
from workbench.ui.widgets.tables.table import Table

RUN = InspectableModel("run 1", "first · class", "/run/1", "classify", 1, "class")
OTHER = InspectableModel("model bert", "bert", "/bert")
SIMILARITY = LayerSimilarity("model", "model", ((1.0, 0.25), (0.25, 1.0)), 11, 3, True)


def layer(accuracy, control):
    parts = (accuracy, control, accuracy - control)
    return ProbedLayer(*(ProbeInterval(value, value - 0.1, value + 0.1) for value in parts))


PROBES = Probes(
    "class",
    False,
    (
        ProbedModel("bert", (layer(0.5, 0.4), layer(0.6, 0.4)), True),
        ProbedModel("model", (layer(0.5, 0.4), layer(0.9, 0.3))),
    ),
    2,
    0.5,
    20,
    10,
    12,
    0.7,
)


@pytest.fixture
def page(monkeypatch):
    page = Page()
    page.kept, page.job = None, lambda _watch: PROBES
    page.choice, page.choices, page.project = RUN, (RUN, OTHER), None
    queue = SimpleNamespace(jobs=[], changed=Signal("queue"))
    page.context = panel_tasks.context(queue=queue, settings=SimpleNamespace(device="auto"))
    page.jobs = panel_tasks.hold(page.context, "compute")  # called, they run

    def compute(_queue, _prepared, *, device, watch):
        watch.at(0.0)
        return page.job(watch)

    prepared = SimpleNamespace(documents=1234, output="before")
    monkeypatch.setattr(examine, "prepare", lambda *given: prepared)
    monkeypatch.setattr(examine, "kept", lambda given: page.kept)
    monkeypatch.setattr(examine, "layers", lambda project, model: ("class", "spans"))
    monkeypatch.setattr(examine, "computes", lambda _job, _prepared: True)
    monkeypatch.setattr(examine, "compute", compute)
    return page


def start(view):
    return named(view, "Examine documents", Button)


def cancel(view):
    return named(view, "Cancel", Button)


def shown(qtbot, page, id, kind=None):
    state = Examined(page, id)
    view = view_of(kind or registry().view("inspector", id), state)
    qtbot.addWidget(view)
    view.resize(800, 700)
    state.changed.connect(view.show_state)
    view.show_state(ALL)
    return state, view


def test_a_result_that_was_kept_is_shown_without_a_job(qtbot, page):
    page.kept = SIMILARITY
    state, view = shown(qtbot, page, "layer_similarity")

    state.ask()

    assert state.result is SIMILARITY and not page.jobs and start(view).isHidden()
    assert cells(view.part("table"))[1] == ["1.00", "0.25"]
    assert "Rows and columns: layers of first · class, from 11 words of 3 documents" in texts(view)
    assert view.data() == [["Layer", 0, 1], [0, 1.0, 0.25], [1, 0.25, 1.0]]


def test_documents_are_examined_on_a_click_with_progress(qtbot, page):
    state, view = shown(qtbot, page, "probes")
    state.ask()
    assert any(text.startswith("1,234 documents of the project") for text in texts(view))

    start(view).click()
    seen = []

    def job(watch):
        watch.at(0.42)
        watch.event({})  # shown at once
        seen.append(("42%" in texts(view), cancel(view).isHidden()))
        return PROBES

    page.job = job
    page.jobs.pop()()

    assert seen == [(True, False)]

    assert state.current and state.share is None and cancel(view).isHidden()
    names = [series.name for series in view.part("chart").series]
    assert names[0] == "before fine-tuning: labels" and names[3].endswith("control task")
    best = "Best: layer 1 with 90.0% (95%: 80.0 – 100.0), selectivity 60.0, of 10 documents"
    assert any(text.startswith(best) for text in texts(view))
    assert items(named(view, "Labels")) == ["class", "spans"]

    view.part("chart").opened.emit(2, 1)  # of the second model
    assert view.part("table").chosen_rows()[0][:2] == ("after fine-tuning", 1)


def test_a_job_that_waits_names_the_job_before_it(qtbot, page):
    state, view = shown(qtbot, page, "probes")
    state.ask()
    start(view).click()
    queue, job = page.context.queue, SimpleNamespace(spec=None, changed=Signal("job"))
    job.status, job.behind, job.can_run_first, job.over = "waiting", "tags", True, False
    queue.jobs.append(job)

    def wait(watch):
        watch.wait_behind("tags")
        queue.changed.emit(job, None)
        meter = view.findChild(Meter)
        assert "Waiting for tags" in texts(view) and meter.isHidden()
        assert "Waiting for another job" in texts(view)
        job.status, job.behind = "running", ""
        watch.wait_behind("")
        queue.changed.emit(job, None)
        assert "Waiting for tags" not in texts(view) and not meter.isHidden()
        return PROBES

    page.job = wait
    page.jobs.pop()()

    assert state.result is PROBES and state.error == ""


def test_a_job_is_cancelled_and_can_start_again(qtbot, page):
    state, view = shown(qtbot, page, "probes")
    state.ask()
    computed = []
    page.job = computed.append
    start(view).click()
    assert not state.can_start

    cancel(view).click()
    assert state.share is None and state.error == "" and state.can_start
    page.jobs.pop()()
    assert computed == [] and state.result is None

    def fail(_watch):
        raise WorkbenchError("no dev")

    page.job = fail
    start(view).click()
    page.jobs.pop()()
    assert state.error == "no dev" and state.can_start


def test_another_text_keeps_the_result_and_another_model_drops_it(qtbot, page):
    page.kept = PROBES
    state, _view = shown(qtbot, page, "probes")
    state.ask()

    state.forget()
    assert state.result is PROBES
    state.forget(model=True)
    assert state.result is None and not state.current


def test_after_a_change_of_the_documents_the_result_stays_and_can_be_renewed(qtbot, page):
    page.kept = PROBES
    state, view = shown(qtbot, page, "probes")
    state.ask()

    page.kept = None
    state.ask()

    assert state.result is PROBES and not start(view).isHidden()
    assert "The documents or the settings have changed." in texts(view)


def test_changes_by_group_and_the_most_changed_documents_are_listed(qtbot, page):
    row = SwappedDocument(
        "7", "He\nwon", "good", ("good", "bad"), (0.9, 0.4), ("He won", "She won")
    )
    effects = (GroupEffect("good", "he", 0.9, 0.25, 0.2, 0.3),)
    page.kept = GroupSwap("Pronouns", ("he", "she"), effects, 9, 1, 1, (row,))
    state, view = shown(qtbot, page, "group_swap")

    state.ask()
    documents, effects = (named(view, name) for name in ("Swapped documents", "Change by group"))
    documents.selectRow(0)

    assert any(
        text.startswith("1 document has a word of the list (of 9); 1 is") for text in texts(view)
    )
    assert cells(effects) == [["good", "he", "90.0", "+25.00 (+20.00 to +30.00)"]]
    assert cells(documents, 3) == [["he: good, she: bad"]]
    assert "he: He won\nshe: She won" in texts(view)
    assert "english-first-names" in items(named(view, "Word list"))
    assert [column.title for column in effects.rows_model.columns[2:]] == [
        "Mean, %", "Change, points",
    ]  # fmt: skip

    opened = []
    page.corpus = SimpleNamespace(open_key=opened.append)
    documents.opened.emit(documents.chosen_rows()[0])
    assert opened == ["7"]

    view.show_result(replace(page.kept, scores="count"))

    titles = [column.title for column in effects.rows_model.columns[2:]]
    assert titles == ["Mean per document", "Change per document"]


def test_an_examining_inspector_without_a_view_has_its_options_and_a_button_to_start(qtbot, page):
    state, view = shown(qtbot, page, "layer_similarity", PLAIN)
    state.ask()
    assert state.result is None and not start(view).isHidden() and start(view).isEnabled()
    assert view.findChild(OptionForm).control("words").text() == "3000"

    start(view).click()
    assert len(page.jobs) == 1 and start(view).isHidden() and not cancel(view).isHidden()
    page.job = lambda _watch: SIMILARITY
    page.jobs.pop()()

    table = named(view, "Result", Table)
    assert cancel(view).isHidden() and table.isVisibleTo(view)
    assert ("words", "11") in table.rows()


def test_labels_that_change_while_a_job_is_running_make_its_result_outdated(
    qtbot, page, monkeypatch
):
    state, _view = shown(qtbot, page, "layer_similarity")
    state.ask()
    state.start()
    changed = SimpleNamespace(documents=1235, output="after")
    monkeypatch.setattr(examine, "prepare", lambda *given: changed)

    state.labels_changed()
    page.job = lambda _watch: SIMILARITY
    page.jobs.pop(0)()

    assert state.prepared is changed and state.result is SIMILARITY and not state.current
    assert state.note == "The documents or the settings have changed."


def test_the_end_of_the_process_with_the_model_is_no_error_of_a_view_that_has_a_job(qtbot, page):
    page.kept = SIMILARITY
    state, _view = shown(qtbot, page, "layer_similarity")
    state.ask()

    state.failed("The model process ended unexpectedly.")

    assert state.error == "" and state.current
