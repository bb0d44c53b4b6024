"""Accept, reject and store suggestions. Every call is one undo step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.operations.annotation import questions
from workbench.operations.annotation import relations as relate
from workbench.operations.annotation.annotate import make_room, start_draft
from workbench.project.project import Project
from workbench.storage.annotation import annotations as annotation_rows
from workbench.storage.annotation import answers, document_values
from workbench.storage.annotation import relations as relation_rows
from workbench.storage.annotation import suggestions as proposals
from workbench.storage.annotation.suggestions import NewSuggestion, SuggestionRow
from workbench.storage.labels import labels
from workbench.storage.runs import runs as storage_runs
from workbench.text.labels import Layer

CHUNK = 200  # suggestions between two reports of progress


def accept(
    project: Project,
    suggestion_ids: Iterable[int],
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Make open suggestions gold; the source stays the run. Returns how many were accepted."""
    chosen = [
        by_id for by_id in proposals.by_ids(project.db, suggestion_ids) if by_id.status == "open"
    ]
    if not chosen:
        return 0
    title = ngettext("Accept {n} suggestion", "Accept {n} suggestions", len(chosen))
    layer_by_id = {layer.id: layer for layer in labels.layers(project.db)}
    with project.edit(title, origin=origin, watch=watch.part(0.9, 1.0)):
        for some in watch.part(0.0, 0.9).over(chosen, CHUNK):
            for suggestion in some:
                _make_gold(project, suggestion, layer_by_id[suggestion.layer_id])
                start_draft(project, suggestion.document_id, suggestion.layer_id)
        proposals.set_suggestion_status(
            project.db, [suggestion.id for suggestion in chosen], "accepted"
        )
    return len(chosen)


def _make_gold(project: Project, suggestion: SuggestionRow, layer: Layer) -> None:
    """Write what a suggestion proposes: an answer, a number, a text, a class or a span."""
    source: dict[str, Any] = {
        "annotator_id": project.gold(suggestion.layer_id),
        "source_id": suggestion.source_id,
        "score": suggestion.score,
    }
    where = (project.db, suggestion.document_id, suggestion.layer_id)
    if suggestion.question is not None:
        _answer(project, suggestion, suggestion.question)
    elif suggestion.label_id is None:
        if (value := _value(suggestion)) is not None:
            document_values.set_value(*where, value, **source)
    elif (ends := suggestion.ends) is not None:
        relate.take_relation(
            project, suggestion.document_id, layer, suggestion.label_id, ends,
            source_id=suggestion.source_id, score=suggestion.score,
        )  # fmt: skip
    elif suggestion.start is None:
        several = layer.traits.several
        annotation_rows.set_mark(*where, suggestion.label_id, many=several, **source)
    elif suggestion.end is not None:
        start, end, field = suggestion.start, suggestion.end, suggestion.field
        make_room(project, suggestion.document_id, layer, start, end, field)
        chain = _chain(project, suggestion)
        annotation_rows.add_span(
            *where, suggestion.label_id, start, end, field=field, chain=chain, **source
        )


def _chain(project: Project, suggestion: SuggestionRow) -> int | None:
    """The chain of a suggested mention: that of the mentions which its run puts into the same one,
    else a new one. None for other spans.
    """
    if suggestion.chain is None:
        return None
    chain = proposals.gold_chain(project.db, suggestion)
    where = suggestion.document_id, suggestion.layer_id
    return chain if chain is not None else relation_rows.free_chain(project.db, *where)


def _value(suggestion: SuggestionRow | NewSuggestion) -> float | str | None:
    """The number or the text that a suggestion without a label proposes."""
    return suggestion.written if suggestion.value is None else suggestion.value


def _answer(project: Project, suggestion: SuggestionRow, question: int) -> None:
    """Take a range of the text, or none, as an answer to a question."""
    stored = answers.question(project.db, question)
    start, end = suggestion.start, suggestion.end
    offsets = None if start is None or end is None else (start, end)
    questions.take(project, stored, offsets, source_id=suggestion.source_id)


