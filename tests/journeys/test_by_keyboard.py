"""The same journey without mouse events.

Pages are opened by Ctrl+Alt+digit, controls reached by Tab, commands run by their keys.
"""

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication

from tests.journeys.hand import CTRL, PATIENCE
from tests.journeys.test_by_mouse import pending_rows, shown_on_export, span_count
from workbench.operations.documents import corpus
from workbench.operations.runs import results

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(900)]
MOUSE = {
    QEvent.Type.MouseButtonPress,
    QEvent.Type.MouseButtonRelease,
    QEvent.Type.MouseButtonDblClick,
}


class NoMouse(QObject):
    """Counts mouse events, so that the test can assert that there were none."""

    def __init__(self):
        super().__init__()
        self.pressed = 0

    def eventFilter(self, _watched, event) -> bool:
        self.pressed += event.type() in MOUSE
        return False


@pytest.fixture
def no_mouse(qapp):
    watch = NoMouse()
    qapp.installEventFilter(watch)
    yield watch
    qapp.removeEventFilter(watch)
    assert watch.pressed == 0


def test_from_raw_text_to_an_exported_model_by_keys_alone(forked_workers, hand, no_mouse, tmp_path):
    opens_the_sample(hand)
    finds_a_document_and_opens_it(hand)
    labels_relabels_deletes_and_submits(hand)
    adds_a_label(hand)
    picks_the_starter(hand)
    trains(hand)
    suggests_and_rejects(hand)
    inspects(hand)
    prompts(hand)
    exports(hand, tmp_path)


def opens_the_sample(hand):
    hand.tab_to("Open the sample project")
    hand.key(Qt.Key.Key_Return)
    hand.wait(
        lambda: hand.app.project is not None and hand.app.window.page == "annotate",
        "the sample is not open",
    )


def finds_a_document_and_opens_it(hand):
    hand.page("Data")
    hand.key(Qt.Key.Key_F, CTRL)
    hand.type("six-year-olds")
    hand.wait(lambda: hand.rows("Documents") == 1, "the search does not find the one")
    hand.tab_to("Documents")
    hand.key(Qt.Key.Key_Return)
    hand.wait(lambda: hand.app.window.page == "annotate", "Enter does not open it")


def labels_relabels_deletes_and_submits(hand):
    hand.wait(lambda: _focus_name() == "Text", "Annotate does not give Text the focus")
    before = span_count(hand)
    hand.key(Qt.Key.Key_Home)
    hand.key(Qt.Key.Key_1)
    hand.wait(
        lambda: span_count(hand) == before + 1,
        "a label's key makes no span of the word at the caret",
    )
    hand.key(Qt.Key.Key_Tab)
    hand.key(Qt.Key.Key_2)
    assert span_count(hand) == before + 1
    hand.key(Qt.Key.Key_Delete)
    hand.wait(lambda: span_count(hand) == before, "Delete removes nothing")
    hand.key(Qt.Key.Key_Z, CTRL)
    hand.wait(lambda: span_count(hand) == before + 1, "undo does not bring it back")
    submitted = corpus.info(hand.app.project)["states"]["submitted"]
    hand.key(Qt.Key.Key_Q)
    hand.key(Qt.Key.Key_Return, CTRL)
    hand.wait(
        lambda: corpus.info(hand.app.project)["states"]["submitted"] == submitted + 1,
        "Ctrl+Enter does not submit",
    )


def _focus_name() -> str:
    focused = QApplication.focusWidget()
    return focused.accessibleName() if focused is not None else ""


def adds_a_label(hand):
    hand.page("Labels")
    hand.tab_to("New label")
    hand.type("weather")
    hand.key(Qt.Key.Key_Return)
    hand.wait(
        lambda: any(
            label["name"] == "weather"
            for layer in corpus.labels(hand.app.project)
            for label in layer["labels"]
        ),
        "no new label",
    )
    hand.tab_to("Labels of the layer")
    hand.key(Qt.Key.Key_Z, CTRL)
    hand.wait(
        lambda: (
            not any(
                label["name"] == "weather"
                for layer in corpus.labels(hand.app.project)
                for label in layer["labels"]
            )
        ),
        "no undo",
    )


def picks_the_starter(hand):
    hand.page("Models")
    hand.tab_to("Train with starter-bert")
    hand.key(Qt.Key.Key_Return)
    hand.wait(lambda: hand.app.window.page == "train", "the card does not lead to Train")


def trains(hand):
    state = hand.app.window.panel("train").state
    hand.wait(lambda: state.ready, "cannot train")
    hand.tab_to("Epochs")
    hand.replace("1")
    hand.tab_to("Options")
    hand.key(Qt.Key.Key_Return)
    hand.tab_to("Training documents")
    hand.replace("16")
    hand.wait(lambda: state.ready, "a setting does not fit")
    hand.tab_to("Start training")
    hand.key(Qt.Key.Key_Return)
    hand.wait(lambda: bool(hand.app.queue.running), "no run starts")
    hand.job_ends()
    assert [run.status for run in results.all_runs(hand.app.project)] == ["done"]


def suggests_and_rejects(hand):
    hand.page("Results")
    hand.tab_to("Suggest with this run")
    hand.key(Qt.Key.Key_Return)
    hand.job_ends()
    hand.wait(
        lambda: any(row.suggestion_count for row in pending_rows(hand)),
        "nothing is suggested",
        PATIENCE,
    )
    hand.page("Annotate")
    hand.key(Qt.Key.Key_Down, CTRL)
    hand.unfold_sides()
    hand.wait(lambda: hand.rows("Suggestions") > 0, "the suggestion does not show")
    before = hand.rows("Suggestions")
    hand.key(Qt.Key.Key_X)
    hand.wait(
        lambda: len(hand.app.window.panel("annotate").state.session.suggestions) < before,
        "X does not reject",
    )


def inspects(hand):
    hand.page("Inspect")
    hand.tab_to("Input")
    hand.replace("Nobody came at half past five")
    hand.key(Qt.Key.Key_Return)
    state = hand.app.window.panel("inspect").state
    hand.wait(lambda: state.current.result is not None, "no answer", PATIENCE)


def prompts(hand):
    hand.page("Prompts")
    hand.wait(
        lambda: len(hand.find("Preview").toPlainText()) > 40,
        "the exact prompt is not shown",
        PATIENCE,
    )
    hand.tab_to("Examples")
    hand.key(Qt.Key.Key_Down, times=6)  # no examples: short prompts are evaluated faster
    hand.tab_to("Run on dev")
    hand.key(Qt.Key.Key_Return)
    hand.wait(
        lambda: any(
            run.kind == "prompt" and run.status == "done"
            for run in results.all_runs(hand.app.project)
        ),
        "no score",
        PATIENCE,
    )


def exports(hand, tmp_path):
    """The Hugging Face folder alone; the journey by mouse exports both formats."""
    hand.page("Export")
    hand.tab_to("ONNX, 32 bit")
    hand.key(Qt.Key.Key_Space)
    hand.tab_to("Folder")
    hand.replace(str(tmp_path / "out"))
    hand.tab_to("Export model")
    hand.key(Qt.Key.Key_Return)
    hand.wait(
        lambda: any("labels equal" in text for text in shown_on_export(hand)),
        "the result of the check is not text",
        PATIENCE,
    )
    hand.job_ends()
    assert list((tmp_path / "out").rglob("model.safetensors"))
    assert not list((tmp_path / "out").rglob("*.onnx"))
