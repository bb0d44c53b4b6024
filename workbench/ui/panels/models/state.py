"""State of the Models page: installed models, usable or broken, among the published ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.base.registry import registry
from workbench.models import spec
from workbench.models.spec import ModelInfo
from workbench.models.spec.blocks import ModelMap, model_map
from workbench.models.spec.catalogue import DIRECTIONS
from workbench.models.spec.licences import spdx
from workbench.operations.models import first_batch, vectors
from workbench.operations.models import installed as operations
from workbench.operations.runs import published
from workbench.ui.dialogs.batch_state import BatchState
from workbench.ui.panels.models import listing
from workbench.ui.panels.models.listing import ModelRow
from workbench.ui.panels.models.recommend_state import RecommendState
from workbench.ui.panels.models.tokenizers_state import TokenizersState
from workbench.ui.panels.models.vectors_state import AnalogiesState, WordMapState
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.storage.runs.runs import Run
    from workbench.text.labels import Layer
    from workbench.ui.panel import PanelContext

UNKNOWN = "–"  # for an unknown figure
DIRECTION_CHOICES = (
    ("", _("Any direction")),
    *((id, _(title)) for id, title in DIRECTIONS.items()),
)
ORIGINS = {"starter": _("starter"), "folder": _("folder"), "cache": _("Hugging Face cache")}


class ModelsState(State):
    """`cards` is None until they have been read; `busy` while they are read again.

    `adding` is the name of a folder that is being checked, "" if there is none.
    `everything`: all models; `rows`: those shown, with their families; `chosen`: key of the
    selected row. `maps`: path of an installed model → its blocks, once they have been read.
    """

    def __init__(self, context: PanelContext) -> None:
        super().__init__()
        self.context = context
        self.cards: tuple[ModelInfo, ...] | None = None
        self.busy = False
        self.adding = ""
        self._waiting: list[tuple[Path, bool]] = []  # folders to be checked, and whether trusted
        self._wanted = ""  # path of a model that is selected once it is in the list
        self.everything = listing.models(())
        self.filters = listing.Filters()
        self.closed = listing.without_installed(self.everything)
        self.flat = False
        self.rows = self._shown()
        self.chosen = ""
        self.recommend = RecommendState(context)
        self.maps: Mapping[str, ModelMap] = {}
        self.listen(registry().changed, self.refresh)

    @property
    def can_train(self) -> bool:
        project = self.context.project
        return project is not None and not project.read_only

    @property
    def offline(self) -> bool:
        return self.context.settings.offline

    def show_model(self, path: str) -> None:
        """Read the list again and select the model with this path."""
        self._wanted, self.filters = path, listing.Filters()
        self.cards = None
        self.refresh()

    def refresh(self) -> None:
        """Read all cards again, in a thread, as folders may be on a slow disk."""
        self.update(busy=True)
        work = partial(operations.list, self.context.settings)
        self.context.task("cards", work, self._set_cards, failed=self._cards_failed)

    def _set_cards(self, cards: tuple[ModelInfo, ...]) -> None:
        if cards == self.cards and not self._wanted:  # keep the widgets of unchanged cards
            self.update(busy=False)
            return
        everything = listing.models(cards)
        if self.cards is None:
            self.closed = listing.without_installed(everything)
        paths = {row.card.path: row.key for row in everything if row.card is not None}
        chosen, self._wanted = paths.get(self._wanted, self.chosen), ""
        if chosen != self.chosen:
            self.closed -= {row.group for row in everything if row.key == chosen}
        if all(row.key != chosen for row in everything):
            first = next((card for card in cards if card.usable), *cards[:1] or (None,))
            chosen = next((row.key for row in everything if first and row.card == first), "")
        rows = listing.shown(everything, self.filters, self.closed, flat=self.flat)
        self.update(busy=False, cards=cards, everything=everything, rows=rows, chosen=chosen)
        self._read_map()

    def _cards_failed(self, error: Exception) -> None:
        self._set_cards(self.cards or ())
        self.context.fail(error)

    def tokenizers(self) -> TokenizersState:
        """The state of the dialog on tokenizers, with those of the usable models."""
        names = tuple(card.name for card in self.cards or () if card.usable)
        return TokenizersState(self.context, names)

    def has_words(self, card: ModelInfo) -> bool:
        """Whether a model has vectors of words."""
        return vectors.GIVES in card.gives

    def layers_of(self, card: ModelInfo) -> tuple[Layer, ...]:
        """Layers of the open project that a published model predicts as it is."""
        project = self.context.project
        return published.layers(project, card) if project is not None and self.can_train else ()

    def run_title(self, card: ModelInfo, layer: Layer) -> str:
        """What the button for a run on a layer says."""
        if published.reads_pairs_for(card, layer):
            return _("Add as a run on {layer}, reading both texts", layer=layer.name)
        return _("Add as a run on {layer}", layer=layer.name)

    def add_run(self, card: ModelInfo, layer: Layer) -> None:
        """Add a published model as a run on a layer, evaluated on dev."""
        context, project = self.context, self.context.project
        if project is None:
            return
        context.note(_("Predicting the dev documents with {name}…", name=card.name))

        def added(run: Run) -> None:
            message = _(
                "Added {name} as a run on {layer}; see Results.", name=run.name, layer=layer.name
            )
            context.note(message)

        work = partial(published.create, project, context.queue, card, layer)
        context.task(("add-run", card.path, layer.id), work, added, failed=context.fail)

    def word_map(self, card: ModelInfo) -> WordMapState:
        """The state of the dialog that shows its words in two dimensions."""
        return WordMapState(self.context, card)

    def analogies(self, card: ModelInfo) -> AnalogiesState:
        """The state of the dialog that completes analogies of its words."""
        return AnalogiesState(self.context, card)

    def has_batch(self, card: ModelInfo) -> bool:
        """Whether a model has the first batch of the pretraining that wrote it."""
        return first_batch.is_known(card)

    def batch(self, card: ModelInfo) -> BatchState:
        """That batch, read in a thread."""
        state = BatchState(card.name)

        def show(batch: Mapping[str, Any]) -> None:
            state.update(about="  ·  ".join((card.name, batch["title"])))
            state.show(batch)

        self.context.task(state, partial(first_batch.read, card), show, failed=state.fail)
        return state

    def close(self) -> None:
        self.recommend.close()
        super().close()

    # ---------------------------------------------------------------- the list

    def _shown(self) -> tuple[ModelRow, ...]:
        return listing.shown(self.everything, self.filters, self.closed, flat=self.flat)

    def row(self, key: str) -> ModelRow | None:
        """A model by the key of its row."""
        return next((row for row in self.everything if row.key == key), None)

    @property
    def selected(self) -> ModelRow | None:
        return self.row(self.chosen)

    def count(self, shown: str) -> int:
        """Number of models that the other filters allow: listing.ALL, INSTALLED or MISSING."""
        filters = replace(self.filters, shown=shown)
        return len(listing.shown(self.everything, filters, self.closed, flat=True))

    def filter(self, **values: str) -> None:
        """Change filters, see listing.Filters."""
        filters = replace(self.filters, **values)
        if filters != self.filters:
            self.filters = filters
            self._show_again()

    def clear_filters(self) -> None:
        self.filters = listing.Filters()
        self._show_again()

    def set_flat(self, flat: bool) -> None:
        """Show models without families, as they are sorted by a column."""
        if flat != self.flat:
            self.flat = flat
            self._show_again()

    def open_group(self, group: str, is_open: bool) -> None:
        """Show or hide the models of a family."""
        closed = self.closed - {group} if is_open else self.closed | {group}
        if closed != self.closed:
            self.closed = closed
            self._show_again()

    def _show_again(self) -> None:
        self.update(rows=self._shown())

    def choose(self, key: str) -> None:
        """Select a model, opening its family if it is closed."""
        row = self.row(key)
        if row is None or key == self.chosen:
            return
        if row.group in self.closed and not self.flat:
            self.closed -= {row.group}
            self.update(chosen=key, rows=self._shown())
        else:
            self.update(chosen=key)
        self._read_map()

    def _read_map(self) -> None:
        """Read the blocks of the selected model in a thread: pickles can be large."""
        card = self.selected.card if self.selected is not None else None
        if card is None or card.path in self.maps or self.context.waiting(("map", card.path)):
            return
        path = card.path
        self.context.task(
            ("map", path),
            partial(model_map, card),
            lambda blocks: self.update(maps={**self.maps, path: blocks}),
            failed=lambda _error: self.update(maps={**self.maps, path: ModelMap(())}),
        )

    def can_load(self, row: ModelRow) -> bool:
        """Whether this version can load models of this kind."""
        architecture = row.about.architecture if row.about else ""
        return not architecture or architecture in spec.known_architectures()

    # ---------------------------------------------------------------- adding and removing

    def examine(self, folder: Path, then: Callable[[ModelInfo], None]) -> None:
        """Read the card of a folder in a thread, then call `then(card)`."""
        path = folder.absolute()
        allowed = str(path) in self.context.settings.pickle_allowed
        self.context.task(("examine", path), partial(spec.card, path, allow_pickle=allowed), then)

    def add(self, folder: Path, *, trust: bool = False) -> None:
        """Add a folder to the list if it is a usable model; else show why it is not.

        While another folder is being checked, it waits.
        """
        if self.adding:
            self._waiting.append((folder, trust))
            return
        allowed = trust or str(folder.absolute()) in self.context.settings.pickle_allowed
        self.update(adding=folder.name)
        work = partial(operations.examine, folder, allow_pickle=allowed)
        self.context.task("add", work, self._added, failed=self._not_added)

    def _added(self, examined: ModelInfo) -> None:
        self.update(adding="")
        card = operations.remember(examined, self.context.settings)
        self._wanted, self.filters = card.path, listing.Filters()
        self.refresh()
        self.context.note(
            _("{name} can now be used.", name=card.name),
            lambda: self._forget(card),
            action=_("Undo"),
        )
        self._add_next()

    def _not_added(self, error: Exception) -> None:
        self.update(adding="")
        self.context.fail(error)
        self._add_next()

    def _add_next(self) -> None:
        if self._waiting and not self.adding:
            folder, trust = self._waiting.pop(0)
            self.add(folder, trust=trust)

    def trust(self, name: str) -> None:
        """The user has confirmed loading the pickled weights of a listed model."""
        if self.context.attempt(operations.allow_pickle, name, self.context.settings) is not None:
            self.refresh()

    def forget(self, card: ModelInfo) -> None:
        """Remove an added folder from the list; its files are kept."""
        self._forget(card)
        message = _("{name} was removed from the list. Its files are kept.", name=card.name)
        self.context.note(message, lambda: self._remember(card), action=_("Undo"))

    def _forget(self, card: ModelInfo) -> None:
        operations.forget(card, self.context.settings)
        self.refresh()

    def _remember(self, card: ModelInfo) -> None:
        operations.remember(card, self.context.settings)
        self.refresh()

    def delete(self, card: ModelInfo) -> None:
        """Delete the downloaded files of a model. Cannot be undone; the view has asked."""
        work = partial(operations.delete_files, card)
        self.context.task(("delete", card.path), work, partial(self._deleted, card))

    def _deleted(self, card: ModelInfo, freed: int) -> None:
        self._forget(card)
        message = _("{name} was deleted ({size} freed).", name=card.name, size=formats.size(freed))
        self.context.note(message)

    # ---------------------------------------------------------------- navigation

    def train(self, card: ModelInfo) -> None:
        self.context.go("train", model=card.name)

    def inspect(self, card: ModelInfo) -> None:
        self.context.go("inspect", model=card.name)


def number_words(count: int) -> str:
    """22,893,116 → "22.9 M"; "–" if unknown."""
    for limit, words in ((1e9, _("{n:.1f} B")), (1e6, _("{n:.1f} M")), (1e3, _("{n:.1f} k"))):
        if count >= limit:
            return words.format(n=count / limit)
    return formats.count(count) if count else UNKNOWN


def facts(card: ModelInfo) -> tuple[tuple[str, str], ...]:
    """(name, value) pairs of a card in display order; "–" if unknown."""
    shape = f"{card.layers} × {card.width}" if card.layers and card.width else ""
    if card.usable and card.width and not card.layers:  # static vectors
        shape = formats.count(card.width)
    pairs = (
        (_("Family"), card.architecture),
        (_("Parameters"), number_words(card.parameters)),
        (_("Layers × hidden size"), shape),
        (_("Vocabulary"), formats.count(card.vocabulary) if card.vocabulary else ""),
        (
            _("Maximum length"),
            ngettext("{n} token", "{n} tokens", card.max_length, n=formats.count(card.max_length))
            if card.max_length
            else "",
        ),
        (_("Size"), formats.size(card.size_bytes) if card.size_bytes else ""),
        (_("Weights"), _weights_words(card)),
        (_("Licence"), spdx(card.licence) or (_("not stated") if card.architecture else "")),
    )
    return tuple((name, value or UNKNOWN) for name, value in pairs)


def about_facts(row: ModelRow) -> tuple[tuple[str, str], ...]:
    """(name, value) pairs of what the catalogue knows of an installed model."""
    about = row.about
    if about is None:
        return ()
    corpus = ((_("Corpus"), about.corpus),) if row.own and about.corpus else ()
    return (
        (_("Paper"), about.paper),
        (_("Objective"), about.objectives),
        *corpus,
        (_("Direction"), _(DIRECTIONS[about.direction])),
    )


def published_facts(row: ModelRow) -> tuple[tuple[str, str], ...]:
    """(name, value) pairs of a published system, known ones only."""
    about = row.about
    if about is None:
        return ()
    pairs = (
        (_("Paper"), about.paper),
        (_("Year"), str(about.year)),
        (_("Parameters"), formats.count(about.parameters) if about.parameters else ""),
        (_("Objective"), about.objectives),
        (_("Direction"), _(DIRECTIONS[about.direction])),
        (_("Corpus"), about.corpus),
        (_("Language"), about.language),
        (_("Licence"), about.licence or _("not stated")),
        (_("Hub id"), about.hub),
    )
    return tuple((name, value) for name, value in pairs if value)


def _weights_words(card: ModelInfo) -> str:
    if not card.pickled:
        return card.dtype
    return _("{dtype}, pickled", dtype=card.dtype) if card.dtype else _("pickled")


def problem_words(card: ModelInfo) -> str:
    """The problem of the folder in one or more sentences."""
    return " ".join(f"{_sentence(problem)}." for problem in card.problems)


def _sentence(text: str) -> str:
    """Capitalize, unless the text starts with a file name."""
    return text if "." in text.split()[0] else text[0].upper() + text[1:]


def uses_text(info: ModelInfo) -> tuple[str, ...]:
    """The titles of what a model can be used for."""
    return tuple(operations.uses(info).values())
