"""The Models page in a window."""

import shutil

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel

from tests import tiny_models
from tests.inline import InlineQueue
from tests.starters import SHIPPED
from workbench.jobs import threads
from workbench.models.results import Repository, RepositoryFile
from workbench.operations.models import recommend
from workbench.pretraining.results import ModelFit
from workbench.ui.panels.models.dialogs import Delete, DownloadDialog, Trust
from workbench.ui.panels.models.tokenizers_dialog import Tokenizers
from workbench.ui.widgets.tables.block_map import BlockMap


@pytest.fixture
def mine(tiny_model, tmp_path):
    shutil.copytree(tiny_model, tmp_path / "mine")
    return tmp_path / "mine"


@pytest.fixture
def panel(app, project_file, qtbot):
    assert app.open_project(project_file, page="models")
    found = app.window.panel("models")
    qtbot.waitUntil(lambda: len(installed(found)) == len(SHIPPED))
    yield found
    qtbot.waitUntil(threads.idle, timeout=30_000)  # blocks of models are read off the main thread


def card(panel):
    """The card of the selected model."""
    return panel.view._card


def installed(panel):
    return [row for row in panel.state.everything if row.card is not None]


def choose(panel, name):
    panel.state.choose(next(row.key for row in panel.state.everything if row.title == name))
    return card(panel)


def button(panel, name):
    return next(
        widget
        for widget in panel.view.findChildren(QAbstractButton)
        if widget.accessibleName().rstrip("…") == name and widget.isVisibleTo(panel.view)
    )


def visible(widget):
    """The texts of the labels that are shown."""
    return " | ".join(
        label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget)
    )


def said(widget):
    return " | ".join(label.text() for label in widget.findChildren(QLabel))


def with_dialog(qtbot, open_it, act):
    """Call `act(dialog)` in the modal dialog that `open_it` opens."""
    done = []

    def later():
        dialog = QApplication.activeModalWidget()
        if dialog is None:
            QTimer.singleShot(20, later)
            return
        try:
            act(dialog)
        finally:
            done.append(True)
            if dialog.isVisible():
                dialog.reject()

    QTimer.singleShot(20, later)
    open_it()
    qtbot.waitUntil(lambda: bool(done))


def test_each_starter_has_a_card_with_its_figures_and_uses(panel):
    bert = card(panel)

    assert bert.info.name == "starter-bert"
    for word in ("22.9 M", "6 × 384", "30,522", "512 tokens", "Apache-2.0", "46.5 MB"):
        assert word in said(bert)
    for word in ("Document class", "Token tagging", "Devlin et al. 2019", "Masked words"):
        assert word in said(bert)


def test_the_card_shows_the_blocks_and_a_click_opens_one(panel, qtbot):
    qtbot.waitUntil(lambda: any(item.isVisible() for item in card(panel).findChildren(BlockMap)))
    layers = button(panel, "Layers 1–6: 10,646,784 parameters")

    assert "22,713,216" in said(card(panel)) and "Feed-forward" not in visible(card(panel))
    qtbot.mouseClick(layers, Qt.MouseButton.LeftButton)
    assert "Feed-forward" in visible(card(panel))


def test_families_open_and_close_by_key(panel, qtbot):
    table = panel.view._table
    names = lambda: [row.title for row in table.rows()]  # noqa: E731
    table.setFocus()
    assert names()[0] == "Static vectors" and "word2vec GoogleNews" in names()  # one is installed

    table.setCurrentIndex(table.model().index(0, 0))
    qtbot.keyClick(table, Qt.Key.Key_Left)
    assert "word2vec GoogleNews" not in names()
    table.setCurrentIndex(table.model().index(0, 0))
    qtbot.keyClick(table, Qt.Key.Key_Right)
    assert "word2vec GoogleNews" in names()
    table.setCurrentIndex(table.model().index(1, 0))
    qtbot.keyClick(table, Qt.Key.Key_Left)
    assert table.current_row().title == "Static vectors"
    qtbot.keyClick(table, Qt.Key.Key_Left)
    assert "word2vec GoogleNews" not in names()


def test_a_sorted_column_shows_models_without_families(panel, qtbot):
    head = panel.view._table.horizontalHeader()
    panel.view._table.sortByColumn(3, Qt.SortOrder.DescendingOrder)

    assert panel.view._table.rows()[0].title == "GPT-3"
    head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    qtbot.waitUntil(lambda: panel.view._table.rows()[0].is_group)


