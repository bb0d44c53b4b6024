"""The Data page: search and filters, the table, and below it actions on the selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from workbench.base.events import concerns
from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.text.document import SPLITS
from workbench.text.labels import Layer
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.panel import View
from workbench.ui.panels.data import column_menu
from workbench.ui.panels.data.actions import DocumentActions
from workbench.ui.panels.data.filter_bar import FilterBar
from workbench.ui.panels.data.state import DOCUMENTS, DUPLICATES, STATISTICS, DataState
from workbench.ui.style import escaping, theme
from workbench.ui.widgets.controls.button import Button, Segments
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.empty import EmptyState
from workbench.ui.widgets.flow import flow
from workbench.ui.widgets.header import PageHeader
from workbench.ui.widgets.layout import bar, line, scrolled
from workbench.ui.widgets.pages import PageLayout
from workbench.ui.widgets.tables.document_table import DocumentTable
from workbench.ui.widgets.text.context_menu import RowMenu
from workbench.ui.widgets.text.context_menu import fill as fill_menu

if TYPE_CHECKING:
    from workbench.ui.commands import MenuChoice
    from workbench.ui.panels.data.statistics_view import StatisticsView


STATES = ("pending", "draft", "submitted", "discarded")
Choices = tuple[MenuChoice | None, ...]
_NOTHING: Choices = (MenuChoice("–", enabled=False),)


class DataView(View):
    state: DataState

    def __init__(self, state: DataState):
        super().__init__(state)
        self._selection = state.selection
        self._build_header()
        self._parts: dict[str, QWidget] = {}
        self._filters = FilterBar(state.selection, self.enter_results)
        self._filters.search.textEdited.connect(lambda: setattr(self, "_enters", False))
        self.table = DocumentTable(
            self._selection.rows, lambda: self._selection.labels, _("Documents")
        )
        self.table.opened.connect(self._selection.open)
        self.table.chosen.connect(lambda: self._selection.choose(self.table.chosen_ids()))
        self.table.removed.connect(self.delete_chosen)
        self.table.ordered.connect(self._selection.order_by)
        self.table.copied.connect(lambda: copy(self._selection.copied()))
        RowMenu(self.table, self._row_choices)
        self._acts = _Acts(state.actions, self.delete_chosen)
        self.first = self.table
        self._wants_focus = False
        self._enters = False  # whether the focus moves to the first row found
        self._followed: tuple[int, ...] = ()  # that are not shown yet
        self._build_stack()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header)
        layout.addWidget(self._filters)
        layout.addWidget(line())
        layout.addLayout(self._stack, 1)
        layout.addWidget(self._acts)

    def _build_header(self) -> None:
        self._import = Button(_("Import…"), "download", "primary", on=self.ask_import)
        self._export = Button(_("Export…"), "upload", on=self.ask_export)
        self._splits = Button(_("Create splits…"), "filter", "quiet", on=self.ask_splits)
        escaping.set_tip(
            self._splits,
            _("Divide the submitted documents into train, dev and test, with a preview"),
        )
        self._audit = Button(
            _("Check word boundaries…"),
            "whole-word",
            "quiet",
            on=self.check_alignment,
            tip=_("Labels that a tokenizer would move, split, lose or truncate"),
        )
        self._layers = QMenu(self)
        self._layers_button = Button(
            _("Layers"),
            "tags",
            menu=self._layers,
            tip=_("Classes, spans and states of the selected layers, here and in Annotate"),
        )
        self._views = Segments(
            (DOCUMENTS, _("Documents")),
            (STATISTICS, _("Statistics")),
            (DUPLICATES, _("Duplicates")),
            name=_("View"),
        )
        self._views.chosen.connect(self.state.show_view)
        self._save_menu = QMenu(self)
        self._save_menu.addAction(_("Save pictures…"), lambda: self._statistics().save_pictures())
        self._save_menu.addAction(_("Save numbers…"), lambda: self._statistics().save_numbers())
        self._save = Button(_("Save"), "save", menu=self._save_menu, name=_("Save statistics"))
        self._header = PageHeader(
            _("Data"),
            "",
            self._views,
            self._save,
            self._layers_button,
            self._audit,
            self._splits,
            self._export,
            self._import,
        )

    def _build_stack(self) -> None:
        """The table, and what is shown instead of it without documents."""
        self._stack = PageLayout()
        hint = _(
            "Import text as JSON, CSV, Excel, CoNLL or plain text, labelled or unlabelled. You "
            "can also drag files here."
        )
        self._first_import = Button(_("Import data…"), "download", "primary", on=self.ask_import)
        self._empty = EmptyState("database", _("No documents yet"), hint, self._first_import)
        clear = Button(_("Clear all filters"), "x", on=self._selection.filters.clear_filters)
        none = EmptyState(
            "search",
            _("No matching documents"),
            _("No document matches the search and the filters above."),
            clear,
        )
        self._none = scrolled(none)
        for part in (self.table, self._none, self._empty):
            self._stack.addWidget(part)

    # ------------------------------------------------------------ dialogs and actions

    def ask_import(self, files: Sequence[Path] = ()) -> None:
        from workbench.ui.panels.data.import_dialog import ImportDialog
        from workbench.ui.panels.data.import_state import ImportState

        if not self._selection.editable:
            return
        state = ImportState(self.state.context, files)
        ImportDialog(self.window(), state, browse=not files).exec()
        state.close()

    def check_alignment(self) -> None:
        from workbench.ui.dialogs import audit

        audit.show(self.state.context.app)

    def ask_splits(self) -> None:
        from workbench.ui.panels.data.splits_dialog import SplitsDialog
        from workbench.ui.panels.data.splits_state import SplitsState

        if not self._selection.editable or self._selection.acting:
            return
        state = SplitsState(self.state.context)
        if SplitsDialog(self.window(), state, self._selection.labels).exec():
            self.state.actions.make_splits(state.choice)
        state.close()

    def ask_export(self) -> None:
        from workbench.ui.panels.data.export_dialog import ExportDialog

        ExportDialog(self.window(), self.state.context).exec()

    def _row_choices(self) -> tuple[MenuChoice | None, ...]:
        # the table reports the selection with a delay
        self._selection.choose(self.table.chosen_ids())
        return row_choices(
            self.state.actions, self.delete_chosen, self.split_chosen, self.remove_chosen
        )

    def split_chosen(self) -> None:
        """Split the selected documents into sentences or paragraphs."""
        from workbench.ui.dialogs import parts

        if self._selection.can_act:
            parts.ask(self.window(), self.state.context, self._selection.chosen)

    def delete_chosen(self) -> None:
        """Called by key, menu or button; asks for confirmation if there are many."""
        from workbench.ui.panels.data.dialogs import ASKED_ABOVE, DeleteDocuments

        selection = self._selection
        if not selection.can_act:
            return
        count = len(selection.chosen)
        if count <= ASKED_ABOVE or DeleteDocuments(self.window(), count, selection.total).exec():
            self.state.actions.delete()

    def remove_chosen(self) -> None:
        """Shows what will be removed and asks."""
        from workbench.ui.panels.data.dialogs import RemoveForGood

        if self._selection.can_act and RemoveForGood(self.window(), self.state.actions).exec():
            self.state.actions.remove_for_good()

    def focus_search(self) -> None:
        self._filters.search.setFocus()
        self._filters.search.selectAll()

    def enter_results(self) -> None:
        """Move the focus from the search field to the first row, as soon as one is found."""
        self._enters = True
        self._enter()

    def _enter(self) -> None:
        selection = self._selection
        if not self._enters or (selection.searching and not selection.partial):
            return
        self._enters = False
        if selection.ids and self.window().focusWidget() is self._filters.search:
            self.table.choose_rows(0, 0)
            self.table.scrollToTop()
            self.table.setFocus()

    def take_focus(self) -> None:
        self._wants_focus = (
            self._selection.counts is None
        )  # during the first search: the table, or the button if the project is empty
        (
            self._first_import if self._stack.currentWidget() is self._empty else self.table
        ).setFocus()

    # ------------------------------------------------------------ showing

    def _statistics(self) -> StatisticsView:
        from workbench.ui.panels.data.statistics_view import StatisticsView

        if STATISTICS not in self._parts:
            self._parts[STATISTICS] = StatisticsView(self.state.statistics)
            self._stack.addWidget(self._parts[STATISTICS])
        return cast(StatisticsView, self._parts[STATISTICS])

    def _duplicates(self) -> QWidget:
        from workbench.ui.panels.data.duplicates_view import DuplicatesView

        if DUPLICATES not in self._parts:
            self._parts[DUPLICATES] = DuplicatesView(self.state.duplicates)
            self._stack.addWidget(self._parts[DUPLICATES])
        return self._parts[DUPLICATES]

    def _show_view(self) -> None:
        view = self.state.view
        self._views.set(view)
        for button in (self._audit, self._splits, self._export, self._import):
            button.setVisible(view == DOCUMENTS)
        self._save.setVisible(view == STATISTICS)
        self._show_documents()
        self._show_layers()
        if view != DOCUMENTS and (current := self._stack.currentWidget()) is not None:
            current.setFocus()

    def render(self, fields: frozenset[str]) -> None:
        selection = self._selection
        if concerns(fields, "view"):
            self._show_view()
        if concerns(fields, "found_by"):
            self.table.set_search(selection.found_by)
        if concerns(fields, "order"):
            order = selection.order
            self.table.set_order(
                order.by if order else "", descending=bool(order and order.descending)
            )
        if concerns(fields, "layers", "off"):
            self._show_layers()
        if concerns(fields, "columns"):
            self.table.show_extras(column_menu.extras(selection.columns))
        if concerns(fields, "ids", "counts", "searching", "partial", "layers", "off"):
            self._show_documents()
        if concerns(fields, "touched") and selection.touched != frozenset():
            self.table.documents.forget(selection.touched)
        if concerns(fields, "followed"):
            self._followed = selection.followed
        self._show_followed()
        self._enter()
        if concerns(fields, "labels"):
            self.table.viewport().update()
        self._import.setEnabled(selection.editable)
        self._first_import.setEnabled(selection.editable)
        self._splits.setEnabled(selection.can_split)
        self._export.setEnabled(selection.total > 0)
        self._filters.render(fields)
        self._acts.render(fields)

    def _show_documents(self) -> None:
        state, selection = self.state, self._selection
        if selection.partial or not selection.searching:
            self.table.show_ids(selection.ids)
        some = selection.total > 0
        empty = selection.counts is not None and not some
        listed: QWidget = self.table if selection.ids or selection.searching else self._none
        if not empty and state.view != DOCUMENTS:
            listed = self._statistics() if state.view == STATISTICS else self._duplicates()
        self._stack.setCurrentWidget(self._empty if empty else listed)
        if self._wants_focus and selection.counts is not None:
            self._wants_focus = False
            (self._first_import if empty else self.table).setFocus()
        self._filters.setVisible(not empty)
        self._acts.setVisible(not empty and state.view == DOCUMENTS)
        n = selection.total
        count = ngettext("{n:,} document", "{n:,} documents", n)
        if selection.partial:
            message = ngettext("Searching {n:,} document…", "Searching {n:,} documents…", n)
            count = message
        elif selection.filters.filtered and not selection.searching:
            counts = ngettext(
                "{some:,} of {all:,} document",
                "{some:,} of {all:,} documents",
                n,
                some=len(selection.ids),
                all=n,
            )
            count = counts
        parts = [state.project.name, count]
        if selection.filters.off:
            layers = ", ".join(layer.name for layer in selection.filters.shown) or _("none")
            parts.append(_("layers: {layers}", layers=layers))
        self._header.set_hint(" · ".join(parts))

    def _show_followed(self) -> None:
        """Show what was selected on another page: one document becomes the current row, several
        are selected, as far as they are listed.
        """
        if not self._followed or self._selection.partial or self._selection.searching:
            return
        followed, self._followed = self._followed, ()
        if len(followed) == 1:
            self.table.show_id(followed[0])
        elif set(followed) != set(self.table.chosen_ids()):
            self.table.choose_ids(followed)

    def _show_layers(self) -> None:
        """Update the layer menu and the columns of the visible layers."""
        state, selection = self.state, self._selection
        self._layers_button.setVisible(
            len(selection.filters.layers) > 1 and state.view == DOCUMENTS
        )
        self._layers.clear()
        for layer in selection.filters.layers:
            action = self._layers.addAction(escaping.menu_text(layer.name))
            action.setCheckable(True)
            action.setChecked(layer.id not in selection.filters.off)
            action.toggled.connect(lambda on, id=layer.id: selection.switch_layer(id, on))
        kinds = [layer.traits for layer in selection.filters.shown]
        self.table.show_columns(
            classes=any(kind.on_document for kind in kinds) or not selection.filters.layers,
            spans=any(kind.in_text for kind in kinds) or not selection.filters.layers,
        )

    def showEvent(self, event: QShowEvent) -> None:
        self._selection.look_again()
        super().showEvent(event)

    def _state_changed(self, fields: frozenset[str]) -> None:
        super()._state_changed(fields)
        if "stale" in fields and self._selection.stale and self.isVisible():
            QTimer.singleShot(0, self._selection.look_again)


class _Acts(QWidget):
    """Actions on the selected documents, and the number of documents per state and split."""

    def __init__(self, actions: DocumentActions, delete: Callable[[], None]):
        super().__init__()
        self._selection = actions.selection
        self._count = words("", "ui", weight=600)
        self._menus = {name: QMenu(self) for name in ("class", "split", "state")}
        self._class = Button(_("Set class…"), small=True, menu=self._menus["class"])
        self._split = Button(_("Set split…"), small=True, menu=self._menus["split"])
        self._state = Button(_("Set state…"), small=True, menu=self._menus["state"])
        self._delete = Button(
            _("Delete"),
            "trash-2",
            "danger",
            small=True,
            on=delete,
            name=_("Delete the selected documents"),
        )
        self._suggest = Button(
            _("Suggest…"),
            "sparkles",
            small=True,
            on=actions.suggest,
            name=_("Suggest labels for the selected documents"),
            tip=_("Choose the run on the Results page"),
        )
        self._parts = (
            self._count,
            self._class,
            self._split,
            self._state,
            self._suggest,
            self._delete,
        )
        self._hint = words(
            _("Select rows to edit several documents; press Enter to open one in Annotate"),
            "small",
            "muted",
        )
        self._message = words("", "small", "muted")
        fillers = (class_choices, split_choices, state_choices)
        for menu, ask in zip(self._menus.values(), fillers, strict=True):
            menu.aboutToShow.connect(lambda menu=menu, ask=ask: fill_menu(menu, ask(actions)))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        acts = flow(*self._parts, self._hint, None, self._message, gap=10)
        strip = bar((acts, 1), margins=(24, 8, 24, 8))
        strip.setMinimumHeight(theme.px(44))
        layout.addWidget(strip)

    def render(self, fields: frozenset[str]) -> None:
        selection = self._selection
        chosen = len(selection.chosen)
        for part in self._parts:
            part.setVisible(chosen > 0)
        classes = [layer for layer in selection.filters.shown if layer.traits.on_document]
        self._class.setVisible(
            chosen > 0 and any(not class_.traits.in_choices for class_ in classes)
        )
        self._state.setVisible(chosen > 0 and bool(selection.filters.shown))
        self._hint.setVisible(not chosen)
        for button in (self._class, self._split, self._state, self._suggest, self._delete):
            button.setEnabled(selection.can_act)
        self._count.setText(_("{n:,} of {all:,} selected", n=chosen, all=selection.total))
        if selection.acting:
            self._message.setText(_("Working…"))
        elif selection.counts is not None:
            splits = selection.counts.splits
            counts = {split: splits.get(split, 0) for split in SPLITS}
            message = _(
                "{n:,} submitted · {train:,} train / {dev:,} dev / {test:,} test",
                n=selection.counts.states.get("submitted", 0),
                **counts,
            )
            self._message.setText(message)


# ---------------------------------------------------------------- menus of documents


def row_choices(
    actions: DocumentActions,
    delete: Callable[[], None],
    split: Callable[[], None],
    remove: Callable[[], None],
) -> Choices:
    selection = actions.selection
    chosen, can, copies = selection.chosen, selection.can_act, selection.can_copy
    n = len(chosen)
    flag = n == 1
    classes = class_choices(actions)
    title = ngettext("&Delete document", "&Delete {n:,} documents", n)
    return (
        MenuChoice(_("Open in &Annotate"), lambda: selection.open(chosen[0]), flag, key=_("Enter")),
        MenuChoice(_("&Inspect"), lambda: selection.inspect(chosen[0]), flag),
        MenuChoice(_("Show on the &map"), selection.show_on_map, bool(n)),
        SEPARATOR,
        MenuChoice(_("Set &class"), enabled=can and bool(classes), choices=classes or _NOTHING),
        MenuChoice(_("Set &split"), enabled=can, choices=split_choices(actions)),
        MenuChoice(
            _("Set s&tate"),
            enabled=can and bool(selection.filters.shown),
            choices=state_choices(actions),
        ),
        MenuChoice(_("&Flag"), enabled=can, choices=flag_choices(actions)),
        MenuChoice(_("Suggest &labels…"), actions.suggest, can),
        MenuChoice(_("S&plit into sentences or paragraphs…"), split, can),
        MenuChoice(_("&Join parts"), actions.join_parts, can and actions.has_parts),
        SEPARATOR,
        MenuChoice(ngettext("Copy &key", "Copy &keys", n), lambda: copy(selection.keys()), copies),
        MenuChoice(
            ngettext("Cop&y text", "Cop&y texts", n), lambda: copy(selection.copied()), copies
        ),
        SEPARATOR,
        MenuChoice(title, delete, can, key=_("Del")),
        MenuChoice(_("Remove &permanently…"), remove, can),
    )


def flag_choices(actions: DocumentActions) -> Choices:
    """Set a flag, or remove it."""
    names = actions.flag_names
    taken = tuple(
        MenuChoice(escaping.menu_text(name), partial(actions.set_flag, name, on=False))
        for name in names
    )
    return (
        *(
            MenuChoice(escaping.menu_text(name), partial(actions.set_flag, name, on=True))
            for name in names
        ),
        SEPARATOR,
        MenuChoice(_("&Remove"), choices=taken),
    )


def copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def class_choices(actions: DocumentActions) -> Choices:
    return _by_layer(
        [
            layer
            for layer in actions.selection.filters.shown
            if layer.traits.on_document and not layer.traits.in_choices
        ],
        lambda layer: (
            *(
                MenuChoice(escaping.menu_text(label.name), partial(actions.set_class, layer, label))
                for label in layer.labels
            ),
            SEPARATOR,
            MenuChoice(_("No class"), partial(actions.set_class, layer, None)),
        ),
    )


def split_choices(actions: DocumentActions) -> Choices:
    return tuple(
        MenuChoice(term(split) if split else _("no split"), partial(actions.set_split, split))
        for split in (*SPLITS, None)
    )


def state_choices(actions: DocumentActions) -> Choices:
    return (
        _by_layer(
            actions.selection.filters.shown,
            lambda layer: tuple(
                MenuChoice(term(name), partial(actions.set_state, layer, name)) for name in STATES
            ),
        )
        or _NOTHING
    )


def _by_layer(layers: Sequence[Layer], lines: Callable[[Layer], Choices]) -> Choices:
    """The entries of the only layer, or one submenu per layer."""
    if len(layers) == 1:
        return lines(layers[0])
    return tuple(_layer_line(layer, lines(layer)) for layer in layers)


def _layer_line(layer: Layer, lines: Choices) -> MenuChoice:
    return MenuChoice(escaping.menu_text(layer.name), choices=lines)
