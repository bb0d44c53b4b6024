"""Keys of the lists of errors and label errors, which the user can change."""

from __future__ import annotations

from workbench.base.i18n import _
from workbench.ui.commands import Command


def _bare(id: str, title: str, keys: tuple[str, ...] | str) -> Command:
    """A key handled by the list of errors itself, which can be changed, except for the digits."""
    return Command(
        f"results.error-{id}", title, keys=keys, shown_only=True, bare=isinstance(keys, str)
    )


ERROR_COMMANDS = (
    _bare("accept", _("In Errors and Label errors: accept the prediction as gold"), "A"),
    _bare("keep", _("In Errors and Label errors: keep gold and mark it as reviewed"), "K"),
    _bare("next", _("In Errors and Label errors: next open error"), "Space"),
    _bare("label", _("In Label errors: change gold to another class"), ("1", "9")),
    _bare("open", _("In Errors and Label errors: open the place in Annotate"), "Return"),
)