def test_search_and_filters_narrow_the_list_and_can_be_cleared(panel, qtbot):
    qtbot.keyClicks(panel.view._search, "devlin chinese")
    assert [row.title for row in panel.view._table.rows()][1:] == ["BERT base Chinese"]
    assert panel.view._shown.button("all").text() == "All 1"

    qtbot.keyClicks(panel.view._search, " nothing")
    assert "No model matches" in visible(panel.view)
    button(panel, "Clear filters").click()
    assert panel.view._search.text() == "" and panel.view._table.rows()[0].is_group
    panel.view._shown.button("installed").click()
    models = [row for row in panel.view._table.rows() if not row.is_group]
    assert {row.title for row in models} == {*SHIPPED}


def test_a_published_model_is_chosen_in_the_plot_and_offered_for_download(panel, qtbot):
    qtbot.waitUntil(lambda: panel.view._plot is not None)
    panel.view._plot.picked.emit("published:BERT base")

    assert "109,482,240" in said(card(panel)) and card(panel).accessibleName() == "BERT base"
    assert [row.title for row in panel.view._table.chosen_rows()] == ["BERT base"]
    with_dialog(
        qtbot,
        button(panel, "Download BERT base").click,
        lambda dialog: None if dialog.id.text() == "google-bert/bert-base-uncased" else 1 / 0,
    )


def test_models_that_cannot_be_loaded_say_so(panel, monkeypatch):
    known = "workbench.ui.panels.models.state.spec.known_architectures"
    monkeypatch.setattr(known, lambda: frozenset(("bert",)))
    assert "cannot load xlnet models" in said(choose(panel, "XLNet base"))
    assert "not been published" in said(choose(panel, "GPT-3"))
    assert "add them from their folder" in said(choose(panel, "GloVe 6B"))


def test_the_plot_names_points_and_saves_its_numbers(panel, qtbot, tmp_path):
    qtbot.waitUntil(lambda: bool(panel.view._plot and panel.view._plot.points.names))
    panel.view._plot.save_numbers(tmp_path / "models.csv")

    lines = (tmp_path / "models.csv").read_text(encoding="utf-8").splitlines()
    assert "BERT base,2018,109482240" in lines and "starter-bert,2018,22893116" in lines


def test_a_broken_folder_stays_to_be_seen_with_what_is_missing(panel, mine, qtbot):
    panel.view.add(mine)
    qtbot.waitUntil(lambda: len(installed(panel)) == len(SHIPPED) + 1)
    (mine / "model.safetensors").unlink()

    panel.state.refresh()
    choose(panel, "mine")
    qtbot.waitUntil(lambda: "model.safetensors is missing" in said(card(panel)))

    button(panel, "Remove mine").click()
    qtbot.waitUntil(lambda: len(installed(panel)) == len(SHIPPED))


def test_a_folder_that_is_no_model_is_told_at_the_top(panel, tmp_path, app, qtbot):
    panel.view.add(tmp_path)

    qtbot.waitUntil(lambda: "config.json is missing" in app.window.banner.text())


def test_a_folder_that_cannot_even_be_parsed_is_shown_with_its_fault(panel, mine, qtbot):
    panel.view.add(mine)
    qtbot.waitUntil(lambda: len(installed(panel)) == len(SHIPPED) + 1)
    (mine / "config.json").write_text('{"architectures": 5, "hidden_size": [1], "model_type": {}}')

    panel.state.refresh()

    choose(panel, "mine")
    qtbot.waitUntil(lambda: "hidden_size as [1]" in said(card(panel)))
    assert button(panel, "Remove mine").isEnabled()


def test_pickled_weights_are_asked_about_and_left_unless_confirmed(panel, mine, qtbot):
    tiny_models.pickle_weights(mine)
    answered = []
    with_dialog(
        qtbot,
        lambda: panel.view.add(mine),
        lambda dialog: answered.append(qtbot.keyClick(dialog, Qt.Key.Key_Return)),
    )
    assert len(installed(panel)) == len(SHIPPED)  # Enter chooses the safe button

    def trust(dialog):
        assert isinstance(dialog, Trust)
        for shown in ("bert", "2 × 16", "float32, pickled", "pytorch_model.bin ("):
            assert shown in said(dialog)
        next(
            widget
            for widget in dialog.findChildren(QAbstractButton)
            if widget.accessibleName() == "Trust and load"
        ).click()

    with_dialog(qtbot, lambda: panel.view.add(mine), trust)
    qtbot.waitUntil(lambda: len(installed(panel)) == len(SHIPPED) + 1)
    assert choose(panel, "mine").info.usable


