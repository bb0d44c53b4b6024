"""The instant model in Annotate: on and off, its order, and suggestions that are not stored. No Qt.

Suggestions of the instant model, and of runs that order or pre-annotate, appear with the document.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import instant, instant_curve, live_suggestions, queue_orders
from workbench.operations.annotation.annotate import DocumentRow, SuggestionRow
from workbench.operations.annotation.instant import MIN_LABELLED_DOCUMENTS
from workbench.operations.annotation.instant_curve import CurvePoint
from workbench.operations.runs import rerun, rounds
from workbench.operations.runs.rounds import Rounds
from workbench.text.rows import row_id
from workbench.ui.panels.annotate.instant.instant_model import FAILED, INDEXING, READY, Instant
from workbench.ui.panels.annotate.session import DONE, LABELLED, SuggestionSource
from workbench.ui.panels.annotate.tool import Tool
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.annotation.document_view import DocumentView
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.project.changes import Changes
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Layer
    from workbench.ui.panels.annotate.session import DocumentSession


_ON = "annotate.instant"  # project uid → uid of the layer on which the instant model is on
AHEAD = 10  # documents that follow the open one, which the instant model predicts with it
RERUN = "rerun"  # key of the task


@dataclass(frozen=True)
class LearningCurve:
    """advice: whether to continue labelling, in a sentence. message: what was measured."""

    title: str
    points: tuple[CurvePoint, ...]
    advice: str
    message: str


def of_instant(model: Instant) -> LearningCurve:
    """Its curve with what it learns from now: others are not comparable."""
    source = _("Learned from words; a new curve begins with the vectors of a model.")
    if model.vectors != instant.WORDS:
        source = (
            _("Learned from vectors of {model}.")
            if model.layer.traits.in_text
            else _("Learned from words and vectors of {model}.")
        ).format(model=model.model_name)
    measured = _(
        "Measured on dev, else on each fifth of the labels in turn; agreement with the predictions "
        "10 labels before, on documents without a label."
    )
    advice = instant_curve.advice(model.points)
    return LearningCurve(_("Instant model"), model.points, advice, f"{source} {measured}")


def of_rounds(of_run: Rounds) -> LearningCurve:
    title = _("Rounds of retraining up to {run}", run=of_run.runs[-1])
    return LearningCurve(title, of_run.points, rounds.advice(of_run), rounds.describe(of_run))


class InstantTool(Tool, SuggestionSource):
    """`model`: the instant model, None while it is off. `line`: what it does, as sentences."""

    def __init__(self, session: DocumentSession) -> None:
        super().__init__(session)
        session.model = self
        session.predictors.append(self)
        self.model: Instant | None = None
        self._counted: Mapping[int, Sequence[Sequence[Any]]] = {}
        self.line = self._text()
        self.listen(session.opening, self._opening)
        self.listen(session.changing, self._project_changing)
        self.listen(session.changed, self._session_changed)

    def close(self) -> None:
        if self.model is not None:
            self.model.close()
        super().close()

    def _opening(self, doc: DocumentView) -> None:
        if self.model is not None:
            id = row_id(doc.document)
            self.model.show(id, self._following(id))

    def _session_changed(self, fields: frozenset[str]) -> None:
        """Blind mode turns it off, and on again afterwards if it was on."""
        if "blind" in fields:
            self._turn_off() if self.session.blind else self.resume()

    def _following(self, document_id: int) -> Sequence[int]:
        """Some documents that follow in the queue."""
        place = self.session.place
        ids = place.ids if place is not None else ()
        ids = ids if isinstance(ids, array) else array("q", ids)
        at = ids.index(document_id) + 1 if document_id in ids else 0
        return ids[at : at + AHEAD]

    def _project_changing(self, changes: Changes) -> None:
        if self.model is None or changes.touches("layer") or changes.touches("label"):
            return
        if changes.touches("document"):
            self.model.documents_changed()
        if any(changes.touches(table) for table in LABELLED):
            self.model.labels_changed(changes.documents)

    # ------------------------------------------------------------ on and off

    @property
    def is_on(self) -> bool:
        return self.model is not None

    def use(self, strategy: str, share: float) -> None:
        """Order the queue by this strategy, with a share of control documents."""
        if self.model is not None:
            self.model.use(strategy, share)

    def offer(self, layer: Layer) -> tuple[str, str]:
        """What it does in a layer, as sentences, and what a button that turns it on or off there
        says; "" for a layer that it does not learn.
        """
        learned = self.model.layer if self.model is not None else self.layer
        off = self.project.read_only or self.session.blind
        if learned is None or learned.id != layer.id or (not self.is_on and off):
            return "", ""
        return (self.line, _("Turn off")) if self.is_on else ("", _("Turn on instant model"))

    def _turn_on(self, layer: Layer, vectors: InspectableModel, *, follows: bool) -> None:
        if follows:
            self.session.queue.begin_following()
        model = Instant(self.context, layer)
        model.changed.connect(self._model_changed)
        model.progressed.connect(self._model_progressed)
        self.update(model=model, line="")
        model.show(self.session.document_id)
        model.start(vectors)

    def _turn_off(self) -> None:
        if self.model is not None:
            self.model.close()
        self._counted = {}
        self.update(model=None)
        self.update(line=self._text())
        self.session.show_live()
        self.session.queue.end_following()

    def _model_changed(self) -> None:
        model = self.model
        if model is None:
            return
        self.update(line=self._text())
        self.session.queue.follow_order(model.order)
        if model.status == READY:
            self.session.show_live()
            if model.answers is not self._counted:
                before, self._counted = self._counted, model.answers
                if changed := frozenset((*before, *model.answers)):
                    self.session.suggested_again.emit(changed)

    def _model_progressed(self) -> None:
        self.update(line=self._text())

    # ------------------------------------------------------------ what it suggests

    def suggested_for(self, doc: DocumentView) -> list[SuggestionRow]:
        id, model = row_id(doc.document), self.model
        if model is None or doc.states.get(row_id(model.layer), "discarded") in DONE:
            return []
        answers = () if self._has_class(doc, model.layer) else model.answers.get(id, ())
        field = doc.document.fields[0]
        rows = live_suggestions.of_instant(id, model.layer, answers, field, self._ref(model))
        return list(rows)

    def suggestion_count(self, row: DocumentRow) -> int:
        model = self.model
        if model is None or model.order is None or row.id not in model.order.scores:
            return 0
        has_class = row.state != "pending" and not model.layer.traits.in_text
        return 0 if has_class else len(model.answers.get(row.id, ()))

    @property
    def layer(self) -> Layer | None:
        """The first selected layer that the instant model can learn."""
        return next(
            (
                ordered_layer
                for ordered_layer in self.session.ordered_layers
                if instant.fits(ordered_layer)
            ),
            None,
        )

    @property
    def can_toggle(self) -> bool:
        return self.model is not None or (self.layer is not None and not self.session.blind)

    def _keep_on(self, layer: Layer | None) -> None:
        """Keep for the project on which layer it is on."""
        window = self.context.settings.window
        layers = {uid: item for uid, item in window.get(_ON, {}).items() if uid != self.project.uid}
        if layer is not None:
            layers[self.project.uid] = layer.uid
        window[_ON] = layers
        self.context.settings.save()

    def resume(self) -> None:
        """Turn it on again if it was on when the project was closed.

        A kept order of the queue stays; otherwise it orders the queue, as before.
        """
        uid = self.context.settings.window.get(_ON, {}).get(self.project.uid)
        layer = next(
            (
                ordered_layer
                for ordered_layer in self.session.ordered_layers
                if uid and ordered_layer.uid == uid
            ),
            None,
        )
        if layer is None or self.model is not None or not instant.fits(layer):
            return
        if self.project.read_only or self.session.blind:
            return
        models = queue_orders.vector_models(self.context.settings)
        if models:
            self._turn_on(layer, models[0], follows=self.session.queue.queue_order is None)

    def _text(self) -> str:
        """What the instant model does, as sentences."""
        model = self.model
        if model is None and self.session.blind:
            return _("Off: blind mode hides suggestions.")
        if model is None and self.project.read_only:
            return _("Off: the project is read-only, so there are no new labels to learn from.")
        if model is None:
            return _("Learns from your labels while you work, without a run.")
        if model.status == FAILED:
            return model.message
        if model.status == INDEXING:
            return _("Reading the documents…")
        if model.status != READY:
            return _("Starting…")
        return " ".join((self._learned_text(model), self._vectors_text(model)))

    @staticmethod
    def _vectors_text(model: Instant) -> str:
        """What it learns from, and how far the vectors are, as a sentence."""
        from_words = model.vectors == instant.WORDS
        if model.indexing:
            message = (
                _("Learning from words; vectors of {model}: {progress}.")
                if from_words
                else _("Learning from vectors of {model}; those of new documents: {progress}.")
            )
            return message.format(model=model.model_name, progress=_progress_text(model))
        if not from_words:
            message = (
                _("Learning from vectors of {model}.")
                if model.layer.traits.in_text
                else _("Learning from words and vectors of {model}.")
            )
            return message.format(model=model.model_name)
        if not model.message:
            return _("Learning from words.")
        message = _("Learning from words; no vectors of {model}: {reason}")
        return message.format(model=model.model_name, reason=model.message)

    @staticmethod
    def _learned_text(model: Instant) -> str:
        if model.labelled < MIN_LABELLED_DOCUMENTS:
            return ngettext(
                "Needs {least} labels, has {n} label.",
                "Needs {least} labels, has {n} labels.",
                model.labelled,
                least=MIN_LABELLED_DOCUMENTS,
            )
        learned = ngettext(
            "Learned from {n:,} document in {seconds} s.",
            "Learned from {n:,} documents in {seconds} s.",
            model.labelled,
            seconds=formats.decimal(model.seconds, 2),
        )
        if model.score is None:
            return learned
        score = ngettext(
            "{score}: {percent}% on {n:,} held-out document.",
            "{score}: {percent}% on {n:,} held-out documents.",
            model.tested,
            score=instant.score_name(model.layer),
            percent=formats.decimal(100 * model.score, 1),
        )
        return f"{learned} {score}"

    def read_curves(self, done: Callable[[tuple[LearningCurve, ...]], None]) -> None:
        """Call `done` with the curve of the instant model and that of the newest run, if any."""
        instant, run = self.model, self.last_run
        curves = (of_instant(instant),) if instant is not None else ()
        if run is None:
            done(curves)
            return

        def failed(error: Exception) -> None:
            done(curves)
            self.context.fail(error)

        self.context.task(
            "rounds",
            partial(rounds.rounds, self.project, run),
            lambda of_run: done((*curves, of_rounds(of_run))),
            failed=failed,
        )

    @property
    def can_keep(self) -> bool:
        """Whether there are suggestions of the instant model to store."""
        model = self.model
        return not self.project.read_only and model is not None and model.order is not None

    def keep(self) -> None:
        """Store what it suggests for all unfinished documents, as one undo step.

        They are then counted, found by queries, and decided on like those of a run.
        """
        model = self.model
        if model is None or not self.can_keep:
            return

        def report(n: int) -> None:
            message = ngettext(
                "Kept {n:,} suggestion of the instant model.",
                "Kept {n:,} suggestions of the instant model.",
                n,
            )
            self.context.note(message, undo=n > 0)

        def store() -> None:
            keep = partial(
                live_suggestions.keep_instant,
                self.project,
                model.layer,
                dict(model.answers),
                ref=self._ref(model),
            )
            self.context.task(
                "keep-suggestions", keep, report, title=_("Keep suggestions"), writes=True
            )

        model.ask_for_all(store)

    @staticmethod
    def _ref(model: Instant) -> str:
        """The ref of the source of its predictions."""
        from_words = model.vectors == instant.WORDS
        return live_suggestions.INSTANT_WORDS if from_words else live_suggestions.INSTANT

    @property
    def last_run(self) -> Run | None:
        """The newest training of a selected layer; without one, the newest baseline."""
        runs_by_layer = (
            queue_orders.runs_for(self.project, ordered_layer)
            for ordered_layer in self.session.ordered_layers
        )
        return rerun.last_of(run for runs in runs_by_layer for run in runs)

    def train_again(self) -> None:
        """Train with the settings of the newest run on what is labelled now."""
        old, context, project = self.last_run, self.context, self.project
        if old is None or context.waiting(RERUN):  # a second click, before the run is listed
            return
        repeated = old

        def begin(prepared: Any) -> None:
            run = context.attempt(rerun.start, project, context.queue, prepared, repeated)
            if run is not None:
                message = _(
                    "{name} was started with the settings of {old}.",
                    name=run.name,
                    old=repeated.name,
                )
                context.note(message)

        context.task(RERUN, partial(rerun.prepare, project, repeated), begin)

    def tag_chances(self, layer: Layer, start: int, end: int) -> list[tuple[int, float]]:
        """The most probable tags of a word by the instant model: (id of the label, probability)."""
        model = self.model
        if model is None or model.layer.id != layer.id or self.session.document_id is None:
            return []
        best = model.chances.get((self.session.document_id, start, end), ())
        labels = model.layer.labels
        return [(row_id(labels[at]), score) for at, score in best if at < len(labels)]

    def class_chances(self, layer: Layer) -> list[tuple[int, float]]:
        """The most probable classes of the open document by the instant model: (id of the label,
        probability).
        """
        model = self.model
        if model is None or model.layer.id != layer.id or self.session.document_id is None:
            return []
        labels = model.layer.labels
        best = model.classes.get(self.session.document_id, ())
        return [(row_id(labels[at]), score) for at, score in best if at < len(labels)]

    def toggle(self) -> None:
        """Turn the instant model on, for the first selected layer it can learn, or off."""
        if self.model is not None:
            self._keep_on(None)
            self._turn_off()
            return
        if self.project.read_only or self.session.blind:
            self.context.note(self.line)
            return
        layer, models = self.layer, queue_orders.vector_models(self.context.settings)
        if layer is None:
            self.context.note(_("The instant model learns classes, spans and tags."))
        elif not models:
            self.context.note(_("No model is installed that gives vectors."))
        else:
            self._keep_on(layer)
            self._turn_on(layer, models[0], follows=True)

    @staticmethod
    def _has_class(doc: DocumentView, layer: Layer) -> bool:
        """Whether the one class that a layer allows is given."""
        flag = layer.traits.on_document and not layer.traits.several
        return flag and any(mark.layer_id == layer.id for mark in doc.marks)


def _progress_text(model: Instant) -> str:
    """How far the vectors are, as part of a sentence."""
    if model.waits_for:
        return _("waiting for {job}", job=model.waits_for)
    percent, left = formats.points(model.computed, 0), model.seconds_left
    if left is None:
        return _("{percent}%", percent=percent)
    return _("{percent}%, {time} left", percent=percent, time=formats.duration(left))
