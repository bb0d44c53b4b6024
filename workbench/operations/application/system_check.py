"""The system check: a table of parts, each done by a worker of its own, and the report.

The parts that need Qt or torch are in packages that may import them; all other checks are here.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import shutil
import struct
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import file_lock, paths, settings
from workbench.base.errors import Cancelled, JobFailed
from workbench.base.i18n import N_, _, ngettext
from workbench.base.process_start import TELEMETRY_OFF
from workbench.base.system_check import GROUPS, OK, PROBLEM, WARNING, Check, shown, worst
from workbench.base.terms import term
from workbench.base.watch import QUIET, Watch
from workbench.jobs import machine
from workbench.jobs.spec import JobSpec
from workbench.operations.models import precision
from workbench.storage.connections import probe
from workbench.version import __version__

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue


@dataclass(frozen=True)
class CheckPart:
    """The part of the check done by one worker; `id` and `title` are used if it does not finish.

    function: yields each Check, texts on what it does next, and other events. It is called with a
    mapping: known (earlier bf16 measurements), project (the folder of the open one, "" for none).
    env: added to the environment of the worker.
    """

    id: str
    title: str
    function: str  # "module:name"
    env: Mapping[str, str] = field(default_factory=dict)


# On Linux, fonts and plugins can be checked without a display.
_OFFSCREEN = {} if sys.platform in ("win32", "darwin") else {"QT_QPA_PLATFORM": "offscreen"}
PARTS = (
    CheckPart("storage.check", N_("Versions and folders"), f"{__name__}:local"),
    CheckPart(
        "display.check", N_("Display"), "workbench.ui.shell.system_check:display", _OFFSCREEN
    ),
    CheckPart("computing.check", N_("Computing"), "workbench.models.system_check:computing"),
)
LITTLE_MEMORY = 4 * 1024**3  # free bytes below which no worker is kept ready
LITTLE_SPACE, NO_SPACE = 5e9, 0.5e9  # bytes free
NAMED = (  # packages listed separately
    "PySide6-Essentials",
    "torch",
    "transformers",
    "tokenizers",
    "onnxruntime",
    "numpy",
)
SWITCHES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
PREFIXES = (
    "GLOSSBENCH",
    "HF_",
    "HUGGINGFACE",
    "TRANSFORMERS",
    "TORCH",
    "PYTORCH",
    "ONEDNN",
    "OMP_",
    "MKL_",
    "KMP_",
    "CUDA_",
    "ORT_",
    "QT_",
)
# Values of these are switches, numbers or Qt platforms; others may hold a path, a name or a secret.
SHOWN_VALUES = re.compile(
    r"on|off|true|false|yes|no|auto|passive|active|offscreen|minimal|xcb|wayland|[\d.,:-]{1,12}",
    re.I,
)
SECRET = re.compile(r"TOKEN|KEY|SECRET|PASS", re.I)
FIX_PACKAGES = N_("Run `make setup` in a checkout, or install Glossbench again.")


def check(queue: Queue, *, project: str = "", watch: Watch = QUIET) -> tuple[Check, ...]:
    """All checks, in the order of the report. project: the folder of the open one, "" for none.

    The events of the watch are each check (`Check.from_event`), and a "stage" with its "text". A
    worker that fails gives a problem instead of its remaining checks. Raises Cancelled.
    """
    checks: list[Check] = []

    def take(payload: Mapping[str, Any]) -> None:
        if payload.get("kind") == "check":
            checks.append(Check.from_event(payload))

    for number, part in enumerate(PARTS):
        params = {"part": part.function, "known": precision.known(), "project": project}
        title = _("System check: {part}", part=_(part.title))
        spec = JobSpec(f"{__name__}:run", params, device="", title=title, env=part.env)
        try:
            step = watch.part(number / len(PARTS), (number + 1) / len(PARTS), take)
            queue.run(spec, step, forget=True)
        except Cancelled:
            if watch.cancelled:
                raise
            checks.append(Check(part.id, _(part.title), term("cancelled"), PROBLEM))
        except JobFailed as error:
            checks.append(Check(part.id, _(part.title), error.message, PROBLEM, error.hint))
    return in_order(checks)


def run(params: Mapping[str, Any], folder: Path) -> Generator[dict[str, Any], None, dict[str, Any]]:
    """Job target. `params`: the function of a CheckPart as `part`, and what it is called with."""
    module, name = params["part"].split(":")
    for item in getattr(importlib.import_module(module), name)(params):
        if isinstance(item, str):
            item = {"kind": "stage", "text": item}
        yield item.to_event() if isinstance(item, Check) else item
    return {}


def in_order(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Checks by group."""
    groups = list(GROUPS)
    return tuple(sorted(checks, key=lambda check: groups.index(check.group)))


# ---------------------------------------------------------------- report


