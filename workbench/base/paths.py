"""User folders, run folders and resources: the only code that knows where files are stored."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from platformdirs import PlatformDirs


APP = "glossbench"
PROJECT_SUFFIX = ".glossbench"


def _home() -> Path:
    return Path(os.environ.get("HOME") or Path.home())


def config_folder() -> Path:
    return _folders().user_config_path


def data_folder() -> Path:
    return _folders().user_data_path


def cache_folder() -> Path:
    return _folders().user_cache_path


def _folders() -> PlatformDirs:
    """The folders that the system has for users: on Linux and macOS the XDG variables go first."""
    from platformdirs import PlatformDirs  # 10 ms, which a command that asks for no folder saves

    return PlatformDirs(APP, appauthor=False, roaming=True)


def log_file() -> Path:
    return data_folder() / "log" / "glossbench.log"


def append_to_log(text: str) -> Path | None:
    """Append a text; returns the path of the log, or None if it cannot be written."""
    path = log_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{text}\n")
    except OSError:
        return None
    return path


def models_folder() -> Path:
    """Where models that were pretrained in the window are saved."""
    return data_folder() / "models"


def documents_folder() -> Path:
    """The user's documents folder: XDG_DOCUMENTS_DIR, else user-dirs.dirs, else ~/Documents."""
    return _folders().user_documents_path


def hub_cache() -> Path:
    """The Hugging Face cache: `HF_HUB_CACHE`, else `HF_HOME`, else the default of the library."""
    if value := os.environ.get("HF_HUB_CACHE"):
        return Path(value)
    if value := os.environ.get("HF_HOME"):
        return Path(value) / "hub"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "huggingface" / "hub"


def data_set(kind: str, name: str = "") -> Path | None:
    """A data set on this computer, in the folder that GLOSSBENCH_DATA names; None without it."""
    root = os.environ.get("GLOSSBENCH_DATA")
    path = Path(root, "datasets", kind, name) if root else None
    return path if path is not None and path.exists() else None


def resource(name: str) -> Path:
    """A file or folder of `resources/`: the installed copy first, then the checkout's.

    Raises FileNotFoundError with both places if neither has it.
    """
    package = Path(__file__).resolve().parents[1]
    places = (package / "_resources" / name, package.parent / "resources" / name)
    for place in places:
        if place.exists():
            return place
    raise FileNotFoundError(f"resource {name!r} is in none of {', '.join(map(str, places))}")


@lru_cache(maxsize=1)
def icon_names() -> frozenset[str]:
    """The names of the icons in `resources/icons`."""
    return frozenset(path.stem for path in resource("icons").glob("*.svg"))


def runs_folder(project_file: Path) -> Path:
    """The folder with the runs of a project: `<stem>.runs` beside the file."""
    return project_file.with_name(project_file.stem + ".runs")


def versions_folder(project_file: Path) -> Path:
    """The folder with the backups of a project: `<stem>.versions` beside the file."""
    return project_file.with_name(project_file.stem + ".versions")


def run_folder(project_file: Path, run_id: int) -> Path:
    return runs_folder(project_file) / f"{run_id:04d}"


def free_name(folder: Path, stem: str, suffix: str) -> Path:
    """The first of `stem.suffix`, `stem 2.suffix`, … that exists in `folder` neither itself nor as
    a folder of runs.
    """
    number = 1
    while True:
        path = folder / (f"{stem}{suffix}" if number == 1 else f"{stem} {number}{suffix}")
        if not path.exists() and not runs_folder(path).exists():
            return path
        number += 1
