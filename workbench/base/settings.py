"""Settings: one dataclass, kept as settings.json in the user's configuration folder."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from workbench.base import paths


@dataclass
class Settings:
    """Every field has a default; a file from another version keeps what is known and drops the rest."""

    theme: str = "system"  # system, light, dark
    text_size: int = 100  # per cent
    font: str = "inter"  # inter, system
    annotator: str = "me"
    device: str = "auto"  # auto, cpu, cuda, mps
    offline: bool = True
    warm_worker: bool = True
    documents_folder: str = ""  # empty: the user's documents folder
    model_folders: list[str] = field(default_factory=list)
    pickle_allowed: list[str] = field(default_factory=list)  # folders of models whose pickled weights were confirmed
    recent: list[str] = field(default_factory=list)
    window: dict = field(default_factory=dict)  # geometry and the like, by name
    devices: dict = field(default_factory=dict)  # what a worker last reported

    @property
    def path(self) -> Path:
        return paths.config_folder() / "settings.json"

    def save(self) -> None:
        """Write the file whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(f".{os.getpid()}.tmp")
        draft.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False), encoding="utf-8")
        os.replace(draft, self.path)

    def remember_project(self, path: Path) -> None:
        name = str(Path(path).absolute())
        self.recent = [name, *(other for other in self.recent if other != name)][:12]
        self.save()

    def forget_project(self, path: str) -> None:
        self.recent = [other for other in self.recent if other != path]
        self.save()


def load() -> Settings:
    """The user's settings; a missing or damaged file gives the defaults, a damaged one is kept as `settings.bad.json`."""
    settings = Settings()
    try:
        raw = json.loads(settings.path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return settings
    except (OSError, ValueError):
        _set_aside(settings.path)
        return settings
    if isinstance(raw, dict):
        for one in fields(Settings):
            if one.name in raw and isinstance(raw[one.name], type(getattr(settings, one.name))):
                setattr(settings, one.name, raw[one.name])
    return settings


def _set_aside(path: Path) -> None:
    try:
        os.replace(path, path.with_suffix(".bad.json"))
    except OSError:
        pass  # unreadable folder: the defaults serve
