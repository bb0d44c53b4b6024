"""The view of an inspector with a result, as its users meet it: parts by their names."""

from types import SimpleNamespace

from PySide6.QtWidgets import QComboBox, QLabel, QWidget

from tests import panel_tasks
from workbench.base.events import ALL, State
from workbench.base.registry import registry
from workbench.ui.panels.inspect.declared import view_of
from workbench.ui.panels.inspect.inspector_state import InspectorState


class Page(State):
    """What views use of the page; requests are recorded."""

    def __init__(self, text=""):
        super().__init__()
        self.choice, self.asked = object(), []
        self.document = SimpleNamespace(text=text)
        self.document_id, self.gold, self.labels, self.choices = None, None, {}, ()
        self.context = panel_tasks.context()

    def ask_host(self, _state, options, _done, _failed):
        self.asked.append(options)


def show(qtbot, id, result, *, page=None, size=(900, 600), **state_fields):
    """The view of an inspector of the index."""
    state = InspectorState(page or Page(), id)
    for name, value in state_fields.items():
        setattr(state, name, value)
    view = view_of(registry().view("inspector", id), state)
    qtbot.addWidget(view)
    view.resize(*size)
    renew(view, result)
    return view


def renew(view, result):
    """Show another result."""
    view.state.result, view.state.asking = result, False
    view.show_state(ALL)


def named(view, name, kind=QWidget):
    """The widget with this accessible name."""
    return next(item for item in view.findChildren(kind) if item.accessibleName() == name)


def texts(view):
    """All texts that are on screen."""
    labels = (label for label in view.findChildren(QLabel) if label.isVisibleTo(view))
    return [label.text() for label in labels if label.text()]


def figures(view):
    """The numbers below a view by their names."""
    names = (label.accessibleName() for label in view.findChildren(QLabel))
    return dict(name.split(": ", 1) for name in names if ": " in name)


def cells(table, *columns):
    """The texts of a table, of some columns or of all."""
    model = table.model()
    across = columns or range(model.columnCount())
    return [[model.index(row, at).data() for at in across] for row in range(model.rowCount())]


def items(box):
    return [box.itemText(at) for at in range(box.count())]


def choose(view, name, at):
    """Choose an item of a list of values."""
    box = named(view, name, QComboBox)
    box.setCurrentIndex(at)
    box.activated.emit(at)
