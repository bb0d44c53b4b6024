"""Keys of Annotate without Ctrl or Alt: handled by the text and the lists, shown in the key list.

Those with one meaning can be changed there; `ui.shell.bare_keys` translates the user's keys back.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.base.i18n import _
from workbench.ui.commands import Command


def _bare(id: str, title: str, *keys: str, with_ctrl: bool = False) -> Command:
    """A key that can be changed; all its keys mean the same."""
    return Command(
        f"annotate.{id}", title, keys=keys, shown_only=True, bare=True, with_ctrl=with_ctrl
    )


def _fixed(id: str, title: str, *keys: str) -> Command:
    """Several keys in one line: those of labels, and those that every text has."""
    return Command(f"annotate.{id}", title, keys=keys, shown_only=True)


BARE_COMMANDS = (
    _fixed("label", _("Label the selected text or relabel the selected span"), "1", "9"),
    _fixed("class", _("Set or clear a class"), "Q", "P"),
    _bare("palette", _("Find a label by typing"), "/"),
    _bare(
        "enter",
        _(
            "Finish the relation, answer with the selected text, go to the next sentence or "
            "paragraph, or submit and open next"
        ),
        "Return",
    ),
    _bare("space", _("Skip document"), "Space"),
    _fixed(
        "span",
        _("Next, previous span; without span layers: next, previous question"),
        *("Tab", "Shift+Tab"),
    ),
    _bare("word-next", _("Next word; with questions: next question"), "."),
    _bare("word-previous", _("Previous word; with questions: previous question"), ","),
    _bare("jump", _("Go to the word that begins with two letters; twice: the next one"), "'"),
    _bare("jump-extend", _("Extend the selection to the word with two letters"), '"'),
    _fixed(
        "token",
        _("Next or previous token, token below or above, in a tag layer"),
        *("Right", "Left", "Down", "Up"),
    ),
    _bare("tag-next", _("Assign the next most probable tag to the token"), "Shift+Down"),
    _bare("tag-previous", _("Assign the previous, more probable tag to the token"), "Shift+Up"),
    _bare(
        "delete",
        _("Delete the selected span or relation, the tag, or the last answer"),
        *("Del", "Backspace"),
    ),
    _bare(
        "start-left",
        _("Move the start of the selected span left (Ctrl: by a character)"),
        "[",
        with_ctrl=True,
    ),
    _bare(
        "start-right",
        _("Move the start of the selected span right"),
        "]",
        with_ctrl=True,
    ),
    _bare(
        "end-left",
        _("Move the end of the selected span left (Ctrl: by a character)"),
        "{",
        with_ctrl=True,
    ),
    _bare(
        "end-right",
        _("Move the end of the selected span right"),
        "}",
        with_ctrl=True,
    ),
    _fixed(
        "stretch",
        _("Move the end of the selected span by a character"),
        *("Shift+Left", "Shift+Right"),
    ),
    _bare(
        "accept",
        _("Accept the selected or first suggestion; in error review, accept the prediction"),
        "A",
    ),
    _fixed("accept-tags", _("Accept the tags suggested for all other tokens"), "Shift+A"),
    _bare(
        "reject",
        _(
            "Reject the selected or first suggestion; in error review, keep gold "
            "and open the next error"
        ),
        "X",
    ),
    _bare("no-answer", _("The text does not answer the question"), "N"),
    _bare("ask", _("Ask a question"), "?"),
    _bare("edit-question", _("Change the question"), "F2"),
    _bare("delete-question", _("Delete the question"), "Shift+Del"),
    _bare("link-key", _("Relation from the selected span, or merge of its chain"), "C"),
    _bare("chain", _("Add the selected text to the current chain"), "="),
    _bare("chain-new", _("Start a chain with the text, or split the span off"), "+"),
    _bare("part", _("Add the selected text to the span selected last"), "&"),
    _bare("all", _("Label all occurrences of the selected text, span or token"), "M"),
    _bare("unselect", _("Clear selection"), "Esc", "U"),
)

KEYS: Mapping[str, tuple[str, ...]] = {
    bare_command.id: bare_command.all_keys for bare_command in BARE_COMMANDS
}
