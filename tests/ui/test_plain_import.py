"""Python's own `import` is used once the application exists."""

import builtins
import importlib
import sys

from workbench.ui import plain_import


def test_imported_modules_are_not_read_a_second_time(qapp, tmp_path, monkeypatch):
    from shibokensupport import feature

    asked = []
    monkeypatch.setattr(feature, "_mod_uses_pyside", lambda module: asked.append(module.__name__))
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("read_twice", "read_once"):
        (tmp_path / f"{name}.py").write_text("value = 1\n")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(builtins, "__import__", builtins.__feature_import__)
    importlib.invalidate_caches()
    import read_twice  # noqa: F401

    plain_import.restore()
    import read_once

    assert "read_twice" in asked and "read_once" not in asked and read_once.value == 1