def reject(
    project: Project,
    suggestion_ids: Iterable[int],
    *,
    origin: object = None,
    watch: Watch = QUIET,
) -> int:
    """Rejected suggestions are not suggested again by the same run.

    Returns how many were rejected.
    """
    chosen = [
        by_id.id for by_id in proposals.by_ids(project.db, suggestion_ids) if by_id.status == "open"
    ]
    if not chosen:
        return 0
    title = ngettext("Reject {n} suggestion", "Reject {n} suggestions", len(chosen))
    with project.edit(title, origin=origin, watch=watch):
        return proposals.set_suggestion_status(project.db, chosen, "rejected")


def add_suggestions(
    project: Project,
    run_id: int | None,
    rows: Iterable[NewSuggestion],
    *,
    title: str = "",
    kind: str = "run",
    ref: str = "",
    replace: bool = True,
    origin: object = None,
) -> int:
    """Store the suggestions of a run (or, if `run_id` is None, of an import or rule) in one step.

    Returns how many are open afterwards.

    Open suggestions of the run are replaced unless `replace` is False. Omitted are suggestions that
    the
    user rejected from this run, that equal gold, that do not fit the text, and duplicates.
    """
    with project.edit(title or _("Add suggestions"), origin=origin, bulk=True):
        if run_id is not None and replace:
            proposals.delete_open(project.db, run_id)
        suggestions = list(rows)
        shut = proposals.gold_of(project.db, {suggestion.document_id for suggestion in suggestions})
        if run_id is not None:
            shut |= proposals.rejected(project.db, run_id)
        chosen: dict[proposals.What, NewSuggestion] = {}
        for suggestion in suggestions:
            if suggestion.what not in shut:
                chosen.setdefault(suggestion.what, suggestion)
        if not chosen:
            return 0
        source = project.source(
            kind, ref or (str(run_id) if run_id is not None else ""), annotator=False
        )
        return proposals.add_suggestions(
            project.db, chosen.values(), source_id=source, run_id=run_id
        )


def take_answer(
    project: Project,
    run_id: int,
    document_id: int,
    layer_id: int,
    suggestions: Sequence[NewSuggestion],
    *,
    spans: Iterable[int] = (),
    classes: Iterable[int] = (),
    relations: Iterable[int] = (),
    origin: object = None,
) -> None:
    """Make the predictions of a run (`suggestions`) gold in one step, replacing gold `spans`,
    labels `classes` and `relations` (ids). Mentions of one predicted chain become a chain of their
    own. Raises WorkbenchError if the rules of the layer do not allow a relation.

    The source is the run, with its scores; the state of the document does not change.
    """
    name = storage_runs.get(project.db, run_id).name
    layer = labels.layer(project.db, layer_id)
    with project.edit(_("Accept prediction of {run}", run=name), origin=origin):
        source = project.source("run", str(run_id), annotator=False)
        who = {"annotator_id": project.gold(layer_id), "source_id": source}
        for id in spans:
            annotation_rows.delete_span(project.db, id)
        for id in classes:
            annotation_rows.clear_mark(project.db, document_id, layer_id, who["annotator_id"], id)
        for id in relations:
            relation_rows.delete_relation(project.db, id)
        chains: dict[int, int] = {}  # predicted number → gold number
        for suggestion in suggestions:
            if suggestion.label_id is None:
                if (value := _value(suggestion)) is not None:
                    document_values.set_value(project.db, document_id, layer_id, value, **who)
            elif (ends := suggestion.ends) is not None:
                relate.take_relation(
                    project, document_id, layer, suggestion.label_id, ends,
                    source_id=source, score=suggestion.score,
                )  # fmt: skip
            elif suggestion.start is None:
                annotation_rows.set_mark(
                    project.db, document_id, layer_id, suggestion.label_id,
                    many=layer.traits.several, score=suggestion.score, **who,
                )  # fmt: skip
            elif suggestion.end is not None:
                make_room(
                    project, document_id, layer, suggestion.start, suggestion.end, suggestion.field
                )
                span = annotation_rows.add_span(
                    project.db, document_id, layer_id, suggestion.label_id,
                    suggestion.start, suggestion.end,
                    field=suggestion.field, score=suggestion.score, **who,
                )  # fmt: skip
                if suggestion.chain is not None:
                    if suggestion.chain not in chains:
                        chains[suggestion.chain] = relation_rows.free_chain(
                            project.db, document_id, layer_id
                        )
                    chain = chains[suggestion.chain]
                    relation_rows.set_chain(project.db, [span], chain, source_id=source)
        start_draft(project, document_id, layer_id)
