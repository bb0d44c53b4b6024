"""Words around the texts of a document: the parts beside the one in focus, and titles."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from workbench.base.i18n import _, ngettext
from workbench.ui.style import theme
from workbench.ui.widgets.offsets import is_rtl
from workbench.ui.widgets.text_scroll import LEFT
from workbench.ui.widgets.words import words


def context_words() -> QLabel:
    """A label for the text before or after the part in focus; hidden."""
    label = words("", "ui", "muted", wrap=True)
    label.setContentsMargins(LEFT, 0, LEFT, 0)
    label.setMaximumWidth(theme.READING_WIDTH)
    label.hide()
    return label


def show_context(label: QLabel, text: str) -> None:
    """Text beside a part, in its direction; hidden without any."""
    side = Qt.AlignmentFlag.AlignRight if is_rtl(text) else Qt.AlignmentFlag.AlignLeft
    label.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute)
    label.setText(" ".join(text.split()))
    label.setVisible(bool(text))


def title_of(field: str, *, choosing: bool) -> str:
    """The title above a text, by the name of its field."""
    if choosing:
        return {"text": _("Text"), "question": _("Question")}.get(field, field)
    return {"text": _("First text"), "text_b": _("Second text")}.get(field, field)


def without_labels(layers: Iterable[str]) -> str:
    """The sentence on these layers, which have no labels; "" for none."""
    names = list(layers)
    if not names:
        return ""
    message = ngettext(
        "{layers} has no labels yet. Create them on the Labels page.",
        "{layers} have no labels yet. Create them on the Labels page.",
        len(names),
    )
    return message.format(layers=", ".join(names))
