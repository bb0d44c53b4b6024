import pytest
from PySide6.QtCore import QByteArray, QUrl
from PySide6.QtGui import QDesktopServices, QImage
from PySide6.QtWidgets import QTextBrowser

from tests.ui.tips import read
from workbench.ui.style import theme
from workbench.ui.widgets.text.markdown import MarkdownView


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


def test_only_web_links_are_followed(look, qtbot, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    view = shown(look, qtbot, "[web](https://example.org) [file](file:///etc/passwd)")
    view.anchorClicked.emit(QUrl("https://example.org"))
    view.anchorClicked.emit(QUrl("file:///etc/passwd"))

    assert opened == ["https://example.org"]


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("![a tram]({address})", "[Image: a tram]"),
        ("x ![]({address})", "x"),
        ("![a]({path}) and ![b]({path})", "[Image: a] and [Image: b]"),
        ('a <img src="{address}"> b', 'a <img src="{address}"> b'),
        ("<b>bold</b>", "<b>bold</b>"),
        ('[link]({address} "<img src={address}>")', "link"),
        ("| a |\n|---|\n| ![c]({address}) |", "a\n[Image: c]"),
    ],
)
def test_a_picture_is_named_html_is_shown_and_no_file_is_read(look, qtbot, canary, text, reads):
    places = {"address": canary.path.as_uri(), "path": str(canary.path)}
    view = shown(look, qtbot, text.format(**places))
    view.show()
    view.grab()

    assert view.toPlainText().strip() == reads.format(**places)
    assert canary.opened() == 0


def test_a_picture_would_be_read_without_the_guard(look, qtbot, canary):
    view = QTextBrowser()
    qtbot.addWidget(view)
    view.setMarkdown(f"![a]({canary.path.as_uri()})")
    view.show()
    view.grab()

    assert canary.opened() > 0


def test_the_tooltip_of_a_link_is_its_address(look, qtbot):
    view = shown(look, qtbot, '[a](https://example.org/?a&b "<b>Bank</b>")')
    chars = view.document().begin().begin().fragment().charFormat()

    assert read(chars.toolTip()) == "https://example.org/?a&b"


def test_a_resource_that_is_asked_for_is_empty_and_not_none(look, qtbot):
    view, here = shown(look, qtbot, "text"), QUrl("file:///etc/passwd")

    assert isinstance(view.loadResource(2, here), QImage)
    assert view.loadResource(1, here) == view.loadResource(3, here) == QByteArray()
