"""Commands and keys of Annotate for relations, chains and parts of spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.ui.commands import Command

if TYPE_CHECKING:
    from workbench.ui.panels.annotate import AnnotatePanel


def _can_link(panel: AnnotatePanel) -> bool:
    return panel.state.can_link and panel.state.chosen_span() is not None


def _has_relation(panel: AnnotatePanel) -> bool:
    return panel.state.can_edit and panel.state.chosen_relation() is not None


def _has_chains(panel: AnnotatePanel) -> bool:
    return panel.state.can_edit and bool(panel.state.chain_layers)


def _can_grow(panel: AnnotatePanel) -> bool:
    return panel.state.can_edit and panel.state.growing is not None


LINK_COMMANDS = (
    Command(
        "annotate.link",
        _("Re&lation from here"),
        lambda p: p.state.start_link(),
        "Labels",
        "Ctrl+J",
        enabled=_can_link,
        group="relations",
    ),
    Command(
        "annotate.reverse",
        _("Re&verse relation"),
        lambda p: p.state.reverse(),
        "Labels",
        "Ctrl+Shift+J",
        enabled=_has_relation,
        group="relations",
    ),
    Command(
        "annotate.join-chain",
        _("Add to current c&hain"),
        lambda p: p.view.links.join_chain(),
        "Labels",
        enabled=_has_chains,
        group="relations",
    ),
    Command(
        "annotate.new-chain",
        _("New chain or split o&ff"),
        lambda p: p.view.links.new_chain(),
        "Labels",
        enabled=_has_chains,
        group="relations",
    ),
    Command(
        "annotate.add-part",
        _("Add selection to the span as a par&t"),
        lambda p: p.view.links.add_part(),
        "Labels",
        enabled=_can_grow,
        group="relations",
    ),
)