def test_train_leads_to_the_train_page_with_this_model(panel, app, qtbot):
    choose(panel, "starter-gpt")
    button(panel, "Train with starter-gpt").click()

    qtbot.waitUntil(lambda: app.window.page == "train")
    qtbot.waitUntil(lambda: app.window.panel("train").state.model == "starter-gpt")


def test_the_download_dialog_asks_first_and_is_off_while_offline(panel, qtbot):
    def look(dialog):
        assert isinstance(dialog, DownloadDialog)
        act = next(
            widget
            for widget in dialog.findChildren(QAbstractButton)
            if widget.accessibleName() == "Show size and licence"
        )
        assert not act.isEnabled() and "Offline" in said(dialog)
        next(
            widget
            for widget in dialog.findChildren(QAbstractButton)
            if widget.accessibleName() == "Allow downloads"
        ).click()
        assert act.isEnabled()
        dialog.state.update(
            stage="found",
            repository=Repository(
                "a/b", "c", "mit", 5_000_000, (RepositoryFile("a", 5_000_000),), pickled=True
            ),
        )
        assert (
            "5.0 MB" in said(dialog) and not act.isEnabled() and act.accessibleName() == "Download"
        )
        dialog.state.set_trust(True)
        assert act.isEnabled()

    with_dialog(qtbot, button(panel, "Download by id").click, look)


def test_the_page_works_without_a_project(app, qtbot):
    app.go("models")
    panel = app.window.panel("models")
    qtbot.waitUntil(lambda: len(installed(panel)) == len(SHIPPED))

    assert not button(panel, "Train with starter-bert").isEnabled()


def test_everything_can_be_reached_by_tab(panel, qtbot):
    panel.view.take_focus()
    seen = set()
    for _ in range(16):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.add(QApplication.focusWidget().accessibleName())

    assert {"Train with starter-bert", "Inspect starter-bert", "Search models", "Licence"} <= seen


def test_a_download_is_deleted_only_after_a_question(panel, mine, user_dir, qtbot):
    from tests.operations.models.test_installed import cached

    repository = cached(user_dir, mine, ours=True)
    panel.state.refresh()
    qtbot.waitUntil(lambda: len(installed(panel)) == len(SHIPPED) + 1)
    choose(panel, "some/tiny")

    with_dialog(qtbot, button(panel, "Delete some/tiny").click, lambda dialog: dialog.reject())
    assert repository.is_dir()

    def confirm(dialog):
        assert isinstance(dialog, Delete) and "cannot be undone" in said(dialog)
        dialog.accept()

    with_dialog(qtbot, button(panel, "Delete some/tiny").click, confirm)
    qtbot.waitUntil(lambda: len(installed(panel)) == len(SHIPPED))
    assert not repository.exists()


# ---------------------------------------------------------------- compare on my text


def fits():
    """Results of three models, as the job returns them."""
    split = [["Okafor", ["ok", "##af", "##or"], 3, 2]]
    limit = {"limit": 512}
    shared = {"cut_at": {"128": 0.5}, "lengths": [10, 40, 130], "split": split}
    rows = (
        ModelFit("starter-bert", "bert", 0.01, 1.2, 0.0, **limit, kind="pseudo", perplexity=303.2),
        ModelFit("starter-gpt", "gpt2", 0.0, 1.4, 0.1, **limit, kind="causal", perplexity=3784.0),
        ModelFit("foreign", "bert", 0.5, 1.1, 0.0, **limit, kind="pseudo", perplexity=12.0),
    )
    return [{**row.to_json(), "per_character": 2.0, **shared} for row in rows]


def test_the_models_are_compared_on_the_projects_text(panel, app, qtbot, monkeypatch):
    app.queue, app._queue_used = InlineQueue(dispatch=app.dispatch), True
    ran = []
    monkeypatch.setattr("workbench.pretraining.fit.run", lambda params, _folder: job(params, ran))
    panel.view._views.button(1).click()
    assert "Which model suits my text?" in visible(panel.view)
    button(panel, "Measure installed models").click()
    qtbot.waitUntil(lambda: bool(panel.state.recommend.rows))

    table = panel.view._parts.widget(1)._table
    texts = [[column.text(row) for column in table.rows_model.columns] for row in table.rows()]
    assert [row[0] for row in texts] == ["starter-bert", "starter-gpt", "foreign"]
    assert texts[0][6:] == ["303", "–", "pseudo", "Recommended for spans and classes"]
    assert texts[2][9] == "Not suitable: 50% of the words are unknown"
    assert {item["name"] for item in ran[0]["models"]} == {*SHIPPED} - {"bilstm"}
    assert "starter-bert suits this text best" in visible(panel.view)
    button(panel, "Train with starter-bert").click()
    qtbot.waitUntil(lambda: app.window.page == "train")


