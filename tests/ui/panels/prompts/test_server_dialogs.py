"""Adding, editing and removing a server in the window, and the question before texts are sent."""

import pytest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QRadioButton

from tests.faulty_server import faulty_server
from tests.memory_keys import memory_keys
from tests.operations.prompts.test_servers import KEY, scoring
from workbench.operations.prompts import servers
from workbench.prompting.backends.spec import SCORE
from workbench.prompting.servers import Probe, Server
from workbench.ui.dialogs.consent import ConsentDialog
from workbench.ui.panels.prompts import server_dialogs
from workbench.ui.panels.prompts.server_dialogs import ServerDialog

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("forked_workers")]
FAR = "https://api.example.org/v1"


@pytest.fixture
def panel(make_panel, copy_sample, tmp_path, qtbot):
    made = make_panel("prompts", copy_sample(tmp_path))
    qtbot.waitUntil(lambda: made.state.preview.prompt is not None, timeout=20_000)
    return made


@pytest.fixture
def dialog(panel, qtbot):
    """dialog(server=None) → the dialog, open."""

    def open_(server=None):
        made = ServerDialog(panel.view.window(), panel.state.models.server_state(server))
        qtbot.addWidget(made)
        made.open()
        return made

    return open_


def button(dialog, text):
    return next(
        it
        for it in dialog.findChildren(QPushButton)
        if it.text().strip() == text and it.isVisible()
    )


def test_a_server_is_tested_added_and_its_model_selected(panel, dialog, qtbot):
    with faulty_server(scoring) as server:
        made = dialog()
        made.address.setText(server.address)
        button(made, "Test and add").click()
        qtbot.waitUntil(lambda: made.state.server is not None, timeout=30_000)

    assert "m can be used. Can: scores of labels" in made._result.text()
    assert panel.state.draft.spec.model == f"{server.address}#m"
    card = next(it for it in panel.view.findChildren(QRadioButton) if it.text() == "m")
    assert card.isChecked() and "vLLM on this computer" in card.accessibleDescription()
    assert servers.listed(panel.state.context.settings)[0].models == ("m",)

    button(made, "Remove").click()
    assert servers.listed() == () and panel.state.models.server is None


def test_a_server_that_does_not_answer_is_not_added_and_its_key_dropped(panel, dialog, qtbot):
    with faulty_server(scoring) as server:
        pass
    with memory_keys() as store:
        made = dialog()
        made.address.setText(server.address)
        made.key.setText(KEY)
        button(made, "Test and add").click()
        qtbot.waitUntil(lambda: made.state.error != "", timeout=30_000)

    assert "cannot be reached" in made.state.error and store.keys == {}
    assert servers.listed() == () and not made.state.busy


def test_settings_that_do_not_fit_are_reported_before_the_test(dialog):
    made = dialog(Server(FAR, models=("m",)))
    made.form.set_values({"concurrency": "0"})

    button(made, "Test and save").click()

    assert "concurrency" in made.state.error.lower() and not made.state.busy


def test_before_texts_leave_the_computer_the_user_sees_one_and_agrees(panel, monkeypatch, qtbot):
    started, shown, answers = [], [], [False, True]
    probe = Probe(frozenset((SCORE,)), "echo")
    servers.save(Server(FAR, models=("m",), probes={"m": probe}), panel.state.context.settings)
    panel.state.refresh()
    panel.state.models.choose("m")
    qtbot.waitUntil(lambda: panel.state.run.ready, timeout=20_000)
    monkeypatch.setattr(panel.state.run, "run_on_dev", lambda: started.append(True))

    def answer(dialog):
        text = dialog.findChild(QPlainTextEdit).toPlainText()
        shown.append(text)
        return answers.pop(0)

    monkeypatch.setattr(ConsentDialog, "exec", answer)

    panel.view.run_on_dev()
    assert started == [] and shown == [panel.state.preview.prompt.text]
    panel.view.run_on_dev()
    panel.view.run_on_dev()
    assert started == [True, True] and len(shown) == 2
    assert servers.consents(panel.state.project) == (FAR,)


def test_a_local_model_needs_no_question(panel, monkeypatch):
    monkeypatch.setattr(ConsentDialog, "exec", lambda _dialog: pytest.fail("asked"))

    spec = panel.state.draft.spec
    window = panel.view.window()
    assert server_dialogs.may_send(window, panel.state.project, spec.backend, spec.model, "")
