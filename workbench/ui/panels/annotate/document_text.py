"""One text of a document."""

from __future__ import annotations

from workbench.ui.widgets.text.view import TextView


class DocumentText(TextView):
    """`field` is the name of the text."""

    def __init__(self) -> None:
        super().__init__()
        self.field = "text"
        self.shown_text: str | None = None
