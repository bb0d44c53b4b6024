"""State of the statistics of the documents that pass the filters of the Data page. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.base.errors import Cancelled, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.base.registry import registry
from workbench.operations.documents import statistics, text_lengths
from workbench.operations.models import installed

if TYPE_CHECKING:
    from workbench.operations.documents.statistics import Agreement, LayerStatistics, Statistics
    from workbench.operations.documents.text_lengths import TextLengths
    from workbench.ui.panels.data.selection import DocumentSelection

AUTOMATIC = 50_000  # documents whose texts are measured without being asked for
BINS = 24  # of the histogram of text lengths
LIMITS = text_lengths.LIMITS
# tasks
COUNT, MEASURE, MODELS, FIND = "statistics", "text-lengths", "tokenizers", "decided"
TOKENIZER = "data.tokenizer"  # setting: name of the model whose units are counted


class StatisticsState(State):
    """`found`, `lengths`: None until they are counted. `share`: progress of counting labels,
    `measured` of measuring texts, None if it is not running. `tokenizers`: names of models, None
    until they are read.

    `chosen`: plot (balance, spans, together) → name of the layer that it shows.
    """

    def __init__(self, selection: DocumentSelection) -> None:
        super().__init__()
        self.selection = selection
        self.context, self.project = selection.context, selection.project
        self.found: Statistics | None = None
        self.lengths: TextLengths | None = None
        self.share: float | None = None
        self.measured: float | None = None
        self.problem = ""
        self.tokenizers: tuple[str, ...] | None = None
        self.tokenizer = str(self.context.settings.window.get(TOKENIZER, ""))
        self.chosen: dict[str, str] = {}  # plot → layer
        self.active = False
        self._counted: Sequence[int] | None = None
        self.listen(selection.changed, self._data_changed)
        self.listen(registry().changed, self._read_models)
        self._read_models()

    def _read_models(self) -> None:
        models = partial(installed.list, self.context.settings)
        self.context.task(MODELS, models, self._take_models)

    def _take_models(self, cards: Sequence[Any]) -> None:
        names = tuple(card.name for card in cards if not card.problems)
        usual = [name for name in names if name == "starter-bert"]
        chosen = self.tokenizer if self.tokenizer in names else next(iter(usual or names), "")
        self.update(tokenizers=names, tokenizer=chosen)
        if self.found is not None and self.share is None:
            self._measure_if_few()

    # ------------------------------------------------------------ counting

    def show(self) -> None:
        """Count now, and again whenever the documents change."""
        self.active = True
        if self._counted is not self.selection.ids and not self.selection.searching:
            self.count()

    def hide(self) -> None:
        self.active = False
        self.context.drop(FIND)

    def _data_changed(self, fields: frozenset[str]) -> None:
        if self.active and not self.selection.searching and fields & {"ids", "searching"}:
            self.count()

    def count(self) -> None:
        """Count the labels of the documents that pass the filters, off the main thread."""
        ids = self._counted = self.selection.ids
        self.context.drop(MEASURE)  # texts are measured once labels are counted
        self.update(share=0.0, measured=None, lengths=None, problem="")

        def done(result: Statistics) -> None:
            self.update(found=result, share=None)
            self._measure_if_few()

        def failed(error: Exception) -> None:
            self._counted = None
            self.update(share=None)
            self._failed(error)

        self.context.task(
            COUNT,
            partial(statistics.collect, self.project, ids),
            done,
            failed=failed,
            progress=lambda watch: self.update(share=watch.share),
        )

    def _measure_if_few(self) -> None:
        """Measure once labels are counted and the models are known."""
        if self.tokenizers is not None and len(self._counted or ()) <= AUTOMATIC:
            self.measure()

    def measure(self) -> None:
        """Measure the lengths of the texts, off the main thread."""
        ids, tokenizer = self._counted, self.tokenizer
        if ids is None:
            return
        self.update(measured=0.0)

        def done(lengths: TextLengths) -> None:
            self.update(lengths=lengths, measured=None)

        def failed(error: Exception) -> None:
            self.update(measured=None)
            self._failed(error)

        settings = self.context.settings
        self.context.task(
            MEASURE,
            partial(text_lengths.measure, self.project, ids, tokenizer, settings=settings),
            done,
            failed=failed,
            progress=lambda watch: self.update(measured=watch.share),
        )

    def _failed(self, error: Exception) -> None:
        if isinstance(error, WorkbenchError) and not isinstance(error, Cancelled):
            self.update(problem=str(error))
        elif not isinstance(error, Cancelled):
            self.context.fail(error)

    def cancel(self) -> None:
        """Stop counting and measuring; lengths that are measured are kept for the next time."""
        self.context.cancel(COUNT)
        self.context.cancel(MEASURE)

    # ------------------------------------------------------------ what is shown

    def choose_tokenizer(self, name: str) -> None:
        """Count the tokens of another model; stored in the settings."""
        self.context.settings.window[TOKENIZER] = name
        self.context.settings.save()
        self.update(tokenizer=name, lengths=None)
        self.measure()

    def layers_for(self, plot: str) -> tuple[LayerStatistics, ...]:
        """The layers that a plot can show."""
        layers = self.found.layers if self.found is not None else ()
        if plot == "balance":
            return layers
        return tuple(
            layer
            for layer in layers
            if (layer.layer.traits.in_text if plot == "spans" else layer.can_pair)
        )

    def layer_of(self, plot: str) -> LayerStatistics | None:
        """The layer that a plot shows: the chosen one, or the first with labels."""
        layers = self.layers_for(plot)
        name = self.chosen.get(plot)
        best = [layer for layer in layers if layer.submitted]
        return next(
            (layer for layer in layers if layer.layer.name == name), (*best, *layers, None)[0]
        )

    def choose_layer(self, plot: str, name: str) -> None:
        self.update(chosen={**self.chosen, plot: name})

    @property
    def agreement(self) -> tuple[Agreement, ...]:
        """Best first."""
        agreement = self.found.agreement if self.found is not None else ()
        return tuple(sorted(agreement, key=lambda item: (-item.share, -item.total)))

    # ------------------------------------------------------------ to the documents

    def find(self, query: str) -> None:
        """Show the documents of a part of a plot: the filters with its query added."""
        text = self.selection.filters.query.text.strip()
        self.selection.listing.emit()
        self.selection.filters.set_filter(text=text if query in text else f"{text} {query}".strip())

    def find_lengths(self, number: int) -> None:
        """Show the documents of a bin of the histogram, by tokens if they are counted."""
        if self.lengths is None:
            return
        edges, words, units = self.lengths.histogram(BINS)
        low, last = edges[number], number == len(words) - 1
        high = None if last else edges[number + 1]
        ids = self.lengths.within(low, high, units=bool(units))
        what = self.tokenizer if units else _("words")
        message = _("{low} or more ({what})") if last else _("{low} to {high} ({what})")
        caption = message.format(low=low, high=(high or 1) - 1, what=what)
        self.selection.list_only(ids, caption)

    def find_decided(self, agreement: Agreement) -> None:
        """Show the documents with decided suggestions of a source."""

        def done(ids: Sequence[int]) -> None:
            self.selection.list_only(ids, agreement.title)

        decided = partial(statistics.documents_of, self.project, agreement)
        self.context.task(FIND, decided, done)
