from workbench.ui.widgets.callout import Callout
from workbench.ui.widgets.dialog import Dialog


def test_a_shown_dialog_follows_a_text_that_becomes_longer_and_shorter(look, qtbot):
    dialog, note = Dialog(None, "Export"), Callout("Short.")
    dialog.put(note)
    dialog.end()
    qtbot.addWidget(dialog)
    dialog.show()
    heights = []

    for text in ("A long sentence about what is lost. " * 40, "Short.", "Some lines. " * 70):
        note.set(text)
        dialog.fit_height(shrink=True)
        qtbot.wait(20)
        needed = dialog.layout().totalHeightForWidth
        qtbot.waitUntil(lambda needed=needed: dialog.height() == needed(dialog.width()))
        assert note.height() >= note.heightForWidth(note.width())
        heights.append(dialog.height())

    assert heights[0] > heights[2] > heights[1]
