"""Classes of a document: setting and clearing them, and the topics of many. No Qt."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from workbench.base.i18n import _
from workbench.operations.annotation import annotate
from workbench.operations.schema import labels
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.tool import EditorTool

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.text.labels import Label, Layer
    from workbench.ui.panels.annotate.session import DocumentSession, SpanTarget


COUNTING = 0.05  # share of the time in which the documents of each label are counted


class Topic(NamedTuple):
    name: str
    labels: tuple[Label, ...]


def topics(layer: Layer) -> tuple[Topic, ...]:
    """A parent with its sublabels is a topic, and labels that are neither are the last one; in a
    layer without sublabels, the names with the same first letter, in alphabetical order.
    """
    if not layer.grouped:
        return _by_letter(layer.labels)
    parents = {label.parent for label in layer.labels if label.parent}
    single = [label for label in layer.labels if not label.parent and label.name not in parents]
    first = (label for label in layer.labels if label.name in parents and not label.parent)
    groups = [Topic(label.name, (label, *layer.sublabels(label.name))) for label in first]
    return (*groups, *([Topic(_("Other"), tuple(single))] if single else []))


def _by_letter(labels: tuple[Label, ...]) -> tuple[Topic, ...]:
    by_letter: dict[str, list[Label]] = {}
    for label in sorted(labels, key=lambda label: _folded(label.name)):
        by_letter.setdefault(_folded(label.name)[:1].upper(), []).append(label)
    return tuple(Topic(letter, tuple(labels)) for letter, labels in by_letter.items())


def _folded(name: str) -> str:
    """Without case and accents, so that É is among E."""
    split = unicodedata.normalize("NFKD", name.strip().casefold())
    return "".join(char for char in split if not unicodedata.combining(char)) or name


def coloured(topics: tuple[Topic, ...]) -> Mapping[int, Label]:
    """Label id → the label in the colour of its topic: that of the parent if the user chose one."""
    return {
        row_id(label): replace(label, colour=_colour(topic), position=number)
        for number, topic in enumerate(topics)
        for label in topic.labels
    }


def _colour(topic: Topic) -> str:
    first = topic.labels[0]
    return first.colour if first.name == topic.name else ""


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
