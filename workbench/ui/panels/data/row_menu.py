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
from workbench.ui.panels.data.state import DataState
from workbench.ui.style import escaping

STATES = ("pending", "draft", "submitted", "discarded")
Choices = tuple[MenuChoice | None, ...]


def choices(
    state: DataState,
    delete: Callable[[], None],
    split: Callable[[], None],
    remove: Callable[[], None],
) -> Choices:
    chosen, can, copies = state.chosen, state.can_act, state.can_copy
    n = len(chosen)
    flag = n == 1
    classes = class_choices(state)
    title = ngettext("&Delete document", "&Delete {n:,} documents", n)
    return (
        MenuChoice(_("Open in &Annotate"), lambda: state.open(chosen[0]), flag, key=_("Enter")),
        MenuChoice(_("&Inspect"), lambda: state.inspect(chosen[0]), flag),
        MenuChoice(_("Show on the &map"), state.show_on_map, bool(n)),
        SEPARATOR,
        MenuChoice(_("Set &class"), enabled=can and bool(classes), choices=classes or _NOTHING),
        MenuChoice(_("Set &split"), enabled=can, choices=split_choices(state)),
        MenuChoice(
            _("Set s&tate"), enabled=can and bool(state.shown), choices=state_choices(state)
        ),
        MenuChoice(_("&Flag"), enabled=can, choices=flag_choices(state)),
        MenuChoice(_("Suggest &labels…"), state.suggest, can),
        MenuChoice(_("S&plit into sentences or paragraphs…"), split, can),
        MenuChoice(_("&Join parts"), state.join_parts, can and state.has_parts),
        SEPARATOR,
        MenuChoice(ngettext("Copy &key", "Copy &keys", n), lambda: copy(state.keys()), copies),
        MenuChoice(ngettext("Cop&y text", "Cop&y texts", n), lambda: copy(state.copied()), copies),
        SEPARATOR,
        MenuChoice(title.format(n=n), delete, can, key=_("Del")),
        MenuChoice(_("Remove &permanently…"), remove, can),
    )


def flag_choices(state: DataState) -> Choices:
    """Set a flag, or remove it."""
    names = state.flag_names
    taken = tuple(
        MenuChoice(escaping.menu_text(name), partial(state.set_flag, name, on=False))
        for name in names
    )
    return (
        *(
            MenuChoice(escaping.menu_text(name), partial(state.set_flag, name, on=True))
            for name in names
        ),
        SEPARATOR,
        MenuChoice(_("&Remove"), choices=taken),
    )


def copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def class_choices(state: DataState) -> Choices:
    return _by_layer(
        [
            layer
            for layer in state.shown
            if layer.traits.on_document and not layer.traits.in_choices
        ],
        lambda layer: (
            *(
                MenuChoice(escaping.menu_text(label.name), partial(state.set_class, layer, label))
                for label in layer.labels
            ),
            SEPARATOR,
            MenuChoice(_("No class"), partial(state.set_class, layer, None)),
        ),
    )


def split_choices(state: DataState) -> Choices:
    return tuple(
        MenuChoice(term(split) if split else _("no split"), partial(state.set_split, split))
        for split in (*SPLITS, None)
    )


def state_choices(state: DataState) -> Choices:
    return (
        _by_layer(
            state.shown,
            lambda layer: tuple(
                MenuChoice(term(name), partial(state.set_state, layer, name)) for name in STATES
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
