"""Views that examine the documents of the project: looked up, started, cancelled, shown."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests import panel_tasks
from tests.ui.panels.inspect.test_neighbours import Page
from workbench.base.errors import WorkbenchError
from workbench.base.events import ALL, Signal
from workbench.inspection.group_swap.info import GroupEffect, GroupSwap, SwappedDocument
from workbench.inspection.layer_similarity.info import LayerSimilarity
from workbench.inspection.probes.info import ProbedLayer, ProbedModel, ProbeInterval, Probes
from workbench.operations.inspecting import examine
from workbench.operations.inspecting.inspect import InspectableModel
from workbench.ui.panels.inspect.examined import Examined
from workbench.ui.panels.inspect.views.group_swap import GroupSwapView
from workbench.ui.panels.inspect.views.layer_similarity import LayerSimilarityView
from workbench.ui.panels.inspect.views.option_field import OptionForm
from workbench.ui.panels.inspect.views.plain import plain_view
from workbench.ui.panels.inspect.views.probes import ProbesView

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


def shown(qtbot, page, id, kind):
    state = Examined(page, id)
    view = kind(state)
    qtbot.addWidget(view)
    view.resize(800, 700)
    state.changed.connect(view.show_state)
    view.show_state(ALL)
    return state, view


def test_a_result_that_was_kept_is_shown_without_a_job(qtbot, page):
    page.kept = SIMILARITY
    state, view = shown(qtbot, page, "layer_similarity", LayerSimilarityView)

    state.ask()

    assert state.result is SIMILARITY and not page.jobs and view._start.isHidden()
    model = view._table.model()
    assert [model.index(1, column).data() for column in (0, 1)] == ["1.00", "0.25"]
    assert view._about.text() == (
        "Rows and columns: layers of first · class, from 11 words of 3 documents"
    )
    assert view.data() == [["Layer", 0, 1], [0, 1.0, 0.25], [1, 0.25, 1.0]]


def test_documents_are_examined_on_a_click_with_progress(qtbot, page):
    state, view = shown(qtbot, page, "probes", ProbesView)
    state.ask()
    assert view._empty._hint.text().startswith("1,234 documents of the project")

    view._start.click()
    seen = []

    def job(watch):
        watch.at(0.42)
        watch.event({})  # shown at once
        seen.append((view._note.text(), view._cancel.isHidden()))
        return PROBES

    page.job = job
    page.jobs.pop()()

    assert seen == [("42%", False)]

    assert state.current and state.share is None and view._cancel.isHidden()
    names = [series.name for series in view._chart._series]
    assert names[0] == "before fine-tuning: labels" and names[3].endswith("control task")
    assert view._about.text().startswith(
        "Best: layer 1 with 90.0% (95%: 80.0 – 100.0), selectivity 60.0, of 10 documents"
    )
    assert [view._layer.itemData(at) for at in range(2)] == ["class", "spans"]


def test_a_job_that_waits_names_the_job_before_it(qtbot, page):
    state, view = shown(qtbot, page, "probes", ProbesView)
    state.ask()
    view._start.click()
    queue, job = page.context.queue, SimpleNamespace(spec=None, changed=Signal("job"))
    job.status, job.behind, job.can_run_first, job.over = "waiting", "tags", True, False
    queue.jobs.append(job)

    def wait(watch):
        watch.wait_behind("tags")
        queue.changed.emit(job, None)
        assert view._waiting.text() == "Waiting for tags" and view._meter.isHidden()
        assert view._empty._title.text() == "Waiting for another job"
        job.status, job.behind = "running", ""
        watch.wait_behind("")
        queue.changed.emit(job, None)
        assert view._waiting.isHidden() and not view._meter.isHidden()
        return PROBES

    page.job = wait
    page.jobs.pop()()

    assert state.result is PROBES and state.error == ""


def test_a_job_is_cancelled_and_can_start_again(qtbot, page):
    state, view = shown(qtbot, page, "probes", ProbesView)
    state.ask()
    computed = []
    page.job = computed.append
    view._start.click()
    assert not state.can_start

    view._cancel.click()
    assert state.share is None and state.error == "" and state.can_start
    page.jobs.pop()()
    assert computed == [] and state.result is None

    def fail(_watch):
        raise WorkbenchError("no dev")

    page.job = fail
    view._start.click()
    page.jobs.pop()()
    assert state.error == "no dev" and state.can_start


def test_another_text_keeps_the_result_and_another_model_drops_it(qtbot, page):
    page.kept = PROBES
    state, _view = shown(qtbot, page, "probes", ProbesView)
    state.ask()

    state.forget()
    assert state.result is PROBES
    state.forget(model=True)
    assert state.result is None and not state.current


def test_after_a_change_of_the_documents_the_result_stays_and_can_be_renewed(qtbot, page):
    page.kept = PROBES
    state, view = shown(qtbot, page, "probes", ProbesView)
    state.ask()

    page.kept = None
    state.ask()

    assert state.result is PROBES and not view._start.isHidden()
    assert view._note.text() == "The documents or the settings have changed."


def test_changes_by_group_and_the_most_changed_documents_are_listed(qtbot, page):
    row = SwappedDocument(
        "7", "He\nwon", "good", ("good", "bad"), (0.9, 0.4), ("He won", "She won")
    )
    effects = (GroupEffect("good", "he", 0.9, 0.25, 0.2, 0.3),)
    page.kept = GroupSwap("Pronouns", ("he", "she"), effects, 9, 1, 1, (row,))
    state, view = shown(qtbot, page, "group_swap", GroupSwapView)

    state.ask()
    view._documents.choose({"7"})
    view._show_chosen()

    assert view._about.text().startswith("1 document has a word of the list (of 9); 1 is")
    model = view._effects.model()
    assert [model.index(0, at).data() for at in range(4)] == [
        "good", "he", "90.0", "+25.00 (+20.00 to +30.00)",
    ]  # fmt: skip
    assert view._documents.model().index(0, 3).data() == "he: good, she: bad"
    assert view._text.text() == "he: He won\nshe: She won"
    assert view._list.findData("english-first-names") >= 0
    assert [column.title for column in view._effects.rows_model.columns[2:]] == [
        "Mean, %", "Change, points",
    ]  # fmt: skip

    opened = []
    page.corpus = SimpleNamespace(open_key=opened.append)
    view._documents.opened.emit(view._documents.chosen_rows()[0])
    assert opened == ["7"]

    view.show_result(replace(page.kept, scores="count"))

    titles = [column.title for column in view._effects.rows_model.columns[2:]]
    assert titles == ["Mean per document", "Change per document"]


def test_an_examining_inspector_without_a_view_has_its_options_and_a_button_to_start(qtbot, page):
    state, view = shown(qtbot, page, "layer_similarity", plain_view)
    state.ask()
    assert state.result is None and not view._start.isHidden() and view._start.isEnabled()
    assert view.findChild(OptionForm).control("words").text() == "3000"

    view._start.click()
    assert len(page.jobs) == 1 and view._start.isHidden() and not view._cancel.isHidden()
    page.job = lambda _watch: SIMILARITY
    page.jobs.pop()()

    assert view._cancel.isHidden() and not view._result.isHidden()
    assert ("words", "11") in view._result._table.rows()


def test_labels_that_change_while_a_job_is_running_make_its_result_outdated(
    qtbot, page, monkeypatch
):
    state, _view = shown(qtbot, page, "layer_similarity", LayerSimilarityView)
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
    state, _view = shown(qtbot, page, "layer_similarity", LayerSimilarityView)
    state.ask()

    state.failed("The model process ended unexpectedly.")

    assert state.error == "" and state.current
