"""Import the code of pages before they are opened.

Modules that do not import Qt are imported in a thread of the pool, which releases the interpreter
every few milliseconds. The others are imported on the main thread, one per step, each after those
that it imports: with Python before 3.12, PySide6 keeps the data of its types in a table without a
lock, and the event loop reads it without holding the interpreter. A class of Qt that is defined in
a thread then ends in a segmentation fault now and then. A step takes up to 8 ms; pyqtgraph takes
100 ms and cannot be split, so it comes first, before anybody has touched the window.

PySide6 creates a type when its name is first read. That is done beforehand, in steps too: pyqtgraph
reads every name.
"""

from __future__ import annotations

import dis
import importlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec

from PySide6.QtCore import QTimer

from workbench.base.manifest import Contribution
from workbench.jobs import threads

PAUSE = 40  # milliseconds between two modules
BETWEEN = 5  # milliseconds between two slices of work on the main thread
SLICE = 0.005  # seconds of main thread time per slice; a step that takes longer ends it
WINDOW = "workbench.ui."
QT_PACKAGES = ("PySide6", "shiboken6", "pyqtgraph")
QT = ("QtCore", "QtGui", "QtWidgets", "QtOpenGL")  # their types are created lazily
LIBRARIES = (
    "numpy",
    "pyqtgraph",
    "workbench.runtime.tokenizer",
    "workbench.ui.shell.work",
    "workbench.jobs.host",
    "workbench.metrics.confusion",
    "workbench.metrics.significance",
    "workbench.operations.prompts.prompt_render",
    "workbench.ui.panels.inspect.views.tokens",
    "workbench.inspection.vocabulary.info",
    "workbench.prompting.budget",
    "workbench.prompting.score",
    "workbench.prompting.shots",
)  # imported by the pages when they are built
LATER = ("workbench.ui.panels.data.import_dialog", "workbench.ui.dialogs.settings")


def modules(panels: Iterable[Contribution]) -> list[str]:
    """Modules used by the built-in pages; those of the page shown first come first."""
    packages = [panel.object.split(":")[0] for panel in panels]
    own = [
        f"{package}.{part}"
        for package in packages
        if package.startswith("workbench.")
        for part in ("state", "view")
    ]
    return [*LIBRARIES[:2], *own, *LIBRARIES[2:], *LATER]


def qt_types() -> Iterator[None]:
    """Let PySide6 create its types, one per step. Call on the main thread."""
    for module in QT:
        types = importlib.import_module(f"PySide6.{module}")
        for name in dir(types):
            getattr(types, name)
            yield


def import_without_qt(name: str, with_qt: dict[str, bool]) -> list[str]:
    """Import what `name` needs and what does not import Qt. Call in a thread.

    `with_qt` says of modules whether they import Qt, and is added to.

    Returns:
        The other modules, which import Qt, in the order of import.
    """
    _import_without_qt(name, with_qt)
    return [item for item, needs_qt in with_qt.items() if needs_qt and item not in sys.modules]


def _import_without_qt(name: str, with_qt: dict[str, bool]) -> bool:
    if name in with_qt:
        return with_qt[name]
    needs_qt = name.split(".")[0] in QT_PACKAGES
    if name.startswith(WINDOW):
        for other in _imports(name):
            needs_qt |= _import_without_qt(other, with_qt)
    if not needs_qt:
        with suppress(ImportError):  # reported when the page is opened
            importlib.import_module(name)
    with_qt[name] = needs_qt
    return needs_qt


def _imports(name: str) -> Iterator[str]:
    """Names of the modules that the code of a module of the window imports, in order."""
    loader = getattr(find_spec(name), "loader", None)
    if loader is None:
        return
    module, end = "", 0  # `end`: where the block `if TYPE_CHECKING` ends
    typing_only = False
    for step in dis.get_instructions(loader.get_code(name)):
        if typing_only and "JUMP" in step.opname:
            end = step.argval
        typing_only = step.argval == "TYPE_CHECKING" and step.opname == "LOAD_NAME"
        if step.offset < end:
            continue
        if step.opname == "IMPORT_NAME":
            module = step.argval
            yield module
        elif step.opname == "IMPORT_FROM" and module.startswith("workbench."):
            package = find_spec(module)
            if package is not None and package.submodule_search_locations is not None:
                yield f"{module}.{step.argval}"


class ModulePreloader:
    """Import `names` one after the other, with pauses, until all are imported or `stop` is called.

    `then` is called last, in a thread, and after it `last`, an attribute, on the main thread.
    """

    def __init__(
        self,
        names: Iterable[str],
        dispatch: Callable[[Callable[[], None]], None],
        *,
        then: Callable[[], None] | None = None,
    ):
        self._left, self._dispatch, self._then = list(names), dispatch, then
        self.last: Callable[[], None] | None = None
        self._with_qt: dict[str, bool] = {}
        self._steps: Iterator[None] | None = qt_types()  # work on the main thread
        self._timer = QTimer()
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(self._next)
        self._timer.start()

    @property
    def done(self) -> bool:
        return not self._left and self._steps is None and self._then is None

    def stop(self) -> None:
        self._left.clear()
        self._then = self._steps = self.last = None
        self._timer.stop()

    def _next(self) -> None:
        while self._left and self._left[0] in sys.modules:
            self._left.pop(0)
        if self._steps is not None:
            self._go_on(self._steps)
        elif self._left:
            name = self._left[0]
            threads.run(
                lambda: import_without_qt(name, self._with_qt),
                self._imported,
                dispatch=self._dispatch,
            )
        elif self._then is not None:
            threads.run(self._then, self._ended, dispatch=self._dispatch)

    def _go_on(self, steps: Iterator[None]) -> None:
        end = time.perf_counter() + SLICE
        for _step in steps:
            if time.perf_counter() > end:
                self._timer.start(BETWEEN)
                return
        self._steps = None
        self._timer.start(PAUSE)

    def _ended(self, _nothing: object, _error: Exception | None) -> None:
        """Ignore errors: the page reports them when it is opened."""
        self._then = None
        if self.last is not None:
            self.last()

    def _imported(self, with_qt: list[str] | None, error: Exception | None) -> None:
        if self._left:  # not stopped
            self._left.pop(0)
            self._steps = _import_each(with_qt or ())
            self._timer.start()


def _import_each(names: Iterable[str]) -> Iterator[None]:
    """Import the modules, one per step. Ignore errors: the page reports them when it is opened."""
    for name in names:
        with suppress(Exception):
            importlib.import_module(name)
        yield
