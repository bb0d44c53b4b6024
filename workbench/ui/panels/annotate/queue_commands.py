"""Commands on the order of the queue and the models that follow the labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.ui.commands import Command

if TYPE_CHECKING:
    from workbench.ui.panels.annotate import AnnotatePanel


def has_queue(panel: AnnotatePanel) -> bool:
    """Whether there are documents, and no errors are reviewed."""
    return panel.state.total > 0 and not panel.state.errors


QUEUE_COMMANDS = (
    Command(
        "annotate.order",
        _("&Order of the queue…"),
        lambda p: p.view.dialogs.show_order(),
        "Labels",
        "Ctrl+Shift+O",
        enabled=has_queue,
        group="queue",
    ),
    Command(
        "annotate.ahead",
        _("Pre-annotate &with…"),
        lambda p: p.view.choose_ahead(),
        "Labels",
        "Ctrl+Shift+Y",
        enabled=lambda p: has_queue(p) and p.state.can_ahead,
        group="queue",
    ),
    Command(
        "annotate.instant",
        _("&Instant model"),
        lambda p: p.state.toggle_instant(),
        "Labels",
        "Ctrl+Shift+D",
        enabled=lambda p: has_queue(p) and p.state.can_instant,
        checked=lambda p: p.state.instant is not None,
        group="queue",
    ),
    Command(
        "annotate.goes-on",
        _("A &key also submits and goes on"),
        lambda p: p.state.set_goes_on(not p.state.goes_on),
        "Labels",
        enabled=lambda p: has_queue(p) and p.state.can_go_on,
        checked=lambda p: p.state.goes_on,
        group="queue",
    ),
    Command(
        "annotate.keep-instant",
        _("&Keep suggestions of the instant model"),
        lambda p: p.state.keep_instant(),
        "Labels",
        enabled=lambda p: p.state.can_keep_instant,
        group="queue",
    ),
    Command(
        "annotate.learning",
        _("&Learning curve…"),
        lambda p: p.view.dialogs.show_learning(),
        "Labels",
        enabled=lambda p: p.state.instant is not None or p.state.last_run is not None,
        group="queue",
    ),
    Command(
        "annotate.again",
        _("&Train again on the current labels"),
        lambda p: p.state.train_again(),
        "Labels",
        "Ctrl+Shift+T",
        enabled=lambda p: p.state.last_run is not None,
        group="queue",
    ),
)
