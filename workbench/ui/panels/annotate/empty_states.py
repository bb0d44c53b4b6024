"""What Annotate shows in a project without documents or labels."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from workbench.base.i18n import _
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.empty import EmptyState


def empty_states(go: Callable[..., None]) -> tuple[QWidget, QWidget]:
    """Without documents, and without labels; `go` opens another page."""
    to_import = Button(_("Import…"), "download", "primary", on=lambda: go("data", dialog="import"))
    to_labels = Button(_("Define labels"), "tags", "primary", on=lambda: go("labels"))
    return (
        EmptyState(
            "highlighter",
            _("No documents yet"),
            _("Import text: JSONL, CSV, CoNLL or plain text."),
            to_import,
        ),
        EmptyState(
            "tags",
            _("No labels yet"),
            _("Define what to label: classes, spans or sentence pairs."),
            to_labels,
        ),
    )
