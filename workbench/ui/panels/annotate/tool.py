"""Tools of Annotate: each has a state and views of its own, and sees only the session. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.base.events import State
from workbench.ui.project import recent_labels

if TYPE_CHECKING:
    from workbench.operations.annotation.annotate import RelationRow, SpanRow
    from workbench.text.labels import Label, Layer
    from workbench.ui.panels.annotate.session import DocumentSession, SpanTarget


class Tool(State):
    """One tool of the page. What it shows of the document is in `session`, what it shows beside
    that in its own fields.
    """

    def __init__(self, session: DocumentSession) -> None:
        super().__init__()
        self.session = session
        self.context, self.project = session.context, session.project

    def delete_chosen(self) -> bool:
        """Delete what is selected, if that is of this tool; whether it was."""
        return False


class EditorTool(Tool):
    """A tool that edits the layers whose kind names it (`LayerKind.editor`)."""

    def label(self, layer: Layer, label: Label, target: SpanTarget | None) -> None:
        """Give a label of the layer to what is selected, or to `target`."""

    def step(self, layer: Layer, group: Sequence[int]) -> bool:
        """The key of a label was pressed again: give what has one of these labels the next one.

        `group`: ids of a label and its sublabels. False if nothing selected has one of them.
        """
        return False

    def _step_row(self, row: SpanRow | RelationRow | None, group: Sequence[int]) -> bool:
        """`step` for what is selected; after the last comes the first."""
        if row is None or row.label_id not in group:
            return False
        following = group[(group.index(row.label_id) + 1) % len(group)]
        layer, label = self.session.label_of[following]
        recent_labels.used(self.context, label)
        self.label(layer, label, None)
        return True

    def take_prediction(self) -> bool:
        """In error review, take the prediction of the selected part alone; False if the whole
        prediction is to be taken.
        """
        return False

    @property
    def mistakes(self) -> str:
        """How the prediction under review differs in parts of this tool, as a sentence."""
        return ""

    @property
    def mistaken(self) -> bool:
        """Whether `take_prediction` would change something."""
        return False
