"""Names that users, scripts, project files and plugins hold: sorted lines for `records/`.

Titles and help texts are left out, and so are Python modules: neither is a promise. The public
imports of plugins are the exception: plugins break if one moves.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULE = re.compile(r"workbench(\.\w+)*(:\w+)?")
TEXTS = frozenset(("help", "title", "titles", "holds", "missing", "description"))


def commands() -> list[str]:
    """Every command of the window and of its pages: place, menu, group, keys, kind."""
    from workbench.base.registry import builtins
    from workbench.ui.shell.window_commands import page_commands, window_commands

    panels = builtins().all("panel")
    pages = [entry for entry in panels if entry.options["place"] == "page"]
    tables = [("window", (*page_commands(pages), *window_commands()))]
    tables += [(entry.id, builtins().get("panel", entry.id).commands) for entry in panels]
    return sorted(_command(place, command) for place, table in tables for command in table)


def _command(place, command) -> str:
    flags = [name for name in ("anywhere", "shown_only", "bare", "with_ctrl") if _is(command, name)]
    flags += ["checked"] if command.checked is not None else []
    flags += ["submenu"] if command.choices is not None else []
    parts = {
        "menu": "/".join(filter(None, (command.menu, command.group))),
        "keys": " ".join(command.all_keys),
        "is": " ".join(flags),
    }
    return f"{place}: {command.id}" + _parts(parts)


def _is(thing, name: str) -> bool:
    return bool(getattr(thing, name))


def _parts(parts) -> str:
    return "".join(f" | {name}: {value}" for name, value in parts.items() if value != "")


def contributions() -> list[str]:
    """Every key of `builtins.toml` but the places of the code."""
    with (ROOT / "workbench" / "builtins.toml").open("rb") as file:
        raw = tomllib.load(file)
    return sorted(
        f"{kind} {entry['id']}"
        + _parts({key: _value(entry[key]) for key in sorted(entry) if key not in ("id", "imports")})
        for kind, entries in raw.items()
        for entry in entries
    )


def _value(value: object) -> str:
    """As text; "" for what is no promise."""
    if isinstance(value, str):
        return "" if MODULE.fullmatch(value) else value
    if isinstance(value, (set, frozenset)):
        return ", ".join(sorted(map(str, value)))
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)


def infos() -> list[str]:
    """What the light parts of contributions declare: flags, kinds, scores; without texts."""
    from workbench.base.registry import builtins

    return sorted(
        line
        for entry in builtins().everything()
        if "info" in entry.options
        for line in _facts(f"{entry.kind} {entry.id}", builtins().info(entry.kind, entry.id))
    )


def _facts(owner: str, info: object) -> Iterator[str]:
    names = {field.name for field in fields(info)} if is_dataclass(info) else _declared(type(info))
    for name in sorted(names - TEXTS - {"id", "options"}):
        value = getattr(info, name)
        if isinstance(value, (list, tuple)) and value and all(map(is_dataclass, value)):
            value = [getattr(item, "id", getattr(item, "name", "")) for item in value]
        if _is_plain(value) and not _is_text(value) and _value(value) not in ("", "None", "False"):
            yield f"{owner}.{name}: {_value(value)}"


def _declared(kind: type) -> set[str]:
    """Names that a class and its bases annotate."""
    return {name for base in kind.__mro__ for name in base.__dict__.get("__annotations__", ())}


def _is_text(value: object) -> bool:
    return isinstance(value, str) and " " in value


def _is_plain(value: object) -> bool:
    if isinstance(value, (set, frozenset, list, tuple)):
        return all(isinstance(item, (str, int, float)) for item in value)
    return isinstance(value, (str, int, float))


def options() -> list[str]:
    """Every setting with kind, default, bounds and choices, by what it belongs to."""
    return sorted(_option(owner, option) for owner, some in _owners() for option in some)


def _owners() -> Iterator[tuple[str, Iterable]]:
    from workbench.base.registry import builtins
    from workbench.importers import detect
    from workbench.pretraining.spec import GENERAL
    from workbench.training import spec as training
    from workbench.training.vectors import spec as vectors

    yield "train", training.options("classify")[: len(training.GENERAL)]
    yield "pretrain", GENERAL
    for method in vectors.METHODS:
        yield f"vectors {method}", vectors.options(method)
    for entry in builtins().all("importer"):
        yield f"importer {entry.id}", detect.settings_of(entry.id)
    for entry in builtins().everything():
        if "info" in entry.options:
            info = builtins().info(entry.kind, entry.id)
            yield f"{entry.kind} {entry.id}", getattr(info, "options", ())
            for name, creation in getattr(info, "creates", {}).items():
                yield f"new:{name}", creation.options


def _option(owner: str, option) -> str:
    values = asdict(option)
    parts = {name: _value(values[name]) for name in ("kind", "default", "low", "high", "choices")}
    parts["group"] = option.group
    parts["idle with"] = _value(option.idle_with)
    parts["is"] = "automatic" if option.automatic else ""
    return f"{owner}: {option.name}" + _parts(
        {name: value for name, value in parts.items() if value != "None"}
    )


def settings() -> list[str]:
    """The keys of `settings.json` with their defaults."""
    from workbench.base.settings import Settings

    return sorted(f"{name}: {value!r}" for name, value in asdict(Settings()).items())


def layer_kinds() -> list[str]:
    """The table of kinds of layers."""
    from workbench.text.labels import LAYER_KINDS

    return sorted(
        f"{kind.id}.{field.name}: {_value(getattr(kind, field.name))}".rstrip()
        for kind in LAYER_KINDS.values()
        for field in fields(kind)
        if field.name not in (*TEXTS, "id", "title_of_pair")
    )


def schema() -> list[str]:
    """The schema of a project file: its version, tables, columns, indexes and triggers."""
    import sqlite3
    import tempfile
    from contextlib import closing

    from workbench.project.project import Project

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.glossbench"
        Project.create(path).close()
        with closing(sqlite3.connect(path)) as db:
            lines = [f"version: {db.execute('PRAGMA user_version').fetchone()[0]}"]
            for kind, name in db.execute("SELECT type, name FROM sqlite_master"):
                if not name.startswith("sqlite_"):
                    lines.append(f"{kind} {name}" + _columns(db, kind, name))
    return sorted(lines)


def _columns(db, kind: str, name: str) -> str:
    if kind not in ("table", "view"):
        return ""
    rows = db.execute(f"SELECT name, type FROM pragma_table_info('{name}')")
    return ": " + ", ".join(f"{column} {type}".strip() for column, type in rows)


def plugin_imports() -> list[str]:
    """What `plugins/README.md` and the plugins beside it import, and the modules that it names."""
    readme = (ROOT / "plugins" / "README.md").read_text(encoding="utf-8")
    code = re.findall(r"^```python\n(.*?)^```", readme, re.S | re.M)
    code += [path.read_text(encoding="utf-8") for path in (ROOT / "plugins").rglob("*.py")]
    named = re.findall(r"`workbench/([\w/]+)\.py`", readme)
    lines = {f"workbench.{path.replace('/', '.')}" for path in named}
    lines |= set(re.findall(r"`(workbench(?:\.\w+)+)`", readme))
    return sorted(lines | {line for text in code for line in _imports(text)})


def _imports(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("workbench"):
            yield from (f"{node.module}: {alias.name}" for alias in node.names)
