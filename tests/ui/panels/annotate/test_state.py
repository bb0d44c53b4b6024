"""The tools of Annotate, and which of them edits the layers of a kind."""

from workbench.text.labels import LAYER_KINDS
from workbench.ui.panels.annotate.state import EDITORS


def test_every_kind_of_layer_that_can_be_edited_has_a_tool(state):
    editors = {kind.editor for kind in LAYER_KINDS.values()} - {""}

    assert editors == set(EDITORS) == set(state.session.editors)


def test_a_tool_deletes_only_what_is_its_own(state):
    state.session.choose(None)

    assert not any(tool.delete_chosen() for tool in state.tools)
