"""The names under which views of plugins import the state of an inspector."""

from workbench.ui.panels.inspect.inspector_state import InspectorState as Shown
from workbench.ui.panels.inspect.inspector_state import by_question

__all__ = ["Shown", "by_question"]