def by_group(checks: Sequence[Check]) -> list[tuple[str, list[Check]]]:
    """(title of a group, its checks) for all non-empty groups."""
    groups = [
        (title, [check for check in checks if check.group == id]) for id, title in GROUPS.items()
    ]
    return [(_(title), members) for title, members in groups if members]


def summary(checks: Sequence[Check]) -> str:
    """A one-sentence summary."""
    problems = sum(check.state == PROBLEM for check in checks)
    warnings = sum(check.state == WARNING for check in checks)
    if not problems and not warnings:
        return _("No problems found.")
    message = ngettext("{n} problem.", "{n} problems.", problems)
    more = ngettext("{n} warning.", "{n} warnings.", warnings)
    if not problems:
        return _("No problems. {warnings}", warnings=more)
    return " ".join([message, more]) if warnings else message


def as_text(checks: Sequence[Check]) -> str:
    """The report as text for a terminal or a message."""
    width = max((len(term(check.state)) for check in checks), default=0)
    lines = []
    for title, members in by_group(checks):
        lines.append(title)
        for check in members:
            state = term(check.state).ljust(width)
            lines.append(f"  {state}  {check.title}: {check.describe()}")
            if check.advice:
                lines.append(f"  {' ' * width}  → {check.advice}")
        lines.append("")
    return "\n".join([*lines, summary(checks)])


def as_json(checks: Sequence[Check]) -> dict[str, object]:
    names = ("id", "group", "title", "state", "advice")
    rows = [
        {**{name: getattr(check, name) for name in names}, "result": check.describe()}
        for check in checks
    ]
    return {"state": worst(tuple(checks)), "checks": rows}


def local(params: Mapping[str, Any]) -> Iterator[Check]:
    """The checks that need neither torch nor Qt."""
    yield from _versions()
    yield from _memory()
    yield from _folders(params["project"])
    yield from _network()


# ---------------------------------------------------------------- versions


def _versions() -> Iterator[Check]:
    yield Check("versions.glossbench", "Glossbench", __version__)
    yield Check("versions.system", _("System"), platform.platform(terse=True))
    bits = 8 * struct.calcsize("P")
    message = _("{version} ({bits} bit)", version=platform.python_version(), bits=bits)
    yield Check("versions.python", "Python", message)
    required = requirements()
    for name in NAMED:
        yield package(name, required.get(name, ""))
    yield _other_packages({name: spec for name, spec in required.items() if name not in NAMED})
    yield _sqlite()


def requirements() -> dict[str, str]:
    """Package → supported versions (">=2.6,<3"); empty if Glossbench is not installed."""
    try:
        lines = metadata.requires("glossbench") or []
    except metadata.PackageNotFoundError:
        return {}
    versions = {}
    for line in lines:
        name = re.match(r"[\w.-]+", line)
        if name is not None and ";" not in line:  # not an extra
            versions[name[0]] = line[len(name[0]) :].strip()
    return versions


def package(name: str, supported: str) -> Check:
    """The installed version of a package compared with the supported ones."""
    id = f"versions.package.{name}"
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Check(id, name, _("not installed"), PROBLEM, _(FIX_PACKAGES))
    if satisfies(version, supported):
        return Check(id, name, version)
    message = _("{version}, supported: {wanted}", version=version, wanted=supported)
    return Check(id, name, message, WARNING, _(FIX_PACKAGES))


def _other_packages(required: Mapping[str, str]) -> Check:
    id, title = "versions.packages", _("Other packages")
    wrong = [check for name in required if (check := package(name, required[name])).state != OK]
    if wrong:
        message = ", ".join(f"{check.title}: {check.describe()}" for check in wrong)
        return Check(id, title, message, max(wrong, key=_badness).state, _(FIX_PACKAGES))
    return Check(
        id,
        title,
        ngettext(
            "{n} package in a supported version",
            "{n} packages in supported versions",
            len(required),
        ),
    )


def _badness(check: Check) -> bool:
    return check.state == PROBLEM


