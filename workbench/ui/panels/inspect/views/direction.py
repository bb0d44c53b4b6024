"""The choice between the next and the previous word, of models that predict both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _
from workbench.ui.widgets.button import Segments

if TYPE_CHECKING:
    from workbench.ui.panels.inspect.shown import Shown


class DirectionChoice(Segments):
    """Sets the option `direction` of an inspector; `resets`: options of the other direction."""

    def __init__(self, state: Shown, **resets: Any):
        titles = (("next", _("Next")), ("previous", _("Previous")))
        super().__init__(*titles, name=_("Direction"))
        self.chosen.connect(lambda way: state.set_options(direction=way, **resets))
        self.hide()

    def show_ways(self, ways: Sequence[str], *, backward: bool) -> None:
        """ways: directions that the model has; hidden unless there is a choice."""
        self.set("previous" if backward else "next")
        self.setVisible(len(ways) > 1)
