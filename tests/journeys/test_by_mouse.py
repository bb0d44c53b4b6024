"""The journey in the real window with the real starter model.

Sample, data, labels, training, errors, prompts, export.
"""

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QTabBar

from tests.journeys.hand import CTRL, PATIENCE
from workbench.operations.documents import corpus
from workbench.operations.runs import results

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(900)]


def test_from_raw_text_to_an_exported_model_by_mouse(
    fork_server, hand, tmp_path, monkeypatch, request
):
    opens_the_sample(hand)
    imports_a_file(hand, tmp_path, monkeypatch)
    labels_a_word_and_takes_it_back(hand)
    adds_a_label(hand)
    sees_the_starters(hand)
    trains(hand)
    request.getfixturevalue("forked_workers")  # the training has started one as the program does
    reads_results_and_asks_for_suggestions(hand)
    accepts_a_suggestion(hand)
    goes_through_an_error(hand)
    inspects_a_sentence(hand)
    runs_a_prompt(hand)
    exports_and_reads_the_proof(hand, tmp_path)


def opens_the_sample(hand):
    hand.click("Open the sample project")
    hand.wait(
        lambda: hand.app.project is not None and hand.app.window.page == "annotate",
        "the sample is not open",
    )


def imports_a_file(hand, tmp_path, monkeypatch):
    file = tmp_path / "more.csv"
    file.write_text(
        "id,text,class\nx1,The lift is broken again.,accessibility\nx2,Nobody came.,delay\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(
        "PySide6.QtWidgets.QFileDialog.getOpenFileNames", lambda *args, **named: ([str(file)], "")
    )
    hand.click("Data")
    before = corpus.counts(hand.app.project).documents

    def act(dialog):
        hand.click("Import", within=dialog)
        hand.wait(
            lambda: corpus.counts(hand.app.project).documents == before + 2,
            "not imported",
            PATIENCE,
        )
        hand.wait(dialog.isHidden, "the dialog stays open", PATIENCE)

    hand.in_dialog(lambda: hand.click("Import"), act)
    search = hand.find("Search", kind=QLineEdit)
    hand.qtbot.mouseClick(search, Qt.MouseButton.LeftButton)
    hand.type("lift is broken again")
    hand.wait(
        lambda: hand.rows("Documents") == 1, f"the search finds other rows for {search.text()!r}"
    )
    search.clear()
    hand.wait(lambda: hand.rows("Documents") == before + 2)


def labels_a_word_and_takes_it_back(hand):
    hand.click("Annotate")
    hand.click("Next unlabelled")
    before = span_count(hand)
    hand.double_click("Text", QPoint(20, 16))
    hand.press("Text", Qt.Key.Key_1)
    hand.wait(lambda: span_count(hand) == before + 1, "no span was made")

    hand.press("Text", Qt.Key.Key_Z, CTRL)
    hand.wait(lambda: span_count(hand) == before, "undo did nothing")
    hand.click("delay")
    hand.click("Submit")


def span_count(hand) -> int:
    return sum(
        item["count"]
        for layer in corpus.labels(hand.app.project)
        if layer["kind"] == "span"
        for item in layer["labels"]
    )


def adds_a_label(hand):
    hand.click("Labels")
    field = hand.find("New label")
    hand.qtbot.mouseClick(field, Qt.MouseButton.LeftButton)
    hand.type("weather")
    hand.click("Add label")
    hand.wait(
        lambda: any(
            item["name"] == "weather"
            for layer in corpus.labels(hand.app.project)
            for item in layer["labels"]
        )
    )
    hand.press("Labels of the layer", Qt.Key.Key_Z, CTRL)
    hand.wait(
        lambda: (
            not any(
                item["name"] == "weather"
                for layer in corpus.labels(hand.app.project)
                for item in layer["labels"]
            )
        )
    )


def sees_the_starters(hand):
    hand.click("Models")
    assert hand.find("Train with starter-bert").isVisible()
    cards = hand.app.window.panel("models").state.cards
    assert {"starter-bert", "starter-gpt"} <= {card.name for card in cards}