def test_a_measurement_keeps_the_focus_on_the_page(panel, qtbot):
    panel.view._views.button(1).click()
    recommend_state, view = panel.state.recommend, panel.view._parts.widget(1)
    view._go.setFocus()
    qtbot.waitUntil(view._go.hasFocus)

    recommend_state.update(busy=True, share=None)
    assert not view._go.isEnabled() and view._cancel.hasFocus()
    recommend_state.update(rows=recommended_rows())
    assert view._cancel.hasFocus() and view._sentence.text().startswith("Best so far: ")
    recommend_state.update(busy=False)
    assert "suits this text best" in view._sentence.text()
    assert view._cancel.isHidden() and view._measure.hasFocus()

    view._sample.setFocus()
    recommend_state.update(busy=True)
    assert view._sample.hasFocus()


def test_a_narrow_comparison_leaves_room_for_the_recommendation(panel, app, qtbot):
    panel.view._views.button(1).click()
    panel.state.recommend.update(rows=recommended_rows(), chosen="starter-bert")
    table = panel.view._parts.widget(1)._table
    metrics = table.fontMetrics()

    app.window.resize(1280, 800)
    qtbot.waitUntil(lambda: table.isColumnHidden(1) and table.isColumnHidden(5))
    words = "Not suitable: 50% of the words are unknown"
    qtbot.waitUntil(lambda: table.columnWidth(9) > metrics.horizontalAdvance(words))
    app.window.resize(1700, 800)
    qtbot.waitUntil(lambda: not table.isColumnHidden(1))


def recommended_rows():
    return recommend.ranked(map(ModelFit.from_json, fits()))


def job(params, ran):
    ran.append(params)
    yield {"kind": "progress", "part": 0.5, "text": "starter-bert"}
    return {"fits": fits()}


def test_without_a_project_there_is_nothing_to_compare_on(app, qtbot):
    app.go("models")
    panel = app.window.panel("models")
    qtbot.waitUntil(
        lambda: len(installed(panel)) == len(SHIPPED) and bool(panel.state.maps), timeout=30_000
    )
    panel.view.show_part(1)

    assert not button(panel, "Measure installed models").isEnabled()
    assert "Open a project first, or choose other texts." in visible(panel.view)


# ---------------------------------------------------------------- tokenizers


def test_tokenizers_are_compared_and_a_word_divided_step_by_step(panel, qtbot):
    def use(dialog):
        assert isinstance(dialog, Tokenizers)
        dialog._go.click()
        qtbot.waitUntil(lambda: bool(dialog.state.fits))
        assert [row[0] for row in dialog._fits.rows()] == [*dialog.state.names[:2]]
        dialog.show_tab(1)
        qtbot.keyClicks(dialog._word, "unaffable")
        qtbot.waitUntil(lambda: dialog._units.text() == "una · ##ffa · ##ble", timeout=30_000)
        assert len(dialog._steps.rows()) == 3
        dialog._by.control.setCurrentIndex(1)
        qtbot.waitUntil(lambda: "does not use longest match" in visible(dialog))

    with_dialog(qtbot, panel.view.ask_tokenizers, use)


def test_merges_by_both_rules_are_shown_and_a_tokenizer_is_learned(panel, app, qtbot, tmp_path):
    app.queue, app._queue_used = InlineQueue(dispatch=app.dispatch), True

    def use(dialog):
        dialog.show_tab(2)
        qtbot.waitUntil(lambda: bool(dialog.state.merges))
        by_count = dialog._rules["count"].rows()[0]
        assert by_count.count >= max(row.count for row in dialog._rules["score"].rows())
        dialog.show_tab(3)
        dialog._size.setValue(60)
        dialog.learn(tmp_path / "mine")
        qtbot.waitUntil(lambda: bool(dialog.state.message or dialog.state.error), timeout=30_000)
        assert "saved in" in visible(dialog), dialog.state.error

    with_dialog(qtbot, panel.view.ask_tokenizers, use)
    assert (tmp_path / "mine" / "tokenizer.json").is_file()


def test_a_narrow_table_leaves_out_columns_before_it_shortens_names(panel):
    table = panel.view._table
    header = [column.title for column in table.rows_model.columns]

    for width in (1000, 766, 640, 560):
        table.resize(width, 400)
        assert table.columnWidth(0) >= 200, width
        shown = [title for at, title in enumerate(header) if not table.isColumnHidden(at)]
        assert {"Model", "Year", "Parameters", "Direction"} <= {*shown}
        assert ("Objective" in shown) == (width == 1000)
