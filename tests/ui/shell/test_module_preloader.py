"""Modules of later pages are imported in advance, without Qt in a thread, one after the other."""

import os
import subprocess
import sys

from workbench.ui.app import Dispatch
from workbench.ui.shell import module_preloader


def test_modules_come_one_after_the_other_in_a_thread_and_a_broken_one_holds_up_none(
    qapp, qtbot, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("ahead_first", "ahead_last"):
        (tmp_path / f"{name}.py").write_text(
            "import threading\nthread = threading.current_thread()\n"
        )
        monkeypatch.delitem(sys.modules, name, raising=False)

    under_way = module_preloader.ModulePreloader(
        ["sys", "ahead_first", "ahead_missing", "ahead_last"], Dispatch()
    )
    qtbot.waitUntil(lambda: under_way.done)

    names = [sys.modules.pop(name).thread.name for name in ("ahead_first", "ahead_last")]
    assert all(name.startswith("glossbench-pool") for name in names)


NO_CLASS_OF_QT = """
import sys
from PySide6.QtCore import QObject
from workbench.ui.app import App, make_qt
from workbench.base import settings
from workbench.ui.shell import module_preloader

app = App(make_qt(), settings.Settings(warm_worker=False))
with_qt = {}
for name in module_preloader.modules(app.window.panels()):
    before = set(sys.modules)
    later = module_preloader.import_without_qt(name, with_qt)
    for module in set(sys.modules) - before:
        assert module.split(".")[0] not in ("pyqtgraph", "torch"), (name, module)
        for value in vars(sys.modules[module]).values():
            if isinstance(value, type(QObject)) and value.__module__ == module:
                raise AssertionError(f"{name}: {module} defines {value.__name__}")
    for module in later:
        before = set(sys.modules)
        __import__(module)
        own = {item for item in set(sys.modules) - before if item.startswith("workbench.")}
        assert len(own) <= 1, (name, own)
print(len(with_qt))
"""


def test_no_class_of_qt_is_defined_in_a_thread_and_the_rest_comes_one_module_per_step(tmp_path):
    program = subprocess.run(
        [sys.executable, "-c", NO_CLASS_OF_QT],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ
        | {"QT_QPA_PLATFORM": "offscreen", "HOME": str(tmp_path)}
        | {f"XDG_{item}_HOME": str(tmp_path / item) for item in ("CONFIG", "DATA", "CACHE")},
    )

    assert program.returncode == 0, program.stderr
    assert int(program.stdout) > 200


def test_stopped_it_imports_nothing_more(qapp, qtbot):
    under_way = module_preloader.ModulePreloader(["ahead_never"], Dispatch())

    under_way.stop()

    assert under_way.done and not under_way._timer.isActive()


def test_all_pages_and_their_libraries_are_named_and_can_be_imported(app):
    import importlib

    names = module_preloader.modules(app.window.panels())

    assert {
        "numpy",
        "pyqtgraph",
        "workbench.ui.panels.train.view",
        "workbench.ui.panels.jobs.state",
    } <= set(names)
    for name in names:
        importlib.import_module(name)
    assert names[:2] == ["numpy", "pyqtgraph"]  # before anybody has touched the window


def test_what_comes_last_is_called_in_a_thread_after_the_imports_whatever_became_of_it(qapp, qtbot):
    import threading

    called = []

    def last():
        called.append(threading.current_thread().name)
        raise ValueError

    under_way = module_preloader.ModulePreloader(["ahead_missing"], Dispatch(), then=last)
    assert not under_way.done
    qtbot.waitUntil(lambda: under_way.done)

    assert len(called) == 1 and called[0].startswith("glossbench-pool")


def test_types_of_qt_are_created_on_the_main_thread_before_a_module_is_imported(
    qapp, qtbot, tmp_path, monkeypatch
):
    import threading

    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ahead_types.py").write_text(
        "import tests.ui.shell.test_module_preloader as t\nt.at_import()\n"
    )
    monkeypatch.setattr(sys.modules[__name__], "at_import", lambda: events.append("module"))
    monkeypatch.setitem(sys.modules, "tests.ui.shell.test_module_preloader", sys.modules[__name__])
    events = []

    def types():
        for _type in range(3):
            events.append(threading.current_thread() is threading.main_thread())
            yield

    monkeypatch.setattr(module_preloader, "qt_types", types)

    under_way = module_preloader.ModulePreloader(["ahead_types"], Dispatch())
    qtbot.waitUntil(lambda: under_way.done)
    sys.modules.pop("ahead_types", None)

    assert events == [True, True, True, "module"]


def at_import():
    """Replaced by the test above."""


def test_no_type_of_qt_is_left_to_be_created_in_a_thread(qapp):
    from PySide6 import QtGui, QtWidgets

    for _type in module_preloader.qt_types():
        pass

    for module in (QtGui, QtWidgets):
        assert {name for name in dir(module) if name.startswith("Q")} <= set(vars(module))