def satisfies(version: str, supported: str) -> bool:
    """Whether a version is in a range such as ">=6.8,!=6.11.0,<6.12"; only numeric parts are
    compared.
    """
    have = _numbers(version.partition("+")[0])
    for sign, limit in re.findall(r"(>=|<=|==|!=|<|>)\s*([\d.]+)", supported):
        bound = _numbers(limit)
        holds = {
            ">=": have >= bound, "<=": have <= bound, "==": have == bound,
            "!=": have != bound, "<": have < bound, ">": have > bound,
        }  # fmt: skip
        if not holds[sign]:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    """The release number, padded so that 6.8 equals 6.8.0."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    parts = [int(part) for part in release[0].split(".")] if release else []
    return tuple([*parts, 0, 0, 0, 0][:4])


def _sqlite() -> Check:
    id, title, version = "versions.sqlite", "SQLite", probe.version()
    if probe.has_full_text_search():
        return Check(id, title, _("{version} with FTS5", version=version))
    message = _("{version} without FTS5", version=version)
    advice = _("Projects require full-text search. Install a Python whose SQLite has FTS5.")
    return Check(id, title, message, PROBLEM, advice)


# ---------------------------------------------------------------- memory


def _memory() -> Iterator[Check]:
    total, free = machine.memory()
    message, sizes = _("{free} free of {total}"), {"free": free, "total": total}
    little = free < LITTLE_MEMORY
    advice = _("Close other programs before training. No worker is kept ready while memory is low.")
    state, advice = (WARNING, advice) if little else (OK, "")
    yield Check("computing.memory", _("Memory"), message, state, advice, sizes)


# ---------------------------------------------------------------- folders


def _folders(project: str) -> Iterator[Check]:
    own = (
        ("settings", _("Settings folder"), paths.config_folder()),
        ("data", _("Data folder"), paths.data_folder()),
        ("cache", _("Cache folder"), paths.cache_folder()),
    )
    for name, title, folder in own:
        yield folder_check(f"storage.{name}", title, folder, named=True)
    yield folder_check("storage.models", _("Downloaded models"), paths.hub_cache())
    chosen = settings.load().documents_folder
    documents = Path(chosen) if chosen else paths.documents_folder()
    yield folder_check("storage.documents.documents", _("Folder for projects"), documents)
    if project:
        yield folder_check("storage.project", _("Folder of the open project"), Path(project))
    yield _locks()


def folder_check(id: str, title: str, folder: Path, *, named: bool = False) -> Check:
    """Permissions and free space.

    `named`: the folder belongs to Glossbench, so its path may be printed.
    """
    place = _existing(folder)
    prefix = f"{shown(folder)}: " if named else ""
    try:
        free = shutil.disk_usage(place).free
    except OSError as error:
        message = _("cannot be read: {reason}", reason=error.strerror or type(error).__name__)
        return Check(id, title, prefix + message, PROBLEM, _("Check the disk and its permissions."))
    if not _writable(place):
        message = _("cannot be written")
        return Check(
            id,
            title,
            prefix + message,
            PROBLEM,
            _("Grant your user write permission for the folder."),
        )
    message, sizes = prefix + _("writable, {space} free"), {"space": free}
    if free < NO_SPACE:
        return Check(id, title, message, PROBLEM, _("Free up space on this disk."), sizes)
    if free < LITTLE_SPACE:
        advice = _("A trained model takes up to 2 GB. Free up space before training or exporting.")
        return Check(id, title, message, WARNING, advice, sizes)
    return Check(id, title, message, sizes=sizes)


def _existing(folder: Path) -> Path:
    """The folder, or its closest existing parent: it is created when first needed."""
    return next((place for place in (folder, *folder.parents) if place.is_dir()), folder)


def _writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _locks() -> Check:
    """Check file locks: without them, as on some network drives, two windows could write to one
    project.
    """
    id, title = "storage.locks", _("File locks")
    try:
        with tempfile.TemporaryFile(dir=_existing(paths.cache_folder())) as file:
            works = file_lock.try_lock(file.fileno())
    except OSError:
        works = False
    if works:
        return Check(id, title, _("work in the cache folder"))
    advice = _("Set XDG_CACHE_HOME to a folder on a local disk.")
    return Check(id, title, _("do not work in the cache folder"), WARNING, advice)


# ---------------------------------------------------------------- network and environment


def _network() -> Iterator[Check]:
    off = all(os.environ.get(name) == value for name, value in TELEMETRY_OFF.items())
    message = ", ".join(f"{name}={os.environ.get(name, '')}" for name in TELEMETRY_OFF)
    yield Check(
        "network.telemetry",
        _("Telemetry of libraries"),
        _("off ({variables})", variables=message) if off else message,
        OK if off else PROBLEM,
        "" if off else _("This is a bug in Glossbench. Report it with this list."),
    )
    offline = os.environ.get("HF_HUB_OFFLINE") == "1"
    yield Check(
        "network.workers",
        _("Workers"),
        _("offline (HF_HUB_OFFLINE=1)") if offline else _("may use the network"),
        OK if offline else PROBLEM,
        "" if offline else _("This is a bug in Glossbench. Report it with this list."),
    )
    yield Check(
        "network.downloads",
        _("Downloads of models"),
        _("off in the settings") if settings.load().offline else _("on request"),
    )
    yield from environment(os.environ)


def environment(variables: Mapping[str, str]) -> Iterator[Check]:
    """Environment variables of the libraries.

    Values are printed only if they can be neither a path nor a secret.
    """
    ours = {*TELEMETRY_OFF, *SWITCHES, "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "KMP_BLOCKTIME"}
    for name in sorted(variables):
        if not name.startswith(PREFIXES) or name in ours:
            continue
        value = variables[name]
        harmless = SHOWN_VALUES.fullmatch(value) and not SECRET.search(name)
        yield Check(f"network.environment.{name}", name, value if harmless else _("set"))
