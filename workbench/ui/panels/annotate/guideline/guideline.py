"""Examples for the guideline from the open document, and which section of it is shown. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.operations.schema import guideline
from workbench.text.labels import CLASSES
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.session import SpanTarget
from workbench.ui.panels.annotate.tool import Tool
from workbench.ui.project import recent_labels

if TYPE_CHECKING:
    from workbench.text.guideline import Example
    from workbench.text.labels import Label, Layer
    from workbench.ui.panels.annotate.session import DocumentSession


@dataclass(frozen=True, slots=True)
class Case:
    """What can be an example of a label. words: None for the whole document."""

    layer: Layer
    label: Label
    words: SpanTarget | None


class GuidelineTool(Tool):
    """`added`: the example that was added last. `label`: name of the label that is selected: of the
    span or suggestion, else the first class of the document; "" without one.
    """

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self.added: Example | None = None
        self.label = ""
        self.listen(session.changed, self._session_changed)

    def _session_changed(self, fields: frozenset[str]) -> None:
        if not fields.isdisjoint(("chosen", "doc", "spans", "off", "layers")):
            case = self.case
            self.update(label=case.label.name if case is not None else "")

    # ------------------------------------------------------------ what is shown

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The selected layers, whose guidelines are shown."""
        return self.session.active or self.session.layers

    @property
    def text(self) -> str:
        """Markdown of the guidelines, with tables of the labels."""
        text = guideline.shown(self.layers)
        if any(layer.guideline.strip() for layer in self.layers):
            return text
        hint = _("The selected layers have no guideline yet. Write it on the Labels page.")
        return f"{text}\n*{hint}*\n"

    # ------------------------------------------------------------ adding examples

    @property
    def case(self) -> Case | None:
        """The selected span or suggestion with its label, else the first class of the document."""
        session = self.session
        row = session.chosen_span() or session.chosen_suggestion()
        entry = session.label_of.get(row.label_id or 0) if row is not None else None
        if row is not None and entry is not None:
            words = None
            if row.start is not None and row.end is not None:
                words = SpanTarget(row.field, row.start, row.end)
            return Case(*entry, words)
        for layer in session.active:
            for label in layer.labels:
                if layer.traits.editor == CLASSES and label.id in session.marked:
                    return Case(layer, label, None)
        return None

    def cases(self, words: SpanTarget | None) -> tuple[Case, ...]:
        """All labels that words, or the whole document, can be an example of; the labels used last
        come first.
        """
        cases = [
            Case(layer, label, words)
            for layer in self.session.active
            if layer.traits.in_text or words is None
            for label in layer.labels
        ]
        latest = recent_labels.latest(self.context, [case.label for case in cases])
        order = {id: number for number, id in enumerate(latest)}
        return tuple(sorted(cases, key=lambda case: order.get(row_id(case.label), len(order))))

    @property
    def remark(self) -> str:
        """The note on the selected span or on the document, which an example begins with."""
        span = self.session.chosen_span()
        return self.session.remarks.note(span.id if span is not None else None)

    def excerpt(self, words: SpanTarget | None) -> str:
        """The words of an example on one line."""
        document = self.session.shown_doc.document
        if words is None:
            return " ".join(document.text.split())
        return " ".join(document.content(words.field)[words.start : words.end].split())

    def add(self, case: Case, *, positive: bool, remark: str | None = None) -> None:
        """Add an example, by default with the note as its remark.

        Raises WorkbenchError, for instance if it is one already.
        """
        words = case.words
        place = {} if words is None else dict(words._asdict())
        example = guideline.add_example(
            self.project,
            row_id(case.layer),
            case.label.name,
            self.session.shown_id,
            positive=positive,
            remark=self.remark if remark is None else remark,
            origin=self,
            **place,
        )
        self.update(added=example)
        self.context.note(guideline.added_text(example), True)
