"""Import the code of pages in the background, before they are opened.

Imports run in a thread of the pool: each releases the interpreter every few milliseconds (17 to
38 ms late at worst, measured). On the main thread, pyqtgraph alone blocks for 200 ms and cannot be
split into slices.

Qt types are created beforehand, on the main thread, in slices: PySide6 creates a type when its
name is first read. Doing that in a thread, while the event loop creates types too, ended in a
segmentation fault (pyqtgraph reads every name).
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import QTimer

from workbench.base.manifest import Contribution
from workbench.jobs import threads

PAUSE = 40  # milliseconds between two modules
BETWEEN = 5  # milliseconds between two slices of types
SLICE = 0.005  # seconds of main thread time per slice of Qt types
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
    return [LIBRARIES[0], *own, *LIBRARIES[1:], *LATER]


def qt_types() -> Iterator[None]:
    """Let PySide6 create its types, one per step. Call on the main thread."""
    for module in QT:
        types = importlib.import_module(f"PySide6.{module}")
        for name in dir(types):
            getattr(types, name)
            yield


class ModulePreloader:
    """Import `names` one after the other, with pauses, until all are imported or `stop` is called.

    `then` is called last, also in a thread, and after it `last`, an attribute, on the main thread.
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
        self._types: Iterator[None] | None = qt_types()
        self._timer = QTimer()
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(self._next)
        self._timer.start()

    @property
    def done(self) -> bool:
        return not self._left and self._then is None

    def stop(self) -> None:
        self._left.clear()
        self._then = self._types = self.last = None
        self._timer.stop()

    def _next(self) -> None:
        if self._types is not None:
            self._create_types(self._types)
            return
        while self._left and self._left[0] in sys.modules:
            self._left.pop(0)
        if self._left:
            name = self._left[0]
            threads.run(
                lambda: importlib.import_module(name), self._imported, dispatch=self._dispatch
            )
        elif self._then is not None:
            threads.run(self._then, self._ended, dispatch=self._dispatch)

    def _create_types(self, types: Iterator[None]) -> None:
        end = time.perf_counter() + SLICE
        for _type in types:
            if time.perf_counter() > end:
                self._timer.start(BETWEEN)
                return
        self._types = None
        self._timer.start(PAUSE)

    def _ended(self, _nothing: object, _error: Exception | None) -> None:
        """Ignore errors: the page reports them when it is opened."""
        self._then = None
        if self.last is not None:
            self.last()

    def _imported(self, _module: object, error: Exception | None) -> None:
        """Ignore import errors: they are reported when the page is opened."""
        if self._left:
            self._left.pop(0)
            self._timer.start()
