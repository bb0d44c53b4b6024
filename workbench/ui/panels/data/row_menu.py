"""The context menu of selected documents on Data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtGui import QGuiApplication

from workbench.base.i18n import _, ngettext
from workbench.base.terms import term
from workbench.text.document import SPLITS
from workbench.text.labels import Layer
from workbench.ui.commands import SEPARATOR, Choice
from workbench.ui.panels.data.state import DataState
from workbench.ui.style import escaping

STATES = ("pending", "draft", "submitted", "discarded")
Choices = tuple[Choice | None, ...]


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
        Choice(_("Open in &Annotate"), lambda: state.open(chosen[0]), flag, key=_("Enter")),
        Choice(_("&Inspect"), lambda: state.inspect(chosen[0]), flag),
        Choice(_("Show on the &map"), state.show_on_map, bool(n)),
        SEPARATOR,
        Choice(_("Set &class"), enabled=can and bool(classes), choices=classes or _NOTHING),
        Choice(_("Set &split"), enabled=can, choices=split_choices(state)),
        Choice(_("Set s&tate"), enabled=can and bool(state.shown), choices=state_choices(state)),
        Choice(_("&Flag"), enabled=can, choices=flag_choices(state)),
        Choice(_("Suggest &labels…"), state.suggest, can),
        Choice(_("S&plit into sentences or paragraphs…"), split, can),
        Choice(_("&Join parts"), state.join_parts, can and state.has_parts),
        SEPARATOR,
        Choice(ngettext("Copy &key", "Copy &keys", n), lambda: copy(state.keys()), copies),
        Choice(ngettext("Cop&y text", "Cop&y texts", n), lambda: copy(state.copied()), copies),
        SEPARATOR,
        Choice(title.format(n=n), delete, can, key=_("Del")),
        Choice(_("Remove &permanently…"), remove, can),
    )


def flag_choices(state: DataState) -> Choices:
    """Set a flag, or remove it."""
    names = state.flag_names
    taken = tuple(
        Choice(escaping.menu_text(name), partial(state.set_flag, name, on=False)) for name in names
    )
    return (
        *(
            Choice(escaping.menu_text(name), partial(state.set_flag, name, on=True))
            for name in names
        ),
        SEPARATOR,
        Choice(_("&Remove"), choices=taken),
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
                Choice(escaping.menu_text(label.name), partial(state.set_class, layer, label))
                for label in layer.labels
            ),
            SEPARATOR,
            Choice(_("No class"), partial(state.set_class, layer, None)),
        ),
    )


def split_choices(state: DataState) -> Choices:
    return tuple(
        Choice(term(split) if split else _("no split"), partial(state.set_split, split))
        for split in (*SPLITS, None)
    )


def state_choices(state: DataState) -> Choices:
    return (
        _by_layer(
            state.shown,
            lambda layer: tuple(
                Choice(term(name), partial(state.set_state, layer, name)) for name in STATES
            ),
        )
        or _NOTHING
    )


def _by_layer(layers: Sequence[Layer], lines: Callable[[Layer], Choices]) -> Choices:
    """The entries of the only layer, or one submenu per layer."""
    if len(layers) == 1:
        return lines(layers[0])
    return tuple(_layer_line(layer, lines(layer)) for layer in layers)


def _layer_line(layer: Layer, lines: Choices) -> Choice:
    return Choice(escaping.menu_text(layer.name), choices=lines)


_NOTHING: Choices = (Choice("–", enabled=False),)
