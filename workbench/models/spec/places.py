"""Locations of models: those that ship with the application, and the Hugging Face cache."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base import paths
from workbench.base.registry import registry
from workbench.models.spec import downloads
from workbench.models.spec.cards import DESCRIPTION, card
from workbench.models.spec.info import FamilyInfo, ModelInfo

CONFIG = "config.json"  # of a model of transformers
ADAPTERS = "adapters.safetensors"  # bottleneck adapters, beside the weights of their model
ADAPTED = "adapted.safetensors"  # what was trained besides them: norms, and a head of the library

OBJECTIVE = "objective"  # folder in that of a model: parameters of pretraining objectives


def boundary_file(folder: Path) -> Path:
    """The head of the span boundary objective of a model that was pretrained with it here."""
    return folder / OBJECTIVE / "span_masking.safetensors"


def published(path: Path) -> dict[str, Any] | None:
    """What DESCRIPTION would state of a published model that predicts as it is.

    None for all others, runs included.
    """
    if (path / DESCRIPTION).is_file():
        return None
    info = card(path, allow_pickle=True)
    if not info.usable or not info.task:
        return None
    described: dict[str, Any] | None = registry().info("family", info.family).trained(path)
    return described and {**described, "task": info.task}


def known_architectures() -> frozenset[str]:
    """Values of `model_type` that a family supports."""
    return frozenset().union(*(item.architectures for item in registry().infos("family")))


def starters() -> tuple[ModelInfo, ...]:
    """The models that ship with the application, each a folder; those without weights last."""
    folder = paths.resource("models")
    cards = (card(model, origin="starter") for model in sorted(folder.iterdir()) if model.is_dir())
    return tuple(sorted(cards, key=lambda info: not info.parameters))


def installed(name: str) -> Path | None:
    """The folder of a model that is given as a folder or as the name of a starter or of a model in
    the cache; None if it is not installed.
    """
    folder = Path(name)
    if folder.is_dir():
        return folder
    cards = (*starters(), *cached())
    return next((Path(card.path) for card in cards if card.name == name), None)


def cached(cache: Path | None = None) -> tuple[ModelInfo, ...]:
    """Text models in the Hugging Face cache: revision `main`, else the newest.

    Repositories of other kinds are left out.
    """
    folder = cache or paths.hub_cache()
    try:
        repositories = sorted(folder.glob("models--*")) if folder.is_dir() else []
    except OSError:  # the cache is not readable
        return ()
    cards = (_of_repository(repository) for repository in repositories)
    return tuple(info for info in cards if info is not None)


def _of_repository(repository: Path) -> ModelInfo | None:
    name = repository.name[len("models--") :].replace("--", "/")
    try:
        snapshot = _snapshot(repository)
        if snapshot is None or not _is_model(snapshot):
            return None
    except OSError as error:
        problem = str(error.strerror or error)
        return ModelInfo(name, str(repository), origin="cache", problems=(problem,))
    info = card(snapshot, name=name, origin="cache")
    info = replace(info, downloaded=bool(downloads.recorded(repository)))
    named = info.architecture or not (snapshot / CONFIG).is_file()
    return info if info.family or not named else None


def _is_model(snapshot: Path) -> bool:
    """Whether the files of a repository may be a model, judged by their names."""
    names = [path.name for path in snapshot.iterdir()]
    return CONFIG in names or bool(without_config(names)[0])


def without_config(names: Collection[str]) -> tuple[tuple[str, ...], str]:
    """The weights in a repository without config.json, and the family that knows them.

    ((), "") if none does.
    """
    every: tuple[FamilyInfo, ...] = registry().infos("family")
    matches = ((info.of_hub(names), info.id) for info in every)
    return next((row for row in matches if row[0]), ((), ""))


def repository_of(info: ModelInfo) -> Path:
    """The cache folder with all revisions of a model with origin "cache"."""
    return Path(info.path).parents[1]


def _snapshot(repository: Path) -> Path | None:
    main = repository / "refs" / "main"
    try:
        revision = main.read_text(encoding="utf-8").strip() if main.is_file() else ""
    except (OSError, ValueError):
        revision = ""  # downloaded by commit: there is no main
    snapshots = [path for path in (repository / "snapshots").glob("*") if path.is_dir()]
    named = next((snapshot for snapshot in snapshots if snapshot.name == revision), None)
    return named or max(snapshots, key=lambda snapshot: snapshot.stat().st_mtime, default=None)
