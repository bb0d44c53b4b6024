"""The context menu of selected documents on Data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtGui import QGuiApplication

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.text.document import SPLITS
from workbench.text.labels import Layer
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.panels.data.actions import DocumentActions
from workbench.ui.style import escaping

STATES = ("pending", "draft", "submitted", "discarded")
Choices = tuple[MenuChoice | None, ...]


def choices(
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
        MenuChoice(title.format(n=n), delete, can, key=_("Del")),
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


_NOTHING: Choices = (MenuChoice("–", enabled=False),)