def trains(hand):
    hand.click("Train")
    hand.find("Start training")
    hand.wait(lambda: hand.app.window.panel("train").state.ready, "cannot train")
    epochs = hand.find("Epochs", kind=QLineEdit)
    hand.qtbot.mouseClick(epochs, Qt.MouseButton.LeftButton)
    hand.type("1")
    hand.click("Options")
    limit = hand.find("Training documents", kind=QLineEdit)
    limit.setFocus()
    hand.type("32")
    hand.click("Start training")
    hand.wait(lambda: bool(hand.app.queue.running), "no run starts")
    hand.job_ends()
    (run,) = results.all_runs(hand.app.project)
    assert run.status == "done" and "macro_f1" in run.scores["dev"]


def reads_results_and_asks_for_suggestions(hand):
    hand.click("Results")
    assert hand.rows("Runs") == 1
    assert "test" not in results.all_runs(hand.app.project)[0].scores
    hand.click("Show test score")
    hand.wait(
        lambda: results.all_runs(hand.app.project)[0].seen_test == 1,
        "the look is not counted",
        PATIENCE,
    )
    hand.job_ends()
    hand.click("Suggest with this run")
    hand.job_ends()
    hand.wait(
        lambda: any(row.suggestion_count for row in pending_rows(hand)),
        "nothing is suggested",
        PATIENCE,
    )


def pending_rows(hand):
    from workbench.storage.documents.documents import Filter

    project = hand.app.project
    return corpus.rows(project, corpus.filter_ids(project, Filter(state="pending")))


def accepts_a_suggestion(hand):
    hand.click("Annotate")
    hand.click("Next unlabelled")
    hand.unfold_sides()
    hand.wait(lambda: hand.rows("Suggestions") > 0, "the suggestion does not show")
    document = hand.app.window.panel("annotate").state.session.document_id
    hand.press("Text", Qt.Key.Key_A)

    def accepted() -> bool:
        return any(
            row.id == document and row.classes for row in corpus.rows(hand.app.project, [document])
        )

    hand.wait(accepted, "A does not accept")


def goes_through_an_error(hand):
    hand.click("Results")
    bar = next(bar for bar in hand.app.window.findChildren(QTabBar) if bar.isVisible())
    number = next(index for index in range(bar.count()) if bar.tabText(index).startswith("Errors"))
    hand.qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(number).center())
    hand.click_row("Errors", 0)
    hand.press("Errors", Qt.Key.Key_Return)
    hand.wait(lambda: hand.app.window.page == "annotate", "the error does not open in Annotate")
    hand.press("Text", Qt.Key.Key_F8)


def inspects_a_sentence(hand):
    hand.click("Inspect")
    field = hand.find("Input")
    field.setFocus()
    hand.replace("The 42 tram was late")
    hand.key(Qt.Key.Key_Return)
    state = hand.app.window.panel("inspect").state

    def answered():
        return state.current.result is not None and not state.asking

    hand.wait(answered, "no answer", PATIENCE)
    hand.click_row("Views", 1)
    hand.wait(answered, "no tokens", PATIENCE)
    assert state.view == "subwords"
    assert hand.rows("Tokens") >= 5


def runs_a_prompt(hand):
    hand.click("Prompts")
    hand.wait(lambda: len(hand.find("Preview").toPlainText()) > 40, "the exact prompt is not shown")
    hand.find("Examples").setFocus()
    hand.replace("1")  # short prompts are evaluated faster
    hand.click("Run on dev")
    hand.wait(
        lambda: any(
            run.kind == "prompt" and run.status == "done"
            for run in results.all_runs(hand.app.project)
        ),
        "no score",
        PATIENCE,
    )


def exports_and_reads_the_proof(hand, tmp_path):
    hand.click("Export")
    folder = hand.find("Folder", kind=QLineEdit)
    folder.setFocus()
    hand.replace(str(tmp_path / "out"))
    hand.click("Export model")
    hand.wait(
        lambda: any("labels equal" in text for text in shown_on_export(hand)),
        "the result of the check is not shown",
        PATIENCE,
    )
    hand.job_ends()
    assert list((tmp_path / "out").rglob("*.onnx")) and list(
        (tmp_path / "out").rglob("model.safetensors")
    )
    (card,) = [
        path
        for path in (tmp_path / "out").rglob("config.json")
        if "id2label" in path.read_text(encoding="utf-8")
    ][:1]
    assert set(json.loads(card.read_text(encoding="utf-8"))["id2label"].values()) >= {
        "delay",
        "praise",
    }


def shown_on_export(hand):
    labels = hand.app.window.panel("export").view.findChildren(QLabel)
    return [label.text() for label in labels if label.isVisible()]
