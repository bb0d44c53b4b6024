"""Error review: the predictions of a run beside gold, and taking them over. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from workbench.base.i18n import _
from workbench.operations.annotation import suggest, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.differences import Differences, differences
from workbench.ui.panels.annotate.tool import Tool

if TYPE_CHECKING:
    from workbench.project.changes import Changes
    from workbench.project.project import Project
    from workbench.ui.panels.annotate.session import DocumentSession, Editor


class ReviewTool(Tool):
    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        self.listen(session.changing, self._project_changing)

    def _project_changing(self, changes: Changes) -> None:
        if self.session.errors and changes.touches("run") and not self._run_stands():
            self.session.leave_review()

    @property
    def editor(self) -> Editor | None:
        """The tool that edits the layer of the reviewed run."""
        layer = next((row for row in self.session.layers if row.id == self.session.run_layer), None)
        return self.session.editors.get(layer.traits.editor) if layer is not None else None

    def show_errors(
        self, run_id: int, documents: Sequence[int], document_id: int | None = None
    ) -> None:
        """Start an error review: prediction beside gold, for these documents only."""
        from workbench.operations.runs import results

        if self.session.blind:
            self.context.note(_("Blind mode is on: the predictions of runs are hidden."))
            return
        run = self.context.attempt(results.run, self.project, run_id)
        if run is None or not documents:
            return
        layer = next(
            (
                layer
                for layer in self.session.layers
                if layer.id == run.layer_id or layer.name == run.layer
            ),
            None,
        )
        self.session.update(errors=tuple(documents), run=run, run_layer=layer.id if layer else None)
        if self.session.run_layer in self.session.off:
            self.session.update(
                off=self.session.off - {self.session.run_layer}
            )  # temporary: the stored selection of layers is kept
        self.session.open(document_id if document_id is not None else documents[0])

    def _run_stands(self) -> bool:
        from workbench.operations.runs import results

        return any(run.id == self.session.shown_run.id for run in results.all_runs(self.project))

    def accept_answer(self) -> None:
        """Make the prediction of the reviewed run gold, and open the next error."""
        if not self.session.can_edit or not self.session.errors or self.session.run_layer is None:
            return
        editor = self.editor
        if editor is not None and editor.take_prediction():
            return
        key, run = self.session.shown_doc.document.key, self.session.shown_run
        if self.session.predicted is None:
            self.context.note(_("The prediction for this text is no longer stored."))
            return
        if differences(self.session) != Differences():
            answer = self._as_suggestions()
            if answer is None:
                return
            done = self.session.attempt(self._take, answer)
            if done is None:
                return
            message = _(
                "Accepted the prediction of {run} as gold for {key}.", run=run.name, key=key
            )
            self.context.note(message, undo=True)
        self.session.queue.next_error()

    def _take(self, project: Project, answer: list[NewSuggestion], *, origin: object) -> bool:
        differing = differences(self.session)
        ids = {
            label.name: id
            for id, (layer, label) in self.session.label_of.items()
            if layer.id == self.session.run_layer
        }
        suggestion_edits.take_answer(
            project,
            self.session.shown_run.id,
            self.session.shown_id,
            cast(int, self.session.run_layer),
            answer,
            spans=differing.missed,
            classes=[ids[label] for label in differing.missed_labels],
            relations=differing.missed_relations,
            origin=origin,
        )
        return True

    def _as_suggestions(self) -> list[NewSuggestion] | None:
        """Predictions of the run that gold lacks; None, with a message, if a label was deleted."""
        differing = differences(self.session)
        layer = next(layer for layer in self.session.layers if layer.id == self.session.run_layer)
        ids = {label.name: row_id(label) for label in layer.labels}
        spans = [mention for chain in differing.chains for mention in chain] or differing.spans
        named = (*spans, *differing.relations)
        names = [*(item.label for item in named), *differing.labels]
        gone = next((name for name in names if name not in ids), None)
        if gone is not None:
            message = _(
                "Layer {layer} no longer has the label {name}.", layer=layer.name, name=gone
            )
            self.context.note(message)
            return None
        here = self.session.shown_id, row_id(layer)
        suggestions = [
            NewSuggestion(
                *here, ids[span.label], span.start, span.end, span.field, span.score, span.chain
            )
            for span in spans
        ]
        scores = {answer.label: answer.score for answer in self.session.predicted_answers}
        suggestions += [
            NewSuggestion(*here, ids[label], score=scores.get(label)) for label in differing.labels
        ]
        suggestions += [
            suggest.of_relation(here[0], layer, ids[relation.label], relation)
            for relation in differing.relations
        ]
        if isinstance(differing.value, str):
            suggestions.append(NewSuggestion(*here, None, written=differing.value))
        elif differing.value is not None:
            suggestions.append(NewSuggestion(*here, None, value=differing.value))
        return suggestions
