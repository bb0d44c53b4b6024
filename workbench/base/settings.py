"""Settings: one dataclass, stored as settings.json in the user's configuration folder."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _


@dataclass
class Settings:
    """Every field has a default; unknown fields in a file of another version are dropped."""

    theme: str = "system"  # system, light, dark
    text_size: int = 100  # percent
    font: str = "inter"  # inter, system
    annotator: str = "me"  # name of the person of this computer
    initials: str = ""  # empty: those of the name
    colour: str = ""  # #rrggbb
    # uids of that person: the first one in new projects; others in files written for them elsewhere
    person_uids: list[str] = field(default_factory=list)
    device: str = "auto"  # auto, cpu, cuda, mps
    weights: str = "auto"  # of pretrained causal models in Inspect: auto, fp32, bf16
    sessions: bool = True  # runs predict with onnxruntime where it is equal and faster
    selection_bar: bool = True  # labels beside text that is selected with the mouse
    offline: bool = True
    warm_worker: bool = True
    documents_folder: str = ""  # empty: the user's documents folder
    model_folders: list[str] = field(default_factory=list)
    pickle_allowed: list[str] = field(
        default_factory=list
    )  # model folders whose pickled weights the user has confirmed
    model_tasks: dict[str, Any] = field(
        default_factory=dict
    )  # folder of a published model → the task that the user chose for it
    plugin_folders: list[str] = field(default_factory=list)
    plugins_enabled: list[str] = field(default_factory=list)  # folders of enabled plugins
    plugins_checked: dict[str, str] = field(
        default_factory=dict
    )  # folder of an enabled plugin → the state of its files that passed a check
    recent: list[str] = field(default_factory=list)
    servers: dict[str, Any] = field(
        default_factory=dict
    )  # address → settings of a server of language models; keys are in the system's key store
    window: dict[str, Any] = field(
        default_factory=dict
    )  # window geometry and other view state, by name
    devices: dict[str, Any] = field(default_factory=dict)  # what a worker last reported
    precision_trials: dict[str, Any] = field(
        default_factory=dict
    )  # key of a measurement → speedup of bf16

    def __post_init__(self) -> None:
        self._tell: Callable[[WorkbenchError], None] | None = None

    def tell_faults(self, tell: Callable[[WorkbenchError], None]) -> None:
        """Report errors of `save` to `tell` instead of raising them, as the window needs."""
        self._tell = tell

    @property
    def path(self) -> Path:
        return paths.config_folder() / "settings.json"

    @property
    def is_named(self) -> bool:
        """Whether the person of this computer has a name."""
        return self.annotator != Settings.annotator

    def own_uid(self) -> str:
        """The uid of the person of this computer, 16 hex digits; created when first needed."""
        if not self.person_uids:
            self.person_uids = load().person_uids or [secrets.token_hex(8)]
            with suppress(WorkbenchError):  # then it lasts until the application ends
                self.save()
        return self.person_uids[0]

    def is_own(self, uid: str) -> bool:
        """Whether this is a uid of the person of this computer."""
        return uid == self.own_uid() or uid in self.person_uids

    def save(self) -> None:
        """Write the file atomically.

        Raises WorkbenchError if it cannot be written, unless `tell_faults` was called.
        """
        if not self.person_uids:  # another process may have created it
            self.person_uids = load().person_uids
        draft = self.path.with_suffix(f".{os.getpid()}.tmp")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(
                json.dumps(asdict(self), indent=1), encoding="utf-8"
            )  # ASCII: file names may not be valid Unicode
            os.replace(draft, self.path)
        except OSError as error:
            _remove(draft)
            fault = WorkbenchError(
                _(
                    "The settings could not be saved in {path}: {reason}.",
                    path=self.path,
                    reason=error.strerror or error,
                ),
                hint=_(
                    "They apply until the application ends. Check that the disk is not full and "
                    "that the folder is writable."
                ),
            )
            if self._tell is None:
                raise fault from error
            self._tell(fault)

    def remember_project(self, path: Path) -> None:
        name = str(Path(path).absolute())
        self.recent = [name, *(other for other in self.recent if other != name)][:12]
        self.save()

    def forget_project(self, path: str) -> None:
        self.recent = [other for other in self.recent if other != path]
        self.save()


def load() -> Settings:
    """The user's settings, with defaults for a missing or damaged file.

    A damaged file is kept as `settings.bad.json`.
    """
    settings = Settings()
    try:
        raw = json.loads(settings.path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return settings
    except (OSError, ValueError, RecursionError):
        _set_aside(settings.path)
        return settings
    if isinstance(raw, dict):
        for item in fields(Settings):
            if item.name in raw and type(raw[item.name]) is type(getattr(settings, item.name)):
                setattr(settings, item.name, _usable(item.name, raw[item.name]))
    return settings


# values that are lists by name
_LISTS = (
    *("keys", "annotate.off", "annotate.seen", "annotate.chosen", "annotate.empty"),
    "annotate.latest",
)
_WINDOW = {
    "geometry": str,
    **dict.fromkeys(_LISTS, dict),
    "annotate.zoom": int,
}  # all other values are booleans


def _usable(name: str, value: Any) -> Any:
    """The parts of a value that have the expected form; the file may have been edited by hand."""
    if isinstance(value, list):
        return [text for text in value if isinstance(text, str) and "\0" not in text]
    if name == "window":
        usable: dict[str, Any] = {
            key: its for key, its in value.items() if type(its) is _WINDOW.get(key, type(its))
        }
        for key in _LISTS:
            if key in usable:
                usable[key] = {
                    id: its
                    for id, its in usable[key].items()
                    if isinstance(its, list) and all(isinstance(i, (str, int)) for i in its)
                }
        return usable
    if name == "devices":
        known = value.get("all")
        sound = isinstance(known, list) and all(
            isinstance(item, dict) and isinstance(item.get("name"), str) for item in known
        )
        return value if sound and isinstance(value.get("best"), str) else {}
    if name == "model_tasks":
        return {key: its for key, its in value.items() if isinstance(its, str)}
    if name == "servers":
        return {key: its for key, its in value.items() if isinstance(its, dict)}
    if name == "precision_trials":
        return {key: its for key, its in value.items() if isinstance(its, float)}
    return value


def _remove(path: Path) -> None:
    with suppress(OSError):  # a folder that is not writable may not allow deletion either
        path.unlink(missing_ok=True)


def _set_aside(path: Path) -> None:
    with suppress(OSError):  # in a folder that is not writable the defaults are used
        os.replace(path, path.with_suffix(".bad.json"))
