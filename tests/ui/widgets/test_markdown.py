from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from workbench.ui import theme
from workbench.ui.widgets.markdown import MarkdownView


def shown(look, qtbot, text):
    view = MarkdownView("Guideline")
    qtbot.addWidget(view)
    view.set_markdown(text)
    return view


def test_headings_have_the_sizes_of_the_theme(look, qtbot):
    document = shown(look, qtbot, "# One\n\ntext\n\n## Two").document()
    sizes = [
        document.findBlockByNumber(number).begin().fragment().charFormat().font().pixelSize()
        for number in (0, 2)
    ]
    assert sizes == [theme.size("title"), theme.size("heading")]


def test_the_same_text_again_keeps_the_place(look, qtbot):
    view = shown(look, qtbot, "line\n\n" * 200)
    view.show()
    view.verticalScrollBar().setValue(50)
    view.set_markdown("line\n\n" * 200)
    assert view.verticalScrollBar().value() == 50


def test_only_web_links_are_followed_and_no_file_is_read(look, qtbot, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    view = shown(
        look,
        qtbot,
        f"[web](https://example.org) [file](file:///etc/passwd) ![picture]({tmp_path}/x.png)",
    )
    view.anchorClicked.emit(QUrl("https://example.org"))
    view.anchorClicked.emit(QUrl("file:///etc/passwd"))

    assert opened == ["https://example.org"]
    assert view.loadResource(2, QUrl.fromLocalFile(str(tmp_path / "x.png"))) is None
