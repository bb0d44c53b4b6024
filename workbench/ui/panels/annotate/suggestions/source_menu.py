"""Menu entries for everything that one source made."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.style import escaping, formats

if TYPE_CHECKING:
    from workbench.storage.annotation.provenance import Origin
    from workbench.ui.panels.annotate.suggestions.suggestions import SuggestionTool

Choices = tuple[MenuChoice | None, ...]


def source_choices(tool: SuggestionTool) -> Choices:
    """A submenu for each source of suggestions in the document; actions on all documents."""
    can = tool.session.can_edit
    sure = formats.decimal(tool.sure, 2)
    return (
        *(
            MenuChoice(escaping.menu_text(title), enabled=can, choices=of_source(tool, origin, n))
            for origin, title, n in tool.origins
        ),
        SEPARATOR,
        MenuChoice(
            _("Accept at or above {score} in &all documents", score=sure),
            partial(tool.decide_everywhere, accept=True, least=tool.sure),
            can,
        ),
        MenuChoice(
            _("&Reject below {score} in this document", score=sure),
            tool.reject_unsure,
            can and bool(tool.unsure),
        ),
        MenuChoice(
            _("Reject &below {score} in all documents", score=sure),
            partial(tool.decide_everywhere, accept=False, below=tool.sure),
            can,
        ),
    )


def of_source(tool: SuggestionTool, origin: Origin, n: int) -> Choices:
    """The actions on one source; `n`: number of its suggestions in the document."""
    here = ngettext("&Accept {n:,} in this document", "&Accept {n:,} in this document", n)
    not_here = ngettext("&Reject {n:,} in this document", "&Reject {n:,} in this document", n)
    in_all = partial(tool.decide_everywhere, origin=origin)
    return (
        MenuChoice(here.format(n=n), partial(tool.decide_here, origin, accept=True), n > 0),
        MenuChoice(not_here.format(n=n), partial(tool.decide_here, origin, accept=False), n > 0),
        SEPARATOR,
        MenuChoice(_("Accept in a&ll documents"), partial(in_all, accept=True)),
        MenuChoice(_("Reject in all &documents"), partial(in_all, accept=False)),
        SEPARATOR,
        MenuChoice(_("Re&vert everything from this source"), partial(tool.revert, origin)),
    )
