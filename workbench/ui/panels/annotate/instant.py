"""The instant model in Annotate: on and off, its order, and suggestions that are not stored. No Qt.

Suggestions of the instant model, and of runs that order or pre-annotate, appear with the document.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.operations.annotation import instant, live_suggestions, queue_orders
from workbench.operations.annotation.annotate import DocumentRow, SuggestionRow
from workbench.operations.annotation.instant import MIN_LABELLED_DOCUMENTS
from workbench.operations.runs import rerun, rounds
from workbench.text.rows import row_id
from workbench.ui.panels.annotate import learning
from workbench.ui.panels.annotate.instant_model import FAILED, INDEXING, READY, Instant
from workbench.ui.panels.annotate.prediction_prefetch import PredictionPrefetch
from workbench.ui.panels.annotate.queue import DONE, FILES
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.operations.annotation.document_view import DocumentView
    from workbench.operations.inspecting.inspect import InspectableModel
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext
    from workbench.ui.panels.annotate.learning import LearningCurve

_ON = "annotate.instant"  # project uid → uid of the layer on which the instant model is on
RERUN = "rerun"  # key of the task
INSTANT = 0  # in place of the id of a run: predictions of the instant model


class InstantState(PredictionPrefetch):
    """`instant`: the model, None while it is off. `follows`: whether it orders the queue.

    `instant_line`: what it does, as sentences. `live`: suggestions that are not stored, by id.
    """

    def __init__(self, context: PanelContext) -> None:
        self.instant: Instant | None = None
        self.follows = False
        self.instant_line = ""
        self.chosen: tuple[str, int] | None = None
        self.live: Mapping[int, SuggestionRow] = {}
        self._counted: Mapping[int, Sequence[Sequence[Any]]] = {}
        super().__init__(context)
        self.instant_line = self._instant_text()

    def close(self) -> None:
        if self.instant is not None:
            self.instant.close()
        super().close()

    # ------------------------------------------------------------ on and off

    @property
    def instant_layer(self) -> Layer | None:
        """The first selected layer that the instant model can learn."""
        return next(
            (ordered_layer for ordered_layer in self.ordered_layers if instant.fits(ordered_layer)),
            None,
        )

    @property
    def can_instant(self) -> bool:
        return self.instant is not None or self.instant_layer is not None

    def toggle_instant(self) -> None:
        """Turn the instant model on, for the first selected layer it can learn, or off."""
        if self.instant is not None:
            self._keep_on(None)
            self._turn_off()
            return
        if self.project.read_only:
            self.context.note(self.instant_line)
            return
        layer, models = self.instant_layer, queue_orders.vector_models(self.context.settings)
        if layer is None:
            self.context.note(_("The instant model learns classes, spans and tags."))
        elif not models:
            self.context.note(_("No model is installed that gives vectors."))
        else:
            self._keep_on(layer)
            self._turn_on(layer, models[0], follows=True)

    def _turn_on(self, layer: Layer, vectors: InspectableModel, *, follows: bool) -> None:
        if follows:
            self._stop_computing()
        model = Instant(self.context, layer)
        model.changed.connect(self._instant_changed)
        model.progressed.connect(self._instant_progressed)
        self.update(instant=model, follows=follows, instant_line="")
        model.show(self.document_id)
        model.start(vectors)

    def _keep_on(self, layer: Layer | None) -> None:
        """Keep for the project on which layer it is on."""
        window = self.context.settings.window
        layers = {uid: item for uid, item in window.get(_ON, {}).items() if uid != self.project.uid}
        if layer is not None:
            layers[self.project.uid] = layer.uid
        window[_ON] = layers
        self.context.settings.save()

    def resume_instant(self) -> None:
        """Turn it on again if it was on when the project was closed.

        A kept order of the queue stays; otherwise it orders the queue, as before.
        """
        uid = self.context.settings.window.get(_ON, {}).get(self.project.uid)
        layer = next(
            (
                ordered_layer
                for ordered_layer in self.ordered_layers
                if uid and ordered_layer.uid == uid
            ),
            None,
        )
        if layer is None or self.instant is not None or not instant.fits(layer):
            return
        if self.project.read_only:
            return
        models = queue_orders.vector_models(self.context.settings)
        if models:
            self._turn_on(layer, models[0], follows=self.queue_order is None)

    def _turn_off(self) -> None:
        if self.instant is not None:
            self.instant.close()
        self._counted = {}
        self.update(instant=None, follows=False)
        self.update(instant_line=self._instant_text())
        self._show_live()
        self._load_order()
        self._load_queue()

    def _instant_changed(self) -> None:
        model = self.instant
        if model is None:
            return
        self.update(instant_line=self._instant_text())
        if model.order is not None and self.follows:
            self._follow_order(model)
        if model.status == READY:
            self._show_live()
            if model.answers is not self._counted:
                before, self._counted = self._counted, model.answers
                self._count_again({*before, *model.answers})

    def _instant_progressed(self) -> None:
        self.update(instant_line=self._instant_text())

    def _follow_order(self, model: Instant) -> None:
        before, order = self.queue_order, model.order
        self.update(queue_order=order)
        if before is None or order is None or before.source != order.source:
            self._load_queue()  # finished documents fall out
        else:
            self._reorder(self.skipped)

    def _in_order(self, ids: Sequence[int]) -> Sequence[int]:
        """The order by the instant model, with the open document first: each label changes the
        order.
        """
        ids = super()._in_order(ids)
        here = self.document_id
        if not self.follows or here is None or here not in ids:
            return ids
        return array("q", [here, *(id for id in ids if id != here)])

    def _instant_text(self) -> str:
        """What the instant model does, as sentences."""
        model = self.instant
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
        instant, run = self.instant, self.last_run
        curves = (learning.of_instant(instant),) if instant is not None else ()
        if run is None:
            done(curves)
            return

        def failed(error: Exception) -> None:
            done(curves)
            self.context.fail(error)

        self.context.task(
            "rounds",
            partial(rounds.rounds, self.project, run),
            lambda of_run: done((*curves, learning.of_rounds(of_run))),
            failed=failed,
        )

    @property
    def can_keep_instant(self) -> bool:
        """Whether there are suggestions of the instant model to store."""
        model = self.instant
        return not self.project.read_only and model is not None and model.order is not None

    def keep_instant(self) -> None:
        """Store what it suggests for all unfinished documents, as one undo step.

        They are then counted, found by queries, and decided on like those of a run.
        """
        model = self.instant
        if model is None or not self.can_keep_instant:
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
                ref=self._instant_ref(model),
            )
            self.context.task(
                "keep-suggestions", keep, report, title=_("Keep suggestions"), writes=True
            )

        model.ask_for_all(store)

    @staticmethod
    def _instant_ref(model: Instant) -> str:
        """The ref of the source of its predictions."""
        from_words = model.vectors == instant.WORDS
        return live_suggestions.INSTANT_WORDS if from_words else live_suggestions.INSTANT

    # ------------------------------------------------------------ suggestions in the queue

    def rows(self, ids: Sequence[int]) -> tuple[DocumentRow, ...]:
        """With the numbers of suggestions that are not stored."""
        return tuple(
            replace(row, suggestion_count=max(row.suggestion_count, self._live_count(row)))
            for row in super().rows(ids)
        )

    def _live_count(self, row: DocumentRow) -> int:
        if row.state in DONE:
            return 0
        count = self.ahead.counts.get(row.id, 0) if self.ahead is not None else 0
        model = self.instant
        if model is None or model.order is None or row.id not in model.order.scores:
            return count
        has_class = row.state != "pending" and not model.layer.traits.in_text
        return count + (0 if has_class else len(model.answers.get(row.id, ())))

    def _count_again(self, ids: Iterable[int]) -> None:
        """Read the rows of these documents again when they are shown."""
        if stale := frozenset(ids):
            self.update(stale_rows=stale)

    # ------------------------------------------------------------ order

    def choose_order(
        self, strategy: str, layer_id: int, runs: Any, model: str, share: float
    ) -> bool:
        follows = self.instant is not None and INSTANT in runs and strategy != FILES
        self.update(follows=follows)
        if follows and self.instant is not None:
            self._stop_computing()
            self.instant.use(strategy, share)
            return True
        return super().choose_order(strategy, layer_id, runs, model, share)

    @property
    def instant_run(self) -> tuple[tuple[int, str], ...]:
        """The instant model as (value, title) among the runs whose predictions can be read."""
        return ((INSTANT, _("Instant model")),) if self.instant is not None else ()

    def _learn(self, documents: Iterable[int] | None) -> None:
        """Tell the instant model that labels or states have changed."""
        if self.instant is not None:
            self.instant.labels_changed(documents)

    def _documents_changed(self) -> None:
        """Tell it that documents or their texts have changed."""
        if self.instant is not None:
            self.instant.documents_changed()

    # ------------------------------------------------------------ training a run again

    @property
    def last_run(self) -> Run | None:
        """The newest training of a selected layer; without one, the newest baseline."""
        runs_by_layer = (
            queue_orders.runs_for(self.project, ordered_layer)
            for ordered_layer in self.ordered_layers
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

    # ------------------------------------------------------------ suggestions that are not stored

    def _with_live(self, doc: DocumentView) -> DocumentView:
        """The document with the predictions of the instant model and of runs."""
        stored = tuple(row for row in doc.suggestions if row.id > 0)
        doc = replace(doc, suggestions=stored)
        rows = live_suggestions.open_ones(self.project, doc, self._live_rows(doc))
        rows = [replace(row, id=-number) for number, row in enumerate(rows, 1)]
        self.live = {row.id: row for row in rows}
        return replace(doc, suggestions=(*stored, *rows)) if rows else doc

    def _live_rows(self, doc: DocumentView) -> list[SuggestionRow]:
        id, rows, model = row_id(doc.document), list[SuggestionRow](), self.instant
        if model is not None and doc.states.get(row_id(model.layer), "discarded") not in DONE:
            answers = model.answers.get(id, ())
            if self._has_class(doc, model.layer):
                answers = ()
            field = doc.document.fields[0]
            ref = self._instant_ref(model)
            rows += live_suggestions.of_instant(id, model.layer, answers, field, ref)
        for run, layer_id in self._live_runs():
            if doc.states.get(layer_id) not in DONE:
                rows += live_suggestions.of_run(self.project, run, layer_id, doc)
        return rows

    @staticmethod
    def _has_class(doc: DocumentView, layer: Layer) -> bool:
        """Whether the one class that a layer allows is given."""
        flag = layer.traits.on_document and not layer.traits.several
        return flag and any(mark.layer_id == layer.id for mark in doc.marks)

    def _live_runs(self) -> list[tuple[int, int]]:
        """The runs whose stored predictions are suggestions: (run, layer)."""
        order, pairs = self.queue_order, dict[tuple[int, int], None]()
        if order is not None and order.runs:
            pairs[order.runs[0], order.layer_id] = None
        for run in self.ahead.runs if self.ahead is not None else ():
            if run.layer_id is not None:
                pairs[run.id, run.layer_id] = None
        return list(pairs)

    def tag_chances(self, layer: Layer, start: int, end: int) -> list[tuple[int, float]]:
        """The most probable tags of a word by the instant model: (id of the label, probability)."""
        model = self.instant
        if model is None or model.layer.id != layer.id or self.document_id is None:
            return []
        best = model.chances.get((self.document_id, start, end), ())
        labels = model.layer.labels
        return [(row_id(labels[at]), score) for at, score in best if at < len(labels)]

    def class_chances(self, layer: Layer) -> list[tuple[int, float]]:
        """The most probable classes of the open document by the instant model: (id of the label,
        probability).
        """
        model = self.instant
        if model is None or model.layer.id != layer.id or self.document_id is None:
            return []
        labels = model.layer.labels
        best = model.classes.get(self.document_id, ())
        return [(row_id(labels[at]), score) for at, score in best if at < len(labels)]

    def _show_live(self) -> None:
        if self.doc is not None and not self.errors:
            doc = self._with_live(self.doc)
            if doc.suggestions != self.doc.suggestions:
                was_live = self.chosen is not None and self.chosen[1] < 0
                self.update(doc=doc, chosen=None if was_live else self.chosen)

    def deciding(self, act: Callable[..., int]) -> Callable[..., int]:
        """An act on suggestions, which first stores those that are not stored."""
        return live_suggestions.deciding(act, self.live)


def _progress_text(model: Instant) -> str:
    """How far the vectors are, as part of a sentence."""
    if model.waits_for:
        return _("waiting for {job}", job=model.waits_for)
    percent, left = formats.points(model.computed, 0), model.seconds_left
    if left is None:
        return _("{percent}%", percent=percent)
    return _("{percent}%, {time} left", percent=percent, time=formats.duration(left))
