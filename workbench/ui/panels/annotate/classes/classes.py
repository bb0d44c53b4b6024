"""Classes of a document: setting and clearing them, and the topics of many. No Qt."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.operations.annotation import annotate
from workbench.operations.schema import labels
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.classes.label_topics import Topic, coloured, topics
from workbench.ui.panels.annotate.tool import EditorTool

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.labels import Label, Layer
    from workbench.ui.panels.annotate.session import DocumentSession, SpanTarget

COUNTING = 0.05  # share of the time in which the documents of each label are counted


class ClassTool(EditorTool):
    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self._topics: tuple[object, tuple[tuple[Topic, ...], Mapping[int, Label]]] = (
            None,
            ((), {}),
        )
        self._documents_with: tuple[int | None, float, Mapping[int, int]] = (None, 0.0, {})

    def label(self, layer: Layer, label: Label, target: SpanTarget | None) -> None:
        """Set the class, or clear it."""
        session, label_id = self.session, row_id(label)
        if label_id in session.marked:
            session.attempt(annotate.clear_class, session.document_id, layer.id, label_id)
        else:
            session.attempt(annotate.set_class, session.document_id, label_id)

    def step(self, layer: Layer, group: Sequence[int]) -> bool:
        """After the last of the labels, the class is cleared."""
        now = next((id for id in reversed(group) if id in self.session.marked), None)
        if now is None:
            return False
        following = group[group.index(now) + 1 :][:1]

        def step(project: Project, *, origin: object) -> bool:
            with project.edit(_("Change the class"), origin=origin):
                annotate.clear_class(
                    project, self.session.shown_id, row_id(layer), now, origin=origin
                )
                for id in following:
                    annotate.set_class(project, self.session.shown_id, id, origin=origin)
            return True

        self.session.attempt(step)
        return True

    def by_topic(self, layer: Layer) -> tuple[tuple[Topic, ...], Mapping[int, Label]]:
        """The topics of a layer, and label id → the label with its key and the colour of its
        topic.
        """
        keyed = self.session.keys.with_keys(layer)
        if self._topics[0] is not keyed:
            layer_topics = topics(replace(layer, labels=keyed))
            self._topics = keyed, (layer_topics, coloured(layer_topics))
        return self._topics[1]

    def documents_with(self) -> Mapping[int, int]:
        """Label id → number of documents, as of when the open document was opened; as of before
        where counting would take more than a small share of the time.
        """
        document, again, counts = self._documents_with
        now = time.perf_counter()
        if document != self.session.document_id and now >= again:
            counts = labels.counts(self.project)
            took = time.perf_counter() - now
            self._documents_with = self.session.document_id, now + took / COUNTING, counts
        return counts
