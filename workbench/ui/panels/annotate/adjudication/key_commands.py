"""Single keys of adjudication, for the list of keys; apart from those of labels. No Qt."""

from __future__ import annotations

from workbench.base.i18n import _
from workbench.ui.commands import Command

MODE = "adjudication"  # of the page Annotate


def _key(id: str, title: str, *keys: str, bare: bool = True) -> Command:
    return Command(f"adjudicate.{id}", title, keys=keys, shown_only=True, bare=bare, mode=MODE)


KEY_COMMANDS = (
    _key("take", _("In adjudication: take the version with this number"), "1", "9", bare=False),
    _key("both", _("In adjudication: take what all versions say"), "B"),
    _key("neither", _("In adjudication: take no version"), "0"),
    _key("suggested", _("In adjudication: take the suggested version"), "S"),
    _key("edit", _("In adjudication: edit the gold labels at the difference"), "E"),
    _key("undo", _("In adjudication: undo the decision on the difference"), "U"),
    _key("alike", _("In adjudication: decide equal cases alike"), "A"),
    _key("discuss", _("In adjudication: note on the difference, to discuss it"), "N"),
    _key("example", _("In adjudication: add the decision to the guideline as an example"), "G"),
    _key("next", _("In adjudication: next difference"), "Space"),
    _key("previous", _("In adjudication: previous difference"), "Shift+Space", bare=False),
    _key(
        "fold",
        _("In adjudication: show and hide the lines that agree around the difference"),
        *("Right", "Left"),
        bare=False,
    ),
)
