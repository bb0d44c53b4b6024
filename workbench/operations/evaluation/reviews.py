"""Reviews of gold: whether a possible error was accepted, kept or skipped. Undoable.

A review is a flag of the document whose name holds the mistake as JSON, so that it survives later
sessions, other runs and changes of gold, and is undone together with the edit that it is part of.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import N_, _
from workbench.operations.annotation import questions
from workbench.operations.annotation import relations as relate
from workbench.operations.annotation.annotate import make_room, start_draft
from workbench.project.project import Project
from workbench.storage.annotation import annotations as annotation_rows
from workbench.storage.annotation import document_values, relations
from workbench.storage.documents import flags
from workbench.storage.runs import runs
from workbench.text.labels import NUMBERS, Layer
from workbench.text.mistakes import LABEL, Mistake
from workbench.text.rows import row_id
from workbench.text.scale import Scale
from workbench.text.spans import Span, chains_of

PREFIX = flags.REVIEWS
VERDICTS = ACCEPTED, CHANGED, KEPT, SKIPPED = ("accepted", "changed", "kept", "skipped")
TITLES = {
    ACCEPTED: N_("accepted"),
    CHANGED: N_("changed"),
    KEPT: N_("gold kept"),
    SKIPPED: N_("skipped"),
}


@dataclass(frozen=True)
class Review:
    """What the user decided about a mistake; run_id: of the run that made it, None for no run."""

    id: int
    document_id: int
    layer_id: int
    verdict: str
    mistake: Mistake
    run_id: int | None
    at: str

    @property
    def identity(self) -> tuple[object, ...]:
        return self.document_id, *self.mistake.identity


@dataclass(frozen=True)
class ReviewItem:
    """A possible error of gold or of a model. text: of the field that it is in; review: None while
    it is open.
    """

    document_id: int
    key: str
    text: str
    mistake: Mistake
    review: Review | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        return self.document_id, *self.mistake.identity

    @property
    def quote(self) -> str:
        """The words at the place, or the beginning of the document."""
        return self.mistake.quote(self.text)

    @property
    def verdict(self) -> str:
        return self.review.verdict if self.review is not None else ""

    def to_json(self) -> dict[str, object]:
        about = {"key": self.key, **self.mistake.to_json(), "quote": self.quote}
        return {**about, "review": self.verdict or None}


def reviews(project: Project, layer_id: int, document_id: int | None = None) -> tuple[Review, ...]:
    """The reviews of a layer, oldest first; those that cannot be read are left out."""
    rows = []
    for flag in flags.starting_with(project.db, PREFIX, document_id):
        try:
            raw = json.loads(flag.name[len(PREFIX) :])
            if raw["layer"] != layer_id:
                continue
            mistake = Mistake.from_json(raw["mistake"])
            details = raw["verdict"], mistake, raw["run"], flag.at
            rows.append(Review(flag.id, flag.document_id, layer_id, *details))
        except (ValueError, KeyError, TypeError):
            continue  # written by a later version
    return tuple(rows)


def keep(
    project: Project,
    layer: Layer,
    document_id: int,
    mistake: Mistake,
    *,
    verdict: str = KEPT,
    run_id: int | None = None,
    origin: object = None,
) -> None:
    """Leave gold as it is, and remember that it was reviewed."""
    title = _("Keep gold") if verdict == KEPT else _("Skip label")
    with project.edit(title, origin=origin):
        _remember(project, layer, document_id, mistake, verdict, run_id)


def accept(
    project: Project,
    layer: Layer,
    document_id: int,
    mistake: Mistake,
    *,
    title: str,
    verdict: str = ACCEPTED,
    run_id: int | None = None,
    origin: object = None,
) -> None:
    """Replace what gold says at the place by what was predicted, in one step.

    With a run, the source of the new label is the run. Raises WorkbenchError if a label was
    deleted, or gold has changed at the place.
    """
    traits = layer.traits
    ids = {label.name: row_id(label) for label in layer.labels}
    for name in (mistake.gold, mistake.predicted):
        named = traits.has_labels and not traits.asks and not traits.in_chains
        if named and name and name not in ids:
            message = _("Layer {layer} no longer has the label {name}.")
            raise WorkbenchError(message.format(layer=layer.name, name=name))
    old, new = (ids.get(name) for name in (mistake.gold, mistake.predicted))
    with project.edit(title, origin=origin):
        kind, ref = ("run", str(run_id)) if run_id is not None else ("person", "")
        source = project.source(kind, ref, annotator=run_id is None)
        if traits.asks:
            _replace_answer(project, layer, document_id, mistake, source)
        elif not traits.has_labels:
            _replace_value(project, layer, document_id, mistake, source)
        elif traits.in_chains:
            _replace_mention(project, layer, document_id, mistake, run_id, source)
        elif traits.on_document:
            _replace_class(project, layer, document_id, old, new, mistake, source)
        elif traits.between_spans:
            _replace_relation(project, layer, document_id, old, new, mistake, source)
        else:
            _replace_span(project, layer, document_id, old, new, mistake, source)
        start_draft(project, document_id, row_id(layer))
        _remember(project, layer, document_id, mistake, verdict, run_id)


def _replace_answer(
    project: Project, layer: Layer, document_id: int, mistake: Mistake, source: int
) -> None:
    """The label of a mistake is the question."""
    question, place = mistake.gold or mistake.predicted, mistake.predicted_at
    questions.take_prediction(
        project, document_id, row_id(layer), question, place, source_id=source
    )


def _replace_value(
    project: Project, layer: Layer, document_id: int, mistake: Mistake, source: int
) -> None:
    value: float | str = mistake.predicted
    if layer.traits.record == NUMBERS:
        value = Scale.of(layer.options).nearest(float(mistake.predicted))
    document_values.set_value(
        project.db,
        document_id,
        row_id(layer),
        value,
        annotator_id=project.gold(row_id(layer)),
        source_id=source,
    )


def _replace_class(
    project: Project,
    layer: Layer,
    document_id: int,
    old: int | None,
    new: int | None,
    mistake: Mistake,
    source: int,
) -> None:
    db, layer_id = project.db, row_id(layer)
    who = project.gold(layer_id)
    if old is not None and (new is None or layer.traits.several):
        annotation_rows.clear_mark(db, document_id, layer_id, who, old)
    if new is not None:
        annotation_rows.set_mark(
            db,
            document_id,
            layer_id,
            new,
            many=layer.traits.several,
            annotator_id=who,
            source_id=source,
            score=mistake.confidence,
        )


def _replace_relation(
    project: Project,
    layer: Layer,
    document_id: int,
    old: int | None,
    new: int | None,
    mistake: Mistake,
    source: int,
) -> None:
    if mistake.at is not None and mistake.to is not None:
        ends = Span(*mistake.at, ""), Span(*mistake.to, "")
        if not relate.delete_gold(project, document_id, layer, old, ends):
            raise WorkbenchError(_("The gold label at this place has changed since."))
    if new is not None and mistake.predicted_at is not None and mistake.predicted_to is not None:
        ends = Span(*mistake.predicted_at, ""), Span(*mistake.predicted_to, "")
        relate.take_relation(
            project, document_id, layer, new, ends, source_id=source, score=mistake.confidence
        )


def _replace_span(
    project: Project,
    layer: Layer,
    document_id: int,
    old: int | None,
    new: int | None,
    mistake: Mistake,
    source: int,
) -> None:
    db, layer_id = project.db, row_id(layer)
    if mistake.at is not None:
        place = (layer_id, mistake.field, *mistake.at, old)
        rows = [
            row.id
            for row in annotation_rows.spans(db, document_id)
            if (row.layer_id, row.field, row.start, row.end, row.label_id) == place
        ]
        if not rows:
            raise WorkbenchError(_("The gold label at this place has changed since."))
        for id in rows:
            annotation_rows.delete_span(db, id)
    if new is not None and mistake.predicted_at is not None:
        start, end = mistake.predicted_at
        make_room(project, document_id, layer, start, end, mistake.field)
        annotation_rows.add_span(
            db,
            document_id,
            layer_id,
            new,
            start,
            end,
            field=mistake.field,
            annotator_id=project.gold(row_id(layer)),
            source_id=source,
            score=mistake.confidence,
        )


def _replace_mention(
    project: Project,
    layer: Layer,
    document_id: int,
    mistake: Mistake,
    run_id: int | None,
    source: int,
) -> None:
    """Add, remove or move a mention, or put it into the chain of the mention that the run links it
    to: the nearest one of its predicted chain that gold has, else a new chain.
    """
    db, layer_id = project.db, row_id(layer)
    gold = {
        (row.start, row.end): row
        for row in annotation_rows.spans(db, document_id)
        if row.layer_id == layer_id and row.field == mistake.field
    }
    mine = gold.get(mistake.at) if mistake.at is not None else None
    if mistake.at is not None and mine is None:
        raise WorkbenchError(_("The gold label at this place has changed since."))
    if mine is not None and mistake.at != mistake.predicted_at:
        annotation_rows.delete_span(db, mine.id)
        del gold[mine.start, mine.end]
        mine = None
    if mistake.predicted_at is None:
        return
    span, others = _predicted_chain(project, document_id, mistake, run_id)
    if mistake.kind == LABEL:  # an antecedent, or none
        others = [other for other in others if other.start <= span.start]
    chains = (gold[place].chain for place in map(_place, others) if place in gold)
    chain = next((chain for chain in chains if chain is not None), None)
    if chain is None:
        chain = relations.free_chain(db, document_id, layer_id)
    if mine is None:
        label = next((row_id(each) for each in layer.labels if each.name == span.label), None)
        if label is None:
            message = _("Layer {layer} no longer has the label {name}.")
            raise WorkbenchError(message.format(layer=layer.name, name=span.label))
        annotation_rows.add_span(
            db,
            document_id,
            layer_id,
            label,
            *mistake.predicted_at,
            field=mistake.field,
            annotator_id=project.gold(layer_id),
            source_id=source,
            score=mistake.confidence,
            chain=chain,
        )
    else:
        relations.set_chain(db, [mine.id], chain, source_id=source)


def _predicted_chain(
    project: Project, document_id: int, mistake: Mistake, run_id: int | None
) -> tuple[Span, list[Span]]:
    """The predicted mention of a mistake, and the others of its chain: those before it, the nearest
    first, then those after it. Raises WorkbenchError if the prediction is no longer stored.
    """
    stored = runs.predictions(project.db, run_id, [document_id]) if run_id is not None else {}
    spans = stored[document_id][1].spans if document_id in stored else ()
    for chain in chains_of(spans):
        for at, span in enumerate(chain):
            if _place(span) == mistake.predicted_at:
                return span, [*reversed(chain[:at]), *chain[at + 1 :]]
    raise WorkbenchError(_("The prediction for this text is no longer stored."))


def _place(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _remember(
    project: Project,
    layer: Layer,
    document_id: int,
    mistake: Mistake,
    verdict: str,
    run_id: int | None,
) -> None:
    """Replaces an earlier review of the same mistake."""
    layer_id = row_id(layer)
    before = [
        review.id
        for review in reviews(project, layer_id, document_id)
        if review.mistake.identity == mistake.identity
    ]
    if before:
        flags.delete(project.db, before)
    raw = {"layer": layer_id, "verdict": verdict, "run": run_id, "mistake": mistake.to_json()}
    flags.add(project.db, document_id, PREFIX + json.dumps(raw), project.annotator_id)
