"""Plugins: folders and installed packages that add contributions to the registry.

Plugins are found without running their code. A plugin is used only after the user has enabled it,
because its code runs with the user's permissions. A broken plugin is listed with its error and
never prevents the application from starting.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from workbench.base import manifest, paths
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.manifest import Contribution, ManifestError
from workbench.base.settings import Settings

GROUP = "glossbench.plugins"  # entry points of installed packages
FILE = "plugin.toml"
_ID = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class Plugin:
    """A plugin that was found. `package` is the name under which its code is imported.

    `fault` says why it cannot be used, "" if it can; `details` is the traceback. `warnings`: names
    in its manifest that nothing reads.
    """

    id: str
    name: str
    version: str
    description: str
    folder: Path
    package: str
    contributions: tuple[Contribution, ...] = ()
    fault: str = ""
    details: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key in the settings: a copy in another folder must be enabled separately."""
        return str(self.folder)


def user_folder() -> Path:
    return paths.data_folder() / "plugins"


# ---------------------------------------------------------------- finding


def find(settings: Settings) -> tuple[Plugin, ...]:
    """Every plugin: in the user's folder, in the folders of the settings, in installed packages."""
    folders = [user_folder(), *map(Path, settings.plugin_folders)]
    plugins = [
        plugin for folder in folders for path in _inside(folder) if (plugin := describe(path))
    ]
    from importlib.metadata import entry_points  # slow to import and rarely needed

    plugins += [_installed(point.value) for point in sorted(entry_points(group=GROUP), key=str)]
    return tuple(_without_conflicts(plugins))


def _inside(folder: Path) -> Iterator[Path]:
    """The folder itself if it is a plugin, else the plugins in it."""
    try:
        if (folder / FILE).is_file():
            yield folder
        elif folder.is_dir():
            yield from sorted(path for path in folder.iterdir() if (path / FILE).is_file())
    except OSError:
        return


def _installed(value: str) -> Plugin:
    """The plugin of an entry point, whose value names the package with plugin.toml.

    The package may be a part of another one, as in `company.plugin`.
    """
    package = value.partition(":")[0].strip()
    places = _places(package)
    for place in places:
        if (place / FILE).is_file():
            return describe(place, package)
    fault = _("The installed package {package} has no {file}.", package=package, file=FILE)
    return _broken(places[0] if places else Path(package), fault)


def _places(package: str) -> list[Path]:
    """The folders of an installed package. It is not imported, nor the packages that it is in."""
    first, *parts = package.split(".")
    try:
        spec = importlib.util.find_spec(first)
    except (ImportError, ValueError):
        spec = None
    places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    for part in parts:
        places = [inner for place in places if (inner := place / part).is_dir()]
    return places


def describe(folder: Path, package: str = "") -> Plugin:
    """The plugin in a folder, with its error if it cannot be used. Runs none of its code.

    package: the name under which it is imported; by default that of the folder.
    """
    try:
        return _read(folder, package or folder.name)
    except WorkbenchError as error:
        return _broken(folder, str(error))
    except Exception:  # a damaged file must not end the application
        return _broken(folder, _("The plugin cannot be read."), traceback.format_exc())


def _read(folder: Path, package: str) -> Plugin:
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text)
    except (OSError, ValueError) as error:
        message = _("{path} cannot be read: {error}", path=path, error=error)
        raise ManifestError(message) from error
    head = {key: raw.get(key, "") for key in ("id", "name", "version", "description", "api")}
    for key, value in head.items():
        if not isinstance(value, str) or (not value and key != "description"):
            raise ManifestError(
                _("{path}: {key!r} is missing or is not a string.", path=path, key=key)
            )
    if not _ID.fullmatch(head["id"]):
        message = _("{path}: id is {id!r}, expected lower-case letters, digits and hyphens.")
        raise ManifestError(message.format(path=path, id=head["id"]))
    if head["api"].partition(".")[0] != manifest.API:
        message = _("Written for version {theirs} of the plugin interface; this is version {ours}.")
        raise ManifestError(message.format(theirs=head["api"], ours=manifest.API))
    contributions = manifest.read(path, source=head["id"])
    warnings = manifest.unknown_keys(path, text, raw)
    if not contributions:
        message = _("{path} contributes nothing.", path=path)
        raise ManifestError(message, hint=" ".join(warnings))
    _check(path, head["id"], package, contributions)
    return Plugin(
        head["id"],
        head["name"],
        head["version"],
        head["description"],
        folder.absolute(),
        package,
        contributions,
        warnings=warnings,
    )


