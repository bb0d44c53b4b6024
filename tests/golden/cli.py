"""The command line: options of every command, and the JSON that commands print."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shlex
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import click

from tests.golden.make_project import ARCHIVE

# Commands whose JSON is recorded. "@" is the folder of the project. "~": values depend on the
# processor, and only their types are recorded. Left out are `doctor`, which describes the computer,
# and the commands that enable plugins, which change this process.
STEPS = Path(__file__).with_name("steps.txt")
ROOT = str(Path(__file__).parents[2])
LONG = 100  # characters: longer values are messages, texts or data, of which the type is recorded
MANY = 60  # keys: a mapping with more is data, as a list
FEW = 4  # keys of a mapping that is shown in one line
MOST_ITEMS = 8  # of a list that is shown in one line
TYPES = {
    bool: "bool", dict: "object", float: "float", int: "int", list: "array", str: "string",
    type(None): "null",
}  # fmt: skip
VARYING = re.compile(  # measured, or of this computer
    r"seconds|(_ms|_mb|bytes|speedup|memory|versions?|threads)$"
)
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d{8}-\d{6}")


# ---------------------------------------------------------------- options


def options() -> list[str]:
    """A line for each command, and one for each of its options and arguments."""
    from workbench.cli.main import cli

    return sorted(_described("glossbench", cli))


def _described(name: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command)
    if isinstance(command, click.Group):
        for part in command.list_commands(context):
            yield from _described(f"{name} {part}", command.get_command(context, part))
    hidden = " (hidden)" if command.hidden else ""
    yield name + hidden
    for parameter in command.params:
        yield f"{name} {_parameter(parameter, context)}"


def _parameter(parameter: click.Parameter, context: click.Context) -> str:
    names = "/".join((*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        names = parameter.make_metavar(context)
    elif not getattr(parameter, "is_flag", False):
        names += f" {parameter.metavar or _type(parameter.type)}"
    parts = [name for name in ("required", "multiple", "hidden") if getattr(parameter, name, False)]
    parts += ["variadic"] if parameter.nargs == -1 else []
    if isinstance(parameter.default, (str, int, float)) and parameter.default not in ("", False):
        parts.append(f"default {parameter.default}")
    return " | ".join((names, *parts))


def _type(type: click.ParamType) -> str:
    if isinstance(type, click.Choice):
        return "{" + ",".join(map(str, type.choices)) + "}"
    if isinstance(type, (click.IntRange, click.FloatRange)):
        return f"{type.name} {type._describe_range()}"
    return type.name


# ---------------------------------------------------------------- JSON


def output() -> list[str]:
    """What the commands of `steps.txt` print on the project of `make_project.py`, one by one."""
    steps = STEPS.read_text(encoding="utf-8").splitlines()
    with project_folder() as folder:
        return [line for step in steps for line in printed(step, folder)]


def labels() -> list[str]:
    """The documents of each kind of layer, as exported; then digests of all documents, as they
    are, after some undone steps, and after these were redone.
    """
    with project_folder() as folder:
        exported = _exported(folder)
        lines = [line for line in exported if line.startswith('{"key": "kind-')]
        lines.append(_digest(exported))
        for more in ("--steps 6", "--redo --steps 7"):
            (undone,) = call(f"project undo @metro.glossbench {more}", folder)
            lines += [json.dumps(undone, ensure_ascii=False), _digest(_exported(folder))]
    return lines


def _exported(folder: Path) -> list[str]:
    path = folder / "out.jsonl"
    path.unlink(missing_ok=True)
    call(f"export-data @metro.glossbench @{path.name} --format glossbench", folder)
    return path.read_text(encoding="utf-8").splitlines()


def _digest(lines: list[str]) -> str:
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return f"{len(lines)} lines, {digest[:16]}"


@contextmanager
def project_folder() -> Iterator[Path]:
    """A copy of the recorded project; commands run their jobs in this process meanwhile."""
    from tests.inline import InlineHost, InlineQueue

    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch("workbench.jobs.queue.Queue", InlineQueue),
        mock.patch("workbench.jobs.host.Host", InlineHost),
    ):
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder)


def printed(step: str, folder: Path) -> list[str]:
    """A line for each path of the JSON that a command prints, with types and the first value."""
    command = step.removeprefix("~ ")
    values = call(command, folder)
    facts: dict[str, tuple[set[str], list]] = {}
    _collect("", values[0] if len(values) == 1 else values, facts)
    lines = [f"$ {command}"]
    for path, (types, seen) in sorted(facts.items()):
        shown = "" if step != command else _shown(path, seen, str(folder))
        lines.append(f"  {path or '.'}: {' | '.join(sorted(types))}{shown and ' = '}{shown}")
    return lines


def call(command: str, folder: Path) -> list:
    """The JSON values that a command prints, one for each line."""
    from workbench.cli.main import main

    written, errors = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    words = [word.replace("@", f"{folder}/") for word in shlex.split(command)]
    with redirect_stdout(written), redirect_stderr(errors):
        code = main([*words, "--json"])
    assert code == 0, f"{command}: {errors.getvalue()[-2000:]}"
    written.flush()
    return [json.loads(row) for row in written.buffer.getvalue().decode().splitlines()]


def _collect(path: str, value: object, facts: dict[str, tuple[set[str], list]]) -> None:
    types, seen = facts.setdefault(path, (set(), []))
    types.add(_type_of(value))
    if isinstance(value, dict) and not _is_small(value):
        for key, item in value.items():
            _collect(f"{path}.{'*' if len(value) > MANY else key}", item, facts)
    elif isinstance(value, list) and (len(value) > MOST_ITEMS or _is_nested(value)):
        seen.append(f"{len(value)} items")
        for item in value:
            _collect(f"{path}[]", item, facts)
    else:
        seen.append(value)


def _type_of(value: object) -> str:
    if isinstance(value, dict) and _is_small(value):
        return f"object of {', '.join(sorted(value))}"
    if isinstance(value, list) and value and not _is_nested(value):
        return f"array of {', '.join(sorted({TYPES[type(item)] for item in value}))}"
    return TYPES[type(value)]


def _is_small(value: dict) -> bool:
    """Such as an interval: it is shown in one line."""
    return len(value) <= FEW and all(isinstance(item, (int, float)) for item in value.values())


def _is_nested(value: list) -> bool:
    return any(isinstance(item, (dict, list)) for item in value)


def _shown(path: str, seen: list, folder: str) -> str:
    """The first value, unless it is measured, of this computer, or long."""
    value = next((item for item in seen if item is not None), None)
    if value is None or "[][]" in path or VARYING.search(path):
        return ""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    text = text.replace(f'"{folder}/', '"@')
    if len(text) > LONG or folder in text or ROOT in text or TIME.search(text):
        return ""
    return re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda match: f"{float(match[0]):.3f}", text)
