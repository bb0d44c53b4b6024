"""What the Data page shows: which documents pass the filters, how many there are, and acts on those chosen."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

from workbench.base.events import State
from workbench.base.i18n import _
from workbench.base.terms import term
from workbench.base.watch import Watch
from workbench.operations import corpus
from workbench.operations import labels as schema
from workbench.text.labels import Label, Layer

SHOWN = ("document", "mark", "span", "state", "suggestion", "body")
CLASS_KINDS = ("class", "multi")


class DataState(State):
    """`ids` are the documents that pass; `searching` is true while they are being looked up, `acting` while a long act on the project runs."""

    def __init__(self, context):
        super().__init__()
        self.context, self.project = context, context.project
        self.text = ""
        self.split: str | None = None
        self.label: tuple[int, int | None] | None = None  # layer id, label id
        self.state: str | None = None
        self.only: tuple[tuple[int, ...], str] | None = (
            None  # these documents alone, and what they are
        )
        self.ids = array("q")
        self.counts: corpus.Counts | None = None
        self.layers: tuple[Layer, ...] = ()
        self.labels: dict[tuple[str, str], Label] = {}
        self.chosen: Sequence[int] = ()
        self.touched: frozenset[int] | None = frozenset()  # rows to be read again; None: all
        self.searching = self.acting = False
        self.stale = False
        self._asked = 0
        self.listen(self.project.changed, self._project_changed)
        self.listen(context.work.changed, lambda: self.update(acting=context.work.active))
        self.acting = context.work.active
        self._read_schema()
        self.look()

    # ------------------------------------------------------------ what is shown

    @property
    def editable(self) -> bool:
        return not self.project.read_only

    @property
    def can_act(self) -> bool:
        return self.editable and not self.acting and bool(self.chosen)

    @property
    def total(self) -> int:
        return self.counts.documents if self.counts else 0

    @property
    def filtered(self) -> bool:
        return bool(self.text.strip() or self.split or self.label or self.state or self.only)

    @property
    def filter(self) -> corpus.Filter:
        layer, label = self.label or (None, None)
        ids = self.only[0] if self.only else None
        return corpus.Filter(
            text=self.text,
            split=self.split,
            label_id=label,
            layer_id=layer if label is None else None,
            state=self.state,
            ids=ids,
        )

    def rows(self, ids: Sequence[int]) -> tuple[corpus.DocumentRow, ...]:
        return corpus.rows(self.project, ids)

    def set_filter(self, **values: Any) -> None:
        """`text`, `split`, `label`, `state`, `only`: change some and look again."""
        self.update(**values)
        self.look()

    def clear_filters(self) -> None:
        self.set_filter(text="", split=None, label=None, state=None, only=None)

    def show_only(self, ids: Sequence[int], caption: str) -> None:
        """These documents alone, until the caption is closed."""
        self.set_filter(
            text="",
            split=None,
            label=None,
            state=None,
            only=(tuple(ids), caption or _("Chosen documents")),
        )

    def look(self) -> None:
        """Look up ids and counts off the main thread; an answer that is out of date is dropped."""
        self._asked += 1
        asked, wanted, project = self._asked, self.filter, self.project
        self.update(searching=True, stale=False)

        def work():
            return corpus.filter_ids(project, wanted), corpus.counts(project)

        def done(found) -> None:
            if asked == self._asked:
                ids, counts = found
                self.update(ids=ids, counts=counts, searching=False)

        def failed(error: Exception) -> None:
            if asked == self._asked:
                self.update(searching=False)
                self.context.fail(error)

        self.context.run(work, done, failed)

    def look_again(self) -> None:
        """When the page is shown and something changed meanwhile."""
        if self.stale:
            self.update(touched=None)
            self.look()

    def _project_changed(self, changes) -> None:
        if changes.touches("layer") or changes.touches("label"):
            self._read_schema()
            self.update(stale=True, touched=None)
        elif any(changes.touches(table) for table in SHOWN):
            self.update(stale=True, touched=changes.documents)

    def _read_schema(self) -> None:
        layers = schema.layers(self.project)
        self.update(
            layers=layers,
            labels={(layer.name, label.name): label for layer in layers for label in layer.labels},
        )
        if self.label and all(layer.id != self.label[0] for layer in layers):
            self.update(label=None)

    # ------------------------------------------------------------ acts on the chosen

    def choose(self, ids: Sequence[int]) -> None:
        self.update(chosen=ids)

    def open(self, document_id: int) -> None:
        self.context.go("annotate", document=document_id)

    def delete(self) -> None:
        ids = self.chosen
        title = _("Delete {n}").format(n=_documents(len(ids)))
        self._act(
            title,
            lambda watch: corpus.delete_documents(self.project, ids, watch=watch),
            lambda n: _("{n} deleted.").format(n=_documents(n)),
        )

    def set_split(self, split: str | None) -> None:
        ids, name = self.chosen, term(split) if split else _("no split")
        self._act(
            _("Set split of {n}").format(n=_documents(len(ids))),
            lambda watch: corpus.set_split(self.project, ids, split, watch=watch),
            lambda n: _("{n} moved to {split}.").format(n=_documents(n), split=name),
        )

    def suggest(self) -> None:
        """Results asks which run shall suggest labels for the documents chosen."""
        self.context.go("results", suggest=tuple(self.chosen))

    def set_class(self, layer: Layer, label: Label | None) -> None:
        ids = self.chosen
        words = (
            _("{n} now {label}.").format(n="{n}", label=label.name)
            if label
            else _("{n} now without a class.")
        )
        self._act(
            _("Set class of {n}").format(n=_documents(len(ids))),
            lambda watch: corpus.set_class(
                self.project, ids, layer.id, label.id if label else None, watch=watch
            ),
            lambda n: words.replace("{n}", _documents(n)),
        )

    def set_state(self, layer: Layer, state: str) -> None:
        ids = self.chosen
        self._act(
            _("Set state of {n}").format(n=_documents(len(ids))),
            lambda watch: corpus.set_state(self.project, ids, layer.id, state, watch=watch),
            lambda n: _("{n} now {state} in layer {layer}.").format(
                n=_documents(n), state=term(state), layer=layer.name
            ),
        )

    def make_splits(self) -> None:
        def told(found: corpus.SplitOutcome) -> str:
            if not found.train + found.dev + found.test:
                return _("Nothing is submitted yet, so there is nothing to split.")
            counts = _("{train:,} train, {dev:,} dev, {test:,} test").format(
                train=found.train, dev=found.dev, test=found.test
            )
            return (
                _("{n} put into splits: {counts}.").format(
                    n=_documents(found.changed), counts=counts
                )
                if found.changed
                else _("Splits stand already: {counts}.").format(counts=counts)
            )

        self._act(
            _("Make splits"),
            lambda watch: corpus.make_splits(self.project, watch=watch),
            told,
            lambda found: bool(found.changed),
        )

    def _act(
        self,
        title: str,
        act: Callable[[Watch], Any],
        told: Callable[[Any], str],
        changed: Callable[[Any], bool] = bool,
    ) -> None:
        """A bulk act off the main thread, which can be called off; the note line offers to undo it."""
        if not self.acting and self.editable:
            self.context.long(
                title, act, lambda result: self.context.note(told(result), undo=changed(result))
            )


def _documents(n: int) -> str:
    return _("{n:,} documents").format(n=n) if n != 1 else _("1 document")
