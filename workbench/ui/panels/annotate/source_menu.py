"""Menu entries for everything that one source made."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.ui.commands import SEPARATOR, MenuChoice
from workbench.ui.style import escaping, formats

if TYPE_CHECKING:
    from workbench.storage.annotation.provenance import Origin
    from workbench.ui.panels.annotate.sources import SourceState

Choices = tuple[MenuChoice | None, ...]


def source_choices(state: SourceState) -> Choices:
    """A submenu for each source of suggestions in the document; actions on all documents."""
    can = state.can_edit
    sure = formats.decimal(state.sure, 2)
    return (
        *(
            MenuChoice(escaping.menu_text(title), enabled=can, choices=of_source(state, origin, n))
            for origin, title, n in state.origins
        ),
        SEPARATOR,
        MenuChoice(
            _("Accept at or above {score} in &all documents", score=sure),
            partial(state.decide_everywhere, accept=True, least=state.sure),
            can,
        ),
        MenuChoice(
            _("&Reject below {score} in this document", score=sure),
            state.reject_unsure,
            can and bool(state.unsure),
        ),
        MenuChoice(
            _("Reject &below {score} in all documents", score=sure),
            partial(state.decide_everywhere, accept=False, below=state.sure),
            can,
        ),
    )


def of_source(state: SourceState, origin: Origin, n: int) -> Choices:
    """The actions on one source; `n`: number of its suggestions in the document."""
    here = ngettext("&Accept {n:,} in this document", "&Accept {n:,} in this document", n)
    not_here = ngettext("&Reject {n:,} in this document", "&Reject {n:,} in this document", n)
    in_all = partial(state.decide_everywhere, origin=origin)
    return (
        MenuChoice(here.format(n=n), partial(state.decide_here, origin, accept=True), n > 0),
        MenuChoice(not_here.format(n=n), partial(state.decide_here, origin, accept=False), n > 0),
        SEPARATOR,
        MenuChoice(_("Accept in a&ll documents"), partial(in_all, accept=True)),
        MenuChoice(_("Reject in all &documents"), partial(in_all, accept=False)),
        SEPARATOR,
        MenuChoice(_("Re&vert everything from this source"), partial(state.revert, origin)),
    )