def _check(path: Path, id: str, package: str, contributions: Sequence[Contribution]) -> None:
    if not all(part.isidentifier() for part in package.split(".")):
        message = _("The folder is named {name!r}; expected a Python name such as my_plugin.")
        raise ManifestError(message.format(name=package))
    for contribution in contributions:
        if not contribution.id.startswith(f"{id}."):
            message = _("{path}: the id {id!r} must begin with {prefix!r}.")
            raise ManifestError(message.format(path=path, id=contribution.id, prefix=f"{id}."))
        targets = [
            contribution.object,
            *(contribution.options[key] for key in manifest.TARGETS if key in contribution.options),
        ]
        for target in targets:
            if not f"{target.partition(':')[0]}.".startswith(f"{package}."):
                message = _("{path}: {target!r} is outside the package {package!r}.")
                raise ManifestError(message.format(path=path, target=target, package=package))


def _broken(folder: Path, fault: str, details: str = "") -> Plugin:
    name = folder.name
    return Plugin(name, name, "", "", folder.absolute(), name, (), fault, details)


def _without_conflicts(plugins: Sequence[Plugin]) -> Iterator[Plugin]:
    """Of several plugins with the same id or package, only the first can be used."""
    ids: dict[str, Plugin] = {}
    packages: dict[str, Plugin] = {}
    for plugin in plugins:
        other = ids.get(plugin.id) or packages.get(plugin.package)
        if plugin.fault or other is None:
            if not plugin.fault:
                ids[plugin.id] = packages[plugin.package] = plugin
            yield plugin
        elif other.folder != plugin.folder:
            fault = _("The plugin in {folder} has the same id or folder name.", folder=other.folder)
            yield _broken(plugin.folder, fault)


# ---------------------------------------------------------------- importing


class _Finder(MetaPathFinder):
    """Imports the packages of enabled plugins, and no other modules in the same folders.

    It is last on sys.meta_path, so a plugin cannot replace an installed module.
    """

    def __init__(self) -> None:
        self.packages: dict[str, Path] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        folder = self.packages.get(fullname)
        if folder is None:
            return None
        start = folder / "__init__.py"
        if start.is_file():
            return importlib.util.spec_from_file_location(
                fullname, start, submodule_search_locations=[str(folder)]
            )
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        return spec


_finder = _Finder()
_folders: dict[Path, str] = {}  # of the plugins whose code may have been run → plugin id


def raised_by(error: BaseException) -> str:
    """The plugin whose code was running when an exception was raised, "" if none was."""
    return _raised_in(error)[0]


def place_of(error: BaseException) -> str:
    """Where a plugin's code was: "code.py, line 12, in read"; "" if none was running."""
    return _raised_in(error)[1]


def _raised_in(error: BaseException) -> tuple[str, str]:
    """The plugin, and the innermost place in its code."""
    cause: BaseException | None = error
    while cause is not None:
        innermost = "", ""
        for frame, line in traceback.walk_tb(cause.__traceback__):
            file = Path(frame.f_code.co_filename)
            for folder, plugin in _folders.items():
                if folder in file.parents:
                    innermost = (
                        plugin,
                        _(
                            "{file}, line {line}, in {function}",
                            file=file.relative_to(folder),
                            line=line,
                            function=frame.f_code.co_name,
                        ),
                    )
        if innermost[0]:
            return innermost
        cause = cause.__cause__
    return "", ""


def make_importable(plugin: Plugin) -> None:
    """Raises WorkbenchError if an installed module has the same name as its package."""
    _folders[plugin.folder] = plugin.id
    if plugin.folder in [place.absolute() for place in _places(plugin.package)]:
        if plugin.package not in _finder.packages:
            return  # an installed package
    elif PathFinder.find_spec(plugin.package) is not None:
        raise WorkbenchError(
            _("An installed module is also named {name!r}.", name=plugin.package),
            hint=_("Rename the plugin's folder and its package."),
        )
    _finder.packages[plugin.package] = plugin.folder
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)


def forget_modules(plugin: Plugin) -> None:
    """Make the next import read the plugin's code again, as it may have been corrected."""
    start = f"{plugin.package}."
    for name in [
        module for module in sys.modules if module == plugin.package or module.startswith(start)
    ]:
        del sys.modules[name]
    importlib.invalidate_caches()
