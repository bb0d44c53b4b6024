"""The Train page in a window: names, contents, options."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QWidget

from tests.ui.panels.train.test_state import step
from workbench.base.errors import WorkbenchError
from workbench.jobs import threads
from workbench.jobs.events import Finished, Output, Started
from workbench.operations.prompts import servers
from workbench.operations.runs import resume, run_folders
from workbench.storage.labels import labels
from workbench.tasks import spec as tasks
from workbench.text.segmenters import base as segmenters
from workbench.training.states import StateHeader
from workbench.ui.dialogs.consent import ConsentDialog
from workbench.ui.project.job_progress import JobProgress, follow


@pytest.fixture
def page(app, copy_sample, tmp_path, qtbot):
    assert app.open_project(copy_sample(tmp_path), page="train")
    panel = app.window.panel("train")
    qtbot.waitUntil(lambda: panel.state.ready, timeout=30_000)
    yield panel
    qtbot.waitUntil(threads.idle, timeout=30_000)  # documents are counted off the main thread


def named(view, name):
    return next(
        widget
        for widget in view.findChildren(QWidget)
        if widget.accessibleName() == name and widget.isVisible()
    )


def test_choices_and_start_bear_their_names_and_show_what_will_be_used(page):
    assert named(page.view, "Task").currentText() == "Document class"
    assert named(page.view, "Model").currentText() == "starter-bert"
    assert named(page.view, "Start training").isEnabled()
    assert "180 train" in page.view._left._used.text()


@pytest.mark.parametrize("agrees", [False, True])
def test_a_cluster_gets_data_only_after_a_question(agrees, page, monkeypatch):
    asked, started = [], []
    monkeypatch.setattr(ConsentDialog, "exec", lambda dialog: asked.append(dialog) or agrees)
    monkeypatch.setattr(page.state, "start", lambda: started.append(True))
    page.state.set_values({**page.state.values, "run_on": "10.0.0.5"})

    page.view._left.start.click()
    page.view._left.start.click()

    assert len(asked) == (1 if agrees else 2) and len(started) == (2 if agrees else 0)
    assert servers.consents(page.state.project) == (("ray://10.0.0.5:10001",) if agrees else ())


def test_a_wrong_rate_is_told_below_its_field(page):
    line = page.view._left._rate.control
    line.setText("much")
    line.textEdited.emit("much")

    assert "much" in page.view._left._rate.error()
    assert not page.view._left.start.isEnabled()


def test_adapting_to_the_text_first_is_one_check_box_for_language_models(page):
    adaptation = page.view._left.adaptation
    adaptation.check.click()
    assert page.state.values == {"adapt_epochs": "1"}
    objective = adaptation._objective
    assert objective.itemData(1) == "masked_lm" and objective.currentData() == ""

    objective.setCurrentIndex(1)
    objective.activated.emit(1)
    assert page.state.spec().options == {"adapt_epochs": 1, "adapt_objective": "masked_lm"}
    page.view._left._epochs.control.textEdited.emit("")
    assert page.state.values["adapt_epochs"] == "1"

    adaptation.check.click()
    assert page.state.values == {}
    page.state.choose_model("bilstm")
    assert not adaptation.check.isEnabled()


def test_both_stages_of_an_adapted_run_have_their_curves(page):
    live = page.state.live = JobProgress(1, "run", "title", "classify", status="running")
    update = {"kind": "adapting", "total": 2, "epoch": 1, "losses": {"mlm": 3.0}}
    for event in (
        {"kind": "adapted", "step": 0, "scores": {"perplexity": 30.0}},
        {**update, "step": 1, "seconds_left": 5.0},
    ):
        follow(live, Output(event))
    page.state.changed.emit(frozenset({"run"}))
    right = page.view._right
    assert right._stages.value() == "adapt" and right._perplexity.isVisible()
    assert list(right._perplexity.curves) == ["per token"] and live.share == 0.5

    follow(live, step(1))
    page.state.changed.emit(frozenset({"run"}))
    assert right._stages.value() == "tune" and right._score.isVisible()
    right._stages.button("adapt").click()
    assert right._perplexity.isVisible() and not right._score.isVisible()


def test_options_unfold_and_can_be_searched(page, qtbot):
    page.view._left._more.click()
    form = page.view._left._form
    assert form.control("freeze").isVisible()

    named(page.view, "Search options").setText("warm")
    assert form.control("warmup").isVisible() and not form.control("freeze").isVisible()


def test_checks_and_options_without_effect_are_not_on_the_page_until_asked_for(page):
    tools = {"Check word boundaries", "Model map", "Which layers learn when"}

    def shown():
        buttons = page.view.findChildren(QAbstractButton)
        names = {item.accessibleName().rstrip("…") for item in buttons if item.isVisible()}
        return names & tools

    assert shown() == set()
    page.view._left._more.click()
    assert shown() == tools
    form = page.view._left._form
    names = "cut_frac", "ratio", "adapt_learning_rate", "layer_l2", "slower_layers"
    assert not any(form.control(name).isVisible() for name in names)

    page.state.set_values({"schedule": "slanted", "adapt_epochs": "1", "layer_decay": "2.6"})

    assert [name for name in names if form.control(name).isVisible()] == [
        "cut_frac",
        "ratio",
        "adapt_learning_rate",
        "slower_layers",
    ]


def test_the_options_follow_the_chosen_method_and_the_focus_stays_on_it(page):
    page.view._left._more.click()
    method = page.view._left._form.control("method")
    method.setFocus()

    method.setCurrentIndex(method.findData("frozen"))
    method.activated.emit(method.currentIndex())

    form = page.view._left._form
    assert form.text("method") == "frozen" and form.control("method").hasFocus()
    assert page.state.values["method"] == "frozen"
    with pytest.raises(KeyError):
        form.control("freeze")


def test_a_model_of_another_family_shows_its_own_settings(page, qtbot):
    page.view._left._more.click()
    page.state.choose_model("bilstm")
    form = page.view._left._form
    assert form.control("embeddings").isVisibleTo(form)

    page.state.set_values({"embeddings": "words", "epochs": "3"})
    assert page.state.spec().options == {"embeddings": "words", "epochs": 3}

    page.state.choose_model("starter-bert")
    assert page.state.values == {"epochs": "3"} and page.state.spec().family == "transformer"
    with pytest.raises(KeyError):
        page.view._left._form.control("embeddings")


def test_the_teachers_of_a_layer_can_be_chosen_and_show_their_settings(page, app):
    project = app.project
    with project.write():
        layer = labels.layer_by_name(project.db, "class")
        values = {"layer_id": layer.id, "spec": {"task": "classify", "layer": "class"}}
        run_folders.add_run(project, "big", status="done", **values)
    page.state.refresh()
    left = page.view._left
    left._more.click()
    box = left._form._controls["teacher"]
    assert [box.itemText(at) for at in range(box.count())] == ["None", "big"]
    assert not left._form._controls["alpha"].isVisible()

    box.setCurrentIndex(1)
    box.activated.emit(1)

    assert page.state.spec().options == {"teacher": "big"}
    assert left._form._controls["alpha"].isVisible()


def test_every_control_has_a_name(page):
    page.view._left._more.click()
    controls = [
        item
        for kind in (QComboBox, QLineEdit)
        for item in page.view.findChildren(kind)
        if item.isVisible()
    ]

    assert controls and all(control.accessibleName() for control in controls)


def test_a_live_run_shows_figures_curves_and_its_two_buttons(page, app):

    live = page.state.live = JobProgress(1, "classify-1", "class · starter-bert")
    follow(live, Started(1, ""))
    figures = {
        "epoch": 1,
        "learning_rate": 1e-4,
        "examples_per_second": 20.0,
        "memory_mb": 1100,
        "seconds_left": 31.0,
    }
    for number in range(1, 6):
        follow(
            live,
            Output(
                {
                    "kind": "step",
                    "step": number,
                    "total": 40,
                    "losses": {"task": 2 / number},
                    **figures,
                }
            ),
        )
    follow(
        live,
        Output(
            {
                "kind": "evaluated",
                "step": 5,
                "split": "dev",
                "scores": {"macro_f1": 0.5, "accuracy": 0.6},
            }
        ),
    )
    page.state.changed.emit(frozenset({"live", "run"}))

    right = page.view._right
    assert (
        named(page.view, "Stop and keep best").isVisible()
        and named(page.view, "Cancel").isVisible()
    )
    assert (
        right._figures["left"][1].text() == "0:31" and right._figures["memory"][1].text() == "1.1"
    )
    assert list(right._loss.curves) == ["per step", "smoothed"]
    assert right._score.curves["Macro F1"].y == [0.5]
    page.state.live = None


@pytest.fixture
def done():
    return Finished("done", {"steps": 40, "best_step": 30, "seconds": 125.4, "device": "cpu"})


def test_while_a_run_trains_start_and_its_menu_entry_queue_another_one(page, app, done):
    live, start = live_run(page), page.view._left.start
    entry = next(e for e in app.window.menus.entries if e.command.id == "train.start")
    assert start.accessibleName() == "Queue another run" == entry.command.plain(page)

    follow(live, done)
    page.state.changed.emit(frozenset({"live", "run"}))
    assert start.accessibleName() == "Start training" == entry.command.plain(page)


def live_run(page, losses=None):
    live = page.state.live = JobProgress(1, "classify-1", "class · starter-bert")
    follow(live, Started(1, ""))
    figures = {
        "epoch": 1,
        "learning_rate": 1e-4,
        "examples_per_second": 20.0,
        "memory_mb": 1100,
        "seconds_left": 31.0,
    }
    step = {"kind": "step", "step": 37, "total": 40, "losses": losses or {"task": 0.3}}
    follow(live, Output({**step, **figures}))
    page.state.changed.emit(frozenset({"live", "run"}))
    return live


def test_the_parts_of_a_loss_have_titles(page):
    live_run(page, {"task": 0.3, "layer_l2": 0.1, "of_a_plugin": 0.2})

    curves = [*page.view._right._loss.curves]
    assert curves == ["task", "L2 penalty of layer weights", "of_a_plugin"]


def test_a_run_that_has_ended_tells_its_last_step_and_how_long_it_took(page, done):
    live, right = live_run(page), page.view._right
    assert right._figures["left"][0].isVisible()

    follow(live, done)
    page.state.changed.emit(frozenset({"live", "run"}))
    assert (
        right._figures["step"][1].text() == "40"
        and right.job.when.text() == "classify-1  ·  Duration: 2:05"
    )
    assert not right._figures["left"][0].isVisible()


def test_when_a_run_ends_the_focus_goes_from_its_buttons_to_its_results(page, done, qtbot):
    live, right = live_run(page), page.view._right
    right.job.cancel.setFocus()
    qtbot.waitUntil(right.job.cancel.hasFocus)

    follow(live, done)
    page.state.changed.emit(frozenset({"live", "run"}))
    assert right.job.results.hasFocus()


def test_start_keeps_the_focus_while_the_documents_are_frozen(page, qtbot):
    live_run(page)
    start = page.view._left.start
    start.setFocus()
    qtbot.waitUntil(start.hasFocus)

    page.state.update(preparing=True)
    assert not start.isEnabled() and not page.view._right.job.cancel.hasFocus()
    page.state.update(preparing=False)
    assert start.isEnabled() and start.hasFocus()


def test_from_the_click_on_stop_until_the_worker_has_saved_the_page_says_stopping(
    page, done, monkeypatch
):
    from workbench.operations.runs import train

    asked = []
    monkeypatch.setattr(train, "stop", lambda project, queue, run: asked.append(run))
    live, right = live_run(page), page.view._right
    right.job.stop.click()

    assert asked == [1] and right.job.chip.accessibleName() == "stopping"
    assert not right.job.stop.isEnabled() and right.job.cancel.isEnabled()
    follow(live, done)
    page.state.changed.emit(frozenset({"live", "run"}))
    assert right.job.chip.accessibleName() == "done"


def test_a_cancelled_run_says_that_nothing_was_kept_and_the_focus_stays_clear_of_other_buttons(
    page, monkeypatch, qtbot
):
    from workbench.operations.runs import train

    monkeypatch.setattr(train, "cancel", lambda project, queue, run: None)
    live, right = live_run(page), page.view._right
    right.job.cancel.setFocus()
    qtbot.waitUntil(right.job.cancel.hasFocus)
    right.job.cancel.click()
    assert right.job.hasFocus() and not right.job.cancel.isEnabled()

    follow(live, Finished("cancelled"))
    page.state.changed.emit(frozenset({"live", "run"}))
    assert (
        "Nothing of this run was kept" in right.job.message.text()
        and right.job.hasFocus()
        and not right.job.results.isVisible()
    )


def test_a_model_that_lacks_what_the_task_needs_is_grey_with_the_reason(page, monkeypatch):
    monkeypatch.setattr(type(tasks.info("tag")), "needs", frozenset({"masked_lm"}))

    page.state.choose_task("tag")

    box = named(page.view, "Model")
    item = box.model().item(box.findData("starter-gpt"))
    assert not item.isEnabled() and "needs predictions of masked words" in item.toolTip()
    page.state.choose_model("starter-gpt")
    assert "starter-gpt (gpt2)" in page.view._left._model_field.error()
    assert not named(page.view, "Start training").isEnabled()


def test_the_model_map_of_a_run_says_what_is_trained(page, qtbot):
    from workbench.ui.widgets.tables.run_map import RunMapDialog

    page.state.set_values({"method": "frozen"})
    dialog = RunMapDialog(None, "run", page.state.ask_map)
    qtbot.addWidget(dialog)

    def found():
        return {widget.accessibleDescription() for widget in dialog.findChildren(QAbstractButton)}  # noqa: E731

    qtbot.waitUntil(lambda: len(found()) > 2, timeout=30_000)

    assert any(words.startswith("frozen, ") for words in found())
    assert any(words.startswith("new, trained") for words in found())
    dialog.reject()


def test_texts_without_spaces_get_a_segmenter_by_one_click(page):
    advice = page.view._left._words
    assert not advice.isVisible()

    page.state.update(words=segmenters.SegmenterAdvice(("icu", "newmm"), "newmm"))
    assert advice.isVisible() and advice.choose.text() == "Use newmm"
    advice.choose.click()
    assert page.state.values == {"segmenter": "newmm"} and not advice.isVisible()

    page.state.set_values({})
    page.state.update(words=segmenters.SegmenterAdvice(("icu",), package="icu4py"))
    assert advice.isVisible() and not advice.choose.isVisible()


def test_a_stopped_run_is_continued_on_its_card_and_a_finished_one_is_not(page, monkeypatch, qtbot):
    run = add_run(page.state.project, "stopped")
    monkeypatch.setattr(resume, "state", lambda _project, run: StateHeader(4, 6, 2, 3))
    begun = []

    def prepare(_project, run):
        begun.append(run.name)
        raise WorkbenchError("Not here.")

    monkeypatch.setattr(resume, "prepare", prepare)
    page.state.live = JobProgress(run.id, "first", "title", "classify", status="stopped")
    page.state.changed.emit(frozenset({"live", "run"}))

    qtbot.waitUntil(lambda: any_named(page.view, "Continue this run"))
    qtbot.mouseClick(named(page.view, "Continue this run"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: begun == ["first"])

    page.state.live.status = "done"
    page.state.changed.emit(frozenset({"live", "run"}))
    assert not page.state.can_resume
    qtbot.waitUntil(lambda: not any_named(page.view, "Continue this run"))


def add_run(project, status):
    spec = {"task": "classify", "model": "x", "model_name": "tiny", "options": {}}
    with project.write():
        return run_folders.add_run(project, "first", "train", status=status, spec=spec)


def any_named(view, name):
    widgets = view.findChildren(QWidget)
    return any(widget.accessibleName() == name and widget.isVisible() for widget in widgets)
